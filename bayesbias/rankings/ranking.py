"""Which embedding is less biased: rankings, and how metrics agree on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import pandas as pd

from bayesbias._core.validation import one_of
from bayesbias._core.wording import kind_of, plural, quoted
from bayesbias.errors import DataError, SpecError

Ties = Literal["first", "average", "min", "max", "dense"]


def rank(
    results: pd.DataFrame | Iterable[pd.DataFrame] | Mapping[str, pd.DataFrame],
    *,
    by: Literal["bias", "value"] = "bias",
    method: Ties = "first",
    combine: Literal["aggregate", "rank_sum"] = "aggregate",
) -> pd.DataFrame:
    """Rank embeddings by tables of `run_queries`; 1 is the least biased.

    Parameters
    ----------
    results : DataFrame, list or mapping of DataFrame
        Tables of `run_queries`: with an aggregate or one query, unless `combine` is
        ``"rank_sum"``. The columns of the ranking are called as the last columns of the tables
        are, or by the keys of a mapping.
    by : {"bias", "value"}, default "bias"
        ``bias`` ranks by the distance from the neutral value, so that a MAC of 0.9 is more biased
        than one of 1; ``value`` ranks by the value itself, as the WEFE library does, which is the
        wrong way round for metrics such as MAC and ECT.
    method : {"first", "average", "min", "max", "dense"}, default "first"
        The place of equal ones: in their order, or as ``DataFrame.rank`` defines the others.
    combine : {"aggregate", "rank_sum"}, default "aggregate"
        Rank by the last column of each table; or rank the embeddings by each query, with the mean
        rank for equal ones, and then by the sum of these ranks, so that a query with large values
        counts no more than another. Queries without a value in some embedding are left out.

    Returns
    -------
    DataFrame
        Embeddings × tables; NaN where the aggregate is.

    See Also
    --------
    overall_ranking : One ranking from those by several metrics.

    Raises
    ------
    SpecError
        If there is no table, or one has several queries and no aggregate.
    DataError
        If the tables are not of the same embeddings.

    Examples
    --------
    >>> import bayesbias as bb
    >>> embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    >>> queries = [bb.load_query(f"weat_{i}") for i in (6, 7, 8)]
    >>> results = {
    ...     name: bb.run_queries(name, queries, embeddings, aggregate="abs_avg")
    ...     for name in ("weat", "weat_es")
    ... }
    >>> bb.rank(results)
               weat  weat_es
    demo        2.0      2.0
    demo-100d   1.0      1.0
    """
    one_of("by", by, ("bias", "value"))
    one_of("method", method, ("first", "average", "min", "max", "dense"))
    if isinstance(results, Mapping):
        names, frames = [str(key) for key in results], list(results.values())
    else:
        frames = [results] if isinstance(results, pd.DataFrame) else list(results)
        names = []
    one_of("combine", combine, ("aggregate", "rank_sum"))
    for frame in frames:
        _check_results(frame, summed=combine == "aggregate")
    if not frames:
        raise SpecError("'results' is empty; give at least one table of run_queries().")
    embeddings = frames[0].index
    for frame in frames[1:]:
        if set(frame.index) != set(embeddings):
            odd = sorted(map(str, set(frame.index) ^ set(embeddings)))
            raise DataError(
                f"the results are not of the same embeddings: {quoted(odd)} "
                f"{plural(len(odd), 'is', 'are')} not in all of them; run the same embeddings."
            )
    if combine == "rank_sum":
        columns = [_rank_sums(frame, by).loc[embeddings] for frame in frames]
    else:
        columns = [_last_column(frame, by).loc[embeddings] for frame in frames]
    names = names or [str(column.name) for column in columns]
    if len(set(names)) < len(names):
        names = [
            f"{name} ({i})" if names.count(name) > 1 else name for i, name in enumerate(names, 1)
        ]
    together: pd.DataFrame = pd.concat(columns, axis=1).set_axis(names, axis=1)
    return together.rank(method=method)


def _last_column(frame: pd.DataFrame, by: str) -> pd.Series[float]:
    """Return what the embeddings are ranked by: the aggregate, or its distance from neutral."""
    column = frame.iloc[:, -1]
    return (column - _neutral(frame)).abs() if by == "bias" else column


def _rank_sums(frame: pd.DataFrame, by: str) -> pd.Series[float]:
    """Return the sums of the ranks by single queries."""
    summed = frame.attrs.get("aggregate")
    queries = frame if summed is None else frame.drop(columns=summed["column"])
    complete = queries.loc[:, queries.notna().all()]
    if complete.empty:
        raise DataError(
            f"the results of {frame.attrs.get('metric', 'a metric')!r} have no query with a value "
            "in every embedding, so there are no ranks to sum."
        )
    if by == "bias":
        complete = (complete - float(frame.attrs.get("neutral_value", 0.0))).abs()
    name = str(frame.attrs.get("metric", frame.columns[-1]))
    sums: pd.Series[float] = complete.rank().sum(axis=1).rename(name)
    return sums


def overall_ranking(ranking: pd.DataFrame) -> pd.DataFrame:
    """Join the rankings by several metrics into one, by the sum of the ranks.

    Metrics have scales of their own, so their values cannot be averaged; their ranks can. A sum of
    ranks says nothing of how far embeddings are apart or how sure the order is: see
    `rank_posterior`.

    Parameters
    ----------
    ranking : DataFrame
        Embeddings × metrics, from `rank`.

    Returns
    -------
    DataFrame
        One row per embedding, the least biased first: ``rank_sum``, ``mean_rank`` and ``overall``,
        the place, which embeddings with equal sums share.

    Raises
    ------
    SpecError
        If `ranking` is no table.
    DataError
        If an embedding has no rank by some metric.

    References
    ----------
    Badilla (2020), figure 3.2, sums the ranks by four metrics.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesbias as bb
    >>> ranking = pd.DataFrame({"weat": [1, 2, 3], "rnd": [2, 3, 1]}, index=["a", "b", "c"])
    >>> bb.overall_ranking(ranking)
       rank_sum  mean_rank  overall
    a         3        1.5        1
    c         4        2.0        2
    b         5        2.5        3
    """
    if not isinstance(ranking, pd.DataFrame):
        raise SpecError(f"'ranking' is {kind_of(ranking)}; expected the table of rank().")
    missing = ranking.columns[ranking.isna().any()]
    if len(missing):
        raise DataError(
            f"not every embedding has a rank by {quoted(missing, 4)}; leave these metrics or the "
            "embeddings out: ranking.dropna(axis=1), ranking.dropna()."
        )
    sums = ranking.sum(axis=1)
    table = pd.DataFrame(
        {
            "rank_sum": sums,
            "mean_rank": ranking.mean(axis=1),
            "overall": sums.rank(method="min").astype("int64"),
        }
    )
    return table.sort_values("rank_sum", kind="stable")


def _check_results(frame: object, *, summed: bool) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise SpecError(f"'results' holds {kind_of(frame)}; expected tables of run_queries().")
    if frame.empty:
        raise SpecError("'results' holds an empty table; expected embeddings × queries.")
    if not all(dtype.kind in "fiu" for dtype in frame.dtypes):
        raise DataError(
            "'results' does not consist of numbers; expected tables of run_queries(), embeddings × "
            "queries. query_scores() returns one row per score."
        )
    if not frame.index.is_unique:
        twice = frame.index[frame.index.duplicated()][0]
        raise DataError(f"'results' has two rows called {twice!r}; give embeddings other names.")
    several = "metric" in frame.attrs and frame.attrs["aggregate"] is None and frame.shape[1] > 1
    if summed and several:
        raise SpecError(
            f"the results of {frame.attrs['metric']!r} have {frame.shape[1]} queries and no "
            "aggregate to rank by; use run_queries(…, aggregate='abs_avg'), or "
            "rank(…, combine='rank_sum')."
        )
    if not summed and frame.attrs.get("aggregate") is not None and frame.shape[1] == 1:
        raise SpecError(
            "'results' holds an aggregate alone, and combine='rank_sum' needs the queries; use "
            "run_queries() without only_aggregate."
        )


def _neutral(frame: pd.DataFrame) -> float:
    """Return what the last column of results is without bias."""
    summed = frame.attrs.get("aggregate")
    if summed is not None and summed["column"] == frame.columns[-1]:
        return float(summed["neutral_value"])
    return float(frame.attrs.get("neutral_value", 0.0))


def rank_correlations(
    ranking: pd.DataFrame, *, method: Literal["spearman", "kendall", "pearson"] = "spearman"
) -> pd.DataFrame:
    """Measure how much metrics (or sets of queries) agree on the order of embeddings.

    Parameters
    ----------
    ranking : DataFrame
        Embeddings × metrics, from `rank`.
    method : {"spearman", "kendall", "pearson"}, default "spearman"
        The correlation.

    Returns
    -------
    DataFrame
        Metrics × metrics, from −1 (opposite orders) to 1 (the same order).

    Raises
    ------
    SpecError
        If there are fewer than two embeddings.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesbias as bb
    >>> ranking = pd.DataFrame({"weat": [1, 2, 3], "rnd": [1, 3, 2]}, index=["a", "b", "c"])
    >>> bb.rank_correlations(ranking)
          weat  rnd
    weat   1.0  0.5
    rnd    0.5  1.0
    """
    one_of("method", method, ("spearman", "kendall", "pearson"))
    if not isinstance(ranking, pd.DataFrame):
        raise SpecError(f"'ranking' is {kind_of(ranking)}; expected the table of rank().")
    if len(ranking) < 2:
        raise SpecError(
            f"'ranking' has {len(ranking)} embedding; orders can be compared from two on."
        )
    return ranking.corr(method=method)
