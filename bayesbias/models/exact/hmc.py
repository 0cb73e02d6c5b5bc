"""Hamiltonian Monte Carlo with many chains at once, for densities of a few unknowns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayesbias._core.array_types import Array

# A quarter of a turn of a round density: a draw then hardly depends on the one before.
_PATH = 1.57
_LONGEST = 12
_ACCEPT = 0.8
_SHORT = 0.2


class Chains:
    """Chains that go on where they are, each time they are run.

    Parameters
    ----------
    slope : callable
        Takes points × unknowns, returns log densities and their gradients; a log density of minus
        infinity where there is none.
    start : array
        Chains × unknowns.
    covariance : array
        Roughly that of the density; it changes how fast the chains move, not where they go.
    rng : Generator
        The source of randomness.

    Attributes
    ----------
    step : float
        The step size, as a part of the standard deviation.
    acceptance : float
        The mean acceptance probability of the last run.
    """

    def __init__(
        self,
        slope: Callable[[Array], tuple[Array, Array]],
        start: Array,
        covariance: Array,
        rng: np.random.Generator,
    ) -> None:
        self._slope, self._rng = slope, rng
        self._root = np.linalg.cholesky(covariance)
        self._at = start
        self._value, self._gradient = slope(start)
        self.step = 1.0 / start.shape[1] ** 0.25
        self.acceptance = np.nan

    def run(self, draws: int, *, adapt: bool = False) -> Array:
        """Return chains × draws × unknowns; `adapt` changes the step size on the way."""
        kept = np.empty((draws, *self._at.shape))
        chances = np.empty(draws)
        for i in range(draws):
            # Short steps on the way help chains that start where the density bends sharply.
            short = adapt and i % 3 == 2
            chances[i] = self._move(_SHORT if short else 1.0)
            kept[i] = self._at
            if adapt and not short:
                self.step *= np.exp((chances[i] - _ACCEPT) / (1 + i) ** 0.6)
        self.acceptance = float(chances.mean())
        return kept.swapaxes(0, 1)

    def _move(self, part: float) -> float:
        """Move all chains along a path, where it is accepted; return how likely that was."""
        # Paths of different lengths, or they could come back to where they began.
        step = self.step * self._rng.uniform(0.8, 1.2)
        steps = int(np.clip(np.round(_PATH * self._rng.uniform(0.8, 1.2) / step), 1, _LONGEST))
        step *= part
        momentum = self._rng.standard_normal(self._at.shape)
        before = self._value - 0.5 * (momentum**2).sum(axis=1)
        at, value, gradient = self._at, self._value, self._gradient
        momentum = momentum + 0.5 * step * (gradient @ self._root)
        for i in range(steps):
            at = at + step * (momentum @ self._root.T)
            value, gradient = self._slope(at)
            whole = 1.0 if i < steps - 1 else 0.5
            momentum = momentum + whole * step * (gradient @ self._root)
        change = value - 0.5 * (momentum**2).sum(axis=1) - before
        chance = np.exp(np.minimum(0.0, np.where(np.isnan(change), -np.inf, change)))
        moved = self._rng.random(len(at)) < chance
        self._at = np.where(moved[:, None], at, self._at)
        self._value = np.where(moved, value, self._value)
        self._gradient = np.where(moved[:, None], gradient, self._gradient)
        return float(chance.mean())
