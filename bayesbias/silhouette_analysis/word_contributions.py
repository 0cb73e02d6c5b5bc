"""Which words matter: what each adds on its way into growing lists, and what is lost without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array, Codes
from bayesbias.silhouette_analysis.silhouette_runs import Growing


def influence(growing: Growing, values: Array) -> pd.DataFrame:
    """Return one row per word (or pair): what it adds, with its error, and the value without it."""
    measurement = growing.measurement
    if measurement.metric.paired and 0 in growing.places:
        # The second word of a pair comes in with the first.
        growing = replace(
            growing, places=(0,), orders=growing.orders[:1], counts=growing.counts[:, :1]
        )
    contributions = _contributions(values, growing.orders, growing.counts)
    frames = []
    for place, (mean, error, runs) in zip(growing.places, contributions, strict=True):
        without = measurement.without_each(place)
        frame = {
            "word_set": measurement.label(place),
            "word": measurement.words_at(place),
            "contribution": mean,
            "standard_error": error,
            "runs": runs,
            "value_without": without,
            "influence": values[0, -1] - without,
        }
        frames.append(pd.DataFrame(frame))
    return pd.concat(frames, ignore_index=True)


def _contributions(
    values: Array, orders: Sequence[Codes], counts: Codes
) -> Iterator[tuple[Array, Array, Codes]]:
    """Yield, for each list, the mean contribution of its words, its standard error, and its runs.

    Words come in several at a time. What a step adds beyond the average of all runs is put down to
    each of its words, as the others are a random choice; the average is shared equally. Runs that
    start with a word say nothing of it.
    """
    steps = np.diff(values, axis=1)
    together = np.diff(counts.sum(axis=1))
    average = steps.mean(axis=0)
    credit = np.pad(steps - average + average / together, ((0, 0), (1, 0)))
    for order, grown in zip(orders, counts.T, strict=True):
        came_in = np.searchsorted(grown, np.argsort(order, axis=1), side="right")
        joined = came_in > 0
        runs: Codes = joined.sum(axis=0)
        of_word = np.where(joined, np.take_along_axis(credit, came_in, axis=1), 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):  # words that hardly any run adds
            mean = of_word.sum(axis=0) / runs
            squares = np.where(joined, (of_word - mean) ** 2, 0.0).sum(axis=0)
            yield mean, np.sqrt(squares / (runs - 1) / runs), runs
