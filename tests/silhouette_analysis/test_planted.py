"""Embeddings with a bias of known strength."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import SpecError

WEAT_6 = bb.load_query("weat_6")
ONE_CONCEPT = WEAT_6.subqueries((2, 1))[0]


def cosine_difference(query: bb.Query, embedding: bb.Embedding) -> float:
    """The mean cosine of sets in the same place less that of others, set by set."""

    def unit(words: Any) -> Any:
        vectors = np.array([embedding[word] for word in words], dtype=float)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    closeness = np.array(
        [[(unit(t) @ unit(a).T).mean() for a in query.attribute_sets] for t in query.target_sets]
    )
    same = np.eye(*closeness.shape, dtype=bool)
    # Each concept by itself: with its own group and with the others.
    return float(
        np.mean(
            [
                column[here].mean() - column[~here].mean()
                for column, here in zip(closeness.T, same.T, strict=True)
                if here.any()
            ]
        )
    )


THREE = bb.Query(
    [[f"t{i}{j}" for j in range(5 + i)] for i in range(3)],
    [[f"a{i}{j}" for j in range(4 + i)] for i in range(3)],
)


@pytest.mark.parametrize("strength", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("query", [WEAT_6, ONE_CONCEPT, THREE], ids=["two", "one", "three"])
@pytest.mark.parametrize("real", [False, True])
def test_strength_is_the_expected_difference(
    query: bb.Query, strength: float, real: bool, demo: bb.Embedding
) -> None:
    like = demo if real else None
    found = [
        cosine_difference(
            query, bb.silhouette_analysis.planted_embedding(query, strength, like=like, seed=seed)
        )
        for seed in range(60)
    ]
    error = np.std(found) / np.sqrt(60)
    assert error < 0.006
    assert np.mean(found) == pytest.approx(strength, abs=4 * error)


def test_it_is_an_embedding_of_the_words(demo: bb.Embedding) -> None:
    found = bb.silhouette_analysis.planted_embedding(WEAT_6, 0.15)
    assert found.name == "planted 0.15"
    assert set(found.words) == {word for words in WEAT_6.word_sets().values() for word in words}
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, rtol=1e-6)
    other = bb.silhouette_analysis.planted_embedding(WEAT_6, 0.15, dim=20, name="mine")
    assert (other.dim, other.name) == (20, "mine")
    # As long as rows of the real one.
    real = bb.silhouette_analysis.planted_embedding(WEAT_6, 0.15, like=demo, dim=7)
    assert real.dim == demo.dim
    lengths = np.linalg.norm(demo.vectors, axis=1)
    for length in np.linalg.norm(real.vectors, axis=1):
        assert np.abs(lengths - length).min() < 1e-4


def test_same_seed_same_embedding(demo: bb.Embedding) -> None:
    for like in (None, demo):
        one, two, other = (
            bb.silhouette_analysis.planted_embedding(WEAT_6, 0.1, like=like, seed=seed).vectors
            for seed in (1, 1, 2)
        )
        assert (one == two).all()
        assert not np.allclose(one, other)
    # Target words are the same whatever the strength.
    weak, strong = (bb.silhouette_analysis.planted_embedding(WEAT_6, s) for s in (0.0, 0.3))
    first = WEAT_6.target_sets[0][0]
    assert (weak[first] == strong[first]).all()


def test_a_word_in_several_sets_leans_to_none() -> None:
    query = bb.Query([["x", "y"], ["z", "w"]], [["x", "p"], ["q", "p"]])
    embedding = bb.silhouette_analysis.planted_embedding(query, 0.3)
    assert sorted(embedding.words) == ["p", "q", "w", "x", "y", "z"]
    neutral = bb.silhouette_analysis.planted_embedding(query, 0.0)
    assert (embedding["x"] == neutral["x"]).all()
    assert (embedding["p"] == neutral["p"]).all()
    assert not np.allclose(embedding["q"], neutral["q"])


FAMILIES: list[tuple[str, bb.Query, dict[str, Any]]] = [
    ("weat_es", WEAT_6, {}),
    ("ect", ONE_CONCEPT, {}),
    ("rnsb", WEAT_6, {}),
    ("rnsb_groups", WEAT_6, {}),
    ("mac", WEAT_6, {}),
    ("rnd", ONE_CONCEPT, {"distance": "cos"}),
    ("rnd", ONE_CONCEPT, {"value_range": (-2, 2)}),
    ("nas", ONE_CONCEPT, {}),
    ("same", ONE_CONCEPT, {}),
    ("generalized_weat", WEAT_6, {}),
    ("semaxis", ONE_CONCEPT, {}),
    ("ripa", ONE_CONCEPT, {"value_range": (-1, 1)}),
    ("direct_bias", ONE_CONCEPT, {}),
]


@pytest.mark.parametrize("side", ["targets", "attributes"])
@pytest.mark.parametrize(("metric", "query", "options"), FAMILIES)
def test_accuracy_rises_with_the_bias(
    metric: str, query: bb.Query, options: dict[str, Any], side: Any
) -> None:
    strengths = (0.0, 0.05, 0.1, 0.2, 0.3)
    embeddings = [
        bb.silhouette_analysis.planted_embedding(query, s, name=f"{s}") for s in strengths
    ]
    found = bb.silhouettes(metric, query, embeddings, side=side, runs=30, **options)
    accuracies = [found.accuracy(f"{s}", "0.0") for s in strengths[1:]]
    assert (np.diff([0.5, *accuracies]) > 0).all()
    assert accuracies[-1].lower > 0.5


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"query": 6}, SpecError, "'query' is an int; expected a Query"),
    ({"strength": 0.4}, SpecError, "'strength' is 0.4; expected a number from 0 to 0.3"),
    ({"strength": -0.1}, SpecError, "'strength' is -0.1"),
    ({"strength": "strong"}, SpecError, "'strength' is 'strong'"),
    ({"dim": 4}, SpecError, "'dim' is 4; expected a whole number, 5 or more"),
    ({"seed": -1}, SpecError, "'seed' is -1"),
    ({"like": "demo"}, SpecError, "'like' is a str; expected an Embedding"),
]


@pytest.mark.parametrize(("change", "error", "message"), BAD)
def test_bad_input(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        bb.silhouette_analysis.planted_embedding(**({"query": WEAT_6, "strength": 0.1} | change))
