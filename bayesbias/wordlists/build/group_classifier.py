"""The group of any word, learnt from a few words whose group is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import blocks
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.progress import progress_bar
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.sklearn_errors import NotFittedError
from bayesbias._core.validation import check_jobs, one_of, share, true_or_false, word_list
from bayesbias._core.wording import counted, quoted
from bayesbias.embeddings import Embedding, EmbeddingLike, Matching, as_embedding, check_embedding
from bayesbias.errors import SpecError, VocabularyError, warn
from bayesbias.wordlists.build.classifier_evaluation import Evaluation, evaluate
from bayesbias.wordlists.build.classifier_training import (
    METHODS,
    Calibrated,
    Choice,
    learn,
    search,
    splits,
)
from bayesbias.wordlists.build.labelled_words import (
    FEWEST,
    UNSURE,
    Labelled,
    LabelledWords,
    as_labelled,
    find_labelled,
)
from bayesbias.wordlists.build.lemmas import group_of_lemma, lemma_parts, lemmas_of

if TYPE_CHECKING:
    import pandas as pd

# One of this many lemmas is held out; folds of the cross-validation.
_HELD_OUT = 4
_FOLDS = 5
# Numbers in a block of vectors that is classified at once: small enough for the caches.
_BLOCK_NUMBERS = 400_000


@dataclass(eq=False, repr=False)
class GroupClassifier(BaseEstimator):  # type: ignore[misc]
    """Classify words into groups by their vectors, from a few words whose group is known.

    It follows the conventions of scikit-learn: settings are given when it is made, `fit` returns
    the classifier, names of what it learns end in ``_``, and `clone`, `get_params` and
    `check_is_fitted` work.

    Parameters
    ----------
    method : {"logistic", "svm", "forest", "best"}, default "logistic"
        Logistic regression, a support vector machine (rbf or cubic kernel), a random forest, or
        whichever of them has the highest macro F1 in cross-validation.
    unit : bool, default True
        Whether vectors are scaled to length one first, so that only directions count.
    threshold : float, default 0.7
        A word whose most probable group is less probable than this is called ``unsure``.
    seed : int, Generator or None, default 0
        The seed of the choice of held-out words, the folds and the forest. A NumPy generator, or
        None, gives another one with each `fit`.
    n_jobs : int, default 1
        Processes of the grid search; -1 for all cores.

    Attributes
    ----------
    classes_ : ndarray of str
        The names of the groups.
    evaluation_ : DataFrame
        How it performs on held-out words, one row per group: ``precision``, ``recall``, ``f1``,
        ``fpr`` and ``fnr`` (false positive and negative rates) with each word in its most probable
        group, ``unsure`` (the share of the group's words below the threshold) and ``support``.
    macro_f1_ : float
        The mean of the groups' F1 on held-out words.
    macro_f1_interval_ : tuple of float
        Its 89% interval, by the Bayesian bootstrap over lemmas.
    brier_ : float
        The mean squared distance between probabilities and truth on held-out words, summed over
        groups: 0 is perfect; for k groups, 1 - 1/k is that of equal probabilities.
    calibration_error_ : float
        How far the share of words that are in their most probable group is from its probability,
        on average over ten bins of that probability, on held-out words.
    confusion_ : DataFrame
        How many held-out words of each group (row) are predicted to be in each (column).
    labelled_ : DataFrame
        The words learnt from: ``word``, ``group``, ``lemma``, and ``part``, which is ``training``
        or ``held out``.
    search_ : DataFrame
        What cross-validation says of each method and setting, the best first: ``method``,
        ``options``, ``macro_f1``, ``sd``.
    chosen_ : str
        The method of the best.
    missing_ : tuple of str
        Labelled words that the embedding lacks.
    two_labels_ : tuple of str
        Words that were dropped because they have two labels.

    Notes
    -----
    A quarter of the lemmas of each group is held out. On the others, a grid search by stratified
    five-fold cross-validation finds the method and setting with the highest macro F1; the folds
    keep lemmas together too. Groups weigh the same, whatever the lengths of their lists. The
    scores of the cross-validation are the predictors of a multinomial logistic regression of the
    group, Platt's scaling for two groups or more, which makes them probabilities. Evaluated on the
    held-out words, the classifier is learnt again from all of them with the setting that was found.

    A probability holds for a word that comes from each group equally often, and Brier score and
    calibration are judged so. Most words of a vocabulary may be in one group, such as words that
    are neither female nor male; then more of those called female are wrong than the probability
    says, and a higher threshold makes lists purer.

    References
    ----------
    Ronur Prakash (2023), word lists from data; Platt (1999), probabilities for support vector
    machines.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> groups = bb.wordlists.GroupClassifier().fit(emb, "gender")
    >>> groups
    GroupClassifier()
    >>> groups.predict(["elizabeth", "charles", "democracy"])[["word", "group"]]
            word    group
    0  elizabeth   female
    1    charles     male
    2  democracy  neutral
    """

    method: Literal["logistic", "svm", "forest", "best"] = "logistic"
    unit: bool = True
    threshold: float = 0.7
    seed: Seed = 0
    n_jobs: int = 1

    classes_: npt.NDArray[np.object_] = field(init=False)
    evaluation_: pd.DataFrame = field(init=False)
    macro_f1_: float = field(init=False)
    macro_f1_interval_: tuple[float, float] = field(init=False)
    brier_: float = field(init=False)
    calibration_error_: float = field(init=False)
    confusion_: pd.DataFrame = field(init=False)
    labelled_: pd.DataFrame = field(init=False)
    search_: pd.DataFrame = field(init=False)
    chosen_: str = field(init=False)
    missing_: tuple[str, ...] = field(init=False)
    two_labels_: tuple[str, ...] = field(init=False)

    def fit(
        self,
        embedding: EmbeddingLike,
        labelled: Labelled | str | PathLike[str],
        *,
        lemmas: Mapping[str, str] | None = None,
        matching: Matching | None = None,
    ) -> Self:
        """Learn to distinguish the groups.

        Parameters
        ----------
        embedding : Embedding
            The vectors of the words.
        labelled : mapping of str to iterable of str, or str
            The words of each group, at least ten different ones; or the name or file of labelled
            words, as `load_labelled` takes it. A group called ``neutral`` is for words that belong
            to none of the others; without it every word is given to one of them.
        lemmas : mapping of str to str, optional
            The lemma of a word, as the embedding writes it. Words of one lemma are never on
            both sides of a split. By default, and for words it lacks, forms of an English word are
            recognised by their endings: plural, possessive, past and progressive.
        matching : Matching, optional
            How labelled words are matched with the vocabulary; that of the embedding by default.

        Returns
        -------
        GroupClassifier
            The classifier itself.

        Raises
        ------
        SpecError
            If there are fewer than two groups, or fewer than ten words in one.
        VocabularyError
            If the embedding has none of the words.

        Examples
        --------
        >>> import bayesbias as bb
        >>> groups = bb.wordlists.GroupClassifier().fit(bb.load_embedding("demo"), "gender")
        >>> round(groups.macro_f1_, 2)
        0.79
        """
        self._check()
        embedding = as_embedding(embedding)
        groups = as_labelled(labelled)
        for name in _learnt():  # what was learnt before: `fit` may fail halfway
            self.__dict__.pop(name, None)
        words = find_labelled(groups, embedding, matching)
        word_lemmas = lemmas_of(words.words, lemmas)
        _check_sizes(groups, words, word_lemmas, embedding)
        vectors = self._vectors(embedding, words.rows)
        zero = np.flatnonzero(np.isnan(vectors).any(axis=1))
        if zero.size:
            raise SpecError(
                f"embedding {embedding.name!r}: labelled words without a direction: "
                f"{quoted([words.words[i] for i in zero])}; leave them out."
            )
        seed = as_seed(self.seed)
        split_rng, fold_rng, final_rng, draw_rng = np.random.default_rng(seed).spawn(4)
        held = lemma_parts(words.codes, word_lemmas, _HELD_OUT, split_rng) == 0
        training, testing = np.flatnonzero(~held), np.flatnonzero(held)
        seen, seen_lemmas = words.codes[training], [word_lemmas[i] for i in training]
        folds = splits(lemma_parts(seen, seen_lemmas, _FOLDS, fold_rng))
        final_folds = splits(lemma_parts(words.codes, word_lemmas, _FOLDS, final_rng))
        methods = METHODS if self.method == "best" else (self.method,)
        with threadpool_limits(1, user_api="blas"):  # the products are small
            ranking = search(methods, vectors[training], seen, folds, seed, self.n_jobs)
            trained = learn(ranking[0], vectors[training], seen, folds, seed)
            probabilities = trained.probabilities(vectors[testing])
            self._model: Calibrated = learn(ranking[0], vectors, words.codes, final_folds, seed)
        self.classes_, self._embedding = np.array([*groups], dtype=object), embedding
        self._keep_words(words, word_lemmas, held)
        self._keep_evaluation(
            evaluate(
                words.codes[testing],
                probabilities,
                tuple(groups),
                [word_lemmas[i] for i in testing],
                self.threshold,
                draw_rng,
            ),
            ranking,
        )
        return self

    def predict(
        self,
        words: Iterable[str] | None = None,
        embedding: Embedding | None = None,
        *,
        progress: bool = True,
    ) -> pd.DataFrame:
        """Estimate the groups of words.

        Parameters
        ----------
        words : iterable of str, optional
            The words; by default the whole vocabulary.
        embedding : Embedding, optional
            Where their vectors are from; by default the embedding that was learnt from. Another
            must have its vectors in the same space, such as a larger part of the same file.
        progress : bool, default True
            Whether to show a bar, where one can be seen.

        Returns
        -------
        DataFrame
            One row per word: ``word``, ``group`` (``unsure`` if none is as probable as the
            threshold), ``probability`` of the most probable group, and that of each group in a
            column of its name. A word without a direction has no probabilities.

        Raises
        ------
        NotFittedError
            If `fit` was not called.
        VocabularyError
            If the embedding has none of the words.

        Warns
        -----
        BayesBiasWarning
            If the embedding lacks some of the words; they are not in the result.

        Examples
        --------
        >>> import bayesbias as bb
        >>> groups = bb.wordlists.GroupClassifier().fit(bb.load_embedding("demo"), "gender")
        >>> groups.predict(["king", "queen"])[["word", "group"]]
            word   group
        0   king    male
        1  queen  female
        """
        import pandas as pd

        if embedding is None:
            embedding = self._fitted_on()
        self._check_dimensions(embedding)
        if words is None:
            listed: tuple[str, ...] = embedding.words
            rows = np.arange(len(embedding))
        else:
            matched = embedding.match(word_list("words", words))
            if not len(matched):
                raise VocabularyError(
                    f"embedding {embedding.name!r} has none of the words, such as "
                    f"{quoted(matched.missing, 4)}."
                )
            if matched.missing:
                warn(f"{embedding.name} lacks words: {quoted(matched.missing)}")
            listed, rows = matched.found, matched.rows
        probabilities = self.probabilities(embedding, rows, progress=progress)
        best, certain = most_probable(probabilities)
        names = np.array([*self.classes_, UNSURE], dtype=object)
        sure = certain >= self.threshold
        return pd.DataFrame(
            {
                "word": listed,
                "group": names[np.where(sure, best, len(self.classes_))],
                "probability": certain,
                **dict(zip(self.classes_, probabilities.T, strict=True)),
            }
        )

    def probabilities(
        self, embedding: Embedding, rows: Codes, *, progress: bool = True
    ) -> npt.NDArray[np.float32]:
        """Return the probability of each group for rows of an embedding.

        Parameters
        ----------
        embedding : Embedding
            Where the vectors are from.
        rows : ndarray of int
            The rows, in any order. They are read in blocks, so the matrix may be on disk.
        progress : bool, default True
            Whether to show a bar, where one can be seen.

        Returns
        -------
        ndarray of shape (n_rows, n_groups)
            The probabilities; NaN for words without a direction.

        Raises
        ------
        NotFittedError
            If `fit` was not called.
        """
        self._check_dimensions(embedding)
        result = np.full((len(rows), len(self.classes_)), np.nan, dtype=np.float32)
        with (
            threadpool_limits(1, user_api="blas"),
            progress_bar(
                f"Classifying words of {embedding.name}",
                total=len(rows),
                show=progress,
                unit="steps",
            ) as advance,
        ):
            for part in blocks(len(rows), embedding.dim, _BLOCK_NUMBERS):
                vectors = self._vectors(embedding, rows[part])
                usable = np.flatnonzero(np.isfinite(vectors).all(axis=1))
                if usable.size:
                    result[part.start + usable] = self._model.probabilities(vectors[usable])
                advance(len(vectors))
        return result

    @property
    def table(self) -> pd.DataFrame:
        """How it performs on held-out words, one row per group; `evaluation_`."""
        return self.evaluation_

    def to_latex(self, *, caption: str | None = None) -> str:
        r"""Return the evaluation as a LaTeX table.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names the number of held-out words and macro F1 with
            its interval.

        Returns
        -------
        str
            A ``table`` environment, for a document with the package booktabs.

        Raises
        ------
        NotFittedError
            If `fit` was not called.

        Examples
        --------
        >>> import bayesbias as bb
        >>> groups = bb.wordlists.GroupClassifier().fit(bb.load_embedding("demo"), "gender")
        >>> print(groups.to_latex().splitlines()[4])
        group & precision & recall & F1 & FPR & FNR & unsure & n \\
        """
        lower, upper = self.macro_f1_interval_
        held_out = int(self.evaluation_["support"].sum())
        text = (
            f"Classifier of groups ({self.chosen_}) on {counted(held_out, 'held-out word')}: macro "
            f"F1 {self.macro_f1_:.2f} (89% interval {lower:.2f} to {upper:.2f}); FPR and FNR are "
            "false positive and negative rates, unsure is the share of words below a probability "
            f"of {self.threshold:g}."
        )
        return frame_to_latex(
            self.evaluation_,
            text if caption is None else caption,
            titles={"f1": "F1", "fpr": "FPR", "fnr": "FNR", "support": "n"},
            decimals=dict.fromkeys(("precision", "recall", "f1", "fpr", "fnr", "unsure"), 2),
        )

    def summary(self) -> str:
        """Report in a few sentences what it learnt from and how good it is.

        Returns
        -------
        str
            Numbers of words, macro F1 with its interval, and which words were lost.
        """
        counts = self.labelled_["group"].value_counts()
        listed = ", ".join(f"{counts[name]} {name}" for name in self.classes_)
        held = int((self.labelled_["part"] == "held out").sum())
        lower, upper = self.macro_f1_interval_
        lines = [
            f"Learnt from {listed} words ({self.chosen_}). On {held} held-out words: macro F1 "
            f"{self.macro_f1_:.2f} (89% interval {lower:.2f} to {upper:.2f}), calibration error "
            f"{self.calibration_error_:.2f}."
        ]
        if self.missing_:
            lacking = counted(len(self.missing_), "labelled word")
            lines.append(f"The embedding lacks {lacking}: {quoted(self.missing_, 5)}.")
        if self.two_labels_:
            lines.append(f"Dropped, as they have two labels: {quoted(self.two_labels_, 5)}.")
        return " ".join(lines)

    def _check(self) -> None:
        one_of("method", self.method, (*METHODS, "best"))
        share("threshold", self.threshold)
        true_or_false("unit", self.unit)
        check_jobs(self.n_jobs)

    def _keep_words(
        self, words: LabelledWords, lemmas: list[str], held: npt.NDArray[np.bool_]
    ) -> None:
        import pandas as pd

        self.labelled_ = pd.DataFrame(
            {
                "word": words.words,
                "group": [self.classes_[code] for code in words.codes],
                "lemma": lemmas,
                "part": np.where(held, "held out", "training"),
            }
        )
        self.missing_, self.two_labels_ = words.missing, words.two_labels

    def _keep_evaluation(self, result: Evaluation, ranking: list[Choice]) -> None:
        import pandas as pd

        self.evaluation_, self.confusion_ = result.table, result.confusion
        self.macro_f1_, self.macro_f1_interval_ = result.macro_f1, result.macro_f1_interval
        self.brier_, self.calibration_error_ = result.brier, result.calibration_error
        self.search_ = pd.DataFrame([vars(choice) for choice in ranking])
        self.chosen_ = ranking[0].method

    def _fitted_on(self) -> Embedding:
        self.classes_  # noqa: B018  says so if it is not fitted
        return self._embedding

    def _check_dimensions(self, embedding: Embedding) -> None:
        learnt_from = self._fitted_on()
        check_embedding(embedding)
        if embedding.dim != learnt_from.dim:
            raise SpecError(
                f"the classifier has learnt from {learnt_from.dim} dimensions, and embedding "
                f"{embedding.name!r} has {embedding.dim}; fit it on this one."
            )

    def _vectors(self, embedding: Embedding, rows: Codes) -> Array:
        """Return vectors in double precision; NaN where there is no direction."""
        vectors: Array = np.asarray(embedding.vectors[rows], dtype=np.float64)
        if not self.unit:
            return vectors
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        norms[norms == 0] = np.nan
        result: Array = vectors / norms
        return result

    def __sklearn_is_fitted__(self) -> bool:
        return "search_" in vars(self)

    def __getattr__(self, name: str) -> Any:
        if name in (*_learnt(), "table"):
            raise NotFittedError(
                f"this GroupClassifier has no {name!r} yet; call fit(embedding, labelled) first."
            )
        raise AttributeError(f"'GroupClassifier' object has no attribute {name!r}")


def _learnt() -> list[str]:
    return [item.name for item in fields(GroupClassifier) if not item.init]


def most_probable(probabilities: npt.NDArray[np.float32]) -> tuple[Codes, Array]:
    """Return the most probable group and its probability; NaN stays, with any group."""
    best = np.nan_to_num(probabilities, nan=-1).argmax(axis=1)
    return best, np.take_along_axis(probabilities, best[:, None], axis=1)[:, 0]


def _check_sizes(
    groups: Mapping[str, tuple[str, ...]],
    labelled: LabelledWords,
    lemmas: list[str],
    embedding: Embedding,
) -> None:
    """Refuse groups with too few words to learn from some and to test on others."""
    owners = list(group_of_lemma(labelled.codes, lemmas).values())
    for code, (name, words) in enumerate(groups.items()):
        number = owners.count(code)
        if number < FEWEST:
            raise SpecError(
                f"the group {name!r} has {counted(number, 'different word')} that embedding "
                f"{embedding.name!r} knows, of {len(words)} given; a classifier needs at least "
                f"{FEWEST} for each group (forms of one word, such as boy and boys, count as "
                "one). Give it more words."
            )
