"""What holds for every metric, whatever the vectors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning

# Random attributes teach a classifier nothing, and RNSB says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*classifier is right for only")

CLOSED = ("weat", "weat_es", "rnd", "mac", "ect", "ripa", "nas", "same", "generalized_weat")
CLOSED += ("direct_bias", "indirect_bias", "rnsb", "rnsb_groups")
# Only directions count.
COSINE = [n for n in CLOSED if n not in ("rnd", "ripa", "ect", "rnsb", "rnsb_groups")]
# The second target set is the opposite of the first.
OPPOSED = ("weat", "weat_es", "rnd", "ripa", "nas")
SYMMETRIC = [n for n in CLOSED if n not in (*OPPOSED, "generalized_weat")]

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 6)


def made(
    seed: int, targets: int, attributes: int, template: tuple[Any, Any]
) -> tuple[bb.Query, bb.Embedding]:
    rng = np.random.default_rng(seed)
    shape = [2 if n == "n" else n for n in template]
    counts = [targets] * shape[0] + [attributes] * shape[1]
    sets = [[f"{i}-{j}" for j in range(n)] for i, n in enumerate(counts)]
    words = [w for s in sets for w in s]
    vectors = rng.normal(size=(len(words), 7)) * rng.lognormal(size=(len(words), 1))
    return bb.Query(sets[: shape[0]], sets[shape[0] :]), bb.Embedding(words, vectors, "random")


def value(name: str, query: bb.Query, emb: bb.Embedding) -> float:
    return bb.metrics.METRICS[name]().run_query(query, emb).value


def close(expected: float) -> Any:
    # Vectors are float32.
    return pytest.approx(expected, rel=2e-3, abs=2e-4)


@pytest.mark.parametrize("name", CLOSED)
@given(seed=seeds, targets=sizes, attributes=sizes)
def test_rotation_changes_nothing(name: str, seed: int, targets: int, attributes: int) -> None:
    query, emb = made(seed, targets, attributes, bb.metrics.METRICS[name].template)
    rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(7, 7)))[0]
    turned = bb.Embedding(emb.words, emb.vectors @ rotation, "turned")
    before = value(name, query, emb)
    if name == "ect" or (name == "indirect_bias" and abs(before) > 5):
        return  # ranks, or a ratio of nearly nothing, may jump by rounding
    assert value(name, query, turned) == close(before)


@pytest.mark.parametrize("name", COSINE)
@given(seed=seeds, targets=sizes, attributes=sizes)
def test_lengths_do_not_matter(name: str, seed: int, targets: int, attributes: int) -> None:
    query, emb = made(seed, targets, attributes, bb.metrics.METRICS[name].template)
    lengths = np.random.default_rng(seed).uniform(0.5, 2, size=(len(emb), 1))
    scaled = bb.Embedding(emb.words, emb.vectors * lengths, "scaled")
    before = value(name, query, emb)
    if name == "indirect_bias" and abs(before) > 5:
        return
    assert value(name, query, scaled) == close(before)


@pytest.mark.parametrize("name", OPPOSED)
@given(seed=seeds, targets=sizes, attributes=sizes)
def test_swapping_targets_flips_the_sign(
    name: str, seed: int, targets: int, attributes: int
) -> None:
    query, emb = made(seed, targets, attributes, bb.metrics.METRICS[name].template)
    swapped = bb.Query(query.target_sets[::-1], query.attribute_sets)
    assert value(name, swapped, emb) == pytest.approx(-value(name, query, emb), abs=1e-9)


@pytest.mark.parametrize("name", SYMMETRIC)
@given(seed=seeds, targets=sizes, attributes=sizes)
def test_swapping_targets_changes_nothing(
    name: str, seed: int, targets: int, attributes: int
) -> None:
    query, emb = made(seed, targets, attributes, bb.metrics.METRICS[name].template)
    swapped = bb.Query(query.target_sets[::-1], query.attribute_sets)
    assert value(name, swapped, emb) == pytest.approx(value(name, query, emb), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", CLOSED)
@given(seed=seeds, targets=sizes, attributes=sizes)
def test_order_of_words_does_not_matter(
    name: str, seed: int, targets: int, attributes: int
) -> None:
    query, emb = made(seed, targets, attributes, bb.metrics.METRICS[name].template)
    turned = bb.Query(
        [list(s)[::-1] for s in query.target_sets], [list(s)[::-1] for s in query.attribute_sets]
    )
    assert value(name, turned, emb) == pytest.approx(value(name, query, emb), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", CLOSED)
@given(seed=seeds, targets=sizes, attributes=sizes)
def test_values_and_draws_keep_to_their_range(
    name: str, seed: int, targets: int, attributes: int
) -> None:
    metric = bb.metrics.METRICS[name]()
    query, emb = made(seed, targets, attributes, metric.template)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesBiasWarning)
        score = metric.posterior(query, emb, draws=20)
    if score.draws is None:
        assert score.no_interval is not None
        return
    low, high = metric.value_range
    assert low - 1e-9 <= min(score.value, *score.draws)
    assert max(score.value, *score.draws) <= high + 1e-9


@given(seed=seeds, targets=sizes, attributes=sizes)
def test_weat_of_equal_groups_is_twice_generalized_weat(
    seed: int, targets: int, attributes: int
) -> None:
    query, emb = made(seed, targets, attributes, (2, 2))
    # Σ s(T₁) − Σ s(T₂) = n (mean s(T₁) − mean s(T₂)), and the latter is twice the sum of products.
    weat = value("weat", query, emb)
    assert value("generalized_weat", query, emb) == pytest.approx(weat / targets / 2, abs=1e-9)


@given(seed=seeds, targets=sizes, attributes=sizes)
def test_p_values_of_both_sides_add_up(seed: int, targets: int, attributes: int) -> None:
    query, emb = made(seed, targets, attributes, (2, 1))
    right, left = (
        bb.metrics.NAS()
        .run_query(query, emb, calculate_p_value=True, p_value_test_type=side)
        .p_value
        for side in ("right-sided", "left-sided")
    )
    # Every partition counts on one side, those as extreme as the observed on both.
    assert right + left >= 1
    assert 0 < right <= 1
