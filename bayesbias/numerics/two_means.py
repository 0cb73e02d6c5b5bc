"""Two clusters by k-means, from several starts at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

# Starts, and the most rounds of one.
_STARTS = 10
_ROUNDS = 100


def two_means(vectors: Floats, seed: int) -> Flags:
    """Return the members of one of the tightest two clusters that several starts lead to."""
    centres = _starts(vectors, np.random.default_rng(seed))
    number, whole = len(vectors), vectors.sum(axis=0)
    members: Flags | None = None
    for _ in range(_ROUNDS):
        squares = (centres**2).sum(axis=2)
        nearer = vectors @ (centres[:, 1] - centres[:, 0]).T > (squares[:, 1] - squares[:, 0]) / 2
        if members is not None and (nearer == members).all():
            break
        members = nearer
        counts = members.sum(axis=0)[:, None].astype(np.float32)
        sums = members.T.astype(np.float32) @ vectors
        centres = np.stack(
            [(whole - sums) / np.maximum(number - counts, 1), sums / np.maximum(counts, 1)], axis=1
        )
    assert members is not None
    # Squares within and between clusters add up: the tightest are those with most between them.
    between = (np.hstack([number - counts, counts]) * (centres**2).sum(axis=2)).sum(axis=1)
    best: Flags = members[:, between.argmax()]
    return best


def _starts(vectors: Floats, rng: np.random.Generator) -> Floats:
    """Return centres to start from, starts × 2: a vector, and one that is likely far from it."""
    first = rng.integers(len(vectors), size=_STARTS)
    squares = np.einsum("ij,ij->i", vectors, vectors)
    distances = squares[first, None] + squares - 2 * (vectors[first] @ vectors.T)
    far = np.maximum(distances, 0).cumsum(axis=1)
    drawn = rng.random(_STARTS) * far[:, -1]
    second = [np.searchsorted(row, value) for row, value in zip(far, drawn, strict=True)]
    result: Floats = vectors[np.column_stack([first, second])]
    return result
