"""The one look of all figures: a colour, a marker and a label for each connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK: Final = "#222222"


@dataclass(frozen=True, slots=True)
class Style:
    """How one kind of connection is drawn."""

    color: str
    marker: str
    label: str


#: Colours of Okabe and Ito, which colour-blind people tell apart; the markers differ as well.
CONNECTION_STYLES: Final = {
    "associated": Style("#D55E00", "o", "associated stereotypes"),
    "different": Style("#0072B2", "s", "stereotypes of other groups"),
    "human": Style("#009E73", "^", "human controls"),
    "none": Style("#767676", "D", "neutral controls"),
}


def new_axes(width: float, height: float) -> Axes:
    """Return the axes of a new figure that makes room for its labels."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(width, height), layout="constrained")
    return axes


def tidy(axes: Axes) -> None:
    """Take away what does not carry information."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(colors=INK, labelcolor=INK)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
