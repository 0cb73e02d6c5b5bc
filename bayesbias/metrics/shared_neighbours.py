"""Words with their neighbours in an embedding, as these stood in the original of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.wording import kind_of, quoted
from bayesbias.embeddings import Embedding, nearest
from bayesbias.errors import SpecError, VocabularyError
from bayesbias.metrics.query_vectors import WordVectors

#: Why permutations of the groups are no test of what is left of a bias.
UNTESTED = "randomly reassigned groups differ in directions that no debiasing has removed"


@dataclass(frozen=True, eq=False)
class Surrounded(WordVectors):
    """Words with their k nearest neighbours; the vectors of both are those of the original."""

    #: All neighbours of the words.
    crowd: WordVectors = field(kw_only=True)
    #: For each word, the places of its neighbours in the crowd.
    near: Codes = field(kw_only=True)
    #: Whether the original has the neighbour.
    is_shared: npt.NDArray[np.bool_] = field(kw_only=True)

    def take(self, rows: Sequence[int] | Codes) -> Surrounded:
        """Return these words only, with their neighbours."""
        places = np.asarray(rows, dtype=np.intp)
        words = super().take(places)
        assert isinstance(words, Surrounded)
        return replace(words, near=self.near[places], is_shared=self.is_shared[places])

    def share(self, marked: npt.NDArray[np.bool_]) -> Array:
        """Return the share of marked neighbours, for marks of draws × words × neighbours."""
        with np.errstate(invalid="ignore"):  # a word none of whose neighbours is known
            result: Array = (marked & self.is_shared).sum(axis=2) / self.is_shared.sum(axis=1)
        return result


def surroundings(words: WordVectors) -> Surrounded:
    """Return the words with their neighbours, if they have been given them."""
    if not isinstance(words, Surrounded):
        raise SpecError(
            f"the words of {words.name!r} come without their neighbours; call run_query(), "
            "posterior() or influence()."
        )
    return words


def check_original(original: Embedding | None) -> None:
    """Refuse what is no embedding."""
    if original is not None and not isinstance(original, Embedding):
        raise SpecError(
            f"'original' is {kind_of(original)}; expected the Embedding before it was "
            "debiased, or None."
        )


def in_original(words: WordVectors, embedding: Embedding, original: Embedding) -> WordVectors:
    """Return words of an embedding with their vectors in the original, of length one."""
    spelling = [embedding.words[row] for row in words.rows]
    missing = [word for word in spelling if word not in original]
    if missing:
        raise VocabularyError(
            f"the original embedding {original.name!r} lacks {quoted(missing)} of {words.name!r}; "
            "leave these words out of the query."
        )
    rows = [original.index[word] for word in spelling]
    vectors = np.asarray(original.vectors[rows], dtype=np.float64)
    moved = replace(words, vectors=vectors, embedding=original.name)
    return replace(moved, vectors=moved.unit)


def surround(
    words: WordVectors, embedding: Embedding, original: Embedding, k: int, exclude: Codes
) -> Surrounded:
    """Find the k nearest neighbours of the words in an embedding, and their original vectors.

    Neither a word itself nor the rows in `exclude` are neighbours of it.
    """
    unwanted = [np.append(exclude, row) for row in words.rows]
    rows, _ = nearest(embedding, words.unit, k, exclude=unwanted)
    crowd_rows, near = np.unique(rows, return_inverse=True)
    near = near.reshape(rows.shape)
    spelling = [embedding.words[row] for row in crowd_rows]
    places = np.array([original.index.get(word, -1) for word in spelling], dtype=np.intp)
    vectors = np.asarray(original.vectors[places], dtype=np.float64)
    in_both = (places >= 0) & vectors.any(axis=1)
    if not in_both.any():
        raise VocabularyError(
            f"the original embedding {original.name!r} has no neighbour that the words of "
            f"{words.name!r} have in {embedding.name!r}; give the embedding before debiasing."
        )
    crowd = WordVectors(
        "neighbours",
        tuple(word for word, is_shared in zip(spelling, in_both, strict=True) if is_shared),
        vectors[in_both],
        original.name,
        crowd_rows[in_both],
    )
    moved = in_original(words, embedding, original)
    return Surrounded(
        moved.name,
        moved.words,
        moved.vectors,
        moved.embedding,
        moved.rows,
        crowd=crowd,
        near=(np.cumsum(in_both) - 1)[near],
        is_shared=in_both[near],
    )
