"""Two sets of draws of one model compared, and the convergence of chains."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.array_types import Array
from bayesbias._core.arviz_versions import convergence
from bayesbias._core.constants import CONNECTIONS
from bayesbias._core.wording import quoted
from bayesbias.auditing.exact_density import ERRORS
from bayesbias.models import ESS_MIN, R_HAT_MAX, Fit

#: The tails that are compared: the ends of an 89% interval.
TAILS = (0.055, 0.945)
#: What of each quantity is compared, and how a text calls it.
STATISTICS = {
    "mean": "mean",
    "sd": "standard deviation",
    "lower": f"{TAILS[0]:.1%} quantile",
    "upper": f"{TAILS[1]:.1%} quantile",
}


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
    connections = fit.data.levels.get("connection", ())
    if "associated" in connections:
        others = [name for name in reversed(CONNECTIONS) if name in connections]
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


def sampler_problems(table: pd.DataFrame) -> list[str]:
    """Return what speaks against the draws of chains: nothing, if they will do."""
    problems = []
    high = table.index[~(table["r_hat"] < R_HAT_MAX)]
    if len(high):
        problems.append(
            f"R-hat is {R_HAT_MAX} or more for {len(high)} of {len(table)} quantities "
            f"({quoted(high, 3)})"
        )
    low = table.index[~(table[["ess_bulk", "ess_tail"]].min(axis=1) >= ESS_MIN)]
    if len(low):
        problems.append(
            f"the effective sample size is below {ESS_MIN} for {len(low)} of {len(table)} "
            f"quantities ({quoted(low, 3)})"
        )
    return problems


def convergence_table(array: xr.DataArray) -> pd.DataFrame:
    """Return R-hat and the effective sample sizes of each quantity."""
    measures = convergence(array.to_dataset())
    values = {key: value["draws"].to_numpy() for key, value in measures.items()}
    return pd.DataFrame(values, index=[str(name) for name in array["quantity"].to_numpy()])


def compare_draws(exact: Fit, again: Fit) -> pd.DataFrame:
    """Return means, standard deviations and quantiles of all that is compared, of both draws.

    One row per quantity and statistic. ``difference`` is second minus exact in posterior standard
    deviations, ``error`` its Monte Carlo standard error, and ``beyond`` what of the difference
    three of these errors do not explain.
    """
    first, second = quantities(exact), quantities(again)
    health = convergence_table(second)
    a, b = (array.to_numpy().reshape(-1, array.sizes["quantity"]) for array in (first, second))
    # With fewer draws of the scales than of the coefficients, each was used several times.
    independent = min(len(a), int(exact.provenance.get("scale_draws", len(a))))
    sd = np.where(a.std(axis=0) > 0, a.std(axis=0), 1.0)
    squares = convergence_table((second - second.mean(["chain", "draw"])) ** 2)
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
