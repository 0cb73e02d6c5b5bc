"""Half-sibling regression."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

import bayesbias as bb
from bayesbias.errors import SpecError, VocabularyError

GENDERED = [f"g{i}" for i in range(6)]
WORDS = [*GENDERED, *(f"w{i}" for i in range(60))]


@pytest.fixture
def emb(rng: np.random.Generator) -> bb.Embedding:
    return bb.Embedding(WORDS, rng.normal(size=(len(WORDS), 10)), "random")


@given(st.integers(0, 10_000), st.floats(0.1, 1000))
def test_is_ridge_regression(seed: int, alpha: float) -> None:
    """What is left are the residuals of predicting words from words, dimensions as the cases."""
    rng = np.random.default_rng(seed)
    dim, gendered = int(rng.integers(2, 12)), int(rng.integers(1, 7))
    emb = bb.Embedding(WORDS, rng.normal(size=(len(WORDS), dim)), "random")
    debiaser = bb.debias.HalfSiblingRegression(alpha).fit(emb, definition=GENDERED[:gendered])
    after = debiaser.transform(emb).vectors
    vectors = emb.vectors.astype(float).T
    model = Ridge(alpha, fit_intercept=False).fit(vectors[:, :gendered], vectors[:, gendered:])
    expected = vectors[:, gendered:] - model.predict(vectors[:, :gendered])
    np.testing.assert_allclose(after[gendered:].T, expected, atol=1e-5)
    np.testing.assert_array_equal(after[:gendered], emb.vectors[:gendered])


def test_alpha(emb: bb.Embedding) -> None:
    """Next to no ridge takes all that the gendered words span; a strong one takes nothing."""
    after = bb.debias.HalfSiblingRegression(1e-9).fit(emb, definition=GENDERED).transform(emb)
    along = after.vectors[6:].astype(float) @ emb.vectors[:6].T.astype(float)
    np.testing.assert_allclose(along, 0, atol=1e-5)
    assert np.linalg.norm(after.vectors[6:]) > 1
    after = bb.debias.HalfSiblingRegression(1e9).fit(emb, definition=GENDERED).transform(emb)
    np.testing.assert_allclose(after.vectors, emb.vectors, atol=1e-6)


def test_other_words_stay_to_the_bit(emb: bb.Embedding) -> None:
    debiaser = bb.debias.HalfSiblingRegression().fit(emb, definition=GENDERED)
    after = debiaser.transform(emb, target=["w1", "w2", "g0"])
    changed = (after.vectors != emb.vectors).any(axis=1)
    assert [WORDS[i] for i in np.flatnonzero(changed)] == ["w1", "w2"]
    after = debiaser.transform(emb, ignore=["w1", "w2"])
    changed = (after.vectors != emb.vectors).any(axis=1)
    assert [WORDS[i] for i in np.flatnonzero(~changed)] == [*GENDERED, "w1", "w2"]


def test_another_embedding_is_changed_by_what_it_is_given(emb: bb.Embedding) -> None:
    debiaser = bb.debias.HalfSiblingRegression().fit(emb, definition=GENDERED)
    other = bb.Embedding(["x", "g1", "y"], 2 * emb.vectors[[20, 30, 40]], "other")
    after = debiaser.transform(other)
    expected = 2 * debiaser.transform(emb).vectors[[20, 40]]
    np.testing.assert_allclose(after.vectors[[0, 2]], expected, rtol=1e-5)
    np.testing.assert_array_equal(after["g1"], other["g1"])


def test_gender_of_the_demo(demo: bb.Embedding) -> None:
    after = bb.debias.HalfSiblingRegression().fit(demo).transform(demo)
    assert "actress" in demo
    np.testing.assert_array_equal(after["actress"], demo["actress"])
    assert not np.allclose(after["nurse"], demo["nurse"], atol=0.1)
    query = bb.load_query("weat_7")
    before, later = (bb.metrics.WEATEffectSize().run_query(query, e).value for e in (demo, after))
    assert 0 < later < before


def test_bad_input(emb: bb.Embedding) -> None:
    for alpha in (0, -60, np.nan, np.inf, "60"):
        with pytest.raises(SpecError, match=r"'alpha' is .*; expected a number above 0"):
            bb.debias.HalfSiblingRegression(alpha).fit(  # type: ignore[arg-type]
                emb, definition=GENDERED
            )
    with pytest.raises(VocabularyError, match="'random' has no word of 'definition'"):
        bb.debias.HalfSiblingRegression().fit(emb, definition=["he", "she"])
    with pytest.raises(SpecError, match="'definition' is empty"):
        bb.debias.HalfSiblingRegression().fit(emb, definition=[])
    with pytest.raises(SpecError, match="'embedding' is an int; expected an Embedding"):
        bb.debias.HalfSiblingRegression().fit(3)  # type: ignore[arg-type]
