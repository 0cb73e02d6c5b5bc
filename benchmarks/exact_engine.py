"""The exact engine beside PyMC's NUTS, nutpie and Bambi: `python benchmarks/exact_engine.py`.

The hierarchical model and the religion study in the demo embedding (4,185 rows), with 4 chains of
2,000 draws; ours includes WAIC. The draws of the exact engine are independent, those of NUTS are
not, so an effective draw is dearer than the ratio says. A peer's time includes compiling. Of each
sampler one chain with the whole warm-up and some of the draws is run; four chains are taken to
share the cores without loss.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import nutpie
import pandas as pd
import pymc as pm
from measuring import BAMBI, Peer, Record, alone, repeated

import bayesbias as bb

MODEL = "hierarchical"
DRAWS, CHAINS, TUNE = 2000, 4, 1000
MEASURED = 200  # draws of NUTS that are really made


class Nuts(NamedTuple):
    """Seconds of one chain: compiling, the warm-up, one draw."""

    compiling: float
    warm_up: float
    draw: float

    def whole(self) -> float:
        """Return the seconds of all chains on the cores of this machine."""
        at_a_time = min(CHAINS, os.cpu_count() or 1)
        return self.compiling + (self.warm_up + DRAWS * self.draw) * CHAINS / at_a_time


def records(short: bool) -> Iterator[Record]:
    """Yield one record per sampler."""
    warnings.simplefilter("ignore")
    logging.getLogger("pymc").setLevel(logging.ERROR)
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    bb.fit(table, "baseline", engine="exact", draws=10).waic()  # imports
    tune, measured = (10, 5) if short else (TUNE, MEASURED)
    note = f"one chain of {tune} + {measured} draws, from which 4 × ({TUNE} + {DRAWS}) follow"
    size = f"{MODEL}, {len(table):,} rows, {CHAINS} × {DRAWS:,} draws"
    ours = repeated(lambda: exactly(table), 3)
    model = bb.fit(table, MODEL, engine="exact", draws=10).pymc_model()
    for peer, sample in (("PyMC", by_pymc), ("nutpie", by_nutpie)):
        theirs: tuple[float, ...] = (sample(model, tune, measured).whole(),)
        yield Record("fit a model, and WAIC", size, ours, peer, theirs, note=note)
    theirs = by_bambi(table, tune, measured) if BAMBI.exists() else ()
    yield Record("fit a model, and WAIC", size, ours, "Bambi", theirs, note=note)


def exactly(table: pd.DataFrame) -> None:
    """Fit the model, and compute its WAIC."""
    bb.fit(table, MODEL, engine="exact", draws=DRAWS, chains=CHAINS).waic()


def by_pymc(model: pm.Model, tune: int, measured: int) -> Nuts:
    """Run one chain as ``bb.fit(..., sampler="pymc")`` does, and look at the clock at each step."""
    times = [time.perf_counter()]
    pm.sample(
        draws=measured,
        tune=tune,
        chains=1,
        cores=1,
        random_seed=0,
        init="jitter+adapt_full",
        nuts={"target_accept": 0.95},
        model=model,
        callback=lambda trace, draw: times.append(time.perf_counter()),
        progressbar=False,
        compute_convergence_checks=False,
    )
    start, first, tuned, last = times[0], times[1], times[tune], times[-1]
    return Nuts(first - start, (tuned - first) / tune * TUNE, (last - tuned) / measured)


def by_nutpie(model: pm.Model, tune: int, measured: int) -> Nuts:
    """Run one chain with few draws and one with more; their difference is that of the draws."""
    start = time.perf_counter()
    compiled = nutpie.compile_pymc_model(model)
    compiling = time.perf_counter() - start

    def seconds(draws: int) -> float:
        start = time.perf_counter()
        nutpie.sample(
            compiled,
            draws=draws,
            tune=tune,
            chains=1,
            cores=1,
            seed=0,
            target_accept=0.95,
            progress_bar=False,
        )
        return time.perf_counter() - start

    few = seconds(1)
    each = max(0.0, seconds(measured) - few) / (measured - 1)
    return Nuts(compiling, few / tune * TUNE, each)


def by_bambi(table: pd.DataFrame, tune: int, measured: int) -> tuple[float]:
    """Run one chain of the same model as Bambi writes it."""
    columns = ["cosine_distance", "protected_word", "connection"]
    rows = {name: table[name].tolist() for name in columns}
    with Peer(BAMBI, "peer_bambi.py") as peer:
        return (Nuts(*peer.ask(rows=rows, tune=tune, measured=measured, whole=TUNE)).whole(),)


if __name__ == "__main__":
    alone(records)
