"""Repulsion, attraction, neutralisation: each word is moved away from illicit neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import blocks
from bayesbias._core.validation import at_least, share
from bayesbias.debias.base import Debiaser, LearnsFrom, to_unit
from bayesbias.debias.debias_words import GivenTuples, Mask, find_tuples
from bayesbias.debias.hard import principal_components
from bayesbias.embeddings import Embedding, nearest
from bayesbias.errors import SpecError

Floats: TypeAlias = npt.NDArray[np.float32]

# Words whose neighbours are looked up at once.
_WORDS = 1024
# Numbers that a batch of words looks at in each step, few enough to stay in the cache of a core.
_NUMBERS = 200_000
# Adam's usual constants: how much of the past its two means keep, and what it never divides by.
_FIRST, _SECOND, _TINY = 0.9, 0.999, 1e-8


@dataclass(eq=False, repr=False)
class RepulsionAttractionNeutralization(Debiaser):
    """Repulsion, attraction, neutralisation (RAN-Debias, Kumar et al. 2020).

    Hard debiasing leaves words together that were near each other because of the bias. Here each
    word is moved by itself: away from the neighbours that are near because of the direction of the
    pairs that the method learns from, not far from where it was, and to the middle of that
    direction. All vectors are scaled to length one.

    Parameters
    ----------
    weights : tuple of three floats, default (1/3, 1/3, 1/3)
        What repulsion, attraction and neutralisation count. The settings file of the authors'
        program has (1/8, 6/8, 1/8), which moves words much less.
    theta : float, default 0.05
        The indirect bias from which on a neighbour is repelled.
    n_neighbours : int, default 100
        How many neighbours are looked at; all other words where there are fewer.
    learning_rate : float, default 0.01
        The length of Adam's steps.
    n_epochs : int, default 300
        How many steps there are.

    Attributes
    ----------
    direction_ : ndarray of shape (dim,)
        The first principal component of the pairs, each pair about its own centre.

    Notes
    -----
    For a word w, the direction g and the neighbours S whose indirect bias β(w, s) is above theta
    (see `IndirectBias`), Adam starts at w and makes small

        λ₁ · mean over S of abs(cos(x, s)) + λ₂ · (1 − cos(x, w)) / 2 + λ₃ · abs(cos(x, g)).

    Neighbours are those of the embedding that is transformed, as it is before. The time does not
    depend on what was learnt but on the words changed: some milliseconds for each, so give a
    `target` for large vocabularies.

    WEFE 1.0.1 swaps the word and its original, so that the anchor moves and the word stays the
    anchor; *nurse* then has a cosine of 0.40 with what it was. It also uses the product with g in
    the place of the cosine, as the authors' program does.

    References
    ----------
    Kumar, Bhotia, Kumar, Chakraborty (2020), doi:10.1162/tacl_a_00327.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> debiaser = bb.debias.RepulsionAttractionNeutralization().fit(
    ...     emb, definition="bolukbasi:definitional_pairs"
    ... )
    >>> after = debiaser.transform(emb, target=["nurse", "surgeon"])
    >>> unit = emb["nurse"] / (emb["nurse"] @ emb["nurse"]) ** 0.5
    >>> [round(float(nurse @ debiaser.direction_), 1) for nurse in (unit, after["nurse"])]
    [0.3, 0.0]
    """

    weights: tuple[float, float, float] = (1 / 3, 1 / 3, 1 / 3)
    theta: float = 0.05
    n_neighbours: int = 100
    learning_rate: float = 0.01
    n_epochs: int = 300

    name: ClassVar[str] = "repulsion_attraction_neutralization"
    title: ClassVar[str] = "repulsion–attraction–neutralisation"
    reference: ClassVar[str] = "Kumar, Bhotia, Kumar, Chakraborty (2020), doi:10.1162/tacl_a_00327."
    learns_from: ClassVar[LearnsFrom] = "pairs"
    default_definition: ClassVar[str | None] = "bolukbasi:definitional_pairs"

    def _learn(self, embedding: Embedding, definition: GivenTuples) -> None:
        self._check()
        rows = find_tuples(definition, embedding, self._matching(embedding))
        self.direction_ = principal_components(embedding, rows, 1)[0][0]

    def _check(self) -> None:
        weights = self.weights if isinstance(self.weights, Sequence) else ()
        if len(weights) != 3 or not all(isinstance(w, Real) and w >= 0 for w in weights):
            raise SpecError(
                f"'weights' is {self.weights!r}; expected three numbers, none below 0, for "
                "repulsion, attraction and neutralisation."
            )
        share("theta", self.theta)
        at_least("n_neighbours", self.n_neighbours, 1)
        at_least("n_epochs", self.n_epochs, 1)
        if not isinstance(self.learning_rate, Real) or not self.learning_rate > 0:
            raise SpecError(
                f"'learning_rate' is {self.learning_rate!r}; expected a number above 0."
            )

    def _change_in(
        self, embedding: Embedding, vectors: npt.NDArray[Any], rows: Codes
    ) -> npt.NDArray[Any]:
        with_direction = np.flatnonzero(vectors.any(axis=1))  # a zero vector has no neighbours
        for part in blocks(len(with_direction), budget=_WORDS):
            some = with_direction[part]
            words = vectors[some].astype(np.float32, copy=False)
            around, near, illicit = self._neighbours(embedding, words, rows[some])
            for batch in _batches(illicit.sum(axis=1), embedding.dim):
                repelled = around[near[batch][illicit[batch]]]
                sides, weights = self._objective(words[batch], repelled)
                vectors[some[batch]] = minimised(
                    words[batch], sides, weights, self.learning_rate, self.n_epochs
                )
        return vectors

    def _neighbours(
        self, embedding: Embedding, words: Floats, rows: Codes
    ) -> tuple[Floats, Codes, Mask]:
        """Return vectors, which of them are near each word, and which of these are illicit."""
        number = min(self.n_neighbours, len(embedding) - 1)
        neighbours, close = nearest(embedding, words, number, exclude=list(rows[:, None]))
        distinct, near = np.unique(neighbours, return_inverse=True)
        near = near.reshape(neighbours.shape)
        around = np.array(embedding.vectors[distinct])
        to_unit(around)
        axis = self.direction_.astype(np.float32)
        along, others = (words @ axis)[:, None], (around @ axis)[near]
        return around, near, illicit_neighbours(close, along, others, self.theta)

    def _objective(self, words: Floats, repelled: Floats) -> tuple[Floats, Floats]:
        """Return the vectors with which cosines count, words × sides, and how much each counts.

        The last of them is the word itself. Its weight is negative, as this cosine is to be large.
        The vectors to be repelled from are those of all words, one word after the other.
        """
        repulsion, attraction, neutralization = self.weights
        number = len(repelled) // len(words)
        sides = np.empty((len(words), number + 2, words.shape[1]), dtype=np.float32)
        sides[:, :number] = repelled.reshape(len(words), number, words.shape[1])
        sides[:, -2], sides[:, -1] = self.direction_, words
        weights = [repulsion / max(number, 1)] * number + [neutralization, -attraction / 2]
        return sides, np.array(weights, dtype=np.float32)


def illicit_neighbours(close: Array, along: Array, others: Array, theta: float) -> Mask:
    """Return which neighbours have an indirect bias above theta.

    Of vectors of length one, given their products with each other and those with the direction.
    β(w, v) > θ is w·v (1 − θ) > cos(w⊥, v⊥), where w·v is above zero.
    """
    lengths = np.sqrt(np.maximum(1 - along**2, 0) * np.maximum(1 - others**2, 0))
    result: Mask = (close > 0) & (close * (1 - theta) * lengths > close - along * others)
    return result


def _batches(numbers: Codes, dim: int) -> Iterator[Codes]:
    """Yield words that have as many neighbours to be repelled from, not too many at once."""
    for number in np.unique(numbers):
        same = np.flatnonzero(numbers == number)
        for part in blocks(len(same), (int(number) + 2) * dim, _NUMBERS):
            yield same[part]


def gradient(x: Array, sides: Array, weights: Array) -> tuple[Array, Array]:
    """Return the objective without its constant, and its gradient, for each of some vectors.

    The objective is the sum of weight · abs(cosine) with all sides but the last, and of
    weight · cosine with the last. All sides have length one.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
    unit = x / lengths
    cosines = (sides @ unit[:, :, None])[:, :, 0]
    signed = np.sign(cosines)
    signed[:, -1] = 1
    signed *= weights
    value = np.einsum("ij,ij->i", signed, cosines)
    slope = (signed[:, None, :] @ sides)[:, 0, :]
    unit *= value[:, None]
    slope -= unit
    slope /= lengths
    return value, slope


def minimised(
    start: Floats, sides: Floats, weights: Floats, learning_rate: float, n_epochs: int
) -> Floats:
    """Return where Adam gets to from each of some vectors."""
    x = start.copy()
    mean, square = np.zeros_like(x), np.zeros_like(x)
    for epoch in range(1, n_epochs + 1):
        _, slope = gradient(x, sides, weights)
        mean += (1 - _FIRST) * (slope - mean)
        slope *= slope
        slope -= square
        slope *= 1 - _SECOND
        square += slope
        step = np.sqrt(square)
        step /= np.sqrt(1 - _SECOND**epoch)
        step += _TINY
        np.divide(mean, step, out=step)
        step *= learning_rate / (1 - _FIRST**epoch)
        x -= step
    return x
