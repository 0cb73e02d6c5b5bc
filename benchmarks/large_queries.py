"""Permutation tests and posteriors on long lists: `python benchmarks/large_queries.py`.

Random vectors of 300 dimensions; each question runs in a process of its own. The memory is the peak
above what the embedding and the query take. The limit is the value alone, without uncertainty: no
interval can be had for less.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from measuring import Record, alone, apart, clock, peak

import bayesbias as bb

#: Metric, method, words per target set, words per attribute set.
QUESTIONS = (
    ("weat", "permutation_test", 5_000, 5_000),
    ("weat", "permutation_test", 20_000, 25),
    ("weat", "posterior", 10_000, 10_000),
    ("weat_es", "posterior", 10_000, 10_000),
    ("mac", "posterior", 5_000, 5_000),
)
DIMENSIONS = 300


def records(short: bool) -> Iterator[Record]:
    """Yield one record per question."""
    questions = (("weat", "permutation_test", 200, 200),) if short else QUESTIONS
    for metric, method, targets, attributes in questions:
        answers = [
            apart(__file__, metric, method, targets, attributes) for _ in range(1 if short else 2)
        ]
        yield Record(
            f"{metric}, {method.replace('_', ' ')}",
            f"2 × {targets:,} and 2 × {attributes:,} words",
            tuple(seconds for _, seconds, _ in answers),
            limit="value alone",
            floor=min(alone for alone, _, _ in answers),
            memory=max(memory for _, _, memory in answers),
        )


def measure(metric: str, method: str, targets: int, attributes: int) -> tuple[float, float, float]:
    """Return the seconds of the value alone and of the question, and the MB of the latter.

    The time includes finding the words and reading their vectors.
    """
    warnings.simplefilter("ignore")
    kind = bb.metrics.METRICS[metric]
    getattr(kind().on("weat_6", bb.load_embedding("demo"), seed=0), method)()  # imports
    embedding, query = simulated(targets, attributes)
    before = peak()
    seconds = clock(lambda: getattr(kind().on(query, embedding, seed=0), method)())
    megabytes = peak() - before
    return clock(lambda: kind().on(query, embedding, seed=0).value()), seconds, megabytes


def simulated(
    targets: int, attributes: int, dim: int = DIMENSIONS
) -> tuple[bb.Embedding, bb.Query]:
    """Return random vectors, and a query with two sets of either side."""
    sizes = (targets, targets, attributes, attributes)
    words = [f"w{i}" for i in range(sum(sizes))]
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((len(words), dim), dtype=np.float32)
    sets = [words[a:b] for a, b in pairwise(np.cumsum((0, *sizes)))]
    return bb.Embedding(words, vectors), bb.Query(sets[:2], sets[2:])


if __name__ == "__main__":
    if "--one" in sys.argv:
        _, _, metric, method, targets, attributes = sys.argv
        print(json.dumps(measure(metric, method, int(targets), int(attributes))))
    else:
        alone(records)
