"""The exact engine on large tables: seconds and peak memory as the number of distances grows.

``python benchmarks/large_tables.py`` simulates tables of protected words × attributes in five
groups, fits two models with the default of 4 × 2,000 draws, each in a process of its own, and
prints the exponent at which the time grows from each complete table to the next: 1 is as fast as
the number of distances.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd

import bayesbias as bb

#: Protected words, attributes, share of missing cells.
SIZES = ((25, 200, 0.0), (100, 800, 0.0), (100, 800, 0.1), (500, 3500, 0.0))
MODELS = ("crossed", "interaction")
GROUPS = 5


def main() -> None:
    """Print a table; with a model and a size, print the figures of one fit as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", nargs=4, metavar=("MODEL", "WORDS", "ATTRIBUTES", "MISSING"))
    one = parser.parse_args().one
    if one is not None:
        print(json.dumps(measure(one[0], int(one[1]), int(one[2]), float(one[3]))))
        return
    head = ("words", "attributes", "missing", "distances", "seconds", "peak memory", "exponent")
    print(f"{'model':14}" + "".join(f"{name:>12}" for name in head))
    for model in MODELS:
        before: tuple[int, float] | None = None
        for words, attributes, missing in SIZES:
            command = [sys.executable, __file__, "--one", model]
            done = subprocess.run(
                [*command, str(words), str(attributes), str(missing)],
                check=True,
                capture_output=True,
                text=True,
            )
            rows, seconds, megabytes = json.loads(done.stdout)
            exponent = ""
            if not missing:
                if before is not None:
                    growth = math.log(seconds / before[1]) / math.log(rows / before[0])
                    exponent = f"{growth:.2f}"
                before = (rows, seconds)
            print(
                f"{model:14}{words:12,}{attributes:12,}{missing:12.0%}{rows:12,}"
                f"{seconds:10.1f} s{megabytes:9,.0f} MB{exponent:>12}",
                flush=True,
            )


def measure(model: str, words: int, attributes: int, missing: float) -> tuple[int, float, float]:
    """Return the distances, the seconds of a fit, and the megabytes of the whole process."""
    warnings.simplefilter("ignore")
    bb.fit(bb.distance_table("demo", "weat_7"), model, draws=50, progress=False)  # imports
    table = simulated(words, attributes, missing)
    start = time.perf_counter()
    bb.fit(table, model, progress=False)
    seconds = time.perf_counter() - start
    return len(table), seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def simulated(words: int, attributes: int, missing: float) -> pd.DataFrame:
    """Return a table with effects of words, of attributes, and of attributes on groups."""
    rng = np.random.default_rng(1)
    p, a = (x.ravel() for x in np.indices((words, attributes)))
    kept = rng.random(len(p)) >= missing
    p, a = p[kept], a[kept]
    group, kind = p % GROUPS, a % (GROUPS + 2)
    connection = np.where(kind == group, "associated", "different").astype(object)
    connection[kind == GROUPS] = "human"
    connection[kind == GROUPS + 1] = "none"
    distance = (
        0.9
        + rng.normal(0, 0.05, attributes)[a]
        + rng.normal(0, 0.03, (attributes, GROUPS))[a, group]
        + rng.normal(0, 0.03, words)[p]
        + rng.normal(0, 0.05, len(p))
    )
    frame = {
        "protected_word": np.array([f"p{i}" for i in range(words)])[p],
        "protected_group": np.array([f"g{i}" for i in range(GROUPS)])[group],
        "word_to_compare": np.array([f"a{i}" for i in range(attributes)])[a],
        "word_class": np.array([f"l{i}" for i in range(GROUPS + 2)])[kind],
        "connection": connection,
        "cosine_distance": distance,
        "cosine_similarity": 1 - distance,
    }
    return pd.DataFrame(frame)


if __name__ == "__main__":
    main()
