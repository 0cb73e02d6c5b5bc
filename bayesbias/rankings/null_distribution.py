"""What a metric says where there is no bias, and where the observed value falls beside that."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias._core.blocks import blocks
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed, as_seed, generator_for
from bayesbias._core.rounded_table import decimals_of_interval
from bayesbias._core.validation import at_least, one_of, positive
from bayesbias._core.wording import counted, p_value_text, quoted
from bayesbias.embeddings import Embedding, EmbeddingLike, Matching, as_embedding
from bayesbias.errors import SpecError
from bayesbias.metrics import (
    Measurement,
    MetricLike,
    NullDraws,
    WordVectors,
    as_metrics,
    cosines,
    ones,
)
from bayesbias.numerics.intervals import interval
from bayesbias.rankings.random_words import random_words, vectors_of
from bayesbias.rankings.study_queries import study_query
from bayesbias.wordlists import Frequencies, Query, Study, load_question

#: The ways to have no bias.
Null: TypeAlias = Literal["splits", "words", "simulated"]
#: Which lists random words take the place of.
Replace: TypeAlias = Literal["attributes", "targets", "both"]

NULLS: tuple[Null, ...] = get_args(Null)
_MEANING = {
    "splits": "the target words, divided into two lists of the same lengths at random",
    "words": "random words of the same frequency",
    "simulated": "simulated cosines of words that are all unrelated",
}
_WHOLE_EMBEDDING = "the metric also takes words from the rest of the embedding"
# Random words that differ more in frequency are worth a note.
_FACTOR = 2
# Values that differ by less than this share of the largest are the same.
_TIE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class NullDistribution:
    """What a metric says where there is no bias, from `null_distribution`.

    Parameters
    ----------
    metric : str
        The name of the metric.
    query : str
        The query in words.
    embedding : str
        The name of the embedding.
    observed : float
        The value of the words as they are listed.
    draws : mapping of str to ndarray
        For each null, the values of the metric without bias.
    exact : mapping of str to bool
        For each null, whether its values are all that there are, and not a sample.
    skipped : mapping of str to str
        The nulls that the metric does not have, and why.
    neutral_value : float
        The value that the metric calls unbiased.
    value_range : tuple of float
        The smallest and the largest value possible.
    notes : tuple of str
        What to know of the random words.
    prob : float
        Probability of the intervals.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.null_distribution("weat_es", "weat_7", bb.load_embedding("demo"), draws=2000)
    >>> found
    <NullDistribution weat_es = 1.54, Math and Arts wrt Male terms and Female terms, demo: splits,
    words, simulated>
    >>> len(found.draws["splits"])
    12870
    >>> found.table[["null", "sd", "percentile"]].round(2)
            null    sd  percentile
    0     splits  0.52       99.98
    1      words  1.01       94.35
    2  simulated  0.51       99.95
    """

    metric: str
    query: str
    embedding: str
    observed: float
    draws: Mapping[str, Array]
    exact: Mapping[str, bool]
    skipped: Mapping[str, str]
    neutral_value: float
    value_range: tuple[float, float]
    notes: tuple[str, ...] = ()
    prob: float = 0.89

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per null.

        ``null``, ``n`` (how many values), ``exact`` (whether these are all), ``observed``, the
        ``mean``, ``sd``, ``lower`` and ``upper`` of the null (an equal-tailed interval),
        ``percentile`` (per cent of the null below the observed value, ties half) and ``p_value``.
        """
        rows = []
        for name, values in self.draws.items():
            lower, upper = interval(values, self.prob, "eti")
            below, equal = self._below(values)
            rows.append(
                {
                    "null": name,
                    "n": len(values),
                    "exact": self.exact[name],
                    "observed": self.observed,
                    "mean": float(values.mean()),
                    "sd": float(values.std()),
                    "lower": float(lower),
                    "upper": float(upper),
                    "percentile": 100 * (below + equal / 2) / len(values),
                    "p_value": self._p_value(name),
                }
            )
        return pd.DataFrame(rows)

    def exceeds(self, value: float) -> pd.Series:
        """Return how often a metric is as far from its neutral value as this one, without bias.

        Parameters
        ----------
        value : float
            A value of the metric, such as one from a publication.

        Returns
        -------
        Series
            For each null, the share of values that are at least as far from the neutral value.
        """
        size = abs(value - self.neutral_value)
        return pd.Series(
            {
                name: float(
                    (np.abs(values - self.neutral_value) >= size - self._slack(values)).mean()
                )
                for name, values in self.draws.items()
            },
            name=f"at least as far from {self.neutral_value:g} as {value:g}",
        )

    def summary(self) -> str:
        """Return the result in plain words.

        Returns
        -------
        str
            The value, and for each null where it falls and what no bias looks like.
        """
        lines = [
            f"{self.metric} of {self.query!r} in {self.embedding} is {self.observed:.3g}; the "
            f"nominal value without bias is {self.neutral_value:g}."
        ]
        for row in self.table.to_dict("records"):
            how = "all " if row["exact"] else ""
            # Two digits of the interval's width; no minus before zero.
            digits = decimals_of_interval(self.table["lower"], self.table["upper"])
            mean, lower, upper = (f"{row[key]:z.{digits}f}" for key in ("mean", "lower", "upper"))
            lines.append(
                f"- {row['null']} ({_MEANING[row['null']]}; {how}{row['n']:,}): mean {mean}, "
                f"{self.prob:.0%} of the values from {lower} to {upper}; the observed value is at "
                f"percentile {_percentile(row['percentile'])}, {p_value_text(row['p_value'])}."
            )
        lines += [f"- {name}: none; {why}." for name, why in self.skipped.items()]
        lines += [f"Note: {note}." for note in self.notes]
        return "\n".join(lines)

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the table as LaTeX.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names metric, query and embedding.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        text = (
            f"{self.metric} of {self.query} in {self.embedding} beside its values without bias, "
            f"with {self.prob:.0%} intervals."
        )
        titles = {"mean": "without bias", "p_value": "p"}
        # A p-value is small if anything is found; two digits would show all of these as < 0.01.
        return frame_to_latex(
            self.table.drop(columns="exact"),
            text if caption is None else caption,
            titles=titles,
            decimals={"p_value": 4, "percentile": 1},
        )

    def __repr__(self) -> str:
        return (
            f"<NullDistribution {self.metric} = {self.observed:.2f}, {self.query}, "
            f"{self.embedding}: {', '.join(self.draws) or 'none'}>"
        )

    def _repr_html_(self) -> str:
        shown = self.table.to_html(index=False, border=0, float_format=lambda x: f"{x:.3g}")
        remarks = [f"{name}: none; {why}." for name, why in self.skipped.items()]
        remarks += [f"{note}." for note in self.notes]
        told = "".join(f"<p>{html.escape(text)}</p>" for text in remarks)
        return (
            f"<p><b>{html.escape(repr(self)[1:-1])}</b></p>{shown}"
            f"<p>{self.prob:.0%} intervals of the values without bias.</p>{told}"
        )

    def _slack(self, values: Array) -> float:
        return _TIE * max(abs(self.observed), float(np.abs(values).max(initial=0.0)), 1e-300)

    def _below(self, values: Array) -> tuple[int, int]:
        """Return how many values are below the observed one, and how many are equal to it."""
        slack = self._slack(values)
        below = int((values < self.observed - slack).sum())
        return below, len(values) - below - int((values > self.observed + slack).sum())

    def _p_value(self, name: str) -> float:
        values = self.draws[name]
        below, equal = self._below(values)
        above = len(values) - below - equal
        # The observed value is one of all partitions, and is counted in with a sample.
        extra = 0 if self.exact[name] else 1
        low, high = ((tail + equal + extra) / (len(values) + extra) for tail in (below, above))
        if self.neutral_value == self.value_range[0]:
            return high
        if self.neutral_value == self.value_range[1]:
            return low
        return min(1.0, 2 * min(low, high))


def null_distribution(
    metric: MetricLike,
    query: Query | Study | str,
    embedding: EmbeddingLike,
    *,
    nulls: str | Sequence[str] | None = None,
    draws: int = 10_000,
    replace: Replace = "attributes",
    nearest: int | None = 100,
    pool: str | Iterable[str] | None = None,
    frequencies: Frequencies = "rank",
    sd: float | None = None,
    matching: Matching | None = None,
    seed: Seed = 0,
) -> NullDistribution:
    """Compute what a metric says where there is no bias, and where the observed value falls.

    A value is evidence only if it would be unusual without bias. There are three ways to have none:

    - ``splits``: the target words are divided into two lists of the same lengths in all other
      ways, or in many at random. There is then no difference between the lists, and the rest is as
      it was. This is the null of a permutation test.
    - ``words``: random words of the same frequency take the place of the listed attributes (or
      targets). They were not chosen to be stereotypes of anything.
    - ``simulated``: the cosines are independent and normal with mean 0, as if all words were
      unrelated. This is the null model of Dobrzeniecka & Urbaniak (2024).

    Parameters
    ----------
    metric : str, Metric class or Metric
        The metric: a name in `METRICS`, a class, or an instance with its options.
    query : Query, Study or str
        The question, or the name of one. A study is the question of its groups and stereotypes.
    embedding : Embedding or str
        Where the vectors are from.
    nulls : str or sequence of str, optional
        Which nulls; by default all three, those that the metric has.
    draws : int, default 10,000
        How many values are drawn of each null. Splits are all enumerated if there are at most
        1,000,000 (for metrics that take no weights, at most this number): 12,870 for 8 + 8 words.
    replace : {"attributes", "targets", "both"}, default "attributes"
        Which lists random words take the place of. By the convention of all metrics here, targets
        are the groups, and attributes the words whose closeness to the groups is looked at.
    nearest : int, optional
        A word is replaced by one of this many words, the nearest in frequency, by default 100 (or
        as many as there are listed words). None takes any word, whatever its frequency.
    pool : str or iterable of str, optional
        Where random words are from: words, or the name of a built-in list such as
        ``"controls:neutral_2"``. By default all words of the embedding that are plain letters in
        lower case and not in a published list.
    frequencies : str, path-like, DataFrame, mapping or corpus, default "rank"
        How frequent words are: ``rank`` takes the embedding's order, which must be by frequency;
        others as in `distance_table`.
    sd : float, optional
        The standard deviation of simulated cosines; by default that of the observed ones. For
        metrics that need vectors, these are random in 1 / sd² dimensions, which gives such
        cosines.
    matching : Matching, optional
        How words are matched with the vocabulary; by default as the embedding says.
    seed : int or Generator, default 0
        Same seed, same result.

    Returns
    -------
    NullDistribution
        The values without bias, and the percentile and p-value of the observed one.

    Raises
    ------
    SpecError
        If the query does not fit the metric, there is no value, or the metric does not have a null
        that was asked for by name.
    DataError
        If there are too few words to draw from.

    Notes
    -----
    The p-value is two-sided: twice the smaller tail, as in SciPy's ``permutation_test``. For target
    lists of equal length, whose splits are symmetric, this equals the two-sided p-value of
    `Measurement.permutation_test`. It is one-sided for metrics that cannot fall below (or above)
    their neutral value. If values are drawn and not enumerated, the observed one is counted in.

    References
    ----------
    Dobrzeniecka, Urbaniak (2024), doi:10.1162/coli_a_00507.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.null_distribution("mac", "religion", bb.load_embedding("demo"), draws=2000)
    >>> print(found.summary())
    mac of 'jew, christian and muslim wrt ...' in demo is 0.868; the nominal value without bias
    is 1.
    - words (random words of the same frequency; 2,000): mean 0.912, 89% of the values from 0.861
    to 0.962; the observed value is at percentile 7.8, p = 0.16.
    - simulated (simulated cosines of words that are all unrelated; 2,000): mean 1.000, ...
    - splits: none; splits need two target sets.
    Note: random words are up to 3 times as frequent, or as rare, as the words they replace.
    """
    [chosen] = as_metrics(metric)
    names = _chosen(nulls)
    at_least("draws", draws, 2)
    one_of("replace", replace, get_args(Replace))
    if nearest is not None:
        at_least("nearest", nearest, 1)
    if sd is not None:
        positive("sd", sd)
    embedding = as_embedding(embedding)
    asked = load_question(query) if isinstance(query, str) else query
    if isinstance(asked, Study):
        asked = study_query(chosen, asked)
    measurement = chosen.on(asked, embedding, matching=matching, seed=as_seed(seed))
    if measurement.reason is not None:
        raise SpecError(f"there is no value to compare: {measurement.reason}.")
    sources = {
        "splits": lambda: measurement.split_values(iterations=draws),
        "words": lambda: _words(
            measurement,
            embedding,
            draws,
            replace,
            nearest=nearest,
            pool=pool,
            frequencies=frequencies,
            matching=matching,
        ),
        "simulated": lambda: _simulated(measurement, draws, sd),
    }
    found: dict[str, NullDraws] = {}
    skipped: dict[str, str] = {}
    notes: list[str] = []
    for name in names:
        result = sources[name]()
        if result.reason is not None:
            if nulls is not None:
                raise SpecError(f"{name!r} is not a null of {chosen.name!r}: {result.reason}.")
            skipped[name] = result.reason
            continue
        if result.note is not None:
            notes.append(result.note)
        defined = np.isfinite(result.draws)
        if not defined.all():
            lost = counted(int((~defined).sum()), "value")
            notes.append(f"{lost} of {name!r} are not defined and left out")
        found[name] = result._replace(draws=result.draws[defined])
    return NullDistribution(
        metric=chosen.name,
        query=asked.name,
        embedding=embedding.name,
        observed=measurement.value(),
        draws={name: result.draws for name, result in found.items()},
        exact={name: result.exact for name, result in found.items()},
        skipped=skipped,
        neutral_value=chosen.neutral_value,
        value_range=chosen.bounds(asked),
        notes=tuple(notes),
    )


def _chosen(nulls: str | Sequence[str] | None) -> tuple[str, ...]:
    if nulls is None:
        return NULLS
    given = (nulls,) if isinstance(nulls, str) else tuple(nulls)
    if not given:
        raise SpecError(f"'nulls' is empty; expected some of {quoted(NULLS)}.")
    return tuple(dict.fromkeys(one_of("nulls", name, NULLS) for name in given))


def _words(
    measurement: Measurement,
    embedding: Embedding,
    draws: int,
    replaced: Replace,
    *,
    nearest: int | None,
    pool: str | Iterable[str] | None,
    frequencies: Frequencies,
    matching: Matching | None,
) -> NullDraws:
    """Return the values with random words in place of some lists."""
    if measurement.metric.whole_embedding:
        return NullDraws(reason=_WHOLE_EMBEDDING)
    if measurement.metric.paired and replaced != "attributes":
        return NullDraws(reason="the target words are pairs, which random words do not make")
    sets = measurement.words.sets
    n_targets = len(measurement.words.targets)
    places = [
        i
        for i in range(len(sets))
        if replaced == "both" or (i < n_targets) == (replaced == "targets")
    ]
    candidates = random_words(
        embedding,
        [sets[i] for i in places],
        np.concatenate([words.rows for words in sets]).tolist(),
        nearest=nearest,
        pool=pool,
        frequencies=frequencies,
        matching=matching,
        language=measurement.query.language,
    )
    rng = _generator(measurement, "words")
    chosen = candidates.draw(draws, rng)
    ends = np.cumsum([len(sets[i]) for i in places])
    new_sets, columns = list(sets), {}
    for i, part in zip(places, np.split(chosen, ends[:-1], axis=1), strict=True):
        # Only the words that this list may have; the weights of a draw have a place for each.
        kept = np.unique(part)
        new_sets[i] = vectors_of(embedding, candidates.rows[kept], sets[i].name)
        columns[i] = np.searchsorted(kept, part)
    random = replace(
        measurement,
        words=replace(
            measurement.words,
            targets=tuple(new_sets[:n_targets]),
            attributes=tuple(new_sets[n_targets:]),
        ),
    )
    parts = []
    for some in blocks(draws, sum(len(new_sets[i]) for i in places)):
        weights = ones(new_sets)
        for i, column in columns.items():
            weights[i] = np.zeros((some.stop - some.start, len(new_sets[i])))
            np.put_along_axis(weights[i], column[some], 1.0, axis=1)
        parts.append(random.evaluate(weights))
    note = None
    if candidates.gap > np.log(_FACTOR):
        note = (
            f"random words are up to {np.exp(candidates.gap):.0f} times as frequent, or as rare, "
            "as the words they replace"
        )
    return NullDraws(np.concatenate(parts), note=note)


def _simulated(measurement: Measurement, draws: int, sd: float | None) -> NullDraws:
    """Return the values of words that are all unrelated."""
    if measurement.metric.whole_embedding:
        return NullDraws(reason=_WHOLE_EMBEDDING)
    targets, attributes = measurement.words.targets, measurement.words.attributes
    if sd is None:
        observed = [cosines(t, a).ravel() for t in targets for a in attributes]
        sd = float(np.concatenate(observed).std()) if observed else 0.0
        if not sd > 0:
            return NullDraws(reason="the cosines do not vary; give their standard deviation, sd")
    metric, rng = measurement.metric, _generator(measurement, "simulated")
    if not metric.takes_cosines:
        dim = max(2, round(1 / sd**2))
        return NullDraws(_of_random_vectors(measurement, draws, dim, rng))
    numbers = sum(len(t) * len(a) for t in targets for a in attributes)
    parts = []
    for some in blocks(draws, numbers):
        n = some.stop - some.start
        drawn = [[rng.normal(0, sd, (n, len(t), len(a))) for a in attributes] for t in targets]
        parts.append(metric.from_cosines(drawn))
    return NullDraws(np.concatenate(parts))


def _of_random_vectors(
    measurement: Measurement, draws: int, dim: int, rng: np.random.Generator
) -> Array:
    sets = measurement.words.sets
    n_targets = len(measurement.words.targets)
    values = np.empty(draws)
    for draw in range(draws):
        random = [
            WordVectors(words.name, words.words, rng.normal(size=(len(words), dim)))
            for words in sets
        ]
        values[draw] = measurement.metric.value(random[:n_targets], random[n_targets:])
    return values


def _generator(measurement: Measurement, null: str) -> np.random.Generator:
    """Return a generator that depends on the seed, the null and the words."""
    words = (word for words in measurement.words.sets for word in ("", *words.words))
    return generator_for(measurement.seed, (null, *words))


def _percentile(value: float) -> str:
    """Return a percentile that is 0 or 100 only if there is nothing below or above it."""
    for digits in (1, 2, 3):
        text = f"{value:.{digits}f}"
        if float(text) not in (0, 100):
            return text
    return f"{value:.3g}"
