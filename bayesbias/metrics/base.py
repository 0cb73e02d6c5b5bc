"""The one protocol of all metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.wording import did_you_mean, kind_of, quoted
from bayesbias.embeddings import Embedding, EmbeddingLike, Matching, as_embedding
from bayesbias.errors import SpecError
from bayesbias.metrics.measurement import Measurement
from bayesbias.metrics.nested_subsets import NestedSubsets
from bayesbias.metrics.permutations import Method, PermutationOptions, Test
from bayesbias.metrics.query_vectors import (
    WordVectors,
    as_query,
    gather,
    without_missing_targets,
)
from bayesbias.metrics.score import Score
from bayesbias.metrics.weighting import ones
from bayesbias.numerics.intervals import Kind
from bayesbias.wordlists import Query, Template

if TYPE_CHECKING:
    import pandas as pd


class Metric:
    """Base of all metrics; a metric of your own is a class with one method, `value`.

    From that one method it gets `run_query` with a permutation test, `posterior`, `influence`,
    `by_word`, rankings and silhouettes. A metric that also has `weighted` gets them faster, and a
    Bayesian bootstrap in place of an ordinary one. Options of a metric are the fields of a frozen
    dataclass; they can be given to the class or to the call. Add the class to `METRICS` to use it
    by its name.

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
    >>> score.prob_above
    1.0
    """

    #: What the metric is called in `METRICS`, tables and the key of its value.
    name: ClassVar[str] = "metric"
    #: What people read in figures and reports, within a sentence; by default the name.
    title: ClassVar[str] = ""
    #: The publication it comes from, if any.
    reference: ClassVar[str | None] = None
    #: How many target and attribute sets it takes; "n" stands for any number.
    template: ClassVar[Template] = (2, 2)
    #: The smallest and the largest value possible.
    value_range: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    #: The value of an embedding without bias.
    neutral_value: ClassVar[float] = 0.0
    #: What a larger value says, in words.
    orientation: ClassVar[str] = "farther from the neutral value is more biased"
    #: The number of target sets that an open template needs.
    least_targets: ClassVar[int] = 1
    #: Whether the words of the first two target sets belong together by their places.
    paired: ClassVar[bool] = False
    #: The number of words that each target set and each attribute set needs.
    least_words: ClassVar[tuple[int, int]] = (1, 1)
    #: Whether a target set of one word that is missing is left out, and not the whole value.
    drops_missing_targets: ClassVar[bool] = False
    #: Whether more of the embedding is needed than the words of the query.
    whole_embedding: ClassVar[bool] = False
    #: Whether a value takes long, as where a classifier is fitted.
    costly: ClassVar[bool] = False
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
    def side_of_bias(self) -> Test:
        """The side that a permutation test is about unless another is given.

        It is the side of `orientation` on which there is bias, or, for metrics with a sign, on
        which the first targets are closer to the (first) attributes.
        """
        return "right-sided"

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

    def of_target_weights(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> Callable[[Sequence[Array]], Array]:
        """Return `weighted` as a function of the target weights, as permutation tests ask for it.

        Each attribute word counts once. A metric may implement it where a part of the work does
        not depend on the target weights; it must then agree with `weighted`.

        Parameters
        ----------
        targets, attributes : sequence of WordVectors
            The words and vectors of each set of the query.

        Returns
        -------
        callable
            From the weights of the target sets, draws × words, to one value for each draw.
        """
        counted = ones(attributes)
        return lambda weights: self.weighted(targets, attributes, weights, counted)

    def cumulative(
        self,
        targets: Sequence[WordVectors],
        attributes: Sequence[WordVectors],
        subsets: NestedSubsets,
    ) -> Array:
        """Return the value for subsets of the words that grow, as silhouettes ask for them.

        This one gives words outside a subset the weight 0. A metric may implement it where sums
        over growing subsets can be shared; it must then agree with `weighted`.

        Parameters
        ----------
        targets, attributes : sequence of WordVectors
            The words and vectors of each set of the query.
        subsets : NestedSubsets
            Which words of them are in at each size.

        Returns
        -------
        ndarray
            One value for each size.
        """
        weights = subsets.weights([*targets, *attributes])
        return self.weighted(targets, attributes, weights[: len(targets)], weights[len(targets) :])

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
                f"'value' of the metric {self.name!r} returned {kind_of(result)}; expected "
                "one number."
            )
        return float(result), {}

    @property
    def takes_cosines(self) -> bool:
        """Whether the value depends on the cosines of target and attribute words alone."""
        return type(self).from_cosines is not Metric.from_cosines

    def from_cosines(self, cosines: Sequence[Sequence[Array]]) -> Array:
        """Return the value from cosines alone, without vectors.

        A metric implements it if it can; then it can be computed from a distance table.

        Parameters
        ----------
        cosines : sequence of sequence of ndarray
            For each target set and each attribute set, the cosines of their words: target words ×
            attribute words, after any number of leading dimensions.

        Returns
        -------
        ndarray
            The values, in the shape of the leading dimensions.

        Raises
        ------
        SpecError
            If the metric needs the vectors.
        """
        raise SpecError(
            f"the metric {self.name!r} needs the vectors of the words, not only their cosines; use "
            "run_query() with the embedding."
        )

    def details_of_cosines(self, cosines: Sequence[Sequence[Array]]) -> dict[str, Any]:
        """Return what else there is to say of cosines, as `measure` does of vectors.

        Parameters
        ----------
        cosines : sequence of sequence of ndarray
            For each target set and each attribute set, target words × attribute words.

        Returns
        -------
        dict
            Further keys of the `Score`; none by default.
        """
        return {}

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
        kind = type(self)
        if kind.value is Metric.value and kind.weighted is Metric.weighted:
            raise SpecError(
                f"the metric {kind.__name__!r} has no method 'value(self, targets, attributes)'; "
                "write one that returns a number."
            )
        as_query(query)
        sides = [
            (given if taken == "n" else taken, given)
            for taken, given in zip(self.template, query.template, strict=True)
        ]
        if any(taken != given for taken, given in sides):
            enough = all(taken <= given for taken, given in sides)
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
        embedding : Embedding or str
            The embedding they are from.

        Returns
        -------
        tuple of two tuples of WordVectors
            The sets that are measured; the same by default.
        """
        return targets, attributes

    def tested_metric(self) -> Metric:
        """Return the metric whose values a permutation test compares.

        Returns
        -------
        Metric
            The metric itself by default.
        """
        return self

    def numbers_per_draw(
        self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]
    ) -> int:
        """Return how many numbers one draw of weights holds in memory.

        Parameters
        ----------
        targets, attributes : sequence of WordVectors
            The words and vectors of each set of the query.

        Returns
        -------
        int
            The number of words by default; blocks of draws go by it.
        """
        return sum(map(len, (*targets, *attributes)))

    def on(
        self,
        query: Query | str,
        embedding: EmbeddingLike,
        *,
        matching: Matching | None = None,
        normalize: bool = False,
        seed: Seed = None,
        **options: object,
    ) -> Measurement:
        """Apply the metric to a query in an embedding: words are matched, vectors are read.

        Parameters
        ----------
        query : Query or str
            The question, or the name of one; its template must fit.
        embedding : Embedding or str
            Where the vectors are from.
        matching : Matching, optional
            How words are matched with the vocabulary; by default as the embedding says. The value
            is NaN if a word set, or the pairs, miss more words than its threshold allows.
        normalize : bool, default False
            Whether vectors are scaled to length one first.
        seed : int or Generator, optional
            Same seed, same result; by default that of the metric, or 0 if it has none.
        **options : object
            Options of the metric, for this call.

        Returns
        -------
        Measurement
            It has the value, the posterior, a permutation test, and the influence of words.

        Raises
        ------
        SpecError
            If the query does not fit the metric, or an option is not known.

        Examples
        --------
        >>> import bayesbias as bb
        >>> measurement = bb.metrics.WEATEffectSize().on("weat_7", bb.load_embedding("demo"))
        >>> round(measurement.value(), 2)
        1.54
        """
        metric, used_seed = self._configured(options, seed)
        asked = as_query(query)
        metric.check_query(asked)
        embedding = as_embedding(embedding)
        dropped: tuple[str, ...] = ()
        if metric.drops_missing_targets:
            asked, dropped = without_missing_targets(asked, embedding, matching)
        words = gather(
            asked,
            embedding,
            matching,
            normalize=normalize,
            paired=metric.paired,
            least=metric.least_words,
        )
        if words.reason is None:
            targets, attributes = metric.expand(words.targets, words.attributes, embedding)
            words = dataclasses.replace(words, targets=targets, attributes=attributes)
        if dropped:
            words = dataclasses.replace(
                words,
                lost={**words.lost, **{f"target: {word}": (word,) for word in dropped}},
                notes=(*words.notes, f"left out, as the embedding lacks them: {quoted(dropped)}"),
            )
        return Measurement(metric, asked, embedding.name, words, used_seed)

    def run_query(
        self,
        query: Query | str,
        embedding: EmbeddingLike,
        *,
        matching: Matching | None = None,
        normalize: bool = False,
        seed: Seed = None,
        calculate_p_value: bool = False,
        p_value_iterations: int = 10_000,
        p_value_test_type: Test | None = None,
        p_value_method: Method = "auto",
        **options: object,
    ) -> Score:
        """Measure one query in one embedding; short for `on` with `Measurement.score`.

        Parameters
        ----------
        query, embedding, matching, normalize, seed : as in `on`
            What is measured, and how its words are found.
        calculate_p_value : bool, default False
            Whether to test that the two target sets do not differ.
        p_value_iterations, p_value_test_type, p_value_method : as in `Measurement`
            The arguments `iterations`, `test` and `method` of `Measurement.permutation_test`. By
            default, the test is of the `side_of_bias` of the metric; WEFE's is right-sided for all.
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

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.metrics.WEAT().run_query("weat_6", bb.load_embedding("demo"))
        <Score weat = 2.32, Male names and Female names wrt Career and Family, demo>
        """
        # Refused also where no p-value is asked for.
        side = self.side_of_bias if p_value_test_type is None else p_value_test_type
        test = PermutationOptions(p_value_iterations, side, p_value_method)
        test.check("p_value_iterations", "p_value_test_type", "p_value_method")
        measurement = self.on(
            query, embedding, matching=matching, normalize=normalize, seed=seed, **options
        )
        if not calculate_p_value:
            return measurement.score()
        return measurement.permutation_test(
            iterations=test.iterations, test=p_value_test_type, method=test.method
        )

    def from_table(
        self,
        table: pd.DataFrame,
        *,
        targets: Sequence[str] | None = None,
        attributes: Sequence[str] | None = None,
    ) -> Score:
        """Measure the words of a distance table, for which no vectors are needed.

        Metrics that depend on cosine distances alone can do this: MAC, WEAT and its effect size.

        Parameters
        ----------
        table : DataFrame
            A distance table of one embedding, as `distance_table` or `read_table` return it.
        targets : sequence of str, optional
            The groups (``protected_group``) that are the target sets, in this order; by default
            all groups.
        attributes : sequence of str, optional
            The lists (``word_class``) that are the attribute sets, in this order; by default the
            stereotypes of these groups, in the order of the groups. Name a list of controls to
            measure these instead.

        Returns
        -------
        Score
            The value, with the words it rests on.

        Raises
        ------
        SpecError
            If the metric needs vectors, or the table has more groups or lists than it takes.
        DataError
            If the table lacks a group, a list or a pair of words that the metric needs.

        Warns
        -----
        BayesBiasWarning
            If duplicated rows are left out. If they are kept, scores are the same: sets count each
            word once.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
        >>> bb.metrics.MAC().from_table(table)
        <Score mac = 0.87, jew, christian and muslim wrt jew_stereotype, ...>
        >>> bb.metrics.MAC().from_table(table, attributes=["neutral"])
        <Score mac = 0.94, jew, christian and muslim wrt neutral, demo>
        """
        from bayesbias.metrics.table_scores import score_of_table

        return score_of_table(self, table, targets, attributes)

    def posterior(
        self,
        query: Query | str,
        embedding: EmbeddingLike,
        *,
        matching: Matching | None = None,
        normalize: bool = False,
        seed: Seed = None,
        draws: int = 4000,
        prob: float = 0.89,
        kind: Kind = "eti",
        **options: object,
    ) -> Score:
        """Measure one query with its uncertainty; short for `on` with `Measurement.posterior`.

        Parameters
        ----------
        query, embedding, matching, normalize, seed : as in `on`
            What is measured, and how its words are found.
        draws, prob, kind : as in `Measurement.posterior`
            The number of draws, the probability and the kind of the interval.
        **options : object
            Options of the metric, for this call.

        Returns
        -------
        Score
            The value, with `draws`, `lower`, `upper` and `prob_above`, or with `no_interval`.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.metrics.WEAT().posterior("weat_6", bb.load_embedding("demo"), draws=500)
        <Score weat = 2.32 [1.32, 3.18], Male names and Female names wrt Career and Family, demo>
        """
        measurement = self.on(
            query, embedding, matching=matching, normalize=normalize, seed=seed, **options
        )
        return measurement.posterior(draws=draws, prob=prob, kind=kind)

    def influence(
        self,
        query: Query | str,
        embedding: EmbeddingLike,
        *,
        matching: Matching | None = None,
        normalize: bool = False,
        seed: Seed = None,
        **options: object,
    ) -> pd.DataFrame:
        """Measure how much each word changes the value; short for `Measurement.influence`.

        Parameters
        ----------
        query, embedding, matching, normalize, seed : as in `on`
            What is measured, and how its words are found.
        **options : object
            Options of the metric, for this call.

        Returns
        -------
        DataFrame
            One row per word, the most influential first.

        Examples
        --------
        >>> import bayesbias as bb
        >>> table = bb.metrics.WEAT().influence("weat_6", bb.load_embedding("demo"))
        >>> table[["word", "influence"]].round(2).head(2)
            word  influence
        0  Diana       0.39
        1  Sarah       0.30
        """
        measurement = self.on(
            query, embedding, matching=matching, normalize=normalize, seed=seed, **options
        )
        return measurement.influence()

    def by_word(
        self,
        query: Query | str,
        embedding: EmbeddingLike,
        *,
        matching: Matching | None = None,
        normalize: bool = False,
        seed: Seed = None,
        draws: int = 1000,
        prob: float = 0.89,
        kind: Kind = "eti",
        calculate_p_value: bool = False,
        p_value_iterations: int = 10_000,
        p_value_test_type: Test = "two-sided",
        **options: object,
    ) -> pd.DataFrame:
        """Measure every attribute word by itself; short for `Measurement.by_word`.

        Parameters
        ----------
        query, embedding, matching, normalize, seed : as in `on`
            What is measured; the query has one attribute set.
        draws, prob, kind : as in `Measurement.by_word`
            The number of draws, the probability and the kind of the intervals.
        calculate_p_value : bool, default False
            Whether to test each word by permutation of the targets.
        p_value_iterations, p_value_test_type : as in `Measurement.by_word`
            Its arguments `iterations` and `test`.
        **options : object
            Options of the metric, for this call.

        Returns
        -------
        DataFrame
            One row per attribute word, by value.

        Examples
        --------
        >>> import bayesbias as bb
        >>> query = bb.load_query("weat_7").subqueries((2, 1))[0]
        >>> table = bb.metrics.RND().by_word(query, bb.load_embedding("demo"), draws=100)
        >>> table[["word", "value"]].round(2).head(2)
           word  value
        0  male   0.24
        1   him   0.63
        """
        test = PermutationOptions(p_value_iterations, p_value_test_type)
        test.check("p_value_iterations", "p_value_test_type", "p_value_method")
        measurement = self.on(
            query, embedding, matching=matching, normalize=normalize, seed=seed, **options
        )
        return measurement.by_word(
            draws=draws,
            prob=prob,
            kind=kind,
            p_values=calculate_p_value,
            iterations=p_value_iterations,
            test=p_value_test_type,
        )

    def _configured(self, options: Mapping[str, Any], seed: Seed) -> tuple[Metric, int]:
        """Return the metric with the options and the seed of a call, and that seed.

        It is the one given, 0 included; without, that of the metric; without either, 0.
        """
        names = option_names(self)
        if seed is None:
            seed = getattr(self, "seed", 0) if "seed" in names else 0
        number = as_seed(seed)
        if "seed" in names:
            options = {**options, "seed": number}
        if not options:
            return self, number
        for name in options:
            if name not in names:
                allowed = f"its options are {quoted(names)}" if names else "it has none of its own"
                raise SpecError(
                    f"the metric {self.name!r} has no option {name!r}; {allowed}."
                    f"{did_you_mean(name, names)}"
                )
        varied: Metric = dataclasses.replace(self, **options)  # type: ignore[type-var]
        return varied, number


def option_names(metric: Metric | type[Metric]) -> list[str]:
    """Return the options of a metric: the fields of a dataclass."""
    if not dataclasses.is_dataclass(metric):
        return []
    return [field.name for field in dataclasses.fields(metric)]
