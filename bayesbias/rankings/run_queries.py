"""Many queries in many embeddings: a table of values by one metric, a long table by several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias._core.random import Seed
from bayesbias._core.validation import one_of
from bayesbias._core.wording import kind_of, quoted
from bayesbias.embeddings import EmbeddingLike, Matching
from bayesbias.errors import SpecError, warn
from bayesbias.metrics import MetricLike, Score, Test, as_metrics
from bayesbias.numerics.intervals import Kind
from bayesbias.rankings.parallel_scores import (
    Queries,
    Settings,
    as_queries,
    fitting,
    measure,
    remarks,
)

Aggregate: TypeAlias = Literal["avg", "abs_avg", "sum", "abs_sum"]

#: How the values of an embedding's queries, along the last axis, become one number.
AGGREGATES: dict[str, Callable[[Array], Array]] = {
    "avg": lambda values: values.mean(axis=-1),
    "abs_avg": lambda values: np.abs(values).mean(axis=-1),
    "sum": lambda values: values.sum(axis=-1),
    "abs_sum": lambda values: np.abs(values).sum(axis=-1),
}
# What the WEFE library calls them in the names of columns.
_WEFE_NAMES = {
    "avg": "average",
    "abs_avg": "average of abs values",
    "sum": "sum",
    "abs_sum": "sum of abs values",
}


def run_queries(
    metric: MetricLike,
    queries: Queries,
    embeddings: EmbeddingLike | Iterable[EmbeddingLike],
    *,
    name: str | None = None,
    subqueries: bool = False,
    aggregate: Aggregate | Callable[[pd.DataFrame], Any] | None = None,
    only_aggregate: bool = False,
    normalize: bool = False,
    matching: Matching | None = None,
    seed: Seed = None,
    n_jobs: int = 1,
    progress: bool = True,
    options: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    """Measure queries in embeddings by one metric.

    Everything is checked before the first query runs. The result does not depend on `n_jobs`.

    Parameters
    ----------
    metric : str, Metric class or Metric
        The metric: a name in `METRICS`, a class, or an instance with its options.
    queries : Query, str, or list of them
        The queries or their names (``weat_7``), or the name of a published set: ``gender``,
        ``ethnicity``, ``religion``, ``weat``. An equal query is measured once; of different
        queries with one name, the second gets " (2)" behind it.
    embeddings : Embedding, str, or list of them
        Where to measure them; their names must differ.
    name : str, optional
        What the queries have in common, for the name of the aggregate; by default that of the
        published set, else "queries".
    subqueries : bool, default False
        Whether queries with more sets than the metric takes are split. Not every part of a
        sensible query is sensible.
    aggregate : {"avg", "abs_avg", "sum", "abs_sum"} or callable, optional
        Whether a last column sums the queries up: the average, the average of absolute values, or
        the sums; or a function of the frame (embeddings × queries) that returns a number for each
        embedding. Queries without a value in some embedding are left out, so that all embeddings
        are compared by the same ones.
    only_aggregate : bool, default False
        Whether to return that column only.
    normalize : bool, default False
        Whether vectors are scaled to length one first.
    matching : Matching, optional
        How words are matched with the vocabulary; by default as each embedding says. A value is
        NaN if a word set misses more words than its threshold allows.
    seed : int or Generator, optional
        Same seed, same result; by default that of the metric, or 0 if it has none.
    n_jobs : int, default 1
        How many processes work at once; -1 for one on each core.
    progress : bool, default True
        Whether to show a bar, where one can be seen.
    options : mapping, optional
        Options of the metric.

    Returns
    -------
    DataFrame
        Embeddings × queries, both in the order given. ``attrs`` holds ``metric``,
        ``neutral_value``, the words ``lost`` and the ``reasons`` for NaN and ``notes`` (by
        embedding and query), and ``aggregate`` (its column, function, neutral value, and the
        queries ``skipped``).

    Raises
    ------
    SpecError
        If a query does not fit the metric, an option is not known, or names of embeddings repeat.

    Warns
    -----
    BayesBiasWarning
        Once, if there are NaN, lost words, notes or skipped queries.

    Examples
    --------
    >>> import bayesbias as bb
    >>> embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    >>> queries = [bb.load_query("weat_6"), bb.load_query("weat_7")]
    >>> found = bb.run_queries("weat", queries, embeddings, name="gender", aggregate="abs_avg")
    >>> found.columns[-1]
    'WEAT: gender average of abs values score'
    >>> found.set_axis(["WEAT 6", "WEAT 7", "average"], axis=1).round(2)
               WEAT 6  WEAT 7  average
    demo         2.32    0.47     1.39
    demo-100d    1.73    0.37     1.05
    """
    [chosen] = as_metrics([metric], options)
    if isinstance(aggregate, str):
        one_of("aggregate", aggregate, AGGREGATES)
    elif aggregate is not None and not callable(aggregate):
        raise SpecError(
            f"'aggregate' is {aggregate!r}; expected one of {quoted(AGGREGATES)}, or a function."
        )
    if only_aggregate and aggregate is None:
        raise SpecError("only_aggregate=True needs 'aggregate', such as 'abs_avg'.")
    taken, _ = fitting(chosen, as_queries(queries), subqueries=subqueries)
    settings = Settings(matching=matching, normalize=normalize, seed=seed)
    scores = measure([(chosen, taken)], embeddings, settings, n_jobs=n_jobs, progress=progress)
    frame = values_of(scores)
    notes = remarks(scores)
    summed: dict[str, Any] | None = None
    if aggregate is not None:
        group = name or (queries if isinstance(queries, str) else "queries")
        kept = frame.loc[:, frame.notna().all()]
        word = _WEFE_NAMES[aggregate] if isinstance(aggregate, str) else "custom aggregation"
        summed = {
            "column": f"{chosen.name.upper()}: {group} {word} score",
            "function": aggregate if isinstance(aggregate, str) else "custom",
            "neutral_value": _neutral(aggregate, chosen.neutral_value, kept.shape[1]),
            "skipped": [query for query in frame if query not in kept],
        }
        notes += _of_aggregate(summed, kept, chosen.neutral_value)
        column = pd.Series(_aggregated(kept, aggregate), frame.index, name=summed["column"])
        frame = column.to_frame() if only_aggregate else pd.concat([frame, column], axis=1)
    frame.attrs = {
        "metric": chosen.name,
        "neutral_value": float(chosen.neutral_value),
        "lost": _by_place(
            scores, lambda score: {key: list(words) for key, words in score.lost.items()}
        ),
        "reasons": _by_place(scores, lambda score: score.reason),
        "notes": _by_place(scores, lambda score: list(score.notes)),
        "aggregate": summed,
    }
    if notes:
        warn(f"{'; '.join(notes)}; see the attrs of the frame.")
    return frame


def query_scores(
    metrics: MetricLike | Iterable[MetricLike],
    queries: Queries,
    embeddings: EmbeddingLike | Iterable[EmbeddingLike],
    *,
    subqueries: bool = False,
    draws: int = 0,
    prob: float = 0.89,
    kind: Kind = "eti",
    p_values: bool = False,
    p_value_iterations: int = 10_000,
    p_value_test_type: Test = "two-sided",
    normalize: bool = False,
    matching: Matching | None = None,
    seed: Seed = None,
    n_jobs: int = 1,
    progress: bool = True,
    options: Mapping[str, object] | None = None,
) -> pd.DataFrame:
    """Measure queries in embeddings by several metrics, with intervals and p-values if wanted.

    Parameters
    ----------
    metrics : str, Metric class, Metric, or list of them
        The metrics: names in `METRICS`, classes, or instances with their options.
    queries : Query, str, or list of them
        The queries or their names, or the name of a published set, as in `run_queries`.
    embeddings : Embedding, str, or list of them
        Where to measure them; their names must differ.
    subqueries : bool, default False
        Whether each metric takes the parts of the queries that fit it, and skips those that have
        none; else every query must fit every metric.
    draws : int, default 0
        How many draws the intervals are made from; 0 for no intervals.
    prob : float, default 0.89
        Probability of the intervals.
    kind : {"hdi", "eti"}, default "eti"
        The narrowest interval, or one that leaves as much on either side.
    p_values : bool, default False
        Whether to test by permutation; NaN for queries that have not two target sets.
    p_value_iterations : int, default 10,000
        How many permutations are drawn where not all are enumerated.
    p_value_test_type : {"right-sided", "left-sided", "two-sided"}, default "two-sided"
        Which values count against chance.
    normalize : bool, default False
        Whether vectors are scaled to length one first.
    matching : Matching, optional
        How words are matched with the vocabulary; by default as each embedding says. A value is
        NaN if a word set misses more words than its threshold allows.
    seed : int or Generator, optional
        Same seed, same result; by default that of the metric, or 0 if it has none.
    n_jobs : int, default 1
        How many processes work at once; -1 for one on each core.
    progress : bool, default True
        Whether to show a bar, where one can be seen.
    options : mapping, optional
        Options of the metrics; each metric takes those that it has.

    Returns
    -------
    DataFrame
        One row for each metric, query and embedding: ``value``, ``sd``, ``lower``, ``upper``,
        ``prob_above`` the neutral value, ``p_value``, ``n_words``, ``n_lost`` and the ``reason``
        for NaN. ``attrs["skipped"]`` says for each metric which queries it skipped, and why.

    Raises
    ------
    SpecError
        If a query does not fit, an option is not known, or names repeat.

    Warns
    -----
    BayesBiasWarning
        Once, if there are NaN, lost words, notes or skipped queries.

    Examples
    --------
    >>> import bayesbias as bb
    >>> scores = bb.query_scores(
    ...     ["weat", "weat_es"], bb.load_query("weat_6"), bb.load_embedding("demo"), p_values=True
    ... )
    >>> scores[["metric", "value", "p_value", "n_words"]].round(4)
        metric   value  p_value  n_words
    0     weat  2.3171   0.0002       32
    1  weat_es  1.7638   0.0002       32
    """
    chosen = as_metrics(metrics, options)
    given = as_queries(queries)
    fits = [fitting(metric, given, subqueries=subqueries, skip=subqueries) for metric in chosen]
    settings = Settings(
        normalize=normalize,
        matching=matching,
        seed=seed,
        draws=draws,
        prob=prob,
        kind=kind,
        p_values=p_values,
        p_value_iterations=p_value_iterations,
        p_value_test_type=p_value_test_type,
    )
    asked = [(metric, taken) for metric, (taken, _) in zip(chosen, fits, strict=True)]
    scores = measure(asked, embeddings, settings, n_jobs=n_jobs, progress=progress)
    frame = pd.DataFrame([score.row() for score in scores])
    skipped = {metric.name: left for metric, (_, left) in zip(chosen, fits, strict=True) if left}
    frame.attrs = {"skipped": skipped}
    notes = remarks(scores) + [
        f"{name} cannot take {quoted(left, 3)}" for name, left in skipped.items()
    ]
    if notes:
        warn(f"{'; '.join(notes)}.")
    return frame


def values_of(scores: Sequence[Score]) -> pd.DataFrame:
    """Return the values of one metric, embeddings × queries in the order of the scores."""
    rows = list(dict.fromkeys(score.embedding for score in scores))
    columns = list(dict.fromkeys(score.query_name for score in scores))
    values = np.array([score.value for score in scores]).reshape(len(columns), len(rows))
    return pd.DataFrame(values.T, index=rows, columns=columns)


def _by_place(
    scores: Sequence[Score], pick: Callable[[Score], object]
) -> dict[str, dict[str, object]]:
    """Return what there is to say, by embedding and query."""
    result: dict[str, dict[str, object]] = {}
    for score in scores:
        if pick(score):
            result.setdefault(score.embedding, {})[score.query_name] = pick(score)
    return result


def _aggregated(kept: pd.DataFrame, aggregate: str | Callable[[pd.DataFrame], Any]) -> Array:
    if kept.empty:
        return np.full(len(kept), np.nan)
    if isinstance(aggregate, str):
        return AGGREGATES[aggregate](kept.to_numpy())
    result = aggregate(kept.copy())
    if isinstance(result, pd.Series) and set(result.index) == set(kept.index):
        result = result.loc[kept.index]
    try:
        values: Array = np.asarray(result, dtype=np.float64)
    except (TypeError, ValueError) as err:
        raise _not_one_each(result) from err
    if values.shape != (len(kept),):
        raise _not_one_each(result)
    return values


def _not_one_each(result: object) -> SpecError:
    return SpecError(
        f"the function 'aggregate' returned {kind_of(result)}; expected one number for each "
        "embedding, as from lambda frame: frame.abs().max(axis=1)."
    )


def _neutral(aggregate: object, neutral: float, number: int) -> float:
    """Return what the aggregate of queries without bias is; for a function, the metric's value."""
    if isinstance(aggregate, str) and number:
        return float(AGGREGATES[aggregate](np.full(number, float(neutral))))
    return float(neutral)


def _of_aggregate(summed: Mapping[str, Any], kept: pd.DataFrame, neutral: float) -> list[str]:
    """Say what an aggregate leaves out or hides."""
    if kept.empty:
        return ["no query has a value in every embedding, so the aggregate is NaN"]
    result = []
    if summed["skipped"]:
        result.append(f"left out of the aggregate: {quoted(summed['skipped'], 5)}")
    if not neutral or not summed["function"].startswith("abs_"):
        return result
    values = kept.to_numpy()
    if (values < 0).any():
        plain = summed["function"].removeprefix("abs_")
        result.append(
            f"without bias the metric is {neutral:g}, so absolute values hide what values below 0 "
            f"say; use aggregate={plain!r}"
        )
    if (values < neutral).any() and (values > neutral).any():
        result.append(
            f"without bias the metric is {neutral:g}, and values above and below it cancel out in "
            "the aggregate; rank_posterior() sums up how far from it they are"
        )
    return result
