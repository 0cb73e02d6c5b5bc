"""The densities of the distances, and the band of what MAC calls close to 1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.constants import CONNECTIONS
from bayesbias._core.validation import one_of, word_list
from bayesbias._core.wording import quoted
from bayesbias.distances import Duplicates, check_table
from bayesbias.errors import DataError
from bayesbias.metrics import mac_band
from bayesbias.plots.plot_checks import in_table
from bayesbias.plots.style import (
    CONNECTION_STYLES,
    INK,
    RULE,
    halo,
    label_below,
    legend_above,
    new_axes,
    settle,
    tidy,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_POINTS = 300
# The height of a density in its row, and inches of a row.
_HEIGHT, _ROW = 0.78, 0.72


def plot_densities(
    table: pd.DataFrame,
    *,
    mac: float | None = None,
    group: str | None = None,
    connections: Iterable[str] = CONNECTIONS,
    duplicates: Duplicates | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the density of the distances by connection, with the band 1 ± (1 − MAC).

    The three numbers of a row are the shares of its distances below, in and above the band. If the
    shares of the neutral controls are like those of the stereotypes, a mean distance of MAC is
    nothing unusual.

    Parameters
    ----------
    table : DataFrame
        A distance table of one embedding.
    mac : float, optional
        The mean distance that sets the band; by default the MAC of the whole table.
    group : str, optional
        Draw only the protected words of this group. The band stays that of the whole table.
    connections : iterable of str, default ("associated", "different", "human", "none")
        Draw only these kinds.
    duplicates : {"drop", "keep"}, optional
        What to do with duplicated rows: leave them out, or keep them and count each. By default as
        recorded with the table (`read_table`), else ``"drop"``.
    ax : Axes, optional
        Where to draw; by default a new figure that is as high as the rows need.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If there is no such connection, or `mac` is not a distance.
    DataError
        If there is no such group in the table, or nothing of these kinds.

    See Also
    --------
    bayesbias.metrics.shares_beyond_mac : The shares as a table.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> ax = bb.plot_densities(table)
    >>> [text.get_text() for text in ax.texts][:3]
    ['56%', '33%', '11%']
    """
    wanted = [
        one_of("connections", name, CONNECTIONS) for name in word_list("connections", connections)
    ]
    rows = check_table(table, duplicates=duplicates)
    low, high = mac_band(rows, mac)
    if group is not None:
        in_table("group", group, rows["protected_group"].cat.categories)
        rows = rows[rows["protected_group"] == group]
    shown = [name for name in CONNECTIONS if name in wanted and (rows["connection"] == name).any()]
    if not shown:
        raise DataError(f"no rows of {quoted(wanted)} in the table; there is nothing to draw.")
    values = {
        name: rows.loc[rows["connection"] == name, "cosine_distance"].to_numpy() for name in shown
    }
    ax = new_axes(6.4, _ROW * len(shown) + 1.1) if ax is None else ax
    every = np.concatenate(list(values.values()))
    # Room at both sides for the shares.
    start, end = min(every.min(), low) - 0.12, max(every.max(), high) + 0.12
    grid = np.linspace(start, end, _POINTS)
    band = ax.axvspan(low, high, color=RULE, alpha=0.35, linewidth=0, zorder=0.5)
    band.set_label(f"1 ± (1 − MAC) = 1 ± {(high - low) / 2:.2f}")
    for place, name in enumerate(shown):
        _draw_row(ax, len(shown) - 1 - place, grid, name, values[name], (low, high))
    ax.set_xlim(start, end)
    ax.set_ylim(-0.06, len(shown))
    labels = [f"{CONNECTION_STYLES[name].label}\nn = {len(values[name]):,}" for name in shown]
    ax.set_yticks(np.arange(len(shown))[::-1], labels, fontsize=9, va="bottom")
    tidy(ax)
    settle(ax)
    label_below(ax, "cosine distance (1: unrelated)")
    legend_above(ax, [band], columns=1)
    return ax


def _draw_row(
    ax: Axes, base: int, grid: Array, name: str, values: Array, band: tuple[float, float]
) -> None:
    """Draw one density, and the shares of the distances on the three sides of the band."""
    low, high = band
    color = CONNECTION_STYLES[name].color
    density = _density(values, grid)
    ax.fill_between(
        grid, base, base + _HEIGHT * density / density.max(), color=color, alpha=0.55, linewidth=0
    )
    ax.axhline(base, color=color, linewidth=0.8)
    parts = (values < low, (values >= low) & (values <= high), values > high)
    places = ((low, -5, "right"), ((low + high) / 2, 0, "center"), (high, 5, "left"))
    for part, (x, offset, side) in zip(parts, places, strict=True):
        text = ax.annotate(
            f"{part.mean():.0%}",
            (x, base),
            (offset, 3),
            textcoords="offset points",
            ha=side,
            va="bottom",
            fontsize=8.5,
            color=INK,
        )
        halo(text)


def _density(values: Array, grid: Array) -> Array:
    """Return a kernel density; of values that are all the same, a narrow one around them."""
    from scipy.stats import gaussian_kde, norm

    if len(values) < 2 or not np.ptp(values):
        narrow: Array = norm(values[0], 0.01).pdf(grid)
        return narrow
    density: Array = gaussian_kde(values, bw_method="silverman")(grid)
    return density
