"""The exact engine beside PyMC's NUTS: the same models, the same number of draws, one run.

``python benchmarks/exact_engine.py`` fits four models to the religion study in the demo embedding
(4,185 rows) with both, and computes WAIC with the first; NUTS takes some minutes.
"""

from __future__ import annotations

import time
import warnings
from typing import Literal

import pandas as pd

import bayesbias as bb

MODELS = ("baseline", "connection", "separate", "hierarchical")
DRAWS, CHAINS = 2000, 4


def main() -> None:
    """Print seconds for each model and engine, and the ratio of the sums."""
    warnings.simplefilter("ignore", bb.BayesBiasWarning)
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    bb.fit(table, "baseline", engine="exact", draws=10)  # imports
    exact = {name: timed(table, name, "exact") for name in MODELS}
    with_waic = sum(exact.values())
    print(f"{'exact, with WAIC':24} {with_waic:8.2f} s in all")
    nuts = {name: timed(table, name, "nuts") for name in MODELS}
    for name in MODELS:
        print(f"{name:24} {exact[name]:8.2f} s exact {nuts[name]:8.1f} s NUTS")
    print(f"PyMC's NUTS takes {sum(nuts.values()) / with_waic:.0f} times as long")


def timed(table: pd.DataFrame, model: str, engine: Literal["exact", "nuts"]) -> float:
    """Return the seconds that a fit takes; with WAIC, for the exact engine."""
    start = time.perf_counter()
    fit = bb.fit(
        table, model, engine=engine, sampler="pymc", draws=DRAWS, chains=CHAINS, progress=False
    )
    if engine == "exact":
        fit.waic()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
