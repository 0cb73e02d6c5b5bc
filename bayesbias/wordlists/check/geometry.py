"""How words of lists lie in an embedding: together, apart, and along which direction.

All of it is of vectors scaled to length one, as in the metrics, so it is about cosines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.threads import single_threaded_algebra
from bayesbias.embeddings import Embedding
from bayesbias.wordlists.check.word_usage import in_order

# Rows of a vocabulary handled at once, and the most numbers in memory at once.
_ROWS = 8192
_NUMBERS = 4_000_000
# Words of the vocabulary that shuffled lists are ranked among.
_REFERENCE = 2000
# Random words stand for a word of a list if they are among so many of its neighbours in the order
# of frequency at least; frequent words have few neighbours of about their frequency.
_LEAST_NEIGHBOURS = 200
# Equal vectors have equal cosines, whatever the last digits say.
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words of an embedding that have a direction, in the order of their frequency."""

    embedding: Embedding
    #: The length of each vector.
    norms: Array
    #: Rows with a direction; the most frequent first, if `ordered`.
    rows: Codes
    #: Whether the order is one of frequency.
    ordered: bool

    @classmethod
    def of(cls, embedding: Embedding, counts: Mapping[str, float] | None) -> Vocabulary:
        """Look through an embedding, in blocks; without counts its own order may do."""
        norms = np.empty(len(embedding))
        for start in range(0, len(embedding), _ROWS):
            block = np.asarray(embedding.vectors[start : start + _ROWS], dtype=np.float64)
            norms[start : start + len(block)] = np.linalg.norm(block, axis=1)
        rows = np.flatnonzero(np.isfinite(norms) & (norms > 0))
        if counts is None:
            return cls(embedding, norms, rows, in_order(embedding.words))
        frequency = np.array([counts.get(embedding.words[row], 0.0) for row in rows])
        return cls(embedding, norms, rows[np.argsort(-frequency, kind="stable")], True)

    def unit(self, rows: Codes) -> Array:
        """Return the vectors of these rows, scaled to length one."""
        vectors = np.asarray(self.embedding.vectors[rows], dtype=np.float64)
        result: Array = vectors / self.norms[rows][..., None]
        return result

    def random_lists(self, rows: Codes, samples: int, rng: np.random.Generator) -> Codes | None:
        """Draw lists of other words of about the same frequencies, samples × words.

        None if there are too few other words for that.
        """
        n = len(rows)
        mine = np.isin(self.rows, rows)
        others = self.rows[~mine]
        if len(others) < 2 * n:
            return None
        low, high = np.zeros(n, dtype=np.intp), np.full(n, len(others))
        if self.ordered:
            # Half to twice the place is about twice to half the frequency, by Zipf's law.
            place = np.flatnonzero(mine) - np.arange(n)
            width = np.minimum(np.maximum(3 * place // 2, max(_LEAST_NEIGHBOURS, 4 * n)), high)
            low = np.clip(np.minimum(place // 2, place - width // 3), 0, high - width)
            high = low + width
        drawn = rng.integers(low, high, size=(samples, n))
        # There are at least twice as many places as words, so this comes to an end.
        while (again := _repeated(drawn)).any():
            column = np.nonzero(again)[1]
            drawn[again] = rng.integers(low[column], high[column])
        return others[drawn]


def cohesion(unit: Array) -> float:
    """Return the mean cosine of the pairs of words of a list."""
    return float(_cohesions(unit[None])[0])


def random_cohesions(
    vocabulary: Vocabulary, rows: Codes, samples: int, rng: np.random.Generator
) -> Array:
    """Return the mean cosines within random lists of about the same frequencies; or nothing."""
    drawn = vocabulary.random_lists(rows, samples, rng)
    if drawn is None:
        return np.empty(0)
    step = max(_NUMBERS // (len(rows) * vocabulary.embedding.dim), 1)
    parts = [
        _cohesions(vocabulary.unit(drawn[start : start + step]))
        for start in range(0, samples, step)
    ]
    return np.concatenate(parts)


def cosines_to_others(unit: Array) -> Array:
    """Return the mean cosine of each word of a list to the other words of it."""
    result: Array = (unit @ unit.sum(axis=0) - 1) / (len(unit) - 1)
    return result


def similarity(first: Array, second: Array) -> float:
    """Return the cosine of the means of two lists; NaN if a mean is zero."""
    one, other = first.mean(axis=0), second.mean(axis=0)
    norms = np.linalg.norm(one) * np.linalg.norm(other)
    return float(np.clip(one @ other / norms, -1, 1)) if norms > 0 else np.nan


def coherences(vocabulary: Vocabulary, pairs: Sequence[tuple[Array, Array]]) -> Array:
    """Return how far apart each two lists are in the vocabulary, ranked by their difference.

    The vocabulary is ranked by the cosine with the difference of the two means; the value is the
    distance of the mean ranks of the two lists as a share of the vocabulary. Zero where the means
    are the same, as there is no direction then.
    """
    if not pairs:
        return np.empty(0)
    directions = np.stack([_direction(*pair) for pair in pairs])
    cosines_of = [
        (np.concatenate(pair) @ direction).round(_DIGITS)
        for pair, direction in zip(pairs, directions, strict=True)
    ]
    ordered = [np.sort(cosines) for cosines in cosines_of]
    below = [np.zeros(len(cosines) + 1) for cosines in cosines_of]  # twice their number, ties once
    rows = np.sort(vocabulary.rows)  # read as they lie in the file
    step = max(min(_NUMBERS // len(pairs), _ROWS), 1)
    for start in range(0, len(rows), step):
        cosines = (vocabulary.unit(rows[start : start + step]) @ directions.T).round(_DIGITS)
        for i, limits in enumerate(ordered):
            for side in ("left", "right"):
                at = np.searchsorted(limits, cosines[:, i], side=side)
                below[i] += np.bincount(at, minlength=len(limits) + 1)
    result = np.zeros(len(pairs))
    for i, (first, _) in enumerate(pairs):
        if directions[i].any():
            counted = np.cumsum(below[i])[np.searchsorted(ordered[i], cosines_of[i])]
            ranks = (counted + 1) / 2
            result[i] = abs(ranks[: len(first)].mean() - ranks[len(first) :].mean()) / len(rows)
    return result


def shuffled_coherences(
    vocabulary: Vocabulary, first: Codes, second: Codes, samples: int, rng: np.random.Generator
) -> tuple[float, Array]:
    """Return the coherence of two lists, and of their words randomly reassigned.

    Words in both lists stay in both. For speed the ranks are those among a sample of the
    vocabulary, for the lists and for what they are compared with alike.
    """
    shared = np.intersect1d(first, second)
    alone = [np.setdiff1d(rows, shared) for rows in (first, second)]
    unit = vocabulary.unit(np.concatenate([*alone, shared]))
    size = min(_REFERENCE, len(vocabulary.rows))
    reference = vocabulary.unit(np.sort(rng.choice(vocabulary.rows, size, replace=False)))

    n, free = len(alone[0]), len(alone[0]) + len(alone[1])
    values = np.empty(samples + 1)
    step = max(_NUMBERS // max(size, len(unit)), 1)
    for start in range(0, samples + 1, step):
        places = np.array([rng.permutation(free) for _ in values[start : start + step]])
        if not start:
            places[0] = np.arange(free)  # the lists as they are
        signs = _contrasts(places < n, len(shared))
        directions = signs @ unit
        among = np.sort((directions @ reference.T).round(_DIGITS), axis=1)
        cosines = (directions @ unit.T).round(_DIGITS)
        for i, limits in enumerate(among):
            ranks = np.searchsorted(limits, cosines[i]) + np.searchsorted(
                limits, cosines[i], "right"
            )
            values[start + i] = abs(signs[i] @ ranks) / (2 * size)
    return float(values[0]), values[1:]


def paired_variance(first: Array, second: Array) -> float:
    """Return the share of the first principal component in the variance of pairs.

    As in hard debiasing, each pair is centred on its own mean; the differences themselves are not,
    as what they have in common is the direction looked for. NaN if the pairs do not differ.
    """
    differences = first - second
    tall = len(differences) > differences.shape[1]
    products = differences.T @ differences if tall else differences @ differences.T
    total = np.trace(products)
    return float(np.linalg.eigvalsh(products)[-1] / total) if total > 1e-12 else np.nan


def shuffled_variances(
    first: Array, second: Array, samples: int, rng: np.random.Generator
) -> Array:
    """Return the same of pairs whose second words are shuffled."""
    # The matrices are small: several threads would mostly wait for each other.
    with single_threaded_algebra():
        return np.array(
            [paired_variance(first, second[rng.permutation(len(second))]) for _ in range(samples)]
        )


def percentile(value: float, others: Array) -> float:
    """Return the percentage of the others below the value; those equal to it count half."""
    if not len(others) or np.isnan(value):
        return np.nan
    gaps = (value - others).round(_DIGITS)
    return float(100 * ((gaps > 0).mean() + (gaps == 0).mean() / 2))


def _contrasts(dealt: npt.NDArray[np.bool_], n_shared: int) -> Array:
    """Return weights of words whose product with values is the difference of two lists' means."""
    both = np.ones((len(dealt), n_shared))
    first, second = (np.hstack([part, both]) for part in (dealt, ~dealt))
    result: Array = first / first.sum(axis=1, keepdims=True)
    result -= second / second.sum(axis=1, keepdims=True)
    return result


def _direction(first: Array, second: Array) -> Array:
    """Return the difference of the means, of length one; zero if the means are the same."""
    difference = first.mean(axis=0) - second.mean(axis=0)
    norm = np.linalg.norm(difference)
    result: Array = difference / norm if norm > 1e-12 else np.zeros_like(difference)
    return result


def _cohesions(unit: Array) -> Array:
    """Return the mean cosine of pairs within each list of lists × words × dimensions."""
    n = unit.shape[1]
    squared = (unit.sum(axis=1) ** 2).sum(axis=1)
    result: Array = (squared - n) / (n * (n - 1))
    return result


def _repeated(drawn: Codes) -> npt.NDArray[np.bool_]:
    """Mark what occurs in a row a second time."""
    order = np.argsort(drawn, axis=1, kind="stable")
    ordered = np.take_along_axis(drawn, order, axis=1)
    marks = np.zeros(drawn.shape, dtype=bool)
    np.put_along_axis(marks, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    return marks
