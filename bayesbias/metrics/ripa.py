"""RIPA, the relational inner product association."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from bayesbias._core.array_types import Array
from bayesbias.metrics.base import Metric
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.weighting import bilinear, directions
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Template


@dataclass(frozen=True)
class RIPA(Metric):
    """Relational inner product association (Ethayarajh et al. 2019).

    Above 0: the attributes lie on the side of the first targets; below 0: on that of the second;
    0 is neutral. The words of the target sets are pairs by their places, as in *man, woman* and
    *king, queen*; a pair that an embedding lacks one word of is left out.

    Notes
    -----
    The mean over attributes a and pairs i of a · bᵢ, bᵢ the difference of the words of a pair
    scaled to length one. Vectors are as long as they are, unless ``normalize=True``. The pair is
    what is resampled, and the permutation test swaps the words within pairs.

    References
    ----------
    Ethayarajh, Duvenaud, Hirst (2019), doi:10.18653/v1/P19-1166.

    Examples
    --------
    >>> import bayesbias as bb
    >>> terms = bb.word_sets("weat")
    >>> pairs = [["he", "man", "boy", "son"], ["she", "woman", "girl", "daughter"]]
    >>> query = bb.Query(pairs, [terms["career"]], ["male", "female"])
    >>> bb.metrics.RIPA().posterior(query, bb.load_embedding("demo"), draws=1000)
    <Score ripa = 0.69 [0.37, 1.01], male and female wrt career, demo>
    """

    name: ClassVar[str] = "ripa"
    title: ClassVar[str] = "RIPA"
    reference: ClassVar[str | None] = (
        "Ethayarajh, Duvenaud, Hirst (2019), doi:10.18653/v1/P19-1166."
    )
    template: ClassVar[Template] = (2, 1)
    paired: ClassVar[bool] = True
    orientation: ClassVar[str] = (
        "above 0: the attributes are on the side of the first targets; farther from 0 is more "
        "biased"
    )
    undefined: ClassVar[str] = "the two words of a pair have the same vector"
    empty_details: ClassVar[Mapping[str, Any]] = {"word_values": {}}

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the pairs and attributes."""
        products = _products(targets, attributes[0])
        return bilinear(shares(attribute_weights[0]), products, shares(target_weights[0]))

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and the mean and deviation over pairs for each attribute word."""
        products = _products(targets, attributes[0])
        means, deviations = products.mean(axis=1).tolist(), products.std(axis=1).tolist()
        values = {
            word: {"mean": mean, "std": sd}
            for word, mean, sd in zip(attributes[0].words, means, deviations, strict=True)
        }
        return float(products.mean()), {"word_values": values}


def _products(targets: Sequence[WordVectors], words: WordVectors) -> Array:
    """Return the inner product of each attribute with the direction of each pair."""
    result: Array = words.vectors @ directions(targets[0].vectors - targets[1].vectors).T
    return result
