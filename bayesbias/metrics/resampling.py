"""Draws of weights for the words of a query: a bootstrap of its lists."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import blocks
from bayesbias._core.random import generator_for
from bayesbias.metrics.query_vectors import QueryVectors
from bayesbias.wordlists import Query


def bootstrap(
    query: Query,
    words: QueryVectors,
    draws: int,
    seed: int,
    *,
    whole: bool,
    paired: bool,
) -> list[Array]:
    """Return weights of each set: Dirichlet, or whole numbers for what cannot take others.

    Dirichlet weights are drawn for all words of the lists, also for those an embedding lacks. They
    depend on the list and the seed only: queries that share a list share its weights, so averages
    over queries are as uncertain as their common words make them. All forms of a word have its
    weight.
    """
    [weights] = bootstrap_blocks(
        query, words, draws, seed, whole=whole, paired=paired, numbers_per_draw=0
    )
    return weights


def bootstrap_blocks(
    query: Query,
    words: QueryVectors,
    draws: int,
    seed: int,
    *,
    whole: bool,
    paired: bool,
    numbers_per_draw: float,
) -> Iterator[list[Array]]:
    """Yield the weights that `bootstrap` returns in blocks of draws; all at once for 0 numbers."""
    lists = tuple(query.word_sets().values())
    generators = [generator_for(seed, listed) for listed in lists]
    budget = {} if numbers_per_draw else {"budget": draws}
    for part in blocks(draws, numbers_per_draw, **budget):
        rows = part.stop - part.start
        weights: list[Array] = []
        for i, (rng, listed) in enumerate(zip(generators, lists, strict=True)):
            if paired and i == 1:
                weights.append(weights[0])
            elif whole:
                weights.append(_counts(rng, rows, words.owners[i]))
            else:
                weights.append(_dirichlet(rng, rows, len(listed), words.places[i]))
        yield weights


def _counts(rng: np.random.Generator, rows: int, owners: Codes) -> Array:
    """Return how often each vector is drawn, with all forms of its word."""
    k = int(owners.max(initial=-1)) + 1
    drawn = rng.multinomial(k, np.full(k, 1 / k), size=rows).astype(np.float64)
    return drawn[:, owners]


def _dirichlet(rng: np.random.Generator, rows: int, listed: int, places: Codes) -> Array:
    """Return Dirichlet weights of the words found, of so many listed; their mean is 1."""
    drawn = rng.standard_exponential((rows, listed))
    if not np.array_equal(places, np.arange(listed)):
        drawn = drawn[:, places]
    drawn *= len(places) / drawn.sum(axis=1, keepdims=True)
    return drawn
