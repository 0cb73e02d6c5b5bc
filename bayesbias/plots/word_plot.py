"""One protected word in the middle of its attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.constants import CONNECTIONS
from bayesbias._core.validation import at_least
from bayesbias.distances import Duplicates, check_table
from bayesbias.plots.plot_checks import choose, in_table
from bayesbias.plots.style import (
    CONNECTION_STYLES,
    GRID,
    INK,
    RULE,
    Style,
    halo,
    new_axes,
    settle,
    wrapped,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.text import Text

# Directions that are tried for a word within its sector, in an order that spreads them.
_DIRECTIONS = (np.arange(1, 145) * (np.sqrt(5) - 1) / 2) % 1
_TRIES = 24  # of these, for a word that has no name beside it
# Hundredths of an inch: the radius of a mark, from a mark to its name, from one name to the next,
# and how far apart is far enough.
_RADIUS, _BESIDE, _APART, _FAR = 4.0, 2.0, 2.0, 12.0
# The corners where sectors have their names, clockwise from the top, by the number of sectors.
_CORNERS = {
    1: ((1, 1),),
    2: ((1, 1), (0, 1)),
    3: ((1, 1), (1, 0), (0, 1)),
    4: ((1, 1), (1, 0), (0, 0), (0, 1)),
}


def plot_word(
    table: pd.DataFrame,
    word: str,
    *,
    embedding: str | None = None,
    labels: int = 36,
    duplicates: Duplicates | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one protected word and around it its attributes, as far away as they are from it.

    The distance from the middle is the cosine distance; unrelated words are at the ring of 1. Each
    kind of attribute has its sector. Within a sector the direction means nothing: it is chosen so
    that names do not hide one another.

    Parameters
    ----------
    table : DataFrame
        A distance table.
    word : str
        The protected word.
    embedding : str, optional
        Which embedding, if the table holds several.
    labels : int, default 36
        How many attributes have their names beside them: all if there are no more than that, else
        the nearest of each kind. A name that finds no room is left out.
    duplicates : {"drop", "keep"}, optional
        What to do with duplicated rows: leave them out, or keep them and draw each. By default as
        recorded with the table (`read_table`), else ``"drop"``.
    ax : Axes, optional
        Where to draw; a new figure by default. Names are placed for the size that it has now.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    DataError
        If there is no such protected word in the table.
    SpecError
        If the table holds several embeddings and none is named.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> ax = bb.plot_word(table, "imam", labels=12)
    >>> "violent" in [text.get_text() for text in ax.texts]
    True
    """
    at_least("labels", labels, 0)
    rows = check_table(table, duplicates=duplicates)
    in_table("protected word", word, rows["protected_word"].cat.categories)
    rows = rows[rows["protected_word"] == word]
    name = choose("embedding", embedding, dict.fromkeys(rows["embedding"].astype("str")))
    rows = rows[rows["embedding"] == name].sort_values("cosine_distance", kind="stable")
    kinds = [kind for kind in CONNECTIONS if (rows["connection"] == kind).any()]
    distances = rows["cosine_distance"].to_numpy()
    words = rows["word_to_compare"].astype("str").to_numpy()
    sector = rows["connection"].astype("str").map(kinds.index).to_numpy()
    counts = np.bincount(sector)
    reach = max(1.25, float(np.ceil(distances.max() * 4) / 4))

    ax = new_axes(6.2, 6.4) if ax is None else ax
    room = _Room(ax, reach)
    for number, kind in enumerate(kinds):
        style, corner = CONNECTION_STYLES[kind], _CORNERS[len(kinds)][number]
        _name_sector(room, style, counts[number], corner)
    _rings(room, reach, len(kinds))
    room.take(_write(ax, 0, 0, word, size=10, weight="bold", ha="center"))

    named = np.zeros(len(rows), dtype=bool)
    for number, share in enumerate(_shares(counts.tolist(), labels)):
        named[np.flatnonzero(sector == number)[:share]] = True
    points = np.full((len(rows), 2), np.nan)
    for i in np.flatnonzero(named):
        point = room.put_named(words[i], distances[i], sector[i], len(kinds))
        if point is None:
            named[i] = False
        else:
            points[i] = point
    for number, i in enumerate(np.flatnonzero(~named)):
        points[i] = room.put(distances[i], sector[i], len(kinds), number)
    for number, kind in enumerate(kinds):
        style = CONNECTION_STYLES[kind]
        for is_drawn, size, order in ((named, 26, 3), (~named, 9, 2)):
            x, y = points[is_drawn & (sector == number)].T
            # Many dots are fainter, so that their density shows.
            alpha = 1.0 if order == 3 else float(np.clip(6 / np.sqrt(len(x) or 1), 0.25, 0.8))
            marks = ax.scatter(x, y, s=size, c=style.color, marker=style.marker, zorder=order)
            marks.set(alpha=alpha, linewidths=0)
    ax.set_xlabel("cosine distance from the middle (1: unrelated)", color=INK)
    return ax


def _shares(counts: list[int], total: int) -> list[int]:
    """Return how many of each kind have names: all, or about as many of each."""
    shares = [0] * len(counts)
    left = min(total, sum(counts))
    while left:
        for i, count in enumerate(counts):
            if shares[i] < count and left:
                shares[i] += 1
                left -= 1
    return shares


def _write(
    ax: Axes,
    x: float,
    y: float,
    text: str,
    *,
    size: float,
    weight: str = "normal",
    ha: str = "left",
    color: str = INK,
) -> Text:
    """Write a text that lines behind it do not touch."""
    written = ax.text(
        x, y, text, fontsize=size, fontweight=weight, ha=ha, va="center", color=color, zorder=4
    )
    halo(written)
    return written


def _name_sector(room: _Room, style: Style, count: int, corner: tuple[int, int]) -> None:
    """Write in a corner what the sector there holds."""
    right, top = corner
    text = f"{wrapped(style.label, 16)}\nn = {count}"
    x, y = (2 * np.array(corner) - 1) * room.edge
    written = _write(room.ax, x, y, text, size=8.5, weight="bold", color=style.color)
    written.set(ha="right" if right else "left", va="top" if top else "bottom")
    room.take(written)


def _rings(room: _Room, reach: float, sectors: int) -> None:
    """Draw the scale: rings around the middle, and lines between the sectors."""
    from matplotlib.patches import Circle

    for distance in np.arange(0.25, reach + 0.01, 0.25):
        is_one = distance == 1
        ring = Circle((0, 0), distance, fill=False, zorder=1)
        ring.set(edgecolor=INK if is_one else GRID, linewidth=0.9 if is_one else 0.6)
        room.ax.add_patch(ring)
        if distance % 0.5 == 0:
            room.take(_write(room.ax, 0, distance, f"{distance:g}", size=8, ha="center"))
    for angle in 2 * np.pi * np.arange(sectors) / sectors if sectors > 1 else ():
        x, y = reach * np.sin(angle), reach * np.cos(angle)
        room.ax.plot([0, x], [0, y], color=RULE, linewidth=0.6, zorder=1)


class _Room:
    """The square that is drawn on, and what of it is taken; boxes are left, bottom, right, top."""

    def __init__(self, ax: Axes, reach: float) -> None:
        self.ax = ax
        self.edge = 1.03 * reach
        self.taken = np.empty((0, 4))
        ax.set(aspect="equal", xticks=(), yticks=())
        ax.set(xlim=(-self.edge, self.edge), ylim=(-self.edge, self.edge))
        ax.spines[:].set_visible(False)
        # The label is below; with it, the layout tells how large the square is.
        ax.set_xlabel(" ")
        settle(ax)
        box = ax.get_window_extent()
        self.unit = 2 * self.edge / min(box.width, box.height)
        self.hundredth = self.unit * ax.figure.dpi / 100

    def take(self, text: Text) -> None:
        """Keep the place of a text free of others."""
        box = text.get_window_extent().transformed(self.ax.transData.inverted())
        self.taken = np.vstack([self.taken, box.extents])

    def gaps(self, boxes: Array) -> Array:
        """Return how far each box is from the nearest one that is taken; below 0 in it."""
        ours, theirs = boxes[:, None], self.taken[None]
        beside = np.maximum(theirs[..., :2] - ours[..., 2:], ours[..., :2] - theirs[..., 2:])
        return np.asarray(beside.max(axis=2).min(axis=1))

    def directions(self, distance: float, sector: int, sectors: int) -> Array:
        """Return angles within a sector, clockwise from the top, not at its borders."""
        border = np.arcsin(min(1.0, 1.5 * _RADIUS * self.hundredth / max(distance, 1e-9)))
        width = 2 * np.pi / sectors
        border = min(float(border), width / 2.1) if sectors > 1 else 0.0
        return np.asarray(width * sector + border + (width - 2 * border) * _DIRECTIONS)

    def put(self, distance: float, sector: int, sectors: int, number: int) -> Array:
        """Return a place for the mark of a nameless word, on no text if that can be."""
        angles = np.roll(self.directions(distance, sector, sectors), -number)[:_TRIES]
        points = distance * np.column_stack([np.sin(angles), np.cos(angles)])
        free = self.gaps(_around(points, _RADIUS * self.hundredth)) > 0
        return np.asarray(points[free.argmax()])

    def put_named(self, word: str, distance: float, sector: int, sectors: int) -> Array | None:
        """Write a word beside its mark where there is room, and return the place of the mark."""
        text = _write(self.ax, 0, 0, word, size=8)
        box = text.get_window_extent()
        width, height = box.width * self.unit, box.height * self.unit
        angles = np.tile(self.directions(distance, sector, sectors), 2)
        left = np.arange(len(angles)) >= len(angles) // 2
        points = distance * np.column_stack([np.sin(angles), np.cos(angles)])
        marks = _around(points, _RADIUS * self.hundredth)
        start = np.where(left, marks[:, 0] - width, marks[:, 2])
        start += np.where(left, -1, 1) * _BESIDE * self.hundredth
        bottom = points[:, 1] - height / 2
        names = np.column_stack([start, bottom, start + width, bottom + height])
        gaps = np.minimum(self.gaps(marks), self.gaps(names)) / self.hundredth
        gaps[np.abs(names).max(axis=1) > self.edge] = -np.inf
        # Far enough is enough; then outwards, and within the sector, is better.
        corners = names[:, [0, 1, 0, 3, 2, 1, 2, 3]].reshape(-1, 4, 2)
        turn = np.arctan2(corners[..., 0], corners[..., 1]) % (2 * np.pi)
        within = (turn // (2 * np.pi / sectors) == sector).all(axis=1)
        outwards = left == (points[:, 0] < 0)
        score = np.minimum(gaps, _FAR) + 3 * outwards + 6 * within
        score[gaps < _APART] = -np.inf
        best = int(score.argmax())
        if not np.isfinite(score[best]):
            text.remove()
            return None
        text.set_position((float(names[best, 0]), float(points[best, 1])))
        self.taken = np.vstack([self.taken, names[best], marks[best]])
        return np.asarray(points[best])


def _around(points: Array, radius: float) -> Array:
    """Return the boxes of marks."""
    return np.hstack([points - radius, points + radius])
