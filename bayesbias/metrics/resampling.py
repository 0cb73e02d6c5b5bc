"""Weights that resample the words of a query: bootstrap, leaving one out, permuting the targets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, islice
from typing import Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bayesbias._arrays import Array, Codes
from bayesbias.metrics.vectors import Gathered, WordVectors
from bayesbias.words import Query

Test = Literal["right-sided", "left-sided", "two-sided"]
Method = Literal["auto", "exact", "approximate"]

#: Partitions are enumerated up to this number, beyond it they are drawn.
MOST_PARTITIONS = 1_000_000
# Partitions handled at once.
_BLOCK = 20_000
# Two statistics that differ by less than this share of the largest are the same.
_TIE = 1e-9


def generator(query: Query, seed: int) -> np.random.Generator:
    """Return random numbers that depend on the query and the seed only.

    Embeddings and metrics that are asked the same query get the same weights of words, so their
    draws can be compared one by one.
    """
    text = "\n".join(word for words in query.word_sets().values() for word in ("", *words))
    return np.random.default_rng([seed, crc32(text.encode())])


def bootstrap(
    found: Gathered, draws: int, rng: np.random.Generator, *, whole: bool, paired: bool
) -> list[Array]:
    """Return weights of each set: Dirichlet, or whole numbers for what cannot take others.

    Dirichlet weights are drawn for all words of the lists, also for those an embedding lacks.
    """
    weights: list[Array] = []
    for i, (places, size) in enumerate(zip(found.places, found.sizes, strict=True)):
        if paired and i == 1:
            weights.append(weights[0])
            continue
        n = len(places)
        if whole:
            weights.append(rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64))
            continue
        drawn = rng.standard_exponential((draws, size))[:, places]
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

    def __init__(
        self, targets: Sequence[WordVectors], rows: Sequence[Codes], *, paired: bool
    ) -> None:
        first, second = targets
        if paired:
            self.n = len(first)
            self.count = 2**self.n
            self.targets = [_joined(first, second), _joined(second, first)]
            self.fixed = 0
        else:
            alone = [np.flatnonzero(~np.isin(rows[i], rows[1 - i])).tolist() for i in range(2)]
            shared = np.flatnonzero(np.isin(rows[0], rows[1])).tolist()
            self.n, self.first = len(alone[0]) + len(alone[1]), len(alone[0])
            self.count = math.comb(self.n, self.first)
            pool = _joined(_joined(first.take(alone[0]), second.take(alone[1])), first.take(shared))
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
    return WordVectors(
        first.name,
        first.words + second.words,
        np.vstack([first.vectors, second.vectors]),
        first.embedding,
    )


def as_extreme(values: Array, observed: float, test: str) -> npt.NDArray[np.bool_]:
    """Tell which values are at least as extreme as the observed one; ties count."""
    slack = _TIE * max(abs(observed), float(np.nanmax(np.abs(values), initial=0.0)), 1e-300)
    if test == "right-sided":
        return values >= observed - slack
    if test == "left-sided":
        return values <= observed + slack
    return np.abs(values) >= abs(observed) - slack
