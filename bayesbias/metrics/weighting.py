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
from bayesbias.numerics.weighted import shares

# What sums that should be zero may leave, in units of what was summed up.
_ROUNDING = 1e-12


def ones(sets: Sequence[WordVectors]) -> list[Array]:
    """Return weights with which every word counts once."""
    return [np.ones((1, len(words))) for words in sets]


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


def mean_cosines(words: WordVectors, others: WordVectors, weights: Array) -> Array:
    """Return, draws × words, the mean cosine of each word with weighted others."""
    if not are_long(words, others):
        result: Array = shares(weights) @ cosines(words, others).T
        return result
    result = shares(weights) @ others.unit @ words.unit.T
    return result


def sum_of_cosines(
    first: Sequence[WordVectors],
    second: Sequence[WordVectors],
    first_weights: Sequence[Array],
    second_weights: Sequence[Array],
) -> Array:
    """Return, for each draw, the sum of the weighted cosines of the words of two sides."""
    result: Array = np.zeros(1)
    if any(are_long(one, other) for one in first for other in second):
        left, right = (
            sum((w @ words.unit for words, w in zip(sets, weights, strict=True)), result)
            for sets, weights in ((first, first_weights), (second, second_weights))
        )
        return np.asarray((left * right).sum(axis=1))
    for one, w in zip(first, first_weights, strict=True):
        for other, v in zip(second, second_weights, strict=True):
            result = result + bilinear(w, cosines(one, other), v)
    return result


def are_long(first: WordVectors, second: WordVectors) -> bool:
    """Tell whether sums of vectors are cheaper than all cosines of two sets."""
    pairs = len(first) * len(second)
    return bool(pairs > first.vectors.shape[1] * (len(first) + len(second)))


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


def check_ddof(ddof: int) -> None:
    """Refuse what is not a way to divide a variance."""
    if isinstance(ddof, bool) or ddof not in (0, 1):
        raise SpecError(f"'ddof' is {ddof!r}; expected 0 or 1.")
