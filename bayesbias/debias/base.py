"""The one protocol of all debiasing methods: learn in `fit`, change vectors in `transform`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.constants import DEFAULT_FALLBACKS
from bayesbias._core.progress import progress_bar
from bayesbias._core.validation import true_or_false
from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.debias.block_writer import FileTarget
from bayesbias.debias.debias_words import Mask, Words, as_words, find_words
from bayesbias.embeddings import Embedding, check_embedding
from bayesbias.embeddings.matching import check_fallbacks
from bayesbias.errors import DataError, NotFittedError, SpecError

# Rows changed at once: few enough to stay in the cache of a core between the steps.
_BLOCK = 4096


@dataclasses.dataclass(eq=False)
class Debiaser:
    """Base of all debiasing methods, by the conventions of scikit-learn.

    The parameters of a method are its fields; `fit` learns from an embedding and returns the
    debiaser, what is learnt ends in ``_``; `transform` returns a new embedding, and can be used
    for any embedding of as many dimensions, as often as one likes.

    A method of your own is a dataclass with a method `fit` that begins with
    ``self._fit_begins(embedding, fallbacks)`` and ends with ``return self._fitted_on(embedding)``,
    and a method ``_change`` that returns the changed vectors of some words.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> pairs = "bolukbasi:definitional_pairs"
    >>> debiaser = bb.debias.HardDebias().fit(emb, definitional_pairs=pairs)
    >>> debiaser.transform(emb)
    <Embedding 'demo_hard_debias': 12,187 words × 50 dimensions>
    >>> debiaser
    HardDebias(n_components=1)
    """

    #: What the method is called in `DEBIASERS` and behind the names of embeddings.
    name: ClassVar[str] = "debiaser"
    #: The publication it comes from, if any.
    reference: ClassVar[str | None] = None
    #: Whether all vectors are scaled to length one first, and those changed again afterwards.
    unit: ClassVar[bool] = True
    #: Whether a word's new vector depends on those of other words, as they were.
    looks_around: ClassVar[bool] = False

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn's `clone` asks for them.

        Parameters
        ----------
        deep : bool, default True
            Without effect; there are no parts with parameters of their own.

        Returns
        -------
        dict
            Names and values.
        """
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

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
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise SpecError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {quoted(known)}."
                    f"{did_you_mean(name, known)}"
                )
            setattr(self, name, value)
        return self

    def transform(
        self,
        embedding: Embedding,
        *,
        target: Words | None = None,
        ignore: Words | None = None,
        copy: bool = True,
        out: str | PathLike[str] | None = None,
        name: str | None = None,
        progress: bool = True,
    ) -> Embedding:
        """Return the debiased embedding.

        Parameters
        ----------
        embedding : Embedding
            What to debias; as many dimensions as the one that was learnt from.
        target : list of str or str, optional
            The words to change, or the name of a built-in list; by default all. These and those of
            `ignore` are found by the fallbacks that `fit` was given.
        ignore : list of str or str, optional
            Words to leave as they are, such as ``"bolukbasi:gender_specific"``. What is scaled to
            length one or equalised is so in any case, whatever `target` and `ignore` are.
        copy : bool, default True
            Whether vectors are copied. Without, the given embedding changes too, and no second
            matrix is needed.
        out : path-like, optional
            A ``.npy`` file to write to, block by block, for embeddings that do not fit into
            memory; the result is mapped from there. Interrupted, the next call with the same
            embedding and debiaser goes on where it was.
        name : str, optional
            The name of the result; by default that of the embedding and of the method.
        progress : bool, default True
            Whether to show a bar, where one can be seen.

        Returns
        -------
        Embedding
            The same words with changed vectors.

        Raises
        ------
        NotFittedError
            If `fit` was not called.
        SpecError
            If the number of dimensions differs, no word is left to be changed, or `copy` is
            neither True nor False.
        VocabularyError
            If the embedding has no word of `target`.

        Warns
        -----
        BayesBiasWarning
            If the embedding lacks words of `target` or `ignore`, which are named if they are a list
            of your own, or of pairs or sets to equalise that the embedding of `fit` has.
        """
        true_or_false("copy", copy)
        self._check_fitted(embedding)
        label = name or f"{embedding.name}_{self.name}"
        chosen = self._chosen(embedding, target, ignore)
        special = self._special(embedding, chosen)
        if not chosen.any() and not special:
            raise SpecError(
                f"{type(self).__name__} leaves the words it has learnt from as they are, and there "
                "are no others to be changed; give other words as 'target'."
            )

        def blocks() -> Iterator[npt.NDArray[np.float32]]:
            """Yield the changed rows from `begin` on, block by block."""
            ordered = np.array(sorted(special), dtype=np.intp)
            for start in range(begin, len(embedding), _BLOCK):
                stop = min(start + _BLOCK, len(embedding))
                part = source(start, stop)
                self._apply(embedding, part, np.arange(start, stop), chosen[start:stop])
                first, last = np.searchsorted(ordered, [start, stop])
                for row in ordered[first:last].tolist():
                    part[row - start] = special[row]
                yield part

        begin = 0
        ahead = self.looks_around and not copy and out is None
        total = len(embedding) + (int(chosen.sum()) if ahead else 0)
        with (
            # The blocks are small: threads of BLAS would wait for each other more than they work.
            threadpool_limits(1, user_api="blas"),
            progress_bar(
                f"Debiasing {embedding.name}", total=total, show=progress, unit="steps"
            ) as advance,
        ):
            if out is not None:
                source = _copied(embedding)
                file = FileTarget(out, embedding, self._fingerprint(embedding, chosen))
                begin = file.rows_done
                advance(begin)
                with file:
                    for part in blocks():
                        file.append(part)
                        advance(len(part))
                return file.embedding(label)
            matrix = np.empty_like(embedding.vectors) if copy else writable(embedding)
            if matrix is None:
                raise DataError(
                    f"the vectors of embedding {embedding.name!r} cannot be changed in place: they "
                    "are on disk or belong to something else; use copy=True, or out= for a new "
                    "file."
                )
            source = _copied(embedding, matrix) if copy else lambda a, b: matrix[a:b]
            if ahead:
                special = {**self._ahead(embedding, chosen, advance), **special}
                chosen = np.zeros_like(chosen)
            for part in blocks():
                advance(len(part))
        return embedding.with_vectors(matrix, label)

    def _fit_begins(
        self, embedding: Embedding, fallbacks: Iterable[str] = DEFAULT_FALLBACKS
    ) -> None:
        """Check what to learn from, and forget what was learnt before: `fit` may fail halfway.

        The fallbacks are kept, so that `transform` finds the words that `fit` has found.
        """
        check_embedding(embedding)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self.fallbacks_ = check_fallbacks(fallbacks)

    def _fitted_on(self, embedding: Embedding) -> Self:
        """Remember what the debiaser was fitted on; the last step of `fit`."""
        self.n_features_in_ = embedding.dim
        return self

    def _check_fitted(self, embedding: Embedding) -> None:
        if not hasattr(self, "n_features_in_"):
            raise NotFittedError(
                f"this {type(self).__name__} has not been fitted; call fit(embedding, …) first."
            )
        check_embedding(embedding)
        if embedding.dim != self.n_features_in_:
            raise SpecError(
                f"the {type(self).__name__} was fitted on {self.n_features_in_} dimensions, and "
                f"embedding {embedding.name!r} has {embedding.dim}; fit it on this one."
            )

    def _chosen(self, embedding: Embedding, target: Words | None, ignore: Words | None) -> Mask:
        """Return which rows are changed."""
        if target is None:
            mask = np.ones(len(embedding), dtype=bool)
        else:
            mask = np.zeros(len(embedding), dtype=bool)
            mask[self._rows("target", target, embedding)] = True
        if ignore is not None:
            mask[self._rows("ignore", ignore, embedding, needed=False)] = False
        if not mask.any():
            raise SpecError("'ignore' leaves no word to be changed; give fewer words.")
        mask[self._exempt(embedding)] = False
        return mask

    def _rows(self, name: str, words: Words, embedding: Embedding, *, needed: bool = True) -> Codes:
        """Return the rows of words that were given to `transform`."""
        return find_words(
            name,
            as_words(name, words),
            embedding,
            self.fallbacks_,
            published=isinstance(words, str),
            needed=needed,
        )

    def _exempt(self, embedding: Embedding) -> Codes:
        """Return rows that the method never changes by itself."""
        return np.empty(0, dtype=np.intp)

    def _special(self, embedding: Embedding, chosen: Mask) -> dict[int, Array]:
        """Return rows that get a vector of their own in the end, such as those of pairs."""
        return {}

    def _changed(self, embedding: Embedding, rows: Codes, chosen: Mask) -> Array:
        """Return some rows as they are after the change, in double precision."""
        part = np.asarray(embedding.vectors[rows], dtype=np.float64)
        self._apply(embedding, part, rows, chosen[rows])
        return part

    def _ahead(
        self, embedding: Embedding, chosen: Mask, advance: Callable[[float], None]
    ) -> dict[int, Array]:
        """Return all changed rows, so that none is written while others look at it."""
        rows = np.flatnonzero(chosen)
        vectors = np.array(embedding.vectors[rows])
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            self._apply(embedding, vectors[part], rows[part], chosen[rows[part]])
            advance(len(rows[part]))
        return dict(zip(rows.tolist(), vectors, strict=True))

    def _apply(
        self, embedding: Embedding, part: npt.NDArray[Any], rows: Codes, chosen: Mask
    ) -> None:
        """Change vectors in place."""
        if self.unit:
            to_unit(part)
        if chosen.all():
            changed = self._change_in(embedding, part, rows)
            if changed is not part:
                part[:] = changed
            if self.unit:
                to_unit(part)
        elif chosen.any():
            some = self._change_in(embedding, part[chosen], rows[chosen])
            if self.unit:
                to_unit(some)
            part[chosen] = some

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        """Return the changed vectors of some rows; the given ones may be overwritten."""
        raise NotImplementedError

    def _change_in(
        self, embedding: Embedding, vectors: npt.NDArray[Any], rows: Codes
    ) -> npt.NDArray[Any]:
        """Do what `_change` does; in its place for methods that look at other words."""
        return self._change(vectors, rows)

    def _fingerprint(self, embedding: Embedding, chosen: Mask) -> str:
        """Return what an unfinished file must agree on to be finished."""
        import hashlib

        digest = hashlib.sha256(repr((type(self).__name__, self.get_params())).encode())
        for name, value in sorted(vars(self).items()):
            if name.endswith("_"):
                digest.update(name.encode())
                array = isinstance(value, np.ndarray)
                digest.update(value.tobytes() if array else repr(value).encode())
        some = np.linspace(0, len(embedding) - 1, num=min(len(embedding), 1000), dtype=np.intp)
        digest.update(np.ascontiguousarray(embedding.vectors[some]).tobytes())
        digest.update("\n".join(embedding.words).encode())
        digest.update(np.packbits(chosen).tobytes())
        return digest.hexdigest()


def to_unit(vectors: npt.NDArray[Any]) -> None:
    """Scale vectors to length one, in place; zero vectors stay."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    norms[norms == 0] = 1
    vectors /= norms[:, None]


def _copied(
    embedding: Embedding, matrix: npt.NDArray[np.float32] | None = None
) -> Callable[[int, int], npt.NDArray[np.float32]]:
    """Return a function that copies rows, into their places in a matrix if there is one."""

    def rows(start: int, stop: int) -> npt.NDArray[np.float32]:
        if matrix is None:
            return np.array(embedding.vectors[start:stop])
        matrix[start:stop] = embedding.vectors[start:stop]
        return matrix[start:stop]

    return rows


def writable(embedding: Embedding) -> npt.NDArray[np.float32] | None:
    """Return the matrix of an embedding so that it can be changed, or None if it cannot."""
    view = embedding.vectors.view()
    try:
        view.flags.writeable = True
    except ValueError:
        return None
    return view
