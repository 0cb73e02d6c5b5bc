"""A model of the catalogue as a PyMC model that a person can read, sample and extend."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pymc as pm
from pymc.distributions.transforms import Transform

from bayesbias.inference.data import ModelData
from bayesbias.inference.guesses import Guess, guess_pooled
from bayesbias.inference.spec import ModelSpec, Parameter


def build_pymc_model(spec: ModelSpec, data: ModelData) -> pm.Model:
    """Return the model, with the words as coordinates and the rows as data.

    A pooled parameter is written as one thinks of it, ``theta ~ Normal(bar, tau)``; its transform
    gives samplers coordinates without the funnel that makes them diverge.
    """
    coords: dict[str, Any] = {name: list(levels) for name, levels in data.levels.items()}
    with pm.Model(coords={**coords, "row": np.arange(len(data.y))}) as model:
        rows = {n: pm.Data(f"{n}_of_row", codes, dims="row") for n, codes in data.codes.items()}
        values: dict[str, Any] = {}
        guesses = guess_pooled(spec, data)
        for parameter in spec.parameters:
            values[parameter.name] = _parameter(spec, parameter, values, guesses)

        def of_row(name: str) -> Any:
            by = spec[name].by
            return values[name][tuple(rows[factor] for factor in by)] if by else values[name]

        mean = reduce(add, map(of_row, spec.mean))
        scale = of_row(spec.scale)
        if data.error is not None:
            error = pm.Data("standard_error", data.error, dims="row")
            scale = pm.math.sqrt(scale**2 + error**2)
        observed = pm.Data(f"{spec.outcome}_observed", data.y, dims="row")
        if spec.likelihood == "student_t":
            pm.StudentT(
                spec.outcome,
                nu=values["nu"],
                mu=mean,
                sigma=scale,
                observed=observed,
                dims="row",
            )
        else:
            pm.Normal(spec.outcome, mu=mean, sigma=scale, observed=observed, dims="row")
    return model


def _parameter(
    spec: ModelSpec, parameter: Parameter, values: dict[str, Any], guesses: dict[str, Guess]
) -> Any:
    """Add a parameter to the model that is being built."""
    name, by, prior = parameter.name, parameter.by, parameter.prior
    dims = by or None
    if not prior.parents:
        return getattr(pm, prior.family)(name, *prior.arguments, dims=dims)

    def parent(of: str) -> Any:
        """Return a parent with the dims of the child; those it lacks have length one."""
        value, own = values[of], spec[of].by
        if not own:
            return value
        value = value.transpose(*[own.index(factor) for factor in by if factor in own])
        kept = [factor for factor in by if factor in own]
        return value.dimshuffle(*[kept.index(f) if f in kept else "x" for f in by])

    means = [parent(of) for of in prior.mean]
    if prior.arguments[0] or not means:
        means.append(prior.arguments[0])
    mean = reduce(add, means)
    sd = parent(prior.sd) if prior.sd else prior.arguments[1]
    guess = guesses[name]
    transform = _Standardised(guess)
    return pm.Normal(name, mean, sd, dims=dims, transform=transform, initval=guess.value)


class _Standardised(Transform):  # type: ignore[misc]
    """Sample a pooled value in coordinates in which its posterior hardly depends on the pool.

    If the rows of ``theta ~ Normal(bar, tau)`` alone say ``guess`` with some precision, then
    ``theta`` given ``bar`` and ``tau`` has the mean `middle` and the standard deviation `width`
    below, and ``(theta - middle) / width`` is standard normal. So there is neither the funnel of
    the centred form (``theta`` itself, which this becomes where rows abound) nor the ridge of the
    non-centred one (``(theta - bar) / tau``, which this becomes where there are none). The guess
    is rough, but that changes only how well the model is sampled.
    """

    name = "standardised"
    ndim_supp = 0

    def __init__(self, guess: Guess) -> None:
        self.guess = guess

    def _middle_and_width(self, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
        mean, sd = inputs[-2:]
        known = self.guess.precision * sd**2
        middle = mean + known / (1 + known) * (self.guess.value - mean)
        return middle, sd / pm.math.sqrt(1 + known)

    def forward(self, value: Any, *inputs: Any) -> Any:
        middle, width = self._middle_and_width(inputs)
        return (value - middle) / width

    def backward(self, value: Any, *inputs: Any) -> Any:
        middle, width = self._middle_and_width(inputs)
        return middle + width * value

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        _, width = self._middle_and_width(inputs)
        return pm.math.log(width) + pm.math.zeros_like(value)
