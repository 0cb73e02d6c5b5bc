"""Expected distances before and after debiasing, word by word."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from bayesbias._core.validation import one_of
from bayesbias._core.wording import kind_of
from bayesbias.debias_effects import BeforeAfter
from bayesbias.errors import SpecError
from bayesbias.models import By, PairedFit
from bayesbias.numerics.intervals import check_interval
from bayesbias.plots.interval_rows import MANY, Rows, by_group, show_labels
from bayesbias.plots.style import (
    CONNECTION_STYLES,
    INK,
    keys,
    label_below,
    legend_above,
    new_axes,
    reference,
    tidy,
)
from bayesbias.wordlists import Study

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Lanes between one word and the next.
_BETWEEN = 1.4


def plot_before_after(
    result: BeforeAfter | PairedFit,
    *,
    by: By = "protected_word",
    prob: float = 0.89,
    study: Study | str | PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the expected distance of each word from each kind of attribute, before and after.

    A bar with an open mark is before, a line with a filled mark after. The words of a group stand
    together, those nearest to their stereotypes before debiasing first.

    Parameters
    ----------
    result : BeforeAfter or PairedFit
        What `before_after` or `fit_paired` returned.
    by : {"protected_word", "protected_group"}, default "protected_word"
        What a row is.
    prob : float, default 0.89
        Probability of the intervals.
    study : Study, str or path-like, optional
        The study, whose labels are shown in place of the names of words and groups; by default
        that of a BeforeAfter.
    ax : Axes, optional
        Where to draw; by default a new figure that is as high as the words need.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If no distance changed, so that there is no model to draw.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb, study = bb.load_embedding("demo"), bb.load_study("weat_7")
    >>> after = bb.debias.HardDebias().fit(emb).transform(emb)
    >>> tables = [bb.distance_table(one, study) for one in (emb, after)]
    >>> ax = bb.plot_before_after(bb.fit_paired(*tables, draws=200), by="protected_group")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['math', 'arts']
    """
    paired = result.paired if isinstance(result, BeforeAfter) else result
    if study is None and isinstance(result, BeforeAfter):
        study = result.study
    if paired is None:
        raise SpecError("no distance changed, so there is nothing to draw.")
    if not isinstance(paired, PairedFit):
        raise SpecError(
            f"'result' is {kind_of(paired)}; expected what before_after or fit_paired returned."
        )
    one_of("by", by, ("protected_word", "protected_group"))
    check_interval(prob, "hdi")
    table = paired.means(by=by, prob=prob)
    before = table.query("embedding == 'before'")
    after = table.query("embedding == 'after'")
    order, connections = by_group(before, paired.joint, by)
    rows = Rows.of(order, len(connections), between=_BETWEEN, headed=by == "protected_word")
    many = len(rows.names) >= MANY
    # Inches of a lane, points of a bar, and the area of a mark.
    lane, bar, mark = (0.065, 3.0, 8) if many else (0.115, 4.5, 15)
    ax = new_axes(6.4, lane * rows.end + 1.15) if ax is None else ax
    for lane, name in enumerate(connections):
        style = CONNECTION_STYLES[name]
        first = before[before["connection"] == name].set_index(by).loc[rows.names]
        then = after[after["connection"] == name].set_index(by).loc[rows.names]
        y = [place + lane for place in rows.places]
        ax.hlines(y, first["lower"], first["upper"], color=style.color, alpha=0.28, linewidth=bar)
        ax.hlines(y, then["lower"], then["upper"], color=style.color, linewidth=1.1)
        for means, face, edge in ((first["mean"], "white", 1.0), (then["mean"], style.color, 0.5)):
            marks = ax.scatter(means, y, s=mark, marker=style.marker, zorder=3)
            marks.set(facecolors=face, edgecolors=style.color, linewidths=edge)
    reference(ax, 1)
    tidy(ax)
    ax.tick_params(axis="x", top=many, labeltop=many)
    rows.label(ax)
    show_labels(ax, study, by)
    label_below(ax, f"expected cosine distance, {prob:.0%} intervals (1: unrelated)")
    handles = keys(CONNECTION_STYLES[name] for name in connections)
    legend_above(ax, [*handles, *_states()], columns=3, space=2.4 if many else 0.5)
    return ax


def _states() -> list[Artist]:
    """Return what before and after look like, for the legend."""
    from matplotlib.lines import Line2D

    handles: list[Artist] = []
    for label, face, width, alpha in (("before", "white", 4.5, 0.5), ("after", INK, 1.1, 1.0)):
        handle = Line2D([], [], color=INK, marker="o", markersize=4, linewidth=width, alpha=alpha)
        handle.set_markerfacecolor(face)
        handle.set_label(label)
        handles.append(handle)
    return handles
