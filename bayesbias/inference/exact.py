"""The exact engine: independent draws of the posterior of models that are Gaussian given scales."""

from __future__ import annotations

import numpy as np

from bayesbias.errors import DataError
from bayesbias.inference.arrays import Array
from bayesbias.inference.data import ModelData
from bayesbias.inference.gaussian import compile_model, parent_index
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
    log_scales = np.empty((draws, where.n_scales))
    coefficients = np.empty((draws, where.n_coefficients))
    spread = np.log(data.y.std())
    acceptance, worst = 1.0, -np.inf
    for block in compiled.blocks:
        own: Array = np.zeros((draws, 0))
        if len(block.scales):
            start = np.full(len(block.scales), spread - 0.7)
            found = draw_scales(block.log_density, start, draws, rng)
            if len(found.draws) < draws or found.pareto_k > PARETO_K_MAX:
                raise DataError(
                    f"the exact engine cannot draw from model {spec.name!r} on this table: of its "
                    f"proposals {found.acceptance:.2%} were accepted (Pareto k "
                    f"{found.pareto_k:.2f}); use engine='nuts'."
                )
            acceptance, worst = min(acceptance, found.acceptance), max(worst, found.pareto_k)
            own = found.draws
            log_scales[:, block.scales] = own
        for part, values in block.draw(own, rng):
            coefficients[part, block.coefficients] = values
    result: dict[str, Array] = {}
    for p in spec.parameters:
        if p.prior.is_positive:
            flat = np.exp(log_scales[:, where.scales[p.name]])
        else:
            flat = coefficients[:, where.coefficients[p.name]]
            for parent in p.prior.mean:
                values = result[parent].reshape(draws, -1)
                flat += values[:, parent_index(spec, data, p.name, parent)]
        result[p.name] = flat.reshape(draws, *data.shape(p.by))
    return result, {"acceptance": acceptance, "pareto_k": worst}
