"""Embeddings compared: how close own stereotypes are in each, and the differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayesbias.plots.interval_rows import Rows, draw_intervals, mark_rows
from bayesbias.plots.style import (
    INK,
    Style,
    keys,
    label_below,
    legend_above,
    new_axes,
    reference,
    tidy,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches of a lane, and lanes between one row and the next.
_LANE, _BETWEEN = 0.09, 1.5
_ENDS = ["mean", "lower", "upper"]
_EACH = Style("#D55E00", "o", "in one embedding")
_DIFFERENCE = Style(INK, "D", "difference of two embeddings")


def plot_embeddings(
    table: pd.DataFrame, others: Mapping[str, str], *, prob: float, ax: Axes | None = None
) -> Axes:
    """Draw the contrasts of several embeddings, and their differences.

    Parameters
    ----------
    table : DataFrame
        One row per contrast and embedding, or two of them (``second``), with ``mean``, ``lower``
        and ``upper``, and the same at equal frequency (``equal_mean`` and so on), which are only
        drawn where they are not NaN.
    others : mapping of str to str
        What own stereotypes are compared with, for each contrast.
    prob : float
        Probability of the intervals in the table.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes.
    """
    # Each contrast begins with the embeddings themselves.
    rows_of = {
        others[str(contrast)]: part for contrast, part in table.groupby("contrast", sort=False)
    }
    order = {
        title: [
            wrapped(f"{one} minus {other}" if other else one, 34)
            for one, other in zip(part["embedding"], part["second"], strict=True)
        ]
        for title, part in rows_of.items()
    }
    everything = pd.concat(rows_of.values(), ignore_index=True)
    adjusted = everything[[f"equal_{name}" for name in _ENDS]].set_axis(_ENDS, axis=1)
    lanes = {"": everything[_ENDS]}
    if adjusted.notna().any(axis=None):
        lanes["at equal frequency"] = adjusted
    rows = Rows.of(order, len(lanes), between=_BETWEEN, headed=True, lane=_LANE)
    ax = new_axes(6.4, _LANE * rows.end + 1.15) if ax is None else ax
    is_difference = everything["second"] != ""
    places = np.asarray(rows.places)
    for lane, (label, values) in enumerate(lanes.items()):
        for style, chosen in ((_EACH, ~is_difference), (_DIFFERENCE, is_difference)):
            y = (places[chosen] + lane).tolist()
            draw_intervals(ax, values[chosen], y, style, width=1.9, size=30, hollow=lane > 0)
        mark_rows(ax, rows, lane, values, label, "embedding")
    rows.shade(ax)
    reference(ax, 0)
    tidy(ax)
    rows.label(ax)
    label_below(ax, f"difference from own stereotypes, {prob:.0%} intervals (negative: own closer)")
    handles = keys([_EACH, _DIFFERENCE])
    if len(lanes) > 1:
        handles += keys([Style(INK, "o", "at equal frequency")])
        handles[-1].set(markerfacecolor="white")
    legend_above(ax, handles, columns=3)
    return ax
