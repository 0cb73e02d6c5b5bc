"""Sums and means in which each word counts as often as its weight says.

A weight is how often a word counts: 1 for each is the metric itself, 0 leaves the word out, whole
numbers repeat words, Dirichlet weights make a Bayesian bootstrap. Weights of a set have the shape
(draws, words); one row serves for all draws of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias.errors import SpecError
from bayesbias.metrics.query_vectors import WordVectors

# What sums that should be zero may leave, in units of what was summed up.
_ROUNDING = 1e-12


def ones(sets: Sequence[WordVectors]) -> list[Array]:
    """Return weights with which every word counts once."""
    return [np.ones((1, len(words))) for words in sets]


def shares(weights: Array) -> Array:
    """Return the weights scaled to sum to one; NaN where no word counts."""
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        result: Array = weights / total
    return result


def cosines(first: WordVectors, second: WordVectors) -> Array:
    """Return the cosine of each word of one set with each of another."""
    result: Array = first.unit @ second.unit.T
    return result


def bilinear(left: Array, matrix: Array, right: Array) -> Array:
    """Return, for each draw, the sum of the matrix with weights on its rows and columns."""
    # The side with one row of weights for all draws is summed first: a product with a vector.
    if len(left) < len(right):
        left, matrix, right = right, matrix.T, left
    if len(right) == 1:
        result: Array = left @ (matrix @ right[0])
        return result
    result = np.einsum("dj,dj->d", left @ matrix, right)
    return result


def total(values: Array, weights: Array) -> Array:
    """Return the weighted sum over words, draw by draw."""
    if len(values) == 1:
        result: Array = weights @ values[0]
        return result
    result = (values * weights).sum(axis=1)
    return result


def centres(words: WordVectors, weights: Array) -> Array:
    """Return the weighted mean vector of a set, draws × dimensions."""
    result: Array = shares(weights) @ words.vectors
    return result


def directions(vectors: Array, scale: float = 0.0) -> Array:
    """Return rows scaled to length one; NaN for rows that are zero, but for rounding.

    `scale` is about the length of what was summed up: what is left of it after rounding has no
    direction.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Array = vectors / np.where(lengths > _ROUNDING * scale, lengths, np.nan)
    return result


def size(words: WordVectors) -> float:
    """Return the largest number in the vectors, for the scale of their sums."""
    return float(np.abs(words.vectors).max(initial=0.0))


def ranks(values: Array, weights: Array) -> Array:
    """Return the mean rank of each cosine within its draw, ties and repeated words averaged."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    # A value that differs from the one before by rounding alone is tied with it.
    new = np.ones(ordered.shape, dtype=bool)
    new[:, 1:] = np.diff(ordered, axis=1) > 1e-12
    if len(values) == 1:  # one order for all draws
        of_tie = np.add.reduceat(np.asarray(weights)[:, order[0]], np.flatnonzero(new[0]), axis=1)
        middle: Array = np.cumsum(of_tie, axis=1) - of_tie / 2 + 0.5
        tie = np.empty_like(order[0])
        tie[order[0]] = np.cumsum(new[0]) - 1
        return middle[:, tie]
    draws, n = values.shape
    counted = np.take_along_axis(np.broadcast_to(weights, values.shape), order, axis=1)
    starts = np.flatnonzero(new)
    of_tie = np.add.reduceat(counted.ravel(), starts)
    before = np.cumsum(counted, axis=1) - counted
    middle = before.ravel()[starts] + of_tie / 2 + 0.5
    sorted_ranks = np.repeat(middle, np.diff(np.append(starts, draws * n))).reshape(draws, n)
    result: Array = np.empty((draws, n))
    np.put_along_axis(result, order, sorted_ranks, axis=1)
    return result


def correlation(first: Array, second: Array, weights: Array) -> Array:
    """Return the weighted correlation of two rows of ranks, draw by draw; NaN for a constant."""
    part = shares(weights)
    x = first - (first * part).sum(axis=1, keepdims=True)
    y = second - (second * part).sum(axis=1, keepdims=True)
    xy, xx, yy = ((a * b * part).sum(axis=1) for a, b in ((x, y), (x, x), (y, y)))
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Array = np.where((xx > 1e-12) & (yy > 1e-12), xy / np.sqrt(xx * yy), np.nan)
    return np.clip(result, -1, 1)


def check_ddof(ddof: int) -> None:
    """Refuse what is not a way to divide a variance."""
    if isinstance(ddof, bool) or ddof not in (0, 1):
        raise SpecError(f"'ddof' is {ddof!r}; expected 0 or 1.")
