"""The words that lean most to either end of an axis, and the distribution of all words on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.wording import kind_of
from bayesbias.errors import SpecError
from bayesbias.metrics import ProjectionExtremes
from bayesbias.plots.interval_rows import draw_intervals
from bayesbias.plots.style import (
    BAND,
    INK,
    RULE,
    Style,
    halo,
    keys,
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
    from matplotlib.axes import Axes

# Inches of a row; the fewest and the most bins of a distribution.
_ROW, _BINS = 0.2, (6, 60)


def plot_projection_extremes(result: ProjectionExtremes, *, ax: Axes | None = None) -> Axes:
    """Draw the words that lean most to either end of an axis, with their spread over its pairs.

    The grey band holds nine of ten words.

    Parameters
    ----------
    result : ProjectionExtremes
        What `metrics.extreme_projections` returned.
    ax : Axes, optional
        Where to draw; by default a new figure that is as high as the words need.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If `result` is something else.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.metrics.extreme_projections("demo", n_words=5, draws=200)
    >>> ax = bb.plot_projection_extremes(found)
    >>> ax.get_xlabel()
    'cosine with woman − man and 9 more, in demo'
    """
    _check(result)
    first = result.table[result.table["side"] == result.ends[0]]
    second = result.table[result.table["side"] == result.ends[1]].iloc[::-1]
    ax = new_axes(6.4, _ROW * len(result.table) + 1.3) if ax is None else ax
    low, high = np.quantile(result.values["projection"], [0.05, 0.95])
    ax.axvspan(low, high, color=RULE, alpha=0.3, linewidth=0, zorder=0.5)
    of_side = styles(f"towards {side}" for side in result.ends)
    words: list[str] = []
    for rows, style in zip((first, second), of_side.values(), strict=True):
        y = np.arange(len(words), len(words) + len(rows), dtype=np.float64)
        for place in y[y % 2 == 0]:
            ax.axhspan(place - 0.5, place + 0.5, color=BAND, linewidth=0, zorder=0)
        means = rows.rename(columns={"projection": "mean"})
        draw_intervals(ax, means, y.tolist(), style, width=1.7, size=24)
        words += rows["word"].tolist()
    reference(ax, 0.0)
    ax.set_yticks(np.arange(len(words)), words, fontsize=8.5)
    ax.set_ylim(len(words) - 0.5, -0.5)
    tidy(ax)
    settle(ax)
    label_below(ax, f"cosine with {result.axis}, in {result.embedding}")
    band = Style(RULE, "s", "nine of ten words")
    legend_above(ax, [*keys(of_side.values()), *patches([band])], columns=3)
    return ax


def plot_projection_distribution(
    result: ProjectionExtremes, *, labels: int = 3, ax: Axes | None = None
) -> Axes:
    """Draw how the words of each list are distributed on an axis.

    Parameters
    ----------
    result : ProjectionExtremes
        What `metrics.extreme_projections` returned.
    labels : int, default 3
        How many of the extreme words to name at either end.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If `result` is something else, or `labels` is below 0.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.metrics.extreme_projections("demo", n_words=5, draws=200)
    >>> ax = bb.plot_projection_distribution(found)
    >>> ax.get_ylabel()
    'density of words'
    """
    _check(result)
    if not isinstance(labels, int) or labels < 0:
        raise SpecError(f"'labels' is {labels!r}; expected how many words to name, 0 or more.")
    ax = new_axes(6.4, 3.4) if ax is None else ax
    projection = result.values["projection"].to_numpy()
    names = result.values["word_set"].astype(str)
    of_set = styles(names)
    for name, style in of_set.items():
        values = projection[(names == name).to_numpy()]
        bins = int(np.clip(1.5 * np.sqrt(len(values)), *_BINS))
        ax.hist(values, bins=bins, density=True, color=style.color, alpha=0.5, zorder=2)
    reference(ax, 0.0)
    _name_ends(ax, result, labels)
    tidy(ax)
    settle(ax)
    ax.set_ylabel("density of words", color=INK)
    label_below(ax, f"cosine with {result.axis}, in {result.embedding}")
    if len(of_set) > 1:
        shown = [Style(style.color, "s", name) for name, style in of_set.items()]
        legend_above(ax, patches(shown), columns=3)
    return ax


def _name_ends(ax: Axes, result: ProjectionExtremes, labels: int) -> None:
    """Write the most extreme words above their places, the outermost above the others."""
    top = ax.get_ylim()[1]
    ax.set_ylim(0, top * 1.15)
    for side, align in zip(result.ends, ("right", "left"), strict=True):
        rows = result.table[result.table["side"] == side].head(labels)
        for i, row in enumerate(rows.to_dict("records")):
            height = top * (0.16 + 0.13 * (len(rows) - 1 - i))
            ax.plot([row["projection"]] * 2, [0, height], color=INK, linewidth=0.7, zorder=3)
            text = ax.text(
                row["projection"], height, row["word"], ha=align, va="bottom", fontsize=8, color=INK
            )
            halo(text)


def _check(result: object) -> None:
    if not isinstance(result, ProjectionExtremes):
        raise SpecError(
            f"'result' is {kind_of(result)}; expected what metrics.extreme_projections returns."
        )
