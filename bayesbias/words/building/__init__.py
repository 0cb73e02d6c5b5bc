"""Word lists from data: a classifier of groups, and three ways to choose words."""

from bayesbias.words.building.build import build_lists
from bayesbias.words.building.built import BuiltLists
from bayesbias.words.building.classifier import GroupClassifier

__all__ = ["BuiltLists", "GroupClassifier", "build_lists"]
