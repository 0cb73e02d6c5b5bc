"""Word sets, queries and studies, and the published lists."""

from bayesbias.words.builtin import (
    load_query,
    load_study,
    query_set,
    word_sets,
    word_tuples,
)
from bayesbias.words.coverage import check_words
from bayesbias.words.query import Query
from bayesbias.words.study import Study
from bayesbias.words.wordset import WordSet

__all__ = [
    "Query",
    "Study",
    "WordSet",
    "check_words",
    "load_query",
    "load_study",
    "query_set",
    "word_sets",
    "word_tuples",
]
