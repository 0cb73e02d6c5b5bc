"""How sure a ranking of embeddings is: the probability of each place."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed
from bayesbias._core.validation import at_least, one_of
from bayesbias._core.wording import counted, quoted
from bayesbias.embeddings import EmbeddingLike, Matching, as_embeddings
from bayesbias.errors import DataError, SpecError, warn
from bayesbias.metrics import Metric, MetricLike, Score, as_metrics
from bayesbias.numerics.intervals import centred, interval_around
from bayesbias.rankings.parallel_scores import (
    Queries,
    Settings,
    as_queries,
    fitting,
    measure,
    remarks,
)
from bayesbias.rankings.run_queries import AGGREGATES, Aggregate, values_of

# Vectors are in single precision: biases are equal that differ by less than this share.
_DIGITS = 6


@dataclass(frozen=True, eq=False, repr=False)
class RankPosterior:
    """How sure a ranking of embeddings is, from `rank_posterior`.

    A score is how far the queries are from the neutral value of the metric, summed up by the
    aggregate; 0 is without bias, and the smaller its size, the less biased.

    Parameters
    ----------
    metric : str
        The name of the metric.
    aggregate : {"avg", "abs_avg", "sum", "abs_sum"}
        How the queries were summed up.
    queries : tuple of str
        The queries that count.
    skipped : tuple of str
        The queries left out, as some embedding has no value or no interval for them.
    scores : Series
        The score of each embedding with the words as they are listed.
    draws : DataFrame
        Draws × embeddings: the score for each draw of the words' weights, moved so that the
        median of an embedding is its score. A row has the same weights for all embeddings.
    prob : float
        Probability of the intervals.

    Examples
    --------
    >>> import bayesbias as bb
    >>> embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    >>> queries = [bb.load_query(f"weat_{i}") for i in (6, 7, 8)]
    >>> found = bb.rank_posterior("weat_es", queries, embeddings, draws=1000)
    >>> found.table[["embedding", "score", "expected_rank", "prob_best"]].round(1)
       embedding  score  expected_rank  prob_best
    0  demo-100d    1.4            1.1        0.9
    1       demo    1.6            1.9        0.1
    """

    metric: str
    aggregate: Aggregate
    queries: tuple[str, ...]
    skipped: tuple[str, ...]
    scores: pd.Series[float]
    draws: pd.DataFrame
    prob: float

    @property
    def _measured_by(self) -> str:
        return self.metric

    @cached_property
    def _sizes(self) -> Array:
        """The sizes of the scores, rounded so that equal ones are equal."""
        sizes: Array = np.abs(self.draws.to_numpy())
        largest = sizes.max()
        return np.round(sizes / largest, _DIGITS) if largest else sizes

    @cached_property
    def probabilities(self) -> pd.DataFrame:
        """The probability of each place for each embedding; rows and columns sum to one."""
        sizes = self._sizes
        n = sizes.shape[1]
        places = np.arange(n)
        rows = []
        for i in range(n):
            size = sizes[:, i, None]
            before = (sizes < size).sum(axis=1)[:, None]
            tied = (sizes == size).sum(axis=1)[:, None]
            rows.append((((places >= before) & (places < before + tied)) / tied).mean(axis=0))
        return pd.DataFrame(
            rows, index=self.draws.columns, columns=pd.RangeIndex(1, n + 1, name="place")
        )

    @cached_property
    def p_less_biased(self) -> pd.DataFrame:
        """The probability that the row is less biased than the column; equal ones count half."""
        sizes = self._sizes
        names = self.draws.columns
        rows = [
            ((size < sizes) + (size == sizes) / 2).mean(axis=0)
            for size in (sizes[:, i, None] for i in range(len(names)))
        ]
        return pd.DataFrame(rows, index=names, columns=names)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per embedding, the least biased first.

        ``score`` with its interval from ``lower`` to ``upper``, ``expected_rank`` with the places
        from ``rank_lower`` to ``rank_upper`` (the fewest that hold the probability), ``prob_best``
        and ``prob_worst``, the probabilities to be the least and the most biased of all.
        """
        chances = self.probabilities.to_numpy()
        ends = [
            interval_around(score, self.draws[name].to_numpy(), self.prob)
            for name, score in self.scores.items()
        ]
        places = [_fewest_places(row, self.prob) for row in chances]
        frame = pd.DataFrame(
            {
                "embedding": list(self.draws.columns),
                "score": self.scores.to_numpy(),
                "lower": [lower for lower, _ in ends],
                "upper": [upper for _, upper in ends],
                "expected_rank": chances @ np.arange(1, len(chances) + 1),
                "rank_lower": [first for first, _ in places],
                "rank_upper": [last for _, last in places],
                "prob_best": chances[:, 0],
                "prob_worst": chances[:, -1],
            }
        )
        return frame.sort_values("expected_rank", kind="stable", ignore_index=True)

    def summary(self) -> str:
        """Return the ranking in a few sentences, no surer than it is.

        Returns
        -------
        str
            Which embeddings are the least and the most biased, and which orders are inconclusive.
        """
        table = self.table
        names = list(table["embedding"])
        number = len(self.queries)
        text = [
            f"{self._measured_by} over {counted(number, 'query', 'queries')} "
            f"({self.aggregate}), {len(names)} embeddings"
        ]
        # Of two, the one that is not the least biased is the most biased.
        ends = (("prob_best", "least"), ("prob_worst", "most"))[: len(names) - 1]
        for column, which in ends:
            place = int(table[column].to_numpy().argmax())
            chance = float(table[column].iloc[place])
            if chance >= self.prob:
                text.append(f"The {which} biased is {names[place]!r}, {_probability(chance)}")
            else:
                text.append(
                    f"Which is the {which} biased is inconclusive: {names[place]!r}, the "
                    f"likeliest, is it {_probability(chance)}"
                )
        unsure = []
        for first, second in pairwise(names):
            chance = float(self.p_less_biased.loc[first, second])
            if len(names) > 2 and chance < self.prob:
                unsure.append(f"{first!r} before {second!r} {_probability(chance)}")
        if unsure:
            more = f", and {len(unsure) - 5} more" if len(unsure) > 5 else ""
            text.append(f"Open among neighbours: {', '.join(unsure[:5])}{more}")
        elif len(names) > 2:
            text.append(
                f"Each is less biased than the next with a probability of at least {self.prob:g}"
            )
        if self.skipped:
            text.append(f"Left out: {quoted(self.skipped, 3)}")
        text.append(
            "The probabilities are about which words could have been listed, not about which texts "
            "the embeddings could have been trained on"
        )
        return ". ".join(text) + "."

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the ranking as a LaTeX table, rounded by its intervals.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names the queries and the intervals.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        table = self.table
        shown = table[["embedding", "score", "lower", "upper", "expected_rank"]].copy()
        places = zip(table["rank_lower"], table["rank_upper"], strict=True)
        shown["ranks"] = [f"{a}" if a == b else f"{a}–{b}" for a, b in places]
        shown[["prob_best", "prob_worst"]] = table[["prob_best", "prob_worst"]]
        text = (
            f"Ranking by {self.metric} ({self.aggregate} of "
            f"{counted(len(self.queries), 'query', 'queries')}), the least biased first: scores "
            f"and ranks with {self.prob:.0%} intervals, from {len(self.draws):,} draws."
        )
        return frame_to_latex(
            shown,
            text if caption is None else caption,
            titles={"prob_best": "P(least biased)", "prob_worst": "P(most biased)"},
            decimals={"expected_rank": 1},
        )

    def __repr__(self) -> str:
        draws, embeddings = self.draws.shape
        return (
            f"<{type(self).__name__} {self.metric} ({self.aggregate}): {embeddings} embeddings, "
            f"{len(self.queries)} queries, {draws:,} draws>"
        )

    def _repr_html_(self) -> str:
        table = self.table.to_html(index=False, border=0, float_format=lambda x: f"{x:.3g}")
        return f"{table}<p>{html.escape(self.summary())}</p>"


@dataclass(frozen=True, eq=False, repr=False)
class OverallRankPosterior(RankPosterior):
    """How sure the ranking by several metrics together is, from `rank_posterior`.

    A score is the mean of the ranks by the metrics; the smaller, the less biased.

    Parameters
    ----------
    metric : str
        The names of the metrics.
    aggregate : str
        How the queries were summed up, before the embeddings were ranked by each metric.
    queries : tuple of str
        The queries that count for some metric.
    skipped : tuple of str
        The queries left out for some metric.
    scores : Series
        The mean rank of each embedding with the words as they are listed.
    draws : DataFrame
        Draws × embeddings: the mean rank for each draw of the words' weights.
    prob : float
        Probability of the intervals.
    by_metric : dict of str to RankPosterior
        The ranking by each metric.

    Examples
    --------
    >>> import bayesbias as bb
    >>> embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    >>> queries = [bb.load_query(f"weat_{i}") for i in (6, 7, 8)]
    >>> found = bb.rank_posterior(["weat", "weat_es"], queries, embeddings, draws=1000)
    >>> found
    <OverallRankPosterior weat, weat_es (abs_avg): 2 embeddings, 3 queries, 1,000 draws>
    >>> found.table[["embedding", "score", "prob_best"]].round(2)
       embedding  score  prob_best
    0  demo-100d    1.0       0.97
    1       demo    2.0       0.03
    """

    by_metric: Mapping[str, RankPosterior]

    @property
    def _measured_by(self) -> str:
        return f"Mean rank by {self.metric}"

    @property
    def ranks(self) -> pd.DataFrame:
        """The ranks of the embeddings by each metric, with the words as they are listed."""
        return pd.DataFrame(
            {name: _ranks(one.scores.to_frame().T).iloc[0] for name, one in self.by_metric.items()}
        )


def _ranks(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the ranks of the sizes within each row, the mean rank for equal ones."""
    sizes = scores.abs()
    largest = float(sizes.to_numpy().max())
    return (sizes / largest).round(_DIGITS).rank(axis=1) if largest else sizes.rank(axis=1)


def _overall(posteriors: Mapping[str, RankPosterior]) -> OverallRankPosterior:
    """Join the rankings by several metrics: for each draw, the mean of the ranks."""
    several = list(posteriors.values())
    # Draws that some metric is not defined for are left out.
    common = several[0].draws.index
    for one in several[1:]:
        common = common.intersection(one.draws.index)
    if common.empty:
        raise DataError("there is no draw for which all metrics are defined.")
    ranks = sum(_ranks(one.draws).loc[common].to_numpy() for one in several) / len(several)
    points = sum(_ranks(one.scores.to_frame().T).to_numpy()[0] for one in several) / len(several)
    names = several[0].draws.columns
    return OverallRankPosterior(
        metric=", ".join(posteriors),
        aggregate=several[0].aggregate,
        queries=tuple(dict.fromkeys(query for one in several for query in one.queries)),
        skipped=tuple(dict.fromkeys(query for one in several for query in one.skipped)),
        scores=pd.Series(points, index=names, name="score"),
        draws=pd.DataFrame(ranks, index=common, columns=names),
        prob=several[0].prob,
        by_metric=dict(posteriors),
    )


def _fewest_places(chances: Array, prob: float) -> tuple[int, int]:
    """Return the first and last of the fewest neighbouring places that hold the probability."""
    n = len(chances)
    below = np.concatenate([[0.0], np.cumsum(chances)])
    for width in range(1, n):
        held = below[width:] - below[:-width]
        if held.max() >= prob:
            first = int(held.argmax())
            return first + 1, first + width
    return 1, n


def _probability(chance: float) -> str:
    """Return a probability in words, never a certainty."""
    if chance > 0.995:
        return "with a probability above 0.99"
    if chance < 0.005:
        return "with a probability below 0.01"
    return f"with probability {chance:.2f}"


def rank_posterior(
    metric: MetricLike | Sequence[MetricLike],
    queries: Queries,
    embeddings: Iterable[EmbeddingLike],
    *,
    aggregate: Aggregate = "abs_avg",
    draws: int = 4000,
    seed: Seed = None,
    prob: float = 0.89,
    subqueries: bool = False,
    normalize: bool = False,
    matching: Matching | None = None,
    n_jobs: int = 1,
    progress: bool = True,
    options: Mapping[str, object] | None = None,
) -> RankPosterior:
    """Rank embeddings by bias, with the probability of each place.

    The words of the queries are taken as a sample of words that could have been listed, as in
    `Metric.posterior`. For each draw of their weights, the same for all embeddings and for all
    queries that hold a list, the queries are summed up and the embeddings ranked.

    Parameters
    ----------
    metric : str, Metric class, Metric, or list of them
        The metric: a name in `METRICS`, a class, or an instance with its options. With a list, the
        embeddings are ranked by each metric, and by the mean of these ranks.
    queries : Query, str, or list of them
        The queries or their names, or the name of a published set, as in `run_queries`.
    embeddings : list of Embedding
        The embeddings, two or more; their names must differ.
    aggregate : {"abs_avg", "avg", "abs_sum", "sum"}, default "abs_avg"
        How the queries' distances from the neutral value are summed up: by size, or with their
        signs, so that queries of opposite signs cancel out.
    draws : int, default 4000
        How many draws.
    seed : int or Generator, optional
        Same seed, same result; by default that of the metric, or 0 if it has none.
    prob : float, default 0.89
        Probability of the intervals.
    subqueries : bool, default False
        Whether queries with more sets than the metric takes are split.
    normalize : bool, default False
        Whether vectors are scaled to length one first.
    matching : Matching, optional
        How words are matched with the vocabulary; by default as each embedding says. A query of
        which a word set misses more words than its threshold allows, in any embedding, is left out
        for all.
    n_jobs : int, default 1
        How many processes work at once; -1 for one on each core.
    progress : bool, default True
        Whether to show a bar, where one can be seen.
    options : mapping, optional
        Options of the metric; each of several metrics takes those that it has.

    Returns
    -------
    RankPosterior or OverallRankPosterior
        The table, the probabilities of places and of pairs, the draws; for a list of metrics also
        the ranking by each.

    Raises
    ------
    SpecError
        If a query does not fit the metric, or there are fewer than two embeddings.
    DataError
        If no query has a value in every embedding.

    Warns
    -----
    BayesBiasWarning
        Once, if there are lost words, notes, or queries or draws left out.

    Notes
    -----
    The size of an uncertain number is larger on average than the size of its average:
    ``E|x| ≥ |E x|``. With ``abs_avg`` and ``abs_sum`` the noise of every query therefore pushes the
    draws up, most where biases are small and words few. The draws of each embedding are moved back,
    so that their median is its score (0 at least). ``avg`` and ``sum`` do not fold single queries;
    only their total is compared by its size.

    Examples
    --------
    >>> import bayesbias as bb
    >>> embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    >>> queries = [bb.load_query(f"weat_{i}") for i in (6, 7, 8)]
    >>> found = bb.rank_posterior("weat", queries, embeddings, draws=1000)
    >>> found
    <RankPosterior weat (abs_avg): 2 embeddings, 3 queries, 1,000 draws>
    >>> bool(found.p_less_biased.loc["demo-100d", "demo"] > 0.95)
    True
    """
    several_metrics = isinstance(metric, Sequence) and not isinstance(metric, str)
    chosen = as_metrics(metric, options)
    one_of("aggregate", aggregate, AGGREGATES)
    at_least("draws", draws, 2)
    given = as_queries(queries)
    asked = [(one, fitting(one, given, subqueries=subqueries)[0]) for one in chosen]
    settings = Settings(
        normalize=normalize,
        matching=matching,
        seed=seed,
        draws=draws,
        prob=prob,
    )
    several = as_embeddings(embeddings)
    if len(several) < 2:
        raise SpecError("a ranking needs at least two embeddings; give another.")
    scores = measure(asked, several, settings, n_jobs=n_jobs, progress=progress)
    posteriors = {}
    for one, taken in asked:
        of_metric = [score for score in scores if score.metric == one.name]
        posteriors[one.name] = _by_one_metric(one, list(taken), of_metric, settings, aggregate)
    return _overall(posteriors) if several_metrics else posteriors[chosen[0].name]


def _by_one_metric(
    chosen: Metric,
    taken: Sequence[str],
    scores: Sequence[Score],
    settings: Settings,
    aggregate: Aggregate,
) -> RankPosterior:
    """Return the ranking by one metric from its scores, queries slowest."""
    draws = settings.draws
    names = list(dict.fromkeys(score.embedding for score in scores))
    notes = remarks(scores)
    values = values_of(scores)
    unsure = {score.query_name for score in scores if score.draws is None}
    kept = values.loc[:, [query not in unsure for query in values]]
    skipped = tuple(query for query in taken if query not in kept)
    if kept.empty:
        raise DataError(
            "no query has a value and an interval in every embedding, so there is nothing to rank "
            f"by: {'; '.join(notes)}."
        )
    if skipped:
        notes.append(f"left out of the ranking: {quoted(skipped, 5)}")
    drawn = np.stack(
        [score.draws for score in scores if score.query_name in kept and score.draws is not None],
        axis=-1,
    ).reshape(draws, kept.shape[1], len(names))
    defined = np.isfinite(drawn).all(axis=(1, 2))
    if not defined.any():
        raise DataError(f"{chosen.name} is not defined for any draw: {chosen.undefined}.")
    if not defined.all():
        notes.append(f"{int((~defined).sum())} of {draws} draws are not defined and left out")
    if notes:
        warn(f"{'; '.join(notes)}.")
    points, combined = _aggregated(kept.to_numpy(), drawn[defined], aggregate, chosen)
    return RankPosterior(
        metric=chosen.name,
        aggregate=aggregate,
        queries=tuple(query for query in taken if query in kept),
        skipped=skipped,
        scores=pd.Series(points, index=names, name="score"),
        draws=pd.DataFrame(
            combined,
            index=pd.Index(np.flatnonzero(defined), name="draw"),
            columns=names,
        ),
        prob=settings.prob,
    )


def _aggregated(
    values: Array, draws: Array, aggregate: Aggregate, metric: Metric
) -> tuple[Array, Array]:
    """Return the aggregated score of each embedding, and its draws around it.

    `values` are embeddings × queries, `draws` are draws × queries × embeddings.
    """
    combine = AGGREGATES[aggregate]
    points = combine(values - metric.neutral_value)
    combined = combine(draws.transpose(0, 2, 1) - metric.neutral_value)
    combined = np.column_stack(
        [centred(of_one, point) for of_one, point in zip(combined.T, points, strict=True)]
    )
    if aggregate.startswith("abs_"):
        combined = np.maximum(combined, 0.0)
    return points, combined
