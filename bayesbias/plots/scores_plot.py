"""Classical metrics with their intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pandas as pd

from bayesbias._core.plugins import title_of
from bayesbias._core.validation import one_of
from bayesbias._core.wording import kind_of
from bayesbias.errors import DataError, SpecError
from bayesbias.metrics import METRICS, Score
from bayesbias.plots.interval_rows import Rows, draw_intervals
from bayesbias.plots.plot_checks import check_frame, choose
from bayesbias.plots.style import (
    Style,
    keys,
    label_below,
    legend_above,
    new_axes,
    reference,
    styles,
    tidy,
    wrapped,
)
from bayesbias.rankings import ListComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = ("metric", "query", "embedding", "value", "lower", "upper")
# Inches of a lane, lanes between queries, and characters of a line of a query's name.
_LANE, _BETWEEN, _WIDTH = 0.13, 1.6, 34
_LINE = 0.145  # inches of such a line


By: TypeAlias = Literal["query", "embedding"]


def plot_scores(
    scores: pd.DataFrame | Score | ListComparison | Iterable[Score],
    *,
    metric: str | None = None,
    by: By = "query",
    ax: Axes | None = None,
) -> Axes:
    """Draw the values of a metric with their intervals, one row per query, one mark per embedding.

    Metrics have scales of their own, so a figure is of one of them. The vertical line is the value
    that an embedding without bias has.

    Parameters
    ----------
    scores : DataFrame, Score, ListComparison or list of Score
        What `query_scores`, `run_queries` or `compare_lists` returned, or what `Metric.posterior`
        or `Metric.run_query` did. There are intervals where there were draws. The aggregate of
        `run_queries` is drawn if it is the only column.
    metric : str, optional
        Which metric, if there are several.
    by : {"query", "embedding"}, default "query"
        What the rows are; the marks are the other.
    ax : Axes, optional
        Where to draw; by default a new figure that is as high as the rows need.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    SpecError
        If `scores` is something else, or does not say which of several metrics.
    DataError
        If the table is not one of `query_scores` or `run_queries`, or has no value.

    Examples
    --------
    >>> import bayesbias as bb
    >>> embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    >>> queries = [bb.load_query(f"weat_{i}") for i in (6, 7, 8)]
    >>> scores = bb.query_scores("weat_es", queries, embeddings, draws=500)
    >>> ax = bb.plot_scores(scores)
    >>> ax.get_xlabel()
    'WEAT effect size (0: no bias)'
    >>> ax = bb.plot_scores(bb.run_queries("weat_es", queries, embeddings), by="embedding")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['demo', 'demo-100d']
    """
    one_of("by", by, ("query", "embedding"))
    marked = "embedding" if by == "query" else "query"
    table = _table(scores)
    name = choose("metric", metric, dict.fromkeys(table["metric"].astype("str")))
    of_metric = table[table["metric"] == name]
    twice = of_metric.duplicated(["query", "embedding"])
    if twice.any():
        query, embedding = of_metric.loc[twice, ["query", "embedding"]].iloc[0]
        raise DataError(f"'scores' has {query!r} in {embedding!r} twice; keep one of them.")
    if of_metric["value"].isna().all():
        raise DataError(f"no value of {name!r} is a number; there is nothing to draw.")
    several = styles(of_metric[marked])
    labels = {label: wrapped(label, _WIDTH) for label in dict.fromkeys(of_metric[by])}
    # A row is as high as its marks or its name, whichever is higher.
    lines = max(label.count("\n") + 1 for label in labels.values())
    between = max(_BETWEEN, lines * _LINE / _LANE + 0.5 - len(several))
    rows = Rows.of({"": list(labels.values())}, len(several), between=between, headed=False)
    if ax is None:
        # Names of queries are long: in the legend, each has a line of its own.
        above = 0.4 if by == "query" else 0.18 * len(several) + 0.2
        ax = new_axes(6.4, _LANE * rows.end + 0.7 + (above if len(several) > 1 else 0))
    places = dict(zip(labels, rows.places, strict=True))
    for lane, (mark, style) in enumerate(several.items()):
        part = of_metric[of_metric[marked] == mark].rename(columns={"value": "mean"})
        y = [places[label] + lane for label in part[by]]
        draw_intervals(ax, part, y, style, width=1.7, size=24)
        reasons = part.get("reason", pd.Series("", index=part.index)).astype("str")
        for place, mean, reason in zip(y, part["mean"], reasons, strict=True):
            if np.isnan(mean):
                _write_missing(ax, place, style, "no value")
            elif reason.startswith("no interval"):
                _write_missing(ax, place, style, "no interval")
    rows.shade(ax)
    neutral = METRICS[name].neutral_value if name in METRICS else None
    neutral = of_metric.attrs.get("neutral_value", neutral)
    if neutral is not None:
        reference(ax, neutral)
    alone = of_metric["embedding"].iloc[0]
    where = "" if by == "embedding" or len(several) > 1 else f" in {alone}"
    tidy(ax)
    rows.label(ax)
    title = f"{title_of(name, METRICS)}{where}"
    label_below(ax, title if neutral is None else f"{title} ({neutral:g}: no bias)")
    if len(several) > 1:
        columns = min(len(several), 4) if by == "query" else 1
        legend_above(ax, keys(several.values()), columns=columns)
    return ax


def _table(scores: object) -> pd.DataFrame:
    """Return one row per score."""
    if isinstance(scores, ListComparison):
        return _of_lists(scores)
    if isinstance(scores, Score):
        scores = [scores]
    if isinstance(scores, Iterable) and not isinstance(scores, pd.DataFrame | str):
        several = list(scores)
        for score in several:
            if not isinstance(score, Score):
                raise SpecError(
                    f"'scores' holds {kind_of(score)}; expected scores, or the table of "
                    "query_scores() or run_queries()."
                )
        scores = pd.DataFrame([score.row() for score in several])
    if isinstance(scores, pd.DataFrame) and "metric" in scores.attrs and "metric" not in scores:
        return _long(scores)
    return check_frame("scores", scores, _COLUMNS, "query_scores() or run_queries()")


def _of_lists(found: ListComparison) -> pd.DataFrame:
    """Return the rows of a comparison of lists, whose names take the place of queries."""
    rows = found.table.rename(columns={"lists": "query"}).assign(embedding=found.embedding)
    rows.attrs["neutral_value"] = found.neutral_value
    return rows


def _long(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table of `run_queries`, embeddings × queries, with one row per value."""
    check_frame("scores", frame, (), "run_queries()")
    summed = frame.attrs.get("aggregate") or {}
    values = frame.drop(columns=summed.get("column"), errors="ignore") if summed else frame
    neutral = frame.attrs["neutral_value"]
    if values.empty:  # the aggregate alone
        values, neutral = frame, summed["neutral_value"]
    long = pd.DataFrame(
        {
            "metric": frame.attrs["metric"],
            "query": np.repeat(values.columns.astype("str"), len(values)),
            "embedding": np.tile(values.index.astype("str"), values.shape[1]),
            "value": values.to_numpy(dtype=np.float64).T.ravel(),
            "lower": np.nan,
            "upper": np.nan,
        }
    )
    long.attrs["neutral_value"] = neutral
    return long


def _write_missing(ax: Axes, place: float, style: Style, what: str) -> None:
    ax.annotate(
        what,
        (0, place),
        (3, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize=7,
        color=style.color,
    )
