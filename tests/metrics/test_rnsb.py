"""RNSB and its classifier beside scikit-learn, and what holds for any words."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import entropy
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit, cross_val_predict, train_test_split

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, SpecError
from bayesbias.numerics import logistic
from bayesbias.numerics.logistic import Classifier

# Random attributes teach a classifier nothing, and RNSB says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*classifier is right for only")

Array = npt.NDArray[np.float64]

BOTH = [bb.metrics.RNSB, bb.metrics.RNSBGroups]


def by_scikit_learn() -> LogisticRegression:
    """The same objective solved another way: a constant column, penalised as the others."""
    return LogisticRegression(
        solver="newton-cholesky", C=1.0, tol=1e-10, max_iter=200, fit_intercept=False
    )


def with_constant(vectors: Array) -> Array:
    return np.column_stack([vectors, np.ones(len(vectors))])


def labels(positive: Array, negative: Array) -> npt.NDArray[np.int_]:
    return np.repeat([1, -1], [len(positive), len(negative)])


def learnt(positive: Array, negative: Array, weights: Array | None = None) -> LogisticRegression:
    features = with_constant(np.vstack([positive, negative]))
    return by_scikit_learn().fit(features, labels(positive, negative), weights)


def two_classes(
    rng: np.random.Generator, sizes: tuple[int, int], dim: int, scale: float = 1.0
) -> tuple[Array, Array]:
    apart = rng.normal(size=dim) * 0.3
    first, second = (rng.normal(size=(n, dim)) * rng.lognormal(size=dim) for n in sizes)
    return (first + apart) * scale, (second - apart) * scale


def made(
    groups: tuple[int, ...], attributes: tuple[int, int], seed: int = 0, dim: int = 8
) -> tuple[bb.Query, bb.Embedding]:
    rng = np.random.default_rng(seed)
    sizes = (*groups, *attributes)
    sets = [[f"{i}-{j}" for j in range(n)] for i, n in enumerate(sizes)]
    words = [word for words in sets for word in words]
    vectors = rng.normal(size=(len(words), dim))
    return bb.Query(sets[: len(groups)], sets[len(groups) :]), bb.Embedding(words, vectors, "made")


def gathered(
    metric: bb.metrics.Metric, query: bb.Query, emb: bb.Embedding
) -> tuple[list[bb.metrics.WordVectors], list[bb.metrics.WordVectors]]:
    found = metric.on(query, emb).words
    return list(found.targets), list(found.attributes)


def expected(
    metric: bb.metrics.Metric,
    targets: list[bb.metrics.WordVectors],
    attributes: list[bb.metrics.WordVectors],
    target_weights: list[Array] | None = None,
    attribute_weights: list[Array] | None = None,
) -> float:
    """The value by scikit-learn and SciPy; whole target weights repeat words."""
    weights = None if attribute_weights is None else np.concatenate(attribute_weights)
    model = learnt(attributes[0].vectors, attributes[1].vectors, weights)
    vectors = [words.vectors for words in targets]
    if target_weights is not None:
        vectors = [
            np.repeat(v, w.astype(int), axis=0)
            for v, w in zip(vectors, target_weights, strict=True)
        ]
    if isinstance(metric, bb.metrics.RNSBGroups):
        vectors = [v.mean(axis=0, keepdims=True) for v in vectors]
    p = model.predict_proba(with_constant(np.vstack(vectors)))[:, 0]
    return float(entropy(p / p.sum(), np.full(len(p), 1 / len(p))))


@pytest.mark.parametrize(
    ("sizes", "dim", "scale"),
    [
        ((6, 4), 30, 1.0),  # fewer words than dimensions
        ((30, 20), 12, 1.0),
        ((30, 20), 12, 30.0),  # long vectors that can be told apart
        ((200, 400), 10, 1.0),  # so many words that some find the region first
        ((1, 1), 5, 1.0),
    ],
)
def test_coefficients(sizes: tuple[int, int], dim: int, scale: float) -> None:
    rng = np.random.default_rng(0)
    positive, negative = two_classes(rng, sizes, dim, scale)
    weights = rng.exponential(size=(4, sum(sizes)))
    weights[1] = 1
    weights[2, 1:-1:2] = 0
    classifier = Classifier(positive, negative)
    found = classifier.coefficients(weights)
    for row, coefficients in zip(weights, found, strict=True):
        theirs = learnt(positive, negative, row).coef_[0]
        np.testing.assert_allclose(coefficients, theirs, rtol=1e-6, atol=1e-6 / scale)
        np.testing.assert_allclose(
            coefficients, classifier.coefficients(row[None])[0], rtol=1e-6, atol=1e-9
        )


def test_the_objective_is_that_of_liblinear(rng: np.random.Generator) -> None:
    positive, negative = two_classes(rng, (20, 25), 6)
    theirs = LogisticRegression(solver="liblinear", C=1.0, tol=1e-10, max_iter=1000)
    theirs.fit(np.vstack([positive, negative]), labels(positive, negative))
    ours = Classifier(positive, negative).coefficients(np.ones((1, 45)))[0]
    np.testing.assert_allclose(ours[:-1], theirs.coef_[0], rtol=1e-5)
    assert ours[-1] == pytest.approx(theirs.intercept_[0], rel=1e-5)


@settings(max_examples=300)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.tuples(st.integers(1, 60), st.integers(1, 60)),
    dim=st.integers(1, 20),
    scale=st.sampled_from([1e-6, 1e-2, 1.0, 30.0, 1e3]),
    draws=st.integers(1, 6),
)
def test_the_gradient_vanishes(
    seed: int, sizes: tuple[int, int], dim: int, scale: float, draws: int
) -> None:
    rng = np.random.default_rng(seed)
    positive, negative = two_classes(rng, sizes, dim, scale)
    weights = rng.exponential(size=(draws, sum(sizes))) * rng.integers(0, 3, size=sum(sizes))
    b = Classifier(positive, negative).coefficients(weights)
    y = labels(positive, negative)
    rows = y[:, None] * with_constant(np.vstack([positive, negative]))
    # At the optimum the coefficients are the sum of the rows, each times its error.
    wrong = weights * expit(-(b @ rows.T))
    largest = np.abs(rows).max(initial=1) * (1 + weights.sum(axis=1, keepdims=True))
    assert (np.abs(b - wrong @ rows) <= 1e-8 * largest).all()


def test_blocks_of_draws_change_nothing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    positive, negative = two_classes(rng, (9, 8), 5)
    weights = rng.exponential(size=(23, 17))
    classifier = Classifier(positive, negative)
    at_once = classifier.coefficients(weights)
    monkeypatch.setattr(logistic, "_BLOCK", 17 * 4)
    np.testing.assert_allclose(classifier.coefficients(weights), at_once, atol=1e-8)


@pytest.mark.parametrize("metric", BOTH)
@pytest.mark.parametrize("normalize", [False, True])
def test_value_and_probabilities(metric: type[bb.metrics.RNSB], normalize: bool) -> None:
    query, emb = made((4, 3, 5), (12, 10))
    score = metric().run_query(query, emb, normalize=normalize)
    found = metric().on(query, emb, normalize=normalize).words
    targets, attributes = list(found.targets), list(found.attributes)
    assert score.value == pytest.approx(expected(metric(), targets, attributes), rel=1e-6)
    assert score.value == score[metric.name]
    assert score.value == pytest.approx(metric().value(targets, attributes), rel=1e-9)
    p = score["negative_sentiment_probabilities"]
    q = score["negative_sentiment_distribution"]
    assert list(p) == list(q)
    if metric is bb.metrics.RNSB:
        assert list(p) == [w for s in query.target_sets for w in s]
    else:
        assert list(p) == list(query.target_names)
    assert sum(q.values()) == pytest.approx(1)
    assert entropy(list(p.values()), np.ones(len(p))) == pytest.approx(score.value, rel=1e-9)
    model = learnt(attributes[0].vectors, attributes[1].vectors)
    vectors = (
        targets[0].vectors[:1]
        if metric is bb.metrics.RNSB
        else targets[0].vectors.mean(axis=0)[None]
    )
    negative = model.predict_proba(with_constant(vectors))[0, 0]
    assert next(iter(p.values())) == pytest.approx(negative, rel=1e-6)


def test_words_without_difference_are_neutral() -> None:
    words = ["p", "q", "good", "bad"]
    emb = bb.Embedding(words, [[1.0, 2.0], [1.0, 2.0], [0.5, 0.0], [-1.0, 0.0]], "tiny")
    query = bb.Query([["p"], ["q"]], [["good"], ["bad"]])
    for metric in BOTH:
        score = metric().run_query(query, emb)
        assert score.value == pytest.approx(0, abs=1e-15)
        assert np.isnan(score["accuracy"])  # no word can be left out
        assert score["negative_sentiment_distribution"] == pytest.approx(
            {"p": 0.5, "q": 0.5}
            if metric is bb.metrics.RNSB
            else dict.fromkeys(query.target_names, 0.5)
        )


@given(
    seed=st.integers(0, 2**32 - 1),
    groups=st.lists(st.integers(1, 5), min_size=2, max_size=4),
    scale=st.sampled_from([1e-3, 1.0, 100.0, 1e5]),
)
def test_the_bound_is_the_logarithm_of_the_number(
    seed: int, groups: list[int], scale: float
) -> None:
    query, emb = made(tuple(groups), (5, 4), seed)
    emb = bb.Embedding(emb.words, emb.vectors * scale, "scaled")
    assert 0 <= bb.metrics.RNSB().run_query(query, emb).value <= np.log(sum(groups)) + 1e-9
    assert 0 <= bb.metrics.RNSBGroups().run_query(query, emb).value <= np.log(len(groups)) + 1e-9


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 6))
def test_groups_of_one_word_are_their_words(seed: int, n: int) -> None:
    query, emb = made((1,) * n, (6, 6), seed)
    by_word, by_group = (metric().run_query(query, emb) for metric in BOTH)
    assert by_group.value == pytest.approx(by_word.value, rel=1e-9, abs=1e-14)


def test_one_sided_sentiment_reaches_the_bound() -> None:
    words = ["p", "q", "r", "good", "bad"]
    vectors = [[3e3, 0.0], [3e3, 0.0], [-3e3, 0.0], [1.0, 0.0], [-1.0, 0.0]]
    query = bb.Query([["p"], ["q"], ["r"]], [["good"], ["bad"]])
    score = bb.metrics.RNSB().run_query(query, bb.Embedding(words, vectors, "far"))
    assert score.value == pytest.approx(np.log(3))


@pytest.mark.parametrize("metric", BOTH)
@given(seed=st.integers(0, 2**32 - 1))
def test_weights_count_words(metric: type[bb.metrics.RNSB], seed: int) -> None:
    """Whole numbers repeat words, on both sides; others weight the errors of the classifier."""
    rng = np.random.default_rng(seed)
    query, emb = made((3, 4), (5, 6), seed)
    targets, attributes = gathered(metric(), query, emb)
    weights: list[Any] = [rng.integers(0, 4, size=(3, len(s))).astype(float) for s in targets]
    for w in weights:
        w[:, 0] += 1
    of_attributes = [rng.exponential(size=(3, len(s))) for s in attributes]
    of_attributes[0][1], of_attributes[1][1] = [2, 1, 0, 1, 3], [1, 0, 0, 2, 1, 1]
    values = metric().weighted(targets, attributes, weights, of_attributes)
    for draw, value in enumerate(values):
        rows = [w[draw] for w in weights], [w[draw] for w in of_attributes]
        assert value == pytest.approx(
            expected(metric(), targets, attributes, *rows), rel=1e-6, abs=1e-10
        )
    repeated = bb.metrics.Metric.weighted(
        metric(), targets, attributes, [w[1:2] for w in weights], [w[1:2] for w in of_attributes]
    )
    assert values[1] == pytest.approx(repeated[0], rel=1e-6, abs=1e-10)


@pytest.mark.parametrize("metric", BOTH)
def test_one_row_serves_all_draws(metric: type[bb.metrics.RNSB], rng: np.random.Generator) -> None:
    query, emb = made((3, 4), (5, 6))
    targets, attributes = gathered(metric(), query, emb)
    first, second = ([rng.exponential(size=(5, len(s))) for s in g] for g in (targets, attributes))
    one = [w[:1] for w in second]
    spread = [np.repeat(w, 5, axis=0) for w in one]
    np.testing.assert_allclose(
        metric().weighted(targets, attributes, first, one),
        metric().weighted(targets, attributes, first, spread),
        rtol=1e-7,
    )
    mixed = [first[0][:1], first[1]]
    np.testing.assert_allclose(
        metric().weighted(targets, attributes, mixed, second),
        metric().weighted(targets, attributes, [np.repeat(mixed[0], 5, axis=0), first[1]], second),
        rtol=1e-7,
    )


@pytest.mark.parametrize("metric", BOTH)
@pytest.mark.parametrize("empty", range(4))
def test_nothing_can_be_said_of_an_empty_set(metric: type[bb.metrics.RNSB], empty: int) -> None:
    query, emb = made((3, 4), (5, 6))
    targets, attributes = gathered(metric(), query, emb)
    weights = [np.ones((2, len(words))) for words in (*targets, *attributes)]
    weights[empty][1] = 0
    values = metric().weighted(targets, attributes, weights[:2], weights[2:])
    assert np.isfinite(values[0])
    assert np.isnan(values[1])


@pytest.mark.parametrize("metric", BOTH)
def test_influence(metric: type[bb.metrics.RNSB]) -> None:
    query, emb = made((3, 4), (5, 6))
    frame = metric().influence(query, emb).set_index("word")
    whole = metric().run_query(query, emb).value
    targets, attributes = gathered(metric(), query, emb)
    for i in (0, 1):
        for kind in (targets, attributes):
            kept = [list(range(len(words))) for words in kind]
            del kept[i][1]
            fewer = [words.take(rows) for words, rows in zip(kind, kept, strict=True)]
            rest = (fewer, attributes) if kind is targets else (targets, fewer)
            row = frame.loc[kind[i].words[1]]
            assert row["value_without"] == pytest.approx(expected(metric(), *rest), rel=1e-6)
            assert row["influence"] == pytest.approx(whole - row["value_without"])


@pytest.mark.parametrize("metric", BOTH)
def test_posterior(metric: type[bb.metrics.RNSB]) -> None:
    query, emb = made((3, 4), (12, 9))
    score = metric().posterior(query, emb, draws=300, seed=3)
    assert score.draws is not None
    assert score.lower < score.upper
    np.testing.assert_array_equal(
        score.draws, metric().posterior(query, emb, draws=300, seed=3).draws
    )
    assert not np.allclose(score.draws, metric().posterior(query, emb, draws=300, seed=4).draws)
    assert score.draws.min() < score.value < score.draws.max()


def test_p_value_of_groups() -> None:
    query, emb = made((3, 4), (8, 8), seed=2)
    score = bb.metrics.RNSBGroups().run_query(query, emb, calculate_p_value=True)
    targets, attributes = gathered(bb.metrics.RNSBGroups(), query, emb)
    model = learnt(attributes[0].vectors, attributes[1].vectors)
    pool = with_constant(np.vstack([t.vectors for t in targets]))
    values = []
    for code in range(2**7):
        first = np.array([code >> i & 1 for i in range(7)], dtype=bool)
        if first.sum() == 3:
            means = np.vstack([pool[first].mean(axis=0), pool[~first].mean(axis=0)])
            p = model.predict_proba(means)[:, 0]
            values.append(entropy(p, [1, 1]))
    assert len(values) == 35
    assert score.p_value == np.mean(np.array(values) >= score.value - 1e-9)


def test_no_p_value_where_groups_do_not_matter() -> None:
    query, emb = made((3, 4), (8, 8))
    with pytest.warns(BayesBiasWarning, match="it does not matter to the metric which set"):
        score = bb.metrics.RNSB().run_query(query, emb, calculate_p_value=True)
    assert np.isnan(score.p_value)


def test_a_word_of_two_groups_counts_twice() -> None:
    _, emb = made((3, 3), (5, 5))
    query = bb.Query(
        [["0-0", "0-1"], ["0-1", "1-0"]], [[f"{i}-{j}" for j in range(5)] for i in (2, 3)]
    )
    with pytest.warns(BayesBiasWarning, match="share '0-1'"):
        score = bb.metrics.RNSB().run_query(query, emb)
    p = score["negative_sentiment_probabilities"]
    assert list(p) == ["0-0", "0-1", "1-0"]
    four = [p["0-0"], p["0-1"], p["0-1"], p["1-0"]]
    assert score.value == pytest.approx(entropy(four, np.ones(4)))
    q = score["negative_sentiment_distribution"]
    assert q["0-1"] == pytest.approx(2 * p["0-1"] / sum(four))
    assert sum(q.values()) == pytest.approx(1)


def test_accuracy_is_cross_validated() -> None:
    query, emb = made((3, 4), (23, 17), dim=12)
    score = bb.metrics.RNSB().run_query(query, emb)
    _, attributes = gathered(bb.metrics.RNSB(), query, emb)
    fold = np.concatenate([np.arange(n) * 5 // n for n in (23, 17)])
    y = labels(attributes[0].vectors, attributes[1].vectors)
    features = with_constant(np.vstack([a.vectors for a in attributes]))
    guess = cross_val_predict(by_scikit_learn(), features, y, cv=PredefinedSplit(fold))
    assert score["accuracy"] == pytest.approx(np.mean(guess == y))
    assert 0 < score["accuracy"] < 1
    assert bb.metrics.RNSBGroups().run_query(query, emb)["accuracy"] == score["accuracy"]


def test_accuracy_with_few_words() -> None:
    query, emb = made((3, 4), (3, 9))
    score = bb.metrics.RNSB().run_query(query, emb)
    assert score["accuracy"] * 12 == pytest.approx(round(score["accuracy"] * 12))


@pytest.mark.parametrize("metric", BOTH)
def test_holdout(metric: type[bb.metrics.RNSB]) -> None:
    """Values, probabilities and accuracies of random parts of the attributes are averaged."""
    query, emb = made((3, 4), (14, 11))
    score = metric().run_query(query, emb, holdout=True, n_iterations=3, seed=7)
    targets, attributes = gathered(metric(), query, emb)
    y = labels(attributes[0].vectors, attributes[1].vectors)
    features = with_constant(np.vstack([a.vectors for a in attributes]))
    vectors = [t.vectors for t in targets]
    if metric is bb.metrics.RNSBGroups:
        vectors = [v.mean(axis=0)[None] for v in vectors]
    random = np.random.RandomState(7)
    values, probabilities, accuracies = [], [], []
    for _ in range(3):
        x, x_test, labels_of, labels_test = train_test_split(
            features, y, test_size=0.2, stratify=y, random_state=random
        )
        model = by_scikit_learn().fit(x, labels_of)
        accuracies.append(model.score(x_test, labels_test))
        probabilities.append(model.predict_proba(with_constant(np.vstack(vectors)))[:, 0])
        values.append(entropy(probabilities[-1], np.ones(len(probabilities[-1]))))
    assert score.value == pytest.approx(np.mean(values), rel=1e-6)
    assert list(score["negative_sentiment_probabilities"].values()) == pytest.approx(
        np.mean(probabilities, axis=0), rel=1e-6
    )
    assert sum(score["negative_sentiment_distribution"].values()) == pytest.approx(1)
    assert score["accuracy"] == pytest.approx(np.mean(accuracies))
    again = metric(holdout=True, n_iterations=3).run_query(query, emb, seed=7)
    assert again.value == score.value
    assert metric(holdout=True).run_query(query, emb, seed=8).value != score.value
    assert metric(holdout=True, n_iterations=3, seed=7).value(targets, attributes) == pytest.approx(
        score.value, rel=1e-7
    )
    assert metric(holdout=True).run_query(query, emb, seed=2**40).value > 0


def test_without_holdout_the_seed_changes_nothing() -> None:
    query, emb = made((3, 4), (14, 11))
    first, second = (bb.metrics.RNSB().run_query(query, emb, seed=seed) for seed in (1, 2))
    assert first.to_dict() == second.to_dict()


@pytest.mark.parametrize("sizes", [(1, 20), (2, 3)])
def test_too_few_words_to_hold_some_out(sizes: tuple[int, int]) -> None:
    query, emb = made((3, 4), sizes)
    with pytest.warns(
        BayesBiasWarning,
        match="NaN.*holdout=True .*two words.* six",
    ):
        score = bb.metrics.RNSB().run_query(query, emb, holdout=True)
    assert np.isnan(score.value)
    assert np.isnan(score["accuracy"])
    assert score["negative_sentiment_probabilities"] == {}
    assert bb.metrics.RNSB().run_query(query, emb).value > 0


def test_the_fewest_words_to_hold_some_out() -> None:
    query, emb = made((3, 4), (2, 4))
    assert bb.metrics.RNSB().run_query(query, emb, holdout=True).value > 0


def test_lost_words() -> None:
    query, emb = made((3, 4), (5, 5))
    lacking = bb.Query([*query.target_sets, ["nowhere"]], query.attribute_sets)
    with pytest.warns(BayesBiasWarning, match="has no word of"):
        score = bb.metrics.RNSB().run_query(lacking, emb)
    assert set(score) == {
        "query_name",
        "result",
        "rnsb",
        "negative_sentiment_probabilities",
        "negative_sentiment_distribution",
        "accuracy",
        "classification_report",
    }
    assert set(score) == set(bb.metrics.RNSB().run_query(query, emb))


def test_options_are_checked() -> None:
    query, emb = made((3, 4), (5, 5))
    with pytest.raises(SpecError, match="'n_iterations' is 0; expected a whole number, 1 or"):
        bb.metrics.RNSB(n_iterations=0)
    with pytest.raises(SpecError, match="no option 'hold_out'.*Did you mean 'holdout'"):
        bb.metrics.RNSB().run_query(query, emb, hold_out=True)
    with pytest.raises(SpecError, match=r"'rnsb' takes \('n', 2\) target and attribute sets"):
        bb.metrics.RNSB().run_query(query.subqueries((2, 1))[0], emb)


def test_a_classifier_that_learnt_nothing_is_told(rng: np.random.Generator) -> None:
    words = [f"{g}{i}" for g in "tpn" for i in range(8)]
    vectors = rng.normal(size=(24, 2)) * 0.1
    corner = np.array([[1, 1], [-1, -1]] * 4)
    vectors[8:16] += corner  # no line divides these
    vectors[16:] += corner * [1, -1]
    emb = bb.Embedding(words, vectors, "crossed")
    query = bb.Query([words[:8]], [words[8:16], words[16:]])
    with pytest.warns(BayesBiasWarning, match="the classifier is right for only .*% of the"):
        score = bb.metrics.RNSB().run_query(query, emb)
    assert score["accuracy"] < 0.65
    assert "says little about them" in score.notes[0]


def test_seed_of_the_class_counts_unless_the_call_has_one(demo: bb.Embedding) -> None:
    query = bb.load_query("weat_6")

    def value(own: int, call: int | None) -> float:
        return bb.metrics.RNSB(holdout=True, seed=own).run_query(query, demo, seed=call).value

    assert value(5, None) == value(0, 5) == value(7, 5)
    assert value(5, 0) == value(0, 0) == value(0, None)  # 0 is a seed like any other
    assert value(5, 0) != value(5, None)
