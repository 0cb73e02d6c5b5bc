"""Search a word2vec binary file of 3,000,000 × 300 (3.6 GB) for 500 words: time and memory.

    python benchmarks/search_binary.py [FOLDER]

The file is written to FOLDER, or a temporary folder, and removed again.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import bayesbias as bb

ROWS, DIM, BLOCK = 3_000_000, 300, 10_000


def write(path: Path) -> None:
    """Write random vectors block by block."""
    rng = np.random.default_rng(1)
    with path.open("wb") as stream:
        stream.write(f"{ROWS} {DIM}\n".encode())
        for start in range(0, ROWS, BLOCK):
            block = rng.random((BLOCK, DIM), dtype=np.float32)
            rows = (b"word%d " % (start + i) + row.tobytes() for i, row in enumerate(block))
            stream.write(b"".join(rows))


def peak() -> float:
    """Return the largest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Write the file, search it, and print time and memory."""
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        path = Path(temporary) / "large.bin"
        write(path)
        bb.load_embedding("demo", words=["nurse"])  # imports
        before = peak()
        wanted = [f"word{i}" for i in range(0, ROWS, ROWS // 500)]
        start = time.perf_counter()
        embedding = bb.load_embedding(path, words=wanted, progress=False)
        duration = time.perf_counter() - start
        print(f"{ROWS:,} × {DIM}, {path.stat().st_size / 1e9:.1f} GB: {len(embedding)} words found")
        print(f"{duration:.1f} s, memory grew by {peak() - before:.0f} MB")


if __name__ == "__main__":
    main()
