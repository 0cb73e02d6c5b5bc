"""What the priors of a model say, before any data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array
from bayesbias._core.wording import counted, enumerated
from bayesbias.errors import SpecError
from bayesbias.models import ModelSpec, Parameter, load_model
from bayesbias.plots.style import DISTANCE, INK, tidy, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 400  # of a curve; an even number, so that none lies on the peak of a pooled parameter
_DRAWS = 20_000  # of the scales that a pooled parameter depends on,
_QUANTILES = 1000  # of these draws, which stand for them
_SHOWN = 0.99  # the part of a distribution that its axis shows,
_SHOWN_OF_HEAVY = 0.9  # or this, if the other needs an axis more than _HEAVY times as long
_HEAVY = 3.0
_LABEL = 36  # characters of a line below a panel
# What columns hold, where their names do not say it.
_FACTORS = {"word_to_compare": "attribute", "protected_group": "group"}
_NORMAL_HALF_WIDTH = 2.5758293035489  # of the central 99% of a standard normal distribution


def plot_priors(
    model: str | PathLike[str] | ModelSpec = "connection",
    *,
    priors: Mapping[str, str] | None = None,
    axes: Sequence[Axes] | npt.NDArray[np.object_] | None = None,
) -> npt.NDArray[np.object_]:
    """Draw the density of the prior of each parameter, one panel each.

    A parameter that is pooled, such as ``theta ~ Normal(bar, tau)``, is shown with what its prior
    says when ``bar`` and ``tau`` are not known either: the average over their priors.

    Parameters
    ----------
    model : str, path-like or ModelSpec, default "connection"
        A model of the catalogue (`MODELS`), a TOML file, or a `ModelSpec`. The default is the one
        whose priors Dobrzeniecka (2021) shows.
    priors : mapping of str to str, optional
        Other priors, by the name of the parameter: ``{"co": "Normal(0, 1)"}``.
    axes : sequence of Axes, optional
        Where to draw, one for each parameter; a new figure by default.

    Returns
    -------
    array of Axes
        The axes, in the order of the model's parameters.

    Raises
    ------
    SpecError
        If the model or a prior is not known, or there are not as many axes as parameters.

    Examples
    --------
    >>> import bayesbias as bb
    >>> axes = bb.plot_priors("connection", priors={"co": "Normal(0, 1)"})
    >>> [ax.get_title() for ax in axes]
    ['m', 'co', 'sigma']
    """
    spec = load_model(model).vary(priors=priors)
    names = [parameter.name for parameter in spec.parameters]
    panels = _new_axes(len(names)) if axes is None else np.ravel(np.asarray(axes, dtype=object))
    if len(panels) != len(names):
        raise SpecError(
            f"'axes' holds {len(panels)}; model {spec.name!r} has "
            f"{counted(len(names), 'parameter')} ({', '.join(names)}), and each needs one."
        )
    # The same figure each time.
    rng = np.random.default_rng(0)
    simulated = {p.name: p.prior.draw(rng, _DRAWS) for p in spec.parameters if p.prior.is_positive}
    for ax, name in zip(panels, names, strict=True):
        _draw(ax, spec, name, simulated, rng)
    return panels


def _new_axes(count: int) -> npt.NDArray[np.object_]:
    import matplotlib.pyplot as plt
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = 2 if count == 4 else min(count, 3)
    rows = -(-count // columns)
    room = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08, wspace=0.04, hspace=0.06)
    size = (2.6 * columns, 2.0 * rows)
    _, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, layout=room)
    panels: npt.NDArray[np.object_] = grid.ravel()
    for empty in panels[count:]:
        empty.remove()
    return panels[:count]


def _draw(
    ax: Axes,
    spec: ModelSpec,
    name: str,
    simulated: Mapping[str, Array],
    rng: np.random.Generator,
) -> None:
    prior = spec[name].prior
    if prior.is_positive:
        end, shown = _axis_end(simulated[name])
        # Not from zero itself, where some densities have no logarithm.
        x = np.linspace(end * 1e-6, end, _POINTS)
        density = np.exp(prior.log_density(x))
    else:
        centre, sd = _normals(spec, name, simulated)
        half, shown = _NORMAL_HALF_WIDTH * float(sd[0]), _SHOWN
        if len(sd) > 1:
            half, shown = _axis_end(np.abs(rng.standard_normal(len(sd)) * sd))
            sd = np.quantile(sd, (np.arange(_QUANTILES) + 0.5) / _QUANTILES)
        deviation = np.linspace(-half, half, _POINTS)
        z = deviation[:, None] / sd
        density = (np.exp(-0.5 * z**2) / (sd * np.sqrt(2 * np.pi))).mean(axis=1)
        x = centre + deviation
    # No connection's colour: a prior belongs to all of them.
    ax.fill_between(x, density, color=INK, alpha=0.12, linewidth=0)
    ax.plot(x, density, color=INK, linewidth=1.4)
    ax.set_xlim(0 if prior.is_positive else x[0], x[-1])
    # A density without bound leaves the panel at the top, or the rest of it could not be seen.
    ax.set_ylim(0, 1.1 * np.quantile(density, 0.99))
    if shown < _SHOWN:
        ax.annotate(
            f"{1 - shown:.0%} not shown",
            (1, 1),
            (0, -3),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=8,
            color=INK,
            bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 0.5},
        )
    ax.set_title(name, x=0, ha="left", fontsize=10, fontweight="bold", color=INK)
    ax.set_title(str(prior), loc="right", fontsize=8, color=INK)
    ax.set_xlabel(wrapped(meaning(spec, name), _LABEL), fontsize=9, color=INK)
    ax.set_yticks([])
    ax.locator_params(axis="x", nbins=6)
    ax.tick_params(axis="x", labelsize=8)
    tidy(ax)


def _axis_end(distances: Array) -> tuple[float, float]:
    """Return how far an axis goes, and the part of the distribution that it shows."""
    heavy, end = np.quantile(distances, [_SHOWN_OF_HEAVY, _SHOWN])
    is_heavy = end > _HEAVY * heavy
    return (float(heavy), _SHOWN_OF_HEAVY) if is_heavy else (float(end), _SHOWN)


def _normals(spec: ModelSpec, name: str, simulated: Mapping[str, Array]) -> tuple[float, Array]:
    """Return the mean and, for each draw of the scales, the standard deviation of a coefficient.

    Given the scales it is normal, whatever it is pooled towards; without any there is one value.
    """
    weights = Counter(_ancestors(spec, name))
    centre = sum(n * spec[a].prior.arguments[0] for a, n in weights.items())
    variance = np.zeros(1)
    for ancestor, n in weights.items():
        prior = spec[ancestor].prior
        variance = variance + (n * (simulated[prior.sd] if prior.sd else prior.arguments[1])) ** 2
        common = spec[ancestor].common
        if common:
            variance = variance + (n * simulated[common]) ** 2
    return centre, np.sqrt(variance)


def _ancestors(spec: ModelSpec, name: str) -> list[str]:
    """Return a coefficient and all that it is pooled towards, as often as each counts."""
    lineage = [name]
    for parent in spec[name].prior.mean:
        lineage += _ancestors(spec, parent)
    return lineage


def meaning(spec: ModelSpec, name: str) -> str:
    """Return in plain words what a parameter is."""
    if name == spec.scale:
        return "standard deviation of distances"
    if name == "nu":
        return "degrees of freedom"
    over = spec[name].over
    if over:
        tied = _effects((p for p in spec.parameters if p.common == name), without=over)
        tied += ["residuals"] if spec.common == name else []
        return f"standard deviation of {enumerated(tied)} that {over}s have in common"
    covariate = spec[name].covariate
    if covariate is not None:
        return f"distance per standard deviation of {_words(covariate)}"
    if spec[name].prior.is_positive:
        pooled = _effects(p for p in spec.parameters if p.prior.sd == name)
        return f"standard deviation of {enumerated(pooled)}"
    if name in _ancestors(spec, spec.mean[0]):
        return DISTANCE
    return "added to the distance"


def _effects(parameters: Iterable[Parameter], without: str | None = None) -> list[str]:
    """Return in plain words what parameters differ by, such as ``effects per attribute``."""
    factors = (
        enumerated([factor_name(name) for name in parameter.by if name != without])
        for parameter in parameters
    )
    return [f"effects per {factor}" for factor in dict.fromkeys(factors)]


def factor_name(column: str) -> str:
    """Return what the levels of a column are called in figures."""
    return _FACTORS.get(column, _words(column))


def _words(column: str) -> str:
    return column.replace("_", " ")
