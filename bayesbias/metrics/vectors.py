"""The vectors of a query's words, and which of the words an embedding lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from bayesbias._arrays import Array, Codes
from bayesbias._validate import one_of, quoted, share
from bayesbias.embeddings import Embedding, unit_rows
from bayesbias.embeddings.lookup import check_fallbacks, look_up
from bayesbias.errors import SpecError
from bayesbias.words import Query, WordSet

Strategy = Literal["first", "all"]


@dataclass(frozen=True, eq=False)
class WordVectors:
    """The words of one set of a query with their vectors, as a metric gets them.

    Parameters
    ----------
    name : str
        The name of the set.
    words : tuple of str
        Its words, those that the embedding has.
    vectors : ndarray of shape (n_words, dim)
        Their vectors in double precision, as long as they are in the embedding.
    embedding : str, default "embedding"
        The name of the embedding, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesbias as bb
    >>> words = bb.WordVectors("jobs", ("nurse", "clerk"), np.array([[3.0, 4.0], [0.0, 2.0]]))
    >>> words.unit
    array([[0.6, 0.8],
           [0. , 1. ]])
    """

    name: str
    words: tuple[str, ...]
    vectors: Array
    embedding: str = "embedding"

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        shape = " × ".join(map(str, self.vectors.shape))
        return f"<WordVectors {self.name!r}: {shape}>"

    @cached_property
    def unit(self) -> Array:
        """The vectors scaled to length one."""
        return unit_rows(self.vectors, self.words, self.embedding)

    def take(self, rows: Sequence[int] | Codes) -> WordVectors:
        """Return these words only; a word may be taken several times.

        Parameters
        ----------
        rows : sequence of int
            Places of the words.

        Returns
        -------
        WordVectors
            The chosen words with their vectors.
        """
        places = np.asarray(rows, dtype=np.intp)
        words = tuple(self.words[i] for i in places)
        return WordVectors(self.name, words, self.vectors[places], self.embedding)


@dataclass(frozen=True, eq=False)
class Gathered:
    """What an embedding knows of a query."""

    targets: tuple[WordVectors, ...]
    attributes: tuple[WordVectors, ...]
    #: For each set, the vocabulary row and the place in the query's list of each word used.
    rows: tuple[Codes, ...]
    places: tuple[Codes, ...]
    #: The length of each list of the query.
    sizes: tuple[int, ...]
    #: Labels of sets and the words of them that were not found.
    lost: dict[str, tuple[str, ...]]
    #: Why nothing can be measured, if so.
    reason: str | None
    #: What to know of the words used.
    notes: tuple[str, ...]

    @property
    def sets(self) -> tuple[WordVectors, ...]:
        """The target sets and then the attribute sets."""
        return (*self.targets, *self.attributes)


def gather(
    query: Query,
    embedding: Embedding,
    *,
    fallbacks: Iterable[str],
    strategy: str,
    threshold: float,
    normalize: bool,
    paired: bool,
    least: tuple[int, int],
) -> Gathered:
    """Look the words of a query up; a reason instead of vectors where too many are lost."""
    ways = check_fallbacks(fallbacks)
    share("lost_vocabulary_threshold", threshold)
    every = one_of("strategy", strategy, ("first", "all")) == "all"
    if every and paired:
        raise SpecError("a metric of pairs takes one spelling of each word; use strategy='first'.")
    labels = list(query.word_sets())
    lists = [*query.target_sets, *query.attribute_sets]
    n_targets = len(query.target_sets)
    found, lost = [], {}
    for label, words in zip(labels, lists, strict=True):
        rows, places, missing = _find(embedding, words, ways, every)
        found.append((rows, places))
        if missing:
            lost[label] = missing
    reasons = _too_many_lost(lists, labels, lost, threshold, embedding.name)
    if paired:
        found[:2] = _complete_pairs(found[0], found[1])
    else:
        found = [_distinct(rows, places) for rows, places in found]
    sets = []
    for (rows, places), words in zip(found, lists, strict=True):
        vectors = np.asarray(embedding.vectors[rows], dtype=np.float64)
        chosen = WordVectors(words.name, tuple(words[i] for i in places), vectors, embedding.name)
        if normalize:
            chosen = WordVectors(chosen.name, chosen.words, chosen.unit, embedding.name)
        sets.append(chosen)
    for i, (label, chosen) in enumerate(zip(labels, sets, strict=True)):
        needed = least[0] if i < n_targets else least[1]
        if len(chosen) < needed and not reasons:
            what = "pairs" if paired and i < n_targets else "words"
            reasons.append(f"{label!r} is left with {len(chosen)} {what}, and {needed} are needed")
    return Gathered(
        targets=tuple(sets[:n_targets]),
        attributes=tuple(sets[n_targets:]),
        rows=tuple(rows for rows, _ in found),
        places=tuple(places for _, places in found),
        sizes=tuple(len(words) for words in lists),
        lost=lost,
        reason="; ".join(reasons) or None,
        notes=tuple(_overlaps(embedding, labels, [rows for rows, _ in found], n_targets)),
    )


def _find(
    embedding: Embedding, words: WordSet, ways: tuple[str, ...], every: bool
) -> tuple[Codes, Codes, tuple[str, ...]]:
    result = look_up(embedding.index, words, ways, every=every)
    place = {word: i for i, word in enumerate(words)}
    places = np.array([place[word] for word in result.found], dtype=np.intp)
    return result.rows, places, result.missing


def _distinct(rows: Codes, places: Codes) -> tuple[Codes, Codes]:
    """Use a vector once that several words of a list have in common."""
    first = np.sort(np.unique(rows, return_index=True)[1])
    return rows[first], places[first]


def _complete_pairs(
    first: tuple[Codes, Codes], second: tuple[Codes, Codes]
) -> list[tuple[Codes, Codes]]:
    """Keep the pairs of which both words were found."""
    both = np.intersect1d(first[1], second[1])
    return [(rows[np.isin(places, both)], both) for rows, places in (first, second)]


def _too_many_lost(
    lists: Sequence[WordSet],
    labels: Sequence[str],
    lost: dict[str, tuple[str, ...]],
    threshold: float,
    name: str,
) -> list[str]:
    reasons = []
    for label, words in zip(labels, lists, strict=True):
        missing = lost.get(label, ())
        if len(missing) == len(words):
            reasons.append(f"embedding {name!r} has no word of {label!r}")
        elif len(missing) > threshold * len(words):
            reasons.append(
                f"embedding {name!r} lacks {len(missing)} of {len(words)} words of {label!r} "
                f"({quoted(missing, 4)}), more than lost_vocabulary_threshold={threshold:g} allows"
            )
    return reasons


def _overlaps(
    embedding: Embedding, labels: Sequence[str], rows: Sequence[Codes], n_targets: int
) -> list[str]:
    """Say which words stand in several sets that are set against each other."""
    notes = []
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            shared = np.intersect1d(rows[i], rows[j])
            if shared.size:
                words = [embedding.words[row] for row in shared]
                effect = (
                    "they are as close to one as to the other"
                    if (i < n_targets) == (j < n_targets)
                    else "each is at distance 0 from itself"
                )
                notes.append(f"{labels[i]!r} and {labels[j]!r} share {quoted(words, 5)}: {effect}")
    return notes
