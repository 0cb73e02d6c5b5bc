"""The log posterior density of a model, row by row, in plain NumPy and SciPy.

It is written apart from the exact engine, which integrates what it can, and from PyMC, which
compiles. So it can check the exact engine at once; the tests compare it with PyMC.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import stats

from bayesbias._core.array_types import Array
from bayesbias.errors import SpecError
from bayesbias.models.exact.compiled_model import parent_index
from bayesbias.models.model_data import ModelData
from bayesbias.models.spec import ModelSpec

#: The priors as SciPy has them.
_PRIORS: dict[str, Callable[..., Any]] = {
    "Normal": stats.norm,
    "HalfCauchy": lambda beta: stats.halfcauchy(scale=beta),
    "HalfNormal": lambda sigma: stats.halfnorm(scale=sigma),
    "HalfStudentT": lambda nu, sigma: _Folded(stats.t(nu, scale=sigma)),
    "Exponential": lambda lam: stats.expon(scale=1 / lam),
    "Gamma": lambda alpha, beta: stats.gamma(alpha, scale=1 / beta),
    "InverseGamma": lambda alpha, beta: stats.invgamma(alpha, scale=beta),
    "LogNormal": lambda mu, sigma: stats.lognorm(sigma, scale=np.exp(mu)),
}


class _Folded:
    """The absolute value of what is symmetric about zero."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole

    def logpdf(self, x: Array) -> Array:
        return np.asarray(np.log(2) + self.whole.logpdf(x))


def is_written_out(spec: ModelSpec) -> bool:
    """Return whether `LogPosterior` is for a model."""
    return spec.likelihood == "normal" and not any(p.over for p in spec.parameters)


class LogPosterior:
    """The log density of outcomes, coefficients and the logarithms of scales.

    It is for a normal likelihood without common parts.

    Parameters
    ----------
    spec : ModelSpec
        The model.
    data : ModelData
        The rows.
    """

    def __init__(self, spec: ModelSpec, data: ModelData) -> None:
        if not is_written_out(spec):
            raise SpecError(
                f"the density of model {spec.name!r} is not written out: that is done for a normal "
                "likelihood without common parts."
            )
        self.spec, self.data = spec, data
        self._rows = {name: data.index(spec[name].by) for name in (*spec.mean, spec.scale)}
        self._times = {name: data.times(spec, name) for name in spec.mean}
        self._parents = {
            p.name: {of: parent_index(spec, data, p.name, of) for of in p.prior.parents}
            for p in spec.parameters
        }

    def __call__(self, values: Mapping[str, Array]) -> Array:
        """Return the log density of each draw; draws × the shape of each parameter."""
        flat = {
            name: np.asarray(value, dtype=float).reshape(len(value), -1)
            for name, value in values.items()
        }
        total = self._likelihood(flat)
        for name in flat:
            total += self._prior(name, flat)
        return total

    def _likelihood(self, values: Mapping[str, Array]) -> Array:
        mean = np.zeros((1, len(self.data.y)))
        for name, times in self._times.items():
            part = values[name][:, self._rows[name]]
            mean = mean + (part if times is None else part * times)
        sd = values[self.spec.scale][:, self._rows[self.spec.scale]]
        if self.data.error is not None:
            sd = np.hypot(sd, self.data.error)
        return np.asarray(stats.norm.logpdf(self.data.y, mean, sd).sum(axis=1))

    def _prior(self, name: str, values: Mapping[str, Array]) -> Array:
        prior, index, value = self.spec[name].prior, self._parents[name], values[name]
        if not prior.parents:
            density = _PRIORS[prior.family](*prior.arguments).logpdf(value)
            if prior.is_positive:
                density = density + np.log(value)  # the density of its logarithm
            return np.asarray(density.sum(axis=1))
        mean: Array | float = prior.arguments[0]
        for of in prior.mean:
            mean = mean + values[of][:, index[of]]
        sd = prior.arguments[1] if prior.sd is None else values[prior.sd][:, index[prior.sd]]
        return np.asarray(stats.norm.logpdf(value, mean, sd).sum(axis=1))
