"""Word sets, queries and studies, and the published lists."""

import lazy_loader as lazy

# The names are listed in __init__.pyi. They are imported when they are first used, since
# classifiers and tables of checks need scikit-learn and pandas, and lists of words do not.
__getattr__, _, _ = lazy.attach_stub(__name__, __file__)

# Names that are not in __all__ are for other rooms.
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
    "published_lists",
    "query_set",
    "word_sets",
    "word_tuples",
]


def __dir__() -> list[str]:
    return [*__all__]
