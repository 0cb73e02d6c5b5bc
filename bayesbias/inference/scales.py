"""Independent draws of a few scale parameters from a density that can be computed.

A proposal close to the density, then rejection: a draw is kept with the probability of its weight
over the largest weight (empirical-supremum rejection sampling; Caffo, Booth & Davis 2002), so the
draws that are left are independent and follow the density itself, not the proposal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gamma, pi, sqrt

import numpy as np
from scipy import optimize

from bayesbias._arrays import Array

Density = Callable[[Array], Array]

# Draws outside the grid have a density this far, on the log scale, below the largest.
_EDGE = 16.0
_GRID = {1: 400, 2: 96}
_DEGREES = 12.0
_PILOT = 2000
_ROUNDS = 4
_REACH = 1.356  # the 90% quantile of the t distribution
_WIDER = 1.05
_VAGUE = 0.25  # a log scale with a larger spread than this may be that of a scale near zero
_TAIL = 0.1
_TAIL_RATE = 0.6
_T_CONSTANT = gamma((_DEGREES + 1) / 2) / (sqrt(_DEGREES * pi) * gamma(_DEGREES / 2))
_LIMIT = 60  # rounds of proposals before giving up
_NOWHERE = 1e10


@dataclass(frozen=True)
class ScaleDraws:
    """Draws of the scales' logarithms and how well the proposal fitted.

    Attributes
    ----------
    draws : array
        draws × scales.
    acceptance : float
        The share of proposals that were kept.
    pareto_k : float
        Tail index of the importance weights; above 0.7 the proposal missed some of the density.
    """

    draws: Array
    acceptance: float
    pareto_k: float


def draw_scales(
    log_density: Density, start: Array, draws: int, rng: np.random.Generator
) -> ScaleDraws:
    """Draw from a density over the logarithms of one or more scales."""
    mode, covariance = _laplace(log_density, start)
    proposal: _Grid | _SplitT
    if len(start) in _GRID:
        proposal = _Grid.around(log_density, mode, covariance)
    else:
        proposal = _adapted(log_density, mode, covariance, rng)
    kept: list[Array] = []
    x = proposal.draw(rng, max(_PILOT, draws))
    log_weight = log_density(x) - proposal.log_density(x)
    largest = log_weight.max()
    k = pareto_k(log_weight)
    proposed = accepted = 0
    for _ in range(_LIMIT):
        keep = np.log(rng.random(len(x))) < log_weight - largest
        kept.append(x[keep])
        proposed, accepted = proposed + len(x), accepted + int(keep.sum())
        if accepted >= draws:
            return ScaleDraws(np.concatenate(kept)[:draws], accepted / proposed, k)
        size = min(4 * draws, int(1.1 * (draws - accepted) * proposed / max(accepted, 1)) + 100)
        x = proposal.draw(rng, size)
        log_weight = log_density(x) - proposal.log_density(x)
    # The caller refuses the draws: the acceptance says why.
    return ScaleDraws(np.concatenate(kept), accepted / proposed, np.inf)


def _laplace(log_density: Density, start: Array) -> tuple[Array, Array]:
    """Return the mode and the inverse curvature there."""
    n = len(start)
    step = 1e-4
    offsets = np.concatenate([np.zeros((1, n)), step * np.eye(n), -step * np.eye(n)])

    def negative(x: Array) -> tuple[float, Array]:
        # Outside of where there is any density the search is sent back, not lost.
        values = np.minimum(-log_density(x + offsets), _NOWHERE)
        return float(values[0]), (values[1 : n + 1] - values[n + 1 :]) / (2 * step)

    mode = optimize.minimize(negative, start, jac=True, method="BFGS", options={"gtol": 1e-3}).x
    # A wider step for the curvature: it is the shape of the bulk that matters.
    wide = 0.05
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    points = np.array(
        [
            mode + wide * (a * np.eye(n)[i] + b * np.eye(n)[j])
            for i, j in pairs
            for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))
        ]
    )
    f = np.maximum(log_density(points), -_NOWHERE).reshape(-1, 4)
    curvature = np.empty((n, n))
    for (i, j), (pp, pm, mp, mm) in zip(pairs, f, strict=True):
        curvature[i, j] = curvature[j, i] = -(pp - pm - mp + mm) / (4 * wide**2)
    values, vectors = np.linalg.eigh(curvature)
    # A direction that is flat, or curved the wrong way, gets a wide but finite spread.
    values = np.maximum(values, 0.25)
    return mode, (vectors / values) @ vectors.T


@dataclass(frozen=True)
class _Grid:
    """A density that is constant within the cells of a grid, in coordinates x = centre + A z."""

    centre: Array
    axes: Array
    low: Array
    width: Array
    shape: tuple[int, ...]
    log_cell: Array  # flattened, normalised over the cells

    @classmethod
    def around(cls, log_density: Density, mode: Array, covariance: Array) -> _Grid:
        n = len(mode)
        axes = np.linalg.cholesky(covariance)
        bounds = np.array([[-5.0] * n, [5.0] * n])
        top = log_density(mode[None])[0]
        for _ in range(40):
            moved = False
            for axis in range(n):
                for side in (0, 1):
                    edge = log_density(mode + _edge(bounds, axis, side) @ axes.T)
                    if edge.max() > top - _EDGE:
                        bounds[side, axis] *= 1.3
                        moved = True
            if not moved:
                break
        for size in (_GRID[n] // 3, _GRID[n]):
            shape = (size,) * n
            width = (bounds[1] - bounds[0]) / shape
            cells = np.indices(shape).reshape(n, -1).T
            z = bounds[0] + (cells + 0.5) * width
            log_cell = log_density(mode + z @ axes.T)
            # Look closer, at the part of the box that holds anything.
            inside = z[log_cell > log_cell.max() - _EDGE]
            bounds = np.stack([inside.min(axis=0) - width, inside.max(axis=0) + width])
        bounds = np.stack([z.min(axis=0) - width / 2, z.max(axis=0) + width / 2])
        # A cell's height is that of its centre; one that is much lower than its neighbours would
        # be drawn too seldom for rejection to make up, so every cell gets a share of theirs.
        smooth = np.exp(log_cell - log_cell.max()).reshape(shape)
        for axis in range(n):
            around = np.stack([smooth, np.roll(smooth, 1, axis), np.roll(smooth, -1, axis)])
            smooth = np.tensordot([0.8, 0.1, 0.1], around, 1)
        flat = smooth.ravel() + 1e-12
        return cls(mode, axes, bounds[0], width, shape, np.log(flat / flat.sum()))

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        cumulative = np.cumsum(np.exp(self.log_cell))
        cell = np.searchsorted(cumulative, rng.random(size) * cumulative[-1])
        where = np.column_stack(np.unravel_index(cell, self.shape))
        z = self.low + (where + rng.random(where.shape)) * self.width
        return self.centre + z @ self.axes.T

    def log_density(self, x: Array) -> Array:
        z = np.linalg.solve(self.axes, (x - self.centre).T).T
        where = ((z - self.low) / self.width).astype(int)
        clipped = np.clip(where, 0, np.array(self.shape) - 1)
        result: Array = self.log_cell[np.ravel_multi_index(tuple(clipped.T), self.shape)]
        return result


def _edge(bounds: Array, axis: int, side: int) -> Array:
    """Return points along one edge of a box."""
    n = bounds.shape[1]
    points = np.zeros((41 if n > 1 else 1, n))
    for other in range(n):
        if other != axis:
            points[:, other] = np.linspace(bounds[0, other], bounds[1, other], len(points))
    points[:, axis] = bounds[side, axis]
    return points


@dataclass(frozen=True)
class _SplitT:
    """Correlated t distributions with a scale of their own to the left and to the right.

    The logarithms of scales are skewed, the more so the fewer words a scale is learnt from. A scale
    that may be zero has a density that falls only like exp(x) to the left, so some of the draws of
    such a coordinate come from an exponential distribution that falls more slowly.
    """

    centre: Array
    left: Array
    right: Array
    axes: Array  # of the correlations

    @property
    def tail(self) -> Array:
        """The share of draws from the exponential distribution, for each coordinate."""
        return np.where(self.left > _VAGUE, _TAIL, 0.0)

    @property
    def tail_scale(self) -> Array:
        return 1 / (_TAIL_RATE * self.left)

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        shape = (size, len(self.centre))
        t = rng.standard_t(_DEGREES, shape)
        far = -rng.exponential(self.tail_scale, shape)
        v = np.where(rng.random(shape) < self.tail, far, t) @ self.axes.T
        result: Array = self.centre + v * np.where(v < 0, self.left, self.right)
        return result

    def log_density(self, x: Array) -> Array:
        scale = np.where(x < self.centre, self.left, self.right)
        v = np.linalg.solve(self.axes, ((x - self.centre) / scale).T).T
        bulk = _T_CONSTANT * (1 + v**2 / _DEGREES) ** (-(_DEGREES + 1) / 2)
        far = np.where(v < 0, np.exp(np.minimum(v, 0) / self.tail_scale) / self.tail_scale, 0.0)
        result: Array = np.log((1 - self.tail) * bulk + self.tail * far).sum(axis=1)
        result -= np.log(scale).sum(axis=1)
        return result


def _adapted(
    log_density: Density, mode: Array, covariance: Array, rng: np.random.Generator
) -> _SplitT:
    """Return a proposal with roughly the quantiles and the correlations of the density."""
    sd = np.sqrt(np.diag(covariance))
    axes = np.linalg.cholesky(covariance / np.outer(sd, sd))
    proposal = _SplitT(mode, sd, sd, axes)
    for _ in range(_ROUNDS):
        x = proposal.draw(rng, _PILOT)
        log_weight = log_density(x) - proposal.log_density(x)
        # Tempered while the proposal is still far off, so that many draws count.
        weight = np.exp(log_weight - log_weight.max())
        while weight.sum() ** 2 / (weight**2).sum() < _PILOT / 20:
            log_weight = log_weight / 2
            weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        low, centre, high = _quantiles(x, weight, (0.1, 0.5, 0.9))
        left, right = (centre - low) / _REACH, (high - centre) / _REACH
        v = (x - centre) / np.where(x < centre, left, right)
        v -= weight @ v
        spread = v.T @ (v * weight[:, None])
        size = np.sqrt(np.diag(spread))
        axes = np.linalg.cholesky(spread / np.outer(size, size) + 1e-9 * np.eye(len(centre)))
        proposal = _SplitT(centre, left * _WIDER, right * _WIDER, axes)
    return proposal


def _quantiles(x: Array, weight: Array, probs: tuple[float, ...]) -> Array:
    """Return the weighted quantiles of each column."""
    order = np.argsort(x, axis=0)
    cumulative = np.cumsum(weight[order], axis=0)
    return np.stack(
        [
            np.take_along_axis(x, order, 0)[(cumulative < p).sum(axis=0), np.arange(x.shape[1])]
            for p in probs
        ]
    )


def pareto_k(log_weight: Array) -> float:
    """Return the tail index of importance weights (Vehtari et al. 2024; Zhang & Stephens 2009)."""
    n = len(log_weight)
    tail = int(np.ceil(min(n / 5, 3 * np.sqrt(n))))
    ordered = np.sort(log_weight - log_weight.max())
    cut = np.exp(ordered[-tail - 1])
    x = np.exp(ordered[-tail:]) - cut
    if x[-1] <= 1e-9:
        return -np.inf
    return _generalised_pareto_shape(x)


def _generalised_pareto_shape(x: Array) -> float:
    """Estimate the shape of a generalised Pareto distribution from sorted excesses."""
    n = len(x)
    x = np.maximum(x, 1e-300)
    points = 30 + int(np.sqrt(n))
    b = 1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))
    b = b / (3 * x[int(n / 4 + 0.5) - 1]) + 1 / x[-1]
    k = np.log1p(-b[:, None] * x).mean(axis=1)
    likelihood = n * (np.log(-(b / k)) - k - 1)
    weight = 1 / np.exp(likelihood - likelihood[:, None]).sum(axis=1)
    weight = np.where(weight >= 10 * np.finfo(float).eps, weight, 0)
    best = (b * weight).sum() / weight.sum()
    shape = np.log1p(-best * x).mean()
    # A weak prior towards 0.5, worth ten observations.
    return float((n * shape + 10 * 0.5) / (n + 10))
