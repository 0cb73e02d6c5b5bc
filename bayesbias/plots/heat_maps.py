"""Heat maps with numbers: the places of embeddings, and how rankings agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias._core.plugins import title_of
from bayesbias._core.wording import kind_of
from bayesbias.errors import DataError, SpecError
from bayesbias.metrics import METRICS
from bayesbias.plots.plot_checks import check_frame
from bayesbias.plots.style import (
    BAND,
    CONNECTION_STYLES,
    INK,
    ink_on,
    label_below,
    new_axes,
    number,
    settle,
    wrapped,
)
from bayesbias.rankings import OverallRankPosterior, RankPosterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches of a cell with and without a number, and how many to a side have numbers;
# where there are more, there is a colour bar.
_CELL, _SMALL_CELL, _NUMBERED = 0.6, 0.24, 20
# Characters of a line of a name, and inches of a character.
_WIDTH, _CHARACTER = 26, 0.075
# Inches that the label below needs.
_LEAST = 2.8


def plot_rank_probabilities(posterior: RankPosterior, *, ax: Axes | None = None) -> Axes:
    """Draw the probability of each place for each embedding, the least biased on top.

    Parameters
    ----------
    posterior : RankPosterior
        What `rank_posterior` returned.
    ax : Axes, optional
        Where to draw; by default a new figure that is as large as the embeddings need.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If `posterior` is something else.

    Examples
    --------
    >>> import bayesbias as bb
    >>> embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    >>> queries = [bb.load_query(f"weat_{i}") for i in (6, 7, 8)]
    >>> ax = bb.plot_rank_probabilities(
    ...     bb.rank_posterior("weat_es", queries, embeddings, draws=1000)
    ... )
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['demo-100d', 'demo']
    """
    if not isinstance(posterior, RankPosterior):
        raise SpecError(
            f"'posterior' is {kind_of(posterior)}; expected what rank_posterior() returned."
        )
    chances = posterior.probabilities.loc[posterior.table["embedding"].tolist()]
    blue = CONNECTION_STYLES["different"].color
    texts = np.vectorize(_chance)(chances.to_numpy())
    ax = _heat_map(ax, chances, ("white", blue, "#00344F"), 0.0, texts, label="probability")
    settle(ax)
    by = "mean rank by " if isinstance(posterior, OverallRankPosterior) else ""
    metrics = ", ".join(title_of(name, METRICS) for name in posterior.metric.split(", "))
    label_below(ax, f"place by {by}{metrics} (1: the least biased)")
    return ax


def plot_rank_correlations(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how much metrics agree on the order of embeddings.

    Parameters
    ----------
    frame : DataFrame
        What `rank_correlations` returned: metrics × metrics, from −1 to 1.
    ax : Axes, optional
        Where to draw; by default a new figure that is as large as the metrics need.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If `frame` is no table.
    DataError
        If it is not a table of correlations.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesbias as bb
    >>> ranking = pd.DataFrame({"weat": [1, 2, 3], "rnd": [1, 3, 2]}, index=["a", "b", "c"])
    >>> ax = bb.plot_rank_correlations(bb.rank_correlations(ranking))
    >>> [text.get_text() for text in ax.texts]
    ['1.00', '0.50', '0.50', '1.00']
    """
    check_frame("frame", frame, (), "rank_correlations()")
    square = list(frame.index) == list(frame.columns)
    if not square or frame.select_dtypes("number").shape != frame.shape or _beyond_one(frame):
        raise DataError(
            "'frame' is not metrics × metrics from −1 to 1; expected the table of "
            "rank_correlations()."
        )
    ends = (CONNECTION_STYLES["associated"].color, CONNECTION_STYLES["different"].color)
    texts = np.vectorize(_correlation)(frame.to_numpy(dtype=np.float64))
    colors = (ends[0], "white", ends[1])
    titles = [title_of(str(name), METRICS) for name in frame.columns]
    shown = frame.set_axis(titles, axis=0).set_axis(titles, axis=1)
    return _heat_map(ax, shown, colors, -1.0, texts, label="rank correlation")


def _chance(value: float) -> str:
    """Return a probability, never a certainty."""
    if value > 0.995:
        return ">0.99"
    return "<0.01" if value < 0.005 else f"{value:.2f}"


def _beyond_one(frame: pd.DataFrame) -> bool:
    return bool((np.abs(frame.to_numpy(dtype=np.float64)) > 1 + 1e-9).any())


def _correlation(value: float) -> str:
    # A metric that gives all embeddings one place has no correlation.
    return "–" if np.isnan(value) else number(value, 2)


def _heat_map(
    ax: Axes | None,
    frame: pd.DataFrame,
    colors: Sequence[str],
    least: float,
    texts: npt.NDArray[np.str_],
    *,
    label: str,
) -> Axes:
    """Draw a table of numbers up to one as coloured cells."""
    import seaborn as sns
    from matplotlib.colors import LinearSegmentedColormap

    height, width = frame.shape
    rows, columns = (
        [wrapped(str(name), _WIDTH) for name in names] for names in (frame.index, frame)
    )
    has_numbers = max(height, width) <= _NUMBERED
    cell = _CELL if has_numbers else _SMALL_CELL
    # A name that is wider than its cell stands upright.
    is_upright = _CHARACTER * _longest(columns) > cell
    if ax is None:
        beside = _CHARACTER * _longest(rows) + (0.3 if has_numbers else 1.2)
        below = _CHARACTER * _longest(columns) if is_upright else 0.2
        ax = new_axes(max(cell * width, _LEAST) + beside, cell * height + below + 0.5)
    palette = LinearSegmentedColormap.from_list("heat", list(colors)).with_extremes(bad=BAND)
    sns.heatmap(
        frame.astype(np.float64),
        vmin=least,
        vmax=1.0,
        cmap=palette,
        linewidths=1,
        linecolor="white",
        cbar=not has_numbers,
        cbar_kws={"shrink": 0.6, "label": label},
        xticklabels=columns,
        yticklabels=rows,
        ax=ax,
    )
    ax.set(xlabel="", ylabel="")
    ax.tick_params(length=0, labelcolor=INK, labelsize=8.5)
    ax.tick_params(axis="x", rotation=90 if is_upright else 0)
    ax.tick_params(axis="y", rotation=0)
    if has_numbers:
        _write_numbers(ax, texts, palette((frame.to_numpy(np.float64) - least) / (1 - least)))
    return ax


def _write_numbers(ax: Axes, texts: npt.NDArray[np.str_], colors: Array) -> None:
    """Write a text into each cell, also where there is no number, in ink or white.

    Seaborn's own texts leave such cells empty, and are white on colours on which ink is easier to
    read.
    """
    for (row, column), text in np.ndenumerate(texts):
        ax.text(
            column + 0.5,
            row + 0.5,
            text,
            ha="center",
            va="center",
            fontsize=8,
            color=ink_on(tuple(colors[row, column])),
        )


def _longest(names: Sequence[str]) -> int:
    """Return the number of characters of the longest line."""
    return max(len(line) for name in names for line in name.split("\n"))
