"""Iterative null-space projection: remove whatever a linear classifier finds, again and again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.constants import DEFAULT_FALLBACKS
from bayesbias._core.validation import at_least
from bayesbias.debias.base import Debiaser
from bayesbias.debias.debias_words import Mask, Tuples
from bayesbias.debias.group_words import Groups, find_groups, labels, words_of
from bayesbias.debias.hard import without
from bayesbias.embeddings import Embedding, unit_vectors
from bayesbias.errors import SpecError, warn

# The share of each group's words that no classifier learns from.
_HELD_OUT = 0.3


@dataclass(eq=False)
class INLP(Debiaser):
    """Iterative null-space projection (Ravfogel et al. 2020).

    A linear classifier learns to tell the words of the groups apart; what it looks at is removed
    from all words; another one learns from what is left, until it does no better than chance on
    words it has not seen. Vectors keep their lengths, but for what is removed.

    Parameters
    ----------
    n_iterations : int, default 35
        The most classifiers; each takes one dimension, or one for each of three groups or more.
        One dimension is left in any case.
    n_words : int, default 7500
        Without groups: how many words of each side are learnt from, at most a quarter of the
        vocabulary.
    seed : int, default 0
        Of the choice of words that are held out, three of ten in each group.

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
    spaces. The paper adds as many neutral words as a third group; give them as one if you want
    them told apart too.

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
    seed: int = 0

    name: ClassVar[str] = "inlp"
    reference: ClassVar[str | None] = (
        "Ravfogel, Elazar, Gonen, Twiton, Goldberg (2020), doi:10.18653/v1/2020.acl-main.647."
    )
    unit: ClassVar[bool] = False

    def fit(
        self,
        embedding: Embedding,
        *,
        groups: Groups | None = None,
        definitional_pairs: Tuples | None = None,
        fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
    ) -> Self:
        """Learn what tells the groups apart.

        Parameters
        ----------
        embedding : Embedding
            What to learn from.
        groups : list of lists of str, optional
            The words of each group, or the names of built-in lists; two groups or more. A dict by
            name will do, such as the groups of a study.
        definitional_pairs : list of pairs or str, optional
            Without groups: pairs such as ``("she", "he")``. The two groups are the words that lean
            most along their direction, among the first 150,000 of the vocabulary. By default
            ``"bolukbasi:definitional_pairs"``.
        fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
            How words are found, as in `Matching`; `transform` uses them too.

        Returns
        -------
        INLP
            The debiaser itself.
        """
        at_least("n_iterations", self.n_iterations, 1)
        at_least("seed", self.seed, 0)
        self._fit_begins(embedding, fallbacks)
        found = find_groups(embedding, groups, definitional_pairs, self.n_words, self.fallbacks_)
        each = 1 if len(found) == 2 else len(found)
        if embedding.dim <= each:
            raise SpecError(
                f"embedding {embedding.name!r} has {embedding.dim} dimensions, and one round takes "
                f"{each} of them for {len(found)} groups; nothing would be left."
            )
        vectors = unit_vectors(embedding, np.concatenate(found))
        self.directions_, self.accuracies_ = self._rounds(vectors, found)
        self.groups_ = words_of(embedding, found)
        if not len(self.directions_):
            warn(
                f"a classifier gets {self.accuracies_[0]:.0%} of the held-out words of the groups "
                "right, no more than by chance; nothing will be removed."
            )
        return self._fitted_on(embedding)

    def _rounds(self, vectors: Array, groups: Sequence[Codes]) -> tuple[Array, Array]:
        from sklearn.svm import LinearSVC

        of = labels(groups)
        held = _held_out(groups, np.random.default_rng(self.seed))
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
