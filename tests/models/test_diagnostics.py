"""What is said about draws that may not be relied on."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from simulated import simulated_table

import bayesbias as bb
from bayesbias.models.diagnostics import _nothing_shared


@pytest.fixture(scope="module")
def fit() -> bb.models.Fit:
    return bb.fit(simulated_table(), "separate", engine="exact", draws=1000, seed=3)


def changed(fit: bb.models.Fit, **provenance: object) -> bb.models.Fit:
    return replace(fit, provenance={**fit.provenance, **provenance})


def as_if_by_nuts(fit: bb.models.Fit, **indexers: Any) -> bb.models.Fit:
    """Return the independent draws as those of a sampler that met no difficulties."""
    posterior = fit.posterior.isel(indexers)
    shape = posterior.sizes["chain"], posterior.sizes["draw"]
    stats = xr.Dataset({"diverging": (("chain", "draw"), np.zeros(shape, bool))})
    return replace(changed(fit, engine="nuts"), posterior=posterior, sample_stats=stats)


def test_scales_by_hamiltonian_monte_carlo_have_an_r_hat(fit: bb.models.Fit) -> None:
    by_hmc = {"scale_sampler": "hmc", "scale_draws": 60}
    good = changed(fit, scale_r_hat=1.049, **by_hmc).diagnostics()
    assert good.ok
    assert "4,000 draws (60 of the scales)" in str(good)
    assert "Hamiltonian Monte Carlo" in str(good)
    assert "R-hat 1.049" in str(good)
    for value in (1.05, np.nan):
        bad = changed(fit, scale_r_hat=value, **by_hmc).diagnostics()
        assert not bad.ok
        [problem] = bad.problems
        assert problem.startswith(f"R-hat of a scale is {value:.2f}: the chains do not agree")


def test_independent_draws_have_a_pareto_k(fit: bb.models.Fit) -> None:
    found = changed(fit, pareto_k=0.33).diagnostics()
    assert found.ok
    assert "Pareto k of the proposals 0.33" in str(found)


def test_draws_that_agree_have_no_problem(fit: bb.models.Fit) -> None:
    assert as_if_by_nuts(fit).diagnostics().problems == ()


def test_one_chain_is_not_judged_by_r_hat(fit: bb.models.Fit) -> None:
    problems = as_if_by_nuts(fit, chain=[0]).diagnostics().problems
    assert problems == ("with one chain nothing can be said about convergence; use two or more",)


def test_few_draws_are_named_by_their_parameters(fit: bb.models.Fit) -> None:
    problems = as_if_by_nuts(fit, draw=slice(0, 50)).diagnostics().problems
    [few] = [problem for problem in problems if "effective sample size" in problem]
    assert few.startswith("the effective sample size is below 400 for ")
    assert "theta[" in few or "sigma" in few


def test_embeddings_without_a_pair_in_common_are_named() -> None:
    tables = [
        table.assign(embedding=name)
        for name, table in zip(
            "ab", (simulated_table(1, words=2), simulated_table(2, words=2)), strict=True
        )
    ]
    words = sorted(set(tables[0]["word_to_compare"]))
    tables[0] = tables[0][tables[0]["word_to_compare"].isin(words[::2])]
    both = pd.concat(tables)
    spec = bb.load_model("embeddings")
    for rows, apart in ((both, False), (both[_keeps(both, words[::2])], True)):
        fit = SimpleNamespace(spec=spec, table=bb.check_table(rows))
        notes = _nothing_shared(fit)  # type: ignore[arg-type]
        assert [("'a – b'" in note) for note in notes] == [True] * apart


def _keeps(table: pd.DataFrame, first: list[str]) -> pd.Series:
    """Which rows are of embedding a, or of attributes that it has not."""
    return table["embedding"].eq("a") | ~table["word_to_compare"].isin(first)
