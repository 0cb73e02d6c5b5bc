"""Rows of intervals: under the names of their groups, with a lane for each thing in a row."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayesbias._core.constants import CONNECTIONS, MARK
from bayesbias._core.interval_text import estimate_text
from bayesbias._core.validation import one_of
from bayesbias.errors import SpecError
from bayesbias.models import By, Fit, group_means, tidy_draws
from bayesbias.plots.plot_checks import choose
from bayesbias.plots.style import BAND, INK, RULE, Style, settle
from bayesbias.wordlists import Study, as_study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The number of words from which on they are drawn smaller, with the scale at both ends.
MANY = 30
# Lanes around the name of a group, and between groups.
_AROUND, _APART = 0.9, 1.7
# A lane of this many inches is high enough for a heading with that much around it.
_LANE = 0.075
# Of a line of text, in units of its size.
_LINE_HEIGHT = 1.3
# A mark of this area or less would vanish behind a white edge.
_SMALL = 10


@dataclass(frozen=True)
class Rows:
    """Where rows and headings are, in lanes counted downwards from the top of the figure."""

    names: list[str]
    places: list[float]  # the first lane of each row
    headings: dict[str, float]
    lanes: int
    between: float
    lane: float  # inches
    end: float

    @classmethod
    def of(
        cls,
        order: Mapping[str, Sequence[str]],
        lanes: int,
        *,
        between: float,
        headed: bool,
        lane: float = _LANE,
    ) -> Rows:
        """Lay out rows by heading, with the given number of lanes and inches per lane."""
        names: list[str] = []
        places: list[float] = []
        headings: dict[str, float] = {}
        # The name of a group needs its room however narrow the lanes are.
        scale = max(1.0, _LANE / lane)
        at = 0.0
        for heading, rows in order.items():
            if headed:
                at += scale * (_AROUND + (_APART if names else 0))
                headings[heading] = at
                at += scale * (1 + _AROUND)
            for name in rows:
                names.append(name)
                places.append(at)
                at += lanes + between
        return cls(names, places, headings, lanes, between, lane, at)

    def shade(self, ax: Axes) -> None:
        """Lay a pale band behind every other row, so that the eye finds its name."""
        height = self.lanes + self.between
        for place in self.places[::2]:
            start = place - (1 + self.between) / 2
            ax.axhspan(start, start + height, color=BAND, linewidth=0, zorder=0)

    def label(self, ax: Axes, *, size: float = 8.5) -> None:
        """Write the names of the rows and the headings beside the axes, and settle them."""
        middles = [place + (self.lanes - 1) / 2 for place in self.places]
        ax.set_yticks(middles, self.names, fontsize=size)
        written = []
        for number, (text, place) in enumerate(self.headings.items()):
            if number:
                apart = max(1.0, _LANE / self.lane) * _APART
                ax.axhline(place - apart, color=RULE, linewidth=0.8)
            heading = ax.annotate(
                text,
                (0, place),
                (-4, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=size + 0.5,
                fontweight="bold",
                color=INK,
            )
            written.append(heading)
        ax.set_ylim(self.end, -self.between)
        settle(ax)
        # In axes that are low, the names are smaller, so that they do not touch.
        points = ax.get_window_extent().height / ax.figure.dpi * 72 / (self.end + self.between)
        lines = max(name.count("\n") + 1 for name in self.names)
        spots = np.sort([*middles, *self.headings.values()])
        largest = points * np.diff(spots).min(initial=np.inf) / (_LINE_HEIGHT * lines)
        if largest < size:
            for label in (*written, *ax.get_yticklabels()):
                label.set_fontsize(largest)


def mark_rows(ax: Axes, rows: Rows, lane: int, frame: pd.DataFrame, label: str, kind: str) -> None:
    """Lay over each interval of a lane an invisible mark that says what it shows.

    A page of HTML shows the text where the reader points, and links the mark to rows of tables
    with the same key, such as ``word:imam``.
    """
    # The lanes of a row touch, and share the room between rows.
    values = zip(frame["mean"], frame["lower"], frame["upper"], strict=True)
    for name, place, value in zip(rows.names, rows.places, values, strict=True):
        start = place + lane - (0.5 if lane else (1 + rows.between) / 2)
        end = place + lane + (0.5 if lane < rows.lanes - 1 else (1 + rows.between) / 2)
        mean, ends = estimate_text(*value).split(", ")
        text = f"{label} {mean} ({ends})".strip()
        patch = ax.axhspan(start, end, facecolor="none", edgecolor="none", linewidth=0, zorder=9)
        patch.set_gid(figure_mark(f"{kind}:{name}", name, text))


def figure_mark(key: str, name: str, text: str) -> str:
    """Return the id of a part of a figure that a page shows a text for; `figure_svg` keeps it."""
    return MARK + json.dumps([key, name, text], ensure_ascii=False)


def relabel(
    ax: Axes, names: Callable[[str], str], headings: Callable[[str], str] | None = None
) -> None:
    """Write labels in place of the names of rows and, if there are any, of headings."""
    places = ax.get_yticks()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    ax.set_yticks(places, [names(text) for text in labels])
    if headings is not None:
        for text in ax.texts:
            if text.get_fontweight() == "bold":
                text.set_text(headings(text.get_text()))
    for patch in ax.patches:
        mark = patch.get_gid()
        if mark and mark.startswith(MARK):
            key, name, rest = json.loads(mark.removeprefix(MARK))
            patch.set_gid(figure_mark(key, names(name), rest))


def show_labels(ax: Axes, study: Study | str | PathLike[str] | None, by: By) -> None:
    """Write the labels of a study, if one is given, in place of the names of words and groups."""
    if study is None:
        return
    labelled = as_study(study)
    if by == "protected_group":
        relabel(ax, labelled.group_label)
    else:
        relabel(ax, labelled.word_label, labelled.group_label)


def draw_intervals(
    ax: Axes,
    frame: pd.DataFrame,
    y: Sequence[float],
    style: Style,
    *,
    width: float,
    size: float,
    hollow: bool = False,
) -> None:
    """Draw a line from lower to upper and a mark at the mean for each row of a table."""
    ax.hlines(y, frame["lower"], frame["upper"], color=style.color, linewidth=width, alpha=0.75)
    marks = ax.scatter(frame["mean"], y, s=size, c=style.color, marker=style.marker, zorder=3)
    if hollow:
        marks.set(facecolors="white", edgecolors=style.color, linewidths=1.0)
    else:
        marks.set(edgecolors="white", linewidths=0.4 if size > _SMALL else 0)


def means_of(
    fit: Fit, by: By, prob: float, embedding: str | None = None, *, observed: bool = False
) -> pd.DataFrame:
    """Return the expected outcome by word or group (and connection), with intervals."""
    array = fit.expected(["word_to_compare"], observed=observed)
    if "protected_word" not in array.dims and by not in array.dims:
        raise SpecError(
            f"model {fit.spec.name!r} does not distinguish protected words, so there is nothing to "
            "draw; fit model 'interaction', for instance."
        )
    if "embedding" in array.dims:
        name = choose("embedding", embedding, array["embedding"].to_numpy().tolist())
        array = array.sel(embedding=name, drop=True)
    elif embedding is not None:
        one_of("embedding", embedding, [str(name) for name in fit.table["embedding"].unique()])
    drawn_dims = ("chain", "draw", "protected_word", "protected_group", "connection")
    for dim in array.dims:
        if dim not in drawn_dims:
            raise SpecError(
                f"the means of model {fit.spec.name!r} also differ by {dim!r}, which this figure "
                "does not show; draw them from fit.means()."
            )
    if by not in array.dims:
        array = group_means(array, fit.groups())
    rest = ["connection"] if "connection" in array.dims else []
    return tidy_draws(array.transpose("chain", "draw", by, *rest), prob)


def by_group(means: pd.DataFrame, fit: Fit, by: By) -> tuple[dict[str, list[str]], list[str]]:
    """Return the rows by group, the nearest to their stereotypes first, and the connections."""
    if "connection" not in means:
        connections: list[str] = []
        first = means.set_index(by)["mean"]
    else:
        connections = [name for name in CONNECTIONS if name in set(means["connection"])]
        first = means[means["connection"] == connections[0]].set_index(by)["mean"]
    if by == "protected_group":
        return {"": list(dict.fromkeys(means[by]))}, connections
    groups = fit.groups().to_series()
    groups = groups[groups.index.isin(first.index)]
    order = {
        group: list(first[groups.index[groups == group]].sort_values().index)
        for group in dict.fromkeys(groups)
    }
    return order, connections
