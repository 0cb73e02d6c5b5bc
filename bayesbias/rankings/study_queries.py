"""What the groups and stereotypes of a study ask of each metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from bayesbias._core.wording import quoted
from bayesbias.errors import SpecError
from bayesbias.metrics import MAC, Metric, MetricLike, as_metrics
from bayesbias.rankings.parallel_scores import fitting
from bayesbias.wordlists import Query, Study


def study_queries(
    metrics: MetricLike | Iterable[MetricLike], study: Study, given: Sequence[Query] = ()
) -> tuple[list[tuple[Metric, dict[str, Query]]], dict[str, str]]:
    """Return the queries that each metric takes, and why a metric has none.

    MAC is always among the metrics; `given` are queries besides those that the study makes.
    """
    chosen = as_metrics(metrics, None)
    asked: list[tuple[Metric, dict[str, Query]]] = []
    skipped: dict[str, str] = {}
    if not any(metric.name == MAC.name for metric in chosen):
        asked.append((MAC(), fitting(MAC(), [*_own_queries(MAC(), study)], subqueries=False)[0]))
    for metric in chosen:
        mine = [] if metric.paired else [*_own_queries(metric, study)]
        if not mine and not given:
            skipped[metric.name] = (
                "it takes pairs of words, and the groups of a study are no pairs; give 'queries'"
                if metric.paired
                else "the study has no groups and stereotypes that fit it"
            )
            continue
        try:
            taken, _ = fitting(metric, [*mine, *given], subqueries=True, skip=True)
        except SpecError as err:
            skipped[metric.name] = str(err)
        else:
            asked.append((metric, taken))
    return asked, skipped


def study_query(metric: Metric, study: Study) -> Query:
    """Return the one query that a study asks of a metric; several are refused."""
    mine = [] if metric.paired else [*_own_queries(metric, study)]
    if not mine:
        raise SpecError(
            f"the study {study.name!r} has no groups and stereotypes that fit the metric "
            f"{metric.name!r}; give a Query."
        )
    if len(mine) > 1:
        first = mine[0]
        raise SpecError(
            f"the study {study.name!r} asks {len(mine)} questions of the metric {metric.name!r} "
            f"({quoted([query.name for query in mine], 3)}); give one of them as a Query: "
            f"bb.Query([study.groups[{first.target_names[0]!r}], …], "
            f"[study.stereotypes[{first.target_names[0]!r}], …])."
        )
    return mine[0]


def _own_queries(metric: Metric, study: Study) -> Iterator[Query]:
    """Yield what a study asks of a metric: groups with their own stereotypes, not any with any."""
    targets, attributes = metric.template
    groups = {name: words.words for name, words in study.groups.items()}
    lists = {name: words.words for name, words in study.stereotypes.items()}

    def query(members: Sequence[str], described: Sequence[str]) -> Query:
        return Query(
            [groups[name] for name in members],
            [lists[name] for name in described],
            members,
            [f"{name} stereotypes" for name in described],
        )

    if targets == "n" and attributes == "n":
        # Some metrics compare a group with the stereotypes in the same place.
        yield query([*lists, *(name for name in groups if name not in lists)], list(lists))
    elif targets == "n" and attributes == 1:
        for name in lists:
            yield query(list(groups), [name])
    else:
        for pair in combinations(groups, 2):
            described = [name for name in pair if name in lists]
            for chosen in combinations(described, len(pair) if attributes == "n" else attributes):
                yield query(pair, chosen)
