"""Direct and indirect bias: what lies along the direction of definitional pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias.errors import SpecError
from bayesbias.metrics.base import Metric
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.weighting import bilinear, cosines, ones, total
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Template


@dataclass(frozen=True)
class DirectBias(Metric):
    """Direct bias (Bolukbasi et al. 2016).

    0: the attributes have no part along the direction of the target pairs; larger is more biased,
    up to 1. The words of the target sets are definitional pairs by their places, such as *he, she*.

    Parameters
    ----------
    strictness : float, default 1.0
        The exponent c: the larger, the less do small cosines count; 0 counts the words that are
        not orthogonal to the direction.

    Notes
    -----
    The mean over attributes a of abs(cos(a, g))ᶜ, where g is the first principal component of the
    pairs (vectors of length one, each pair about its own centre).

    References
    ----------
    Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), arXiv:1607.06520.

    Examples
    --------
    >>> import bayesbias as bb
    >>> female, male = zip(*bb.word_tuples("bolukbasi")["definitional_pairs"])
    >>> professions = bb.word_sets("bolukbasi")["professions"]
    >>> query = bb.Query([female, male], [professions], ["female", "male"])
    >>> bb.metrics.DirectBias().posterior(query, bb.load_embedding("demo"), draws=500)
    <Score direct_bias = 0.18 [0.16, 0.20], female and male wrt professions, demo>
    """

    strictness: float = 1.0

    name: ClassVar[str] = "direct_bias"
    title: ClassVar[str] = "direct bias"
    reference: ClassVar[str | None] = (
        "Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), arXiv:1607.06520."
    )
    template: ClassVar[Template] = (2, 1)
    paired: ClassVar[bool] = True
    value_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    orientation: ClassVar[str] = "0: nothing lies along the direction of the pairs; larger is bias"
    undefined: ClassVar[str] = "the words of every pair have the same vector"
    empty_details: ClassVar[Mapping[str, Any]] = {"word_values": {}}

    def __post_init__(self) -> None:
        c = self.strictness
        if isinstance(c, bool) or not isinstance(c, Real) or not c >= 0:
            raise SpecError(f"'strictness' is {self.strictness!r}; expected a number from 0 on.")

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the pairs and attributes."""
        along = projections(targets, target_weights[0], attributes[0])
        return total(self._strictly(along), shares(attribute_weights[0]))

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and the cosine of each attribute with the direction.

        A cosine above 0 is towards the first words of the pairs.
        """
        along = projections(targets, ones(targets)[0], attributes[0])[0]
        by_word = dict(zip(attributes[0].words, along.tolist(), strict=True))
        return float(self._strictly(along).mean()), {"word_values": by_word}

    def _strictly(self, along: Array) -> Array:
        size = np.abs(along)
        # 0 to the power 0 would be 1.
        result: Array = np.where(size < 1e-9, 0.0, size**self.strictness)
        return result


@dataclass(frozen=True)
class IndirectBias(Metric):
    """Indirect bias: how much of the closeness of two words the direction of the pairs explains.

    0: none of it; 1: all of it; below 0 the words are closer without it (Bolukbasi et al. 2016).
    Target sets are definitional pairs by their places; the words of the first attribute set are
    compared with those of the second.

    Notes
    -----
    For words v, w of length one, with v⊥, w⊥ their parts orthogonal to the direction g of the
    pairs: β(v, w) = (v·w − cos(v⊥, w⊥)) / (v·w). For sets of words both closenesses are averaged
    over all pairs before the ratio is taken, or a pair of nearly unrelated words would decide it;
    for one word in each set it is β. ``pairs`` in the result has β of every pair, largest first.

    References
    ----------
    Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), arXiv:1607.06520.

    Examples
    --------
    >>> import bayesbias as bb
    >>> female, male = zip(*bb.word_tuples("bolukbasi")["definitional_pairs"])
    >>> query = bb.Query([female, male], [["nurse"], ["receptionist", "warrior"]])
    >>> score = bb.metrics.IndirectBias().run_query(query, bb.load_embedding("demo"))
    >>> [(pair, round(beta, 2)) for pair, beta in score["pairs"].items()]
    [('nurse – receptionist', 0.05), ('nurse – warrior', -0.3)]
    """

    name: ClassVar[str] = "indirect_bias"
    title: ClassVar[str] = "indirect bias"
    reference: ClassVar[str | None] = (
        "Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), arXiv:1607.06520."
    )
    template: ClassVar[Template] = (2, 2)
    paired: ClassVar[bool] = True
    orientation: ClassVar[str] = "the share of the words' closeness that the pairs' direction makes"
    # A ratio, whose draws have a narrow middle and long tails.
    jackknife: ClassVar[bool] = True
    undefined: ClassVar[str] = (
        "the words of every pair have the same vector, or a word lies along their direction"
    )
    empty_details: ClassVar[Mapping[str, Any]] = {"pairs": {}}

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the pairs and attributes."""
        along = [projections(targets, target_weights[0], words) for words in attributes]
        first, second = (shares(w) for w in attribute_weights)
        close = cosines(*attributes)
        # cos(v⊥, w⊥) = (v·w − g·v g·w) / (|v⊥| |w⊥|): sums over words, no array draws × v × w.
        scaled = [
            w / np.sqrt(_positive(1 - a**2)) for a, w in zip(along, (first, second), strict=True)
        ]
        rest = bilinear(scaled[0], close, scaled[1]) - (scaled[0] * along[0]).sum(axis=1) * (
            scaled[1] * along[1]
        ).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Array = 1 - rest / bilinear(first, close, second)
        return result

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and the indirect bias of every pair of words, the largest first."""
        v, w = (projections(targets, ones(targets)[0], words)[0] for words in attributes)
        close = cosines(*attributes)
        lengths = np.sqrt(np.outer(_positive(1 - v**2), _positive(1 - w**2)))
        with np.errstate(invalid="ignore", divide="ignore"):
            beta = 1 - (close - np.outer(v, w)) / lengths / close
        biases = {
            f"{first} – {second}": float(beta[i, j])
            for i, first in enumerate(attributes[0].words)
            for j, second in enumerate(attributes[1].words)
        }
        ordered = dict(sorted(biases.items(), key=lambda item: -item[1]))
        return self.value(targets, attributes), {"pairs": ordered}


def projections(targets: Sequence[WordVectors], weights: Array, words: WordVectors) -> Array:
    """Return, for each draw, the cosine of each word with the direction of the pairs.

    The direction is the first principal component of the pairs about their own centres, that is,
    of half their differences d: its expansion in the differences comes from the matrix d dᵀ,
    which is as large as there are pairs, however many dimensions there are. It points towards
    the first words of the pairs.
    """
    halves = (targets[0].unit - targets[1].unit) / 2
    products = halves @ halves.T
    root = np.sqrt(weights)
    values, vectors = np.linalg.eigh(root[:, :, None] * products * root[:, None, :])
    with np.errstate(invalid="ignore", divide="ignore"):
        expansion = root * vectors[:, :, -1] / np.sqrt(values[:, -1:])
        expansion[values[:, -1] < 1e-20] = np.nan
    towards = ((expansion @ products) * weights).sum(axis=1, keepdims=True)
    expansion *= np.where(towards < 0, -1.0, 1.0)
    result: Array = expansion @ (halves @ words.unit.T)
    return result


def _positive(values: Array) -> Array:
    """Return the values, NaN instead of those that are zero but for rounding."""
    return np.where(values > 1e-12, values, np.nan)
