"""Whether numbers between 0 and 1 are uniform: simultaneous bands of their distribution function.

The test of Säilynoja, Bürkner and Vehtari (2022), Graphical test for discrete uniformity and its
applications in goodness-of-fit evaluation and multiple sample comparison, Statistics and Computing
32, 32. At each point the number of values below it is binomial; the band is as wide at each point
as makes it hold the whole function with the stated probability. ArviZ draws such bands; the p-value
of the same test is computed here with them, so that figure and table agree.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from bayesbias._core.array_types import Array

_POINTS = 100
_NULL = 10_000


def points() -> Array:
    """Return the points where the distribution function is looked at."""
    return np.arange(1, _POINTS) / _POINTS


def distribution(values: Array) -> Array:
    """Return the share of values up to each of the points; values along the first axis."""
    ordered = np.sort(np.asarray(values), axis=0)
    return np.asarray(np.searchsorted(ordered, points(), side="right") / len(ordered))


@lru_cache(maxsize=16)
def _tails(n: int) -> Array:
    """Return the two-sided tail probability of each count at each point, counts × points."""
    counts = np.arange(n + 1)[:, None]
    below = stats.binom.cdf(counts, n, points())
    above = stats.binom.sf(counts - 1, n, points())
    return np.asarray(2 * np.minimum(below, above))


@lru_cache(maxsize=16)
def _null(n: int) -> Array:
    """Return the smallest tail probability over all points, for samples that are uniform; sorted.

    The seed is fixed: it is a table of a distribution, and the same call gives the same answer.
    """
    rng = np.random.default_rng(2022)
    tails, smallest = _tails(n), []
    for _ in range(10):  # in parts, so that it needs little memory
        counts = rng.multinomial(n, np.full(_POINTS, 1 / _POINTS), size=_NULL // 10)
        below = counts.cumsum(axis=1)[:, :-1]
        smallest.append(tails[below, np.arange(_POINTS - 1)].min(axis=1))
    return np.sort(np.concatenate(smallest))


def uniformity(values: Array) -> float:
    """Return the p-value of the test that values between 0 and 1 are uniform."""
    n = len(values)
    counts = np.rint(distribution(values) * n).astype(np.intp)
    smallest = _tails(n)[counts, np.arange(_POINTS - 1)].min()
    # Ties are the rule, as counts are whole numbers; rounding must not decide them.
    as_small = np.searchsorted(_null(n), smallest * (1 + 1e-9), side="right")
    return float((1 + as_small) / (1 + _NULL))


def band(n: int, prob: float = 0.95) -> tuple[Array, Array]:
    """Return the ends of a band that holds the whole distribution function of n uniform values."""
    gamma = float(np.quantile(_null(n), 1 - prob))
    lower = stats.binom.ppf(gamma / 2, n, points()) / n
    upper = stats.binom.ppf(1 - gamma / 2, n, points()) / n
    return np.asarray(lower), np.asarray(upper)


def holm(p_values: Array) -> Array:
    """Return p-values adjusted for their number (Holm 1979)."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)
    raised = p[order] * np.arange(len(p), 0, -1)
    result = np.empty_like(p)
    result[order] = np.minimum(np.maximum.accumulate(raised), 1)
    return result


def wilson(share: float, n: float, prob: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share that was seen in n trials."""
    z = float(stats.norm.ppf((1 + prob) / 2))
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return float(centre - half), float(centre + half)


def clustered_share(hit: pd.Series[bool], table: pd.Series[Any]) -> dict[str, float]:
    """Return the share of hits with a 95% interval; hits of one table are not independent.

    ``trials`` is the number of independent trials that would give the same variance, at least one
    for each table, and at most one for each hit.
    """
    share = float(hit.mean())
    by_table = hit.groupby(table.to_numpy()).mean()
    n = len(by_table)
    variance = float(by_table.var()) / n if n > 1 else 0.0
    trials = share * (1 - share) / variance if variance else n
    trials = float(min(max(trials, n), len(hit)))
    lower, upper = wilson(share, trials)
    return {"coverage": share, "lower": lower, "upper": upper, "trials": trials}
