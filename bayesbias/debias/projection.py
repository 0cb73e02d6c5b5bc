"""Linear projection: remove a direction from all words, wholly or in part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.validation import one_of
from bayesbias.debias.base import Debiaser, LearnsFrom
from bayesbias.debias.debias_words import GivenTuples, find_tuples
from bayesbias.debias.hard import principal_components, without
from bayesbias.embeddings import Embedding, unit_vectors
from bayesbias.errors import SpecError

Direction = Literal["pca", "mean"]
Attenuation = Literal["distance", "rank"]
Curve = Literal["inverse_square", "gaussian", "inverse"]

_CURVES = {
    "inverse_square": lambda eta, sigma: sigma**2 / (eta + 1) ** 2,
    "gaussian": lambda eta, sigma: np.exp(-((eta / sigma) ** 2)),
    "inverse": lambda eta, sigma: sigma / np.maximum(2 * eta, 1e-12),
}


@dataclass(eq=False, repr=False)
class Projection(Debiaser):
    """Linear projection, the same for all words or attenuated (Dev & Phillips 2019).

    It learns from pairs of words that differ by group only. All words lose what lies along the
    direction of the pairs; no word is exempt, none is equalised. The attenuated form, called
    partial projection in the paper, leaves words a part of it: those that are about little else,
    such as *she*, are to keep their meaning. Vectors are not scaled.

    Parameters
    ----------
    direction : {"pca", "mean"}, default "pca"
        The first principal component of the pairs, each about its own centre; or the mean of their
        differences, which is the difference of the means of the two sides.
    attenuation : {"distance", "rank"}, optional
        By default nothing is left. ``"distance"``: the nearer a word is to the line through the
        origin along the direction, the more it keeps. ``"rank"``: the earlier a word is in the
        vocabulary, the more it keeps; in most files the first words are the most frequent.
    curve : {"inverse_square", "gaussian", "inverse"}, default "inverse_square"
        How what is kept falls with distance or rank, see the notes.
    sigma : float, optional
        Where it falls: larger keeps more. By default a distance of 1, as in the paper, or a rank of
        1000.

    Attributes
    ----------
    direction_ : ndarray of shape (dim,)
        The direction, of length one; learnt from vectors of length one.
    centre_ : float
        How far the middle of the pairs is along it.

    Notes
    -----
    A word w is its part r along other directions and its place ⟨w, v⟩ on the direction v. Without
    attenuation it becomes r; with it r + (c + f(η) (⟨w, v⟩ − c)) v, where c is the centre. η is the
    length of r, the distance of the paper, or the rank of the word, counted from 0, which is not
    from the paper. f is σ² / (η + 1)² (in the paper f₁), exp(−η² / σ²) (f₂) or σ / 2η (f₃), but
    never more than 1. Distances are meant for vectors as they were trained: where all have length
    one, all words are about as far and keep about the same.

    References
    ----------
    Dev, Phillips (2019), arXiv:1901.07656.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> for attenuation in (None, "rank"):
    ...     debiaser = bb.debias.Projection(attenuation=attenuation).fit(
    ...         emb, definition="bolukbasi:definitional_pairs"
    ...     )
    ...     after = debiaser.transform(emb)
    ...     print([round(float(abs(after[w] @ debiaser.direction_)), 1) for w in ("she", "nurse")])
    [0.0, 0.0]
    [0.5, 0.0]
    """

    direction: Direction = "pca"
    attenuation: Attenuation | None = None
    curve: Curve = "inverse_square"
    sigma: float | None = None

    name: ClassVar[str] = "projection"
    title: ClassVar[str] = "projection"
    reference: ClassVar[str] = "Dev, Phillips (2019), arXiv:1901.07656."
    learns_from: ClassVar[LearnsFrom] = "pairs"
    default_definition: ClassVar[str | None] = "bolukbasi:definitional_pairs"
    unit: ClassVar[bool] = False

    def _learn(self, embedding: Embedding, definition: GivenTuples) -> None:
        one_of("direction", self.direction, ("pca", "mean"))
        if self.attenuation is not None:
            one_of("attenuation", self.attenuation, ("distance", "rank"))
        one_of("curve", self.curve, _CURVES)
        sigma = self.sigma
        if sigma is not None and not (isinstance(sigma, Real) and sigma > 0):
            raise SpecError(f"'sigma' is {self.sigma!r}; expected a number above 0.")
        rows = find_tuples(definition, embedding, self._matching(embedding))
        pca = self.direction == "pca"
        self.direction_: Array = (
            principal_components(embedding, rows, 1)[0][0]
            if pca
            else mean_difference(embedding, rows)
        )
        words = embedding.vectors[np.concatenate(rows)].astype(np.float64)
        self.centre_: float = float((words @ self.direction_).mean())

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        if self.attenuation is None:
            return without(vectors, self.direction_[None])
        axis = self.direction_.astype(vectors.dtype)
        along = vectors @ axis
        if self.attenuation == "distance":
            squares = np.einsum("ij,ij->i", vectors, vectors) - along**2
            eta, usual = np.sqrt(np.maximum(squares, 0)), 1.0
        else:
            eta, usual = rows.astype(vectors.dtype), 1000.0
        kept = np.minimum(_CURVES[self.curve](eta, self.sigma or usual), 1)
        vectors -= ((1 - kept) * (along - self.centre_))[:, None] * axis
        return vectors


def mean_difference(embedding: Embedding, pairs: Sequence[Codes]) -> Array:
    """Return the mean of the differences of pairs of words, scaled to length one."""
    first, second = (unit_vectors(embedding, np.array([p[i] for p in pairs])) for i in (0, 1))
    mean = (first - second).mean(axis=0)
    length = np.linalg.norm(mean)
    if not length > 1e-6:
        raise SpecError(
            "the differences of the pairs of 'definition' are zero in the mean, so they have no "
            "direction; give the words of all pairs in the same order, or use direction='pca'."
        )
    result: Array = mean / length
    return result
