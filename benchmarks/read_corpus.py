"""Cut a text file into words with bayesbias and with gensim, in one run, and print the ratio.

    python benchmarks/read_corpus.py [corpus.txt]

Without a path the demo corpus is written to a temporary file, thirty times over, and read from
there; a tenth of its lines get a dash that is not ASCII, as in most text of today.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from gensim.models.word2vec import Word2Vec
from gensim.utils import simple_preprocess

import bayesbias as bb

T = TypeVar("T")


def write(path: Path) -> Path:
    """Write the demo corpus several times."""
    lines = [
        line if number % 10 else line.replace("--", "\u2014") + " \u2014"
        for number, line in enumerate(bb.read_corpus("demo").lines())
    ]
    path.write_text("".join(f"{line}\n" for line in lines) * 30, "utf-8")
    return path


def gensim_words(path: Path) -> Iterator[list[str]]:
    """Yield what gensim's tokenizer makes of each line."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield simple_preprocess(line)


def best(function: Callable[[], T], times: int = 3) -> tuple[float, T]:
    """Return the shortest of several durations, and the result."""
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        result = function()
        durations.append(time.perf_counter() - start)
    return min(durations), result


def gensim_counts(path: Path) -> dict[str, int]:
    """Count words as gensim does before training."""
    model = Word2Vec(min_count=1)
    model.scan_vocab(corpus_iterable=gensim_words(path))
    counts: dict[str, int] = model.raw_vocab
    return counts


def main() -> None:
    """Time both, and compare what they read."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else write(Path(temporary) / "corpus.txt")
        corpus = bb.read_corpus(path)
        ours, tokens = best(lambda: sum(map(len, corpus)))
        theirs, expected = best(lambda: sum(map(len, gensim_words(path))))
        counting, counts = best(lambda: corpus.counts(progress=False))
        counting_theirs, counted = best(lambda: gensim_counts(path))
        size = path.stat().st_size / 1e6
    same = dict(zip(counts["word"], counts["count"], strict=True)) == Counter(counted)
    print(f"{size:,.0f} MB, {tokens:,} words; the same words: {tokens == expected}; counts: {same}")
    for what, mine, other in (
        ("cutting", ours, theirs),
        ("counting", counting, counting_theirs),
    ):
        print(
            f"{what:9} {tokens / mine / 1e6:.2f} million words a second, gensim "
            f"{tokens / other / 1e6:.2f}: {other / mine:.1f} times as fast"
        )


if __name__ == "__main__":
    main()
