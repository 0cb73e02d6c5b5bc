"""Where frequencies are from, and whether a vocabulary is in their order."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.embeddings import Matching
from bayesbias.errors import (
    BayesBiasWarning,
    DataError,
    MissingDependencyError,
    NotFoundError,
    SpecError,
)
from bayesbias.wordlists.frequencies import check_frequency_order, frequency_source, log_frequencies

MATCHING = Matching(("exact", "lower"))


def named(words: list[str], name: str = "x") -> bb.Embedding:
    return bb.Embedding(words, np.ones((len(words), 2)), name)


@pytest.fixture(scope="module")
def austen() -> list[str]:
    """The words of three novels, the most frequent first."""
    return list(bb.read_corpus("demo").counts(5, progress=False)["word"])


def find(frequencies: object, words: list[str], embedding: bb.Embedding) -> list[float]:
    source = frequency_source(frequencies, MATCHING)  # type: ignore[arg-type]
    found = embedding.match(words, MATCHING)
    return log_frequencies(source, embedding, found.found, found.rows).tolist()


# Is it in the order of frequency?


def test_real_orders_pass(demo: bb.Embedding, austen: list[str]) -> None:
    check_frequency_order(demo)
    check_frequency_order(named(austen))
    check_frequency_order(demo.subset(demo.words[::-40]))  # a part, in another order of rows


@pytest.mark.parametrize("step", [1, 15])
def test_alphabetical_order_is_refused(austen: list[str], step: int) -> None:
    with pytest.raises(DataError, match=r"'x': the vocabulary is in alphabetical order \('a"):
        check_frequency_order(named(sorted(austen)[::step]))
    backwards = sorted((word.title() for word in austen), reverse=True)[::step]
    with pytest.raises(DataError, match="alphabetical order"):
        check_frequency_order(named(backwards))


def test_other_orders_are_refused(austen: list[str], rng: np.random.Generator) -> None:
    shuffled = [str(word) for word in rng.permutation(austen)]
    for words in (shuffled, austen[::-1], shuffled[:400]):
        with pytest.raises(DataError, match=r"not in the order of frequency.*give frequencies:"):
            check_frequency_order(named(words))


def test_what_cannot_be_checked_is_said(tiny: bb.Embedding, rng: np.random.Generator) -> None:
    letters = list("aeioukmnpst")
    foreign = ["".join(rng.choice(letters, rng.integers(9, 15))) for _ in range(300)]
    for embedding in (tiny, named(list(dict.fromkeys(foreign)), "y")):
        with pytest.warns(BayesBiasWarning, match="cannot be checked that the most frequent"):
            check_frequency_order(embedding)


def test_foreign_order_passes_by_the_length_of_words(rng: np.random.Generator) -> None:
    # Frequent words are short in all languages.
    lengths = np.sort(rng.integers(6, 15, 1500)) - np.where(np.arange(1500) < 100, 4, 0)
    letters = list("äöüßéčřžąę")
    words = dict.fromkeys("".join(rng.choice(letters, n)) for n in lengths)
    check_frequency_order(named(list(words)))


# Sources


def test_ranks(demo: bb.Embedding) -> None:
    assert find("rank", ["the", "nurse"], demo) == pytest.approx([0.0, -np.log(6795)])


def test_counts_of_all_kinds(tmp_path: Path) -> None:
    embedding = named(["he", "she"])
    counts = {"he": 8, "she": 4, "it": 0}
    frame = pd.DataFrame({"word": list(counts), "count": counts.values()})
    shares = frame.rename(columns={"count": "frequency"}).assign(frequency=frame["count"] / 12)
    frame.to_csv(tmp_path / "a.csv", index=False)
    shares.to_csv(tmp_path / "b.tsv", index=False, sep="\t")
    corpus = bb.corpus.Corpus(["he he he he he he he he", "she she she she"], name="small")
    for source in (counts, frame, corpus, tmp_path / "a.csv", str(tmp_path / "a.csv")):
        assert find(source, ["he", "she"], embedding) == pytest.approx(np.log([8, 4]))
    for source in (shares, tmp_path / "b.tsv"):
        assert find(source, ["he", "she"], embedding) == pytest.approx(np.log([8 / 12, 4 / 12]))
    assert "corpus 'small'" in frequency_source(corpus, MATCHING).label


@pytest.mark.parametrize("frequencies", ["rank", {"he": 8.0, "she": 4.0}])
def test_other_processes_get_the_same_source(frequencies: str | dict[str, float]) -> None:
    embedding = bb.Embedding(["he", "she"], [[1.0, 0.0], [0.0, 1.0]], "two")
    source = frequency_source(frequencies, MATCHING)
    assert frequency_source(source, None) is source
    sent = pickle.loads(pickle.dumps(source))
    assert sent.label == source.label
    assert sent.smallest(embedding) == source.smallest(embedding)
    rows = np.arange(2)
    np.testing.assert_array_equal(
        sent.find(embedding, ["he", "she"], rows), source.find(embedding, ["he", "she"], rows)
    )


def test_words_without_a_frequency(tiny: bb.Embedding) -> None:
    source = frequency_source({"he": 8, "she": 4, "clock": 0, "ox": 2}, MATCHING)
    rows = np.arange(5)
    message = r"no frequency of 'engineer', 'nurse', 'clock' in the given counts.*'lowest'"
    with pytest.raises(DataError, match=message):
        log_frequencies(source, tiny, tiny.words, rows)
    values = log_frequencies(source, tiny, tiny.words, rows, "lowest")
    assert values == pytest.approx(np.log([8, 4, 1, 1, 1]))  # half of the ox
    with pytest.raises(
        DataError, match="no frequency of 'nurse' .*none of the words has one"
    ) as told:
        log_frequencies(source, tiny, ["nurse"], rows[3:4], "lowest")
    assert "unknown_frequency" not in str(told.value)


def test_composed_words_have_no_rank() -> None:
    embedding = bb.Embedding(["a", "b"], np.ones((2, 2)), ranks=[7, 0])
    source = frequency_source("rank", MATCHING)
    with pytest.raises(DataError, match="no frequency of 'b' in the vocabulary's order"):
        log_frequencies(source, embedding, ["a", "b"], np.arange(2))
    values = log_frequencies(source, embedding, ["a", "b"], np.arange(2), "lowest")
    assert values == pytest.approx([-np.log(7), -np.log(14)])


def test_wordfreq(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = ModuleType("wordfreq")
    fake.available_languages = lambda: {"en": "", "de": ""}  # type: ignore[attr-defined]
    fake.get_frequency_dict = lambda language: {  # type: ignore[attr-defined]
        "en": {"he": 1e-3},
        "de": {"er": 1e-2},
    }[language]
    monkeypatch.setitem(sys.modules, "wordfreq", fake)
    embedding = named(["he", "er"])
    assert find("wordfreq", ["He"], embedding) == pytest.approx([np.log(1e-3)])
    assert find("wordfreq:de", ["er"], embedding) == pytest.approx([np.log(1e-2)])
    with pytest.raises(SpecError, match="wordfreq has no language 'xx'; it has 'de', 'en'"):
        frequency_source("wordfreq:xx", MATCHING)


def test_wordfreq_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'bayesbias\[frequency\]'"):
        frequency_source("wordfreq", MATCHING)


def test_real_wordfreq() -> None:
    wordfreq = pytest.importorskip("wordfreq")
    zipf = wordfreq.zipf_frequency("nurse", "en")
    found = find("wordfreq", ["nurse"], named(["nurse"]))
    assert found == pytest.approx([(zipf - 9) * np.log(10)], abs=0.02)


@pytest.mark.parametrize(
    ("frequencies", "error", "message"),
    [
        (
            "ranks",
            NotFoundError,
            "neither a file nor one of 'rank'.*Did you mean 'rank'?",
        ),
        (None, SpecError, "'frequencies' is None; expected 'rank'"),
        (5, SpecError, "'frequencies' is an int; expected a table"),
        ({"he": 0}, DataError, "no word has a count above 0"),
        ({"he": -1}, DataError, "expected 0 or more"),
        (pd.DataFrame({"word": ["he"]}), DataError, "no column 'count'"),
    ],
)
def test_bad_sources(frequencies: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        frequency_source(frequencies, MATCHING)  # type: ignore[arg-type]
