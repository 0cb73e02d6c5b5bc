"""Random words that are as frequent as the words of a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.wording import counted
from bayesbias.embeddings import Embedding, Matching
from bayesbias.errors import DataError
from bayesbias.metrics import WordVectors
from bayesbias.wordlists import (
    Frequencies,
    frequency_source,
    given_pool,
    has_direction,
    is_plain,
    listed_words,
    log_frequencies,
)


@dataclass(frozen=True)
class RandomWords:
    """The words that each listed word may be replaced by."""

    #: Rows of the embedding, one per candidate.
    rows: Codes
    #: For each listed word, the places of its candidates in `rows`, listed words × candidates.
    near: npt.NDArray[np.intp]
    #: The largest difference in log frequency between a word and a candidate for it; NaN if words
    #: are not matched.
    gap: float

    def draw(self, number: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
        """Return draws × listed words: places in `rows`, no word twice in a draw."""
        n, width = self.near.shape
        words = np.arange(n)
        chosen = self.near[words, rng.integers(width, size=(number, n))]
        again = _repeated(chosen)
        while again.any():
            # Each has at least as many candidates as there are words, so that one is free.
            at = np.nonzero(again)
            chosen[at] = self.near[at[1], rng.integers(width, size=len(at[0]))]
            again = _repeated(chosen)
        return chosen


def _repeated(chosen: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Tell which words stand earlier in their row as well."""
    order = np.argsort(chosen, axis=1, kind="stable")
    ordered = np.take_along_axis(chosen, order, axis=1)
    same = np.zeros(chosen.shape, dtype=bool)
    same[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    result = np.empty_like(same)
    np.put_along_axis(result, order, same, axis=1)
    return result


def random_words(
    embedding: Embedding,
    listed: Sequence[WordVectors],
    used: Iterable[int],
    *,
    nearest: int | None,
    pool: str | Iterable[str] | None,
    frequencies: Frequencies,
    matching: Matching | None,
    language: str = "en",
) -> RandomWords:
    """Return what the words of some lists may be replaced by.

    `used` are the rows of all words of the query, which are no candidates; `nearest` is how many
    words, the nearest in frequency, each may be replaced by, None for any word; `language` is that
    of the query, whose published lists are no candidates either.
    """
    words = [word for words in listed for word in words.words]
    rows = np.concatenate([words.rows for words in listed])
    candidates, names = _candidates(embedding, set(used), pool, matching, language)
    if nearest is None:
        frequency = wanted = None
    else:
        source = frequency_source(frequencies, matching)
        source.check(embedding)
        wanted = log_frequencies(source, embedding, words, rows)
        frequency = source.find(embedding, names, candidates)
        known = np.isfinite(frequency)
        candidates, frequency = candidates[known], frequency[known]
    if len(candidates) < len(words):
        raise DataError(
            f"there are {counted(len(candidates), 'word')} to draw {len(words)} words from in "
            f"embedding {embedding.name!r}; give a larger 'pool', or use an embedding with its "
            "whole vocabulary."
        )
    if nearest is None or frequency is None or wanted is None:
        every = np.arange(len(candidates))
        return RandomWords(candidates, np.tile(every, (len(words), 1)), np.nan)
    width = min(max(nearest, len(words)), len(candidates))
    order = np.argsort(frequency, kind="stable")
    near, gap = _nearest(frequency[order], wanted, width)
    near = order[near]
    kept = np.unique(near)
    return RandomWords(candidates[kept], np.searchsorted(kept, near), gap)


def _nearest(ordered: Array, wanted: Array, width: int) -> tuple[npt.NDArray[np.intp], float]:
    """Return the places of the nearest values to each, and the largest difference to any."""
    near = np.empty((len(wanted), width), dtype=np.intp)
    largest = 0.0
    for i, value in enumerate(wanted):
        place = int(np.searchsorted(ordered, value))
        first = max(0, place - width)
        gaps = np.abs(ordered[first : place + width] - value)
        chosen = np.sort(np.argsort(gaps, kind="stable")[:width])
        near[i] = first + chosen
        largest = max(largest, float(gaps[chosen].max()))
    return near, largest


def _candidates(
    embedding: Embedding,
    used: set[int],
    pool: str | Iterable[str] | None,
    matching: Matching | None,
    language: str,
) -> tuple[Codes, list[str]]:
    """Return the rows and words of the pool, or of the vocabulary without published lists."""
    if pool is None:
        listed = listed_words(language)
        pairs = [
            (row, word)
            for row, word in enumerate(embedding.words)
            if row not in used and word not in listed and is_plain(word)
        ]
    else:
        offered = embedding.match(given_pool(pool), matching).distinct()
        pairs = [
            (row, word)
            for row, word in zip(offered.rows.tolist(), offered.found, strict=True)
            if row not in used
        ]
    rows = np.array([row for row, _ in pairs], dtype=np.intp)
    usable = has_direction(embedding, rows) if len(rows) else np.empty(0, dtype=bool)
    return rows[usable], [word for (_, word), keep in zip(pairs, usable, strict=True) if keep]


def vectors_of(
    embedding: Embedding, rows: Codes, name: str, *, normalize: bool = False
) -> WordVectors:
    """Return the vectors of some rows, as a metric takes them."""
    vectors: Array = np.asarray(embedding.vectors[rows], dtype=np.float64)
    words = tuple(embedding.words[row] for row in rows.tolist())
    found = WordVectors(name, words, vectors, embedding.name, rows)
    return WordVectors(name, words, found.unit, embedding.name, rows) if normalize else found
