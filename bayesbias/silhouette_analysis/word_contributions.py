"""Which words matter: what each adds on its way into growing lists, and what is lost without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array, Codes
from bayesbias.metrics.weighting import ones
from bayesbias.silhouette_analysis.silhouette_runs import Growing

# Numbers in the weights that leave words out, handled at once.
_BLOCK = 4_000_000


def influence(growing: Growing, values: Array) -> pd.DataFrame:
    """Return one row a word (or pair): what it adds, with its error, and the value without it."""
    found = growing.found
    paired = growing.metric.paired and 0 in growing.places
    if paired:  # the second word of a pair comes in with the first
        growing = replace(
            growing, places=(0,), orders=growing.orders[:1], counts=growing.counts[:, :1]
        )
    told = _contributions(values, growing.orders, growing.counts)
    frames = []
    for place, (mean, error, runs) in zip(growing.places, told, strict=True):
        words, label = found.sets[place].words, found.labels[place]
        if paired:
            first, second = found.targets
            words = tuple(map(" – ".join, zip(first.words, second.words, strict=True)))
            label = f"target: {first.name} – {second.name}"
        without = _without_each(growing, place, also=1 if paired else place)
        frame = {
            "word_set": label,
            "word": words,
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
        told = came_in > 0
        runs: Codes = told.sum(axis=0)
        own = np.where(told, np.take_along_axis(credit, came_in, axis=1), 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):  # words that hardly any run tells of
            mean = own.sum(axis=0) / runs
            squares = np.where(told, (own - mean) ** 2, 0.0).sum(axis=0)
            yield mean, np.sqrt(squares / (runs - 1) / runs), runs


def _without_each(growing: Growing, place: int, also: int) -> Array:
    """Return the value of the complete lists without each word of one, and that in its place."""
    found = growing.found
    n = len(found.sets[place])
    step = max(1, _BLOCK // n)
    parts = []
    for first in range(0, n, step):
        rows = np.arange(first, min(first + step, n))
        weights = ones(found.sets)
        weights[place] = weights[also] = 1.0 - (rows[:, None] == np.arange(n))
        parts.append(growing.metric._evaluate(found.targets, found.attributes, weights))
    return np.concatenate(parts)
