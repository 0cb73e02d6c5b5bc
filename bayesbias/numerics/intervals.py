"""Intervals and summaries of draws."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias._core.validation import one_of
from bayesbias.errors import SpecError

Kind = Literal["hdi", "eti"]


def check_interval(prob: float, kind: str) -> None:
    """Refuse a probability or a kind of interval that makes no sense."""
    if isinstance(prob, bool) or not isinstance(prob, int | float) or not 0 < prob < 1:
        raise SpecError(f"'prob' is {prob!r}; expected a number between 0 and 1, such as 0.89.")
    one_of("kind", kind, ("hdi", "eti"))


def interval(draws: Array, prob: float = 0.89, kind: Kind = "hdi") -> tuple[Array, Array]:
    """Return the lower and upper ends of the intervals of draws along the first axis.

    ``hdi`` is the narrowest interval that holds the probability, ``eti`` leaves the same
    probability on both sides.
    """
    check_interval(prob, kind)
    if kind == "eti":
        lower, upper = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
        return lower, upper
    ordered = np.sort(draws, axis=0)
    n = len(ordered)
    inside = min(int(np.floor(prob * n)), n - 1)
    width = ordered[inside:] - ordered[: n - inside]
    start = width.argmin(axis=0)[None]
    lower = np.take_along_axis(ordered, start, axis=0)[0]
    upper = np.take_along_axis(ordered, start + inside, axis=0)[0]
    return lower, upper


def centred(draws: Array, value: float, stretch: float = 1.0) -> Array:
    """Return draws moved so that their median is a value, and stretched about it."""
    result: Array = value + stretch * (draws - np.nanmedian(draws))
    return result


def interval_around(
    value: float, draws: Array, prob: float = 0.89, kind: Kind = "eti"
) -> tuple[float, float]:
    """Return the ends of the interval of draws whose median is the value; it holds the value.

    NaN if no draw is a number. The narrowest interval of less than half the probability may miss
    the median, and it runs to a bound at which draws pile up; then the one that leaves the same
    probability on both sides is returned.
    """
    finite = draws[np.isfinite(draws)]
    if not len(finite) or not np.isfinite(value):
        return np.nan, np.nan
    if sum(int((finite == end).sum()) for end in (finite.min(), finite.max())) > 2:
        kind = "eti"
    lower, upper = (float(end) for end in interval(finite, prob, kind))
    if not lower <= value <= upper:
        lower, upper = (float(end) for end in interval(finite, prob, "eti"))
    return min(lower, value), max(upper, value)


def describe(draws: Array, prob: float = 0.89, kind: Kind = "hdi") -> pd.DataFrame:
    """Return mean, sd, lower and upper of draws × quantities, one row per quantity."""
    flat = draws.reshape(len(draws), -1)
    lower, upper = interval(flat, prob, kind)
    return pd.DataFrame(
        {"mean": flat.mean(axis=0), "sd": flat.std(axis=0), "lower": lower, "upper": upper}
    )
