"""Nearest words, analogies and changed vectors, beside gensim's KeyedVectors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import DataError, SpecError, VocabularyError

GIVEN = [
    (["nurse"], []),
    (["king", "woman"], ["man"]),
    (["doctor", "she", "her"], ["he", "him"]),
    ([], ["good"]),
]


@pytest.mark.parametrize(("positive", "negative"), GIVEN)
def test_most_similar_is_that_of_gensim(
    demo: bb.Embedding, positive: list[str], negative: list[str]
) -> None:
    expected = demo.to_gensim().most_similar(positive, negative, topn=20)
    found = demo.most_similar(positive, negative, n=20)
    assert found["word"].tolist() == [word for word, _ in expected]
    np.testing.assert_allclose(found["cosine"], [cosine for _, cosine in expected], atol=1e-5)


def test_vectors_are_as_good_as_words(demo: bb.Embedding) -> None:
    kv = demo.to_gensim()
    expected = kv.most_similar([demo["king"], "woman"], ["man"], topn=5)
    found = demo.most_similar([demo["king"], "woman"], "man", n=5)
    assert found["word"].tolist() == [word for word, _ in expected]
    alone = demo.most_similar(3 * demo["king"], n=1)
    assert alone["word"].item() == "king"
    assert alone["cosine"].item() == pytest.approx(1)
    assert demo.most_similar("king", n=1, exclude=False)["word"].item() == "king"


def test_similarity_is_that_of_gensim(demo: bb.Embedding) -> None:
    kv = demo.to_gensim()
    for a, b in (("doctor", "nurse"), ("man", "man"), ("he", "sugar")):
        assert demo.similarity(a, b) == pytest.approx(float(kv.similarity(a, b)), abs=1e-6)


def test_analogy_is_that_of_gensim_and_of_the_metrics(demo: bb.Embedding) -> None:
    found = demo.analogy("man", "doctor", "woman", n=5)
    expected = demo.to_gensim().most_similar(["doctor", "woman"], ["man"], topn=5)
    assert found["word"].tolist() == [word for word, _ in expected]
    other = bb.metrics.complete_analogy(demo, "man", "doctor", "woman", n=5)
    assert found.equals(other)


def test_normalized_is_that_of_gensim(demo: bb.Embedding) -> None:
    expected = demo.to_gensim().get_normed_vectors()
    unit = demo.normalized()
    np.testing.assert_allclose(unit.vectors, expected, atol=1e-6)
    assert unit.name == demo.name
    assert unit.normalized("again").name == "again"
    zero = bb.Embedding(["a", "b"], [[0.0, 0.0], [3.0, 4.0]]).normalized()
    np.testing.assert_allclose(zero.vectors, [[0, 0], [0.6, 0.8]], atol=1e-7)


def test_replaced_vectors_are_those_of_a_new_embedding() -> None:
    emb = bb.Embedding(["he", "she", "New York"], np.eye(3), "tiny")
    emb = emb.with_matching(threshold=0.5)
    new = emb.replace({"New York": [1, 2, 3]}, she=[0.5, 0.5, 0])
    assert new["New York"].tolist() == [1, 2, 3]
    assert new["she"].tolist() == [0.5, 0.5, 0]
    assert new["he"].tolist() == emb["he"].tolist()
    assert (new.name, new.matching) == (emb.name, emb.matching)
    assert emb["she"].tolist() == [0, 1, 0]
    with pytest.raises(VocabularyError, match="'it' is not in the embedding 'tiny'"):
        emb.replace(it=[1, 2, 3])
    with pytest.raises(DataError, match=r"vector of 'she' has the shape \(2,\); expected 3"):
        emb.replace(she=[1, 2])
    with pytest.raises(DataError, match="'she'.*NaN"):
        emb.replace(she=[1, np.nan, 2])


def test_equal_embeddings_have_the_same_words_and_vectors() -> None:
    words, vectors = ["he", "she"], np.array([[1.0, 0.0], [0.0, 1.0]])
    emb = bb.Embedding(words, vectors, "one")
    same = bb.Embedding(words, vectors.copy(), "another").with_matching(threshold=0.9)
    assert emb == same
    assert hash(emb) == hash(same)
    assert emb == pickle.loads(pickle.dumps(emb))
    assert emb == bb.Embedding.from_gensim(emb.to_gensim())
    for other in (
        emb.replace(she=[0.0, 2.0]),
        emb.subset(["she", "he"]),
        bb.Embedding(["he", "it"], vectors),
        bb.Embedding(words, np.eye(3)[:2]),
        "one",
    ):
        assert emb != other
    zero = bb.Embedding(["a"], [[0.0, 1.0]])
    negative_zero = bb.Embedding(["a"], [[-0.0, 1.0]])
    assert zero == negative_zero
    assert hash(zero) == hash(negative_zero)
    assert len({emb, same}) == 1


def test_what_cannot_be_found_is_named(demo: bb.Embedding) -> None:
    with pytest.raises(VocabularyError, match="'xyzzy' is not in the embedding 'demo'"):
        demo.most_similar("xyzzy")
    with pytest.raises(VocabularyError, match="'xyzzy'"):
        demo.similarity("he", "xyzzy")
    with pytest.raises(SpecError, match="no word is given"):
        demo.most_similar()
    with pytest.raises(SpecError, match="'positive' is 3; expected words or vectors"):
        demo.most_similar(3)
    with pytest.raises(DataError, match="shape"):
        demo.most_similar(np.ones(3))
    with pytest.raises(DataError, match="zero"):
        demo.most_similar("he", "he")
    with pytest.raises(SpecError, match="'n' is 0"):
        demo.most_similar("he", n=0)
