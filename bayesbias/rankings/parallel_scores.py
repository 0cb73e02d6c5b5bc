"""Many queries in many embeddings, by many metrics: checked first, then measured in parallel."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import joblib

from bayesbias._core.progress import progress_bar
from bayesbias._core.validation import at_least, check_jobs, one_of, share
from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.embeddings import Embedding, Matching, as_embeddings
from bayesbias.errors import BayesBiasWarning, SpecError
from bayesbias.metrics import METRICS, Metric, Score
from bayesbias.metrics.resampling import TESTS, Test
from bayesbias.numerics.intervals import Kind, check_interval
from bayesbias.wordlists import Query, query_set

#: A metric by its name, its class, or itself with its options.
MetricLike: TypeAlias = str | type[Metric] | Metric
#: One query, several, or the name of a published set.
Queries: TypeAlias = str | Query | Iterable[Query]


@dataclasses.dataclass(frozen=True)
class Settings:
    """How every query is measured."""

    normalize: bool
    lost_vocabulary_threshold: float
    fallbacks: tuple[str, ...]
    seed: int | None
    draws: int = 0
    prob: float = 0.89
    kind: Kind = "eti"
    p_values: bool = False
    p_value_iterations: int = 10_000
    p_value_test_type: Test = "two-sided"

    def __post_init__(self) -> None:
        share("lost_vocabulary_threshold", self.lost_vocabulary_threshold)
        if self.seed is not None:
            at_least("seed", self.seed, 0)
        if self.draws != 0:
            at_least("draws", self.draws, 2)
        check_interval(self.prob, self.kind)
        at_least("p_value_iterations", self.p_value_iterations, 1)
        one_of("p_value_test_type", self.p_value_test_type, TESTS)


def as_metrics(
    metrics: MetricLike | Iterable[MetricLike], options: Mapping[str, object] | None
) -> list[Metric]:
    """Return metrics that can be run; each takes the options that it has."""
    given = [metrics] if isinstance(metrics, str | type | Metric) else metrics
    if not isinstance(given, Iterable):
        raise _no_metric(metrics)
    kinds = [METRICS[one_of("metric", m, METRICS)] if isinstance(m, str) else m for m in given]
    if not kinds:
        raise SpecError("no metric is given; name at least one, such as 'weat'.")
    for kind in kinds:
        if not (isinstance(kind, Metric) or (isinstance(kind, type) and issubclass(kind, Metric))):
            raise _no_metric(kind)
    names = [kind.name for kind in kinds]
    if len(set(names)) < len(names):
        raise SpecError(
            f"two metrics are called {max(names, key=names.count)!r}; measure them one at a time."
        )
    wanted = dict(options or {})
    known = list(dict.fromkeys(name for kind in kinds for name in _options_of(kind)))
    for name in wanted:
        if name not in known:
            there = f"there are {quoted(known)}" if known else "there is none"
            raise SpecError(
                f"{name!r} is no option of {quoted(names)}; {there}.{did_you_mean(name, known)}"
            )
    return [
        _with({name: wanted[name] for name in _options_of(kind) if name in wanted}, kind)
        for kind in kinds
    ]


def _no_metric(given: object) -> SpecError:
    what = given.__name__ if isinstance(given, type) else type(given).__name__
    return SpecError(
        f"'metric' is {what}; expected a name such as 'weat', or a Metric such as WEAT()."
    )


def _options_of(kind: type[Metric] | Metric) -> list[str]:
    if not dataclasses.is_dataclass(kind):
        return []
    # The seed is an argument of its own.
    return [field.name for field in dataclasses.fields(kind) if field.name != "seed"]


def _with(options: Mapping[str, Any], kind: type[Metric] | Metric) -> Metric:
    if isinstance(kind, type):
        return kind(**options)
    if not options:
        return kind
    varied: Metric = dataclasses.replace(kind, **options)  # type: ignore[type-var]
    return varied


def as_queries(queries: Queries) -> list[Query]:
    """Return the queries as a list, not empty."""
    if isinstance(queries, Query):
        return [queries]
    if isinstance(queries, str):
        return query_set(queries)
    if not isinstance(queries, Iterable):
        raise SpecError(
            f"'queries' is {queries!r}; expected a Query, a list of them, or the name of a set "
            "such as 'gender'."
        )
    several = list(queries)
    if not several:
        raise SpecError("'queries' is empty; give at least one query.")
    return several


def fitting(
    metric: Metric, queries: Sequence[Query], *, subqueries: bool, skip: bool = False
) -> tuple[dict[str, Query], dict[str, str]]:
    """Return the queries that a metric takes by distinct names, and why others are skipped.

    An equal query is taken once. Different queries of one name are told apart by a number.
    """
    taken: dict[str, Query] = {}
    skipped: dict[str, str] = {}
    for query in queries:
        try:
            if subqueries and isinstance(query, Query):
                parts = query.subqueries(metric.template)
            else:
                parts = [query]
            for part in parts:
                metric.check_query(part)
        except SpecError as err:
            if not skip or not isinstance(query, Query):
                raise
            skipped[query.name] = str(err)
            continue
        for part in parts:
            if part not in taken.values():
                taken[_new_name(part.name, taken)] = part
    if not taken:
        raise SpecError(f"no query fits the metric {metric.name!r}: {next(iter(skipped.values()))}")
    return taken, skipped


def _new_name(name: str, taken: Iterable[str]) -> str:
    names, number = set(taken), 2
    new = name
    while new in names:
        new, number = f"{name} ({number})", number + 1
    return new


def measure(
    asked: Sequence[tuple[Metric, Mapping[str, Query]]],
    embeddings: Embedding | Iterable[Embedding],
    settings: Settings,
    *,
    n_jobs: int,
    progress: bool,
) -> list[Score]:
    """Return a score for each metric, query and embedding, in this order."""
    several = as_embeddings(embeddings)
    check_jobs(n_jobs)
    total = sum(len(queries) for _, queries in asked) * len(several)

    def tasks() -> Iterator[Any]:
        for metric, queries in asked:
            for name, query in queries.items():
                for embedding in several:
                    part = _needed(metric, query, embedding, settings.fallbacks)
                    yield joblib.delayed(_score)(metric, name, query, part, settings)

    scores = []
    with (
        # Around all of it, as filters are not safe in threads, where joblib may be told to work.
        warnings.catch_warnings(),
        progress_bar("Measuring", total=total, show=progress, unit="steps") as advance,
    ):
        warnings.simplefilter("ignore", BayesBiasWarning)
        for score in joblib.Parallel(n_jobs=n_jobs, return_as="generator")(tasks()):
            scores.append(score)
            advance(1)
    return scores


def _needed(
    metric: Metric, query: Query, embedding: Embedding, fallbacks: tuple[str, ...]
) -> Embedding:
    """Return the part of an embedding that a query needs, as it may go to another process."""
    if metric.whole_embedding:
        return embedding
    words = [word for words in query.word_sets().values() for word in words]
    found = tuple(dict.fromkeys(embedding.match(words, Matching(fallbacks)).entries))
    # An embedding is never empty; where nothing was found, its first word is not in the query.
    return embedding.subset(found or embedding.words[:1])


def _score(
    metric: Metric, name: str, query: Query, embedding: Embedding, settings: Settings
) -> Score:
    common: dict[str, Any] = {
        "seed": settings.seed,
        "normalize": settings.normalize,
        "lost_vocabulary_threshold": settings.lost_vocabulary_threshold,
        "fallbacks": settings.fallbacks,
    }
    with warnings.catch_warnings():
        # What they say is told once for all, by the caller.
        warnings.simplefilter("ignore", BayesBiasWarning)
        if settings.p_values or not settings.draws:
            score = metric.run_query(
                query,
                embedding,
                calculate_p_value=settings.p_values and len(query.target_sets) == 2,
                p_value_iterations=settings.p_value_iterations,
                p_value_test_type=settings.p_value_test_type,
                **common,
            )
        if settings.draws:
            drawn = metric.posterior(
                query,
                embedding,
                draws=settings.draws,
                prob=settings.prob,
                kind=settings.kind,
                **common,
            )
            if settings.p_values:
                notes = tuple(dict.fromkeys([*score.notes, *drawn.notes]))
                drawn = dataclasses.replace(drawn, p_value=score.p_value, notes=notes)
            score = drawn
    return dataclasses.replace(score, query_name=name)


def remarks(scores: Sequence[Score]) -> list[str]:
    """Return what a person should know of the scores, counted, with one example of each."""
    found = []
    undefined = [score for score in scores if score.reason is not None]
    if undefined:
        first = undefined[0]
        found.append(
            f"{len(undefined)} of {len(scores)} values are NaN, such as {first.metric} of "
            f"{first.query_name!r}: {first.reason}"
        )
    lost: dict[str, dict[str, None]] = {}
    for score in scores:
        words = dict.fromkeys(word for group in score.lost.values() for word in group)
        if words:
            lost.setdefault(score.embedding, {}).update(words)
    if lost:
        counts = ", ".join(f"{len(words)} in {name!r}" for name, words in lost.items())
        some = quoted(dict.fromkeys(word for words in lost.values() for word in words), 4)
        found.append(f"words of the queries are lost: {counts} ({some})")
    without = [score for score in scores if score.no_interval is not None]
    if without:
        first = without[0]
        found.append(
            f"{len(without)} of {len(scores)} values have no interval, such as {first.metric} of "
            f"{first.query_name!r} in {first.embedding}: {first.no_interval}"
        )
    noted = [score for score in scores if score.notes]
    if noted:
        first = noted[0]
        found.append(
            f"{len(noted)} of {len(scores)} values have a note, such as {first.metric} of "
            f"{first.query_name!r} in {first.embedding}: {first.notes[0]}"
        )
    return found
