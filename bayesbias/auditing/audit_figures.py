"""Figures of an audit, each as SVG and as PNG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bayesbias._core.wording import enumerated
from bayesbias.debias_effects import BeforeAfter
from bayesbias.html import figure_svg
from bayesbias.models import ModelSpec
from bayesbias.plots import narrow_figures, plot_before_after, plot_silhouette_grid
from bayesbias.silhouette_analysis import Silhouettes
from bayesbias.wordlists import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Draws a figure.
Draw: TypeAlias = "Callable[[], Axes]"

_DOTS = 200  # of the PNG, to an inch
_WORDS = {"protected_word", "word_to_compare"}


def save(draw: Draw, svg: Path, png: Path, narrow: Path) -> None:
    """Draw a figure and write it, the same each time; also as narrow as a telephone's screen."""
    import matplotlib.pyplot as plt

    axes = draw()
    figure: Any = axes.figure
    try:
        svg.write_text(figure_svg(axes), "utf-8", newline="\n")
        figure.savefig(png, dpi=_DOTS, facecolor="white", metadata={"Software": None})
    finally:
        plt.close(figure)
    with narrow_figures():
        axes = draw()
    try:
        narrow.write_text(figure_svg(axes), "utf-8", newline="\n")
    finally:
        plt.close(axes.figure)  # type: ignore[arg-type]


def has_coefficients(spec: ModelSpec) -> bool:
    """Return whether a model has coefficients of the connections for the whole data set."""
    return any(
        "connection" in p.by and not _WORDS & set(p.by) and not p.prior.is_positive
        for p in spec.parameters
    )


def moved(result: BeforeAfter) -> Axes:
    """Draw what debiasing changed, or say that it changed nothing."""
    if result.paired is None:
        return _note("No distance of the study changed.")
    return plot_before_after(result, prob=result.prob)


def grown(results: Sequence[Silhouettes], study: Study) -> Axes:
    """Draw how values converge as the lists grow, or a note if no list can grow."""
    if not results:
        return _note("No list is long enough to grow.")
    grid = plot_silhouette_grid(results)
    # One row per pair of groups, by WEAT's effect size.
    pairs = {result.query.name: result.query.target_names for result in results}
    for panels, names in zip(grid, pairs.values(), strict=True):
        title = enumerated([study.group_label(name) for name in names])
        for ax in panels:
            ax.set_ylabel("WEAT effect size (0: no bias)")
        if len(pairs) > 1:
            first = next(ax for ax in panels if ax.get_visible())
            first.set_title(title, loc="left", fontsize=8.5)
    axes: list[Axes] = grid.ravel().tolist()
    return axes[0]


def _note(text: str) -> Axes:
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(6.4, 0.8))
    axes.set_axis_off()
    axes.text(0, 0.5, text, va="center")
    return axes
