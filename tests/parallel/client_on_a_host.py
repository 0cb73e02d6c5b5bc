"""What the client of test_several_hosts.py does on its host; the measures come as JSON.

The arguments are the file of the scheduler, a folder with embeddings, of which the worker that
remains sees another version, and a command for each host that is to be lost: its address, and how.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

import bayesbias as bb


def measured(embeddings: list[bb.Embedding]) -> list[pd.DataFrame]:
    """Return scores by words, scores by all of an embedding, and silhouettes."""
    return [
        bb.run_queries("weat_es", "weat_7", embeddings, seed=1),
        bb.run_queries("semaxis", "weat_7", embeddings, subqueries=True, seed=1),
        bb.silhouettes("weat_es", "weat_7", embeddings[0], runs=40, chance=19, seed=1).table,
    ]


def lose(client: Any, commands: list[str], stop: threading.Event) -> None:
    """Run the command of each host as soon as its worker computes something."""
    for address, *command in map(str.split, commands):
        while not stop.wait(0.02):
            if any(
                f"//{address}:" in worker and any("run_batch" in task for task in tasks)
                for worker, tasks in client.processing().items()
            ):
                subprocess.run(command, check=True)
                break


def error_of(path: Path) -> str:
    """Return the error of a measure that needs all of an embedding."""
    try:
        bb.run_queries("semaxis", "weat_7", [bb.load_embedding(path)], subqueries=True, seed=1)
    except bb.errors.ClusterError as err:
        return str(err)
    return ""


def main() -> None:
    """Measure in this process and on the cluster, and write what was found."""
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)
    scheduler, folder, *commands = sys.argv[1:]
    common = [bb.load_embedding(path) for path in sorted(Path(folder).glob("*.npy"))]
    expected = measured(common)
    found: dict[str, Any] = {}
    while not Path(scheduler).exists() or not Path(scheduler).stat().st_size:
        time.sleep(0.1)
    with bb.cluster(scheduler, timeout=30) as connected:
        connected.client.wait_for_workers(1 + len(commands), timeout=60)
        found["workers"] = sorted(connected.client.nthreads())
        found["dashboard"] = connected.dashboard
        stop = threading.Event()
        thread = threading.Thread(target=lose, args=(connected.client, commands, stop))
        thread.start()
        got = []
        try:
            # A host may have had nothing to do the first time.
            while not got or thread.is_alive():
                got.append(measured(common))
        finally:
            stop.set()
            thread.join()
        found["remaining"] = sorted(connected.client.nthreads())
        found["missing"] = error_of(Path(folder) / "private" / "missing.npy")
        found["other"] = error_of(Path(folder) / "private" / "other.npy")
    found["identical"] = all(
        one.equals(other) for each in got for one, other in zip(expected, each, strict=True)
    )
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
