"""The words that debiasers learn from and work on, given as lists or by the name of a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Codes
from bayesbias._core.validation import word_list
from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.embeddings import Embedding, Matching
from bayesbias.errors import NotFoundError, SpecError, VocabularyError, warn
from bayesbias.wordlists import word_tuples
from bayesbias.wordlists.catalogue import resolve

#: Words, or the name of a built-in list such as ``bolukbasi:gender_specific``.
Words: TypeAlias = str | Iterable[str]
#: Words that belong together, or the name of such a list: ``bolukbasi:definitional_pairs``.
Tuples: TypeAlias = str | Iterable[Sequence[str]]

Mask: TypeAlias = npt.NDArray[np.bool_]


def as_words(name: str, words: Words) -> tuple[str, ...]:
    """Return a list of words, built in or given; one that is empty is refused."""
    given = tuple(resolve(words)) if isinstance(words, str) else word_list(name, words)
    if not given:
        raise SpecError(f"{name!r} is empty; give at least one word.")
    return tuple(dict.fromkeys(given))


def as_tuples(name: str, tuples: Tuples) -> tuple[tuple[str, ...], ...]:
    """Return a list of tuples of words, built in or given; each needs two words or more."""
    if isinstance(tuples, str):
        collection, _, key = tuples.partition(":")
        known = word_tuples(collection)
        if key not in known:
            raise NotFoundError(
                f"{name!r} is {tuples!r}, and {collection!r} has no such list; there are "
                f"{quoted(known)}.{did_you_mean(key, known)}"
            )
        return known[key]
    if not isinstance(tuples, Iterable):
        raise SpecError(f"{name!r} is {tuples!r}; expected a list of pairs: [('she', 'he'), …].")
    found = tuple(word_list(name, together) for together in tuples)
    if not found:
        raise SpecError(f"{name!r} is empty; give at least one pair: [('she', 'he')].")
    for together in found:
        if len(set(together)) < 2:
            raise SpecError(
                f"{name!r} holds {together!r}; expected two words or more that differ, such as "
                "('she', 'he')."
            )
    return found


def as_pairs(name: str, tuples: Tuples) -> tuple[tuple[str, ...], ...]:
    """Return pairs of words; anything longer is refused."""
    found = as_tuples(name, tuples)
    for together in found:
        if len(together) != 2:
            raise SpecError(f"{name!r} holds {together!r}; expected pairs, such as ('she', 'he').")
    return found


def tuple_rows(
    words: Sequence[str], embedding: Embedding, fallbacks: tuple[str, ...]
) -> Codes | None:
    """Return the rows of words that belong together; None if one is missing, or two are one row."""
    found = embedding.match(words, Matching(tuple(fallbacks)))
    if found.missing or len(set(found.rows.tolist())) < len(words):
        return None
    return found.rows


def find_tuples(
    name: str,
    tuples: Sequence[Sequence[str]],
    embedding: Embedding,
    fallbacks: Iterable[str],
) -> list[Codes]:
    """Return the rows of the tuples that the embedding has all words of; others are told."""
    ways = tuple(fallbacks)
    rows, incomplete = [], []
    for together in tuples:
        found = tuple_rows(together, embedding, ways)
        if found is None:
            incomplete.append(tuple(together))
        else:
            rows.append(found)
    if not rows:
        raise none_complete(name, incomplete, embedding)
    if incomplete:
        warn_incomplete(name, incomplete, len(tuples), embedding)
    return rows


def none_complete(
    name: str, tuples: Sequence[Sequence[str]], embedding: Embedding
) -> VocabularyError:
    """Return the error for tuples each of which has a word that the embedding lacks."""
    return VocabularyError(
        f"embedding {embedding.name!r} has all words of none of the {len(tuples)} {name} "
        f"({quoted(tuples, 4)}); give others, or other fallbacks."
    )


def warn_incomplete(
    name: str, incomplete: Sequence[Sequence[str]], number: int, embedding: Embedding
) -> None:
    """Name the tuples that are left out, as the embedding lacks a word of them."""
    warn(
        f"{embedding.name} lacks a word of {len(incomplete)} of {number} {name}, left out: "
        f"{quoted(incomplete, 4)}"
    )


def find_words(
    name: str,
    words: Sequence[str],
    embedding: Embedding,
    fallbacks: Iterable[str],
    *,
    published: bool,
    needed: bool = True,
) -> Codes:
    """Return the distinct rows of the words that the embedding has, and name those it lacks.

    Of a published list, whose words nobody has mistyped and few vocabularies have all of, none are
    named, unless it has not one of them: an error if words are needed, else a warning.
    """
    found = embedding.match(words, Matching(tuple(fallbacks)))
    if not found.found:
        if needed:
            raise VocabularyError(
                f"embedding {embedding.name!r} has no word of {name!r} ({quoted(words, 4)}); give "
                "others, or other fallbacks."
            )
        warn(f"{embedding.name} has no word of {name!r}: {quoted(words, 4)}")
    elif found.missing and not published:
        warn(
            f"{embedding.name} lacks {len(found.missing)} of {len(words)} words of {name!r}: "
            f"{quoted(found.missing, 4)}"
        )
    return np.unique(found.rows)
