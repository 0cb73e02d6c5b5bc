"""How robustness depends on the number of runs."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from bayesbias._core.array_types import Array, Codes
from bayesbias.silhouette_analysis.robustness import share_of

# Numbers of runs that are shown, at most.
_POINTS = 25


def run_numbers(runs: int) -> Codes:
    """Return numbers of runs from 2 to all of them."""
    return np.unique(np.linspace(2, runs, min(runs - 1, _POINTS)).round().astype(np.intp))


def expected_extremes(values: Array, n: int) -> tuple[Array, Array]:
    """Return the expected smallest and largest of n of the runs, which are the last but one axis.

    All choices of n runs are equally likely, so the i-th smallest of N is the largest of the n with
    probability C(i - 1, n - 1) / C(N, n).
    """
    ordered = np.sort(values, axis=-2)
    total = values.shape[-2]
    places = np.arange(1, total + 1)
    possible = places >= n
    logs = np.full(total, -np.inf)
    below = places[possible] - 1
    logs[possible] = gammaln(below + 1) - gammaln(n) - gammaln(below - n + 2)
    weights = np.exp(logs - (gammaln(total + 1) - gammaln(n + 1) - gammaln(total - n + 1)))
    high: Array = np.einsum("r,...rk->...k", weights, ordered)
    low: Array = np.einsum("r,...rk->...k", weights[::-1], ordered)
    return low, high


def expected_robustness(values: Array, sizes: Codes, width: float, n: int) -> Array:
    """Return the expected robustness of n of the runs."""
    low, high = expected_extremes(values, n)
    result: Array = 1 - share_of(high - low, sizes, width)
    return result
