"""The one protocol of all metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.constants import DEFAULT_FALLBACKS, LOST_VOCABULARY_THRESHOLD
from bayesbias._core.validation import at_least, one_of
from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.embeddings import Embedding, check_embedding
from bayesbias.errors import SpecError, warn
from bayesbias.metrics.bootstrap_correction import corrected, jackknife_error, why_no_interval
from bayesbias.metrics.prefixes import number_counted
from bayesbias.metrics.query_vectors import Gathered, Strategy, WordVectors, gather
from bayesbias.metrics.resampling import (
    MOST_PARTITIONS,
    TESTS,
    Method,
    Partitions,
    Test,
    as_extreme,
    bootstrap,
    generator,
    leave_one_out,
)
from bayesbias.metrics.score import Score
from bayesbias.metrics.weighting import ones
from bayesbias.numerics.intervals import Kind, check_interval
from bayesbias.wordlists import Query
from bayesbias.wordlists.query import Template

if TYPE_CHECKING:
    import pandas as pd

# Weights handled at once, in numbers.
_BLOCK = 4_000_000
# Partitions of the targets that are tried first.
_FEW = 50


class Metric:
    """Base of all metrics; a metric of your own is a class with one method, `value`.

    From that one method it gets `run_query` with a permutation test, `posterior`, `influence`,
    `by_word`, rankings and silhouettes. A metric that also has `weighted` gets them faster, and a
    Bayesian bootstrap in place of an ordinary one. Options of a metric are the fields of a frozen
    dataclass; they can be given to the class or to the call.

    By the convention of all metrics here target sets are the groups and attribute sets the words
    whose closeness to the groups is looked at.

    Examples
    --------
    >>> import bayesbias as bb
    >>> class MeanGap(bb.metrics.Metric):
    ...     '''How much closer the attributes are to the first targets than to the second.'''
    ...
    ...     name = "mean_gap"
    ...     template = (2, 1)
    ...     value_range = (-2.0, 2.0)
    ...
    ...     def value(self, targets, attributes):
    ...         first, second = (t.unit @ attributes[0].unit.T for t in targets)
    ...         return first.mean() - second.mean()
    >>> query = bb.load_query("weat_6").subqueries((2, 1))[0]
    >>> score = MeanGap().posterior(query, bb.load_embedding("demo"), draws=500)
    >>> score
    <Score mean_gap = 0.19 [0.13, 0.24], Male names and Female names wrt Career, demo>
    >>> score.p_above
    1.0
    """

    #: What the metric is called in `METRICS`, tables and the key of its value.
    name: ClassVar[str] = "metric"
    #: The publication it comes from, if any.
    reference: ClassVar[str | None] = None
    #: How many target and attribute sets it takes; "n" stands for any number.
    template: ClassVar[Template] = (2, 2)
    #: The smallest and the largest value possible.
    value_range: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    #: The value of an embedding without bias.
    neutral_value: ClassVar[float] = 0.0
    #: What a larger value says, in words.
    orientation: ClassVar[str] = "further from the neutral value is more biased"
    #: The number of target sets that an open template needs.
    least_targets: ClassVar[int] = 1
    #: Whether the words of the first two target sets belong together by their places.
    paired: ClassVar[bool] = False
    #: The number of words that each target set and each attribute set needs.
    least_words: ClassVar[tuple[int, int]] = (1, 1)
    #: Whether more of the embedding is needed than the words of the query.
    whole_embedding: ClassVar[bool] = False
    #: Why a permutation of the targets tests nothing, if so.
    no_p_value: ClassVar[str | None] = None
    #: Why draws of the words make no interval, if so.
    no_interval: ClassVar[str | None] = None
    #: Whether draws are stretched to the standard error of a jackknife, where they vary less.
    jackknife: ClassVar[bool] = False
    #: Whether draws are corrected on the scale of their square roots, as for squared distances.
    root_scale: ClassVar[bool] = False
    #: What it means when no number comes out.
    undefined: ClassVar[str] = "the value is not defined for these vectors"
    #: The details of `measure` when nothing could be measured.
    empty_details: ClassVar[Mapping[str, Any]] = {}

    @property
    def takes_weights(self) -> bool:
        """Whether words can count other than a whole number of times."""
        return type(self).weighted is not Metric.weighted

    def value(self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]) -> float:
        """Return the value for these words; what a metric of your own implements.

        Parameters
        ----------
        targets, attributes : sequence of WordVectors
            The words and vectors of each set of the query.

        Returns
        -------
        float
            The value; NaN if it is not defined.
        """
        return float(self.weighted(targets, attributes, ones(targets), ones(attributes))[0])

    def weighted(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        target_weights: Sequence[Array],
        attribute_weights: Sequence[Array],
    ) -> Array:
        """Return the value for each draw of weights of the words.

        This one takes whole numbers and repeats the words; a metric may implement it for any
        weights.

        Parameters
        ----------
        targets, attributes : sequence of WordVectors
            The words and vectors of each set of the query.
        target_weights, attribute_weights : sequence of ndarray
            For each set, how often each word counts, draws × words; or one row for all draws.

        Returns
        -------
        ndarray
            One value for each draw; NaN where a set is left empty.
        """
        weights = [*target_weights, *attribute_weights]
        draws = max(len(w) for w in weights)
        counts = [np.broadcast_to(w, (draws, w.shape[1])).astype(np.intp) for w in weights]
        sets = [*targets, *attributes]
        values = np.full(draws, np.nan)
        for draw in range(draws):
            if all(c[draw].any() for c in counts):
                chosen = [
                    words.take(np.repeat(np.arange(len(words)), c[draw]))
                    for words, c in zip(sets, counts, strict=True)
                ]
                values[draw] = self.value(chosen[: len(targets)], chosen[len(targets) :])
        return values

    def measure(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> tuple[float, dict[str, Any]]:
        """Return the value and what else there is to say, word by word for instance.

        Parameters
        ----------
        targets, attributes : sequence of WordVectors
            The words and vectors of each set of the query.

        Returns
        -------
        value : float
            The value.
        details : dict
            Further keys of the `Score`; the value itself is added under the metric's name.
        """
        result = self.value(targets, attributes)
        if np.ndim(result) or not isinstance(result, int | float | np.number | np.ndarray):
            raise SpecError(
                f"'value' of the metric {self.name!r} returned {type(result).__name__}; expected "
                "one number."
            )
        return float(result), {}

    def doubts(self, details: Mapping[str, Any]) -> tuple[str, ...]:
        """Say what speaks against a value, by the details that `measure` returned.

        Parameters
        ----------
        details : mapping
            The details.

        Returns
        -------
        tuple of str
            Notes of the `Score`; none by default.
        """
        return ()

    def check_query(self, query: Query) -> None:
        """Refuse a query that the metric cannot take.

        Parameters
        ----------
        query : Query
            The query.

        Raises
        ------
        SpecError
            If the numbers of sets do not fit the template, pairs are not complete, or the metric
            has no method `value`.
        """
        # Not when the class is made: in another process it is empty at first.
        own = type(self)
        if own.value is Metric.value and own.weighted is Metric.weighted:
            raise SpecError(
                f"the metric {own.__name__!r} has no method 'value(self, targets, attributes)'; "
                "write one that returns a number."
            )
        if not isinstance(query, Query):
            raise SpecError(
                f"'query' is {type(query).__name__}; expected a Query: load_query('weat_7')."
            )
        sides = [
            (there if wanted == "n" else wanted, there)
            for wanted, there in zip(self.template, query.template, strict=True)
        ]
        if any(wanted != there for wanted, there in sides):
            enough = all(wanted <= there for wanted, there in sides)
            advice = f"query.subqueries({self.template}) gives queries that fit"
            raise SpecError(
                f"the metric {self.name!r} takes {self.template} target and attribute sets, "
                f"and the query {query.name!r} has {query.template}; "
                f"{advice if enough else 'add word sets'}."
            )
        if len(query.target_sets) < self.least_targets:
            raise SpecError(
                f"the metric {self.name!r} compares groups, and the query {query.name!r} has one "
                "target set; give two or more."
            )
        sizes = [len(words) for words in query.target_sets[:2]]
        if self.paired and len(set(sizes)) > 1:
            raise SpecError(
                f"the metric {self.name!r} pairs the words of the target sets by their places, but "
                f"{query.target_names[0]!r} has {sizes[0]} words and {query.target_names[1]!r} "
                f"{sizes[1]}; give pairs."
            )

    def bounds(self, query: Query) -> tuple[float, float]:
        """Return the smallest and the largest value possible for the sets of a query.

        Parameters
        ----------
        query : Query
            The query.

        Returns
        -------
        tuple of two float
            The bounds; `value_range` by default.
        """
        return self.value_range

    def expand(
        self,
        targets: tuple[WordVectors, ...],
        attributes: tuple[WordVectors, ...],
        embedding: Embedding,
    ) -> tuple[tuple[WordVectors, ...], tuple[WordVectors, ...]]:
        """Return the sets with what the metric takes from the rest of the embedding.

        Parameters
        ----------
        targets, attributes : tuple of WordVectors
            The words of the query.
        embedding : Embedding
            The embedding they are from.

        Returns
        -------
        tuple of two tuples of WordVectors
            The sets that are measured; the same by default.
        """
        return targets, attributes

    def run_query(
        self,
        query: Query,
        embedding: Embedding,
        *,
        normalize: bool = False,
        lost_vocabulary_threshold: float = LOST_VOCABULARY_THRESHOLD,
        fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
        strategy: Strategy = "first",
        calculate_p_value: bool = False,
        p_value_iterations: int = 10_000,
        p_value_test_type: Test = "right-sided",
        p_value_method: Method = "auto",
        seed: int | None = None,
        **options: object,
    ) -> Score:
        """Measure one query in one embedding.

        Parameters
        ----------
        query : Query
            The question; its template must fit.
        embedding : Embedding
            Where the vectors are from.
        normalize : bool, default False
            Whether vectors are scaled to length one first.
        lost_vocabulary_threshold : float, default 0.2
            The share of any one word set, or of the pairs, that may be lost; the value is NaN if it
            is more.
        fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
            Forms of a word to try, as in `Matching`.
        strategy : {"first", "all"}, default "first"
            Whether a word stands for the first of its spellings that is found, or for all.
        calculate_p_value : bool, default False
            Whether to test by permutation that the two target sets do not differ: the value is
            compared with those for words dealt out to the target sets at random.
        p_value_iterations : int, default 10,000
            How many permutations are drawn where not all are enumerated.
        p_value_test_type : {"right-sided", "left-sided", "two-sided"}, default "right-sided"
            Whether values as large as the observed count, as small, or as far from neutral.
        p_value_method : {"auto", "exact", "approximate"}, default "auto"
            ``exact`` enumerates all partitions, ``approximate`` draws some without replacement
            within each; ``auto`` enumerates up to 1,000,000.
        seed : int, optional
            Same seed, same result; by default that of the metric, or 0 if it has none.
        **options : object
            Options of the metric, for this call.

        Returns
        -------
        Score
            The value with what it rests on.

        Raises
        ------
        SpecError
            If the query does not fit the metric, or an option is not known.

        Warns
        -----
        BayesBiasWarning
            If the value is not defined, or sets share words.
        """
        metric, seed = self._with(options, seed)
        at_least("p_value_iterations", p_value_iterations, 1)
        one_of("p_value_test_type", p_value_test_type, TESTS)
        one_of("p_value_method", p_value_method, ("auto", "exact", "approximate"))
        if calculate_p_value:
            metric._check_two_targets(query)
        found = metric._gather(
            query, embedding, fallbacks, strategy, lost_vocabulary_threshold, normalize
        )
        score = metric._score(query, embedding, found)
        if calculate_p_value and score.reason is None:
            p, note = metric._p_value(
                found, p_value_iterations, p_value_test_type, p_value_method, generator(query, seed)
            )
            notes = score.notes if note is None else (*score.notes, note)
            score = dataclasses.replace(score, p_value=p, notes=notes)
        _tell(score)
        return score

    def posterior(
        self,
        query: Query,
        embedding: Embedding,
        *,
        draws: int = 4000,
        seed: int | None = None,
        prob: float = 0.89,
        kind: Kind = "eti",
        normalize: bool = False,
        lost_vocabulary_threshold: float = LOST_VOCABULARY_THRESHOLD,
        fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
        strategy: Strategy = "first",
        **options: object,
    ) -> Score:
        """Measure one query with the uncertainty that comes from how few words it has.

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
        query : Query
            The question; its template must fit.
        embedding : Embedding
            Where the vectors are from.
        draws : int, default 4000
            How many draws.
        seed : int, optional
            Same seed, same result; by default that of the metric, or 0 if it has none.
        prob : float, default 0.89
            Probability of the interval.
        kind : {"hdi", "eti"}, default "eti"
            The narrowest interval, or one that leaves as much on either side.
        normalize : bool, default False
            Whether vectors are scaled to length one first.
        lost_vocabulary_threshold : float, default 0.2
            The share of any one word set that may be lost; the value is NaN if it is more.
        fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
            Forms of a word to try, as in `Matching`.
        strategy : {"first", "all"}, default "first"
            Whether a word stands for the first of its spellings that is found, or for all.
        **options : object
            Options of the metric, for this call.

        Returns
        -------
        Score
            The value, with `draws`, `lower`, `upper` and `p_above`, or with `no_interval`.
        """
        metric, seed = self._with(options, seed)
        at_least("draws", draws, 2)
        check_interval(prob, kind)
        found = metric._gather(
            query, embedding, fallbacks, strategy, lost_vocabulary_threshold, normalize
        )
        score = metric._score(query, embedding, found)
        if score.reason is None and metric.no_interval is not None:
            score = dataclasses.replace(score, no_interval=metric.no_interval)
        elif score.reason is None:
            weights = bootstrap(
                query, found, draws, seed, whole=not metric.takes_weights, paired=metric.paired
            )
            score = metric._with_draws(score, query, found, weights)
        _tell(score)
        return dataclasses.replace(score, prob=prob, kind=kind)

    def influence(
        self,
        query: Query,
        embedding: Embedding,
        *,
        normalize: bool = False,
        lost_vocabulary_threshold: float = LOST_VOCABULARY_THRESHOLD,
        fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
        strategy: Strategy = "first",
        seed: int | None = None,
        **options: object,
    ) -> pd.DataFrame:
        """Tell how much each word changes the value, by leaving it out.

        Parameters
        ----------
        query : Query
            The question; its template must fit.
        embedding : Embedding
            Where the vectors are from.
        normalize : bool, default False
            Whether vectors are scaled to length one first.
        lost_vocabulary_threshold : float, default 0.2
            The share of any one word set that may be lost.
        fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
            Forms of a word to try, as in `Matching`.
        strategy : {"first", "all"}, default "first"
            Whether a word stands for the first of its spellings that is found, or for all.
        seed : int, optional
            For metrics with random parts: same seed, same result; by default that of the metric.
        **options : object
            Options of the metric, for this call.

        Returns
        -------
        DataFrame
            One row a word, the most influential first: ``word_set``, ``word`` (a pair, for metrics
            of pairs), ``value_without`` it, and ``influence``, the value less that. NaN where too
            few words are left, as of a set of one.
        """
        import pandas as pd

        metric, seed = self._with(options, seed)
        found = metric._gather(
            query, embedding, fallbacks, strategy, lost_vocabulary_threshold, normalize
        )
        if found.reason is not None:
            raise SpecError(f"the influence of words cannot be told: {found.reason}.")
        value = float(metric.value(found.targets, found.attributes))
        weights, left_out = leave_one_out(found.sets, metric.paired)
        without = metric._evaluate(found.targets, found.attributes, weights)
        rows = []
        for (i, j), rest in zip(left_out, without.tolist(), strict=True):
            pair = metric.paired and i == 0
            word, label = found.sets[i].words[j], found.labels[i]
            if pair:
                word = f"{word} – {found.sets[1].words[j]}"
                label = f"target: {query.target_names[0]} – {query.target_names[1]}"
            rows.append((label, word, rest, value - rest))
        frame = pd.DataFrame(rows, columns=["word_set", "word", "value_without", "influence"])
        order = frame["influence"].abs().sort_values(ascending=False, kind="stable").index
        return frame.loc[order].reset_index(drop=True)

    def by_word(
        self,
        query: Query,
        embedding: Embedding,
        *,
        draws: int = 1000,
        seed: int | None = None,
        prob: float = 0.89,
        kind: Kind = "eti",
        normalize: bool = False,
        lost_vocabulary_threshold: float = LOST_VOCABULARY_THRESHOLD,
        fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
        calculate_p_value: bool = False,
        p_value_iterations: int = 10_000,
        p_value_test_type: Test = "two-sided",
        **options: object,
    ) -> pd.DataFrame:
        """Measure every attribute word by itself, with interval and, if asked for, p-value.

        Parameters
        ----------
        query : Query
            The question, with one attribute set.
        embedding : Embedding
            Where the vectors are from.
        draws : int, default 1000
            How many draws of the target words.
        seed : int, optional
            Same seed, same result; by default that of the metric, or 0 if it has none.
        prob : float, default 0.89
            Probability of the intervals.
        kind : {"hdi", "eti"}, default "eti"
            The narrowest interval, or one that leaves as much on either side.
        normalize : bool, default False
            Whether vectors are scaled to length one first.
        lost_vocabulary_threshold : float, default 0.2
            The share of any one word set that may be lost.
        fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
            Forms of a word to try, as in `Matching`.
        calculate_p_value : bool, default False
            Whether to test each word by permutation of the targets.
        p_value_iterations : int, default 10,000
            How many permutations are drawn where not all are enumerated.
        p_value_test_type : {"right-sided", "left-sided", "two-sided"}, default "two-sided"
            Which values count against chance.
        **options : object
            Options of the metric, for this call.

        Returns
        -------
        DataFrame
            One row an attribute word, by value: ``word``, ``value``, ``lower``, ``upper``,
            ``p_above``, ``p_value``. ``attrs["no_interval"]`` says for which words there is no
            interval, and why.

        Raises
        ------
        SpecError
            If the metric does not take one attribute set, or needs several words of it.
        """
        import pandas as pd

        metric, seed = self._with(options, seed)
        at_least("draws", draws, 2)
        check_interval(prob, kind)
        at_least("p_value_iterations", p_value_iterations, 1)
        one_of("p_value_test_type", p_value_test_type, TESTS)
        if metric.template[1] != 1 or metric.least_words[1] > 1:
            raise SpecError(
                f"the metric {metric.name!r} cannot look at attribute words one by one; "
                "use influence()."
            )
        found = metric._gather(
            query, embedding, fallbacks, "first", lost_vocabulary_threshold, normalize
        )
        if found.reason is not None:
            raise SpecError(f"nothing can be measured: {found.reason}.")
        if calculate_p_value:
            metric._check_two_targets(query)
        weights = bootstrap(
            query, found, draws, seed, whole=not metric.takes_weights, paired=metric.paired
        )[:-1]
        rows = []
        reasons: dict[str, str] = {}
        for i, word in enumerate(found.attributes[0].words):
            alone = dataclasses.replace(found, attributes=(found.attributes[0].take([i]),))
            score = metric._score(query, embedding, alone)
            if score.reason is None:
                score = metric._with_draws(score, query, alone, [*weights, np.ones((1, 1))])
            score = dataclasses.replace(score, prob=prob, kind=kind)
            if score.no_interval is not None:
                reasons[word] = score.no_interval
            p = np.nan
            if calculate_p_value and score.reason is None:
                p, _ = metric._p_value(
                    alone, p_value_iterations, p_value_test_type, "auto", generator(query, seed)
                )
            rows.append((word, score.value, score.lower, score.upper, score.p_above, p))
        columns = ["word", "value", "lower", "upper", "p_above", "p_value"]
        frame = pd.DataFrame(rows, columns=columns)
        frame = frame.sort_values("value", kind="stable", ignore_index=True)
        frame.attrs["no_interval"] = reasons
        return frame

    def _with(self, options: Mapping[str, Any], seed: int | None) -> tuple[Metric, int]:
        """Return the metric with other options and the seed of a call, and that seed.

        It is the one given, 0 included; without, that of the metric; without either, 0.
        """
        known = [item.name for item in _fields(self)]
        seeded = "seed" in known
        if seed is None:
            seed = self.seed if seeded else 0  # type: ignore[attr-defined]
        at_least("seed", seed, 0)
        if seeded:
            options = {**options, "seed": seed}
        if not options:
            return self, seed
        for name in options:
            if name not in known:
                allowed = f"its options are {quoted(known)}" if known else "it has none of its own"
                raise SpecError(
                    f"the metric {self.name!r} has no option {name!r}; {allowed}."
                    f"{did_you_mean(name, known)}"
                )
        varied: Metric = dataclasses.replace(self, **options)  # type: ignore[type-var]
        return varied, seed

    def _gather(
        self,
        query: Query,
        embedding: Embedding,
        fallbacks: Iterable[str],
        strategy: str,
        threshold: float,
        normalize: bool,
    ) -> Gathered:
        self.check_query(query)
        check_embedding(embedding)
        found = gather(
            query,
            embedding,
            fallbacks=fallbacks,
            strategy=strategy,
            threshold=threshold,
            normalize=normalize,
            paired=self.paired,
            least=self.least_words,
        )
        if found.reason is not None or type(self).expand is Metric.expand:
            return found
        targets, attributes = self.expand(found.targets, found.attributes, embedding)
        return dataclasses.replace(found, targets=targets, attributes=attributes)

    def _score(self, query: Query, embedding: Embedding, found: Gathered) -> Score:
        value, details, reason = np.nan, {self.name: np.nan, **self.empty_details}, found.reason
        notes = found.notes
        if reason is None:
            value, more = self.measure(found.targets, found.attributes)
            details = {self.name: value, **more}
            reason = None if np.isfinite(value) else self.undefined
            notes = (*notes, *self.doubts(more))
        sets = zip(found.labels, found.sets, strict=True)
        return Score(
            value=value,
            metric=self.name,
            query_name=query.name,
            embedding=embedding.name,
            details=details,
            words={label: words.words for label, words in sets},
            lost=found.lost,
            reason=reason,
            notes=notes,
            neutral_value=self.neutral_value,
            value_range=self.value_range,
        )

    def _with_draws(
        self, score: Score, query: Query, found: Gathered, weights: Sequence[Array]
    ) -> Score:
        """Return the score with corrected draws, or with the reason why there is no interval."""
        drawn = self._evaluate(found.targets, found.attributes, weights)
        why = why_no_interval(drawn, score.value)
        if why is not None:
            return dataclasses.replace(score, no_interval=why)
        lost = int((~np.isfinite(drawn)).sum())
        notes = score.notes
        if lost:
            note = f"{lost} of {len(drawn)} draws are not defined and left out of the interval"
            notes = (*notes, note)
        error = 0.0
        scale, back = (np.sqrt, np.square) if self.root_scale else (np.positive, np.positive)
        if self.jackknife:
            fewer, left_out = leave_one_out(found.sets, self.paired)
            without = self._evaluate(found.targets, found.attributes, fewer)
            error = jackknife_error(scale(without), [i for i, _ in left_out])
        low, high = self.bounds(query)
        drawn = corrected(
            scale(drawn),
            float(scale(score.value)),
            [len(words) for i, words in enumerate(found.sets) if not (self.paired and i == 1)],
            (float(scale(low)), float(scale(high))),
            jackknife=error,
            whole=not self.takes_weights,
        )
        return dataclasses.replace(score, draws=back(drawn), notes=notes)

    def _numbers(self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]) -> int:
        """Return how many numbers one draw holds in memory; blocks of draws go by it."""
        return sum(map(len, (*targets, *attributes)))

    def _evaluate(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        weights: Sequence[Array],
    ) -> Array:
        """Return the values for weights of target and attribute sets, in blocks of draws.

        NaN where the weights leave fewer words of a set than the metric needs.
        """
        draws = max(len(w) for w in weights)
        least = [self.least_words[0]] * len(targets) + [self.least_words[1]] * len(attributes)
        step = max(1, _BLOCK // self._numbers(targets, attributes))
        parts = []
        for start in range(0, draws, step):
            block = [w if len(w) == 1 else w[start : start + step] for w in weights]
            values = self.weighted(
                targets, attributes, block[: len(targets)], block[len(targets) :]
            )
            for w, needed in zip(block, least, strict=True):
                values = np.where(number_counted(w) >= needed, values, np.nan)
            parts.append(np.broadcast_to(values, (min(step, draws - start),)))
        return np.concatenate(parts)

    def _check_two_targets(self, query: Query) -> None:
        self.check_query(query)
        if len(query.target_sets) != 2:
            raise SpecError(
                f"a permutation test compares two target sets, and the query {query.name!r} has "
                f"{len(query.target_sets)}; use its subqueries."
            )

    def _tested(self) -> Metric:
        """Return the metric whose values a permutation test compares."""
        return self

    def _p_value(
        self,
        found: Gathered,
        iterations: int,
        test: str,
        method: str,
        rng: np.random.Generator,
    ) -> tuple[float, str | None]:
        """Return the p-value, and why there is none if so."""
        if self.no_p_value is not None:
            return np.nan, f"no p-value: {self.no_p_value}"
        metric = self._tested()
        partitions = Partitions(found.targets, paired=self.paired)
        fixed = ones(found.attributes)

        def deviations(weights: list[Array]) -> Array:
            values = metric._evaluate(partitions.targets, found.attributes, [*weights, *fixed])
            return values - metric.neutral_value

        if partitions.count == 1:
            return np.nan, "no p-value: there is only one way to deal the words out"
        most = MOST_PARTITIONS if self.takes_weights else iterations
        exact = method == "exact" or (method == "auto" and partitions.count <= most)
        if exact and partitions.count > 100 * MOST_PARTITIONS:
            raise SpecError(
                f"there are {partitions.count:.2g} partitions, too many for "
                "p_value_method='exact'; use 'approximate'."
            )
        observed = float(deviations(partitions.observed())[0])
        if not np.isfinite(observed):
            return np.nan, f"no p-value: {metric.undefined}"
        # A few partitions tell whether the metric sees them at all.
        few = deviations(next(partitions.random(_FEW, np.random.default_rng(0))))
        if np.ptp(np.append(few, observed)) <= 1e-9 * max(np.abs(few).max(), 1e-300):
            return np.nan, "no p-value: it does not matter to the metric which set a word is in"
        blocks: Iterator[list[Array]] = (
            partitions.every() if exact else partitions.random(iterations, rng)
        )
        extreme = number = 0
        for weights in blocks:
            values = deviations(weights)
            extreme += int(as_extreme(values, observed, test).sum())
            number += len(values)
        return (extreme / number if exact else (extreme + 1) / (number + 1)), None


def _fields(metric: Metric) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(metric) if dataclasses.is_dataclass(metric) else ()


def _tell(score: Score) -> None:
    """Warn of what a person should know before using the number."""
    if score.reason is not None:
        warn(f"{score.metric} of {score.query_name!r} is NaN: {score.reason}.")
    notes = score.notes
    if score.no_interval is not None:
        notes = (*notes, f"no interval: {score.no_interval}")
    for note in notes:
        warn(f"{score.metric} of {score.query_name!r} in {score.embedding}: {note}.")
