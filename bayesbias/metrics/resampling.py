"""Weights that resample the words of a query: bootstrap, leaving one out, permuting the targets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, islice
from typing import Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array
from bayesbias.metrics.query_vectors import Gathered, WordVectors
from bayesbias.wordlists import Query

Test = Literal["right-sided", "left-sided", "two-sided"]
Method = Literal["auto", "exact", "approximate"]
TESTS = ("right-sided", "left-sided", "two-sided")

#: Partitions are enumerated up to this number, beyond it they are drawn.
MOST_PARTITIONS = 1_000_000
# Partitions handled at once.
_BLOCK = 20_000
# Two statistics that differ by less than this share of the largest are the same.
_TIE = 1e-9


def generator(query: Query, seed: int) -> np.random.Generator:
    """Return random numbers that depend on the query and the seed only.

    Embeddings and metrics that are asked the same query get the same permutations.
    """
    text = "\n".join(word for words in query.word_sets().values() for word in ("", *words))
    return np.random.default_rng([seed, crc32(text.encode())])


def bootstrap(
    query: Query, found: Gathered, draws: int, seed: int, *, whole: bool, paired: bool
) -> list[Array]:
    """Return weights of each set: Dirichlet, or whole numbers for what cannot take others.

    Dirichlet weights are drawn for all words of the lists, also for those an embedding lacks. They
    depend on the list and the seed only: queries that share a list share its weights, so averages
    over queries are as uncertain as their common words make them.
    """
    weights: list[Array] = []
    for i, (words, places) in enumerate(zip(query.word_sets().values(), found.places, strict=True)):
        if paired and i == 1:
            weights.append(weights[0])
            continue
        rng = np.random.default_rng([seed, crc32("\n".join(words).encode())])
        n = len(places)
        if whole:
            weights.append(rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64))
            continue
        drawn = rng.standard_exponential((draws, len(words)))[:, places]
        weights.append(drawn * (n / drawn.sum(axis=1, keepdims=True)))
    return weights


def leave_one_out(
    sets: Sequence[WordVectors], paired: bool
) -> tuple[list[Array], list[tuple[int, int]]]:
    """Return weights that leave out one word (or pair) in each draw, and which one that is."""
    counted = [i for i in range(len(sets)) if not (paired and i == 1)]
    left_out = [(i, j) for i in counted for j in range(len(sets[i]))]
    weights: list[Array] = [np.ones((len(left_out), len(words))) for words in sets]
    for draw, (i, j) in enumerate(left_out):
        weights[i][draw, j] = 0
        if paired and i == 0:
            weights[1][draw, j] = 0
    return weights, left_out


class Partitions:
    """The ways to deal the words of two target sets out again, the observed way first.

    Words in both sets stay in both. For pairs, the words of each pair are swapped or not.
    """

    def __init__(self, targets: Sequence[WordVectors], *, paired: bool) -> None:
        first, second = targets
        if paired:
            self.n = len(first)
            self.count = 2**self.n
            self.targets = [_joined(first, second), _joined(second, first)]
            self.fixed = 0
        else:
            in_both = [np.isin(first.rows, second.rows), np.isin(second.rows, first.rows)]
            one, other = (np.flatnonzero(~both) for both in in_both)
            shared = first.take(np.flatnonzero(in_both[0]))
            self.n, self.first = len(one) + len(other), len(one)
            self.count = math.comb(self.n, self.first)
            pool = _joined(_joined(first.take(one), second.take(other)), shared)
            self.targets = [pool, pool]
            self.fixed = len(shared)
        self.paired = paired

    def observed(self) -> list[Array]:
        """Return the weights of the sets as they are."""
        if self.paired:
            return self._weights(np.ones((1, self.n), dtype=bool))
        return self._weights(np.arange(self.n)[None] < self.first)

    def every(self) -> Iterator[list[Array]]:
        """Yield the weights of all partitions, block by block."""
        if self.paired:
            for start in range(0, self.count, _BLOCK):
                codes = np.arange(start, min(start + _BLOCK, self.count))
                yield self._weights((codes[:, None] >> np.arange(self.n) & 1).astype(bool))
            return
        chosen = combinations(range(self.n), self.first)
        while block := list(islice(chosen, _BLOCK)):
            places = np.fromiter(chain.from_iterable(block), np.intp).reshape(len(block), -1)
            mask = np.zeros((len(block), self.n), dtype=bool)
            np.put_along_axis(mask, places, True, axis=1)
            yield self._weights(mask)

    def random(self, number: int, rng: np.random.Generator) -> Iterator[list[Array]]:
        """Yield the weights of random partitions, block by block."""
        for start in range(0, number, _BLOCK):
            size = (min(_BLOCK, number - start), self.n)
            if self.paired:
                yield self._weights(rng.random(size) < 0.5)
            else:
                order = np.argsort(rng.random(size), axis=1)
                yield self._weights(order < self.first)

    def _weights(self, mask: npt.NDArray[np.bool_]) -> list[Array]:
        if self.paired:
            both = np.hstack([mask, ~mask]).astype(np.float64)
            return [both, both]
        rest = np.ones((len(mask), self.fixed))
        return [np.hstack([side, rest]).astype(np.float64) for side in (mask, ~mask)]


def _joined(first: WordVectors, second: WordVectors) -> WordVectors:
    return replace(
        first,
        words=first.words + second.words,
        vectors=np.vstack([first.vectors, second.vectors]),
        rows=np.concatenate([first.rows, second.rows]),
    )


def as_extreme(values: Array, observed: float, test: str) -> npt.NDArray[np.bool_]:
    """Tell which values are at least as extreme as the observed one; ties count."""
    slack = _TIE * max(abs(observed), float(np.nanmax(np.abs(values), initial=0.0)), 1e-300)
    if test == "right-sided":
        return values >= observed - slack
    if test == "left-sided":
        return values <= observed + slack
    return np.abs(values) >= abs(observed) - slack
