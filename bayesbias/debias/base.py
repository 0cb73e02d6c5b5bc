"""The one protocol of all debiasing methods: learn in `fit`, change vectors in `transform`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from threadpoolctl import threadpool_limits

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import blocks
from bayesbias._core.progress import progress_bar
from bayesbias._core.sklearn_errors import NotFittedError
from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.debias.debias_words import (
    Groups,
    Mask,
    Tuples,
    Words,
    as_groups,
    as_pairs,
    as_tuples,
    as_words,
    find_words,
)
from bayesbias.debias.vector_targets import ArrayTarget, FileTarget
from bayesbias.embeddings import (
    Embedding,
    Matching,
    as_embedding,
    as_matching,
    warn_of_lost_ranks,
)
from bayesbias.errors import DataError, SpecError

# Rows changed at once: few enough to stay in the cache of a core between the steps.
_BLOCK = 4096

#: Kinds of definitions: pairs or sets of words that differ by group only, words that belong to a
#: group by meaning, or the words of each group.
LearnsFrom: TypeAlias = Literal["pairs", "sets", "words", "groups"]
_READERS: dict[LearnsFrom, Callable[[str, Any], Any]] = {
    "pairs": as_pairs,
    "sets": as_tuples,
    "words": as_words,
    "groups": as_groups,
}


@dataclass(eq=False, repr=False)
class Debiaser(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """Base of all debiasing methods, which are transformers of scikit-learn.

    The parameters of a method are its fields; `fit` learns from an embedding and returns the
    debiaser, what is learnt ends in ``_``; `transform` returns a new embedding, and can be used
    for any embedding with the same number of dimensions.

    A method of your own is a dataclass with a method ``_learn(embedding, definition)``, which sets
    what is learnt, and a method ``_change(vectors, rows)``, which returns the changed vectors of
    some words. ``learns_from`` says what its definition is.

    Attributes
    ----------
    n_features_in_ : int
        The number of dimensions of the embedding that was learnt from.
    matching_ : Matching or None
        How words are matched, as `fit` was given it; None for that of each embedding.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from sklearn.pipeline import make_pipeline
    >>> emb = bb.load_embedding("demo")
    >>> debiaser = bb.debias.HardDebias().fit(emb, definition="bolukbasi:definitional_pairs")
    >>> debiaser.transform(emb)
    <Embedding 'demo_hard_debias': 12,187 words × 50 dimensions>
    >>> make_pipeline(bb.debias.HardDebias(), bb.debias.LEACE()).fit_transform(emb)
    <Embedding 'demo_hard_debias_leace': 12,187 words × 50 dimensions>
    >>> bb.debias.HardDebias(n_components=2)
    HardDebias(n_components=2)
    """

    #: The name of the method in `DEBIASERS`, which is added to the names of embeddings.
    name: ClassVar[str] = "debiaser"
    #: What people read in reports, within a sentence; by default the name.
    title: ClassVar[str] = ""
    #: Where the method was published.
    reference: ClassVar[str] = ""
    #: What the definition is that `fit` takes: pairs, sets, words or groups.
    learns_from: ClassVar[LearnsFrom] = "pairs"
    #: The published list that is learnt from by default; None if there is none.
    default_definition: ClassVar[str | None] = None
    #: Whether all vectors are scaled to length one first, and those changed again afterwards.
    unit: ClassVar[bool] = True

    def set_params(self, **params: object) -> Self:
        """Set parameters; what was learnt stays until the next `fit`.

        Parameters
        ----------
        **params : object
            Names and values.

        Returns
        -------
        Debiaser
            The debiaser itself.

        Raises
        ------
        SpecError
            If the method has no such parameter.
        """
        names = self.get_params()
        for name in params:
            if name not in names:
                raise SpecError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {quoted(names)}."
                    f"{did_you_mean(name, names)}"
                )
        super().set_params(**params)
        return self

    def fit(
        self,
        embedding: Embedding | str | PathLike[str],
        y: None = None,
        *,
        definition: Tuples | Words | Groups | None = None,
        matching: Matching | None = None,
    ) -> Self:
        """Learn from an embedding what is to be removed.

        Parameters
        ----------
        embedding : Embedding, str or path-like
            What to learn from, or its name.
        y : None
            Not used; scikit-learn passes it.
        definition : list or str, optional
            The words to learn from, of the kind that the method's ``learns_from`` names, or the
            name of a built-in list: pairs such as ``[("she", "he")]`` or
            ``"bolukbasi:definitional_pairs"``; sets such as
            ``"manzini:religion_definitional_sets"``; words of a group such as
            ``"bolukbasi:gender_specific"``; or two or more groups, each a list of words, also as a
            dict by name. By default the method's ``default_definition``.
        matching : Matching, optional
            How words are matched; that of the embedding by default. `transform` uses it too.
            Missing words are named in a warning, whatever the threshold is.

        Returns
        -------
        Debiaser
            The debiaser itself.

        Raises
        ------
        SpecError
            If a parameter or the definition is not what it should be.
        VocabularyError
            If the embedding lacks the words of the definition.

        Warns
        -----
        BayesBiasWarning
            If the embedding lacks words of a definition that is not a built-in list.

        Examples
        --------
        >>> import bayesbias as bb
        >>> emb = bb.load_embedding("demo")
        >>> pairs = [("she", "he"), ("woman", "man")]
        >>> bb.debias.Projection().fit(emb, definition=pairs).n_features_in_
        50
        """
        # Nothing may stay of an earlier fit, as this one may fail halfway.
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        learnt_from = as_embedding(embedding)
        as_matching(matching, learnt_from)
        self.matching_ = matching
        self._learn(learnt_from, self._read(definition))
        self.n_features_in_ = learnt_from.dim
        return self

    def fit_transform(
        self,
        embedding: Embedding | str | PathLike[str],
        y: None = None,
        *,
        definition: Tuples | Words | Groups | None = None,
        matching: Matching | None = None,
        **options: Any,
    ) -> Embedding:
        """Learn from an embedding, and return it debiased.

        Parameters
        ----------
        embedding : Embedding, str or path-like
            What to learn from and to debias, or its name.
        y : None
            Not used; scikit-learn passes it.
        definition : list or str, optional
            The words to learn from, as in `fit`.
        matching : Matching, optional
            How words are matched; that of the embedding by default.
        **options : object
            What `transform` takes besides: `target`, `ignore`, `out`, `name`, `progress`.

        Returns
        -------
        Embedding
            The same words with changed vectors.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.debias.HardDebias().fit_transform("demo", ignore="bolukbasi:gender_specific")
        <Embedding 'demo_hard_debias': 12,187 words × 50 dimensions>
        """
        learnt_from = as_embedding(embedding)
        self.fit(learnt_from, y, definition=definition, matching=matching)
        return self.transform(learnt_from, **options)

    def transform(
        self,
        embedding: Embedding | str | PathLike[str],
        *,
        target: Words | None = None,
        ignore: Words | None = None,
        out: npt.NDArray[np.float32] | str | PathLike[str] | None = None,
        name: str | None = None,
        progress: bool = True,
    ) -> Embedding:
        """Return the debiased embedding.

        Parameters
        ----------
        embedding : Embedding, str or path-like
            What to debias, or its name; it has the dimensions of the one that was learnt from.
        target : list of str or str, optional
            The words to change, or the name of a built-in list; by default all. These and those of
            `ignore` are matched in the way that `fit` was given.
        ignore : list of str or str, optional
            Words to leave as they are, such as ``"bolukbasi:gender_specific"``. Scaling to length
            one and equalising do not depend on `target` and `ignore`.
        out : ndarray or path-like, optional
            Where to write the vectors; by default into a new array. An array of float32 and of the
            shape of the vectors is written into, also a mapped one. A ``.npy`` file is written
            block by block, for embeddings that do not fit into memory, and the result is mapped
            from there; an interrupted run is resumed by the next call with the same embedding and
            debiaser. The file does not keep `Embedding.ranks`; the result does.
        name : str, optional
            The name of the result; by default that of the embedding and of the method.
        progress : bool, default True
            Whether to show a progress bar, where one can be seen.

        Returns
        -------
        Embedding
            The same words with changed vectors.

        Raises
        ------
        NotFittedError
            If `fit` was not called; it is scikit-learn's error of that name as well.
        SpecError
            If the number of dimensions differs, no word is left to be changed, or `out` cannot take
            the vectors.
        VocabularyError
            If the embedding has no word of `target`.

        Warns
        -----
        BayesBiasWarning
            If the embedding lacks words of `target` or `ignore`, which are named unless the list is
            a built-in one, or of pairs or sets to equalise that the embedding of `fit` has.
        """
        self._check_is_fitted()
        before = as_embedding(embedding)
        self._check_dimensions(before)
        chosen = self._chosen(before, target, ignore)
        special = self._special(before, chosen)
        if not chosen.any() and not special:
            raise SpecError(
                f"{type(self).__name__} leaves the words it has learnt from as they are, and there "
                "are no others to be changed; give other words as 'target'."
            )
        vectors = self._target(out, before, chosen)
        with (
            # The blocks are small: threads of BLAS would wait for each other more than they work.
            threadpool_limits(1, user_api="blas"),
            progress_bar(
                f"Debiasing {before.name}", total=len(before), show=progress, unit="steps"
            ) as advance,
            vectors,
        ):
            advance(vectors.rows_done)
            for block in self._blocks(before, chosen, special, vectors):
                vectors.append(block)
                advance(len(block))
        return before.with_vectors(vectors.matrix(), name or f"{before.name}_{self.name}")

    def _target(
        self,
        out: npt.NDArray[np.float32] | str | PathLike[str] | None,
        embedding: Embedding,
        chosen: Mask,
    ) -> ArrayTarget | FileTarget:
        """Return what takes the changed vectors."""
        if isinstance(out, str | PathLike):
            file = FileTarget(out, embedding, self._fingerprint(embedding, chosen), _BLOCK)
            warn_of_lost_ranks(embedding, file.path, "npy")
            return file
        return ArrayTarget(out, embedding)

    def _blocks(
        self,
        embedding: Embedding,
        chosen: Mask,
        special: dict[int, Array],
        vectors: ArrayTarget | FileTarget,
    ) -> Iterator[npt.NDArray[np.float32]]:
        """Yield the changed vectors that are not written yet, block by block."""
        special_rows = np.array(sorted(special), dtype=np.intp)
        for rows in blocks(len(embedding), budget=_BLOCK):
            if rows.stop <= vectors.rows_done:
                continue
            block = vectors.block(rows)
            block[:] = embedding.vectors[rows]
            self._apply(embedding, block, np.arange(rows.start, rows.stop), chosen[rows])
            first, last = np.searchsorted(special_rows, [rows.start, rows.stop])
            for row in special_rows[first:last].tolist():
                block[row - rows.start] = special[row]
            good = np.isfinite(block).all(axis=1)
            if not good.all():
                word = embedding.words[rows.start + int(np.flatnonzero(~good)[0])]
                raise DataError(
                    f"embedding {embedding.name!r}: the debiased vector of {word!r} is NaN or "
                    "infinite; its values are too large for single precision."
                )
            yield block

    def __sklearn_is_fitted__(self) -> bool:
        # Set last, so that it is missing after a fit that has failed.
        return hasattr(self, "n_features_in_")

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"this {type(self).__name__} has not been fitted; call fit(embedding, …) first."
            )

    def _check_dimensions(self, embedding: Embedding) -> None:
        if embedding.dim != self.n_features_in_:
            raise SpecError(
                f"the {type(self).__name__} was fitted on {self.n_features_in_} dimensions, and "
                f"embedding {embedding.name!r} has {embedding.dim}; fit it on this one."
            )

    def _matching(self, embedding: Embedding) -> Matching:
        """Return how words are matched with an embedding."""
        return as_matching(self.matching_, embedding)

    def _read(self, definition: object) -> Any:
        """Return a definition as `learns_from` says it is, or that of the method."""
        given = self.default_definition if definition is None else definition
        if given is None:
            raise SpecError(
                f"{type(self).__name__} learns from {self.learns_from}, and none are given: pass "
                "definition=…, a list of your own or a built-in one such as "
                "'manzini:religion_definitional_sets'."
            )
        return _READERS[self.learns_from]("definition", given)

    def _learn(self, embedding: Embedding, definition: Any) -> None:
        """Check the parameters, and learn from an embedding."""
        raise NotImplementedError

    def _chosen(self, embedding: Embedding, target: Words | None, ignore: Words | None) -> Mask:
        """Return which rows are changed."""
        if target is None:
            mask = np.ones(len(embedding), dtype=bool)
        else:
            mask = np.zeros(len(embedding), dtype=bool)
            words = as_words("target", target)
            mask[find_words(words, embedding, self._matching(embedding))] = True
        if ignore is not None:
            words = as_words("ignore", ignore)
            mask[find_words(words, embedding, self._matching(embedding), needed=False)] = False
        if not mask.any():
            raise SpecError("'ignore' leaves no word to be changed; give fewer words.")
        mask[self._exempt(embedding)] = False
        return mask

    def _exempt(self, embedding: Embedding) -> Codes:
        """Return rows that the method never changes by itself."""
        return np.empty(0, dtype=np.intp)

    def _special(self, embedding: Embedding, chosen: Mask) -> dict[int, Array]:
        """Return the rows that get a vector of their own in the end, such as those of pairs."""
        return {}

    def _changed(self, embedding: Embedding, rows: Codes, chosen: Mask) -> Array:
        """Return some rows as they are after the change, in double precision."""
        vectors = np.asarray(embedding.vectors[rows], dtype=np.float64)
        self._apply(embedding, vectors, rows, chosen[rows])
        return vectors

    def _apply(
        self, embedding: Embedding, vectors: npt.NDArray[Any], rows: Codes, chosen: Mask
    ) -> None:
        """Change vectors in place."""
        if self.unit:
            to_unit(vectors)
        if chosen.all():
            changed = self._change_in(embedding, vectors, rows)
            if changed is not vectors:
                vectors[:] = changed
            if self.unit:
                to_unit(vectors)
        elif chosen.any():
            changed = self._change_in(embedding, vectors[chosen], rows[chosen])
            if self.unit:
                to_unit(changed)
            vectors[chosen] = changed

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        """Return the changed vectors of some rows; the given ones may be overwritten."""
        raise NotImplementedError

    def _change_in(
        self, embedding: Embedding, vectors: npt.NDArray[Any], rows: Codes
    ) -> npt.NDArray[Any]:
        """Do what `_change` does; in its place for methods that need the vectors of other words."""
        return self._change(vectors, rows)

    def _fingerprint(self, embedding: Embedding, chosen: Mask) -> str:
        """Return what an unfinished file must agree on to be finished."""
        digest = hashlib.sha256(repr((type(self).__name__, self.get_params())).encode())
        for name, value in sorted(vars(self).items()):
            if name.endswith("_"):
                digest.update(name.encode())
                array = isinstance(value, np.ndarray)
                digest.update(value.tobytes() if array else repr(value).encode())
        sample = np.linspace(0, len(embedding) - 1, num=min(len(embedding), 1000), dtype=np.intp)
        digest.update(np.ascontiguousarray(embedding.vectors[sample]).tobytes())
        digest.update("\n".join(embedding.words).encode())
        digest.update(np.packbits(chosen).tobytes())
        return digest.hexdigest()


def to_unit(vectors: npt.NDArray[Any]) -> None:
    """Scale vectors to length one, in place; zero vectors stay."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    norms[norms == 0] = 1
    vectors /= norms[:, None]
