"""Proximity bias and GIPE: neighbours that are near because of a direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.validation import at_least, share
from bayesbias.embeddings import Embedding
from bayesbias.metrics.base import Metric
from bayesbias.metrics.direct_bias import projections
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.shared_neighbours import (
    Surrounded,
    check_original,
    in_original,
    surround,
    surroundings,
)
from bayesbias.metrics.weighting import cosines, ones, total
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Template


@dataclass(frozen=True)
class ProximityBias(Metric):
    """The share of illicit neighbours: near because of the pairs' direction (Kumar et al. 2020).

    0: no word is near an attribute word for that reason; larger is more biased, up to 1. The words
    of the target sets are definitional pairs by their places, such as *he, she*. Give the embedding
    before debiasing as `original`: neighbours are those of the embedding that is tested, and
    whether they are illicit is judged by the vectors of the original.

    Parameters
    ----------
    k : int, default 100
        How many neighbours of each attribute word are looked at.
    theta : float, default 0.05
        The share of the closeness from which on a neighbour counts as illicit.
    original : Embedding, optional
        The embedding before debiasing; by default the tested one itself.

    Notes
    -----
    The mean over attribute words w of η(w), the share of their neighbours x whose indirect bias
    β(w, x) is above theta, as in `IndirectBias`; the direction is that of `DirectBias`. Neighbours
    that are at no acute angle in the original have no closeness to explain, so they are not
    illicit; neighbours that it lacks do not count.

    References
    ----------
    Kumar, Bhotia, Kumar, Chakraborty (2020), doi:10.1162/tacl_a_00327.

    Examples
    --------
    >>> import bayesbias as bb
    >>> female, male = zip(*bb.word_tuples("bolukbasi")["definitional_pairs"])
    >>> query = bb.Query([female, male], [["nurse", "surgeon", "clerk"]], ["female", "male"])
    >>> bb.metrics.ProximityBias().run_query(query, bb.load_embedding("demo"))["word_values"]
    {'nurse': 0.12, 'surgeon': 0.0, 'clerk': 0.0}
    """

    k: int = 100
    theta: float = 0.05
    original: Embedding | None = None

    name: ClassVar[str] = "proximity_bias"
    title: ClassVar[str] = "proximity bias"
    reference: ClassVar[str | None] = (
        "Kumar, Bhotia, Kumar, Chakraborty (2020), doi:10.1162/tacl_a_00327."
    )
    template: ClassVar[Template] = (2, 1)
    paired: ClassVar[bool] = True
    value_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    orientation: ClassVar[str] = "0: no neighbour is near because of the direction; larger is bias"
    whole_embedding: ClassVar[bool] = True
    # Shares of few illicit neighbours are skewed, and draws of such counts vary too little.
    jackknife: ClassVar[bool] = True
    root_scale: ClassVar[bool] = True
    undefined: ClassVar[str] = "the words of every pair have the same vector"
    empty_details: ClassVar[Mapping[str, Any]] = {"word_values": {}}

    def __post_init__(self) -> None:
        at_least("k", self.k, 1)
        share("theta", self.theta)
        check_original(self.original)

    def expand(
        self,
        targets: tuple[WordVectors, ...],
        attributes: tuple[WordVectors, ...],
        embedding: Embedding,
    ) -> tuple[tuple[WordVectors, ...], tuple[WordVectors, ...]]:
        """Return the words as they are in the original, the attributes with their neighbours."""
        original = self.original or embedding
        nobody = np.empty(0, dtype=np.intp)
        return (
            tuple(in_original(words, embedding, original) for words in targets),
            (surround(attributes[0], embedding, original, self.k, nobody),),
        )

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the pairs and attributes."""
        words = surroundings(attributes[0])
        eta, _ = _proximity(targets, target_weights[0], words, self.theta)
        return total(eta, shares(attribute_weights[0]))

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and the share of illicit neighbours of each attribute word."""
        words = surroundings(attributes[0])
        eta, _ = _proximity(targets, ones(targets)[0], words, self.theta)
        by_word = dict(zip(words.words, eta[0].tolist(), strict=True))
        return self.value(targets, attributes), {"word_values": by_word}

    def numbers_per_draw(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> int:
        """Return the number of neighbours that one draw looks at."""
        return 4 * surroundings(attributes[0]).near.size


@dataclass(frozen=True)
class GIPE(ProximityBias):
    """Gender-based illicit proximity estimate (Kumar et al. 2020): a weighted proximity bias.

    0: no word is near an attribute word because of the pairs' direction; larger is more biased, up
    to 1. As `ProximityBias`, but attribute words that are themselves illicit neighbours of others
    weigh more. It serves for any groups that come in pairs.

    Parameters
    ----------
    k : int, default 100
        How many neighbours of each attribute word are looked at.
    theta : float, default 0.05
        The share of the closeness from which on a neighbour counts as illicit.
    original : Embedding, optional
        The embedding before debiasing; by default the tested one itself.

    Notes
    -----
    In the network that leads from each attribute word to its neighbours, an attribute word w has
    the weight γ(w) = 1 + (illicit edges into w) / (all edges into w), 1 if there are none. The
    value is Σ γ(w) η(w) / Σ γ(w), with η as in `ProximityBias`.

    References
    ----------
    Kumar, Bhotia, Kumar, Chakraborty (2020), doi:10.1162/tacl_a_00327, and the authors' program.

    Examples
    --------
    >>> import bayesbias as bb
    >>> female, male = zip(*bb.word_tuples("bolukbasi")["definitional_pairs"])
    >>> professions = bb.word_sets("bolukbasi")["professions"]
    >>> query = bb.Query([female, male], [professions], ["female", "male"])
    >>> bb.metrics.GIPE().posterior(query, bb.load_embedding("demo"), draws=50)
    <Score gipe = 0.23 [0.12, 0.48], female and male wrt professions, demo>
    """

    name: ClassVar[str] = "gipe"
    title: ClassVar[str] = "GIPE"
    reference: ClassVar[str | None] = (
        "Kumar, Bhotia, Kumar, Chakraborty (2020), doi:10.1162/tacl_a_00327, and the authors' "
        "program."
    )
    least_words: ClassVar[tuple[int, int]] = (1, 2)

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the pairs and attributes."""
        words = surroundings(attributes[0])
        eta, illicit = _proximity(targets, target_weights[0], words, self.theta)
        gamma = attribute_weights[0] * _importance(words, illicit, attribute_weights[0])
        return total(eta, shares(gamma))

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and the share of illicit neighbours and the weight of each word."""
        words = surroundings(attributes[0])
        eta, illicit = _proximity(targets, ones(targets)[0], words, self.theta)
        gamma = _importance(words, illicit, ones(attributes)[0])
        values = zip(words.words, eta[0].tolist(), gamma[0].tolist(), strict=True)
        by_word = {word: {"proximity_bias": a, "weight": b} for word, a, b in values}
        return self.value(targets, attributes), {"word_values": by_word}


def _proximity(
    targets: Sequence[WordVectors], weights: Array, words: Surrounded, theta: float
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return the share of illicit neighbours, draws × words, and which neighbours these are."""
    along_words = projections(targets, weights, words)
    others = projections(targets, weights, words.crowd)
    close = np.take_along_axis(cosines(words, words.crowd), words.near, axis=1)
    # β > θ is v·w (1 − θ) > cos(v⊥, w⊥), with cos(v⊥, w⊥) = (v·w − g·v g·w) / (|v⊥| |w⊥|).
    lengths = [np.sqrt(np.maximum(1 - along**2, 0)) for along in (along_words, others)]
    rest = close - along_words[:, :, None] * others[:, words.near]
    bound = close * (1 - theta) * lengths[0][:, :, None] * lengths[1][:, words.near]
    illicit = (close > 0) & words.is_shared & (bound > rest)
    return np.where(np.isnan(along_words), np.nan, words.share(illicit)), illicit


def _importance(words: Surrounded, illicit: npt.NDArray[np.bool_], weights: Array) -> Array:
    """Return γ, draws × words: 1 and the share of illicit ones among the edges into a word."""
    source, place, into = _edges(words)
    counted = weights[:, source]
    result = np.ones((max(len(illicit), len(weights)), len(words)))
    for i in np.unique(into):
        here = into == i
        wrong = (counted[:, here] * illicit[:, source[here], place[here]]).sum(axis=1)
        edges = counted[:, here].sum(axis=1)
        result[:, i] += wrong / np.where(edges > 0, edges, 1)
    return result


def _edges(words: Surrounded) -> tuple[Codes, Codes, Codes]:
    """Return the edges among the words: from which, by its which neighbour, to which."""
    order = np.argsort(words.rows, kind="stable")
    near = words.crowd.rows[words.near]
    nearest = np.minimum(np.searchsorted(words.rows, near, sorter=order), len(words) - 1)
    into = order[nearest]
    source, place = np.nonzero((words.rows[into] == near) & words.is_shared)
    return source, place, into[source, place]
