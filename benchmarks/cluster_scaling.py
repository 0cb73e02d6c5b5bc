"""How work scales from one worker of a cluster to two: `python benchmarks/cluster_scaling.py`.

Each simulation of a calibration is a task of its own, with nothing but arithmetic in it. Workers
have one thread each and run on this machine, which needs a free core for each of them.
"""

from __future__ import annotations

import os
import time
import warnings
from typing import Any

from distributed import LocalCluster

import bayesbias as bb

SIMULATIONS = 48
ROUNDS = 3


def seconds(n_workers: int) -> tuple[float, float]:
    """Return the time on the clock, and the processor time of all workers."""
    table = bb.distance_table("demo", "religion")
    options: dict[str, Any] = {"draws": 400, "progress": False}
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as local,
        bb.cluster(local) as connected,
    ):
        # Imports, and the first batches, which are short.
        bb.calibrate("hierarchical", table, simulations=4 * n_workers, **options)
        before = sum(connected.client.run(time.process_time).values())
        start = time.perf_counter()
        bb.calibrate("hierarchical", table, simulations=SIMULATIONS, **options)
        passed = time.perf_counter() - start
        return passed, sum(connected.client.run(time.process_time).values()) - before


def main() -> None:
    """Print the best of some rounds for one worker and for two."""
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)
    best: dict[int, tuple[float, float]] = {}
    for _ in range(ROUNDS):
        for n_workers in (1, 2):
            best[n_workers] = min(best.get(n_workers, (float("inf"), 0.0)), seconds(n_workers))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for n_workers, (passed, processor) in best.items():
        print(
            f"{n_workers} worker(s): {passed:.1f} s for {SIMULATIONS} simulations, "
            f"{processor:.1f} s of processor time, {best[1][0] / passed:.2f} times one worker"
        )


if __name__ == "__main__":
    main()
