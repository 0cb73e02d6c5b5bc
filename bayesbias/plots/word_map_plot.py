"""The words that leaned most to either group, one panel per embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias._core.validation import one_of
from bayesbias.plots.plot_checks import check_frame
from bayesbias.plots.style import INK, RULE, Style, styles, wrapped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_COLUMNS = ("embedding", "word", "side", "x", "y")
# Inches of a panel, and panels in a row.
_SIZE, _ACROSS = 3.1, 3


def plot_word_map(
    table: pd.DataFrame, *, embedding: str | None = None, ax: Axes | None = None
) -> npt.NDArray[Any]:
    """Draw the words that leaned most to either group, before and after debiasing.

    Two clouds in the panel of a debiased embedding are bias that is left. The title has the purity
    of two clusters in all dimensions: 0.5 if they tell nothing of the sides, 1 if they are the
    sides.

    Parameters
    ----------
    table : DataFrame
        What `metrics.map_biased_words` returned.
    embedding : str, optional
        The only embedding to draw; by default there is a panel for each.
    ax : Axes, optional
        Where to draw, if there is one embedding; by default a new figure.

    Returns
    -------
    ndarray of Axes
        The panels, in the order of the embeddings.

    Raises
    ------
    DataError
        If the table is another.
    SpecError
        If there are several embeddings for one `ax`, or there is no such embedding.

    Examples
    --------
    >>> import bayesbias as bb
    >>> [panel] = bb.plot_word_map(bb.metrics.map_biased_words("demo", n_words=100))
    >>> panel.get_title()
    'demo (purity 1.00)'
    """
    import matplotlib.pyplot as plt

    check_frame("table", table, _COLUMNS, "map_biased_words()")
    names = list(dict.fromkeys(table["embedding"].astype(str)))
    if embedding is not None:
        names = [one_of("embedding", embedding, names)]
    if ax is not None:
        if len(names) > 1:
            one_of("embedding", str(embedding), names)  # says which there are
        panels = np.array([ax], dtype=object)
    else:
        across = min(len(names), _ACROSS)
        down = -(-len(names) // across)
        _, grid = plt.subplots(
            down,
            across,
            figsize=(_SIZE * across, _SIZE * down + 0.4),
            layout="constrained",
            squeeze=False,
        )
        panels = grid.ravel()
        for spare in panels[len(names) :]:
            spare.remove()
        panels = panels[: len(names)]
    of_side = styles(table["side"].astype(str))
    purity = table.attrs.get("purity", {})
    for panel, name in zip(panels, names, strict=True):
        marks = _draw(panel, table[table["embedding"].astype(str) == name], of_side)
        title = f"{name} (purity {purity[name]:.2f})" if name in purity else name
        panel.set_title(wrapped(title, 38), fontsize=9, color=INK)
    look = {"handles": marks, "ncols": 2, "frameon": False, "fontsize": 8.5, "labelcolor": INK}
    if ax is None:
        panels[0].figure.legend(loc="outside lower center", markerscale=1.6, **look)
    else:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0), markerscale=1.6, **look)
    result: npt.NDArray[Any] = panels
    return result


def _draw(ax: Axes, rows: pd.DataFrame, of_side: dict[str, Style]) -> list[Artist]:
    marks: list[Artist] = []
    for side, style in of_side.items():
        part = rows[rows["side"].astype(str) == side]
        marks.append(
            ax.scatter(
                part["x"],
                part["y"],
                s=9,
                c=style.color,
                marker=style.marker,
                alpha=0.65,
                linewidths=0,
                label=side,
            )
        )
    # The axes of such a map have no meaning of their own, only the distances have.
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_color(RULE)
    return marks
