"""Iterative null-space projection: remove whatever a linear classifier finds, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least
from bayesbias._core.wording import counted
from bayesbias.debias.debias_words import GivenWords, Mask, Tuples
from bayesbias.debias.group_words import GroupDebiaser, labels, words_of
from bayesbias.debias.hard import without
from bayesbias.embeddings import Embedding, unit_vectors
from bayesbias.errors import SpecError, warn

# The share of each group's words that no classifier learns from.
_HELD_OUT = 0.3


@dataclass(eq=False, repr=False)
class INLP(GroupDebiaser):
    """Iterative null-space projection (Ravfogel et al. 2020).

    It learns from the words of groups. A linear classifier learns to distinguish the groups; what
    it looks at is removed from all words; another one learns from what is left, until it does no
    better than chance on words it has not seen. Vectors are not scaled.

    Parameters
    ----------
    n_iterations : int, default 35
        The most classifiers; each takes one dimension, or one for each of three groups or more.
        One dimension is left in any case.
    n_words : int, default 7500
        Without a definition: how many words of each side are learnt from, at most a quarter of the
        vocabulary.
    seed : int, Generator or None, default 0
        Of the choice of words that are held out, three of ten in each group.
    pairs : list of pairs or str, optional
        Without a definition: pairs such as ``("she", "he")``. The two groups are the words that
        lean most along their direction, among the first 150,000 of the vocabulary. By default
        ``"bolukbasi:definitional_pairs"``.

    Attributes
    ----------
    directions_ : ndarray of shape (n_removed, dim)
        An orthonormal basis of what is removed, in the order of the rounds.
    accuracies_ : ndarray
        The share of held-out words that a classifier gets right, before anything is removed and
        after each round.
    groups_ : tuple of tuples of str
        The words learnt from.

    Notes
    -----
    The classifiers are support vector machines, trained on vectors of length one. What is removed
    is the sum of the row spaces of their weights, so what is left is the intersection of the null
    spaces. The paper adds the same number of neutral words as a third group; give them as one if
    they are to be distinguished too.

    References
    ----------
    Ravfogel, Elazar, Gonen, Twiton, Goldberg (2020), doi:10.18653/v1/2020.acl-main.647.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> debiaser = bb.debias.INLP(n_iterations=3, n_words=300).fit(emb)
    >>> debiaser.accuracies_.round(2)
    array([1.  , 0.89, 0.91, 0.83])
    >>> debiaser.transform(emb).name
    'demo_inlp'
    """

    n_iterations: int = 35
    n_words: int = 7500
    seed: Seed = 0
    pairs: Tuples | None = None

    name: ClassVar[str] = "inlp"
    title: ClassVar[str] = "INLP"
    reference: ClassVar[str] = (
        "Ravfogel, Elazar, Gonen, Twiton, Goldberg (2020), doi:10.18653/v1/2020.acl-main.647."
    )
    unit: ClassVar[bool] = False

    def _learn(self, embedding: Embedding, definition: list[GivenWords] | None) -> None:
        at_least("n_iterations", self.n_iterations, 1)
        seed = as_seed(self.seed)
        groups = self._group_rows(embedding, definition)
        per_round = 1 if len(groups) == 2 else len(groups)
        if embedding.dim <= per_round:
            raise SpecError(
                f"embedding {embedding.name!r} has {counted(embedding.dim, 'dimension')}, and one "
                f"round takes {per_round} of them for {len(groups)} groups; nothing would be left."
            )
        vectors = unit_vectors(embedding, np.concatenate(groups))
        self.directions_, self.accuracies_ = self._rounds(vectors, groups, seed)
        self.groups_ = words_of(embedding, groups)
        if not len(self.directions_):
            warn(
                f"a classifier gets {self.accuracies_[0]:.0%} of the held-out words of the groups "
                "right, no more than by chance; nothing will be removed."
            )

    def _rounds(self, vectors: Array, groups: Sequence[Codes], seed: int) -> tuple[Array, Array]:
        """Return what is removed, and the accuracy before and after each round."""
        from sklearn.svm import LinearSVC

        of = labels(groups)
        held = _held_out(groups, np.random.default_rng(seed))
        chance = np.bincount(of[held]).max() / held.sum()
        dim = vectors.shape[1]
        removed: Array = np.empty((0, dim))
        accuracies: list[float] = []
        for done in range(self.n_iterations + 1):
            left = vectors - (vectors @ removed.T) @ removed
            model = LinearSVC(dual=False).fit(left[~held], of[~held])
            accuracies.append(model.score(left[held], of[held]))
            if accuracies[-1] <= chance or done == self.n_iterations:
                break
            more = _orthonormal(removed, model.coef_)
            if len(more) == dim:
                break
            removed = more
        return removed, np.array(accuracies)

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        return without(vectors, self.directions_) if len(self.directions_) else vectors


def _held_out(groups: Sequence[Codes], rng: np.random.Generator) -> Mask:
    """Return which words no classifier learns from, the same share of each group."""
    held = []
    for rows in groups:
        chosen = np.arange(len(rows)) < max(round(_HELD_OUT * len(rows)), 1)
        held.append(rng.permutation(chosen))
    return np.concatenate(held)


def _orthonormal(basis: Array, weights: Array) -> Array:
    """Return a basis and what of more vectors is outside its space, orthonormal too."""
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    unit = weights / np.where(lengths > 0, lengths, 1)
    _, values, more = np.linalg.svd(unit - (unit @ basis.T) @ basis, full_matrices=False)
    more = more[values > 1e-6]
    more -= (more @ basis.T) @ basis  # again, for what rounding has left
    more /= np.linalg.norm(more, axis=1, keepdims=True)
    return np.vstack([basis, more])
