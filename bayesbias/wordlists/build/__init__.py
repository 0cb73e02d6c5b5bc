"""Word lists from data: a classifier of groups, and three ways to choose words."""

from bayesbias.wordlists.build.list_builder import build_lists
from bayesbias.wordlists.build.built_lists import BuiltLists
from bayesbias.wordlists.build.group_classifier import GroupClassifier

__all__ = ["BuiltLists", "GroupClassifier", "build_lists"]
