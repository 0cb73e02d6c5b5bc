"""A metric applied to the words of one query in one embedding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import blocks
from bayesbias._core.threads import mapped_in_threads, single_threaded_algebra
from bayesbias._core.validation import at_least
from bayesbias.errors import SpecError, warn
from bayesbias.metrics.bootstrap_correction import corrected, jackknife_error, why_no_interval
from bayesbias.metrics.nested_subsets import NestedSubsets
from bayesbias.metrics.permutations import (
    Method,
    NullDraws,
    Partitions,
    PermutationOptions,
    Test,
    p_value,
    permutation_generator,
    split_values,
)
from bayesbias.metrics.query_vectors import QueryVectors, WordVectors
from bayesbias.metrics.resampling import bootstrap, bootstrap_blocks
from bayesbias.metrics.score import Score
from bayesbias.metrics.weighting import ones
from bayesbias.numerics.intervals import Kind, check_interval
from bayesbias.wordlists import Query

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.metrics.base import Metric


@dataclass(frozen=True, eq=False, repr=False)
class Measurement:
    """A metric applied to the words of one query in one embedding, from `Metric.on`.

    The words have been found and their vectors read; each method answers one question about them.

    Parameters
    ----------
    metric : Metric
        The metric with its options.
    query : Query
        The query.
    embedding : str
        The name of the embedding.
    words : QueryVectors
        The words that the embedding has, with their vectors, and what to know of them.
    seed : int
        What random numbers depend on.

    Examples
    --------
    >>> import bayesbias as bb
    >>> measurement = bb.metrics.WEAT().on("weat_6", bb.load_embedding("demo"))
    >>> measurement
    <Measurement weat of Male names and Female names wrt Career and Family, demo: 32 words>
    >>> round(measurement.value(), 2)
    2.32
    >>> measurement.posterior(draws=500)
    <Score weat = 2.32 [1.32, 3.18], Male names and Female names wrt Career and Family, demo>
    """

    metric: Metric
    query: Query
    embedding: str
    words: QueryVectors
    seed: int = 0

    def __repr__(self) -> str:
        number = sum(map(len, self.words.sets))
        return (
            f"<Measurement {self.metric.name} of {self.query.name}, {self.embedding}: "
            f"{number} words>"
        )

    @cached_property
    def _measured(self) -> tuple[float, dict[str, Any]]:
        if self.words.reason is not None:
            return np.nan, dict(self.metric.empty_details)
        return self.metric.measure(self.words.targets, self.words.attributes)

    @property
    def reason(self) -> str | None:
        """Why there is no value, or None if there is one."""
        if self.words.reason is None and not np.isfinite(self._measured[0]):
            return self.metric.undefined
        return self.words.reason

    def value(self) -> float:
        """Return the value alone, without a warning.

        Returns
        -------
        float
            The value; NaN where there is none, and `reason` says why.

        Examples
        --------
        >>> import bayesbias as bb
        >>> round(bb.metrics.MAC().on("weat_6", bb.load_embedding("demo")).value(), 3)
        0.708
        """
        return self._measured[0]

    def score(self) -> Score:
        """Return the value with what it rests on.

        Returns
        -------
        Score
            The value, the details of the metric, the words used and lost.

        Warns
        -----
        BayesBiasWarning
            If the value is not defined, or sets share words.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.metrics.WEAT().on("weat_6", bb.load_embedding("demo")).score()
        <Score weat = 2.32, Male names and Female names wrt Career and Family, demo>
        """
        return _with_warnings(self._score())

    def posterior(self, *, draws: int = 4000, prob: float = 0.89, kind: Kind = "eti") -> Score:
        """Return the value with the uncertainty that comes from how few words there are.

        The words of each set are taken as a sample of words that could have been listed: a
        Bayesian bootstrap gives them Dirichlet weights, draw by draw (an ordinary bootstrap, for
        metrics without `weighted`). The same seed gives a list the same weights in all embeddings
        and in all queries that hold it, so that draws can be compared and averaged.

        The draws are corrected: their median is moved to the value, as a bootstrap of a metric
        that is not linear is biased; and they are stretched, as those of short lists vary too
        little. So the interval always holds the value. Where no correction helps, there is no
        interval, and `Score.no_interval` says why.

        Parameters
        ----------
        draws : int, default 4000
            How many draws of the words' weights.
        prob : float, default 0.89
            Probability of the interval.
        kind : {"hdi", "eti"}, default "eti"
            The narrowest interval, or one that leaves as much on either side.

        Returns
        -------
        Score
            The value, with `draws`, `lower`, `upper` and `prob_above`, or with `no_interval`.

        Examples
        --------
        >>> import bayesbias as bb
        >>> score = bb.metrics.WEAT().on("weat_6", bb.load_embedding("demo")).posterior(draws=500)
        >>> round(score.lower, 1), round(score.upper, 1)
        (1.3, 3.2)
        """
        at_least("draws", draws, 2)
        check_interval(prob, kind)
        score = self._score()
        if score.reason is None and self.metric.no_interval is not None:
            score = replace(score, no_interval=self.metric.no_interval)
        elif score.reason is None:
            score = self._with_draws(score, self._bootstrapped(draws))
        return _with_warnings(replace(score, prob=prob, kind=kind))

    def permutation_test(
        self,
        *,
        iterations: int = 10_000,
        test: Test | None = None,
        method: Method = "auto",
    ) -> Score:
        """Test that the two target sets do not differ.

        The value is compared with those for words randomly reassigned to the target sets.

        Parameters
        ----------
        iterations : int, default 10,000
            How many permutations are drawn where not all are enumerated.
        test : {"right-sided", "left-sided", "two-sided"}, optional
            Whether values as large as the observed count, as small, or as far from neutral. By
            default the side of bias of the metric (`Metric.side_of_bias`): left-sided for ECT and
            MAC, whose small values mean bias, and for RND with ``distance="norm"``, which is below
            0 if the first targets are closer; right-sided for all others.
        method : {"auto", "exact", "approximate"}, default "auto"
            ``exact`` enumerates all partitions, ``approximate`` draws some without replacement
            within each; ``auto`` enumerates up to 1,000,000.

        Returns
        -------
        Score
            The value with its `p_value`; where this is NaN, `notes` say why.

        Raises
        ------
        SpecError
            If the query does not have two target sets.

        Examples
        --------
        >>> import bayesbias as bb
        >>> measurement = bb.metrics.WEAT().on("weat_6", bb.load_embedding("demo"))
        >>> round(measurement.permutation_test().p_value, 4)
        0.0001
        """
        side = self.metric.side_of_bias if test is None else test
        options = PermutationOptions(iterations, side, method)
        options.check("iterations", "test", "method")
        self._check_two_targets()
        score = self._score()
        if score.reason is None:
            p, why_none = self._p_value(options)
            notes = score.notes if why_none is None else (*score.notes, f"no p-value: {why_none}")
            score = replace(score, p_value=p, notes=notes)
        return _with_warnings(score)

    def split_values(self, *, iterations: int = 10_000) -> NullDraws:
        """Return the values for the target words divided into two sets in other ways.

        The sets keep their lengths, and words in both stay in both. The words of pairs are swapped.

        Parameters
        ----------
        iterations : int, default 10,000
            How many splits are drawn if there are more than 1,000,000 (or, for metrics that take
            no weights, more than this); otherwise the values are those of all splits.

        Returns
        -------
        NullDraws
            ``draws``, one value per split; ``exact``, whether these are all; and the ``reason`` if
            there are none.

        Examples
        --------
        >>> import bayesbias as bb
        >>> measurement = bb.metrics.WEATEffectSize().on("weat_6", bb.load_embedding("demo"))
        >>> found = measurement.split_values()
        >>> len(found.draws), found.exact, int((found.draws >= measurement.value() - 1e-9).sum())
        (12870, True, 1)
        """
        at_least("iterations", iterations, 1)
        metric = self.metric
        if self.words.reason is not None:
            return NullDraws(reason=self.words.reason)
        if len(self.words.targets) != 2:
            return NullDraws(reason="splits need two target sets")
        if metric.no_p_value is not None:
            return NullDraws(reason=metric.no_p_value)
        partitions = self._partitions(metric)
        with _threads_for(metric):
            return split_values(
                partitions,
                self._of_partitions(metric, partitions),
                iterations,
                permutation_generator(self.query, self.seed),
                quick=metric.takes_weights,
            )

    def influence(self) -> pd.DataFrame:
        """Measure how much each word changes the value, by leaving it out.

        Returns
        -------
        DataFrame
            One row per word, the most influential first: ``word_set``, ``word`` (a pair, for
            metrics of pairs), ``value_without`` it, and ``influence``, the value minus that. NaN
            where too few words are left, as of a set of one.

        Raises
        ------
        SpecError
            If too few words are found to measure anything.

        Examples
        --------
        >>> import bayesbias as bb
        >>> measurement = bb.metrics.WEAT().on("weat_6", bb.load_embedding("demo"))
        >>> measurement.influence().round(2).head(2)
                       word_set   word  value_without  influence
        0  target: Female names  Diana           1.93       0.39
        1  target: Female names  Sarah           2.01       0.30
        """
        import pandas as pd

        if self.words.reason is not None:
            raise SpecError(f"the influence of words cannot be measured: {self.words.reason}.")
        frames = []
        for place in self._resampled:
            without = self.without_each(place)
            columns = {
                "word_set": self.label(place),
                "word": self.words_at(place),
                "value_without": without,
                "influence": self.value() - without,
            }
            frames.append(pd.DataFrame(columns))
        return pd.concat(frames, ignore_index=True).sort_values(
            "influence", key=abs, ascending=False, kind="stable", ignore_index=True
        )

    def by_word(
        self,
        *,
        draws: int = 1000,
        prob: float = 0.89,
        kind: Kind = "eti",
        p_values: bool = False,
        iterations: int = 10_000,
        test: Test = "two-sided",
    ) -> pd.DataFrame:
        """Measure every attribute word by itself, with interval and, if asked for, p-value.

        Parameters
        ----------
        draws : int, default 1000
            How many draws of the target words.
        prob : float, default 0.89
            Probability of the intervals.
        kind : {"hdi", "eti"}, default "eti"
            The narrowest interval, or one that leaves as much on either side.
        p_values : bool, default False
            Whether to test each word by permutation of the targets.
        iterations : int, default 10,000
            How many permutations are drawn where not all are enumerated.
        test : {"right-sided", "left-sided", "two-sided"}, default "two-sided"
            Which values count against chance.

        Returns
        -------
        DataFrame
            One row per attribute word, by value: ``word``, ``value``, ``lower``, ``upper``,
            ``prob_above``, ``p_value``. ``attrs["no_interval"]`` says for which words there is no
            interval, and why; ``attrs`` also names the metric, its neutral value, the query and the
            embedding.

        Raises
        ------
        SpecError
            If the metric does not take one attribute set, or needs several words of it.

        Examples
        --------
        >>> import bayesbias as bb
        >>> query = bb.load_query("weat_7").subqueries((2, 1))[0]
        >>> measurement = bb.metrics.RND().on(query, bb.load_embedding("demo"))
        >>> measurement.by_word(draws=100)[["word", "value"]].round(2).head(2)
           word  value
        0  male   0.24
        1   him   0.63
        """
        import pandas as pd

        at_least("draws", draws, 2)
        check_interval(prob, kind)
        options = PermutationOptions(iterations, test)
        options.check("iterations", "test", "method")
        if self.metric.template[1] != 1 or self.metric.least_words[1] > 1:
            raise SpecError(
                f"the metric {self.metric.name!r} cannot look at attribute words one by one; "
                "use influence()."
            )
        if self.words.reason is not None:
            raise SpecError(f"nothing can be measured: {self.words.reason}.")
        if p_values:
            self._check_two_targets()
        weights = [*self._bootstrap(draws)[:-1], np.ones((1, 1))]
        [attributes] = self.words.attributes
        rows = []
        no_interval: dict[str, str] = {}
        owners, places = self.words.owners[-1], self.words.places[-1]
        for i, word in enumerate(self._listed(-1)):
            forms = np.flatnonzero(owners == i)
            part = replace(
                self.words,
                attributes=(attributes.take(forms),),
                places=(*self.words.places[:-1], places[forms]),
            )
            alone = replace(self, words=part)
            weights[-1] = np.ones((1, len(forms)))
            score, p = alone._score(), np.nan
            if score.reason is None:
                drawn = alone.evaluate(weights)
                score = replace(alone._with_draws(score, drawn), prob=prob, kind=kind)
                if p_values:
                    p, _ = alone._p_value(options)
            if score.no_interval is not None:
                no_interval[word] = score.no_interval
            rows.append((word, score.value, score.lower, score.upper, score.prob_above, p))
        frame = pd.DataFrame(
            rows, columns=["word", "value", "lower", "upper", "prob_above", "p_value"]
        ).sort_values("value", kind="stable", ignore_index=True)
        frame.attrs = {
            "no_interval": no_interval,
            "metric": self.metric.name,
            "neutral_value": float(self.metric.neutral_value),
            "query": self.query.name,
            "embedding": self.embedding,
        }
        return frame

    def evaluate(self, weights: Sequence[Array]) -> Array:
        """Return the values for other weights of the words.

        Parameters
        ----------
        weights : sequence of ndarray
            For each target set and then each attribute set, how often each word counts, draws ×
            words; or one row for all draws.

        Returns
        -------
        ndarray
            One value for each draw; NaN where fewer words count than the metric needs.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesbias as bb
        >>> measurement = bb.metrics.WEATEffectSize().on("weat_6", bb.load_embedding("demo"))
        >>> weights = [np.ones((1, len(words))) for words in measurement.words.sets]
        >>> weights[0] = np.array([[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1]])
        >>> measurement.evaluate(weights).round(2)
        array([1.75, 1.91])
        """
        return _evaluate(self.metric, self.words.targets, self.words.attributes, weights)

    def without_each(self, place: int) -> Array:
        """Return the values without each word of one set in turn.

        Parameters
        ----------
        place : int
            The place of the set among the targets and then the attributes. For metrics of pairs
            the words of the second set go with those of the first.

        Returns
        -------
        ndarray
            One value per word; NaN where too few words are left.

        Examples
        --------
        >>> import bayesbias as bb
        >>> measurement = bb.metrics.WEAT().on("weat_6", bb.load_embedding("demo"))
        >>> measurement.without_each(0).round(2)
        array([2.37, 2.32, 2.15, 2.21, 2.18, 2.24, 2.2 , 2.24])
        """
        owners = self.words.owners[place]
        n = self._n_words(place)
        weights = ones(self.words.sets)
        parts = []
        for rows in blocks(n, len(owners)):
            left_out = np.arange(rows.start, rows.stop)[:, None] == owners
            weights[place] = 1.0 - left_out
            if self.metric.paired and place < 2:
                weights[0] = weights[1] = weights[place]
            parts.append(self.evaluate(weights))
        return np.concatenate(parts)

    def grow(self, orders: Mapping[int, Codes], counts: Mapping[int, Codes]) -> Array:
        """Return the values for subsets of the words that grow, each out of the one before.

        Parameters
        ----------
        orders : mapping of int to ndarray of int
            For each set that grows, by its place among the targets and then the attributes, the
            order in which its words come in.
        counts : mapping of int to ndarray of int
            For each of these sets, how many of its words are in at each size.

        Returns
        -------
        ndarray
            One value for each size; NaN where fewer words are in than the metric needs.

        Examples
        --------
        >>> import numpy as np
        >>> import bayesbias as bb
        >>> measurement = bb.metrics.WEATEffectSize().on("weat_6", bb.load_embedding("demo"))
        >>> order, counts = np.arange(8), np.array([2, 4, 8])
        >>> measurement.grow({0: order, 1: order}, {0: counts, 1: counts}).round(2)
        array([1.95, 1.76, 1.76])
        """
        if any(self._n_words(place) < len(self.words.owners[place]) for place in orders):
            orders, counts = self._with_forms(orders, counts)
        subsets = NestedSubsets(orders, counts)
        targets, attributes = self.words.targets, self.words.attributes
        numbers = self.metric.numbers_per_draw(targets, attributes)
        values = np.concatenate(
            [
                np.broadcast_to(
                    self.metric.cumulative(targets, attributes, subsets.part(sizes)),
                    (sizes.stop - sizes.start,),
                )
                for sizes in blocks(len(subsets), numbers)
            ]
        )
        for place, words_in in counts.items():
            needed = self.metric.least_words[place >= len(targets)]
            values = np.where(words_in >= needed, values, np.nan)
        return values

    def label(self, place: int) -> str:
        """Return what tables call the words of one set, or the pairs.

        Parameters
        ----------
        place : int
            The place of the set among the targets and then the attributes.

        Returns
        -------
        str
            The side and the name; of metrics of pairs, the first set has both names.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.metrics.WEAT().on("weat_6", bb.load_embedding("demo")).label(2)
        'attribute: Career'
        """
        if self.metric.paired and place == 0:
            return "target: " + " – ".join(self.query.target_names[:2])
        return self.words.labels[place]

    def words_at(self, place: int) -> tuple[str, ...]:
        """Return what tables call each word of one set, or each pair.

        Parameters
        ----------
        place : int
            The place of the set among the targets and then the attributes.

        Returns
        -------
        tuple of str
            The words; of metrics of pairs, the first set has pairs.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.metrics.WEAT().on("weat_6", bb.load_embedding("demo")).words_at(3)[:2]
        ('home', 'parents')
        """
        words = self._listed(place)
        if self.metric.paired and place == 0:
            return tuple(map(" – ".join, zip(words, self._listed(1), strict=True)))
        return words

    def _listed(self, place: int) -> tuple[str, ...]:
        """Return the words of a set that the embedding has, as they are listed, each once."""
        words, owners = self.words.sets[place].words, self.words.owners[place]
        if self._n_words(place) == len(owners):
            return words
        listed = tuple(self.query.word_sets().values())[place]
        return tuple(listed.words[i] for i in np.unique(self.words.places[place]))

    def _n_words(self, place: int) -> int:
        """Return how many listed words of a set the embedding has, however many forms of each."""
        return int(self.words.owners[place].max(initial=-1)) + 1

    def _with_forms(
        self, orders: Mapping[int, Codes], counts: Mapping[int, Codes]
    ) -> tuple[dict[int, Codes], dict[int, Codes]]:
        """Return orders and counts of words as those of vectors: all forms come in with a word."""
        vector_orders, vector_counts = {}, {}
        for place, order in orders.items():
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            came_in = rank[self.words.owners[place]]
            vector_orders[place] = np.argsort(came_in, kind="stable")
            vector_counts[place] = np.searchsorted(np.sort(came_in), counts[place])
        return vector_orders, vector_counts

    @property
    def _resampled(self) -> list[int]:
        """The places of the sets whose words are left out or weighted; pairs count once."""
        return [i for i in range(len(self.words.sets)) if not (self.metric.paired and i == 1)]

    def _bootstrap(self, draws: int) -> list[Array]:
        return bootstrap(
            self.query,
            self.words,
            draws,
            self.seed,
            whole=not self.metric.takes_weights,
            paired=self.metric.paired,
        )

    def _bootstrapped(self, draws: int) -> Array:
        """Return the values for the weights of `_bootstrap`, of which one block is in memory."""
        numbers = self.metric.numbers_per_draw(self.words.targets, self.words.attributes)
        parts = bootstrap_blocks(
            self.query,
            self.words,
            draws,
            self.seed,
            whole=not self.metric.takes_weights,
            paired=self.metric.paired,
            numbers_per_draw=max(numbers, sum(map(len, self.query.word_sets().values()))),
        )
        with _threads_for(self.metric):
            return np.concatenate(list(mapped_in_threads(self.evaluate, parts)))

    def _score(self) -> Score:
        value, details = self._measured
        notes = self.words.notes
        if self.words.reason is None:
            notes = (*notes, *self.metric.doubts(details))
        sets = zip(self.words.labels, self.words.sets, strict=True)
        return Score(
            value=value,
            metric=self.metric.name,
            query_name=self.query.name,
            embedding=self.embedding,
            details={self.metric.name: value, **details},
            words={label: words.words for label, words in sets},
            lost=self.words.lost,
            reason=self.reason,
            notes=notes,
            neutral_value=self.metric.neutral_value,
            value_range=self.metric.value_range,
        )

    def _with_draws(self, score: Score, drawn: Array) -> Score:
        """Return the score with corrected draws, or with the reason why there is no interval."""
        metric = self.metric
        why = why_no_interval(drawn, score.value)
        if why is not None:
            return replace(score, no_interval=why)
        undefined = int((~np.isfinite(drawn)).sum())
        notes = score.notes
        if undefined:
            note = f"{undefined} of {len(drawn)} draws are not defined and left out of the interval"
            notes = (*notes, note)
        error = 0.0
        scale, back = (np.sqrt, np.square) if metric.root_scale else (np.positive, np.positive)
        if metric.jackknife:
            without = [self.without_each(place) for place in self._resampled]
            sets = np.repeat(self._resampled, [len(values) for values in without])
            error = jackknife_error(scale(np.concatenate(without)), sets)
        low, high = metric.bounds(self.query)
        drawn = corrected(
            scale(drawn),
            float(scale(score.value)),
            [self._n_words(place) for place in self._resampled],
            (float(scale(low)), float(scale(high))),
            jackknife=error,
            whole=not metric.takes_weights,
        )
        return replace(score, draws=back(drawn), notes=notes)

    def _check_two_targets(self) -> None:
        number = len(self.query.target_sets)
        if number != 2:
            raise SpecError(
                f"a permutation test compares two target sets, and the query {self.query.name!r} "
                f"has {number}; use its subqueries."
            )

    def _p_value(self, options: PermutationOptions) -> tuple[float, str | None]:
        """Return the p-value, and why there is none if so."""
        if self.metric.no_p_value is not None:
            return np.nan, self.metric.no_p_value
        metric = self.metric.tested_metric()
        partitions = self._partitions(metric)
        rng = permutation_generator(self.query, self.seed)
        with _threads_for(metric):
            evaluate = self._of_partitions(metric, partitions)
            p, why_none = p_value(
                partitions,
                lambda weights: evaluate(weights) - metric.neutral_value,
                options,
                rng,
                quick=metric.takes_weights,
            )
        return p, metric.undefined if np.isnan(p) and why_none is None else why_none

    def _partitions(self, metric: Metric) -> Partitions:
        return Partitions(self.words.targets, self.words.owners[:2], paired=metric.paired)

    def _of_partitions(
        self, metric: Metric, partitions: Partitions
    ) -> Callable[[Sequence[Array]], Array]:
        """Return a function of the weights of the target words of partitions."""
        attributes = self.words.attributes
        weighted = metric.of_target_weights(partitions.targets, attributes)
        needed = [metric.least_words[0]] * len(partitions.targets)
        numbers = metric.numbers_per_draw(partitions.targets, attributes)
        return lambda weights: _in_blocks(weighted, weights, needed, numbers)


def _evaluate(
    metric: Metric,
    targets: Sequence[WordVectors],
    attributes: Sequence[WordVectors],
    weights: Sequence[Array],
) -> Array:
    """Return the values for weights of target and attribute sets, in blocks of draws."""
    n = len(targets)
    least = [metric.least_words[0]] * n + [metric.least_words[1]] * len(attributes)
    return _in_blocks(
        lambda block: metric.weighted(targets, attributes, block[:n], block[n:]),
        weights,
        least,
        metric.numbers_per_draw(targets, attributes),
    )


def _in_blocks(
    weighted: Callable[[Sequence[Array]], Array],
    weights: Sequence[Array],
    least: Sequence[int],
    numbers_per_draw: int,
) -> Array:
    """Return the values for weights in blocks of draws, NaN where fewer words count than needed."""
    draws = max(len(w) for w in weights)
    parts = []
    for some in blocks(draws, numbers_per_draw):
        block = [w if len(w) == 1 else w[some] for w in weights]
        values = weighted(block)
        for w, needed in zip(block, least, strict=True):
            values = np.where(np.count_nonzero(w, axis=1) >= needed, values, np.nan)
        parts.append(np.broadcast_to(values, (some.stop - some.start,)))
    return np.concatenate(parts)


def _threads_for(metric: Metric) -> AbstractContextManager[None]:
    """Return a context in which blocks of draws are shared among threads, if the metric allows it.

    A metric that takes whole numbers only is evaluated draw by draw by code that may be anyone's,
    which threads neither speed up nor may be safe for.
    """
    shared = metric.takes_weights and not metric.costly
    return single_threaded_algebra() if shared else nullcontext()


def _with_warnings(score: Score) -> Score:
    """Return the score, and warn of what a person should know before using the number."""
    if score.reason is not None:
        warn(f"{score.metric} of {score.query_name!r} is NaN: {score.reason}.")
    notes = score.notes
    if score.no_interval is not None:
        notes = (*notes, f"no interval: {score.no_interval}")
    for note in notes:
        warn(f"{score.metric} of {score.query_name!r} in {score.embedding}: {note}.")
    return score
