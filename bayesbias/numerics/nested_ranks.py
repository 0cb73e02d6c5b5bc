"""Rank correlations of lists that grow, without ranking each of them anew.

The rank of a word is counted as r = 2 · (words below) + (words level, itself included), which is a
whole number with ties and sums to m² over m words. The sums of products of ranks are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias.numerics.weighted import tie_codes

# About how many words come in between two lists that are ranked from scratch. The work of a list
# grows with the number of its words, that of what comes in with the square of this.
_BATCH = 48


def nested_rank_correlations(first: Array, second: Array, order: Codes, counts: Codes) -> Array:
    """Return Spearman's correlation of two rows of values, for growing parts of them.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        The values.
    order : ndarray of int
        The order in which values come in.
    counts : ndarray of int
        How many values are in.

    Returns
    -------
    ndarray
        One correlation for each count; NaN where one of the rows is constant.
    """
    codes = [tie_codes(values)[order] for values in (first, second)]
    sizes, size_of = np.unique(counts, return_inverse=True)
    m = sizes.astype(np.float64)
    products = np.empty(len(sizes))
    start = 0
    while start < len(sizes):
        stop = int(np.searchsorted(sizes, sizes[start] + _BATCH, side="right"))
        products[start:stop] = _sums_of_products(codes[0], codes[1], sizes[start:stop])
        start = stop
    spread = _spread(codes[0], sizes) * _spread(codes[1], sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = np.where(spread > 0, (products - m**3) / np.sqrt(spread), np.nan)
    result: Array = np.clip(found, -1, 1)[size_of]
    return result


def _spread(codes: Codes, sizes: Codes) -> Array:
    """Return the sum of squares of the ranks about their mean, (m³ − m − Σ (t³ − t)) / 3.

    t is the number of values of each tie. The k-th value of a tie adds 3 k (k − 1) to Σ (t³ − t).
    """
    by_code = np.argsort(codes, kind="stable")
    ties = np.bincount(codes)
    first = np.repeat(np.cumsum(ties) - ties, ties)
    earlier = np.empty(len(codes))  # values of the same tie that came in before
    earlier[by_code] = np.arange(len(codes)) - first
    tied = np.concatenate([[0.0], np.cumsum(3 * earlier * (earlier + 1))])
    m = sizes.astype(np.float64)
    result: Array = (m**3 - m - tied[sizes]) / 3
    return result


@dataclass(frozen=True)
class _Side:
    """The ranks of one of the rows: among the values of the first size, and what is added.

    Values between the same two of those that come in are a class: their ranks rise together.
    """

    #: Of each value up to the largest size, its rank among those of the first.
    ranks: Array
    #: The class of each value.
    classes: Codes
    #: By how much the ranks of a class have risen, sizes × classes.
    rise: Array

    @classmethod
    def of(cls, codes: Codes, old: int, is_in: Array) -> _Side:
        """Return the side for values of which the first `old` are in from the beginning."""
        number = np.bincount(codes[:old], minlength=int(codes.max()) + 1)
        ranks = 2.0 * np.cumsum(number) - number
        new = np.zeros(len(number), dtype=np.intp)
        new[codes[old:]] = 1
        # Even between two codes that come in, odd at one of them.
        class_of = 2 * np.cumsum(new) - new
        entered = class_of[codes[old:], None]
        classes = np.arange(class_of[-1] + 2)
        added = 2.0 * (classes > entered) + (classes == entered)
        return cls(ranks[codes], class_of[codes], is_in @ added)


def _sums_of_products(first: Codes, second: Codes, sizes: Codes) -> Array:
    """Return the sum of the products of the ranks, at each size."""
    old, last = int(sizes[0]), int(sizes[-1])
    is_in = (np.arange(last - old) < (sizes - old)[:, None]).astype(np.float64)
    x, y = (_Side.of(codes[:last], old, is_in) for codes in (first, second))
    number = x.rise.shape[1], y.rise.shape[1]
    together = x.classes[:old] * number[1] + y.classes[:old]
    counted = np.bincount(together, minlength=number[0] * number[1]).reshape(number)
    result: Array = np.full(len(sizes), x.ranks[:old] @ y.ranks[:old])
    result += x.rise @ np.bincount(x.classes[:old], y.ranks[:old], number[0])
    result += y.rise @ np.bincount(y.classes[:old], x.ranks[:old], number[1])
    result += ((x.rise @ counted) * y.rise).sum(axis=1)
    of_new = [side.ranks[old:] + side.rise[:, side.classes[old:]] for side in (x, y)]
    result += (of_new[0] * of_new[1] * is_in).sum(axis=1)
    return result
