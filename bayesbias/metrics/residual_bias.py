"""What is left of a bias: whether the words that leaned most can still be distinguished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.validation import at_least, one_of
from bayesbias.embeddings import Embedding
from bayesbias.errors import SpecError
from bayesbias.metrics.base import Metric
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.shared_neighbours import UNTESTED, check_original, in_original
from bayesbias.metrics.weighting import ones
from bayesbias.numerics.two_means import Flags, Floats, two_means
from bayesbias.numerics.weighted import shares
from bayesbias.wordlists import Template

Classifier = Literal["svm", "logistic"]

# Why draws of the words of the groups are no draws of the value.
_NO_INTERVAL = (
    "other weights of the groups' words turn the direction between the groups, and so test other "
    "words along a direction that debiasing has not removed"
)
# Fewer words than this on a side are no test.
_LEAST_SIDE = 5


@dataclass(frozen=True, eq=False)
class Pool:
    """The words that may be chosen, with vectors of length one in both embeddings."""

    words: tuple[str, ...]
    original: Floats
    tested: Floats


@dataclass(frozen=True, eq=False)
class Group(WordVectors):
    """The words of a group as they are in the original, with the words that may lean to it."""

    pool: Pool = field(kw_only=True)


@dataclass(frozen=True)
class ClusterTest(Metric):
    """Whether the words that leaned most to either group fall into two clusters again.

    0.5: clusters tell nothing of how words leaned; 1: they are the words of the two sides (Gonen &
    Goldberg 2019). Give the embedding before debiasing as `original`: which words lean is taken
    from there, the clusters are those of the embedding that is tested.

    Parameters
    ----------
    n_words : int, default 500
        How many words of each side are clustered; at most a quarter of the vocabulary.
    vocabulary : int, default 50,000
        The words are chosen among this many first words of the original, which in most files are
        the most frequent words. Words of the groups are left out.
    original : Embedding, optional
        The embedding before debiasing; by default the tested one itself.
    seed : int, default 0
        Of the starts of the clusters; calls fill it in.

    Notes
    -----
    A word leans by its cosine with the direction mean(T₁) − mean(T₂), of vectors of length one.
    The value is the purity of 2-means, the best of ten starts: the share of words in the cluster
    of their side. Chance gives a little more than 0.5. Where the tested embedding is its own
    original, words were chosen for differing along one direction, so the value is high by
    construction; it speaks of an embedding after debiasing.

    There is no interval. What is uncertain is how few words stand for the groups; but other weights
    of these words turn the direction, so other words lean most, and along a direction that
    debiasing has not removed these fall into clusters again. Draws of a bootstrap are therefore
    draws of another quantity: in simulations, corrected 89% intervals from them held the mean over
    lists in anything from none to all of the tables, depending on the population. `influence` shows
    what single words do.

    References
    ----------
    Gonen, Goldberg (2019), doi:10.18653/v1/N19-1061.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query = bb.Query([["he", "his", "man"], ["she", "her", "woman"]], [], ["male", "female"])
    >>> score = bb.metrics.ClusterTest().run_query(query, bb.load_embedding("demo"))
    >>> score
    <Score cluster_test = 0.99, male and female, demo>
    >>> score["first_words"][:3]
    ('defensive', 'giants', 'rangers')
    """

    n_words: int = 500
    vocabulary: int = 50_000
    original: Embedding | None = None
    seed: int = 0

    name: ClassVar[str] = "cluster_test"
    title: ClassVar[str] = "cluster test"
    reference: ClassVar[str | None] = "Gonen, Goldberg (2019), doi:10.18653/v1/N19-1061."
    template: ClassVar[Template] = (2, 0)
    value_range: ClassVar[tuple[float, float]] = (0.5, 1.0)
    neutral_value: ClassVar[float] = 0.5
    orientation: ClassVar[str] = "0.5: the sides cannot be distinguished; larger is more bias left"
    whole_embedding: ClassVar[bool] = True
    no_p_value: ClassVar[str | None] = UNTESTED
    no_interval: ClassVar[str | None] = _NO_INTERVAL
    undefined: ClassVar[str] = "the groups have the same mean"
    empty_details: ClassVar[dict[str, Any]] = {"first_words": (), "second_words": ()}

    def __post_init__(self) -> None:
        at_least("n_words", self.n_words, _LEAST_SIDE)
        at_least("vocabulary", self.vocabulary, 1)
        check_original(self.original)

    def expand(
        self,
        targets: tuple[WordVectors, ...],
        attributes: tuple[WordVectors, ...],
        embedding: Embedding,
    ) -> tuple[tuple[WordVectors, ...], tuple[WordVectors, ...]]:
        """Return the groups as they are in the original, with the words that may lean to them."""
        return _groups(targets, embedding, self.original or embedding, self.vocabulary), attributes

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the purity for each draw of weights of the words of the groups."""
        tested = _pool(targets).tested
        values = []
        for sides in _sides(targets, target_weights, self.n_words):
            if sides is None:
                values.append(np.nan)
                continue
            members = two_means(tested[np.concatenate(sides)], self.seed)
            right = (members == _labels(sides)).mean()
            values.append(max(right, 1 - right))
        return np.array(values)

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and the words of both sides, those that lean most first."""
        return self.value(targets, attributes), _chosen_words(targets, self.n_words)


@dataclass(frozen=True)
class ClassificationTest(Metric):
    """Whether a classifier learns from some words which group others leaned to.

    The accuracy on words it has not seen: 0.5 is chance, larger is more bias left (Gonen & Goldberg
    2019). Give the embedding before debiasing as `original`: which words lean is taken from there,
    the vectors that are classified from the embedding that is tested.

    Parameters
    ----------
    n_words : int, default 5000
        How many words that lean most are taken, half of them from each side; at most half of the
        vocabulary.
    n_train : int, default 1000
        How many of them are learnt from; in proportion where there are fewer than `n_words`.
    classifier : {"svm", "logistic"}, default "svm"
        A support vector machine with radial kernel, as in the paper, or a logistic regression.
    vocabulary : int, default 50,000
        The words are chosen among this many first words of the original, which in most files are
        the most frequent words. Words of the groups are left out.
    original : Embedding, optional
        The embedding before debiasing; by default the tested one itself.
    seed : int, default 0
        Of the split into training words and held-out words; calls fill it in.

    Notes
    -----
    A word leans by its cosine with the direction mean(T₁) − mean(T₂), of vectors of length one.
    Where the tested embedding is its own original, the value is high by construction.

    There is no interval, for the reason that `ClusterTest` has none: other weights of the groups'
    words would test other words, along a direction that debiasing has not removed. The seed gives
    every word of the vocabulary its place in the split; another seed shows what the split does.

    References
    ----------
    Gonen, Goldberg (2019), doi:10.18653/v1/N19-1061.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query = bb.Query([["he", "his", "man"], ["she", "her", "woman"]], [], ["male", "female"])
    >>> test = bb.metrics.ClassificationTest(n_words=1000, n_train=200)
    >>> test.run_query(query, bb.load_embedding("demo"))
    <Score classification_test = 1.00, male and female, demo>
    """

    n_words: int = 5000
    n_train: int = 1000
    classifier: Classifier = "svm"
    vocabulary: int = 50_000
    original: Embedding | None = None
    seed: int = 0

    name: ClassVar[str] = "classification_test"
    title: ClassVar[str] = "classification test"
    reference: ClassVar[str | None] = "Gonen, Goldberg (2019), doi:10.18653/v1/N19-1061."
    template: ClassVar[Template] = (2, 0)
    value_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    neutral_value: ClassVar[float] = 0.5
    orientation: ClassVar[str] = "0.5: the sides cannot be distinguished; larger is more bias left"
    whole_embedding: ClassVar[bool] = True
    no_p_value: ClassVar[str | None] = UNTESTED
    no_interval: ClassVar[str | None] = _NO_INTERVAL
    undefined: ClassVar[str] = "the groups have the same mean"
    empty_details: ClassVar[dict[str, Any]] = {"first_words": (), "second_words": ()}

    def __post_init__(self) -> None:
        at_least("n_words", self.n_words, 2 * _LEAST_SIDE)
        at_least("n_train", self.n_train, 2)
        if self.n_train >= self.n_words:
            raise SpecError(
                f"'n_train' is {self.n_train} of 'n_words' = {self.n_words}; leave words to test."
            )
        one_of("classifier", self.classifier, ("svm", "logistic"))
        at_least("vocabulary", self.vocabulary, 1)
        check_original(self.original)

    def expand(
        self,
        targets: tuple[WordVectors, ...],
        attributes: tuple[WordVectors, ...],
        embedding: Embedding,
    ) -> tuple[tuple[WordVectors, ...], tuple[WordVectors, ...]]:
        """Return the groups as they are in the original, with the words that may lean to them."""
        return _groups(targets, embedding, self.original or embedding, self.vocabulary), attributes

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the accuracy for each draw of weights of the words of the groups."""
        tested = _pool(targets).tested
        place = np.random.default_rng(self.seed).permutation(len(tested))
        values = []
        for sides in _sides(targets, target_weights, self.n_words // 2):
            if sides is None:
                values.append(np.nan)
                continue
            number = len(sides[0])
            part = min(max(round(number * self.n_train / self.n_words), 1), number - 1)
            ordered = [side[np.argsort(place[side])] for side in sides]
            training, held_out = (
                [side[:part] for side in ordered],
                [side[part:] for side in ordered],
            )
            model = _classifier(self.classifier)
            model.fit(tested[np.concatenate(training)], _labels(training))
            predicted = model.predict(tested[np.concatenate(held_out)])
            values.append((predicted == _labels(held_out)).mean())
        return np.array(values)

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value, and the words of both sides, those that lean most first."""
        return self.value(targets, attributes), _chosen_words(targets, self.n_words // 2)


def _classifier(name: str) -> Any:
    if name == "logistic":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=10_000)
    from sklearn.svm import SVC

    return SVC(kernel="rbf")


def _groups(
    targets: tuple[WordVectors, ...], embedding: Embedding, original: Embedding, vocabulary: int
) -> tuple[Group, ...]:
    """Return the groups with the first words of the original that the embedding has too."""
    groups = [in_original(words, embedding, original) for words in targets]
    words = original.words[:vocabulary]
    rows = np.array([embedding.index.get(word, -1) for word in words], dtype=np.intp)
    in_vocabulary = (rows >= 0) & ~np.isin(rows, np.concatenate([words.rows for words in targets]))
    first, ours = _unit(original.vectors[: len(words)])
    second, theirs = _unit(embedding.vectors[rows])
    chosen = np.flatnonzero(in_vocabulary & ours & theirs)
    if len(chosen) < 4 * _LEAST_SIDE:
        raise SpecError(
            f"embedding {embedding.name!r} and its original share {len(chosen)} words besides "
            f"those of the groups, and {4 * _LEAST_SIDE} are needed; load more of them."
        )
    pool = Pool(tuple(words[i] for i in chosen), first[chosen], second[chosen])
    return tuple(Group(g.name, g.words, g.vectors, g.embedding, g.rows, pool=pool) for g in groups)


def _unit(vectors: Floats) -> tuple[Floats, Flags]:
    """Return the vectors scaled to length one, and which have a direction."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    usable = np.isfinite(norms) & (norms > 0)
    unit = vectors / np.where(usable, norms, 1)
    return unit.astype(np.float32, copy=False), usable[:, 0]


def _pool(targets: Sequence[WordVectors]) -> Pool:
    first = targets[0]
    if not isinstance(first, Group):
        raise SpecError(
            f"the words of {first.name!r} come without the words that may lean to them; call "
            "run_query(), posterior() or influence()."
        )
    return first.pool


def _sides(
    targets: Sequence[WordVectors], weights: Sequence[Array], n_words: int
) -> Iterator[tuple[Codes, Codes] | None]:
    """Yield, for each draw, the places of the words that lean most to the first and the second.

    None where the groups have the same mean.
    """
    original = _pool(targets).original
    n = min(n_words, len(original) // 4)
    vectors = np.vstack([words.vectors for words in targets])
    cosines = original @ vectors.T.astype(np.float32)
    draws = max(len(w) for w in weights)
    first, second = (np.broadcast_to(shares(w), (draws, w.shape[1])) for w in weights)
    for signed in np.hstack([first, -second]):
        length = np.linalg.norm(signed @ vectors)
        if not length > 1e-6:
            yield None
            continue
        leaning = cosines @ signed.astype(np.float32)
        parted = np.argpartition(leaning, (n - 1, len(leaning) - n))
        # In the order of the vocabulary: that of a partition says nothing.
        yield np.sort(parted[-n:]), np.sort(parted[:n])


def _labels(sides: Sequence[Codes]) -> Flags:
    return np.repeat([True, False], [len(side) for side in sides])


def _chosen_words(targets: Sequence[WordVectors], n_words: int) -> dict[str, Any]:
    pool = _pool(targets)
    [sides] = _sides(targets, ones(targets), n_words)
    if sides is None:
        return {"first_words": (), "second_words": ()}
    axis = targets[0].vectors.mean(axis=0) - targets[1].vectors.mean(axis=0)
    result = {}
    for key, side, sign in zip(("first_words", "second_words"), sides, (-1, 1), strict=True):
        order = np.argsort(sign * (pool.original[side] @ axis), kind="stable")
        result[key] = tuple(pool.words[i] for i in side[order])
    return result
