"""RND, the relative norm distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.validation import one_of
from bayesbias.metrics.base import Metric
from bayesbias.metrics.permutations import Test
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.weighting import centres, directions, ones, size, total
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Query, Template


@dataclass(frozen=True)
class RND(Metric):
    """Relative norm distance (Garg et al. 2018).

    Below 0 with ``distance="norm"``: the attributes are closer to the first targets; above 0:
    closer to the second; 0 is neutral. With ``distance="cos"`` it is the other way round, because
    the cosine is a similarity; WEFE has it like this, and so do published numbers.

    Parameters
    ----------
    distance : {"norm", "cos"}, default "norm"
        Euclidean distance, or cosine similarity, between attribute words and the mean of a group.

    Notes
    -----
    The mean over attributes a of d(a, mean T₁) − d(a, mean T₂).

    References
    ----------
    Garg, Schiebinger, Jurafsky, Zou (2018), doi:10.1073/pnas.1720347115.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query = bb.load_query("weat_6").subqueries((2, 1))[0]
    >>> score = bb.metrics.RND().posterior(query, bb.load_embedding("demo"), draws=1000)
    >>> score
    <Score rnd = -0.67 [-1.04, -0.35], Male names and Female names wrt Career, demo>
    >>> list(score["distance_by_word"])[:2]
    ['executive', 'management']
    """

    distance: Literal["norm", "cos"] = "norm"

    name: ClassVar[str] = "rnd"
    title: ClassVar[str] = "RND"
    reference: ClassVar[str | None] = (
        "Garg, Schiebinger, Jurafsky, Zou (2018), doi:10.1073/pnas.1720347115."
    )
    template: ClassVar[Template] = (2, 1)
    orientation: ClassVar[str] = (
        "below 0 (above, with distance='cos'): the attributes are closer to the first targets; "
        "farther from 0 is more biased"
    )
    undefined: ClassVar[str] = "the mean of a group is zero, so it has no cosine"
    empty_details: ClassVar[Mapping[str, Any]] = {"distance_by_word": {}}

    def __post_init__(self) -> None:
        one_of("distance", self.distance, ("norm", "cos"))

    @property
    def side_of_bias(self) -> Test:
        """The side on which the attributes are closer to the first targets."""
        return "right-sided" if self.distance == "cos" else "left-sided"

    def bounds(self, query: Query) -> tuple[float, float]:
        """Return −2 and 2 for cosines; norms have no bounds."""
        return (-2.0, 2.0) if self.distance == "cos" else self.value_range

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the words."""
        by_word = self._by_word(targets, attributes[0], target_weights)
        return total(by_word, shares(attribute_weights[0]))

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and the difference of each attribute word, the smallest first."""
        by_word = self._by_word(targets, attributes[0], ones(targets))[0]
        words, order = attributes[0].words, np.argsort(by_word, kind="stable")
        ordered = {words[i]: value for i, value in zip(order, by_word[order].tolist(), strict=True)}
        return float(by_word.mean()), {"distance_by_word": ordered}

    def _by_word(
        self, targets: Sequence[WordVectors], words: WordVectors, weights: Sequence[Array]
    ) -> Array:
        """Return draws × words."""
        first, second = (
            self._closeness(t, w, words) for t, w in zip(targets, weights, strict=True)
        )
        result: Array = first - second
        return result

    def _closeness(self, group: WordVectors, weights: Array, words: WordVectors) -> Array:
        middle = centres(group, weights)
        if self.distance == "cos":
            result: Array = directions(middle, size(group)) @ words.unit.T
            return result
        from scipy.spatial.distance import cdist

        result = cdist(middle, words.vectors)
        return result
