from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import bayesbias as bb
from bayesbias.errors import SpecError
from bayesbias.models import outcome_draws


@pytest.fixture(scope="module")
def fit(demo: bb.Embedding) -> bb.models.Fit:
    table = bb.distance_table(demo, bb.load_study("religion"))
    return bb.fit(table, "hierarchical", draws=250, seed=1)


def known(fit: bb.models.Fit, sigma: float, nu: float | None = None) -> bb.models.Fit:
    """A fit that is sure of its parameters, of 2,000 distances that are Normal(1, 0.1)."""
    n = 2000
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
    spec = bb.models.ModelSpec.from_dict(
        {
            "name": "constant",
            "mean": ["mu"],
            "scale": "sigma",
            "parameters": {"mu": {"prior": "Normal(1, 1)"}, "sigma": {"prior": "HalfCauchy(1)"}},
        }
    )
    values = {"mu": 1.0, "sigma": sigma}
    if nu is not None:
        spec, values = spec.vary(likelihood="student_t"), values | {"nu": nu}
    posterior = xr.Dataset(
        {name: (("chain", "draw"), np.full((2, 10), value)) for name, value in values.items()}
    )
    return replace(fit, spec=spec, table=bb.check_table(table), posterior=posterior)


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.2])
def test_normal_distances_of_a_known_spread(fit: bb.models.Fit, sigma: float) -> None:
    found = known(fit, sigma).predictive_coverage(by=None, probs=[0.5, 0.89])
    half = stats.norm.ppf([0.75, 0.945]) * sigma / 0.1
    np.testing.assert_allclose(found["share"], 2 * stats.norm.cdf(half) - 1, atol=1.1e-3)
    assert found["rows"].tolist() == [2000, 2000]


def test_the_student_t_likelihood(fit: bb.models.Fit) -> None:
    found = known(fit, 0.08, nu=4.0).predictive_coverage(by=None)
    half = stats.t(4).ppf([0.75, 0.945]) * 0.08 / 0.1
    np.testing.assert_allclose(found["share"], 2 * stats.norm.cdf(half) - 1, atol=1.1e-3)


def test_the_intervals_are_those_of_simulated_tables(fit: bb.models.Fit) -> None:
    rng = np.random.default_rng(1)
    values = {p.name: fit.draws(p.name).reshape(1000, -1) for p in fit.spec.parameters}
    tables = outcome_draws(fit.spec, fit.data, values, 1000, rng)
    found = fit.predictive_coverage(by="protected_group")
    for prob in (0.5, 0.89):
        low, high = np.quantile(tables, [(1 - prob) / 2, (1 + prob) / 2], axis=0)
        inside = pd.Series((fit.data.y >= low) & (fit.data.y <= high))
        expected = inside.groupby(fit.table["protected_group"].astype(str)).mean()
        ours = found[found["prob"] == prob].set_index("protected_group")["share"]
        pd.testing.assert_series_equal(
            ours.sort_index(), expected.sort_index(), check_names=False, atol=0.02
        )


def test_rows_are_in_the_order_of_the_table(fit: bb.models.Fit) -> None:
    found = fit.predictive_coverage()
    assert found["connection"].tolist()[::2] == ["associated", "different", "human", "none"]
    counts = fit.table["connection"].value_counts()
    assert (found.set_index("connection")["rows"] == counts.loc[found["connection"]]).all()


def test_bad_input(fit: bb.models.Fit) -> None:
    with pytest.raises(SpecError, match="'by'"):
        fit.predictive_coverage(by="cosine_distance")
    with pytest.raises(SpecError, match="'probs' is empty"):
        fit.predictive_coverage(probs=[])
    with pytest.raises(SpecError, match="prob"):
        fit.predictive_coverage(probs=[89])


@pytest.mark.oracle
def test_the_follow_up_model_on_the_authors_table(thesis: Path) -> None:
    """One scale for each connection: all four kinds are covered as they should be."""
    fit = bb.fit(bb.read_table(thesis / "religionReddit.csv"), "hierarchical", seed=1)
    found = fit.predictive_coverage()
    several = found[found["rows"] > 300]
    assert (several["share"] - several["prob"]).abs().max() < 0.03
    assert (found["share"] - found["prob"]).abs().max() < 0.1
