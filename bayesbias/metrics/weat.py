"""WEAT, the word embedding association test, and its effect size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.validation import at_least
from bayesbias.metrics.base import Metric
from bayesbias.metrics.nested_subsets import NestedSubsets
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.weighting import are_long, check_ddof, cosines, mean_cosines, ones, total
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Query, Template

# A difference of sums that leaves less than this share of them has lost digits.
_LEFT = 0.01


@dataclass(frozen=True)
class WEAT(Metric):
    """Word embedding association test (Caliskan et al. 2017).

    Positive: the first targets are closer to the first attributes (and the second to the second)
    than the other way round; 0 is neutral. The value is the sum over target words, so it grows
    with the lists, and it is made for target sets that are equally large: otherwise it is not 0
    where they do not differ. The effect size is, and counts in standard deviations of the words.

    Parameters
    ----------
    return_effect_size : bool, default False
        Whether the value is the effect size; both are in the result in any case.
    ddof : int, default 0
        0 divides the variance of the effect size by the number of words, as WEFE does, 1 by one
        less, as sweater does.

    Notes
    -----
    With s(t) = mean cos(t, A₁) − mean cos(t, A₂), the value is Σ s(T₁) − Σ s(T₂), the effect size
    (mean s(T₁) − mean s(T₂)) / sd s(T₁ ∪ T₂). The p-value is that of the effect size for both.
    With one side they are the same test; with two sides, and target sets that are not equally
    large, only the effect size lies about 0 by chance.

    References
    ----------
    Caliskan, Bryson, Narayanan (2017), doi:10.1126/science.aal4230.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query, emb = bb.load_query("weat_7"), bb.load_embedding("demo")
    >>> score = bb.metrics.WEAT().run_query(query, emb, calculate_p_value=True)
    >>> round(score.value, 3), round(score["effect_size"], 2), round(score.p_value, 3)
    (0.468, 1.54, 0.0)
    """

    return_effect_size: bool = False
    ddof: int = 0

    name: ClassVar[str] = "weat"
    title: ClassVar[str] = "WEAT"
    reference: ClassVar[str | None] = (
        "Caliskan, Bryson, Narayanan (2017), doi:10.1126/science.aal4230."
    )
    template: ClassVar[Template] = (2, 2)
    orientation: ClassVar[str] = (
        "above 0: the first targets are closer to the first attributes; farther from 0 is more "
        "biased"
    )
    undefined: ClassVar[str] = (
        "all target words are equally close to the attributes, so the effect size has no scale"
    )
    empty_details: ClassVar[Mapping[str, Any]] = {
        "weat": np.nan,
        "effect_size": np.nan,
        "p_value": np.nan,
    }

    def __post_init__(self) -> None:
        check_ddof(self.ddof)

    def bounds(self, query: Query) -> tuple[float, float]:
        """Return −2 and 2 for the effect size, and for the sum so much for each target word.

        An effect size of n and m target words is at most (n + m) / √(n m), which is more than 2 if
        these differ; the bounds are those that it is usually measured by.
        """
        words = 1 if self.return_effect_size else sum(map(len, query.target_sets))
        return -2.0 * words, 2.0 * words

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the words."""
        associations = [_associations(words, attributes, attribute_weights) for words in targets]
        return self._from_associations(associations, target_weights)

    def of_target_weights(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> Callable[[Sequence[Array]], Array]:
        """Return the value as a function of the target weights; associations are computed once."""
        if type(self).weighted is not WEAT.weighted:  # a metric derived from this one
            return super().of_target_weights(targets, attributes)
        weights = ones(attributes)
        first = _associations(targets[0], attributes, weights)
        same = targets[1] is targets[0]
        second = first if same else _associations(targets[1], attributes, weights)
        return lambda drawn: self._from_associations([first, second], drawn)

    def cumulative(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        subsets: NestedSubsets,
    ) -> Array:
        """Return the value for subsets of the words that grow; their cosines are summed up once."""
        associations = []
        for words in targets:
            first, second = (
                subsets.means(place, cosines(attribute, words))
                for place, attribute in enumerate(attributes, start=len(targets))
            )
            associations.append(first - second)
        return self._from_associations(associations, subsets.weights(targets))

    def _from_associations(
        self, associations: Sequence[Array], target_weights: Sequence[Array]
    ) -> Array:
        """Return the value from the association of each target word, draws × words."""
        if self.return_effect_size:
            return _effect_size(associations, target_weights, self.ddof)
        first, second = (total(s, w) for s, w in zip(associations, target_weights, strict=True))
        result: Array = first - second
        return result

    def from_cosines(self, cosines: Sequence[Sequence[Array]]) -> Array:
        """Return the value from the cosines of target and attribute words."""
        associations = [first.mean(axis=-1) - second.mean(axis=-1) for first, second in cosines]
        leading = associations[0].shape[:-1]
        flat = [values.reshape(-1, values.shape[-1]) for values in associations]
        weights = [np.ones((1, values.shape[1])) for values in flat]
        return self._from_associations(flat, weights).reshape(leading)

    def details_of_cosines(self, cosines: Sequence[Sequence[Array]]) -> dict[str, Any]:
        """Return both numbers with the place of the p-value, as `measure` does."""
        both = (replace(self, return_effect_size=size) for size in (False, True))
        weat, size = (float(metric.from_cosines(cosines)) for metric in both)
        return {"weat": weat, "effect_size": size, "p_value": np.nan}

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and both numbers with the place of the p-value."""
        associations = [_associations(words, attributes, ones(attributes)) for words in targets]
        size = float(_effect_size(associations, ones(targets), self.ddof)[0])
        weat = float(associations[0].sum() - associations[1].sum())
        value = size if self.return_effect_size else weat
        return value, {"weat": weat, "effect_size": size, "p_value": np.nan}

    def tested_metric(self) -> Metric:
        """Return the effect size: the p-value is that of the effect size for both."""
        return replace(self, return_effect_size=True)


@dataclass(frozen=True)
class WEATEffectSize(WEAT):
    """The effect size of WEAT, between −2 and 2, as a metric of its own.

    Positive: the first targets are closer to the first attributes than the second targets are;
    0 is neutral. The same as ``WEAT(return_effect_size=True)``. With target sets of n₁ and n₂ words
    the bound is (n₁ + n₂) / √(n₁ n₂), which is 2 if they are equally large.

    Parameters
    ----------
    return_effect_size : bool, default True
        Whether the value is the effect size.
    ddof : int, default 0
        0 divides the variance by the number of words, 1 by one less.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query, emb = bb.load_query("weat_7"), bb.load_embedding("demo")
    >>> bb.metrics.WEATEffectSize().posterior(query, emb, draws=1000)
    <Score weat_es = 1.54 [-0.43, 1.94], Math and Arts wrt Male terms and Female terms, demo>
    """

    return_effect_size: bool = True

    name: ClassVar[str] = "weat_es"
    title: ClassVar[str] = "WEAT effect size"
    value_range: ClassVar[tuple[float, float]] = (-2.0, 2.0)


def max_effect_size(first: int, second: int, *, ddof: int = 0) -> float:
    """Return the largest effect size of WEAT that target sets of these lengths can have.

    Parameters
    ----------
    first, second : int
        The numbers of words of the two target sets.
    ddof : int, default 0
        0 if the variance is divided by the number of words N, as in `WEATEffectSize`, 1 if by
        N − 1, as by R's function ``sd``.

    Returns
    -------
    float
        The bound; an effect size lies between minus it and it.

    Notes
    -----
    The effect size is the correlation of the associations with membership in the first set, times
    N / √(n₁ n₂), where N = n₁ + n₂; with ``ddof=1`` also times √((N − 1) / N). A correlation is at
    most 1, and it is 1 if all words of a set have the same association. The bound is therefore
    √(N (N − ddof) / (n₁ n₂)): 2 for sets of equal size, and √3 = 1.73 for 2 + 2 words with
    ``ddof=1``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.metrics.max_effect_size(8, 8)
    2.0
    >>> round(bb.metrics.max_effect_size(2, 2, ddof=1), 2)
    1.73
    """
    at_least("first", first, 1)
    at_least("second", second, 1)
    check_ddof(ddof)
    number = first + second
    return float(np.sqrt(number * (number - ddof) / (first * second)))


def _associations(
    words: WordVectors, attributes: Sequence[WordVectors], weights: Sequence[Array]
) -> Array:
    """Return the mean cosine with the first attributes minus that with the second, by word."""
    if all(are_long(words, attribute) for attribute in attributes):
        means = [shares(w) @ a.unit for a, w in zip(attributes, weights, strict=True)]
        by_word: Array = (means[0] - means[1]) @ words.unit.T
        return by_word
    first, second = (mean_cosines(words, a, w) for a, w in zip(attributes, weights, strict=True))
    result: Array = first - second
    return result


def _effect_size(values: Sequence[Array], weights: Sequence[Array], ddof: int) -> Array:
    counts = [w.sum(axis=1) for w in weights]
    sums = [total(s, w) for s, w in zip(values, weights, strict=True)]
    number = counts[0] + counts[1]
    squares = _squares(values, weights, (sums[0] + sums[1]) / number)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(squares / (number - ddof))
        # What is left of equal associations after rounding is no scale.
        defined = spread > 1e-12
        result: Array = np.where(
            defined, (sums[0] / counts[0] - sums[1] / counts[1]) / spread, np.nan
        )
    return result


def _squares(values: Sequence[Array], weights: Sequence[Array], mean: Array) -> Array:
    """Return the weighted sum of the squared distances of the values from the mean of each draw."""
    if any(len(s) > 1 for s in values):
        return _summed_squares(values, weights, mean)
    # Associations that no draw changes: a product of matrices, about a mean that no draw changes.
    middle = float(np.concatenate(values, axis=1).mean())
    squares = sum(w @ (s[0] - middle) ** 2 for s, w in zip(values, weights, strict=True))
    number = sum(w.sum(axis=1) for w in weights)
    with np.errstate(invalid="ignore"):
        result: Array = squares - number * (mean - middle) ** 2
        # Where little is left of the difference, digits are lost.
        again = np.flatnonzero(~(result > _LEFT * squares))
    if len(again):
        some = [w if len(w) == 1 else w[again] for w in weights]
        result[again] = _summed_squares(values, some, mean[again])
    return result


def _summed_squares(values: Sequence[Array], weights: Sequence[Array], mean: Array) -> Array:
    result: Array = sum(
        (w * (s - mean[:, None]) ** 2).sum(axis=1) for s, w in zip(values, weights, strict=True)
    )
    return result
