"""SemAxis: where words lie on the axis between two poles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.validation import at_least
from bayesbias.embeddings import Embedding, nearest, unit_vectors
from bayesbias.metrics.base import Metric
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.weighting import centres, directions, ones, size
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Template


@dataclass(frozen=True)
class SemAxis(Metric):
    """Where the attributes lie on the axis between two poles (An, Kwak & Ahn 2018).

    Above 0: closer to the first targets; below 0: closer to the second; 0 is neutral.

    Parameters
    ----------
    neighbours : int, default 0
        How many nearest words of the embedding are averaged with each word of the poles; more of
        them make poles of few words steadier.

    Notes
    -----
    The mean over attributes a of cos(a, mean T₁ − mean T₂), of vectors as long as they are unless
    ``normalize=True``.

    References
    ----------
    An, Kwak, Ahn (2018), doi:10.18653/v1/P18-1228.

    Examples
    --------
    >>> import bayesbias as bb
    >>> poles = [["good", "pleasant"], ["bad", "unpleasant"]]
    >>> query = bb.Query(poles, [["music", "war"]], ["good", "bad"], ["things"])
    >>> score = bb.metrics.SemAxis(neighbours=5).run_query(query, bb.load_embedding("demo"))
    >>> {word: round(value, 2) for word, value in score["word_values"].items()}
    {'music': 0.44, 'war': 0.01}
    """

    neighbours: int = 0

    name: ClassVar[str] = "semaxis"
    title: ClassVar[str] = "SemAxis"
    reference: ClassVar[str | None] = "An, Kwak, Ahn (2018), doi:10.18653/v1/P18-1228."
    template: ClassVar[Template] = (2, 1)
    value_range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    orientation: ClassVar[str] = (
        "above 0: the attributes are closer to the first targets; farther from 0 is more biased"
    )
    whole_embedding: ClassVar[bool] = True
    # Where the poles hardly differ, their direction is mostly noise, and draws vary too little.
    jackknife: ClassVar[bool] = True
    undefined: ClassVar[str] = "the two poles have the same mean"
    empty_details: ClassVar[Mapping[str, Any]] = {"word_values": {}}

    def __post_init__(self) -> None:
        at_least("neighbours", self.neighbours, 0)

    def expand(
        self,
        targets: tuple[WordVectors, ...],
        attributes: tuple[WordVectors, ...],
        embedding: Embedding,
    ) -> tuple[tuple[WordVectors, ...], tuple[WordVectors, ...]]:
        """Return the words of the poles averaged with their neighbours."""
        if not self.neighbours:
            return targets, attributes
        return tuple(_with_neighbours(t, embedding, self.neighbours) for t in targets), attributes

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the words."""
        axes = _axes(targets, target_weights)
        result: Array = (axes * (shares(attribute_weights[0]) @ attributes[0].unit)).sum(axis=1)
        return result

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and the cosine of each attribute word with the axis."""
        values = (_axes(targets, ones(targets)) @ attributes[0].unit.T)[0]
        by_word = dict(zip(attributes[0].words, values.tolist(), strict=True))
        return float(values.mean()), {"word_values": by_word}


def _axes(targets: Sequence[WordVectors], weights: Sequence[Array]) -> Array:
    first, second = (centres(t, w) for t, w in zip(targets, weights, strict=True))
    return directions(first - second, max(map(size, targets)))


def _with_neighbours(words: WordVectors, embedding: Embedding, number: int) -> WordVectors:
    rows, _ = nearest(embedding, words.unit, number, exclude=[row[None] for row in words.rows])
    # With normalize=True the vectors are not those of the embedding; neighbours are scaled alike.
    if np.array_equal(words.vectors, embedding.vectors[words.rows]):
        others = np.asarray(embedding.vectors[rows], dtype=np.float64)
    else:
        others = unit_vectors(embedding, rows.ravel()).reshape(*rows.shape, -1)
    return replace(words, vectors=(words.vectors + others.sum(axis=1)) / (1 + number))
