"""Draws of scales from densities whose distributions are known."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
import pytest
from brute_force import make_table
from scipy import stats

import bayesbias as bb
from bayesbias.inference import scales
from bayesbias.inference.data import model_data
from bayesbias.inference.exact import sample_exactly
from bayesbias.inference.scales import ScaleDraws, draw_scales, pareto_k

DRAWS = 8000


def drawn(log_density: Callable, start: list[float], seed: int = 1) -> ScaleDraws:
    found = draw_scales(log_density, np.array(start), DRAWS, np.random.default_rng(seed))
    assert found.draws.shape == (DRAWS, len(start))
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
    assert len(np.unique(found.draws, axis=0)) == DRAWS


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


def test_giving_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws that miss a part of the density are not passed off as a sample."""
    # Tails that are much heavier than those of the proposal.
    for seed in range(3):
        rng = np.random.default_rng(seed)
        found = draw_scales(lambda x: stats.t.logpdf(x, 0.5).sum(axis=1), np.zeros(8), 500, rng)
        assert found.pareto_k > 0.7 or len(found.draws) < 500

    spec, table = bb.load_model("crossed"), make_table()
    monkeypatch.setattr(
        "bayesbias.inference.exact.draw_scales",
        lambda density, start, draws, rng: ScaleDraws(np.zeros((draws, len(start))), 0.001, 0.9),
    )
    with pytest.raises(bb.DataError, match="cannot draw from model 'crossed'.*0.10%.*0.90.*nuts"):
        sample_exactly(spec, model_data(spec, table), 100, np.random.default_rng(1))


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
    grid = scales._Grid.around(lambda x: stats.norm.logpdf(x).sum(axis=1), np.zeros(2), np.eye(2))
    assert np.exp(grid.log_cell).sum() == pytest.approx(1)
    x = grid.draw(np.random.default_rng(1), 500)
    exact = stats.norm.logpdf(x).sum(axis=1) + np.log(grid.width.prod())
    assert np.abs(grid.log_density(x) - exact)[exact > exact.max() - 8].max() < 0.6
