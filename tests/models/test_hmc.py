"""Hamiltonian Monte Carlo against densities whose moments are known."""

from __future__ import annotations

import numpy as np
import pytest

from bayesbias._core.array_types import Array
from bayesbias.models.exact.hmc import Chains

COVARIANCE = np.array([[1.0, 0.8], [0.8, 2.0]])


def normal(x: Array) -> tuple[Array, Array]:
    slope = -(x - 3) @ np.linalg.inv(COVARIANCE)
    return 0.5 * ((x - 3) * slope).sum(axis=1), slope


def half_normal(x: Array) -> tuple[Array, Array]:
    """A density with an edge."""
    return np.where(x[:, 0] > 0, -0.5 * x[:, 0] ** 2, -np.inf), np.where(x > 0, -x, 0.0)


@pytest.mark.parametrize("guess", [COVARIANCE, np.diag([0.3, 4.0])])
def test_a_normal_density(guess: Array) -> None:
    """Whatever the covariance is taken to be, and wherever the chains start."""
    chains = Chains(normal, np.full((50, 2), -10.0), guess, np.random.default_rng(0))
    chains.run(100, adapt=True)
    found = chains.run(400)
    assert found.shape == (50, 400, 2)
    flat = found.reshape(-1, 2)
    np.testing.assert_allclose(flat.mean(axis=0), 3, atol=0.06)
    np.testing.assert_allclose(np.cov(flat.T), COVARIANCE, atol=0.1)
    assert 0.6 < chains.acceptance < 0.95


def test_an_edge() -> None:
    chains = Chains(half_normal, np.ones((50, 1)), np.eye(1), np.random.default_rng(0))
    chains.run(100, adapt=True)
    found = chains.run(400).ravel()
    assert (found > 0).all()
    assert found.mean() == pytest.approx(np.sqrt(2 / np.pi), abs=0.03)
    assert (found**2).mean() == pytest.approx(1, abs=0.05)
