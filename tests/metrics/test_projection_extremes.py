"""Extreme projections, against plain computations and a simulation with known truth."""

from __future__ import annotations

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, SpecError, VocabularyError
from bayesbias.metrics.projection_extremes import _resampled_directions

PAIRS = [("he", "she"), ("man", "woman"), ("father", "mother"), ("boy", "girl")]


def test_extremes_are_those_of_the_sorted_projections(demo: bb.Embedding) -> None:
    found = bb.metrics.extreme_projections(demo, axis=PAIRS, n_words=7, vocabulary=3000, draws=50)
    words = [w for w in demo.words[:3000] if w.isalpha() and w == w.lower() and len(w) > 1]
    words = [w for w in words if w not in {word for pair in PAIRS for word in pair}]
    expected = bb.metrics.project_words(demo, words, x=PAIRS).sort_values("x", ascending=False)
    first, second = (found.table[found.table["side"] == side] for side in ("he", "she"))
    assert first["word"].tolist() == expected["word"].head(7).tolist()
    assert second["word"].tolist() == expected["word"].tail(7).tolist()[::-1]
    assert len(found.values) == len(words)
    np.testing.assert_allclose(first["projection"], expected["x"].head(7))
    inside = found.table["projection"].between(found.table["lower"], found.table["upper"])
    assert inside.all()


def test_directions_are_weighted_principal_components() -> None:
    """In the space of the pairs as in that of the dimensions, by NumPy's SVD."""
    rng = np.random.default_rng(3)
    differences = rng.normal(0.5, 1.0, (6, 20))
    drawn = _resampled_directions(differences, 8, np.random.default_rng(5))
    weights = np.random.default_rng(5).standard_exponential((8, 6))
    for direction, weight in zip(drawn, weights, strict=True):
        component = np.linalg.svd(np.sqrt(weight)[:, None] * differences)[2][0]
        component *= np.sign(weight @ (differences @ component))
        np.testing.assert_allclose(direction, component, atol=1e-10)


def test_the_spread_follows_the_noise_of_the_pairs() -> None:
    """Pairs that agree leave no spread; noisy ones leave one, and other words are extreme."""
    rng = np.random.default_rng(0)
    truth = np.eye(30)[0]
    others = [f"w{i}" for i in range(300)]
    vectors = rng.normal(size=(300, 30))
    tables = []
    for noise in (0.0, 0.6):
        halves = truth + noise * rng.normal(size=(8, 30))
        centres = 0.01 * rng.normal(size=(8, 30)) * (noise > 0)
        names = [f"{end}{i}" for i in range(8) for end in "ab"]
        pairs = np.stack([centres + halves, centres - halves], axis=1).reshape(16, 30)
        emb = bb.Embedding(names + others, np.vstack([pairs, vectors]), name="made")
        axis = [(f"a{i}", f"b{i}") for i in range(8)]
        found = bb.metrics.extreme_projections(emb, others, axis=axis, n_words=10, seed=1)
        tables.append(found.table)
    exact, noisy = tables
    np.testing.assert_allclose(exact["upper"] - exact["lower"], 0, atol=1e-9)
    assert (exact["prob_extreme"] == 1).all()
    assert (
        exact["word"].iloc[0]
        == others[int(np.argmax(vectors[:, 0] / np.linalg.norm(vectors, axis=1)))]
    )
    assert (noisy["upper"] - noisy["lower"] > 0.05).all()
    assert noisy["prob_extreme"].mean() < 0.9


def test_probabilities_are_counts_of_the_draws(demo: bb.Embedding) -> None:
    words = list(bb.word_sets("weat")["career"]) + list(bb.word_sets("weat")["family"])
    found = bb.metrics.extreme_projections(demo, words, axis=PAIRS, n_words=3, draws=200, seed=4)
    unit = np.array([demo.vectors[demo.match([w]).rows[0]] for w in words], dtype=float)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    ends = np.array([[demo.vectors[demo.match([w]).rows[0]] for w in pair] for pair in PAIRS])
    ends = ends.astype(float) / np.linalg.norm(ends.astype(float), axis=2, keepdims=True)
    drawn = unit @ _resampled_directions(ends[:, 0] - ends[:, 1], 200, np.random.default_rng(4)).T
    order = np.argsort(drawn, axis=0)
    for row in found.table.to_dict("records"):
        places = order[-3:] if row["side"] == "he" else order[:3]
        share = (places == words.index(row["word"])).any(axis=0).mean()
        assert row["prob_extreme"] == pytest.approx(share)


def test_an_axis_of_one_pair_or_word_has_no_spread(demo: bb.Embedding) -> None:
    for axis in (("he", "she"), "king"):
        found = bb.metrics.extreme_projections(demo, axis=axis, n_words=4, vocabulary=500)
        assert found.table[["lower", "upper", "prob_extreme"]].isna().all(axis=None)
        assert "unknown" in found.summary()
        assert bb.plot_projection_extremes(found).get_yticklabels()
    assert found.ends == ("king", "away from king")


def test_several_lists_and_bad_input(demo: bb.Embedding) -> None:
    lists = {"career": bb.word_sets("weat")["career"], "family": ["home", "xyzzy", "she"]}
    with pytest.warns(BayesBiasWarning, match="xyzzy"):
        found = bb.metrics.extreme_projections(demo, lists, axis=PAIRS, n_words=2, draws=20)
    assert found.values["word_set"].value_counts().to_dict() == {"career": 8, "family": 1}
    assert len(bb.plot_projection_distribution(found, labels=0).texts) == 0
    for text in (found.to_latex(), found._repr_html_(), found.summary()):
        assert "she and 3 more" in text
    with pytest.raises(SpecError, match="'n_words'"):
        bb.metrics.extreme_projections(demo, ["nurse"], n_words=2)
    with pytest.raises(VocabularyError, match="xyzzy"):
        bb.metrics.extreme_projections(demo, ["xyzzy"])
    with pytest.raises(VocabularyError, match="plugh"):
        bb.metrics.extreme_projections(demo, axis=("he", "plugh"))
    with pytest.raises(SpecError, match="extreme_projections"):
        bb.plot_projection_extremes("table")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'labels'"):
        bb.plot_projection_distribution(found, labels=-1)
