"""The spread of cosine similarities by the number of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.embeddings import RANDOM_POINTS
from bayesbias.plots.plot_checks import check_frame
from bayesbias.plots.style import GRID, INK, halo, legend_above, new_axes, settle, styles

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


def plot_dimensionality(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the standard deviation of cosine similarities against the number of dimensions.

    The lines are random points; an embedding is a mark with its name. A mark on the line of the
    random directions would be an embedding whose words are as unrelated as random vectors; marks
    above it have similarities that differ more.

    Parameters
    ----------
    table : DataFrame
        What `embeddings.similarity_spread` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes, both with a logarithmic scale.

    Raises
    ------
    DataError
        If the table is another.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.embeddings.similarity_spread(["demo", "demo-100d"])
    >>> ax = bb.plot_dimensionality(found)
    >>> [text.get_text() for text in ax.texts]
    ['demo', 'demo-100d']
    """
    check_frame("table", table, ("points", "dim", "sd"), "similarity_spread()")
    ax = new_axes(6.4, 4.0) if ax is None else ax
    ax.set_xscale("log")
    ax.set_yscale("log")
    # Random points have the same colours in every figure.
    of_points = styles([*RANDOM_POINTS, *table["points"].astype(str)])
    lines: list[Artist] = []
    for name, rows in table.groupby(table["points"].astype(str), sort=False):
        style = of_points[str(name)]
        ordered = rows.sort_values("dim")
        if name in RANDOM_POINTS:
            line = ax.plot(
                ordered["dim"],
                ordered["sd"],
                color=style.color,
                marker=style.marker,
                markersize=4,
                linewidth=1.4,
                label=str(name),
            )
            lines += line
            continue
        ax.scatter(
            ordered["dim"],
            ordered["sd"],
            s=42,
            c=style.color,
            marker=style.marker,
            edgecolors="white",
            linewidths=0.5,
            zorder=3,
        )
        last = ordered.iloc[-1]
        text = ax.annotate(
            str(name),
            (float(last["dim"]), float(last["sd"])),
            (6, 3),
            textcoords="offset points",
            fontsize=8.5,
            color=INK,
        )
        halo(text)
    _label_axes(ax, table)
    settle(ax)
    if lines:
        legend_above(ax, lines, columns=2)
    return ax


def _label_axes(ax: Axes, table: pd.DataFrame) -> None:
    """Write plain numbers on both scales."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    # The usual sizes of embeddings, and the ends.
    usual = [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
    low, high = table["dim"].min(), table["dim"].max()
    ax.set_xticks([size for size in usual if low <= size <= high] or [int(low)])
    steps = [step * 10.0**power for power in range(-4, 1) for step in (1, 2, 5)]
    shown = [step for step in steps if table["sd"].min() * 0.7 <= step <= table["sd"].max() * 1.4]
    ax.set_yticks(shown or [float(np.mean(table["sd"]))])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    ax.minorticks_off()
    ax.set_xlabel("dimensions", color=INK)
    ax.set_ylabel("standard deviation of cosine similarity", color=INK)
