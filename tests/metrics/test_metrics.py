"""What all metrics have in common, and each of them beside a plain computation."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.embeddings import Matching
from bayesbias.errors import BayesBiasWarning, DataError, NotFoundError, SpecError
from bayesbias.metrics.permutations import Partitions, PermutationOptions, p_value
from bayesbias.numerics.weighted import ranks

# Random attributes teach a classifier nothing, and RNSB says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*classifier is right for only")

NAMES = [f"{group}{i}" for group in "pqab" for i in range(6)]


@pytest.fixture
def emb(rng: np.random.Generator) -> bb.Embedding:
    return bb.Embedding(NAMES, rng.normal(size=(24, 10)) + 0.3, "random")


def sets(sizes: tuple[int, ...], letters: str) -> list[list[str]]:
    return [[f"{g}{i}" for i in range(n)] for g, n in zip(letters, sizes, strict=True)]


def query(template: tuple[Any, Any], targets: int = 5, attributes: int = 6) -> bb.Query:
    n_targets, n_attributes = (2 if n == "n" else n for n in template)
    return bb.Query(
        sets((targets,) * n_targets, "pq"[:n_targets]),
        sets((attributes,) * n_attributes, "ab"[:n_attributes]),
    )


SMALL = [name for name, metric in bb.metrics.METRICS.items() if not metric.whole_embedding]
CLOSED = ["weat", "weat_es", "rnd", "mac", "ect", "ripa", "nas", "same", "generalized_weat"]
CLOSED += ["direct_bias", "indirect_bias"]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.astype(float), b.astype(float)
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def plain(name: str, q: bb.Query, emb: bb.Embedding) -> float:
    """The metric word by word, as its paper has it."""
    t = [[emb[w].astype(float) for w in s] for s in q.target_sets]
    a = [[emb[w].astype(float) for w in s] for s in q.attribute_sets]
    unit = [[v / np.linalg.norm(v) for v in s] for s in t]
    mean = [np.mean(s, axis=0) for s in t]
    if name in ("weat", "weat_es"):
        s = [
            [
                np.mean([cosine(w, x) for x in a[0]]) - np.mean([cosine(w, x) for x in a[1]])
                for w in g
            ]
            for g in t
        ]
        if name == "weat":
            return float(np.sum(s[0]) - np.sum(s[1]))
        return float((np.mean(s[0]) - np.mean(s[1])) / np.std(s[0] + s[1]))
    if name == "rnd":
        return float(
            np.mean([np.linalg.norm(x - mean[0]) - np.linalg.norm(x - mean[1]) for x in a[0]])
        )
    if name == "mac":
        return float(
            np.mean([[np.mean([1 - cosine(w, x) for x in s]) for s in a] for g in t for w in g])
        )
    if name == "ect":
        closeness = [[cosine(m, x) for x in a[0]] for m in mean]
        return float(stats.spearmanr(*closeness).statistic)
    if name == "ripa":
        pairs = [(x - y) / np.linalg.norm(x - y) for x, y in zip(*t, strict=True)]
        return float(np.mean([[x @ b for b in pairs] for x in a[0]]))
    if name == "nas":
        values = []
        for x in a[0]:
            c = [[cosine(w, x) for w in g] for g in t]
            values.append((np.mean(c[0]) - np.mean(c[1])) / np.std(c[0] + c[1]))
        return float(np.mean(values))
    means = [np.mean(s, axis=0) for s in unit]
    if name == "same":
        return float(np.mean([abs(cosine(x, means[0] - means[1])) for x in a[0]]))
    if name == "generalized_weat":
        a_means = [np.mean([v / np.linalg.norm(v) for v in s], axis=0) for s in a]
        centre = [np.mean(m, axis=0) for m in (means, a_means)]
        return float(
            sum((x - centre[0]) @ (y - centre[1]) for x, y in zip(means, a_means, strict=True))
        )
    centred = np.vstack(
        [(x - y) / 2 * sign for x, y in zip(*unit, strict=True) for sign in (1, -1)]
    )
    direction = np.linalg.svd(centred)[2][0]
    if name == "direct_bias":
        return float(np.mean([abs(cosine(x, direction)) for x in a[0]]))
    units = [[v / np.linalg.norm(v) for v in s] for s in a]
    rest = [[v - (v @ direction) * direction for v in s] for s in units]
    close = np.mean([[v @ w for w in units[1]] for v in units[0]])
    without = np.mean([[cosine(v, w) for w in rest[1]] for v in rest[0]])
    return float((close - without) / close)


@pytest.mark.parametrize("name", CLOSED)
def test_value(name: str, emb: bb.Embedding) -> None:
    metric = bb.metrics.METRICS[name]()
    q = query(metric.template)
    score = metric.run_query(q, emb)
    assert score.value == pytest.approx(plain(name, q, emb), rel=1e-6)
    assert score["result"] == score[name] == score.value
    assert score.metric == name
    assert metric.value_range[0] <= score.value <= metric.value_range[1]


@pytest.mark.parametrize("name", CLOSED)
def test_whole_weights_repeat_words(name: str, emb: bb.Embedding) -> None:
    """A weight is how often a word counts: the weighted form agrees with repeating the words."""
    metric = bb.metrics.METRICS[name]()
    q = query(metric.template)
    rng = np.random.default_rng(1)
    found = metric.on(q, emb).words
    weights = [rng.integers(0, 4, size=(30, len(s))).astype(float) for s in found.sets]
    for w in weights:
        w[:, 0] += 1
        w[0] = 1
    if metric.paired:
        weights[1] = weights[0]
    n = len(found.targets)
    fast = metric.weighted(found.targets, found.attributes, weights[:n], weights[n:])
    slow = bb.metrics.Metric.weighted(
        metric, found.targets, found.attributes, weights[:n], weights[n:]
    )
    np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-12)
    assert fast[0] == pytest.approx(metric.value(found.targets, found.attributes))


@pytest.mark.parametrize("name", CLOSED)
def test_one_row_of_weights_serves_all_draws(name: str, emb: bb.Embedding) -> None:
    metric = bb.metrics.METRICS[name]()
    found = metric.on(query(metric.template), emb).words
    rng = np.random.default_rng(2)
    n = len(found.targets)
    full = [rng.exponential(size=(7, len(s))) for s in found.sets]
    if metric.paired:
        full[1] = full[0]
    for fixed in (range(n), range(n, len(full))):
        mixed = [w[:1] if i in fixed else w for i, w in enumerate(full)]
        spread = [np.repeat(w[:1], 7, axis=0) if i in fixed else w for i, w in enumerate(full)]
        np.testing.assert_allclose(
            metric.weighted(found.targets, found.attributes, mixed[:n], mixed[n:]),
            metric.weighted(found.targets, found.attributes, spread[:n], spread[n:]),
            rtol=1e-9,
        )


@pytest.mark.parametrize("name", SMALL)
def test_posterior(name: str, emb: bb.Embedding) -> None:
    metric = bb.metrics.METRICS[name]()
    q = query(metric.template)
    score = metric.posterior(q, emb, draws=300, seed=3)
    assert score.draws is not None
    assert score.draws.shape == (300,)
    assert score.draws.min() <= score.lower < score.upper <= score.draws.max()
    assert np.median(score.draws) == pytest.approx(score.value, rel=1e-3)
    assert score.lower <= score.value <= score.upper
    inside = ((score.draws >= score.lower) & (score.draws <= score.upper)).mean()
    assert inside >= 0.88
    # More where draws pile up at a bound.
    if score.draws.min() < score.lower and score.upper < score.draws.max():
        assert inside <= 0.9
    np.testing.assert_array_equal(score.draws, metric.posterior(q, emb, draws=300, seed=3).draws)
    other = metric.posterior(q, emb, draws=300, seed=4)
    assert not np.array_equal(score.draws, other.draws)
    low, high = metric.value_range
    assert low - 1e-9 <= score.draws.min()
    assert score.draws.max() <= high + 1e-9
    assert score.value == metric.run_query(q, emb, seed=3).value


def lists_of_a_population(
    metric: bb.metrics.Metric, repeats: int
) -> tuple[list[bb.metrics.Score], float]:
    """Scores of random lists of 25 words, and the value of all words, 400 for each list."""
    rng = np.random.default_rng(5)
    names = np.array([f"{g}{i}" for g in "pqab" for i in range(400)]).reshape(4, 400)
    vectors = rng.normal(size=(1600, 20))
    vectors[:400, 0] += 0.8
    vectors[800:1200, 0] += 0.8
    emb = bb.Embedding(names.ravel().tolist(), vectors, "population")
    n = 2 + (2 if metric.template[1] == "n" else int(metric.template[1]))
    scores = []
    for repeat in range(repeats):
        chosen = [rng.choice(g, 25, replace=False).tolist() for g in names[:n]]
        q = bb.Query(chosen[:2], chosen[2:])
        scores.append(metric.posterior(q, emb, draws=200, seed=repeat))
    whole = metric.run_query(bb.Query(names[:2].tolist(), names[2:n].tolist()), emb)
    return scores, whole.value


@pytest.mark.parametrize(
    "name", ["weat", "weat_es", "rnd", "mac", "ect", "ripa", "nas", "generalized_weat", "semaxis"]
)
def test_interval_covers_what_the_words_are_a_sample_of(name: str) -> None:
    """Lists drawn from a population: 89% intervals hold their average in that many at least."""
    scores, _ = lists_of_a_population(bb.metrics.METRICS[name](), 100)
    average = np.mean([score.value for score in scores])
    held = np.mean([score.lower <= average <= score.upper for score in scores])
    # The standard error is 3%.
    assert held >= 0.86


def test_some_metrics_grow_with_the_lists() -> None:
    """Intervals are about lists as long as these, as few words make a noisy direction."""
    for metric in (bb.metrics.WEATEffectSize(), bb.metrics.SAME(), bb.metrics.SemAxis()):
        scores, whole = lists_of_a_population(metric, 50)
        values = np.array([score.value for score in scores])
        assert whole > values.mean() + 4 * values.std() / np.sqrt(50)
    # The intervals of the last, SemAxis, miss the value of all words.
    assert np.mean([score.lower <= whole <= score.upper for score in scores]) < 0.8
    scores, whole = lists_of_a_population(bb.metrics.NAS(), 50)
    values = np.array([score.value for score in scores])
    assert whole == pytest.approx(values.mean(), abs=4 * values.std() / np.sqrt(50))


def test_posterior_of_embeddings_share_weights(emb: bb.Embedding) -> None:
    q = query((2, 2))
    twice = bb.Embedding(emb.words, emb.vectors * 2, "twice")
    lacking = emb.subset([w for w in emb.words if w != "b5"], "lacking")
    draws = [bb.metrics.WEAT().posterior(q, e, draws=200).draws for e in (emb, twice, lacking)]
    np.testing.assert_allclose(draws[0], draws[1], rtol=1e-5)
    assert np.corrcoef(draws[0], draws[2])[0, 1] > 0.8


@pytest.mark.parametrize("name", SMALL)
def test_influence(name: str, emb: bb.Embedding) -> None:
    metric = bb.metrics.METRICS[name]()
    q = query(metric.template)
    table = metric.influence(q, emb)
    value = metric.run_query(q, emb).value
    n_sets = len(q.target_sets) - metric.paired
    assert len(table) == 5 * n_sets + 6 * len(q.attribute_sets)
    np.testing.assert_allclose(table["influence"], value - table["value_without"])
    assert table["influence"].abs().is_monotonic_decreasing
    row = table[table["word"] == "a2"].iloc[0]
    rest = [[w for w in s if w != "a2"] for s in q.attribute_sets]
    without = metric.run_query(bb.Query(q.target_sets, rest), emb).value
    assert row["value_without"] == pytest.approx(without, rel=1e-6)


def test_influence_of_pairs_leaves_out_both_words(emb: bb.Embedding) -> None:
    table = bb.metrics.RIPA().influence(query((2, 1)), emb)
    row = table[table["word"] == "p1 – q1"].iloc[0]
    rest = bb.Query([["p0", "p2", "p3", "p4"], ["q0", "q2", "q3", "q4"]], sets((6,), "a"))
    assert row["value_without"] == pytest.approx(bb.metrics.RIPA().run_query(rest, emb).value)
    assert row["word_set"] == "target: Target set 0 – Target set 1"


@pytest.mark.parametrize("name", [n for n in SMALL if not bb.metrics.METRICS[n].paired])
def test_influence_of_a_lone_word_is_nan(name: str, emb: bb.Embedding) -> None:
    metric = bb.metrics.METRICS[name]()
    q = query(metric.template)
    table = metric.influence(bb.Query([["p0"], ["q0", "q1"]], q.attribute_sets), emb)
    assert np.isnan(table.set_index("word").loc["p0", "influence"])
    assert table["word"].iloc[-1] == "p0"


def test_influence_takes_a_seed(emb: bb.Embedding) -> None:
    q = query((2, 2))
    tables = [bb.metrics.RNSB(holdout=True).influence(q, emb, seed=seed) for seed in (3, 3, 4)]
    pd.testing.assert_frame_equal(tables[0], tables[1])
    assert not tables[0].equals(tables[2])
    value = bb.metrics.RNSB(holdout=True).run_query(q, emb, seed=3).value
    assert (tables[0]["value_without"] + tables[0]["influence"]).iloc[0] == pytest.approx(value)


# Permutation tests


def brute_force_p(q: bb.Query, emb: bb.Embedding, name: str, test: str) -> float:
    name = "weat_es" if name == "weat" else name  # they are one test
    pool = [*q.target_sets[0], *q.target_sets[1]]
    observed = plain(name, q, emb)
    values = []
    for chosen in combinations(pool, len(q.target_sets[0])):
        rest = [w for w in pool if w not in chosen]
        values.append(plain(name, bb.Query([chosen, rest], q.attribute_sets), emb))
    v = np.array(values)
    slack = 1e-9
    if name == "ect":  # 1 is neutral
        v, observed = v - 1, observed - 1
    if test == "right-sided":
        return float((v >= observed - slack).mean())
    if test == "left-sided":
        return float((v <= observed + slack).mean())
    return float((np.abs(v) >= abs(observed) - slack).mean())


@pytest.mark.parametrize("test", ["right-sided", "left-sided", "two-sided"])
@pytest.mark.parametrize("name", ["weat", "weat_es", "rnd", "nas", "ect"])
def test_exact_p_value(name: str, test: str, emb: bb.Embedding) -> None:
    metric = bb.metrics.METRICS[name]()
    q = bb.Query(sets((3, 4), "pq"), sets((6,) * metric.template[1], "ab"[: metric.template[1]]))
    score = metric.run_query(q, emb, calculate_p_value=True, p_value_test_type=test)
    assert score.p_value == pytest.approx(brute_force_p(q, emb, name, test))
    assert score["p_value"] == score.p_value


def test_partitions_without_a_value_do_not_make_the_p_value_smaller() -> None:
    """Half of these have none; of the others, the observed one alone is as extreme."""

    class Few:
        count = 6
        values = np.array([2.0, 1.0, 0.5, np.nan, np.nan, np.nan])

        def observed(self) -> list[np.ndarray]:
            return [self.values[:1]]

        def random(self, number: int, rng: np.random.Generator) -> list[list[np.ndarray]]:
            return [[self.values]]

        def evaluated(self, evaluate: Any, *_: object) -> list[np.ndarray]:
            return [evaluate([self.values])]

    options = PermutationOptions(method="exact")
    found = p_value(
        Few(), lambda weights: weights[0], options, np.random.default_rng(0), quick=True
    )
    assert found == (4 / 6, None)


def test_p_value_of_a_negative_value_is_not_one(emb: bb.Embedding) -> None:
    """Two-sided, a value and its negative have the same p-value."""
    q = query((2, 2))
    turned = bb.Query(q.target_sets[::-1], q.attribute_sets)
    scores = [
        bb.metrics.WEAT().run_query(x, emb, calculate_p_value=True, p_value_test_type="two-sided")
        for x in (q, turned)
    ]
    assert scores[0].value == pytest.approx(-scores[1].value)
    assert scores[0].p_value == pytest.approx(scores[1].p_value)


def test_two_sided_p_value_of_targets_of_unequal_size() -> None:
    """All targets lean to the first attributes, the larger set less, but its sum is larger."""
    rng = np.random.default_rng(3)
    lean = np.r_[np.full(8, 0.5), np.full(6, 0.8)] + rng.normal(0, 0.02, 14)
    vectors = [*np.column_stack([lean, np.sqrt(1 - lean**2)]), [1, 0], [-1, 0]]
    words = [f"p{i}" for i in range(8)] + [f"q{i}" for i in range(6)] + ["a", "b"]
    emb = bb.Embedding(words, vectors, "leaning")
    q = bb.Query([words[:8], words[8:14]], [["a"], ["b"]])
    p_values = {
        test: bb.metrics.WEAT()
        .run_query(q, emb, calculate_p_value=True, p_value_test_type=test)
        .p_value
        for test in ("two-sided", "left-sided", "right-sided")
    }
    # The observed partition is the most extreme one of 14 choose 6.
    assert p_values["left-sided"] == pytest.approx(1 / 3003)
    assert p_values["two-sided"] == pytest.approx(1 / 3003)
    assert p_values["right-sided"] == 1
    sizes = bb.metrics.WEATEffectSize().run_query(
        q, emb, calculate_p_value=True, p_value_test_type="two-sided"
    )
    assert sizes.p_value == p_values["two-sided"]


@pytest.mark.parametrize("effect_size", [False, True])
def test_weat_as_a_function_of_the_target_weights(
    effect_size: bool, emb: bb.Embedding, rng: np.random.Generator
) -> None:
    """Also of a metric that is derived from it."""

    class Doubled(bb.metrics.WEAT):
        def weighted(self, *args: Any) -> Any:
            return 2 * super().weighted(*args)

    words = bb.metrics.WEAT().on(query((2, 2)), emb).words
    weights = [rng.integers(1, 4, (5, len(some))).astype(float) for some in words.targets]
    ones = [np.ones((1, len(some))) for some in words.attributes]
    for kind, factor in ((bb.metrics.WEAT, 1), (Doubled, 2)):
        metric = kind(return_effect_size=effect_size)
        expected = bb.metrics.WEAT(return_effect_size=effect_size).weighted(
            words.targets, words.attributes, weights, ones
        )
        found = metric.of_target_weights(words.targets, words.attributes)(weights)
        np.testing.assert_allclose(found, factor * expected, rtol=1e-9)


def test_two_draws_of_the_attributes_are_measured_as_one_by_one(
    emb: bb.Embedding, rng: np.random.Generator
) -> None:
    metric = bb.metrics.WEATEffectSize()
    words = metric.on(query((2, 2)), emb).words
    weights = [rng.integers(1, 4, (2, len(some))).astype(float) for some in words.sets]
    both = metric.weighted(words.targets, words.attributes, weights[:2], weights[2:])
    for draw in range(2):
        one = [some[draw : draw + 1] for some in weights]
        alone = metric.weighted(words.targets, words.attributes, one[:2], one[2:])
        assert both[draw] == pytest.approx(alone[0], rel=1e-9)
    assert both[0] != pytest.approx(both[1], rel=1e-3)


def test_bounds_of_weat_grow_with_the_target_words() -> None:
    asked = bb.Query([["a", "b", "c"], ["d", "e"]], [["f"], ["g"]])
    assert bb.metrics.WEAT().bounds(asked) == (-10.0, 10.0)
    assert bb.metrics.WEAT(return_effect_size=True).bounds(asked) == (-2.0, 2.0)
    assert bb.metrics.WEATEffectSize().bounds(asked) == (-2.0, 2.0)
    assert bb.metrics.WEATEffectSize.value_range == (-2.0, 2.0)


def test_the_largest_effect_size_needs_a_word_on_each_side() -> None:
    assert bb.metrics.max_effect_size(1, 1) == 2
    assert bb.metrics.max_effect_size(1, 4) == pytest.approx(2.5)
    for lengths, name in (((0, 3), "first"), ((3, 0), "second")):
        with pytest.raises(SpecError, match=f"'{name}' is 0"):
            bb.metrics.max_effect_size(*lengths)
    with pytest.raises(SpecError, match="'ddof' is 2"):
        bb.metrics.max_effect_size(3, 3, ddof=2)


def test_effect_size_of_targets_of_unequal_size_has_its_own_bound() -> None:
    emb = bb.Embedding(
        ["p", *"qrstuvwxy", "a", "b"], [[1, 0], *[[0, 1]] * 9, [1, 0], [0, 1]], "apart"
    )
    bound = 10 / np.sqrt(1 * 9)
    q = bb.Query([["p"], list("qrstuvwxy")], [["a"], ["b"]])
    assert bb.metrics.WEATEffectSize().run_query(q, emb).value == pytest.approx(bound)
    q = bb.Query([["p"], list("qrstuvwxy")], [["a"]])
    assert bb.metrics.NAS().run_query(q, emb).value == pytest.approx(bound)


@pytest.mark.parametrize(
    ("metric", "side"),
    [
        (bb.metrics.ECT(), "left-sided"),
        (bb.metrics.RND(), "left-sided"),
        (bb.metrics.RND(distance="cos"), "right-sided"),
        (bb.metrics.NAS(), "right-sided"),
        (bb.metrics.WEAT(), "right-sided"),
    ],
    ids=str,
)
def test_p_values_are_of_the_side_of_bias_by_default(
    emb: bb.Embedding, metric: bb.metrics.Metric, side: str
) -> None:
    q = query((2, 2) if metric.name == "weat" else (2, 1))
    p = metric.run_query(q, emb, calculate_p_value=True).p_value
    assert metric.side_of_bias == side
    left, right = (
        metric.on(q, emb).permutation_test(test=test).p_value
        for test in ("left-sided", "right-sided")
    )
    assert left != right
    assert p == (left if side == "left-sided" else right)
    assert p == metric.on(q, emb).permutation_test().p_value
    wefe = metric.run_query(q, emb, calculate_p_value=True, p_value_test_type="right-sided")
    assert wefe.p_value == right


def test_the_side_of_bias_follows_options_of_a_call(emb: bb.Embedding) -> None:
    q = query((2, 1))
    p = bb.metrics.RND().run_query(q, emb, calculate_p_value=True, distance="cos").p_value
    measurement = bb.metrics.RND(distance="cos").on(q, emb)
    assert p == measurement.permutation_test(test="right-sided").p_value


def test_small_correlations_of_flowers_and_insects_are_bias() -> None:
    weat = bb.load_query("weat_1")
    q = bb.Query(weat.target_sets, weat.attribute_sets[:1])
    score = bb.metrics.ECT().run_query(q, "demo", calculate_p_value=True)
    assert score.p_value is not None
    assert score.p_value < 0.05


def test_drawn_p_value_approaches_the_exact_one(emb: bb.Embedding) -> None:
    q = query((2, 2))
    exact = bb.metrics.WEAT().run_query(q, emb, calculate_p_value=True).p_value
    drawn = bb.metrics.WEAT().run_query(
        q, emb, calculate_p_value=True, p_value_method="approximate", p_value_iterations=50_000
    )
    assert drawn.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact / 50_000) + 1e-4)
    again = bb.metrics.WEAT().run_query(
        q, emb, calculate_p_value=True, p_value_method="approximate", p_value_iterations=50_000
    )
    assert again.p_value == drawn.p_value
    # (count + 1) / (n + 1) is never zero.
    few = bb.metrics.WEAT().run_query(
        q, emb, calculate_p_value=True, p_value_method="approximate", p_value_iterations=9
    )
    assert few.p_value * 10 == pytest.approx(round(few.p_value * 10))


def test_p_value_of_pairs_swaps_within_them(emb: bb.Embedding) -> None:
    q = query((2, 1), targets=4)
    score = bb.metrics.RIPA().run_query(q, emb, calculate_p_value=True)
    values = []
    for code in range(16):
        swapped = [
            (b, a) if code >> i & 1 else (a, b)
            for i, (a, b) in enumerate(zip(*q.target_sets, strict=True))
        ]
        values.append(plain("ripa", bb.Query(zip(*swapped, strict=True), q.attribute_sets), emb))
    assert score.p_value == pytest.approx(np.mean(np.array(values) >= score.value - 1e-9))


def test_p_values_are_uniform_when_the_targets_do_not_differ() -> None:
    rng = np.random.default_rng(8)
    values = []
    for _ in range(300):
        emb = bb.Embedding(NAMES, rng.normal(size=(24, 10)), "random")
        score = bb.metrics.WEAT().run_query(
            query((2, 2)), emb, calculate_p_value=True, p_value_test_type="two-sided"
        )
        values.append(score.p_value)
    assert stats.kstest(values, "uniform").pvalue > 0.001


def test_words_in_both_targets_stay_in_both(emb: bb.Embedding) -> None:
    q = bb.Query([["p0", "p1", "q0"], ["q0", "q1", "q2"]], sets((6, 6), "ab"))
    with pytest.warns(BayesBiasWarning, match="share 'q0': they are as close to one as to the"):
        score = bb.metrics.WEAT().run_query(q, emb, calculate_p_value=True)
    # The four words in one set only can be dealt out in six ways.
    assert score.p_value * 6 == pytest.approx(round(score.p_value * 6))
    alone = bb.Query([["p0", "p1"], ["q1", "q2"]], sets((6, 6), "ab"))
    assert score.value == pytest.approx(bb.metrics.WEAT().run_query(alone, emb).value)
    assert score.p_value == pytest.approx(brute_force_p(alone, emb, "weat", "right-sided"))


def test_same_targets_have_no_p_value(emb: bb.Embedding) -> None:
    q = bb.Query([["p0", "p1"], ["p1", "p0"]], sets((6, 6), "ab"))
    with pytest.warns(BayesBiasWarning) as told:
        score = bb.metrics.WEAT().run_query(q, emb, calculate_p_value=True)
    assert "share 'p0', 'p1': they are as close to one as to the other" in str(told[0].message)
    assert "no p-value: there is only one way to assign the words" in str(told[1].message)
    assert np.isnan(score.p_value)
    assert score.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["mac", "direct_bias"])
def test_no_p_value_where_sets_do_not_matter(name: str, emb: bb.Embedding) -> None:
    metric = bb.metrics.METRICS[name]()
    with pytest.warns(BayesBiasWarning, match="does not matter to the metric which set"):
        score = metric.run_query(query(metric.template), emb, calculate_p_value=True)
    assert np.isnan(score.p_value)


def test_too_many_partitions_for_exact(emb: bb.Embedding) -> None:
    words = bb.load_query("weat_1")
    with pytest.raises(SpecError, match=r"6.3e\+13 partitions, too many for p_value_method"):
        bb.metrics.WEAT().run_query(
            words, bb.load_embedding("demo"), calculate_p_value=True, p_value_method="exact"
        )


def test_partitions_are_all_different(emb: bb.Embedding) -> None:
    metric = bb.metrics.WEAT()
    found = metric.on(query((2, 2), targets=3), emb).words
    partitions = Partitions(found.targets, found.owners[:2], paired=False)
    weights = np.vstack([block[0] for block in partitions.every()])
    assert len(np.unique(weights, axis=0)) == partitions.count == 20
    np.testing.assert_array_equal(weights.sum(axis=1), 3)
    drawn = np.vstack([block[0] for block in partitions.random(2000, np.random.default_rng(1))])
    np.testing.assert_array_equal(drawn.sum(axis=1), 3)
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert stats.chisquare(counts).pvalue > 1e-4


# What is refused, and what is NaN with a reason


def test_template(emb: bb.Embedding) -> None:
    with pytest.raises(SpecError, match=r"'rnd' takes \(2, 1\) .*\(2, 2\).*subqueries\(\(2, 1\)\)"):
        bb.metrics.RND().run_query(query((2, 2)), emb)
    with pytest.raises(SpecError, match=r"'weat' takes \(2, 2\) .* has \(2, 1\); add word sets"):
        bb.metrics.WEAT().run_query(query((2, 1)), emb)
    with pytest.raises(
        SpecError,
        match="'ripa' .*'Target set 0' has 3 .*'Target set 1' 4.*pairs",
    ):
        bb.metrics.RIPA().run_query(bb.Query(sets((3, 4), "pq"), sets((6,), "a")), emb)
    for metric in (bb.metrics.ECT(), bb.metrics.SAME()):
        with pytest.raises(SpecError, match=f"'{metric.name}' compares groups, and .* one target"):
            metric.run_query(bb.Query(sets((3,), "p"), sets((6,), "a")), emb)
    with pytest.raises(SpecError, match="has 2 and 1; give as many of each"):
        bb.metrics.GeneralizedWEAT().run_query(query((2, 1)), emb)
    with pytest.raises(SpecError, match="compares two target sets, and .* has 3"):
        bb.metrics.MAC().run_query(
            bb.Query(sets((3, 3, 3), "pqa"), sets((3,), "b")), emb, calculate_p_value=True
        )


def test_arguments(emb: bb.Embedding) -> None:
    q = query((2, 2))
    with pytest.raises(SpecError, match="'query' is an int; expected a Query or the name of one"):
        bb.metrics.WEAT().run_query(7, emb)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError, match="weat_77"):
        bb.metrics.WEAT().run_query("weat_77", emb)
    with pytest.raises(SpecError, match="'iterations' is 0"):
        bb.metrics.WEAT().on(q, emb).permutation_test(iterations=0)
    with pytest.raises(SpecError, match="'p_value_iterations' is 0"):
        bb.metrics.WEAT().run_query(q, emb, p_value_iterations=0)
    with pytest.raises(SpecError, match="'embedding' is an int; expected an Embedding"):
        bb.metrics.WEAT().run_query(q, 3)  # type: ignore[arg-type]
    with pytest.raises(
        SpecError,
        match="'retun_effect_size'.*'ddof'.*mean 'return_effect_size'",
    ):
        bb.metrics.WEAT().run_query(q, emb, retun_effect_size=True)
    with pytest.raises(SpecError, match="'mac' has no option 'ddof'; it has none of its own"):
        bb.metrics.MAC().posterior(q, emb, ddof=1)
    with pytest.raises(SpecError, match="'p_value_test_type' is 'both'"):
        bb.metrics.WEAT().run_query(q, emb, calculate_p_value=True, p_value_test_type="both")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'draws' is 1; expected a whole number, 2 or more"):
        bb.metrics.WEAT().posterior(q, emb, draws=1)
    with pytest.raises(SpecError, match="'seed' is -1"):
        bb.metrics.WEAT().posterior(q, emb, seed=-1)
    with pytest.raises(SpecError, match="'distance' is 'l2'; expected one of 'cos', 'norm'"):
        bb.metrics.RND(distance="l2")  # type: ignore[arg-type]
    for strictness in (-1, "much", True):
        with pytest.raises(SpecError, match=f"'strictness' is {strictness!r}; expected a number"):
            bb.metrics.DirectBias(strictness=strictness)  # type: ignore[arg-type]
    for metric in (bb.metrics.WEAT, bb.metrics.WEATEffectSize, bb.metrics.NAS):
        with pytest.raises(SpecError, match="'ddof' is 2; expected 0 or 1"):
            metric(ddof=2)
    with pytest.raises(SpecError, match="'draws' is 0; expected a whole number, 2 or more"):
        bb.metrics.NAS().by_word(query((2, 1)), emb, draws=0)
    with pytest.raises(SpecError, match="'p_value_test_type' is 'both'"):
        bb.metrics.NAS().by_word(query((2, 1)), emb, p_value_test_type="both")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="one entry for each word.* use strategy='first'"):
        bb.metrics.RIPA().run_query(query((2, 1)), emb, matching=Matching(strategy="all"))
    with pytest.raises(SpecError, match="'weat' cannot look at attribute words one by one"):
        bb.metrics.WEAT().by_word(q, emb)

    class Nothing(bb.metrics.Metric):
        name = "nothing"

    with pytest.raises(SpecError, match="the metric 'Nothing' has no method 'value"):
        Nothing().run_query(q, emb)

    class Several(bb.metrics.Metric):
        name = "several"

        def value(self, targets: Any, attributes: Any) -> Any:
            return np.array([1.0, 2.0])

    with pytest.raises(SpecError, match="'several' returned an ndarray; expected one number"):
        Several().run_query(q, emb)


def test_options_of_class_and_call_are_the_same(emb: bb.Embedding) -> None:
    q = query((2, 1))
    given = bb.metrics.RND(distance="cos").run_query(q, emb)
    assert given.value == bb.metrics.RND().run_query(q, emb, distance="cos").value
    assert given.value != bb.metrics.RND().run_query(q, emb).value
    q2 = query((2, 2))
    assert (
        bb.metrics.WEAT().run_query(q2, emb, return_effect_size=True).value
        == bb.metrics.WEATEffectSize().run_query(q2, emb).value
    )
    sizes = [bb.metrics.WEATEffectSize(ddof=d).run_query(q2, emb).value for d in (0, 1)]
    assert sizes[0] / sizes[1] == pytest.approx(np.sqrt(10 / 9))


def test_lost_words(emb: bb.Embedding) -> None:
    q = bb.Query([["p0", "p1", "p2", "lost"], ["q0", "q1"]], sets((6, 6), "ab"))
    with pytest.warns(
        BayesBiasWarning,
        match="weat .*'random' lacks 1 of 4 .*Target set 0.*'lost'.*thr",
    ):
        score = bb.metrics.WEAT().run_query(q, emb)
    assert np.isnan(score.value)
    assert score.lost == {"target: Target set 0": ("lost",)}
    assert "lacks 1 of 4" in str(score.reason)
    assert dict(score) == pytest.approx(
        {
            "query_name": score.query_name,
            "result": np.nan,
            "weat": np.nan,
            "effect_size": np.nan,
            "p_value": np.nan,
        },
        nan_ok=True,
    )
    kept = bb.metrics.WEAT().run_query(q, emb, matching=Matching(threshold=0.25))
    rest = bb.Query([["p0", "p1", "p2"], ["q0", "q1"]], sets((6, 6), "ab"))
    assert kept.value == bb.metrics.WEAT().run_query(rest, emb).value
    assert kept.words["target: Target set 0"] == ("p0", "p1", "p2")
    gone = bb.Query([["no", "none"], ["q0", "q1"]], sets((6, 6), "ab"))
    with pytest.warns(BayesBiasWarning, match="has no word of 'target: Target set 0'"):
        assert np.isnan(
            bb.metrics.WEAT().posterior(gone, emb, matching=Matching(threshold=1)).lower
        )
    with pytest.raises(
        SpecError, match="influence of words cannot be measured: embedding 'random'"
    ):
        bb.metrics.WEAT().influence(gone, emb)


def test_a_set_left_with_one_word_where_two_are_needed(emb: bb.Embedding) -> None:
    q = bb.Query(sets((3, 3), "pq"), [["a0", "gone"]])
    with pytest.warns(BayesBiasWarning, match="'attribute: Attribute set 0' .*1 of the 2 words"):
        score = bb.metrics.ECT().run_query(q, emb, matching=Matching(threshold=0.5))
    assert np.isnan(score.value)


def test_pairs_that_lose_a_word_are_lost_words(emb: bb.Embedding) -> None:
    q = bb.Query([["p0", "p1", "p2", "no"], ["q0", "q1", "none", "q3"]], sets((6,), "a"))
    with pytest.warns(BayesBiasWarning, match="both words of only 2 of 4 pairs, fewer than thr"):
        assert np.isnan(
            bb.metrics.RIPA().run_query(q, emb, matching=Matching(threshold=0.25)).value
        )
    kept = bb.metrics.RIPA().run_query(q, emb, matching=Matching(threshold=0.5))
    whole = bb.Query([["p0", "p1"], ["q0", "q1"]], sets((6,), "a"))
    assert kept.value == bb.metrics.RIPA().run_query(whole, emb).value


@pytest.mark.parametrize(
    "metric", [bb.metrics.SemAxis(), bb.metrics.SAME(), bb.metrics.Neighbourhood(k=5)]
)
def test_groups_of_the_same_words_have_no_direction(
    metric: bb.metrics.Metric, emb: bb.Embedding
) -> None:
    """Sums in another order differ by rounding, which points somewhere."""
    q = bb.Query([["p0", "p1", "p2"], ["p2", "p0", "p1"]], sets((6,), "a"))
    with pytest.warns(BayesBiasWarning) as told:
        score = metric.run_query(q, emb)
    assert np.isnan(score.value)
    assert "have the same mean" in str(score.reason)
    assert "share 'p0', 'p1', 'p2'" in str(told[1].message)


def test_zero_variance_has_no_effect_size() -> None:
    emb = bb.Embedding(["p", "q", "a", "b"], [[1, 0], [1, 0], [0.5, 1], [0.2, 1]], "flat")
    q = bb.Query([["p"], ["q"]], [["a"], ["b"]])
    with pytest.warns(BayesBiasWarning, match="the effect size has no scale"):
        score = bb.metrics.WEATEffectSize().run_query(q, emb)
    assert np.isnan(score.value)
    assert np.isnan(score["effect_size"])
    with pytest.warns(BayesBiasWarning, match="so it has no scale"):
        assert np.isnan(bb.metrics.NAS().run_query(bb.Query([["p"], ["q"]], [["a"]]), emb).value)
    with pytest.warns(BayesBiasWarning, match="groups have the same mean vector"):
        assert np.isnan(bb.metrics.SAME().run_query(bb.Query([["p"], ["q"]], [["a"]]), emb).value)
    with pytest.warns(BayesBiasWarning, match="two words of a pair have the same vector"):
        assert np.isnan(bb.metrics.RIPA().run_query(bb.Query([["p"], ["q"]], [["a"]]), emb).value)
    with pytest.warns(BayesBiasWarning, match="words of every pair have the same vector"):
        assert np.isnan(
            bb.metrics.DirectBias().run_query(bb.Query([["p"], ["q"]], [["a"]]), emb).value
        )


def test_zero_vector_is_named() -> None:
    emb = bb.Embedding(["p", "q", "a", "b"], [[1, 0], [0, 1], [0, 0], [1, 1]], "hole")
    with pytest.raises(DataError, match="the vector of 'a' is zero"):
        bb.metrics.WEAT().run_query(bb.Query([["p"], ["q"]], [["a"], ["b"]]), emb)
    # The Euclidean distance from the origin is well defined.
    assert bb.metrics.RND().run_query(bb.Query([["p"], ["q"]], [["a"]]), emb).value == 0


def test_a_word_on_both_sides_is_told(emb: bb.Embedding) -> None:
    q = bb.Query([["p0", "p1"], ["q0"]], [["p1", "a0"], ["b0"]])
    with pytest.warns(BayesBiasWarning, match="share 'p1': each is at distance 0 from itself"):
        bb.metrics.WEAT().run_query(q, emb)


def test_spellings() -> None:
    words = ["Anna", "anna", "ANNA", "otto", "good", "bad"]
    emb = bb.Embedding(words, np.random.default_rng(1).normal(size=(6, 5)), "cased")
    q = bb.Query([["Anna"], ["otto"]], [["good"], ["bad"]])
    every = bb.metrics.WEAT().run_query(
        q, emb, matching=Matching(("exact", "lower", "upper"), strategy="all")
    )
    one_each = bb.Query([["Anna", "anna", "ANNA"], ["otto"]], [["good"], ["bad"]])
    assert every.value == bb.metrics.WEAT().run_query(one_each, emb).value
    # Two spellings that fall together count once.
    both = bb.Query([["Otto", "otto"], ["Anna"]], [["good"], ["bad"]])
    single = bb.Query([["otto"], ["Anna"]], [["good"], ["bad"]])
    assert (
        bb.metrics.WEAT().run_query(both, emb).value
        == bb.metrics.WEAT().run_query(single, emb).value
    )
    # Attributes of pairs, too.
    scores = [
        bb.metrics.RIPA().run_query(bb.Query([["good"], ["bad"]], [["Anna", *also]]), emb)
        for also in (["otto"], ["Otto", "otto"])
    ]
    assert scores[0].value == scores[1].value


# Single metrics


def test_ect_of_three_groups_is_the_mean_of_pairs(emb: bb.Embedding) -> None:
    q = bb.Query(sets((4, 4, 4), "pqb"), sets((6,), "a"))
    score = bb.metrics.ECT().run_query(q, emb)
    pairs = [bb.metrics.ECT().run_query(x, emb).value for x in q.subqueries((2, 1))]
    assert score.value == pytest.approx(np.mean(pairs))
    assert list(score["correlations"].values()) == pytest.approx(pairs)


def test_same_of_three_groups(emb: bb.Embedding) -> None:
    q = bb.Query(sets((4, 4, 4), "pqb"), sets((6,), "a"))
    unit = {w: emb[w] / np.linalg.norm(emb[w].astype(float)) for w in emb}
    means = [np.mean([unit[w] for w in s], axis=0) for s in q.target_sets]
    basis = np.linalg.qr(np.column_stack([means[1] - means[0], means[2] - means[0]]))[0]
    expected = np.mean([np.linalg.norm(basis.T @ unit[w]) for w in q.attribute_sets[0]])
    score = bb.metrics.SAME().run_query(q, emb)
    assert score.value == pytest.approx(expected)
    assert len(score["skew"]) == 3
    turned = bb.metrics.SAME().run_query(bb.Query(q.target_sets[::-1], q.attribute_sets), emb)
    assert turned.value == pytest.approx(expected)


def test_same_of_a_group_between_two_others(emb: bb.Embedding) -> None:
    """The mean of all words of two groups adds no direction to that between them."""
    p, q = sets((3, 3), "pq")
    two = bb.metrics.SAME().run_query(bb.Query([p, q], sets((6,), "a")), emb)
    with pytest.warns(BayesBiasWarning, match="share"):
        three = bb.metrics.SAME().run_query(bb.Query([p, q, p + q], sets((6,), "a")), emb)
    assert three.value == pytest.approx(two.value)


def test_strictness_of_zero_counts_words_that_are_not_orthogonal() -> None:
    vectors = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [2, 2, 1]]
    emb = bb.Embedding(list("pqabc"), vectors, "corners")
    q = bb.Query([["p"], ["q"]], [["a", "b", "c"]])
    assert bb.metrics.DirectBias(strictness=0).run_query(q, emb).value == pytest.approx(1 / 3)
    assert bb.metrics.DirectBias().run_query(q, emb).value == pytest.approx(0.5 / 3)


def test_direct_bias_points_to_the_first_targets(emb: bb.Embedding) -> None:
    q = query((2, 1))
    there = bb.metrics.DirectBias().run_query(q, emb)["word_values"]
    back = bb.metrics.DirectBias().run_query(bb.Query(q.target_sets[::-1], q.attribute_sets), emb)
    for word, value in there.items():
        assert back["word_values"][word] == pytest.approx(-value)
    squared = bb.metrics.DirectBias(strictness=2).run_query(q, emb).value
    assert squared == pytest.approx(np.mean(np.square(list(there.values()))))


def test_indirect_bias_of_two_words_is_beta(emb: bb.Embedding) -> None:
    q = bb.Query(sets((4, 4), "pq"), [["a0"], ["b0"]])
    score = bb.metrics.IndirectBias().run_query(q, emb)
    assert score["pairs"] == {"a0 – b0": pytest.approx(score.value)}
    assert score.value == pytest.approx(plain("indirect_bias", q, emb))


def test_mac_details(emb: bb.Embedding) -> None:
    q = query((2, 2))
    score = bb.metrics.MAC().run_query(q, emb)
    values = [
        d for words in score["targets_eval"].values() for by in words.values() for d in by.values()
    ]
    assert score.value == pytest.approx(np.mean(values))


def test_by_word(emb: bb.Embedding) -> None:
    q = query((2, 1))
    table = bb.metrics.NAS().by_word(q, emb, draws=200, calculate_p_value=True)
    assert sorted(table["word"]) == sorted(q.attribute_sets[0])
    assert table["value"].is_monotonic_increasing
    assert table["value"].mean() == pytest.approx(bb.metrics.NAS().run_query(q, emb).value)
    word = table.iloc[0]
    alone = bb.Query(q.target_sets, [[word["word"]]])
    score = bb.metrics.NAS().run_query(
        alone, emb, calculate_p_value=True, p_value_test_type="two-sided"
    )
    assert (word["value"], word["p_value"]) == pytest.approx((score.value, score.p_value))
    assert (table["lower"] < table["upper"]).all()


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_ranks_are_scipys(rng: np.random.Generator, scale: float) -> None:
    values = rng.integers(0, 6, size=(40, 15)).astype(float) * scale
    found = ranks(values, np.ones((1, 15)))
    np.testing.assert_array_equal(found, stats.rankdata(values, axis=1))


# Scores


def test_score_in_words(emb: bb.Embedding) -> None:
    q = bb.Query([["p0", "p1", "p2", "lost", "p3"], ["q0", "q1"]], sets((6, 6), "ab"))
    score = bb.metrics.WEAT().posterior(q, emb, draws=500)
    text = score.summary()
    assert f"{score.value:.3g} (89% interval" in text
    assert f"above 0 with probability {score.prob_above:.2f}; from 18 words, 1 lost." in text
    assert score.table.loc[0, "n_lost"] == 1
    assert score.row()["value"] == score.value
    assert "lost" not in score
    html = score._repr_html_()
    assert "<table>" in html
    assert "nan" not in html
    assert repr(score).startswith(f"<Score weat = {score.value:.2f} [")
    assert score.sd == pytest.approx(np.std(score.draws))
    plain_score = bb.metrics.WEAT().run_query(q, emb)
    assert np.isnan([plain_score.lower, plain_score.sd, plain_score.prob_above]).all()


@pytest.mark.parametrize("name", SMALL)
def test_scores_go_into_json(name: str, emb: bb.Embedding) -> None:
    metric = bb.metrics.METRICS[name]()
    score = metric.run_query(query(metric.template), emb)
    assert json.loads(json.dumps(score.to_dict()))["query_name"] == score.query_name


def test_no_probability_of_a_side_that_is_not_there(emb: bb.Embedding) -> None:
    """Values of at least 0 say nothing by being above 0."""
    assert np.isnan(bb.metrics.SAME().posterior(query((2, 1)), emb, draws=50).prob_above)
    assert np.isfinite(bb.metrics.MAC().posterior(query((2, 1)), emb, draws=50).prob_above)


# A metric of one's own


@dataclass(frozen=True)
class Gap(bb.metrics.Metric):
    """The gap of mean cosines, or of medians."""

    median: bool = False

    name = "gap"
    template = (2, 1)

    def value(self, targets: Any, attributes: Any) -> float:
        middle = np.median if self.median else np.mean
        first, second = (middle(t.unit @ attributes[0].unit.T) for t in targets)
        return float(first - second)


def test_own_metric_gets_everything(emb: bb.Embedding) -> None:
    q = query((2, 1))
    assert not Gap().takes_weights
    score = Gap().run_query(q, emb, calculate_p_value=True, p_value_iterations=300)
    assert 0 < score.p_value <= 1
    assert score["gap"] == score.value
    drawn = Gap().posterior(q, emb, draws=200, median=True)
    assert drawn.value != score.value
    assert drawn.lower < drawn.value < drawn.upper
    assert len(Gap().influence(q, emb)) == 16
    assert len(Gap().by_word(q, emb, draws=20)) == 6
