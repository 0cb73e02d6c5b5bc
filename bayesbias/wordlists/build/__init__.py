"""Word lists from data: a classifier of groups, and three ways to choose words."""

# Names that are not in __all__ are for other rooms.
from bayesbias.wordlists.build.built_lists import BuiltLists
from bayesbias.wordlists.build.built_lists import writable_lists as writable_lists
from bayesbias.wordlists.build.by_cluster import ByCluster
from bayesbias.wordlists.build.by_frequency import ByFrequency
from bayesbias.wordlists.build.by_part_of_speech import ByPartOfSpeech
from bayesbias.wordlists.build.group_classifier import GroupClassifier
from bayesbias.wordlists.build.labelled_words import as_labelled as as_labelled
from bayesbias.wordlists.build.list_builder import build_lists

__all__ = [
    "BuiltLists",
    "ByCluster",
    "ByFrequency",
    "ByPartOfSpeech",
    "GroupClassifier",
    "build_lists",
]
