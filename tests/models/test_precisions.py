"""Precision matrices of values with a common part, by NumPy's inverse and by small steps."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest

from bayesbias.models.exact.precisions import ClassGroup

#: Unknowns: 0 to 2 are scales of own parts, 3 and 4 of common ones.
N_UNKNOWNS = 5


def a_group(width: int, rng: np.random.Generator, *, common: bool = True) -> ClassGroup:
    """Return four classes: scales only, known variances only, both, and the same scale twice."""
    scale = rng.integers(0, 3, (4, width))
    scale[1] = -1
    scale[3] = 2
    variance = rng.uniform(0.01, 0.5, (4, width))
    variance[[0, 3]] = 0
    return ClassGroup(scale, variance, np.array([3, 4, 3, 4]) if common else np.full(4, -1))


def dense(group: ClassGroup, at: np.ndarray) -> np.ndarray:
    """Return draws × classes × width × width, number by number."""
    size = (len(at), len(group), group.width, group.width)
    result = np.zeros(size)
    for d, k, i, j in np.ndindex(size):
        if group.common[k] >= 0:
            result[d, k, i, j] += np.exp(at[d, group.common[k]]) ** 2
        if i == j:
            result[d, k, i, i] += group.variance[k, i]
            if group.scale[k, i] >= 0:
                result[d, k, i, i] += np.exp(at[d, group.scale[k, i]]) ** 2
    return result


@pytest.mark.parametrize("common", [True, False])
@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_precision_is_the_inverse_of_the_covariance(
    width: int, common: bool, rng: np.random.Generator
) -> None:
    group = a_group(width, rng, common=common)
    at = rng.normal(-1, 0.7, (6, N_UNKNOWNS))
    covariance = dense(group, at)
    entries, log_determinant = group.precision(at)
    assert entries.shape == (6, 4, width**2)
    expected = np.linalg.inv(covariance).reshape(6, 4, -1)
    np.testing.assert_allclose(entries, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(log_determinant, -np.linalg.slogdet(covariance)[1], rtol=1e-10)


def solved_exactly(matrix: list[list[Fraction]]) -> tuple[list[list[Fraction]], Fraction]:
    """Return the inverse and the determinant of a positive definite matrix, by elimination."""
    n = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(matrix)]
    determinant = Fraction(1)
    for i in range(n):
        determinant *= rows[i][i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(n):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[n:] for row in rows], determinant


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("log_scale", [-20.0, -12.0, 5.0])
@pytest.mark.parametrize("of", ["own", "common"])
def test_very_small_and_large_scales(
    of: str, log_scale: float, width: int, rng: np.random.Generator
) -> None:
    """As in fractions, where a covariance in floats would have lost its digits."""
    group = a_group(width, rng)
    at = rng.normal(-1, 0.3, (1, N_UNKNOWNS))
    at[:, [2] if of == "own" else [3, 4]] = log_scale
    entries, log_determinant = group.precision(at)
    squared = [Fraction(x) for x in np.exp(2 * at[0]).tolist()]
    for k in range(len(group)):
        matrix = [[squared[group.common[k]]] * width for _ in range(width)]
        for i, s in enumerate(group.scale[k].tolist()):
            matrix[i][i] += Fraction(group.variance[k, i]) + (squared[s] if s >= 0 else 0)
        inverse, determinant = solved_exactly(matrix)
        np.testing.assert_allclose(
            entries[0, k], np.array(inverse, dtype=float).ravel(), rtol=1e-12
        )
        expected = log(determinant.denominator) - log(determinant.numerator)
        assert log_determinant[0, k] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_one_value_has_the_sum_of_both_variances() -> None:
    group = ClassGroup(np.array([[0]]), np.array([[0.5]]), np.array([1]))
    values, log_determinant = group.precision(np.log([[2.0, 3.0]]))
    assert values.item() == pytest.approx(1 / 13.5)
    assert log_determinant.item() == pytest.approx(-np.log(13.5))


@pytest.mark.parametrize("common", [True, False])
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("log_scale", [None, -9.0])
def test_gradient_by_small_steps(
    log_scale: float | None, width: int, common: bool, rng: np.random.Generator
) -> None:
    """Of a weighted sum of entries and log determinants; the weights need not be symmetric."""
    group = a_group(width, rng, common=common)
    at = rng.normal(-1, 0.5, (5, N_UNKNOWNS))
    if log_scale is not None:
        at[:, 2] = log_scale
    by_entry = rng.normal(size=(5, 4, width**2))
    by_determinant = rng.normal(size=(5, 4))

    def total(x: np.ndarray) -> np.ndarray:
        entries, log_determinant = group.precision(x)
        return (entries * by_entry).sum(axis=(1, 2)) + (log_determinant * by_determinant).sum(1)

    found = group.pull_back(at, by_entry, by_determinant)
    assert found.shape == at.shape
    size = np.abs(total(at)).max()
    for place in range(N_UNKNOWNS):
        step = np.zeros(N_UNKNOWNS)
        step[place] = 1e-5
        slope = (total(at + step) - total(at - step)) / 2e-5
        np.testing.assert_allclose(found[:, place], slope, rtol=1e-6, atol=1e-9 * size + 1e-8)


def test_some_classes_with_other_numbers(rng: np.random.Generator) -> None:
    group = a_group(3, rng)
    at = rng.normal(-1, 0.5, (2, N_UNKNOWNS))
    # The unknowns in another order; the last of the numbers is for none.
    order = np.array([4, 2, 0, 1, 3])
    renumber = np.append(np.argsort(order), -1)
    which = np.array([3, 1])
    some = group.take(which, renumber)
    assert len(some) == 2
    np.testing.assert_array_equal(some.precision(at[:, order])[0], group.precision(at)[0][:, which])


def test_what_a_class_depends_on() -> None:
    group = ClassGroup(np.array([[0, 1], [2, -1]]), np.zeros((2, 2)), np.array([3, -1]))
    assert group.unknowns.tolist() == [[0, 1, 3], [2, -1, -1]]
