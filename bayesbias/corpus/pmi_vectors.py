"""Word vectors from positive pointwise mutual information, by a singular value decomposition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def positive_pmi(counts: csr_array[Any], *, shift: float, smoothing: float) -> csr_array[Any]:
    """Return max(PMI − log(shift), 0) of each word (row) and context (column), without the zeros.

    The counts of contexts are raised to the power `smoothing` before their shares are taken, which
    lowers the PMI of rare contexts.
    """
    from scipy.sparse import coo_array

    cells = counts.tocoo()
    words = np.asarray(counts.sum(axis=1)).ravel()
    contexts = np.asarray(counts.sum(axis=0)).ravel() ** smoothing
    expected = words[cells.row] * contexts[cells.col] / contexts.sum()
    values = np.log(cells.data / expected) - np.log(shift)
    kept = values > 0
    places = (cells.row[kept], cells.col[kept])
    return coo_array((values[kept], places), shape=counts.shape).tocsr()


def pmi_vectors(
    information: csr_array[Any], *, dim: int, power: float, add_contexts: bool, seed: int
) -> npt.NDArray[np.float32]:
    """Return left singular vectors times singular values to a power, the largest first.

    With `add_contexts` the right singular vectors, scaled in the same way, are added.
    """
    from scipy.sparse.linalg import svds

    start = np.random.default_rng(seed).standard_normal(information.shape[0])
    left, values, right = svds(information, k=dim, v0=start)
    order = np.argsort(-values)
    left, values, right = left[:, order], values[order], right[order].T
    # The sign of a singular vector is arbitrary: the entry farthest from 0 is positive.
    largest = np.abs(left).argmax(axis=0)
    signs = np.sign(left[largest, np.arange(dim)])
    vectors = left + right if add_contexts else left
    return np.asarray(vectors * signs * values**power, dtype=np.float32)
