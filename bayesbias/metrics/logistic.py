"""Logistic regression with a ridge penalty, for many weightings of the same rows at once."""

from __future__ import annotations

import numpy as np
from threadpoolctl import ThreadpoolController

from bayesbias._arrays import Array

# A fit ends when its distance from the optimum, in units of the curvature, is below the precision.
_PRECISE, _ROUGH = 1e-9, 0.3
# Share of the (squared) residual that conjugate gradients leave of a Newton equation.
_LEFT = 1e-3
# Rows that a rough fit is made from, per dimension.
_SAMPLE = 4
# Numbers in the arrays of draws × rows that are handled at once.
_BLOCK = 1_000_000
_MOST_STEPS = 100
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
            rough, self._inverse = _rough_fit(self._rows)
            once = np.ones((1, len(self._rows)))
            self._start = _minimise(self._rows, once, rough, self._inverse, _PRECISE)

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
            # Every draw starts where each word counts once.
            result = np.concatenate(
                [_minimise(self._rows, w, self._start, self._inverse, precision) for w in blocks]
            )
            return result if self._basis is None else result @ self._basis.T


def _signed(positive: Array, negative: Array) -> Array:
    """Return all vectors with the constant, those of the negative class times −1."""
    n = len(positive)
    rows = np.empty((n + len(negative), positive.shape[1] + 1))
    rows[:n, :-1], rows[:n, -1] = positive, 1
    np.negative(negative, out=rows[n:, :-1])
    rows[n:, -1] = -1
    return rows


def _rough_fit(rows: Array) -> tuple[Array, Array]:
    """Return coefficients near the optimum, and the inverse of the curvature of all rows there."""
    n, dims = rows.shape
    # Many rows say much the same: some of them, counted more often, find the region.
    every = max(1, n // (_SAMPLE * dims))
    sample = np.ascontiguousarray(rows[::every])
    counted = np.full((1, len(sample)), float(every))
    flat = _inverse(sample, counted[0] / 4)
    start = _minimise(sample, counted, np.zeros((1, dims)), flat, _ROUGH)
    wrong, _ = _evaluate(start, np.ones((1, n)), start @ rows.T)
    return start, _inverse(rows, wrong[0] * (1 - wrong[0]))


def _inverse(rows: Array, curvature: Array) -> Array:
    """Return the inverse of the matrix of second derivatives."""
    scaled = np.sqrt(curvature)[:, None] * rows
    hessian = scaled.T @ scaled
    hessian[np.diag_indices_from(hessian)] += 1
    result: Array = np.linalg.inv(hessian)
    return result


def _minimise(rows: Array, weights: Array, start: Array, inverse: Array, precision: float) -> Array:
    """Return the optimum for each draw of weights, by Newton's method with a line search.

    Newton's equations are solved by conjugate gradients for all draws at once. `inverse`, of the
    curvature somewhere near, makes them converge in a few products with the rows.
    """
    result: Array = np.array(np.broadcast_to(start, (len(weights), rows.shape[1])))
    unfinished = np.arange(len(weights))
    b, w, margins = result, weights, result @ rows.T
    wrong, value = _evaluate(b, w, margins)
    for _ in range(_MOST_STEPS):
        gradient: Array = b - (w * wrong) @ rows
        solved: Array = gradient @ inverse
        distance = _dots(gradient, solved)
        far = distance > precision**2
        if not far.any():
            break
        if not far.all():
            unfinished = unfinished[far]
            b, w, margins, wrong, value = b[far], w[far], margins[far], wrong[far], value[far]
            gradient, solved, distance = gradient[far], solved[far], distance[far]
        step = _newton_step(rows, w * wrong * (1 - wrong), gradient, inverse, solved, distance)
        change, slope = step @ rows.T, _dots(gradient, step)
        length = np.ones((len(b), 1))
        while True:
            wrong, new_value = _evaluate(b + length * step, w, margins + length * change)
            # Near the optimum what is gained is less than the rounding of the objective.
            too_far = new_value > value + 1e-4 * length[:, 0] * slope + 1e-12 * value
            if not too_far.any():
                break
            length[too_far] /= 2
        b, margins, value = b + length * step, margins + length * change, new_value
        result[unfinished] = b
    return result


def _evaluate(b: Array, weights: Array, margins: Array) -> tuple[Array, Array]:
    """Return the probability of the wrong class for each row, and the objective."""
    tail = np.exp(-np.abs(margins))
    wrong = np.where(margins > 0, tail, 1) / (1 + tail)
    loss = np.log1p(tail) - np.minimum(margins, 0)
    return wrong, _dots(b, b) / 2 + _dots(weights, loss)


def _newton_step(
    rows: Array, curvature: Array, gradient: Array, inverse: Array, solved: Array, size: Array
) -> Array:
    """Return, for each draw, about −H⁻¹ gradient, by preconditioned conjugate gradients."""
    step, residual, direction, goal = np.zeros_like(gradient), -gradient, -solved, _LEFT * size
    for _ in range(2 * rows.shape[1]):
        image = direction + (curvature * (direction @ rows.T)) @ rows
        # The tiny number is for draws that are solved exactly before others are.
        length = size / (_dots(direction, image) + 1e-300)
        step += length[:, None] * direction
        residual -= length[:, None] * image
        solved = residual @ inverse
        new = _dots(residual, solved)
        if (new <= goal).all():
            break
        direction = solved + (new / (size + 1e-300))[:, None] * direction
        size = new
    return step


def _dots(first: Array, second: Array) -> Array:
    result: Array = np.einsum("ij,ij->i", first, second)
    return result
