"""The neighbourhood test: whom the words still stand among."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.validation import at_least
from bayesbias.embeddings import Embedding
from bayesbias.metrics.base import Metric
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.shared_neighbours import (
    UNTESTED,
    check_original,
    in_original,
    surround,
    surroundings,
)
from bayesbias.metrics.weighting import directions, ones
from bayesbias.numerics.weighted import correlation, shares
from bayesbias.wordlists import Template


@dataclass(frozen=True)
class Neighbourhood(Metric):
    """Whether words that leaned to a group stand among others that did (Gonen & Goldberg 2019).

    A correlation: 0 is neutral, towards 1 more of the bias is left; below 0 words stand among those
    that leaned the other way. Give the embedding before debiasing as `original`: how a word leans
    is taken from there, its neighbours from the embedding that is tested.

    Parameters
    ----------
    k : int, default 100
        How many neighbours of each attribute word are looked at. The word itself and the words of
        the groups are none.
    original : Embedding, optional
        The embedding before debiasing; by default the tested one itself.

    Notes
    -----
    A word leans to the first group if its cosine with the direction mean(T₁) − mean(T₂), of vectors
    of length one, is above 0. The value is Pearson's correlation over the attribute words of this
    cosine with the share of the neighbours that lean to the first group. Neighbours that the
    original lacks do not count. Where the tested embedding is its own original, neighbours are
    close in all directions, this one included, so the value is high by construction; compare it.

    References
    ----------
    Gonen, Goldberg (2019), doi:10.18653/v1/N19-1061.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb, professions = bb.load_embedding("demo"), bb.word_sets("bolukbasi")["professions"]
    >>> query = bb.Query([["he", "his", "man"], ["she", "her", "woman"]], [professions])
    >>> score = bb.metrics.Neighbourhood().run_query(query, emb)
    >>> round(score.value, 2), score["word_values"]["nurse"]["share"]
    (0.86, 0.18)
    """

    k: int = 100
    original: Embedding | None = None

    name: ClassVar[str] = "neighbourhood"
    title: ClassVar[str] = "neighbourhood test"
    reference: ClassVar[str | None] = "Gonen, Goldberg (2019), doi:10.18653/v1/N19-1061."
    template: ClassVar[Template] = (2, 1)
    value_range: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    orientation: ClassVar[str] = "0: neighbours tell nothing of how a word leaned; larger is bias"
    least_words: ClassVar[tuple[int, int]] = (1, 3)
    whole_embedding: ClassVar[bool] = True
    no_p_value: ClassVar[str | None] = UNTESTED
    undefined: ClassVar[str] = (
        "the groups have the same mean, or all words lean alike or have the same share of "
        "neighbours that do"
    )
    empty_details: ClassVar[Mapping[str, Any]] = {"word_values": {}}

    def __post_init__(self) -> None:
        at_least("k", self.k, 1)
        check_original(self.original)

    def expand(
        self,
        targets: tuple[WordVectors, ...],
        attributes: tuple[WordVectors, ...],
        embedding: Embedding,
    ) -> tuple[tuple[WordVectors, ...], tuple[WordVectors, ...]]:
        """Return the words as they are in the original, the attributes with their neighbours."""
        original = self.original or embedding
        groups = np.concatenate([words.rows for words in targets])
        return (
            tuple(in_original(words, embedding, original) for words in targets),
            (surround(attributes[0], embedding, original, self.k, groups),),
        )

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the correlation for each draw of weights of the words."""
        leaning, share = leanings(targets, attributes[0], target_weights)
        return correlation(leaning, share, attribute_weights[0])

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and for each word how it leaned, and the share of its neighbours."""
        leaning, share = leanings(targets, attributes[0], ones(targets))
        values = zip(attributes[0].words, leaning[0].tolist(), share[0].tolist(), strict=True)
        by_word = {word: {"leaning": a, "share": b} for word, a, b in values}
        return self.value(targets, attributes), {"word_values": by_word}

    def numbers_per_draw(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> int:
        """Return the number of neighbours that one draw looks at."""
        return surroundings(attributes[0]).near.size


def leanings(
    targets: Sequence[WordVectors], words: WordVectors, weights: Sequence[Array]
) -> tuple[Array, Array]:
    """Return, draws × words, how words lean and the share of neighbours that lean to the first."""
    words = surroundings(words)
    first, second = (shares(w) @ t.unit for t, w in zip(targets, weights, strict=True))
    axes = directions(first - second, 1.0)
    leans = axes @ words.crowd.unit.T > 0
    return axes @ words.unit.T, words.share(leans[:, words.near])
