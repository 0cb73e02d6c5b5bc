"""What several sections of a report use: figures, the column of a difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pandas as pd

from bayesbias._core.files import read_utf8
from bayesbias.auditing.artifacts import FigureFiles
from bayesbias.html import Block, Column, Figure

#: What a section is written as.
SectionBlocks: TypeAlias = Iterator[str | Block]

# A difference of distances with its interval, and the same at equal frequency.
_DIFFERENCE = Column(title="Difference", interval=("lower", "upper"), reference=0.0, places=2)
_AT_EQUAL_FREQUENCY = Column(
    title="At equal frequency",
    interval=("equal_lower", "equal_upper"),
    reference=0.0,
    places=2,
    brief=True,
    note="The difference if all attributes were equally frequent, estimated by the same model with "
    "a slope on log frequency.",
)

# A figure of more bytes, such as one with a dot for each of many thousand distances, is shown as
# PNG.
_LARGE = 1_000_000


def figure(files: FigureFiles, caption: str, alt: str, hint: str = "") -> Figure:
    """Return a figure for the page, as SVG unless that is large; only that can be pointed at."""
    if files.svg.stat().st_size > _LARGE:
        return Figure(files.png.read_bytes(), alt, caption)
    # The folder of an earlier version has no file for narrow screens.
    narrow = read_utf8(files.narrow) if files.narrow.exists() else ""
    return Figure(read_utf8(files.svg), alt, caption, hint, narrow)


def difference_columns(contrasts: pd.DataFrame) -> tuple[Column, dict[str, Column]]:
    """Return the column of differences, and that at equal frequency on the same scale, if any."""
    if contrasts["equal_mean"].isna().all():
        return _DIFFERENCE, {}
    ends = contrasts[["lower", "upper", "equal_lower", "equal_upper"]].to_numpy(dtype=np.float64)
    scale = min(0.0, float(np.nanmin(ends))), max(0.0, float(np.nanmax(ends)))
    equal = replace(_AT_EQUAL_FREQUENCY, scale=scale)
    return replace(_DIFFERENCE, scale=scale), {"equal_mean": equal}


def with_data(contrasts: pd.DataFrame) -> pd.DataFrame:
    """Return contrasts without the numbers that rest on no distance, but on other words alone."""
    numbers = ["mean", "lower", "upper", "prob_negative", "prob_in_rope"]
    numbers += ["equal_mean", "equal_lower", "equal_upper"]
    shown = contrasts.copy()
    shown.loc[shown["verdict"] == "", numbers] = float("nan")
    return shown
