"""Numbers for people: few digits, a true minus sign, and nothing rounded to certainty."""

from __future__ import annotations

import math

import numpy as np

from bayesbias._core.array_types import Array

_SIGNIFICANT = 3
# So small a number is rounding.
_ROUNDING = 1e-6
MISSING = "–"


def decimals(values: Array, *, percent: bool = False) -> int:
    """Return the digits after the point that show three digits of the largest number."""
    finite = values[np.isfinite(values)]
    if percent or (finite == np.round(finite)).all():
        return 0
    magnitude = math.floor(math.log10(np.abs(finite).max()))
    return min(max(_SIGNIFICANT - 1 - magnitude, 0), 6)


def probability(value: float, places: int) -> str:
    """Return a probability estimated from draws as text: never 0 or 1, which draws cannot tell."""
    text = number(value, places)
    smallest = 10.0**-places
    if value < smallest / 2:
        return f"<{smallest:.{places}f}"
    return f">{1 - smallest:.{places}f}" if value > 1 - smallest / 2 else text


def number(value: float, places: int, *, percent: bool = False, keep_small: bool = True) -> str:
    """Return a number as text.

    A share that is neither 0 nor 1 is never shown as 0% or 100%, and another number that is not 0
    never as 0, unless `keep_small` is false: an interval says how much of it is noise.
    """
    if math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if percent:
        text = f"{value:.{places}%}"
        smallest = 10.0 ** (-places - 2)
        if 0 < value < 1 and float(text[:-1]) in (0, 100):
            return f"<{smallest:.{places}%}" if value < 0.5 else f">{1 - smallest:.{places}%}"
    else:
        # A p-value of 0.00008 is not 0.
        if keep_small and _ROUNDING <= abs(value) < 0.5 * 10.0**-places:
            places = -math.floor(math.log10(abs(value)))
        text = f"{value:,.{places}f}"
    if text.startswith("-"):
        # Minus zero is zero.
        text = "−" + text[1:] if text.strip("-0.%,") else text[1:]
    return text
