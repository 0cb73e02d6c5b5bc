"""Methods that learn from the words of groups, so that no classifier can distinguish them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.validation import at_least
from bayesbias._core.wording import quoted
from bayesbias.debias.base import Debiaser, LearnsFrom
from bayesbias.debias.debias_words import GivenWords, Tuples, as_pairs, find_tuples
from bayesbias.debias.hard import principal_components
from bayesbias.embeddings import Embedding, Matching, match
from bayesbias.errors import SpecError, VocabularyError, warn

# The words that lean most are looked for among this number of first words, as in the paper on INLP:
# in most files these are the most frequent words.
_VOCABULARY = 150_000
# The fewest words of a group.
_LEAST = 3


class GroupDebiaser(Debiaser):
    """What methods that learn from the words of groups have in common."""

    #: Without a definition: how many words of each side are learnt from.
    n_words: int
    #: Without a definition: the pairs along whose direction these words lean most.
    pairs: Tuples | None

    learns_from: ClassVar[LearnsFrom] = "groups"
    default_pairs: ClassVar[str] = "bolukbasi:definitional_pairs"

    def _read(self, definition: object) -> Any:
        if definition is None:
            return None
        if self.pairs is not None:
            raise SpecError(
                "both 'definition' and the parameter 'pairs' are given; give the words of the "
                "groups, or pairs to find them by."
            )
        return super()._read(definition)

    def _group_rows(
        self, embedding: Embedding, definition: Sequence[GivenWords] | None
    ) -> list[Codes]:
        """Return the rows of each group: as defined, or of the words that lean to either side."""
        matching = self._matching(embedding)
        if definition is not None:
            return _defined(embedding, definition, matching)
        at_least("n_words", self.n_words, _LEAST)
        pairs = as_pairs("pairs", self.default_pairs if self.pairs is None else self.pairs)
        return _leaning(embedding, find_tuples(pairs, embedding, matching), self.n_words)


def labels(groups: Sequence[Codes]) -> Codes:
    """Return the number of its group for each word of all groups."""
    return np.repeat(np.arange(len(groups)), [len(rows) for rows in groups])


def words_of(embedding: Embedding, groups: Sequence[Codes]) -> tuple[tuple[str, ...], ...]:
    """Return the words of each group."""
    return tuple(tuple(embedding.words[row] for row in rows) for rows in groups)


def _defined(embedding: Embedding, groups: Sequence[GivenWords], matching: Matching) -> list[Codes]:
    """Return the rows of groups; each word may be in one of them only."""
    matched = match(embedding, {group.label: group.words for group in groups}, matching)
    for label, words in matched.sets.items():
        number = len(words.distinct())
        if number < _LEAST:
            raise VocabularyError(
                f"embedding {embedding.name!r} has {number} of the {len(words.words)} words of "
                f"{label!r}, and {_LEAST} are needed; give others, or other fallbacks."
            )
        if words.missing:
            warn(
                f"{embedding.name} lacks {len(words.missing)} of {len(words.words)} words of "
                f"{label}: {quoted(words.missing, 4)}"
            )
    shared = dict.fromkeys(entry for overlap in matched.overlaps() for entry in overlap.entries)
    if shared:
        raise SpecError(
            f"{quoted(shared, 4)} in more than one group of 'definition'; a word has one group."
        )
    return [np.unique(words.rows) for words in matched.sets.values()]


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
            f"that lean most; {4 * _LEAST} are needed. Give the words of each group: definition=…."
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
