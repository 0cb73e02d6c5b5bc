"""Whether simulated truths rank as they should, and how often intervals hold them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array
from bayesbias._core.wording import kind_of
from bayesbias.errors import SpecError
from bayesbias.models import Calibration
from bayesbias.numerics.uniformity import band, distribution, holm, points
from bayesbias.plots.style import GRID, INK, RULE, Style, settle, styles

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_BAND = "#e4e4e4"
_DASHES: dict[str, tuple[float, tuple[float, ...]]] = {
    "all": (0, ()),
    "protected_group": (0, (5, 1.6)),
    "protected_word": (0, (1, 1.3)),
}
_LEVELS = {
    "all": "whole table",
    "protected_group": "groups",
    "protected_word": "protected words",
    "parameter": "parameters",
}
_PARAMETER = Style("#999999", "", "parameters")
_PROBS = np.arange(0.02, 1, 0.02)


def plot_calibration(calibration: Calibration) -> npt.NDArray[np.object_]:
    """Draw the ranks of simulated truths, and the coverage of intervals of any probability.

    Left: for each quantity, the distribution function of the ranks minus that of uniform ranks, in
    a panel for each level. If the posterior is right, a line stays within the grey band from end to
    end with a probability of 95%. Lines that depart from it, given how many there are (Holm's
    method), are drawn strong: up and then down are intervals that are too narrow, a hill is
    estimates that are too high. Right: how often equal-tailed intervals contain the true value,
    against their stated probability; below the diagonal they are too narrow.

    Parameters
    ----------
    calibration : Calibration
        What `calibrate` returned.

    Returns
    -------
    array of Axes
        Those of the ranks, one for each level, and last that of the coverage.

    Raises
    ------
    SpecError
        If `calibration` is something else.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> calibration = bb.calibrate("separate", table, simulations=20, draws=99)
    >>> axes = bb.plot_calibration(calibration)
    >>> [ax.get_title(loc="left") for ax in axes[:-1]]
    ['whole table', 'groups', 'protected words', 'parameters']
    """
    if not isinstance(calibration, Calibration):
        raise SpecError(
            f"'calibration' is {kind_of(calibration)}; expected what calibrate() returned."
        )
    look = _looks(calibration)
    drawn_levels = set(calibration.ranks["level"])
    levels = [level for level in _LEVELS if level in drawn_levels]
    panels, coverage = _new_panels(levels)
    _draw_ranks(panels, calibration, look)
    _draw_coverage(coverage, calibration, look)
    settle(coverage)
    first = next(iter(panels.values()))
    shown = list(dict.fromkeys(look.values()))
    first.figure.legend(
        handles=_colors(shown),
        loc="outside upper left",
        ncols=5,
        frameon=False,
        fontsize=8.5,
        labelcolor=INK,
        handlelength=1.8,
        columnspacing=1.6,
    )
    coverage.legend(
        handles=_dashes([level for level in levels if level in _DASHES]),
        loc="upper left",
        frameon=False,
        fontsize=8.5,
        labelcolor=INK,
        handlelength=2.2,
    )
    return np.array([*panels.values(), coverage], dtype=object)


def _new_panels(levels: Sequence[str]) -> tuple[dict[str, Axes], Axes]:
    """Return the axes of a new figure: two rows of ranks where there are many levels, coverage."""
    import matplotlib.pyplot as plt

    columns = _columns(levels)
    rows = len(levels) // columns
    mosaic: Any = [[*levels[i * columns : (i + 1) * columns], "coverage"] for i in range(rows)]
    wide, high = (2.6, 4.9) if rows > 1 else (1.95, 4.0)
    figure, axes = plt.subplot_mosaic(
        mosaic,
        figsize=(wide * columns + 4.0, high),
        width_ratios=[wide] * columns + [4.0],
        layout="constrained",
    )
    figure.get_layout_engine().set(w_pad=0.06, hspace=0.04)
    return {level: axes[level] for level in levels}, axes["coverage"]


def _columns(levels: Collection[str]) -> int:
    """Return the number of panels in a row."""
    return 2 if len(levels) == 4 else len(levels)


def _looks(calibration: Calibration) -> dict[str, Style]:
    """Return a style for each contrast; parameters, which are many, share one."""
    quantities = calibration.ranks.drop_duplicates("quantity")[["quantity", "level"]]
    contrasts = quantities.loc[quantities["level"] != "parameter", "quantity"]
    result = {
        name: Style(style.color, "", name.replace("none", "neutral").replace(" - ", " − "))
        for name, style in styles(contrasts).items()
    }
    parameters = quantities.loc[quantities["level"] == "parameter", "quantity"]
    return result | dict.fromkeys(parameters, _PARAMETER)


def _draw_ranks(panels: dict[str, Axes], calibration: Calibration, look: dict[str, Style]) -> None:
    grid = np.concatenate([[0], points(), [1]])
    lower, upper = _outline(calibration.simulations)
    reach = float(max(upper.max(), -lower.min()))
    by_name = calibration.by_name
    departs = holm(by_name["p_value"].to_numpy()) < 0.05
    ranks = calibration.ranks.groupby(["quantity", "level", "name"], sort=False)["pit"]
    for (key, pit), strong in zip(ranks, departs, strict=True):
        line = _ends(distribution(pit.to_numpy()) - points())
        reach = max(reach, float(np.abs(line).max()))
        panels[str(key[1])].plot(
            grid,
            line,
            color=look[str(key[0])].color,
            linewidth=1.5 if strong else 0.9,
            alpha=1.0 if strong else 0.5,
            zorder=2.5 if strong else 2,
        )
    for place, (level, ax) in enumerate(panels.items()):
        ax.fill_between(grid, lower, upper, color=_BAND, linewidth=0, zorder=0.5)
        ax.axhline(0, color=INK, linewidth=0.8, zorder=0.8)
        ax.set(xlim=(0, 1), ylim=(-1.08 * reach, 1.08 * reach))
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
        ax.set_yticks([tick for tick in ax.get_yticks() if abs(tick) <= 1.08 * reach])
        ax.set_title(_LEVELS[level], loc="left", fontsize=9.5, color=INK)
        _finish(ax)
        columns = _columns(panels)
        ax.tick_params(labelleft=place % columns == 0)
        if place + columns >= len(panels):
            ax.set_xlabel("rank of the true value", color=INK, fontsize=9)
        else:
            ax.tick_params(labelbottom=False)
        if place % columns == 0:
            ax.set_ylabel("share below − expected", color=INK, fontsize=9)


def _outline(n: int) -> tuple[Array, Array]:
    """Return the band without its teeth: counts are whole numbers, so its edges go up in steps."""
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    lower, upper = (edge - points() for edge in band(n))
    size = 2 * -(-len(points()) // n) + 1
    return _ends(minimum_filter1d(lower, size)), _ends(maximum_filter1d(upper, size))


def _draw_coverage(ax: Axes, calibration: Calibration, look: dict[str, Style]) -> None:
    stated = np.linspace(0, 1, 201)
    error = 1.96 * np.sqrt(stated * (1 - stated) / calibration.simulations)
    ax.fill_between(stated, stated - error, stated + error, color=_BAND, linewidth=0, zorder=0.5)
    ax.plot([0, 1], [0, 1], color=INK, linewidth=0.8, zorder=0.8)
    ax.axvline(calibration.prob, color=RULE, linewidth=0.8, zorder=0.7)
    for key, part in calibration.ranks.groupby(["quantity", "level"], sort=False):
        distance = np.sort(np.abs(2 * part["pit"].to_numpy() - 1))
        share = np.searchsorted(distance, _PROBS, side="right") / len(distance)
        style = look[str(key[0])]
        plain = style is _PARAMETER
        ax.plot(
            np.concatenate([[0], _PROBS, [1]]),
            np.concatenate([[0], share, [1]]),
            color=style.color,
            linestyle=_DASHES["all" if plain else str(key[1])],
            linewidth=0.8 if plain else 1.3,
            alpha=0.45 if plain else 0.9,
            zorder=1.5 if plain else 2,
        )
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", anchor="N")
    ax.set_title("coverage", loc="left", fontsize=9.5, color=INK)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
    _finish(ax)
    ax.annotate(
        f"{calibration.prob:.0%}",
        (calibration.prob, 0),
        (-3, 4),
        textcoords="offset points",
        ha="right",
        fontsize=8.5,
        color=INK,
    )
    ax.set_xlabel("stated probability of the interval", color=INK, fontsize=9)
    ax.set_ylabel("share of intervals that contain the true value", color=INK, fontsize=9)


def _ends(values: Array) -> Array:
    """Return differences with those at 0 and 1, where there is none."""
    return np.concatenate([[0], values, [0]])


def _finish(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=INK, labelcolor=INK, labelsize=8.5)
    ax.grid(color=GRID, linewidth=0.5)
    ax.set_axisbelow(True)


def _colors(shown: Sequence[Style]) -> list[Artist]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    lines = [Line2D([], [], color=s.color, linewidth=1.6, label=s.label) for s in shown]
    return [*lines, Patch(color=_BAND, linewidth=0, label="95% if all is right")]


def _dashes(levels: Sequence[str]) -> list[Artist]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=INK, linewidth=1.3, linestyle=_DASHES[level], label=_LEVELS[level])
        for level in levels
    ]
