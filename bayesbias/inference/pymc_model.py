"""A model of the catalogue as a PyMC model that a person can read, sample and extend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm

from bayesbias.inference.data import ModelData
from bayesbias.inference.spec import ModelSpec, Parameter

#: What the non-centred form of a pooled parameter is called: theta = bar + tau * theta_offset.
OFFSET = "_offset"


def build_pymc_model(spec: ModelSpec, data: ModelData) -> pm.Model:
    """Return the model, with the words as coordinates and the rows as data.

    A pooled parameter is written non-centred, ``theta = bar + tau * theta_offset``: the posterior
    is the same, without the funnel that makes samplers diverge.
    """
    coords: dict[str, Any] = {name: list(levels) for name, levels in data.levels.items()}
    with pm.Model(coords={**coords, "row": np.arange(len(data.y))}) as model:
        rows = {n: pm.Data(f"{n}_of_row", codes, dims="row") for n, codes in data.codes.items()}
        values: dict[str, Any] = {}
        for parameter in spec.parameters:
            values[parameter.name] = _parameter(spec, parameter, values)

        def of_row(name: str) -> Any:
            by = spec[name].by
            return values[name][tuple(rows[factor] for factor in by)] if by else values[name]

        mean = sum(of_row(name) for name in spec.mean)
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


def _parameter(spec: ModelSpec, parameter: Parameter, values: dict[str, Any]) -> Any:
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

    mean = prior.arguments[0] + sum(parent(of) for of in prior.mean)
    sd = parent(prior.sd) if prior.sd else prior.arguments[1]
    offset = pm.Normal(f"{name}{OFFSET}", 0, 1, dims=dims)
    return pm.Deterministic(name, mean + sd * offset, dims=dims)
