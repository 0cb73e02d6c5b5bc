"""NUTS from the exact draws: it has the same posterior, and it notices when it has not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulated import simulated_table

import bayesbias as bb
from bayesbias.auditing import confirming
from bayesbias.auditing.confirming import compare_engines, conclusion, quantities, sample_again


@pytest.fixture(scope="module")
def exact() -> bb.Fit:
    return bb.fit(simulated_table(0), "crossed", engine="exact", draws=1000, seed=0)


@pytest.fixture(scope="module")
def nuts(exact: bb.Fit) -> bb.Fit:
    return sample_again(exact, seed=1)


def changed(fit: bb.Fit, name: str, factor: float = 1.0, shift: float = 0.0) -> bb.Fit:
    """Return a fit whose draws of one parameter are spread and moved."""
    draws = fit.posterior[name]
    centre = draws.mean(["chain", "draw"])
    moved = centre + factor * (draws - centre) + shift
    return replace(fit, posterior=fit.posterior.assign({name: moved.transpose(*draws.dims)}))


def test_the_engines_agree(exact: bb.Fit, nuts: bb.Fit) -> None:
    found = conclusion(compare_engines(exact, nuts), nuts)
    assert found["agrees"]
    assert found["sampler_ok"]
    assert found["r_hat"] < 1.01
    assert found["ess"] >= 400
    assert found["divergences"] == 0
    assert found["largest"]["mean"] < 0.2
    assert nuts.provenance["engine"] == "nuts"
    assert nuts.provenance["started_from"] == "the exact draws"
    assert nuts.posterior.sizes["draw"] % confirming.NUTS["round"] == 0


def test_the_same_seed_gives_the_same_draws(exact: bb.Fit, nuts: bb.Fit) -> None:
    np.testing.assert_array_equal(sample_again(exact, seed=1).draws("theta"), nuts.draws("theta"))


@pytest.mark.parametrize("model", ["baseline", "connection", "separate", "hierarchical"])
def test_other_models(model: str) -> None:
    made = bb.fit(simulated_table(1), model, engine="exact", draws=1000, seed=0)
    again = sample_again(made, seed=0)
    found = conclusion(compare_engines(made, again), again)
    assert found["agrees"], found
    assert found["sampler_ok"], found["problems"]


@pytest.mark.parametrize(
    ("name", "factor", "shift", "statistic"),
    [("theta", 1.0, 0.05, ""), ("tau", 1.0, 0.05, "mean"), ("tau", 1.6, 0.0, "sd"),
     ("bar", 0.6, 0.0, "lower"), ("s", 1.8, 0.0, "upper")],
)  # fmt: skip
def test_a_wrong_engine_is_noticed(
    exact: bb.Fit, nuts: bb.Fit, name: str, factor: float, shift: float, statistic: str
) -> None:
    """NUTS does not depend on the draws that it starts from, beyond where it starts."""
    wrong = changed(exact, name, factor, shift)
    if name == "theta":  # only those of associated, or no contrast moves
        kept = xr_where_associated(exact, wrong)
        wrong = replace(exact, posterior=exact.posterior.assign(theta=kept))
    table = compare_engines(wrong, nuts)
    assert not conclusion(table, nuts)["agrees"]
    if statistic:
        of_it = table[table["quantity"].str.startswith(f"{name}[")]
        assert (of_it.loc[of_it["statistic"] == statistic, "beyond"] > 0.1).any()


def xr_where_associated(exact: bb.Fit, wrong: bb.Fit) -> object:
    own = exact.posterior["connection"] == "associated"
    return wrong.posterior["theta"].where(own, exact.posterior["theta"])


def test_starts_that_are_wrong_do_not_matter(exact: bb.Fit, nuts: bb.Fit) -> None:
    """Chains that start from draws with too large a noise have the right posterior."""
    again = sample_again(changed(exact, "s", 1.0, 0.03), seed=2)
    assert conclusion(compare_engines(exact, again), again)["agrees"]


def test_what_is_compared(exact: bb.Fit) -> None:
    names = quantities(exact)["quantity"].to_numpy().tolist()
    assert {"associated - none", "associated - human[g1]", "bar[human]", "tau_word"} <= set(names)
    assert not any(name.startswith(("theta", "u[")) for name in names)
    plain = bb.fit(simulated_table(0), "baseline", engine="exact", draws=50)
    assert quantities(plain)["quantity"].to_numpy().tolist() == [
        *(f"expected[p{g}{i}]" for g in range(2) for i in range(3)), "sigma",
    ]  # fmt: skip


def test_too_few_draws_are_said(exact: bb.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(confirming.NUTS, "rounds", 1)
    monkeypatch.setitem(confirming.NUTS, "round", 20)
    few = sample_again(exact, seed=0)
    assert few.posterior.sizes["draw"] == 20
    found = conclusion(compare_engines(exact, few), few)
    assert not found["sampler_ok"]
    assert any("effective sample size is below 400" in text for text in found["problems"])


def test_many_unknowns_have_variances_only(exact: bb.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirming, "_DENSE", 5)
    again = sample_again(exact, seed=0)
    assert conclusion(compare_engines(exact, again), again)["agrees"]
