"""Bias silhouettes: how robust word lists are, and how accurate a metric is with them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.plugins import title_of
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, check_jobs, one_of
from bayesbias._core.wording import counted, p_value_text, plural, quoted
from bayesbias.embeddings import Embedding, EmbeddingLike, Matching, as_embeddings, as_matching
from bayesbias.errors import DataError, SpecError, warn
from bayesbias.metrics import METRICS, Measurement, Metric, MetricLike, as_metrics, as_query
from bayesbias.numerics.intervals import check_interval
from bayesbias.rankings import CommonWords, common_words
from bayesbias.silhouette_analysis.convergence import expected_robustness, run_numbers
from bayesbias.silhouette_analysis.growing_lists import Growth, counts, orders
from bayesbias.silhouette_analysis.random_lists import (
    Comparison,
    RandomLists,
    check_random_lists,
)
from bayesbias.silhouette_analysis.robustness import (
    jackknife,
    least_robustness,
    min_max,
    null_share,
    quantile_band,
    share_of,
)
from bayesbias.silhouette_analysis.silhouette_runs import Growing, measure_runs
from bayesbias.silhouette_analysis.word_contributions import influence
from bayesbias.wordlists import Frequencies, Query

Side: TypeAlias = Literal["targets", "attributes"]
Normalisation: TypeAlias = Literal["paper", "as-published"]

# Words that each list gets at a time, as in the paper.
_STEPS = {"targets": 1, "attributes": 3}
# From which robustness on lists are called so.
_ROBUST, _FAIRLY = 0.9, 0.75
# Shorter lists have few parts, which share most of their words. Of lists of 3 words, which start
# with 2, the robustness is at least 0.83 whatever the words are, of 4 words 0.63, and of 5 0.5.
_FEWEST_WORDS = 5
# The most decimals of an interval.
_DECIMALS = 4


class Estimate(float):
    """A number with the interval from `lower` to `upper` that holds it with probability `prob`."""

    lower: float
    upper: float
    prob: float

    def __new__(cls, value: float, lower: float, upper: float, prob: float) -> Self:
        """Make the number."""
        self = super().__new__(cls, value)
        self.lower, self.upper, self.prob = lower, upper, prob
        return self

    def __getnewargs__(self) -> tuple[float, float, float, float]:  # type: ignore[override]
        return float(self), self.lower, self.upper, self.prob

    def __repr__(self) -> str:
        return bracketed(float(self), self.lower, self.upper)


def bracketed(value: float, lower: float, upper: float) -> str:
    """Return a number with its interval, or alone if that is not known or has no width."""
    for digits in range(2, _DECIMALS + 1):
        low, high = f"{lower:.{digits}f}", f"{upper:.{digits}f}"
        if low != high and np.isfinite(upper - lower):
            return f"{value:.{digits}f} [{low}, {high}]"
    return f"{value:.2f}"


@dataclass(frozen=True, eq=False, repr=False)
class Silhouettes:
    """How the value of a metric converges as random subsets of the lists grow, from `silhouettes`.

    Parameters
    ----------
    metric : str
        The name of the metric.
    query : Query
        The query, with the words that all embeddings have.
    side : {"targets", "attributes"}
        Which lists grow.
    embeddings : tuple of str
        The names of the embeddings.
    values : ndarray of shape (embeddings, runs, sizes)
        The value of each run at each size. A run has the same words in all embeddings; the last
        size is that of the complete lists.
    counts : ndarray of shape (sizes, lists)
        How many words of each growing list there are at each size.
    value_range : tuple of float
        The smallest and the largest value possible.
    neutral_value : float
        The value of an embedding without bias.
    prob : float
        Probability of the quantile bands and of the intervals.
    growth : {"proportional", "prefix"}
        How lists of different lengths grow.
    seed : int
        What the order of the words depends on.
    dropped : tuple of str
        The words that some embedding lacks.
    lists : tuple
        The vectors of the words in each embedding and their orders, for `influence`.
    random_lists : mapping of str to RandomLists
        For each embedding that has them, the silhouettes of random lists: the ``robustness`` of
        each, and ``low`` and ``high``, their average band.
    not_compared : mapping of str to str
        The embeddings without random lists, and why.

    Examples
    --------
    >>> import bayesbias as bb
    >>> embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    >>> found = bb.silhouettes("weat_es", bb.load_query("weat_6"), embeddings)
    >>> found
    <Silhouettes weat_es, targets of Male names and Female names wrt Career and Family: ...>
    >>> found.table.round(2).head(2)
      embedding  k   min   max  mean  lower  upper
    0      demo  4  1.52  2.00  1.84   1.61   1.99
    1      demo  6  1.60  1.99  1.81   1.63   1.95
    >>> found.robustness.round(2).to_dict()
    {'demo': 0.95, 'demo-100d': 0.96}
    >>> found.influence()[["embedding", "word", "influence"]].round(2).head(2)
       embedding   word  influence
    0       demo   John      -0.05
    1  demo-100d  Diana      -0.04
    """

    metric: str
    query: Query
    side: Side
    embeddings: tuple[str, ...]
    values: Array
    counts: Codes
    value_range: tuple[float, float]
    neutral_value: float
    prob: float
    growth: Growth
    seed: int
    dropped: tuple[str, ...]
    lists: tuple[Growing, ...] = field(repr=False)
    random_lists: Mapping[str, RandomLists] = field(default_factory=dict)
    not_compared: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """The number of runs."""
        return int(self.values.shape[1])

    @cached_property
    def sizes(self) -> Codes:
        """The number of words k at each size, of all growing lists; at last of all words."""
        result: Codes = self.counts.sum(axis=1)
        return result

    @cached_property
    def complete(self) -> pd.Series[float]:
        """The value of the complete lists, by embedding."""
        return pd.Series(self.values[:, 0, -1], index=list(self.embeddings), name="value")

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each embedding and size ``k``.

        ``min``, ``max`` and ``mean`` of the runs, and from ``lower`` to ``upper`` the band that
        holds a run with probability `prob`.
        """
        low, high = min_max(self.values)
        lower, upper = quantile_band(self.values, self.prob)
        return pd.DataFrame(
            {
                "embedding": np.repeat(list(self.embeddings), len(self.sizes)),
                "k": np.tile(self.sizes, len(self.embeddings)),
                "min": low.ravel(),
                "max": high.ravel(),
                "mean": self.values.mean(axis=1).ravel(),
                "lower": lower.ravel(),
                "upper": upper.ravel(),
            }
        )

    @property
    def robustness(self) -> pd.Series[float]:
        """How little the value depends on which of the words are used, by embedding.

        1 minus the area between the smallest and the largest value of the runs, as a share of the
        range of the metric times the number of words: 1 if all runs agree at all sizes.
        """
        return self.robustness_table.set_index("embedding")["robustness"]

    @cached_property
    def robustness_table(self) -> pd.DataFrame:
        """One row per embedding: the robustness in three ways, each with its interval.

        ``robustness`` from the smallest to the largest run; ``band_robustness`` from the band that
        holds a run with probability `prob`, which more runs do not widen; ``length_adjusted``, 1
        minus the ratio of the area to that of as many words that disagree as much as the range of
        the metric allows: 1 if all words agree, 0 if they disagree as much. Longer lists are more
        robust, and more runs less, by their number alone; the adjusted value is not.

        ``chance`` is the mean robustness of random lists of the same lengths, from
        ``chance_lower`` to ``chance_upper`` it is that of a random list with probability `prob`,
        and ``percentile`` is the per cent of random lists that are less robust; NaN where there
        are none.
        """
        width = self.value_range[1] - self.value_range[0]

        def robustness(values: Array) -> Array:
            low, high = min_max(values)
            return 1 - share_of(high - low, self.sizes, width)

        def band_robustness(values: Array) -> Array:
            lower, upper = quantile_band(values, self.prob)
            return 1 - share_of(upper - lower, self.sizes, width)

        null = null_share(self.sizes, self.runs)
        ends = jackknife(robustness, self.values, self.prob)
        band_ends = jackknife(band_robustness, self.values, self.prob)
        value = robustness(self.values)
        table = {
            "robustness": (value, *ends),
            "band_robustness": (band_robustness(self.values), *band_ends),
            "length_adjusted": tuple(1 - (1 - x) / null for x in (value, *ends)),
        }
        columns: dict[str, object] = {"embedding": list(self.embeddings)}
        for name, (middle, lower, upper) in table.items():
            columns[name] = middle
            columns[f"{name}_lower"], columns[f"{name}_upper"] = lower, np.minimum(upper, 1)
        return pd.DataFrame(columns | self._chance(value))

    def _chance(self, robustness: Array) -> dict[str, Array]:
        """Return what random lists say beside the robustness of each embedding."""
        rows = np.full((4, len(self.embeddings)), np.nan)
        for i, name in enumerate(self.embeddings):
            if name in self.random_lists:
                random = self.random_lists[name]
                lower, upper = quantile_band(random.robustness[:, None], self.prob)
                place = random.percentile(float(robustness[i]))
                rows[:, i] = random.robustness.mean(), lower[0], upper[0], place
        names = ("chance", "chance_lower", "chance_upper", "percentile")
        return dict(zip(names, rows, strict=True))

    @cached_property
    def convergence(self) -> pd.DataFrame:
        """How the robustness depends on the number of runs: whether there were enough.

        One row for each embedding and number of ``runs`` n: the ``robustness`` to be expected of
        n of the runs, chosen at random, and ``gap``, by how much it is above that of all. As min
        and max of more runs lie further apart, it always falls, and more slowly the more there
        are.
        """
        numbers = run_numbers(self.runs)
        width = self.value_range[1] - self.value_range[0]
        by_number = np.array(
            [expected_robustness(self.values, self.sizes, width, int(n)) for n in numbers]
        )
        return pd.DataFrame(
            {
                "embedding": np.repeat(list(self.embeddings), len(numbers)),
                "runs": np.tile(numbers, len(self.embeddings)),
                "robustness": by_number.T.ravel(),
                "gap": (by_number - by_number[-1]).T.ravel(),
            }
        )

    def accuracy(
        self,
        biased: str | Embedding,
        unbiased: str | Embedding,
        *,
        normalisation: Normalisation = "paper",
    ) -> Estimate:
        """Estimate how well the metric distinguishes a biased embedding from an unbiased one.

        Parameters
        ----------
        biased, unbiased : str or Embedding
            Two of the embeddings, of which it is known that the first is more biased; for instance
            those of `planted_embedding`.
        normalisation : {"paper", "as-published"}, default "paper"
            Whether the difference is divided by the largest possible distance from the neutral
            value, or by the whole range, as in the numbers that the paper gives.

        Returns
        -------
        Estimate
            A float with ``lower`` and ``upper``: 0.5 if the embeddings are equally far from the
            neutral value at all sizes, towards 1 the further the biased one is.
        """
        low, high = self.value_range
        neutral = self.neutral_value
        one_of("normalisation", normalisation, ("paper", "as-published"))
        pair = [self._place("biased", biased), self._place("unbiased", unbiased)]
        if pair[0] == pair[1]:
            raise SpecError("'biased' and 'unbiased' are the same embedding; give two.")
        height = (
            high - low if normalisation == "as-published" else max(high - neutral, neutral - low)
        )

        def accuracy(values: Array) -> Array:
            first, second = np.abs(values.mean(axis=1) - neutral)
            return 0.5 + 0.5 * share_of(first - second, self.sizes, height)

        both = self.values[pair]
        lower, upper = jackknife(accuracy, both, self.prob)
        return Estimate(float(accuracy(both)), float(lower), float(upper), self.prob)

    def influence(self) -> pd.DataFrame:
        """Estimate which words matter.

        Returns
        -------
        DataFrame
            One row for each embedding and word of the growing lists (or pair), the most
            influential first: ``embedding``, ``word_set``, ``word``; ``contribution``, how much
            the value changes on average when the word comes in, with ``standard_error`` and the
            number of ``runs`` that it is estimated from; ``value_without`` the word and
            ``influence``, the value of the complete lists minus that.
        """
        frame = pd.concat(
            [
                influence(growing, values).assign(embedding=name)
                for name, growing, values in zip(
                    self.embeddings, self.lists, self.values, strict=True
                )
            ]
        )
        columns = ["embedding", *frame.columns.drop("embedding")]
        return frame[columns].sort_values(
            "influence", key=abs, ascending=False, kind="stable", ignore_index=True
        )

    def verdict(
        self,
        biased: str | Embedding | None = None,
        unbiased: str | Embedding | None = None,
        *,
        normalisation: Normalisation = "paper",
    ) -> str:
        """Return four lines: how robust, beside random lists, adjusted for length, how accurate.

        Lists are called robust from 0.9 on, and fairly robust from 0.75 on, if they are also more
        robust than all but 5% of random lists in every embedding; not if they were not compared
        with any. Lists of fewer than 5 words are too short to tell.

        Parameters
        ----------
        biased, unbiased : str or Embedding, optional
            The references for `accuracy`. Without them, the last line tells what half of the words
            would have said. The lines before are about the other embeddings, if there are any.
        normalisation : {"paper", "as-published"}, default "paper"
            As in `accuracy`.

        Returns
        -------
        str
            Four lines.
        """
        if (biased is None) != (unbiased is None):
            raise SpecError("give both 'biased' and 'unbiased', or neither.")
        table = self.robustness_table
        if biased is not None and unbiased is not None:
            accuracy = self.accuracy(biased, unbiased, normalisation=normalisation)
            last = (
                f"Accuracy: {accuracy!r}, where 0.5 is a metric that cannot tell the embedding "
                "with bias from the one without."
            )
            references = [self.embeddings[self._place("biased", x)] for x in (biased, unbiased)]
            others = table[~table["embedding"].isin(references)]
            table = table if others.empty else others
        else:
            last = self._half()
        least = table.iloc[int(table["robustness"].to_numpy().argmin())]
        where = "" if len(table) == 1 else f" in {least['embedding']!r}, where it is least"
        null = 1 - null_share(self.sizes, self.runs)
        low, high = table["length_adjusted"].min(), table["length_adjusted"].max()
        adjusted = f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
        slow = ". It settles more slowly than any mean of words could" if low < 0 else ""
        robustness = bracketed(*least[["robustness", "robustness_lower", "robustness_upper"]])
        lines = [
            f"{self._called(table)}: the band of {self.runs} runs covers "
            f"{1 - least['robustness']:.1%} of the range of "
            f"{title_of(self.metric, METRICS)} (robustness {robustness}{where}).",
            self._beside_chance(table),
            f"Adjusted for length: {adjusted} (1: all words agree; 0: words disagree as much as "
            f"possible, and the mean of {self.sizes[-1]} such words would have a robustness of "
            f"{null:.2f}){slow}.",
            last,
        ]
        return "\n".join(lines)

    def _called(self, table: pd.DataFrame) -> str:
        """Return what lists are called that are as robust as this in some embeddings."""
        least, floor = table["robustness"].min(), least_robustness(self.sizes)
        shortest = int(self.counts[-1].min())
        if shortest < _FEWEST_WORDS or floor >= _FAIRLY:
            return (
                f"Too few words to tell ({shortest} in a list; whatever the words are, robustness "
                f"is at least {floor:.2f})"
            )
        if least < _FAIRLY:
            return "Not robust"
        pairs = list(zip(table["embedding"], table["robustness"], strict=True))
        compared = [(self.random_lists[name], r) for name, r in pairs if name in self.random_lists]
        if not all(random.exceeded_by(r) for random, r in compared):
            return "No more robust than random words"
        if len(compared) < len(pairs):
            return "Not compared with random words"
        return "Robust" if least >= _ROBUST else "Fairly robust"

    def _beside_chance(self, table: pd.DataFrame) -> str:
        """Describe the robustness of random lists where the observed one stands out least."""
        compared = table[table["embedding"].isin(list(self.random_lists))]
        parts = []
        if not compared.empty:
            row = compared.iloc[int(compared["percentile"].to_numpy().argmin())]
            random = self.random_lists[row["embedding"]]
            where = "" if len(compared) == 1 else f" in {row['embedding']!r}, where it is lowest"
            parts.append(
                f"{self.prob:.0%} of {len(random.robustness)} random lists of these lengths and "
                f"frequencies have a robustness of {row['chance_lower']:.2f} to "
                f"{row['chance_upper']:.2f}; the observed one is at percentile "
                f"{row['percentile']:.0f}{where} "
                f"({p_value_text(random.p_value(row['robustness']))})"
            )
        reasons: dict[str, list[str]] = {}
        for name in table["embedding"]:
            if name in self.not_compared:
                reasons.setdefault(self.not_compared[name], []).append(name)
        parts += [f"none in {quoted(names, 4)}: {why}" for why, names in reasons.items()]
        return f"Random lists: {'; '.join(parts) or 'none'}."

    def summary(self) -> str:
        """Return how robust the lists are in four lines, as `verdict` does without references.

        Returns
        -------
        str
            Four lines.
        """
        return self.verdict()

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the robustness as a LaTeX table, rounded by its intervals.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names the query, the runs and the intervals.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        shown = self.robustness_table.copy()
        shown.insert(1, "value", self.complete.to_numpy())
        if not self.random_lists:
            shown = shown.drop(columns=["chance", "chance_lower", "chance_upper", "percentile"])
        text = (
            f"{self.query.name}: robustness of the {self.side} by {self.metric}, with "
            f"{self.prob:.0%} intervals, from {self.runs} runs with up to {self.sizes[-1]} words."
        )
        return frame_to_latex(
            shown,
            text if caption is None else caption,
            titles={
                "band_robustness": f"robustness ({self.prob:.0%} band)",
                "chance": "random lists",
            },
            decimals={"percentile": 0},
        )

    def _half(self) -> str:
        """Describe the value with half of the words."""
        place = int(np.abs(self.sizes - self.sizes[-1] / 2).argmin())
        values, full = self.values[:, :, place], self.values[:, :, -1]
        lower, upper = quantile_band(self.values, self.prob)
        parts = [
            f"{low:.2f} to {high:.2f} in {name!r} (all words: {value:.2f})"
            for name, low, high, value in zip(
                self.embeddings, lower[:, place], upper[:, place], full[:, 0], strict=True
            )
        ]
        text = (
            f"With {self.sizes[place]} of {self.sizes[-1]} words, {self.prob:.0%} of runs: "
            f"{'; '.join(parts)}"
        )
        if len(self.embeddings) == 2:
            distance, overall = (np.abs(x - self.neutral_value) for x in (values, full))
            same = (distance[0] > distance[1]) == (overall[0] > overall[1])
            text += f"; {same.mean():.0%} of runs rank the two as all words do"
        return f"{text}."

    def _place(self, name: str, given: str | Embedding) -> int:
        wanted = given.name if isinstance(given, Embedding) else given
        return self.embeddings.index(one_of(name, wanted, self.embeddings))

    def __repr__(self) -> str:
        robustness = ", ".join(f"{name} {r:.2f}" for name, r in self.robustness.items())
        return (
            f"<Silhouettes {self.metric}, {self.side} of {self.query.name}: {self.runs} runs × "
            f"{len(self.sizes)} sizes, robustness {robustness}>"
        )

    def _repr_html_(self) -> str:
        table = self.robustness_table.to_html(
            index=False, border=0, float_format=lambda x: f"{x:.3f}"
        )
        lines = "<br>".join(html.escape(line) for line in self.verdict().splitlines())
        return f"{table}<p>{lines}</p>"


@dataclass(frozen=True)
class _Options:
    """The options of `silhouettes` that say what is measured."""

    side: Side
    runs: int
    seed: Seed
    growth: Growth
    step: int | None
    start: int | None
    normalize: bool
    matching: Matching | None

    def check(self, metric: Metric) -> None:
        """Refuse an option that is wrong."""
        at_least("runs", self.runs, 2)
        one_of("side", self.side, ("targets", "attributes"))
        one_of("growth", self.growth, ("proportional", "prefix"))
        if self.start is not None:
            at_least("start", self.start, self._least(metric))
        if self.step is not None:
            at_least("step", self.step, 1)

    def first(self, metric: Metric) -> int:
        """Return how many words of each list the first part has."""
        # With the fewest words possible effect sizes and correlations are always at their bounds.
        return self._least(metric) + 1 if self.start is None else self.start

    def _least(self, metric: Metric) -> int:
        return metric.least_words[self.side == "attributes"]


def silhouettes(
    metric: MetricLike,
    query: Query | str,
    embeddings: EmbeddingLike | Iterable[EmbeddingLike],
    *,
    side: Side = "targets",
    runs: int = 100,
    seed: Seed = None,
    growth: Growth = "proportional",
    step: int | None = None,
    start: int | None = None,
    prob: float = 0.89,
    value_range: tuple[float, float] | None = None,
    chance: int | None = None,
    frequencies: Frequencies = "rank",
    normalize: bool = False,
    matching: Matching | None = None,
    n_jobs: int = 1,
    progress: bool = True,
    resume: str | PathLike[str] | None = None,
    **options: object,
) -> Silhouettes:
    """Grow random subsets of the lists and see how the value of a metric settles.

    Each run shuffles the lists of one side and takes more and more of their words, up to all; the
    other side stays complete. Where the runs agree early, the value does not depend on single
    words. The words, and their orders, are the same in all embeddings: those that any lacks are
    dropped.

    Parameters
    ----------
    metric : str, Metric class or Metric
        The metric: a name in `METRICS`, a class, or an instance with its options.
    query : Query or str
        The query, or its name; its template must fit.
    embeddings : Embedding, str, or list of them
        Where to measure it; their names must differ.
    side : {"targets", "attributes"}, default "targets"
        Which lists grow: the groups or the concepts.
    runs : int, default 100
        How many random orders of the words; the first of them do not change with more.
    seed : int or Generator, optional
        Same seed, same result; by default that of the metric, or 0 if it has none.
    growth : {"proportional", "prefix"}, default "proportional"
        Whether lists of different lengths end together, or get as many words each until the
        shorter runs out, as in the paper.
    step : int, optional
        How many words each list gets at a time, on average; by default 1 for targets and 3 for
        attributes.
    start : int, optional
        How many words of each list there are at first; by default one more than the metric needs,
        which is 2 for most.
    prob : float, default 0.89
        Probability of the quantile bands and of the intervals.
    value_range : tuple of float, optional
        The smallest and the largest value possible; by default that of the metric.
    chance : int, optional
        How many random lists the lists are compared with, 19 or more, or 0 for none. By default 39
        if that costs little and the embedding has words to draw from; not for metrics that fit
        classifiers, and not for more than 500 words.
    frequencies : str, path-like, DataFrame, mapping or corpus, default "rank"
        How frequent words are, for random lists: ``rank`` takes the embedding's order; others as in
        `distance_table`.
    normalize : bool, default False
        Whether vectors are scaled to length one first.
    matching : Matching, optional
        How words are matched with the vocabulary; by default as each embedding says. Words that
        an embedding misses are dropped for all, whatever the threshold.
    n_jobs : int, default 1
        How many processes work at once; -1 for one on each core. The result is the same.
    progress : bool, default True
        Whether to show a bar, where one can be seen. How long it takes is logged before.
    resume : str or path, optional
        A folder that keeps every finished run, so that an interrupted call, or one with more runs,
        goes on from there.
    **options : object
        Options of the metric.

    Returns
    -------
    Silhouettes
        The bands, robustness, accuracy, influence of the words, and a verdict.

    Raises
    ------
    SpecError
        If the query does not fit the metric, a list is too short to grow, or the metric has no
        finite range.
    VocabularyError
        If the embeddings have too few words of a list in common.
    DataError
        If the value of the complete lists is not defined.

    Warns
    -----
    BayesBiasWarning
        Once, if words are dropped, sets share words, or values are not defined or out of range.

    Notes
    -----
    With the smallest and the largest value of the runs at each number of words k, of K in all, the
    robustness is 1 − ∫ (max − min) dk / (K · range), and with the means of two embeddings, one
    known to be biased and one not, and b₀ the neutral value, the accuracy is
    ½ + ½ ∫ (abs(mean_biased − b₀) − abs(mean_unbiased − b₀)) dk / (K · largest distance from b₀),
    both by the trapezoid rule. What we do otherwise than the paper: distances are from the neutral
    value of the metric, which is 1 for ECT; RNSB has its bound, a logarithm, as its range; lists
    start at two words, as with one effect sizes are always ±2; they are shuffled independently;
    and if their lengths differ they end together.

    The band from min to max widens with more runs, that of quantiles does not. Intervals are about
    which orders were drawn, and are made by leaving out each run in turn (from 100 runs on, each
    hundredth of them): resamples with replacement miss the extremes too often, and their intervals
    would hold the expected robustness of simulated lists in 35% of cases instead of 89%. These do
    in 75% to 87%, of band robustness and accuracy in 80% to 90%, with 20 runs or more; they are too
    narrow for values that many runs have in common, as correlations of few words (`ect`).

    Random lists have words of about the same frequency (one of the 100 nearest to each, not in any
    published list) in place of those that grow; the other side, the orders and the number of runs
    are the same. A list drawn like them is more robust than all but 5% of them in no more than 5%
    of cases. They are drawn from each embedding by itself.

    Metrics that look beyond the words of the query, as `neighbourhood` does, leave out the words of
    the complete lists there, at every size.

    The length-adjusted robustness compares the area with that of a plain mean of K words whose
    standard deviation is half the range, the most that words within it can have. For a metric that
    is a mean over words it is about 1 − (standard deviation of the words) / (half the range),
    whatever the number of words and runs. Metrics that are no means, such as effect sizes, may
    settle more slowly than any mean, and it is below 0.

    References
    ----------
    Spliethöver, Wachsmuth (2021), doi:10.24963/ijcai.2021/77.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query = bb.load_query("weat_6")
    >>> planted = bb.silhouette_analysis.planted_embedding
    >>> references = [planted(query, strength, name=f"{strength}") for strength in (0.2, 0.0)]
    >>> found = bb.silhouettes("weat_es", query, references)
    >>> found.accuracy("0.2", "0.0")
    0.74 [0.73, 0.75]
    >>> print(found.verdict("0.2", "0.0"))
    Not robust: the band of 100 runs covers 33.9% of the range of WEAT effect size (robustness ...).
    Random lists: none in '0.2', '0.0': there are too few other words to draw from.
    Adjusted for length: 0.14 to 0.99 (1: all words agree; 0: words disagree as much as ...
    Accuracy: 0.74 [0.73, 0.75], where 0.5 is a metric that cannot tell the embedding ...
    """
    [chosen] = as_metrics([metric], options)
    asked = as_query(query)
    chosen.check_query(asked)
    how = _Options(side, runs, seed, growth, step, start, normalize, matching)
    how.check(chosen)
    check_interval(prob, "eti")
    check_jobs(n_jobs)
    paired = chosen.paired and side == "targets"
    check_random_lists(chance, paired=paired, whole_embedding=chosen.whole_embedding)
    several = as_embeddings(embeddings)
    needed = _words_needed(chosen, asked, side, how.first(chosen))
    common = common_words(chosen, asked, several, matching=matching, needed=needed)
    span = _range_of(chosen, common.query, value_range)
    measurements = _measurements(chosen, common, several, how)
    used_seed = measurements[0].seed
    lists, sizes = _growing_lists(asked, common, measurements, how)
    complete = np.array([_complete_value(measurement) for measurement in measurements])
    folder = None if resume is None else Path(resume)
    values = measure_runs(lists, n_jobs=n_jobs, progress=progress, folder=folder)
    # All runs end with the same words, if not with the same rounding of their sums.
    values = np.dstack([values, np.broadcast_to(complete[:, None], values.shape[:2])])
    defined = np.isfinite(values.sum(axis=(0, 1)))
    if defined.sum() < 2:
        raise DataError(
            f"{chosen.name} is not defined for parts of the lists of any size: {chosen.undefined}."
        )
    notes = [_dropped_words(common)] if common.dropped else []
    notes += dict.fromkeys(note for one in measurements for note in one.words.notes)
    notes += _notes_on_values(values, defined, span, chosen)
    if notes:
        warn(f"{chosen.name} of {asked.name!r}: {'; '.join(notes)}.")
    lists = [replace(growing, counts=sizes[defined]) for growing in lists]
    compare = Comparison(chance, frequencies, matching, normalize, n_jobs, progress, folder)
    random_lists, not_compared = _compared(compare, lists, several, span)
    return Silhouettes(
        metric=chosen.name,
        query=common.query,
        side=side,
        embeddings=tuple(embedding.name for embedding in several),
        values=values[:, :, defined],
        counts=sizes[defined],
        value_range=span,
        neutral_value=float(chosen.neutral_value),
        prob=prob,
        growth=growth,
        seed=used_seed,
        dropped=common.dropped,
        lists=tuple(lists),
        random_lists=random_lists,
        not_compared=not_compared,
    )


def _compared(
    compare: Comparison,
    lists: Iterable[Growing],
    embeddings: Iterable[Embedding],
    span: tuple[float, float],
) -> tuple[dict[str, RandomLists], dict[str, str]]:
    """Return the random lists of the embeddings that have any, and why the others have none."""
    random_lists, not_compared = {}, {}
    for growing, embedding in zip(lists, embeddings, strict=True):
        sizes: Codes = growing.counts.sum(axis=1)
        # The last size is that of the complete lists, which every run has the value of.
        part = replace(growing, counts=growing.counts[:-1])
        found = compare.of(part, embedding, sizes, span[1] - span[0])
        if isinstance(found, str):
            not_compared[embedding.name] = found
        else:
            random_lists[embedding.name] = found
    return random_lists, not_compared


def _measurements(
    metric: Metric, common: CommonWords, embeddings: Iterable[Embedding], options: _Options
) -> list[Measurement]:
    """Return the metric on the common words in each embedding."""
    # Once: the same in all embeddings.
    seed = None if options.seed is None else as_seed(options.seed)
    return [
        metric.on(
            common.query,
            embedding,
            matching=as_matching(options.matching, embedding).changed(threshold=1.0),
            normalize=options.normalize,
            seed=seed,
        )
        for embedding in embeddings
    ]


def _growing_lists(
    query: Query, common: CommonWords, measurements: list[Measurement], options: _Options
) -> tuple[list[Growing], Codes]:
    """Return the lists of each embedding that grow, and their sizes, the complete ones last."""
    metric, seed = measurements[0].metric, measurements[0].seed
    grown = _growing_sets(query, options.side)
    listed = list(query.word_sets().values())
    shuffled = [orders(listed[i], common.places[i], options.runs, seed) for i in grown]
    if metric.paired and options.side == "targets":
        shuffled[1] = shuffled[0]
    sizes = counts(
        [len(common.places[i]) for i in grown],
        start=options.first(metric),
        step=_STEPS[options.side] if options.step is None else options.step,
        growth=options.growth,
    )
    in_runs = tuple(shuffled)  # once: all embeddings share it
    lists = [
        Growing(measurement, tuple(grown), in_runs, sizes[:-1]) for measurement in measurements
    ]
    return lists, sizes


def _growing_sets(query: Query, side: Side) -> range:
    """Return the places of the sets that grow."""
    n_targets = len(query.target_sets)
    if side == "targets":
        return range(n_targets)
    if not query.attribute_sets:
        raise SpecError(f"the query {query.name!r} has no attribute sets; use side='targets'.")
    return range(n_targets, sum(query.template))


def _words_needed(metric: Metric, query: Query, side: Side, first: int) -> list[tuple[int, str]]:
    """Return how many words each set needs, and why."""
    grown, n_targets = _growing_sets(query, side), len(query.target_sets)
    least = metric.least_words[side == "attributes"]
    why = f"the {side} grow from {first} words of each list"
    if first > least:
        why += f", or from {least} with start={least}"
    return [
        (first + 1, why)
        if i in grown
        else (max(1, metric.least_words[i >= n_targets]), f"{metric.name} takes no fewer")
        for i in range(sum(query.template))
    ]


def _notes_on_values(
    values: Array,
    defined: npt.NDArray[np.bool_],
    span: tuple[float, float],
    metric: Metric,
) -> list[str]:
    """Return what to know of values that are not defined or outside the range."""
    notes = []
    if not defined.all():
        notes.append(
            f"{(~defined).sum()} of {len(defined)} sizes are left out, as in some runs "
            f"{metric.undefined}"
        )
    used = values[:, :, defined]
    slack = 1e-9 * (span[1] - span[0])
    outside = ((used < span[0] - slack) | (used > span[1] + slack)).mean()
    if outside:
        notes.append(
            f"{outside:.1%} of the values are outside the range {span[0]:g} to {span[1]:g}, which "
            "robustness and accuracy are relative to; they go from "
            f"{used.min():.2g} to {used.max():.2g}: give a wider 'value_range'"
        )
    return notes


def _range_of(
    metric: Metric, query: Query, given: tuple[float, float] | None
) -> tuple[float, float]:
    """Return the range of values that the numbers are relative to."""
    if given is None:
        low, high = metric.bounds(query)
        if not np.isfinite([low, high]).all():
            raise SpecError(
                f"the metric {metric.name!r} has no finite range of values, and robustness is "
                "relative to it; give one, such as value_range=(-1, 1)."
            )
        if not low < high:
            raise SpecError(
                f"the metric {metric.name!r} is always {low:g} for the query {query.name!r}; give "
                "more target sets, or more words."
            )
        return float(low), float(high)
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        low = high = np.nan
    if not (np.isfinite([low, high]).all() and low < high):
        raise SpecError(
            f"'value_range' is {given!r}; expected the smallest and the largest value possible, "
            "such as (-1, 1)."
        )
    if not low <= metric.neutral_value <= high:
        raise SpecError(
            f"'value_range' is {given!r}, which does not hold the neutral value of "
            f"{metric.name!r}, {metric.neutral_value:g}."
        )
    return low, high


def _complete_value(measurement: Measurement) -> float:
    """Return the value of the complete lists."""
    value = measurement.value()
    if not np.isfinite(value):
        metric = measurement.metric
        raise DataError(
            f"{metric.name} has no value in {measurement.embedding!r}: {metric.undefined}."
        )
    return value


def _dropped_words(common: CommonWords) -> str:
    number = len(common.dropped)
    lacking = [f", {name!r} lacks {len(words)}" for name, words in common.lacking.items()]
    return (
        f"{counted(number, 'word')} of the query {plural(number, 'is', 'are')} dropped "
        f"for all embeddings ({quoted(common.dropped, 4)}){''.join(lacking)}"
    )
