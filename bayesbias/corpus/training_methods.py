"""Ways to train word vectors, with the options that only one of them has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from bayesbias._core.validation import named, one_of, positive, share, true_or_false
from bayesbias.corpus.cooccurrences import WEIGHTINGS, Weighting
from bayesbias.errors import SpecError

MethodName: TypeAlias = Literal["word2vec", "fasttext", "glove", "pmi"]
METHODS: tuple[MethodName, ...] = ("word2vec", "fasttext", "glove", "pmi")


@dataclass(frozen=True, slots=True)
class GloVe:
    """Global vectors: products of vectors approximate logarithms of co-occurrence counts.

    A pair of words counts 1 / distance within the window. The errors of all pairs are weighted by
    (count / `x_max`) ** `alpha`, at most 1, and minimised by AdaGrad, one pair at a time in random
    order. A word's vector is the sum of its vectors as word and as context.

    Parameters
    ----------
    x_max : float, default 100
        The count from which on a pair has full weight. For a small corpus 10 is usual.
    alpha : float, default 0.75
        The power of the weight.
    learning_rate : float, default 0.05
        The length of the first steps.

    References
    ----------
    Pennington, Socher, Manning (2014), GloVe: Global Vectors for Word Representation,
    https://doi.org/10.3115/v1/D14-1162

    Examples
    --------
    >>> import bayesbias as bb
    >>> corpus = bb.corpus.Corpus(["she is a nurse", "he is an engineer"] * 10)
    >>> bb.train_embedding(corpus, bb.corpus.GloVe(x_max=10), dim=10, epochs=5)
    <Embedding 'corpus-glove': 6 words × 10 dimensions>
    """

    x_max: float = 100.0
    alpha: float = 0.75
    learning_rate: float = 0.05

    name: ClassVar[MethodName] = "glove"
    window: ClassVar[int] = 10
    epochs: ClassVar[int] = 15

    def __post_init__(self) -> None:
        for field in ("x_max", "alpha", "learning_rate"):
            positive(field, getattr(self, field))

    def describe(self) -> str:
        """Say how the method was used, in a few words."""
        return f"glove (x_max {self.x_max:g}, alpha {self.alpha:g}, rate {self.learning_rate:g})"


@dataclass(frozen=True, slots=True)
class PMI:
    """Positive pointwise mutual information of words and contexts, reduced by an SVD.

    The only chance in these vectors is that of the corpus: there is no random start.

    Parameters
    ----------
    shift : float, default 1
        Subtract log(`shift`) before negative values become 0, as word2vec does with its number of
        negative samples.
    smoothing : float, default 0.75
        Raise the counts of contexts to this power (context distribution smoothing); 1 for none.
    power : float, default 0.5
        Multiply each dimension by its singular value to this power.
    weighting : {"equal", "linear", "harmonic"}, default "equal"
        What a pair of words counts: 1, (window − distance + 1) / window as in word2vec, or
        1 / distance as in GloVe.
    add_contexts : bool, default False
        Add the vectors of contexts to those of words.

    References
    ----------
    Levy, Goldberg, Dagan (2015), Improving Distributional Similarity with Lessons Learned from
    Word Embeddings, https://doi.org/10.1162/tacl_a_00134

    Examples
    --------
    >>> import bayesbias as bb
    >>> corpus = bb.corpus.Corpus(["she is a nurse", "he is an engineer"] * 10)
    >>> bb.train_embedding(corpus, bb.corpus.PMI(smoothing=1), dim=3)
    <Embedding 'corpus-pmi': 6 words × 3 dimensions>
    """

    shift: float = 1.0
    smoothing: float = 0.75
    power: float = 0.5
    weighting: Weighting = "equal"
    add_contexts: bool = False

    name: ClassVar[MethodName] = "pmi"
    window: ClassVar[int] = 5
    epochs: ClassVar[int] = 1

    def __post_init__(self) -> None:
        for field in ("shift", "smoothing"):
            positive(field, getattr(self, field))
        share("power", self.power)
        one_of("weighting", self.weighting, WEIGHTINGS)
        true_or_false("add_contexts", self.add_contexts)

    def describe(self) -> str:
        """Say how the method was used, in a few words."""
        added = ", contexts added" if self.add_contexts else ""
        return (
            f"pmi (shift {self.shift:g}, smoothing {self.smoothing:g}, power {self.power:g}, "
            f"{self.weighting} weights{added})"
        )


#: A method by its name, or with options of its own.
Method: TypeAlias = MethodName | GloVe | PMI


def as_method(method: Method) -> tuple[MethodName, GloVe | PMI | None]:
    """Return the name of a method, and its options if it has any."""
    if isinstance(method, GloVe | PMI):
        return method.name, method
    if not isinstance(method, str):
        raise SpecError(
            f"'method' is {method!r}; expected a name such as 'word2vec', or GloVe(…) or PMI(…)."
        )
    found = named("method", method, METHODS)
    name = next(known for known in METHODS if known == found)
    options: dict[str, GloVe | PMI] = {"glove": GloVe(), "pmi": PMI()}
    return name, options.get(name)
