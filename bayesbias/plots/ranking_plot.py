"""Ranks of embeddings by several metrics: stacked, or a panel for each metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias._core.plugins import title_of
from bayesbias._core.wording import quoted
from bayesbias.errors import DataError, SpecError
from bayesbias.metrics import METRICS
from bayesbias.plots.plot_checks import check_frame
from bayesbias.plots.style import (
    INK,
    ink_on,
    label_below,
    legend_above,
    new_axes,
    patches,
    settle,
    styles,
    tidy,
    wrapped,
)
from bayesbias.rankings import overall_ranking

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches of a bar, and characters of a line of a name.
_BAR, _WIDTH = 0.34, 26
# Panels to a row.
_PANELS = 5


@overload
def plot_ranking(
    ranking: pd.DataFrame, *, facets: Literal[False] = False, ax: Axes | None = None
) -> Axes: ...


@overload
def plot_ranking(
    ranking: pd.DataFrame, *, facets: Literal[True], ax: None = None
) -> npt.NDArray[Any]: ...


def plot_ranking(
    ranking: pd.DataFrame, *, facets: bool = False, ax: Axes | None = None
) -> Axes | npt.NDArray[Any]:
    """Draw the ranks of embeddings by several metrics, the least biased overall on top.

    The bars are as in Badilla (2020): the shorter, the less biased. Stacked, a bar is the sum of
    the ranks, by which the embeddings are ordered.

    Parameters
    ----------
    ranking : DataFrame
        What `rank` returned: embeddings × metrics.
    facets : bool, default False
        Whether each metric has a panel of its own, instead of a part of a stacked bar.
    ax : Axes, optional
        Where to draw the stacked bars; by default a new figure that is as high as they need.

    Returns
    -------
    Axes or ndarray of Axes
        The axes; with `facets`, one for each metric.

    Raises
    ------
    SpecError
        If `ranking` is no table, or `ax` is given for panels.
    DataError
        If an embedding has no rank by some metric.

    See Also
    --------
    overall_ranking : The sums and the order as numbers.
    plot_rank_probabilities : How sure a ranking is.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesbias as bb
    >>> ranking = pd.DataFrame({"weat": [1, 2, 3], "rnd": [1, 3, 2]}, index=["a", "b", "c"])
    >>> ax = bb.plot_ranking(ranking)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'b', 'c']
    >>> bb.plot_ranking(ranking, facets=True).shape
    (2,)
    """
    from matplotlib.ticker import MaxNLocator

    check_frame("ranking", ranking, (), "rank()")
    if ranking.select_dtypes("number").shape != ranking.shape:
        raise DataError("'ranking' does not consist of numbers; expected the table of rank().")
    missing = ranking.isna()
    if missing.to_numpy().any():
        metric = missing.any().idxmax()
        lacking = [str(name) for name in ranking.index[missing[metric]]]
        raise DataError(
            f"{quoted(lacking, 4)} has no rank by {metric!r}; leave the embedding or the metric "
            "out: ranking.dropna(), ranking.dropna(axis=1)."
        )
    ordered = ranking.loc[overall_ranking(ranking).index]
    ordered.columns = pd.Index([title_of(str(name), METRICS) for name in ordered.columns])
    if facets:
        if ax is not None:
            raise SpecError("'ax' is one panel, and facets=True draws several; leave it out.")
        return _panels(ordered)
    ax = new_axes(6.4, _BAR * len(ordered) + 0.9 + 0.2 * _lines(ordered)) if ax is None else ax
    y = np.arange(len(ordered))
    several = styles(wrapped(str(name), 2 * _WIDTH) for name in ordered.columns)
    left = np.zeros(len(ordered))
    for style, (_, ranks) in zip(several.values(), ordered.items(), strict=True):
        widths = ranks.to_numpy(dtype=np.float64)
        ax.barh(y, widths, left=left, height=0.72, color=style.color, edgecolor="white")
        _write_ranks(ax, y, left + widths / 2, widths, style.color)
        left += widths
    _label(ax, ordered, y)
    ax.set_xlim(0, left.max() * 1.02)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(ax)
    settle(ax)
    label_below(ax, "sum of ranks (smaller: less biased)")
    legend_above(ax, patches(several.values()), columns=3)
    return ax


def _panels(ordered: pd.DataFrame) -> npt.NDArray[Any]:
    """Draw a panel for each metric, with the same embeddings in the same order."""
    import matplotlib.pyplot as plt

    number = ordered.shape[1]
    rows = -(-number // _PANELS)
    columns = -(-number // rows)  # as many in each row as can be
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(1.4 + 1.7 * columns, rows * (_BAR * len(ordered) + 0.75) + 0.2),
        layout="constrained",
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    axes = grid.ravel()
    for unused in axes[number:]:
        unused.remove()
    y = np.arange(len(ordered))
    color = next(iter(styles([""]).values())).color
    for ax, (name, ranks) in zip(axes, ordered.items(), strict=False):
        widths = ranks.to_numpy(dtype=np.float64)
        ax.barh(y, widths, height=0.72, color=color)
        _write_ranks(ax, y, widths / 2, widths, color)
        ax.set_title(wrapped(str(name), _WIDTH), fontsize=9, color=INK)
        _label(ax, ordered, y)
        ax.set_xlim(0, len(ordered) * 1.02)
        tidy(ax)
        ax.spines["bottom"].set_visible(False)
        ax.set_xticks([])
    figure.supxlabel("rank (1: the least biased)", fontsize=9.5, color=INK)
    result: npt.NDArray[Any] = axes[:number]
    return result


def _label(ax: Axes, ordered: pd.DataFrame, y: npt.NDArray[np.intp]) -> None:
    names = [wrapped(str(name), _WIDTH) for name in ordered.index]
    ax.set_yticks(y, names, fontsize=8.5)
    ax.set_ylim(len(ordered) - 0.5, -0.5)


def _write_ranks(
    ax: Axes,
    y: npt.NDArray[np.intp],
    x: npt.NDArray[np.float64],
    ranks: npt.NDArray[np.float64],
    color: str,
) -> None:
    """Write each rank into its bar."""
    for place, middle, rank in zip(y, x, ranks, strict=True):
        ax.text(
            middle,
            place,
            f"{rank:g}",
            ha="center",
            va="center",
            fontsize=8,
            color=ink_on(color),
        )


def _lines(ordered: pd.DataFrame) -> int:
    """Return about how many lines the legend takes."""
    longest = max(len(str(name)) for name in ordered.columns)
    to_a_line = max(1, min(3, 80 // (longest + 8)))
    return -(-ordered.shape[1] // to_a_line)
