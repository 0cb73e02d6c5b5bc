"""Draws of scales from densities whose distributions are known."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
import pytest
from scipy import stats

from bayesbias.models.exact import scale_draws
from bayesbias.models.exact.scale_draws import ScaleDraws, Target, draw_scales, find_modes, pareto_k

pytestmark = pytest.mark.numpy_only

DRAWS = 8000


def drawn(log_density: Callable, start: list[float], seed: int = 1) -> ScaleDraws:
    target = Target(log_density, np.array(start))
    found = draw_scales(target, DRAWS, np.random.default_rng(seed))
    assert found.draws.shape == (DRAWS, len(start))
    assert found.sampler == "rejection"
    assert found.best < found.mode + 0.01
    assert 0 < found.acceptance <= 1
    assert found.pareto_k < 0.7
    return found


def assert_follows(values: np.ndarray, distribution) -> None:
    assert stats.kstest(values, distribution.cdf).pvalue > 1e-4


@pytest.mark.parametrize(
    "distribution",
    [
        stats.norm(-2, 0.5),
        stats.norm(30, 0.05),
        stats.norm(0, 1e-3),
        # The logarithm of a gamma variable: the long left tail that scales near zero have.
        stats.loggamma(0.3),
        stats.loggamma(1),
        stats.loggamma(20),
        stats.skewnorm(8),
        stats.t(4),
        stats.gumbel_r(),
    ],
    ids=lambda d: f"{d.dist.name}{d.args}",
)
@pytest.mark.parametrize("seed", [1, 2])
def test_one_scale(distribution, seed: int) -> None:
    found = drawn(lambda x: distribution.logpdf(x[:, 0]), [0.1], seed)
    assert_follows(found.draws[:, 0], distribution)


def test_two_hills() -> None:
    parts = stats.norm(-2, 0.4), stats.norm(2, 0.6)
    found = drawn(lambda x: np.logaddexp(*[p.logpdf(x[:, 0]) for p in parts]), [1.5])
    assert (
        stats.kstest(found.draws[:, 0], lambda x: (parts[0].cdf(x) + parts[1].cdf(x)) / 2).pvalue
        > 0.001
    )


@pytest.mark.parametrize("n", [2, 3, 5])
def test_several_scales(n: int) -> None:
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n)) + np.eye(n)
    normal = stats.multivariate_normal(rng.normal(size=n), root @ root.T / n)
    found = drawn(lambda x: np.atleast_1d(normal.logpdf(x)), [0.0] * n)
    away = found.draws - normal.mean
    for i in range(n):
        assert_follows(away[:, i], stats.norm(0, np.sqrt(normal.cov[i, i])))
    squares = (away * np.linalg.solve(normal.cov, away.T).T).sum(axis=1)
    assert_follows(squares, stats.chi2(n))


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("shape", [1.0, 4.0])
def test_several_skewed_scales(n: int, shape: float) -> None:
    one = stats.loggamma(shape)
    found = drawn(lambda x: one.logpdf(x).sum(axis=1), [0.0] * n)
    for i in range(n):
        assert_follows(found.draws[:, i], one)
    # The smallest of them: how the tails go together.
    smallest = found.draws.min(axis=1)
    assert stats.kstest(smallest, lambda x: 1 - one.sf(x) ** n).pvalue > 1e-4


def test_a_bent_density() -> None:
    def log_density(x: np.ndarray) -> np.ndarray:
        bend = stats.norm.logpdf(x[:, 1], 0.5 * x[:, 0] ** 2, 0.5)
        return stats.norm.logpdf(x[:, 0]) + bend

    found = drawn(log_density, [0.0, 0.0])
    assert_follows(found.draws[:, 0], stats.norm())
    assert_follows(found.draws[:, 1] - 0.5 * found.draws[:, 0] ** 2, stats.norm(0, 0.5))


def test_draws_are_independent() -> None:
    found = drawn(lambda x: stats.norm.logpdf(x).sum(axis=1), [0.0] * 3)
    for i in range(3):
        assert abs(stats.pearsonr(found.draws[1:, i], found.draws[:-1, i]).statistic) < 0.04
    # A few proposals lie above the bound, and may be kept twice.
    assert len(np.unique(found.draws, axis=0)) > 0.98 * DRAWS


def test_the_constant_does_not_matter() -> None:
    one = drawn(lambda x: stats.norm.logpdf(x[:, 0]), [0.0])
    other = drawn(lambda x: stats.norm.logpdf(x[:, 0]) + 12345.0, [0.0])
    np.testing.assert_allclose(one.draws, other.draws, atol=1e-6)


def test_same_seed_same_draws() -> None:
    def log_density(x: np.ndarray) -> np.ndarray:
        return stats.loggamma.logpdf(x, 2).sum(axis=1)

    one, same, other = (drawn(log_density, [0.0] * 3, seed).draws for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not (one == other).any()


def test_a_narrow_hill_far_from_the_first_guess() -> None:
    """The search climbs to it from a wide plain."""
    normal = stats.norm([2.0, -3.0, 1.0], 0.02)
    found = drawn(lambda x: normal.logpdf(x).sum(axis=1), [0.0] * 3)
    for i, mean in enumerate((2.0, -3.0, 1.0)):
        assert_follows(found.draws[:, i], stats.norm(mean, 0.02))


def test_all_hills_are_found() -> None:
    centres = np.array([[-1.5] * 3, [0.8] * 3])

    def log_density(x: np.ndarray) -> np.ndarray:
        hills = [stats.norm.logpdf(x, c, 0.3).sum(axis=1) for c in centres]
        return np.logaddexp(*hills)

    modes = find_modes(Target(log_density, np.zeros(3)), np.random.default_rng(1))
    assert len(modes) == 2
    found = drawn(log_density, [0.0] * 3)
    share = (found.draws[:, 0] < 0).mean()
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(DRAWS) + 0.02


def arms(x: np.ndarray) -> np.ndarray:
    """Two scales whose squares add up to a variance that is known well: an L in their logarithms.

    The variance has 200 degrees of freedom; each scale has an exponential prior.
    """
    a, b = np.exp(2 * x[:, 0]), np.exp(2 * x[:, 1])
    total = a + b
    prior = (x[:, :2] - np.exp(x[:, :2])).sum(axis=1)
    return -100 * (np.log(total) + 1 / total) + prior + stats.norm.logpdf(x[:, 2:]).sum(axis=1)


def on_a_grid() -> tuple[np.ndarray, np.ndarray]:
    """Return the first coordinate and its cumulative distribution."""
    x = np.linspace(-16, 1.0, 3401)
    points = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    density = np.exp(arms(points) + 100).reshape(len(x), -1).sum(axis=1)
    return x + (x[1] - x[0]) / 2, density.cumsum() / density.sum()


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 4])
def test_arms_at_a_right_angle(n: int) -> None:
    edges, cumulative = on_a_grid()
    target = Target(arms, np.full(n, -0.7), lower=np.full(n, -16.0), upper=np.full(n, 6.0))
    found = draw_scales(target, DRAWS, np.random.default_rng(n))
    assert found.r_hat < 1.02
    for i in range(2):
        # Chains, where they were needed, are a little dependent.
        some = found.draws[:, i] if found.sampler == "rejection" else found.draws[::8, i]
        assert stats.kstest(some, lambda x: np.interp(x, edges, cumulative)).pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize(
    "distribution",
    [stats.norm(0.5, 0.4), stats.loggamma(1), stats.t(6)],
    ids=lambda d: f"{d.dist.name}{d.args}",
)
def test_chains_follow_the_density(distribution, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where too few proposals are kept, chains go on; here, always."""
    monkeypatch.setattr(ScaleDraws, "good", lambda self, *args: False)
    monkeypatch.setattr(scale_draws, "_GRID", {})

    def log_density(x: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # far out, where the density is zero
            return distribution.logpdf(x).sum(axis=1)

    found = draw_scales(Target(log_density, np.zeros(n)), DRAWS, np.random.default_rng(n))
    assert found.sampler == "hmc"
    assert found.draws.shape == (DRAWS, n)
    assert found.r_hat < 1.01
    for i in range(n):
        assert_follows(found.draws[::4, i], distribution)
    if n > 1:
        smallest = found.draws[::4].min(axis=1)
        assert stats.kstest(smallest, lambda x: 1 - distribution.sf(x) ** n).pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("offers", [0, 3])
def test_chains_follow_a_density_that_the_proposal_does_not(
    offers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trajectories by themselves, and together with independent moves."""
    monkeypatch.setattr(ScaleDraws, "good", lambda self, *args: False)
    monkeypatch.setattr(scale_draws, "_OFFERS", offers)

    def log_density(x: np.ndarray) -> np.ndarray:
        bend = stats.norm.logpdf(x[:, 1], 0.5 * x[:, 0] ** 2, 0.5)
        return stats.norm.logpdf(x[:, 0]) + bend + stats.norm.logpdf(x[:, 2:]).sum(axis=1)

    found = draw_scales(Target(log_density, np.zeros(4)), 4000, np.random.default_rng(3))
    assert found.sampler == "hmc"
    # Without independent moves, which the engine always makes, chains mix more slowly.
    assert found.r_hat < (1.02 if offers else 1.05)
    some = found.draws[::4]
    assert_follows(some[:, 0], stats.norm())
    assert_follows(some[:, 1] - 0.5 * some[:, 0] ** 2, stats.norm(0, 0.5))
    assert_follows(some[:, 2], stats.norm())


@pytest.mark.parametrize(
    ("tails", "used"),
    [
        ([0.6, 0.4], 1),
        ([0.6, 0.9, 0.4], 2),
        ([0.6, 0.9, 0.9, 0.65], 3),
        # The last is worse than those before.
        ([0.6, 0.9, 0.65, 0.9], 2),
        ([0.6, 0.65, 0.9, 0.9], 1),
        ([0.65, 0.9, 0.9, 0.9], 0),
        ([0.9, 0.9, 0.9, 0.8, 0.6], 4),
        ([0.9, 0.9, 0.9, 0.8, 0.9, 0.6], 5),
        ([0.9, 0.9, 0.9, 0.8, 0.9, 0.8], None),
    ],
)
def test_chains_are_the_last_resort(
    tails: list[float], used: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draws with a Pareto k up to 0.7 are used once proposals with more points are no better."""
    made: list[ScaleDraws] = []

    def reject(target: Target, tried: object, draws: int, *_: object) -> ScaleDraws:
        made.append(ScaleDraws(np.full((draws, 3), float(len(made))), 0.5, tails[len(made)]))
        return made[-1]

    monkeypatch.setattr(scale_draws, "_reject", reject)
    monkeypatch.setattr(scale_draws, "_HMC_LONGEST", 60)
    target = Target(lambda x: stats.norm.logpdf(x).sum(axis=1), np.zeros(3))
    found = draw_scales(target, 100, np.random.default_rng(1))
    assert len(made) == len(tails)
    assert found.sampler == ("hmc" if used is None else "rejection")
    if used is not None:
        assert found.pareto_k == tails[used]
        np.testing.assert_array_equal(found.draws, used)


@pytest.mark.slow
def test_tails_that_no_proposal_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws that miss a part of the density are not passed off as a sample: chains go on."""
    monkeypatch.setattr(scale_draws, "_HMC_LONGEST", 100)
    samplers = []
    for seed in range(4):
        target = Target(lambda x: -0.75 * np.log1p(x**2 / 0.5).sum(axis=1), np.zeros(6))
        found = draw_scales(target, 500, np.random.default_rng(seed))
        assert found.draws.shape == (500, 6)
        assert found.sampler == "hmc" or found.pareto_k <= 0.5
        samplers.append(found.sampler)
    # Now and then the largest of the weights is missed; no scale has such tails.
    assert samplers.count("hmc") >= 3


def test_chains_with_the_same_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScaleDraws, "good", lambda self, *args: False)

    def once(seed: int) -> np.ndarray:
        target = Target(lambda x: stats.loggamma.logpdf(x, 2).sum(axis=1), np.zeros(3))
        return draw_scales(target, 300, np.random.default_rng(seed)).draws

    np.testing.assert_array_equal(once(1), once(1))
    assert not (once(1) == once(2)).any()


# The tail index.


def arviz_k(log_weights: np.ndarray) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        if version("arviz").startswith("0."):
            import arviz

            return float(arviz.psislw(log_weights)[1])
        from arviz_stats.base import array_stats

    # It takes log likelihoods, whose negatives are the weights of leaving a row out.
    return float(array_stats.psislw(-log_weights, r_eff=1, axis=-1)[1])


@pytest.mark.parametrize("n", [500, 2000, 8000])
@pytest.mark.parametrize(
    "distribution",
    [
        stats.norm(0, 0.3),
        stats.norm(0, 1),
        stats.norm(0, 3),
        stats.expon(scale=0.3),  # weights with a Pareto tail of this index
        stats.expon(scale=0.7),
        stats.expon(scale=1.2),
        stats.uniform(0, 1),
    ],
    ids=lambda d: f"{d.dist.name}{d.args}{d.kwds}",
)
def test_tail_index_is_that_of_arviz(distribution, n: int) -> None:
    log_weights = distribution.rvs(n, random_state=np.random.default_rng(n))
    found = pareto_k(log_weights)
    assert found == pytest.approx(arviz_k(log_weights), abs=0.05)
    assert found == pytest.approx(pareto_k(log_weights - 700), abs=1e-9)


def test_tail_index_of_a_known_tail() -> None:
    for k in (0.2, 0.5, 0.9):
        log_weights = stats.expon(scale=k).rvs(100_000, random_state=np.random.default_rng(1))
        assert pareto_k(log_weights) == pytest.approx(k, abs=0.1)


def test_tail_index_of_equal_weights() -> None:
    assert pareto_k(np.zeros(1000)) == -np.inf
    # A few values only, many times each: no tail to speak of, but no fault either.
    assert not np.isnan(pareto_k(np.repeat([0.0, -1.0, -3.0], [50, 500, 450])))
    assert not np.isnan(pareto_k(np.concatenate([np.zeros(20), np.full(980, -np.inf)])))


def test_grid_of_cells_is_a_distribution() -> None:
    grid = scale_draws._Grid.around(
        lambda x: stats.norm.logpdf(x).sum(axis=1), np.zeros(2), np.eye(2)
    )
    assert np.exp(grid.log_cell).sum() == pytest.approx(1)
    x = grid.draw(np.random.default_rng(1), 500)
    exact = stats.norm.logpdf(x).sum(axis=1) + np.log(grid.width.prod())
    assert np.abs(grid.log_density(x) - exact)[exact > exact.max() - 8].max() < 0.6


@pytest.mark.slow
def test_parts_of_a_mixture_are_distributions() -> None:
    """Each integrates to one, however its coordinates are correlated."""
    axes = np.linalg.cholesky(np.array([[1, 0.9], [0.9, 1]]))
    part = scale_draws._LogGamma(np.zeros(2), np.array([0.5, 0.2]), np.array([0.8, -0.5]), axes)
    x = np.linspace(-12, 12, 2001)
    points = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    constant = stats.t.logpdf(0, scale_draws._DEGREES)
    density = np.exp(part.log_density(points) + 2 * constant)
    assert density.sum() * (x[1] - x[0]) ** 2 == pytest.approx(1, abs=0.01)
    # And it is the density of its own draws: two ways to the share of a quarter.
    inside = (points < 0).all(axis=1)
    share = density[inside].sum() * (x[1] - x[0]) ** 2
    drawn = (part.draw(np.random.default_rng(1), 100_000) < 0).all(axis=1).mean()
    assert drawn == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("skew", [-2.5, -0.4, 0.0, 0.3, 1.0, 2.9])
def test_quantiles_of_a_log_gamma_distribution(skew: float) -> None:
    """They are those of SciPy, mirrored if the skew is negative, far into both tails."""
    nodes = scale_draws._NODES
    quantiles = scale_draws._standard_quantiles(skew)
    assert (np.diff(quantiles) > 0).all()
    if skew == 0:
        assert quantiles == pytest.approx(nodes)
        return
    shape = skew**-2
    here = np.abs(nodes) < 7  # SciPy's have no digits farther out
    distribution = stats.loggamma(shape, loc=-np.log(shape))
    w = skew * quantiles[here]
    probability = np.where(w < 0, distribution.cdf(w), distribution.sf(w))
    z = np.sign(skew) * nodes[here]
    expected = np.where(w < 0, stats.norm.cdf(z), stats.norm.sf(z))
    assert probability == pytest.approx(expected, rel=1e-6)


def test_a_distribution_falls_from_its_mode_as_measured() -> None:
    """Spread and skew are those of the log-gamma density with these drops."""
    left, right = np.array([0.4, 1.125, 1.3, 2.0]), np.array([3.0, 1.125, 1.0, 0.5])
    distance = np.array([1.0, 1.5, 0.7, 2.0])
    spread, skew = scale_draws._from_drops(left, right, distance)
    for sign, drop in ((-1, left), (1, right)):
        w = sign * distance / spread
        fallen = (np.exp(skew * w) - skew * w - 1) / skew**2
        assert fallen == pytest.approx(drop, rel=1e-3)


def test_a_part_takes_over_the_shape_of_its_points() -> None:
    """Fitted to draws of log-gamma distributions, it has their mode, spread and skew."""
    rng = np.random.default_rng(3)
    shape = np.array([1.0, 4.0])
    x = np.log(rng.gamma(shape, 1 / shape, (200_000, 2))) * [1.0, -1.0]
    first = scale_draws._LogGamma(np.zeros(2), np.ones(2), np.zeros(2), np.eye(2))
    moved = scale_draws._moved(first, x, np.full(len(x), 1 / len(x)))
    assert moved.mode == pytest.approx([0, 0], abs=0.03)
    assert moved.skew * moved.spread**-1 == pytest.approx([1, -1], abs=0.05)
    assert moved.skew == pytest.approx([1, -0.5], abs=0.03)
