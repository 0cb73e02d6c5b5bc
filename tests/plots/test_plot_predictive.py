from __future__ import annotations

from dataclasses import replace
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from drawn import assert_apart, handmade, names, simulated_table
from matplotlib.axes import Axes
from scipy import stats

import bayesbias as bb
from bayesbias._core.blocks import blocks
from bayesbias.errors import SpecError
from bayesbias.plots import predictive_plot
from bayesbias.plots.style import CONNECTION_STYLES

CONSTANT = bb.models.ModelSpec.from_dict(
    {
        "name": "constant",
        "mean": ["mu"],
        "scale": "sigma",
        "parameters": {"mu": {"prior": "Normal(1, 1)"}, "sigma": {"prior": "HalfCauchy(1)"}},
    }
)


def constant(mu: float, sigma: float, *, nu: float | None = None, n: int = 2000) -> bb.models.Fit:
    """A fit that is sure of its parameters, of distances that are Normal(1, 0.1)."""
    table = pd.DataFrame(
        {
            "protected_word": "imam",
            "word_to_compare": [f"w{i}" for i in range(n)],
            "word_class": "neutral",
            "cosine_distance": stats.norm(1, 0.1).ppf((np.arange(n) + 0.5) / n),
            "connection": "none",
            "protected_group": "muslim",
        }
    )
    values = {"mu": mu, "sigma": sigma}
    spec = CONSTANT
    if nu is not None:
        spec, values = spec.vary(likelihood="student_t"), values | {"nu": nu}
    posterior = xr.Dataset(
        {name: (("chain", "draw"), np.full((1, 10), value)) for name, value in values.items()}
    )
    return replace(handmade(table, CONSTANT), spec=spec, posterior=posterior)


def observed(ax: Axes) -> list[np.ndarray]:
    """The lines of the observed, from the top: x, and the height over the base of the row."""
    places = ax.get_yticks()
    lines = [np.array(line.get_data()) for line in ax.lines]
    return [np.array([x, y - base]) for (x, y), base in zip(lines, places, strict=True)]


def bands(ax: Axes) -> list[np.ndarray]:
    """The bands, from the top: x, and lower and upper heights over the base of the row."""
    result = []
    for band, base in zip(ax.collections, ax.get_yticks(), strict=True):
        corners = band.get_paths()[0].vertices
        n = (len(corners) - 3) // 2
        low, high = corners[1 : n + 1], corners[n + 2 : 2 * n + 2][::-1]
        np.testing.assert_array_equal(low[:, 0], high[:, 0])
        result.append(np.array([low[:, 0], low[:, 1] - base, high[:, 1] - base]))
    return result


def silverman(y: np.ndarray) -> float:
    return 0.9 * min(y.std(), stats.iqr(y) / 1.34) * len(y) ** -0.2


def test_the_line_is_the_density_of_the_observed() -> None:
    table = simulated_table(3, stereotypes=10, controls=30)
    fit = handmade(table)
    ax = bb.plot_predictive_check(fit, draws=20)
    assert [name.split("\n")[0] for name in names(ax)] == [
        style.label for style in CONNECTION_STYLES.values()
    ]
    for kind, (x, height) in zip(CONNECTION_STYLES, observed(ax), strict=True):
        y = fit.table.loc[fit.table["connection"] == kind, "cosine_distance"].to_numpy()
        density = stats.norm.pdf(x[:, None], y, silverman(y)).mean(axis=1)
        np.testing.assert_allclose(height / height.max(), density / density.max(), atol=0.02)
    assert names(ax)[0].endswith(f"n = {(fit.table['connection'] == 'associated').sum()}")
    assert_apart(ax)


def test_the_band_is_where_the_model_puts_new_tables() -> None:
    fit = constant(0.9, 0.2)
    ax = bb.plot_predictive_check(fit, by=None, draws=400)
    assert names(ax) == ["all distances\nn = 2,000"]
    ((x, low, high),) = bands(ax)
    # What it smooths and what it scales: the kernel, and the highest point to 0.85.
    width = silverman(fit.data.y)
    density = stats.norm.pdf(x, 0.9, np.hypot(0.2, width))
    ((_, line),) = observed(ax)
    scale = line.max() / stats.norm.pdf(1, 1, np.hypot(0.1, width))
    np.testing.assert_allclose((low + high) / 2, scale * density, atol=0.015)
    # The variance of a kernel density estimate of n values.
    middle = slice(len(x) // 3, 2 * len(x) // 3)
    sd = np.sqrt(density / (2 * np.sqrt(np.pi) * width * 2000))[middle]
    half = stats.norm.ppf(0.945) * sd * scale
    np.testing.assert_allclose(((high - low) / 2)[middle].mean(), half.mean(), rtol=0.15)


def test_a_good_model_holds_the_line_and_a_bad_one_does_not() -> None:
    def outside(fit: bb.models.Fit) -> float:
        ax = bb.plot_predictive_check(fit, by=None, prob=0.95)
        ((_, line),), ((_, low, high),) = observed(ax), bands(ax)
        seen = line > 0.05
        return float(((line < low) | (line > high))[seen].mean())

    assert outside(constant(1, 0.1)) < 0.05
    assert outside(constant(1.05, 0.1)) > 0.5
    assert outside(constant(1, 0.13)) > 0.5


def test_heavy_tails() -> None:
    # A Cauchy distribution: some replicated distances are beyond any axis.
    fit = constant(1, 0.1, nu=1)
    ax = bb.plot_predictive_check(fit, by=None, draws=300)
    ((x, low, high),) = bands(ax)
    ((_, line),) = observed(ax)
    # Its density over that of the observed, at the middle, with what the kernel adds to both.
    grid = np.linspace(0.4, 1.6, 2401)
    width = silverman(fit.data.y)
    cauchy = np.trapezoid(stats.cauchy.pdf(grid, 1, 0.1) * stats.norm.pdf(1, grid, width), grid)
    wanted = cauchy / stats.norm.pdf(1, 1, np.hypot(0.1, width))
    at = np.abs(x - 1).argmin()
    assert ((low + high) / 2)[at] / line.max() == pytest.approx(wanted, rel=0.03)


def test_the_same_seed_the_same_figure() -> None:
    fit = handmade(simulated_table(3))
    first, second, other = (
        bands(bb.plot_predictive_check(fit, draws=20, seed=seed))[0] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, second)
    assert first.shape != other.shape or not np.allclose(first, other)


def test_a_generator_is_a_seed_that_moves_on() -> None:
    fit = handmade(simulated_table(3))
    one, same = np.random.default_rng(3), np.random.default_rng(3)
    first, second, later = (
        bands(bb.plot_predictive_check(fit, draws=20, seed=rng))[0] for rng in (one, same, one)
    )
    np.testing.assert_array_equal(first, second)
    assert first.shape != later.shape or not np.allclose(first, later)


def test_more_tables_than_draws_and_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = handmade(simulated_table(3), draws=5)
    whole = bands(bb.plot_predictive_check(fit, draws=30))
    monkeypatch.setattr(predictive_plot, "blocks", partial(blocks, budget=300))
    for one, other in zip(whole, bands(bb.plot_predictive_check(fit, draws=30)), strict=True):
        np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("by", ["protected_word", "protected_group", "embedding", "word_class"])
def test_other_columns(by: str) -> None:
    fit = handmade(simulated_table(3, groups=3, words=5))
    ax = bb.plot_predictive_check(fit, by=by, draws=10)
    assert [name.split("\n")[0] for name in names(ax)] == list(fit.table[by].cat.categories)
    assert_apart(ax)


def test_equal_distances_have_a_density() -> None:
    table = simulated_table(3)
    table.loc[table["protected_word"] == "p00", "cosine_distance"] = 1.0
    ax = bb.plot_predictive_check(handmade(table), by="protected_word", draws=10)
    assert all(np.isfinite(line).all() for line in observed(ax))


def test_errors() -> None:
    fit = handmade(simulated_table(3))
    with pytest.raises(SpecError, match="'by' is 'group'; expected one of 'connection', 'emb"):
        bb.plot_predictive_check(fit, by="group")
    with pytest.raises(SpecError, match="'by' is 'cosine_distance'"):
        bb.plot_predictive_check(fit, by="cosine_distance")
    with pytest.raises(SpecError, match="'draws' is 1; expected a whole number, 2 or more"):
        bb.plot_predictive_check(fit, draws=1)
    with pytest.raises(SpecError, match="'seed' is -1"):
        bb.plot_predictive_check(fit, seed=-1)
    with pytest.raises(SpecError, match="'prob' is 1"):
        bb.plot_predictive_check(fit, prob=1)
    with pytest.raises(SpecError, match="'fit' is None; expected what fit"):
        bb.plot_predictive_check(None)  # type: ignore[arg-type]
    assert plt.get_fignums() == []


def test_given_axes() -> None:
    figure, (left, _) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
    assert bb.plot_predictive_check(handmade(simulated_table(3)), draws=10, ax=left) is left
    assert plt.get_fignums() == [figure.number]


@pytest.mark.slow
def test_both_engines_and_pymc_agree() -> None:
    import pymc as pm

    table = simulated_table(3, stereotypes=8, controls=20)
    exact = bb.fit(table, "separate", engine="exact", draws=500, seed=1)
    nuts = bb.fit(table, "separate", draws=1500, chains=4, seed=1, progress=False)
    middles = []
    for fit in (exact, nuts):
        ax = bb.plot_predictive_check(fit, by=None, draws=400)
        ((x, low, high),) = bands(ax)
        middles.append(np.interp(np.linspace(0.6, 1.2, 50), x, (low + high) / 2))
    np.testing.assert_allclose(middles[0], middles[1], atol=0.02)
    with exact.pymc_model():
        drawn = pm.sample_posterior_predictive(
            exact.idata, var_names=["distance"], random_seed=1, progressbar=False
        )
    values = np.asarray(drawn.posterior_predictive["distance"]).reshape(-1, len(exact.table))
    width = silverman(exact.data.y)
    x = np.linspace(0.6, 1.2, 50)
    theirs = np.array([stats.norm.pdf(x[:, None], one, width).mean(axis=1) for one in values[::10]])
    ((_, line),) = observed(ax)
    scale = (
        line.max()
        / stats.norm.pdf(np.linspace(0.5, 1.4, 500)[:, None], exact.data.y, width)
        .mean(axis=1)
        .max()
    )
    low, high = np.quantile(theirs, [0.055, 0.945], axis=0)
    np.testing.assert_allclose(middles[0], scale * (low + high) / 2, atol=0.02)
