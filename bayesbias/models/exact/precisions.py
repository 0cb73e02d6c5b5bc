"""Precision matrices of Gaussian factors as functions of a few unknowns: scales and correlations.

A factor is one outcome, or one coefficient, or several that are correlated (the same pair of words
in several embeddings). Factors with the same covariance form a class, and everything that the exact
engine computes is linear in the entries of the classes' precision matrices.

The unknowns are unconstrained numbers: the logarithm of a scale, the inverse hyperbolic tangent of
a partial correlation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesbias._core.array_types import Array, Codes

_STEP = 1e-5


@dataclass(frozen=True)
class ClassGroup:
    """Classes of the same width: how many outcomes or coefficients one of their factors is about.

    Attributes
    ----------
    scale : array of int
        Classes × width: the unknown whose exponential is the standard deviation; -1 for none.
    variance : array
        Classes × width: added to the squared scale.
    correlation : array of int
        The first of the unknowns that hold the partial correlations; -1 for none.
    member : array of int
        Classes × width: the row of the correlation matrix.
    levels : int
        The size of the correlation matrix.
    """

    scale: Codes
    variance: Array
    correlation: Codes
    member: Codes
    levels: int

    def __len__(self) -> int:
        return len(self.scale)

    @property
    def width(self) -> int:
        """How many outcomes or coefficients a factor is about."""
        return int(self.scale.shape[1])

    @property
    def n_partial(self) -> int:
        """How many partial correlations a correlation matrix has."""
        return self.levels * (self.levels - 1) // 2

    def take(self, which: Codes, renumber: Codes) -> ClassGroup:
        """Return some of the classes, with other numbers for the unknowns (the last for none)."""
        return ClassGroup(
            renumber[self.scale[which]],
            self.variance[which],
            renumber[self.correlation[which]],
            self.member[which],
            self.levels,
        )

    @cached_property
    def unknowns(self) -> Codes:
        """Classes × those each depends on; -1 fills up."""
        columns = [self.scale]
        if (self.correlation >= 0).any():
            places = self.correlation[:, None] + np.arange(self.n_partial)
            columns.append(np.where(self.correlation[:, None] >= 0, places, -1))
        return np.concatenate(columns, axis=1)

    def _sd(self, at: Array) -> Array:
        """Return draws × classes × width: the scales, zero for none."""
        scales = np.concatenate([np.exp(at), np.zeros((len(at), 1))], axis=1)
        return scales[:, self.scale]

    def covariance(self, at: Array) -> Array:
        """Return draws × classes × width × width."""
        b = self.width
        sd = self._sd(at)
        result = np.zeros((*sd.shape, b))
        result[..., np.arange(b), np.arange(b)] = sd**2
        for start in np.unique(self.correlation[self.correlation >= 0]).tolist():
            here = np.flatnonzero(self.correlation == start)
            matrix = correlation_matrix(at[:, start : start + self.n_partial], self.levels)
            member = self.member[here]
            part = matrix[:, member[:, :, None], member[:, None, :]]
            result[:, here] = part * sd[:, here, :, None] * sd[:, here, None, :]
        result[..., np.arange(b), np.arange(b)] += self.variance
        return result

    def precision(self, at: Array) -> tuple[Array, Array]:
        """Return draws × classes × width², and the log determinants, draws × classes."""
        if self.width == 1:
            values = 1 / (self._sd(at) ** 2 + self.variance)
            return values, np.log(values[:, :, 0])
        inverse = np.linalg.inv(self.covariance(at))
        log_determinant = np.linalg.slogdet(inverse)[1]
        return inverse.reshape(*inverse.shape[:2], -1), log_determinant

    def pull_back(self, at: Array, by_entry: Array, by_determinant: Array) -> Array:
        """Return the gradient by the unknowns from those by entries and log determinants."""
        result = np.zeros((at.shape[1], len(at)))
        if self.width == 1:
            has = np.flatnonzero(self.scale[:, 0] >= 0)
            place = self.scale[has, 0]
            squared = np.exp(2 * at[:, place])
            precision = 1 / (squared + self.variance[has, 0])
            slope = -2 * squared * precision
            by_scale = slope * (precision * by_entry[:, has, 0] + by_determinant[:, has])
            np.add.at(result, place, by_scale.T)
            return result.T
        b = self.width
        sd = self._sd(at)
        covariance = self.covariance(at)
        inverse = np.linalg.inv(covariance)
        square = by_entry.reshape(inverse.shape)
        # By the covariance: d(C⁻¹) = -C⁻¹ dC C⁻¹, and d log|C⁻¹| = -tr(C⁻¹ dC).
        slope = -inverse @ ((square + square.swapaxes(2, 3)) / 2) @ inverse
        slope -= by_determinant[:, :, None, None] * inverse
        # Without what is known of the variances the covariance is a product with the scales.
        covariance[..., np.arange(b), np.arange(b)] -= self.variance
        by_scale = 2 * (slope * covariance).sum(axis=3)
        scaled = self.scale >= 0
        np.add.at(result, self.scale[scaled], by_scale[:, scaled].T)
        for start in np.unique(self.correlation[self.correlation >= 0]).tolist():
            here = np.flatnonzero(self.correlation == start)
            part = slope[:, here] * sd[:, here, :, None] * sd[:, here, None, :]
            member = self.member[here]
            places = (member[:, :, None] * self.levels + member[:, None, :]).ravel()
            total = np.zeros((self.levels**2, len(at)))
            np.add.at(total, places, part.reshape(len(at), -1).T)
            z = at[:, start : start + self.n_partial]
            for i, step in enumerate(_STEP * np.eye(self.n_partial)):
                change = correlation_matrix(z + step, self.levels)
                change -= correlation_matrix(z - step, self.levels)
                sums = (change.reshape(len(at), -1) * total.T).sum(axis=1)
                result[start + i] += sums / (2 * _STEP)
        return result.T


def correlation_matrix(z: Array, levels: int) -> Array:
    """Return draws × levels × levels, from the transformed partial correlations.

    The Cholesky factor's rows are filled from partial correlations (Lewandowski, Kurowicka & Joe
    2009), the pairs in the order (1, 0), (2, 0), (2, 1), ….
    """
    partial = np.tanh(z)
    root = np.zeros((len(z), levels, levels))
    root[:, 0, 0] = 1.0
    place = 0
    for i in range(1, levels):
        left = np.ones(len(z))
        for j in range(i):
            root[:, i, j] = partial[:, place] * np.sqrt(left)
            left = left * (1 - partial[:, place] ** 2)
            place += 1
        root[:, i, i] = np.sqrt(left)
    matrix: Array = root @ root.transpose(0, 2, 1)
    return matrix


def partial_correlations(matrix: Array) -> Array:
    """Return the transformed partial correlations of correlation matrices: the inverse of above."""
    root = np.linalg.cholesky(matrix)
    levels = matrix.shape[-1]
    columns = []
    for i in range(1, levels):
        left = np.ones(len(matrix))
        for j in range(i):
            partial = root[:, i, j] / np.sqrt(left)
            left = left * (1 - partial**2)
            columns.append(np.arctanh(partial))
    return np.column_stack(columns) if columns else np.zeros((len(matrix), 0))


def matrices_of_pairs(pairs: Array, levels: int) -> Array:
    """Return correlation matrices from the correlations below their diagonals, row by row."""
    i, j = np.tril_indices(levels, -1)
    matrix = np.broadcast_to(np.eye(levels), (*pairs.shape[:-1], levels, levels)).copy()
    matrix[..., i, j] = matrix[..., j, i] = pairs
    return matrix


def pairs_of_matrices(matrices: Array) -> Array:
    """Return the correlations below the diagonals of correlation matrices, row by row."""
    i, j = np.tril_indices(matrices.shape[-1], -1)
    pairs: Array = matrices[..., i, j]
    return pairs


def draw_correlations(
    rng: np.random.Generator, size: tuple[int, ...], eta: float, levels: int
) -> Array:
    """Draw correlation matrices from LKJ(eta); return the correlations below their diagonals."""
    exponents = lkj_exponents(eta, levels)
    partial = 2 * rng.beta(exponents, exponents, (*size, len(exponents))) - 1
    matrices = correlation_matrix(np.arctanh(partial).reshape(-1, len(exponents)), levels)
    return pairs_of_matrices(matrices).reshape(*size, len(exponents))


def lkj_exponents(eta: float, levels: int) -> Array:
    """Return the power of (1 - partial²) in the density of each transformed partial correlation.

    Under LKJ(eta) the partial correlation of a pair whose first is j (from zero) has a symmetric
    beta distribution on (-1, 1) with the parameter eta + (levels - 2 - j) / 2; the derivative of
    the transformation adds one to its exponent.
    """
    result = [eta + (levels - 2 - j) / 2 for i in range(1, levels) for j in range(i)]
    return np.array(result)
