"""The best model once more, by the other engine, and whether both have the same posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from bayesbias.inference import Fit

#: How NUTS is run: enough for R-hat below 1.01 in hundreds of parameters.
NUTS = {"draws": 1000, "tune": 500, "chains": 4, "sampler": "nutpie", "target_accept": 0.95}
#: Means that differ by this part of the posterior standard deviation, or less, are the same for
#: all purposes of an audit.
AGREED = 0.1
# Monte Carlo errors that are granted to a difference; the largest of some hundreds is about three.
_ERRORS = 3.0


def compare_engines(exact: Fit, nuts: Fit) -> pd.DataFrame:
    """Return the means and standard deviations of all parameters by both engines.

    ``difference`` is that of the means in posterior standard deviations, ``error`` its Monte Carlo
    standard error, and ``beyond`` what of the difference three of these errors do not explain.
    """
    first, second = exact.summary(), nuts.summary()
    sd = first["sd"].to_numpy()
    scale = np.where(sd > 0, sd, 1.0)
    difference = (second["mean"] - first["mean"]).to_numpy() / scale
    errors = (table["mcse_mean"].to_numpy() for table in (first, second))
    error = np.hypot(*errors) / scale
    return pd.DataFrame(
        {
            "parameter": first.index,
            "exact_mean": first["mean"].to_numpy(),
            "nuts_mean": second["mean"].to_numpy(),
            "exact_sd": sd,
            "nuts_sd": second["sd"].to_numpy(),
            "difference": difference,
            "error": error,
            "beyond": np.maximum(np.abs(difference) - _ERRORS * error, 0.0),
            "r_hat": second["r_hat"].to_numpy(),
            "ess_bulk": second["ess_bulk"].to_numpy(),
            "ess_tail": second["ess_tail"].to_numpy(),
        }
    )


def conclusion(table: pd.DataFrame, nuts: Fit) -> dict[str, Any]:
    """Return in a few numbers whether the engines agree."""
    largest = table.iloc[int(table["difference"].abs().to_numpy().argmax())]
    found = nuts.diagnostics()
    ratio = table["nuts_sd"] / table["exact_sd"]
    return {
        "model": nuts.spec.name,
        "agrees": bool((table["beyond"] <= AGREED).all()),
        "sampler_ok": found.ok,
        "parameters": len(table),
        "largest_difference": float(largest["difference"]),
        "error": float(largest["error"]),
        "parameter": str(largest["parameter"]),
        "beyond": float(table["beyond"].max()),
        "sd_ratio": [float(ratio.min()), float(ratio.max())],
        "r_hat": float(table["r_hat"].max()),
        "ess": float(table[["ess_bulk", "ess_tail"]].to_numpy().min()),
        "divergences": int(nuts.sample_stats["diverging"].sum()),
        "found": found.description,
        "problems": list(found.problems),
    }
