"""Models compared by WAIC or LOO."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbias.errors import DataError
from bayesbias.plots.plot_checks import check_frame
from bayesbias.plots.style import (
    INK,
    label_below,
    new_axes,
    number,
    reference,
    settle,
    tidy,
    wrapped,
    write_above,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_comparison(comparison: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how much worse than the best each model predicts, the best on top.

    The line is one standard error of the difference to each side. A difference of a few standard
    errors is one; a difference within one or two of them may be chance.

    Parameters
    ----------
    comparison : DataFrame
        What `compare` returned.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If `comparison` is no table.
    DataError
        If it is not one of `compare`.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> fits = {name: bb.fit(table, name, draws=500)
    ...         for name in ["baseline", "connection"]}
    >>> ax = bb.plot_comparison(bb.compare(fits))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['connection', 'baseline']
    """
    check_frame("comparison", comparison, ["SE", "dSE"], "compare()")
    criterion = next((name for name in ("WAIC", "LOO") if name in comparison), None)
    if criterion is None or f"d{criterion}" not in comparison:
        raise DataError("'comparison' has neither WAIC nor LOO; expected the table of compare().")
    table = comparison.sort_values(f"d{criterion}", kind="stable")
    worse, error = table[f"d{criterion}"].to_numpy(), table["dSE"].fillna(0).to_numpy()
    ax = new_axes(6.4, 0.42 * len(table) + 0.8) if ax is None else ax
    y = np.arange(len(table))
    ax.hlines(y[1:], (worse - error)[1:], (worse + error)[1:], color=INK, linewidth=1.7)
    ax.scatter(worse, y, s=36, color=INK, zorder=3)
    best = table.iloc[0]
    text = f"best: {criterion} {_deviance(best[criterion])} ± {_deviance(best['SE'])}"
    ax.annotate(
        text,
        (worse[0], 0),
        (7, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=INK,
    )
    for place in y[1:]:
        write_above(
            ax,
            f"{_deviance(worse[place])} ± {_deviance(error[place])}",
            (float(worse[place]), float(place)),
            4,
        )
    ax.set_yticks(y, [wrapped(str(name), 30) for name in table.index], fontsize=9)
    ax.set_ylim(len(table) - 0.45, -0.6)
    reference(ax, 0)
    ax.margins(x=0.12)
    tidy(ax)
    settle(ax)
    label_below(ax, f"difference in {criterion} from the best model (± standard error)")
    return ax


def _deviance(value: float) -> str:
    """Return a deviance with no more digits than it is worth."""
    return number(value, 0 if abs(value) >= 10 else 1)
