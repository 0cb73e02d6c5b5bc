"""Metrics of what is left of a bias in an embedding after debiasing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, SpecError, VocabularyError
from bayesbias.numerics.two_means import two_means

MALE, FEMALE = [f"m{i}" for i in range(4)], [f"f{i}" for i in range(4)]
JOBS = [f"w{i}" for i in range(60)]
GROUPS = bb.Query([MALE, FEMALE], [], ["male", "female"])
QUERY = bb.Query([MALE, FEMALE], [JOBS], ["male", "female"], ["jobs"])
N = 1200


def planted(left: float, seed: int = 0, dim: int = 12) -> tuple[bb.Embedding, bb.Embedding]:
    """Return an embedding whose first dimension is gender, and the same without that dimension.

    `left` is how much of a word's gender stands in the second dimension, too, where no debiasing
    of the first reaches it.
    """
    rng = np.random.default_rng(seed)
    bias = rng.standard_normal(N)
    words = rng.standard_normal((N, dim))
    words[:, 0] = 1.5 * bias
    words[:, 1] += left * np.sign(bias) + left * bias
    groups = 0.3 * rng.standard_normal((8, dim))
    groups[:, 0] = [3.0] * 4 + [-3.0] * 4
    groups[:, 1] = 0
    names = [*MALE, *FEMALE, *(f"w{i}" for i in range(N))]
    vectors = np.vstack([groups, words])
    debiased = vectors.copy()
    debiased[:, 0] = 0
    return bb.Embedding(names, vectors, "original"), bb.Embedding(names, debiased, "debiased")


def unit(emb: bb.Embedding) -> np.ndarray:
    vectors = emb.vectors.astype(float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def axis(emb: bb.Embedding, first: list[str], second: list[str]) -> np.ndarray:
    vectors = unit(emb)
    means = [np.mean([vectors[emb.index[w]] for w in words], axis=0) for words in (first, second)]
    return means[0] - means[1]


ALL = [
    (bb.metrics.Neighbourhood(k=20), QUERY),
    (bb.metrics.ClusterTest(n_words=150), GROUPS),
    (bb.metrics.ClassificationTest(n_words=400, n_train=100, classifier="logistic"), GROUPS),
    (bb.metrics.ClassificationTest(n_words=400, n_train=100), GROUPS),
    (bb.metrics.ProximityBias(k=20), QUERY),
    (bb.metrics.GIPE(k=20), QUERY),
]
IDS = ["neighbourhood", "cluster", "logistic", "svm", "proximity", "gipe"]


@pytest.mark.parametrize(
    ("metric", "query", "much", "little"),
    [
        (*ALL[0], 0.8, 0.3),
        (*ALL[1], 0.95, 0.6),
        (*ALL[2], 0.9, 0.58),
        (*ALL[3], 0.9, 0.58),
    ],
    ids=IDS[:4],
)
def test_bias_is_found_where_planted(
    metric: bb.metrics.Metric, query: bb.Query, much: float, little: float
) -> None:
    original, debiased = planted(left=2.0)
    score = metric.run_query(query, debiased, original=original)
    assert score.value > much
    clean, cleaned = planted(left=0.0)
    assert abs(metric.run_query(query, cleaned, original=clean).value) < little
    # In the embedding itself all the bias is there.
    assert metric.run_query(query, clean).value > 0.8


@pytest.mark.parametrize("metric", [ALL[0], ALL[1], ALL[2]], ids=IDS[:3])
def test_interval_where_nothing_is_left(metric: tuple[bb.metrics.Metric, bb.Query]) -> None:
    clean, cleaned = planted(left=0.0, seed=3)
    if metric[0].name == "neighbourhood":
        score = metric[0].posterior(metric[1], cleaned, original=clean, draws=40)
        assert score.draws is not None
        assert np.isfinite(score.draws).all()
        assert score.lower < 0 < score.upper
        return
    with pytest.warns(BayesBiasWarning, match="no interval: other weights of the groups' words"):
        score = metric[0].posterior(metric[1], cleaned, original=clean, draws=40)
    assert score.draws is None
    assert np.isnan([score.lower, score.upper, score.sd, score.prob_above]).all()
    assert abs(score.value - score.neutral_value) < 0.12
    assert "no interval: other weights" in score.summary()
    assert score.row()["reason"].startswith("no interval: ")
    assert "no interval" in score._repr_html_()


@pytest.mark.parametrize(("metric", "query"), ALL, ids=IDS)
class TestAll:
    def test_turning_and_scaling_change_nothing(
        self, metric: bb.metrics.Metric, query: bb.Query
    ) -> None:
        original, debiased = planted(left=0.7)
        rng = np.random.default_rng(5)
        turn = np.linalg.qr(rng.standard_normal((12, 12)))[0]
        turned = [bb.Embedding(e.words, 3 * e.vectors @ turn) for e in (original, debiased)]
        value = metric.run_query(query, debiased, original=original).value
        again = metric.run_query(query, turned[1], original=turned[0]).value
        # A word that is on a brink may fall to the other side.
        assert again == pytest.approx(value, abs=0.02)
        low, high = metric.value_range
        assert low <= value <= high

    def test_same_seed_same_draws(self, metric: bb.metrics.Metric, query: bb.Query) -> None:
        original, debiased = planted(left=0.7)
        if metric.no_interval is not None:
            return
        first, second = (
            metric.posterior(query, debiased, original=original, draws=12, seed=4).draws
            for _ in range(2)
        )
        np.testing.assert_array_equal(first, second)
        assert first is not None
        assert np.ptp(first) > 0

    def test_weights_of_one_are_the_value(self, metric: bb.metrics.Metric, query: bb.Query) -> None:
        original, debiased = planted(left=0.7)
        score = metric.run_query(query, debiased, original=original)
        frame = metric.influence(query, debiased, original=original)
        sizes = len(MALE) if metric.paired else 2 * len(MALE)
        assert len(frame) == sizes + (len(JOBS) if query.attribute_sets else 0)
        total = frame["influence"] + frame["value_without"]
        np.testing.assert_allclose(total, score.value, atol=1e-12)

    def test_words_alone_are_not_enough(self, metric: bb.metrics.Metric, query: bb.Query) -> None:
        words = bb.metrics.WordVectors("jobs", ("a", "b"), np.eye(2))
        sets = [words] * len(query.attribute_sets)
        with pytest.raises(SpecError, match="come without .*; call run_query"):
            metric.value([words, words], sets)

    def test_errors(self, metric: bb.metrics.Metric, query: bb.Query) -> None:
        original, debiased = planted(left=0.7)
        with pytest.raises(SpecError, match="'original' is a str; expected the Embedding before"):
            metric.run_query(query, debiased, original="original")
        part = original.subset([w for w in original.words if w != "m2"], "part")
        with pytest.raises(VocabularyError, match="'part' lacks 'm2' of 'male'; leave these"):
            metric.run_query(query, debiased, original=part)

    def test_lost_words_give_a_reason(self, metric: bb.metrics.Metric, query: bb.Query) -> None:
        original, _ = planted(left=0.7)
        lost = bb.Query([MALE, ["x", "y", "z", "f0"]], query.attribute_sets)
        with pytest.warns(BayesBiasWarning, match="lacks 3 of 4 words"):
            score = metric.run_query(lost, original)
        assert np.isnan(score.value)
        assert set(metric.empty_details) <= set(score)


# Neighbourhood


def neighbourhood_by_hand(
    original: bb.Embedding, tested: bb.Embedding, k: int
) -> tuple[list[float], list[float]]:
    before, after = unit(original), unit(tested)
    direction = axis(original, MALE, FEMALE)
    direction /= np.linalg.norm(direction)
    groups = {tested.index[w] for w in [*MALE, *FEMALE]}
    leaning, share = [], []
    for word in JOBS:
        order = [
            i
            for i in np.argsort(-(after @ after[tested.index[word]]))
            if i not in groups and i != tested.index[word]
        ]
        known = [tested.words[i] for i in order[:k] if tested.words[i] in original]
        leaning.append(before[original.index[word]] @ direction)
        share.append(np.mean([before[original.index[w]] @ direction > 0 for w in known]))
    return leaning, share


def test_neighbourhood_by_hand() -> None:
    original, debiased = planted(left=0.7)
    leaning, share = neighbourhood_by_hand(original, debiased, 20)
    score = bb.metrics.Neighbourhood(k=20, original=original).run_query(QUERY, debiased)
    values = score["word_values"]
    assert [values[w]["leaning"] for w in JOBS] == pytest.approx(leaning, abs=1e-6)
    assert [values[w]["share"] for w in JOBS] == pytest.approx(share)
    assert score.value == pytest.approx(pearsonr(leaning, share)[0], abs=1e-6)


def test_neighbours_that_the_original_lacks_do_not_count() -> None:
    original, debiased = planted(left=0.7)
    part = original.subset([w for w in original.words if w in [*MALE, *FEMALE, *JOBS]
                            or int(w[1:]) % 3])  # fmt: skip
    leaning, share = neighbourhood_by_hand(part, debiased, 20)
    score = bb.metrics.Neighbourhood(k=20, original=part).run_query(QUERY, debiased)
    assert [v["share"] for v in score["word_values"].values()] == pytest.approx(share)
    assert score.value == pytest.approx(pearsonr(leaning, share)[0], abs=1e-6)
    few = original.subset([*MALE, *FEMALE, *JOBS], "few")
    rest = debiased.subset([w for w in debiased.words if w not in JOBS[3:]])
    query = bb.Query([MALE, FEMALE], [JOBS[:3]])
    with pytest.raises(VocabularyError, match="'few' has no neighbour that the words of"):
        bb.metrics.Neighbourhood(k=2, original=few).run_query(query, rest)


def test_neighbourhood_without_a_word() -> None:
    original, debiased = planted(left=0.7)
    metric = bb.metrics.Neighbourhood(k=20, original=original)
    without = metric.influence(QUERY, debiased).set_index("word")["value_without"]
    rest = bb.Query([MALE, FEMALE], [JOBS[1:]])
    assert without["w0"] == pytest.approx(metric.run_query(rest, debiased).value, abs=1e-12)


def test_neighbourhood_errors() -> None:
    original, _ = planted(left=0.7)
    with pytest.raises(SpecError, match="'k' is 0; expected a whole number, 1 or more"):
        bb.metrics.Neighbourhood(k=0)
    with pytest.raises(SpecError, match="'original' has 1199 words to choose 5000 neighbours"):
        bb.metrics.Neighbourhood(k=5000).run_query(QUERY, original)
    with pytest.raises(SpecError, match="cannot look at attribute words one by one"):
        bb.metrics.Neighbourhood(k=5).by_word(QUERY, original)


@pytest.mark.parametrize(("metric", "query"), ALL[:3], ids=IDS[:3])
def test_permutations_say_nothing_of_what_is_left(
    metric: bb.metrics.Metric, query: bb.Query
) -> None:
    original, debiased = planted(left=2.0)
    with pytest.warns(BayesBiasWarning, match="no p-value: randomly reassigned groups differ"):
        score = metric.run_query(query, debiased, original=original, calculate_p_value=True)
    assert np.isnan(score.p_value)
    assert np.isfinite(score.value)


# Clusters


def test_two_means_agrees_with_scikit_learn(demo: bb.Embedding) -> None:
    from sklearn.cluster import KMeans

    vectors = unit(demo)[:800].astype(np.float32)
    members = two_means(vectors, 0)
    model = KMeans(2, n_init=20, random_state=0).fit(vectors)
    within = sum(
        ((vectors[side] - vectors[side].mean(axis=0)) ** 2).sum() for side in (members, ~members)
    )
    assert within == pytest.approx(model.inertia_, rel=1e-4)
    agree = (members == (model.labels_ == 1)).mean()
    assert max(agree, 1 - agree) > 0.99


def test_two_means_of_equal_vectors() -> None:
    assert two_means(np.ones((10, 3), dtype=np.float32), 0).shape == (10,)


def test_cluster_test_by_hand() -> None:
    from sklearn.cluster import KMeans

    original, debiased = planted(left=0.7)
    leaning = unit(original)[8:] @ axis(original, MALE, FEMALE)
    order = np.argsort(leaning)
    chosen = np.concatenate([order[:150], order[-150:]])
    labels = KMeans(2, n_init=20, random_state=0).fit_predict(unit(debiased)[8:][chosen])
    right = (labels == np.repeat([0, 1], 150)).mean()
    score = bb.metrics.ClusterTest(n_words=150, original=original).run_query(GROUPS, debiased)
    assert score.value == pytest.approx(max(right, 1 - right), abs=0.01)
    assert score["first_words"] == tuple(original.words[8 + i] for i in order[::-1][:150])
    assert score["second_words"] == tuple(original.words[8 + i] for i in order[:150])


def test_sides_are_chosen_among_the_first_words_of_both() -> None:
    original, debiased = planted(left=0.7)
    shared = [w for w in debiased.words if w[0] != "w" or int(w[1:]) % 2]
    part = debiased.subset(reversed(shared), "part")
    for metric in (bb.metrics.ClusterTest(), bb.metrics.ClassificationTest(classifier="logistic")):
        score = metric.run_query(GROUPS, part, original=original, vocabulary=408)
        words = [*score["first_words"], *score["second_words"]]
        assert len(set(words)) == len(words) == 100  # a quarter of 200 on each side
        assert all(int(w[1:]) % 2 and int(w[1:]) < 400 and w[0] == "w" for w in words)


def test_swapping_the_groups_changes_no_purity() -> None:
    original, debiased = planted(left=0.7)
    swapped = bb.Query([FEMALE, MALE], [])
    metric = bb.metrics.ClusterTest(n_words=150, original=original)
    value = metric.run_query(GROUPS, debiased).value
    assert metric.run_query(swapped, debiased).value == pytest.approx(value, abs=0.01)


@pytest.mark.parametrize("metric", [bb.metrics.ClusterTest(), bb.metrics.ClassificationTest()])
def test_groups_with_the_same_mean(metric: bb.metrics.Metric, rng: np.random.Generator) -> None:
    vectors = np.vstack([np.eye(4)[:2], -np.eye(4)[:2], rng.standard_normal((40, 4))])
    emb = bb.Embedding(["a", "b", "c", "d", *(f"w{i}" for i in range(40))], vectors)
    with pytest.warns(BayesBiasWarning, match="is NaN: the groups have the same mean"):
        score = metric.run_query(bb.Query([["a", "c"], ["b", "d"]], []), emb)
    assert np.isnan(score.value)


# Classification


@pytest.mark.parametrize("classifier", ["svm", "logistic"])
def test_classification_test_by_hand(classifier: str) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    original, debiased = planted(left=0.7)
    order = np.argsort(unit(original)[8:] @ axis(original, MALE, FEMALE))
    chosen = np.concatenate([order[:200], order[-200:]])
    labels = np.repeat([0, 1], 200)
    vectors = unit(debiased)[8:][chosen]
    rng = np.random.default_rng(1)
    accuracies = []
    for _ in range(30):
        mixed = rng.permutation(400)
        model = SVC() if classifier == "svm" else LogisticRegression()
        model.fit(vectors[mixed[:100]], labels[mixed[:100]])
        accuracies.append(model.score(vectors[mixed[100:]], labels[mixed[100:]]))
    metric = bb.metrics.ClassificationTest(400, 100, classifier, original=original)  # type: ignore[arg-type]
    values = [metric.run_query(GROUPS, debiased, seed=seed).value for seed in range(5)]
    assert len(set(values)) > 1  # another seed is another split
    assert np.mean(values) == pytest.approx(np.mean(accuracies), abs=0.03)


@pytest.mark.parametrize("metric", [bb.metrics.ClusterTest, bb.metrics.ClassificationTest])
def test_a_seed_of_0_replaces_the_metrics_own(
    metric: type[bb.metrics.Metric], monkeypatch: pytest.MonkeyPatch
) -> None:
    original, debiased = planted(left=0.7)
    used = []

    def measure(self: Any, *_: object) -> tuple[float, dict[str, float]]:
        used.append(self.seed)
        return 0.5, {}

    monkeypatch.setattr(metric, "measure", measure)
    own: Any = metric(original=original, seed=5)  # type: ignore[call-arg]
    for seed in (0, 3, None):
        own.run_query(GROUPS, debiased, seed=seed)
    own.run_query(GROUPS, debiased)
    assert used == [0, 3, 5, 5]
    used.clear()
    for options in ({}, {"seed": 0}):
        bb.run_queries(own, GROUPS, debiased, progress=False, **options)  # type: ignore[arg-type]
        bb.query_scores(own, GROUPS, debiased, progress=False, **options)  # type: ignore[arg-type]
    assert used == [5, 5, 0, 0]


def test_few_words_are_split_in_proportion() -> None:
    rng = np.random.default_rng(0)
    bias = np.repeat([1.0, -1.0], 10)
    vectors = np.vstack([[[5.0, 0.0]], [[-5.0, 0.0]], np.c_[bias, rng.standard_normal(20)]])
    emb = bb.Embedding(["m", "f", *(f"w{i}" for i in range(20))], vectors)
    query = bb.Query([["m"], ["f"]], [])
    score = bb.metrics.ClassificationTest(n_words=1000, n_train=999).run_query(query, emb)
    assert score.value in (0.0, 0.5, 1.0)  # five a side, of which one is left to test
    assert len(score["first_words"]) == 5


def test_sizes_are_checked() -> None:
    with pytest.raises(SpecError, match="'n_words' is 4; expected a whole number, 5 or more"):
        bb.metrics.ClusterTest(n_words=4)
    with pytest.raises(SpecError, match="'n_words' is 9; expected a whole number, 10 or more"):
        bb.metrics.ClassificationTest(n_words=9)
    with pytest.raises(SpecError, match="'n_train' is 50 of 'n_words' = 50; leave words to"):
        bb.metrics.ClassificationTest(n_words=50, n_train=50)
    with pytest.raises(SpecError, match="'classifier' is 'tree'; expected one of 'logistic'"):
        bb.metrics.ClassificationTest(classifier="tree")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'vocabulary' is 0"):
        bb.metrics.ClusterTest(vocabulary=0)
    original, _ = planted(left=0.7)
    small = original.subset(original.words[:20], "small")
    with pytest.raises(SpecError, match="'small' and its original share 12 words besides those"):
        bb.metrics.ClusterTest().run_query(GROUPS, small)


# Proximity bias and GIPE


def gipe_by_hand(
    original: bb.Embedding,
    tested: bb.Embedding,
    pairs: list[tuple[str, str]],
    words: list[str],
    k: int,
    theta: float,
) -> tuple[list[float], list[float]]:
    """Return η and γ of each word, by the definitions; a word that comes twice counts twice."""
    before, after = unit(original), unit(tested)

    def vector(word: str) -> np.ndarray:
        return before[original.index[word]]

    centred = []
    for a, b in pairs:
        centre = (vector(a) + vector(b)) / 2
        centred += [vector(a) - centre, vector(b) - centre]
    g = np.linalg.svd(np.array(centred))[2][0]

    def beta(v: np.ndarray, w: np.ndarray) -> float:
        v_rest, w_rest = v - (v @ g) * g, w - (w @ g) * g
        rest = v_rest @ w_rest / np.linalg.norm(v_rest) / np.linalg.norm(w_rest)
        return float((v @ w - rest) / (v @ w))

    eta, edges = [], []
    for word in words:
        order = np.argsort(-(after @ after[tested.index[word]]))
        near = [tested.words[i] for i in order if tested.words[i] != word][:k]
        illicit = [
            vector(word) @ vector(x) > 0 and beta(vector(word), vector(x)) > theta for x in near
        ]
        eta.append(np.mean(illicit))
        edges += list(zip(near, illicit, strict=True))
    gamma = []
    for word in words:
        into = [illicit for x, illicit in edges if x == word]
        gamma.append(1 + np.mean(into) if into else 1.0)
    return eta, gamma


PAIRS = list(zip(MALE, FEMALE, strict=True))


@pytest.mark.parametrize("same", [True, False])
def test_proximity_by_hand(same: bool) -> None:
    original, debiased = planted(left=0.7)
    tested = original if same else debiased
    eta, gamma = gipe_by_hand(original, tested, PAIRS, JOBS, 40, 0.1)
    assert 0.05 < np.mean(eta) < 0.9
    assert 1 < np.mean(gamma) < 2
    score = bb.metrics.ProximityBias(k=40, theta=0.1, original=original).run_query(QUERY, tested)
    assert score.value == pytest.approx(np.mean(eta))
    assert list(score["word_values"].values()) == pytest.approx(eta)
    score = bb.metrics.GIPE(k=40, theta=0.1, original=original).run_query(QUERY, tested)
    assert score.value == pytest.approx(np.average(eta, weights=gamma))
    values = list(score["word_values"].values())
    assert [v["weight"] for v in values] == pytest.approx(gamma)
    assert [v["proximity_bias"] for v in values] == pytest.approx(eta)


def test_weights_are_repetitions() -> None:
    original, debiased = planted(left=0.7)
    metric = bb.metrics.GIPE(k=40, theta=0.1, original=original)
    words = [
        bb.metrics.WordVectors(
            words.name,
            tuple(words),
            np.array([debiased[w] for w in words], dtype=float),
            rows=np.array([debiased.index[w] for w in words]),
        )
        for words in QUERY.word_sets().values()
    ]
    targets, attributes = metric.expand(tuple(words[:2]), tuple(words[2:]), debiased)
    rng = np.random.default_rng(2)
    pairs = rng.integers(0, 3, (3, 4)).astype(float) + np.eye(4)[0]
    counts = rng.integers(0, 3, (3, 60)).astype(float)
    values = metric.weighted(targets, attributes, [pairs, pairs], [counts])
    for i in range(3):
        drawn = [w for w, n in zip(JOBS, counts[i], strict=True) for _ in range(int(n))]
        some = [p for p, n in zip(PAIRS, pairs[i], strict=True) for _ in range(int(n))]
        eta, gamma = gipe_by_hand(original, debiased, some, drawn, 40, 0.1)
        assert values[i] == pytest.approx(np.average(eta, weights=gamma))
    # One row of weights serves for all draws.
    np.testing.assert_array_equal(
        metric.weighted(targets, attributes, [pairs[:1]] * 2, [counts]),
        metric.weighted(targets, attributes, [pairs[[0, 0, 0]]] * 2, [counts]),
    )


def test_nothing_is_illicit_where_nothing_lies_along_the_direction() -> None:
    original, debiased = planted(left=0.0)
    still = bb.Embedding(
        original.words, np.vstack([original.vectors[:8], debiased.vectors[8:]]), "still"
    )
    query = bb.Query([["m0"], ["f0"]], [JOBS])
    flat = still.vectors.copy()
    flat[:2], flat[0, 0], flat[4], flat[4, 0] = 0, 1, 0, -1  # m0 and f0 are all direction
    flat[1] = flat[0]
    emb = bb.Embedding(still.words, flat, "flat")
    score = bb.metrics.ProximityBias(k=20).run_query(query, emb)
    assert score.value == 0


def test_proximity_words_pairs_and_p_value(demo: bb.Embedding) -> None:
    female, male = zip(*bb.word_tuples("bolukbasi")["definitional_pairs"], strict=True)
    words = ["nurse", "surgeon", "captain", "maid", "coach"]
    query = bb.Query([female, male], [words], ["female", "male"])
    metric = bb.metrics.ProximityBias()
    score = metric.run_query(query, demo)
    frame = metric.by_word(query, demo, draws=20).set_index("word")["value"]
    assert frame.to_dict() == pytest.approx(score["word_values"])
    without = metric.influence(query, demo).set_index("word")["value_without"]
    rest = bb.Query([female[1:], male[1:]], [words])
    first = f"{female[0]} – {male[0]}"
    assert without[first] == pytest.approx(metric.run_query(rest, demo).value, abs=1e-12)
    with pytest.warns(BayesBiasWarning, match="does not matter to the metric which set"):
        metric.run_query(query, demo, calculate_p_value=True)


def test_pairs_of_equal_vectors() -> None:
    original, _ = planted(left=0.7)
    vectors = original.vectors.copy()
    vectors[4:8] = 2 * vectors[:4]
    emb = bb.Embedding(original.words, vectors)
    for metric in (bb.metrics.ProximityBias(k=5), bb.metrics.GIPE(k=5)):
        with pytest.warns(BayesBiasWarning, match="words of every pair have the same vector"):
            assert np.isnan(metric.run_query(QUERY, emb).value)


def test_theta_is_checked() -> None:
    with pytest.raises(SpecError, match="'theta' is 2; expected a number from 0 to 1"):
        bb.metrics.GIPE(theta=2)
    original, _ = planted(left=0.7)
    with pytest.raises(SpecError, match="cannot look at attribute words one by one"):
        bb.metrics.GIPE(k=5).by_word(QUERY, original)
