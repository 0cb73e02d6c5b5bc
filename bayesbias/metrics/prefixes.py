"""Weights of growing subsets: sums over them are cumulative sums."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from bayesbias._core.array_types import Array, Codes


class Prefixes(NDArrayOperatorsMixin):
    """Weights 0 and 1, draws × words: draw i counts the first ``counts[i]`` words of an order.

    It acts like the array it stands for, and becomes that array wherever one is needed. Its sums
    and products with a matrix need none: they are cumulative sums, taken at the counts.

    Parameters
    ----------
    order : ndarray of int
        The places of the words, in the order in which they come in.
    counts : ndarray of int
        How many words each draw counts.
    divisor : ndarray of shape (draws, 1), optional
        What the weights of each draw are divided by.
    """

    def __init__(self, order: Codes, counts: Codes, divisor: Array | None = None) -> None:
        self.order, self.counts = order, counts
        self.divisor: Array = np.ones((len(counts), 1)) if divisor is None else divisor

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of draws and words."""
        return len(self.counts), len(self.order)

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return Prefixes(self.order, self.counts[key], self.divisor[key])
        return np.asarray(self)[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copying and pickling ask for is asked of this object
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(self.order))
        dense: Array = (place < self.counts[:, None]) / self.divisor
        return dense if dtype is None else dense.astype(dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and inputs[0] is self and not kwargs:
            other: Any = inputs[1] if len(inputs) == 2 else None
            if ufunc is np.matmul and isinstance(other, np.ndarray) and other.ndim < 3:
                return self._times(other)
            if ufunc is np.true_divide and np.shape(other) == self.divisor.shape:
                return Prefixes(self.order, self.counts, self.divisor * other)
        if any(x is self for x in kwargs.get("out", ())):  # w *= 2 names the result anew
            del kwargs["out"]
        dense = [np.asarray(x) if isinstance(x, Prefixes) else x for x in inputs]
        return getattr(ufunc, method)(*dense, **kwargs)

    def sum(self, axis: int | None = None, keepdims: bool = False, **options: Any) -> Any:
        """Return the sum of the weights, as an array does."""
        if axis != 1 or any(option is not None for option in options.values()):
            return np.asarray(self).sum(axis=axis, keepdims=keepdims, **options)
        total = self.counts[:, None] / self.divisor
        return total if keepdims else total[:, 0]

    def _times(self, matrix: npt.NDArray[Any]) -> Array:
        """Return the sum of the rows that each draw counts."""
        used = self.order[: self.counts.max(initial=0)]
        sums = np.zeros((len(used) + 1, *matrix.shape[1:]))
        np.cumsum(matrix[used], axis=0, out=sums[1:])
        divisor = self.divisor if matrix.ndim > 1 else self.divisor[:, 0]
        result: Array = sums[self.counts] / divisor
        return result


def prefixes(order: Codes, counts: Codes) -> Array:
    """Return weights of growing subsets, for what takes an array of weights."""
    return cast("Array", Prefixes(order, counts))


def growing(weights: Array) -> bool:
    """Tell whether each draw of the weights counts the words of the one before."""
    return isinstance(weights, Prefixes)


def number_counted(weights: Array) -> Codes:
    """Return how many words each draw of weights counts at all."""
    if isinstance(weights, Prefixes):
        return weights.counts
    result: Codes = np.count_nonzero(weights, axis=1)
    return result
