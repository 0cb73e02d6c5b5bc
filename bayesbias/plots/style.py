"""The one look of all figures: colours, markers, labels, axes, legends."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text

INK: Final = "#222222"
#: Lines between groups, and what is there only for orientation.
RULE: Final = "#bbbbbb"
GRID: Final = "#dddddd"
BAND: Final = "#f4f4f4"


@dataclass(frozen=True, slots=True)
class Style:
    """How one kind of connection is drawn."""

    color: str
    marker: str
    label: str


#: Colours of Okabe and Ito, which colour-blind people can distinguish; the markers differ as well.
CONNECTION_STYLES: Final = {
    "associated": Style("#D55E00", "o", "associated stereotypes"),
    "different": Style("#0072B2", "s", "stereotypes of other groups"),
    "human": Style("#009E73", "^", "human controls"),
    "none": Style("#767676", "D", "neutral controls"),
}


#: The label of an axis of distances, the distance of unrelated words, and what it means.
DISTANCE: Final = "cosine distance"
UNRELATED: Final = 1.0
UNRELATED_NOTE: Final = "1: unrelated"

# Colours of Paul Tol for what is no connection: embeddings and word sets.
_COLORS = ("#332288", "#CC6677", "#44AA99", "#999933", "#882255", "#88CCEE", "#117733", "#AA4499")
_MARKERS = "osD^vPX"


def styles(labels: Iterable[str]) -> dict[str, Style]:
    """Return a style for each of several things that are no connections."""
    return {
        label: Style(_COLORS[i % len(_COLORS)], _MARKERS[i % len(_MARKERS)], label)
        for i, label in enumerate(dict.fromkeys(labels))
    }


#: Inches that a new figure may be wide at most.
_WIDEST: ContextVar[float] = ContextVar("_WIDEST", default=math.inf)


@contextmanager
def narrow_figures(width: float = 3.9) -> Iterator[None]:
    """Draw new figures for a narrow screen, at most this many inches wide.

    >>> import bayesbias as bb
    >>> with narrow_figures():
    ...     axes = bb.plot_distances(bb.distance_table("demo", "religion"))
    >>> float(axes.figure.get_figwidth())
    3.9
    """
    before = _WIDEST.set(width)
    try:
        yield
    finally:
        _WIDEST.reset(before)


def figure_width(width: float) -> float:
    """Return how wide a new figure is drawn that is so many inches wide where there is room."""
    return min(width, _WIDEST.get())


def is_narrow() -> bool:
    """Return whether figures are drawn for a narrow screen."""
    return _WIDEST.get() < math.inf


def new_axes(width: float, height: float) -> Axes:
    """Return the axes of a new figure that makes room for its labels."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(figure_width(width), height), layout="constrained")
    return axes


def tidy(axes: Axes) -> None:
    """Take away what does not carry information."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(colors=INK, labelcolor=INK)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)


def reference(axes: Axes, value: float) -> None:
    """Draw a line where there is no bias, or no difference."""
    axes.axvline(value, color=INK, linewidth=0.8, zorder=0.8)


def write_above(axes: Axes, text: str, point: tuple[float, float], points: float) -> None:
    """Write a number a few points above its mark."""
    halo(
        axes.annotate(
            text,
            point,
            (0, points),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=8,
            color=INK,
        )
    )


def halo(text: Text) -> None:
    """Keep lines and marks behind a text from touching its letters."""
    from matplotlib.patheffects import withStroke

    text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def ink_on(color: object) -> str:
    """Return ink or white, whichever is easier to read on a colour."""
    from matplotlib.colors import to_rgb

    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]  # type: ignore[arg-type]
    red, green, blue = channels
    return "white" if 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.2 else INK


def keys(several: Iterable[Style]) -> list[Artist]:
    """Return a line with a mark for each style, for a legend."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=s.color, marker=s.marker, markersize=4, linewidth=1.4, label=s.label)
        for s in several
    ]


def patches(several: Iterable[Style]) -> list[Artist]:
    """Return a filled rectangle for each style, for a legend."""
    from matplotlib.patches import Patch

    return [Patch(color=style.color, label=style.label) for style in several]


def legend_above(
    axes: Axes,
    handles: Sequence[Artist],
    *,
    columns: int,
    space: float = 0.5,
    space_if_wider: float | None = None,
) -> None:
    """Put a legend above settled axes, where it hides nothing, in columns as there is room for."""
    room = axes.get_window_extent().width
    for number in range(min(columns, len(handles)), 0, -1):
        legend = axes.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=number,
            frameon=False,
            fontsize=8.5,
            labelcolor=INK,
            handlelength=1.8,
            columnspacing=1.4,
            borderaxespad=space,
        )
        width = legend.get_window_extent().width
        if width <= room:
            return
    if not is_narrow():
        return
    # A single column with long names: it ends with the axes, or begins with the figure.
    start = max(axes.get_window_extent().x1 - width, axes.figure.bbox.x0)
    point = axes.transAxes.inverted().transform((start, 0))
    legend.set_bbox_to_anchor((float(point[0]), 1), transform=axes.transAxes)
    legend.borderaxespad = space if space_if_wider is None else space_if_wider


def label_below(axes: Axes, text: str) -> None:
    """Write below settled axes what they show; if it is wider than they are, it ends with them.

    If it is also wider than the figure to their left, it has several lines.
    """
    label = axes.set_xlabel(text, color=INK)
    width, extent = label.get_window_extent().width, axes.get_window_extent()
    if width > extent.width:
        n_lines = math.ceil(width / (0.96 * extent.x1))
        # Lines of about the same length; words are not cut.
        text = wrapped(text, math.ceil(len(text) / n_lines) + 4) if n_lines > 1 else text
        axes.set_xlabel(text, loc="right", multialignment="right")


def settle(axes: Axes) -> None:
    """Lay the figure out, so that sizes can be measured."""
    axes.figure.canvas.figure.draw_without_rendering()


def number(value: float, digits: int) -> str:
    """Return a number as the axes write theirs, with a minus sign and not a hyphen."""
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def row_label(text: str, width: int = 16) -> str:
    """Return a label, in lines if the figure is for a narrow screen."""
    return wrapped(text, width) if is_narrow() else text


def wrapped(text: str, width: int) -> str:
    """Return a label in lines of at most this many characters."""
    return textwrap.fill(text, width) or text
