"""The nearest words of a vocabulary, however large it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.validation import at_least
from bayesbias.embeddings.embedding import Embedding
from bayesbias.errors import DataError, SpecError

# Cosines in memory at once, and the most rows of the vocabulary that are looked at together.
_NUMBERS = 8_000_000
_MOST_ROWS = 65_536
# More than single precision gets a cosine wrong. What is nearer to the limit is kept, and decided
# on in double precision.
_SLACK = 1e-5


def nearest(
    embedding: Embedding,
    vectors: npt.ArrayLike,
    k: int,
    *,
    exclude: Sequence[Codes] | None = None,
) -> tuple[Codes, Array]:
    """Find the k nearest words of the vocabulary, by cosine, for each of some vectors.

    The vocabulary is read in blocks, so a matrix on disk may be larger than memory. Words with a
    zero vector are never found.

    Parameters
    ----------
    embedding : Embedding
        Where to look.
    vectors : array_like of shape (n_vectors, dim)
        What to look for; of any length but zero.
    k : int
        How many words for each vector.
    exclude : sequence of ndarray of int, optional
        For each vector, rows of the vocabulary that are not wanted.

    Returns
    -------
    rows : ndarray of shape (n_vectors, k)
        The rows of the words found, the nearest first, of equally near ones the earlier first.
    cosines : ndarray of shape (n_vectors, k)
        Their cosines, in double precision.

    Raises
    ------
    SpecError
        If there are fewer than k words to choose from.
    DataError
        If a vector is zero, NaN or infinite.
    """
    at_least("k", k, 1)
    queries = _unit(vectors, embedding.dim)
    unwanted = [np.unique(rows) for rows in exclude or [np.empty(0, np.intp)] * len(queries)]
    if len(unwanted) != len(queries):
        raise SpecError(f"{len(unwanted)} arrays in 'exclude' for {len(queries)} vectors.")
    if not len(queries):
        return np.empty((0, k), np.intp), np.empty((0, k))
    _check_enough(embedding, k, len(embedding) - max(map(len, unwanted)))

    single = queries.astype(np.float32)
    limit = np.full(len(queries), -np.inf, dtype=np.float32)  # the k-th best cosine so far
    query, row, cosine = np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0, np.float32)
    step = min(max(_NUMBERS // len(queries), 1024), _MOST_ROWS)
    for start in range(0, len(embedding), step):
        block = embedding.vectors[start : start + step]
        cosines = _cosines(single, block)
        for i, rows in enumerate(unwanted):
            first, last = np.searchsorted(rows, (start, start + len(block)))
            cosines[i, rows[first:last] - start] = -np.inf
        if np.isneginf(limit).any() and k <= len(block):
            limit = np.maximum(limit, np.partition(cosines, -k, axis=1)[:, -k])
        new = np.nonzero((cosines >= limit[:, None] - _SLACK) & (cosines > -np.inf))
        query = np.concatenate([query, new[0]])
        row = np.concatenate([row, new[1] + start])
        cosine = np.concatenate([cosine, cosines[new]])
        limit = np.maximum(limit, _kth(query, cosine, k, len(queries)))
        kept = cosine >= limit[query] - _SLACK
        query, row, cosine = query[kept], row[kept], cosine[kept]
    return _ordered(embedding, queries, query, row, k)


def _unit(vectors: npt.ArrayLike, dim: int) -> npt.NDArray[np.float64]:
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != dim:
        raise SpecError(
            f"'vectors' has the shape {array.shape}; expected vectors × {dim} dimensions."
        )
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    if not (np.isfinite(norms) & (norms > 0)).all():
        raise DataError("a vector that is zero, NaN or infinite has no neighbours.")
    result: npt.NDArray[np.float64] = array / norms
    return result


def _check_enough(embedding: Embedding, k: int, available: int) -> None:
    if available < k:
        raise SpecError(
            f"embedding {embedding.name!r} has {max(available, 0)} words to choose {k} neighbours "
            "from; ask for fewer, or load more of the embedding."
        )


def _cosines(
    queries: npt.NDArray[np.float32], block: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Return queries × words of the block; minus infinity for words without a direction."""
    norms = np.sqrt(np.einsum("ij,ij->i", block, block))  # without a matrix of squares
    usable = np.isfinite(norms) & (norms > 0)
    with np.errstate(invalid="ignore"):  # rows that are not usable
        result: npt.NDArray[np.float32] = queries @ block.T
        result /= np.where(usable, norms, 1)
    result[:, ~usable] = -np.inf
    return result


def _kth(query: Codes, cosine: npt.NDArray[np.float32], k: int, n: int) -> npt.NDArray[np.float32]:
    """Return the k-th largest cosine of each query; minus infinity where there are fewer."""
    order = np.lexsort((-cosine, query))
    starts = np.searchsorted(query[order], np.arange(n + 1))
    enough = np.diff(starts) >= k
    result = np.full(n, -np.inf, dtype=np.float32)
    result[enough] = cosine[order][starts[:-1][enough] + k - 1]
    return result


def _ordered(
    embedding: Embedding, queries: npt.NDArray[np.float64], query: Codes, row: Codes, k: int
) -> tuple[Codes, Array]:
    """Return the k best of the rows that are left for each query, in double precision."""
    rows = np.empty((len(queries), k), dtype=np.intp)
    cosines = np.empty((len(queries), k))
    order = np.lexsort((row, query))
    ends = np.searchsorted(query[order], np.arange(1, len(queries)))
    for i, left in enumerate(np.split(row[order], ends)):
        _check_enough(embedding, k, len(left))
        vectors = np.asarray(embedding.vectors[left], dtype=np.float64)
        exact = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)) @ queries[i]
        # Equal vectors are equally near, whatever the last digits of the product say.
        best = np.argsort(-exact.round(12), kind="stable")[:k]
        rows[i], cosines[i] = left[best], exact[best]
    return rows, cosines
