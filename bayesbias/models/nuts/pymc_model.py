"""A model of the catalogue as a PyMC model that a person can read, sample and extend."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import Transform

from bayesbias.models.exact.compiled_model import parent_index, together
from bayesbias.models.exact.precisions import lkj_exponents
from bayesbias.models.model_data import ModelData
from bayesbias.models.nuts.initial_values import Guess, guess_pooled
from bayesbias.models.spec import ATTRIBUTE_KIND, ModelSpec, Parameter


def build_pymc_model(spec: ModelSpec, data: ModelData) -> pm.Model:
    """Return the model, with the words as coordinates and the rows as data.

    A pooled parameter is written as one thinks of it, ``theta ~ Normal(bar, tau)``; its transform
    gives samplers coordinates without the funnel that makes them diverge. Correlated values are
    written one level after the other, each given those before it.
    """
    coords: dict[str, Any] = {name: list(levels) for name, levels in data.levels.items()}
    for p in spec.parameters:
        if p.over:
            n = len(data.levels[p.over])
            coords[f"{p.over}_pair"] = [
                f"{coords[p.over][j]}, {coords[p.over][i]}" for i in range(1, n) for j in range(i)
            ]
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
        observed = pm.Data(f"{spec.outcome}_observed", data.y, dims="row")
        if spec.correlation is not None:
            mean, scale = _given_earlier(
                spec, data, values[spec.correlation], mean, of_row(spec.scale), scale, observed
            )
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
    spec: ModelSpec,
    data: ModelData,
    parameter: Parameter,
    values: dict[str, Any],
    guesses: dict[str, Guess],
) -> Any:
    """Add a parameter to the model that is being built."""
    name, by, prior = parameter.name, parameter.by, parameter.prior
    dims = by or None
    if parameter.over:
        return _correlations(data, parameter)
    if not prior.parents:
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
    if parameter.correlation is None:
        transform = _Standardised(guess)
        return pm.Normal(name, mean, sd, dims=dims, transform=transform, initval=guess.value)

    factors = values[parameter.correlation]
    return _correlated_levels(spec, data, parameter, factors, mean, sd, guess)


def _correlated_levels(
    spec: ModelSpec,
    data: ModelData,
    parameter: Parameter,
    cholesky_factors: Any,
    mean: Any,
    sd: Any,
    guess: Guess,
) -> Any:
    """Add a parameter whose levels of one factor are correlated, each given those before it."""
    name, by, correlation = parameter.name, parameter.by, str(parameter.correlation)
    shape = data.shape(by)
    over = spec.over(correlation)
    axis, levels = by.index(over), data.levels[over]
    rest = tuple(factor for factor in by if factor != over)
    index = np.moveaxis(parent_index(spec, data, name, correlation).reshape(shape), axis, 0)
    factors = cholesky_factors.reshape((-1, len(levels), len(levels)))
    full_mean = pt.moveaxis(pt.broadcast_to(mean, shape), axis, 0)
    full_sd = pt.moveaxis(pt.broadcast_to(sd, shape), axis, 0)
    value, precision = (np.moveaxis(np.broadcast_to(g, shape), axis, 0) for g in guess)
    parts: list[Any] = []
    noise: list[Any] = []
    for i, level in enumerate(levels):
        # The row of the Cholesky factor of each value's own correlation matrix.
        row = [factors[index[i], i, j] for j in range(i + 1)]
        centre = full_mean[i]
        for j in range(i):
            centre = centre + full_sd[i] * row[j] * noise[j]
        width = full_sd[i] * row[i]
        one = Guess(value[i], precision[i])
        part = pm.Normal(
            f"{name}_{level}",
            centre,
            width,
            dims=rest or None,
            transform=_Standardised(one),
            initval=one.value,
        )
        parts.append(part)
        noise.append((part - centre) / width)
    return pm.Deterministic(name, pt.moveaxis(pt.stack(parts), 0, axis), dims=by)


def _correlations(data: ModelData, parameter: Parameter) -> Any:
    """Add correlations; return the Cholesky factors of their matrices, by × levels × levels.

    An LKJ prior makes the partial correlations independent (Lewandowski, Kurowicka & Joe 2009).
    """
    n = len(data.levels[str(parameter.over)])
    dims = (*parameter.by, f"{parameter.over}_pair")
    exponents = lkj_exponents(parameter.prior.arguments[0], n)
    unit = pm.Beta(f"{parameter.name}_partial", exponents, exponents, dims=dims)
    partial = 2 * unit - 1
    rows: list[list[Any]] = []
    one = pt.ones_like(partial[..., 0])
    place = 0
    for i in range(n):
        left, row = one, []
        for _ in range(i):
            row.append(partial[..., place] * pt.sqrt(left))
            left = left * (1 - partial[..., place] ** 2)
            place += 1
        row.append(pt.sqrt(left))
        rows.append(row + [pt.zeros_like(one)] * (n - 1 - i))
    root = pt.stack([pt.stack(row, axis=-1) for row in rows], axis=-2)
    pairs = [
        sum(rows[i][k] * rows[j][k] for k in range(j + 1)) for i in range(1, n) for j in range(i)
    ]
    pm.Deterministic(parameter.name, pt.stack(pairs, axis=-1), dims=dims)
    return root


def _given_earlier(
    spec: ModelSpec,
    data: ModelData,
    root: Any,
    mean: Any,
    scale: Any,
    spread: Any,
    observed: Any,
) -> tuple[Any, Any]:
    """Return mean and standard deviation of each row given the correlated rows before it.

    `scale` is what is correlated, and `spread` has the known standard errors in it, too.
    """
    correlation = str(spec.correlation)
    over = spec.over(correlation)
    n = len(data.levels[over])
    matrix = root.reshape((-1, n, n))
    matrix = pt.matmul(matrix, matrix.swapaxes(-1, -2))
    index, member = data.index(spec[correlation].by), data.codes[over]
    places, means, spreads = [], [], []
    for rows in together(data, over):
        width = rows.shape[1]
        # The Cholesky factor of each cell's covariance, entry by entry.
        factor: dict[tuple[int, int], Any] = {}
        noise: list[Any] = []
        for i in range(width):
            for j in range(i + 1):
                if i == j:
                    entry = spread[rows[:, i]] ** 2
                else:
                    rho = matrix[index[rows[:, i]], member[rows[:, i]], member[rows[:, j]]]
                    entry = rho * scale[rows[:, i]] * scale[rows[:, j]]
                for k in range(j):
                    entry = entry - factor[i, k] * factor[j, k]
                factor[i, j] = pt.sqrt(entry) if i == j else entry / factor[j, j]
            centre = mean[rows[:, i]]
            for k in range(i):
                centre = centre + factor[i, k] * noise[k]
            noise.append((observed[rows[:, i]] - centre) / factor[i, i])
            places.append(rows[:, i])
            means.append(centre)
            spreads.append(factor[i, i])
    order = np.argsort(np.concatenate(places))
    return pt.concatenate(means)[order], pt.concatenate(spreads)[order]


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
