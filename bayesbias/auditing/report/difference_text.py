"""Differences of distances in words, with their intervals; negative differences are closer."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from bayesbias._core.interval_text import ends_text, estimate_text
from bayesbias.models import OTHERS as OTHERS
from bayesbias.models import has_equal_frequency
from bayesbias.wordlists import Study

#: The most words that a sentence names.
NAMED = 6


def estimate(row: Mapping[Hashable, Any], name: str = "") -> str:
    """Return a difference with its interval: ``−0.10, −0.18 to −0.01``."""
    return estimate_text(float(row["mean"]), float(row["lower"]), float(row["upper"]), name)


def difference(row: Mapping[Hashable, Any]) -> str:
    """Return a difference with its interval, and whether it is inconclusive."""
    doubt = "" if row["lower"] > 0 or row["upper"] < 0 else "; inconclusive"
    mean, _, ends = estimate(row).partition(", ")
    return f"{mean} ({ends}{doubt})"


def at_equal_frequency(row: Mapping[Hashable, Any]) -> str:
    """Return the difference at equal frequency, as it follows the raw one; nothing without it."""
    if not has_equal_frequency(row):
        return ""
    same: dict[Hashable, Any] = {end: row[f"equal_{end}"] for end in ("mean", "lower", "upper")}
    return f", at equal frequency {difference(same)}"


def interval_ends(row: Mapping[Hashable, Any]) -> str:
    """Return an interval: ``−0.18 to −0.01``."""
    return ends_text(float(row["lower"]), float(row["upper"]))


def records(frame: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Return the rows of a table."""
    return frame.to_dict("records")


def span(values: pd.Series[Any], places: int = 0) -> str:
    """Return the smallest and the largest value; one, if they look the same."""
    low, high = f"{values.min():.{places}f}", f"{values.max():.{places}f}"
    return low if low == high else f"{low} to {high}"


def labelled(frame: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return a table with the labels of groups and protected words in place of their names."""
    shown = frame.copy()
    for column, label in (
        ("group", study.group_label),
        ("protected_group", study.group_label),
        ("word", study.word_label),
        ("protected_word", study.word_label),
    ):
        if column in shown:
            shown[column] = shown[column].astype("str").map(label)
    return shown
