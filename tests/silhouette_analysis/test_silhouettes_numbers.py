"""Bands, areas and intervals of silhouettes, against SciPy, closed forms and simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from grown_lists import made, of_numbers
from scipy import integrate, stats

import bayesbias as bb
from bayesbias.silhouette_analysis.growing_lists import orders
from bayesbias.silhouette_analysis.robustness import (
    _normal_range,
    jackknife,
    min_max,
    null_share,
    quantile_band,
    share_of,
)

Array = np.ndarray[Any, Any]


def grown_means(numbers: Array, sizes: Array, runs: int, rng: np.random.Generator) -> Array:
    shuffled = np.array([rng.permutation(numbers) for _ in range(runs)])
    return np.cumsum(shuffled, axis=1)[:, sizes - 1] / sizes


@pytest.mark.parametrize("number", [2, 3, 10, 100])
def test_normal_range(number: int) -> None:
    """The mean of the largest order statistic is a textbook integral."""
    largest, _ = integrate.quad(
        lambda x: x * number * stats.norm.pdf(x) * stats.norm.cdf(x) ** (number - 1), -12, 12
    )
    assert _normal_range(number) == pytest.approx(2 * largest, rel=1e-6)


def test_share_is_scipys_trapezoid(rng: np.random.Generator) -> None:
    sizes = np.array([2, 5, 6, 11])
    heights = rng.random((3, 4))
    expected = integrate.trapezoid(heights, sizes, axis=-1) / (4.0 * 11)
    np.testing.assert_allclose(share_of(heights, sizes, 4.0), expected)


def test_null_is_that_of_shuffled_normal_words(rng: np.random.Generator) -> None:
    """The band of means of words that are as far apart as they can be, without replacement."""
    sizes = np.append(np.arange(4, 200, 2), 200)
    words = stats.norm.ppf((np.arange(200) + 0.5) / 200)
    words *= 0.5 / words.std()  # in a range of 1
    shares = []
    for _ in range(20):
        low, high = min_max(grown_means(words, sizes, 100, rng))
        shares.append(float(share_of(high - low, sizes, 1.0)))
    assert np.mean(shares) == pytest.approx(null_share(sizes, 100), rel=0.03)


def test_length_adjusted_robustness_does_not_grow_with_the_list() -> None:
    """Words of the same spread: longer lists are more robust, but not when adjusted."""
    found = {}
    for n in (20, 200):
        numbers = 0.3 * stats.norm.ppf((np.arange(n) + 0.5) / n)
        numbers *= 0.25 / numbers.std()
        means = [of_numbers([numbers], runs=60, seed=seed, step=1) for seed in range(12)]
        tables = [each.robustness_table.iloc[0] for each in means]
        found[n] = np.mean([t[["robustness", "length_adjusted"]] for t in tables], axis=0)
    assert found[200][0] - found[20][0] > 0.05
    # 1 − (standard deviation of the words) / (half the range)
    assert found[20][1] == pytest.approx(0.75, abs=0.015)
    assert found[200][1] == pytest.approx(0.75, abs=0.015)


def test_length_adjusted_robustness_does_not_depend_on_the_runs() -> None:
    numbers = stats.uniform.ppf((np.arange(60) + 0.5) / 60, -0.5, 1)
    few, many = (
        np.mean(
            [
                of_numbers([numbers], runs=runs, seed=seed).robustness_table.iloc[0][
                    ["robustness", "length_adjusted"]
                ]
                for seed in range(8)
            ],
            axis=0,
        )
        for runs in (20, 200)
    )
    assert few[0] - many[0] > 0.02
    assert few[1] == pytest.approx(many[1], abs=0.02)
    assert many[1] == pytest.approx(1 - np.sqrt(1 / 12) / 1, abs=0.02)


def test_words_that_disagree_as_much_as_they_can() -> None:
    numbers = np.where(np.arange(200) % 2, 1.0, -1.0)
    found = of_numbers([numbers], runs=200)
    assert found.robustness_table["length_adjusted"].item() == pytest.approx(0, abs=0.08)


def test_quantile_bands_converge_and_min_max_bands_do_not() -> None:
    numbers = stats.norm.ppf((np.arange(60) + 0.5) / 60) / 4
    tables = [of_numbers([numbers], runs=runs).robustness_table.iloc[0] for runs in (50, 1000)]
    less = [1 - t["robustness"] for t in tables]
    band = [1 - t["band_robustness"] for t in tables]
    # d₁₀₀₀ / d₅₀ = 6.48 / 4.50
    assert less[1] / less[0] == pytest.approx(6.48 / 4.50, abs=0.15)
    assert band[1] / band[0] == pytest.approx(1, abs=0.1)


def test_jackknife_of_a_mean_is_its_standard_error(rng: np.random.Generator) -> None:
    values = rng.normal(size=(40, 3))
    lower, upper = jackknife(lambda v: v.mean(axis=-2), values, 0.89)
    error = stats.sem(values, axis=0)
    np.testing.assert_allclose((upper - lower) / 2, stats.norm.ppf(0.945) * error)
    np.testing.assert_allclose((upper + lower) / 2, values.mean(axis=0))


def test_jackknife_of_many_runs_leaves_out_parts(rng: np.random.Generator) -> None:
    values, calls = rng.normal(size=(750, 3)), 0

    def mean(v: Array) -> Array:
        nonlocal calls
        calls += 1
        return v.mean(axis=-2)

    lower, upper = jackknife(mean, values, 0.89)
    assert calls == 101
    error = stats.sem(values, axis=0)
    np.testing.assert_allclose((upper - lower) / 2, stats.norm.ppf(0.945) * error, rtol=0.25)


def test_two_runs_tell_no_interval() -> None:
    table = of_numbers([np.arange(6) / 6], runs=2).robustness_table
    assert np.isfinite(table["robustness"]).all()
    assert (
        table[[name for name in table if name.endswith(("lower", "upper"))]].isna().all(axis=None)
    )


@pytest.mark.slow
@pytest.mark.parametrize("band", ["min_max", "quantiles"])
def test_intervals_hold_as_often_as_they_say(band: str, rng: np.random.Generator) -> None:
    """Of the expected robustness of so many runs; of quantiles, that of any number of runs."""
    sizes = np.unique(np.linspace(2, 40, 20).astype(int))
    words = rng.normal(size=40)
    width = 2 * np.abs(words).max()

    def robustness(values: Array) -> Array:
        low, high = min_max(values) if band == "min_max" else quantile_band(values, 0.89)
        return 1 - share_of(high - low, sizes, width)

    repeats, runs = (400, 100) if band == "min_max" else (10, 4000)
    truth = np.mean([robustness(grown_means(words, sizes, runs, rng)) for _ in range(repeats)])
    held = []
    for _ in range(300):
        lower, upper = jackknife(robustness, grown_means(words, sizes, 100, rng), 0.89)
        held.append(lower <= truth <= upper)
    assert np.mean(held) == pytest.approx(0.87, abs=0.06)


def test_intervals_of_accuracy_cover_other_seeds() -> None:
    numbers = stats.norm.ppf((np.arange(30) + 0.5) / 30) / 4 + 0.3
    found = [of_numbers([numbers, numbers / 9], runs=30, seed=seed) for seed in range(60)]
    values = [each.accuracy("e0", "e1") for each in found]
    truth = float(np.mean(values))
    held = np.mean([value.lower <= truth <= value.upper for value in values])
    assert held == pytest.approx(0.89, abs=0.1)


def test_contributions_to_a_mean_are_those_of_its_words() -> None:
    """The average over all orders of what a word adds to a mean when it comes in."""
    rng = np.random.default_rng(3)
    numbers = np.array([0.9, -0.8, 0.1, 0.2, 0.0, -0.1, 0.3, 0.05])
    found = of_numbers([numbers], runs=4000, step=1, start=1)
    words = found.influence().set_index("word")
    expected = []
    for i in range(8):
        others = np.delete(numbers, i)
        added = []
        for _ in range(4000):
            k = rng.integers(1, 8)
            before = rng.permutation(others)[:k]
            added.append(np.append(before, numbers[i]).mean() - before.mean())
        expected.append(np.mean(added))
    ours = words.loc[[f"w{i}" for i in range(8)]]
    error = np.hypot(ours["standard_error"], 0.01)
    assert (np.abs(ours["contribution"] - expected) < 4 * error).all()
    without = [np.delete(numbers, i).mean() for i in range(8)]
    np.testing.assert_allclose(ours["value_without"], without, atol=1e-7)
    np.testing.assert_allclose(ours["influence"], numbers.mean() - np.array(without), atol=1e-7)
    assert (ours["runs"] < 4000).all()
    assert words.index[0] == "w1"


def test_contributions_when_several_words_come_in_at_once() -> None:
    """What single words add is still told apart, and adds up to the whole change."""
    numbers = np.array([1.0, -1.0, *np.linspace(-0.2, 0.2, 28)])
    found = of_numbers([numbers], runs=1500, step=3, start=2)
    words = found.influence()
    by_word = words.set_index("word")["contribution"]
    others = by_word.drop(["w0", "w1"])
    assert by_word["w0"] > others.max()
    assert by_word["w1"] < others.min()
    change = found.complete["e0"] - found.values[0, :, 0].mean()
    assert (words["contribution"] * words["runs"]).sum() / 1500 == pytest.approx(change, abs=1e-9)


def test_influence_is_that_of_the_metric() -> None:
    query, embeddings = made((6, 7), (5, 5))
    found = bb.silhouettes("weat_es", query, embeddings, runs=20)
    table = found.influence()
    assert list(table) == [
        "embedding",
        "word_set",
        "word",
        "contribution",
        "standard_error",
        "runs",
        "value_without",
        "influence",
    ]
    assert table["influence"].abs().is_monotonic_decreasing
    for embedding in embeddings:
        ours = table[table["embedding"] == embedding.name].set_index(["word_set", "word"])
        theirs = (
            bb.metrics.WEATEffectSize().influence(query, embedding).set_index(["word_set", "word"])
        )
        assert len(ours) == 13
        for column in ("value_without", "influence"):
            np.testing.assert_allclose(ours[column], theirs.loc[ours.index, column], atol=1e-12)


def test_orders_are_uniform() -> None:
    words = [f"w{i}" for i in range(5)]
    found = orders(words, np.array([0, 2, 3, 4]), 6000, 0)
    assert found.shape == (6000, 4)
    assert (np.sort(found, axis=1) == np.arange(4)).all()
    for place in range(4):
        assert stats.chisquare(np.bincount(found[:, place])).pvalue > 1e-3
