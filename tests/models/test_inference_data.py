"""Fits as ArviZ has them, by ArviZ's own functions, in both of its generations."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from simulated import simulated_table

import bayesbias as bb
from bayesbias._core.arviz_versions import ARVIZ_MAJOR
from bayesbias.models import inference_data
from bayesbias.models.nuts.log_posterior import LogPosterior

GROUPS = {
    "posterior",
    "sample_stats",
    "observed_data",
    "log_likelihood",
    "posterior_predictive",
    "prior",
    "prior_predictive",
}
OLD = ARVIZ_MAJOR == 0
# ArviZ 0.23 announces version 1, and sorts in a way that pandas 3 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def az() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz
    return arviz


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return simulated_table()


@pytest.fixture(scope="module")
def crossed(table: pd.DataFrame) -> bb.models.Fit:
    return bb.fit(table, "crossed", engine="exact", draws=250, seed=3)


@pytest.fixture(scope="module")
def separate(table: pd.DataFrame) -> bb.models.Fit:
    return bb.fit(table, "separate", engine="exact", draws=250, seed=3)


@pytest.fixture(scope="module")
def paired(table: pd.DataFrame) -> bb.models.PairedFit:
    rng = np.random.default_rng(1)
    distance = table["cosine_distance"] + rng.normal(0.05, 0.02, len(table))
    after = table.assign(cosine_distance=distance, cosine_similarity=1 - distance)
    return bb.fit_paired(table, after, draws=100, engine="exact")


def groups(idata: Any) -> set[str]:
    return set(idata.groups()) if OLD else set(idata.children)


def dataset(idata: Any, name: str) -> xr.Dataset:
    group = idata[name]
    return group if OLD else group.to_dataset()


def test_groups(crossed: bb.models.Fit, paired: bb.models.PairedFit) -> None:
    assert groups(crossed.idata) == GROUPS
    assert groups(paired.idata) == GROUPS - {"log_likelihood"}
    assert dataset(crossed.idata, "posterior")["bar"].shape == (4, 250, 4)
    assert crossed.idata is crossed.idata
    assert dataset(paired.idata, "observed_data")["distance"].shape == (240,)
    row = dataset(crossed.idata, "log_likelihood")["distance"].isel(row=7)
    assert str(row["protected_word"].item()) == str(crossed.table["protected_word"].iloc[7])


def test_large_groups_are_computed_when_read(
    crossed: bb.models.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    whole = inference_data.RowDensity.of_fit

    def counting(fit: bb.models.Fit, which: Any) -> Any:
        asked.append(len(which))
        return whole(fit, which)

    monkeypatch.setattr(inference_data.RowDensity, "of_fit", counting)
    array = dataset(inference_data.FitGroups(crossed).container(), "log_likelihood")["distance"]
    repr(array)
    assert not asked
    array.isel(chain=1, draw=slice(0, 10)).load()
    assert asked == [10]


@pytest.mark.parametrize("group", ["log_likelihood", "posterior_predictive", "prior_predictive"])
def test_a_part_is_what_the_whole_holds(crossed: bb.models.Fit, group: str) -> None:
    array = dataset(crossed.idata, group)["distance"]
    whole = array.to_numpy()
    part = array.isel(chain=[0], draw=[200, 3, 90], row=slice(5, 30, 4)).to_numpy()
    np.testing.assert_array_equal(part, whole[:1][:, [200, 3, 90], 5:30:4])
    np.testing.assert_array_equal(array.isel(chain=0, draw=77).to_numpy(), whole[0, 77])
    np.testing.assert_array_equal(array.to_numpy(), whole)


def test_log_likelihood(crossed: bb.models.Fit) -> None:
    values = dataset(crossed.idata, "log_likelihood")["distance"].to_numpy()
    theta, u, sigma = crossed.draws("theta"), crossed.draws("u"), crossed.draws(crossed.spec.scale)
    codes = crossed.data.codes
    mean = theta[:, codes["protected_word"], codes["connection"]] + u[:, codes["word_to_compare"]]
    scale = sigma[:, codes["connection"]] if sigma.ndim == 2 else sigma[:, None]
    wanted = stats.norm.logpdf(crossed.data.y, mean, scale)
    np.testing.assert_allclose(values.reshape(wanted.shape), wanted, rtol=1e-9)


def test_log_posterior_of_exact_draws(crossed: bb.models.Fit) -> None:
    recorded = dataset(crossed.idata, "sample_stats")
    assert not recorded["diverging"].any()
    values = {p.name: crossed.draws(p.name)[[250]] for p in crossed.spec.parameters}
    wanted = LogPosterior(crossed.spec, crossed.data)(values)
    assert recorded["lp"].isel(chain=1, draw=0).item() == pytest.approx(wanted.item())
    assert recorded["lp"].to_numpy()[1, 0] == pytest.approx(wanted.item())


def test_predicted_tables_have_the_spread_of_the_model(crossed: bb.models.Fit) -> None:
    idata = crossed.idata
    predicted = dataset(idata, "posterior_predictive")["distance"].to_numpy().reshape(1000, -1)
    observed = dataset(idata, "observed_data")["distance"].to_numpy()
    low, high = np.quantile(predicted, [0.025, 0.975], axis=0)
    assert 0.88 < ((low < observed) & (observed < high)).mean() <= 1


def test_prior(crossed: bb.models.Fit, table: pd.DataFrame) -> None:
    wanted = bb.prior_draws(table, "crossed", draws=2000, seed=3)
    prior = dataset(crossed.idata, "prior")
    np.testing.assert_array_equal(prior["theta"].to_numpy(), wanted["theta"].to_numpy())
    assert list(prior["u"].coords["word_to_compare"]) == list(wanted["u"]["word_to_compare"])
    outcome = dataset(crossed.idata, "prior_predictive")["distance"]
    np.testing.assert_array_equal(outcome.to_numpy(), wanted["distance"].to_numpy())


def test_summary(az: Any, crossed: bb.models.Fit, paired: bb.models.PairedFit) -> None:
    theirs = az.summary(crossed.idata, var_names=["theta"], round_to="none")
    ours = crossed.parameters()
    of_theta = ours[ours.index.str.startswith("theta")]
    assert list(theirs.index) == list(of_theta.index)
    np.testing.assert_allclose(theirs["mean"].astype(float), of_theta["mean"], rtol=1e-9)
    assert len(az.summary(paired.idata, var_names=["s"]))


@pytest.mark.skipif(not OLD, reason="ArviZ 1 has no WAIC")
def test_waic(az: Any, crossed: bb.models.Fit, separate: bb.models.Fit) -> None:
    for fit in (crossed, separate):
        theirs, ours = az.waic(fit.idata, scale="log", pointwise=True), fit.waic()
        assert ours.elpd == pytest.approx(theirs.elpd_waic, rel=1e-8)
        assert ours.p == pytest.approx(theirs.p_waic, rel=1e-6)
        assert ours.se == pytest.approx(theirs.se, rel=1e-8)
        np.testing.assert_allclose(ours.pointwise, theirs.waic_i, rtol=1e-6)


@pytest.mark.parametrize("model", ["crossed", "separate"])
def test_loo(az: Any, crossed: bb.models.Fit, separate: bb.models.Fit, model: str) -> None:
    fit = crossed if model == "crossed" else separate
    theirs, ours = az.loo(fit.idata, pointwise=True, reff=1.0), fit.loo()
    assert ours.elpd == pytest.approx(theirs.elpd_loo if OLD else theirs.elpd, rel=1e-8)
    assert ours.p == pytest.approx(theirs.p_loo if OLD else theirs.p, rel=1e-6)
    pointwise = theirs.loo_i if OLD else theirs.elpd_i
    np.testing.assert_allclose(ours.pointwise, np.asarray(pointwise), rtol=1e-6)
    np.testing.assert_allclose(ours.pareto_k, np.asarray(theirs.pareto_k), atol=1e-6)
    # Without reff it is found from the posterior; independent draws have about one.
    free = az.loo(fit.idata)
    assert ours.elpd == pytest.approx(free.elpd_loo if OLD else free.elpd, abs=0.2)


def test_compare(az: Any, crossed: bb.models.Fit, separate: bb.models.Fit) -> None:
    fits = {"crossed": crossed, "separate": separate}
    options = {} if OLD else {"round_to": "none"}
    theirs = az.compare({name: fit.idata for name, fit in fits.items()}, **options)
    ours = bb.compare(fits, "loo")
    assert list(theirs.index) == list(ours.index)
    gap = abs(float(theirs["elpd_diff"].iloc[1]))
    assert gap == pytest.approx(ours["dLOO"].iloc[1] / 2, rel=0.02)
    assert float(theirs["dse"].iloc[1]) == pytest.approx(ours["dSE"].iloc[1] / 2, rel=0.02)


def test_plots(az: Any, crossed: bb.models.Fit, paired: bb.models.PairedFit) -> None:
    for idata in (crossed.idata, paired.idata):
        if OLD:
            az.plot_ppc(idata, num_pp_samples=20, random_seed=1)
            az.plot_ppc(idata, group="prior", num_pp_samples=20, random_seed=1)
        else:
            az.plot_ppc_dist(idata, num_samples=20)
        az.plot_forest(idata, var_names=["theta"])
        az.plot_forest(idata, var_names=["s"])
        plt.close("all")


@pytest.mark.slow
def test_nuts_fits(az: Any, table: pd.DataFrame) -> None:
    fit = bb.fit(table, "separate", engine="nuts", draws=100, tune=100, chains=2, progress=False)
    assert groups(fit.idata) == GROUPS
    assert "diverging" in dataset(fit.idata, "sample_stats")
    theirs, ours = az.loo(fit.idata), fit.loo()
    assert ours.elpd == pytest.approx(theirs.elpd_loo if OLD else theirs.elpd, rel=1e-6)


def test_student_likelihood(az: Any, table: pd.DataFrame, crossed: bb.models.Fit) -> None:
    """Draws of a heavy-tailed model: the density and the predicted tables use them."""
    spec = crossed.spec.vary(likelihood="student_t")
    posterior = crossed.posterior.assign(nu=(("chain", "draw"), np.full((4, 250), 4.0)))
    fit = bb.models.Fit(spec, crossed.table, posterior, xr.Dataset(), crossed.provenance)
    theirs = az.loo(fit.idata, reff=1.0)
    assert fit.loo().elpd == pytest.approx(theirs.elpd_loo if OLD else theirs.elpd, rel=1e-8)
    predicted = dataset(fit.idata, "posterior_predictive")["distance"].to_numpy()
    assert stats.kurtosis((predicted - predicted.mean((0, 1))).ravel()) > 1


def test_residuals_with_a_common_part_have_no_log_likelihood() -> None:
    one, two = simulated_table(1), simulated_table(2)
    both = pd.concat([one, two.assign(embedding="other")], ignore_index=True)
    fit = bb.fit(both, "embeddings", engine="exact", draws=50, chains=2)
    assert groups(fit.idata) == GROUPS - {"log_likelihood"}
    assert dataset(fit.idata, "posterior_predictive")["distance"].to_numpy().std() > 0


def test_saved_and_pickled(az: Any, separate: bb.models.Fit, tmp_path: Path) -> None:
    array = dataset(separate.idata, "log_likelihood")["distance"].to_numpy()
    separate.idata.to_netcdf(str(tmp_path / "fit.nc"))
    read = az.from_netcdf(str(tmp_path / "fit.nc"))
    np.testing.assert_array_equal(dataset(read, "log_likelihood")["distance"], array)
    again = pickle.loads(pickle.dumps(separate))
    np.testing.assert_array_equal(dataset(again.idata, "log_likelihood")["distance"], array)
