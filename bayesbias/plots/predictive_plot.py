"""Whether tables that a fitted model would give look like the one that it was fitted to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import gaussian_filter1d

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import blocks
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, one_of
from bayesbias.models import Fit, outcome_draws
from bayesbias.numerics.intervals import check_interval
from bayesbias.plots.plot_checks import check_fit
from bayesbias.plots.style import (
    CONNECTION_STYLES,
    DISTANCE,
    GRID,
    INK,
    label_below,
    legend_above,
    new_axes,
    row_label,
    settle,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_BINS = 400
# So many rows or more are drawn lower.
_MANY = 12
# A density that is lower than this part of a row is not drawn.
_SEEN = 0.002


def plot_predictive_check(
    fit: Fit,
    *,
    by: str | None = "connection",
    draws: int = 200,
    prob: float = 0.89,
    seed: Seed = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw the density of the observed distances over those of tables that the model would give.

    Each replicated table is drawn from the posterior, with the words and the number of rows of the
    observed one. Where the line of the observed leaves the band, the model misses something. Beside
    each row are the shares of its distances that lie in their own predictive intervals, which
    should not be below the probabilities above them (`Fit.predictive_coverage` returns them).

    Parameters
    ----------
    fit : Fit
        What `fit` or `load_fit` returned, by either engine.
    by : str or None, default "connection"
        The column of the table that has a row of the figure for each of its names, such as
        ``protected_group`` or ``protected_word``; None for all distances together.
    draws : int, default 200
        How many replicated tables.
    prob : float, default 0.89
        The part of the replicated densities that the band holds, at each distance, and the
        probability of the second kind of predictive intervals; the first is 50%.
    seed : int, Generator or None, default 0
        Same number, same figure.
    ax : Axes, optional
        Where to draw; by default a new figure that is as high as the rows need.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If `by` is not a column of names.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> fit = bb.fit(table, "interaction", draws=500)
    >>> ax = bb.plot_predictive_check(fit, by="protected_group", draws=50)
    >>> [label.get_text().split()[0] for label in ax.get_yticklabels()]
    ['jew', 'christian', 'muslim']
    """
    return draw_predicted(predicted_densities(fit, by=by, draws=draws, prob=prob, seed=seed), ax)


@dataclass(frozen=True, eq=False)
class PredictedDensities:
    """What `plot_predictive_check` shows, with one row of the figure per name."""

    by: str | None
    prob: float
    names: list[str]
    counts: Codes  # the distances of each name
    grid: Array
    observed: Array  # names × grid
    lower: Array
    upper: Array
    tables: int  # that were replicated
    coverage: pd.DataFrame


def predicted_densities(
    fit: Fit,
    *,
    by: str | None = "connection",
    draws: int = 200,
    prob: float = 0.89,
    seed: Seed = 0,
) -> PredictedDensities:
    """Compute what `plot_predictive_check` draws; of a long table, this takes minutes."""
    check_fit(fit)
    check_interval(prob, "eti")
    at_least("draws", draws, 2)
    seed = as_seed(seed)
    codes, names = _levels(fit, by)
    grid, observed, replicated = _densities(fit, codes, len(names), draws, seed)
    lower, upper = np.quantile(replicated, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
    return PredictedDensities(
        by=by,
        prob=prob,
        names=names,
        counts=np.bincount(codes, minlength=len(names)),
        grid=grid,
        observed=observed,
        lower=lower,
        upper=upper,
        tables=len(replicated),
        coverage=fit.predictive_coverage(by=by, probs=dict.fromkeys([0.5, prob])),
    )


def draw_predicted(predicted: PredictedDensities, ax: Axes | None = None) -> Axes:
    """Draw the densities, a row per name."""
    by, names = predicted.by, predicted.names
    grid, observed, lower, upper = (
        predicted.grid, predicted.observed, predicted.lower, predicted.upper
    )  # fmt: skip
    has_many_rows = len(names) >= _MANY
    row_height, size = (0.3, 8) if has_many_rows else (0.62, 9)
    ax = new_axes(7.2, row_height * len(names) + 1.2) if ax is None else ax
    for level, name in enumerate(names):
        style = CONNECTION_STYLES.get(name) if by == "connection" else None
        color = INK if style is None else style.color
        # Densities of rows with many and with few distances differ in height; each fills its row.
        scale = 0.85 / max(upper[level].max(), observed[level].max())
        base = len(names) - 1 - level
        seen = np.flatnonzero(scale * np.maximum(upper[level], observed[level]) > _SEEN)
        part = slice(seen[0], seen[-1] + 1)
        low, high, line = (
            base + scale * density[level, part] for density in (lower, upper, observed)
        )
        ax.fill_between(grid[part], low, high, color=color, alpha=0.35, linewidth=0)
        ax.plot(grid[part], line, color=INK, linewidth=1.2)
    labels = _labels(predicted, lines=not has_many_rows)
    ax.set_yticks(np.arange(len(names))[::-1], labels, fontsize=size, va="bottom")
    ax.set_ylim(-0.08, len(names))
    tidy(ax)
    ax.grid(axis="y", color=GRID, linewidth=0.6)
    _write_coverage(ax, predicted, size)
    settle(ax)
    label_below(ax, DISTANCE)
    # A legend that is wider than the axes is above the headings of the columns beside them.
    legend_above(ax, _handles(predicted.tables, predicted.prob), columns=2, space_if_wider=2.9)
    return ax


def _levels(fit: Fit, by: str | None) -> tuple[Codes, list[str]]:
    """Return the row of the figure of each row of the table, and the names of the rows."""
    if by is None:
        return np.zeros(len(fit.table), dtype=np.intp), ["all distances"]
    columns = [str(name) for name in fit.table.columns if fit.table[name].dtype.kind not in "fiu"]
    one_of("by", by, columns)
    used = fit.table[by].astype("category").cat.remove_unused_categories()
    return used.cat.codes.to_numpy().astype(np.intp), [str(name) for name in used.cat.categories]


def _densities(
    fit: Fit, codes: Codes, levels: int, draws: int, seed: int
) -> tuple[Array, Array, Array]:
    """Return a grid, and the densities there: levels × grid, and tables × levels × grid."""
    y = fit.data.y
    low, high = y.min(), y.max()
    edges = np.linspace(low - (high - low) / 2, high + (high - low) / 2, _BINS + 1)
    step = edges[1] - edges[0]
    n = np.bincount(codes, minlength=levels)

    def counts(tables: Array) -> Array:
        """Return tables × levels × bins."""
        bins = np.clip((tables - edges[0]) / step, -1, _BINS)
        inside = (bins >= 0) & (bins < _BINS)
        cells = (np.arange(len(tables))[:, None] * levels + codes) * _BINS + bins.astype(np.intp)
        size = len(tables) * levels * _BINS
        per_width = np.bincount(cells[inside], minlength=size) / step
        return np.asarray(per_width.reshape(-1, levels, _BINS))

    # The same kernel for both: what it smooths away, it does in either.
    width = [_bandwidth(y[codes == level]) / step for level in range(levels)]
    densities = []
    for tables in chain([y[None]], _replicated(fit, draws, seed)):
        density = counts(tables) / n[:, None]
        for level in range(levels):
            density[:, level] = gaussian_filter1d(density[:, level], width[level], mode="constant")
        densities.append(density)
    return (edges[1:] + edges[:-1]) / 2, densities[0][0], np.concatenate(densities[1:])


def _bandwidth(y: Array) -> float:
    """Return Silverman's rule of thumb for the width of a kernel."""
    quarter, three_quarters = np.quantile(y, [0.25, 0.75])
    spread = min(y.std(), (three_quarters - quarter) / 1.34) or y.std() or 0.01
    return float(0.9 * spread * len(y) ** -0.2)


def _replicated(fit: Fit, draws: int, seed: int) -> Iterator[Array]:
    """Draw tables from the posterior, in blocks of tables × rows."""
    rng = np.random.default_rng(seed)
    values = {p.name: fit.draws(p.name) for p in fit.spec.parameters}
    total = len(values[fit.spec.scale])
    chosen = rng.choice(total, draws, replace=draws > total)
    for part_of_draws in blocks(draws, len(fit.data.y)):
        block = chosen[part_of_draws]
        part = {name: draw[block].reshape(len(block), -1) for name, draw in values.items()}
        yield outcome_draws(fit.spec, fit.data, part, len(block), rng)


def _write_coverage(ax: Axes, predicted: PredictedDensities, size: int) -> None:
    """Write beside the rows how many distances lie in their 50% and wider intervals."""
    probs = list(dict.fromkeys([0.5, predicted.prob]))
    shares = predicted.coverage
    rows = len(shares) // len(probs)
    table = shares["share"].to_numpy().reshape(rows, len(probs))
    cells = [[f"{value:.0%}" for value in row] for row in table]
    heads = [f"in {level:.0%}\ninterval" for level in probs]
    for column, head in enumerate(heads):
        offset = 30 + 48 * column
        at: dict[str, Any] = {
            "textcoords": "offset points",
            "ha": "center",
            "va": "bottom",
            "color": INK,
        }
        ax.annotate(head, (1, 1), (offset, 4), xycoords="axes fraction", fontsize=8, **at)
        for row in range(rows):
            place = (1, rows - 1 - row)
            ax.annotate(
                cells[row][column],
                place,
                (offset, 1),
                xycoords=("axes fraction", "data"),
                annotation_clip=False,
                fontsize=size - 0.5,
                **at,
            )


def _labels(predicted: PredictedDensities, *, lines: bool) -> list[str]:
    """Return what to write beside the rows: names, and where there is room how many distances."""
    shown = [
        row_label(CONNECTION_STYLES[name].label) if predicted.by == "connection" else name
        for name in predicted.names
    ]
    if not lines:
        return shown
    return [f"{name}\nn = {n:,}" for name, n in zip(shown, predicted.counts, strict=True)]


def _handles(draws: int, prob: float) -> list[Artist]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Line2D([], [], color=INK, linewidth=1.2, label="observed"),
        Patch(
            color=INK, alpha=0.35, linewidth=0, label=f"{prob:.0%} of {draws:,} replicated tables"
        ),
    ]
