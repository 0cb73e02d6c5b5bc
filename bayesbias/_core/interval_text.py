"""Estimates and their intervals in sentences: signed, and rounded by the interval."""

from __future__ import annotations

import math

from bayesbias._core.rounded_table import decimals_of_interval

# More digits than this are shown only of intervals that are narrower than they tell.
_DECIMALS = 2


def decimals(lower: float, upper: float) -> int:
    """Return the decimals that show one digit of the width of an interval, two at least.

    >>> decimals(-0.18, -0.01), decimals(0.0312, 0.0354)
    (2, 3)
    """
    return max(_DECIMALS, decimals_of_interval([lower], [upper]) - 1)


def signed(value: float, places: int) -> str:
    """Return a number with a minus sign, and not a hyphen; 0 has no sign.

    >>> signed(-0.104, 2), signed(-0.0004, 2)
    ('−0.10', '0.00')
    """
    text = f"{abs(value):.{places}f}"
    return f"−{text}" if value < 0 and float(text) else text


def ends_text(lower: float, upper: float) -> str:
    """Return an interval; an end that would be rounded to 0 says on which side of 0 it is.

    >>> ends_text(-0.18, -0.013), ends_text(-0.26, -0.003), ends_text(-0.002, 0.26)
    ('−0.18 to −0.01', '−0.26 to just below 0', 'just below 0 to 0.26')
    """
    places = decimals(lower, upper)
    texts = []
    for value in (lower, upper):
        text = signed(value, places)
        if value and not math.isnan(value) and not float(text.replace("−", "-")):
            text = f"just {'below' if value < 0 else 'above'} 0"
        texts.append(text)
    return " to ".join(texts)


def estimate_text(mean: float, lower: float, upper: float, name: str = "") -> str:
    """Return an estimate with its interval; `name` says what kind of interval it is.

    >>> estimate_text(-0.0968, -0.181, -0.013)
    '−0.10, −0.18 to −0.01'
    >>> estimate_text(-0.0004, -0.06, 0.07, "89% interval")
    '0.00, 89% interval −0.06 to 0.07'
    """
    ends = f"{name} {ends_text(lower, upper)}".strip()
    return f"{signed(mean, decimals(lower, upper))}, {ends}"
