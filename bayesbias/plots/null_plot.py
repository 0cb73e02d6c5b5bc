"""What a metric says without bias, beside the observed value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.plugins import title_of
from bayesbias._core.wording import kind_of, p_value_text
from bayesbias.errors import DataError, SpecError
from bayesbias.metrics import METRICS
from bayesbias.plots.style import (
    INK,
    halo,
    label_below,
    legend_above,
    new_axes,
    number,
    reference,
    settle,
    styles,
    tidy,
)
from bayesbias.rankings import NullDistribution

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = {
    "splits": "other splits of\nthe target words",
    "words": "random words of\nthe same frequency",
    "simulated": "simulated\nunrelated words",
}
# Bars over the whole width, the height of the highest bar of a row, and inches of a row.
_BARS, _HEIGHT, _ROW = 80, 0.82, 0.95


def plot_null_distribution(result: NullDistribution, *, ax: Axes | None = None) -> Axes:
    """Draw what a metric says without bias, one row per null, and the observed value across them.

    Each row has a scale of its own, so that a narrow null does not hide a wide one. The p-value is
    beside the row.

    Parameters
    ----------
    result : NullDistribution
        What `null_distribution` returned.
    ax : Axes, optional
        Where to draw; by default a new figure that is as high as the nulls need.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If `result` is something else.
    DataError
        If the result has no null.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.null_distribution("weat_es", "weat_7", bb.load_embedding("demo"), draws=500)
    >>> ax = bb.plot_null_distribution(found)
    >>> ax.get_xlabel()
    'WEAT effect size in demo (0: no bias)'
    """
    if not isinstance(result, NullDistribution):
        raise SpecError(
            f"'result' is {kind_of(result)}; expected what null_distribution() returned."
        )
    if not result.draws:
        raise DataError("'result' has no null; there is nothing to draw.")
    names = list(result.draws)
    ax = new_axes(6.4, _ROW * len(names) + 1.0) if ax is None else ax
    every = np.concatenate([*result.draws.values(), [result.observed, result.neutral_value]])
    edges = np.linspace(every.min(), every.max(), _BARS + 1)
    p_values = result.table.set_index("null")["p_value"]
    # A null has the same colour in every figure.
    of_null = styles(_LABELS)
    for place, name in enumerate(names):
        style = of_null[name]
        base = len(names) - 1 - place
        counts, _ = np.histogram(result.draws[name], edges)
        heights = _HEIGHT * counts / counts.max()
        ax.stairs(base + heights, edges, baseline=base, fill=True, color=style.color, alpha=0.55)
        ax.axhline(base, color=style.color, linewidth=0.8)
        text = ax.annotate(
            p_value_text(float(p_values[name])),
            (1, base + _HEIGHT / 2),
            (-2, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=8.5,
            color=INK,
        )
        halo(text)
    reference(ax, result.neutral_value)
    line = ax.axvline(
        result.observed,
        color="#D55E00",
        linewidth=2,
        label=f"observed: {number(result.observed, 2)}",
    )
    tidy(ax)
    ax.set_yticks(
        [len(names) - 1 - place + _HEIGHT / 2 for place in range(len(names))],
        [_LABELS[name] for name in names],
    )
    ax.set_ylim(0, len(names))
    # Room on the right for the p-values.
    ax.set_xlim(edges[0], edges[-1] + 0.16 * (edges[-1] - edges[0]))
    settle(ax)
    title = f"{title_of(result.metric, METRICS)} in {result.embedding}"
    label_below(ax, f"{title} ({result.neutral_value:g}: no bias)")
    legend_above(ax, [line], columns=1)
    return ax
