"""Draws of weights for the words of a query: a bootstrap of its lists."""

from __future__ import annotations

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.random import generator_for
from bayesbias.metrics.query_vectors import QueryVectors
from bayesbias.wordlists import Query


def bootstrap(
    query: Query, words: QueryVectors, draws: int, seed: int, *, whole: bool, paired: bool
) -> list[Array]:
    """Return weights of each set: Dirichlet, or whole numbers for what cannot take others.

    Dirichlet weights are drawn for all words of the lists, also for those an embedding lacks. They
    depend on the list and the seed only: queries that share a list share its weights, so averages
    over queries are as uncertain as their common words make them. All forms of a word have its
    weight.
    """
    weights: list[Array] = []
    for i, (listed, places, owners) in enumerate(
        zip(query.word_sets().values(), words.places, words.owners, strict=True)
    ):
        if paired and i == 1:
            weights.append(weights[0])
            continue
        rng = generator_for(seed, listed)
        n = len(places)
        if whole:
            k = int(owners.max(initial=-1)) + 1
            drawn = rng.multinomial(k, np.full(k, 1 / k), size=draws).astype(np.float64)
            weights.append(drawn[:, owners])
            continue
        drawn = rng.standard_exponential((draws, len(listed)))[:, places]
        weights.append(drawn * (n / drawn.sum(axis=1, keepdims=True)))
    return weights
