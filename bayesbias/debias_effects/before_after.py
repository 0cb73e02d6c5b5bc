"""The effects of debiasing in one table: changes, residual bias, side effects."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from os import PathLike
from typing import TypeAlias

import pandas as pd

from bayesbias._core.constants import AS_OBSERVED, CONNECTIONS
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.rounded_table import rounded_table, to_html
from bayesbias._core.validation import at_least, one_of
from bayesbias._core.wording import counted, kind_of
from bayesbias.debias import Debiaser, method_for
from bayesbias.debias_effects.benchmarks import Benchmark, analogy_questions, similarity_pairs
from bayesbias.debias_effects.change_summary import paragraphs
from bayesbias.debias_effects.change_tables import (
    COLUMNS,
    COLUMNS_WITH_COVARIATES,
    of_distances,
    of_drift,
    of_overview,
    of_quality,
    of_scores,
    of_unmoved,
    quality_frame,
    scores_frame,
    verdict_rule,
)
from bayesbias.debias_effects.quality import neighbour_drift, word_analogies, word_similarity
from bayesbias.distances import CovariatePlan, covariate_values, distance_table
from bayesbias.embeddings import Embedding, Matching, as_embedding, one_vector_matching
from bayesbias.errors import BayesBiasError, SpecError, VocabularyError
from bayesbias.metrics import (
    ClassificationTest,
    ClusterTest,
    Metric,
    MetricLike,
    Neighbourhood,
    Score,
    as_metrics,
)
from bayesbias.models import (
    ENGINES,
    Engine,
    Overview,
    PairedFit,
    fit,
    fit_paired,
    overview,
    standardised,
)
from bayesbias.numerics.intervals import check_interval
from bayesbias.rankings import (
    Queries,
    Settings,
    as_queries,
    fitting,
    measure,
    study_queries,
)
from bayesbias.wordlists import Frequencies, Query, Study, Unknown, as_study

#: Metrics that a study is measured by, unless others are asked for.
CLASSICAL = (
    "mac",
    "weat",
    "weat_es",
    "rnd",
    "rnsb",
    "ect",
    "nas",
    "same",
    "semaxis",
    "generalized_weat",
)
#: Tests of residual bias, unless others are asked for.
RESIDUAL = (ClusterTest(), ClassificationTest(), Neighbourhood())
# Distances that moved by less have moved by rounding alone: vectors are in single precision.
_ROUNDING = 1e-6
_PAIR = ["protected_word", "word_to_compare"]

#: A metric with its queries by name.
Asked: TypeAlias = tuple[Metric, dict[str, Query]]
#: A debiasing method by its name or class, a fitted debiaser, or the embedding after debiasing.
DebiaserLike: TypeAlias = str | type[Debiaser] | Debiaser | Embedding


@dataclass(frozen=True, eq=False, repr=False)
class BeforeAfter:
    """The effects of debiasing on a study, made by `before_after`.

    Parameters
    ----------
    table : DataFrame
        Everything in one table: ``what`` (distance, gap, overview, metric, residual, similarity,
        analogies, neighbours), ``measure``, the ``group`` and ``word`` it is of, ``before``,
        ``after`` and ``change``, ``lower`` and ``upper`` of the change, ``probability``, that of
        the ``event`` (that the measure is nearer to its value without bias, say), a ``verdict``
        and a ``note``. The distances and their ``change`` are estimated by one model of both
        embeddings. With covariates, distances and gaps have two rows each; ``covariates`` is
        ``equal`` (equal covariates for all words) in one and ``as observed`` in the other.
    paired : PairedFit or None
        The model of the distances; None if none of them changed.
    overview : Overview
        The thesis's questions about the embedding after debiasing, with what moved.
    metrics, residual : DataFrame
        The classical metrics, and the tests of residual bias, each before and after with intervals.
    quality : DataFrame
        Similarity and analogies before and after.
    drift : DataFrame
        The share of neighbours kept, word by word.
    skipped : dict of str to str
        What could not be measured, and why.
    embedding : str
        The name of the embedding before.
    debiased : Embedding
        The embedding after.
    study : Study
        The study.
    prob : float
        Probability of the intervals.

    Notes
    -----
    The verdict names the event, or its opposite, if its probability is that of the interval and one
    of its tails (0.945 for an 89% interval) or more. Otherwise, only the change is named if its
    interval excludes 0: *rose* or *fell*. A gap of uncertain sign that rose, for instance,
    may be narrower or wider. The verdict is *inconclusive* if the interval includes 0, and
    *unchanged* if nothing moved. Similarity and analogies are judged by the interval alone, and the
    similarity of fewer than 30 pairs is not judged (*too few pairs*).

    Examples
    --------
    >>> import bayesbias as bb
    >>> result = bb.before_after(
    ...     "demo", "hard_debias", "weat_7", draws=100, metrics=["weat"], residual=()
    ... )
    >>> result
    <BeforeAfter demo → demo_hard_debias, study weat_7: 99 measures>
    """

    table: pd.DataFrame
    paired: PairedFit | None
    overview: Overview
    metrics: pd.DataFrame
    residual: pd.DataFrame
    quality: pd.DataFrame
    drift: pd.DataFrame
    skipped: Mapping[str, str]
    embedding: str
    debiased: Embedding
    study: Study
    prob: float

    def __repr__(self) -> str:
        return (
            f"<BeforeAfter {self.embedding} → {self.debiased.name}, study {self.study.name}: "
            f"{len(self.table)} measures>"
        )

    def summary(self) -> str:
        """Return in plain sentences what changed, and how certain that is.

        Returns
        -------
        str
            One paragraph each on the effect of debiasing, residual bias, side effects, and what was
            not measured. Where an interval does not decide, the result is called inconclusive.

        Examples
        --------
        >>> import bayesbias as bb
        >>> result = bb.before_after(
        ...     "demo", "hard_debias", "weat_7", draws=100, metrics=["weat"], residual=()
        ... )
        >>> print(result.summary().splitlines()[0][:55])
        Effect of debiasing: Measured on the 16 protected words
        """
        return "\n\n".join(f"{title}: {text}" for title, text in paragraphs(self).items())

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the table as LaTeX, without single words, each row rounded by its interval.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names the embeddings, the study and the intervals.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        shown = self._without_words().drop(columns="note")
        text = (
            f"{self.embedding} before and after debiasing ({self.debiased.name}) on the study "
            f"{self.study.label}, {counted(len(self.study.protected_words), 'protected word')}: "
            f"changes with {self.prob:.0%} intervals, and the probability of the event. "
            f"{self.verdict_rule()}"
        )
        return frame_to_latex(shown, text if caption is None else caption, by_row=True)

    def verdict_rule(self) -> str:
        """Return the rule for the column ``verdict`` of the table, in words.

        Returns
        -------
        str
            A few sentences to write below the table.
        """
        return verdict_rule(self.prob)

    def _without_words(self) -> pd.DataFrame:
        """Return the table for reading; words are many, and in the table and in the figure."""
        return self.table[self.table["word"] == ""].drop(columns="word")

    def _repr_html_(self) -> str:
        text = "".join(
            f"<p><b>{html.escape(title)}</b>: {html.escape(text)}</p>"
            for title, text in paragraphs(self).items()
        )
        table = to_html(rounded_table(self._without_words(), by_row=True))
        return f"{text}{table}<p>{html.escape(self.verdict_rule())}</p>"


def before_after(
    embedding: Embedding | str | PathLike[str],
    debiaser: DebiaserLike,
    study: Study | str | PathLike[str],
    *,
    queries: Queries | None = None,
    metrics: MetricLike | Iterable[MetricLike] = CLASSICAL,
    residual: MetricLike | Iterable[MetricLike] = RESIDUAL,
    residual_groups: Mapping[str, Iterable[str]] | None = None,
    similarity: Benchmark | Iterable[Benchmark] = "rg_65",
    analogies: Benchmark | Iterable[Benchmark] = "basic",
    neighbours: int = 10,
    target: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    engine: Engine = "auto",
    draws: int = 1000,
    residual_draws: int = 50,
    covariates: Iterable[str] = (),
    frequencies: Frequencies = "rank",
    unknown_frequency: Unknown = "error",
    seed: Seed = None,
    prob: float = 0.89,
    matching: Matching | None = None,
    n_jobs: int = 1,
    progress: bool = True,
) -> BeforeAfter:
    """Measure the effects of debiasing on a study, residual bias, and side effects.

    Changes are after minus before. Their intervals come from the joint model (distances) or from
    draws that weigh the words equally before and after (all else). All vectors are scaled to length
    one, as some metrics depend on lengths and most methods change them.

    Parameters
    ----------
    embedding : Embedding, str or path-like
        The embedding before debiasing, or its name.
    debiaser : str, Debiaser class, Debiaser or Embedding
        The name or class of a method, which then learns from words that fit the study, as in
        `audit`; a fitted debiaser; or the embedding after debiasing, however that was done.
    study : Study, str or path-like
        Protected words, stereotypes and controls, or the name of a study.
    queries : Query, list of Query or str, optional
        More queries for the metrics, besides those that the groups and stereotypes of the study
        make; for metrics of pairs, pairs.
    metrics : str, Metric class, Metric, or list of them
        The metrics; each takes the queries that fit it. MAC is always among them.
    residual : Metric class, Metric, or list of them
        Tests of residual bias; by default those of Gonen & Goldberg (2019): clusters, a classifier,
        neighbours. They get the embedding before as their ``original``.
    residual_groups : mapping of str to list of str, optional
        The groups that words may still lean to; by default the protected words. They should be
        the groups that are debiased: for a study of math and arts and debiasing of gender, give
        words of the genders. Of more than two groups every pair is tested.
    similarity : str, path-like or list of them, default "rg_65"
        Benchmarks of similarity, as in `word_similarity`; () for none.
    analogies : str, path-like or list of them, default "basic"
        Benchmarks of analogies, as in `word_analogies`; () for none.
    neighbours : int, default 10
        How many neighbours of a word should be kept.
    target, ignore : list of str or str, optional
        The words that are debiased, and those that are not, as in `Debiaser.transform`.
    engine : {"auto", "exact", "nuts"}, default "auto"
        How the joint model is fitted, as in `fit_paired`.
    draws : int, default 1000
        Draws of each of the model's four chains, of the metrics, and of the quality.
    residual_draws : int, default 50
        Draws of the tests of residual bias, which take longer.
    covariates : iterable of str, optional
        Covariates of the words, as in `distance_table`, such as ``log_frequency``. The distances
        and gaps are then given at equal covariates for all words, and as observed. After debiasing,
        a word has the same values as before.
    frequencies : str, path-like, corpus, DataFrame or mapping, default "rank"
        Where frequencies are from, as in `distance_table`.
    unknown_frequency : {"error", "lowest"}, default "error"
        What to do about a word without a frequency, as in `distance_table`.
    seed : int or Generator, optional
        Same seed, same result; by default 0, and for metrics with a seed of their own that one.
    prob : float, default 0.89
        Probability of the intervals.
    matching : Matching, optional
        How words are matched in both embeddings, and the share of any one word set that they may
        lack; that of `embedding` by default.
    n_jobs : int, default 1
        The number of processes that measure at once; -1 for one on each core.
    progress : bool, default True
        Whether to show progress bars, where they can be seen.

    Returns
    -------
    BeforeAfter
        One table, its parts, and a summary in words.

    Raises
    ------
    SpecError
        If an argument is not what it should be.
    NotFittedError
        If the debiaser was not fitted.
    VocabularyError
        If an embedding lacks too many words of the study.
    DataError
        If words have no frequency, or a covariate is the same for all words.

    Examples
    --------
    >>> import bayesbias as bb
    >>> result = bb.before_after(
    ...     "demo", "multiclass_hard_debias", "religion", draws=100, metrics=["weat"], residual=()
    ... )
    >>> mac = result.table.query("measure == 'mac'")
    >>> mac[["before", "after", "change", "lower", "upper", "verdict"]].round(2)
        before  after  change  lower  upper       verdict
    90    0.87   0.87    -0.0  -0.02   0.02  inconclusive
    """
    one_of("engine", engine, ENGINES)
    at_least("residual_draws", residual_draws, 2)
    at_least("neighbours", neighbours, 1)
    check_interval(prob, "hdi")
    before, asked_study = as_embedding(embedding), as_study(study)
    how = one_vector_matching(matching, before)
    plan = CovariatePlan(covariates, frequencies, unknown_frequency, how)
    metric_seed = None if seed is None else as_seed(seed)
    settings = Settings(
        # Most methods scale vectors to length one; what that does to a metric is not debiasing.
        normalize=True,
        matching=how,
        seed=metric_seed,
        draws=at_least("draws", draws, 2),
        prob=prob,
    )
    more_queries = [] if queries is None else as_queries(queries)
    asked, skipped = study_queries(metrics, asked_study, more_queries)
    tests = _tests(residual, asked_study, residual_groups, before)
    benchmarks = _benchmarks(similarity, analogies)

    first = distance_table(
        before,
        asked_study,
        matching=how,
        covariates=plan.names,
        frequencies=plan.source or frequencies,  # a file of them is read once
        unknown_frequency=unknown_frequency,
    )
    for name in plan.names:
        # One that is the same for all words is refused before long work.
        standardised(name, covariate_values(first, name))

    other_seed = 0 if metric_seed is None else metric_seed  # metrics may have their own
    fitted = _fitted(before, debiaser, asked_study, other_seed, how)
    after = _debiased(before, fitted, target, ignore, progress)
    comparison = _Comparison(
        before=before,
        after=after,
        table_before=first,
        covariates=plan.names,
        study=asked_study,
        queries=asked,
        tests=tests,
        benchmarks=benchmarks,
        neighbours=neighbours,
        engine=engine,
        residual_draws=residual_draws,
        matching=how,
        settings=settings,
        seed=other_seed,
        n_jobs=n_jobs,
        progress=progress,
        skipped=skipped,
    )
    return comparison.result()


@dataclass(frozen=True)
class _Comparison:
    """Two embeddings that are measured in the same way; what cannot be measured is noted."""

    before: Embedding
    after: Embedding
    table_before: pd.DataFrame
    covariates: tuple[str, ...]
    study: Study
    queries: Sequence[Asked]
    tests: Sequence[Asked]
    benchmarks: Sequence[tuple[str, Benchmark]]
    neighbours: int
    engine: Engine
    residual_draws: int
    matching: Matching
    settings: Settings
    seed: int
    n_jobs: int
    progress: bool
    skipped: dict[str, str]

    def result(self) -> BeforeAfter:
        """Measure everything."""
        draws, prob = self.settings.draws, self.settings.prob
        tables = [self.table_before, self._table_after()]
        scores = scores_frame(self._measured(self.queries, self.settings), prob)
        moved, unmoved = _moved(*tables)
        paired = self._paired(tables, moved) if moved else None
        answers = _overview(tables, draws, self.seed, prob)
        residual = self._residual()
        quality = self._quality()
        drift = self._drift()
        rows = [
            *([] if paired is None else of_distances(paired, prob)),
            *of_unmoved(tables[0], unmoved, AS_OBSERVED if self.covariates else ""),
            *of_overview(answers, paired),
            *of_scores("metric", scores),
            *of_scores("residual", residual),
            *of_quality(quality),
            *of_drift(drift, self.neighbours, draws, prob, self.seed),
        ]
        columns = COLUMNS_WITH_COVARIATES if self.covariates else COLUMNS
        return BeforeAfter(
            table=pd.DataFrame(rows, columns=list(columns)),
            paired=paired,
            overview=answers,
            metrics=scores,
            residual=residual,
            quality=pd.concat(quality, ignore_index=True) if quality else pd.DataFrame(),
            drift=drift,
            skipped=self.skipped,
            embedding=self.before.name,
            debiased=self.after,
            study=self.study,
            prob=prob,
        )

    def _table_after(self) -> pd.DataFrame:
        """Return the distances after debiasing; the words have the covariates that they had."""
        table = distance_table(self.after, self.study, matching=self.matching)
        if not self.covariates:
            return table
        first = self.table_before
        values = first[list(self.covariates)].set_axis(_pairs(first), axis=0)
        table = table[_pairs(table).isin(values.index)].reset_index(drop=True)
        return pd.concat([table, values.loc[_pairs(table)].reset_index(drop=True)], axis=1)

    def _measured(self, asked: Sequence[Asked], settings: Settings) -> list[Score]:
        both = [self.before, self.after]
        return measure(asked, both, settings, n_jobs=self.n_jobs, progress=self.progress)

    def _paired(self, tables: Sequence[pd.DataFrame], connections: Sequence[str]) -> PairedFit:
        """Return the model of the distances of these connections."""
        first, second = (t[t["connection"].astype("str").isin(connections)] for t in tables)
        return fit_paired(
            first,
            second,
            engine=self.engine,
            draws=self.settings.draws,
            seed=self.seed,
            covariates=self.covariates,
            progress=self.progress,
        )

    def _residual(self) -> pd.DataFrame:
        """Return the tests of residual bias; those that do not apply are skipped."""
        settings = dataclasses.replace(self.settings, draws=self.residual_draws)
        scores = []
        for test, queries in self.tests:
            try:
                scores += self._measured([(test, queries)], settings)
            except BayesBiasError as err:
                self.skipped[test.name] = str(err)
        return scores_frame(scores, settings.prob)

    def _quality(self) -> list[pd.DataFrame]:
        """Return the values of benchmarks; those without enough words are skipped."""
        frames = []
        for what, benchmark in self.benchmarks:
            compare = word_similarity if what == "similarity" else word_analogies
            try:
                values = compare(
                    [self.before, self.after],
                    benchmark,
                    draws=self.settings.draws,
                    prob=self.settings.prob,
                    matching=self.matching,
                    seed=self.seed,
                )
            except VocabularyError as err:
                self.skipped[f"{what}: {benchmark}"] = str(err)
            else:
                frames.append(quality_frame(what, values))
        return frames

    def _drift(self) -> pd.DataFrame:
        """Return the neighbours kept of frequent words and of the protected words."""
        words = self.study.protected_words
        both = (self.before, self.after)
        missing = {word for each in both for word in each.match(words, self.matching).missing}
        protected = [word for word in words if word not in missing]
        frames = []
        for label, chosen in (("frequent words", None), ("protected words", protected)):
            try:
                drift = neighbour_drift(
                    *both, chosen, k=self.neighbours, matching=self.matching, seed=self.seed
                )
            except BayesBiasError as err:
                self.skipped[f"neighbours of {label}"] = str(err)
            else:
                frames.append(drift.assign(words=label))
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _benchmarks(
    similarity: Benchmark | Iterable[Benchmark], analogies: Benchmark | Iterable[Benchmark]
) -> list[tuple[str, Benchmark]]:
    """Return the benchmarks of each kind; those that cannot be read are refused."""
    similarities = _several("similarity", similarity)
    analogy_lists = _several("analogies", analogies)
    for benchmark in similarities:
        similarity_pairs(benchmark)
    for benchmark in analogy_lists:
        analogy_questions(benchmark)
    return [
        *(("similarity", benchmark) for benchmark in similarities),
        *(("analogies", benchmark) for benchmark in analogy_lists),
    ]


def _several(name: str, benchmarks: Benchmark | Iterable[Benchmark]) -> list[Benchmark]:
    if isinstance(benchmarks, str | PathLike):
        return [benchmarks]
    if not isinstance(benchmarks, Iterable):
        raise SpecError(f"{name!r} is {benchmarks!r}; expected the names of benchmarks, or files.")
    return list(benchmarks)


def _fitted(
    embedding: Embedding, debiaser: object, study: Study, seed: int, matching: Matching
) -> Debiaser | Embedding:
    """Return a fitted debiaser, or the embedding after debiasing."""
    if isinstance(debiaser, Debiaser | Embedding):
        return debiaser
    name = getattr(debiaser, "name", None) if isinstance(debiaser, type) else debiaser
    if not isinstance(name, str):
        raise SpecError(
            f"'debiaser' is {kind_of(debiaser)}; expected the name of a method such as "
            "'hard_debias', a fitted debiaser, or the Embedding after debiasing."
        )
    return method_for(name, study, seed).fit(embedding, matching)


def _debiased(
    embedding: Embedding,
    debiaser: Debiaser | Embedding,
    target: str | Iterable[str] | None,
    ignore: str | Iterable[str] | None,
    progress: bool,
) -> Embedding:
    """Return the embedding after debiasing, under a name of its own."""
    if not isinstance(debiaser, Embedding):
        return debiaser.transform(embedding, target=target, ignore=ignore, progress=progress)
    if target is not None or ignore is not None:
        raise SpecError(
            "'target' and 'ignore' are for a debiaser; an embedding that is debiased already stays "
            "as it is."
        )
    if debiaser.name == embedding.name:
        return debiaser.with_vectors(debiaser.vectors, f"{debiaser.name} (after)")
    return debiaser


def _tests(
    residual: MetricLike | Iterable[MetricLike],
    study: Study,
    groups: Mapping[str, Iterable[str]] | None,
    original: Embedding,
) -> list[Asked]:
    """Return the tests of residual bias, with a query for each pair of groups."""
    if not isinstance(residual, str | type | Metric):
        residual = list(residual)
        if not residual:
            return []
    words = study.groups if groups is None else groups
    if not isinstance(words, Mapping) or len(words) < 2:
        raise SpecError(
            f"'residual_groups' is {groups!r}; expected two groups or more: "
            "{'man': ['he', …], 'woman': ['she', …]}."
        )
    attributes = {a.word: None for a in study.attributes}
    tests = []
    for metric in as_metrics(residual, None):
        if getattr(metric, "original", original) is None:
            metric = dataclasses.replace(metric, original=original)  # type: ignore[type-var]
        sides = [] if metric.template[1] == 0 else [list(attributes)]
        named = [f"attributes of {study.name}"] * len(sides)
        asked = [
            Query([words[a], words[b]], sides, [a, b], named) for a, b in combinations(words, 2)
        ]
        tests.append((metric, fitting(metric, asked, subqueries=False)[0]))
    return tests


def _pairs(table: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(table[_PAIR].astype("str"))


def _moved(before: pd.DataFrame, after: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the connections whose distances moved, and those none of whose distances did."""
    columns = [*_PAIR, "cosine_distance"]
    first = before[[*columns, "connection"]].astype(dict.fromkeys(_PAIR, "str"))
    other = after[columns].astype(dict.fromkeys(_PAIR, "str"))
    both = first.merge(other, on=_PAIR, suffixes=("", "_after"))
    change = (both["cosine_distance_after"] - both["cosine_distance"]).abs()
    largest = change.groupby(both["connection"].astype("str")).max()
    connections = [name for name in CONNECTIONS if name in largest.index]
    moved = [name for name in connections if largest[name] > _ROUNDING]
    return moved, [name for name in connections if name not in moved]


def _overview(tables: Sequence[pd.DataFrame], draws: int, seed: int, prob: float) -> Overview:
    """Return the overview after debiasing with what moved, as the thesis has it."""
    fits = [fit(t, "separate", engine="exact", draws=draws, seed=seed) for t in tables]
    return overview(fits[1], before=fits[0], prob=prob)
