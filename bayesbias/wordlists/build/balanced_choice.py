"""Choosing a number of words of each group, the same from each class if there are classes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.array_types import Codes

if TYPE_CHECKING:
    import pandas as pd


# How many calipers the differences of all pairs may add up to.
_SLACK = 5


def shares(size: int, available: Sequence[int]) -> list[int]:
    """Share a number out equally; what a class cannot supply is shared out over the others.

    What does not divide evenly goes to the first classes that have more to give.
    """
    given = [0] * len(available)
    left = size
    while left:
        able = [i for i, number in enumerate(available) if number > given[i]]
        if not able:
            break
        # A round goes no further than the scarcest class, so that the next round shares anew.
        each = min(max(left // len(able), 1), *(available[i] - given[i] for i in able))
        for i in able[: left // each]:
            given[i] += each
            left -= each
    return given


def take(
    candidates: pd.DataFrame,
    groups: Sequence[str],
    size: int,
    column: str,
    classes: Sequence[str],
    caliper: float | None,
) -> pd.DataFrame:
    """Return the first `size` candidates of each group, the same number of each class, if any.

    With a caliper the groups get words in pairs (or triples …) of about the same frequency, and
    the result tells them by numbers in the column ``pair``.
    """
    import pandas as pd

    parts = [candidates[candidates[column] == name] for name in classes] or [candidates]
    if caliper is not None:
        tuples = [matched(part, groups, caliper) for part in parts]
        counts = shares(size, [len(rows_of) for rows_of in tuples])
        rows = np.concatenate([rows_of[:n] for rows_of, n in zip(tuples, counts, strict=True)])
        chosen = candidates.loc[rows.T.ravel()].copy()
        chosen["pair"] = np.tile(np.arange(1, len(rows) + 1), len(groups))
        return chosen
    chosen_parts = []
    for group in groups:
        pools = [part[part["group"] == group] for part in parts]
        counts = shares(size, [len(pool) for pool in pools])
        chosen_parts += [pool.head(n) for pool, n in zip(pools, counts, strict=True)]
    return pd.concat(chosen_parts)


def matched(candidates: pd.DataFrame, groups: Sequence[str], caliper: float) -> Codes:
    """Return tuples × groups: labels of candidates whose log frequencies differ little.

    The words of the smallest group, the most frequent first, each look for a partner in every
    other group that differs by no more than the caliper. They take the one that best makes up for
    the differences so far, and none if these would add up to more than five calipers. So the means
    of n pairs differ by no more than 5/n calipers, even where one group has many more frequent
    words than another; to the nearest word alone they would differ by up to a whole caliper.
    """
    pools = [candidates[candidates["group"] == group] for group in groups]
    anchor = min(range(len(groups)), key=lambda i: len(pools[i]))
    partners = {
        i: _Partners(pool["log_frequency"].tolist(), pool.index.tolist(), caliper)
        for i, pool in enumerate(pools)
        if i != anchor
    }
    tuples = []
    for label, value in pools[anchor]["log_frequency"].items():
        places = {i: pool.place(value) for i, pool in partners.items()}
        near = {i: place for i, place in places.items() if place is not None}
        if len(near) == len(partners):
            row = [label] * len(groups)
            for i, place in near.items():
                row[i] = partners[i].take(place, value)
            tuples.append(row)
    return np.array(tuples, dtype=np.intp).reshape(-1, len(groups))


class _Partners:
    """The words of a group that are left, and by how much those taken differ from their partners.

    Parameters
    ----------
    values, labels : list
        Log frequencies, the highest first, and the words they belong to.
    caliper : float
        The most that a word may differ from its partner.
    """

    def __init__(self, values: list[float], labels: list[int], caliper: float) -> None:
        self._values, self._labels = values[::-1], labels[::-1]  # ascending, for bisection
        self._caliper = caliper
        self._sum = 0.0

    def place(self, value: float) -> int | None:
        """Return the place of the word that best makes up for the differences so far, if any."""
        wanted = value - min(max(self._sum, -self._caliper), self._caliper)
        right = bisect_left(self._values, wanted)
        near = [
            place
            for place in (right, right - 1)
            if 0 <= place < len(self._values)
            and abs(self._values[place] - value) <= self._caliper
            and abs(self._sum + self._values[place] - value) <= _SLACK * self._caliper
        ]
        return min(near, key=lambda place: abs(self._values[place] - wanted), default=None)

    def take(self, place: int, value: float) -> int:
        """Take a word away, and return its label."""
        self._sum += self._values.pop(place) - value
        return self._labels.pop(place)
