"""GloVe: word vectors whose products are the logarithms of co-occurrence counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numba
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_Array: TypeAlias = npt.NDArray[np.float32]
# The vectors and biases of all words, and the sums of squares of their gradients.
_Side: TypeAlias = tuple[_Array, _Array, _Array, _Array]
# Row, column, logarithm and weight of each pair.
_Pairs: TypeAlias = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], _Array, _Array]


def glove_vectors(
    counts: csr_array[Any],
    *,
    dim: int,
    epochs: int,
    x_max: float,
    alpha: float,
    learning_rate: float,
    seed: int,
    advance: Callable[[float], None],
) -> _Array:
    """Return the sum of word and context vectors, after stochastic AdaGrad over all pairs.

    Parameters
    ----------
    counts : sparse array
        How often each word stands near each other.
    dim, epochs : int
        The number of dimensions, and of passes through the pairs.
    x_max, alpha : float
        The weight of a pair is (count / x_max) ** alpha, at most 1.
    learning_rate : float
        The length of the first steps.
    seed : int
        Draws the start and the order of the pairs.
    advance : callable
        Called with the number of pairs after each pass.
    """
    rng = np.random.default_rng(seed)
    cells = counts.tocoo()
    pairs = (
        cells.row.astype(np.int32),
        cells.col.astype(np.int32),
        np.log(cells.data).astype(np.float32),
        np.minimum((cells.data / x_max) ** alpha, 1.0).astype(np.float32),
    )
    word, context = (_start(counts.shape[0], dim, rng) for _ in range(2))
    for _ in range(epochs):
        run_epoch(pairs, rng.permutation(cells.nnz), word, context, np.float32(learning_rate))
        advance(cells.nnz)
    return word[0] + context[0]


def _start(size: int, dim: int, rng: np.random.Generator) -> _Side:
    """Return small random vectors and biases; the sums of squares begin at 1."""
    vectors = ((rng.random((size, dim)) - 0.5) / dim).astype(np.float32)
    biases = ((rng.random(size) - 0.5) / dim).astype(np.float32)
    return vectors, biases, np.ones_like(vectors), np.ones_like(biases)


def _run_epoch(
    pairs: _Pairs, order: npt.NDArray[np.int64], word: _Side, context: _Side, rate: np.float32
) -> float:
    """Go through the pairs once, changing both sides; return the mean weighted squared error."""
    rows, columns, logs, weights = pairs
    vectors, biases, squares, bias_squares = word
    vectors_c, biases_c, squares_c, bias_squares_c = context
    dim = vectors.shape[1]
    cost = 0.0
    for place in order:
        i, j = rows[place], columns[place]
        product = np.float32(0)
        for k in range(dim):
            product += vectors[i, k] * vectors_c[j, k]
        error = product + biases[i] + biases_c[j] - logs[place]
        step = weights[place] * error
        cost += 0.5 * step * error
        for k in range(dim):
            gradient, gradient_c = step * vectors_c[j, k], step * vectors[i, k]
            vectors[i, k] -= rate * gradient / np.sqrt(squares[i, k])
            vectors_c[j, k] -= rate * gradient_c / np.sqrt(squares_c[j, k])
            squares[i, k] += gradient * gradient
            squares_c[j, k] += gradient_c * gradient_c
        biases[i] -= rate * step / np.sqrt(bias_squares[i])
        biases_c[j] -= rate * step / np.sqrt(bias_squares_c[j])
        bias_squares[i] += step * step
        bias_squares_c[j] += step * step
    return cost / len(order)


#: `_run_epoch` as machine code. Each step depends on the one before, so that arrays do not help.
run_epoch = numba.njit(cache=True, fastmath=True, error_model="numpy")(_run_epoch)
