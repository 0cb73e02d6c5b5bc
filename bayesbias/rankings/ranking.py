"""Which embedding is less biased: rankings, and how metrics agree on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import pandas as pd

from bayesbias._core.validation import one_of
from bayesbias._core.wording import plural, quoted
from bayesbias.errors import DataError, SpecError

Ties = Literal["first", "average", "min", "max", "dense"]


def rank(
    results: pd.DataFrame | Iterable[pd.DataFrame] | Mapping[str, pd.DataFrame],
    *,
    by: Literal["bias", "value"] = "bias",
    method: Ties = "first",
) -> pd.DataFrame:
    """Rank embeddings by the last column of tables of `run_queries`; 1 is the least biased.

    Parameters
    ----------
    results : DataFrame, list or mapping of DataFrame
        Tables of `run_queries` with an aggregate, or with one query. The columns of the ranking
        are called as their last columns are, or by the keys of a mapping.
    by : {"bias", "value"}, default "bias"
        ``bias`` ranks by the distance from the neutral value, so that a MAC of 0.9 is more biased
        than one of 1; ``value`` ranks by the value itself, as the WEFE library does, which is the
        wrong way round for metrics such as MAC and ECT.
    method : {"first", "average", "min", "max", "dense"}, default "first"
        The place of equal ones: in their order, or as ``DataFrame.rank`` defines the others.

    Returns
    -------
    DataFrame
        Embeddings × tables; NaN where the aggregate is.

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
    for frame in frames:
        _check_results(frame)
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
    columns = [frame.iloc[:, -1].loc[embeddings] for frame in frames]
    if by == "bias":
        columns = [
            (column - _neutral(frame)).abs() for column, frame in zip(columns, frames, strict=True)
        ]
    names = names or [str(column.name) for column in columns]
    if len(set(names)) < len(names):
        names = [
            f"{name} ({i})" if names.count(name) > 1 else name for i, name in enumerate(names, 1)
        ]
    together: pd.DataFrame = pd.concat(columns, axis=1).set_axis(names, axis=1)
    return together.rank(method=method)


def _check_results(frame: object) -> None:
    if not isinstance(frame, pd.DataFrame):
        raise SpecError(
            f"'results' holds {type(frame).__name__}; expected tables of run_queries()."
        )
    if frame.empty:
        raise SpecError("'results' holds an empty table; expected embeddings × queries.")
    if not frame.index.is_unique:
        twice = frame.index[frame.index.duplicated()][0]
        raise DataError(f"'results' has two rows called {twice!r}; give embeddings other names.")
    if "metric" in frame.attrs and frame.attrs["aggregate"] is None and frame.shape[1] > 1:
        raise SpecError(
            f"the results of {frame.attrs['metric']!r} have {frame.shape[1]} queries and no "
            "aggregate to rank by; use run_queries(…, aggregate='abs_avg')."
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
        raise SpecError(f"'ranking' is {type(ranking).__name__}; expected the table of rank().")
    if len(ranking) < 2:
        raise SpecError(
            f"'ranking' has {len(ranking)} embedding; orders can be compared from two on."
        )
    return ranking.corr(method=method)
