"""Expected distances before and after debiasing, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Literal

from bayesbias._core.constants import AS_OBSERVED, EQUAL
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
    figure_width,
    is_narrow,
    keys,
    label_below,
    legend_above,
    new_axes,
    reference,
    settle,
    tidy,
)
from bayesbias.wordlists import Study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Lanes between one word and the next.
_BETWEEN = 1.4
# Inches of one panel.
_WIDTH = 6.4


def plot_before_after(
    result: BeforeAfter | PairedFit,
    *,
    by: By = "protected_word",
    prob: float = 0.89,
    study: Study | str | PathLike[str] | None = None,
    covariates: Literal["equal", "as observed"] | None = None,
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
    covariates : {"equal", "as observed"}, optional
        For a model with covariates, whether to draw distances at equal covariates for all words, or
        as observed; by default both, side by side.
    ax : Axes, optional
        Where to draw; by default a new figure that is as high as the words need.

    Returns
    -------
    Axes
        The axes; with two panels, those of the left one (as observed).

    Raises
    ------
    SpecError
        If no distance changed, so that there is no model to draw, or if `ax` is given for two
        panels.

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
    kinds = paired.kinds()
    if covariates is not None:
        one_of("covariates", covariates, (EQUAL, AS_OBSERVED))
        if not kinds:
            raise SpecError(
                f"'covariates' is {covariates!r}, and the model has none; leave it out, or fit the "
                "model with covariates."
            )
        kinds = {covariates: kinds[covariates]}
    if len(kinds) > 1 and ax is not None:
        raise SpecError(
            f"a model with covariates is drawn in two panels, and 'ax' is one; add "
            f"covariates={EQUAL!r} or covariates={AS_OBSERVED!r}."
        )
    table = paired.means(by=by, prob=prob)
    # The words stand in one order, that of what is observed.
    parts = {
        kind: table[table["covariates"] == kind] if kinds else table
        for kind in reversed(kinds or {"": ""})
    }
    first = next(iter(parts.values()))
    order, connections = by_group(first[first["embedding"] == "before"], paired.joint, by)
    rows = Rows.of(order, len(connections), between=_BETWEEN, headed=by == "protected_word")
    panels = _panels(len(parts), rows) if ax is None else [ax]
    for panel, part in zip(panels, parts.values(), strict=True):
        _draw(panel, part, by, rows, connections)
        panel.tick_params(axis="x", labelbottom=True)
        rows.label(panel)
        show_labels(panel, study, by)
    for panel in [] if is_narrow() else panels[1:]:
        # The rows are named on the left, once.
        panel.tick_params(axis="y", labelleft=False)
        for text in [*panel.texts]:
            text.remove()
    settle(panels[0])
    # Side by side, long labels would touch.
    apart = "\n" if len(panels) > 1 and not is_narrow() else " "
    for panel, kind in zip(panels, parts, strict=True):
        at = f" {kinds[kind]}" if kinds else ""
        label_below(
            panel, f"expected cosine distance{at},{apart}{prob:.0%} intervals (1: unrelated)"
        )
    handles = keys(CONNECTION_STYLES[name] for name in connections)
    space = 2.4 if len(rows.names) >= MANY else 0.5
    legend_above(panels[0], [*handles, *_states()], columns=3, space=space)
    return panels[0]


def _panels(number: int, rows: Rows) -> list[Axes]:
    """Return the axes of a new figure, side by side, or on a narrow screen one below the other."""
    import matplotlib.pyplot as plt

    # Inches of a lane.
    height = (0.065 if len(rows.names) >= MANY else 0.115) * rows.end + 1.15
    if number == 1:
        return [new_axes(_WIDTH, height)]
    layout = (number, 1) if is_narrow() else (1, number)
    size = (figure_width(1.6 * _WIDTH), layout[0] * height)
    _, grid = plt.subplots(*layout, figsize=size, sharex=True, layout="constrained")
    return list(grid)


def _draw(ax: Axes, table: pd.DataFrame, by: By, rows: Rows, connections: Sequence[str]) -> None:
    """Draw the intervals before and after of each row and connection."""
    many = len(rows.names) >= MANY
    # Points of a bar, and the area of a mark.
    bar, mark = (3.0, 8) if many else (4.5, 15)
    before, after = (table[table["embedding"] == name] for name in ("before", "after"))
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
