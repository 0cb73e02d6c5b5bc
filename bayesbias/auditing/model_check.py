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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from threadpoolctl import threadpool_limits

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.arviz_versions import convergence
from bayesbias._core.constants import CONNECTIONS
from bayesbias._core.progress import progress_bar
from bayesbias._core.wording import quoted
from bayesbias.models import Fit
from bayesbias.models.diagnostics import ESS_MIN, R_HAT_MAX
from bayesbias.models.exact.compiled_model import compile_model, parent_index
from bayesbias.models.exact.gaussian_block import Block
from bayesbias.models.exact.hmc import Chains
from bayesbias.models.model_data import dataset
from bayesbias.models.nuts.log_posterior import LogPosterior

#: How the second sampler is run. From each start go several chains, which count as one for R-hat
#: (Margossian et al. 2024). Each round has so many draws of each chain; it stops when R-hat and
#: effective sample sizes are good, at the latest after all rounds.
HMC: dict[str, Any] = {"starts": 8, "chains": 8, "warm": 60, "round": 60, "rounds": 12}
#: At how many exact draws, and at how many points far from them, the densities are compared.
POINTS: dict[str, int] = {"draws": 10, "far": 6}
#: The largest difference of log densities from a constant, relative to their size.
SAME_DENSITY = 1e-8
#: How far the mean of the noise may be from 0, and its standard deviation from 1, beyond Monte
#: Carlo error.
SAME_NOISE = 0.02
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

# How much farther from their mean than the exact draws the chains, and the far points, start.
_OVERDISPERSION = 2.0
# Coefficients of all draws that are turned into noise.
_MOST_NOISE = 2_500_000


@dataclass(frozen=True)
class Confirmation:
    """What the checks of an exact fit found.

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
    engine = _Engine(exact)
    rng = np.random.default_rng(seed)
    # The products are small: threads of the BLAS would only wait for each other.
    with threadpool_limits(1, "blas"):
        density = compare_densities(engine, rng)
        noise = noise_of_draws(engine)
        second = draw_again(engine, rng, progress=progress)
    return Confirmation(density, noise, compare_draws(exact, second), second)


class _Engine:
    """The exact engine's view of a fit: unknowns, deviations and blocks.

    The unknowns are the logarithms of the scales. A coefficient that is pooled towards others
    stands for its deviation from them.
    """

    def __init__(self, exact: Fit) -> None:
        self.fit, self.spec, self.data = exact, exact.spec, exact.data
        compiled = compile_model(self.spec, self.data)
        self.layout, self.blocks = compiled.layout, compiled.blocks
        self.values = {p.name: exact.draws(p.name) for p in self.spec.parameters}
        self.unknowns = self._joined(
            self.layout.scales, {name: np.log(self.values[name]) for name in self.layout.scales}
        )
        deviations = {}
        for name in self.layout.coefficients:
            own = np.array(self.values[name], dtype=float).reshape(len(self.unknowns), -1)
            deviations[name] = own - self._pooled_towards(name, self.values)
        self.deviations = self._joined(self.layout.coefficients, deviations)
        used = np.concatenate([block.scales for block in self.blocks])
        # Nothing depends on these: they keep their prior.
        self.unused = np.setdiff1d(np.arange(self.layout.n_scales), used)

    def _joined(self, places: Mapping[str, slice], values: Mapping[str, Array]) -> Array:
        draws = len(next(iter(self.values.values())))
        parts = [values[name].reshape(draws, -1) for name in places]
        return np.concatenate([np.zeros((draws, 0)), *parts], axis=1)

    def _pooled_towards(self, name: str, values: Mapping[str, Array]) -> Array:
        """Return the sum of what the values of a parameter are pooled towards."""
        total = np.zeros((1, 1))
        for parent in self.spec[name].prior.mean:
            index = parent_index(self.spec, self.data, name, parent)
            total = total + values[parent].reshape(len(values[parent]), -1)[:, index]
        return total

    def as_values(self, unknowns: Array, deviations: Array) -> dict[str, Array]:
        """Return draws of each parameter, in its shape."""
        result: dict[str, Array] = {}
        for p in self.spec.parameters:
            if p.name in self.layout.scales:
                own = np.exp(unknowns[:, self.layout.scales[p.name]])
            else:
                own = deviations[:, self.layout.coefficients[p.name]]
                own = own + self._pooled_towards(p.name, result)
            result[p.name] = own.reshape(len(own), *self.data.shape(p.by))
        return result

    def log_density(self, unknowns: Array, deviations: Array) -> Array:
        """Return the log density that the engine draws from, up to a constant."""
        total = np.zeros(len(unknowns))
        for place in self.unused:
            x = unknowns[:, place]
            total += self.layout.priors[place].log_density(np.exp(x)) + x
        for block in self.blocks:
            at = unknowns[:, block.scales]
            total += block.log_density(at)
            for part in _batches(block, np.flatnonzero(np.isfinite(total))):
                own = deviations[np.ix_(part, block.coefficients)]
                total[part] += block.whiten(block.solve(at[part]), own)[1]
        return total


def _batches(block: Block, places: Codes) -> Iterator[Codes]:
    """Return some of the draws, as many at a time as the block can take."""
    for start in range(0, len(places), block.batch):
        yield places[start : start + block.batch]


def compare_densities(engine: _Engine, rng: np.random.Generator) -> pd.DataFrame:
    """Compare the engine's log density with the model's, row by row, at draws and far points.

    ``difference`` is that of the two log densities minus its median, ``relative`` the same relative
    to the size of the log density, 1 at least.
    """
    unknowns, deviations = engine.unknowns, engine.deviations
    n_draws, n_far = POINTS["draws"], POINTS["far"]
    picked = rng.choice(len(unknowns), n_draws + n_far, replace=len(unknowns) < n_draws + n_far)
    far = np.arange(len(picked)) >= n_draws
    x, y = unknowns[picked], deviations[picked]
    # Far points have coefficients that do not belong to their scales, too.
    centre = unknowns.mean(axis=0)
    x[far] = centre + _OVERDISPERSION * (x[far] - centre)
    for block in engine.blocks:
        x[:, block.scales] = _kept_inside(block, x[:, block.scales])
    middle = deviations.mean(axis=0)
    y[far] = middle + _OVERDISPERSION * (y[far][::-1] - middle)
    written = LogPosterior(engine.spec, engine.data)(engine.as_values(x, y))
    drawn = engine.log_density(x, y)
    difference = written - drawn
    difference -= np.median(difference[~far])
    return pd.DataFrame(
        {
            "point": np.where(far, "far", "draw"),
            "model": written,
            "engine": drawn,
            "difference": difference,
            "relative": np.abs(difference) / np.maximum(np.abs(written), 1.0),
        }
    )


def _kept_inside(block: Block, at: Array) -> Array:
    """Return unknowns no lower than where the engine finds any density."""
    return np.maximum(at, block.floor + 1.5)


def noise_of_draws(engine: _Engine) -> pd.DataFrame:
    """Turn the coefficients of the draws back into noise; return its mean and spread by parameter.

    ``beyond`` is how far the mean is from 0, or the standard deviation from 1, minus three Monte
    Carlo standard errors.
    """
    size = max(engine.layout.n_coefficients, 1)
    draws = min(len(engine.unknowns), max(200, _MOST_NOISE // size))
    sums = np.zeros((2, size))
    for block in engine.blocks:
        at = engine.unknowns[:draws][:, block.scales]
        for part in _batches(block, np.arange(draws)):
            own = engine.deviations[np.ix_(part, block.coefficients)]
            noise, _ = block.whiten(block.solve(at[part]), own)
            sums[:, block.coefficients] += [noise.sum(axis=0), (noise**2).sum(axis=0)]
    rows = []
    for name, place in engine.layout.coefficients.items():
        n = draws * (place.stop - place.start)
        mean, sd = sums[0, place].sum() / n, np.sqrt(sums[1, place].sum() / n)
        off = (abs(mean) - ERRORS / np.sqrt(n), abs(sd - 1) - ERRORS / np.sqrt(2 * n))
        rows.append((name, n, mean, sd, max(0.0, *off)))
    return pd.DataFrame(rows, columns=["parameter", "n", "mean", "sd", "beyond"])


def draw_again(engine: _Engine, rng: np.random.Generator, *, progress: bool = False) -> Fit:
    """Draw the scales by Hamiltonian Monte Carlo, and the coefficients given them."""
    starts = HMC["starts"]
    total = HMC["rounds"] * sum(len(block.scales) > 0 for block in engine.blocks)
    with progress_bar("sampling", total=total, show=progress, unit="rounds") as advance:
        found = []
        for block in engine.blocks:
            found.append(_scales_of(block, engine.unknowns[:, block.scales], rng, advance))
    draws = min(one.shape[1] for one in found)
    unknowns = np.empty((starts * draws, engine.layout.n_scales))
    deviations = np.empty((starts * draws, engine.layout.n_coefficients))
    for place in engine.unused:
        unknowns[:, place] = np.log(engine.layout.priors[place].draw(rng, len(unknowns)))
    for block, one in zip(engine.blocks, found, strict=True):
        # Of longer chains some draws at equal distances.
        kept = np.linspace(0, one.shape[1] - 1, draws).round().astype(int)
        at = one[:, kept].reshape(starts * draws, one.shape[2])
        unknowns[:, block.scales] = at
        for rows, values in block.draw(at, rng):
            deviations[rows[:, None], block.coefficients] = values
    drawn = engine.as_values(unknowns, deviations)
    posterior = dataset(engine.spec, engine.data, drawn, starts)
    return replace(engine.fit, posterior=posterior, provenance={"engine": "hmc", **HMC})


def _scales_of(block: Block, exact: Array, rng: np.random.Generator, advance: Any) -> Array:
    """Draw the unknowns of a block: starts × draws of all chains from there × unknowns."""
    starts, chains, size = HMC["starts"], HMC["chains"], len(block.scales)
    if not size:
        return np.zeros((starts, chains * HMC["round"], 0))
    centre = exact.mean(axis=0)
    picked = exact[rng.choice(len(exact), starts, replace=len(exact) < starts)]
    start = _kept_inside(block, centre + _OVERDISPERSION * (picked - centre))
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
            if not _problems(_convergence(array)):
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


def _problems(table: pd.DataFrame) -> list[str]:
    """Return what speaks against the draws of chains: nothing, if they will do."""
    found = []
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
    return pd.DataFrame(values, index=[str(name) for name in array["quantity"].to_numpy()])


def compare_draws(exact: Fit, again: Fit) -> pd.DataFrame:
    """Return means, standard deviations and quantiles of all that is compared, of both draws.

    One row per quantity and statistic. ``difference`` is second minus exact in posterior standard
    deviations, ``error`` its Monte Carlo standard error, and ``beyond`` what of the difference
    three of these errors do not explain.
    """
    first, second = quantities(exact), quantities(again)
    health = _convergence(second)
    a, b = (array.to_numpy().reshape(-1, array.sizes["quantity"]) for array in (first, second))
    # With fewer draws of the scales than of the coefficients, each was used several times.
    independent = min(len(a), int(exact.provenance.get("scale_draws", len(a))))
    sd = np.where(a.std(axis=0) > 0, a.std(axis=0), 1.0)
    squares = _convergence((second - second.mean(["chain", "draw"])) ** 2)
    sizes = {
        "mean": health["ess_mean"],
        "sd": squares["ess_mean"],
        "lower": health["ess_tail"],
        "upper": health["ess_tail"],
    }
    frames = []
    for name in STATISTICS:
        one, other = _statistic(a, name), _statistic(b, name)
        difference = (other - one) / sd
        ours = _unit_error(a, name, sd) / np.sqrt(independent)
        theirs = _unit_error(b, name, sd) / np.sqrt(sizes[name].to_numpy())
        error = np.hypot(ours, theirs)
        frames.append(
            pd.DataFrame(
                {
                    "quantity": first["quantity"].to_numpy(),
                    "statistic": name,
                    "exact": one,
                    "second": other,
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


def conclusion(found: Confirmation) -> dict[str, Any]:
    """Return in a few numbers whether the exact fit stood all checks."""
    table, density, noise = found.comparison, found.density, found.noise
    same = {
        "density": bool((density["relative"] <= SAME_DENSITY).all()),
        "coefficients": bool((noise["beyond"] <= SAME_NOISE).all()),
        "draws": bool((table["beyond"] <= AGREED).all()),
    }
    largest = table.iloc[int(table["difference"].abs().to_numpy().argmax())]
    health = table[table["statistic"] == "mean"].set_index("quantity")
    wrong = _problems(health)
    sizes = found.second.posterior.sizes
    by = table.groupby("statistic")
    return {
        "model": found.second.spec.name,
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
