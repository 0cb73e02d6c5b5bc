"""The vectors of a query's words, and which of the words an embedding lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.validation import one_of, share
from bayesbias._core.wording import quoted
from bayesbias.embeddings import Embedding, MatchedWords, Matching, unit_rows
from bayesbias.embeddings.matching import check_fallbacks, match_words
from bayesbias.errors import SpecError
from bayesbias.wordlists import Query, WordSet

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
    rows : ndarray of int, optional
        The rows of the words in the embedding; empty for words that are from none.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesbias as bb
    >>> vectors = np.array([[3.0, 4.0], [0.0, 2.0]])
    >>> words = bb.metrics.WordVectors("jobs", ("nurse", "clerk"), vectors)
    >>> words.unit
    array([[0.6, 0.8],
           [0. , 1. ]])
    """

    name: str
    words: tuple[str, ...]
    vectors: Array
    embedding: str = "embedding"
    rows: Codes = field(default_factory=lambda: np.empty(0, dtype=np.intp))

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
        known = self.rows[places] if len(self.rows) else self.rows
        return replace(self, words=words, vectors=self.vectors[places], rows=known)


@dataclass(frozen=True, eq=False)
class Gathered:
    """What an embedding knows of a query."""

    targets: tuple[WordVectors, ...]
    attributes: tuple[WordVectors, ...]
    #: For each set, the place in the query's list of each word used.
    places: tuple[Codes, ...]
    #: For each set, a label that says which side it is on.
    labels: tuple[str, ...]
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
    how = Matching(ways, threshold, one_of("strategy", strategy, ("first", "all")))  # type: ignore[arg-type]
    if how.strategy == "all" and paired:
        raise SpecError("a metric of pairs takes one spelling of each word; use strategy='first'.")
    labels = tuple(query.word_sets())
    lists = [*query.target_sets, *query.attribute_sets]
    n_targets = len(query.target_sets)
    found: list[_Found] = []
    lost = {}
    for label, words in zip(labels, lists, strict=True):
        result = match_words(embedding.index, words.words, how)
        found.append(_places(words, result))
        if result.missing:
            lost[label] = result.missing
    reasons = _too_many_lost(lists, labels, lost, threshold, embedding.name) if lost else []
    if paired:
        pairs, listed = _complete_pairs(found[:2]), len(lists[0])
        complete = len(pairs[0][0])
        if not reasons and listed - complete > threshold * listed:
            reasons.append(
                f"embedding {embedding.name!r} has both words of only {complete} of {listed} "
                f"pairs, fewer than lost_vocabulary_threshold={threshold:g} allows"
            )
    else:
        pairs = [_distinct(f) for f in found[:2]]
    found = [*pairs, *map(_distinct, found[2:])]
    sets = _take(embedding, lists, found)
    if normalize:
        sets = [replace(chosen, vectors=chosen.unit) for chosen in sets]
    for i, (label, chosen) in enumerate(zip(labels, sets, strict=True)):
        needed = least[0] if i < n_targets else least[1]
        if len(chosen) < needed and not reasons:
            what = "pairs" if paired and i < n_targets else "words"
            reasons.append(f"{label!r} is left with {len(chosen)} of the {needed} {what} needed")
    return Gathered(
        targets=tuple(sets[:n_targets]),
        attributes=tuple(sets[n_targets:]),
        places=tuple(np.array(places, dtype=np.intp) for places, _ in found),
        labels=labels,
        lost=lost,
        reason="; ".join(reasons) or None,
        notes=tuple(_overlaps(embedding, labels, [rows for _, rows in found], n_targets)),
    )


# Places of words in a list, and their rows in the vocabulary.
_Found = tuple[list[int], list[int]]


def _places(words: WordSet, result: MatchedWords) -> _Found:
    rows = result.rows.tolist()
    if result.found == words.words:
        return list(range(len(rows))), rows
    place = {word: i for i, word in enumerate(words.words)}
    return [place[word] for word in result.found], rows


def _distinct(found: _Found) -> _Found:
    """Use a vector once that several words of a list have in common."""
    places, rows = found
    if len(set(rows)) == len(rows):
        return found
    first = {row: place for place, row in zip(places[::-1], rows[::-1], strict=True)}
    kept = sorted((place, row) for row, place in first.items())
    return [place for place, _ in kept], [row for _, row in kept]


def _complete_pairs(found: Sequence[_Found]) -> list[_Found]:
    """Keep the pairs of which both words were found."""
    both = set(found[0][0]) & set(found[1][0])
    kept = []
    for places, rows in found:
        pairs = [(p, row) for p, row in zip(places, rows, strict=True) if p in both]
        kept.append(([p for p, _ in pairs], [row for _, row in pairs]))
    return kept


def _take(
    embedding: Embedding, lists: Sequence[WordSet], found: Sequence[_Found]
) -> list[WordVectors]:
    """Read all vectors at once, and give each set its own."""
    rows = np.array([row for _, some in found for row in some], dtype=np.intp)
    vectors = np.asarray(embedding.vectors[rows], dtype=np.float64)
    sets, start = [], 0
    for words, (places, some) in zip(lists, found, strict=True):
        part = slice(start, start + len(some))
        start = part.stop
        listed = words.words
        used = listed if len(places) == len(listed) else tuple(listed[i] for i in places)
        sets.append(WordVectors(words.name, used, vectors[part], embedding.name, rows[part]))
    return sets


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
    embedding: Embedding, labels: Sequence[str], rows: Sequence[list[int]], n_targets: int
) -> list[str]:
    """Say which words stand in several sets that are set against each other."""
    notes = []
    for (i, first), (j, second) in combinations(enumerate(map(set, rows)), 2):
        shared = sorted(first & second)
        if shared:
            words = [embedding.words[row] for row in shared]
            effect = (
                "they are as close to one as to the other"
                if (i < n_targets) == (j < n_targets)
                else "each is at distance 0 from itself"
            )
            notes.append(f"{labels[i]!r} and {labels[j]!r} share {quoted(words, 5)}: {effect}")
    return notes
