"""The vectors of a query's words, and which of the words an embedding lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.wording import kind_of, quoted
from bayesbias.embeddings import (
    Embedding,
    Matched,
    MatchedWords,
    Matching,
    as_matching,
    match,
    unit_rows,
)
from bayesbias.errors import SpecError
from bayesbias.wordlists import Query, Study, load_query


@dataclass(frozen=True, eq=False)
class WordVectors:
    """The words of one set of a query with their vectors, as a metric gets them.

    Parameters
    ----------
    name : str
        The name of the set.
    words : tuple of str
        Its words, those that the embedding has; the entries of the vocabulary if a word may have
        several (``strategy="all"``).
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
        chosen_rows = self.rows[places] if len(self.rows) else self.rows
        return replace(self, words=words, vectors=self.vectors[places], rows=chosen_rows)


@dataclass(frozen=True, eq=False)
class QueryVectors:
    """The words of a query that an embedding has, with their vectors."""

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

    @cached_property
    def owners(self) -> tuple[Codes, ...]:
        """For each set, which of its listed words each vector belongs to, counted from 0.

        The forms of a word are no independent words: a word is drawn, left out or reassigned with
        all of them.
        """
        return tuple(np.unique(places, return_inverse=True)[1] for places in self.places)


def as_query(query: Query | str) -> Query:
    """Return the query, or the one of that name."""
    if isinstance(query, str):
        return load_query(query)
    if not isinstance(query, Query):
        of_study = " Of a study: Query(study.groups, study.stereotypes)."
        raise SpecError(
            f"'query' is {kind_of(query)}; expected a Query or the name of one: 'weat_7'."
            f"{of_study if isinstance(query, Study) else ''}"
        )
    return query


def without_missing_targets(
    query: Query, embedding: Embedding, matching: Matching | None
) -> tuple[Query, tuple[str, ...]]:
    """Return a query of single target words without those that the embedding lacks, and these.

    The query stays as it is if a target set has several words, or if more of the words are missing
    than the threshold allows.
    """
    targets = [words for words in query.target_sets if len(words) == 1]
    if len(targets) < len(query.target_sets) or len(targets) < 2:
        return query, ()
    how = as_matching(matching, embedding)
    missing = embedding.match([words.words[0] for words in targets], how).missing
    left = [words for words in targets if words.words[0] not in missing]
    if not missing or len(left) < 2 or len(missing) > how.threshold * len(targets):
        return query, ()
    return Query(left, query.attribute_sets), missing


def gather(
    query: Query,
    embedding: Embedding,
    matching: Matching | None,
    *,
    normalize: bool = False,
    paired: bool = False,
    least: tuple[int, int] = (0, 0),
) -> QueryVectors:
    """Find the words of a query; a reason instead of a measurement where too many are missing.

    `least` is the number of words that each target set and each attribute set needs.
    """
    matched = match(embedding, query.word_sets(), matching)
    if paired and matched.matching.strategy == "all":
        raise SpecError(
            "a metric of pairs takes one entry for each word, and strategy='all' may find several; "
            "use strategy='first'."
        )
    problems = matched.problems()
    used = _complete_pairs(matched, problems) if paired else matched.sets
    used = {
        label: words if paired and i < 2 else words.distinct()
        for i, (label, words) in enumerate(used.items())
    }
    n_targets = len(query.target_sets)
    names = (*query.target_names, *query.attribute_names)
    sets = _with_vectors(embedding, names, list(used.values()))
    if matched.matching.strategy == "all":
        sets = [
            replace(words, words=found.entries)
            for words, found in zip(sets, used.values(), strict=True)
        ]
    if normalize:
        sets = [replace(words, vectors=words.unit) for words in sets]
    for i, (label, words) in enumerate(zip(used, sets, strict=True)):
        needed = least[i >= n_targets]
        if len(words) < needed and not problems:
            noun = "pairs" if paired and i < n_targets else "words"
            problems.append(f"{label!r} is left with {len(words)} of the {needed} {noun} needed")
    return QueryVectors(
        targets=tuple(sets[:n_targets]),
        attributes=tuple(sets[n_targets:]),
        places=tuple(words.places for words in used.values()),
        labels=tuple(used),
        lost=matched.missing,
        reason="; ".join(problems) or None,
        notes=tuple(_shared_words(replace(matched, sets=used), n_targets)),
    )


def _complete_pairs(matched: Matched, problems: list[str]) -> dict[str, MatchedWords]:
    """Keep the pairs of which both words were found; a problem if these are too few."""
    sets = dict(matched.sets)
    (first_label, first), (second_label, second) = list(sets.items())[:2]
    sets[first_label] = first.take(np.flatnonzero(np.isin(first.places, second.places)))
    sets[second_label] = second.take(np.flatnonzero(np.isin(second.places, first.places)))
    listed, complete = len(first.words), len(sets[first_label])
    threshold = matched.matching.threshold
    if not problems and listed - complete > threshold * listed:
        problems.append(
            f"embedding {matched.embedding!r} has both words of only {complete} of {listed} "
            f"pairs, fewer than threshold={threshold:g} allows"
        )
    return sets


def _with_vectors(
    embedding: Embedding, names: Sequence[str], sets: Sequence[MatchedWords]
) -> list[WordVectors]:
    """Read all vectors at once, and give each set those of its words."""
    rows = np.concatenate([words.rows for words in sets])
    ends = np.cumsum([len(words) for words in sets])[:-1]
    vectors = np.split(np.asarray(embedding.vectors[rows], dtype=np.float64), ends)
    return [
        WordVectors(name, words.found, part, embedding.name, words.rows)
        for name, words, part in zip(names, sets, vectors, strict=True)
    ]


def _shared_words(matched: Matched, n_targets: int) -> list[str]:
    """Return notes on the words that stand in several sets that are compared."""
    side = {label: i < n_targets for i, label in enumerate(matched.sets)}
    return [
        f"{overlap.first!r} and {overlap.second!r} share {quoted(overlap.entries, 5)}: "
        + (
            "they are as close to one as to the other"
            if side[overlap.first] == side[overlap.second]
            else "each is at distance 0 from itself"
        )
        for overlap in matched.overlaps()
    ]
