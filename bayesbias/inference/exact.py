"""The exact engine: independent draws of the posterior of models that are Gaussian given scales."""

from __future__ import annotations

import numpy as np

from bayesbias._arrays import Array, Codes
from bayesbias.errors import DataError
from bayesbias.inference.data import ModelData
from bayesbias.inference.gaussian import START, compile_model, parent_index
from bayesbias.inference.scales import draw_scales
from bayesbias.inference.spec import ModelSpec

#: Above this tail index of the importance weights the draws cannot be trusted.
PARETO_K_MAX = 0.7


def sample_exactly(
    spec: ModelSpec, data: ModelData, draws: int, rng: np.random.Generator
) -> tuple[dict[str, Array], dict[str, float]]:
    """Draw from the posterior.

    Returns
    -------
    dict of arrays
        For each parameter draws × its shape.
    dict of floats
        The lowest acceptance and the highest Pareto k over the blocks of the model.
    """
    compiled = compile_model(spec, data)
    where = compiled.layout
    places = where.scales | where.coefficients
    result = {
        p.name: np.empty((draws, places[p.name].stop - places[p.name].start))
        for p in spec.parameters
    }
    acceptance, worst = 1.0, -np.inf
    # A scale that nothing depends on (of a level without rows) keeps its prior.
    used = np.concatenate([block.scales for block in compiled.blocks])
    for s in np.setdiff1d(np.arange(where.n_scales), used):
        prior = where.priors[s].draw(rng, (draws, 1))
        _put(result, where.scales, slice(None), np.array([s]), prior)
    for block in compiled.blocks:
        own: Array = np.zeros((draws, 0))
        if len(block.scales):
            start = np.full(len(block.scales), block.floor + START)
            found = draw_scales(block.log_density, start, draws, rng)
            if len(found.draws) < draws or found.pareto_k > PARETO_K_MAX:
                raise DataError(
                    f"the exact engine cannot draw from model {spec.name!r} on this table: of its "
                    f"proposals {found.acceptance:.2%} were accepted (Pareto k "
                    f"{found.pareto_k:.2f}); use engine='nuts'."
                )
            if (found.draws < block.floor + 1).mean() > 0.01:
                raise DataError(
                    f"model {spec.name!r} explains the outcomes without any noise, so that the "
                    "posterior of a scale has no bottom; leave a parameter out, or use more rows."
                )
            acceptance, worst = min(acceptance, found.acceptance), max(worst, found.pareto_k)
            own = found.draws
            _put(result, where.scales, slice(None), block.scales, np.exp(own))
        for part, values in block.draw(own, rng):
            _put(result, where.coefficients, part, block.coefficients, values)
    for p in spec.parameters:
        for parent in p.prior.mean:
            result[p.name] += result[parent][:, parent_index(spec, data, p.name, parent)]
    shaped = {p.name: result[p.name].reshape(draws, *data.shape(p.by)) for p in spec.parameters}
    return shaped, {"acceptance": acceptance, "pareto_k": worst}


def _put(
    result: dict[str, Array], places: dict[str, slice], rows: slice, which: Codes, values: Array
) -> None:
    """Put values, numbered over all parameters, where they belong."""
    for name, place in places.items():
        here = (which >= place.start) & (which < place.stop)
        if here.any():
            result[name][rows, which[here] - place.start] = values[:, here]
