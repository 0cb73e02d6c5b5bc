"""The best model once more, by NUTS, and whether both engines have the same posterior.

NUTS samples the density itself, written out row by row, which the exact engine never evaluates. It
starts from the exact draws, twice as far from their mean as they are, in coordinates that the exact
covariance has made round. That spares the long warm-up and changes nothing about what is sampled.
It draws in rounds and stops when there are enough draws of what is compared.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrmv
from sklearn.covariance import ledoit_wolf
from threadpoolctl import threadpool_limits

from bayesbias._arrays import Array
from bayesbias._compat import convergence, mean_sizes
from bayesbias._progress import progress_bar
from bayesbias._validate import quoted
from bayesbias.constants import CONNECTIONS
from bayesbias.inference import Fit
from bayesbias.inference.data import dataset
from bayesbias.inference.diagnostics import ESS_MIN, R_HAT_MAX
from bayesbias.inference.log_posterior import LogPosterior
from bayesbias.inference.nuts import ChainDraws, sample_density

#: How NUTS is run. Each round has so many draws of each chain; it stops when R-hat and effective
#: sample sizes are good, at the latest after all rounds.
NUTS: dict[str, Any] = {
    "sampler": "nutpie",
    "chains": 4,
    "tune": 50,
    "round": 400,
    "rounds": 6,
    "target_accept": 0.65,
    # Coordinates are round already, and what decides is how the spread of the chains compares,
    # which longer paths do not help: half the work of a depth of four for as many draws.
    "max_depth": 3,
}
#: A difference of this part of the posterior standard deviation, or less, does not matter for any
#: purpose of an audit.
AGREED = 0.1
#: Monte Carlo standard errors that are granted to a difference; the largest of some hundreds is
#: about three.
ERRORS = 3.0
#: The tails that are compared: the ends of an 89% interval.
TAILS = (0.055, 0.945)
#: What of each quantity is compared, and how a text calls it.
STATISTICS = {
    "mean": "mean",
    "sd": "standard deviation",
    "lower": f"{TAILS[0]:.1%} quantile",
    "upper": f"{TAILS[1]:.1%} quantile",
}

# How much farther from the mean than the exact draws the chains start.
_OVERDISPERSION = 2.0
# Up to this many unknowns their covariance is used; beyond, only their variances.
_DENSE = 1500


def sample_again(exact: Fit, *, seed: int, progress: bool = False) -> Fit:
    """Sample the posterior of an exact fit with NUTS, as long as what is compared needs."""
    density = LogPosterior(exact.spec, exact.data)
    start = density.coordinates({p.name: exact.draws(p.name) for p in exact.spec.parameters})
    centre = start.mean(axis=0)
    root = _Root(start - centre)
    at = np.random.default_rng(seed).choice(len(start), NUTS["chains"], replace=False)
    states = root.solve(_OVERDISPERSION * (start[at] - centre))

    def rounded(z: Array) -> tuple[float, Array]:
        value, slope = density(centre + root.times(z))
        return value, root.transposed(slope)

    parts: list[list[ChainDraws]] = []
    total = NUTS["rounds"] * NUTS["chains"]
    # The products are small: threads of the BLAS would only wait for each other.
    with (
        threadpool_limits(1, "blas"),
        progress_bar("sampling", total=total, show=progress, unit="parts") as advance,
    ):
        for own in np.random.SeedSequence(seed).spawn(NUTS["rounds"]):
            parts.append([])
            for state, of_chain in zip(states, own.generate_state(len(states)), strict=True):
                parts[-1].append(
                    sample_density(
                        rounded,
                        state,
                        draws=NUTS["round"],
                        tune=NUTS["tune"],
                        seed=int(of_chain),
                        target_accept=NUTS["target_accept"],
                        max_depth=NUTS["max_depth"],
                    )
                )
                advance(1)
            states = np.array([chain.draws[-1] for chain in parts[-1]])
            chains = [np.concatenate([part[c].draws for part in parts]) for c in range(len(states))]
            x = centre + np.array([root.all_times(chain) for chain in chains])
            made = _as_fit(exact, density, x, parts, seed)
            if not problems(made, _convergence(quantities(made))):
                break
    return made


class _Root:
    """A root of the covariance of draws: lower triangular, or of many unknowns diagonal."""

    def __init__(self, away: Array) -> None:
        self.sd = away.std(axis=0)
        self.lower: Array | None = None
        if len(self.sd) <= _DENSE:
            covariance, _ = ledoit_wolf(away / self.sd, assume_centered=True)
            lower = self.sd[:, None] * np.linalg.cholesky(covariance)
            self.lower = np.asfortranarray(lower)  # as BLAS wants it

    def times(self, z: Array) -> Array:
        """Return the root times a vector."""
        return self.sd * z if self.lower is None else np.asarray(dtrmv(self.lower, z, lower=1))

    def transposed(self, z: Array) -> Array:
        """Return the transposed root times a vector."""
        if self.lower is None:
            return self.times(z)
        return np.asarray(dtrmv(self.lower, z, lower=1, trans=1))

    def all_times(self, z: Array) -> Array:
        """Return the root times each of several vectors."""
        return self.sd * z if self.lower is None else np.asarray(z @ self.lower.T)

    def solve(self, x: Array) -> Array:
        """Return what the root times is each of several vectors."""
        if self.lower is None:
            return np.asarray(x / self.sd)
        return np.asarray(solve_triangular(self.lower, x.T, lower=True).T)


def _as_fit(
    exact: Fit, density: LogPosterior, x: Array, parts: list[list[ChainDraws]], seed: int
) -> Fit:
    """Lay draws out as those of any fit; chains × draws × coordinates."""
    chains, draws, size = x.shape
    values = density.shaped(x.reshape(-1, size))
    posterior = dataset(exact.spec, exact.data, values, chains)
    recorded = {
        name: (
            ("chain", "draw"),
            np.concatenate([[chain.stats[name] for chain in part] for part in parts], axis=1),
        )
        for name in parts[0][0].stats
    }
    coords = {name: posterior[name] for name in ("chain", "draw")}
    kept = ("versions", "table_sha256")
    provenance: dict[str, Any] = {
        "engine": "nuts",
        "sampler": NUTS["sampler"],
        "seed": seed,
        "draws": draws,
        "chains": chains,
        "tune": NUTS["tune"],
        "target_accept": NUTS["target_accept"],
        "interrupted": False,
        "started_from": "the exact draws",
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        **{name: exact.provenance[name] for name in kept if name in exact.provenance},
    }
    return Fit(exact.spec, exact.table, posterior, xr.Dataset(recorded, coords=coords), provenance)


def quantities(fit: Fit) -> xr.DataArray:
    """Return the draws of all that is compared, with dims chain, draw and quantity.

    These are the contrasts of own stereotypes with all else, over all and by group, and the
    parameters that belong to no single word, scales among them. A model without connections has
    the expected distances of its words instead of contrasts.
    """
    parts = list(_quantities(fit))
    return xr.DataArray(
        np.concatenate([values for _, values in parts], axis=-1),
        dims=("chain", "draw", "quantity"),
        coords={"quantity": [name for names, _ in parts for name in names]},
        name="draws",
    )


def _quantities(fit: Fit) -> Iterator[tuple[list[str], Array]]:
    arrays: dict[str, xr.DataArray] = {}
    there = fit.data.levels.get("connection", ())
    if "associated" in there:
        others = [name for name in reversed(CONNECTIONS) if name in there]
        for contrast in [f"associated - {name}" for name in others if name != "associated"]:
            for by in (None, "protected_group"):
                arrays[f"{contrast}, {by}"] = fit.contrast_draws(contrast, by=by).rename(contrast)
    else:
        arrays["expected"] = fit.expected(["word_to_compare"]).rename("expected")
    for p in fit.spec.parameters:
        if not {"protected_word", "word_to_compare"} & set(p.by):
            arrays[p.name] = fit.posterior[p.name]
    for array in arrays.values():
        rest = [str(dim) for dim in array.dims if dim not in ("chain", "draw")]
        values = array.transpose("chain", "draw", *rest).to_numpy()
        levels = (
            list(pd.MultiIndex.from_product([array[d].to_numpy() for d in rest])) if rest else [()]
        )
        names = [f"{array.name}[{', '.join(level)}]" if level else str(array.name)
                 for level in levels]  # fmt: skip
        yield names, values.reshape(*values.shape[:2], -1)


def problems(nuts: Fit, table: pd.DataFrame) -> list[str]:
    """Return what speaks against the draws of NUTS: nothing, if they will do.

    `table` has R-hat and effective sample sizes, one row per quantity.
    """
    found = []
    diverging = int(nuts.sample_stats["diverging"].sum())
    if diverging:
        found.append(f"{diverging} divergences: NUTS could not follow the posterior everywhere")
    high = table.index[~(table["r_hat"] < R_HAT_MAX)]
    if len(high):
        found.append(
            f"R-hat is {R_HAT_MAX} or more for {len(high)} of {len(table)} quantities "
            f"({quoted(high, 3)})"
        )
    low = table.index[~(table[["ess_bulk", "ess_tail"]].min(axis=1) >= ESS_MIN)]
    if len(low):
        found.append(
            f"the effective sample size is below {ESS_MIN} for {len(low)} of {len(table)} "
            f"quantities ({quoted(low, 3)})"
        )
    return found


def _convergence(array: xr.DataArray) -> pd.DataFrame:
    found = convergence(array.to_dataset())
    values = {key: value["draws"].to_numpy() for key, value in found.items()}
    return pd.DataFrame(values, index=array["quantity"].to_numpy())


def compare_engines(exact: Fit, nuts: Fit) -> pd.DataFrame:
    """Return means, standard deviations and quantiles of all that is compared, by both engines.

    One row per quantity and statistic. ``difference`` is NUTS minus exact in posterior standard
    deviations, ``error`` its Monte Carlo standard error, and ``beyond`` what of the difference
    three of these errors do not explain.
    """
    first, second = quantities(exact), quantities(nuts)
    health = _convergence(second)
    a, b = (array.to_numpy().reshape(-1, array.sizes["quantity"]) for array in (first, second))
    sd = np.where(a.std(axis=0) > 0, a.std(axis=0), 1.0)
    squares = (second - second.mean(["chain", "draw"])) ** 2
    sizes = {
        "mean": health["ess_mean"],
        "sd": mean_sizes(squares),
        "lower": health["ess_tail"],
        "upper": health["ess_tail"],
    }
    frames = []
    for name in STATISTICS:
        one, other = _statistic(a, name), _statistic(b, name)
        difference = (other - one) / sd
        ours = _unit_error(a, name, sd) / np.sqrt(len(a))
        theirs = _unit_error(b, name, sd) / np.sqrt(np.asarray(sizes[name]))
        error = np.hypot(ours, theirs)
        frames.append(
            pd.DataFrame(
                {
                    "quantity": first["quantity"].to_numpy(),
                    "statistic": name,
                    "exact": one,
                    "nuts": other,
                    "posterior_sd": sd,
                    "difference": difference,
                    "error": error,
                    "beyond": np.maximum(np.abs(difference) - ERRORS * error, 0.0),
                    "r_hat": health["r_hat"].to_numpy(),
                    "ess_bulk": health["ess_bulk"].to_numpy(),
                    "ess_tail": health["ess_tail"].to_numpy(),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def _statistic(draws: Array, name: str) -> Array:
    if name in ("mean", "sd"):
        return np.asarray(getattr(np, {"sd": "std"}.get(name, name))(draws, axis=0))
    return np.asarray(np.quantile(draws, TAILS[name == "upper"], axis=0))


def _unit_error(draws: Array, name: str, sd: Array) -> Array:
    """Return the standard error of a statistic of one draw, in standard deviations.

    That of n independent draws is smaller by the square root of n.
    """
    if name == "mean":
        return np.asarray(draws.std(axis=0) / sd)
    if name == "sd":
        # A few far draws of a scale make its spread uncertain, and this large.
        squares = (draws - draws.mean(axis=0)) ** 2
        return np.asarray(squares.std(axis=0) / (2 * np.sqrt(squares.mean(axis=0)) * sd))
    p = TAILS[name == "upper"]
    rare = min(p, 1 - p)
    # The slope of the quantiles there is one over the density.
    ends = np.quantile(draws, [p - rare / 2, p + rare / 2], axis=0)
    return np.asarray(np.sqrt(p * (1 - p)) * (ends[1] - ends[0]) / rare / sd)


def conclusion(table: pd.DataFrame, nuts: Fit) -> dict[str, Any]:
    """Return in a few numbers whether the engines agree."""
    largest = table.iloc[int(table["difference"].abs().to_numpy().argmax())]
    worst = table.iloc[int(table["beyond"].to_numpy().argmax())]
    found = problems(nuts, table.drop_duplicates("quantity").set_index("quantity"))
    sizes = nuts.posterior.sizes
    by = table.groupby("statistic")
    return {
        "model": nuts.spec.name,
        "agrees": bool((table["beyond"] <= AGREED).all()),
        "sampler_ok": not found,
        "quantities": int(table["quantity"].nunique()),
        "chains": int(sizes["chain"]),
        "draws": int(sizes["draw"]),
        "quantity": str(largest["quantity"]),
        "statistic": str(largest["statistic"]),
        "largest_difference": float(largest["difference"]),
        "error": float(largest["error"]),
        "beyond": float(worst["beyond"]),
        "largest": {
            name: float(by["difference"].get_group(name).abs().max()) for name in STATISTICS
        },
        "noticeable": {
            name: float(AGREED + ERRORS * by["error"].get_group(name).max()) for name in STATISTICS
        },
        "r_hat": float(table["r_hat"].max()),
        "ess": float(table[["ess_bulk", "ess_tail"]].to_numpy().min()),
        "divergences": int(nuts.sample_stats["diverging"].sum()),
        "problems": found,
    }
