"""The checks of the exact draws: right ones pass, wrong ones do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from simulated import simulated_table

import bayesbias as bb
from bayesbias._core.array_types import Array
from bayesbias.auditing import model_check, second_sampler
from bayesbias.auditing.draws_compared import compare_draws, quantities
from bayesbias.auditing.model_check import SAME_DENSITY, conclusion, confirm
from bayesbias.models.exact import engine as exact_engine
from bayesbias.models.exact.gaussian_block import Block, Solution
from bayesbias.models.exact.scale_draws import ScaleDraws

pytestmark = pytest.mark.numpy_only

MODELS = ["baseline", "connection", "separate", "hierarchical", "interaction"]


def fitted(model: str = "crossed", seed: int = 0) -> bb.models.Fit:
    return bb.fit(simulated_table(seed), model, engine="exact", draws=1000, seed=0)


@pytest.fixture(scope="module")
def exact() -> bb.models.Fit:
    return fitted()


@pytest.fixture(scope="module")
def confirmed(exact: bb.models.Fit) -> model_check.Confirmation:
    return confirm(exact, seed=1)


def test_right_draws_pass(confirmed: model_check.Confirmation) -> None:
    found = conclusion(confirmed)
    assert found["agrees"], found
    assert not found["disagree"]
    assert found["sampler_ok"], found["problems"]
    assert found["density"]["points"] == 16
    assert found["density"]["relative"] < 1e-11
    assert found["coefficients"]["sd"] == pytest.approx(1, abs=0.03)
    assert found["r_hat"] < 1.01
    assert found["ess"] >= 400
    assert found["largest"]["mean"] < 0.2
    assert found["chains"] == 64
    far = confirmed.density["point"] == "far"
    assert confirmed.density.loc[far, "model"].max() < confirmed.density.loc[~far, "model"].min()


def test_the_same_seed_gives_the_same_draws(
    exact: bb.models.Fit, confirmed: model_check.Confirmation
) -> None:
    again = confirm(exact, seed=1)
    np.testing.assert_array_equal(again.second.draws("theta"), confirmed.second.draws("theta"))


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_other_models(model: str) -> None:
    found = conclusion(confirm(fitted(model, 1), seed=1))
    assert found["agrees"], found
    assert found["sampler_ok"], found["problems"]
    assert found["density"]["relative"] < 1e-10


@pytest.mark.slow
def test_known_errors() -> None:
    table = simulated_table(0).assign(standard_error=0.03)
    made = bb.fit(table, "interaction", engine="exact", draws=500, seed=0)
    found = conclusion(confirm(made, seed=0))
    assert found["agrees"], found
    assert found["density"]["relative"] < 1e-10


# Wrong engines.


def test_a_wrong_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exponent of the prior of the scales that is a little off, or no Jacobian."""
    real = Block._log_prior

    def wrong(self: Block, at: Array) -> Array:
        return real(self, at) - 0.01 * at.sum(axis=1)

    monkeypatch.setattr(Block, "_log_prior", wrong)
    found = conclusion(confirm(fitted(), seed=0))
    assert "density" in found["disagree"]
    assert not found["agrees"]
    assert found["density"]["relative"] > 100 * SAME_DENSITY


def test_scales_that_are_shifted(monkeypatch: pytest.MonkeyPatch) -> None:
    real = exact_engine.draw_scales

    def wrong(*args: Any, **options: Any) -> ScaleDraws:
        found = real(*args, **options)
        moved = found.draws.copy()
        moved[:, -1] += 0.3 * moved[:, -1].std()
        return replace(found, draws=moved)

    monkeypatch.setattr(exact_engine, "draw_scales", wrong)
    found = conclusion(confirm(fitted(), seed=0))
    assert found["disagree"] == ["draws"]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["crossed", "interaction"])
def test_coefficients_with_too_large_a_variance(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loud:
        """Noise with a variance of 1.1."""

        def __init__(self, rng: np.random.Generator) -> None:
            self.rng = rng

        def standard_normal(self, shape: tuple[int, ...]) -> Array:
            return np.sqrt(1.1) * self.rng.standard_normal(shape)

    real = Block._draw
    monkeypatch.setattr(Block, "_draw", lambda self, at, rng, n: real(self, at, Loud(rng), n))  # type: ignore[arg-type]
    found = conclusion(confirm(fitted(model), seed=0))
    assert found["disagree"] == ["coefficients"]
    assert found["coefficients"]["sd"] == pytest.approx(np.sqrt(1.1), abs=0.02)


def test_a_covariance_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """The draws follow it, but it is not that of the model."""
    real = Block.solve

    def wrong(self: Block, at: Array) -> Solution:
        solved = real(self, at)
        return replace(solved, cholesky=solved.cholesky / np.sqrt(1.1))

    monkeypatch.setattr(Block, "solve", wrong)
    found = conclusion(confirm(fitted(), seed=0))
    assert "density" in found["disagree"]
    assert "coefficients" not in found["disagree"]


def test_coefficients_with_a_wrong_mean(exact: bb.models.Fit) -> None:
    own = exact.posterior["connection"] == "associated"
    theta = exact.posterior["theta"]
    moved = (theta + 0.2 * theta.std(["chain", "draw"])).where(own, theta).transpose(*theta.dims)
    wrong = replace(exact, posterior=exact.posterior.assign(theta=moved))
    assert "coefficients" in conclusion(confirm(wrong, seed=0))["disagree"]


@pytest.mark.parametrize(
    ("name", "factor", "shift", "statistic"),
    [("tau", 1.0, 0.05, "mean"), ("tau", 1.6, 0.0, "sd"), ("bar", 0.6, 0.0, "lower"),
     ("s", 1.8, 0.0, "upper")],
)  # fmt: skip
def test_draws_that_differ(
    exact: bb.models.Fit,
    confirmed: model_check.Confirmation,
    name: str,
    factor: float,
    shift: float,
    statistic: str,
) -> None:
    draws = exact.posterior[name]
    centre = draws.mean(["chain", "draw"])
    moved = (centre + factor * (draws - centre) + shift).transpose(*draws.dims)
    table = compare_draws(
        replace(exact, posterior=exact.posterior.assign({name: moved})), confirmed.second
    )
    of_it = table[table["quantity"].str.startswith(f"{name}[")]
    assert (of_it.loc[of_it["statistic"] == statistic, "beyond"] > 0.1).any()
    assert conclusion(replace(confirmed, comparison=table))["disagree"] == ["draws"]


@pytest.mark.slow
def test_starts_that_are_wrong_do_not_matter(exact: bb.models.Fit) -> None:
    """Chains that start from draws with too large a noise have the right posterior."""
    wrong = replace(exact, posterior=exact.posterior.assign(s=exact.posterior["s"] + 0.03))
    again = confirm(wrong, seed=2).second
    table = compare_draws(exact, again)
    assert (table["beyond"] <= model_check.AGREED).all()


def test_what_is_compared(exact: bb.models.Fit) -> None:
    names = quantities(exact)["quantity"].to_numpy().tolist()
    assert {"associated - none", "associated - human[g1]", "bar[human]", "tau_word"} <= set(names)
    assert not any(name.startswith(("theta", "u[")) for name in names)
    plain = bb.fit(simulated_table(0), "baseline", engine="exact", draws=50)
    assert quantities(plain)["quantity"].to_numpy().tolist() == [
        *(f"expected[p{g}{i}]" for g in range(2) for i in range(3)), "sigma",
    ]  # fmt: skip


def test_too_few_draws_are_said(exact: bb.models.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(second_sampler.HMC, "rounds", 1)
    monkeypatch.setitem(second_sampler.HMC, "round", 2)
    found = conclusion(confirm(exact, seed=0))
    assert not found["sampler_ok"]
    assert any("effective sample size is below 400" in text for text in found["problems"])
