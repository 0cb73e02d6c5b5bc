"""WEAT for any number of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias.errors import SpecError
from bayesbias.metrics.base import Metric
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Query, Template


@dataclass(frozen=True)
class GeneralizedWEAT(Metric):
    """WEAT for any number of groups, each with attributes of its own (Swinger et al. 2019).

    Above 0: each target set is closer to the attribute set in the same place than to the others;
    0 is neutral.

    Notes
    -----
    Σᵢ (mean Tᵢ − mean of all T) · (mean Aᵢ − mean of all A), vectors scaled to length one, the
    means over all words. With two groups of equal size it is half the difference of the mean
    associations that WEAT's effect size has above its line.

    References
    ----------
    Swinger, De-Arteaga, Heffernan, Leiserson, Kalai (2019), doi:10.1145/3306618.3314270.

    Examples
    --------
    >>> import bayesbias as bb
    >>> study = bb.load_study("religion")
    >>> query = bb.Query(study.groups.values(), study.stereotypes.values())
    >>> score = bb.metrics.GeneralizedWEAT().posterior(query, bb.load_embedding("demo"), draws=1000)
    >>> round(score.value, 2), round(score.lower, 2), round(score.upper, 2)
    (0.1, -0.02, 0.21)
    """

    name: ClassVar[str] = "generalized_weat"
    title: ClassVar[str] = "generalised WEAT"
    reference: ClassVar[str | None] = (
        "Swinger, De-Arteaga, Heffernan, Leiserson, Kalai (2019), doi:10.1145/3306618.3314270."
    )
    template: ClassVar[Template] = ("n", "n")
    orientation: ClassVar[str] = (
        "above 0: targets are closer to the attributes in the same place; farther from 0 is more "
        "biased"
    )

    def check_query(self, query: Query) -> None:
        """Refuse a query whose groups and attributes cannot be matched."""
        super().check_query(query)
        groups, concepts = query.template
        if groups != concepts or groups < 2:
            raise SpecError(
                "the metric 'generalized_weat' matches target and attribute sets by their places, "
                f"and the query {query.name!r} has {groups} and {concepts}; give as many of each, "
                "two or more."
            )

    def bounds(self, query: Query) -> tuple[float, float]:
        """Return the bounds ± G for G groups of equal size, and wider ones for others."""
        # As Σ |mean Tᵢ − mean of all T|² ≤ G² Σ (share of Tᵢ in all T)², and the same for A.
        groups = len(query.target_sets)
        spread = 1.0
        for sets in (query.target_sets, query.attribute_sets):
            sizes = np.array([len(words) for words in sets])
            spread *= float(np.linalg.norm(sizes / sizes.sum()))
        return -(groups**2) * spread, groups**2 * spread

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the words."""
        sides = [_centred(targets, target_weights), _centred(attributes, attribute_weights)]
        draws = max(len(side[0]) for side in sides)
        value: Array = np.zeros(draws)
        for target, attribute in zip(*sides, strict=True):
            value = value + (target * attribute).sum(axis=1)
        return value


def _centred(sets: Sequence[WordVectors], weights: Sequence[Array]) -> list[Array]:
    """Return the mean of each set minus the mean of all words, draws × dimensions."""
    means = [shares(w) @ words.unit for words, w in zip(sets, weights, strict=True)]
    counts = [w.sum(axis=1, keepdims=True) for w in weights]
    overall = sum(n * m for n, m in zip(counts, means, strict=True)) / sum(counts)
    return [mean - overall for mean in means]
