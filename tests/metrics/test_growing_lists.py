"""Values for lists that grow, beside those for weights of the words."""

from __future__ import annotations

import numpy as np
import pytest
from grown_lists import made
from hypothesis import given
from hypothesis import strategies as st

import bayesbias as bb


@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), draws=st.integers(1, 6))
def test_nested_subsets(seed: int, n: int, draws: int) -> None:
    """Weights and means, beside a plain loop; a set that does not grow counts as a whole."""
    rng = np.random.default_rng(seed)
    order, counts = rng.permutation(n), np.sort(rng.integers(1, n + 1, draws))
    matrix = rng.normal(size=(n, 3))
    sets = [bb.metrics.WordVectors(name, tuple(map(str, range(n))), matrix) for name in ("a", "b")]
    subsets = bb.metrics.NestedSubsets({1: order}, {1: counts})
    assert len(subsets) == draws
    fixed, grown = subsets.weights(sets)
    np.testing.assert_array_equal(fixed, np.ones((1, n)))
    np.testing.assert_allclose(subsets.means(0, matrix), [matrix.mean(axis=0)])
    for row, mean, count in zip(grown, subsets.means(1, matrix), counts, strict=True):
        np.testing.assert_array_equal(np.flatnonzero(row), np.sort(order[:count]))
        np.testing.assert_allclose(mean, matrix[order[:count]].mean(axis=0), atol=1e-12)
    part = subsets.part(slice(1, None))
    np.testing.assert_array_equal(part.weights(sets)[1], grown[1:])
    assert len(subsets.weights(sets[:1])) == 1, "attribute sets may be left out"


@pytest.mark.parametrize("name", ["weat", "weat_es", "rnsb", "rnsb_groups"])
@pytest.mark.parametrize("grown", [(0, 1), (2, 3)])
def test_metrics_of_their_own_cumulative_agree_with_weights(
    name: str, grown: tuple[int, int]
) -> None:
    query, [embedding] = made((6, 7), (8, 9), number=1)
    measurement = bb.metrics.METRICS[name]().on(query, embedding)
    rng = np.random.default_rng(0)
    orders = {i: rng.permutation(len(measurement.words.sets[i])) for i in grown}
    counts = {i: np.arange(2, 6) for i in grown}
    weights = bb.metrics.NestedSubsets(orders, counts).weights(measurement.words.sets)
    np.testing.assert_allclose(
        measurement.grow(orders, counts), measurement.evaluate(weights), rtol=1e-6
    )


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("side", ["targets", "attributes"])
def test_coherence_of_growing_lists_agrees_with_weights(groups: int, side: str) -> None:
    """Also with several groups, words that are there twice, and sizes of several batches."""
    rng = np.random.default_rng(groups)
    words = [f"w{i}" for i in range(400)]
    vectors = rng.normal(size=(400, 5))
    vectors[200:250] = vectors[250:300]  # ties
    embedding = bb.Embedding(words, vectors)
    targets = [words[10 * i : 10 * i + 10] for i in range(groups)]
    query = bb.Query(targets, [words[100:]])
    measurement = bb.metrics.ECT().on(query, embedding)
    grown = range(groups) if side == "targets" else [groups]
    orders = {i: rng.permutation(len(measurement.words.sets[i])) for i in grown}
    counts = {i: np.arange(2, len(orders[i]) + 1) for i in grown}
    weights = bb.metrics.NestedSubsets(orders, counts).weights(measurement.words.sets)
    np.testing.assert_allclose(
        measurement.grow(orders, counts), measurement.evaluate(weights), atol=1e-12
    )
