"""Silhouettes of random lists: how robust lists of the same lengths are by chance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.random import generator_for
from bayesbias._core.wording import counted
from bayesbias.embeddings import Embedding, Matching
from bayesbias.errors import BayesBiasError, DataError, SpecError
from bayesbias.rankings import random_words, vectors_of
from bayesbias.silhouette_analysis.robustness import min_max, share_of
from bayesbias.silhouette_analysis.silhouette_runs import Growing, measure_lists
from bayesbias.wordlists import Frequencies

#: The number of random lists, where it is not given: at most one of them may be as robust as the
#: observed list if that is to be unusual.
NUMBER = 39
#: The fewest random lists of which one can be unusual: it is then above all of them.
FEWEST = 19
# Lists are more robust than random ones if chance alone would say so this often.
_LEVEL = 0.05
# Longer lists are compared only if that is asked for: it takes 39 times as long.
_LONG = 500
# A word is replaced by one of this many, the nearest in frequency.
_NEAREST = 100
# Random lists that share most of their words are one list: there are this many times the words.
_TIMES = 5
# Robustness that differs by less is the same.
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class RandomLists:
    """How robust random lists are in an embedding, of the same lengths and about as frequent."""

    #: The robustness of each random list.
    robustness: Array
    #: The smallest and the largest value of the runs at each size, averages over the lists. The
    #: area between them is that of the average robustness.
    low: Array
    high: Array

    def percentile(self, observed: float) -> float:
        """Return the per cent of random lists that are less robust, ties half."""
        below = (self.robustness < observed - _TIE).mean()
        above = (self.robustness > observed + _TIE).mean()
        return float(50 * (1 + below - above))

    def p_value(self, observed: float) -> float:
        """Return how often a list is as robust by chance, the observed one counted in."""
        as_robust = int((self.robustness >= observed - _TIE).sum())
        return (1 + as_robust) / (1 + len(self.robustness))

    def exceeded_by(self, observed: float) -> bool:
        """Tell whether a list is more robust than all but 5% of random lists."""
        return self.p_value(observed) <= _LEVEL


@dataclass(frozen=True)
class Comparison:
    """Which random lists there are to be, and how they are measured."""

    #: How many; None for the default, where it costs little.
    number: int | None
    frequencies: Frequencies
    matching: Matching | None
    normalize: bool
    n_jobs: int
    progress: bool
    folder: Path | None

    def of(
        self, growing: Growing, embedding: Embedding, sizes: Codes, width: float
    ) -> RandomLists | str:
        """Return random lists in place of those that grow, or why there are none."""
        if self.number == 0:
            return "chance=0"
        if self.number is not None:
            return self._measured(growing, embedding, sizes, width, self.number)
        metric = growing.measurement.metric
        if metric.costly or not metric.takes_weights or sizes[-1] > _LONG:
            return f"it would take long; chance={NUMBER} does it"
        if len(embedding) < _TIMES * sizes[-1]:
            return "there are too few other words to draw from"
        try:
            with warnings.catch_warnings():
                # That the order of a vocabulary cannot be checked matters to who asked for it.
                warnings.simplefilter("ignore")
                return self._measured(growing, embedding, sizes, width, NUMBER)
        except BayesBiasError as err:
            return str(err).removesuffix(".")

    def _measured(
        self, growing: Growing, embedding: Embedding, sizes: Codes, width: float, number: int
    ) -> RandomLists:
        lists = _drawn(growing, embedding, self, number)
        last = np.array([each.measurement.value() for each in lists])
        options = {"n_jobs": self.n_jobs, "progress": self.progress, "folder": self.folder}
        grown = np.array(measure_lists(lists, **options))  # type: ignore[arg-type]
        ends = np.broadcast_to(last[:, None, None], (*grown.shape[:2], 1))
        values = np.concatenate([grown, ends], axis=2)
        values = values[np.isfinite(values).all(axis=(1, 2))]
        if len(values) < FEWEST:
            raise DataError(
                f"{growing.measurement.metric.name} has values for {len(values)} of {number} "
                f"random lists in embedding {embedding.name!r}, and {FEWEST} are needed; use "
                "chance=0 to do without."
            )
        low, high = min_max(values)
        return RandomLists(
            1 - share_of(high - low, sizes, width), low.mean(axis=0), high.mean(axis=0)
        )


def check_random_lists(number: int | None, *, paired: bool, whole_embedding: bool) -> None:
    """Refuse random lists that there cannot be, where they are asked for."""
    if number is None or (number == 0 and not isinstance(number, bool)):
        return
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < FEWEST:
        raise SpecError(
            f"'chance' is {number!r}; expected a number of random lists, {FEWEST} or more, or 0 "
            "for none: with fewer, nothing is unusual at the 5% level."
        )
    reason = _without(paired=paired, whole_embedding=whole_embedding)
    if reason is not None:
        raise SpecError(f"'chance' is {number!r}, but {reason}; use chance=0.")


def _without(*, paired: bool, whole_embedding: bool) -> str | None:
    """Return why a metric has no random lists, if so."""
    if whole_embedding:
        return "the metric also takes words from the rest of the embedding"
    return "the words are pairs, which random words do not make" if paired else None


def _drawn(growing: Growing, embedding: Embedding, how: Comparison, number: int) -> list[Growing]:
    """Return the lists with random words in place of those that grow, in the same orders."""
    measurement = growing.measurement
    metric, sets = measurement.metric, measurement.words.sets
    paired = metric.paired and 0 in growing.places
    reason = _without(paired=paired, whole_embedding=metric.whole_embedding)
    if reason is not None:
        raise SpecError(reason)
    replaced = [sets[i] for i in growing.places]
    lengths = [len(words) for words in replaced]
    used = np.concatenate([words.rows for words in sets]).tolist()
    _check_vocabulary(embedding, len(embedding) - len(set(used)), sum(lengths))
    candidates = random_words(
        embedding,
        replaced,
        used,
        nearest=_NEAREST,
        pool=None,
        frequencies=how.frequencies,
        matching=how.matching,
        language=measurement.query.language,
    )
    _check_vocabulary(embedding, len(candidates.rows), sum(lengths))
    words = [word for each in replaced for word in each.words]
    rng = generator_for(measurement.seed, ["random lists", *words])
    chosen = candidates.rows[candidates.draw(number, rng)]
    ends = np.cumsum(lengths)[:-1]
    return [
        _with(growing, embedding, np.split(rows, ends), normalize=how.normalize) for rows in chosen
    ]


def _check_vocabulary(embedding: Embedding, number: int, needed: int) -> None:
    """Refuse to draw lists from so few words that they would share most of them."""
    if number < _TIMES * needed:
        raise DataError(
            f"embedding {embedding.name!r} has {counted(number, 'word')} to draw lists of {needed} "
            f"words from, and {_TIMES * needed} are needed; use an embedding with its whole "
            "vocabulary, or chance=0 to do without random lists."
        )


def _with(
    growing: Growing, embedding: Embedding, rows: Sequence[Codes], *, normalize: bool
) -> Growing:
    """Return the lists with words of these rows in place of those that grow."""
    measurement = growing.measurement
    sets, n_targets = list(measurement.words.sets), len(measurement.words.targets)
    for place, some in zip(growing.places, rows, strict=True):
        sets[place] = vectors_of(embedding, some, sets[place].name, normalize=normalize)
    words = replace(
        measurement.words, targets=tuple(sets[:n_targets]), attributes=tuple(sets[n_targets:])
    )
    return replace(growing, measurement=replace(measurement, words=words))
