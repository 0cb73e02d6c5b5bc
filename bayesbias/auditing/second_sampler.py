"""The scales of an exact fit drawn again, by Hamiltonian Monte Carlo."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.progress import progress_bar
from bayesbias.auditing.draws_compared import convergence_table, sampler_problems
from bayesbias.auditing.exact_density import OVERDISPERSION, ExactFit, kept_inside
from bayesbias.models import Fit, dataset
from bayesbias.models.exact import Block, Chains

#: How the second sampler is run. From each start go several chains, which count as one for R-hat
#: (Margossian et al. 2024). Each round has this many draws of each chain; it stops when R-hat and
#: effective sample sizes are good, at the latest after all rounds.
HMC: dict[str, Any] = {"starts": 8, "chains": 8, "warm": 60, "round": 60, "rounds": 12}


def draw_again(exact: ExactFit, rng: np.random.Generator, *, progress: bool = False) -> Fit:
    """Draw the scales by Hamiltonian Monte Carlo, and the coefficients given them."""
    starts = HMC["starts"]
    total = HMC["rounds"] * sum(len(block.scales) > 0 for block in exact.blocks)
    with progress_bar("sampling", total=total, show=progress, unit="rounds") as advance:
        scales = [
            _scales_of(block, exact.unknowns[:, block.scales], rng, advance)
            for block in exact.blocks
        ]
    draws = min(drawn.shape[1] for drawn in scales)
    unknowns = np.empty((starts * draws, exact.layout.n_scales))
    deviations = np.empty((starts * draws, exact.layout.n_coefficients))
    for place in exact.unused:
        unknowns[:, place] = np.log(exact.layout.priors[place].draw(rng, len(unknowns)))
    for block, drawn in zip(exact.blocks, scales, strict=True):
        # Of longer chains some draws at equal distances.
        kept = np.linspace(0, drawn.shape[1] - 1, draws).round().astype(int)
        at = drawn[:, kept].reshape(starts * draws, drawn.shape[2])
        unknowns[:, block.scales] = at
        block.draw(at, rng, partial(_put, deviations, block.coefficients))
    values_drawn = exact.as_values(unknowns, deviations)
    posterior = dataset(exact.spec, exact.data, values_drawn, starts)
    return replace(exact.fit, posterior=posterior, provenance={"engine": "hmc", **HMC})


def _put(into: Array, columns: Codes, rows: Codes, values: Array) -> None:
    into[rows[:, None], columns] = values


def _scales_of(block: Block, exact: Array, rng: np.random.Generator, advance: Any) -> Array:
    """Draw the unknowns of a block: starts × draws of all chains from there × unknowns."""
    starts, chains, size = HMC["starts"], HMC["chains"], len(block.scales)
    if not size:
        return np.zeros((starts, chains * HMC["round"], 0))
    centre = exact.mean(axis=0)
    picked = exact[rng.choice(len(exact), starts, replace=len(exact) < starts)]
    start = kept_inside(block, centre + OVERDISPERSION * (picked - centre))
    start = np.repeat(start, chains, axis=0)
    covariance = np.cov(exact.T).reshape(size, size) + 1e-9 * np.eye(size)
    sampler = Chains(lambda at: _slope(block, at), start, covariance, rng)
    sampler.run(HMC["warm"], adapt=True)
    drawn = np.empty((len(start), 0, size))
    for done in range(1, HMC["rounds"] + 1):
        drawn = np.concatenate([drawn, sampler.run(HMC["round"])], axis=1)
        advance(1)
        # If chains were still on their way at first, their second half is what counts.
        for kept in (drawn, drawn[:, HMC["round"] * (done // 2) :]):
            result = kept.reshape(starts, -1, size)
            array = xr.DataArray(result, dims=("chain", "draw", "quantity"), name="draws")
            if not sampler_problems(convergence_table(array)):
                return result
    return result


def _slope(block: Block, at: Array) -> tuple[Array, Array]:
    """Return the log density of unknowns and its gradient; no density outside."""
    values, slopes = np.full(len(at), -np.inf), np.zeros_like(at)
    which = np.flatnonzero(block.inside(at))
    if not len(which):
        return values, slopes
    try:
        values[which], slopes[which] = block.gradient(at[which])
    except np.linalg.LinAlgError:
        if len(at) > 1:  # one of them is beyond what the digits allow
            parts = [_slope(block, at[i : i + 1]) for i in range(len(at))]
            return np.concatenate([v for v, _ in parts]), np.concatenate([g for _, g in parts])
    return values, slopes
