"""The leading model checked against its own definition, and drawn a second time.

The exact engine integrates coefficients out, draws scales by rejection, and then coefficients given
scales. Three checks cover all of it:

- Density: at draws, and at points far from them, the density that the engine draws from must be
  that of the model, written out row by row, up to a constant.
- Coefficients: given their scales, all draws of the coefficients are turned back into the noise
  that they were made of, which must have mean 0 and standard deviation 1.
- Scales: another sampler, Hamiltonian Monte Carlo, draws the scales from the same density, starting
  far from the exact draws. What follows from both must agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from bayesbias.auditing.draws_compared import STATISTICS, compare_draws, sampler_problems
from bayesbias.auditing.exact_density import ERRORS, ExactFit, compare_densities, noise_of_draws
from bayesbias.auditing.second_sampler import HMC, draw_again
from bayesbias.models import Fit

#: The largest difference of log densities from a constant, relative to their size.
SAME_DENSITY = 1e-8
#: How far the mean of the noise may be from 0, and its standard deviation from 1, beyond Monte
#: Carlo error.
SAME_NOISE = 0.02
#: A difference of this part of the posterior standard deviation, or less, does not matter for any
#: purpose of an audit.
AGREED = 0.1


@dataclass(frozen=True)
class Confirmation:
    """What the checks of an exact fit checks.

    Attributes
    ----------
    density : DataFrame
        One row per point: the log densities and how far their difference is from the constant.
    noise : DataFrame
        One row per parameter: mean and standard deviation of the noise, with their errors.
    comparison : DataFrame
        One row per quantity and statistic, see `compare_draws`.
    second : Fit
        The draws of the other sampler.
    """

    density: pd.DataFrame
    noise: pd.DataFrame
    comparison: pd.DataFrame
    second: Fit


def confirm(exact: Fit, *, seed: int, progress: bool = False) -> Confirmation:
    """Check an exact fit: its density, its coefficients and its scales."""
    engine_view = ExactFit(exact)
    rng = np.random.default_rng(seed)
    # The products are small: threads of the BLAS would only wait for each other.
    with threadpool_limits(1, "blas"):
        density = compare_densities(engine_view, rng)
        noise = noise_of_draws(engine_view)
        second = draw_again(engine_view, rng, progress=progress)
    return Confirmation(density, noise, compare_draws(exact, second), second)


def conclusion(checks: Confirmation) -> dict[str, Any]:
    """Return in a few numbers whether the exact fit stood all checks."""
    table, density, noise = checks.comparison, checks.density, checks.noise
    same = {
        "density": bool((density["relative"] <= SAME_DENSITY).all()),
        "coefficients": bool((noise["beyond"] <= SAME_NOISE).all()),
        "draws": bool((table["beyond"] <= AGREED).all()),
    }
    largest = table.iloc[int(table["difference"].abs().to_numpy().argmax())]
    health = table[table["statistic"] == "mean"].set_index("quantity")
    wrong = sampler_problems(health)
    sizes = checks.second.posterior.sizes
    by = table.groupby("statistic")
    return {
        "model": checks.second.spec.name,
        "agrees": all(same.values()),
        "disagree": [name for name, fine in same.items() if not fine],
        "density": {
            "points": len(density),
            "far": int((density["point"] == "far").sum()),
            "largest": float(density.loc[density["point"] == "draw", "difference"].abs().max()),
            "relative": float(density["relative"].max()),
        },
        "coefficients": {
            "values": int(noise["n"].sum()),
            "mean": float(noise["mean"].abs().max()),
            "sd": float(noise["sd"].iloc[int((noise["sd"] - 1).abs().to_numpy().argmax())]),
        },
        "sampler_ok": not wrong,
        "quantities": len(health),
        "starts": int(sizes["chain"]),
        "chains": int(sizes["chain"] * HMC["chains"]),
        "draws": int(sizes["draw"] // HMC["chains"]),
        "quantity": str(largest["quantity"]),
        "statistic": str(largest["statistic"]),
        "largest_difference": float(largest["difference"]),
        "error": float(largest["error"]),
        "beyond": float(table["beyond"].max()),
        "largest": {
            name: float(by["difference"].get_group(name).abs().max()) for name in STATISTICS
        },
        "noticeable": {
            name: float(AGREED + ERRORS * by["error"].get_group(name).max()) for name in STATISTICS
        },
        "r_hat": float(health["r_hat"].max()),
        "ess": float(health[["ess_bulk", "ess_tail"]].to_numpy().min()),
        "problems": wrong,
    }
