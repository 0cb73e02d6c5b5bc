"""Double-hard debiasing: first take out the direction that hides the bias, then the bias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least
from bayesbias.debias.base import LearnsFrom, to_unit
from bayesbias.debias.debias_words import GivenTuples, Mask, Tuples, Words, as_words, find_tuples
from bayesbias.debias.hard import EqualizingDebiaser, equalised, without
from bayesbias.debias.vector_moments import double_vectors, mean_vector, second_moments
from bayesbias.embeddings import Embedding
from bayesbias.errors import SpecError
from bayesbias.numerics.two_means import two_means

# Fewer words than this on a side do not show how well sides can be distinguished.
_LEAST_SIDE = 5


@dataclass(eq=False, repr=False)
class DoubleHardDebias(EqualizingDebiaser):
    """Double-hard debiasing for two groups (Wang et al. 2020).

    Some of what embeddings hold, such as how frequent words are, blurs the direction of a bias.
    So the vectors are centred, one of their principal components is taken out, and then they are
    neutralised along the direction of the pairs that it learns from, as in `HardDebias`. The
    component is the one without which the most biased words, neutralised, are hardest to
    distinguish by clustering. Vectors are not scaled.

    Parameters
    ----------
    n_components : int, default 20
        How many principal components are tried, those of most variance first; at most the number
        of dimensions.
    n_words : int, default 500
        How many of the most biased words of each side are clustered; at most a quarter of those
        they are chosen from.
    vocabulary : int, default 50,000
        The number of first words that they are chosen from; in most files these are the most
        frequent ones.
    seed : int, Generator or None, default 0
        Of the starts of the clusters.
    equalize : list of pairs or str, optional
        Pairs to equalise afterwards, as in `HardDebias`; by default none, as in the authors'
        program.
    exclude : list of str or str, optional
        Words of a group by meaning, which are no sign of bias; they and the words of the pairs are
        not among the most biased words. By default ``"bolukbasi:gender_specific"``.

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
    equalize_ : tuple of pairs of str
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
    seed: Seed = 0
    equalize: Tuples | None = None
    exclude: Words | None = "bolukbasi:gender_specific"

    name: ClassVar[str] = "double_hard_debias"
    title: ClassVar[str] = "double hard debiasing"
    reference: ClassVar[str] = (
        "Wang, Lin, Rajani, McCann, Ordonez, Xiong (2020), doi:10.18653/v1/2020.acl-main.484."
    )
    learns_from: ClassVar[LearnsFrom] = "pairs"
    default_definition: ClassVar[str | None] = "bolukbasi:definitional_pairs"
    unit: ClassVar[bool] = False

    def _learn(self, embedding: Embedding, definition: GivenTuples) -> None:
        excluded_words = () if self.exclude is None else as_words("exclude", self.exclude).words
        at_least("n_components", self.n_components, 1)
        at_least("n_words", self.n_words, _LEAST_SIDE)
        at_least("vocabulary", self.vocabulary, 4 * _LEAST_SIDE)
        seed = as_seed(self.seed)
        matching = self._matching(embedding)
        rows = np.array(find_tuples(definition, embedding, matching))
        self._set_equalized(None, embedding)
        both = double_vectors(embedding, rows.ravel()).reshape(*rows.shape, -1)
        differences = both[:, 0] - both[:, 1]
        excluded = np.concatenate([rows.ravel(), embedding.match(excluded_words, matching).rows])
        sides = self._most_biased(embedding, _direction(differences), excluded)
        self.mean_ = mean_vector(embedding)
        centred = np.asarray(embedding.vectors[sides.ravel()], dtype=np.float64) - self.mean_
        _, components = np.linalg.eigh(second_moments(embedding, centre=self.mean_))
        tried = [
            np.vstack([component, _direction(differences, component)])
            for component in components.T[: -self.n_components - 1 : -1]
        ]
        self.accuracies_ = np.array([_accuracy(centred, directions, seed) for directions in tried])
        self.component_ = int(self.accuracies_.argmin())
        self.directions_ = tried[self.component_]

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

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        vectors -= self.mean_.astype(vectors.dtype)
        return without(vectors, self.directions_)

    def _special(self, embedding: Embedding, chosen: Mask) -> dict[int, Array]:
        # Pairs are equalised in the centred space, whether their words are to be changed or not.
        every = np.ones_like(chosen)
        rows = self._all_rows_to_equalize(embedding)
        return equalised(self, embedding, every, rows, self.directions_[1:])


def _accuracy(centred: Array, directions: Array, seed: int) -> float:
    """Return how well clusters separate the first half of the words from the second."""
    members = two_means(without(centred.copy(), directions).astype(np.float32), seed)
    half = len(members) // 2
    right = float(np.mean(np.concatenate([members[:half], ~members[half:]])))
    return max(right, 1 - right)


def _direction(differences: Array, besides: Array | None = None) -> Array:
    """Return the direction that pairs of words differ in most, besides another direction."""
    rest = differences if besides is None else without(differences.copy(), besides[None])
    _, lengths, directions = np.linalg.svd(rest, full_matrices=False)
    if not lengths[0] > 1e-6 * np.linalg.norm(differences):
        raise SpecError(
            "the words of the pairs of 'definition' differ in nothing, or along a principal "
            "component of the embedding only; give more pairs."
        )
    direction: Array = directions[0]
    return direction
