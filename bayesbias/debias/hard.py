"""Hard debiasing, of two groups and of several: neutralise and equalise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.constants import DEFAULT_FALLBACKS
from bayesbias._core.validation import at_least
from bayesbias.debias.base import Debiaser, to_unit
from bayesbias.debias.debias_words import (
    Mask,
    Tuples,
    as_pairs,
    as_tuples,
    find_tuples,
    none_complete,
    tuple_rows,
    warn_incomplete,
)
from bayesbias.embeddings import Embedding, Matching, unit_vectors
from bayesbias.embeddings.matching import CASES
from bayesbias.errors import SpecError

# Spellings of a pair that are equalised, each by itself, as far as they are in the vocabulary.
_SPELLINGS = (str.lower, str.title, str.upper)


class EqualizingDebiaser(Debiaser):
    """What methods that equalise pairs or sets of words have in common."""

    #: What `fit` calls them.
    equalizes: ClassVar[str] = "equalize_pairs"

    def _check_equalized(
        self, tuples: tuple[tuple[str, ...], ...], given: Tuples | None, embedding: Embedding
    ) -> None:
        """Name the tuples that the embedding lacks a word of, once `fit` knows the fallbacks.

        Not those of a published list, which few vocabularies have all of, nor those of the
        definitional pairs or sets, which have been named already.
        """
        self.not_equalized_ = tuple(
            words for words in tuples if not self._rows_to_equalize(words, embedding)
        )
        if given is not None and len(self.not_equalized_) == len(tuples):
            raise none_complete(self.equalizes, tuples, embedding)
        if self.not_equalized_ and given is not None and not isinstance(given, str):
            warn_incomplete(self.equalizes, self.not_equalized_, len(tuples), embedding)

    def _all_rows_to_equalize(
        self, tuples: tuple[tuple[str, ...], ...], embedding: Embedding
    ) -> list[Codes]:
        """Return the rows of all tuples; those that only this embedding lacks are named."""
        found = {words: self._rows_to_equalize(words, embedding) for words in tuples}
        known = set(self.not_equalized_)
        lacking = [words for words, rows in found.items() if not rows and words not in known]
        if lacking:
            warn_incomplete(self.equalizes, lacking, len(tuples), embedding)
        return [one for rows in found.values() for one in rows]

    def _rows_to_equalize(self, words: tuple[str, ...], embedding: Embedding) -> list[Codes]:
        """Return the rows of a tuple in each case that the vocabulary has it in."""
        return cased_rows(words, embedding, self.fallbacks_)


@dataclass(eq=False)
class HardDebias(EqualizingDebiaser):
    """Hard debiasing for two groups (Bolukbasi et al. 2016).

    All words lose what lies along the direction of the definitional pairs (they are neutralised),
    except those to ignore; then the words of each equalize pair are moved so that they differ in
    nothing else (they are equalised). All vectors are scaled to length one.

    Parameters
    ----------
    n_components : int, default 1
        The dimensions of the space that is removed; the paper and WEFE remove one.

    Attributes
    ----------
    directions_ : ndarray of shape (n_components, dim)
        The principal components of the pairs, each pair about its own centre.
    explained_variance_ratio_ : ndarray
        The share of the pairs' variance along each principal component.
    equalize_pairs_ : tuple of pairs of str
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
    >>> debiaser = bb.debias.HardDebias().fit(
    ...     emb,
    ...     definitional_pairs="bolukbasi:definitional_pairs",
    ...     equalize_pairs=[("he", "she"), ("man", "woman")],
    ... )
    >>> after = debiaser.transform(emb, ignore="bolukbasi:gender_specific")
    >>> query = bb.load_query("weat_7")
    >>> [round(bb.metrics.WEATEffectSize().run_query(query, e).value, 2) for e in (emb, after)]
    [1.54, 0.3]
    """

    n_components: int = 1

    name: ClassVar[str] = "hard_debias"
    reference: ClassVar[str | None] = (
        "Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), arXiv:1607.06520."
    )

    def fit(
        self,
        embedding: Embedding,
        *,
        definitional_pairs: Tuples = "bolukbasi:definitional_pairs",
        equalize_pairs: Tuples | None = None,
        fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
    ) -> Self:
        """Learn the direction of the pairs.

        Parameters
        ----------
        embedding : Embedding
            What to learn from.
        definitional_pairs : list of pairs or str
            Words that differ by group only, such as ``("she", "he")``, or the name of a list.
        equalize_pairs : list of pairs or str, optional
            Pairs to equalise; by default the definitional ones.
        fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
            How words are found, as in `Matching`; `transform` uses them too.

        Returns
        -------
        HardDebias
            The debiaser itself.
        """
        pairs = as_pairs("definitional_pairs", definitional_pairs)
        equalize = pairs if equalize_pairs is None else as_pairs("equalize_pairs", equalize_pairs)
        at_least("n_components", self.n_components, 1)
        self._fit_begins(embedding, fallbacks)
        rows = find_tuples("definitional_pairs", pairs, embedding, self.fallbacks_)
        self.equalize_pairs_ = equalize
        self._check_equalized(equalize, equalize_pairs, embedding)
        self.directions_, self.explained_variance_ratio_ = principal_components(
            embedding, rows, self.n_components
        )
        return self._fitted_on(embedding)

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        return without(vectors, self.directions_)

    def _special(self, embedding: Embedding, chosen: Mask) -> dict[int, Array]:
        rows = self._all_rows_to_equalize(self.equalize_pairs_, embedding)
        return equalised(self, embedding, chosen, rows, self.directions_)


@dataclass(eq=False)
class MulticlassHardDebias(EqualizingDebiaser):
    """Hard debiasing for any number of groups (Manzini et al. 2019).

    As `HardDebias`, with sets of words such as *judaism, christianity, islam* in the place of
    pairs, and a space of several dimensions removed. The words of the definitional sets are not
    neutralised. All vectors are scaled to length one.

    Parameters
    ----------
    n_components : int, default 10
        The dimensions of the space that is removed; at most as many as the sets span.

    Attributes
    ----------
    directions_ : ndarray of shape (n_components, dim)
        The principal components of the sets, each set about its own centre.
    explained_variance_ratio_ : ndarray
        The share of the sets' variance along each of them.
    definitional_sets_, equalize_sets_ : tuple of tuples of str
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
    ...     emb, definitional_sets="manzini:religion_definitional_sets"
    ... )
    >>> debiaser.transform(emb).name
    'demo_multiclass_hard_debias'
    """

    n_components: int = 10

    name: ClassVar[str] = "multiclass_hard_debias"
    reference: ClassVar[str | None] = (
        "Manzini, Lim, Tsvetkov, Black (2019), doi:10.18653/v1/N19-1062."
    )
    equalizes: ClassVar[str] = "equalize_sets"

    def fit(
        self,
        embedding: Embedding,
        *,
        definitional_sets: Tuples,
        equalize_sets: Tuples | None = None,
        fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
    ) -> Self:
        """Learn the space of the sets.

        Parameters
        ----------
        embedding : Embedding
            What to learn from.
        definitional_sets : list of tuples or str
            Words that differ by group only, or the name of a list such as
            ``"manzini:religion_definitional_sets"``; all of one length.
        equalize_sets : list of tuples or str, optional
            Sets to equalise; by default the definitional ones.
        fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
            How words are found, as in `Matching`; `transform` uses them too.

        Returns
        -------
        MulticlassHardDebias
            The debiaser itself.
        """
        sets = as_tuples("definitional_sets", definitional_sets)
        if len({len(together) for together in sets}) > 1:
            raise SpecError(
                "'definitional_sets' holds sets of different lengths; expected one word of each "
                "group in every set."
            )
        equalize = sets if equalize_sets is None else as_tuples("equalize_sets", equalize_sets)
        at_least("n_components", self.n_components, 1)
        self._fit_begins(embedding, fallbacks)
        rows = find_tuples("definitional_sets", sets, embedding, self.fallbacks_)
        self.definitional_sets_, self.equalize_sets_ = sets, equalize
        self._check_equalized(equalize, equalize_sets, embedding)
        self.directions_, self.explained_variance_ratio_ = principal_components(
            embedding, rows, self.n_components
        )
        return self._fitted_on(embedding)

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        return without(vectors, self.directions_)

    def _exempt(self, embedding: Embedding) -> Codes:
        words = [word for together in self.definitional_sets_ for word in together]
        return embedding.match(words, Matching(self.fallbacks_)).rows

    def _special(self, embedding: Embedding, chosen: Mask) -> dict[int, Array]:
        rows = self._all_rows_to_equalize(self.equalize_sets_, embedding)
        return equalised(self, embedding, chosen, rows, self.directions_)

    def _rows_to_equalize(self, words: tuple[str, ...], embedding: Embedding) -> list[Codes]:
        """Return the rows of a set as the fallbacks find its words."""
        rows = tuple_rows(words, embedding, self.fallbacks_)
        return [] if rows is None else [rows]


def principal_components(
    embedding: Embedding, tuples: Sequence[Codes], number: int
) -> tuple[Array, Array]:
    """Return the principal components of tuples of words, each about its own centre.

    Vectors have length one. The largest number of each component is positive, so that its sign
    does not depend on the machine.
    """
    centred = []
    for rows in tuples:
        vectors = unit_vectors(embedding, rows)
        centred.append(vectors - vectors.mean(axis=0))
    _, values, components = np.linalg.svd(np.vstack(centred), full_matrices=False)
    rank = int((values > values[0] * 1e-6).sum()) if values[0] > 0 else 0
    if not rank:
        raise SpecError(
            "the words of each of the definitional pairs or sets have the same vector, so there is "
            "no direction in which they differ; give others."
        )
    if rank < number:
        raise SpecError(
            f"'n_components' is {number}, and the {len(tuples)} definitional pairs or sets that "
            f"the embedding has span {rank} dimensions; use n_components={rank}, or give "
            "more of them."
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


def cased_rows(
    pair: Sequence[str], embedding: Embedding, fallbacks: tuple[str, ...]
) -> list[Codes]:
    """Return the rows of a pair in lower case, with capitals and in upper case, where it is there.

    If the vocabulary has it in none of these, those that the fallbacks find.
    """
    # Both words are to be in the same case, so fallbacks that change the case are not tried.
    same_case = tuple(dict.fromkeys("exact" if f in CASES else f for f in fallbacks))
    tried = [tuple_rows([spell(w) for w in pair], embedding, same_case) for spell in _SPELLINGS]
    if not any(rows is not None for rows in tried):
        tried = [tuple_rows(pair, embedding, fallbacks)]
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
    for rows in dict.fromkeys(tuple(one.tolist()) for one in tuples):
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
