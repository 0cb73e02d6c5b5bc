"""RNSB, the relative negative sentiment bias, by word and by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from bayesbias._core.array_types import Array
from bayesbias._core.validation import at_least
from bayesbias.errors import SpecError
from bayesbias.metrics.base import Metric
from bayesbias.metrics.estimator_odds import EstimatorOdds, check_classifier, takes_sample_weight
from bayesbias.metrics.nested_subsets import NestedSubsets
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.weighting import ones, total
from bayesbias.numerics.logistic import Classifier
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Query, Template

Mask = npt.NDArray[np.bool_]

# Parts of the attribute words that are left out in turn to see how good the classifier is.
_FOLDS = 5
# Below this it has hardly learnt to tell them apart.
_ACCURATE = 0.65


@dataclass(frozen=True)
class RNSB(Metric):
    """Relative negative sentiment bias (Sweeney and Najafian 2019).

    A classifier learns to tell the first attributes (positive) from the second (negative). The
    value is 0 if all target words are as likely to be negative; the more the negative sentiment
    falls on some of them, the larger it is, up to the logarithm of the number of target words.

    Parameters
    ----------
    holdout : bool, default False
        Whether the classifier learns from a random 80% of the attributes only. It is the default
        of WEFE, where the value therefore changes from run to run; here all words are used.
    n_iterations : int, default 1
        With `holdout`, how many random subsets of the attributes to average over.
    seed : int, default 0
        With `holdout`, what the random subsets depend on; that of the call counts if it is given.
        It is also the ``random_state`` of an estimator that has none.
    estimator : classifier or class of it, optional
        Any classifier of scikit-learn with ``predict_proba``, in place of the logistic regression.
        It is cloned, and fitted anew for every draw of an interval.

    Notes
    -----
    The classifier is a logistic regression with the penalty ½|b|² on all coefficients and the
    intercept, as scikit-learn's liblinear has it with ``C=1``. With pᵢ its probability that target
    word i is negative, and qᵢ = pᵢ / Σ p, the value is Σ qᵢ ln(n qᵢ), the Kullback-Leibler
    divergence of q from the uniform distribution.

    Vectors are taken as long as they are unless ``normalize=True``; longer ones make a surer
    classifier and a larger value.

    The result also has ``negative_sentiment_probabilities`` (p by word),
    ``negative_sentiment_distribution`` (q by word) and ``accuracy``: of the classifier, for
    attribute words that it did not learn from (those held out; else each fifth in turn). For the
    same words, ``classification_report`` has precision, recall, F1 and number by class, as
    scikit-learn's function of that name returns them.

    A target set of one word that the embedding lacks is left out with a note, as long as the
    threshold of the matching allows it. So a query may have a target set for each of many groups.

    References
    ----------
    Sweeney, Najafian (2019), doi:10.18653/v1/P19-1162.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query, emb = bb.load_query("weat_1"), bb.load_embedding("demo")
    >>> score = bb.metrics.RNSB().posterior(query, emb, draws=500)
    >>> score
    <Score rnsb = 0.35 [0.21, 0.56], Flowers and Insects wrt Pleasant and Unpleasant, demo>
    >>> round(score["negative_sentiment_probabilities"]["maggot"], 2), round(score["accuracy"], 2)
    (0.48, 0.9)
    """

    holdout: bool = False
    n_iterations: int = 1
    seed: int = 0
    estimator: Any = None

    name: ClassVar[str] = "rnsb"
    title: ClassVar[str] = "RNSB"
    reference: ClassVar[str | None] = "Sweeney, Najafian (2019), doi:10.18653/v1/P19-1162."
    template: ClassVar[Template] = ("n", 2)
    value_range: ClassVar[tuple[float, float]] = (0.0, np.inf)
    orientation: ClassVar[str] = (
        "0: all target words are as likely to be negative; larger is more biased, at most the "
        "logarithm of the number of target words"
    )
    # A sample of words trains a weaker classifier than its weights say; and a divergence is about a
    # squared distance.
    drops_missing_targets: ClassVar[bool] = True
    costly: ClassVar[bool] = True
    jackknife: ClassVar[bool] = True
    root_scale: ClassVar[bool] = True
    undefined: ClassVar[str] = (
        "with holdout=True each attribute set needs two words, and the two sets six"
    )
    empty_details: ClassVar[Mapping[str, Any]] = {
        "negative_sentiment_probabilities": {},
        "negative_sentiment_distribution": {},
        "accuracy": np.nan,
        "classification_report": {},
    }

    def __post_init__(self) -> None:
        at_least("n_iterations", self.n_iterations, 1)
        if self.estimator is not None:
            check_classifier(self.estimator)

    @property
    def takes_weights(self) -> bool:
        """Whether words can count other than a whole number of times."""
        return self.estimator is None or takes_sample_weight(self.estimator)

    def _classifier(self, attributes: Sequence[WordVectors]) -> Classifier | EstimatorOdds:
        positive, negative = (words.vectors for words in attributes)
        if self.estimator is None:
            return Classifier(positive, negative)
        return EstimatorOdds(self.estimator, positive, negative, self.seed)

    def bounds(self, query: Query) -> tuple[float, float]:
        """Return 0 and the logarithm of the number of entries: all is said of one of them."""
        return 0.0, float(np.log(self._number(query)))

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the words."""
        weights = (target_weights, attribute_weights)
        return self._values(targets, attributes, *weights, growing=False)

    def cumulative(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        subsets: NestedSubsets,
    ) -> Array:
        """Return the value for subsets of the words that grow; each fit starts from the last."""
        weights = subsets.weights([*targets, *attributes])
        n_targets = len(targets)
        attributes_grow = any(place >= n_targets for place in subsets.orders)
        of_targets, of_attributes = weights[:n_targets], weights[n_targets:]
        return self._values(targets, attributes, of_targets, of_attributes, growing=attributes_grow)

    def _values(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
        *,
        growing: bool,
    ) -> Array:
        """Return the value for each draw; if growing, each fit may start from the last."""
        values = np.zeros(max(map(len, (*target_weights, *attribute_weights))))
        weights = _side_by_side(attribute_weights)
        parts = self._training(attributes)
        if not len(parts):
            return values + np.nan
        classifier = self._classifier(attributes)
        for part in parts:
            used = weights * part
            odds = _fitted_odds(classifier, targets, used, growing=growing)
            value = _divergence(*self._entries(odds, target_weights))
            for w in (*target_weights, *np.split(used, [len(attributes[0])], axis=1)):
                value = np.where(w.any(axis=1), value, np.nan)
            values += value
        return values / len(parts)

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, the probabilities by word, and how accurate the classifier is."""
        parts = self._training(attributes)
        if not len(parts):
            return np.nan, dict(self.empty_details)
        classifier = self._classifier(attributes)
        left_out = ~parts if self.holdout else _folds(attributes)
        both = [*targets, *attributes]
        all_odds = _fitted_odds(classifier, both, parts.astype(np.float64))
        odds, weights = self._entries(all_odds[: len(targets)], ones(targets))
        attribute_odds = all_odds[len(targets) :]
        if not self.holdout:
            # On which side a word falls shows before its probability is exact.
            learnt = (~left_out).astype(np.float64)
            attribute_odds = _fitted_odds(classifier, attributes, learnt, precision=0.1)
        is_positive = np.repeat([True, False], [len(words) for words in attributes])
        said_positive = np.hstack(attribute_odds)[left_out] > 0
        truly_positive = np.broadcast_to(is_positive, left_out.shape)[left_out]
        report = _report(truly_positive, said_positive)
        probabilities: dict[str, list[float]] = {}
        for label, p in zip(self._labels(targets), expit(-odds).mean(axis=0).tolist(), strict=True):
            probabilities.setdefault(label, []).append(p)
        everything = sum(map(sum, probabilities.values()))
        return float(_divergence(odds, weights).mean()), {
            "negative_sentiment_probabilities": {
                label: sum(p) / len(p) for label, p in probabilities.items()
            },
            "negative_sentiment_distribution": {
                label: sum(p) / everything for label, p in probabilities.items()
            },
            "accuracy": report.get("accuracy", np.nan),
            "classification_report": report,
        }

    def doubts(self, details: Mapping[str, Any]) -> tuple[str, ...]:
        """Say so if the classifier has learnt little."""
        accuracy = details["accuracy"]
        if accuracy >= _ACCURATE or np.isnan(accuracy):
            return ()
        return (
            f"the classifier is right for only {accuracy:.0%} of the attribute words that it has "
            "not learnt from, so the value says little about them",
        )

    def _entries(self, odds: Sequence[Array], weights: Sequence[Array]) -> tuple[Array, Array]:
        """Return the log odds of what is compared, and how often each of it counts."""
        return _side_by_side(odds), _side_by_side(weights)

    def _number(self, query: Query) -> int:
        """Return how many entries are compared."""
        return sum(map(len, query.target_sets))

    def _labels(self, targets: Sequence[WordVectors]) -> list[str]:
        return [word for words in targets for word in words.words]

    def _training(self, attributes: Sequence[WordVectors]) -> Mask:
        """Return which attribute words each classifier learns from; no row if there are too few."""
        sizes = [len(words) for words in attributes]
        n = sum(sizes)
        if not self.holdout:
            return np.ones((1, n), dtype=bool)
        if min(sizes) < 2 or n < 6:
            return np.ones((0, n), dtype=bool)
        from sklearn.model_selection import train_test_split

        # One stream for all parts, of which the first is the one that WEFE takes with this seed.
        random = np.random.RandomState(self.seed % 2**32)
        parts = np.zeros((self.n_iterations, n), dtype=bool)
        for part in parts:
            learnt, _ = train_test_split(
                np.arange(n),
                test_size=0.2,
                stratify=np.repeat([1, -1], sizes),
                random_state=random,
            )
            part[learnt] = True
        return parts


@dataclass(frozen=True)
class RNSBGroups(RNSB):
    """Relative negative sentiment bias of groups, each the mean vector of its words.

    The value is 0 if all groups are as likely to be negative, and larger the more the negative
    sentiment falls on some of them, up to the logarithm of the number of groups. Words of one
    group that differ from each other count in `RNSB` and not here.

    Parameters
    ----------
    holdout : bool, default False
        Whether the classifier learns from a random 80% of the attributes only.
    n_iterations : int, default 1
        With `holdout`, how many random subsets of the attributes to average over.
    seed : int, default 0
        With `holdout`, what the random subsets depend on; that of the call counts if it is given.
    estimator : None
        Not an option here: the log odds of a mean vector are the mean of those of its words for the
        logistic regression only.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query, emb = bb.load_query("weat_1"), bb.load_embedding("demo")
    >>> score = bb.metrics.RNSBGroups().run_query(query, emb, calculate_p_value=True)
    >>> round(score.value, 3), round(score.p_value, 3)
    (0.093, 0.006)
    >>> {group: round(p, 2) for group, p in score["negative_sentiment_probabilities"].items()}
    {'Flowers': 0.14, 'Insects': 0.34}
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.estimator is not None:
            raise SpecError(
                "'estimator' is not an option of 'rnsb_groups', which takes the log odds of mean "
                "vectors and so needs a linear classifier; use RNSB(estimator=…)."
            )

    name: ClassVar[str] = "rnsb_groups"
    title: ClassVar[str] = "RNSB by group"
    orientation: ClassVar[str] = (
        "0: all groups are as likely to be negative; larger is more biased, at most the logarithm "
        "of the number of groups"
    )

    def _entries(self, odds: Sequence[Array], weights: Sequence[Array]) -> tuple[Array, Array]:
        # The log odds are linear: those of the mean vector are the mean of those of the words.
        means = [total(z, shares(w)) for z, w in zip(odds, weights, strict=True)]
        return np.stack(np.broadcast_arrays(*means), axis=1), np.ones((1, len(means)))

    def _number(self, query: Query) -> int:
        return len(query.target_sets)

    def _labels(self, targets: Sequence[WordVectors]) -> list[str]:
        return [words.name for words in targets]


def _side_by_side(parts: Sequence[Array]) -> Array:
    draws = max(map(len, parts))
    return np.hstack([np.broadcast_to(part, (draws, part.shape[1])) for part in parts])


def _fitted_odds(
    classifier: Classifier | EstimatorOdds,
    sets: Sequence[WordVectors],
    weights: Array,
    *,
    growing: bool = False,
    precision: float | None = None,
) -> list[Array]:
    """Fit a classifier to each draw of weights, and return the log odds, draws × words."""
    if isinstance(classifier, EstimatorOdds):
        return classifier.log_odds([words.vectors for words in sets], weights)
    if growing:
        return _log_odds(sets, classifier.growing(weights))
    options = {} if precision is None else {"precision": precision}
    return _log_odds(sets, classifier.coefficients(weights, **options))


def _report(truly: Mask, said: Mask) -> dict[str, Any]:
    """Return precision, recall, F1 and number by class, and the accuracy; empty without words."""
    if not truly.size:
        return {}
    result: dict[str, Any] = {}
    for name, true, claimed in (("positive", truly, said), ("negative", ~truly, ~said)):
        hits, claims, number = int((true & claimed).sum()), int(claimed.sum()), int(true.sum())
        result[name] = {
            "precision": hits / claims if claims else 0.0,
            "recall": hits / number if number else 0.0,
            "f1-score": 2 * hits / (claims + number) if claims + number else 0.0,
            "support": number,
        }
    result["accuracy"] = float((truly == said).mean())
    return result


def _log_odds(sets: Sequence[WordVectors], coefficients: Array) -> list[Array]:
    """Return for each set the log odds that its words are positive, draws × words."""
    return [coefficients[:, :-1] @ words.vectors.T + coefficients[:, -1:] for words in sets]


def _divergence(odds: Array, weights: Array) -> Array:
    """Return the divergence of the shares of negative sentiment from equal shares."""
    with np.errstate(invalid="ignore", divide="ignore"):  # no words, no shares
        log_p = -np.logaddexp(0, odds)
        # The largest is made 1, which changes no share, so that not all are too small to write.
        log_p -= log_p.max(axis=1, keepdims=True)
        p = np.exp(log_p)
        whole, number = total(p, weights), weights.sum(axis=1)
        # A classifier of somebody's may be certain: what is never negative has no share.
        products = np.where(p > 0, p * log_p, p)
        result: Array = total(products, weights) / whole + np.log(number / whole)
    return np.maximum(result, 0.0)  # rounding may leave a little less


def _folds(attributes: Sequence[WordVectors]) -> Mask:
    """Return which words each of five classifiers leaves out; the same share of each class.

    Neighbours in a list go together: alphabetical ones hold forms of the same word.
    """
    sizes = [len(words) for words in attributes]
    count = min(_FOLDS, *sizes)
    if count < 2:
        return np.zeros((1, sum(sizes)), dtype=bool)
    fold = np.concatenate([np.arange(n) * count // n for n in sizes])
    result: Mask = fold == np.arange(count)[:, None]
    return result
