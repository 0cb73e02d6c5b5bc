"""NAS, the normalised association of single words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias.metrics.base import Metric
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.weighting import check_ddof, cosines, ones, total
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Template


@dataclass(frozen=True)
class NAS(Metric):
    """Normalised association score, also SC-WEAT or WEFAT (Caliskan et al. 2017).

    Above 0: the attributes are closer to the first targets; below 0: to the second; 0 is neutral;
    between −2 and 2 if the target sets are equally large. Word by word it is an effect size, so it
    can be set against a fact of each word, such as the share of women in an occupation: see
    `by_word`, also for p-values.

    Parameters
    ----------
    ddof : int, default 0
        0 divides the variance by the number of target words, 1 by one less.

    Notes
    -----
    For an attribute a: (mean cos(a, T₁) − mean cos(a, T₂)) / sd cos(a, T₁ ∪ T₂); the value is the
    mean over attributes.

    References
    ----------
    Caliskan, Bryson, Narayanan (2017), doi:10.1126/science.aal4230.

    Examples
    --------
    >>> import bayesbias as bb
    >>> terms, emb = bb.word_sets("weat"), bb.load_embedding("demo")
    >>> query = bb.Query([terms["female_terms"], terms["male_terms"]], [["nurse", "engineer"]])
    >>> bb.metrics.NAS().by_word(query, emb, calculate_p_value=True).round(2).iloc[:, :4]
           word  value  lower  upper
    0  engineer  -0.86  -1.40  -0.00
    1     nurse   0.91  -0.21   1.64
    """

    ddof: int = 0

    name: ClassVar[str] = "nas"
    title: ClassVar[str] = "NAS"
    reference: ClassVar[str | None] = (
        "Caliskan, Bryson, Narayanan (2017), doi:10.1126/science.aal4230."
    )
    template: ClassVar[Template] = (2, 1)
    value_range: ClassVar[tuple[float, float]] = (-2.0, 2.0)
    orientation: ClassVar[str] = (
        "above 0: the attributes are closer to the first targets; farther from 0 is more biased"
    )
    undefined: ClassVar[str] = "an attribute is equally close to all targets, so it has no scale"
    empty_details: ClassVar[Mapping[str, Any]] = {"word_values": {}}

    def __post_init__(self) -> None:
        check_ddof(self.ddof)

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
        """Return the value, and that of each attribute word."""
        values = self._by_word(targets, attributes[0], ones(targets))[0]
        by_word = dict(zip(attributes[0].words, values.tolist(), strict=True))
        return float(values.mean()), {"word_values": by_word}

    def _by_word(
        self, targets: Sequence[WordVectors], words: WordVectors, weights: Sequence[Array]
    ) -> Array:
        """Return draws × words."""
        closeness = [cosines(t, words) for t in targets]
        means = [shares(w) @ c for c, w in zip(closeness, weights, strict=True)]
        counts = [w.sum(axis=1, keepdims=True) for w in weights]
        number = counts[0] + counts[1]
        mean = (counts[0] * means[0] + counts[1] * means[1]) / number
        # About the mean of all, and not about zero, so that no digits are lost.
        centre = np.vstack(closeness).mean(axis=0)
        squares = sum(w @ (c - centre) ** 2 for c, w in zip(closeness, weights, strict=True))
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = (squares - number * (mean - centre) ** 2) / (number - self.ddof)
            spread = np.sqrt(np.maximum(variance, 0))
            result: Array = np.where(spread > 1e-12, (means[0] - means[1]) / spread, np.nan)
        return result
