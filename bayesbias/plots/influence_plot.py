"""Which words a metric rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from bayesbias._core.validation import at_least, one_of
from bayesbias.errors import DataError
from bayesbias.plots.plot_checks import check_frame, choose
from bayesbias.plots.style import (
    INK,
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

Measure: TypeAlias = Literal["influence", "contribution"]

_MEASURES = {
    "influence": "influence: the value minus the value without the word",
    "contribution": "contribution: by how much the value changes when the word comes in",
}
# Who makes the tables.
_MAKERS = "Metric.influence() or Silhouettes.influence()"


def plot_influence(
    frame: pd.DataFrame,
    *,
    by: Measure = "influence",
    embedding: str | None = None,
    top: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw how much single words change the value of a metric, the strongest first.

    A bar to the right is a word that makes the value larger: without it, it would be smaller by
    the length of the bar.

    Parameters
    ----------
    frame : DataFrame
        What `Metric.influence` or `Silhouettes.influence` returned.
    by : {"influence", "contribution"}, default "influence"
        What the complete value loses without the word, or, of silhouettes, how much the value
        changes on average when the word comes in, with its standard error.
    embedding : str, optional
        Which embedding, if the table has several.
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
        If `frame` is no table, or has several embeddings and none is named.
    DataError
        If it is not one of `influence`, or no word has an influence that can be computed.

    Examples
    --------
    >>> import bayesbias as bb
    >>> frame = bb.metrics.WEAT().influence(bb.load_query("weat_7"), bb.load_embedding("demo"))
    >>> ax = bb.plot_influence(frame, top=3)
    >>> [label.get_text() for label in ax.get_yticklabels()] == list(frame["word"][:3])
    True
    """
    one_of("by", by, _MEASURES)
    check_frame("frame", frame, ["word_set", "word", by], _MAKERS)
    at_least("top", top, 1)
    finite = frame[np.isfinite(frame[by])]
    if "embedding" in frame:
        name = choose("embedding", embedding, dict.fromkeys(frame["embedding"].astype("str")))
        finite = finite[finite["embedding"] == name]
    if finite.empty:
        raise DataError(f"'frame' has no {by} that is a number; there is nothing to draw.")
    table = finite.sort_values(by, key=np.abs, ascending=False, kind="stable").head(top)
    several = styles(frame["word_set"].sort_values())
    ax = new_axes(6.4, 0.2 * len(table) + 1.3) if ax is None else ax
    y = np.arange(len(table))
    for name, style in several.items():
        in_set = (table["word_set"] == name).to_numpy()
        ax.barh(y[in_set], table[by][in_set], height=0.7, color=style.color)
    if by == "contribution":
        # A word that a single run tells of has no standard error.
        errors = table["standard_error"].fillna(0)
        ax.errorbar(table[by], y, xerr=errors, fmt="none", ecolor=INK, elinewidth=1)
    ax.set_yticks(y, table["word"].tolist(), fontsize=8.5)
    ax.set_ylim(len(table) - 0.4, -0.6)
    reference(ax, 0)
    tidy(ax)
    settle(ax)
    label_below(ax, _MEASURES[by])
    drawn_styles = [several[name] for name in several if (table["word_set"] == name).any()]
    legend_above(ax, patches(drawn_styles), columns=2)
    return ax
