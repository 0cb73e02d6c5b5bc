"""Numbers that belong to single words: how frequent they are, how long their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Codes
from bayesbias._core.constants import COVARIATES
from bayesbias._core.validation import one_of, word_list
from bayesbias.embeddings import Embedding, Matching
from bayesbias.errors import SpecError
from bayesbias.wordlists import (
    Frequencies,
    FrequencySource,
    Unknown,
    frequency_source,
    log_frequencies,
)

_PROTECTED = "protected_"


class Side(NamedTuple):
    """The words on one side of a table, and their rows in the embedding."""

    words: Sequence[str]
    rows: Codes


class CovariatePlan:
    """Which covariates are wanted, and where the frequencies are from; checked when it is made."""

    def __init__(
        self,
        covariates: Iterable[str],
        frequencies: Frequencies,
        unknown_frequency: Unknown,
        matching: Matching | None,
    ) -> None:
        names = word_list("covariates", covariates)
        for name in names:
            one_of("covariates", name, COVARIATES)
        self.names = tuple(dict.fromkeys(names))
        self.unknown: Unknown = unknown_frequency
        one_of("unknown_frequency", unknown_frequency, ("error", "lowest"))
        self.source: FrequencySource | None = None
        if any("frequency" in name for name in self.names):
            self.source = frequency_source(frequencies, matching)
        elif not isinstance(frequencies, str) or frequencies != "rank":
            raise SpecError(
                "'frequencies' is given, but no covariate uses it; add "
                "covariates=['log_frequency']."
            )

    def check(self, embedding: Embedding) -> None:
        """Refuse an embedding that cannot tell frequencies, if it is to tell them."""
        if self.source is not None:
            self.source.check(embedding)

    def values(
        self, embedding: Embedding, protected: Side, attributes: Side
    ) -> dict[str, npt.NDArray[np.float64]]:
        """Return each covariate, one value for each word of its side."""
        return {
            name: self._one(name, embedding, protected if is_protected(name) else attributes)
            for name in self.names
        }

    def _one(self, name: str, embedding: Embedding, side: Side) -> npt.NDArray[np.float64]:
        if self.source is not None and name.endswith("log_frequency"):
            return log_frequencies(self.source, embedding, side.words, side.rows, self.unknown)
        return vector_norms(embedding, side.rows)

    def describe(self) -> dict[str, str]:
        """Return a sentence on each covariate."""
        described = {}
        for name in self.names:
            word = "protected word" if is_protected(name) else "attribute"
            if self.source is not None and name.endswith("log_frequency"):
                described[name] = (
                    f"natural log of the frequency of the {word}, up to a constant: "
                    f"{self.source.label}; only differences matter"
                )
            else:
                described[name] = f"Euclidean length of the vector of the {word}"
        return described


def vector_norms(embedding: Embedding, rows: Codes) -> npt.NDArray[np.float64]:
    """Return the Euclidean lengths of vectors."""
    chosen = np.asarray(embedding.vectors[rows], dtype=np.float64)
    norms: npt.NDArray[np.float64] = np.linalg.norm(chosen, axis=1)
    return norms


def is_protected(name: str) -> bool:
    """Return whether a built-in covariate belongs to the protected word, not to the attribute."""
    return name.startswith(_PROTECTED)
