"""RNSB with classifiers of scikit-learn, and with a target set for each of many words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import classification_report
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, SpecError

# fmt: off
NATIONALITIES = [
    "swedish", "irish", "mexican", "chinese", "filipino", "german", "english", "french",
    "norwegian", "american", "indian", "dutch", "russian", "scottish", "italian",
]
# fmt: on


def by_hand(query: bb.Query, emb: bb.Embedding, classifier: Any) -> float:
    """Follow the paper: fit, predict, normalise, divergence from equal shares."""
    first, second = (emb.vectors[emb.match(list(words)).rows] for words in query.attribute_sets)
    labels = [1] * len(first) + [-1] * len(second)
    classifier.fit(np.vstack([first, second]).astype(float), labels)
    words = [word for targets in query.target_sets for word in targets]
    rows = emb.match(words).rows
    chances = classifier.predict_proba(emb.vectors[rows].astype(float))
    negative = chances[:, classifier.classes_.tolist().index(-1)]
    return float(stats.entropy(negative, np.ones(len(negative))))


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(C=0.1, max_iter=1000),
        GaussianNB(),
        RandomForestClassifier(20, random_state=3),
        KNeighborsClassifier(3),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_any_classifier(demo: bb.Embedding, estimator: Any) -> None:
    query = bb.load_query("weat_1")
    score = bb.metrics.RNSB(estimator=estimator).run_query(query, demo)
    assert score.value == pytest.approx(by_hand(query, demo, estimator), rel=1e-6)
    targets = {w for label, words in score.words.items() if "target" in label for w in words}
    assert set(score["negative_sentiment_probabilities"]) == targets


def test_liblinear_is_the_default_within_its_tolerance(demo: bb.Embedding) -> None:
    """The classifier of WEFE; it stops within 6e-5 of the optimum, where ours is."""
    liblinear = LogisticRegression(solver="liblinear", max_iter=10_000)
    exact = LogisticRegression(solver="liblinear", max_iter=100_000, tol=1e-10)
    for number in range(1, 11):
        query = bb.load_query(f"weat_{number}")
        ours = bb.metrics.RNSB().on(query, demo).value()
        theirs = bb.metrics.RNSB(estimator=liblinear).on(query, demo).value()
        assert ours == pytest.approx(theirs, abs=6e-5)
        closer = bb.metrics.RNSB(estimator=exact).on(query, demo).value()
        assert ours == pytest.approx(closer, abs=1e-6)


def test_the_report_is_that_of_scikit_learn(demo: bb.Embedding) -> None:
    query = bb.load_query("weat_1")
    metric = bb.metrics.RNSB(holdout=True, seed=4)
    score = metric.run_query(query, demo)
    words = metric.on(query, demo).words.attributes
    [learnt] = metric._training(words)
    vectors = np.vstack([w.vectors for w in words])
    labels = np.repeat(["positive", "negative"], [len(w) for w in words])
    classifier = LogisticRegression(solver="liblinear", tol=1e-8).fit(
        vectors[learnt], labels[learnt]
    )
    expected = classification_report(
        labels[~learnt], classifier.predict(vectors[~learnt]), output_dict=True
    )
    report = score["classification_report"]
    for name in ("positive", "negative"):
        assert report[name] == pytest.approx(expected[name])
    assert report["accuracy"] == score["accuracy"] == pytest.approx(expected["accuracy"])


@pytest.mark.parametrize("estimator", [GaussianNB(), KNeighborsClassifier(1)])
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_intervals_and_permutations(demo: bb.Embedding, estimator: Any) -> None:
    """With weights of words, or with words repeated for a classifier that takes no weights."""
    metric = bb.metrics.RNSB(estimator=estimator)
    query = bb.load_query("weat_1")
    measurement = metric.on(query, demo)
    weights = [np.ones((1, len(words))) for words in measurement.words.sets]
    weights[2] = np.ones((2, len(measurement.words.sets[2])))
    weights[2][1, :5] = 0
    less = bb.Query(query.target_sets, [list(query.attribute_sets[0])[5:], query.attribute_sets[1]])
    expected = [measurement.value(), metric.on(less, demo).value()]
    assert measurement.evaluate(weights) == pytest.approx(expected)
    score = metric.posterior(query, demo, draws=20)
    assert score.draws is None or len(score.draws) == 20


@pytest.mark.slow
def test_same_seed_same_forest(demo: bb.Embedding) -> None:
    query = bb.load_query("weat_6")
    values = [
        bb.metrics.RNSB(estimator=RandomForestClassifier).on(query, demo, seed=seed).value()
        for seed in (1, 1, 2)
    ]
    assert values[0] == values[1] != values[2]


def test_what_is_no_classifier_is_refused(demo: bb.Embedding) -> None:
    with pytest.raises(SpecError, match="LinearSVC, which has no 'predict_proba'"):
        bb.metrics.RNSB(estimator=LinearSVC())
    with pytest.raises(SpecError, match="'estimator' is 'svm'; expected a classifier"):
        bb.metrics.RNSB(estimator="svm")
    with pytest.raises(SpecError, match=r"RNSB\(estimator=…\)"):
        bb.metrics.RNSBGroups(estimator=GaussianNB())
    many = bb.metrics.RNSB(estimator=KNeighborsClassifier(500))
    with pytest.raises(SpecError, match="KNeighborsClassifier cannot learn from the"):
        many.on("weat_1", demo).value()


def nationalities(words: list[str]) -> bb.Query:
    attributes = [bb.word_sets("weat")[name] for name in ("pleasant_5", "unpleasant_5a")]
    return bb.Query([[word] for word in words], attributes, words)


def test_a_nationality_that_is_missing_is_left_out(demo: bb.Embedding) -> None:
    with pytest.warns(BayesBiasWarning, match="left out, as the embedding lacks them: 'filipino'"):
        score = bb.metrics.RNSB().run_query(nationalities(NATIONALITIES), demo)
    present = [word for word in NATIONALITIES if word != "filipino"]
    expected = bb.metrics.RNSB().run_query(nationalities(present), demo)
    assert score.value == expected.value
    assert list(score["negative_sentiment_probabilities"]) == present
    assert score.lost == {"target: filipino": ("filipino",)}
    with pytest.warns(BayesBiasWarning, match="filipino"):
        table = bb.run_queries("rnsb", nationalities(NATIONALITIES), demo)
    assert table.iloc[0, 0] == expected.value


def test_too_many_missing_nationalities_leave_no_value(demo: bb.Embedding) -> None:
    words = [*NATIONALITIES[:8], "xyzzy", "quux"]  # with filipino, three of ten
    with pytest.warns(BayesBiasWarning, match="is NaN"):
        assert np.isnan(bb.metrics.RNSB().run_query(nationalities(words), demo).value)
