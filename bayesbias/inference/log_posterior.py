"""The log posterior density of a model and its gradient, row by row, in plain NumPy.

It is written apart from the exact engine, which integrates what it can, and from PyMC, which
compiles. So it can be sampled at once, to check the exact engine; the tests hold it against PyMC.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayesbias._arrays import Array
from bayesbias.errors import SpecError
from bayesbias.inference.data import ModelData
from bayesbias.inference.gaussian import parent_index
from bayesbias.inference.guesses import Guess, guess_pooled
from bayesbias.inference.priors import Prior
from bayesbias.inference.spec import ModelSpec

#: The step of a central difference of a log prior; its error is about 1e-10.
_STEP = 1e-5


class LogPosterior:
    """The log density of a model with a normal likelihood, in coordinates without bounds.

    A positive parameter has its logarithm as coordinate. A pooled one is standardised by what the
    rows say of it, as in the PyMC model; any other one is its own coordinate. The density includes
    the Jacobians, so that it equals the ``logp`` of the PyMC model.

    Parameters
    ----------
    spec : ModelSpec
        The model.
    data : ModelData
        The rows.

    Attributes
    ----------
    size : int
        The number of coordinates.
    """

    def __init__(self, spec: ModelSpec, data: ModelData) -> None:
        if spec.likelihood != "normal":
            raise SpecError(
                f"the likelihood of model {spec.name!r} is {spec.likelihood!r}; the density is "
                "written out for 'normal' only."
            )
        self.spec, self.data = spec, data
        shapes = {p.name: data.shape(p.by) for p in spec.parameters}
        sizes = [int(np.prod(shape, dtype=int)) for shape in shapes.values()]
        stops = np.cumsum(sizes)
        self.size = int(stops[-1])
        self._shapes = shapes
        self._place = {
            name: slice(stop - size, stop)
            for name, stop, size in zip(shapes, stops.tolist(), sizes, strict=True)
        }
        self._rows = {name: data.index(spec[name].by) for name in (*spec.mean, spec.scale)}
        self._known = 0.0 if data.error is None else data.error**2
        self._guess = {
            name: Guess(guess.value.ravel(), guess.precision.ravel())
            for name, guess in guess_pooled(spec, data).items()
        }
        self._parents = {
            p.name: {of: parent_index(spec, data, p.name, of) for of in p.prior.parents}
            for p in spec.parameters
        }

    def values(self, x: Array) -> dict[str, Array]:
        """Return each parameter at coordinates, flat."""
        values: dict[str, Array] = {}
        for p in self.spec.parameters:
            own = x[self._place[p.name]]
            if p.prior.is_positive:
                values[p.name] = np.exp(own)
            elif not p.prior.parents:
                values[p.name] = own
            else:
                middle, width = self._middle_and_width(p.name, *self._mean_and_sd(p.name, values))
                values[p.name] = middle + width * own
        return values

    def coordinates(self, values: Mapping[str, Array]) -> Array:
        """Return the coordinates of draws: draws × the shape of each parameter."""
        parts: list[Array] = []
        flat = {name: value.reshape(len(value), -1).T for name, value in values.items()}
        for p in self.spec.parameters:
            own = flat[p.name]
            if p.prior.is_positive:
                own = np.log(own)
            elif p.prior.parents:
                middle, width = self._middle_and_width(p.name, *self._mean_and_sd(p.name, flat))
                own = (own - middle) / width
            parts.append(own)
        return np.concatenate(parts).T

    def shaped(self, x: Array) -> dict[str, Array]:
        """Return draws of each parameter, in its shape, from draws × coordinates."""
        rows = [self.values(one) for one in x]
        return {
            name: np.array([row[name] for row in rows]).reshape(len(x), *shape)
            for name, shape in self._shapes.items()
        }

    def _mean_and_sd(self, name: str, values: Mapping[str, Array]) -> tuple[Array, Array]:
        """Return the mean and the standard deviation in a pooled parameter's prior."""
        prior, index = self.spec[name].prior, self._parents[name]
        like = values[prior.parents[0]][index[prior.parents[0]]]
        mean = np.full_like(like, prior.arguments[0])
        for of in prior.mean:
            mean += values[of][index[of]]
        if prior.sd is not None:
            return mean, values[prior.sd][index[prior.sd]]
        return mean, np.full_like(like, prior.arguments[1])

    def _middle_and_width(self, name: str, mean: Array, sd: Array) -> tuple[Array, Array]:
        value, precision = (a if mean.ndim == 1 else a[:, None] for a in self._guess[name])
        known = precision * sd**2
        return mean + known / (1 + known) * (value - mean), sd / np.sqrt(1 + known)

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Return the log density and its gradient at coordinates."""
        values = self.values(x)
        total, slopes = self._likelihood(values)
        gradient = np.empty(self.size)
        # Children before parents, which they pass their slopes on to.
        for p in reversed(self.spec.parameters):
            own, slope = x[self._place[p.name]], slopes[p.name]
            if p.prior.parents:
                density, slope = self._pooled(p.name, own, values, slopes)
            elif p.prior.is_positive:
                density, prior_slope = _log_and_slope(p.prior, own)
                slope = slope * values[p.name] + prior_slope
            else:
                density, prior_slope = _slope(p.prior, own)
                slope = slope + prior_slope
            total += density
            gradient[self._place[p.name]] = slope
        return total, gradient

    def _likelihood(self, values: Mapping[str, Array]) -> tuple[float, dict[str, Array]]:
        """Return the log likelihood, and its slope in each value of each parameter."""
        left = self.data.y.copy()
        for name in self.spec.mean:
            left -= values[name][self._rows[name]]
        scale = values[self.spec.scale][self._rows[self.spec.scale]]
        variance = scale**2 + self._known
        weighted = left / variance
        total = -0.5 * float(weighted @ left + np.log(2 * np.pi * variance).sum())
        slopes = {name: np.zeros(value.size) for name, value in values.items()}
        for name in self.spec.mean:
            slopes[name] += np.bincount(self._rows[name], weighted, slopes[name].size)
        of_scale = (weighted**2 - 1 / variance) * scale
        name = self.spec.scale
        slopes[name] += np.bincount(self._rows[name], of_scale, slopes[name].size)
        return total, slopes

    def _pooled(
        self, name: str, own: Array, values: Mapping[str, Array], slopes: dict[str, Array]
    ) -> tuple[float, Array]:
        """Return the density of a pooled parameter, with its Jacobian, and the slope.

        Adds to the slopes of the parents.
        """
        prior, index = self.spec[name].prior, self._parents[name]
        mean, sd = self._mean_and_sd(name, values)
        guess, precision = self._guess[name]
        known = precision * sd**2
        width = sd / np.sqrt(1 + known)
        away = values[name] - mean
        density = -0.5 * ((away / sd) ** 2 + np.log(2 * np.pi * (1 + known))).sum()
        slope = slopes[name] - away / sd**2
        for of in prior.mean:
            slopes[of] += np.bincount(index[of], away / sd**2 + slope / (1 + known), len(slopes[of]))
        if prior.sd is not None:
            moved = 2 * precision * sd * (guess - mean) / (1 + known) ** 2
            moved += own / (1 + known) ** 1.5
            of_sd = away**2 / sd**3 - precision * sd / (1 + known) + slope * moved
            slopes[prior.sd] += np.bincount(index[prior.sd], of_sd, len(slopes[prior.sd]))
        return float(density), slope * width


def _log_and_slope(prior: Prior, logs: Array) -> tuple[float, Array]:
    """Return the log prior density of logarithms of values, and its slope."""

    def density(at: Array) -> Array:
        return prior.log_density(np.exp(at)) + at

    return float(density(logs).sum()), (density(logs + _STEP) - density(logs - _STEP)) / (2 * _STEP)


def _slope(prior: Prior, own: Array) -> tuple[float, Array]:
    """Return the log prior density of values, and its slope."""
    density = prior.log_density
    return float(density(own).sum()), (density(own + _STEP) - density(own - _STEP)) / (2 * _STEP)
