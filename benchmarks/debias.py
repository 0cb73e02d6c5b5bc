"""Debiasing 400,000 × 300 vectors beside WEFE 1.0.1, in one run.

    python benchmarks/debias.py .venv-wefe/bin/python [WORDS]

The interpreter is one that has WEFE (`make benchmarks` makes it). Memory is by how much the peak of
the process grew; the methods run in this order, so what an earlier one needed is not counted again.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bayesbias as bb

DIM = 300


def main(peer: str, number: int) -> None:
    """Time both and print the ratios."""
    pairs = [list(pair) for pair in bb.word_tuples("bolukbasi")["definitional_pairs"]]
    specific = list(bb.word_sets("bolukbasi")["gender_specific"])
    known = list(dict.fromkeys([*(w for pair in pairs for w in pair), *specific]))
    words = [*known, *(f"word{i}" for i in range(number - len(known)))]
    asked = {"words": words, "dim": DIM, "pairs": pairs, "specific": specific}
    done = subprocess.run(
        [peer, str(Path(__file__).with_name("wefe_debias.py"))],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = json.loads(done.stdout.splitlines()[-1])
    rng = np.random.default_rng(0)
    emb = bb.Embedding(words, rng.standard_normal((number, DIM), dtype=np.float32), "model")
    matrix = np.ones_like(emb.vectors)
    options: dict[str, Any] = {"progress": False}
    cases: dict[str, Callable[[], object]] = {
        "hard_debias": lambda: (
            bb.debias.HardDebias().fit(emb, definition=pairs).transform(emb, **options)
        ),
        "multiclass_hard_debias": lambda: (
            bb.debias.MulticlassHardDebias(n_components=2)
            .fit(emb, definition=pairs)
            .transform(emb, **options)
        ),
        "double_hard_debias": lambda: (
            bb.debias.DoubleHardDebias().fit(emb, definition=pairs).transform(emb, **options)
        ),
        "half_sibling_regression": lambda: (
            bb.debias.HalfSiblingRegression()
            .fit(emb, definition=specific)
            .transform(emb, **options)
        ),
        # Ours goes to an array that exists already, theirs changes the vectors they are given.
        "hard_debias, in place": lambda: (
            bb.debias.HardDebias().fit(emb, definition=pairs).transform(emb, out=matrix, **options)
        ),
    }
    print(f"{number:,} × {DIM}\n{'':28}{'WEFE':>10}{'':>10}{'bayesbias':>12}{'':>9}{'ratio':>8}")
    for name, run in cases.items():
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        run()
        seconds = time.perf_counter() - start
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1e6
        wefe, wefe_grown = theirs[name]
        print(
            f"{name:28}{wefe:8.2f} s{wefe_grown:7.2f} GB{seconds:10.2f} s{grown:6.2f} GB"
            f"{wefe / seconds:8.1f}"
        )


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 400_000)
