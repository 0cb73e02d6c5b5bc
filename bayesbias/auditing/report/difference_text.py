"""Differences of distances in words, with their intervals."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

#: The most words that a sentence names.
NAMED = 6
#: What own stereotypes are compared with, in words.
OTHERS = {
    "associated - none": "neutral words",
    "associated - human": "human words",
    "associated - different": "stereotypes of other groups",
}


def size(value: float) -> str:
    """Return the size of a difference; one that is not 0 does not look like it."""
    distance = abs(value)
    return f"{distance:.2f}" if distance >= 0.005 or distance == 0 else f"{distance:.1g}"


def directed(value: float) -> str:
    """Return a difference of distances in words: below 0 is closer."""
    return f"{size(value)} {'closer' if value < 0 else 'farther'}"


def difference(row: Mapping[Hashable, Any]) -> str:
    """Return a difference of distances with its interval, in words."""
    doubt = "" if row["lower"] > 0 or row["upper"] < 0 else ", inconclusive"
    return f"{directed(row['mean'])} ({interval_ends(row)}{doubt})"


def interval_ends(row: Mapping[Hashable, Any]) -> str:
    """Return an interval in words; the direction is said where it is not the same throughout."""
    low, high = float(row["lower"]), float(row["upper"])
    if low < 0 < high:
        return f"{directed(low)} to {directed(high)}"
    return " to ".join(map(size, sorted((low, high), key=abs)))


def records(frame: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Return the rows of a table."""
    return frame.to_dict("records")


def span(values: pd.Series[Any], places: int = 0) -> str:
    """Return the smallest and the largest value; one, if they look the same."""
    low, high = f"{values.min():.{places}f}", f"{values.max():.{places}f}"
    return low if low == high else f"{low} to {high}"
