"""Words on two axes, such as he − she against another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias.plots.plot_checks import check_frame
from bayesbias.plots.style import GRID, INK, halo, legend_above, new_axes, settle, styles

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Where a label may stand, in points from its mark: beside it, above, below, then the corners.
_PLACES = (
    (6, 0, "left", "center"),
    (-6, 0, "right", "center"),
    (0, 5, "center", "bottom"),
    (0, -5, "center", "top"),
    (5, 4, "left", "bottom"),
    (-5, 4, "right", "bottom"),
    (5, -4, "left", "top"),
    (-5, -4, "right", "top"),
)


def plot_projections(table: pd.DataFrame, *, labels: bool = True, ax: Axes | None = None) -> Axes:
    """Draw words by their projections on two axes.

    If both axes are single words, such as *he* and *she*, the diagonal is drawn: words on it are as
    close to one as to the other. Otherwise lines at 0 show where a word leans to neither end.

    Parameters
    ----------
    table : DataFrame
        What `metrics.project_words` returned, with both ``x`` and ``y``.
    labels : bool, default True
        Whether to write the words beside their marks. A word for which there is no room is not
        written.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    DataError
        If the table is another, or has one axis only.

    Examples
    --------
    >>> import bayesbias as bb
    >>> jobs = {"female": ["nurse", "librarian"], "male": ["captain", "boss"]}
    >>> ax = bb.plot_projections(bb.metrics.project_words("demo", jobs, x="he", y="she"))
    >>> ax.get_xlabel()
    'cosine with he'
    """
    check_frame("table", table, ("word", "word_set", "x", "y"), "project_words(..., y=...)")
    axes_labels = table.attrs.get("labels", {"x": "x", "y": "y"})
    ax = new_axes(6.0, 5.0) if ax is None else ax
    of_set = styles(table["word_set"].astype(str))
    marks: list[Artist] = []
    for name, style in of_set.items():
        rows = table[table["word_set"].astype(str) == name]
        marks.append(
            ax.scatter(
                rows["x"],
                rows["y"],
                s=28,
                c=style.color,
                marker=style.marker,
                alpha=0.85,
                edgecolors="white",
                linewidths=0.4,
                label=name,
                zorder=3,
            )
        )
    ax.margins(0.12)
    _draw_reference(ax, table, axes_labels)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    what = "cosine with" if table.attrs.get("normalize", True) else "dot product with"
    ax.set_xlabel(f"{what} {axes_labels['x']}", color=INK)
    ax.set_ylabel(f"{what} {axes_labels['y']}", color=INK)
    settle(ax)
    if len(of_set) > 1:
        legend_above(ax, marks, columns=4)
        settle(ax)
    if labels:
        _write_words(ax, table)
    return ax


def _draw_reference(ax: Axes, table: pd.DataFrame, labels: dict[str, str]) -> None:
    """Draw the diagonal between two words, or the zeros of differences."""
    if all("−" not in labels[name] for name in ("x", "y")):
        ax.axline((0, 0), slope=1, color=INK, linewidth=0.8, zorder=0.8)
        # An infinite line must not decide what is shown.
        for name, limits in (("x", ax.set_xlim), ("y", ax.set_ylim)):
            low, high = table[name].min(), table[name].max()
            room = 0.12 * ((high - low) or 1.0)
            limits(low - room, high + room)
        return
    if "−" in labels["x"]:
        ax.axvline(0, color=INK, linewidth=0.8, zorder=0.8)
    if "−" in labels["y"]:
        ax.axhline(0, color=INK, linewidth=0.8, zorder=0.8)


def _write_words(ax: Axes, table: pd.DataFrame) -> None:
    """Write each word where it touches neither a mark nor another word, if it fits anywhere."""
    figure = ax.figure.canvas.figure
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    points = ax.transData.transform(table[["x", "y"]].to_numpy(dtype=np.float64))
    half = 3.2 * figure.dpi / 72
    taken = np.hstack([points - half, points + half])
    frame = ax.get_window_extent(renderer)
    for i, word in enumerate(table["word"].astype(str)):
        for x, y, horizontal, vertical in _PLACES:
            text = ax.annotate(
                word,
                (table["x"].iloc[i], table["y"].iloc[i]),
                (x, y),
                textcoords="offset points",
                ha=horizontal,
                va=vertical,
                fontsize=8,
                color=INK,
            )
            box = np.array(text.get_window_extent(renderer).extents)
            inside = box[0] >= frame.x0 and box[2] <= frame.x1
            inside = inside and box[1] >= frame.y0 and box[3] <= frame.y1
            if inside and not _touches(box, np.delete(taken, i, axis=0)):
                halo(text)
                taken = np.vstack([taken, box])
                break
            text.remove()


def _touches(box: Array, others: Array) -> bool:
    apart = (
        (box[0] >= others[:, 2])
        | (box[2] <= others[:, 0])
        | (box[1] >= others[:, 3])
        | (box[3] <= others[:, 1])
    )
    return bool((~apart).any())
