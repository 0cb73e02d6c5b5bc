"""Large vocabularies: `python benchmarks/large_vocabularies.py`.

Before and after debiasing, list checks and list builders on a whole vocabulary. The words of the
demo embedding, turned into more dimensions, have their distances; all other words are near one of
them, so that groups, clusters and neighbours are as in real embeddings. The vectors are in a file
that is mapped, as a user's would be. Each work runs in a process of its own; its time includes
that of loading, and its memory the pages of the file that it has looked at.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import islice, product
from pathlib import Path
from string import ascii_lowercase

import numpy as np
from measuring import Record, alone, apart, clock, peak

import bayesbias as bb

DIM, BLOCK = 300, 50_000
#: How far the other words are from the word of the demo that they are near.
SPREAD = 0.5
STUDY = "gender"
WORKS: dict[str, Callable[[bb.Embedding], object]] = {
    "before and after": lambda emb: bb.before_after(emb, "hard_debias", STUDY, progress=False),
    "check lists": lambda emb: bb.check_words(STUDY, emb),
    "build lists": lambda emb: bb.build_lists(emb, STUDY, progress=False),
}


def records(short: bool) -> Iterator[Record]:
    """Write the files, measure each work, remove them."""
    few, many = (15_000, 20_000) if short else (400_000, 3_000_000)
    for number, works in ((few, ["before and after"]), (many, ["check lists", "build lists"])):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.npy"
            write(path, number)
            for work in works:
                seconds, memory = apart(__file__, work, path)
                yield Record(work, f"{number:,} × {DIM}", (seconds,), memory=memory)


def write(path: Path, number: int) -> None:
    """Write the vectors block by block, and the words beside them."""
    demo = bb.load_embedding("demo")
    rng = np.random.default_rng(1)
    onto, _ = np.linalg.qr(rng.standard_normal((DIM, demo.dim)))
    others = islice(named(set(demo.words)), number - len(demo.words))
    path.with_suffix(".vocab.txt").write_text("\n".join([*demo.words, *others]) + "\n", "utf-8")
    vectors = np.lib.format.open_memmap(path, "w+", np.float32, (number, DIM))
    vectors[: len(demo.words)] = demo.vectors @ onto.T
    scale = SPREAD * np.linalg.norm(demo.vectors, axis=1).mean() / np.sqrt(DIM)
    for start in range(len(demo.words), number, BLOCK):
        block = vectors[start : start + BLOCK]
        near = rng.integers(len(demo.words), size=len(block))
        noise = rng.standard_normal(block.shape, dtype=np.float32)
        block[:] = vectors[near] + np.float32(scale) * noise
    vectors.flush()


def named(known: set[str]) -> Iterator[str]:
    """Yield words of five letters that are not known."""
    return (
        word
        for letters in product(ascii_lowercase, repeat=5)
        if (word := "".join(letters)) not in known
    )


def measure(work: str, path: str) -> tuple[float, float]:
    """Return seconds, and by how many MB the memory grew."""
    warnings.simplefilter("ignore")
    WORKS[work](bb.load_embedding("demo"))  # imports
    before = peak()
    seconds = clock(lambda: WORKS[work](bb.load_embedding(path)))
    return seconds, peak() - before


if __name__ == "__main__":
    if "--one" in sys.argv:
        _, _, work, path = sys.argv
        print(json.dumps(measure(work, path)))
    else:
        alone(records)
