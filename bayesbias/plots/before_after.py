"""Expected distances before and after debiasing, word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from bayesbias._intervals import check_interval, describe
from bayesbias._validate import one_of
from bayesbias.constants import CONNECTIONS
from bayesbias.errors import SpecError
from bayesbias.evaluation import BeforeAfter
from bayesbias.inference import Fit, PairedFit
from bayesbias.inference.estimates import expected, flat
from bayesbias.inference.fit import group_means
from bayesbias.inference.paired import By
from bayesbias.plots.look import CONNECTION_STYLES, INK, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# So many words or more are drawn smaller, and have the scale at both ends.
_MANY = 30
# Lanes between one word and the next, around the name of a group, and between groups.
_BETWEEN, _AROUND, _APART = 1.4, 0.9, 1.7


def plot_before_after(
    result: BeforeAfter | PairedFit,
    *,
    by: By = "protected_word",
    prob: float = 0.89,
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
    >>> after = bb.HardDebias().fit(emb).transform(emb)
    >>> tables = [bb.distance_table(one, study) for one in (emb, after)]
    >>> ax = bb.plot_before_after(bb.fit_paired(*tables, draws=200), by="protected_group")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['math', 'arts']
    """
    paired = result.paired if isinstance(result, BeforeAfter) else result
    if paired is None:
        raise SpecError("no distance changed, so there is nothing to draw.")
    if not isinstance(paired, PairedFit):
        raise SpecError(
            f"'result' is {type(paired).__name__}; expected what before_after or fit_paired "
            "returned."
        )
    one_of("by", by, ("protected_word", "protected_group"))
    check_interval(prob, "hdi")
    before, after = (_means(fit, by, prob) for fit in (paired.before, paired.after))
    there = [name for name in CONNECTIONS if name in set(before["connection"])]
    groups = paired.before.groups().to_series()
    order = _order(before, groups, by, there)
    # Lanes are counted downwards from the top of the figure.
    places, headings, end = _places(order, len(there), headed=by == "protected_word")
    many = len(places) >= _MANY
    # Inches of a lane, points of a bar, and the area of a mark.
    lane, bar, mark = (0.065, 3.0, 8) if many else (0.115, 4.5, 15)
    ax = new_axes(6.4, lane * end + 1.15) if ax is None else ax
    for lane_of, name in enumerate(there):
        style = CONNECTION_STYLES[name]
        rows = before[before["connection"] == name].set_index(by).loc[list(places)]
        then = after[after["connection"] == name].set_index(by).loc[list(places)]
        y = [place + lane_of for place in places.values()]
        ax.hlines(y, rows["lower"], rows["upper"], color=style.color, alpha=0.28, linewidth=bar)
        ax.hlines(y, then["lower"], then["upper"], color=style.color, linewidth=1.1)
        for means, face, edge in ((rows["mean"], "white", 1.0), (then["mean"], style.color, 0.5)):
            marks = ax.scatter(means, y, s=mark, marker=style.marker, zorder=3)
            marks.set(facecolors=face, edgecolors=style.color, linewidths=edge)
    middle = (len(there) - 1) / 2
    ax.set_yticks([place + middle for place in places.values()], list(places), fontsize=8.5)
    for text, place in headings.items():
        if place > _BETWEEN:  # not above the first group, where the figure begins
            ax.axhline(place - _APART, color="#bbbbbb", linewidth=0.8)
        ax.annotate(
            text,
            (0, place),
            (-4, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=9,
            fontweight="bold",
            color=INK,
        )
    ax.set_ylim(end, -_BETWEEN)
    ax.axvline(1, color=INK, linewidth=0.8, zorder=0)
    ax.set_xlabel(f"expected cosine distance, {prob:.0%} intervals (1: unrelated)")
    tidy(ax)
    ax.tick_params(axis="x", top=many, labeltop=many)
    _legend(ax, there, above=2.4 if many else 0.5)
    return ax


def _means(fit: Fit, by: By, prob: float) -> pd.DataFrame:
    """Return the expected distance by word or group and connection, with intervals."""
    array = expected(fit.spec, fit.posterior, ["word_to_compare"])
    if by == "protected_group":
        array = group_means(array, fit.groups())
    array = array.transpose("chain", "draw", by, "connection")
    names = [array[by].to_numpy(), array["connection"].to_numpy()]
    index = pd.MultiIndex.from_product(names, names=[by, "connection"])
    return pd.concat([index.to_frame(index=False), describe(flat(array), prob)], axis=1)


def _order(
    means: pd.DataFrame, groups: pd.Series[str], by: By, connections: list[str]
) -> dict[str, list[str]]:
    """Return the rows by group, those with the smallest distance before first."""
    if by == "protected_group":
        return {"": list(dict.fromkeys(means[by]))}
    first = means[means["connection"] == connections[0]].set_index(by)["mean"]
    return {
        group: list(first[groups.index[groups == group]].sort_values().index)
        for group in dict.fromkeys(groups)
    }


def _places(
    order: dict[str, list[str]], lanes: int, *, headed: bool
) -> tuple[dict[str, float], dict[str, float], float]:
    """Return the first lane of each row, the lane of each heading, and the end of all."""
    places: dict[str, float] = {}
    headings: dict[str, float] = {}
    at = 0.0
    for group, words in order.items():
        if headed:
            at += _AROUND + (_APART if places else 0)
            headings[group] = at
            at += 1 + _AROUND
        for word in words:
            places[word] = at
            at += lanes + _BETWEEN
    return places, headings, at


def _legend(ax: Axes, connections: list[str], *, above: float) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=s.color, marker=s.marker, markersize=4, linewidth=1.1, label=s.label)
        for s in (CONNECTION_STYLES[name] for name in connections)
    ]
    for label, face, width, alpha in (("before", "white", 4.5, 0.5), ("after", INK, 1.1, 1.0)):
        handle = Line2D([], [], color=INK, marker="o", markersize=4, linewidth=width, alpha=alpha)
        handle.set_markerfacecolor(face)
        handle.set_label(label)
        handles.append(handle)
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        frameon=False,
        fontsize=8.5,
        handlelength=1.8,
        columnspacing=1.4,
        borderaxespad=above,
    )
