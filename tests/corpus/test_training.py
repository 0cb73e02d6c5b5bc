"""Training: the vectors that gensim gives itself, the same every time, and bootstrap samples."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import numpy as np
import pytest
from gensim.models import FastText, Word2Vec
from scipy.sparse import csr_array
from sklearn.metrics import mutual_info_score

import bayesbias as bb
from bayesbias.corpus.cooccurrences import count_pairs
from bayesbias.corpus.glove import _start, run_epoch
from bayesbias.corpus.pmi_vectors import positive_pmi
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
for method in ("glove", "pmi"):
    embedding = bb.train_embedding(corpus, method, dim=8)
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
    with pytest.raises(SpecError, match="'method' is 'lsa'; expected one of 'fasttext', 'glove',"):
        bb.train_embedding(some, "lsa")  # type: ignore[arg-type]
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
    with pytest.raises(SpecError, match=r"'corpus' is a list; expected a Corpus: read_corpus\(pa"):
        bb.train_embedding(["a text"])  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'corpus' is a str; expected a Corpus"):
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


# GloVe and PMI


def pairs_by_hand(
    documents: list[list[str]], words: list[str], window: int, weight: Any
) -> np.ndarray:
    counts = np.zeros((len(words), len(words)))
    for document in documents:
        known = [word for word in document if word in words]
        for place, word in enumerate(known):
            for other in range(place + 1, min(place + window, len(known) - 1) + 1):
                i, j = words.index(word), words.index(known[other])
                counts[i, j] += weight(other - place)
                counts[j, i] += weight(other - place)
    return counts


@pytest.mark.parametrize(
    ("weighting", "weight"),
    [
        ("equal", lambda distance: 1.0),
        ("linear", lambda distance: (4 - distance + 1) / 4),
        ("harmonic", lambda distance: 1 / distance),
    ],
)
def test_pairs_are_those_counted_by_hand(
    some: bb.corpus.Corpus, weighting: Any, weight: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = list(some)[:30]
    words = [word for word, _ in Counter(chain.from_iterable(documents)).most_common(60)]
    index = {word: number for number, word in enumerate(words)}
    expected = pairs_by_hand(documents, words, 4, weight)
    for at_once in (20, 10_000):  # in many blocks, and in one
        monkeypatch.setattr("bayesbias.corpus.cooccurrences._TOKENS_AT_ONCE", at_once)
        found = count_pairs(documents, index, 4, weighting).toarray()
        np.testing.assert_allclose(found, expected, atol=1e-12)


def adagrad(counts: np.ndarray, pairs: np.ndarray, sides: Any, x_max: float, rate: float) -> None:
    """Go through the pairs as the paper describes it, in plain float64."""
    (w, b, w2, b2), (c, d, c2, d2) = sides
    for i, j in pairs:
        weight = min((counts[i, j] / x_max) ** 0.75, 1)
        error = w[i] @ c[j] + b[i] + d[j] - np.log(counts[i, j])
        # The gradient of weight · error² / 2, for each parameter.
        of_w, of_c, of_b = weight * error * c[j], weight * error * w[i], weight * error
        w[i] -= rate * of_w / np.sqrt(w2[i])
        c[j] -= rate * of_c / np.sqrt(c2[j])
        b[i] -= rate * of_b / np.sqrt(b2[i])
        d[j] -= rate * of_b / np.sqrt(d2[j])
        w2[i] += of_w**2
        c2[j] += of_c**2
        b2[i] += of_b**2
        d2[j] += of_b**2


def test_glove_is_adagrad_on_the_published_cost() -> None:
    corpus = bb.corpus.Corpus(["one two three four five", "two three six one five four"] * 9)
    ours = bb.train_embedding(
        corpus, bb.corpus.GloVe(x_max=12, learning_rate=0.1), dim=3, epochs=6, window=3, seed=4
    )
    words = list(ours.words)
    counts = pairs_by_hand(list(corpus), words, 3, lambda distance: 1 / distance)
    cells = np.argwhere(counts)
    rng = np.random.default_rng(4)
    sides = []
    for _ in range(2):
        vectors, biases = (rng.random((6, 3)) - 0.5) / 3, (rng.random(6) - 0.5) / 3
        sides.append((vectors, biases, np.ones((6, 3)), np.ones(6)))
    for _ in range(6):
        adagrad(counts, cells[rng.permutation(len(cells))], sides, 12, 0.1)
    np.testing.assert_allclose(ours.vectors, sides[0][0] + sides[1][0], atol=1e-5)
    assert ours.name == "corpus-glove"
    assert ours.notes[0] == (
        "glove (x_max 12, alpha 0.75, rate 0.1), window 3, min_count 5, 6 epochs, seed 4, "
        "99 tokens of 'corpus'"
    )


def test_glove_finds_the_logarithms_of_counts() -> None:
    # As many dimensions as words: a perfect fit exists, and many epochs come close to it.
    rng = np.random.default_rng(3)
    factors = rng.normal(0, 0.7, (12, 3))
    logs = 3 + factors @ factors.T
    pairs = csr_array(np.exp(logs))
    word, context = (_start(12, 12, rng) for _ in range(2))
    cells = pairs.tocoo()
    arrays = (
        *(cells.row.astype(np.int32), cells.col.astype(np.int32)),
        *(np.log(cells.data).astype(np.float32), np.ones(cells.nnz, dtype=np.float32)),
    )
    for _ in range(1_500):
        cost = run_epoch(arrays, rng.permutation(cells.nnz), word, context, np.float32(0.3))
    fitted = word[0] @ context[0].T + word[1][:, None] + context[1]
    assert np.abs(fitted - logs).max() < 0.02
    assert cost < 1e-4


def test_glove_is_the_same_for_a_seed(some: bb.corpus.Corpus) -> None:
    options: dict[str, Any] = {"dim": 8, "epochs": 2, "progress": False}
    first, second = bb.train_replicates(some, "glove", replicates=2, seed=3, **options)
    again = bb.train_embedding(some, "GloVe", seed=3, **options)  # type: ignore[arg-type]
    assert np.array_equal(first.vectors, again.vectors)
    assert not np.allclose(first.vectors, second.vectors)
    assert set(first.words) == set(some.counts(min_count=5)["word"])


@pytest.mark.parametrize("method", [bb.corpus.GloVe(x_max=10), bb.corpus.PMI()])
def test_other_methods_learn_context_as_well(method: Any) -> None:
    rng = np.random.default_rng(0)
    topics = [[f"{topic}{letter}" for letter in "abcdefgh"] for topic in ("sea", "city")]
    documents = [list(map(str, rng.choice(topics[k % 2], 12))) for k in range(500)]
    documents += [["seaa", "citya"]]
    embedding = bb.train_embedding(bb.corpus.Corpus(documents), method, dim=6, progress=False)
    vectors = embedding.vectors / np.linalg.norm(embedding.vectors, axis=1, keepdims=True)
    sea = np.array([word.startswith("sea") for word in embedding.words])
    together = (sea[:, None] == sea) & ~np.eye(16, dtype=bool)
    cosines = vectors @ vectors.T
    assert cosines[together].mean() > cosines[sea[:, None] != sea].mean() + 0.3


def test_positive_pmi_is_that_of_the_counts() -> None:
    counts = np.array([[0.0, 4, 1], [4, 2, 0], [1, 0, 6]])
    plain = positive_pmi(csr_array(counts), shift=1, smoothing=1).toarray()
    total = counts.sum()
    for i in range(3):
        for j in range(3):
            joint, margins = counts[i, j] / total, counts[i].sum() * counts[:, j].sum() / total**2
            assert plain[i, j] == pytest.approx(max(np.log(joint / margins), 0) if joint else 0)
    # Scikit-learn's mutual information is the mean of the PMI, where none is negative.
    block = np.array([[9.0, 0], [0, 5]])
    values = positive_pmi(csr_array(block), shift=1, smoothing=1).toarray()
    expected = mutual_info_score(None, None, contingency=block)
    assert (values * block / block.sum()).sum() == pytest.approx(expected)
    shifted = positive_pmi(csr_array(counts), shift=1.5, smoothing=1).toarray()
    np.testing.assert_allclose(shifted, np.maximum(plain - np.log(1.5), 0))
    smooth = positive_pmi(csr_array(counts), shift=1, smoothing=0.75).toarray()
    contexts = counts.sum(axis=0) ** 0.75
    expected_1 = np.log((4 / total) / (6 / total * (contexts / contexts.sum())[0]))
    assert smooth[1, 0] == pytest.approx(expected_1)


def test_pmi_vectors_are_the_singular_vectors(some: bb.corpus.Corpus) -> None:
    options: dict[str, Any] = {"dim": 10, "min_count": 20, "window": 3, "progress": False}
    ours = bb.train_embedding(some, bb.corpus.PMI(power=1), seed=1, **options)
    words = list(ours.words)
    index = {word: number for number, word in enumerate(words)}
    information = positive_pmi(count_pairs(some, index, 3), shift=1, smoothing=0.75).toarray()
    left, values, right = np.linalg.svd(information)
    expected = (left[:, :10] * values[:10]) @ (left[:, :10] * values[:10]).T
    found = ours.vectors.astype(float)
    np.testing.assert_allclose(found @ found.T, expected, atol=1e-3 * expected.max())
    assert np.linalg.norm(found, axis=0) == pytest.approx(values[:10], rel=1e-4)
    other = bb.train_embedding(some, bb.corpus.PMI(power=1), seed=2, **options)
    np.testing.assert_allclose(other.vectors, ours.vectors, atol=1e-4)
    both = bb.train_embedding(some, bb.corpus.PMI(power=0, add_contexts=True), **options)
    summed = left[:, :10] + right[:10].T
    np.testing.assert_allclose(both.vectors @ both.vectors.T, summed @ summed.T, atol=1e-4)


def test_bad_settings_of_glove_and_pmi(some: bb.corpus.Corpus) -> None:
    with pytest.raises(SpecError, match="'x_max' is 0; expected a number above 0"):
        bb.corpus.GloVe(x_max=0)
    with pytest.raises(SpecError, match="'weighting' is 'dynamic'; expected one of 'equal'"):
        bb.corpus.PMI(weighting="dynamic")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'power' is 2; expected a number from 0 to 1"):
        bb.corpus.PMI(power=2)
    with pytest.raises(SpecError, match="'skip_gram' is an option of 'word2vec' and 'fasttext'"):
        bb.train_embedding(some, "glove", skip_gram=True)
    with pytest.raises(SpecError, match="'epochs' is not an option of 'pmi'"):
        bb.train_embedding(some, "pmi", epochs=3)
    with pytest.raises(SpecError, match="'dim' is 9000, but the corpus 'some' has .* Lower 'dim'"):
        bb.train_embedding(some, "pmi", dim=9000)
    with pytest.raises(SpecError, match="same for every seed; give resample=True"):
        bb.train_replicates(some, "pmi")
    with pytest.raises(SpecError, match=r"'method' is 3; expected a name such as 'word2vec', or"):
        bb.train_embedding(some, 3)  # type: ignore[arg-type]
    lonely = bb.corpus.Corpus([["one"]] * 9, name="lonely")
    with pytest.raises(DataError, match="'lonely': no two words of the vocabulary occur in one"):
        bb.train_embedding(lonely, "glove")


def test_pmi_of_bootstrap_samples(some: bb.corpus.Corpus) -> None:
    first, second = bb.train_replicates(some, "pmi", replicates=2, resample=True, dim=5)
    assert first.words != second.words
