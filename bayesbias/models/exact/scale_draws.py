"""Independent draws of a few scale parameters from a density that can be computed.

A search for the modes (several starts after a scan, bounded steps, closed-form gradients, and again
from any higher point that turns up later), a proposal close to the density, then rejection: a draw
is kept with the probability of its weight over a bound (empirical-supremum rejection sampling;
Caffo, Booth & Davis 2002), so the draws that are left are independent. They follow the density as
far as the bound holds; the few proposals above it may be kept twice.
Where too few are left, or the weights have heavy tails, many chains of Hamiltonian Monte Carlo go
on from the best of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from threading import Lock

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.threads import in_threads

Density = Callable[[Array], Array]
Gradient = Callable[[Array], tuple[Array, Array]]

# Draws outside the grid have a density this far, on the log scale, below the largest.
_EDGE = 16.0
_GRID = {1: 400, 2: 96}
_DEGREES = 8.0
_PILOT = 2000
_ROUNDS = 3
_AGAIN = 2  # times as many points, if a proposal is not good enough
_HOPED = 0.6  # the share of effective points that a proposal is expected to have once adapted
_ACCEPTED = 0.6  # of the effective points, roughly, rejection keeps this share
_CLOSE = 0.4  # with a smaller share of effective points a proposal is adapted in any case
_LIGHT = 0.4  # and with a larger Pareto k of their weights
_NORMAL_90 = 1.2815515655446004  # the 90% quantile of the normal distribution
# Where the function of a coordinate is computed; between the nodes and beyond them it is linear.
_NODES = np.linspace(-9.0, 9.0, 721)
_NODE_STEP = float(_NODES[1] - _NODES[0])
_NO_SKEW = 0.02
_MOST_SKEW = 3.0
_VAGUE = 0.125  # a log scale with a larger spread than this may be that of a scale near zero
_LIMIT = 60  # rounds of proposals before giving up
_SIDE = 1.5  # standard deviations from a mode at which its two sides are measured
_BEND = 0.7  # how far, on the log scale, an arm of the density bends down at its end
_TWICE = 0.02  # the share of proposals that may be kept more than once
_FEWEST = 0.01  # with a smaller share of proposals accepted, chains are quicker
_NOWHERE = 1e10
_FAR = 100.0
_PARETO_K_MAX = 0.5  # above, the variance of the weights is infinite
_LAST_K_MAX = 0.7  # above, weighted points cannot be relied on (Vehtari et al. 2024)
#: Attempts before chains: times as many points, rounds, and the largest Pareto k.
_MORE_POINTS = (
    (1, _ROUNDS + 2, _PARETO_K_MAX),
    (2, _ROUNDS + 1, _LAST_K_MAX),
    (4, _ROUNDS + 1, _LAST_K_MAX),
    (8, _ROUNDS + 1, _LAST_K_MAX),
)
_SCAN = 64  # points of the coarse scan
_STARTS = 2  # of them to search from
_SEARCHES = 3
_BETTER = 0.01
_APART = 1.0  # modes nearer than this are one
_MINOR = 14.0  # a mode this far below the highest does not matter
_AT_BOTTOM = 0.9  # a scale nearer than this to the lowest value is at the bottom
_ABOVE_BOTTOM = 5.0  # where the density is compared with that at the bottom
_STEEP = 4.0  # and how much lower it is there if it grows without end
_FIRST_STEPS = 12  # of a search, before the spread is looked at
_MOST_STEPS = 200
_LEVEL = 3e-3  # the slope at which a search ends
_CHAINS = 64
_FEW_CHAINS = 16  # of a density that is costly to compute
_HMC_PILOT = 2000
_HMC_WARM = 90
_HMC_SHORTEST = 60  # steps of a chain
_HMC_LONGEST = 4096
_HMC_STEPS = 30  # of a trajectory
_OFFERS = 3
_R_HAT_MAX = 1.01


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
        Tail index of the importance weights; above 0.7 the proposal may have missed something.
    sampler : str
        ``rejection``, or ``hmc`` where chains had to go on from the proposals.
    r_hat : float
        Of the chains; 1 for independent draws.
    mode, best : float
        The log density of the highest mode that was found, and the highest that was ever seen.
    """

    draws: Array
    acceptance: float
    pareto_k: float
    sampler: str = "rejection"
    r_hat: float = 1.0
    mode: float = np.nan
    best: float = np.nan

    def good(self, draws: int, worst: float = _PARETO_K_MAX) -> bool:
        """Return whether there are as many draws as asked for, and no part was missed."""
        return len(self.draws) == draws and self.pareto_k <= worst


@dataclass
class Target:
    """A density over unconstrained numbers, its gradient and where to look for it.

    Attributes
    ----------
    log_density : callable
        Takes points × dimensions, returns one number for each.
    start : array
        A first guess.
    gradient : callable, optional
        Takes points × dimensions, returns the log densities and their gradients; infinite or not a
        number where they cannot be computed.
    lower, upper : array, optional
        Where there is any density.
    advance : callable, optional
        Called with the number of points that were evaluated.
    """

    log_density: Density
    start: Array
    gradient: Gradient | None = None
    lower: Array | None = None
    upper: Array | None = None
    advance: Callable[[int], None] = field(default=lambda n: None)
    best: float = -np.inf
    best_point: Array | None = None
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, x: Array) -> Array:
        """Return the log density of each point, and remember the best."""
        values = self.log_density(x)
        if self.lower is not None and self.upper is not None:
            values = np.where(((x > self.lower) & (x < self.upper)).all(axis=1), values, -np.inf)
        self._remember(x, values, len(x))
        return values

    def slope(self, x: Array) -> tuple[Array, Array]:
        """Return the log density and its gradient at each point; outside, no density."""
        values, slopes = np.full(len(x), -np.inf), np.zeros_like(x)
        inside: npt.NDArray[np.bool_] = np.ones(len(x), dtype=bool)
        if self.lower is not None and self.upper is not None:
            inside = np.asarray(((x > self.lower) & (x < self.upper)).all(axis=1))
        which = np.flatnonzero(inside)
        if self.gradient is None:
            n, step = x.shape[1], 1e-4
            around = np.concatenate([np.zeros((1, n)), step * np.eye(n), -step * np.eye(n)])
            nearby = self.log_density((x[which, None] + around).reshape(-1, n))
            nearby = np.maximum(nearby, -_NOWHERE).reshape(len(which), -1)
            values[which] = nearby[:, 0]
            slopes[which] = (nearby[:, 1 : n + 1] - nearby[:, n + 1 :]) / (2 * step)
        elif which.size:
            values[which], slopes[which] = self.gradient(x[which])
        lost = ~np.isfinite(values) | ~np.isfinite(slopes).all(axis=1)
        values[lost], slopes[lost] = -np.inf, 0.0
        self._remember(x, values, 3 * len(x))
        return values, slopes

    def _remember(self, x: Array, values: Array, work: int) -> None:
        top = int(values.argmax())
        with self._lock:  # several searches may run at once
            self.advance(work)
            if values[top] > self.best:
                self.best, self.best_point = float(values[top]), x[top].copy()


def draw_scales(
    target: Target,
    draws: int,
    rng: np.random.Generator,
    *,
    pilot: int = _PILOT,
) -> ScaleDraws:
    """Draw from a density over the logarithms of one or more scales.

    Parameters
    ----------
    target : Target
        The density.
    draws : int
        How many draws.
    rng : Generator
        The source of randomness.
    pilot : int, default 2000
        Points of each round in which the proposal is adapted.
    """
    # A density that is costly to compute has a short pilot, and few searches and chains.
    costly = pilot < _PILOT // 2
    modes = find_modes(target, rng, 1 if costly else _STARTS)
    for _ in range(_SEARCHES):
        if _is_bottomless(target, *modes[0]):
            # Sampling would find nothing else, and take minutes.
            drawn = np.repeat(modes[0][0][None], draws, axis=0)
            return ScaleDraws(drawn, 1.0, np.inf, mode=modes[0][1], best=target.best)
        tried = _proposal(target, modes, rng, pilot, draws)
        results = [_reject(target, tried, draws, pilot, rng)]
        if not results[0].good(draws) and isinstance(tried.proposal, _Mixture):
            again = _adapted(target, tried.proposal, rng, _AGAIN * pilot, draws)
            results.append(_reject(target, again, draws, pilot, rng))
        # Nothing that was seen on the way may lie far above what the search had found.
        if target.best < max(value for _, value in modes) + _BETTER:
            break
        modes = find_modes(target, rng, _STARTS)
    else:
        # The modes that were found last have not been used yet.
        results = [replace(result, pareto_k=np.inf) for result in results]
    result = results[-1]
    if not result.good(draws):
        # Independent draws that a proposal with too light a tail cannot spoil.
        result, proposal = _with_more_points(target, modes, results, rng, pilot, draws)
        if not result.good(draws, _LAST_K_MAX):
            chains = _FEW_CHAINS if costly else _CHAINS
            result = _hamiltonian(target, proposal, result, draws, rng, chains, longest=2 * pilot)
    return replace(result, mode=max(value for _, value in modes), best=target.best)


@dataclass(frozen=True)
class _Tried:
    """A proposal, the points that were drawn from it so far, and their log density."""

    proposal: _Grid | _Mixture
    points: Array
    values: Array


def _with_more_points(
    target: Target,
    modes: list[tuple[Array, float]],
    results: list[ScaleDraws],
    rng: np.random.Generator,
    pilot: int,
    draws: int,
) -> tuple[ScaleDraws, _Grid | _Mixture]:
    """Return the draws of a proposal with arms, adapted to more and more points, and the proposal.

    With few points a proposal is rough; more of them still cost less than chains. All points are
    kept to adapt to.
    """
    proposal: _Grid | _Mixture = _with_arms(target, modes)
    results = results.copy()
    seen = _Seen.nothing(len(target.start))
    for times, rounds, worst in _MORE_POINTS:
        assert isinstance(proposal, _Mixture)  # as are all that are adapted
        tried = _adapted(target, proposal, rng, times * pilot, draws, rounds, seen)
        proposal = tried.proposal
        results.append(_reject(target, tried, draws, pilot, rng, worst))
        fair = [result for result in results if result.good(draws, worst)]
        if fair:
            return fair[-1], tried.proposal
    return results[-1], tried.proposal


def _proposal(
    target: Target,
    modes: list[tuple[Array, float]],
    rng: np.random.Generator,
    pilot: int,
    draws: int,
) -> _Tried:
    n = len(target.start)
    if n in _GRID and len(modes) == 1:
        mode = modes[0][0]
        grid = _Grid.around(target, mode, _curvature(target, mode))
        return _Tried(grid, np.zeros((0, n)), np.zeros(0))
    share = np.exp([value - modes[0][1] for _, value in modes])
    parts = [_around(target, mode) for mode, _ in modes]
    return _adapted(target, _Mixture(parts, share / share.sum()), rng, pilot, draws)


def _around(target: Target, mode: Array) -> _LogGamma:
    """Return a distribution that falls from a mode as the density does, to either side."""
    covariance = _curvature(target, mode)
    sd = np.sqrt(np.diag(covariance))
    # If one number changes, the others do by what the curvature makes of it.
    change = _SIDE * covariance / sd
    values = target(np.concatenate([mode[None], mode - change.T, mode + change.T]))
    # Where the curvature says nothing, a spread of half or twice as much.
    drop = np.clip(values[0] - values[1:], _SIDE**2 / 8, _SIDE**2 * 2)
    left, right = drop.reshape(2, -1)
    spread, skew = _from_drops(left, right, _SIDE * sd)
    return _LogGamma(mode, spread, skew, np.linalg.cholesky(covariance / np.outer(sd, sd)))


def _with_arms(target: Target, modes: list[tuple[Array, float]]) -> _Mixture:
    """Return a proposal that follows each scale towards zero.

    Where one scale is not needed, another explains its share of the outcomes, and the density has
    an arm: it is as wide as the others' uncertainty given that this scale is zero, and falls like
    the scale itself. Two such arms at a right angle are no hill that one distribution fits.
    """
    mode, top = modes[0]
    parts = [_around(target, point) for point, _ in modes]
    heights = [value for _, value in modes]
    # A scale that is known this well is not zero.
    vague = np.flatnonzero(parts[0].spread > _VAGUE).tolist()
    for arm in in_threads(lambda j: _arm(target, mode, j), vague):
        if arm is not None and arm[1] > top - _MINOR:
            parts.append(arm[0])
            heights.append(arm[1])
    share = np.exp(np.array(heights) - max(heights)) + 0.1
    return _Mixture(parts, share / share.sum())


def _arm(target: Target, mode: Array, j: int) -> tuple[_LogGamma, float] | None:
    """Return the arm along which a scale goes to zero, and its height; None if there is none."""
    n = len(mode)
    low = mode[j] - 9.0 if target.lower is None else target.lower[j] + 3.5
    point, base = _climb(target, np.where(np.arange(n) == j, low, mode), fixed=j)
    along = np.linspace(low, max(low + 1, mode[j] + 2.0), 80)
    line = np.tile(point, (len(along), 1))
    line[:, j] = along
    # Along the arm the density of the logarithm rises like the scale, up to a bend.
    bent = target(line) - base - (along - low) < -_BEND
    end = int(bent.argmax()) - 1 if bent.any() else len(along) - 1
    if end < 1:
        return None
    inside = line[end].copy()
    inside[j] = max(low, along[end] - 2.0)
    covariance = _curvature(target, inside)
    covariance[j], covariance[:, j] = 0.0, 0.0
    covariance[j, j] = 1.0
    sd = np.sqrt(np.diag(covariance))
    axes = np.linalg.cholesky(covariance / np.outer(sd, sd))
    # Of a scale itself, the distribution would be exponential.
    skew = np.where(np.arange(n) == j, 1.0, 0.0)
    return _LogGamma(line[end], sd, skew, axes), float(base + along[end] - low)


def _reject(
    target: Target,
    tried: _Tried,
    draws: int,
    pilot: int,
    rng: np.random.Generator,
    worst: float = _PARETO_K_MAX,
) -> ScaleDraws:
    """Keep each proposal as often as its weight says, nearly always once or not at all.

    The weight of a proposal over a bound is the number of times it is kept on average. The bound
    is not the largest weight, which a single odd proposal would push up, but one that few exceed;
    those few may be kept twice or a few times.
    """
    proposal, x, values = tried.proposal, tried.points, tried.values
    size = max(pilot, draws) - len(x)
    chance = np.zeros(0)
    for done in range(_LIMIT):
        if size > 0:
            new = proposal.draw(rng, size)
            x, values = np.concatenate([x, new]), np.concatenate([values, target(new)])
        log_weight = values - proposal.log_density(x)
        chance = np.concatenate([chance, rng.random(len(x) - len(chance))])
        k = pareto_k(log_weight)
        if done == 0:
            bound = np.quantile(log_weight, 1 - _TWICE)
        # No proposal may be a visible share of the draws. A heavier one than any before makes all
        # of them count less.
        bound = max(bound, log_weight.max() - np.log(max(10.0, 0.01 * draws)))
        times = np.floor(np.exp(log_weight - bound) + chance).astype(np.intp)
        accepted = int(times.sum())
        if accepted >= draws:
            points = np.repeat(x, times, axis=0)
            # Repeated points stand side by side.
            points = points[rng.permutation(len(points))[:draws]]
            return ScaleDraws(points, accepted / len(x), k)
        if accepted < _FEWEST * len(x):
            break
        needed = int(1.1 * (draws - accepted) * len(x) / max(accepted, 1)) + 100
        if k > worst and needed > len(x):
            break  # more of these are not worth their time
        size = min(4 * draws, needed)
    return ScaleDraws(np.zeros((0, x.shape[1])), 0.0, k)


def find_modes(
    target: Target, rng: np.random.Generator, from_scan: int = _STARTS
) -> list[tuple[Array, float]]:
    """Return the modes that matter and their log densities, the highest first.

    A scan of points over all that is plausible, then bounded searches from the best of them, from
    the first guess, and from the best point ever seen.
    """
    n = len(target.start)
    lower, upper = _box(target)
    low = np.maximum(lower, target.start - 4.0)
    high = np.minimum(upper, target.start + 1.0)
    scan = rng.uniform(low, high, size=(_SCAN, n))
    values = target(scan)
    starts = [target.start, *scan[np.argsort(-values)[:from_scan]]]
    best = target.best_point
    if best is not None and not any((best == start).all() for start in starts):
        starts.append(best)
    peaks = in_threads(lambda start: _climb(target, start), starts)
    peaks.sort(key=lambda peak: -peak[1])
    modes: list[tuple[Array, float]] = []
    for point, value in peaks:
        apart = all(np.abs(point - other).max() > _APART for other, _ in modes)
        if apart and value > peaks[0][1] - _MINOR and len(modes) < _STARTS:
            modes.append((point, value))
    return modes


def _is_bottomless(target: Target, mode: Array, value: float) -> bool:
    """Return whether the density grows without end as a scale goes to zero."""
    lower, _ = _box(target)
    bottom = mode < lower + _AT_BOTTOM
    if not bottom.any():
        return False
    higher = np.where(bottom, lower + _ABOVE_BOTTOM, mode)
    return _climb(target, higher, np.flatnonzero(bottom))[1] < value - _STEEP


def _box(target: Target) -> tuple[Array, Array]:
    """Return the bounds of a search."""
    lower = target.start - _FAR if target.lower is None else target.lower + 0.5
    upper = target.start + _FAR if target.upper is None else target.upper - 0.5
    return lower, upper


def _climb(target: Target, start: Array, fixed: int | Codes | None = None) -> tuple[Array, float]:
    """Return the mode above a point and its log density, perhaps with some numbers as they are.

    After some steps the unit of each number becomes its spread, as the curvature has it: a scale of
    a thousand rows is known a hundred times as well as one of ten words.
    """
    lower, upper = (side.copy() for side in _box(target))
    if fixed is not None:
        lower[fixed] = upper[fixed] = start[fixed]
    point, unit = np.clip(start, lower, upper), np.ones(len(start))
    for steps in (_FIRST_STEPS, _MOST_STEPS):

        def negative(z: Array, origin: Array = point, unit: Array = unit) -> tuple[float, Array]:
            value, slope = target.slope((origin + unit * z)[None])
            # Outside of where there is any density the search is sent back, not lost.
            return min(-float(value[0]), _NOWHERE), -slope[0] * unit

        search = optimize.minimize(
            negative,
            np.zeros(len(point)),
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([(lower - point) / unit, (upper - point) / unit]),
            # The density of many rows is a large number, of which the last digits matter.
            options={"maxiter": steps, "gtol": _LEVEL, "ftol": 1e-13},
        )
        point = np.clip(point + unit * search.x, lower, upper)
        if search.get("nit", 0) < steps:  # not even counted where every number is fixed
            break
        unit = np.sqrt(np.diag(_curvature(target, point)))
    return point, -float(search.fun)


def _curvature(target: Target, mode: Array) -> Array:
    """Return the inverse of the curvature at a mode."""
    n = len(mode)
    # A wide step: it is the shape of the bulk that matters.
    wide = 0.05
    _, slopes = target.slope(np.concatenate([mode + wide * np.eye(n), mode - wide * np.eye(n)]))
    curvature = -(slopes[:n] - slopes[n:]) / (2 * wide)
    curvature = (curvature + curvature.T) / 2
    values, vectors = np.linalg.eigh(curvature)
    # A direction that is flat, or curved the wrong way, gets a wide but finite spread.
    values = np.maximum(values, 0.25)
    result: Array = (vectors / values) @ vectors.T
    return result


@dataclass
class _Chains:
    """The state of many chains, moved all at once."""

    at: Array
    value: Array
    slope: Array
    log_weight: Array  # of the states, against the proposal

    def keep(self, other: _Chains, which: npt.NDArray[np.bool_]) -> None:
        self.at = np.where(which[:, None], other.at, self.at)
        self.value = np.where(which, other.value, self.value)
        self.slope = np.where(which[:, None], other.slope, self.slope)
        self.log_weight = np.where(which, other.log_weight, self.log_weight)


def _hamiltonian(
    target: Target,
    proposal: _Grid | _Mixture,
    rejected: ScaleDraws,
    draws: int,
    rng: np.random.Generator,
    n_chains: int,
    longest: int,
) -> ScaleDraws:
    """Run many chains at once, from points resampled by their weights.

    A step is a trajectory of Hamiltonian dynamics, which moves states in the tails, and an
    independent proposal, which moves states between hills. The chains get longer, and their first
    half is left out, until they agree.
    """
    x = proposal.draw(rng, _HMC_PILOT)
    log_weight = target(x) - proposal.log_density(x)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    centre = weight @ x
    spread = (x - centre).T @ ((x - centre) * weight[:, None])
    # With few effective points the spread is rough; a little of the proposal's own helps.
    covariance = np.cov(x.T).reshape(spread.shape)
    effective = 1 / (weight**2).sum()
    mix = x.shape[1] / (x.shape[1] + effective)
    root = _root((1 - mix) * spread + mix * covariance)
    which = rng.choice(len(x), n_chains, p=weight)
    chains = _Chains(x[which], *target.slope(x[which]), log_weight[which])
    step = 0.7 / x.shape[1] ** 0.25
    history: list[Array] = []
    for i in range(_HMC_WARM):
        chance = _trajectory(target, proposal, chains, root, step, rng)
        _independent(target, proposal, chains, rng)
        step = float(np.clip(step * np.exp(0.5 * (chance - 0.8) / (1 + i % 30) ** 0.5), 1e-3, 1.5))
        history.append(chains.at)
        if i % 30 == 29:
            root = _root(np.cov(np.concatenate(history[-20:]).T).reshape(spread.shape))
    history, accepted = [], []
    length = max(_HMC_SHORTEST, 2 * -(-draws // n_chains))
    while True:
        while len(history) < length:
            accepted.append(_trajectory(target, proposal, chains, root, step, rng))
            _independent(target, proposal, chains, rng)
            history.append(chains.at)
        half = np.stack(history[length // 2 :], axis=1)  # chains × draws × dimensions
        r_hat = split_r_hat(half)
        if r_hat < _R_HAT_MAX or 2 * length > min(longest, _HMC_LONGEST):
            break
        length *= 2
    result = half.reshape(-1, half.shape[2])
    order = rng.permutation(len(result))[:draws]
    return ScaleDraws(
        result[order], float(np.mean(accepted)), rejected.pareto_k, sampler="hmc", r_hat=r_hat
    )


def _root(covariance: Array) -> Array:
    """Return the Cholesky factor of a covariance that may be nearly singular."""
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, max(1e-6 * values[-1], 1e-12))
    root: Array = np.linalg.cholesky((vectors * values) @ vectors.T)
    return root


def _trajectory(
    target: Target,
    proposal: _Grid | _Mixture,
    chains: _Chains,
    root: Array,
    step: float,
    rng: np.random.Generator,
) -> float:
    """Move each chain along a trajectory; return the mean probability of acceptance."""
    momentum = rng.standard_normal(chains.at.shape)
    before = chains.value - 0.5 * (momentum**2).sum(axis=1)
    # A quarter of a turn, more or less, in coordinates in which the spread is one.
    steps = int(np.clip(round(rng.uniform(0.5, 2.5) * np.pi / 2 / step), 1, _HMC_STEPS))
    at, value, slope = chains.at, chains.value, chains.slope
    # Steps of many sizes: where the density is narrow only small ones are accepted.
    step_sizes = step * np.exp(rng.uniform(-1.5, 0.2, (len(at), 1)))
    for _ in range(steps):
        momentum = momentum + 0.5 * step_sizes * (slope @ root)
        at = at + step_sizes * (momentum @ root.T)
        value, slope = target.slope(at)
        momentum = momentum + 0.5 * step_sizes * (slope @ root)
    energy = value - 0.5 * (momentum**2).sum(axis=1)
    chance = np.exp(np.minimum(0.0, np.where(np.isnan(energy), -np.inf, energy) - before))
    new = _Chains(at, value, slope, value - proposal.log_density(at))
    chains.keep(new, rng.random(len(at)) < chance)
    return float(chance.mean())


def _independent(
    target: Target, proposal: _Grid | _Mixture, chains: _Chains, rng: np.random.Generator
) -> None:
    """Offer each chain points of the proposal, which do not depend on where it is."""
    n = len(chains.at)
    if not _OFFERS:
        return
    x = proposal.draw(rng, _OFFERS * n)
    value = target(x)
    log_weight = value - proposal.log_density(x)
    ratio = rng.random((_OFFERS, n))
    moved = np.zeros(n, dtype=bool)
    for offer in range(_OFFERS):
        part = slice(offer * n, (offer + 1) * n)
        with np.errstate(invalid="ignore"):
            chance = np.exp(np.minimum(0.0, log_weight[part] - chains.log_weight))
        keep = ratio[offer] < np.nan_to_num(chance)
        chains.keep(_Chains(x[part], value[part], np.zeros_like(x[part]), log_weight[part]), keep)
        moved |= keep
    if moved.any():
        _, chains.slope[moved] = target.slope(chains.at[moved])


def split_r_hat(chains: Array) -> float:
    """Return the largest split R-hat over the dimensions."""
    n = chains.shape[1] // 2
    if n < 2:
        return np.inf
    halves = np.concatenate([chains[:, :n], chains[:, -n:]])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    return float(np.sqrt((n - 1) / n + between / np.maximum(within, 1e-300)).max())


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
class _LogGamma:
    """Correlated log-gamma distributions with heavier tails.

    The logarithm of a scale that may be zero has a density that falls like exp(x) to the left and
    much faster to the right; that of a scale learnt from a few words is skewed to the right; with
    many words it is normal. The log-gamma family has all of these (Prentice 1974): with skew q, its
    density at `mode` + `spread` · w is proportional to exp((q w - exp(q w)) / q²). Each coordinate
    is a function of a variable that would be normal if the innovations were: these are from a t
    distribution, so that no tail is too light.
    """

    mode: Array
    spread: Array
    skew: Array  # positive: a long tail to the left
    axes: Array  # of the correlations

    @cached_property
    def quantiles(self) -> Array:
        """The function of each coordinate, at the nodes: coordinates × nodes."""
        pairs = zip(self.mode, self.spread, self.skew, strict=True)
        return np.stack([mode + spread * _quantiles_at_nodes(skew) for mode, spread, skew in pairs])

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        z = rng.standard_t(_DEGREES, (size, len(self.mode))) @ self.axes.T
        cell = np.clip(((z - _NODES[0]) / _NODE_STEP).astype(np.intp), 0, len(_NODES) - 2)
        column = np.arange(len(self.mode))
        low, high = self.quantiles[column, cell], self.quantiles[column, cell + 1]
        result: Array = low + (high - low) / _NODE_STEP * (z - _NODES[cell])
        return result

    def standardised(self, x: Array) -> tuple[Array, Array]:
        """Return the variables that would be normal, and the log of their slopes by x."""
        z, slope = np.empty_like(x), np.empty_like(x)
        for j, nodes in enumerate(self.quantiles):
            cell = np.clip(np.searchsorted(nodes, x[:, j]) - 1, 0, len(nodes) - 2)
            slope[:, j] = _NODE_STEP / (nodes[cell + 1] - nodes[cell])
            z[:, j] = _NODES[cell] + (x[:, j] - nodes[cell]) * slope[:, j]
        return z, np.log(slope)

    def log_density(self, x: Array) -> Array:
        z, log_slope = self.standardised(x)
        v = np.linalg.solve(self.axes, z.T).T
        # The determinant of the axes differs between the parts of a mixture.
        result: Array = log_slope.sum(axis=1) - np.log(np.diag(self.axes)).sum()
        result -= (_DEGREES + 1) / 2 * np.log1p(v**2 / _DEGREES).sum(axis=1)
        return result


@lru_cache(maxsize=512)
def _quantiles_at_nodes(skew: float) -> Array:
    """Return the quantiles of a log-gamma distribution at the nodes; read only."""
    quantiles = _standard_quantiles(skew)
    quantiles.flags.writeable = False
    return quantiles


def _standard_quantiles(skew: float, nodes: Array = _NODES) -> Array:
    """Return the quantiles of a log-gamma distribution at those of a normal one."""
    if abs(skew) < _NO_SKEW:
        return nodes.copy()
    shape = skew**-2
    # The smaller of the two tails has all its digits.
    below, tail = (nodes if skew > 0 else -nodes) < 0, special.ndtr(-np.abs(nodes))
    quantile = np.where(below, special.gammaincinv(shape, tail), special.gammainccinv(shape, tail))
    # Close to zero, a gamma variable's probability is a power of it.
    tiny = (special.log_ndtr(-np.abs(nodes)) + special.gammaln(shape + 1)) / shape
    log_quantile = np.where(below & (tiny < -50), tiny, np.log(np.maximum(quantile, 1e-300)))
    result: Array = (log_quantile - np.log(shape)) / skew
    return result


@cache
def _shapes() -> tuple[Array, Array]:
    """Return skews, and for each the asymmetry, the median and the distance of two quantiles.

    The quantiles are those of 10% and 90%. The asymmetry, the logarithm of the ratio of their
    distances from the median, falls as the skew grows.
    """
    skews = np.linspace(-_MOST_SKEW, _MOST_SKEW, 401)
    asked = np.array([-_NORMAL_90, 0.0, _NORMAL_90])
    nodes = _NODES[np.abs(np.subtract.outer(_NODES, asked)).min(axis=1) < _NODE_STEP]
    table = []
    for skew in skews:
        low, median, high = np.interp(asked, nodes, _standard_quantiles(skew, nodes))
        table.append([np.log((high - median) / (median - low)), median, high - low])
    return skews, np.array(table).T


@cache
def _asymmetries() -> tuple[Array, Array]:
    """Return a = skew · w, and how much faster, in logarithms, a density falls at w than at -w."""
    a = np.linspace(-8.0, 8.0, 1601)
    a = a[np.abs(a) > 1e-9]
    return a, np.log((np.expm1(a) - a) / (np.expm1(-a) + a))


def _from_drops(left: Array, right: Array, distance: Array) -> tuple[Array, Array]:
    """Return spread and skew of distributions that fall by so much, at a distance from the mode."""
    at, ratio = _asymmetries()
    a = np.interp(np.log(right / left), ratio, at)
    a = np.where(np.abs(a) < 1e-4, 1e-4, a)  # the limit at zero, without dividing by it
    size = np.sqrt((np.expm1(-a) + a) / left)
    skew = np.clip(np.sign(a) * size, -_MOST_SKEW, _MOST_SKEW)
    return size / np.abs(a) * distance, skew


@dataclass(frozen=True)
class _Mixture:
    """One such distribution for each mode."""

    parts: list[_LogGamma]
    share: Array

    def draw(self, rng: np.random.Generator, size: int) -> Array:
        if len(self.parts) == 1:
            return self.parts[0].draw(rng, size)
        counts = rng.multinomial(size, self.share)
        points = [p.draw(rng, n) for p, n in zip(self.parts, counts, strict=True)]
        return np.concatenate(points)[rng.permutation(size)]

    def by_part(self, x: Array) -> Array:
        """Return parts × points."""
        values = [p.log_density(x) for p in self.parts]
        return np.stack(values) + np.log(self.share)[:, None]

    def log_density(self, x: Array) -> Array:
        result: Array = np.logaddexp.reduce(self.by_part(x), axis=0)
        return result


@dataclass
class _Seen:
    """All points so far, their log density, and that of each proposal they were drawn from."""

    points: Array
    values: Array
    tried: list[_Mixture] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    log_tried: list[Array] = field(default_factory=list)  # of each proposal, at all points

    @classmethod
    def nothing(cls, n: int) -> _Seen:
        return cls(np.zeros((0, n)), np.zeros(0))

    def add(self, x: Array, values: Array, proposal: _Mixture, by_part: Array) -> Array:
        """Add points drawn from a proposal; return the density of each of its parts at all points.

        `by_part` has the parts' densities at the new points.
        """
        before = proposal.by_part(self.points)
        log_tried = zip(self.tried, self.log_tried, strict=True)
        self.log_tried = [np.append(known, each.log_density(x)) for each, known in log_tried]
        all_parts = np.concatenate([before, by_part], axis=1)
        self.log_tried.append(np.logaddexp.reduce(all_parts, axis=0))
        self.points = np.concatenate([self.points, x])
        self.values = np.append(self.values, values)
        self.tried.append(proposal)
        self.sizes.append(len(x))
        return all_parts

    def log_weight(self) -> Array:
        """Return the weights of all points, as if drawn from the mixture of all proposals."""
        mixture = np.logaddexp.reduce(np.stack(self.log_tried) + np.log(self.sizes)[:, None])
        result: Array = self.values - mixture
        return result


def _adapted(
    target: Density,
    proposal: _Mixture,
    rng: np.random.Generator,
    pilot: int,
    draws: int,
    rounds: int = _ROUNDS,
    seen: _Seen | None = None,
) -> _Tried:
    """Return a proposal with roughly the quantiles and the correlations of the density.

    The points of all rounds count, as if they came from the mixture of all proposals so far
    (adaptive multiple importance sampling; Cornuet et al. 2012), and those that were seen before.
    A proposal that fits the points drawn from it is not adapted to them: so they remain draws from
    it that can be used.
    """
    n = len(proposal.parts[0].mode)
    seen = _Seen.nothing(n) if seen is None else seen
    # Points that a proposal is adapted to are lost as draws: that must save more than it costs.
    close = max(_CLOSE, 1 / (1 / _HOPED + _ACCEPTED * pilot / draws))
    for _ in range(rounds):
        x = proposal.draw(rng, pilot)
        values = target(x)
        by_part = proposal.by_part(x)
        log_weight = values - np.logaddexp.reduce(by_part, axis=0)
        if _effective(log_weight) > close * pilot and pareto_k(log_weight) < _LIGHT:
            return _Tried(proposal, x, values)
        by_part = seen.add(x, values, proposal, by_part)
        log_weight = seen.log_weight()
        # Tempered while the proposal is still far off, so that many draws count. Those of no
        # density never do.
        enough = min(pilot / 20, np.isfinite(log_weight).sum() / 2)
        while _effective(log_weight) < enough:
            log_weight = log_weight / 2
        weight = special.softmax(log_weight)
        of_part = special.softmax(by_part, axis=0) * weight
        share = 0.9 * of_part.sum(axis=1) + 0.1 / len(of_part)
        parts = [
            _moved(part, seen.points, part_weight)
            for part, part_weight in zip(proposal.parts, of_part, strict=True)
        ]
        proposal = _Mixture(parts, share / share.sum())
    return _Tried(proposal, np.zeros((0, n)), np.zeros(0))


def _effective(log_weight: Array) -> float:
    """Return the number of points of equal weight that are worth as much as these."""
    weight = np.exp(log_weight - log_weight.max())
    return float(weight.sum() ** 2 / (weight**2).sum())


def _moved(part: _LogGamma, x: Array, weight: Array) -> _LogGamma:
    """Return a part of the proposal, moved to where its share of the density is."""
    total = weight.sum()
    n = x.shape[1]
    if total**2 < 5 * n * (weight**2).sum():
        return part  # too few points to go by
    weight = weight / total
    low, centre, high = _quantiles(x, weight, (0.1, 0.5, 0.9))
    high, low = np.maximum(high, centre + 1e-6), np.minimum(low, centre - 1e-6)
    skews, (asymmetry, median, width) = _shapes()
    skew = np.interp(np.log((centre - low) / (high - centre)), -asymmetry, skews)
    spread = (high - low) / np.interp(skew, skews, width)
    mode = centre - spread * np.interp(skew, skews, median)
    moved = _LogGamma(mode, spread, skew, np.eye(n))
    v = moved.standardised(x)[0]
    v -= weight @ v
    covariance = v.T @ (v * weight[:, None])
    size = np.sqrt(np.diag(covariance))
    # Few effective points make correlations that are not there.
    effective = 1 / (weight**2).sum()
    shrunk = covariance / np.outer(size, size) * effective / (effective + n)
    np.fill_diagonal(shrunk, 1.0)
    return replace(moved, axes=np.linalg.cholesky(shrunk))


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
    weight = special.softmax(likelihood)
    weight = np.where(weight >= 10 * np.finfo(float).eps, weight, 0)
    best = (b * weight).sum() / weight.sum()
    shape = np.log1p(-best * x).mean()
    # A weak prior towards 0.5, worth ten observations.
    return float((n * shape + 10 * 0.5) / (n + 10))
