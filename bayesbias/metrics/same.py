"""SAME, scoring association means of word embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias.metrics.base import Metric
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.weighting import directions, ones, total
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Template

# Differences of means of unit vectors that are shorter than this are rounding.
_NOTHING = 1e-10


@dataclass(frozen=True)
class SAME(Metric):
    """How much of each attribute word points along the differences of the groups (SAME).

    0: the words say nothing of the groups; larger is more biased, up to 1. Groups are the target
    sets, the words looked at the attribute set (the paper calls these the other way round).

    Notes
    -----
    For a word a of length one, the length of its projection on the space of the differences of the
    groups' mean vectors (of vectors of length one); the value is the mean over words. With two
    groups it is the mean of abs(cos(a, mean T₁ − mean T₂)). For each pair of groups ``skew`` is
    the mean of the signed cosine, above 0 towards the first, and ``stereotype`` its standard
    deviation: words may lean to both sides and cancel out in the one, not in the other.

    References
    ----------
    Schröder, Schulz, Kenneweg, Feldhans, Hinder, Hammer (2021), arXiv:2111.07864.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query = bb.load_query("weat_6").subqueries((2, 1))[0]
    >>> bb.metrics.SAME().posterior(query, bb.load_embedding("demo"), draws=1000)
    <Score same = 0.25 [0.18, 0.31], Male names and Female names wrt Career, demo>
    """

    name: ClassVar[str] = "same"
    title: ClassVar[str] = "SAME"
    reference: ClassVar[str | None] = (
        "Schröder, Schulz, Kenneweg, Feldhans, Hinder, Hammer (2021), arXiv:2111.07864."
    )
    template: ClassVar[Template] = ("n", 1)
    least_targets: ClassVar[int] = 2
    value_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    orientation: ClassVar[str] = "0: the attributes do not depend on the groups; larger is bias"
    undefined: ClassVar[str] = "the groups have the same mean vector, so there is no direction"
    empty_details: ClassVar[Mapping[str, Any]] = {"word_values": {}, "skew": {}, "stereotype": {}}

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the words."""
        means = _means(targets, target_weights)
        return total(_lengths(means, attributes[0]), shares(attribute_weights[0]))

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, that of each word, and skew and stereotype of pairs of groups."""
        words = attributes[0]
        means = _means(targets, ones(targets))
        lengths = _lengths(means, words)[0]
        signed = {
            f"{a.name} – {b.name}": words.unit @ directions(mean_a - mean_b, 1.0)[0]
            for (a, mean_a), (b, mean_b) in combinations(zip(targets, means, strict=True), 2)
        }
        return float(lengths.mean()), {
            "word_values": dict(zip(words.words, lengths.tolist(), strict=True)),
            "skew": {pair: float(values.mean()) for pair, values in signed.items()},
            "stereotype": {pair: float(values.std()) for pair, values in signed.items()},
        }


def _means(targets: Sequence[WordVectors], weights: Sequence[Array]) -> list[Array]:
    return [shares(w) @ words.unit for words, w in zip(targets, weights, strict=True)]


def _lengths(means: Sequence[Array], words: WordVectors) -> Array:
    """Return the length of each word's projection on the differences of the means."""
    basis: list[Array] = []
    projected: Array = np.zeros((1, len(words)))
    for mean in means[1:]:
        # What the earlier directions have said already is not said again.
        rest = mean - means[0]
        for direction in basis:
            rest = rest - (rest * direction).sum(axis=1, keepdims=True) * direction
        length = np.linalg.norm(rest, axis=1, keepdims=True)
        # A mean between others adds no direction; rounding would make one up.
        basis.append(rest / np.where(length < _NOTHING, np.inf, length))
        projected = projected + (basis[-1] @ words.unit.T) ** 2
    nowhere = sum((direction**2).sum(axis=1, keepdims=True) for direction in basis) == 0
    return np.where(nowhere, np.nan, np.sqrt(projected))
