"""Embeddings trained on a corpus, and how much chance there is in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias._core.progress import progress_bar
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, check_jobs, word_list
from bayesbias.corpus.cooccurrences import count_pairs
from bayesbias.corpus.corpus import Corpus, check_corpus
from bayesbias.corpus.training_methods import PMI, GloVe, Method, MethodName, as_method
from bayesbias.embeddings import Embedding
from bayesbias.errors import DataError, SpecError
from bayesbias.parallel import current_cluster, in_parallel

if TYPE_CHECKING:
    from gensim.models import Word2Vec

_MOST_SEEDS = 2**32
# Weights are drawn, and progress is reported, for this many documents or words at once.
_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class _Settings:
    """How embeddings are trained."""

    method: MethodName
    options: GloVe | PMI | None
    dim: int
    window: int
    min_count: int
    epochs: int
    skip_gram: bool
    subwords: tuple[str, ...]
    buckets: int
    deterministic: bool

    def __post_init__(self) -> None:
        for name in ("dim", "window", "min_count", "epochs", "buckets"):
            at_least(name, getattr(self, name), 1)
        if self.subwords and self.method != "fasttext":
            raise SpecError(
                f"'subwords' are composed from parts of words, which {self.method!r} does not "
                "learn; use method='fasttext'."
            )
        if self.skip_gram and self.options is not None:
            raise SpecError(
                f"'skip_gram' is an option of 'word2vec' and 'fasttext', not of {self.method!r}."
            )

    def describe(self) -> str:
        """Say how the embedding was trained, in a few words."""
        if self.options is not None:
            passes = f", {self.epochs} epochs" if self.method == "glove" else ""
            return (
                f"{self.options.describe()}, window {self.window}, min_count {self.min_count}"
                f"{passes}"
            )
        way = "skip-gram" if self.skip_gram else "CBOW"
        return (
            f"{self.method} ({way}), window {self.window}, min_count {self.min_count}, "
            f"{self.epochs} epochs"
        )

    def model(self, seed: int) -> Word2Vec:
        """Return gensim's model, without words yet."""
        import joblib
        from gensim.models import FastText, Word2Vec

        options = {
            "vector_size": self.dim,
            "window": self.window,
            "min_count": self.min_count,
            "sg": int(self.skip_gram),
            "seed": seed,
            "workers": 1 if self.deterministic else joblib.cpu_count(),
        }
        if self.method == "fasttext":
            return FastText(min_n=3, max_n=6, bucket=self.buckets, **options)
        return Word2Vec(**options)


class _Feed:
    """A corpus, or a bootstrap sample of its documents, as gensim reads it: once an epoch."""

    def __init__(self, corpus: Corpus, sample: int | None) -> None:
        self.corpus = corpus
        self.sample = sample
        self.advance: Callable[[float], None] = lambda amount: None
        self.error: BaseException | None = None

    def documents(self, advance: Callable[[float], None]) -> Iterator[list[str]]:
        """Yield the words of each document, in a sample as often as it was drawn.

        Each document is drawn a number of times that is Poisson with mean 1: the bootstrap, but
        for how many are drawn in all, which need not be known before. The seed draws the same
        documents every time.
        """
        documents = self.corpus._words(advance)
        if self.sample is None:
            yield from documents
            return
        seeds = np.random.SeedSequence(self.sample, spawn_key=(1,))
        for times, words in zip(_poisson(np.random.default_rng(seeds)), documents, strict=False):
            for _ in range(times):
                yield words

    def count(self, progress: bool) -> tuple[Counter[str], int]:
        """Return how often each word occurs, in the order of first occurrence, and documents."""
        counted: Counter[str] = Counter()
        number = 0
        with self.corpus._progress_bar("Counting words", show=progress) as advance:
            for words in self.documents(advance):
                counted.update(words)
                number += 1
        return counted, number

    def __iter__(self) -> Iterator[list[str]]:
        # gensim reads in a thread of its own, and would wait for ever if that raised.
        try:
            waiting = 0
            for words in self.documents(lambda amount: None):
                yield words
                waiting += len(words)
                if waiting >= _AT_ONCE:
                    self.advance(waiting)
                    waiting = 0
            self.advance(waiting)
        except Exception as err:
            self.error = err


def train_embedding(
    corpus: Corpus,
    method: Method = "word2vec",
    *,
    dim: int = 300,
    window: int | None = None,
    min_count: int = 5,
    epochs: int | None = None,
    skip_gram: bool = False,
    subwords: Iterable[str] = (),
    buckets: int = 2_000_000,
    seed: Seed = 0,
    deterministic: bool = True,
    name: str | None = None,
    progress: bool = True,
) -> Embedding:
    """Train word vectors on a corpus, by word2vec, fastText, GloVe or mutual information.

    word2vec and fastText are gensim's. What is not an argument here has gensim's default: 5
    negative samples, frequent words down-sampled at 0.001, a learning rate that falls from 0.025,
    and for fastText parts of words of 3 to 6 letters. `GloVe` and `PMI` have options of their own.

    Parameters
    ----------
    corpus : Corpus
        The text; it is read once to count its words and once an epoch, for GloVe and PMI only
        twice.
    method : {"word2vec", "fasttext", "glove", "pmi"}, GloVe or PMI, default "word2vec"
        How to train. fastText also learns from the parts of words. GloVe and PMI start from a
        table of how often words occur near each other, which must fit into memory.
    dim : int, default 300
        The number of dimensions.
    window : int, optional
        How many words before and behind are context; 5 by default, 10 for GloVe.
    min_count : int, default 5
        Leave out words that occur less often.
    epochs : int, optional
        How many times to go through the corpus, or for GloVe through the pairs of words; 5 by
        default, 15 for GloVe. PMI has none.
    skip_gram : bool, default False
        Predict the context from the word (skip-gram), not the word from its context (CBOW).
    subwords : iterable of str, optional
        For fastText: words to compose from their parts if the corpus has them too rarely or not at
        all. They stand behind the others.
    buckets : int, default 2_000_000
        For fastText: how many vectors the parts of words share. They need 4 × `dim` bytes each
        while training, 2.4 GB with the defaults.
    seed : int, Generator or None, default 0
        Same seed, same result, if `deterministic`. A NumPy generator draws the seed.
    deterministic : bool, default True
        Train on one core. On all cores it is quicker, but each run gives other vectors. GloVe and
        PMI are always deterministic.
    name : str, optional
        The name of the embedding; by default those of the corpus and the method.
    progress : bool, default True
        Show a progress bar, in terminals and notebooks.

    Returns
    -------
    Embedding
        The words, most frequent first, and their vectors.

    Raises
    ------
    SpecError
        If an option is wrong.
    DataError
        If no word is frequent enough, or the corpus cannot be read; in most cases this is found
        before training begins.

    Examples
    --------
    >>> import bayesbias as bb
    >>> corpus = bb.corpus.Corpus(["she is a nurse", "he is an engineer"] * 10)
    >>> bb.train_embedding(corpus, dim=10, name="small")
    <Embedding 'small': 6 words × 10 dimensions>
    """
    check_corpus(corpus)
    settings = _settings(
        method,
        dim=dim,
        window=window,
        min_count=min_count,
        epochs=epochs,
        skip_gram=skip_gram,
        subwords=tuple(dict.fromkeys(word_list("subwords", subwords))),
        buckets=buckets,
        deterministic=deterministic,
    )
    label = name or f"{corpus.name}-{settings.method}"
    return _train(
        corpus,
        settings,
        seed=_first_seed(seed, 1),
        resample=False,
        name=label,
        progress=progress,
    )


def train_replicates(
    corpus: Corpus,
    method: Method = "word2vec",
    *,
    replicates: int = 5,
    resample: bool = False,
    dim: int = 300,
    window: int | None = None,
    min_count: int = 5,
    epochs: int | None = None,
    skip_gram: bool = False,
    subwords: Iterable[str] = (),
    buckets: int = 2_000_000,
    seed: Seed = 0,
    deterministic: bool = True,
    n_jobs: int = 1,
    name: str | None = None,
    progress: bool = True,
) -> list[Embedding]:
    """Train several embeddings that differ by chance only.

    The spread of a measure over them is what training adds to its uncertainty: that of the random
    start and of random samples while training, and with `resample` that of the documents, which
    might have been others.

    Parameters
    ----------
    corpus : Corpus
        The text.
    method : {"word2vec", "fasttext", "glove", "pmi"}, GloVe or PMI, default "word2vec"
        How to train; PMI needs `resample`, as there is no other chance in it.
    replicates : int, default 5
        How many embeddings; their seeds are `seed`, `seed` + 1 and so on.
    resample : bool, default False
        Train each on a bootstrap sample of the documents: every document is taken a number of
        times that is Poisson with mean 1. Rare words may then be missing from some embeddings.
    dim : int, default 300
        The number of dimensions.
    window : int, optional
        How many words before and behind are context; 5 by default, 10 for GloVe.
    min_count : int, default 5
        Leave out words that occur less often.
    epochs : int, optional
        How many times to go through the corpus, or for GloVe through the pairs of words; 5 by
        default, 15 for GloVe. PMI has none.
    skip_gram : bool, default False
        Predict the context from the word (skip-gram), not the word from its context (CBOW).
    subwords : iterable of str, optional
        For fastText: words to compose from their parts where they are missing.
    buckets : int, default 2_000_000
        For fastText: how many vectors the parts of words share.
    seed : int, Generator or None, default 0
        The seed of the first; same seed, same result, if `deterministic`. A NumPy generator draws
        it.
    deterministic : bool, default True
        Train each on one core.
    n_jobs : int, default 1
        How many to train at the same time, by joblib; -1 for one on each core.
    name : str, optional
        What the names of the embeddings begin with; a number follows.
    progress : bool, default True
        Show a progress bar, in terminals and notebooks.

    Returns
    -------
    list of Embedding
        The embeddings. Without `resample` the first is what `train_embedding` gives, and all have
        the same words.

    Raises
    ------
    SpecError
        If an option is wrong.
    DataError
        If no word is frequent enough, or the corpus cannot be read.

    References
    ----------
    Antoniak and Mimno (2018), Evaluating the Stability of Embedding-based Word Similarities,
    https://doi.org/10.1162/tacl_a_00008

    Examples
    --------
    >>> import bayesbias as bb
    >>> corpus = bb.corpus.Corpus(["she is a nurse", "he is an engineer"] * 10)
    >>> bb.train_replicates(corpus, replicates=2, dim=10)
    [<Embedding 'corpus-word2vec-1': 6 words × 10 dimensions>,
     <Embedding 'corpus-word2vec-2': 6 words × 10 dimensions>]
    """
    check_corpus(corpus)
    settings = _settings(
        method,
        dim=dim,
        window=window,
        min_count=min_count,
        epochs=epochs,
        skip_gram=skip_gram,
        subwords=tuple(dict.fromkeys(word_list("subwords", subwords))),
        buckets=buckets,
        deterministic=deterministic,
    )
    if settings.method == "pmi" and not resample:
        raise SpecError(
            "'method' is 'pmi', whose vectors are the same for every seed; give resample=True to "
            "train on bootstrap samples of the documents."
        )
    at_least("replicates", replicates, 1)
    check_jobs(n_jobs)
    first = _first_seed(seed, replicates)
    label = name or f"{corpus.name}-{settings.method}"
    alone = n_jobs == 1 and current_cluster() is None
    tasks = (
        (corpus, settings, first + number, resample, f"{label}-{number + 1}", progress and alone)
        for number in range(replicates)
    )
    with progress_bar(
        "Training embeddings", total=replicates, show=progress and not alone, unit="steps"
    ) as advance:
        trained = []
        for embedding in in_parallel(_train, tasks, n_jobs=n_jobs, shared=[corpus]):
            trained.append(embedding)
            advance(1)
    return trained


def _train(
    corpus: Corpus,
    settings: _Settings,
    seed: int,
    resample: bool,
    name: str,
    progress: bool,
) -> Embedding:
    feed = _Feed(corpus, seed if resample else None)
    counted, documents = feed.count(progress)
    _check_counts(counted, settings.min_count, corpus)
    tokens = counted.total()
    sample = "a bootstrap sample of " if resample else ""
    notes = [f"{settings.describe()}, seed {seed}, {tokens:,} tokens of {sample}{corpus.name!r}"]
    if settings.options is not None:
        words = [word for word, count in counted.most_common() if count >= settings.min_count]
        vectors = _from_pairs(feed, words, settings, seed, name, progress)
        return Embedding(words, vectors, name, notes=notes)
    model = settings.model(seed)
    model.build_vocab_from_freq(counted, corpus_count=documents)
    with progress_bar(
        f"Training {name}", total=settings.epochs * tokens, show=progress, unit="steps"
    ) as feed.advance:
        model.train(feed, total_examples=documents, total_words=tokens, epochs=settings.epochs)
    if feed.error is not None:
        raise feed.error
    words, vectors = list(model.wv.index_to_key), model.wv.vectors
    composed = [word for word in settings.subwords if word not in model.wv.key_to_index]
    if composed:
        vectors = np.vstack([vectors, [model.wv.get_vector(word) for word in composed]])
        words += composed
        notes.append(f"{len(composed)} of {len(settings.subwords)} words composed from subwords")
    return Embedding(words, vectors, name, notes=notes)


def _from_pairs(
    feed: _Feed, words: list[str], settings: _Settings, seed: int, name: str, progress: bool
) -> npt.NDArray[np.float32]:
    """Return vectors from how often words occur near each other."""
    options = settings.options
    index = {word: number for number, word in enumerate(words)}
    if isinstance(options, PMI):
        _check_rank(settings.dim, len(words), feed.corpus)
    weighting = options.weighting if isinstance(options, PMI) else "harmonic"
    with feed.corpus._progress_bar("Counting pairs of words", show=progress) as advance:
        pairs = count_pairs(feed.documents(advance), index, settings.window, weighting)
    if not pairs.nnz:
        raise DataError(
            f"corpus {feed.corpus.name!r}: no two words of the vocabulary occur in one document; "
            "lower min_count (--min-count), or give longer documents."
        )
    if isinstance(options, PMI):
        from bayesbias.corpus.pmi_vectors import pmi_vectors, positive_pmi

        return pmi_vectors(
            positive_pmi(pairs, shift=options.shift, smoothing=options.smoothing),
            dim=settings.dim,
            power=options.power,
            add_contexts=options.add_contexts,
            seed=seed,
        )
    assert isinstance(options, GloVe)
    # Numba is slow to import, and no other method needs it.
    from bayesbias.corpus.glove import glove_vectors

    steps = settings.epochs * pairs.nnz
    with progress_bar(f"Training {name}", total=steps, show=progress, unit="steps") as advance:
        return glove_vectors(
            pairs,
            dim=settings.dim,
            epochs=settings.epochs,
            x_max=options.x_max,
            alpha=options.alpha,
            learning_rate=options.learning_rate,
            seed=seed,
            advance=advance,
        )


def _settings(
    method: Method, *, window: int | None, epochs: int | None, **shared: Any
) -> _Settings:
    """Return the settings, with the window and the epochs that are usual for the method."""
    name, options = as_method(method)
    if name == "pmi" and epochs is not None:
        raise SpecError("'epochs' is not an option of 'pmi', which is computed in one step.")
    usual_window, usual_epochs = (options.window, options.epochs) if options else (5, 5)
    return _Settings(
        name,
        options,
        window=usual_window if window is None else window,
        epochs=usual_epochs if epochs is None else epochs,
        **shared,
    )


def _check_rank(dim: int, words: int, corpus: Corpus) -> None:
    if dim >= words:
        raise SpecError(
            f"'dim' is {dim}, but the corpus {corpus.name!r} has {words:,} words that are frequent "
            "enough; vectors of 'pmi' have fewer dimensions than there are words. Lower 'dim' or "
            "'min_count'."
        )


def _poisson(rng: np.random.Generator) -> Iterator[int]:
    while True:
        yield from rng.poisson(1.0, _AT_ONCE).tolist()


def _first_seed(seed: Seed, replicates: int) -> int:
    """Return the seed of the first embedding, if all that follow are in the range of gensim's."""
    end = _MOST_SEEDS - replicates + 1
    first = as_seed(seed)
    if not isinstance(seed, int):
        return first % end
    if first >= end:
        raise SpecError(f"'seed' is {seed}; expected less than {end:,}.")
    return first


def _check_counts(counted: Counter[str], min_count: int, corpus: Corpus) -> None:
    """Refuse a corpus of which no word is left, before the training."""
    if not counted:
        raise DataError(f"corpus {corpus.name!r}: too few documents for a bootstrap sample.")
    word, most = counted.most_common(1)[0]
    if most < min_count:
        raise DataError(
            f"corpus {corpus.name!r}: no word occurs {min_count:,} times; the most frequent, "
            f"{word!r}, occurs {most:,} times. Lower 'min_count'."
        )
