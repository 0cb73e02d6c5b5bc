"""Subsets of word sets that grow: each holds the words of the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias.metrics.query_vectors import WordVectors


@dataclass(frozen=True, eq=False)
class NestedSubsets:
    """Growing parts of some word sets of a query; the other sets are complete.

    Parameters
    ----------
    orders : mapping of int to ndarray of int
        By the place of a set among the targets and then the attributes, the order in which its
        words come in.
    counts : mapping of int to ndarray of int
        By the place of a set, how many of its words are in at each size.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesbias as bb
    >>> subsets = bb.metrics.NestedSubsets({0: np.array([2, 0, 1])}, {0: np.array([1, 2])})
    >>> subsets.means(0, np.array([[3.0], [6.0], [9.0]]))
    array([[9.],
           [6.]])
    """

    orders: Mapping[int, Codes]
    counts: Mapping[int, Codes]

    def __len__(self) -> int:
        return len(next(iter(self.counts.values())))

    def part(self, sizes: slice) -> NestedSubsets:
        """Return the subsets of these sizes only.

        Parameters
        ----------
        sizes : slice
            The sizes.

        Returns
        -------
        NestedSubsets
            The same orders with fewer sizes.
        """
        return NestedSubsets(
            self.orders, {place: counts[sizes] for place, counts in self.counts.items()}
        )

    def weights(self, sets: Sequence[WordVectors]) -> list[Array]:
        """Return the subsets as weights of the words, as `Metric.weighted` takes them.

        Parameters
        ----------
        sets : sequence of WordVectors
            The target sets and then the attribute sets; the last may be left out.

        Returns
        -------
        list of ndarray
            For each set 1 for the words that are in and 0 for the others, sizes × words; one row
            for a set that does not grow.
        """
        result: list[Array] = []
        for place, words in enumerate(sets):
            if place not in self.orders:
                result.append(np.ones((1, len(words))))
                continue
            order = self.orders[place]
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            result.append((rank < self.counts[place][:, None]).astype(np.float64))
        return result

    def means(self, place: int, matrix: Array) -> Array:
        """Return the mean of the rows of a matrix over the words that are in, at each size.

        These are cumulative sums: for lists of thousands of words much faster than weights.

        Parameters
        ----------
        place : int
            The place of the set.
        matrix : ndarray of shape (n_words, n)
            One row per word of the set.

        Returns
        -------
        ndarray of shape (sizes, n)
            The means; one row for a set that does not grow.
        """
        if place not in self.orders:
            whole: Array = matrix.mean(axis=0, keepdims=True)
            return whole
        counts = self.counts[place]
        words_in = self.orders[place][: counts.max()]
        result: Array = np.cumsum(matrix[words_in], axis=0)[counts - 1] / counts[:, None]
        return result
