"""Choosing a classifier by cross-validation, and making its scores probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbias._core.array_types import Array, Codes

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


@dataclass(frozen=True)
class Calibrated:
    """A classifier, and a second one that makes probabilities of its scores."""

    estimator: Any
    calibration: Any

    def probabilities(self, vectors: Array) -> Array:
        """Return vectors × groups."""
        result: Array = self.calibration.predict_proba(_scores(self.estimator, vectors))
        return result


def splits(parts: Codes) -> Splits:
    """Return the rows to learn from and to test on, for each part in turn."""
    return [
        (np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in np.unique(parts)
    ]


def search(
    methods: Sequence[str], vectors: Array, codes: Codes, folds: Splits, seed: int, n_jobs: int
) -> list[Choice]:
    """Return the macro F1 of every classifier and setting on the folds, the best first."""
    from sklearn.metrics import f1_score, make_scorer
    from sklearn.model_selection import GridSearchCV

    # A group that is never predicted has an F1 of zero, and not a warning.
    scoring = make_scorer(
        f1_score, average="macro", labels=np.unique(codes).tolist(), zero_division=0
    )
    choices = []
    for method in methods:
        grid = GridSearchCV(
            _estimator(method, seed),
            _grid(method, vectors),
            scoring=scoring,
            cv=folds,
            refit=False,
            n_jobs=n_jobs,
        ).fit(vectors, codes)
        columns = ("params", "mean_test_score", "std_test_score")
        choices += [
            Choice(method, dict(options), float(mean), float(sd))
            for options, mean, sd in zip(*map(grid.cv_results_.get, columns), strict=True)
        ]
    return sorted(choices, key=lambda choice: -choice.macro_f1)


def learn(choice: Choice, vectors: Array, codes: Codes, folds: Splits, seed: int) -> Calibrated:
    """Fit the classifier, and calibrate it on words that it has not seen.

    Scores that cross-validation gives each word are the predictors of a multinomial logistic
    regression of the group: Platt's scaling for two groups or more. Groups weigh the same, so the
    probabilities are those of a word that comes from each group equally often.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    estimator = _estimator(choice.method, seed).set_params(**choice.options)
    scores: Array | None = None
    for training, testing in folds:
        some = _scores(estimator.fit(vectors[training], codes[training]), vectors[testing])
        if scores is None:
            scores = np.empty((len(vectors), some.shape[1]))
        scores[testing] = some
    calibration = make_pipeline(
        StandardScaler(),
        LogisticRegression(C=_CALIBRATION_C, class_weight="balanced", max_iter=1000),
    )
    return Calibrated(estimator.fit(vectors, codes), calibration.fit(scores, codes))


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


def _grid(method: str, vectors: Array) -> dict[str, Any] | list[dict[str, Any]]:
    if method == "logistic":
        return {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    if method == "svm":
        # In units of the spread of the vectors, as scikit-learn's "scale" is.
        unit = 1 / (vectors.shape[1] * max(float(vectors.var()), 1e-12))
        wide: dict[str, Any] = {"estimator__kernel": ["rbf"], "estimator__C": [1.0, 10.0, 100.0]}
        wide["estimator__gamma"] = [0.1 * unit, 0.3 * unit, unit]
        cubic = {"estimator__kernel": ["poly"], "estimator__C": [1.0, 10.0]}
        return [wide, {**cubic, "estimator__gamma": [unit]}]
    return {"max_features": ["sqrt", "log2"]}


def _scores(estimator: Any, vectors: Array) -> Array:
    """Return vectors × groups, or × 1 for two groups: margins, or logarithms of shares of votes."""
    from sklearn.multiclass import OneVsRestClassifier

    if isinstance(estimator, OneVsRestClassifier):
        return np.column_stack([_margins(machine, vectors) for machine in estimator.estimators_])
    if hasattr(estimator, "decision_function"):
        margins: Array = np.asarray(estimator.decision_function(vectors))
        return margins.reshape(len(vectors), -1)
    votes: Array = np.log(np.maximum(estimator.predict_proba(vectors), _FEWEST_VOTES))
    return votes


def _margins(machine: Any, vectors: Array) -> Array:
    """Return what a support vector machine's `decision_function` does, about three times as fast.

    That one sums up kernels one by one; these are products of matrices.
    """
    from sklearn.metrics.pairwise import pairwise_kernels

    kernels = pairwise_kernels(
        vectors,
        machine.support_vectors_,
        metric=machine.kernel,
        filter_params=True,
        gamma=machine.gamma,
        degree=machine.degree,
        coef0=machine.coef0,
    )
    result: Array = kernels @ machine.dual_coef_[0] + machine.intercept_[0]
    return result
