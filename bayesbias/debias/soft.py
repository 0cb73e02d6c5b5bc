"""Soft debiasing: one linear map that weighs less bias against unchanged similarities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.validation import at_least, positive
from bayesbias.debias.base import Debiaser, LearnsFrom
from bayesbias.debias.debias_words import GivenTuples, Words, as_words, find_tuples, find_words
from bayesbias.debias.hard import principal_components
from bayesbias.debias.vector_moments import second_moments
from bayesbias.embeddings import Embedding, unit_vectors
from bayesbias.errors import SpecError, warn

# Users are warned if more than this share of the bias is left.
_HARDLY_LESS = 0.9
# Directions in which all words together have less than this share of the largest are not mapped.
_NOTHING = 1e-10
# How far the search for a matrix without negative eigenvalues steps, and when it ends.
_RELAXED = 1.6
_CLOSE = 1e-8
_ROUNDS = 2000


@dataclass(eq=False, repr=False)
class SoftDebias(Debiaser):
    """Soft debiasing for any number of groups (Manzini et al. 2019, after Bolukbasi et al. 2016).

    It learns from pairs or sets of words that differ by group only. All vectors are multiplied with
    one matrix T, which minimises ‖(TW)ᵀ(TW) − WᵀW‖² + λ‖(TN)ᵀ(TB)‖²: inner products of words W
    should stay, those of neutral words N with the space of bias B should vanish. All vectors are
    scaled to length one, before and after.

    Parameters
    ----------
    strength : float, default 0.2
        How much the bias counts: λ. The published value is 0.2, which changes next to nothing in
        an embedding of usual size; see the notes.
    n_components : int, default 1
        The dimensions of the space of bias; the number of groups minus one is natural.
    neutral_words : list of str or str, optional
        Words that should lose their bias, or the name of a list; by default all words but those of
        the definition.

    Attributes
    ----------
    matrix_ : ndarray of shape (dim, dim)
        T. Any rotation of it is as good; this one is symmetric, which moves words least.
    bias_left_ : float
        The share of ‖NᵀB‖² that ‖(TN)ᵀ(TB)‖² is: 1 if nothing was removed, 0 if all of it was.
    directions_ : ndarray of shape (n_components, dim)
        The principal components of the sets, each set about its own centre: B.
    explained_variance_ratio_ : ndarray
        The share of the sets' variance along each of them.

    Notes
    -----
    The sum is convex in TᵀT and its minimum has a closed form, as long as that form has no negative
    eigenvalues; where it has, as with few neutral words and a large λ, the best matrix without is
    found by alternating projections. Only sums over all words go into it, so the vocabulary is read
    once, and another λ costs as much for ten words as for millions.

    The first norm counts pairs of words, the second words: the larger the vocabulary, the less λ
    means. With 0.2, the value of both papers, and some ten thousand words, 99 % of the bias is
    left. Look at `bias_left_`, and raise λ until it is what you want. A very large λ is not hard
    debiasing: similarities are kept over all words together, so directions in which words differ
    little may be stretched. The program that came with the paper makes ten small steps from a
    random matrix and ends far from the minimum; its results depend on the random numbers.

    References
    ----------
    Manzini, Lim, Tsvetkov, Black (2019), doi:10.18653/v1/N19-1062. Bolukbasi, Chang, Zou,
    Saligrama, Kalai (2016), arXiv:1607.06520.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> for strength in (20, 200, 2000):
    ...     debiaser = bb.debias.SoftDebias(strength).fit(
    ...         emb, definition="bolukbasi:definitional_pairs"
    ...     )
    ...     print(strength, round(debiaser.bias_left_, 3))
    20 0.863
    200 0.337
    2000 0.017
    """

    strength: float = 0.2
    n_components: int = 1
    neutral_words: Words | None = None

    name: ClassVar[str] = "soft_debias"
    title: ClassVar[str] = "soft debiasing"
    reference: ClassVar[str] = (
        "Manzini, Lim, Tsvetkov, Black (2019), doi:10.18653/v1/N19-1062. Bolukbasi, Chang, "
        "Zou, Saligrama, Kalai (2016), arXiv:1607.06520."
    )
    learns_from: ClassVar[LearnsFrom] = "sets"

    def _learn(self, embedding: Embedding, definition: GivenTuples) -> None:
        strength = positive("strength", self.strength)
        at_least("n_components", self.n_components, 1)
        rows = find_tuples(definition, embedding, self._matching(embedding))
        self.directions_, self.explained_variance_ratio_ = principal_components(
            embedding, rows, self.n_components
        )
        every = second_moments(embedding, unit=True)
        neutral = self._neutral_moments(embedding, every, np.unique(np.concatenate(rows)))
        products = best_products(every, neutral, self.directions_, strength)
        values, basis = np.linalg.eigh(products)
        self.matrix_ = (basis * np.sqrt(np.maximum(values, 0))) @ basis.T
        before, after = self.directions_, self.directions_ @ products
        bias = float(np.trace(before @ neutral @ before.T))
        self.bias_left_ = float(np.trace(after @ neutral @ after.T)) / bias if bias > 0 else 0.0
        if self.bias_left_ > _HARDLY_LESS:
            warn(
                f"soft debiasing with strength={strength:g} leaves {self.bias_left_:.1%} of the "
                f"bias of {embedding.name!r}; the more words, the larger 'strength' has to be. "
                "Raise it until 'bias_left_' is what you want."
            )

    def _neutral_moments(self, embedding: Embedding, every: Array, defining: Codes) -> Array:
        """Return the second moments of the neutral words."""
        if self.neutral_words is not None:
            words = as_words("neutral_words", self.neutral_words)
            vectors = unit_vectors(
                embedding, find_words(words, embedding, self._matching(embedding))
            )
            return vectors.T @ vectors
        if len(defining) == len(embedding):
            raise SpecError(
                f"embedding {embedding.name!r} has no words besides those of 'definition', so none "
                "to be neutral; load more of them."
            )
        vectors = unit_vectors(embedding, defining)
        return every - vectors.T @ vectors

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        result: npt.NDArray[Any] = vectors @ self.matrix_.astype(vectors.dtype)
        return result


def best_products(every: Array, some: Array, directions: Array, strength: float) -> Array:
    """Return the matrix X = TᵀT that makes the sum of both norms smallest.

    `every` is WWᵀ, `some` NNᵀ, `directions` Bᵀ. In coordinates Φ in which WWᵀ is the identity and
    NNᵀ is diagonal, X = ΦYΦᵀ, and the sum is ‖Y − C‖² + λ‖√a Y F‖² with C = Φᵀ(WWᵀ)²Φ, F = ΦᵀB.
    """
    values, basis = np.linalg.eigh(every)
    mapped = values > values[-1] * _NOTHING
    whitened = basis[:, mapped] / np.sqrt(values[mapped])
    shares, turn = np.linalg.eigh(whitened.T @ some @ whitened)
    phi = whitened @ turn
    # Of B only the space it spans counts, so its vectors may be turned to be orthogonal here.
    left, lengths, _ = np.linalg.svd(phi.T @ directions.T, full_matrices=False)
    bias = left * lengths
    goal = (every @ phi).T @ (every @ phi)
    inner = stationary(goal, 1.0, strength / 2, np.maximum(shares, 0), bias)
    if np.linalg.eigvalsh(inner)[0] < -_CLOSE * np.linalg.norm(goal):
        inner = _without_negative(goal, strength / 2, np.maximum(shares, 0), bias)
    outside = np.eye(len(every)) - basis[:, mapped] @ basis[:, mapped].T
    products: Array = phi @ inner @ phi.T + outside
    return products


def stationary(goal: Array, weight: float, half: float, shares: Array, bias: Array) -> Array:
    """Return the symmetric Y with weight·Y + half·(A Y FFᵀ + FFᵀ Y A) = goal.

    A is diagonal, the columns of F = `bias` are orthogonal. What Y does to F, Z = YF, follows from
    the equation times F, in which the columns of Z are linked only by ZᵀAF: few unknowns.
    """
    k = bias.shape[1]
    squares = (bias**2).sum(axis=0)
    scaled = shares[:, None] * bias
    factors = 1 / (weight + half * shares[:, None] * squares)
    onto = goal @ bias
    coupling = np.einsum("il,ip,ij->lpj", factors, bias, scaled)
    system = np.eye(k * k).reshape(k, k, k, k)
    for column in range(k):
        system[column, :, :, column] += half * coupling[column].T
    right_side = ((factors * onto).T @ scaled).ravel()
    between = np.linalg.solve(system.reshape(k * k, k * k), right_side).reshape(k, k)
    moved = factors * (onto - half * bias @ between)
    part = (shares[:, None] * moved) @ bias.T
    result: Array = (goal - half * (part + part.T)) / weight
    return result


def _without_negative(goal: Array, half: float, shares: Array, bias: Array) -> Array:
    """Return the best Y without negative eigenvalues, by alternating directions (ADMM)."""
    steepest = 1 + 2 * half * shares.max() * (bias**2).sum(axis=0).max()
    weight = float(steepest**0.25)
    allowed: Array = goal
    gap = np.zeros_like(goal)
    for _ in range(_ROUNDS):
        free = stationary(goal + weight * (allowed - gap), 1 + weight, half, shares, bias)
        beyond = _RELAXED * free + (1 - _RELAXED) * allowed + gap
        values, basis = np.linalg.eigh(beyond)
        last, allowed = allowed, (basis * np.maximum(values, 0)) @ basis.T
        gap = beyond - allowed
        moved = max(np.linalg.norm(free - allowed), np.linalg.norm(allowed - last))
        if moved < _CLOSE * np.linalg.norm(goal):
            return allowed
    warn(
        f"soft debiasing has not quite found its best matrix in {_ROUNDS} rounds; a smaller "
        "'strength' or more neutral words make it easier."
    )
    return allowed
