"""Time Bambi on the hierarchical model; run by exact_engine.py with an interpreter that has Bambi.

The same model as `models/hierarchical.toml`, priors included. Bambi samples with PyMC's NUTS.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from typing import Any


def measure(asked: dict[str, Any]) -> tuple[float, float, float]:
    """Return the seconds of compiling, of the warm-up and of one draw."""
    import bambi as bmb
    import pandas as pd

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    times = [time.perf_counter()]
    scale = bmb.Prior("Exponential", lam=2)
    formula = bmb.Formula(
        "cosine_distance ~ 0 + connection + (0 + connection | protected_word)",
        "sigma ~ 0 + connection",
    )
    priors: dict[str, Any] = {
        "connection": bmb.Prior("Normal", mu=1, sigma=0.3),
        "connection|protected_word": bmb.Prior("Normal", mu=0, sigma=scale),
        "sigma": {"connection": scale},
    }
    model = bmb.Model(
        formula,
        pd.DataFrame(asked["rows"]),
        priors=priors,
        # By name it is refused for a scale; the prior keeps it positive.
        link={"mu": "identity", "sigma": bmb.Link("identity")},
    )
    tune, measured = asked["tune"], asked["measured"]
    model.fit(
        draws=measured,
        tune=tune,
        chains=1,
        cores=1,
        random_seed=0,
        target_accept=0.95,
        callback=lambda trace, draw: times.append(time.perf_counter()),
        progressbar=False,
        compute_convergence_checks=False,
    )
    start, first, tuned, last = times[0], times[1], times[tune], times[-1]
    return first - start, (tuned - first) / tune * asked["whole"], (last - tuned) / measured


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(measure(json.loads(line))), flush=True)
