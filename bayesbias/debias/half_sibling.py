"""Half-sibling regression: remove from all words what gendered words predict of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Codes
from bayesbias._core.validation import positive
from bayesbias.debias.base import Debiaser, LearnsFrom
from bayesbias.debias.debias_words import GivenWords, find_words
from bayesbias.debias.vector_moments import double_vectors
from bayesbias.embeddings import Embedding


@dataclass(eq=False, repr=False)
class HalfSiblingRegression(Debiaser):
    """Half-sibling regression (Yang & Feng 2020).

    It learns from words that are gendered by meaning. The vectors of all other words are predicted
    from theirs, and what is predicted is removed. The gendered words are not changed. Vectors are
    not scaled.

    Parameters
    ----------
    alpha : float, default 60.0
        The penalty of the ridge regression; the larger, the less is removed.

    Attributes
    ----------
    matrix_ : ndarray of shape (dim, dim)
        What vectors are multiplied with.
    definition_ : tuple of str
        The words that were learnt from, and are not changed.

    Notes
    -----
    With the words of the definition as columns of B, the prediction of a word x is
    B (BᵀB + αI)⁻¹ Bᵀ x, and x minus its prediction is α (BBᵀ + αI)⁻¹ x: one matrix of dim × dim for
    all words, which works in any embedding.

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
    title: ClassVar[str] = "half-sibling regression"
    reference: ClassVar[str] = "Yang, Feng (2020), doi:10.1609/aaai.v34i05.6486."
    learns_from: ClassVar[LearnsFrom] = "words"
    default_definition: ClassVar[str | None] = "bolukbasi:gender_specific"
    unit: ClassVar[bool] = False

    def _learn(self, embedding: Embedding, definition: GivenWords) -> None:
        alpha = positive("alpha", self.alpha)
        rows = find_words(definition, embedding, self._matching(embedding))
        vectors = double_vectors(embedding, rows)
        identity = np.eye(embedding.dim)
        self.matrix_ = np.linalg.inv(vectors.T @ vectors / alpha + identity)
        self.definition_ = definition.words

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        result: npt.NDArray[Any] = vectors @ self.matrix_.astype(vectors.dtype)
        return result

    def _exempt(self, embedding: Embedding) -> Codes:
        return embedding.match(self.definition_, self._matching(embedding)).rows
