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

SIMULATIONS = 24
ROUNDS = 3


def seconds(n_workers: int) -> tuple[float, float]:
    """Return the time on the clock, and the processor time of all workers, in the best round."""
    table = bb.distance_table("demo", "religion")
    options: dict[str, Any] = {"draws": 400, "progress": False}
    rounds = []
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as local,
        bb.cluster(local) as connected,
    ):
        bb.calibrate("hierarchical", table, simulations=16, **options)  # with imports
        for _ in range(ROUNDS):
            before = sum(connected.client.run(time.process_time).values())
            start = time.perf_counter()
            bb.calibrate("hierarchical", table, simulations=SIMULATIONS, **options)
            passed = time.perf_counter() - start
            after = sum(connected.client.run(time.process_time).values())
            rounds.append((passed, after - before))
    return min(rounds)


def main() -> None:
    """Print the times of one worker and of two."""
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)
    best = {n_workers: seconds(n_workers) for n_workers in (1, 2)}
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for n_workers, (passed, processor) in best.items():
        print(
            f"{n_workers} worker(s): {passed:.1f} s for {SIMULATIONS} simulations, "
            f"{processor:.1f} s of processor time, {best[1][0] / passed:.2f} times one worker"
        )


if __name__ == "__main__":
    main()
