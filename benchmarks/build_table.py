"""Build a table of 1,000 protected words × 10,000 attributes: how much more than the product."""

from __future__ import annotations

import time

import numpy as np

import bayesbias as bb

PROTECTED, ATTRIBUTES, DIM = 1_000, 10_000, 300


def main() -> None:
    """Time the product alone and the whole table."""
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(PROTECTED + ATTRIBUTES)]
    vectors = rng.normal(size=(len(words), DIM)).astype(np.float32)
    embedding = bb.Embedding(words, vectors, "random")
    half, third = PROTECTED // 2, PROTECTED + ATTRIBUTES // 2
    study = bb.Study(
        "large",
        {"a": words[:half], "b": words[half:PROTECTED]},
        {"a": words[PROTECTED : PROTECTED + 2_500], "b": words[PROTECTED + 2_500 : third]},
        {"neutral": words[third:]},
    )
    bb.distance_table(embedding, bb.Study("s", {"a": ["w0"], "b": ["w1"]}, {"a": ["w2"]}))
    start = time.perf_counter()
    wide = vectors.astype(np.float64)
    wide[:PROTECTED] @ wide[PROTECTED:].T
    product = time.perf_counter() - start
    start = time.perf_counter()
    table = bb.distance_table(embedding, study)
    whole = time.perf_counter() - start
    print(f"{len(table):,} rows; product {product:.2f} s, table {whole:.2f} s")
    print(f"{whole - product:.2f} s more than the product")


if __name__ == "__main__":
    main()
