"""A model as a graph: what each parameter depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.models import OUTCOME, Fit, ModelSpec, load_model
from bayesbias.plots.priors_plot import factor_name
from bayesbias.plots.style import BAND, GRID, INK, new_axes, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches: a box, the room between boxes of a column, and that between columns.
_WIDTH, _HEIGHT, _ABOVE, _BETWEEN = 1.95, 0.68, 0.14, 0.7
_LETTERS = 30


@dataclass(frozen=True)
class _Node:
    """A parameter or the outcome: what is written in its box, and the places of its parents."""

    name: str
    lines: tuple[str, ...]
    parents: tuple[str, ...]


def plot_model(
    model: str | PathLike[str] | ModelSpec | Fit = "interaction",
    *,
    priors: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a model as a graph: a box for each parameter, and arrows to what depends on it.

    The outcome is on the right, in grey because it is observed. Left of it are the parameters of
    its mean and its scale, then the parameters of their priors. A box has the name, what the
    parameter has one value for, and the prior.

    Parameters
    ----------
    model : str, path-like, ModelSpec or Fit, default "interaction"
        A model of the catalogue (`MODELS`), a TOML file, a `ModelSpec`, or a fit.
    priors : mapping of str to str, optional
        Other priors, by the name of the parameter: ``{"co": "Normal(0, 1)"}``.
    ax : Axes, optional
        Where to draw; by default a new figure that is as large as the boxes need.

    Returns
    -------
    Axes
        The axes; their units are inches of a new figure.

    Raises
    ------
    SpecError
        If the model or a prior is not known.

    Examples
    --------
    >>> import bayesbias as bb
    >>> ax = bb.plot_model("hierarchical")
    >>> [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]
    ['bar', 'tau', 'theta', 's', 'distance']
    """
    spec = (model.spec if isinstance(model, Fit) else load_model(model)).vary(priors=priors)
    nodes = _nodes(spec)
    columns = _columns(nodes)
    heights = _places(nodes, columns)
    width = len(columns) * _WIDTH + (len(columns) - 1) * _BETWEEN
    low, high = min(heights.values()), max(heights.values())
    ax = new_axes(width + 0.3, high - low + _HEIGHT + 0.3) if ax is None else ax
    left = {
        name: place * (_WIDTH + _BETWEEN) for place, names in enumerate(columns) for name in names
    }
    for names in columns:
        for name in names:
            is_outcome = name == OUTCOME
            _draw_box(ax, nodes[name], left[name], heights[name], observed=is_outcome)
            for parent in nodes[name].parents:
                start = (left[parent] + _WIDTH, heights[parent])
                _draw_arrow(ax, start, (left[name], heights[name]))
    ax.set_xlim(-0.08, width + 0.08)
    ax.set_ylim(low - _HEIGHT / 2 - 0.08, high + _HEIGHT / 2 + 0.08)
    ax.set_axis_off()
    return ax


def _nodes(spec: ModelSpec) -> dict[str, _Node]:
    """Return the parameters and the outcome, by name."""
    nodes = {}
    for parameter in spec.parameters:
        by = [factor_name(factor) for factor in parameter.by]
        levels = f"one per {' × '.join(by)}" if by else "one value"
        more = f", {parameter.only}s only" if parameter.only else ""
        slope = f" × {parameter.covariate}" if parameter.covariate else ""
        common = (parameter.common,) if parameter.common else ()
        nodes[parameter.name] = _Node(
            parameter.name + slope,
            (levels + more, f"~ {parameter.prior}"),
            tuple(dict.fromkeys((*parameter.prior.parents, *common))),
        )
    student = spec.likelihood == "student_t"
    terms = " + ".join(spec[name].name for name in spec.mean)
    kind = f"StudentT(nu, {terms}, {spec.scale})" if student else f"Normal({terms}, {spec.scale})"
    extra = (*(("nu",) if student else ()), *((spec.common,) if spec.common else ()))
    nodes[OUTCOME] = _Node(
        OUTCOME,
        ("one per row of the table", f"~ {kind}"),
        tuple(dict.fromkeys((*spec.mean, spec.scale, *extra))),
    )
    return nodes


def _columns(nodes: Mapping[str, _Node]) -> list[list[str]]:
    """Return the names by column: each parameter left of everything that depends on it."""
    steps: dict[str, int] = {}
    # A parameter comes before what depends on it, so the children are known first from the end.
    for name in reversed(list(nodes)):
        children = [child for child, node in nodes.items() if name in node.parents]
        steps[name] = max((steps[child] + 1 for child in children), default=0)
    last = max(steps.values())
    columns = [[name for name in nodes if steps[name] == last - place] for place in range(last + 1)]
    # The parents of the outcome in the order of its formula; the others by their children.
    outcome = columns[-1][0]
    for place in range(last - 1, -1, -1):
        order = {name: i for i, name in enumerate(columns[place + 1])}
        if place == last - 1:
            formula = nodes[outcome].parents
            columns[place].sort(key=formula.index)
        else:
            columns[place].sort(key=lambda name: _mean_place(name, nodes, order))
    return columns


def _mean_place(name: str, nodes: Mapping[str, _Node], order: Mapping[str, float]) -> float:
    """Return the mean place of the children of a parameter in the next column."""
    places = [order[child] for child in order if name in nodes[child].parents]
    return float(np.mean(places)) if places else np.inf


def _places(nodes: Mapping[str, _Node], columns: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the height of each box: beside its neighbours, and clear of its own column."""
    step = _HEIGHT + _ABOVE
    tallest = max(range(len(columns)), key=lambda place: len(columns[place]))
    places = {name: -step * i for i, name in enumerate(columns[tallest])}
    for place in [*range(tallest - 1, -1, -1), *range(tallest + 1, len(columns))]:
        wanted: list[float] = []
        for name in columns[place]:
            near = [
                at
                for other, at in places.items()
                if name in nodes[other].parents or other in nodes[name].parents
            ]
            below = wanted[-1] - step if wanted else 0.0
            wanted.append(float(np.mean(near)) if near else below)
        for name, at in zip(columns[place], _spread(wanted, step), strict=True):
            places[name] = at
    return places


def _spread(wanted: Sequence[float], step: float) -> list[float]:
    """Return heights from the top, at least a step apart, as near to those wanted as can be."""
    from scipy.optimize import isotonic_regression

    steps = step * np.arange(len(wanted))
    result: list[float] = (
        isotonic_regression(np.asarray(wanted) + steps, increasing=False).x - steps
    ).tolist()
    return result


def _draw_box(ax: Axes, node: _Node, left: float, middle: float, *, observed: bool) -> None:
    from matplotlib.patches import FancyBboxPatch

    box = FancyBboxPatch(
        (left + 0.06, middle - _HEIGHT / 2 + 0.06),
        _WIDTH - 0.12,
        _HEIGHT - 0.12,
        boxstyle="round,pad=0.06,rounding_size=0.08",
        facecolor=GRID if observed else BAND,
        edgecolor=INK,
        linewidth=0.9,
        zorder=2,
    )
    ax.add_patch(box)
    centre, top = left + _WIDTH / 2, middle + _HEIGHT / 2
    lines = [line for text in node.lines for line in wrapped(text, _LETTERS).splitlines()]
    ax.annotate(
        node.name,
        (centre, top),
        (0, -4),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=9,
        fontweight="bold",
        color=INK,
        zorder=3,
    )
    ax.annotate(
        "\n".join(lines),
        (centre, top),
        (0, -16),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=7.5 if len(lines) < 3 else 6.8,
        linespacing=1.25,
        color=INK,
        zorder=3,
    )


def _draw_arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    from matplotlib.patches import FancyArrowPatch

    arrow = FancyArrowPatch(
        start,
        end,
        arrowstyle="-|>",
        mutation_scale=9,
        color=INK,
        linewidth=0.8,
        shrinkA=0,
        shrinkB=1,
        zorder=1,
    )
    ax.add_patch(arrow)
