"""A model of the catalogue as a PyMC model that a person can read, sample and extend."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytensor.tensor as pt

from bayesbias._core.arviz_versions import importing_arviz
from bayesbias.models.exact.compiled_model import parent_index, together
from bayesbias.models.model_data import ModelData
from bayesbias.models.nuts.initial_values import Guess, guess_pooled
from bayesbias.models.spec import ATTRIBUTE_KIND, OUTCOME, ModelSpec, Parameter

with importing_arviz():
    import pymc as pm
    from pymc.distributions.transforms import Transform


def build_pymc_model(spec: ModelSpec, data: ModelData) -> pm.Model:
    """Return the model, with the words as coordinates and the rows as data.

    A pooled parameter is written as one thinks of it, ``theta ~ Normal(bar, tau)``; its transform
    gives samplers coordinates without the funnel that makes them diverge. Values with a common
    part are written one level after the other, each given those before it.
    """
    coords: dict[str, Any] = {name: list(levels) for name, levels in data.levels.items()}
    with pm.Model(coords={**coords, "row": np.arange(len(data.y))}) as model:
        rows = {n: pm.Data(f"{n}_of_row", codes, dims="row") for n, codes in data.codes.items()}
        covariates = {n: pm.Data(n, values, dims="row") for n, values in data.covariates.items()}
        values: dict[str, Any] = {}
        guesses = guess_pooled(spec, data)
        for parameter in spec.parameters:
            values[parameter.name] = _parameter(spec, data, parameter, values, guesses)

        def of_row(name: str) -> Any:
            by, only, covariate = spec[name].by, spec[name].only, spec[name].covariate
            value = values[name][tuple(rows[factor] for factor in by)] if by else values[name]
            if only is not None:
                kinds = data.levels[ATTRIBUTE_KIND]
                number = kinds.index(only) if only in kinds else -1
                value = value * pm.math.eq(rows[ATTRIBUTE_KIND], number)
            return value * covariates[covariate] if covariate is not None else value

        mean = reduce(add, map(of_row, spec.mean))
        scale = of_row(spec.scale)
        if data.error is not None:
            error = pm.Data("standard_error", data.error, dims="row")
            scale = pm.math.sqrt(scale**2 + error**2)
        observed = pm.Data(f"{OUTCOME}_observed", data.y, dims="row")
        if spec.common is not None:
            mean, scale = _given_earlier(spec, data, of_row(spec.common), mean, scale, observed)
        if spec.likelihood == "student_t":
            pm.StudentT(
                OUTCOME,
                nu=values["nu"],
                mu=mean,
                sigma=scale,
                observed=observed,
                dims="row",
            )
        else:
            pm.Normal(OUTCOME, mu=mean, sigma=scale, observed=observed, dims="row")
    return model


def _parameter(
    spec: ModelSpec,
    data: ModelData,
    parameter: Parameter,
    values: dict[str, Any],
    guesses: dict[str, Guess],
) -> Any:
    """Add a parameter to the model that is being built."""
    name, by, prior = parameter.name, parameter.by, parameter.prior
    dims = by or None
    if not parameter.is_pooled:
        return getattr(pm, prior.family)(name, *prior.arguments, dims=dims)
    shape = data.shape(by)

    def parent(of: str) -> Any:
        """Return a parent's values, laid out like the child's."""
        parent_by = spec[of].by
        if not parent_by:
            return values[of]
        if set(parent_by) <= set(by):
            # With dims of length one for the factors it lacks.
            kept = [factor for factor in by if factor in parent_by]
            value = values[of].transpose(*[parent_by.index(factor) for factor in kept])
            return value.dimshuffle(*[kept.index(f) if f in kept else "x" for f in by])
        index = parent_index(spec, data, name, of).reshape(shape)
        places = np.unravel_index(index, data.shape(spec[of].by))
        return values[of][tuple(places)]

    means = [parent(of) for of in prior.mean]
    if prior.arguments[0] or not means:
        means.append(prior.arguments[0])
    mean = reduce(add, means)
    sd = parent(prior.sd) if prior.sd else prior.arguments[1]
    guess = guesses[name]
    if parameter.common is None:
        transform = _Standardised.about(guess)
        return pm.Normal(name, mean, sd, dims=dims, transform=transform, initval=guess.value)
    return _tied_levels(spec, data, parameter, parent(parameter.common), mean, sd, guess)


def _tied_levels(
    spec: ModelSpec,
    data: ModelData,
    parameter: Parameter,
    common: Any,
    mean: Any,
    sd: Any,
    guess: Guess,
) -> Any:
    """Add a parameter whose levels of one factor have a part in common."""
    name, by = parameter.name, parameter.by
    shape = data.shape(by)
    over = spec.over(str(parameter.common))
    axis = by.index(over)
    rest = tuple(factor for factor in by if factor != over)
    means, sds, commons = (
        pt.moveaxis(pt.broadcast_to(x, shape), axis, 0) for x in (mean, sd, common)
    )
    value, precision = (np.moveaxis(np.broadcast_to(g, shape), axis, 0) for g in guess)
    before = _Earlier(commons[0])
    parts: list[Any] = []
    for i, level in enumerate(data.levels[over]):
        one = Guess(value[i], precision[i])
        part = pm.Normal(
            f"{name}_{level}",
            means[i] + before.mean,
            before.spread(sds[i]),
            dims=rest or None,
            transform=_Standardised.about(one),
            initval=one.value,
        )
        before.add(part - means[i], sds[i])
        parts.append(part)
    return pm.Deterministic(name, pt.moveaxis(pt.stack(parts), 0, axis), dims=by)


class _Earlier:
    """What values seen so far tell of the part that they have in common with the next."""

    def __init__(self, common: Any) -> None:
        self.precision = 1 / common**2
        self.weighted = 0.0

    @property
    def mean(self) -> Any:
        """The expected common part."""
        return self.weighted / self.precision

    def spread(self, sd: Any) -> Any:
        """Return the standard deviation of a value whose own part has this one."""
        return pt.sqrt(sd**2 + 1 / self.precision)

    def add(self, deviation: Any, sd: Any) -> None:
        """Take a value into account, given as its deviation from its mean."""
        self.precision = self.precision + 1 / sd**2
        self.weighted = self.weighted + deviation / sd**2


def _given_earlier(
    spec: ModelSpec, data: ModelData, common: Any, mean: Any, scale: Any, observed: Any
) -> tuple[Any, Any]:
    """Return mean and standard deviation of each row given the rows before it of the same pair."""
    commons = pt.broadcast_to(common, (len(data.y),))
    places, means, spreads = [], [], []
    for rows in together(data, spec.over(str(spec.common))):
        before = _Earlier(commons[rows[:, 0]])
        for row in rows.T:
            places.append(row)
            means.append(mean[row] + before.mean)
            spreads.append(before.spread(scale[row]))
            before.add(observed[row] - mean[row], scale[row])
    order = np.argsort(np.concatenate(places))
    return pt.concatenate(means)[order], pt.concatenate(spreads)[order]


class _Standardised(Transform):  # type: ignore[misc]
    """Sample a pooled value in coordinates in which its posterior hardly depends on the pool.

    If the rows of ``theta ~ Normal(bar, tau)`` alone say ``guess`` with some precision, then
    ``theta`` given ``bar`` and ``tau`` has the mean `middle` and the standard deviation `width`
    below, and ``(theta - middle) / width`` is standard normal. So there is neither the funnel of
    the centred form (``theta`` itself, which this becomes where rows abound) nor the ridge of the
    non-centred one (``(theta - bar) / tau``, which this becomes where there are none). The guess
    is rough, but that changes only how well the model is sampled. Without any guess it is the
    non-centred form.
    """

    name = "standardised"
    ndim_supp = 0

    def __init__(self, guess: Guess | None) -> None:
        self.guess = guess

    @classmethod
    def about(cls, guess: Guess) -> _Standardised:
        """Return the coordinates for a guess, of which perhaps nothing is known."""
        # PyTensor would take minutes to find out that many products with zero are zero.
        return cls(guess if guess.precision.any() else None)

    def _middle_and_width(self, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
        mean, sd = inputs[-2:]
        if self.guess is None:
            return mean, sd
        ratio = self.guess.precision * sd**2
        middle = mean + ratio / (1 + ratio) * (self.guess.value - mean)
        return middle, sd / pm.math.sqrt(1 + ratio)

    def forward(self, value: Any, *inputs: Any) -> Any:
        middle, width = self._middle_and_width(inputs)
        return (value - middle) / width

    def backward(self, value: Any, *inputs: Any) -> Any:
        middle, width = self._middle_and_width(inputs)
        return middle + width * value

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        _, width = self._middle_and_width(inputs)
        return pm.math.log(width) + pm.math.zeros_like(value)
