"""What every method of building lists does: leave words out, and choose from the rest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bayesbias._core.array_types import Codes
from bayesbias._core.wording import quoted
from bayesbias.embeddings import Embedding
from bayesbias.errors import DataError
from bayesbias.wordlists.build.candidate_pool import Pool
from bayesbias.wordlists.wordset import WordSet

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ListRequest:
    """What lists are wanted, and from which words."""

    groups: tuple[str, ...]
    #: Words per group.
    size: int
    embedding: Embedding
    #: The rows of all words of the vocabulary that can be in a list.
    rows: Codes
    attribute_rows: Codes


@dataclass(frozen=True, eq=False)
class ChosenWords:
    """The words of the lists, one row per word, and what to know of them."""

    words: pd.DataFrame
    #: Why candidates were not chosen.
    why_not: str
    notes: list[str]


class ListMethod(ABC):
    """Base of the methods of `build_lists`."""

    #: What the method is called in `build_lists`.
    name: ClassVar[str]

    @property
    def frequencies(self) -> pd.DataFrame | None:
        """Counts of words that the method knows of, used where no others are given."""
        return None

    def check(self, attributes: tuple[WordSet, ...]) -> None:
        """Refuse what the method cannot work with, before long work begins."""
        return

    def leave_out(self, pool: Pool) -> None:
        """Leave out words that the method cannot use."""
        return

    @abstractmethod
    def choose(self, candidates: pd.DataFrame, request: ListRequest) -> ChosenWords:
        """Choose the words of each group from the candidates, which come by frequency."""

    def settings(self) -> list[str]:
        """Return how the method was used, for the source of the lists."""
        return []


def check_pairs(words: pd.DataFrame, groups: Sequence[str], caliper: float) -> None:
    """Refuse lists without words, which happens if no words are of similar frequency."""
    for name in groups:
        if not (words["group"] == name).any():
            raise DataError(
                f"no words of {quoted(groups)} are of similar frequency; give a larger caliper "
                f"than {caliper:g}, or leave match_frequency out."
            )
