"""Silhouettes of several metrics, queries and sides in one call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import pandas as pd

from bayesbias._core.latex import frame_to_latex
from bayesbias._core.validation import one_of
from bayesbias._core.wording import counted
from bayesbias.embeddings import Embedding, EmbeddingLike, as_embeddings
from bayesbias.errors import DataError, SpecError
from bayesbias.metrics import Metric, MetricLike, as_metrics, as_query
from bayesbias.rankings import fitting
from bayesbias.silhouette_analysis.silhouettes import Side, Silhouettes, silhouettes
from bayesbias.wordlists import Query

Sides: TypeAlias = Literal["targets", "attributes", "both"]
#: A metric, the query it takes, and the side that grows.
Asked: TypeAlias = tuple[Metric, Query, Side]


@dataclass(frozen=True, eq=False, repr=False)
class SilhouetteSet:
    """Silhouettes of several metrics, queries and sides, from `run_silhouettes`.

    Iterating over it yields each of them; `plot_silhouette_grid` draws them.

    Parameters
    ----------
    results : tuple of Silhouettes
        The silhouettes, by metric, query and side.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.run_silhouettes(["weat_es", "mac"], "weat_7", "demo", runs=20, chance=0)
    >>> found
    <SilhouetteSet: 4 silhouettes of 2 metrics, 1 query and 2 sides>
    >>> found.table[["metric", "side", "robustness"]].round(2)
        metric        side  robustness
    0  weat_es     targets        0.92
    1  weat_es  attributes        0.72
    2      mac     targets        0.96
    3      mac  attributes        0.98
    """

    results: tuple[Silhouettes, ...]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Silhouettes]:
        return iter(self.results)

    def __getitem__(self, item: int) -> Silhouettes:
        return self.results[item]

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per metric, query, side and embedding, as in `Silhouettes.robustness_table`.

        ``words`` is the number of words of the lists that grow, and ``value`` that of all words.
        """
        tables = []
        for result in self.results:
            table = result.robustness_table.copy()
            table.insert(1, "words", int(result.sizes[-1]))
            table.insert(2, "value", result.complete.to_numpy())
            tables.append(table)
        return stacked(self.results, tables)

    def summary(self) -> str:
        """Return the verdict of each silhouette under its name.

        Returns
        -------
        str
            Five lines for each.
        """
        return "\n".join(
            f"{each.metric}, {each.side} of {each.query.name}:\n{each.verdict()}" for each in self
        )

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the robustness as a LaTeX table, rounded by its intervals.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names the runs and the intervals.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        shown = self.table
        if shown["chance"].isna().all():
            shown = shown.drop(columns=["chance", "chance_lower", "chance_upper", "percentile"])
        first = self.results[0]
        text = f"Robustness of word lists, with {first.prob:.0%} intervals, from {first.runs} runs."
        titles = {"band_robustness": f"robustness ({first.prob:.0%} band)"}
        return frame_to_latex(
            shown,
            text if caption is None else caption,
            titles=titles | {"chance": "random lists"},
            decimals={"percentile": 0},
        )

    def __repr__(self) -> str:
        metrics = counted(len({each.metric for each in self}), "metric")
        queries = counted(len({each.query.name for each in self}), "query", "queries")
        sides = counted(len({each.side for each in self}), "side")
        count = counted(len(self), "silhouette")
        return f"<SilhouetteSet: {count} of {metrics}, {queries} and {sides}>"

    def _repr_html_(self) -> str:
        return self.table.to_html(index=False, border=0, float_format=lambda x: f"{x:.3f}")


def run_silhouettes(
    metrics: MetricLike | Iterable[MetricLike],
    queries: Query | str | Iterable[Query | str],
    embeddings: EmbeddingLike | Iterable[EmbeddingLike],
    *,
    side: Sides = "both",
    metric_options: dict[str, object] | None = None,
    **settings: Any,
) -> SilhouetteSet:
    """Grow the lists of several queries for several metrics, on one side or both.

    Parameters
    ----------
    metrics : str, Metric class or Metric, or list of them
        The metrics, as in `silhouettes`.
    queries : Query or str, or list of them
        The queries, or their names. One with more sets than a metric takes is split into its parts.
    embeddings : Embedding, str, or list of them
        Where to measure; their names must differ.
    side : {"targets", "attributes", "both"}, default "both"
        Which lists grow: the groups, the concepts, or each of them in turn.
    metric_options : dict, optional
        Options of the metrics that know them.
    **settings : object
        Other arguments of `silhouettes`, such as ``runs``, ``chance``, ``seed`` or ``n_jobs``.

    Returns
    -------
    SilhouetteSet
        The silhouettes, one table of their robustness, and a verdict on each.

    Raises
    ------
    SpecError
        If there is no metric or no query, or one that does not fit.
    DataError, VocabularyError
        As in `silhouettes`. Everything is tried out with two runs first, so that an error comes
        before the long work.

    See Also
    --------
    plot_silhouette_grid : Draw them side by side.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.run_silhouettes("weat_es", ["weat_6", "weat_7"], "demo", runs=20, chance=0)
    >>> len(found)
    4
    """
    chosen = as_metrics(
        [metrics] if isinstance(metrics, str | Metric | type) else metrics, metric_options or {}
    )
    several = [queries] if isinstance(queries, str | Query) else list(queries)
    if not chosen or not several:
        raise SpecError("give at least one metric and one query.")
    one_of("side", side, ("targets", "attributes", "both"))
    asked = [each for query in several for each in asked_silhouettes(chosen, as_query(query), side)]
    loaded = as_embeddings(embeddings)
    if len(asked) > 1:
        try_all(asked, loaded, settings)
    return SilhouetteSet(
        tuple(silhouettes(metric, part, loaded, side=s, **settings) for metric, part, s in asked)
    )


def asked_silhouettes(metrics: Sequence[Metric], query: Query, side: str) -> list[Asked]:
    """Return each metric with the parts of the query that it takes and the sides of these."""
    asked: list[Asked] = []
    for metric in metrics:
        for part in fitting(metric, [query], subqueries=True)[0].values():
            if side != "attributes":
                asked.append((metric, part, "targets"))
            # Of both sides those that there are; of the one asked for, an error says it.
            if side == "attributes" or (side == "both" and part.attribute_sets):
                asked.append((metric, part, "attributes"))
    return asked


def try_all(
    asked: Sequence[Asked], embeddings: Sequence[Embedding], settings: dict[str, Any]
) -> None:
    """Let each fail that will, by the smallest run there is, before the first takes long."""
    left_out = ("runs", "step", "resume")
    least = {name: value for name, value in settings.items() if name not in left_out}
    least |= {"progress": False, "n_jobs": 1, "chance": 0}
    longest = max(len(words) for _, part, _ in asked for words in part.word_sets().values())
    for metric, part, side in asked:
        # Too few words to have a value are no error where there are more sizes.
        with warnings.catch_warnings(action="ignore"), suppress(DataError):
            silhouettes(metric, part, embeddings, side=side, runs=2, step=longest, **least)


def stacked(results: Sequence[Silhouettes], tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the tables as one that says what each row is of."""
    parts = []
    for result, table in zip(results, tables, strict=True):
        labels = {"metric": result.metric, "query": result.query.name, "side": result.side}
        parts.append(table.assign(**labels)[[*labels, *table.columns]])
    return pd.concat(parts, ignore_index=True)
