"""The numbers read off silhouettes: bands, areas, and how sure these are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtr, ndtri

from bayesbias._core.array_types import Array, Codes

# The most parts of the runs that are left out in turn.
_PARTS = 100
# Errors below this are those of rounding.
_NO_WIDTH = 1e-12

# Values are runs × sizes, the sizes along the last axis throughout.


def min_max(values: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest value of the runs at each size."""
    return values.min(axis=-2), values.max(axis=-2)


def quantile_band(values: Array, prob: float) -> tuple[Array, Array]:
    """Return the band that holds a run with the probability, as much below it as above."""
    # The default of NumPy makes the band of a hundred runs too narrow by about a twentieth.
    ends = [(1 - prob) / 2, (1 + prob) / 2]
    lower, upper = np.quantile(values, ends, axis=-2, method="median_unbiased")
    return lower, upper


def share_of(heights: Array, sizes: Codes, height: float) -> Array:
    """Return the area below heights as a share of a rectangle as wide as the lists are long."""
    result: Array = np.trapezoid(heights, sizes, axis=-1) / (height * sizes[-1])
    return result


def least_robustness(sizes: Codes) -> float:
    """Return the robustness of runs that differ by the whole range until they are complete."""
    heights = np.append(np.ones(len(sizes) - 1), 0.0)
    return 1 - float(share_of(heights, sizes, 1.0))


def null_share(sizes: Codes, runs: int) -> float:
    """Return the share of the area that the band of a mean of unrelated words would have.

    Of as many words as there are, with the largest standard deviation that words within the range
    can have, half of it. Means of k of K of them have the standard deviation
    ``range / 2 · √((K − k) / (k (K − 1)))``, and their band over the runs is as many of these high
    as that of normal numbers.
    """
    whole = int(sizes[-1])
    deviations = np.sqrt((whole - sizes) / (sizes * (whole - 1))) / 2
    return float(share_of(_normal_range(runs) * deviations, sizes, 1.0))


def _normal_range(number: int) -> float:
    """Return the expected range of a sample of this size from a normal distribution."""
    x = np.linspace(-10, 10, 4001)
    below = ndtr(x)
    return float(np.trapezoid(1 - below**number - (1 - below) ** number, x))


def jackknife(
    statistic: Callable[[Array], Array], values: Array, prob: float
) -> tuple[Array, Array]:
    """Return the ends of an interval for a statistic of the runs, which leaves each out in turn.

    Or, of many runs, a part of them. NaN for two runs: one alone has no band. And NaN if no run
    makes a difference, as with so few words that many runs are the same: an interval of no width
    would say that nothing is left to know. Resamples with
    replacement would miss a third of the runs, and the extremes with them, so that bands of them
    are too narrow by more than they vary.
    """
    runs = values.shape[-2]
    parts = np.array_split(np.arange(runs), min(runs, _PARTS))
    left_out = np.array([statistic(np.delete(values, part, axis=-2)) for part in parts])
    error = np.sqrt((len(parts) - 1) * left_out.var(axis=0))
    value = statistic(values)
    reach = ndtri((1 + prob) / 2) * error if runs > 2 else np.nan
    reach = np.where(error > _NO_WIDTH, reach, np.nan)
    return value - reach, value + reach
