"""Nested random subsets of word lists: how many words at each size, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from bayesbias._core.array_types import Codes
from bayesbias._core.random import generator_for

Growth: TypeAlias = Literal["proportional", "prefix"]


def counts(lengths: Sequence[int], *, start: int, step: int, growth: Growth) -> Codes:
    """Return how many words of each list every subset has, sizes × lists; at last all of them.

    The first subset has `start` words of each list, and each further one `step` more for each.
    ``prefix`` takes these from every list until it runs out. ``proportional`` deals the same
    number out so that every list has about the same share of its words in.
    """
    goal = np.array(lengths, dtype=np.intp)
    if growth == "prefix":
        steps = -(-(goal.max() - start) // step)
        grown: Codes = np.minimum(start + step * np.arange(steps + 1)[:, None], goal)
        return grown
    # A word comes in when the share of its list reaches the middle of its own part of it.
    times = np.concatenate([(np.arange(start, n) + 0.5) / n for n in lengths])
    owner = np.repeat(np.arange(len(lengths)), goal - start)[np.argsort(times, kind="stable")]
    came_in = np.cumsum(owner[:, None] == np.arange(len(lengths)), axis=0)
    ends = np.arange(len(lengths) * step, len(owner), len(lengths) * step)
    grown = start + np.vstack([0 * goal, came_in[ends - 1], came_in[-1:]])
    return grown


def orders(words: Sequence[str], places: Codes, runs: int, seed: int) -> Codes:
    """Return the order in which the words of a list come in, runs × words.

    It depends on the list and the seed only: the same words come in in the same order in every
    embedding, whichever other words it lacks, and more runs leave the first as they are. `places`
    are those of the words that are there; the result refers to them.
    """
    rng = generator_for(seed, words)
    kept = np.full(len(words), -1, dtype=np.intp)
    kept[places] = np.arange(len(places))
    shuffled = np.array([kept[rng.permutation(len(words))] for _ in range(runs)])
    return shuffled[shuffled >= 0].reshape(runs, len(places))
