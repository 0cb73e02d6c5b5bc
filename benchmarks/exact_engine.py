"""The exact engine beside PyMC's NUTS: the same models and the same number of draws.

``python benchmarks/exact_engine.py`` fits four models to the religion study in the demo embedding
(4,185 rows). The exact engine draws 4 × 2,000 times and computes WAIC. Of NUTS one chain is run,
with its whole warm-up and some of its draws; what four chains would take is worked out from that,
as if the cores shared them without loss. Compiling is counted apart.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from typing import NamedTuple

import pandas as pd
import pymc as pm

import bayesbias as bb

MODELS = ("baseline", "connection", "separate", "hierarchical")
DRAWS, CHAINS, TUNE = 2000, 4, 1000
MEASURED = 200  # draws of NUTS that are really made


class Nuts(NamedTuple):
    """Seconds of one chain: until its first step, for the rest of the warm-up, for one draw."""

    compiling: float
    warm_up: float
    draw: float

    def sampling(self) -> float:
        """Return the seconds of all chains on the cores of this machine."""
        at_a_time = min(CHAINS, os.cpu_count() or 1)
        return (self.warm_up + DRAWS * self.draw) * CHAINS / at_a_time


def main() -> None:
    """Print seconds for each model and engine, and the ratios of the sums."""
    warnings.simplefilter("ignore")
    logging.getLogger("pymc").setLevel(logging.ERROR)
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    bb.fit(table, "baseline", engine="exact", draws=10).waic()  # imports
    head = (
        "exact + WAIC",
        "NUTS: compiling",
        "warm-up",
        "a draw",
        f"{CHAINS} x ({TUNE} + {DRAWS})",
    )
    print(f"{'':14}{head[0]:>14}{head[1]:>18}{head[2]:>11}{head[3]:>12}{head[4]:>20}")
    exact, nuts = {}, {}
    for name in MODELS:
        exact[name], fit = exactly(table, name)
        nuts[name] = by_nuts(fit)
        compiling, warm_up, draw = nuts[name]
        print(
            f"{name:14}{exact[name]:12.2f} s{compiling:16.1f} s{warm_up:9.1f} s"
            f"{1000 * draw:9.1f} ms{nuts[name].sampling():18.0f} s",
            flush=True,
        )
    ours = sum(exact.values())
    sampling = sum(n.sampling() for n in nuts.values())
    whole = sampling + sum(n.compiling for n in nuts.values())
    print(f"exact, with WAIC: {ours:.2f} s in all, {CHAINS} x {DRAWS} draws of each model")
    print(
        f"PyMC's NUTS, from one chain with {MEASURED} draws: {sampling:.0f} s, "
        f"{sampling / ours:.0f} times as long; {whole / ours:.0f} times with compiling"
    )


def exactly(table: pd.DataFrame, model: str) -> tuple[float, bb.models.Fit]:
    """Return the seconds that a fit and its WAIC take, and the fit."""
    start = time.perf_counter()
    fit = bb.fit(table, model, engine="exact", draws=DRAWS, chains=CHAINS)
    fit.waic()
    return time.perf_counter() - start, fit


def by_nuts(fit: bb.models.Fit) -> Nuts:
    """Run one chain as ``bb.fit(..., sampler="pymc")`` does, and look at the clock at each step."""
    times = [time.perf_counter()]
    pm.sample(
        draws=MEASURED,
        tune=TUNE,
        chains=1,
        cores=1,
        random_seed=0,
        init="jitter+adapt_full",
        nuts={"target_accept": 0.95},
        model=fit.pymc_model(),
        callback=lambda trace, draw: times.append(time.perf_counter()),
        progressbar=False,
        compute_convergence_checks=False,
    )
    start, first, tuned, last = times[0], times[1], times[TUNE], times[-1]
    return Nuts(first - start, tuned - first, (last - tuned) / MEASURED)


if __name__ == "__main__":
    main()
