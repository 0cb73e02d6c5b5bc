"""Matching words with a vocabulary."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings import Matching, match
from bayesbias.embeddings.matching import described
from bayesbias.errors import SpecError, VocabularyError

WORDS = ["jose", "NASA", "nasa", "/c/en/nurse"]


@pytest.fixture
def embedding() -> bb.Embedding:
    return bb.Embedding(WORDS, np.eye(4), "words")


def test_a_bound_matching_is_used_and_kept(embedding: bb.Embedding) -> None:
    bound = embedding.with_matching(prefix="/c/en/", threshold=0.5)
    assert embedding.match(["nurse"]).missing == ("nurse",)
    assert bound.matching.threshold == 0.5
    for same in (bound, bound.with_vectors(np.eye(4)), bound.subset(WORDS)):
        assert same.match(["Nurse"]).entries == ("/c/en/nurse",)
    assert bound.match(["nurse"], Matching()).missing == ("nurse",)
    assert bound.vectors.base is embedding.vectors.base


def test_every_form_of_a_word(embedding: bb.Embedding) -> None:
    matched = embedding.with_matching(fallbacks=("exact", "upper"), strategy="all").match(["nasa"])
    assert matched.entries == ("nasa", "NASA")
    assert matched.found == ("nasa", "nasa")
    assert matched.places.tolist() == [0, 0]


def test_a_vector_is_used_once(embedding: bb.Embedding) -> None:
    matched = embedding.match(["jose", "José", "NASA"])
    assert matched.found == ("jose", "José", "NASA")
    distinct = matched.distinct()
    assert (distinct.found, distinct.rows.tolist()) == (("jose", "NASA"), [0, 1])
    assert distinct.missing == ()


def test_lists_that_lose_too_many(embedding: bb.Embedding) -> None:
    lists = {"a": ["jose", "x", "y"], "b": ["z"], "c": ["NASA"]}
    matched = match(embedding, lists, Matching(threshold=0.5))
    assert matched.missing == {"a": ("x", "y"), "b": ("z",)}
    first, second = matched.problems()
    assert "lacks 2 of 3 words of 'a' ('x', 'y')" in first
    assert "no word of 'b'" in second
    with pytest.raises(VocabularyError, match="no word of 'b'.*higher threshold"):
        matched.check()
    assert match(embedding, {"a": lists["a"]}, Matching(threshold=0.7)).check()["a"].found


def test_words_for_misspelt_ones() -> None:
    embedding = bb.Embedding(["worker", "rich", "banker"], np.eye(3), "x")
    matched = match(embedding, {"poor": ["workr"], "rich": ["rihc", "banker"], "old": ["zzz"]})
    with pytest.raises(VocabularyError, match=r"'worker' for 'workr', 'rich' for 'rihc'\. Correct"):
        matched.check(embedding.words)
    with pytest.raises(VocabularyError, match=r"\('zzz'\)\. Correct or replace"):
        matched.check()
    # A word that is listed itself is not meant.
    matched = match(embedding, {"a": ["bankerr", "banker"]})
    with pytest.raises(VocabularyError, match="^((?!Similar).)*$"):
        matched.check(embedding.words)


def test_lists_that_share_entries(embedding: bb.Embedding) -> None:
    matched = match(embedding, {"a": ["jose", "NASA"], "b": ["José"], "c": ["nasa"]})
    assert matched.overlaps() == [("a", "b", ("jose",))]


def test_what_is_not_a_matching(embedding: bb.Embedding) -> None:
    with pytest.raises(SpecError, match="'matching' is a tuple; expected a Matching"):
        embedding.match(["a"], ("exact",))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'threshold' is 2"):
        Matching(threshold=2)
    with pytest.raises(SpecError, match="'strategy' is 'any'"):
        embedding.with_matching(strategy="any")  # type: ignore[arg-type]


def test_words_of_distinct_entries_keep_their_names() -> None:
    """As many rows as words, but two of them are forms of the first word."""
    both = bb.Embedding(["nasa", "NASA"], np.eye(2))
    matched = both.match(["nasa", "NASA"], Matching(("exact", "upper"), strategy="all"))
    assert matched.distinct().found == ("nasa", "nasa")


def test_a_function_is_a_fallback() -> None:
    emb = bb.Embedding(["New_York", "nasa"], [[1.0, 0.0], [0.0, 1.0]])
    underscores = Matching(("exact", lambda word: word.replace(" ", "_"), "lower"))
    assert emb.match(["New York", "NASA", "xyzzy"], underscores).entries == ("New_York", "nasa")
    assert emb.with_matching(underscores).match(["New York"]).missing == ()
    both = underscores.changed(strategy="all", prefix="/c/en/")
    prefixed = bb.Embedding(["New_York", "/c/en/New_York"], [[1.0, 0.0], [0.0, 1.0]])
    assert prefixed.match(["New York"], both).entries == ("New_York", "/c/en/New_York")
    assert hash(underscores) == hash(underscores.changed())
    with pytest.raises(SpecError, match="function 'len' of 'fallbacks' returned 4 for 'nope'"):
        emb.match(["nope"], Matching(("exact", len)))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'fallbacks' is a function; give it in a list"):
        Matching(str.lower)  # type: ignore[arg-type]


def test_metrics_and_tables_use_the_function(demo: bb.Embedding) -> None:
    marked = bb.Embedding([f"{word}_NOUN" for word in demo.words], demo.vectors, "tagged")
    nouns = marked.with_matching(fallbacks=["exact", lambda word: f"{word.lower()}_NOUN"])
    query = bb.load_query("weat_7")
    expected = bb.metrics.WEAT().run_query(query, demo).value
    assert bb.metrics.WEAT().run_query(query, nouns).value == pytest.approx(expected)
    assert len(bb.run_queries("weat", query, [nouns], n_jobs=2, progress=False)) == 1
    study = bb.load_study("weat_7")
    assert len(bb.distance_table(nouns, study)) == len(bb.distance_table(demo, study))


def test_settings_can_be_written_down() -> None:
    settings = described(Matching(("exact", str.swapcase), threshold=0.5))
    assert json.loads(json.dumps(settings))["fallbacks"][0] == "exact"
    assert "swapcase" in json.dumps(settings)
