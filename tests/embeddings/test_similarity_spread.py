from __future__ import annotations

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings import similarity_spread
from bayesbias.errors import SpecError


def test_random_directions_have_the_known_spread() -> None:
    """The variance of the cosine of two random directions is 1 / d, in any number of dimensions."""
    found = similarity_spread(dimensions=[2, 3, 10, 100], pairs=20_000)
    rows = found[found["points"] == "random directions"]
    np.testing.assert_allclose(rows["sd"], 1 / np.sqrt(rows["dim"]), rtol=0.02)
    np.testing.assert_allclose(rows["mean"], 0, atol=0.02)


def test_uniform_points_approach_the_known_spread() -> None:
    """By the delta method: mean 3/4, and variance 1 / (10 d)."""
    found = similarity_spread(dimensions=[100, 1000], pairs=20_000)
    rows = found[found["points"] == "uniform points"]
    np.testing.assert_allclose(rows["sd"], 1 / np.sqrt(10 * rows["dim"]), rtol=0.03)
    np.testing.assert_allclose(rows["mean"], 0.75, atol=0.01)


def test_the_experiment_of_the_thesis() -> None:
    """One point against all others, as the thesis describes it, gives the same curve."""
    rng = np.random.default_rng(2)
    found = similarity_spread(dimensions=[10, 50, 200]).query("points == 'uniform points'")
    for dim, sd in zip(found["dim"], found["sd"], strict=True):
        spreads = []
        for _ in range(20):
            points = rng.random((400, dim))
            unit = points / np.linalg.norm(points, axis=1, keepdims=True)
            spreads.append((unit[1:] @ unit[0]).var())
        # Among the similarities with one point, a part of the variance is missing.
        assert 0.5 * sd < np.sqrt(np.mean(spreads)) < sd
    assert found["sd"].is_monotonic_decreasing


def test_words_against_all_pairs(demo: bb.Embedding) -> None:
    part = demo.subset(demo.words[:400])
    found = similarity_spread(part, dimensions=[], pairs=40_000)
    unit = part.vectors / np.linalg.norm(part.vectors, axis=1, keepdims=True)
    all_pairs = (unit @ unit.T)[np.triu_indices(400, 1)]
    assert found["sd"].item() == pytest.approx(all_pairs.std(), rel=0.02)
    assert found["mean"].item() == pytest.approx(all_pairs.mean(), rel=0.02)
    assert found[["points", "dim"]].to_numpy().tolist() == [[part.name, 50]]


def test_the_same_seed_gives_the_same_table() -> None:
    first, again, other = (similarity_spread("demo", pairs=50, seed=s) for s in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_bad_input() -> None:
    with pytest.raises(SpecError, match="'dimensions' is 1"):
        similarity_spread(dimensions=[1])
    with pytest.raises(SpecError, match="neither"):
        similarity_spread(dimensions=[])
    with pytest.raises(SpecError, match="one word"):
        similarity_spread(bb.Embedding(["a"], [[1.0, 0.0]]))
