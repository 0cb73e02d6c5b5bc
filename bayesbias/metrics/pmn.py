"""PMN: the share of a word's neighbours that lean to the first group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias.metrics.neighbourhood import Neighbourhood, leanings
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.weighting import ones, total
from bayesbias.numerics.weighted import shares


@dataclass(frozen=True)
class PMN(Neighbourhood):
    """The share of neighbours that lean to the first group: percent male neighbours (Kumar 2020).

    A share: 0.5 is neutral, towards 1 more neighbours of the attribute words lean to the first
    group. With the embedding before debiasing as `original`, neighbours are judged by how they
    leaned there.

    Parameters
    ----------
    k : int, default 100
        How many neighbours of each attribute word are looked at. The word itself and the words of
        the groups are none.
    original : Embedding, optional
        The embedding before debiasing; by default the tested one itself.

    Notes
    -----
    The mean over attribute words of the share of their neighbours whose cosine with the direction
    mean(T₁) − mean(T₂) is above 0. `Neighbourhood` correlates these shares with the words' own
    leaning. 0.5 is neutral only if half of the vocabulary leans to each side; compare the value
    with that of neutral words. In the library FEE a word is its own first neighbour, and the
    direction is the first component of several pairs, so that its percentages differ by about one.

    References
    ----------
    Kumar, Bhotia, Kumar (2020), doi:10.18653/v1/2020.nlposs-1.5.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query = bb.Query([["he", "his", "man"], ["she", "her", "woman"]], [["nurse", "engineer"]])
    >>> score = bb.metrics.PMN().run_query(query, bb.load_embedding("demo"))
    >>> round(score.value, 2), score["word_values"]["nurse"]["share"]
    (0.55, 0.18)
    """

    name: ClassVar[str] = "pmn"
    title: ClassVar[str] = "PMN"
    reference: ClassVar[str | None] = (
        "Kumar, Bhotia, Kumar (2020), doi:10.18653/v1/2020.nlposs-1.5."
    )
    value_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    neutral_value: ClassVar[float] = 0.5
    orientation: ClassVar[str] = "above 0.5: most neighbours lean to the first targets"
    least_words: ClassVar[tuple[int, int]] = (1, 1)
    undefined: ClassVar[str] = "the groups have the same mean"

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the mean share for each draw of weights of the words."""
        leaning, share = leanings(targets, attributes[0], target_weights)
        # Without a direction nothing leans anywhere.
        return total(np.where(np.isnan(leaning), np.nan, share), shares(attribute_weights[0]))

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and for each word how it leans, and the share of its neighbours."""
        value = float(self.weighted(targets, attributes, ones(targets), ones(attributes))[0])
        return value, Neighbourhood.measure(self, targets, attributes)[1]
