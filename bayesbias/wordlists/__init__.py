"""Word sets, queries and studies, and the published lists."""

from bayesbias.wordlists.build import (
    BuiltLists,
    ByCluster,
    ByFrequency,
    ByPartOfSpeech,
    GroupClassifier,
    build_lists,
)
from bayesbias.wordlists.catalogue import (
    load_labelled,
    load_query,
    load_study,
    query_set,
    word_sets,
    word_tuples,
)
from bayesbias.wordlists.check.word_check import WordCheck, check_words
from bayesbias.wordlists.matched_controls import MatchedStudy
from bayesbias.wordlists.query import Query
from bayesbias.wordlists.study import Study
from bayesbias.wordlists.wordset import WordSet

__all__ = [
    "BuiltLists",
    "ByCluster",
    "ByFrequency",
    "ByPartOfSpeech",
    "GroupClassifier",
    "MatchedStudy",
    "Query",
    "Study",
    "WordCheck",
    "WordSet",
    "build_lists",
    "check_words",
    "load_labelled",
    "load_query",
    "load_study",
    "query_set",
    "word_sets",
    "word_tuples",
]
