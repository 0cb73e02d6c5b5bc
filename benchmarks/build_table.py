"""Build tables of distances beside the product of matrices: `python benchmarks/build_table.py`.

The limit is the product of the normalised vectors in double precision, and the copy of the
table's columns.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from measuring import Record, alone, clock, copy_seconds, repeated

import bayesbias as bb

DIM = 300


def records(short: bool) -> Iterator[Record]:
    """Yield a table of 1,000 protected words × 10,000 attributes."""
    protected, attributes = (100, 1_000) if short else (1_000, 10_000)
    embedding, study = simulated(protected, attributes)
    bb.distance_table(embedding, bb.Study("s", {"a": ["w0"], "b": ["w1"]}, {"a": ["w2"]}))
    wide = embedding.vectors.astype(np.float64)
    product = min(clock(lambda: wide[:protected] @ wide[protected:].T) for _ in range(3))
    table = bb.distance_table(embedding, study)
    moved = int(table.memory_usage().sum())
    yield Record(
        "build a table of distances",
        f"{len(table):,} rows, {DIM} dimensions",
        repeated(lambda: bb.distance_table(embedding, study), 3),
        limit="product and copy",
        floor=product + copy_seconds(moved),
    )


def simulated(protected: int, attributes: int, dim: int = DIM) -> tuple[bb.Embedding, bb.Study]:
    """Return random vectors, and a study of two groups, two lists and neutral words."""
    words = [f"w{i}" for i in range(protected + attributes)]
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((len(words), dim), dtype=np.float32)
    groups, others = words[:protected], words[protected:]
    quarter = attributes // 4
    study = bb.Study(
        "large",
        {"a": groups[: protected // 2], "b": groups[protected // 2 :]},
        {"a": others[:quarter], "b": others[quarter : 2 * quarter]},
        {"neutral": others[2 * quarter :]},
    )
    return bb.Embedding(words, vectors, "random"), study


if __name__ == "__main__":
    alone(records)
