"""Which words a metric rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbias._validate import at_least
from bayesbias.errors import DataError
from bayesbias.plots.checks import check_frame
from bayesbias.plots.look import (
    label_below,
    legend_above,
    new_axes,
    patches,
    reference,
    settle,
    styles,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_influence(frame: pd.DataFrame, *, top: int = 20, ax: Axes | None = None) -> Axes:
    """Draw how much single words change the value of a metric, the strongest first.

    A bar to the right is a word that makes the value larger: without it, it would be smaller by
    the length of the bar.

    Parameters
    ----------
    frame : DataFrame
        What `Metric.influence` returned.
    top : int, default 20
        How many words, the strongest by size.
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
        If it is not one of `Metric.influence`, or no word has an influence that can be told.

    Examples
    --------
    >>> import bayesbias as bb
    >>> frame = bb.WEAT().influence(bb.load_query("weat_7"), bb.load_embedding("demo"))
    >>> ax = bb.plot_influence(frame, top=3)
    >>> [label.get_text() for label in ax.get_yticklabels()] == list(frame["word"][:3])
    True
    """
    check_frame("frame", frame, ["word_set", "word", "influence"], "Metric.influence()")
    at_least("top", top, 1)
    known = frame[np.isfinite(frame["influence"])]
    if known.empty:
        raise DataError("'frame' has no influence that is a number; there is nothing to draw.")
    table = known.sort_values("influence", key=np.abs, ascending=False, kind="stable").head(top)
    several = styles(frame["word_set"].sort_values())
    ax = new_axes(6.4, 0.2 * len(table) + 1.3) if ax is None else ax
    y = np.arange(len(table))
    for name, style in several.items():
        own = (table["word_set"] == name).to_numpy()
        ax.barh(y[own], table["influence"][own], height=0.7, color=style.color)
    ax.set_yticks(y, table["word"].tolist(), fontsize=8.5)
    ax.set_ylim(len(table) - 0.4, -0.6)
    reference(ax, 0)
    tidy(ax)
    settle(ax)
    label_below(ax, "influence: the value less the value without the word")
    there = [several[name] for name in several if (table["word_set"] == name).any()]
    legend_above(ax, patches(there), columns=2)
    return ax
