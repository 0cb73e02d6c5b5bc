"""Double-hard debiasing: first take out the direction that hides the bias, then the bias."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.constants import DEFAULT_FALLBACKS
from bayesbias._core.validation import at_least
from bayesbias.debias.base import to_unit
from bayesbias.debias.debias_words import Mask, Tuples, Words, as_pairs, as_words, find_tuples
from bayesbias.debias.hard import EqualizingDebiaser, equalised, without
from bayesbias.debias.vector_moments import finite_vectors, mean_vector, second_moments
from bayesbias.embeddings import Embedding, Matching
from bayesbias.errors import SpecError
from bayesbias.numerics.two_means import two_means

# Fewer words than this on a side say nothing of how well sides can be told apart.
_LEAST_SIDE = 5


@dataclass(eq=False)
class DoubleHardDebias(EqualizingDebiaser):
    """Double-hard debiasing for two groups (Wang et al. 2020).

    Some of what embeddings hold, such as how frequent words are, blurs the direction of a bias.
    So the vectors are centred, one of their principal components is taken out, and then they are
    neutralised along the direction of the definitional pairs, as in `HardDebias`. The component is
    the one without which the most biased words, neutralised, are hardest to tell apart by
    clustering. Vectors keep the length that this leaves them with.

    Parameters
    ----------
    n_components : int, default 20
        How many principal components are tried, those of most variance first; at most as many as
        there are dimensions.
    n_words : int, default 500
        How many of the most biased words of each side are clustered; at most a quarter of those
        they are chosen from.
    vocabulary : int, default 50,000
        They are chosen among so many first words; in most files these are the most frequent ones.
    seed : int, default 0
        Of the starts of the clusters.

    Attributes
    ----------
    mean_ : ndarray of shape (dim,)
        The mean of all vectors.
    component_ : int
        Which principal component is taken out; 0 is the first.
    accuracies_ : ndarray
        The share of the most biased words that clustering puts on their side, without each of
        the components that were tried: 0.5 is chance.
    directions_ : ndarray of shape (2, dim)
        The component, and the direction of the pairs without it.
    equalize_pairs_ : tuple of pairs of str
        The pairs that are equalised.
    not_equalized_ : tuple of pairs of str
        Those of them that are not, as the embedding that was learnt from lacks a word.

    Notes
    -----
    The number of components tried is that of the authors' program; in GloVe the second was best.
    A word is biased by its cosine with the direction of the pairs. The authors' program takes from
    the centred vector what the vector *before* centring has along the component, which leaves the
    same remainder in all words; here nothing is left.

    All words are changed, those to ignore excepted. These stay where they were, outside of the
    centred space, so that their cosines with other words mean little: ignore few, or none.

    WEFE 1.0.1 differs: it changes only the words that it clusters, whatever its `target`; tries
    four components; clusters without a seed; and neutralises along the direction that the pairs
    had before the component was taken out.

    References
    ----------
    Wang, Lin, Rajani, McCann, Ordonez, Xiong (2020), doi:10.18653/v1/2020.acl-main.484.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> debiaser = bb.debias.DoubleHardDebias(n_components=4).fit(emb)
    >>> debiaser.component_, debiaser.accuracies_ < 0.7
    (0, array([ True, False, False, False]))
    >>> query = bb.Query([["he", "his", "man"], ["she", "her", "woman"]], [], ["male", "female"])
    >>> for each in (bb.debias.HardDebias().fit(emb), debiaser):
    ...     bb.metrics.ClusterTest(original=emb).run_query(query, each.transform(emb))
    <Score cluster_test = 0.81, male and female, demo_hard_debias>
    <Score cluster_test = 0.62, male and female, demo_double_hard_debias>
    """

    n_components: int = 20
    n_words: int = 500
    vocabulary: int = 50_000
    seed: int = 0

    name: ClassVar[str] = "double_hard_debias"
    reference: ClassVar[str | None] = (
        "Wang, Lin, Rajani, McCann, Ordonez, Xiong (2020), doi:10.18653/v1/2020.acl-main.484."
    )
    unit: ClassVar[bool] = False

    def fit(
        self,
        embedding: Embedding,
        *,
        definitional_pairs: Tuples = "bolukbasi:definitional_pairs",
        equalize_pairs: Tuples | None = None,
        exclude: Words | None = "bolukbasi:gender_specific",
        fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
    ) -> Self:
        """Find the component to take out, and learn the direction of the pairs.

        Parameters
        ----------
        embedding : Embedding
            What to learn from.
        definitional_pairs : list of pairs or str
            Words that differ by group only, such as ``("she", "he")``, or the name of a list.
        equalize_pairs : list of pairs or str, optional
            Pairs to equalise afterwards, as in `HardDebias`; by default none, as in the
            authors' program.
        exclude : list of str or str, optional
            Words of a group by meaning, which are no sign of bias; they and the words of the pairs
            are not among the most biased words.
        fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
            How words are found, as in `Matching`; `transform` uses them too.

        Returns
        -------
        DoubleHardDebias
            The debiaser itself.
        """
        pairs = as_pairs("definitional_pairs", definitional_pairs)
        equalize = () if equalize_pairs is None else as_pairs("equalize_pairs", equalize_pairs)
        words = () if exclude is None else as_words("exclude", exclude)
        at_least("n_components", self.n_components, 1)
        at_least("n_words", self.n_words, _LEAST_SIDE)
        at_least("vocabulary", self.vocabulary, 4 * _LEAST_SIDE)
        at_least("seed", self.seed, 0)
        self._fit_begins(embedding, fallbacks)
        rows = np.array(find_tuples("definitional_pairs", pairs, embedding, self.fallbacks_))
        self.equalize_pairs_ = equalize
        self._check_equalized(equalize, equalize_pairs, embedding)
        both = finite_vectors(embedding, rows.ravel()).reshape(*rows.shape, -1)
        differences = both[:, 0] - both[:, 1]
        excluded = [rows.ravel(), embedding.match(words, Matching(self.fallbacks_)).rows]
        sides = self._most_biased(embedding, _direction(differences), np.concatenate(excluded))
        self.mean_ = mean_vector(embedding)
        centred = np.asarray(embedding.vectors[sides.ravel()], dtype=np.float64) - self.mean_
        _, components = np.linalg.eigh(second_moments(embedding, centre=self.mean_))
        tried = [
            np.vstack([component, _direction(differences, component)])
            for component in components.T[: -self.n_components - 1 : -1]
        ]
        self.accuracies_ = np.array([self._accuracy(centred, directions) for directions in tried])
        self.component_ = int(self.accuracies_.argmin())
        self.directions_ = tried[self.component_]
        return self._fitted_on(embedding)

    def _most_biased(self, embedding: Embedding, direction: Array, excluded: Codes) -> Codes:
        """Return the rows of the words that lean most to either side, sides × words."""
        vectors = np.array(embedding.vectors[: self.vocabulary])
        usable = np.flatnonzero(vectors.any(axis=1))
        candidates = usable[~np.isin(usable, excluded)]
        to_unit(vectors)
        number = min(self.n_words, len(candidates) // 4)
        if number < _LEAST_SIDE:
            raise SpecError(
                f"embedding {embedding.name!r} has {len(candidates)} words besides those excluded, "
                f"and {4 * _LEAST_SIDE} are needed; load more of them."
            )
        leaning = (vectors @ direction.astype(np.float32))[candidates]
        order = np.argsort(leaning, kind="stable")
        return candidates[np.stack([order[:number], order[-number:]])]

    def _accuracy(self, centred: Array, directions: Array) -> float:
        """Return how well clusters tell the first half of the words from the second."""
        members = two_means(without(centred.copy(), directions).astype(np.float32), self.seed)
        half = len(members) // 2
        right = float(np.mean(np.concatenate([members[:half], ~members[half:]])))
        return max(right, 1 - right)

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        vectors -= self.mean_.astype(vectors.dtype)
        return without(vectors, self.directions_)

    def _special(self, embedding: Embedding, chosen: Mask) -> dict[int, Array]:
        # Pairs are equalised in the centred space, whether their words are to be changed or not.
        every = np.ones_like(chosen)
        rows = self._all_rows_to_equalize(self.equalize_pairs_, embedding)
        return equalised(self, embedding, every, rows, self.directions_[1:])


def _direction(differences: Array, besides: Array | None = None) -> Array:
    """Return the direction that pairs of words differ in most, besides another direction."""
    rest = differences if besides is None else without(differences.copy(), besides[None])
    _, lengths, directions = np.linalg.svd(rest, full_matrices=False)
    if not lengths[0] > 1e-6 * np.linalg.norm(differences):
        raise SpecError(
            "the words of 'definitional_pairs' differ in nothing, or along a principal component "
            "of the embedding only; give more pairs."
        )
    direction: Array = directions[0]
    return direction
