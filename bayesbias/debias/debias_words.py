"""The words that debiasers learn from and change, given as lists or by the name of a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Codes
from bayesbias._core.validation import word_list
from bayesbias._core.wording import did_you_mean, quoted, same_name
from bayesbias.embeddings import Embedding, Matching
from bayesbias.errors import NotFoundError, SpecError, VocabularyError, warn
from bayesbias.wordlists import resolve, word_tuples

#: Words, or the name of a built-in list such as ``bolukbasi:gender_specific``.
Words: TypeAlias = str | Iterable[str]
#: Words that belong together, or the name of such a list: ``bolukbasi:definitional_pairs``.
Tuples: TypeAlias = str | Iterable[Sequence[str]]
#: The words of each group, or the names of built-in lists.
Groups: TypeAlias = Sequence[Words] | Mapping[str, Words]

Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class GivenWords:
    """A list of words, what messages call it, and whether it is a published one.

    Nobody has mistyped a published list, and few vocabularies have all of it, so the words that
    are missing are named for other lists only.
    """

    label: str
    words: tuple[str, ...]
    published: bool


@dataclass(frozen=True, slots=True)
class GivenTuples:
    """A list of pairs or sets of words, what messages call it, and whether it is published."""

    label: str
    tuples: tuple[tuple[str, ...], ...]
    published: bool


def as_words(label: str, words: Words) -> GivenWords:
    """Return a list of words, built in or given; one that is empty is refused."""
    published = isinstance(words, str)
    given = tuple(resolve(words)) if isinstance(words, str) else word_list(label, words)
    if not given:
        raise SpecError(f"{label!r} is empty; give at least one word.")
    return GivenWords(label, tuple(dict.fromkeys(given)), published)


def as_tuples(label: str, tuples: Tuples) -> GivenTuples:
    """Return a list of tuples of words, built in or given; each needs two words or more."""
    if isinstance(tuples, str):
        return GivenTuples(label, _published_tuples(label, tuples), published=True)
    if not isinstance(tuples, Iterable):
        raise SpecError(f"{label!r} is {tuples!r}; expected a list of pairs: [('she', 'he'), …].")
    given = tuple(word_list(label, together) for together in tuples)
    if not given:
        raise SpecError(f"{label!r} is empty; give at least one pair: [('she', 'he')].")
    for together in given:
        if len(set(together)) < 2:
            raise SpecError(
                f"{label!r} holds {together!r}; expected two words or more that differ, such as "
                "('she', 'he')."
            )
    return GivenTuples(label, given, published=False)


def _published_tuples(label: str, name: str) -> tuple[tuple[str, ...], ...]:
    collection, _, key = name.partition(":")
    lists = word_tuples(collection)
    same = same_name(key, lists)
    if same is None:
        raise NotFoundError(
            f"{label!r} is {name!r}, and {collection!r} has no such list; there are "
            f"{quoted(lists)}.{did_you_mean(key, lists)}"
        )
    return lists[same]


def as_pairs(label: str, tuples: Tuples) -> GivenTuples:
    """Return pairs of words; anything longer is refused."""
    given = as_tuples(label, tuples)
    for together in given.tuples:
        if len(together) != 2:
            raise SpecError(f"{label!r} holds {together!r}; expected pairs, such as ('she', 'he').")
    return given


def as_groups(label: str, groups: Groups) -> list[GivenWords]:
    """Return the words of two groups or more."""
    if isinstance(groups, str) or not isinstance(groups, (Sequence, Mapping)) or len(groups) < 2:
        raise SpecError(
            f"{label!r} is {groups!r}; expected two lists of words or more: "
            "[['he', 'him', …], ['she', 'her', …]]."
        )
    items = groups.items() if isinstance(groups, Mapping) else enumerate(groups)
    return [as_words(f"{label}[{key!r}]", words) for key, words in items]


def tuple_rows(words: Sequence[str], embedding: Embedding, matching: Matching) -> Codes | None:
    """Return the rows of words that belong together; None if one is missing, or two are one row."""
    matched = embedding.match(words, matching.changed(strategy="first"))
    if matched.missing or len(matched.distinct()) < len(words):
        return None
    return matched.rows


def find_tuples(given: GivenTuples, embedding: Embedding, matching: Matching) -> list[Codes]:
    """Return the rows of the tuples that the embedding has all words of; others are named."""
    rows, incomplete = [], []
    for together in given.tuples:
        complete = tuple_rows(together, embedding, matching)
        if complete is None:
            incomplete.append(together)
        else:
            rows.append(complete)
    if not rows:
        raise none_complete(given, embedding)
    if incomplete:
        warn_incomplete(given, incomplete, embedding)
    return rows


def none_complete(given: GivenTuples, embedding: Embedding) -> VocabularyError:
    """Return the error for tuples each of which has a word that the embedding lacks."""
    return VocabularyError(
        f"embedding {embedding.name!r} lacks a word of each of the {len(given.tuples)} pairs or "
        f"sets of {given.label!r} ({quoted(given.tuples, 4)}); give others, or other fallbacks: "
        "matching=Matching(fallbacks=…)."
    )


def warn_incomplete(
    given: GivenTuples, incomplete: Sequence[Sequence[str]], embedding: Embedding
) -> None:
    """Name the tuples that are left out, as the embedding lacks a word of them."""
    warn(
        f"{embedding.name} lacks a word of {len(incomplete)} of {len(given.tuples)} pairs or sets "
        f"of {given.label!r}, left out: {quoted(incomplete, 4)}"
    )


def find_words(
    given: GivenWords, embedding: Embedding, matching: Matching, *, needed: bool = True
) -> Codes:
    """Return the distinct rows of the words that the embedding has, and name those it lacks.

    A list with none of its words in the vocabulary is an error if words are needed, else a warning.
    """
    matched = embedding.match(given.words, matching)
    if not len(matched):
        if needed:
            raise VocabularyError(
                f"embedding {embedding.name!r} has no word of {given.label!r} "
                f"({quoted(given.words, 4)}); give others, or other fallbacks."
            )
        warn(f"{embedding.name} has no word of {given.label!r}: {quoted(given.words, 4)}")
    elif matched.missing and not given.published:
        warn(
            f"{embedding.name} lacks {len(matched.missing)} of {len(given.words)} words of "
            f"{given.label!r}: {quoted(matched.missing, 4)}"
        )
    return np.unique(matched.rows)
