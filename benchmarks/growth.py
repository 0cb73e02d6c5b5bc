"""How time grows with rows, words, dimensions, vocabulary and draws: `python benchmarks/growth.py`.

The exponent is the slope of log seconds on log size: 1 is linear. Overheads make it smaller at
small sizes, so the sizes are as large as the time allows.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from build_table import simulated as simulated_study
from large_queries import simulated as simulated_query
from large_tables import simulated as simulated_table
from measuring import Growth, clock, growth_cells, show

import bayesbias as bb

HEAD = ("work", "sizes", "time", "exponent")


def growths(short: bool) -> Iterator[Growth]:
    """Yield every work with what it grows in."""
    warnings.simplefilter("ignore")
    repeats = 1 if short else 2
    works = list(_works())
    for work, axis, sizes, prepare in works[::3] if short else works:
        used = [size // 40 for size in sizes[:3]] if short else list(sizes)
        seconds = []
        prepare(used[0])()  # imports
        for size in used:
            run = prepare(size)
            seconds.append(min(clock(run) for _ in range(repeats)))
        yield Growth(work, axis, tuple(used), tuple(seconds))


def _works() -> Iterator[tuple[str, str, tuple[int, ...], Callable[[int], Callable[[], object]]]]:
    """Yield the work, what grows, the sizes, and what prepares the work of a size."""
    rows = (4_000, 8_000, 16_000, 32_000, 64_000)
    yield "fit interaction", "rows", rows, lambda n: partial(_fit, _table(n))
    yield "fit hierarchical", "rows", rows, lambda n: partial(_fit, _table(n), "hierarchical")
    yield "WAIC of interaction", "rows", rows, lambda n: _fit(_table(n), draws=250).waic
    yield "build a table", "rows", rows, lambda n: partial(bb.distance_table, *_study(n, 300))
    dims = (80, 160, 320, 640, 1_280)
    yield (
        "build a table",
        "dimensions",
        dims,
        lambda n: partial(bb.distance_table, *_study(8_000, n)),
    )
    draws = (400, 800, 1_600, 3_200, 6_400)
    yield (
        "fit interaction",
        "draws per chain",
        draws,
        lambda n: partial(_fit, _table(4_000), draws=n),
    )
    words = (200, 400, 800, 1_600, 3_200)
    yield "WEAT, posterior", "words per list", words, lambda n: _measured("weat", n).posterior
    yield "WEAT, test", "words per list", words, lambda n: _measured("weat", n).permutation_test
    yield "ECT, posterior", "words per list", words, lambda n: _measured("ect", n).posterior
    yield "silhouettes of ECT", "words per list", words, _silhouettes
    vocabulary = (20_000, 40_000, 80_000, 160_000, 320_000)
    yield (
        "nearest words",
        "vocabulary",
        vocabulary,
        lambda n: partial(_vectors(n).most_similar, "w1"),
    )
    yield "hard debiasing", "vocabulary", vocabulary, _debias


def _table(rows: int) -> pd.DataFrame:
    side = round(rows**0.5 / 3)
    return simulated_table(side, rows // side, 0.0)


def _fit(table: pd.DataFrame, model: str = "interaction", draws: int = 500) -> bb.models.Fit:
    return bb.fit(table, model, engine="exact", draws=draws, progress=False, seed=1)


def _study(rows: int, dim: int) -> tuple[bb.Embedding, bb.Study]:
    side = round(rows**0.5 / 3)
    return simulated_study(side, rows // side, dim)


def _measured(metric: str, words: int) -> bb.metrics.Measurement:
    embedding, query = simulated_query(words, words)
    if metric == "ect":
        query = bb.Query(query.target_sets, query.attribute_sets[:1])
    return bb.metrics.METRICS[metric]().on(query, embedding, seed=0)


def _silhouettes(words: int) -> Callable[[], object]:
    embedding, query = simulated_query(10, words)
    query = bb.Query(query.target_sets, query.attribute_sets[:1])
    return lambda: bb.silhouettes("ect", query, embedding, side="attributes", runs=10, chance=0)


def _vectors(number: int) -> bb.Embedding:
    vectors = np.random.default_rng(0).standard_normal((number, 100), dtype=np.float32)
    return bb.Embedding([f"w{i}" for i in range(number)], vectors)


def _debias(number: int) -> Callable[[], object]:
    embedding = _vectors(number)
    pairs = [["w0", "w1"], ["w2", "w3"], ["w4", "w5"]]

    def run() -> None:
        bb.debias.HardDebias().fit(embedding, definition=pairs).transform(embedding, progress=False)

    return run


if __name__ == "__main__":
    show([HEAD, *map(growth_cells, growths("--short" in sys.argv))])
