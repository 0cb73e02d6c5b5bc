"""From text to words, as gensim's ``simple_preprocess`` cuts it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from bayesbias._core.validation import at_least
from bayesbias.errors import SpecError

# A run of letters and underscores; for plain ASCII a translation and a split are twice as fast.
_RUN = re.compile(r"[^\W\d]+")
_ASCII = "".join(c if c.isalpha() or c == "_" else " " for c in map(chr, range(128)))


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Cuts a text into words: runs of letters, neither too short nor too long.

    Parameters
    ----------
    lower : bool, default True
        Turn capitals into small letters.
    min_length : int, default 2
        The fewest letters of a word.
    max_length : int or None, default 15
        The most letters of a word; None for no limit.
    """

    lower: bool = True
    min_length: int = 2
    max_length: int | None = 15

    def __post_init__(self) -> None:
        at_least("min_length", self.min_length, 1)
        if self.max_length is not None:
            at_least("max_length", self.max_length, 1)
            if self.max_length < self.min_length:
                raise SpecError(
                    f"'max_length' is {self.max_length}, below 'min_length', {self.min_length}; "
                    "no word would be left."
                )

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text."""
        if self.lower:
            text = text.lower()
        runs = text.translate(_ASCII).split() if text.isascii() else _RUN.findall(text)
        shortest, longest = self.min_length, self.max_length or sys.maxsize
        return [word for word in runs if shortest <= len(word) <= longest and word[0] != "_"]

    def describe(self) -> str:
        """Say which words are taken, in a few words."""
        upper = f" to {self.max_length}" if self.max_length else " or more"
        return f"{self.min_length}{upper} letters"

    def spans(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the words of a text, each with its place in the text."""
        lowered = text.lower() if self.lower else text
        places: range | list[int] = range(len(text))
        if len(lowered) != len(text):  # the small form of İ has two characters
            places = [i for i, char in enumerate(text) for _ in char.lower()]
        shortest, longest = self.min_length, self.max_length or sys.maxsize
        for match in _RUN.finditer(lowered):
            word = match[0]
            if shortest <= len(word) <= longest and word[0] != "_":
                yield places[match.start()], word
