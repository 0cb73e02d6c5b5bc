"""Least-squares concept erasure: the smallest change that makes groups indistinguishable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias.debias.debias_words import GivenWords, Tuples
from bayesbias.debias.group_words import GroupDebiaser, labels, words_of
from bayesbias.debias.vector_moments import double_vectors
from bayesbias.embeddings import Embedding
from bayesbias.errors import warn


@dataclass(eq=False, repr=False)
class LEACE(GroupDebiaser):
    """Least-squares concept erasure in closed form (Belrose et al. 2023).

    It learns from the words of groups. Of all affine changes after which no linear classifier does
    better than chance on the words of the groups, it is the one that moves these words least. The
    number of dimensions removed is the number of groups minus one. Vectors are not scaled, neither
    before nor after: groups that have the same mean would no longer have it, and could be
    distinguished again.

    Parameters
    ----------
    n_words : int, default 7500
        Without a definition: how many words of each side are learnt from, at most a quarter of the
        vocabulary.
    shrinkage : bool, default True
        Whether the covariance of the words is drawn towards that of a ball, by Ledoit and Wolf's
        formula: much where there are few words, hardly where there are many.
    pairs : list of pairs or str, optional
        Without a definition: pairs such as ``("she", "he")``. The two groups are the words that
        lean most along their direction, among the first 150,000 of the vocabulary. By default
        ``"bolukbasi:definitional_pairs"``.

    Attributes
    ----------
    mean_ : ndarray of shape (dim,)
        The mean of the words learnt from; it stays where it is.
    measured_, directions_ : ndarray of shape (n_removed, dim)
        How far a word is from the mean is measured by the one, and removed along the other.
    groups_ : tuple of tuples of str
        The words learnt from.

    Notes
    -----
    r(x) = x − W⁺ P W (x − mean), where W whitens the words learnt from and P projects on the space
    of the cross-covariance of the whitened words with their groups. The guarantee is for the words
    learnt from and for linear classifiers. It holds with and without shrinkage, as the groups have
    the same mean afterwards whatever W is. Without, the change is exactly the smallest for these
    words; but if there are not many more of them than dimensions, it is a large one for others.

    References
    ----------
    Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman (2023), arXiv:2306.03819.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> debiaser = bb.debias.LEACE(pairs="bolukbasi:definitional_pairs").fit(emb)
    >>> after = debiaser.transform(emb)
    >>> means = [after.subset(words).vectors.mean(axis=0) for words in debiaser.groups_]
    >>> round(float(abs(means[0] - means[1]).max()), 4)
    0.0
    """

    n_words: int = 7500
    shrinkage: bool = True
    pairs: Tuples | None = None

    name: ClassVar[str] = "leace"
    title: ClassVar[str] = "LEACE"
    reference: ClassVar[str] = (
        "Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman (2023), arXiv:2306.03819."
    )
    unit: ClassVar[bool] = False

    def _learn(self, embedding: Embedding, definition: list[GivenWords] | None) -> None:
        groups = self._group_rows(embedding, definition)
        vectors = double_vectors(embedding, np.concatenate(groups))
        self.mean_ = vectors.mean(axis=0)
        self.measured_, self.directions_ = erasure(
            vectors - self.mean_, labels(groups), self.shrinkage
        )
        self.groups_ = words_of(embedding, groups)
        if not len(self.directions_):
            warn("the groups have the same mean already; nothing will be removed.")

    def _change(self, vectors: npt.NDArray[Any], rows: Codes) -> npt.NDArray[Any]:
        # In double precision, as what is learnt is: the product is a small difference of sums.
        far = vectors @ self.measured_.T - self.mean_ @ self.measured_.T
        vectors -= far.astype(vectors.dtype) @ self.directions_.astype(vectors.dtype)
        return vectors


def erasure(centred: Array, of: Codes, shrinkage: bool) -> tuple[Array, Array]:
    """Return what to measure and along what to remove it, from vectors about their mean.

    All happens in the basis of the vectors' principal components, where whitening is a division;
    what is outside has nothing to do with the groups.
    """
    # A triangle that has the same principal components is soon decomposed.
    triangle = np.linalg.qr(centred, mode="r")
    _, values, components = np.linalg.svd(triangle, full_matrices=False)
    # What is smaller is the rounding of vectors in single precision.
    kept = values > values[0] * max(centred.shape) * np.finfo(np.float32).eps
    components = components[kept]
    variances = values[kept] ** 2 / len(centred)
    if shrinkage:
        mean = variances.sum() / centred.shape[1]
        variances += ledoit_wolf(centred, variances) * (mean - variances)
    deviations = np.sqrt(variances)
    members = (of[:, None] == np.arange(of.max() + 1)).astype(np.float64)
    shared = components @ (centred.T @ (members - members.mean(axis=0))) / len(centred)
    across, sizes, _ = np.linalg.svd(shared / deviations[:, None], full_matrices=False)
    across = across[:, sizes > 1e-6]
    return (across.T / deviations) @ components, (across.T * deviations) @ components


def ledoit_wolf(centred: Array, variances: Array) -> float:
    """Return how much to shrink a covariance matrix, from 0 to 1 (Ledoit & Wolf 2004).

    The share of what makes its eigenvalues differ that is the noise of a small sample.
    """
    number, dim = centred.shape
    squares = float((variances**2).sum())
    differ = squares - float(variances.sum()) ** 2 / dim
    noise = float((np.einsum("ij,ij->i", centred, centred) ** 2).mean() - squares) / number
    return min(noise / differ, 1.0) if differ > 0 else 1.0
