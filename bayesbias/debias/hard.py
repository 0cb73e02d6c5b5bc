"""Hard debiasing, of two groups and of several: neutralise and equalise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.validation import at_least
from bayesbias._core.wording import counted
from bayesbias.debias.base import Debiaser, LearnsFrom, to_unit
from bayesbias.debias.debias_words import (
    GivenTuples,
    Mask,
    Tuples,
    as_pairs,
    as_tuples,
    find_tuples,
    none_complete,
    tuple_rows,
    warn_incomplete,
)
from bayesbias.embeddings import CASES, Embedding, Matching, unit_vectors
from bayesbias.errors import SpecError

# Cases of a pair that are equalised, each by itself, as far as they are in the vocabulary.
_LETTER_CASES = (str.lower, str.title, str.upper)
# Components that are removed unless a number is given: what WEFE and Manzini et al. compute.
_MOST_COMPONENTS = 10


class EqualizingDebiaser(Debiaser):
    """What methods that equalise pairs or sets of words have in common."""

    #: Pairs or sets to equalise; each method says what None stands for.
    equalize: Tuples | None

    def _set_equalized(self, definition: GivenTuples | None, embedding: Embedding) -> None:
        """Set the tuples to equalise, by default those of the definition; name incomplete ones.

        Not those of a published list, which few vocabularies have all of, nor those of the
        definition, which have been named already.
        """
        read = as_pairs if self.learns_from == "pairs" else as_tuples
        given = definition if self.equalize is None else read("equalize", self.equalize)
        self.equalize_ = () if given is None else given.tuples
        self.not_equalized_ = tuple(
            words for words in self.equalize_ if not self._rows_to_equalize(words, embedding)
        )
        if given is None or self.equalize is None or not self.not_equalized_:
            return
        if len(self.not_equalized_) == len(self.equalize_):
            raise none_complete(given, embedding)
        if not given.published:
            warn_incomplete(given, self.not_equalized_, embedding)

    def _all_rows_to_equalize(self, embedding: Embedding) -> list[Codes]:
        """Return the rows of all tuples; those that only this embedding lacks are named."""
        rows_of = {words: self._rows_to_equalize(words, embedding) for words in self.equalize_}
        expected = set(self.equalize_) - set(self.not_equalized_)
        lacking = [words for words, rows in rows_of.items() if not rows and words in expected]
        if lacking:
            warn_incomplete(
                GivenTuples("equalize", self.equalize_, published=False), lacking, embedding
            )
        return [rows for cases in rows_of.values() for rows in cases]

    def _rows_to_equalize(self, words: tuple[str, ...], embedding: Embedding) -> list[Codes]:
        """Return the rows of a tuple in each case that the vocabulary has it in."""
        return cased_rows(words, embedding, self._matching(embedding))


@dataclass(eq=False, repr=False)
class HardDebias(EqualizingDebiaser):
    """Hard debiasing for two groups (Bolukbasi et al. 2016).

    It learns from pairs of words that differ by group only. All words lose what lies along the
    direction of the pairs (they are neutralised), except those to ignore; then the words of each
    pair to equalise are moved so that they differ in nothing else (they are equalised). All vectors
    are scaled to length one.

    Parameters
    ----------
    n_components : int, default 1
        The dimensions of the space that is removed; the paper and WEFE remove one.
    equalize : list of pairs or str, optional
        Pairs to equalise, or the name of a list such as ``"bolukbasi:equalize_pairs"``; by default
        those of the definition.

    Attributes
    ----------
    directions_ : ndarray of shape (n_components, dim)
        The principal components of the pairs, each pair about its own centre.
    explained_variance_ratio_ : ndarray
        The share of the pairs' variance along each principal component.
    equalize_ : tuple of pairs of str
        The pairs that are equalised.
    not_equalized_ : tuple of pairs of str
        Those of them that are not, as the embedding that was learnt from lacks a word.

    Notes
    -----
    WEFE 1.0.1 gives the same vectors, to rounding, for words to ignore as in the paper. Without
    any it leaves the words of pairs at lengths other than one; here all have length one.

    References
    ----------
    Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), arXiv:1607.06520.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> debiaser = bb.debias.HardDebias(equalize=[("he", "she"), ("man", "woman")])
    >>> debiaser = debiaser.fit(emb, definition="bolukbasi:definitional_pairs")
    >>> after = debiaser.transform(emb, ignore="bolukbasi:gender_specific")
    >>> query = bb.load_query("weat_7")
    >>> [round(bb.metrics.WEATEffectSize().run_query(query, e).value, 2) for e in (emb, after)]
    [1.54, 0.3]
    """

    n_components: int = 1
    equalize: Tuples | None = None

    name: ClassVar[str] = "hard_debias"
    title: ClassVar[str] = "hard debiasing"
    reference: ClassVar[str] = "Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), arXiv:1607.06520."
    learns_from: ClassVar[LearnsFrom] = "pairs"
    default_definition: ClassVar[str | None] = "bolukbasi:definitional_pairs"

    def _learn(self, embedding: Embedding, definition: GivenTuples) -> None:
        at_least("n_components", self.n_components, 1)
        rows = find_tuples(definition, embedding, self._matching(embedding))
        self._set_equalized(definition, embedding)
        self.directions_, self.explained_variance_ratio_ = principal_components(
            embedding, rows, self.n_components
        )

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        return without(vectors, self.directions_)

    def _special(self, embedding: Embedding, chosen: Mask) -> dict[int, Array]:
        rows = self._all_rows_to_equalize(embedding)
        return equalised(self, embedding, chosen, rows, self.directions_)


@dataclass(eq=False, repr=False)
class MulticlassHardDebias(EqualizingDebiaser):
    """Hard debiasing for any number of groups (Manzini et al. 2019).

    As `HardDebias`, but it learns from sets of words such as *judaism, christianity, islam*, all of
    the same size, and removes a space of several dimensions. The words of these sets are not
    neutralised. All vectors are scaled to length one.

    Parameters
    ----------
    n_components : int, optional
        The dimensions of the space that is removed; not more than the sets span. By default as
        many as they span, at most 10, WEFE's number.
    equalize : list of tuples or str, optional
        Sets to equalise, or the name of a list; by default those of the definition.

    Attributes
    ----------
    directions_ : ndarray of shape (n_components, dim)
        The principal components of the sets, each set about its own centre.
    explained_variance_ratio_ : ndarray
        The share of the sets' variance along each of them.
    definition_, equalize_ : tuple of tuples of str
        The sets that are not neutralised, and those that are equalised.
    not_equalized_ : tuple of tuples of str
        Those of them that are not, as the embedding that was learnt from lacks a word.

    References
    ----------
    Manzini, Lim, Tsvetkov, Black (2019), doi:10.18653/v1/N19-1062.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> debiaser = bb.debias.MulticlassHardDebias(n_components=2).fit(
    ...     emb, definition="manzini:religion_definitional_sets"
    ... )
    >>> debiaser.transform(emb).name
    'demo_multiclass_hard_debias'
    """

    n_components: int | None = None
    equalize: Tuples | None = None

    name: ClassVar[str] = "multiclass_hard_debias"
    title: ClassVar[str] = "multiclass hard debiasing"
    reference: ClassVar[str] = "Manzini, Lim, Tsvetkov, Black (2019), doi:10.18653/v1/N19-1062."
    learns_from: ClassVar[LearnsFrom] = "sets"

    def _learn(self, embedding: Embedding, definition: GivenTuples) -> None:
        if len({len(together) for together in definition.tuples}) > 1:
            raise SpecError(
                f"{definition.label!r} holds sets of different lengths; expected one word of each "
                "group in every set."
            )
        if self.n_components is not None:
            at_least("n_components", self.n_components, 1)
        rows = find_tuples(definition, embedding, self._matching(embedding))
        self.definition_ = definition.tuples
        self._set_equalized(definition, embedding)
        self.directions_, self.explained_variance_ratio_ = principal_components(
            embedding, rows, self.n_components
        )

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        return without(vectors, self.directions_)

    def _exempt(self, embedding: Embedding) -> Codes:
        words = [word for together in self.definition_ for word in together]
        return embedding.match(words, self._matching(embedding)).rows

    def _special(self, embedding: Embedding, chosen: Mask) -> dict[int, Array]:
        rows = self._all_rows_to_equalize(embedding)
        return equalised(self, embedding, chosen, rows, self.directions_)

    def _rows_to_equalize(self, words: tuple[str, ...], embedding: Embedding) -> list[Codes]:
        """Return the rows of a set as the fallbacks find its words."""
        rows = tuple_rows(words, embedding, self._matching(embedding))
        return [] if rows is None else [rows]


def principal_components(
    embedding: Embedding, tuples: Sequence[Codes], number: int | None
) -> tuple[Array, Array]:
    """Return the principal components of tuples of words, each about its own centre.

    Without a number, as many as the tuples span, at most 10. Vectors have length one. The largest
    number of each component is positive, so that its sign does not depend on the machine.
    """
    centred = []
    for rows in tuples:
        vectors = unit_vectors(embedding, rows)
        centred.append(vectors - vectors.mean(axis=0))
    _, values, components = np.linalg.svd(np.vstack(centred), full_matrices=False)
    rank = int((values > values[0] * 1e-6).sum()) if values[0] > 0 else 0
    if not rank:
        raise SpecError(
            "the words of each pair or set have the same vector, so there is no direction in which "
            "they differ; give others."
        )
    if number is None:
        number = min(rank, _MOST_COMPONENTS)
    if rank < number:
        raise SpecError(
            f"'n_components' is {number}, and the pairs or sets that the embedding has, "
            f"{len(tuples)} of them, span {counted(rank, 'dimension')}; use n_components={rank}, "
            "or give more of them."
        )
    chosen = components[:number]
    largest = np.take_along_axis(chosen, np.abs(chosen).argmax(axis=1)[:, None], axis=1)
    return chosen * np.sign(largest), values**2 / (values**2).sum()


def without(vectors: npt.NDArray[Any], directions: Array) -> npt.NDArray[Any]:
    """Take from vectors what lies along orthonormal directions, in place."""
    from scipy.linalg.blas import get_blas_funcs

    basis = np.ascontiguousarray(directions, dtype=vectors.dtype)
    along = vectors @ basis.T
    # One product that subtracts as it goes: no array as large as the vectors in between.
    (gemm,) = get_blas_funcs(("gemm",), (vectors,))
    result = gemm(-1.0, basis.T, along.T, 1.0, vectors.T, overwrite_c=True).T
    return vectors if np.shares_memory(result, vectors) else result


def cased_rows(pair: Sequence[str], embedding: Embedding, matching: Matching) -> list[Codes]:
    """Return the rows of a pair in lower case, with capitals and in upper case, where they exist.

    If the vocabulary has the pair in none of these, the rows that the fallbacks find.
    """
    # Both words are to be in the same case, so fallbacks that change the case are not tried.
    names = dict.fromkeys("exact" if name in CASES else name for name in matching.fallbacks)
    same_case = matching.changed(fallbacks=tuple(names))
    tried = [
        tuple_rows([case(word) for word in pair], embedding, same_case) for case in _LETTER_CASES
    ]
    if not any(rows is not None for rows in tried):
        tried = [tuple_rows(pair, embedding, matching)]
    return [rows for rows in tried if rows is not None]


def equalised(
    debiaser: Debiaser,
    embedding: Embedding,
    chosen: Mask,
    tuples: Iterable[Codes],
    directions: Array,
) -> dict[int, Array]:
    """Return the vectors of tuples of rows that then differ along the directions only.

    A tuple gets one common part outside the space of the directions, and each word of it the part
    inside that points where it pointed before, as long as makes length one. Words of a method that
    does not scale vectors get the mean length of their tuple. Of a word in several tuples the last
    counts.
    """
    result: dict[int, Array] = {}
    for rows in dict.fromkeys(tuple(together.tolist()) for together in tuples):
        vectors = debiaser._changed(embedding, np.array(rows), chosen)
        for place, row in enumerate(rows):  # as an earlier tuple has left them
            if row in result:
                vectors[place] = result[row]
        length = 1.0 if debiaser.unit else float(np.linalg.norm(vectors, axis=1).mean())
        if not debiaser.unit:
            to_unit(vectors)
        mean = vectors.mean(axis=0)
        common = mean - (mean @ directions.T) @ directions
        # Words that have been neutralised point nowhere inside; what counts is where they pointed.
        before = unit_vectors(embedding, np.array(rows))
        inside = (before - before.mean(axis=0)) @ directions.T
        lengths = np.linalg.norm(inside, axis=1, keepdims=True)
        along = np.divide(inside, lengths, out=np.zeros_like(inside), where=lengths > 1e-9)
        height = np.sqrt(max(0.0, 1 - float(common @ common)))
        equal = common + height * along @ directions
        to_unit(equal)
        result.update(zip(rows, length * equal, strict=True))
    return result
