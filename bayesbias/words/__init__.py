"""Word sets, queries and studies, and the published lists."""

from bayesbias.words.building import BuiltLists, GroupClassifier, build_lists
from bayesbias.words.builtin import (
    load_labelled,
    load_query,
    load_study,
    query_set,
    word_sets,
    word_tuples,
)
from bayesbias.words.diagnostics import WordCheck, check_words
from bayesbias.words.matched_controls import MatchedStudy
from bayesbias.words.query import Query
from bayesbias.words.study import Study
from bayesbias.words.wordset import WordSet

__all__ = [
    "BuiltLists",
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
