"""Half-sibling regression: take from all words what the gendered words say of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Codes
from bayesbias._core.constants import DEFAULT_FALLBACKS
from bayesbias._core.validation import positive
from bayesbias.debias.base import Debiaser
from bayesbias.debias.debias_words import Words, as_words, find_words
from bayesbias.debias.vector_moments import finite_vectors
from bayesbias.embeddings import Embedding, Matching


@dataclass(eq=False)
class HalfSiblingRegression(Debiaser):
    """Half-sibling regression (Yang & Feng 2020).

    The vectors of all other words are predicted from those of words that are gendered by meaning,
    and what is predicted is taken away. The gendered words are not changed. Vectors keep the
    length that this leaves them with.

    Parameters
    ----------
    alpha : float, default 60.0
        How much the regression is held back (ridge); the larger, the less is taken away.

    Attributes
    ----------
    matrix_ : ndarray of shape (dim, dim)
        What vectors are multiplied with.
    definitional_words_ : tuple of str
        The words that were learnt from, and are not changed.

    Notes
    -----
    With the definitional words as columns of B, the prediction of a word x is
    B (BᵀB + αI)⁻¹ Bᵀ x, and x less its prediction is α (BBᵀ + αI)⁻¹ x: one matrix for all words,
    as large as the vectors are long, which works in any embedding.

    WEFE 1.0.1 gives the same vectors, to rounding, for the embedding it was fitted on. It keeps
    the vectors of `fit`, and writes them into whatever it is given to transform.

    References
    ----------
    Yang, Feng (2020), doi:10.1609/aaai.v34i05.6486.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> after = bb.debias.HalfSiblingRegression().fit(emb).transform(emb)
    >>> query = bb.load_query("weat_7")
    >>> [round(bb.metrics.WEATEffectSize().run_query(query, e).value, 2) for e in (emb, after)]
    [1.54, 1.28]
    """

    alpha: float = 60.0

    name: ClassVar[str] = "half_sibling_regression"
    reference: ClassVar[str | None] = "Yang, Feng (2020), doi:10.1609/aaai.v34i05.6486."
    unit: ClassVar[bool] = False

    def fit(
        self,
        embedding: Embedding,
        *,
        definitional_words: Words = "bolukbasi:gender_specific",
        fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
    ) -> Self:
        """Learn the regression on the definitional words.

        Parameters
        ----------
        embedding : Embedding
            What to learn from.
        definitional_words : list of str or str, default "bolukbasi:gender_specific"
            Words that are gendered by meaning, or the name of a list.
        fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
            How words are found, as in `Matching`; `transform` uses them too.

        Returns
        -------
        HalfSiblingRegression
            The debiaser itself.
        """
        words = as_words("definitional_words", definitional_words)
        alpha = positive("alpha", self.alpha)
        self._fit_begins(embedding, fallbacks)
        rows = find_words(
            "definitional_words",
            words,
            embedding,
            self.fallbacks_,
            published=isinstance(definitional_words, str),
        )
        vectors = finite_vectors(embedding, rows)
        identity = np.eye(embedding.dim)
        self.matrix_ = np.linalg.inv(vectors.T @ vectors / alpha + identity)
        self.definitional_words_ = words
        return self._fitted_on(embedding)

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        result: npt.NDArray[Any] = vectors @ self.matrix_.astype(vectors.dtype)
        return result

    def _exempt(self, embedding: Embedding) -> Codes:
        return embedding.match(self.definitional_words_, Matching(self.fallbacks_)).rows
