"""The log posterior density of a model and its gradient, row by row, in plain NumPy.

It is written apart from the exact engine, which integrates what it can, and from PyMC, which
compiles. So it can be sampled at once, to check the exact engine; the tests hold it against PyMC.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bayesbias._arrays import Array
from bayesbias.errors import SpecError
from bayesbias.inference.compiled import parent_index
from bayesbias.inference.data import ModelData
from bayesbias.inference.guesses import Guess, guess_pooled
from bayesbias.inference.priors import Prior
from bayesbias.inference.spec import ModelSpec

#: The step of a central difference of a log prior; its error is about 1e-10.
_STEP = 1e-5
_STEPS = np.array([[-_STEP], [0.0], [_STEP]])
_LOG_2PI = float(np.log(2 * np.pi))


class _Pool(NamedTuple):
    """What the values of a pooled parameter depend on."""

    mean: Array | float
    sd: Array | float
    scarce: Array  # the share of the pool in what is known of a value; the rows have the rest
    middle: Array
    width: Array


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
        if spec.likelihood != "normal" or any(p.over for p in spec.parameters):
            raise SpecError(
                f"the density of model {spec.name!r} is not written out: that is done for a normal "
                "likelihood without correlations."
            )
        self.spec, self.data = spec, data
        shapes = {p.name: data.shape(p.by) for p in spec.parameters}
        sizes = [int(np.prod(shape, dtype=int)) for shape in shapes.values()]
        stops = np.cumsum(sizes)
        self.size = int(stops[-1])
        self._shapes = shapes
        self._coordinate = {
            p.name: (slice(stop - size, stop), p.prior)
            for p, stop, size in zip(spec.parameters, stops.tolist(), sizes, strict=True)
        }
        self._rows = {name: data.index(spec[name].by) for name in (*spec.mean, spec.scale)}
        self._times = {name: data.times(spec, name) for name in spec.mean}
        self._counts = data.counts(spec[spec.scale].by).ravel()
        self._known = None if data.error is None else data.error**2
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
        return self._forward(x)[0]

    def _forward(self, x: Array) -> tuple[dict[str, Array], dict[str, _Pool]]:
        """Return each parameter at coordinates, flat, and what the pooled ones depend on."""
        values: dict[str, Array] = {}
        pools: dict[str, _Pool] = {}
        for name, (place, prior) in self._coordinate.items():
            own = x[place]
            if prior.is_positive:
                values[name] = np.exp(own)
            elif not prior.parents:
                values[name] = own
            else:
                pool = pools[name] = self._pool(name, values)
                values[name] = pool.middle + pool.width * own
        return values, pools

    def coordinates(self, values: Mapping[str, Array]) -> Array:
        """Return the coordinates of draws: draws × the shape of each parameter."""
        parts: list[Array] = []
        flat = {name: value.reshape(len(value), -1).T for name, value in values.items()}
        for p in self.spec.parameters:
            own = flat[p.name]
            if p.prior.is_positive:
                own = np.log(own)
            elif p.prior.parents:
                pool = self._pool(p.name, flat)
                own = (own - pool.middle) / pool.width
            parts.append(own)
        return np.concatenate(parts).T

    def shaped(self, x: Array) -> dict[str, Array]:
        """Return draws of each parameter, in its shape, from draws × coordinates."""
        rows = [self.values(one) for one in x]
        return {
            name: np.array([row[name] for row in rows]).reshape(len(x), *shape)
            for name, shape in self._shapes.items()
        }

    def _pool(self, name: str, values: Mapping[str, Array]) -> _Pool:
        """Return what a pooled parameter depends on, given its parents."""
        prior, index = self.spec[name].prior, self._parents[name]
        mean: Array | float = prior.arguments[0]
        for of in prior.mean:
            mean = values[of][index[of]] + mean
        sd = values[prior.sd][index[prior.sd]] if prior.sd is not None else prior.arguments[1]
        guess, precision = self._guess[name]
        if np.ndim(mean) == 2 or np.ndim(sd) == 2:  # of several draws
            guess, precision = guess[:, None], precision[:, None]
        scarce = 1 / (1 + precision * sd**2)
        return _Pool(mean, sd, scarce, guess + scarce * (mean - guess), sd * np.sqrt(scarce))

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Return the log density and its gradient at coordinates."""
        values, pools = self._forward(x)
        total, slopes = self._likelihood(values)
        gradient = np.empty(self.size)
        # Children before parents, which they pass their slopes on to.
        for name, (place, prior) in reversed(self._coordinate.items()):
            if prior.parents:
                density, slope = self._pooled(name, x[place], pools[name], values, slopes)
            elif prior.is_positive:
                density, own = _log_prior(prior, x[place])
                slope = slopes[name] * values[name] + own
            else:
                density, own = _log_prior(prior, x[place])
                slope = slopes[name] + own
            total += density
            gradient[place] = slope
        return total, gradient

    def _likelihood(self, values: Mapping[str, Array]) -> tuple[float, dict[str, Array]]:
        """Return the log likelihood, and its slope in each value of each parameter."""
        left = self.data.y.copy()
        for name in self.spec.mean:
            part, times = values[name][self._rows[name]], self._times[name]
            left -= part if times is None else part * times
        of_scale, scale = self._rows[self.spec.scale], values[self.spec.scale]
        slopes: dict[str, Array] = {name: np.zeros(value.size) for name, value in values.items()}
        if self._known is None:
            # Rows of one scale share its logarithm and its square.
            squares = np.bincount(of_scale, left * left, scale.size)
            total = -float((0.5 * squares / scale**2 + self._counts * np.log(scale)).sum())
            slopes[self.spec.scale] += squares / scale**3 - self._counts / scale
            left *= (1 / scale**2)[of_scale] if scale.size > 1 else 1 / scale**2
        else:
            variance = scale[of_scale] ** 2 + self._known
            weighted = left / variance
            total = -0.5 * float(weighted @ left + np.log(variance).sum())
            own = (weighted**2 - 1 / variance) * scale[of_scale]
            slopes[self.spec.scale] += np.bincount(of_scale, own, scale.size)
            left = weighted
        for name in self.spec.mean:
            times = self._times[name]
            weight = left if times is None else left * times
            slopes[name] += np.bincount(self._rows[name], weight, slopes[name].size)
        total -= 0.5 * len(left) * _LOG_2PI
        return total, slopes

    def _pooled(
        self,
        name: str,
        own: Array,
        pool: _Pool,
        values: Mapping[str, Array],
        slopes: dict[str, Array],
    ) -> tuple[float, Array]:
        """Return the density of a pooled parameter, with its Jacobian, and its slope.

        Adds to the slopes of the parents.
        """
        prior, index = self.spec[name].prior, self._parents[name]
        guess, precision = self._guess[name]
        mean, sd, scarce, _, width = pool
        pull = (values[name] - mean) / sd**2
        density = -0.5 * (pull @ (values[name] - mean) + (_LOG_2PI - np.log(scarce)).sum())
        slope = slopes[name] - pull
        of_mean = pull + slope * scarce
        for of in prior.mean:
            slopes[of] += np.bincount(index[of], of_mean, len(slopes[of]))
        if prior.sd is not None:
            known = precision * sd * scarce
            moved = 2 * known * scarce * (guess - mean) + own * scarce * np.sqrt(scarce)
            of_sd = pull**2 * sd - known + slope * moved
            slopes[prior.sd] += np.bincount(index[prior.sd], of_sd, len(slopes[prior.sd]))
        return float(density), slope * width


def _log_prior(prior: Prior, own: Array) -> tuple[float, Array]:
    """Return the log prior density of a parameter's coordinates, and its slope."""
    at = own + _STEPS
    density = prior.log_density(np.exp(at)) + at if prior.is_positive else prior.log_density(at)
    return float(density[1].sum()), (density[2] - density[0]) / (2 * _STEP)
