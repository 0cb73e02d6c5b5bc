"""Many queries in many embeddings, by many metrics: checked first, then measured in parallel."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from bayesbias._core.files import is_file
from bayesbias._core.progress import progress_bar
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, check_jobs, one_of
from bayesbias._core.wording import quoted, same_name
from bayesbias.embeddings import (
    Embedding,
    EmbeddingLike,
    Matching,
    Sent,
    as_embeddings,
    received,
    to_send,
)
from bayesbias.errors import BayesBiasWarning, NotFoundError, SpecError
from bayesbias.metrics import TESTS, Metric, Score, Test, as_query
from bayesbias.numerics.intervals import Kind, check_interval
from bayesbias.parallel import in_parallel
from bayesbias.wordlists import QUERY_SETS, Query, load_query, query_set

#: One query, several, or their names; also the name of a published set.
Queries: TypeAlias = str | Query | Iterable[Query | str]


@dataclasses.dataclass(frozen=True)
class Settings:
    """How every query is measured."""

    matching: Matching | None = None
    normalize: bool = False
    seed: Seed = None
    draws: int = 0
    prob: float = 0.89
    kind: Kind = "eti"
    p_values: bool = False
    p_value_iterations: int = 10_000
    p_value_test_type: Test = "two-sided"

    def __post_init__(self) -> None:
        if self.seed is not None:  # once: all queries get the same random numbers
            object.__setattr__(self, "seed", as_seed(self.seed))
        if self.draws != 0:
            at_least("draws", self.draws, 2)
        check_interval(self.prob, self.kind)
        at_least("p_value_iterations", self.p_value_iterations, 1)
        one_of("p_value_test_type", self.p_value_test_type, TESTS)


def as_queries(queries: Queries) -> list[Query]:
    """Return the queries as a list, not empty."""
    if isinstance(queries, Query):
        return [queries]
    if isinstance(queries, str):
        in_any_case = None if is_file(Path(queries)) else same_name(queries, QUERY_SETS)
        if queries in QUERY_SETS or in_any_case is not None:
            return query_set(queries)
        try:
            return [load_query(queries)]
        except NotFoundError as err:
            raise NotFoundError(f"{err} Sets of queries are {quoted(QUERY_SETS)}.") from err
    if not isinstance(queries, Iterable):
        raise SpecError(
            f"'queries' is {queries!r}; expected a Query, a list of them, or the name of a query "
            "or set such as 'weat_7' or 'gender'."
        )
    several = [as_query(query) for query in queries]
    if not several:
        raise SpecError("'queries' is empty; give at least one query.")
    return several


def fitting(
    metric: Metric, queries: Sequence[Query], *, subqueries: bool, skip: bool = False
) -> tuple[dict[str, Query], dict[str, str]]:
    """Return the queries that a metric takes by distinct names, and why others are skipped.

    An equal query is taken once. Different queries of one name are distinguished by a number.
    """
    taken: dict[str, Query] = {}
    skipped: dict[str, str] = {}
    for query in queries:
        try:
            parts = query.subqueries(metric.template) if subqueries else [query]
            for part in parts:
                metric.check_query(part)
        except SpecError as err:
            if not skip:
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
    embeddings: EmbeddingLike | Iterable[EmbeddingLike],
    settings: Settings,
    *,
    n_jobs: int,
    progress: bool,
) -> list[Score]:
    """Return a score for each metric, query and embedding, in this order."""
    several = as_embeddings(embeddings)
    check_jobs(n_jobs)
    total = sum(len(queries) for _, queries in asked) * len(several)
    whole = [to_send(e) for e in several if any(metric.whole_embedding for metric, _ in asked)]

    def tasks() -> Iterator[tuple[Any, ...]]:
        for metric, queries in asked:
            for name, query in queries.items():
                for number, embedding in enumerate(several):
                    if metric.whole_embedding:
                        yield metric, name, query, whole[number], settings
                    else:
                        part = _needed(query, embedding, settings.matching)
                        yield metric, name, query, part, settings

    scores = []
    with (
        # Around all of it, as filters are not safe in threads, where joblib may work.
        warnings.catch_warnings(),
        progress_bar("Measuring", total=total, show=progress, unit="steps") as advance,
    ):
        warnings.simplefilter("ignore", BayesBiasWarning)
        shared = [*whole, *(metric for metric, _ in asked)]  # a metric may hold an embedding
        for score in in_parallel(_score, tasks(), n_jobs=n_jobs, shared=shared):
            scores.append(score)
            advance(1)
    return scores


def _needed(query: Query, embedding: Embedding, matching: Matching | None) -> Embedding:
    """Return the part of an embedding that a query needs, as it may go to another process."""
    words = [word for words in query.word_sets().values() for word in words]
    entries = tuple(dict.fromkeys(embedding.match(words, matching).entries))
    # An embedding is never empty; where nothing was found, its first word is not in the query.
    return embedding.subset(entries or embedding.words[:1])


def _score(metric: Metric, name: str, query: Query, embedding: Sent, settings: Settings) -> Score:
    with warnings.catch_warnings():
        # The caller reports their warnings once for all.
        warnings.simplefilter("ignore", BayesBiasWarning)
        measurement = metric.on(
            query,
            received(embedding),
            matching=settings.matching,
            normalize=settings.normalize,
            seed=settings.seed,
        )
        tested = None
        if settings.p_values and len(query.target_sets) == 2:
            tested = measurement.permutation_test(
                iterations=settings.p_value_iterations, test=settings.p_value_test_type
            )
        if not settings.draws:
            score = measurement.score() if tested is None else tested
        else:
            score = measurement.posterior(
                draws=settings.draws, prob=settings.prob, kind=settings.kind
            )
            if tested is not None:
                notes = tuple(dict.fromkeys([*tested.notes, *score.notes]))
                score = dataclasses.replace(score, p_value=tested.p_value, notes=notes)
    return dataclasses.replace(score, query_name=name)


def remarks(scores: Sequence[Score]) -> list[str]:
    """Return what a person should know of the scores, counted, with one example of each."""
    result = []
    undefined = [score for score in scores if score.reason is not None]
    if undefined:
        first = undefined[0]
        result.append(
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
        result.append(f"words of the queries are lost: {counts} ({some})")
    without = [score for score in scores if score.no_interval is not None]
    if without:
        first = without[0]
        result.append(
            f"{len(without)} of {len(scores)} values have no interval, such as {first.metric} of "
            f"{first.query_name!r} in {first.embedding}: {first.no_interval}"
        )
    noted = [score for score in scores if score.notes]
    if noted:
        first = noted[0]
        result.append(
            f"{len(noted)} of {len(scores)} values have a note, such as {first.metric} of "
            f"{first.query_name!r} in {first.embedding}: {first.notes[0]}"
        )
    return result
