"""Logistic regression with a ridge penalty, for many weightings of the same rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from bayesbias._core.array_types import Array, Codes

# What only has to point the right way is computed in single precision, which is twice as fast.
Single = npt.NDArray[np.float32]

# A fit ends when its distance from the optimum, in units of the curvature, is below the precision.
_PRECISE, _ROUGH = 1e-9, 1e-2
# Share of the (squared) residual that conjugate gradients leave of a Newton equation.
_LEFT = 1e-3
# Numbers in the arrays of draws × rows that are handled at once.
_BLOCK = 1_000_000
# Draws that count up to this times as many rows are fitted together, from the same start.
_GROWTH = 1.1
# Single precision may never get as near as asked.
_MOST_STEPS = {np.dtype(np.float32): 20, np.dtype(np.float64): 100}
# The products are many and small: on a busy machine threads would wait for each other much longer
# than one of them takes.
_BLAS = ThreadpoolController()


class Classifier:
    """Logistic regression that tells positive from negative vectors.

    Its coefficients minimise ``|b|²/2 + Σ wᵢ log(1 + exp(−yᵢ b·xᵢ))`` where y is 1 or −1 and each x
    ends with a 1, so that the intercept is penalised too: the objective of scikit-learn's
    ``LogisticRegression(solver="liblinear", C=1)``, but with its optimum to nine digits.

    Parameters
    ----------
    positive, negative : ndarray of shape (n_words, dim)
        The vectors of the two classes.
    """

    def __init__(self, positive: Array, negative: Array) -> None:
        self._rows = _signed(positive, negative)
        self._basis: Array | None = None
        with _BLAS.limit(limits=1, user_api="blas"):
            if len(self._rows) < self._rows.shape[1]:
                # The optimum lies in the span of the rows, so few rows need as few dimensions.
                self._basis, triangle = np.linalg.qr(self._rows.T)
                self._rows = np.ascontiguousarray(triangle.T)
            self._single: Single = self._rows.astype(np.float32)
            n, dims = self._rows.shape
            self._inverse = _inverse(self._single, np.full(n, 0.25))
            self._start: Array = np.zeros((1, dims))
            # Every draw starts where each word counts once, about.
            self._start = self._minimise(np.ones((1, n)), _ROUGH)
            wrong, _ = _evaluate(self._start, np.ones((1, n)), self._start @ self._rows.T)
            self._inverse = _inverse(self._single, (wrong * (1 - wrong))[0])

    def coefficients(self, weights: Array, precision: float = _PRECISE) -> Array:
        """Return the coefficients for each draw of weights, the intercept last.

        Parameters
        ----------
        weights : ndarray of shape (draws, n_positive + n_negative)
            How often each vector counts.
        precision : float
            How far from the optimum they may be, in units of the curvature.

        Returns
        -------
        ndarray of shape (draws, dim + 1)
            The coefficients of each draw.
        """
        step = max(1, _BLOCK // len(self._rows))
        blocks = (weights[i : i + step] for i in range(0, len(weights), step))
        with _BLAS.limit(limits=1, user_api="blas"):
            result = np.concatenate([self._minimise(w, precision) for w in blocks])
            return result if self._basis is None else result @ self._basis.T

    def growing(self, weights: Array, precision: float = _PRECISE) -> Array:
        """Return the coefficients for draws each of which counts the rows of the one before.

        Each starts near where the last ended, and rows that do not count yet are left alone.

        Parameters
        ----------
        weights : ndarray of shape (draws, n_positive + n_negative)
            How often each vector counts; once above 0, it stays so.
        precision : float
            How far from the optimum they may be, in units of the curvature.

        Returns
        -------
        ndarray of shape (draws, dim + 1)
            The coefficients of each draw.
        """
        counts = np.count_nonzero(weights, axis=1)
        result = np.empty((len(weights), self._rows.shape[1]))
        near: Array = np.zeros((1, self._rows.shape[1]))
        first = 0
        with _BLAS.limit(limits=1, user_api="blas"):
            while first < len(weights):
                end = max(first + 1, int(np.searchsorted(counts, _GROWTH * counts[first])))
                used = np.flatnonzero(weights[end - 1])
                rows, single = self._rows[used], self._single[used]
                block = weights[first:end, used]
                middle = block[len(block) // 2]
                wrong, _ = _evaluate(near, middle[None], near @ rows.T)
                inverse = _inverse(single, middle * (wrong * (1 - wrong))[0])
                near, _ = _descend(single, single, block, near, inverse, _ROUGH)
                minimum, lost = _descend(rows, single, block, near, inverse, precision)
                if len(lost):  # long vectors: what was near for fewer rows is far off for these
                    minimum[lost] = self._minimise(weights[first + lost], precision)
                result[first:end] = minimum
                near, first = minimum[-1:], end
            return result if self._basis is None else result @ self._basis.T

    def _minimise(self, weights: Array, precision: float) -> Array:
        single, inverse = self._single, self._inverse
        near, _ = _descend(single, single, weights, self._start, inverse, max(precision, _ROUGH))
        if precision >= _ROUGH:
            return near
        return _descend(self._rows, single, weights, near, inverse, precision)[0]


def _signed(positive: Array, negative: Array) -> Array:
    """Return all vectors with the constant, those of the negative class times −1."""
    n = len(positive)
    rows = np.empty((n + len(negative), positive.shape[1] + 1))
    rows[:n, :-1], rows[:n, -1] = positive, 1
    np.negative(negative, out=rows[n:, :-1])
    rows[n:, -1] = -1
    return rows


def _inverse(rows: Single, curvature: Array) -> Single:
    """Return the inverse of the matrix of second derivatives."""
    scaled = np.sqrt(curvature).astype(np.float32)[:, None] * rows
    hessian = (scaled.T @ scaled).astype(np.float64)
    hessian[np.diag_indices_from(hessian)] += 1
    result: Single = np.linalg.inv(hessian).astype(np.float32)
    return result


def _descend(
    rows: npt.NDArray[Any],
    single: Single,
    weights: Array,
    start: Array,
    inverse: Single,
    precision: float,
) -> tuple[Array, Codes]:
    """Return the optimum for each draw of weights, and the draws that did not get there.

    By Newton's method with a line search. Its equations are solved by conjugate gradients for all
    draws at once. `inverse`, of the curvature somewhere near, makes them converge in a few products
    with the rows. The precision of the numbers is that of `rows`.
    """
    kind = rows.dtype
    result = np.array(np.broadcast_to(start, (len(weights), rows.shape[1])), dtype=kind)
    unfinished = np.arange(len(weights))
    b, w, margins = result, weights.astype(kind), result @ rows.T
    wrong, value = _evaluate(b, w, margins)
    rounding = 1e4 * np.finfo(kind).eps
    for _ in range(_MOST_STEPS[kind]):
        gradient = b - (w * wrong) @ rows
        uphill: Single = gradient.astype(np.float32)
        solved: Single = uphill @ inverse
        distance = _dots(uphill, solved)
        # Of an inverse that is mostly rounding it may be negative, and says nothing then.
        far = ~(np.abs(distance) <= precision**2)
        unfinished = unfinished[far]
        if not len(unfinished):
            break
        if not far.all():
            b, w, margins, wrong, value = b[far], w[far], margins[far], wrong[far], value[far]
            gradient, uphill, solved, distance = (
                gradient[far],
                uphill[far],
                solved[far],
                distance[far],
            )
        curvature: Single = (w * wrong * (1 - wrong)).astype(np.float32)
        step = _newton_step(single, curvature, uphill, inverse, solved, distance).astype(kind)
        change, slope = step @ rows.T, _dots(gradient, step)
        length = np.ones((len(b), 1), dtype=kind)
        while True:
            wrong, new_value = _evaluate(b + length * step, w, margins + length * change)
            # Near the optimum what is gained is less than the rounding of the objective.
            too_far = new_value > value + 1e-4 * length[:, 0] * slope + rounding * value
            if not too_far.any():
                break
            length[too_far] /= 2
        b, margins, value = b + length * step, margins + length * change, new_value
        result[unfinished] = b
    return result.astype(np.float64), unfinished


def _evaluate(b: Any, weights: Any, margins: Any) -> tuple[Any, Any]:
    """Return the probability of the wrong class for each row, and the objective."""
    tail = np.exp(-np.abs(margins))
    wrong = np.where(margins > 0, tail, 1) / (1 + tail)
    loss = np.log1p(tail) - np.minimum(margins, 0)
    return wrong, _dots(b, b) / 2 + _dots(weights, loss)


def _newton_step(
    rows: Single, curvature: Single, gradient: Single, inverse: Single, solved: Single, size: Single
) -> Single:
    """Return, for each draw, about −H⁻¹ gradient, by preconditioned conjugate gradients."""
    step, residual, direction, goal = np.zeros_like(gradient), -gradient, -solved, _LEFT * size
    # For draws that are solved exactly before others are.
    tiny = np.finfo(np.float32).tiny
    for _ in range(2 * rows.shape[1]):
        image = direction + (curvature * (direction @ rows.T)) @ rows
        length = size / (_dots(direction, image) + tiny)
        step += length[:, None] * direction
        residual -= length[:, None] * image
        solved = residual @ inverse
        new = _dots(residual, solved)
        if (new <= goal).all():
            break
        direction = solved + (new / (size + tiny))[:, None] * direction
        size = new
    return step


def _dots(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> Any:
    return np.einsum("ij,ij->i", first, second)
