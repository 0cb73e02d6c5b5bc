"""Find 500 words in a word2vec binary file beside gensim: `python benchmarks/search_binary.py`.

gensim reads the whole file; it has no other way. Each runs in a process of its own, for its memory.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from measuring import Record, alone, apart, clock, peak, read_seconds

import bayesbias as bb

DIM, BLOCK = 300, 5_000


def records(short: bool) -> Iterator[Record]:
    """Write the file, search it, remove it."""
    rows = 10_000 if short else 500_000
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "large.bin"
        write(path, rows)
        floor = read_seconds(path)
        pairs = [
            [apart(__file__, who, path, rows) for who in ("ours", "gensim")]
            for _ in range(1 if short else 2)
        ]
        (_, memory), (_, theirs) = pairs[-1]
        yield Record(
            "find 500 words in a binary file",
            f"{rows:,} × {DIM}, {path.stat().st_size / 1e9:.1f} GB",
            tuple(ours[0] for ours, _ in pairs),
            "gensim",
            tuple(peers[0] for _, peers in pairs),
            "disk",
            floor,
            memory,
            theirs,
        )


def write(path: Path, rows: int) -> None:
    """Write random vectors block by block."""
    rng = np.random.default_rng(1)
    with path.open("wb") as stream:
        stream.write(f"{rows} {DIM}\n".encode())
        for start in range(0, rows, BLOCK):
            block = rng.random((BLOCK, DIM), dtype=np.float32)
            lines = (b"word%d " % (start + i) + row.tobytes() for i, row in enumerate(block))
            stream.write(b"".join(lines))


def measure(who: str, path: str, rows: int) -> tuple[float, float]:
    """Return seconds, and by how many MB the memory grew."""
    wanted = [f"word{i}" for i in range(0, rows, rows // 500)]
    bb.load_embedding("demo", words=["nurse"])  # imports
    before = peak()
    if who == "ours":
        seconds = clock(lambda: bb.load_embedding(path, words=wanted, progress=False))
    else:
        seconds = clock(lambda: KeyedVectors.load_word2vec_format(path, binary=True))
    return seconds, peak() - before


if __name__ == "__main__":
    if "--one" in sys.argv:
        _, _, who, path, rows = sys.argv
        print(json.dumps(measure(who, path, int(rows))))
    else:
        alone(records)
