"""Cut a text file into words, and count them, beside gensim: `python benchmarks/read_corpus.py`.

The demo corpus is written to a temporary file, ten times over; a tenth of its lines get a dash
that is not ASCII, as in most text of today.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from gensim.models.word2vec import Word2Vec
from gensim.utils import simple_preprocess
from measuring import Record, alone, check, in_turns, read_seconds

import bayesbias as bb


def write(path: Path, times: int) -> None:
    """Write the demo corpus several times."""
    lines = [
        line if number % 10 else line.replace("--", "\u2014") + " \u2014"
        for number, line in enumerate(bb.read_corpus("demo").lines())
    ]
    path.write_text("".join(f"{line}\n" for line in lines) * times, "utf-8")


def gensim_words(path: Path) -> Iterator[list[str]]:
    """Yield what gensim's tokenizer makes of each line."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield simple_preprocess(line)


def gensim_counts(path: Path) -> dict[str, int]:
    """Count words as gensim does before training."""
    model = Word2Vec(min_count=1)
    model.scan_vocab(corpus_iterable=gensim_words(path))
    counts: dict[str, int] = model.raw_vocab
    return counts


def records(short: bool) -> Iterator[Record]:
    """Yield cutting and counting."""
    repeats = 1 if short else 3
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "corpus.txt"
        write(path, 1 if short else 10)
        corpus = bb.read_corpus(path)
        counts = corpus.counts(progress=False)
        same = dict(zip(counts["word"], counts["count"], strict=True))
        check(same == Counter(gensim_counts(path)), "other words")
        floor = read_seconds(path)
        size = f"{counts['count'].sum():,} words, {path.stat().st_size / 1e6:.0f} MB"
        ours, theirs = in_turns(
            lambda: sum(map(len, corpus)), lambda: sum(map(len, gensim_words(path))), repeats
        )
        yield Record("cut a text into words", size, ours, "gensim", theirs, "disk", floor)
        ours, theirs = in_turns(
            lambda: corpus.counts(progress=False), lambda: gensim_counts(path), repeats
        )
        yield Record("count the words of a text", size, ours, "gensim", theirs, "disk", floor)


if __name__ == "__main__":
    alone(records)
