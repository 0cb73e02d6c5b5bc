"""Lists of thousands of words: the same numbers as for short ones, in little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias._core.array_types import Array
from bayesbias.metrics.permutations import Partitions
from bayesbias.metrics.resampling import bootstrap, bootstrap_blocks

DIMENSIONS = 5


def simulated(*sizes: int, shared: int = 0) -> tuple[bb.Embedding, bb.Query]:
    """Return an embedding and a query; the two target sets share so many words."""
    rng = np.random.default_rng(4)
    words = [f"w{i}" for i in range(sum(sizes))]
    vectors = rng.standard_normal((len(words), DIMENSIONS)) + 0.3
    ends = np.cumsum((0, *sizes))
    sets = [words[a:b] for a, b in pairwise(ends)]
    sets[1] = sets[0][:shared] + sets[1][shared:]
    return bb.Embedding(words, vectors), bb.Query(sets[:2], sets[2:])


def all_cosines(measurement: bb.metrics.Measurement) -> list[list[Array]]:
    words = measurement.words
    return [[t.unit @ a.unit.T for a in words.attributes] for t in words.targets]


def weights_of(measurement: bb.metrics.Measurement, draws: int) -> list[Array]:
    return bootstrap(
        measurement.query, measurement.words, draws, measurement.seed, whole=False, paired=False
    )


@pytest.mark.parametrize("sizes", [(6, 7, 3, 4), (40, 50, 60, 30), (40, 50, 60, 2)])
def test_weat_is_the_weighted_sum_of_all_cosines(sizes: tuple[int, ...]) -> None:
    emb, query = simulated(*sizes)
    for effect_size in (False, True):
        measurement = bb.metrics.WEAT(return_effect_size=effect_size).on(query, emb, seed=1)
        weights = weights_of(measurement, 20)
        shares = [w / w.sum(axis=1, keepdims=True) for w in weights[2:]]
        expected = []
        for draw in range(20):
            s = [
                of_target[0] @ shares[0][draw] - of_target[1] @ shares[1][draw]
                for of_target in all_cosines(measurement)
            ]
            w = [weights[0][draw], weights[1][draw]]
            if not effect_size:
                expected.append(s[0] @ w[0] - s[1] @ w[1])
                continue
            pooled, counted = np.concatenate(s), np.concatenate(w)
            spread = np.sqrt(np.cov(pooled, aweights=counted, ddof=0))
            gap = np.average(s[0], weights=w[0]) - np.average(s[1], weights=w[1])
            expected.append(gap / spread)
        np.testing.assert_allclose(measurement.evaluate(weights), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sizes", [(6, 7, 3, 4), (40, 50, 60, 30), (40, 50, 60, 2)])
def test_mac_is_the_weighted_mean_of_all_cosines(sizes: tuple[int, ...]) -> None:
    emb, query = simulated(*sizes)
    measurement = bb.metrics.MAC().on(query, emb, seed=1)
    weights = weights_of(measurement, 20)
    close = all_cosines(measurement)
    expected = []
    for draw in range(20):
        by_word = [
            np.mean([c @ w[draw] / w[draw].sum() for c, w in zip(of, weights[2:], strict=True)], 0)
            for of in close
        ]
        counted = np.concatenate([weights[0][draw], weights[1][draw]])
        expected.append(1 - np.average(np.concatenate(by_word), weights=counted))
    np.testing.assert_allclose(measurement.evaluate(weights), expected, rtol=1e-12)
    plain = (
        1 - np.concatenate([np.mean([c.mean(axis=1) for c in of], axis=0) for of in close]).mean()
    )
    assert measurement.value() == pytest.approx(plain, rel=1e-12)
    by_word_details = measurement.score()["targets_eval"]["Target set 0"]["w3"]
    assert list(by_word_details.values()) == pytest.approx(
        [1 - c[3].mean() for c in close[0]], rel=1e-12
    )


@pytest.mark.parametrize("test", ["right-sided", "left-sided", "two-sided"])
def test_all_partitions_give_the_p_value_of_scipy(test: str) -> None:
    emb, query = simulated(6, 5, 40, 40)
    measurement = bb.metrics.WEATEffectSize().on(query, emb, seed=1)
    close = all_cosines(measurement)
    first, second = (a.mean(axis=1) - b.mean(axis=1) for a, b in close)
    alternative = {"right-sided": "greater", "left-sided": "less"}.get(test, "two-sided")

    def size(x: Array, y: Array) -> float:
        value = float((x.mean() - y.mean()) / np.concatenate([x, y]).std())
        return abs(value) if test == "two-sided" else value

    expected = stats.permutation_test(
        (first, second),
        size,
        n_resamples=np.inf,
        alternative="greater" if test == "two-sided" else alternative,
    )
    found = measurement.permutation_test(test=test, method="exact").p_value  # type: ignore[arg-type]
    assert found == pytest.approx(expected.pvalue, rel=1e-12)


def test_random_partitions_do_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first set has the words with the smallest random keys."""
    emb, query = simulated(30, 20, 3, 3, shared=4)
    found = bb.metrics.WEAT().on(query, emb).words
    partitions = Partitions(found.targets, found.owners[:2], paired=False)
    assert (partitions.n, partitions.first) == (42, 26)
    keys = np.random.default_rng(2).random((300, 42))
    expected = keys.argsort(axis=1).argsort(axis=1) < 26
    for megabytes in ("32", "0.01"):
        monkeypatch.setenv("BAYESBIAS_MEMORY", megabytes)
        drawn = list(partitions.random(300, np.random.default_rng(2)))
        assert (len(drawn) > 1) == (megabytes == "0.01")
        first, second = (np.vstack([block[side] for block in drawn]) for side in (0, 1))
        np.testing.assert_array_equal(first[:, :42], expected)
        np.testing.assert_array_equal(second[:, :42], ~expected)
        assert first[:, 42:].all()
        assert second[:, 42:].all()


def test_equal_keys_do_not_change_the_size_of_a_set() -> None:
    emb, query = simulated(3, 2, 3, 3)
    found = bb.metrics.WEAT().on(query, emb).words
    partitions = Partitions(found.targets, found.owners[:2], paired=False)
    keys = np.array([[0.1, 0.5, 0.5, 0.5, 0.9], [0.5] * 5, [0.3, 0.2, 0.1, 0.1, 0.3]])
    first, second = partitions.by_keys(keys)
    np.testing.assert_array_equal(first, [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 1, 1, 1, 0]])
    np.testing.assert_array_equal(second, 1 - first)


@pytest.mark.parametrize("whole", [False, True])
def test_bootstrap_weights_do_not_depend_on_the_blocks(whole: bool) -> None:
    emb, query = simulated(30, 20, 3, 3)
    words = bb.metrics.WEAT().on(query, emb.subset(list(emb.words)[2:])).words
    at_once = bootstrap(query, words, 50, 3, whole=whole, paired=False)
    parts = list(
        bootstrap_blocks(query, words, 50, 3, whole=whole, paired=False, numbers_per_draw=5e5)
    )
    assert len(parts) > 1
    for place, weights in enumerate(at_once):
        np.testing.assert_array_equal(np.vstack([part[place] for part in parts]), weights)


def test_effect_size_keeps_its_digits_where_all_words_that_count_are_close() -> None:
    """The spread of a draw can be far below that of all words."""
    rng = np.random.default_rng(5)
    angles = np.concatenate([0.3 + 1e-6 * rng.random(20), rng.random(20)])
    words = [f"w{i}" for i in range(40)]
    vectors = np.column_stack([np.cos(angles), np.sin(angles)])
    emb = bb.Embedding([*words, "a", "b"], np.vstack([vectors, np.eye(2)]))
    query = bb.Query([words[:10] + words[20:30], words[10:20] + words[30:]], [["a"], ["b"]])
    measurement = bb.metrics.WEATEffectSize().on(query, emb)
    weights = np.array([[1.0] * 10 + [0.0] * 10, [1.0] * 20])
    found = measurement.evaluate([weights, weights, np.ones((1, 1)), np.ones((1, 1))])
    # The embedding rounds vectors to single precision.
    first, second = ((t.unit[:10] @ [1, -1]) for t in measurement.words.targets)
    close = (first.mean() - second.mean()) / np.concatenate([first, second]).std()
    assert found[0] == pytest.approx(close, rel=1e-8)
    assert found[1] == pytest.approx(measurement.value(), rel=1e-12)


def test_a_metric_derived_from_weat_is_tested_as_it_is_weighted() -> None:
    class Reversed(bb.metrics.WEATEffectSize):
        def weighted(self, *arguments: Sequence[object]) -> Array:  # type: ignore[override]
            return -super().weighted(*arguments)  # type: ignore[arg-type]

    emb, query = simulated(5, 5, 3, 3)
    given, other = (
        metric.on(query, emb).permutation_test(test=test).p_value  # type: ignore[arg-type]
        for metric, test in (
            (bb.metrics.WEATEffectSize(), "right-sided"),
            (Reversed(), "left-sided"),
        )
    )
    assert given == other


@pytest.mark.parametrize(
    ("metric", "method"),
    [("weat", "permutation_test"), ("weat", "posterior"), ("mac", "posterior")],
)
def test_memory_does_not_grow_with_draws_and_words(
    metric: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    emb, query = simulated(2000, 2000, 2000, 2000)
    measurement = bb.metrics.METRICS[metric]().on(query, emb, seed=1)
    number = {"iterations": 1000} if method == "permutation_test" else {"draws": 1000}
    monkeypatch.setenv("BAYESBIAS_MEMORY", "1")
    with threadpool_limits(1):
        tracemalloc.start()
        getattr(measurement, method)(**number)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # The weights at once are 32 or 64 MB, and the cosines of each two lists are 32 MB.
    assert peak < 10e6


def test_results_do_not_depend_on_memory_and_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    emb, query = simulated(60, 50, 40, 30)
    found = []
    for megabytes, threads in (("32", 1), ("0.01", 1), ("0.01", 2)):
        monkeypatch.setenv("BAYESBIAS_MEMORY", megabytes)
        with threadpool_limits(threads):
            measurement = bb.metrics.WEATEffectSize().on(query, emb, seed=1)
            draws = measurement.posterior(draws=300).draws
            assert draws is not None
            p_value = measurement.permutation_test(iterations=500).p_value
            found.append([*draws, p_value, *measurement.split_values(iterations=100).draws])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found[2], found[1])


def test_one_partition_per_block_is_no_reason_against_a_p_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    emb, query = simulated(2, 1, 3, 3)
    measurement = bb.metrics.WEATEffectSize().on(query, emb, seed=1)
    expected = measurement.permutation_test().p_value
    monkeypatch.setenv("BAYESBIAS_MEMORY", "0.00001")
    assert measurement.permutation_test().p_value == expected
    assert expected in (1 / 3, 2 / 3, 1.0)
