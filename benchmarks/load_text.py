"""Read text files of vectors beside gensim: `python benchmarks/load_text.py`.

The file has words and five decimals, as GloVe's. Both must read the same words and the same bits.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors
from measuring import Record, alone, check, in_turns, read_seconds

import bayesbias as bb


def records(short: bool) -> Iterator[Record]:
    """Yield the whole file, and four words of it."""
    number, dim = (3_000, 50) if short else (100_000, 100)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "vectors.txt"
        with path.open("w", encoding="utf-8") as stream:
            for i in range(number):
                values = " ".join(map("{:.5f}".format, rng.normal(size=dim)))
                stream.write(f"word{i} {values}\n")
        wanted = [f"word{i}" for i in range(0, number, number // 4)][:4]

        def theirs() -> KeyedVectors:
            return KeyedVectors.load_word2vec_format(str(path), no_header=True)

        embedding, keyed = bb.load_embedding(path, progress=False), theirs()
        check(list(embedding.words) == keyed.index_to_key, "other words")
        check(bool((embedding.vectors == keyed.vectors).all()), "other vectors")
        floor = read_seconds(path)
        size = f"{number:,} × {dim}, {path.stat().st_size / 1e6:.0f} MB"
        for work, words in (("read a text file", None), ("find 4 words in a text file", wanted)):
            read = partial(bb.load_embedding, path, words=words, progress=False)
            ours, peers = in_turns(read, theirs, 3)
            yield Record(work, size, ours, "gensim", peers, "disk", floor)


if __name__ == "__main__":
    alone(records)
