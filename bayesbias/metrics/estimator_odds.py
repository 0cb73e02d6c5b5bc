"""A classifier of scikit-learn as RNSB needs it: log odds for weights of its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.wording import kind_of
from bayesbias.errors import SpecError

#: The classes, named as WEFE names them.
_POSITIVE, _NEGATIVE = 1, -1


@dataclass(frozen=True, eq=False)
class EstimatorOdds:
    """A classifier that is fitted to positive and negative words anew for all weights of them."""

    estimator: Any
    positive: Array
    negative: Array
    seed: int

    def log_odds(self, sets: Sequence[Array], weights: Array) -> list[Array]:
        """Return for each set the log odds that its words are positive, draws × words.

        They are infinite where the classifier is certain, and NaN for weights that leave a class
        without words.
        """
        vectors = np.vstack([self.positive, self.negative])
        labels = np.repeat([_POSITIVE, _NEGATIVE], [len(self.positive), len(self.negative)])
        words = np.vstack(list(sets))
        distinct, draws = np.unique(weights, axis=0, return_inverse=True)
        odds = np.empty((len(distinct), len(words)))
        for result, row in zip(odds, distinct, strict=True):
            result[:] = self._of_one(vectors, labels, row, words)
        ends = np.cumsum([len(part) for part in sets])[:-1]
        return np.split(odds[draws.ravel()], ends, axis=1)

    def _of_one(self, vectors: Array, labels: Array, weights: Array, words: Array) -> Array:
        used = weights > 0
        if len(set(labels[used].tolist())) < 2:
            return np.full(len(words), np.nan)
        classifier = as_classifier(self.estimator, self.seed)
        try:
            if (weights[used] == 1).all():
                classifier.fit(vectors[used], labels[used])
            elif takes_sample_weight(classifier):
                classifier.fit(vectors[used], labels[used], sample_weight=weights[used])
            else:
                often = weights.astype(np.intp)
                classifier.fit(vectors.repeat(often, axis=0), labels.repeat(often))
            chances = classifier.predict_proba(words)
        except ValueError as err:
            raise SpecError(
                f"the estimator {type(classifier).__name__} cannot learn from the "
                f"{int(used.sum())} attribute words: {err}"
            ) from err
        place = {label: i for i, label in enumerate(classifier.classes_.tolist())}
        with np.errstate(divide="ignore"):
            logs = np.log(chances)
        result: Array = logs[:, place[_POSITIVE]] - logs[:, place[_NEGATIVE]]
        return result


def check_classifier(estimator: object) -> None:
    """Refuse what cannot be fitted and give probabilities."""
    made = as_classifier(estimator, 0)
    if not (hasattr(made, "fit") and hasattr(made, "predict_proba")):
        raise SpecError(
            f"'estimator' is {kind_of(made)}, which has no 'predict_proba'; expected a "
            "classifier of scikit-learn that gives probabilities, such as "
            "LogisticRegression() or CalibratedClassifierCV(LinearSVC())."
        )


def as_classifier(estimator: Any, seed: int) -> Any:
    """Return a new classifier with the same options, and with the seed if it has none."""
    from sklearn.base import clone

    try:
        made = estimator() if isinstance(estimator, type) else clone(estimator)
    except TypeError as err:
        raise SpecError(
            f"'estimator' is {estimator!r}; expected a classifier of scikit-learn, such as "
            "LogisticRegression()."
        ) from err
    options = made.get_params() if hasattr(made, "get_params") else {}
    unseeded = [
        name
        for name, value in options.items()
        if value is None and name.rpartition("__")[2] == "random_state"
    ]
    if unseeded:
        made.set_params(**dict.fromkeys(unseeded, seed % 2**32))
    return made


def takes_sample_weight(estimator: Any) -> bool:
    """Return whether words can be weighted when it is fitted."""
    from sklearn.utils.validation import has_fit_parameter

    return bool(has_fit_parameter(estimator, "sample_weight"))
