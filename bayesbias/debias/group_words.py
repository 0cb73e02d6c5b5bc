"""The words of groups that a classifier could tell apart, for methods that prevent it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.validation import at_least
from bayesbias._core.wording import quoted
from bayesbias.debias.debias_words import Tuples, Words, as_pairs, as_words, find_tuples
from bayesbias.debias.hard import principal_components
from bayesbias.embeddings import Embedding, Matching
from bayesbias.errors import SpecError, VocabularyError, warn

#: The words of each group, or the names of built-in lists.
Groups: TypeAlias = Sequence[Words] | Mapping[str, Words]

_DEFAULT_PAIRS = "bolukbasi:definitional_pairs"
# The words that lean most are looked for among so many first ones, as in the paper on INLP: in
# most files these are the most frequent words.
_VOCABULARY = 150_000
# Fewer words than this are no group.
_LEAST = 3


def find_groups(
    embedding: Embedding,
    groups: Groups | None,
    definitional_pairs: Tuples | None,
    n_words: int,
    fallbacks: Iterable[str],
) -> list[Codes]:
    """Return the rows of each group: those given, or of the words that lean most to either side."""
    if groups is not None:
        if definitional_pairs is not None:
            raise SpecError(
                "both 'groups' and 'definitional_pairs' are given; give the words of the groups, "
                "or pairs to find them by."
            )
        return _given(embedding, groups, tuple(fallbacks))
    at_least("n_words", n_words, _LEAST)
    pairs = as_pairs("definitional_pairs", definitional_pairs or _DEFAULT_PAIRS)
    rows = find_tuples("definitional_pairs", pairs, embedding, fallbacks)
    return _leaning(embedding, rows, n_words)


def labels(groups: Sequence[Codes]) -> Codes:
    """Return the number of its group for each word of all groups."""
    return np.repeat(np.arange(len(groups)), [len(rows) for rows in groups])


def words_of(embedding: Embedding, groups: Sequence[Codes]) -> tuple[tuple[str, ...], ...]:
    """Return the words of each group."""
    return tuple(tuple(embedding.words[row] for row in rows) for rows in groups)


def _given(embedding: Embedding, groups: Groups, fallbacks: tuple[str, ...]) -> list[Codes]:
    if isinstance(groups, str) or not isinstance(groups, (Sequence, Mapping)) or len(groups) < 2:
        raise SpecError(
            f"'groups' is {groups!r}; expected two lists of words or more: "
            "[['he', 'him', …], ['she', 'her', …]]."
        )
    found = []
    for key, group in groups.items() if isinstance(groups, Mapping) else enumerate(groups):
        name = f"groups[{key!r}]"
        words = as_words(name, group)
        there = embedding.match(words, Matching(fallbacks))
        rows = np.unique(there.rows)
        if len(rows) < _LEAST:
            raise VocabularyError(
                f"embedding {embedding.name!r} has {len(rows)} of the {len(words)} words of "
                f"{name!r}, and {_LEAST} are needed; give others, or other fallbacks."
            )
        if there.missing:
            warn(
                f"{embedding.name} lacks {len(there.missing)} of {len(words)} words of {name}: "
                f"{quoted(there.missing, 4)}"
            )
        found.append(rows)
    distinct, numbers = np.unique(np.concatenate(found), return_counts=True)
    if (numbers > 1).any():
        shared = [embedding.words[row] for row in distinct[numbers > 1]]
        raise SpecError(f"{quoted(shared, 4)} in more than one of 'groups'; a word has one group.")
    return found


def _leaning(embedding: Embedding, pairs: Sequence[Codes], n_words: int) -> list[Codes]:
    """Return the words that lean most to the first and to the second words of the pairs."""
    axis = principal_components(embedding, pairs, 1)[0][0]
    first, second = (embedding.vectors[[rows[i] for rows in pairs]] @ axis for i in (0, 1))
    leaning = _cosines(embedding, axis * np.sign((first - second).sum()))
    candidates = np.flatnonzero(~np.isnan(leaning))
    number = min(n_words, len(candidates) // 4)
    if number < _LEAST:
        raise SpecError(
            f"embedding {embedding.name!r} has {len(candidates)} words, too few to look for those "
            f"that lean most; {4 * _LEAST} are needed. Give the words as 'groups'."
        )
    order = candidates[np.argsort(-leaning[candidates], kind="stable")]
    return [np.sort(order[:number]), np.sort(order[-number:])]


def _cosines(embedding: Embedding, axis: Array) -> Array:
    """Return the cosine of the first words with an axis; NaN for those without a direction."""
    vectors = embedding.vectors[:_VOCABULARY]
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    norms[norms == 0] = np.nan
    result: Array = vectors @ axis.astype(np.float32) / norms
    return result
