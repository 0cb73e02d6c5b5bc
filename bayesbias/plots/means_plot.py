"""Expected distances with their intervals, word by word or group by group."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING

from bayesbias._core.validation import one_of, word_list
from bayesbias.distances import at_equal, covariates_in_words
from bayesbias.errors import SpecError
from bayesbias.models import By, Fit
from bayesbias.numerics.intervals import check_interval
from bayesbias.plots.interval_rows import (
    MANY,
    Rows,
    by_group,
    draw_intervals,
    mark_rows,
    means_of,
    show_labels,
)
from bayesbias.plots.plot_checks import check_fit
from bayesbias.plots.style import (
    CONNECTION_STYLES,
    DISTANCE,
    INK,
    UNRELATED,
    UNRELATED_NOTE,
    Style,
    keys,
    label_below,
    legend_above,
    new_axes,
    reference,
    tidy,
)
from bayesbias.wordlists import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_means(
    fit: Fit,
    *,
    by: By = "protected_word",
    prob: float = 0.89,
    embedding: str | None = None,
    study: Study | str | PathLike[str] | None = None,
    words: Iterable[str] | None = None,
    observed: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the expected distance of each word from each kind of attribute, with its interval.

    The words of a group stand together, those nearest to their stereotypes first. Bias is where
    the associated stereotypes lie to the left of the controls, and their intervals apart.

    Parameters
    ----------
    fit : Fit
        What `fit` or `load_fit` returned.
    by : {"protected_word", "protected_group"}, default "protected_word"
        What a row is. The mean of a group is the average of its words.
    prob : float, default 0.89
        Probability of the intervals, the narrowest that hold it.
    embedding : str, optional
        Which embedding, if the model tells several apart.
    study : Study, str or path-like, optional
        The study, whose labels are shown in place of the names of words and groups.
    words : iterable of str, optional
        Draw only these protected words; by default all of them.
    observed : bool, default False
        For a model with covariates: the means with the covariates as observed, instead of equal for
        all. The label of the axis says which.
    ax : Axes, optional
        Where to draw; by default a new figure that is as high as the words need.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If the model does not distinguish protected words, or there is no such embedding or word.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> fit = bb.fit(table, "interaction", draws=500)
    >>> ax = bb.plot_means(fit, by="protected_group")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['jew', 'christian', 'muslim']
    >>> ax = bb.plot_means(fit, by="protected_group", study="religion")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['Judaism', 'Christianity', 'Islam']
    """
    check_fit(fit)
    one_of("by", by, ("protected_word", "protected_group"))
    check_interval(prob, "hdi")
    means = means_of(fit, by, prob, embedding, observed=observed)
    if words is not None:
        means = _only(means, words, by)
    order, connections = by_group(means, fit, by)
    several = [CONNECTION_STYLES[name] for name in connections] or [Style(INK, "o", "")]
    many = len(means) >= MANY * len(several)
    # Inches of a lane, lanes between rows, points of a line, and the area of a mark.
    lane, between, width, size = (0.034, 1.0, 0.9, 7) if many else (0.078, 1.5, 1.7, 24)
    rows = Rows.of(order, len(several), between=between, headed=by == "protected_word", lane=lane)
    ax = new_axes(6.4, lane * rows.end + 1.15) if ax is None else ax
    for number, style in enumerate(several):
        estimates = means[means["connection"] == connections[number]] if connections else means
        y = [place + number for place in rows.places]
        shown = estimates.set_index(by).loc[rows.names]
        draw_intervals(ax, shown, y, style, width=width, size=size)
        mark_rows(ax, rows, number, shown, style.label, by.removeprefix("protected_"))
    rows.shade(ax)
    reference(ax, UNRELATED)
    tidy(ax)
    ax.tick_params(axis="x", top=many, labeltop=many)
    rows.label(ax, size=7 if many else 8.5)
    show_labels(ax, study, by)
    label_below(
        ax,
        f"expected {DISTANCE}{_at(fit, observed)}, {prob:.0%} intervals ({UNRELATED_NOTE})",
    )
    if connections:
        legend_above(ax, keys(several), columns=2, space=2.4 if many else 0.5)
    return ax


def _at(fit: Fit, observed: bool) -> str:
    """Return at which values of the covariates the means are; nothing without covariates."""
    names = fit.spec.covariates
    if not names:
        return ""
    return f", {covariates_in_words(names)} as observed" if observed else f" {at_equal(names)}"


def _only(means: pd.DataFrame, words: Iterable[str], by: By) -> pd.DataFrame:
    """Return the rows of some of the protected words."""
    if by != "protected_word":
        raise SpecError("'words' is for by='protected_word'; a group is the average of its words.")
    known = list(dict.fromkeys(means[by]))
    names = [one_of("words", word, known) for word in word_list("words", words)]
    if not names:
        raise SpecError("'words' is empty; name a protected word, or leave it out to draw all.")
    return means[means[by].isin(names)]
