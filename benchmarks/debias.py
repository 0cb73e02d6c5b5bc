"""Debiasing beside WEFE: `python benchmarks/debias.py`.

Each method of either side runs in a process of its own, for its memory. The limit is to read the
matrix and to write the new one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import numpy as np
from measuring import WEFE, Peer, Record, alone, apart, clock, copy_seconds, peak

import bayesbias as bb

DIM = 300
METHODS = (
    "hard_debias",
    "multiclass_hard_debias",
    "double_hard_debias",
    "half_sibling_regression",
)


def lists() -> tuple[list[list[str]], list[str]]:
    """Return the definitional pairs, and the words that are specific to a gender."""
    pairs = [list(pair) for pair in bb.word_tuples("bolukbasi")["definitional_pairs"]]
    return pairs, list(bb.word_sets("bolukbasi")["gender_specific"])


def vocabulary(number: int) -> list[str]:
    """Return the words of the lists, and others."""
    pairs, specific = lists()
    known = list(dict.fromkeys([*(w for pair in pairs for w in pair), *specific]))
    return [*known, *(f"word{i}" for i in range(number - len(known)))]


def records(short: bool) -> Iterator[Record]:
    """Yield one record per method."""
    number, repeats = (2_000, 1) if short else (200_000, 3)
    pairs, specific = lists()
    words = vocabulary(number)
    for method in METHODS[:1] if short else METHODS:
        mine: list[tuple[float, float]] = []
        theirs: list[tuple[float, float]] = []
        for _ in range(repeats):
            mine.append(apart(__file__, method, number))
            if WEFE.exists() and len(theirs) < 2:
                with Peer(WEFE, "peer_wefe.py") as peer:
                    asked = {"words": words, "dim": DIM, "pairs": pairs, "specific": specific}
                    theirs.append(peer.ask(debias=method, **asked))
        yield Record(
            method.replace("_", " "),
            f"{number:,} × {DIM}",
            tuple(seconds for seconds, _ in mine),
            "WEFE",
            tuple(seconds for seconds, _ in theirs),
            "copy",
            copy_seconds(number * DIM * 4),
            max(memory for _, memory in mine),
            max((memory for _, memory in theirs), default=None),
        )


def measure(method: str, number: int) -> tuple[float, float]:
    """Return the seconds of a method, and by how many MB the memory grew."""
    pairs, specific = lists()
    kind = bb.debias.DEBIASERS[method]
    options = {"n_components": 2} if method == "multiclass_hard_debias" else {}
    definition = specific if method == "half_sibling_regression" else pairs
    small, large = (
        bb.Embedding(
            vocabulary(n),
            np.random.default_rng(0).standard_normal((n, DIM), dtype=np.float32),
            "model",
        )
        for n in (2_000, number)
    )

    def run(embedding: bb.Embedding) -> None:
        kind(**options).fit(embedding, definition=definition).transform(embedding, progress=False)

    run(small)  # imports
    before = peak()
    return clock(lambda: run(large)), peak() - before


if __name__ == "__main__":
    if "--one" in sys.argv:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
    else:
        alone(records)
