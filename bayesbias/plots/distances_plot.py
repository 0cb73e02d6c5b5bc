"""The distances themselves, before any model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.constants import CONNECTIONS
from bayesbias._core.validation import one_of, word_list
from bayesbias._core.wording import quoted
from bayesbias.distances import Duplicates, check_table
from bayesbias.errors import DataError
from bayesbias.plots.plot_checks import in_table
from bayesbias.plots.style import CONNECTION_STYLES, INK, new_axes, row_label, tidy, write_above

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: The most dots of one kind of connection: more only cover each other, and fill the file.
MOST_DOTS = 10_000


def plot_distances(
    table: pd.DataFrame,
    *,
    group: str | None = None,
    connections: Iterable[str] = CONNECTIONS,
    duplicates: Duplicates | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw every cosine distance as a dot, one row per kind of connection, with the means.

    If a kind has more than 10,000 distances, 10,000 of them are drawn, chosen at random; the means
    are of all.

    Parameters
    ----------
    table : DataFrame
        A distance table.
    group : str, optional
        Draw only the protected words of this group.
    connections : iterable of str, default ("associated", "different", "human", "none")
        Draw only these kinds: ``["associated", "different"]`` leaves the controls out.
    duplicates : {"drop", "keep"}, optional
        What to do with duplicated rows: leave them out, or keep them and draw each. By default as
        recorded with the table (`read_table`), else ``"drop"``.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If there is no such connection.
    DataError
        If there is no such group in the table, or nothing of these kinds.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> ax = bb.plot_distances(table, group="muslim")
    >>> ax.get_xlabel()
    'cosine distance'
    """
    wanted = [
        one_of("connections", name, CONNECTIONS) for name in word_list("connections", connections)
    ]
    rows = check_table(table, duplicates=duplicates)
    if group is not None:
        in_table("group", group, rows["protected_group"].cat.categories)
        rows = rows[rows["protected_group"] == group]
    shown = [name for name in CONNECTIONS if name in wanted and (rows["connection"] == name).any()]
    if not shown:
        raise DataError(f"no rows of {quoted(wanted)} in the table; there is nothing to draw.")
    ax = new_axes(6.4, 0.62 * len(shown) + 0.9) if ax is None else ax
    # The same places each time: a figure of the same table is the same figure.
    rng = np.random.default_rng(0)
    for row, name in enumerate(reversed(shown)):
        style = CONNECTION_STYLES[name]
        values = rows.loc[rows["connection"] == name, "cosine_distance"].to_numpy()
        drawn = values
        if len(values) > MOST_DOTS:
            drawn = values[rng.choice(len(values), MOST_DOTS, replace=False)]
        heights = row + rng.uniform(-0.27, 0.27, len(drawn))
        # Many dots are fainter, so that their density shows.
        alpha = float(np.clip(6.0 / np.sqrt(len(drawn)), 0.12, 0.8))
        ax.scatter(
            drawn, heights, s=9, c=style.color, marker=style.marker, alpha=alpha, linewidths=0
        )
        ax.plot([values.mean()] * 2, [row - 0.36, row + 0.36], color=INK, linewidth=2.2)
        shown_dots = f"; {len(drawn):,} drawn" if len(drawn) < len(values) else ""
        text = f"{values.mean():.2f}  (n = {len(values):,}{shown_dots})"
        write_above(ax, text, (float(values.mean()), row + 0.36), 1.5)
    labels = [row_label(CONNECTION_STYLES[name].label) for name in reversed(shown)]
    ax.set_yticks(range(len(shown)), labels, fontsize=9)
    ax.set_ylim(-0.55, len(shown) - 0.3)
    ax.set_xlabel("cosine distance")
    tidy(ax)
    return ax
