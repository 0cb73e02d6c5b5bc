"""Metrics on long word lists: seconds and memory of permutation tests and posteriors.

``python benchmarks/large_queries.py`` draws an embedding of 300 dimensions at random, and asks each
question in a process of its own. The memory is the peak above what the embedding and the query
take. The last column is the time beside that of the value alone, without uncertainty.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from itertools import pairwise

import numpy as np

import bayesbias as bb

#: Metric, method, words per target set, words per attribute set.
QUESTIONS = (
    ("weat", "permutation_test", 5_000, 25),
    ("weat", "permutation_test", 5_000, 5_000),
    ("weat", "permutation_test", 20_000, 25),
    ("weat", "posterior", 10_000, 25),
    ("weat", "posterior", 10_000, 10_000),
    ("weat_es", "posterior", 10_000, 10_000),
    ("mac", "posterior", 5_000, 5_000),
)
DIMENSIONS = 300


def main() -> None:
    """Print a table; with a question, print the figures of it as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", nargs=4, metavar=("METRIC", "METHOD", "TARGETS", "ATTRIBUTES"))
    one = parser.parse_args().one
    if one is not None:
        print(json.dumps(measure(one[0], one[1], int(one[2]), int(one[3]))))
        return
    head = ("targets", "attributes", "seconds", "memory", "beside value")
    print(f"{'metric':9}{'method':18}" + "".join(f"{name:>14}" for name in head))
    for metric, method, targets, attributes in QUESTIONS:
        done = subprocess.run(
            [sys.executable, __file__, "--one", metric, method, str(targets), str(attributes)],
            check=True,
            capture_output=True,
            text=True,
        )
        alone, seconds, megabytes = json.loads(done.stdout)
        print(
            f"{metric:9}{method:18}{f'2 × {targets:,}':>14}{f'2 × {attributes:,}':>14}"
            f"{seconds:12.1f} s{megabytes:11,.0f} MB{seconds / alone:14,.0f}",
            flush=True,
        )


def measure(metric: str, method: str, targets: int, attributes: int) -> tuple[float, float, float]:
    """Return the seconds of the value alone and of the question, and the megabytes of the latter.

    The time includes finding the words and reading their vectors.
    """
    warnings.simplefilter("ignore")
    kind = bb.metrics.METRICS[metric]
    getattr(kind().on("weat_6", bb.load_embedding("demo"), seed=0), method)()  # imports
    embedding, query = simulated(targets, attributes)
    before = _peak()
    start = time.perf_counter()
    getattr(kind().on(query, embedding, seed=0), method)()
    seconds = time.perf_counter() - start
    megabytes = _peak() - before
    start = time.perf_counter()
    kind().on(query, embedding, seed=0).value()
    return time.perf_counter() - start, seconds, megabytes


def simulated(targets: int, attributes: int) -> tuple[bb.Embedding, bb.Query]:
    """Return random vectors, and a query with two sets of either side."""
    sizes = (targets, targets, attributes, attributes)
    words = [f"w{i}" for i in range(sum(sizes))]
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((len(words), DIMENSIONS), dtype=np.float32)
    ends = np.cumsum((0, *sizes))
    sets = [words[a:b] for a, b in pairwise(ends)]
    return bb.Embedding(words, vectors), bb.Query(sets[:2], sets[2:])


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
