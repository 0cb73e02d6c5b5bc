"""Bias silhouettes: how the value of a metric converges as the word lists grow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesbias._core.plugins import title_of
from bayesbias._core.validation import one_of, true_or_false
from bayesbias._core.wording import kind_of
from bayesbias.errors import SpecError
from bayesbias.metrics import METRICS
from bayesbias.plots.style import (
    GRID,
    INK,
    figure_width,
    legend_above,
    new_axes,
    number,
    row_label,
    styles,
    tidy,
    wrapped,
)
from bayesbias.silhouette_analysis import Silhouettes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

Band: TypeAlias = Literal["both", "min-max", "quantile"]
_Outside: TypeAlias = Literal["outside upper left", "outside lower left"]

_BANDS = ("both", "min-max", "quantile")
_EDGES = {"min-max": ("min", "max"), "quantile": ("lower", "upper")}
# How opaque the band of all runs is, and that of most of them.
_LIGHT, _DARK = 0.13, 0.24
# How opaque the band of random lists is, and how its edges are dotted.
_CHANCE, _DOTS = 0.06, (0, (1, 2))
# Bands of more embeddings than these hide each other: only one kind is drawn, and paler.
_MANY, _PALE = 2, 0.05
# The means are dashed, each in a way of its own.
_DASHES = ((4, 1.5), (1, 1.2), (7, 1.5, 1, 1.5), (2, 1), (7, 2.5), (3, 1.2, 1, 1.2, 1, 1.2))
# Marks along the means are so far apart, as a share of the panel.
_APART = 0.22
# What is left free around the range of the metric, and around the sizes.
_PAD = 0.025
# How opaque the lines of single runs are: the more there are, the less.
_FAINT, _FAINTEST = 2.5, 0.12
# From which share of the runs on the legend says how robustness still changes.
_LATE = 0.8
# Inches of a panel of a grid, and characters of a line of its title.
_PANEL, _TITLE = (3.5, 2.3), 50
# Characters of a line of the name of an embedding, and inches of the height of a line.
_NAME, _LINE = 24, 0.16


@dataclass(frozen=True, slots=True)
class _Look:
    """How an embedding is drawn."""

    color: str
    marker: str
    dash: tuple[float, tuple[float, ...]]
    start: float  # of the marks along the mean: not all at the same sizes


def plot_silhouettes(
    result: Silhouettes,
    *,
    band: Band | None = None,
    curves: bool = False,
    whole_range: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the value of a metric converges as random subsets of the word lists grow.

    Each embedding has a band over the runs, their mean as a dashed line, and a mark for the value
    of the complete lists, where all runs meet. The horizontal line is the value of an embedding
    without bias. Narrow bands are robust lists; the legend says how robust, from 0 to 1. The grey
    band between dotted lines is the average band of random lists of the same lengths, if the lists
    were compared with any: lists are more robust than chance only if their band is narrower.

    Parameters
    ----------
    result : Silhouettes
        What `silhouettes` returned.
    band : {"both", "min-max", "quantile"}, optional
        From the smallest to the largest run, as in the paper; the part that holds a run with
        probability ``result.prob``, which more runs do not widen; or the second within the first.
        By default both, and with more than two embeddings, whose bands would hide each other,
        "min-max".
    curves : bool, default False
        Whether each run is a thin line within the bands, as in figure 2 (a) of the paper.
    whole_range : bool, default True
        Whether the vertical axis is the whole range of the metric, as in the paper, so that
        figures can be compared, or what the bands need.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If `result` is something else, or there is no such band.

    Examples
    --------
    >>> import bayesbias as bb
    >>> embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    >>> result = bb.silhouettes("weat_es", bb.load_query("weat_7"), embeddings)
    >>> ax = bb.plot_silhouettes(result)
    >>> ax.get_ylabel(), ax.get_xlabel()
    ('WEAT effect size (0: no bias)', 'number of target words (16 in all)')
    """
    _check(result)
    several = _looks(result.embeddings)
    kind = _kind(band, several)
    by_embedding = zip(result.embeddings, result.complete, result.robustness, strict=True)
    labels = [
        f"{wrapped(name, _NAME)}\nvalue {number(value, 2)}, robustness {robustness:.2f}"
        for name, value, robustness in by_embedding
    ]
    if ax is None:
        lines = sum(label.count("\n") + 1 for label in labels)
        ax = new_axes(7.4, max(4.0, _LINE * (lines + len(labels)) + 0.5))
    if true_or_false("curves", curves):
        _draw_curves(ax, result, several)
    _draw(ax, result, several, kind)
    ax.set_ylim(_limits([result], "min-max" if curves else kind, whole_range))
    beside = _legend_beside(ax, _keys(several.values(), labels))
    ax.add_artist(beside).set_clip_on(False)  # or the next legend would take its place
    legend_above(ax, _explained([result], kind), columns=5)
    return ax


def plot_silhouette_grid(
    results: Iterable[Silhouettes], *, band: Band | None = None, whole_range: bool = True
) -> npt.NDArray[np.object_]:
    """Draw several silhouettes side by side: a row for each metric and query, one column per side.

    Embeddings look the same in all panels; beside each panel stands how robust they are there. A
    single embedding has no key.

    Parameters
    ----------
    results : iterable of Silhouettes
        What `silhouettes` returned for several metrics, queries or sides.
    band : {"both", "min-max", "quantile"}, optional
        As in `plot_silhouettes`.
    whole_range : bool, default True
        As in `plot_silhouettes`; the panels of a row have one vertical axis.

    Returns
    -------
    array of Axes
        Rows × columns, in the order of `results`; hidden where there is no result.

    Raises
    ------
    SpecError
        If there are no results, two of the same metric, query and side, or something else.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query, emb = bb.load_query("weat_7"), bb.load_embedding("demo")
    >>> axes = bb.plot_silhouette_grid(
    ...     bb.silhouettes(metric, query, emb, side=side, runs=20)
    ...     for metric in ("weat_es", "mac") for side in ("targets", "attributes")
    ... )
    >>> axes.shape
    (2, 2)
    """
    placed = _placed(results)
    rows = list(dict.fromkeys(row for row, _ in placed))
    columns = list(dict.fromkeys(side for _, side in placed))
    several = _looks(name for result in placed.values() for name in result.embeddings)
    kind = _kind(band, several)
    titled = len({query for _, query in rows}) > 1
    figure, axes = _new_grid(len(rows), len(columns), len(several))
    for row, panels in zip(rows, axes, strict=True):
        in_row = {side: placed[row, side] for side in columns if (row, side) in placed}
        for side, ax in zip(columns, panels, strict=True):
            if side not in in_row:
                ax.set_visible(False)
                continue
            first = side == next(iter(in_row))
            _draw(ax, in_row[side], several, kind)
            ax.set_ylim(_limits(in_row.values(), kind, whole_range))
            ax.tick_params(labelsize=8, labelleft=first)
            ax.xaxis.label.set_fontsize(8.5)
            ax.yaxis.label.set(fontsize=8.5, visible=first)
            if titled and first:
                ax.set_title(wrapped(row[1], _TITLE), loc="left", fontsize=8.5, color=INK)
            _write_robustness(ax, in_row[side], several)
    if len(several) > 1:
        _legend_outside(figure, _keys(several.values(), several), "outside upper left")
    _legend_outside(figure, _explained(list(placed.values()), kind), "outside lower left")
    return axes


def plot_silhouette_convergence(result: Silhouettes, *, ax: Axes | None = None) -> Axes:
    """Draw how the robustness depends on the number of runs, to see whether there were enough.

    Parameters
    ----------
    result : Silhouettes
        What `silhouettes` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes: a line for each embedding, which falls less and less.

    Raises
    ------
    SpecError
        If `result` is something else.

    Notes
    -----
    The paper found that from 80 runs on robustness changes by less than 0.003 on average
    (Spliethöver & Wachsmuth 2021, appendix A). `Silhouettes.convergence` has the numbers.

    Examples
    --------
    >>> import bayesbias as bb
    >>> result = bb.silhouettes("weat_es", "weat_7", "demo", runs=40, chance=0)
    >>> ax = bb.plot_silhouette_convergence(result)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('number of runs', 'expected robustness')
    """
    from matplotlib.ticker import MaxNLocator

    _check(result)
    several = _looks(result.embeddings)
    if ax is None:
        ax = new_axes(6.4, 3.6)
    labels = []
    for name, look in several.items():
        table = result.convergence[result.convergence["embedding"] == name]
        [line] = ax.plot(table["runs"], table["robustness"], color=look.color, linewidth=1.4)
        line.set(linestyle=look.dash, marker=look.marker, markersize=4, markevery=(0.0, _APART))
        late = table[table["runs"] >= _LATE * result.runs]["gap"].iloc[0]
        labels.append(f"{wrapped(name, _NAME)}\nfalls by {late:.3f} in the last fifth")
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    ax.set_xlabel("number of runs", color=INK)
    ax.set_ylabel("expected robustness", color=INK)
    tidy(ax)
    ax.grid(axis="y", color=GRID, linewidth=0.6)
    _legend_beside(ax, _keys(several.values(), labels))
    return ax


def _write_robustness(ax: Axes, result: Silhouettes, several: Mapping[str, _Look]) -> None:
    """Write beside a panel how robust the lists are; a single embedding needs no key."""
    if len(several) == 1:
        ax.annotate(
            f"robustness\n{result.robustness.iloc[0]:.2f}",
            (1, 1),
            (5, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="top",
            fontsize=8,
            color=INK,
        )
        return
    looks = [several[name] for name in result.embeddings]
    handles = _keys(looks, [f"{value:.2f}" for value in result.robustness])
    _legend_beside(ax, handles, title="robustness")


def _looks(names: Iterable[str]) -> dict[str, _Look]:
    """Return a look for each embedding."""
    several = styles(names)
    return {
        name: _Look(
            style.color,
            style.marker,
            (0, _DASHES[i % len(_DASHES)]),
            _APART * (i + 1) / (len(several) + 1),
        )
        for i, (name, style) in enumerate(several.items())
    }


def _kind(band: Band | None, embeddings: Sized) -> Band:
    """Return the bands to draw."""
    if band is None:
        return "both" if len(embeddings) <= _MANY else "min-max"
    one_of("band", band, _BANDS)
    return band


def _check(result: object) -> Silhouettes:
    if isinstance(result, Silhouettes):
        return result
    raise SpecError(f"'result' is {kind_of(result)}; expected what silhouettes() returned.")


def _placed(results: object) -> dict[tuple[tuple[str, str], str], Silhouettes]:
    """Return silhouettes by their row, a metric and a query, and their column, a side."""
    if isinstance(results, Silhouettes) or not isinstance(results, Iterable):
        raise SpecError(
            f"'results' is {kind_of(results)}; expected a list of what silhouettes() returned."
        )
    placed: dict[tuple[tuple[str, str], str], Silhouettes] = {}
    for result in results:
        _check(result)
        place = (result.metric, result.query.name), result.side
        if place in placed:
            raise SpecError(
                f"'results' has the {result.side} of {result.query.name!r} by {result.metric!r} "
                "twice; keep one of them."
            )
        placed[place] = result
    if not placed:
        raise SpecError("'results' is empty; there is nothing to draw.")
    return placed


def _draw(ax: Axes, result: Silhouettes, several: Mapping[str, _Look], band: Band) -> None:
    """Draw bands, means and complete lists, and label the axes."""
    from matplotlib.ticker import MaxNLocator

    for name in result.embeddings:
        table = result.table[result.table["embedding"] == name]
        _draw_one(ax, table, several[name], band, many=len(several) > _MANY)
    _draw_chance(ax, result)
    ax.axhline(result.neutral_value, color=INK, linewidth=0.8, zorder=0.9)
    least, whole = int(result.sizes[0]), int(result.sizes[-1])
    pad = _PAD * (whole - least)
    ax.set_xlim(least - pad, whole + pad)
    ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    side = result.side.removesuffix("s")
    ax.set_xlabel(row_label(f"number of {side} words ({whole:,} in all)", 24), color=INK)
    title = title_of(result.metric, METRICS)
    ax.set_ylabel(f"{title} ({result.neutral_value:g}: no bias)", color=INK)
    tidy(ax)
    ax.grid(axis="x", visible=False)
    ax.grid(axis="y", color=GRID, linewidth=0.6)


def _draw_curves(ax: Axes, result: Silhouettes, several: Mapping[str, _Look]) -> None:
    """Draw each run as a thin line."""
    from matplotlib.collections import LineCollection

    for name, runs in zip(result.embeddings, result.values, strict=True):
        lines = [np.column_stack([result.sizes, run]) for run in runs]
        alpha = max(_FAINT / np.sqrt(len(lines)), _FAINTEST)
        color = several[name].color
        ax.add_collection(LineCollection(lines, colors=color, alpha=alpha, linewidths=0.6))


def _draw_one(ax: Axes, table: pd.DataFrame, look: _Look, band: Band, *, many: bool) -> None:
    """Draw the bands of an embedding with the edges of the outer one, the mean, and its end."""
    k, color = table["k"], look.color
    for name, alpha in (("min-max", _LIGHT), ("quantile", _DARK)):
        if band in ("both", name):
            low, high = _EDGES[name]
            alpha = _PALE if many else alpha
            ax.fill_between(k, table[low], table[high], color=color, alpha=alpha, linewidth=0)
    ax.plot(k, table[_outer(band)], color=color, alpha=0.9 if many else 0.5, linewidth=0.7)
    [mean] = ax.plot(k, table["mean"], color=color, linewidth=1.4, linestyle=look.dash, zorder=3)
    # A mark at the end of the range is drawn whole.
    mean.set(marker=look.marker, markersize=4, markevery=(look.start, _APART), clip_on=False)
    # All runs are the same at the last size, and so is their mean.
    end = ax.scatter(k.iloc[-1], table["mean"].iloc[-1], s=44, c=color, marker=look.marker)
    end.set(edgecolors="white", linewidths=0.7, zorder=4, clip_on=False)


def _draw_chance(ax: Axes, result: Silhouettes) -> None:
    """Draw the average band of random lists, of all embeddings that have them."""
    edges = _chance(result)
    if edges is not None:
        ax.fill_between(result.sizes, *edges, color=INK, alpha=_CHANCE, linewidth=0, zorder=0.8)
        for edge in edges:
            [line] = ax.plot(result.sizes, edge, color=INK, linewidth=0.8, linestyle=_DOTS)
            line.set(alpha=0.6, zorder=0.9)


def _chance(result: Silhouettes) -> npt.NDArray[np.float64] | None:
    """Return the edges of the average band of random lists, if there are any."""
    if not result.random_lists:
        return None
    bands = [(random.low, random.high) for random in result.random_lists.values()]
    edges: npt.NDArray[np.float64] = np.mean(bands, axis=0)
    return edges


def _outer(band: Band) -> list[str]:
    """Return the columns of the edges of the outer band."""
    return list(_EDGES["min-max" if band == "both" else band])


def _limits(several: Iterable[Silhouettes], band: Band, whole_range: bool) -> tuple[float, float]:
    """Return the ends of the vertical axis, with all that is drawn between them."""
    results = list(several)
    drawn = [*_outer(band), "mean"]
    shown = [result.table[drawn].to_numpy().ravel() for result in results]
    shown += [edges.ravel() for edges in map(_chance, results) if edges is not None]
    edges = np.concatenate(shown)
    ranges = [result.value_range for result in results] if whole_range else edges
    low, high = float(min(edges.min(), np.min(ranges))), float(max(edges.max(), np.max(ranges)))
    # Runs that all agree still need an axis.
    pad = _PAD * ((high - low) or np.ptp(results[0].value_range))
    return low - pad, high + pad


def _keys(several: Iterable[_Look], labels: Iterable[str]) -> list[Artist]:
    """Return a dashed line with a mark for each embedding, for a legend."""
    from matplotlib.lines import Line2D

    return [
        Line2D(
            [],
            [],
            color=look.color,
            marker=look.marker,
            markersize=4,
            linewidth=1.4,
            linestyle=look.dash,
            label=label,
        )
        for look, label in zip(several, labels, strict=True)
    ]


def _explained(shown: Sequence[Silhouettes], band: Band) -> list[Artist]:
    """Return what the bands, lines and marks are, for a legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    runs, probs = ({getattr(result, name) for result in shown} for name in ("runs", "prob"))
    handles: list[Artist] = []
    if band != "quantile":
        label = f"all {runs.pop():,} runs" if len(runs) == 1 else "all runs"
        handles.append(Patch(color=INK, alpha=_LIGHT, linewidth=0, label=label))
    if band != "min-max":
        label = f"{100 * probs.pop():g}% of runs" if len(probs) == 1 else "most runs"
        alpha = _DARK if band == "quantile" else _LIGHT + _DARK
        handles.append(Patch(color=INK, alpha=alpha, linewidth=0, label=label))
    handles.append(Line2D([], [], color=INK, linewidth=1.4, linestyle="--", label="mean of runs"))
    mark = Line2D([], [], color=INK, linestyle="", marker="o", markersize=6, label="all words")
    handles.append(mark)
    if any(result.random_lists for result in shown):
        band_of_chance = Patch(facecolor=(INK, _CHANCE), edgecolor=(INK, 0.6), linestyle=_DOTS)
        band_of_chance.set_label("random lists")
        handles.append(band_of_chance)
    return handles


def _new_grid(rows: int, columns: int, embeddings: int) -> tuple[Figure, npt.NDArray[np.object_]]:
    """Return a new figure and its panels, as high as the numbers beside them need."""
    import matplotlib.pyplot as plt
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    height = max(_PANEL[1], 1.2 * _LINE * (embeddings + 1) + 0.4)
    size = (figure_width(_PANEL[0] * columns + 0.4), height * rows)
    room = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06, wspace=0.02, hspace=0.04)
    return plt.subplots(rows, columns, figsize=size, squeeze=False, sharey="row", layout=room)


def _legend_beside(ax: Axes, handles: Sequence[Artist], title: str | None = None) -> Legend:
    """Put a legend to the right of the axes."""
    return ax.legend(
        handles=handles,
        title=title,
        loc="upper left",
        bbox_to_anchor=(1, 1),
        frameon=False,
        fontsize=8.5 if title is None else 8,
        title_fontsize=8,
        labelcolor=INK,
        handlelength=2.6,
        labelspacing=0.9 if title is None else 0.4,
        alignment="left",
        borderaxespad=0.3,
    )


def _legend_outside(figure: Figure, handles: Sequence[Artist], where: _Outside) -> None:
    """Put a legend above or below all panels, in as many columns as there is room for."""
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(
            handles=handles,
            loc=where,
            ncols=columns,
            frameon=False,
            fontsize=8.5,
            labelcolor=INK,
            handlelength=2.6,
            columnspacing=1.4,
        )
        box = legend.get_window_extent()
        if columns == 1 or box.width <= figure.bbox.width:
            break
        legend.remove()
    # The panels keep their height.
    figure.set_figheight(figure.get_figheight() + box.height / figure.dpi)
