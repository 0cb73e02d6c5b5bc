"""Which entries of a vocabulary are words that can stand for a group."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bayesbias._core.validation import word_list
from bayesbias.errors import SpecError

# Letters of any script, somewhere two together; parts may be joined by a hyphen, an apostrophe or,
# as in phrases, an underscore.
_WORD = re.compile(r"(?=.*[^\W\d_]{2})[^\W\d_]+(?:[-'’_][^\W\d_]+)*")

# scikit-learn's list holds words with a meaning of their own, some of them names.
# fmt: off
_MEANINGFUL = frozenset((
    "amount", "back", "bill", "bottom", "call", "computer", "cry", "describe", "detail",
    "empty", "fill", "find", "fire", "found", "front", "full", "interest", "mill", "move",
    "name", "part", "serious", "show", "side", "sincere", "system", "thick", "thin", "top",
))
# fmt: on


def is_word(text: str) -> bool:
    """Return whether this is a word, not a number, punctuation, a letter or part such as ``'s``."""
    return _WORD.fullmatch(text) is not None


def as_stop_words(stop_words: str | Iterable[str] | None) -> frozenset[str]:
    """Return the words to leave out, in lower case."""
    if stop_words is None:
        return frozenset()
    if stop_words == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS) - _MEANINGFUL
    if isinstance(stop_words, str):
        raise SpecError(
            f"'stop_words' is {stop_words!r}; expected 'english', a list of words, or None."
        )
    return frozenset(word.lower() for word in word_list("stop_words", stop_words))
