"""ECT, the embedding coherence test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias.metrics.base import Metric
from bayesbias.metrics.nested_subsets import NestedSubsets
from bayesbias.metrics.permutations import Test
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.weighting import centres, directions, ones, size
from bayesbias.numerics.nested_ranks import nested_rank_correlations
from bayesbias.numerics.weighted import correlation, ranks
from bayesbias.wordlists import Template


@dataclass(frozen=True)
class ECT(Metric):
    """Embedding coherence test (Dev & Phillips 2019), for two groups or more.

    1: the groups have the attributes in the same order of closeness, which is unbiased; smaller is
    more biased, −1 is the reverse order.

    Notes
    -----
    The Spearman correlation, over attributes a, of cos(a, mean T₁) and cos(a, mean T₂); with more
    than two groups the mean over all pairs of groups.

    References
    ----------
    Dev, Phillips (2019), proceedings.mlr.press/v89/dev19a.html.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query = bb.load_query("weat_1").subqueries((2, 1))[0]
    >>> bb.metrics.ECT().posterior(query, bb.load_embedding("demo"), draws=1000)
    <Score ect = 0.83 [0.61, 0.94], Flowers and Insects wrt Pleasant, demo>
    """

    name: ClassVar[str] = "ect"
    title: ClassVar[str] = "ECT"
    reference: ClassVar[str | None] = "Dev, Phillips (2019), proceedings.mlr.press/v89/dev19a.html."
    template: ClassVar[Template] = ("n", 1)
    least_targets: ClassVar[int] = 2
    value_range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    neutral_value: ClassVar[float] = 1.0
    orientation: ClassVar[str] = "1: all groups have the attributes in the same order; less is bias"
    least_words: ClassVar[tuple[int, int]] = (1, 2)
    undefined: ClassVar[str] = (
        "a group is equally close to all attributes, or its mean is zero, so there is no order"
    )
    empty_details: ClassVar[Mapping[str, Any]] = {"correlations": {}}

    @property
    def side_of_bias(self) -> Test:
        """Left-sided: a smaller correlation is more biased."""
        return "left-sided"

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the words."""
        pairs = _correlations(targets, attributes[0], target_weights, attribute_weights[0])
        result: Array = pairs.mean(axis=0)
        return result

    def cumulative(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        subsets: NestedSubsets,
    ) -> Array:
        """Return the value for subsets of the words that grow.

        While the attributes grow, the groups stay as close to each of them as they are: the
        correlations follow from what comes in.
        """
        place = len(targets)
        if set(subsets.orders) != {place}:
            return super().cumulative(targets, attributes, subsets)
        close = [row[0] for row in _closeness(targets, attributes[0], ones(targets))]
        order, counts = subsets.orders[place], subsets.counts[place]
        pairs = [nested_rank_correlations(x, y, order, counts) for x, y in combinations(close, 2)]
        result: Array = np.mean(pairs, axis=0)
        return result

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and the correlation of each pair of groups."""
        pairs = _correlations(targets, attributes[0], ones(targets), ones(attributes)[0])[:, 0]
        names = [f"{a.name} – {b.name}" for a, b in combinations(targets, 2)]
        by_pair = dict(zip(names, pairs.tolist(), strict=True))
        return float(pairs.mean()), {"correlations": by_pair}


def _correlations(
    targets: Sequence[WordVectors], words: WordVectors, weights: Sequence[Array], counted: Array
) -> Array:
    """Return the correlation of every two groups, pairs × draws."""
    ranked = [ranks(close, counted) for close in _closeness(targets, words, weights)]
    return np.array([correlation(x, y, counted) for x, y in combinations(ranked, 2)])


def _closeness(
    targets: Sequence[WordVectors], words: WordVectors, weights: Sequence[Array]
) -> list[Array]:
    """Return the cosines of the mean of each group with the attributes, draws × attributes."""
    return [
        directions(centres(t, w), size(t)) @ words.unit.T
        for t, w in zip(targets, weights, strict=True)
    ]
