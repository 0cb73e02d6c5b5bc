"""Precision matrices of Gaussian factors as functions of a few unknowns, the logarithms of scales.

A factor is one outcome, or one coefficient, or several that have a part in common (the same pair of
words in several embeddings). Factors with the same covariance form a class, and everything that the
exact engine computes is linear in the entries of the classes' precision matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesbias._core.array_types import Array, Codes


@dataclass(frozen=True)
class ClassGroup:
    """Classes of the same width: how many outcomes or coefficients one of their factors is about.

    Attributes
    ----------
    scale : array of int
        Classes × width: the unknown whose exponential is the standard deviation; -1 for none.
    variance : array
        Classes × width: added to the squared scale.
    common : array of int
        The unknown whose exponential is the standard deviation of the common part; -1 for none.
    """

    scale: Codes
    variance: Array
    common: Codes

    def __len__(self) -> int:
        return len(self.scale)

    @property
    def width(self) -> int:
        """How many outcomes or coefficients a factor is about."""
        return int(self.scale.shape[1])

    def take(self, which: Codes, renumber: Codes) -> ClassGroup:
        """Return some of the classes, with other numbers for the unknowns (the last for none)."""
        return ClassGroup(
            renumber[self.scale[which]], self.variance[which], renumber[self.common[which]]
        )

    @cached_property
    def unknowns(self) -> Codes:
        """Classes × those each depends on; -1 for none."""
        return np.column_stack([self.scale, self.common])

    def _variances(self, at: Array) -> tuple[Array, Array]:
        """Return the variances of own parts, draws × classes × width, and of the common ones."""
        squared = np.concatenate([np.exp(2 * at), np.zeros((len(at), 1))], axis=1)
        return squared[:, self.scale] + self.variance, squared[:, self.common]

    def precision(self, at: Array) -> tuple[Array, Array]:
        """Return draws × classes × width², and the log determinants, draws × classes.

        With own variances d and a common one c, by Sherman and Morrison, all terms positive.
        """
        own, common = self._variances(at)
        if self.width == 1:
            values = 1 / (own + common[..., None])
            return values, np.log(values[:, :, 0])
        inverse = 1 / own
        others = inverse @ (1 - np.eye(self.width))
        divisor = 1 + common * inverse.sum(axis=2)
        matrix = -(common / divisor)[..., None, None] * inverse[..., None] * inverse[..., None, :]
        place = np.arange(self.width)
        matrix[..., place, place] = inverse * (1 + common[..., None] * others) / divisor[..., None]
        log_determinant = np.log(inverse).sum(axis=2) - np.log(divisor)
        return matrix.reshape(*matrix.shape[:2], -1), log_determinant

    def pull_back(self, at: Array, by_entry: Array, by_determinant: Array) -> Array:
        """Return the gradient by the unknowns from those by entries and log determinants."""
        b = self.width
        inverse = self.precision(at)[0].reshape(len(at), -1, b, b)
        square = by_entry.reshape(inverse.shape)
        # By the covariance: d(C⁻¹) = -C⁻¹ dC C⁻¹, and d log|C⁻¹| = -tr(C⁻¹ dC).
        if b == 1:
            slope = -inverse * (square * inverse + by_determinant[:, :, None, None])
        else:
            slope = -inverse @ ((square + square.swapaxes(2, 3)) / 2) @ inverse
            slope -= by_determinant[:, :, None, None] * inverse
        result = np.zeros((at.shape[1], len(at)))
        squared = 2 * np.exp(2 * at)
        has = self.scale >= 0
        by_own = np.diagonal(slope, axis1=2, axis2=3)[:, has] * squared[:, self.scale[has]]
        np.add.at(result, self.scale[has], by_own.T)
        has = self.common >= 0
        by_common = slope[:, has].sum(axis=(2, 3)) * squared[:, self.common[has]]
        np.add.at(result, self.common[has], by_common.T)
        return result.T
