"""The coefficients of the whole data set, with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayesbias.errors import SpecError
from bayesbias.models import Fit, Parameter, tidy_draws
from bayesbias.numerics.intervals import check_interval
from bayesbias.plots.interval_rows import Rows, draw_intervals
from bayesbias.plots.plot_checks import check_fit
from bayesbias.plots.priors_plot import meaning
from bayesbias.plots.style import (
    CONNECTION_STYLES,
    DISTANCE,
    UNRELATED,
    UNRELATED_NOTE,
    label_below,
    new_axes,
    number,
    reference,
    row_label,
    tidy,
    write_above,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WORDS = {"protected_word", "word_to_compare"}
# Inches of a lane, and lanes between one coefficient and the next.
_LANE, _BETWEEN = 0.12, 1.9


def plot_coefficients(
    fit: Fit | Mapping[str, Fit], *, prob: float = 0.89, ax: Axes | None = None
) -> Axes:
    """Draw the coefficients of the connections for the whole data set, with their intervals.

    These are ``co`` of the model ``connection``, ``bar`` of the pooled ones, and whatever else
    differs by connection but not by word; those that also differ by group or embedding have a row
    for each. Standard deviations are left out.

    Parameters
    ----------
    fit : Fit or mapping of str to Fit
        What `fit` or `load_fit` returned; or several of these, such as those of all data sets, each
        by the name that it has in the figure.
    prob : float, default 0.89
        Probability of the intervals, the narrowest that hold it.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If a model has no such coefficients, or the fits are not all of distances or all of
        differences.

    Notes
    -----
    The data do not fix the coefficients ``co``: adding a constant to all of them and taking it
    from all words changes no distance. That their intervals hold zero says nothing; look at
    `Fit.contrasts`, which are well determined.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> ax = bb.plot_coefficients(bb.fit(table, "interaction", draws=500))
    >>> [label.get_text() for label in ax.get_yticklabels()][0]
    'associated stereotypes'

    Several data sets in one figure:

    >>> fits = {
    ...     name: bb.fit(bb.distance_table("demo", name), "connection", draws=250, seed=1)
    ...     for name in ("religion", "gender")
    ... }
    >>> ax = bb.plot_coefficients(fits)
    >>> len(ax.get_yticklabels())
    8
    """
    check_interval(prob, "hdi")
    fits = _named_fits(fit)
    names = {title: _coefficients(each) for title, each in fits.items()}
    parts = {
        _heading(title, block, single=len(names[title]) == 1): part
        for title, each in fits.items()
        for name in names[title]
        for block, part in _blocks(each, name, prob).items()
    }
    order = {
        title: [row_label(CONNECTION_STYLES[c].label) for c in part.index]
        for title, part in parts.items()
    }
    rows = Rows.of(order, 1, between=_BETWEEN, headed=len(parts) > 1, lane=_LANE)
    ax = new_axes(6.4, _LANE * rows.end + 0.75) if ax is None else ax
    everything = pd.concat(parts.values())
    for connection, style in CONNECTION_STYLES.items():
        indices = np.flatnonzero(everything.index == connection)
        y = [rows.places[i] for i in indices]
        draw_intervals(ax, everything.iloc[indices], y, style, width=2.2, size=36)
    for mean, place in zip(everything["mean"], rows.places, strict=True):
        write_above(ax, number(mean, 2), (mean, place), 4)
    meanings = dict.fromkeys(
        meaning(each.spec, name) for title, each in fits.items() for name in names[title]
    )
    for text in meanings:
        reference(ax, UNRELATED if text == DISTANCE else 0)
    note = f" ({UNRELATED_NOTE})" if DISTANCE in meanings else ""
    tidy(ax)
    rows.label(ax)
    label_below(ax, f"{' or '.join(meanings)}, {prob:.0%} intervals{note}")
    return ax


def _named_fits(fit: object) -> dict[str, Fit]:
    """Return fits by the names that are shown; a single one has none."""
    if not isinstance(fit, Mapping):
        return {"": check_fit(fit)}
    if not fit:
        raise SpecError("'fit' is empty; give a fit, or several by their names.")
    return {str(name): check_fit(each) for name, each in fit.items()}


def _coefficients(fit: Fit) -> list[str]:
    """Return the names of the coefficients of connections, of which there is at least one."""
    names = [p.name for p in fit.spec.parameters if _is_of_connections(p)]
    if not names:
        raise SpecError(
            f"model {fit.spec.name!r} has no coefficients of connections for the whole data set; "
            "fit model 'connection' or 'interaction', or use plot_means()."
        )
    return names


def _heading(title: str, block: str, *, single: bool) -> str:
    """Return what stands above the rows of a block: the data set, the parameter, or both."""
    if not title:
        return block
    return title if single and "," not in block else f"{title}: {block}"


def _is_of_connections(parameter: Parameter) -> bool:
    """Return whether a parameter is a coefficient of each connection, but of no single word."""
    by = parameter.by
    return "connection" in by and not _WORDS & set(by) and not parameter.prior.is_positive


def _blocks(fit: Fit, name: str, prob: float) -> dict[str, pd.DataFrame]:
    """Return the estimates by connection, for each level of what else a parameter differs by."""
    frame = tidy_draws(fit.posterior[name], prob).set_index("connection")
    others = [factor for factor in fit.spec[name].by if factor != "connection"]
    if not others:
        return {name: frame}
    levels = frame[others].agg(", ".join, axis=1)
    return {f"{name}, {level}": frame[levels == level] for level in dict.fromkeys(levels)}
