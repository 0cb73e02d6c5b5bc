"""Attribute words one by one, with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.plugins import title_of
from bayesbias._core.validation import at_least
from bayesbias.errors import DataError
from bayesbias.metrics import METRICS
from bayesbias.plots.interval_rows import draw_intervals
from bayesbias.plots.plot_checks import check_frame
from bayesbias.plots.style import (
    BAND,
    Style,
    keys,
    label_below,
    legend_above,
    new_axes,
    reference,
    settle,
    styles,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Inches of a row.
_ROW = 0.2


def plot_by_word(frame: pd.DataFrame, *, top: int = 40, ax: Axes | None = None) -> Axes:
    """Draw the value of every attribute word by itself, with its interval.

    Words whose interval excludes the value of an embedding without bias are drawn in colour.

    Parameters
    ----------
    frame : DataFrame
        What `Metric.by_word` returned.
    top : int, default 40
        How many words at most, those that are the farthest from the value without bias.
    ax : Axes, optional
        Where to draw; by default a new figure that is as high as the words need.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If `frame` is no table.
    DataError
        If it is not one of `by_word`, or no word has a value.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query = bb.load_query("weat_7").subqueries((2, 1))[0]
    >>> frame = bb.metrics.RND().by_word(query, bb.load_embedding("demo"), draws=200)
    >>> ax = bb.plot_by_word(frame)
    >>> ax.get_xlabel()
    'RND of single words in demo (0: no bias)'
    """
    check_frame("frame", frame, ["word", "value", "lower", "upper"], "Metric.by_word()")
    at_least("top", top, 1)
    neutral = float(frame.attrs.get("neutral_value", 0.0))
    finite = frame[np.isfinite(frame["value"])]
    if finite.empty:
        raise DataError("'frame' has no value that is a number; there is nothing to draw.")
    strongest = (finite["value"] - neutral).abs().sort_values(ascending=False, kind="stable")
    table = finite.loc[strongest.index[:top]].sort_values("value", kind="stable")
    table = table.rename(columns={"value": "mean"})
    excluded = ((table["lower"] > neutral) | (table["upper"] < neutral)).to_numpy()
    ax = new_axes(6.4, _ROW * len(table) + 1.2) if ax is None else ax
    y = np.arange(len(table), dtype=np.float64)
    for place in y[::2]:
        ax.axhspan(place - 0.5, place + 0.5, color=BAND, linewidth=0, zorder=0)
    clear = next(iter(styles([""]).values()))
    kinds = [
        (excluded, Style(clear.color, "o", f"interval excludes {neutral:g}")),
        (~excluded, Style("#767676", "D", "inconclusive")),
    ]
    for rows, style in kinds:
        draw_intervals(ax, table[rows], y[rows].tolist(), style, width=1.7, size=24)
    reference(ax, neutral)
    ax.set_yticks(y, table["word"].tolist(), fontsize=8.5)
    ax.set_ylim(len(table) - 0.5, -0.5)
    tidy(ax)
    settle(ax)
    metric = title_of(str(frame.attrs.get("metric", "value")), METRICS)
    where = frame.attrs.get("embedding")
    inside = "" if where is None else f" in {where}"
    label_below(ax, f"{metric} of single words{inside} ({neutral:g}: no bias)")
    drawn = [style for rows, style in kinds if rows.any()]
    if table["lower"].notna().any():
        legend_above(ax, keys(drawn), columns=2)
    return ax
