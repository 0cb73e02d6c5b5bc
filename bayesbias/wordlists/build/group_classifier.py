"""The group of any word, learnt from a few words whose group is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from bayesbias._core.validation import (
    at_least,
    check_jobs,
    one_of,
    share,
    true_or_false,
    word_list,
)
from bayesbias._core.wording import counted, quoted
from bayesbias.embeddings import Embedding, EmbeddingLike, Matching, as_embedding, check_embedding
from bayesbias.errors import SpecError, VocabularyError, warn
from bayesbias.numerics.label_shift import estimate_prior, with_prior
from bayesbias.wordlists.build.classifier_evaluation import Evaluation, evaluate
from bayesbias.wordlists.build.classifier_files import read_classifier, save_classifier
from bayesbias.wordlists.build.classifier_training import (
    METHODS,
    Choice,
    default_choice,
    learn,
    search,
    splits,
    unseen_scores,
)
from bayesbias.wordlists.build.labelled_words import (
    ASSOCIATED,
    FEWEST,
    NEUTRAL,
    UNSURE,
    Labelled,
    LabelledWords,
    as_labelled,
    find_labelled,
    without_groups,
)
from bayesbias.wordlists.build.lemmas import group_of_lemma, lemma_parts, lemmas_of
from bayesbias.wordlists.build.score_arrays import Calibrated
from bayesbias.wordlists.build.vocabulary_sample import VocabularySample, draw_sample

if TYPE_CHECKING:
    import pandas as pd

# One of this many lemmas is held out; folds of the cross-validation.
_HELD_OUT = 4
_FOLDS = 5
# Numbers in a block of vectors that is classified at once: small enough for the caches.
_BLOCK_NUMBERS = 400_000
# Rounds in which words of the vocabulary are sorted into neutral ones and others, and how far
# shares that are given may be from adding up to one.
_ROUNDS = 4
_ROUNDING = 1e-6


@dataclass(eq=False, repr=False)
class GroupClassifier(BaseEstimator):  # type: ignore[misc]
    """Classify words into groups by their vectors, from a few words whose group is known.

    It follows the conventions of scikit-learn: settings are given when it is made, `fit` returns
    the classifier, names of what it learns end in ``_``, and `clone`, `get_params` and
    `check_is_fitted` work.

    Parameters
    ----------
    method : {"logistic", "svm", "forest", "best"}, default "svm"
        Logistic regression, a support vector machine (rbf kernel), a random forest, or
        whichever of them has the highest macro F1 in cross-validation.
    unit : bool, default True
        Whether vectors are scaled to length one first, so that only directions count.
    threshold : float, default 0.8
        A word whose most probable group is less probable than this is called ``unsure``. Of words
        that are not, fewer may be right than their probabilities say; see `build_lists`.
    seed : int, Generator or None, default 0
        The seed of the choice of held-out words, the folds and the forest. A NumPy generator, or
        None, gives another one with each `fit`.
    n_jobs : int, default 1
        Processes of the grid search; -1 for all cores.
    background : int, default 1000
        The group ``neutral`` is filled up to this many words with words of the vocabulary, drawn at
        random. 0 for none; then words of a kind that no label shows, such as *police* among labels
        of religions, are given to some group.
    prior : {"vocabulary", "equal"} or mapping of str to float, default "vocabulary"
        How frequent the groups are among the words that are classified: as estimated for the
        vocabulary, all the same, or a share for each group.

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
    unseen_ : DataFrame
        Every word learnt from, as classifiers judge it that have not learnt from it, by
        cross-validation: ``word``, ``group``, the most probable group as ``predicted``, and its
        ``probability`` by `prevalence_`. Words far from their label may be labelled wrongly.
    search_ : DataFrame
        What cross-validation says of each method and setting, the best first: ``method``,
        ``options``, ``macro_f1``, ``sd``.
    chosen_ : str
        The method of the best.
    prevalence_ : dict of str to float
        The share of each group in the vocabulary that the probabilities go by; see `prior`.
    background_ : tuple of str
        The words of the vocabulary that were learnt from as words of no group.
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

    Few words of a vocabulary are female or male, and hand-made lists of neutral words do not look
    like the rest of it. Best are labels of a random sample of words, as those of ``gender`` have
    them. Where labels have fewer than `background` neutral words, words of the vocabulary, drawn at
    random from its first 50,000, are learnt from as neutral. Some of them belong to a group. So in
    each of four rounds a classifier judges them by cross-validation, and each stays with the
    probability that it is neutral (learning from positive and unlabelled words, by stochastic
    EM). This cannot be as good as labels: where no neutral word is labelled, the share of a
    group is not certain, and probabilities may be too high.

    Evaluation, Brier score and calibration are for groups that are equally frequent. In the
    vocabulary they are not: other words of the vocabulary, that were not learnt from, give an
    estimate of how frequent they are, by the EM algorithm of Saerens et al., and Bayes' rule gives
    the probabilities of `predict`. With fewer than 100 words without a label there is no
    background, and all groups count as equally frequent.

    A group called ``associated with female`` holds words that go with women without meaning them,
    such as *wedding*. It is a group like the others to the classifier; `build_lists` keeps its
    words apart. Where the embedding has fewer than ten of them, they count as neutral.

    References
    ----------
    Ronur Prakash (2023), word lists from data; Platt (1999), probabilities for support vector
    machines; Saerens, Latinne & Decaestecker (2002), adjusting the outputs of a classifier to new
    a priori probabilities, doi:10.1162/089976602753284446; Bekker & Davis (2020), learning from
    positive and unlabeled data, doi:10.1007/s10994-020-05877-5.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> labelled = bb.load_labelled("gender")
    >>> two = {name: labelled[name] for name in ("female", "male")}
    >>> groups = bb.wordlists.GroupClassifier(background=200).fit(emb, two)
    >>> groups
    GroupClassifier(background=200)
    >>> groups.predict(["elizabeth", "charles", "democracy"])[["word", "group"]]
            word    group
    0  elizabeth   female
    1    charles     male
    2  democracy  neutral
    """

    method: Literal["logistic", "svm", "forest", "best"] = "svm"
    unit: bool = True
    threshold: float = 0.8
    seed: Seed = 0
    n_jobs: int = 1
    background: int = 1000
    prior: str | Mapping[str, float] = "vocabulary"

    classes_: npt.NDArray[np.object_] = field(init=False)
    evaluation_: pd.DataFrame = field(init=False)
    macro_f1_: float = field(init=False)
    macro_f1_interval_: tuple[float, float] = field(init=False)
    brier_: float = field(init=False)
    calibration_error_: float = field(init=False)
    confusion_: pd.DataFrame = field(init=False)
    labelled_: pd.DataFrame = field(init=False)
    unseen_: pd.DataFrame = field(init=False)
    search_: pd.DataFrame = field(init=False)
    chosen_: str = field(init=False)
    prevalence_: dict[str, float] = field(init=False)
    background_: tuple[str, ...] = field(init=False)
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
            to none of the others; without it, there is one of words of the vocabulary.
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
        >>> labelled = bb.load_labelled("gender")
        >>> two = {name: labelled[name] for name in ("female", "male")}
        >>> groups = bb.wordlists.GroupClassifier(background=200).fit("demo", two)
        >>> groups.macro_f1_ > 0.85
        True
        """
        self._check()
        embedding = as_embedding(embedding)
        groups = as_labelled(labelled)
        for name in _learnt():  # what was learnt before: `fit` may fail halfway
            self.__dict__.pop(name, None)
        words = find_labelled(groups, embedding, matching)
        word_lemmas = lemmas_of(words.words, lemmas)
        few = _small_associated(groups, words, word_lemmas)
        if few:
            groups = without_groups(groups, few)
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
        rngs = np.random.default_rng(seed).spawn(5)
        held = lemma_parts(words.codes, word_lemmas, _HELD_OUT, rngs[0]) == 0
        wanted = max(self.background - _number_neutral(groups, words), 0)
        sample = draw_sample(embedding, words.words, word_lemmas, wanted, rngs[4])
        material = _Material.of(groups, words, word_lemmas, vectors, held)
        with threadpool_limits(1, user_api="blas"):  # the products are small
            material = self._with_background(material, embedding, sample, rngs[1], seed)
            ranking, probabilities, unseen = self._learn(material, rngs[1], rngs[2], seed)
        self.classes_ = np.array(material.names, dtype=object)
        self._embedding: Embedding | None = embedding
        self._dim = embedding.dim
        self._keep_words(words, word_lemmas, held)
        self.background_ = material.words[len(words.words) :]
        with threadpool_limits(1, user_api="blas"):
            self.prevalence_ = self._prevalence(embedding, sample.others)
        self._keep_unseen(material, unseen)
        testing = material.tested()
        self._keep_evaluation(
            evaluate(
                material.codes[testing],
                probabilities,
                material.names,
                [material.lemmas[i] for i in testing],
                most_probable(self._adjusted(probabilities))[1] >= self.threshold,
                rngs[3],
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
        >>> labelled = bb.load_labelled("gender")
        >>> two = {name: labelled[name] for name in ("female", "male")}
        >>> groups = bb.wordlists.GroupClassifier(background=200).fit("demo", two)
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
        """Return the probability of each group for rows of an embedding, by `prevalence_`.

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
                    equal = self._model.probabilities(vectors[usable])
                    result[part.start + usable] = self._adjusted(equal)
                advance(len(vectors))
        return result

    def save(self, path: str | PathLike[str]) -> None:
        """Write the classifier to a file, without the vectors it has learnt from.

        Parameters
        ----------
        path : path-like
            An ``.npz`` file. It holds arrays and JSON and nothing that is run when it is read, so
            files from strangers are safe to `load`.

        Raises
        ------
        NotFittedError
            If `fit` was not called.
        SpecError
            If the suffix is another.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> import bayesbias as bb
        >>> emb = bb.load_embedding("demo")
        >>> labelled = bb.load_labelled("gender")
        >>> two = {name: labelled[name] for name in ("female", "male")}
        >>> groups = bb.wordlists.GroupClassifier(background=200).fit(emb, two)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "gender.npz"
        ...     groups.save(path)
        ...     again = bb.wordlists.GroupClassifier.load(path)
        >>> again.predict(["king"], emb)["group"].item()
        'male'
        """
        save_classifier(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a classifier that `save` wrote.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        GroupClassifier
            The classifier. It has no vectors: `predict` needs the embedding.

        Raises
        ------
        NotFoundError
            If there is no such file.
        DataError
            If the file is not a saved classifier.
        """
        classifier = cls()
        read_classifier(path, classifier)
        return classifier

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
            A ``table`` environment, for the packages booktabs, graphicx and longtable.

        Raises
        ------
        NotFittedError
            If `fit` was not called.

        Examples
        --------
        >>> import bayesbias as bb
        >>> labelled = bb.load_labelled("gender")
        >>> two = {name: labelled[name] for name in ("female", "male")}
        >>> groups = bb.wordlists.GroupClassifier(background=200).fit("demo", two)
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
        listed = ", ".join(f"{counts[name]} {name}" for name in self.classes_ if name in counts)
        if self.background_:
            listed += f" and {len(self.background_):,} words of the vocabulary as {NEUTRAL}"
        held = int((self.labelled_["part"] == "held out").sum())
        lower, upper = self.macro_f1_interval_
        lines = [
            f"Learnt from words: {listed} ({self.chosen_}). On {held} held-out words: macro F1 "
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
        at_least("background", self.background, 0)
        if isinstance(self.prior, str):
            one_of("prior", self.prior, ("vocabulary", "equal"))

    def _with_background(
        self,
        material: _Material,
        embedding: Embedding,
        sample: VocabularySample,
        rng: np.random.Generator,
        seed: int,
    ) -> _Material:
        """Add words of the vocabulary as neutral ones, without those that look like a group's."""
        if not sample.background.size:
            return material
        method = "svm" if self.method == "best" else self.method
        others = self._vectors(embedding, sample.others)
        n_labelled = len(material.codes)
        kept = np.arange(sample.background.size)
        for _ in range(_ROUNDS):
            some = material.extended(embedding, sample.background[kept], self._vectors)
            first = default_choice(method, some.vectors)
            training = some.training()
            codes, vectors = some.codes[training], some.vectors[training]
            lemmas = [some.lemmas[i] for i in training]
            folds = splits(lemma_parts(codes, lemmas, _FOLDS, rng))
            scores = unseen_scores(first, vectors, codes, folds, seed)
            model = learn(first, vectors, codes, scores, seed)
            equal = np.full(len(some.names), 1 / len(some.names))
            prior = equal
            if len(kept) < sample.background.size:  # not yet while all of them count as neutral
                prior = estimate_prior(model.probabilities(others), equal)
            drawn = model.probabilities(self._vectors(embedding, sample.background))
            # Words that were learnt from are judged by a model that was not.
            seen = training >= n_labelled
            drawn[kept[training[seen] - n_labelled]] = model.calibration.probabilities(scores[seen])
            neutral = with_prior(drawn, prior, equal)[:, some.neutral]
            kept = np.flatnonzero(rng.random(len(neutral)) < neutral)
        if NEUTRAL not in material.names and kept.size < FEWEST:
            return material
        return material.extended(embedding, sample.background[kept], self._vectors)

    def _learn(
        self,
        material: _Material,
        fold_rng: np.random.Generator,
        final_rng: np.random.Generator,
        seed: int,
    ) -> tuple[list[Choice], Array, Array]:
        """Find the setting, and learn twice: to be tested on held-out words, and for use.

        Returned are the settings, the probabilities of held-out words, and those of all words by
        classifiers that have not learnt from them.
        """
        training, testing = material.training(), material.tested()
        vectors, codes, lemmas = material.vectors, material.codes, material.lemmas
        seen_lemmas = [lemmas[i] for i in training]
        folds = splits(lemma_parts(codes[training], seen_lemmas, _FOLDS, fold_rng))
        final_folds = splits(lemma_parts(codes, lemmas, _FOLDS, final_rng))
        methods = METHODS if self.method == "best" else (self.method,)
        seen, seen_codes = vectors[training], codes[training]
        ranking, scores = search(methods, seen, seen_codes, folds, seed, self.n_jobs)
        tested = learn(ranking[0], seen, seen_codes, scores, seed)
        final_scores = unseen_scores(ranking[0], vectors, codes, final_folds, seed)
        self._model: Calibrated = learn(ranking[0], vectors, codes, final_scores, seed)
        unseen = self._model.calibration.probabilities(final_scores)
        return ranking, tested.probabilities(vectors[testing]), unseen

    def _prevalence(self, embedding: Embedding, others: Codes) -> dict[str, float]:
        """Return the shares of the groups: given, equal, or those in the vocabulary."""
        names = [str(name) for name in self.classes_]
        if not isinstance(self.prior, str):
            return given_shares(self.prior, names)
        shares = np.full(len(names), 1 / len(names))
        if self.prior == "vocabulary" and others.size:
            probabilities = self._model.probabilities(self._vectors(embedding, others))
            shares = estimate_prior(probabilities, shares)
        return dict(zip(names, shares.tolist(), strict=True))

    def _adjusted(self, probabilities: Array) -> Array:
        """Return probabilities of groups that are as frequent as `prevalence_` says."""
        shares = np.array(list(self.prevalence_.values()))
        return with_prior(probabilities, shares, np.full(len(shares), 1 / len(shares)))

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

    def _keep_unseen(self, material: _Material, probabilities: Array) -> None:
        import pandas as pd

        best, certain = most_probable(self._adjusted(probabilities))
        self.unseen_ = pd.DataFrame(
            {
                "word": material.words,
                "group": self.classes_[material.codes],
                "predicted": self.classes_[best],
                "probability": certain,
            }
        )

    def _keep_evaluation(self, result: Evaluation, ranking: list[Choice]) -> None:
        import pandas as pd

        self.evaluation_, self.confusion_ = result.table, result.confusion
        self.macro_f1_, self.macro_f1_interval_ = result.macro_f1, result.macro_f1_interval
        self.brier_, self.calibration_error_ = result.brier, result.calibration_error
        self.search_ = pd.DataFrame([vars(choice) for choice in ranking])
        self.chosen_ = ranking[0].method

    def _fitted_on(self) -> Embedding:
        self.classes_  # noqa: B018  says so if it is not fitted
        if self._embedding is None:
            raise SpecError(
                "a classifier from a file has no vectors; give it the embedding that it has "
                "learnt from: predict(words, embedding)."
            )
        return self._embedding

    def _check_dimensions(self, embedding: Embedding) -> None:
        self.classes_  # noqa: B018  says so if it is not fitted
        check_embedding(embedding)
        if embedding.dim != self._dim:
            raise SpecError(
                f"the classifier has learnt from {self._dim} dimensions, and embedding "
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


@dataclass(frozen=True, eq=False)
class _Material:
    """What a classifier learns from: labelled words first, then those of the vocabulary."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    codes: Codes
    lemmas: list[str]
    vectors: Array
    #: Which labelled words are held out.
    held: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        groups: Mapping[str, tuple[str, ...]],
        words: LabelledWords,
        lemmas: list[str],
        vectors: Array,
        held: npt.NDArray[np.bool_],
    ) -> _Material:
        """Return the labelled words alone."""
        return cls(tuple(groups), words.words, words.codes, lemmas, vectors, held)

    @property
    def neutral(self) -> int:
        """The code of words of no group."""
        return self.names.index(NEUTRAL)

    def extended(
        self, embedding: Embedding, rows: Codes, vectors: Callable[[Embedding, Codes], Array]
    ) -> _Material:
        """Return it with words of the vocabulary, which count as neutral."""
        names = self.names if NEUTRAL in self.names else (*self.names, NEUTRAL)
        words = [embedding.words[row] for row in rows]
        return _Material(
            names,
            (*self.words, *words),
            np.concatenate([self.codes, np.full(len(rows), names.index(NEUTRAL))]),
            self.lemmas + lemmas_of(words, None),
            np.concatenate([self.vectors, vectors(embedding, rows)]),
            self.held,
        )

    def training(self) -> Codes:
        """Return the rows of all words that are not held out."""
        return np.setdiff1d(np.arange(len(self.codes)), self._held_out())

    def tested(self) -> Codes:
        """Return the rows to be tested on: labelled words, where there are neutral ones."""
        if not (self.codes[: len(self.held)] == self._neutral_or_last()).any():
            return self._held_out()
        return np.flatnonzero(self.held)

    def _held_out(self) -> Codes:
        """Return the rows of held-out words; without neutral labels, some of the vocabulary."""
        labelled = np.flatnonzero(self.held)
        if (self.codes[: len(self.held)] == self._neutral_or_last()).any():
            return labelled
        others = np.arange(len(self.held), len(self.codes))[::_HELD_OUT]
        return np.concatenate([labelled, others])

    def _neutral_or_last(self) -> int:
        return self.neutral if NEUTRAL in self.names else len(self.names) - 1


def _number_neutral(groups: Mapping[str, tuple[str, ...]], words: LabelledWords) -> int:
    """Return how many labelled words belong to no group."""
    return int((words.codes == [*groups].index(NEUTRAL)).sum()) if NEUTRAL in groups else 0


def given_shares(prior: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """Return shares that a user gives, if there is one for each group and they add up to one."""
    if set(prior) != set(names):
        raise SpecError(
            f"'prior' has shares of {quoted(prior)}; expected those of {quoted(names)}."
        )
    shares = {name: share(f"prior of {name}", prior[name]) for name in names}
    if abs(sum(shares.values()) - 1) > _ROUNDING:
        raise SpecError(f"the shares in 'prior' add up to {sum(shares.values()):g}; expected 1.")
    return shares


def most_probable(probabilities: npt.NDArray[np.floating]) -> tuple[Codes, Array]:
    """Return the most probable group and its probability; NaN stays, with any group."""
    best = np.nan_to_num(probabilities, nan=-1).argmax(axis=1)
    return best, np.take_along_axis(probabilities, best[:, None], axis=1)[:, 0]


def _small_associated(
    groups: Mapping[str, tuple[str, ...]], labelled: LabelledWords, lemmas: list[str]
) -> list[str]:
    """Return the groups of associated words that the embedding has too few words of."""
    owners = list(group_of_lemma(labelled.codes, lemmas).values())
    return [
        name
        for code, name in enumerate(groups)
        if name.startswith(ASSOCIATED) and owners.count(code) < FEWEST
    ]


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
