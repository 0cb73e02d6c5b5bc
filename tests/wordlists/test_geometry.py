"""How lists lie in an embedding: closed forms, SciPy's ranks, scikit-learn's components."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, rankdata
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity

import bayesbias as bb
from bayesbias.wordlists.check.geometry import (
    Vocabulary,
    coherences,
    cohesion,
    cosines_to_others,
    paired_variance,
    percentile,
    random_cohesions,
    shuffled_coherences,
    shuffled_variances,
    similarity,
)


def embedding(vectors: object, name: str = "made") -> bb.Embedding:
    matrix = np.asarray(vectors, dtype=np.float32)
    return bb.Embedding([f"w{i}" for i in range(len(matrix))], matrix, name)


def vocabulary(vectors: object) -> Vocabulary:
    return Vocabulary.of(embedding(vectors), None)


def coherence(known: Vocabulary, first: list[int], second: list[int]) -> float:
    pair = (known.unit(np.array(first)), known.unit(np.array(second)))
    return float(coherences(known, [pair])[0])


def by_scipy(vectors: object, first: list[int], second: list[int]) -> float:
    matrix = np.asarray(vectors, dtype=np.float32).astype(float)
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    direction = unit[first].mean(axis=0) - unit[second].mean(axis=0)
    ranks = rankdata((unit @ (direction / np.linalg.norm(direction))).round(12))
    return float(abs(ranks[first].mean() - ranks[second].mean()) / len(ranks))


def test_coherence_of_the_two_ends() -> None:
    # A fan of directions from -x to x; two lists hold its ends and are mirrored, so that their
    # difference is the x axis. The means of their ranks are as far apart as can be.
    angles = np.linspace(0, np.pi, 101)
    fan = np.column_stack([np.cos(angles), np.sin(angles)])
    known = vocabulary(fan)
    first, second = [0, 1, 2], [98, 99, 100]
    assert coherence(known, first, second) == pytest.approx(1 - 6 / (2 * 101))
    assert coherence(known, [0], [100]) == pytest.approx(100 / 101)
    # Lists in the middle are ten places apart.
    assert coherence(known, [45], [55]) == pytest.approx(10 / 101)
    # The same words, however they are ordered, make no direction.
    assert coherence(known, first, first[::-1]) == 0


def test_coherence_where_words_are_no_help() -> None:
    # The lists differ along x only; all other words lie across it, at the same rank.
    vectors = [[1, 0], [-1, 0], *[[0, 1]] * 8]
    assert coherence(vocabulary(vectors), [0], [1]) == pytest.approx(9 / 10)
    # A word in both lists is in the middle.
    assert coherence(vocabulary(vectors), [0, 2], [1, 2]) == pytest.approx(4.5 / 10)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 6), st.integers(2, 9))
def test_coherence_is_that_of_scipys_ranks(seed: int, n: int, m: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(60, dim))
    vectors[30:40] = vectors[20:30]  # equal vectors have equal ranks
    first, second = rng.choice(60, n, False).tolist(), rng.choice(60, m, False).tolist()
    known = vocabulary(vectors)
    value = coherence(known, first, second)
    means = [known.unit(np.array(rows)).mean(axis=0) for rows in (first, second)]
    if np.allclose(*means):
        assert value == 0
        return
    assert value == pytest.approx(by_scipy(vectors, first, second), abs=1e-9)
    assert 0 <= value < 1
    assert coherence(known, second, first) == pytest.approx(value, abs=1e-9)
    longer = vocabulary(vectors * 8)
    assert coherence(longer, first, second) == pytest.approx(value, abs=1e-9)
    one, other = known.unit(np.array(first)), known.unit(np.array(second))
    assert similarity(one, other) == pytest.approx(similarity(other, one))
    assert -1 <= similarity(one, other) <= 1
    assert similarity(one, one) == pytest.approx(1)


def test_coherence_in_blocks(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    vectors = rng.normal(size=(500, 5))
    lists = [rng.choice(500, 7, False).tolist() for _ in range(4)]
    monkeypatch.setattr("bayesbias.wordlists.check.geometry._ROWS", 64)
    monkeypatch.setattr("bayesbias.wordlists.check.geometry._NUMBERS", 100)
    known = vocabulary(vectors)
    pairs = [(a, b) for a in range(4) for b in range(a)]
    units = [known.unit(np.array(rows)) for rows in lists]
    found = coherences(known, [(units[a], units[b]) for a, b in pairs])
    wanted = [by_scipy(vectors, lists[a], lists[b]) for a, b in pairs]
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_words_without_a_direction_do_not_count(rng: np.random.Generator) -> None:
    vectors = rng.normal(size=(40, 4))
    whole = coherence(vocabulary(vectors), [1, 2], [3, 4])
    with_zeros = np.vstack([vectors, np.zeros((10, 4))])
    assert coherence(vocabulary(with_zeros), [1, 2], [3, 4]) == pytest.approx(whole)


def test_similarity_of_known_angles() -> None:
    x, y = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    assert similarity(x, y) == 0
    assert similarity(x, -x) == -1
    assert similarity(np.vstack([x, y]), x) == pytest.approx(np.sqrt(0.5))
    assert np.isnan(similarity(np.vstack([x, -x]), y))  # a mean without a direction


@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(2, 9))
def test_first_component_is_scikit_learns(seed: int, n: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, n, dim))
    centre = (first + second) / 2
    wanted = PCA().fit(np.vstack([first - centre, second - centre])).explained_variance_ratio_[0]
    assert paired_variance(first, second) == pytest.approx(wanted)
    assert paired_variance(second, first) == pytest.approx(wanted)


def test_first_component_of_parallel_and_of_shuffled_pairs(rng: np.random.Generator) -> None:
    middle = rng.normal(size=(10, 20))
    one_way = rng.normal(size=20)
    first, second = middle + one_way, middle - one_way
    assert paired_variance(first, second) == pytest.approx(1)
    shuffled = shuffled_variances(first, second, 200, rng)
    assert (shuffled < 1 - 1e-9).mean() > 0.99  # now and then a shuffle changes nothing
    assert percentile(1.0, shuffled) > 99
    assert np.isnan(paired_variance(first, first))


@given(st.integers(0, 10_000), st.integers(2, 9))
def test_cohesion_is_scikit_learns(seed: int, n: int) -> None:
    unit = np.random.default_rng(seed).normal(size=(n, 4))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = cosine_similarity(unit)
    assert cohesion(unit) == pytest.approx(cosines[np.triu_indices(n, 1)].mean())
    others = (cosines.sum(axis=1) - 1) / (n - 1)
    np.testing.assert_allclose(cosines_to_others(unit), others, atol=1e-12)


class TestRandomLists:
    def test_other_words_each_once(self, rng: np.random.Generator) -> None:
        vectors = rng.normal(size=(50, 3))
        vectors[7] = 0
        rows = np.arange(10, 30)
        drawn = vocabulary(vectors).random_lists(rows[:15], 300, rng)
        assert drawn is not None
        assert drawn.shape == (300, 15)
        assert all(len(set(row)) == 15 for row in drawn.tolist())
        assert not np.isin(drawn, [7, *rows[:15]]).any()
        assert len(np.unique(drawn)) == 50 - 16
        assert vocabulary(vectors).random_lists(rows, 1, rng) is None  # 29 others for 20 words

    def test_of_about_the_same_frequency(self, rng: np.random.Generator) -> None:
        size = 20_000
        counts = {f"w{i}": size / (i + 1) for i in range(size)}
        place = rng.permutation(size)  # of no help: the counts say what is frequent
        words = [f"w{i}" for i in place]
        made = bb.Embedding(words, rng.normal(size=(size, 2)), "made")
        known = Vocabulary.of(made, counts)
        rank = np.array([int(word[1:]) for word in words])
        chosen = np.array([made.index[f"w{i}"] for i in (1000, 5000, 15_000)])
        drawn = known.random_lists(chosen, 500, rng)
        assert drawn is not None
        ranks = rank[drawn]
        for column, wanted in zip(ranks.T, (1000, 5000, 15_000), strict=True):
            # The last has too few words below it, and gets as many above.
            assert column.min() >= min(wanted / 2, size - 1.5 * wanted) - 5
            assert column.max() <= 2 * wanted + 5
            assert np.ptp(column) > wanted

    def test_percentiles_of_random_lists_are_uniform(self, rng: np.random.Generator) -> None:
        known = vocabulary(rng.normal(size=(400, 10)))
        found = []
        for _ in range(150):
            rows = rng.choice(400, 6, False)
            drawn = random_cohesions(known, rows, 99, rng)
            found.append(percentile(cohesion(known.unit(rows)), drawn) / 100)
        assert kstest(found, "uniform").pvalue > 0.01

    def test_in_blocks(self, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
        known = vocabulary(rng.normal(size=(100, 5)))
        rows = np.arange(6)
        whole = random_cohesions(known, rows, 50, np.random.default_rng(1))
        monkeypatch.setattr("bayesbias.wordlists.check.geometry._NUMBERS", 100)
        parts = random_cohesions(known, rows, 50, np.random.default_rng(1))
        np.testing.assert_allclose(whole, parts)


class TestShuffledLists:
    def test_the_lists_themselves(self, rng: np.random.Generator) -> None:
        vectors = rng.normal(size=(300, 5))
        first, second = [1, 2, 3, 4], [4, 5, 6]
        value, shuffled = shuffled_coherences(
            vocabulary(vectors), np.array(first), np.array(second), 50, rng
        )
        # All words are in the sample, so that it is the same number.
        assert value == pytest.approx(by_scipy(vectors, first, second), abs=1e-9)
        deals = [
            ([*pool[:3], 4], [*pool[3:], 4])
            for pool in (rng.permutation([1, 2, 3, 5, 6]).tolist() for _ in range(200))
        ]
        possible = {round(by_scipy(vectors, *deal), 9) for deal in deals}
        assert {round(v, 9) for v in shuffled.tolist()} <= possible

    def test_percentiles_of_words_dealt_out_are_uniform(self, rng: np.random.Generator) -> None:
        known = vocabulary(rng.normal(size=(200, 10)))
        found = []
        for _ in range(150):
            rows = rng.choice(200, 12, False)
            value, shuffled = shuffled_coherences(known, rows[:6], rows[6:], 99, rng)
            found.append(percentile(value, shuffled) / 100)
        assert kstest(found, "uniform").pvalue > 0.01

    def test_lists_that_differ(self, rng: np.random.Generator) -> None:
        vectors = rng.normal(size=(500, 10))
        vectors[:8, 0] += 3
        vectors[8:16, 0] -= 3
        value, shuffled = shuffled_coherences(
            vocabulary(vectors), np.arange(8), np.arange(8, 16), 200, rng
        )
        assert percentile(value, shuffled) > 99

    def test_in_blocks(self, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
        known = vocabulary(rng.normal(size=(100, 5)))
        lists = np.arange(5), np.arange(5, 9)
        whole = shuffled_coherences(known, *lists, 40, np.random.default_rng(1))
        monkeypatch.setattr("bayesbias.wordlists.check.geometry._NUMBERS", 1000)
        parts = shuffled_coherences(known, *lists, 40, np.random.default_rng(1))
        assert whole[0] == parts[0]
        np.testing.assert_allclose(whole[1], parts[1])


def test_percentile() -> None:
    assert percentile(2.0, np.array([1.0, 2.0, 3.0, 4.0])) == 37.5
    assert percentile(9.0, np.array([1.0, 2.0])) == 100
    assert np.isnan(percentile(np.nan, np.array([1.0])))
    assert np.isnan(percentile(1.0, np.empty(0)))
