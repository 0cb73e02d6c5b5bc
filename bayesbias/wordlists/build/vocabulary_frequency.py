"""How frequent the words of a vocabulary are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Codes
from bayesbias.embeddings import Embedding


def counts_of(embedding: Embedding, counts: Mapping[str, float]) -> npt.NDArray[np.float64]:
    """Return the count of each word, if need be in lower case; NaN where there is none, or zero."""
    values = (counts.get(word, counts.get(word.lower(), 0.0)) for word in embedding.words)
    result = np.fromiter(values, np.float64, len(embedding))
    result[result == 0] = np.nan
    return result


def ranks(embedding: Embedding, counts: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64]:
    """Return the rank of each word by frequency, from 1, equally frequent ones by the alphabet.

    Without counts the place in the vocabulary is the rank; a word without a count has none.
    """
    if counts is None:
        return np.arange(1.0, len(embedding) + 1)
    alphabetical: Codes = np.empty(len(embedding), dtype=np.intp)
    alphabetical[sorted(range(len(embedding)), key=embedding.words.__getitem__)] = np.arange(
        len(embedding)
    )
    result = np.empty(len(embedding))
    result[np.lexsort((alphabetical, -counts))] = np.arange(1.0, len(embedding) + 1)
    result[np.isnan(counts)] = np.nan
    return result
