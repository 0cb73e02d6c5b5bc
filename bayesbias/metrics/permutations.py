"""Permutation tests: the value beside those for words randomly reassigned to two target sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import blocks
from bayesbias._core.random import generator_for
from bayesbias._core.threads import mapped_in_threads
from bayesbias._core.validation import at_least, one_of
from bayesbias.errors import SpecError
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.wordlists import Query

Test = Literal["right-sided", "left-sided", "two-sided"]
Method = Literal["auto", "exact", "approximate"]
TESTS = ("right-sided", "left-sided", "two-sided")

# Partitions are enumerated up to this number, beyond it they are drawn.
_MOST_PARTITIONS = 1_000_000
# Partitions handled at once, fewer if the lists are long.
_BLOCK = 20_000
# The numbers per word of a partition: keys as drawn and in parts, and the weights of two sets.
_PER_WORD = 4
# Partitions that are tried first.
_FEW = 50
_ONE_WAY = "there is only one way to assign the words to the sets"
_ALL_EQUAL = "it does not matter to the metric which set a word is in"
# Two statistics that differ by less than this share of the largest are the same.
_TIE = 1e-9


@dataclass(frozen=True)
class PermutationOptions:
    """How to test: the number of permutations drawn, the side, and whether all are enumerated."""

    iterations: int = 10_000
    test: Test = "right-sided"
    method: Method = "auto"

    def check(self, iterations: str, test: str, method: str) -> PermutationOptions:
        """Return the options if they make sense; messages call them as the arguments are called."""
        at_least(iterations, self.iterations, 1)
        one_of(test, self.test, TESTS)
        one_of(method, self.method, ("auto", "exact", "approximate"))
        return self


class NullDraws(NamedTuple):
    """The values of a metric without bias.

    Parameters
    ----------
    draws : ndarray
        The values; empty if there are none.
    exact : bool
        Whether these are all that there are, and not a sample.
    reason : str, optional
        Why there are none.
    note : str, optional
        What to know of them.
    """

    draws: Array = np.empty(0)
    exact: bool = False
    reason: str | None = None
    note: str | None = None


class Partitions:
    """The ways to reassign the words of two target sets, the observed one first.

    A word moves with all its forms; `owners` has, for each set, the word that each vector belongs
    to. Words of which a form is in both sets stay where they are. For pairs, the words of each pair
    are swapped or not.
    """

    def __init__(
        self, targets: Sequence[WordVectors], owners: Sequence[Codes], *, paired: bool
    ) -> None:
        first, second = targets
        self.paired = paired
        if paired:
            self.n = len(first)
            self.count = 2**self.n
            self.targets = [_joined(first, second), _joined(second, first)]
            return
        fixed = [
            np.isin(owner, owner[np.isin(words.rows, other.rows)])
            for words, other, owner in ((first, second, owners[0]), (second, first, owners[1]))
        ]
        moving = [np.flatnonzero(~stays) for stays in fixed]
        codes = [_codes(owner[rows]) for owner, rows in zip(owners, moving, strict=True)]
        self.first = int(codes[0].max(initial=-1)) + 1
        #: The word that each vector of the pool belongs to.
        self.moved = np.concatenate([codes[0], self.first + codes[1]])
        self.n = int(self.moved.max(initial=-1)) + 1
        self._one_form = np.array_equal(self.moved, np.arange(self.n))
        self.count = math.comb(self.n, self.first)
        pool = _joined(first.take(moving[0]), second.take(moving[1]))
        staying = [
            words.take(np.flatnonzero(stays))
            for words, stays in zip((first, second), fixed, strict=True)
        ]
        if set(staying[0].rows.tolist()) == set(staying[1].rows.tolist()):
            staying[1] = staying[0]  # one pool for both, of which cosines are computed once
        self.fixed = [len(words) for words in staying]
        self.targets = [_joined(pool, staying[0])]
        self.targets.append(
            self.targets[0] if staying[1] is staying[0] else _joined(pool, staying[1])
        )

    def observed(self) -> list[Array]:
        """Return the weights of the sets as they are."""
        if self.paired:
            return self._weights(np.ones((1, self.n), dtype=bool))
        return self._weights(np.arange(self.n)[None] < self.first)

    def every(self) -> Iterator[list[Array]]:
        """Yield the weights of all partitions, block by block."""
        if self.paired:
            for part in self._blocks(self.count):
                codes = np.arange(part.start, part.stop)
                yield self._weights((codes[:, None] >> np.arange(self.n) & 1).astype(bool))
            return
        chosen = combinations(range(self.n), self.first)
        for part in self._blocks(self.count):
            some = list(islice(chosen, part.stop - part.start))
            places = np.fromiter(chain.from_iterable(some), np.intp).reshape(len(some), -1)
            mask = np.zeros((len(some), self.n), dtype=bool)
            np.put_along_axis(mask, places, True, axis=1)
            yield self._weights(mask)

    def random(self, number: int, rng: np.random.Generator) -> Iterator[list[Array]]:
        """Return the weights of random partitions, block by block."""
        return map(self.by_keys, self.keys(number, rng))

    def keys(self, number: int, rng: np.random.Generator) -> Iterator[Array]:
        """Yield the random numbers that random partitions are made of, block by block."""
        for part in self._blocks(number):
            yield rng.random((part.stop - part.start, self.n))

    def by_keys(self, keys: Array) -> list[Array]:
        """Return the weights of the partitions of some random numbers."""
        if self.paired:
            return self._weights(keys < 0.5)
        return self._weights(_smallest(keys, self.first))

    def evaluated(
        self,
        evaluate: Callable[[list[Array]], Array],
        number: int | None,
        rng: np.random.Generator,
    ) -> Iterator[Array]:
        """Yield the values of all partitions, or of so many random ones, block by block."""
        if number is None:
            return mapped_in_threads(evaluate, self.every())
        return mapped_in_threads(lambda keys: evaluate(self.by_keys(keys)), self.keys(number, rng))

    def _blocks(self, number: int) -> Iterator[slice]:
        """Yield slices of so many partitions that fit into memory."""
        for part in blocks(number, budget=_BLOCK):
            for rows in blocks(part.stop - part.start, _PER_WORD * self.n):
                yield slice(part.start + rows.start, part.start + rows.stop)

    def _weights(self, mask: npt.NDArray[np.bool_]) -> list[Array]:
        if self.paired:
            both = np.hstack([mask, ~mask]).astype(np.float64)
            return [both, both]
        weights: list[Array] = []
        for side, fixed in zip((mask, ~mask), self.fixed, strict=True):
            counted = np.ones((len(mask), len(self.moved) + fixed))
            counted[:, : len(self.moved)] = side if self._one_form else side[:, self.moved]
            weights.append(counted)
        return weights


def _smallest(keys: Array, number: int) -> npt.NDArray[np.bool_]:
    """Mark so many of the smallest keys of each row."""
    if number == keys.shape[1]:
        return np.ones(keys.shape, dtype=bool)
    # Finding one value per row takes a fifth of the time of sorting it.
    limit = np.partition(keys, number, axis=1)[:, number, None]
    marks: npt.NDArray[np.bool_] = keys < limit
    # Two equal keys at the limit: once in millions of tests, but a set must not lose a word.
    for row in np.flatnonzero(np.count_nonzero(marks, axis=1) != number):
        marks[row] = False
        marks[row, np.argsort(keys[row], kind="stable")[:number]] = True
    return marks


def _codes(values: Codes) -> Codes:
    """Return the values renumbered from 0, in their order."""
    return np.unique(values, return_inverse=True)[1]


def _joined(first: WordVectors, second: WordVectors) -> WordVectors:
    return replace(
        first,
        words=first.words + second.words,
        vectors=np.vstack([first.vectors, second.vectors]),
        rows=np.concatenate([first.rows, second.rows]),
    )


def permutation_generator(query: Query, seed: int) -> np.random.Generator:
    """Return a generator of permutations that depends on the query and the seed only.

    Embeddings and metrics that are asked the same query get the same permutations.
    """
    words = (word for listed in query.word_sets().values() for word in ("", *listed))
    return generator_for(seed, words)


def p_value(
    partitions: Partitions,
    deviations: Callable[[list[Array]], Array],
    options: PermutationOptions,
    rng: np.random.Generator,
    *,
    quick: bool,
) -> tuple[float, str | None]:
    """Return the p-value, and why there is none if so.

    `deviations` returns how far the values for weights of the targets are from the neutral value;
    `quick` says that many partitions can be enumerated.
    """
    if partitions.count == 1:
        return np.nan, _ONE_WAY
    exact = options.method == "exact" or (
        options.method == "auto" and _are_few(partitions, options.iterations, quick=quick)
    )
    if exact and partitions.count > 100 * _MOST_PARTITIONS:
        raise SpecError(
            f"there are {partitions.count:.2g} partitions, too many for p_value_method='exact'; "
            "use 'approximate'."
        )
    observed = float(deviations(partitions.observed())[0])
    if not np.isfinite(observed):
        return np.nan, None
    if _are_equal(partitions, deviations, observed):
        return np.nan, _ALL_EQUAL
    extreme = number = 0
    drawn = None if exact else options.iterations
    for values in partitions.evaluated(deviations, drawn, rng):
        # A partition without a value might be as extreme: so the p-value is not too small.
        undefined = ~np.isfinite(values)
        extreme += int((_as_extreme(values, observed, options.test) | undefined).sum())
        number += len(values)
    return (extreme / number if exact else (extreme + 1) / (number + 1)), None


def _are_few(partitions: Partitions, iterations: int, *, quick: bool) -> bool:
    """Tell whether all partitions are enumerated rather than so many of them drawn."""
    return bool(partitions.count <= (_MOST_PARTITIONS if quick else iterations))


def split_values(
    partitions: Partitions,
    evaluate: Callable[[list[Array]], Array],
    iterations: int,
    rng: np.random.Generator,
    *,
    quick: bool,
) -> NullDraws:
    """Return the values of all partitions, or of some at random."""
    if partitions.count == 1:
        return NullDraws(reason=_ONE_WAY)
    if _are_equal(partitions, evaluate, float(evaluate(partitions.observed())[0])):
        return NullDraws(reason=_ALL_EQUAL)
    exact = _are_few(partitions, iterations, quick=quick)
    parts = partitions.evaluated(evaluate, None if exact else iterations, rng)
    return NullDraws(np.concatenate(list(parts)), exact)


def _are_equal(
    partitions: Partitions, evaluate: Callable[[list[Array]], Array], observed: float
) -> bool:
    """Tell, by a few partitions, whether it makes no difference which set a word is in."""
    some = partitions.random(_FEW, np.random.default_rng(0))
    few = np.concatenate([evaluate(weights) for weights in some])
    return bool(np.ptp(np.append(few, observed)) <= 1e-9 * max(np.abs(few).max(), 1e-300))


def _as_extreme(values: Array, observed: float, test: Test) -> npt.NDArray[np.bool_]:
    """Return which values are at least as extreme as the observed one; ties count."""
    slack = _TIE * max(abs(observed), float(np.nanmax(np.abs(values), initial=0.0)), 1e-300)
    if test == "right-sided":
        return values >= observed - slack
    if test == "left-sided":
        return values <= observed + slack
    return np.abs(values) >= abs(observed) - slack
