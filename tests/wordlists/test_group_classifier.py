"""The classifier of groups: what it learns from, its probabilities, and how it is judged."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import calibration_curve
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    brier_score_loss,
    confusion_matrix,
    f1_score,
    precision_recall_fscore_support,
)
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

import bayesbias as bb
from bayesbias.errors import (
    BayesBiasWarning,
    DataError,
    NotFittedError,
    NotFoundError,
    SpecError,
    VocabularyError,
)
from bayesbias.numerics.label_shift import estimate_prior, with_prior
from bayesbias.wordlists.build import classifier_training
from bayesbias.wordlists.build import group_classifier as classifier_module
from bayesbias.wordlists.build.classifier_evaluation import brier, calibration_error, evaluate
from bayesbias.wordlists.build.lemmas import group_of_lemma, lemma_parts, stem
from bayesbias.wordlists.build.score_arrays import ForestScores, KernelScores

pytestmark = pytest.mark.numpy_only

NAMES = ("female", "male", "neutral")
GENDER = (*NAMES, "associated with female", "associated with male")


class Gaussians:
    """Words of three groups with normal vectors, of which the true posterior is known."""

    def __init__(self, seed: int, sizes: tuple[int, ...] = (150, 150, 400), dim: int = 10) -> None:
        self.rng = np.random.default_rng(seed)
        self.means = self.rng.normal(size=(len(sizes), dim)) * 0.7
        self.codes = np.repeat(np.arange(len(sizes)), sizes)
        self.vectors = self.draw(self.codes)
        words = [f"{NAMES[code]}{i}" for i, code in enumerate(self.codes)]
        self.embedding = bb.Embedding(words, self.vectors, "gaussians")
        self.labelled = {
            NAMES[code]: [word for word, c in zip(words, self.codes, strict=True) if c == code]
            for code in range(len(sizes))
        }

    def draw(self, codes: np.ndarray) -> np.ndarray:
        return self.means[codes] + self.rng.normal(size=(len(codes), self.means.shape[1]))

    def posterior(self, vectors: np.ndarray) -> np.ndarray:
        """Linear discriminant analysis with the true means and groups that are equally likely."""
        logits = vectors @ self.means.T - (self.means**2).sum(axis=1) / 2
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def gender(demo: bb.Embedding) -> bb.wordlists.GroupClassifier:
    return bb.wordlists.GroupClassifier().fit(demo, "gender")


@pytest.mark.parametrize(
    "forms",
    [
        "boy boys boy's boys' Boy",
        "woman women",
        "wife wives",
        "life lives",
        "lady ladies",
        "princess princesses",
        "father fathers fathered fathering",
        "love loves loved loving",
        "stop stopped stopping",
        "marry marries married marrying",
        "witch witches",
        "hero heroes",
        "fiancé fiance fiances",
        "calf calves",
        "movie movies",
    ],
)
def test_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


@pytest.mark.parametrize("words", ["king queen", "his hers", "man men's woman", "actor actress"])
def test_different_words_have_different_stems(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == len(words.split())


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30)), min_size=1, max_size=80),
    st.integers(2, 6),
    st.integers(0, 10),
)
def test_lemmas_are_dealt_out_evenly(words: list[tuple[int, int]], n: int, seed: int) -> None:
    codes = np.array([code for code, _ in words])
    lemmas = [f"lemma{number}" for _, number in words]
    parts = lemma_parts(codes, lemmas, n, np.random.default_rng(seed))
    of_lemma: dict[str, set[int]] = {}
    for lemma, part in zip(lemmas, parts.tolist(), strict=True):
        of_lemma.setdefault(lemma, set()).add(part)
    assert all(len(found) == 1 for found in of_lemma.values())
    owner = group_of_lemma(codes, lemmas)
    for code in set(owner.values()):
        counts = [0] * n
        for lemma, group in owner.items():
            counts[of_lemma[lemma].pop() if group == code else 0] += group == code
        assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("groups", [2, 3])
def test_margins_are_those_of_scikit_learn(kernel: str, groups: int) -> None:
    data = Gaussians(0, (40,) * groups)
    machine = OneVsRestClassifier(SVC(kernel=kernel, gamma=0.1, class_weight="balanced"))
    machine.fit(data.vectors, data.codes)
    new = data.draw(data.codes)
    expected = machine.decision_function(new).reshape(len(new), -1)
    np.testing.assert_allclose(KernelScores.of(machine).scores(new), expected, atol=1e-9)


def test_calibration_is_a_regression_on_scores_of_unseen_words() -> None:
    data = Gaussians(1)
    parts = np.random.default_rng(0).integers(5, size=len(data.codes))
    folds = classifier_training.splits(parts)
    choice = classifier_training.Choice("logistic", {"C": 0.1}, 0.0, 0.0)
    unseen = classifier_training.unseen_scores(choice, data.vectors, data.codes, folds, seed=0)
    model = classifier_training.learn(choice, data.vectors, data.codes, unseen, seed=0)
    logistic = LogisticRegression(C=0.1, class_weight="balanced", max_iter=5000)
    scores = cross_val_predict(
        logistic, data.vectors, data.codes, cv=folds, method="decision_function"
    )
    scaler = StandardScaler().fit(scores)
    platt = LogisticRegression(C=10, class_weight="balanced", max_iter=1000)
    platt.fit(scaler.transform(scores), data.codes)
    new = data.draw(data.codes)
    logits = logistic.fit(data.vectors, data.codes).decision_function(new)
    np.testing.assert_allclose(
        model.probabilities(new), platt.predict_proba(scaler.transform(logits)), atol=1e-8
    )


@pytest.mark.parametrize(("method", "error"), [("logistic", 0.05), ("svm", 0.07)])
def test_probabilities_are_near_the_true_posterior(method: str, error: float) -> None:
    data = Gaussians(2)
    groups = bb.wordlists.GroupClassifier(method, unit=False).fit(data.embedding, data.labelled)
    codes = np.repeat(np.arange(3), 1500)
    vectors = data.draw(codes)
    new = bb.Embedding([f"w{i}" for i in range(len(codes))], vectors, "new")
    found = groups.predict(embedding=new)[list(NAMES)].to_numpy()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    assert np.abs(found - data.posterior(vectors)).mean() < error
    certain, right = found.max(axis=1), found.argmax(axis=1) == codes
    assert calibration_error(certain, right, np.ones(len(codes))) < 0.04


def test_brier_of_the_truth_is_what_theory_says() -> None:
    # Of probabilities p that are true, the expected score is 1 - E[sum of p²].
    data = Gaussians(3)
    codes = np.repeat(np.arange(3), 20_000)
    posterior = data.posterior(data.draw(codes))
    expected = 1 - (posterior**2).sum(axis=1).mean()
    assert brier(codes, posterior, np.ones(len(codes))) == pytest.approx(expected, abs=0.01)


@given(st.integers(0, 1000), st.integers(2, 4))
def test_evaluation_is_that_of_scikit_learn(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    true = np.concatenate([np.arange(n), rng.integers(n, size=40)])
    probabilities = rng.dirichlet(np.ones(n), size=len(true))
    names = [f"g{k}" for k in range(n)]
    lemmas = [f"w{i}" for i in range(len(true))]
    found = evaluate(true, probabilities, names, lemmas, probabilities.max(axis=1) >= 0.6, rng)
    predicted = probabilities.argmax(axis=1)
    expected = precision_recall_fscore_support(true, predicted, zero_division=0)
    for column, values in zip(("precision", "recall", "f1", "support"), expected, strict=True):
        np.testing.assert_allclose(found.table[column], values)
    assert found.macro_f1 == pytest.approx(f1_score(true, predicted, average="macro"))
    np.testing.assert_array_equal(found.confusion, confusion_matrix(true, predicted))
    for k in range(n):
        (tn, fp), (fn, tp) = confusion_matrix(true == k, predicted == k)
        assert found.table["fpr"][k] == pytest.approx(fp / (fp + tn))
        assert found.table["fnr"][k] == pytest.approx(fn / (fn + tp))
        unsure = probabilities[true == k].max(axis=1) < 0.6
        assert found.table["unsure"][k] == pytest.approx(unsure.mean())
    weights = (len(true) / n / np.bincount(true))[true]
    each = [
        brier_score_loss(true == k, probabilities[:, k], sample_weight=weights) for k in range(n)
    ]
    assert found.brier == pytest.approx(sum(each))
    lower, upper = found.macro_f1_interval
    assert 0 <= lower < upper <= 1


def test_calibration_error_is_that_of_the_curve() -> None:
    rng = np.random.default_rng(0)
    certain = rng.uniform(0.34, 1, size=500)
    right = rng.random(500) < certain**2
    share, promised = calibration_curve(right, certain, n_bins=10)
    counts = np.histogram(certain, np.linspace(0, 1, 11))[0]
    expected = (np.abs(share - promised) * counts[counts > 0]).sum() / 500
    assert calibration_error(certain, right, np.ones(500)) == pytest.approx(expected)


def test_interval_covers_the_true_macro_f1() -> None:
    # The predicted group is the true one with probability 0.8, else one of the others.
    rng = np.random.default_rng(4)
    true = np.repeat(np.arange(3), 30)
    lemmas = [f"w{i}" for i in range(len(true))]
    sure = np.ones(len(true), dtype=bool)
    covered = 0
    for _ in range(150):
        predicted = (true + (rng.random(len(true)) < 0.2) * rng.integers(1, 3, len(true))) % 3
        found = evaluate(true, np.eye(3)[predicted], NAMES, lemmas, sure, rng)
        lower, upper = found.macro_f1_interval
        covered += lower <= 0.8 <= upper
    assert 0.8 <= covered / 150 <= 0.96


@pytest.fixture
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifier_training, "_TREES", 10)


@pytest.mark.slow
@pytest.mark.usefixtures("few_trees")
def test_search_is_cross_validation_of_the_training_words_alone() -> None:
    data = Gaussians(5, (60, 60, 60))
    groups = bb.wordlists.GroupClassifier("best", unit=False).fit(data.embedding, data.labelled)
    held = (groups.labelled_["part"] == "held out").to_numpy()
    assert held.sum() == 45
    # Whatever the held-out words look like, the choice and the scores are the same.
    vectors = data.vectors.copy()
    vectors[held] = data.rng.normal(size=(45, 10)) * 5
    other = bb.Embedding(data.embedding.words, vectors, "other")
    again = bb.wordlists.GroupClassifier("best", unit=False).fit(other, data.labelled)
    pd.testing.assert_frame_equal(groups.search_, again.search_)
    assert groups.macro_f1_ > again.macro_f1_
    assert groups.chosen_ == groups.search_["method"][0]
    assert set(groups.search_["method"]) == {"logistic", "svm", "forest"}
    assert groups.search_["macro_f1"].is_monotonic_decreasing
    # About what scikit-learn's own folds say.
    row = groups.search_[groups.search_["method"] == "logistic"].iloc[0]
    direct = LogisticRegression(class_weight="balanced", max_iter=5000, **row["options"])
    scores = cross_val_score(direct, data.vectors[~held], data.codes[~held], scoring="f1_macro")
    assert row["macro_f1"] == pytest.approx(scores.mean(), abs=0.06)


@pytest.mark.usefixtures("few_trees")
def test_best_takes_what_is_not_linear() -> None:
    # A group inside and one around it: no plane tells them apart.
    rng = np.random.default_rng(6)
    directions = rng.normal(size=(200, 4))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    vectors = directions * np.repeat([0.5, 2.0], 100)[:, None]
    words = [f"word{i}" for i in range(200)]
    emb = bb.Embedding(words, vectors)
    labelled = {"inside": words[:100], "outside": words[100:]}
    best = bb.wordlists.GroupClassifier("best", unit=False).fit(emb, labelled)
    assert best.chosen_ != "logistic"
    assert best.macro_f1_ > 0.95
    linear = bb.wordlists.GroupClassifier("logistic", unit=False).fit(emb, labelled)
    assert linear.macro_f1_ < 0.7


@pytest.mark.slow
@pytest.mark.parametrize("name", ["demo", "demo-100d"])
def test_gender_on_the_demo(name: str) -> None:
    groups = bb.wordlists.GroupClassifier().fit(bb.load_embedding(name), "gender")
    f1 = groups.evaluation_.set_index("group")["f1"]
    assert 0.65 < f1[["female", "male", "neutral"]].mean() < 0.95
    assert groups.calibration_error_ < 0.15
    assert groups.brier_ < 0.6  # equal probabilities have 4/5
    lower, upper = groups.macro_f1_interval_
    assert lower < groups.macro_f1_ < upper
    # First names and kinship terms that are not among the labelled words.
    new = ["jane", "susan", "charles", "henry", "democracy", "computer"]
    assert not set(new) & set(groups.labelled_["word"])
    expected = ["female", "female", "male", "male", "neutral", "neutral"]
    found = groups.predict(new)[list(groups.classes_)]
    # Much more probable than for any word; male words without a label are rare in the demo.
    ratios = found / pd.Series(groups.prevalence_)
    assert ratios.idxmax(axis=1).tolist() == expected
    assert (ratios[["female", "male"]].iloc[:4].max(axis=1) > 10).all()
    # Few words of the vocabulary are female or male.
    assert sum(groups.prevalence_.values()) == pytest.approx(1)
    assert 0.001 < groups.prevalence_["female"] < 0.1
    assert groups.prevalence_["neutral"] > 0.8


def test_what_it_learnt_from(gender: bb.wordlists.GroupClassifier) -> None:
    assert tuple(gender.classes_) == GENDER
    sides = gender.labelled_.groupby("lemma")["part"].nunique()
    assert (sides == 1).all()
    shares = (gender.labelled_["part"] == "held out").groupby(gender.labelled_["group"]).mean()
    assert shares.between(0.2, 0.3).all()
    assert gender.evaluation_["support"].sum() == (gender.labelled_["part"] == "held out").sum()
    assert "twin_sister" in gender.missing_
    assert gender.two_labels_ == ()
    text = gender.summary()
    assert f"macro F1 {gender.macro_f1_:.2f}" in text
    assert f"lacks {len(gender.missing_):,} labelled words: 'twin_sister'" in text


@pytest.mark.slow
def test_same_seed_same_result(demo: bb.Embedding) -> None:
    few = {name: words[:60] for name, words in bb.load_labelled("gender").items()}
    first, again = (bb.wordlists.GroupClassifier().fit(demo, few) for _ in range(2))
    assert again.prevalence_ == first.prevalence_
    pd.testing.assert_frame_equal(again.evaluation_, first.evaluation_)
    pd.testing.assert_frame_equal(again.predict(), first.predict())
    assert again.macro_f1_interval_ == first.macro_f1_interval_
    other = bb.wordlists.GroupClassifier("logistic", seed=1).fit(demo, few)
    assert not other.labelled_["part"].equals(first.labelled_["part"])
    # A forest takes large seeds too.
    fewer = {name: words[:30] for name, words in few.items()}
    assert bb.wordlists.GroupClassifier("forest", seed=2**40).fit(demo, fewer).chosen_ == "forest"


def test_predict(gender: bb.wordlists.GroupClassifier, demo: bb.Embedding) -> None:
    table = gender.predict()
    assert list(table.columns) == ["word", "group", "probability", *GENDER]
    assert table["word"].tolist() == list(demo.words)
    probabilities = table[list(GENDER)].to_numpy()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(table["probability"], probabilities.max(axis=1))
    sure = table["probability"] >= gender.threshold
    assert (table["group"] == "unsure").equals(~sure)
    best = np.array(GENDER)[probabilities.argmax(axis=1)]
    assert (table["group"] == best)[sure].all()
    two = gender.predict(["Elizabeth", "king"])
    assert two["word"].tolist() == ["Elizabeth", "king"]
    expected = table.set_index("word").loc[["elizabeth", "king"], "probability"]
    np.testing.assert_allclose(two["probability"], expected, atol=1e-6)


def test_blocks_do_not_matter(
    gender: bb.wordlists.GroupClassifier, demo: bb.Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.arange(1000)[::-1]
    whole = gender.probabilities(demo, rows)
    monkeypatch.setattr(classifier_module, "_BLOCK_NUMBERS", 77 * demo.dim)
    np.testing.assert_allclose(gender.probabilities(demo, rows), whole, atol=1e-6)


def test_only_directions_count_or_lengths_too() -> None:
    data = Gaussians(7, (40, 40))
    lengths = data.rng.uniform(0.5, 5, size=(80, 1))
    stretched = bb.Embedding(data.embedding.words, data.vectors * lengths)
    unit = [
        bb.wordlists.GroupClassifier().fit(emb, data.labelled).predict()["probability"]
        for emb in (data.embedding, stretched)
    ]
    np.testing.assert_allclose(*unit, atol=1e-5)
    raw = (
        bb.wordlists.GroupClassifier(unit=False)
        .fit(stretched, data.labelled)
        .predict()["probability"]
    )
    assert np.abs(raw - unit[0]).max() > 0.05


def test_words_without_a_direction_have_no_group() -> None:
    data = Gaussians(8, (40, 40))
    vectors = np.vstack([data.vectors, np.zeros(10)])
    emb = bb.Embedding([*data.embedding.words, "nothing"], vectors)
    groups = bb.wordlists.GroupClassifier().fit(emb, data.labelled)
    last = groups.predict().iloc[-1]
    assert last["group"] == "unsure"
    assert np.isnan(last["probability"])
    with pytest.raises(SpecError, match="labelled words without a direction: 'nothing'; leave"):
        bb.wordlists.GroupClassifier().fit(
            emb, {**data.labelled, "male": [*data.labelled["male"], "nothing"]}
        )


def test_words_with_two_labels_and_missing_words() -> None:
    data = Gaussians(9, (40, 40))
    first = data.labelled["female"][0]
    labelled = {
        "female": [*data.labelled["female"], "absent"],
        # Another spelling of a word of the other group, and of one of the same group.
        "male": [*data.labelled["male"], first.title(), data.labelled["male"][0].upper()],
    }
    groups = bb.wordlists.GroupClassifier().fit(data.embedding, labelled)
    assert groups.two_labels_ == (first,)
    assert groups.missing_ == ("absent",)
    assert first not in set(groups.labelled_["word"])
    assert groups.labelled_["word"].is_unique
    assert f"Dropped, as they have two labels: '{first}'." in groups.summary()


def test_given_lemmas_keep_words_together() -> None:
    data = Gaussians(10, (40, 40))
    words = data.embedding.words
    lemmas = {word: f"lemma{i // 2}" for i, word in enumerate(words)}
    groups = bb.wordlists.GroupClassifier().fit(data.embedding, data.labelled, lemmas=lemmas)
    sides = groups.labelled_.groupby("lemma")["part"].nunique()
    assert (sides == 1).all()
    assert groups.labelled_["lemma"].nunique() == 40
    with pytest.raises(SpecError, match="'lemmas' is .*; expected a dictionary such as"):
        bb.wordlists.GroupClassifier().fit(data.embedding, data.labelled, lemmas={"a": 1})


@pytest.mark.slow
def test_too_few_words(demo: bb.Embedding) -> None:
    words = ["she", "her", "woman", "girl", "queen"]
    five = {**bb.load_labelled("gender"), "female": words}
    with pytest.raises(
        SpecError,
        match=r"'female' has 5 words.* at least 10",
    ):
        bb.wordlists.GroupClassifier().fit(demo, five)
    with pytest.raises(
        SpecError,
        match=r"'female' has 5 .*'demo' .* 11 .* at least 10 .*forms",
    ):
        bb.wordlists.GroupClassifier().fit(
            demo, {**five, "female": words + [f"qq{i}" for i in range(6)]}
        )
    forms = [
        form for word in ("girl", "queen", "sister", "aunt", "nun") for form in (word, f"{word}s")
    ]
    with pytest.raises(SpecError, match="has 5 different words"):
        bb.wordlists.GroupClassifier().fit(demo, {**five, "female": forms})
    ten = ["she", "her", "woman", "girl", "queen", "mother", "sister", "daughter", "wife", "nun"]
    three = {**{name: five[name] for name in ("male", "neutral")}, "female": ten}
    assert bb.wordlists.GroupClassifier().fit(demo, three).macro_f1_ > 0.5


@pytest.mark.parametrize(
    ("labelled", "error", "text"),
    [
        ({}, SpecError, "'labelled' is empty; give the words of at least two groups"),
        (
            {"a": ["he"]},
            SpecError,
            "labelled words of 1 group: 'a'; .* at least two groups",
        ),
        ({"a": "he", "b": ["she"]}, SpecError, "'a' is the string 'he'; expected a list"),
        ({"a": ["he"], "b": [3]}, SpecError, "'b' holds 3, which is not a string"),
        ({"word": ["he"], "b": ["she"]}, SpecError, "a group cannot be called 'word'"),
        (
            {"unsure": ["he"], "b": ["she"]},
            SpecError,
            "a group cannot be called 'unsure'",
        ),
        (["he", "she"], SpecError, "'labelled' is a list; expected a dictionary of groups"),
        (
            {"a": [f"qq{i}" for i in range(10)], "b": [f"zz{i}" for i in range(10)]},
            VocabularyError,
            "has none of the 20 labelled words",
        ),
        ("gendre", NotFoundError, "no labelled words 'gendre'.* Did you mean 'gender'?"),
    ],
)
def test_bad_labels(demo: bb.Embedding, labelled: object, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        bb.wordlists.GroupClassifier().fit(demo, labelled)


def test_bad_options(demo: bb.Embedding) -> None:
    with pytest.raises(SpecError, match="'method' is 'forrest'; .* Did you mean 'forest'?"):
        bb.wordlists.GroupClassifier("forrest").fit(demo, "gender")
    with pytest.raises(SpecError, match="'threshold' is 2; expected a number from 0 to 1"):
        bb.wordlists.GroupClassifier(threshold=2).fit(demo, "gender")
    with pytest.raises(SpecError, match="'unit' is 'yes'; expected True or False"):
        bb.wordlists.GroupClassifier(unit="yes").fit(demo, "gender")
    with pytest.raises(SpecError, match="'seed' is -1"):
        bb.wordlists.GroupClassifier(seed=-1).fit(demo, "gender")
    with pytest.raises(SpecError, match="'n_jobs' is 0; expected a number of processes, or -1"):
        bb.wordlists.GroupClassifier(n_jobs=0).fit(demo, "gender")
    with pytest.raises(SpecError, match="'embedding' is an int; expected an Embedding"):
        bb.wordlists.GroupClassifier().fit(3, "gender")


def test_not_fitted(demo: bb.Embedding, gender: bb.wordlists.GroupClassifier) -> None:
    fresh = bb.wordlists.GroupClassifier()
    assert not hasattr(fresh, "evaluation_")
    for use in (
        lambda: fresh.evaluation_,
        lambda: fresh.table,
        fresh.predict,
        fresh.summary,
        fresh.to_latex,
    ):
        with pytest.raises(NotFittedError, match="call fit"):
            use()
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = fresh.nonsense
    # What was learnt before is forgotten when a fit fails.
    used = copy.deepcopy(gender)
    assert used.predict(["she"])["group"][0] == "female"
    with pytest.raises(VocabularyError):
        used.fit(demo, {name: [f"{name}q{i}" for i in range(10)] for name in "ab"})
    assert not hasattr(used, "evaluation_")


def test_it_is_an_estimator_of_scikit_learn(gender: bb.wordlists.GroupClassifier) -> None:
    settings = {"method": "forest", "unit": False, "threshold": 0.9, "seed": 3, "n_jobs": 2}
    settings |= {"background": 50, "prior": "equal"}
    classifier = bb.wordlists.GroupClassifier(**settings)
    assert classifier.get_params() == settings
    assert repr(classifier.set_params(n_jobs=1, seed=0, background=1000)) == (
        "GroupClassifier(method='forest', prior='equal', threshold=0.9, unit=False)"
    )
    with pytest.raises(ValueError, match="nonsense"):
        classifier.set_params(nonsense=1)
    check_is_fitted(gender)
    fresh = clone(gender)
    assert fresh.get_params() == gender.get_params()
    with pytest.raises(SklearnNotFittedError):
        check_is_fitted(fresh)
    with pytest.raises(SklearnNotFittedError, match="call fit"):
        fresh.predict(["king"])
    again = pickle.loads(pickle.dumps(gender))
    pd.testing.assert_frame_equal(again.predict(["king"]), gender.predict(["king"]))


def test_a_generator_is_a_seed() -> None:
    data = Gaussians(12, (40, 40))
    first, again, other = (
        bb.wordlists.GroupClassifier(seed=seed).fit(data.embedding, data.labelled).labelled_["part"]
        for seed in (np.random.default_rng(1), np.random.default_rng(1), np.random.default_rng(2))
    )
    assert first.equals(again)
    assert not first.equals(other)


def test_the_matching_of_the_embedding_is_used() -> None:
    data = Gaussians(13, (40, 40))
    words = [f"/c/en/{word}" for word in data.embedding.words]
    prefixed = bb.Embedding(words, data.vectors).with_matching(prefix="/c/en/")
    groups = bb.wordlists.GroupClassifier().fit(prefixed, data.labelled)
    assert len(groups.labelled_) == 80
    with pytest.raises(VocabularyError, match="none of the 80 labelled words"):
        bb.wordlists.GroupClassifier().fit(
            prefixed, data.labelled, matching=bb.embeddings.Matching()
        )


def test_other_embeddings_and_words(
    gender: bb.wordlists.GroupClassifier, demo: bb.Embedding
) -> None:
    with pytest.raises(SpecError, match="learnt from 50 dimensions, and .* 'demo-100d' has 100"):
        gender.predict(embedding=bb.load_embedding("demo-100d"))
    with pytest.warns(BayesBiasWarning, match="demo lacks words: 'qqq'"):
        assert len(gender.predict(["king", "qqq"])) == 1
    with pytest.raises(VocabularyError, match="has none of the words, such as 'qqq'"):
        gender.predict(["qqq"])
    part = demo.subset(["democracy", "queen"])
    assert gender.predict(embedding=part)["group"].tolist() == ["neutral", "female"]


def test_labelled_files(tmp_path: Path) -> None:
    path = tmp_path / "groups.toml"
    path.write_text('source = "me"\n[groups]\nfemale = "garg:female_terms"\nmale = ["he"]\n')
    groups = bb.load_labelled(path)
    assert groups["female"].words == bb.word_sets("garg")["female_terms"].words
    assert "Garg" in groups["female"].source
    assert groups["male"].source == "me"
    path.write_text('[gruops]\na = ["b"]\n')
    with pytest.raises(SpecError, match="no 'gruops'; expected 'groups', .* mean 'groups'?"):
        bb.load_labelled(path)
    path.write_text('title = "nothing"\n')
    with pytest.raises(SpecError, match="groups.toml: labelled words need 'groups'"):
        bb.load_labelled(path)


def test_gender_labels_are_told_apart() -> None:
    groups = bb.load_labelled("gender")
    assert tuple(groups) == GENDER
    lower = {name: {word.lower() for word in words} for name, words in groups.items()}
    for one, two in combinations(lower, 2):
        assert not lower[one] & lower[two]
    # Definitional pairs of Bolukbasi, terms of Garg and names of WEAT are where they belong.
    for name in ("female", "male"):
        for collection, key in (("garg", "terms"), ("bolukbasi", "terms"), ("weat", "names")):
            words = bb.word_sets(collection)[f"{name}_{key}"]
            known = [word for word in words if word.lower() in lower[name]]
            assert len(known) >= len(words) - 1, (name, collection)


# --- groups that are rare in the vocabulary ------------------------------------------------------


class Vocabulary:
    """Words of three groups with known shares; a few of each are labelled, at random."""

    def __init__(self, seed: int, shares: tuple[float, ...] = (0.04, 0.08, 0.88)) -> None:
        rng = np.random.default_rng(seed)
        self.shares = np.array(shares)
        means = np.array([[2.4, 0, 0, 0], [0, 2.4, 0, 0], [0, 0, 0, 0]], dtype=float)
        self.codes = rng.choice(3, size=8000, p=shares)
        vectors = means[self.codes] + rng.normal(size=(8000, 4))
        letters = "bcdfghklmp"
        self.words = ["zy" + "".join(letters[int(d)] for d in f"{i:04d}") for i in range(8000)]
        self.embedding = bb.Embedding(self.words, vectors, "vocabulary")
        self.lemmas = {word: word for word in self.words}
        self.labelled = {
            name: [self.words[i] for i in np.flatnonzero(self.codes == code)[:150]]
            for code, name in enumerate(NAMES)
        }
        logits = vectors @ means.T - (means**2).sum(axis=1) / 2 + np.log(self.shares)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        self.posterior = odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("shares", [(0.04, 0.08, 0.88), (0.3, 0.3, 0.4), (0.02, 0.5, 0.48)])
def test_em_finds_the_shares(shares: tuple[float, ...]) -> None:
    data = Vocabulary(1, shares)
    # The true posterior for equally frequent groups, shifted: EM gets back the shares.
    equal = with_prior(data.posterior, np.full(3, 1 / 3), np.array(shares))
    found = estimate_prior(equal, np.full(3, 1 / 3))
    true = np.bincount(data.codes) / len(data.codes)
    np.testing.assert_allclose(found, true, atol=0.01)
    np.testing.assert_allclose(
        with_prior(equal, np.array(shares), np.full(3, 1 / 3)), data.posterior, atol=1e-9
    )
    # It is the maximum of the likelihood: no shares nearby have a higher one.
    best = np.log(equal * 3 @ found).sum()
    rng = np.random.default_rng(0)
    for _ in range(50):
        near = np.maximum(found + rng.normal(size=3) * 0.01, 1e-6)
        assert np.log(equal * 3 @ (near / near.sum())).sum() <= best + 1e-6


@pytest.mark.slow
def test_probabilities_know_how_rare_the_groups_are() -> None:
    data = Vocabulary(2)
    fit = {"labelled": data.labelled, "lemmas": data.lemmas}
    groups = bb.wordlists.GroupClassifier("logistic", unit=False).fit(data.embedding, **fit)
    for name, share in zip(NAMES, data.shares, strict=True):
        assert groups.prevalence_[name] == pytest.approx(share, abs=0.04)
    equal = bb.wordlists.GroupClassifier("logistic", unit=False, prior="equal", background=0)
    equal.fit(data.embedding, **fit)
    new = ~np.isin(data.words, [*groups.labelled_["word"], *groups.background_])
    purity, stated = {}, {}
    for kind, classifier in (("vocabulary", groups), ("equal", equal)):
        table = classifier.predict()[new]
        sure = (table["group"] == "female").to_numpy()
        purity[kind] = float((data.codes[new][sure] == 0).mean())
        stated[kind] = float(table["female"][sure].mean())
    assert stated["vocabulary"] == pytest.approx(purity["vocabulary"], abs=0.06)
    assert purity["equal"] < stated["equal"] - 0.3  # what was wrong before
    error = np.abs(groups.predict()[list(NAMES)].to_numpy() - data.posterior).mean()
    assert error < 0.03


@pytest.mark.slow
def test_words_of_the_vocabulary_stand_for_neutral_ones() -> None:
    data = Vocabulary(3)
    two = {name: data.labelled[name] for name in ("female", "male")}
    groups = bb.wordlists.GroupClassifier("logistic", unit=False, background=400)
    groups.fit(data.embedding, two, lemmas=data.lemmas)
    assert tuple(groups.classes_) == NAMES
    assert 250 < len(groups.background_) <= 400
    assert not set(groups.background_) & set(groups.labelled_["word"])
    # Many words of the groups were found among those drawn, and left out.
    codes = data.codes[[data.embedding.index[word] for word in groups.background_]]
    drawn = (data.codes == 2).mean()
    assert 1 - (codes == 2).mean() < 0.6 * (1 - drawn)
    new = ~np.isin(data.words, [*groups.labelled_["word"], *groups.background_])
    table = groups.predict()[new]
    sure = (table["group"] == "male").to_numpy()
    # Not as pure as with labelled neutral words, but far from what two groups alone give.
    assert (data.codes[new][sure] == 1).mean() > 0.65
    assert "words of the vocabulary as neutral" in groups.summary()
    without = bb.wordlists.GroupClassifier("logistic", unit=False, background=0)
    without.fit(data.embedding, two, lemmas=data.lemmas)
    assert tuple(without.classes_) == ("female", "male")
    called = (without.predict()[new]["group"] == "male").to_numpy()
    assert (data.codes[new][called] == 1).mean() < 0.3


@pytest.mark.slow
def test_shares_that_are_given() -> None:
    data = Vocabulary(4)
    shares = {"female": 0.04, "male": 0.08, "neutral": 0.88}
    groups = bb.wordlists.GroupClassifier("logistic", unit=False, prior=shares, background=0)
    groups.fit(data.embedding, data.labelled, lemmas=data.lemmas)
    assert groups.prevalence_ == shares
    for prior, text in (
        ({"female": 1.0}, "shares of 'female'; expected those of 'female', 'male', 'neutral'"),
        ({**shares, "male": 0.5}, "add up to 1.42; expected 1"),
        ("rare", "'prior' is 'rare'"),
    ):
        with pytest.raises(SpecError, match=text):
            bb.wordlists.GroupClassifier("logistic", prior=prior).fit(data.embedding, data.labelled)
    with pytest.raises(SpecError, match="'background' is -1"):
        bb.wordlists.GroupClassifier(background=-1).fit(data.embedding, data.labelled)


# --- saved classifiers ---------------------------------------------------------------------------


def test_a_forest_of_arrays_votes_as_scikit_learn_does() -> None:
    data = Gaussians(14, (60, 60, 60))
    forest = RandomForestClassifier(20, class_weight="balanced", random_state=0)
    forest.fit(data.vectors, data.codes)
    new = data.draw(data.codes)
    expected = np.log(np.maximum(forest.predict_proba(new), 0.025))
    np.testing.assert_allclose(ForestScores.of(forest, 0.025).scores(new), expected, atol=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize("method", ["logistic", "svm", "forest"])
@pytest.mark.parametrize("groups", [2, 3])
def test_saved_classifiers_are_the_same(method: str, groups: int, tmp_path: Path) -> None:
    data = Gaussians(15, (40,) * groups)
    fitted = bb.wordlists.GroupClassifier(method, threshold=0.6).fit(data.embedding, data.labelled)
    path = tmp_path / "groups.npz"
    fitted.save(path)
    # Nothing in it is pickled.
    with np.load(path, allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)
    again = bb.wordlists.GroupClassifier.load(path)
    check_is_fitted(again)
    assert again.get_params() == fitted.get_params()
    expected = fitted.predict()
    pd.testing.assert_frame_equal(again.predict(embedding=data.embedding), expected)
    for name in ("evaluation_", "confusion_", "labelled_", "search_"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(fitted, name))
    assert again.summary() == fitted.summary()
    assert again.to_latex() == fitted.to_latex()
    with pytest.raises(SpecError, match="no vectors; give it the embedding"):
        again.predict()
    with pytest.raises(SpecError, match="learnt from 10 dimensions"):
        again.predict(embedding=bb.load_embedding("demo"))


def test_files_that_are_not_classifiers(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        bb.wordlists.GroupClassifier().save(tmp_path / "groups.npz")
    with pytest.raises(SpecError, match=r"groups.pkl: .* an .npz file"):
        bb.wordlists.GroupClassifier().save(tmp_path / "groups.pkl")
    with pytest.raises(NotFoundError, match="no classifier"):
        bb.wordlists.GroupClassifier.load(tmp_path / "absent.npz")
    path = tmp_path / "other.npz"
    np.savez(path, vectors=np.eye(2))
    with pytest.raises(DataError, match="not a saved classifier"):
        bb.wordlists.GroupClassifier.load(path)
    np.savez(path, about=np.array([{"format": 1}], dtype=object))  # pickled
    with pytest.raises(DataError, match="not a saved classifier"):
        bb.wordlists.GroupClassifier.load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(DataError, match="not a saved classifier"):
        bb.wordlists.GroupClassifier.load(path)
    np.savez(path, about=np.frombuffer(b'{"format": 99}', dtype=np.uint8))
    with pytest.raises(DataError, match="format 99"):
        bb.wordlists.GroupClassifier.load(path)


@pytest.mark.parametrize("name", ["religion", "ethnicity"])
def test_other_labels(name: str, demo: bb.Embedding) -> None:
    groups = bb.load_labelled(name)
    lower = {group: {word.lower() for word in words} for group, words in groups.items()}
    for one, two in combinations(lower, 2):
        assert not lower[one] & lower[two]
    published = bb.word_sets("manzini") | bb.word_sets("garg")
    sources = {"judaism": "judaism_terms", "christianity": "christianity_terms"}
    sources |= {"islam": "islam_terms", "hispanic": "names_hispanic", "asian": "names_chinese"}
    for group in set(sources) & set(groups):
        assert set(published[sources[group]]) <= set(groups[group])


def test_few_associated_words_count_as_neutral(demo: bb.Embedding) -> None:
    labelled = {**bb.load_labelled("gender")}
    apart = "associated with female"
    labelled[apart] = [*labelled[apart][:2], *(f"qq{i}" for i in range(20))]
    groups = bb.wordlists.GroupClassifier("logistic").fit(demo, labelled)
    assert apart not in groups.classes_
    assert "associated with male" in groups.classes_
    group = groups.labelled_.set_index("word")["group"]
    assert group[labelled[apart][0]] == "neutral"
    assert "qq0" in groups.missing_
