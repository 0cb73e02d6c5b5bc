"""Choosing a classifier by cross-validation, and making its scores probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias.wordlists.build.score_arrays import (
    Calibrated,
    Calibration,
    ForestScores,
    KernelScores,
    LinearScores,
    Scores,
)

#: The classifiers, the simplest first; of equally good ones the first is taken.
METHODS = ("logistic", "svm", "forest")
# The trees of a forest. A share of votes below half a tree is no evidence.
_TREES = 100
_FEWEST_VOTES = 0.5 / _TREES
# How little the calibration is shrunk; its scores have a variance of one.
_CALIBRATION_C = 10.0

Splits = Sequence[tuple[Codes, Codes]]


@dataclass(frozen=True)
class Choice:
    """What cross-validation says of one classifier with one setting of its options."""

    method: str
    options: dict[str, Any]
    macro_f1: float
    sd: float


def splits(parts: Codes) -> Splits:
    """Return the rows to learn from and to test on, for each part in turn."""
    return [
        (np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in np.unique(parts)
    ]


def search(
    methods: Sequence[str], vectors: Array, codes: Codes, folds: Splits, seed: int, n_jobs: int
) -> tuple[list[Choice], Array]:
    """Return the macro F1 of every classifier and setting on the folds, and the best's scores.

    The best comes first.

    The group of a word is its most probable one, as it is when the classifier is used: scores of
    each fold are calibrated on those of the other folds.
    """
    from joblib import Parallel, delayed
    from sklearn.model_selection import ParameterGrid

    settings = [
        (method, options) for method in methods for options in ParameterGrid(_grid(method, vectors))
    ]
    judged = Parallel(n_jobs=n_jobs)(
        delayed(_judge)(method, options, vectors, codes, folds, seed)
        for method, options in settings
    )
    judged.sort(key=lambda pair: -pair[0].macro_f1)
    return [choice for choice, _ in judged], judged[0][1]


def learn(choice: Choice, vectors: Array, codes: Codes, scores: Array, seed: int) -> Calibrated:
    """Fit the classifier, and calibrate it by scores of words that it had not seen.

    Scores that cross-validation gives each word are the predictors of a multinomial logistic
    regression of the group: Platt's scaling for two groups or more. Groups weigh the same, so the
    probabilities are those of a word that comes from each group equally often.
    """
    estimator = _estimator(choice.method, seed).set_params(**choice.options)
    return Calibrated(_frozen(estimator.fit(vectors, codes)), calibrate(scores, codes))


def unseen_scores(choice: Choice, vectors: Array, codes: Codes, folds: Splits, seed: int) -> Array:
    """Return the scores of each word by a classifier that has not learnt from it."""
    estimator = _estimator(choice.method, seed).set_params(**choice.options)
    parts = [
        _frozen(estimator.fit(vectors[training], codes[training])).scores(vectors[testing])
        for training, testing in folds
    ]
    scores: Array = np.empty((len(vectors), parts[0].shape[1]))
    for (_, testing), part in zip(folds, parts, strict=True):
        scores[testing] = part
    return scores


def calibrate(scores: Array, codes: Codes) -> Calibration:
    """Return what makes probabilities of scores, for groups that are equally frequent."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    regression = LogisticRegression(C=_CALIBRATION_C, class_weight="balanced", max_iter=1000)
    return Calibration.of(make_pipeline(StandardScaler(), regression).fit(scores, codes))


def _judge(
    method: str,
    options: dict[str, Any],
    vectors: Array,
    codes: Codes,
    folds: Splits,
    seed: int,
) -> tuple[Choice, Array]:
    """Return scores, and the macro F1 of calibrated groups with its spread over the folds."""
    from sklearn.metrics import f1_score

    choice = Choice(method, dict(options), np.nan, np.nan)
    scores = unseen_scores(choice, vectors, codes, folds, seed)
    groups = np.unique(codes).tolist()
    f1 = []
    for others, testing in folds:
        calibration = calibrate(scores[others], codes[others])
        predicted = calibration.probabilities(scores[testing]).argmax(axis=1)
        # A group that is never predicted has an F1 of zero, and not a warning.
        f1.append(
            f1_score(codes[testing], predicted, average="macro", labels=groups, zero_division=0)
        )
    return replace(choice, macro_f1=float(np.mean(f1)), sd=float(np.std(f1))), scores


def default_choice(method: str, vectors: Array) -> Choice:
    """Return a classifier with a setting that mostly does, for a first look."""
    options = {name: values[len(values) // 2] for name, values in _grid(method, vectors).items()}
    return Choice(method, options, np.nan, np.nan)


def _estimator(method: str, seed: int) -> Any:
    if method == "logistic":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(class_weight="balanced", max_iter=5000)
    if method == "svm":
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.svm import SVC

        # One against the rest, since the scores of one against one are little more than votes.
        return OneVsRestClassifier(SVC(class_weight="balanced"))
    from sklearn.ensemble import RandomForestClassifier

    # NumPy's older generator, which it uses, takes seeds of 32 bits.
    return RandomForestClassifier(_TREES, class_weight="balanced", random_state=seed % 2**32)


def _grid(method: str, vectors: Array) -> dict[str, Any]:
    if method == "logistic":
        return {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    if method == "svm":
        # In units of the spread of the vectors, as scikit-learn's "scale" is.
        unit = 1 / (vectors.shape[1] * max(float(vectors.var()), 1e-12))
        return {"estimator__C": [10.0], "estimator__gamma": [0.3 * unit, unit, 2 * unit]}
    return {"max_features": ["sqrt", "log2"]}


def _frozen(estimator: Any) -> Scores:
    """Return the scores of a fitted classifier: margins, or logarithms of shares of votes."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.multiclass import OneVsRestClassifier

    if isinstance(estimator, OneVsRestClassifier):
        return KernelScores.of(estimator)
    if isinstance(estimator, RandomForestClassifier):
        return ForestScores.of(estimator, _FEWEST_VOTES)
    return LinearScores.of(estimator)
