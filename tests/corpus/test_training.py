"""Training: the vectors that gensim gives itself, the same every time, and bootstrap samples."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from gensim.models import FastText, Word2Vec

import bayesbias as bb
from bayesbias.corpus.training import _Feed
from bayesbias.errors import DataError, SpecError


@pytest.fixture(scope="module")
def some() -> bb.corpus.Corpus:
    return bb.corpus.Corpus(list(islice(bb.read_corpus("demo").lines(), 300)), name="some")


def same(embedding: bb.Embedding, model: Any) -> bool:
    words = list(embedding.words) == model.wv.index_to_key
    return words and np.array_equal(embedding.vectors, model.wv.vectors)


@pytest.mark.parametrize("skip_gram", [False, True])
def test_word2vec_is_that_of_gensim(some: bb.corpus.Corpus, skip_gram: bool) -> None:
    ours = bb.train_embedding(
        some, dim=16, window=3, min_count=4, epochs=2, skip_gram=skip_gram, seed=7
    )
    theirs = Word2Vec(
        list(some), vector_size=16, window=3, min_count=4, epochs=2, sg=skip_gram, seed=7, workers=1
    )
    assert same(ours, theirs)
    assert ours.name == "some-word2vec"
    way = "skip-gram" if skip_gram else "CBOW"
    tokens = some.report()["tokens"]
    assert ours.notes == (
        f"word2vec ({way}), window 3, min_count 4, 2 epochs, seed 7, {tokens:,} tokens of 'some'",
    )


def test_the_defaults_are_those_of_gensim(some: bb.corpus.Corpus) -> None:
    ours = bb.train_embedding(some, seed=1)
    assert same(ours, Word2Vec(list(some), vector_size=300, workers=1))  # gensim's seed is 1
    counts = some.counts(min_count=5)
    assert set(ours.words) == set(counts["word"])
    found = counts.set_index("word")["count"][list(ours.words)]
    assert found.is_monotonic_decreasing


def test_fasttext_is_that_of_gensim(some: bb.corpus.Corpus) -> None:
    asked = ["emma", "emmas", "xyzzy", "emmas"]
    ours = bb.train_embedding(
        some, "fasttext", dim=12, epochs=2, buckets=5_000, subwords=asked, seed=3, name="parts"
    )
    theirs = FastText(list(some), vector_size=12, epochs=2, bucket=5_000, seed=3, workers=1)
    size = len(theirs.wv)
    assert list(ours.words) == [*theirs.wv.index_to_key, "emmas", "xyzzy"]
    assert np.array_equal(ours.vectors[:size], theirs.wv.vectors)
    assert np.array_equal(ours.vectors[size:], theirs.wv[["emmas", "xyzzy"]])
    assert ours.name == "parts"
    assert ours.notes[1] == "2 of 3 words composed from subwords"


SCRIPT = """
import hashlib
import bayesbias as bb
corpus = bb.corpus.Corpus(["she is a good nurse", "he is an old engineer", "it is what it is"] * 20)
for method in ("word2vec", "fasttext"):
    embedding = bb.train_embedding(corpus, method, dim=8, buckets=100)
    print(embedding.words, hashlib.sha256(embedding.vectors.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_every_process_gives_the_same() -> None:
    printed = set()
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        printed.add(done.stdout)
    assert len(printed) == 1


def test_all_cores() -> None:
    corpus = bb.corpus.Corpus(["one two three", "two three four"] * 50)
    embedding = bb.train_embedding(corpus, dim=4, deterministic=False)
    assert set(embedding.words) == {"one", "two", "three", "four"}


def test_context_is_learnt() -> None:
    rng = np.random.default_rng(0)
    topics = [[f"{topic}{letter}" for letter in "abcdefgh"] for topic in ("sea", "city")]
    documents = [list(rng.choice(topics[number % 2], 12)) for number in range(2_000)]
    embedding = bb.train_embedding(bb.corpus.Corpus([list(map(str, d)) for d in documents]), dim=10)
    vectors = embedding.vectors / np.linalg.norm(embedding.vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T
    sea = np.array([word.startswith("sea") for word in embedding.words])
    together = sea[:, None] == sea
    assert cosines[together].min() > cosines[~together].max()


# Replicates


def test_replicates_differ_in_their_seed(some: bb.corpus.Corpus) -> None:
    options: dict[str, Any] = {"dim": 8, "epochs": 1, "min_count": 3}
    found = bb.train_replicates(some, replicates=3, seed=5, **options)
    assert [e.name for e in found] == ["some-word2vec-1", "some-word2vec-2", "some-word2vec-3"]
    for number, embedding in enumerate(found):
        alone = bb.train_embedding(some, seed=5 + number, **options)
        assert embedding.words == alone.words
        assert np.array_equal(embedding.vectors, alone.vectors)
    assert not np.allclose(found[0].vectors, found[1].vectors)


@pytest.mark.slow
def test_replicates_at_the_same_time(some: bb.corpus.Corpus) -> None:
    found = bb.train_replicates(some, replicates=3, dim=8)
    parallel = bb.train_replicates(some, replicates=3, dim=8, n_jobs=2, name="p")
    assert [e.name for e in parallel] == ["p-1", "p-2", "p-3"]
    for one, other in zip(found, parallel, strict=True):
        assert one.words == other.words
        assert np.array_equal(one.vectors, other.vectors)


def test_replicates_of_bootstrap_samples(some: bb.corpus.Corpus) -> None:
    first, second = bb.train_replicates(
        some, "word2vec", replicates=2, resample=True, dim=8, epochs=2, seed=4
    )
    for embedding, seed in ((first, 4), (second, 5)):
        sample = list(_Feed(some, seed))
        theirs = Word2Vec(sample, vector_size=8, epochs=2, seed=seed, workers=1)
        assert same(embedding, theirs)
        assert embedding.notes[0].endswith("tokens of a bootstrap sample of 'some'")
    assert first.words != second.words


def test_bootstrap_samples_are_poisson() -> None:
    corpus = bb.corpus.Corpus([[f"word{number}"] for number in range(25_000)])
    feed = _Feed(corpus, 9)
    drawn = [word for (word,) in feed]
    assert drawn == [word for (word,) in feed]  # in every epoch the same
    assert drawn != [word for (word,) in _Feed(corpus, 10)]
    counted = Counter(drawn)
    times = np.array([counted[f"word{number}"] for number in range(25_000)])
    # Five standard errors of the mean, the variance and the share of zeros of a Poisson of mean 1.
    assert times.mean() == pytest.approx(1, abs=5 / 25_000**0.5)
    assert times.var() == pytest.approx(1, abs=5 * (3 / 25_000) ** 0.5)
    assert (times == 0).mean() == pytest.approx(np.exp(-1), abs=5 * (0.2325 / 25_000) ** 0.5)
    # No run of numbers is repeated from one block of weights to the next.
    assert abs(np.corrcoef(times[:10_000], times[10_000:20_000])[0, 1]) < 0.05


# Errors


def test_bad_settings(some: bb.corpus.Corpus) -> None:
    for name in ("dim", "window", "min_count", "epochs", "buckets"):
        with pytest.raises(SpecError, match=f"'{name}' is 0; expected a whole number, 1 or"):
            bb.train_embedding(some, **{name: 0})  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'method' is 'glove'; expected one of 'fasttext', 'wo"):
        bb.train_embedding(some, "glove")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="which 'word2vec' does not learn; use method='fastte"):
        bb.train_embedding(some, subwords=["nurse"])
    with pytest.raises(SpecError, match="'subwords' is the string 'nurse'; expected a list"):
        bb.train_embedding(some, "fasttext", subwords="nurse")
    with pytest.raises(SpecError, match="'seed' is -1; expected a whole number, 0 or more"):
        bb.train_embedding(some, seed=-1)
    with pytest.raises(SpecError, match="'seed' is 4294967295; expected less than 4,294,967,292"):
        bb.train_replicates(some, seed=2**32 - 1)
    with pytest.raises(SpecError, match="'replicates' is 0; expected a whole number, 1 or more"):
        bb.train_replicates(some, replicates=0)
    with pytest.raises(SpecError, match="'n_jobs' is 0; expected a number of processes, or -1"):
        bb.train_replicates(some, n_jobs=0)
    with pytest.raises(SpecError, match=r"'corpus' is list; expected a Corpus: read_corpus\(pa"):
        bb.train_embedding(["a text"])  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'corpus' is str; expected a Corpus"):
        bb.train_replicates("demo")  # type: ignore[arg-type]


def test_no_word_is_frequent_enough() -> None:
    corpus = bb.corpus.Corpus(["one two two three three three"], name="mine")
    message = (
        "corpus 'mine': no word occurs 5 times; the most frequent, 'three', occurs 3 times. Lo"
    )
    with pytest.raises(DataError, match=message):
        bb.train_embedding(corpus)
    with pytest.raises(DataError, match="corpus 'mine': too few documents for a bootstrap sam"):
        bb.train_replicates(corpus, replicates=20, resample=True, min_count=1, dim=2)


def test_a_corpus_that_breaks_while_training() -> None:
    # gensim reads in a thread, and waits for ever when that raises.
    class Breaking:
        times = 0

        def __iter__(self) -> Iterator[str]:
            self.times += 1
            yield from ["one two three"] * 10
            if self.times > 2:
                raise DataError("the disk is gone")

    with pytest.raises(DataError, match="the disk is gone"):
        bb.train_embedding(bb.corpus.Corpus(Breaking()), dim=2)
