"""What debiasing did, what it left and what it broke, in one table."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from os import PathLike

import pandas as pd

from bayesbias._core.constants import CONNECTIONS, DEFAULT_FALLBACKS, LOST_VOCABULARY_THRESHOLD
from bayesbias._core.validation import at_least, one_of
from bayesbias.debias import Debiaser
from bayesbias.debias_effects.benchmarks import Benchmark, analogy_questions, similarity_pairs
from bayesbias.debias_effects.change_summary import tell
from bayesbias.debias_effects.change_tables import (
    COLUMNS,
    of_distances,
    of_drift,
    of_overview,
    of_quality,
    of_scores,
    of_unmoved,
    quality_frame,
    scores_frame,
)
from bayesbias.debias_effects.quality import neighbour_drift, word_analogies, word_similarity
from bayesbias.distances import distance_table
from bayesbias.embeddings import Embedding, Matching, check_embedding
from bayesbias.embeddings.matching import check_fallbacks
from bayesbias.errors import BayesBiasError, SpecError, VocabularyError
from bayesbias.metrics import (
    ClassificationTest,
    ClusterTest,
    Metric,
    MetricLike,
    Neighbourhood,
    as_metrics,
)
from bayesbias.models import Overview, PairedFit, fit, fit_paired, overview
from bayesbias.models.fitting import Engine
from bayesbias.numerics.intervals import check_interval
from bayesbias.rankings.parallel_scores import (
    Queries,
    Settings,
    as_queries,
    fitting,
    measure,
)
from bayesbias.rankings.study_queries import study_queries
from bayesbias.wordlists import Query, Study

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
#: Tests of what is left, unless others are asked for.
RESIDUAL = (ClusterTest(), ClassificationTest(), Neighbourhood())
# Distances that moved by less have moved by rounding alone: vectors are in single precision.
_ROUNDING = 1e-6
_PAIR = ["protected_word", "word_to_compare"]


@dataclass(frozen=True, eq=False, repr=False)
class BeforeAfter:
    """What debiasing did, what it left and what it broke; made by `before_after`.

    Parameters
    ----------
    table : DataFrame
        Everything in one table: ``what`` (distance, gap, overview, metric, residual, similarity,
        analogies, neighbours), ``measure``, the ``group`` and ``word`` it is of, ``before``,
        ``after`` and ``change``, ``lower`` and ``upper`` of the change, ``p``, the probability of
        the ``event`` (that the measure is nearer to its value without bias, say), a ``verdict``
        that says no more than the probabilities allow, and a ``note``. The ``change`` of a distance
        is that of the same pairs of words, by a model of its own, so it need not be exactly
        ``after`` − ``before``.
    paired : PairedFit or None
        The model of the distances; None if none of them changed.
    overview : Overview
        The thesis's questions about the embedding after debiasing, with what moved.
    metrics, residual : DataFrame
        The classical metrics, and the tests of what is left, each before and after with intervals.
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

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb, study = bb.load_embedding("demo"), bb.load_study("weat_7")
    >>> debiaser = bb.debias.HardDebias().fit(emb)
    >>> found = bb.before_after(emb, debiaser, study, draws=100, metrics=["weat"], residual=())
    >>> found
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
        """Say in plain sentences what changed, and how sure that is.

        Returns
        -------
        str
            One paragraph each on what debiasing did, left and broke, and on what was skipped. What
            the intervals leave open is said to be open.
        """
        return "\n\n".join(f"{title}: {text}" for title, text in tell(self).items())

    def _repr_html_(self) -> str:
        paragraphs = "".join(
            f"<p><b>{html.escape(title)}</b>: {html.escape(text)}</p>"
            for title, text in tell(self).items()
        )
        # Words are many; they are in the table and in the figure.
        shown = self.table[self.table["word"] == ""].drop(columns="word")
        return paragraphs + shown.round(3).to_html(index=False, border=0, na_rep="")


def before_after(
    embedding: Embedding,
    debiaser: Debiaser | Embedding,
    study: Study,
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
    engine: Engine = "exact",
    draws: int = 1000,
    residual_draws: int = 50,
    seed: int | None = None,
    prob: float = 0.89,
    fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
    lost_vocabulary_threshold: float = LOST_VOCABULARY_THRESHOLD,
    n_jobs: int = 1,
    progress: bool = True,
) -> BeforeAfter:
    """Tell what debiasing did to a study's words, what it left, and what it broke.

    Changes are after minus before. Their intervals come from the paired model (distances) or from
    draws that weigh the words alike before and after (all else). All vectors are scaled to length
    one, as some metrics depend on lengths and most methods change them.

    Parameters
    ----------
    embedding : Embedding
        The embedding before debiasing.
    debiaser : Debiaser or Embedding
        A fitted debiaser, or the embedding after debiasing, however that was done.
    study : Study
        Protected words, stereotypes and controls.
    queries : Query, list of Query or str, optional
        More queries for the metrics, besides those that the groups and stereotypes of the study
        make; for metrics of pairs, pairs.
    metrics : str, Metric class, Metric, or list of them
        The metrics; each takes the queries that fit it. MAC is always among them.
    residual : Metric class, Metric, or list of them
        Tests of what is left; by default those of Gonen & Goldberg (2019): clusters, a classifier,
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
    engine : {"exact", "nuts"}, default "exact"
        How the paired model is fitted, as in `fit_paired`.
    draws : int, default 1000
        Draws of each of the model's four chains, of the metrics, and of the quality.
    residual_draws : int, default 50
        Draws of the tests of what is left, which take longer.
    seed : int, optional
        Same seed, same result; by default 0, and for metrics with a seed of their own that one.
    prob : float, default 0.89
        Probability of the intervals.
    fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
        Forms of a word to try, as in `Matching`.
    lost_vocabulary_threshold : float, default 0.2
        The share of any one word set that an embedding may lack.
    n_jobs : int, default 1
        How many processes measure at once; -1 for one on each core.
    progress : bool, default True
        Whether to show bars, where they can be seen.

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

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb, study = bb.load_embedding("demo"), bb.load_study("religion")
    >>> debiaser = bb.debias.MulticlassHardDebias(n_components=2).fit(
    ...     emb, definitional_sets="manzini:religion_definitional_sets"
    ... )
    >>> found = bb.before_after(emb, debiaser, study, draws=100, metrics=["weat"], residual=())
    >>> mac = found.table.query("measure == 'mac'")
    >>> mac[["before", "after", "change", "lower", "upper", "verdict"]].round(2)
        before  after  change  lower  upper verdict
    90    0.87   0.87    -0.0  -0.02   0.02    open
    """
    check_embedding(embedding)
    if not isinstance(study, Study):
        raise SpecError(
            f"'study' is {type(study).__name__}; expected a Study: load_study('religion')."
        )
    one_of("engine", engine, ("exact", "nuts"))
    at_least("residual_draws", residual_draws, 2)
    at_least("neighbours", neighbours, 1)
    check_interval(prob, "hdi")
    ways = check_fallbacks(fallbacks)
    settings = Settings(
        # Most methods scale vectors to length one; what that does to a metric is not debiasing.
        normalize=True,
        matching=Matching(ways, lost_vocabulary_threshold),
        seed=seed,
        draws=at_least("draws", draws, 2),
        prob=prob,
    )
    if seed is None:
        seed = 0  # of all but the metrics, which may have a seed of their own
    asked, skipped = study_queries(metrics, study, [] if queries is None else as_queries(queries))
    tests = _tests(residual, study, residual_groups, embedding)
    similarities = _several("similarity", similarity)
    analogy_lists = _several("analogies", analogies)
    for benchmark in similarities:
        similarity_pairs(benchmark)
    for benchmark in analogy_lists:
        analogy_questions(benchmark)

    after = _debiased(embedding, debiaser, target, ignore, progress)
    both = [embedding, after]
    tables = [
        distance_table(one, study, matching=Matching(ways, lost_vocabulary_threshold))
        for one in both
    ]
    measured = scores_frame(measure(asked, both, settings, n_jobs=n_jobs, progress=progress), prob)
    moved, unmoved = _moved(*tables)
    paired = None
    if moved:
        first, second = (t[t["connection"].astype("str").isin(moved)] for t in tables)
        paired = fit_paired(first, second, engine=engine, draws=draws, seed=seed, progress=progress)
    looked_over = _overview(tables, draws, seed, prob)
    left = []
    few = dataclasses.replace(settings, draws=residual_draws)
    for test, test_queries in tests:
        try:
            left += measure([(test, test_queries)], both, few, n_jobs=n_jobs, progress=progress)
        except BayesBiasError as err:
            skipped[test.name] = str(err)
    leftover = scores_frame(left, prob)
    quality = []
    for what, compare, benchmarks in (
        ("similarity", word_similarity, similarities),
        ("analogies", word_analogies, analogy_lists),
    ):
        for benchmark in benchmarks:
            try:
                found = compare(both, benchmark, draws=draws, prob=prob, fallbacks=ways, seed=seed)
            except VocabularyError as err:
                skipped[f"{what}: {benchmark}"] = str(err)
            else:
                quality.append(quality_frame(what, found))
    drift = _drift(embedding, after, study, neighbours, ways, seed, skipped)
    parts = [
        *([] if paired is None else of_distances(paired, prob)),
        *of_unmoved(tables[0], unmoved),
        *of_overview(looked_over, paired),
        *of_scores("metric", measured),
        *of_scores("residual", leftover),
        *of_quality(quality),
        *of_drift(drift, neighbours, draws, prob, seed),
    ]
    return BeforeAfter(
        table=pd.DataFrame(parts, columns=list(COLUMNS)),
        paired=paired,
        overview=looked_over,
        metrics=measured,
        residual=leftover,
        quality=pd.concat(quality, ignore_index=True) if quality else pd.DataFrame(),
        drift=drift,
        skipped=skipped,
        embedding=embedding.name,
        debiased=after,
        study=study,
        prob=prob,
    )


def _several(name: str, benchmarks: Benchmark | Iterable[Benchmark]) -> list[Benchmark]:
    if isinstance(benchmarks, str | PathLike):
        return [benchmarks]
    if not isinstance(benchmarks, Iterable):
        raise SpecError(f"{name!r} is {benchmarks!r}; expected the names of benchmarks, or files.")
    return list(benchmarks)


def _debiased(
    embedding: Embedding,
    debiaser: Debiaser | Embedding,
    target: str | Iterable[str] | None,
    ignore: str | Iterable[str] | None,
    progress: bool,
) -> Embedding:
    if isinstance(debiaser, Debiaser):
        return debiaser.transform(embedding, target=target, ignore=ignore, progress=progress)
    if not isinstance(debiaser, Embedding):
        raise SpecError(
            f"'debiaser' is {type(debiaser).__name__}; expected a fitted debiaser, such as "
            "HardDebias().fit(embedding), or the Embedding after debiasing."
        )
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
) -> list[tuple[Metric, dict[str, Query]]]:
    """Return the tests of what is left, with a query for each pair of groups."""
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


def _moved(before: pd.DataFrame, after: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the connections whose distances moved, and those none of whose distances did."""
    columns = [*_PAIR, "cosine_distance"]
    first = before[[*columns, "connection"]].astype(dict.fromkeys(_PAIR, "str"))
    other = after[columns].astype(dict.fromkeys(_PAIR, "str"))
    both = first.merge(other, on=_PAIR, suffixes=("", "_after"))
    change = (both["cosine_distance_after"] - both["cosine_distance"]).abs()
    largest = change.groupby(both["connection"].astype("str")).max()
    there = [name for name in CONNECTIONS if name in largest.index]
    moved = [name for name in there if largest[name] > _ROUNDING]
    return moved, [name for name in there if name not in moved]


def _overview(tables: Sequence[pd.DataFrame], draws: int, seed: int, prob: float) -> Overview:
    """Return the overview after debiasing with what moved, as the thesis has it."""
    fits = [fit(t, "separate", engine="exact", draws=draws, seed=seed) for t in tables]
    return overview(fits[1], before=fits[0], prob=prob)


def _drift(
    before: Embedding,
    after: Embedding,
    study: Study,
    k: int,
    fallbacks: tuple[str, ...],
    seed: int,
    skipped: dict[str, str],
) -> pd.DataFrame:
    """Return the neighbours kept of frequent words and of the protected words."""
    protected = [
        word
        for word in study.protected_words
        if all(not one.match([word], Matching(fallbacks)).missing for one in (before, after))
    ]
    frames = []
    for label, words in (("frequent words", None), ("protected words", protected)):
        try:
            found = neighbour_drift(before, after, words, k=k, fallbacks=fallbacks, seed=seed)
        except BayesBiasError as err:
            skipped[f"neighbours of {label}"] = str(err)
        else:
            frames.append(found.assign(words=label))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
