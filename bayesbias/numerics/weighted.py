"""Shares, ranks and correlations of values with weights, for many draws of the weights at once.

Values and weights have the shape (draws, values); one row serves for all draws of the others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes


def shares(weights: Array) -> Array:
    """Return the weights scaled to sum to one; NaN where no word counts."""
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        result: Array = weights / total
    return result


def ranks(values: Array, weights: Array) -> Array:
    """Return the mean rank of each cosine within its draw, ties and repeated words averaged."""
    order, new = _ordered(values)
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


def tie_codes(values: Array) -> Codes:
    """Return the place of each value among the different ones, as `ranks` tells them apart."""
    [order], [new] = _ordered(values[None])
    result: Codes = np.empty(len(values), dtype=np.intp)
    result[order] = np.cumsum(new) - 1
    return result


def _ordered(values: Array) -> tuple[Codes, npt.NDArray[np.bool_]]:
    """Return the order of the values of each draw, and which of them are not tied with the last."""
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    # A value that differs from the one before by rounding alone is tied with it.
    new = np.ones(ordered.shape, dtype=bool)
    new[:, 1:] = np.diff(ordered, axis=1) > 1e-12
    return order, new


def correlation(first: Array, second: Array, weights: Array) -> Array:
    """Return the weighted correlation of two rows of ranks, draw by draw; NaN for a constant."""
    part = shares(weights)
    x = first - (first * part).sum(axis=1, keepdims=True)
    y = second - (second * part).sum(axis=1, keepdims=True)
    xy, xx, yy = ((a * b * part).sum(axis=1) for a, b in ((x, y), (x, x), (y, y)))
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Array = np.where((xx > 1e-12) & (yy > 1e-12), xy / np.sqrt(xx * yy), np.nan)
    return np.clip(result, -1, 1)
