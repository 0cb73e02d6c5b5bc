"""Planning: the widths it promises are those that fits have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from simulated import simulated_table

import bayesbias as bb
from bayesbias.errors import DataError, SpecError

pytestmark = pytest.mark.numpy_only


@pytest.fixture(scope="module")
def fit() -> bb.models.Fit:
    table = simulated_table(8, words=6, stereotypes=6, controls=40)
    return bb.fit(table, "crossed", engine="exact", seed=1, draws=500)


def test_more_words_give_narrower_intervals(fit: bb.models.Fit) -> None:
    plan = bb.plan_sample_size(fit, width=0.08, by="protected_word", simulations=0)
    assert plan.n is not None
    assert plan.table["n"].is_monotonic_increasing
    assert plan.table["width"].is_monotonic_decreasing
    by_n = plan.table.set_index("n")["prob_narrow_enough"]
    assert by_n[plan.n] >= 0.5
    assert by_n[plan.n - 1] < 0.5
    assert str(plan).startswith(f"{plan.n} stereotype words per group for an 89% interval")


@pytest.mark.slow
def test_the_promise_is_that_of_simulated_studies(fit: bb.models.Fit) -> None:
    plan = bb.plan_sample_size(fit, width=0.08, by="protected_word", simulations=12, seed=3)
    promised = plan.table.set_index("n").loc[plan.n, "width"]
    assert plan.simulated["width"].mean() == pytest.approx(promised, rel=0.08)
    assert plan.simulated["covered"].mean() == pytest.approx(0.89, abs=0.08)
    assert "simulated studies" in str(plan)
    again = bb.plan_sample_size(fit, width=0.08, by="protected_word", simulations=12, seed=3)
    pd.testing.assert_frame_equal(plan.simulated, again.simulated)


def test_a_closed_form() -> None:
    """Without pooling the width is known: 2 z σ √(1/n_A + 1/n_N), with the prior's part."""
    table = simulated_table(8, words=4, stereotypes=6, controls=40)
    fit = bb.fit(table, "separate", engine="exact", seed=1, draws=500)
    plan = bb.plan_sample_size(fit, width=0.1, by="protected_word", simulations=0)
    precision = 1 / fit.draws("sigma")[::10] ** 2
    for n, width in zip(plan.table["n"], plan.table["width"], strict=True):
        variance = 1 / (n * precision + 4) + 1 / (40 * precision + 4)
        expected = 2 * stats.norm.ppf(0.945) * np.sqrt(variance).mean()
        assert width == pytest.approx(expected, rel=0.01)


def test_what_cannot_be_had(fit: bb.models.Fit) -> None:
    plan = bb.plan_sample_size(fit, width=0.001, most=64)
    assert plan.n is None
    assert len(plan.simulated) == 0
    assert "No number of words up to 64 per group" in str(plan)
    assert "The controls limit it, too" in str(plan)


def test_controls_are_not_blamed_where_there_are_none(fit: bb.models.Fit) -> None:
    plan = bb.plan_sample_size(
        fit, contrast="associated - different", width=0.001, simulations=0, most=20
    )
    assert plan.n is None
    assert "controls" not in str(plan)
    assert str(plan).endswith("wide.")


def test_more_controls_help(fit: bb.models.Fit) -> None:
    few, many = (
        bb.plan_sample_size(
            fit, width=0.05, by="protected_word", simulations=0, controls=c, most=64
        )
        for c in (5, 500)
    )
    assert few.table["width"].iloc[-1] > many.table["width"].iloc[-1]


def test_bad_input(fit: bb.models.Fit) -> None:
    for options, message in (
        ({"width": 0}, "'width' is 0"),
        ({"width": 0.1, "assurance": 1.5}, "'assurance' is 1.5"),
        ({"width": 0.1, "by": "word"}, "'by' is 'word'"),
        ({"width": 0.1, "contrast": "a - b"}, "no 'a' here"),
        ({"width": 0.1, "controls": 0}, "'controls' is 0"),
    ):
        with pytest.raises(SpecError, match=message):
            bb.plan_sample_size(fit, **options)  # type: ignore[arg-type]
    baseline = bb.fit(fit.table, "baseline", engine="exact", draws=50)
    with pytest.raises(SpecError, match="does not distinguish connections"):
        bb.plan_sample_size(baseline, width=0.1)
    heavy = replace(fit, spec=fit.spec.vary(likelihood="student_t"))
    with pytest.raises(SpecError, match="a plan needs a fit with a normal likelihood"):
        bb.plan_sample_size(heavy, width=0.1)
    slopes = replace(fit, spec=fit.spec.vary(covariates=["x"]))
    with pytest.raises(SpecError, match="a plan cannot use covariates, and this fit has 'x'"):
        bb.plan_sample_size(slopes, width=0.1)
    controls = fit.table[fit.table["connection"].isin(["human", "none"])]
    of_controls = bb.fit(controls, "separate", engine="exact", draws=50)
    with pytest.raises(DataError, match="no associated attributes to plan for"):
        bb.plan_sample_size(of_controls, width=0.1, contrast="human - none")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["separate", "interaction"])
def test_studies_are_simulated_of_other_models(model: str) -> None:
    table = simulated_table(3, words=3, stereotypes=5, controls=12)
    fit = bb.fit(table, model, engine="exact", seed=1, draws=100)
    plan = bb.plan_sample_size(fit, width=0.4, simulations=3, seed=3)
    assert len(plan.simulated) == 3
    promised = plan.table.set_index("n").loc[plan.n, "width"]
    assert plan.simulated["width"].mean() == pytest.approx(promised, rel=0.5)
    assert plan.simulated["covered"].between(0, 1).all()


def test_a_model_is_fitted_by_name() -> None:
    table = simulated_table(1)
    options = {"width": 0.3, "simulations": 0, "seed": np.random.default_rng(1)}
    plan = bb.plan_sample_size("crossed", table=table, **options)
    assert plan.n == bb.plan_sample_size(bb.fit(table, "crossed"), width=0.3, simulations=0).n
    with pytest.raises(SpecError, match="give table="):
        bb.plan_sample_size("crossed", width=0.3)
