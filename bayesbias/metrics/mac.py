"""MAC, the mean average cosine distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias.metrics.base import Metric
from bayesbias.metrics.permutations import Test
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.weighting import mean_cosines, sum_of_cosines
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Template


@dataclass(frozen=True)
class MAC(Metric):
    """Mean average cosine distance (Manzini et al. 2019), for any number of sets.

    The closer to 1, the less biased; below 1 the target words are closer to the attributes than
    unrelated words would be.

    Notes
    -----
    For each target word and attribute set the mean of 1 − cos; then the mean over target words (of
    all sets alike) and attribute sets. Which target set a word is in does not matter.

    References
    ----------
    Manzini, Lim, Tsvetkov, Black (2019), doi:10.18653/v1/N19-1062.

    Examples
    --------
    >>> import bayesbias as bb
    >>> study = bb.load_study("religion")
    >>> query = bb.Query(study.groups.values(), study.stereotypes.values())
    >>> bb.metrics.MAC().posterior(query, bb.load_embedding("demo"), draws=1000).summary()
    "mac of ... in demo: 0.868 (89% interval 0.77 to 0.972), above 1 with probability 0.02; ..."
    """

    name: ClassVar[str] = "mac"
    title: ClassVar[str] = "MAC"
    reference: ClassVar[str | None] = (
        "Manzini, Lim, Tsvetkov, Black (2019), doi:10.18653/v1/N19-1062."
    )
    template: ClassVar[Template] = ("n", "n")
    value_range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    neutral_value: ClassVar[float] = 1.0
    orientation: ClassVar[str] = (
        "below 1: the targets are closer to the attributes than unrelated words; closer to 1 is "
        "less biased"
    )
    empty_details: ClassVar[Mapping[str, Any]] = {"targets_eval": {}}

    @property
    def side_of_bias(self) -> Test:
        """Left-sided: smaller distances are more biased."""
        return "left-sided"

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the words."""
        number = sum(w.sum(axis=1) for w in target_weights)
        mean_weights = [shares(w) for w in attribute_weights]
        closeness = sum_of_cosines(targets, attributes, target_weights, mean_weights)
        with np.errstate(invalid="ignore"):
            result: Array = 1 - closeness / (number * len(attributes))
        return result

    def from_cosines(self, cosines: Sequence[Sequence[Array]]) -> Array:
        """Return the value from cosines: 1 minus the mean over target words and attribute sets."""
        # Target words of all sets count alike, and so do attribute sets.
        by_word = [
            sum(block.mean(axis=-1) for block in of_target) / len(of_target)
            for of_target in cosines
        ]
        result: Array = 1 - np.concatenate(by_word, axis=-1).mean(axis=-1)
        return result

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and the mean distance of each target word from each attribute set."""
        evaluated: dict[str, dict[str, dict[str, float]]] = {}
        names = [words.name for words in attributes]
        by_set = []
        for words in targets:
            close = [mean_cosines(words, a, np.ones((1, len(a))))[0] for a in attributes]
            distances = 1 - np.column_stack(close)
            by_set.append(distances)
            evaluated[words.name] = {
                word: dict(zip(names, row, strict=True))
                for word, row in zip(words.words, distances.tolist(), strict=True)
            }
        return float(np.vstack(by_set).mean()), {"targets_eval": evaluated}
