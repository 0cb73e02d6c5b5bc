"""Information criteria against sums over an array of draws × rows."""

from __future__ import annotations

import warnings
from dataclasses import FrozenInstanceError, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from brute_force import BruteForce, make_table
from scipy import stats
from scipy.special import logsumexp
from simulated import simulated_table

import bayesbias as bb
from bayesbias._core import arviz_versions
from bayesbias.errors import BayesBiasWarning, DataError, SpecError
from bayesbias.models import criteria, fitting, row_density
from bayesbias.models.exact import gaussian_block
from bayesbias.models.exact.compiled_model import compile_model
from bayesbias.models.exact.engine import sample_exactly
from bayesbias.models.exact.leave_out import log_density_left_out
from bayesbias.models.fitting import table_hash
from bayesbias.models.model_data import model_data

OLD_ARVIZ = version("arviz").startswith("0.")


def make_fit(
    spec: bb.models.ModelSpec,
    table: pd.DataFrame,
    *,
    draws: int = 100,
    seed: int = 0,
    spread: float = 0.02,
) -> bb.models.Fit:
    """Make a fit of draws that nobody sampled: the criteria must not care."""
    rng = np.random.default_rng(seed)
    data = model_data(spec, table)
    posterior = {}
    for p in spec.parameters:
        shape = (4, draws, *data.shape(p.by))
        if p.name == "nu":
            values = rng.uniform(3, 30, shape)
        elif p.prior.is_positive:
            values = np.exp(rng.normal(-1.7, spread, shape))
        elif spec.mean.index(p.name) if p.name in spec.mean else True:
            values = rng.normal(0, spread, shape)
        else:
            values = rng.normal(0.9, spread, shape)
        posterior[p.name] = (("chain", "draw", *p.by), values)
    coords = {name: list(levels) for name, levels in data.levels.items()}
    provenance = {"engine": "exact", "table_sha256": table_hash(table), "pareto_k": 0.0}
    return bb.models.Fit(
        spec, table, xr.Dataset(posterior, coords=coords), xr.Dataset(), provenance
    )


def log_likelihood(fit: bb.models.Fit) -> np.ndarray:
    """Return chains × draws × rows, each value looked up by the names of its levels."""
    table, spec = fit.table, fit.spec

    def of_row(name: str) -> np.ndarray:
        by = {
            f: xr.DataArray(table[f].astype(object).to_numpy(), dims="row") for f in spec[name].by
        }
        values = fit.posterior[name].sel(by)
        return (
            values.transpose("chain", "draw", ...).to_numpy()
            if by
            else values.to_numpy()[..., None]
        )

    def part(name: str) -> np.ndarray:
        only = spec[name].only
        return of_row(name) * (1 if only is None else (table["attribute_kind"] == only).to_numpy())

    kinds = {"associated": "stereotype", "different": "stereotype", "none": "neutral"}
    kind = [kinds.get(c, c) for c in table["connection"]]
    table = table.assign(attribute_kind=kind)
    mean = sum(part(name) for name in spec.mean)
    error = table["standard_error"].to_numpy() if "standard_error" in table else 0.0
    scale = np.sqrt(of_row(spec.scale) ** 2 + error**2)
    y = table["cosine_distance"].to_numpy()
    if spec.likelihood == "student_t":
        return stats.t.logpdf(y, of_row("nu"), mean, scale)
    return stats.norm.logpdf(y, mean, scale)


def assert_waic(fit: bb.models.Fit) -> bb.models.Elpd:
    values = log_likelihood(fit).reshape(-1, len(fit.table))
    lppd = logsumexp(values, axis=0) - np.log(len(values))
    variance = values.var(axis=0)
    found = fit.waic()
    np.testing.assert_allclose(found.pointwise, lppd - variance, rtol=1e-8, atol=1e-8)
    assert found.kind == "WAIC"
    assert found.elpd == pytest.approx((lppd - variance).sum(), rel=1e-9)
    assert found.deviance == -2 * found.elpd
    assert found.p == pytest.approx(variance.sum(), rel=1e-7)
    assert found.se == pytest.approx(np.sqrt(len(lppd) * (lppd - variance).var()), rel=1e-8)
    assert found.unreliable == (variance > 0.4).sum()
    assert found.labels == ()
    return found


def crowded(seed: int = 1, *, wide: bool = False, errors: bool = False) -> pd.DataFrame:
    """Make a table with hundreds of rows in a cell, and one cell with a single distinct value."""
    rng = np.random.default_rng(seed)
    n = 300
    y = rng.normal(0.9, 0.2, 2 * n)
    if wide:
        y[:3], y[n : n + 2] = (0.0, 2.0, 0.001), (0.001, 1.999)
    table = pd.DataFrame(
        {
            "protected_word": ["a"] * n + ["b"] * n + ["c"] * 100 + ["d"] * 20,
            "word_to_compare": [f"w{i}" for i in range(2 * n + 120)],
            "word_class": "neutral",
            "cosine_distance": np.clip([*y, *[0.7] * 100, *rng.normal(0.8, 0.1, 20)], 0, 2),
            "connection": "none",
            "protected_group": "g",
        }
    )
    if errors:
        table["standard_error"] = rng.choice([0.0, 0.05], len(table))
    return bb.check_table(table.sample(frac=1, random_state=seed))


# WAIC.


@pytest.mark.parametrize("likelihood", ["normal", "student_t"])
@pytest.mark.parametrize("errors", ["none", "few", "many"])
@pytest.mark.parametrize("name", [name for name in bb.models.MODELS if name != "embeddings"])
def test_waic_of_every_model(name: str, errors: str, likelihood: Any) -> None:
    spec = bb.load_model(name).vary(likelihood=likelihood)
    table = make_table(2, keep=0.8, errors=errors)
    assert_waic(make_fit(spec, table))


@pytest.mark.parametrize("residual", ["one", "connection"])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("errors", [False, True])
def test_waic_of_many_rows_in_a_cell(errors: bool, wide: bool, residual: Any) -> None:
    table = crowded(errors=errors, wide=wide)
    for likelihood in ("normal", "student_t"):
        spec = bb.load_model("baseline").vary(likelihood=likelihood, residual=residual)
        assert_waic(make_fit(spec, table, spread=0.1))


def test_waic_where_a_curve_does_not_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the draws with a tiny scale: the mean density is no smooth function any more."""
    fit = make_fit(bb.load_model("baseline"), crowded(wide=True))
    fit.posterior["sigma"][:2] = 0.003
    curves = []
    original = criteria.chebval
    monkeypatch.setattr(criteria, "chebval", lambda *args: curves.append(1) or original(*args))
    assert_waic(fit)
    assert len(curves) < 3
    assert_waic(make_fit(bb.load_model("baseline"), crowded()))
    assert len(curves) >= 3


def test_rows_of_very_different_densities_do_not_underflow() -> None:
    values = np.array([[-2000.0, -2001.0, -2002.0], [0.0, -1.0, -900.0], [700.0, 0.0, 1.0]])
    expected = logsumexp(values, axis=1) - np.log(3)
    np.testing.assert_allclose(criteria._log_mean(values), expected, rtol=1e-12)


def test_waic_in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = make_fit(bb.load_model("crossed"), make_table(2, errors="few"))
    whole = fit.waic(), fit.loo()
    monkeypatch.setattr(row_density, "_BUDGET", 1)
    for one, other in zip(whole, (fit.waic(), fit.loo()), strict=True):
        np.testing.assert_allclose(one.pointwise, other.pointwise, rtol=1e-12)


def to_arviz(fit: bb.models.Fit) -> tuple[Any, Any]:
    """Return ArviZ and the fit with its log likelihood, in the form of the installed version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        import arviz as az
    groups = {
        "posterior": {str(name): v.to_numpy() for name, v in fit.posterior.data_vars.items()},
        "log_likelihood": {"y": log_likelihood(fit)},
    }
    return az, az.from_dict(**groups) if OLD_ARVIZ else az.from_dict(groups)


@pytest.mark.skipif(not OLD_ARVIZ, reason="ArviZ 1 has no WAIC")
@pytest.mark.parametrize("name", ["baseline", "crossed"])
def test_waic_is_that_of_arviz(name: str) -> None:
    fit = make_fit(bb.load_model(name), make_table(2))
    az, data = to_arviz(fit)
    theirs = az.waic(data, pointwise=True, scale="log")
    ours = fit.waic()
    np.testing.assert_allclose(ours.pointwise, theirs.waic_i, rtol=1e-6)
    assert ours.elpd == pytest.approx(theirs.elpd_waic, rel=1e-6)
    assert ours.p == pytest.approx(theirs.p_waic, rel=1e-6)
    assert ours.se == pytest.approx(theirs.se, rel=1e-6)


def test_rows_whose_likelihood_varies_too_much_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = make_fit(bb.load_model("baseline"), make_table(2))
    variances = np.sort(criteria._lppd_and_variance(fit)[1])
    monkeypatch.setattr(criteria, "VARIANCE_MAX", variances[-4])
    assert fit.waic().unreliable == 3


# Leaving rows out.


@pytest.mark.parametrize("likelihood", ["normal", "student_t"])
@pytest.mark.parametrize("name", ["baseline", "crossed"])
def test_loo_is_that_of_arviz(name: str, likelihood: Any) -> None:
    spec = bb.load_model(name).vary(likelihood=likelihood)
    fit = make_fit(spec, make_table(2, errors="few"), draws=250)
    az, data = to_arviz(fit)
    theirs = az.loo(data, pointwise=True, reff=1.0)
    ours = fit.loo()
    suffix = "_loo" if OLD_ARVIZ else ""
    pointwise = theirs.loo_i if OLD_ARVIZ else theirs.elpd_i
    np.testing.assert_allclose(ours.pointwise, np.asarray(pointwise), rtol=1e-6)
    np.testing.assert_allclose(ours.pareto_k, np.asarray(theirs.pareto_k), atol=1e-6)
    assert ours.elpd == pytest.approx(getattr(theirs, f"elpd{suffix}"), rel=1e-6)
    assert ours.p == pytest.approx(getattr(theirs, f"p{suffix}"), rel=1e-6)
    n = len(ours.pointwise)
    # ArviZ 1 divides by n − 1 in the variance, 0.23 and rethinking by n.
    assert ours.se == pytest.approx(theirs.se * (1 if OLD_ARVIZ else np.sqrt(1 - 1 / n)), rel=1e-6)


def test_loo_of_a_conjugate_model() -> None:
    """With a known scale and one mean per word, a row is predicted by a textbook formula."""
    table = make_table(4)
    spec = bb.load_model("baseline").vary(priors={"sigma": "LogNormal(-1.6, 0.0001)"})
    fit = bb.fit(table, spec, engine="exact", draws=2000, seed=3)
    s2 = np.exp(-3.2)
    expected = []
    for _, row in table.iterrows():
        own = table[table["protected_word"] == row["protected_word"]]
        others = own["cosine_distance"].sum() - row["cosine_distance"]
        precision = 1 / 0.25 + (len(own) - 1) / s2
        mean = (1 / 0.25 + others / s2) / precision
        expected.append(
            stats.norm.logpdf(row["cosine_distance"], mean, np.sqrt(s2 + 1 / precision))
        )
    np.testing.assert_allclose(fit.loo().pointwise, expected, atol=0.02)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*cells have one row")
@pytest.mark.parametrize("by", ["protected_word", "word_to_compare"])
@pytest.mark.parametrize("name", ["hierarchical", "crossed"])
def test_levels_left_out_as_if_fitted_again(name: str, by: str) -> None:
    """Each level is left out, the model fitted to the rest, and the level's rows predicted."""
    spec, table = bb.load_model(name).vary(residual="one"), make_table(2, keep=0.88, words=4)
    kept = ["x0", "y1"] if by == "protected_word" else ["xa", "nc"]
    found = bb.fit(table, spec, engine="exact", draws=1000, seed=1).loo(by=by)
    assert set(found.labels) == set(table[by])
    brute = BruteForce(spec, table)
    for level in kept:
        assert found.pareto_k[found.labels.index(level)] < 0.7
        out = (table[by] == level).to_numpy()
        rest = model_data(spec, bb.check_table(table[~out]))
        again, _ = sample_exactly(spec, rest, 120, np.random.default_rng(2))
        scales = {p.name: again[p.name] for p in spec.parameters if p.prior.is_positive}
        values = np.array(
            [
                brute.given({n: np.ravel(v[i]) for n, v in scales.items()}).log_conditional(out)
                for i in range(120)
            ]
        )
        expected = logsumexp(values) - np.log(len(values))
        error = np.exp(values - expected).std() / np.sqrt(len(values))
        ours = found.pointwise[found.labels.index(level)]
        assert ours == pytest.approx(expected, abs=4 * error + 0.02)


def test_large_tables_have_fewer_draws_of_the_scales() -> None:
    assert criteria._scale_draws(np.repeat(np.arange(800), 60)) == 1000
    assert criteria._scale_draws(np.repeat(np.arange(5_000), 200)) == 200
    assert criteria._scale_draws(np.repeat(np.arange(50), 10_000)) == 100


def test_levels_left_out_by_fewer_draws_of_the_scales(monkeypatch: pytest.MonkeyPatch) -> None:
    table = simulated_table(groups=4, words=4, stereotypes=15, controls=60)
    fit = bb.fit(table, "crossed", engine="exact", draws=500, seed=1)
    all_draws = fit.loo(by="word_to_compare")
    monkeypatch.setattr(criteria, "_LARGE_COVARIANCES", 1)
    fewer = fit.loo(by="word_to_compare")
    assert (fewer.pointwise != all_draws.pointwise).all()
    np.testing.assert_allclose(fewer.pointwise, all_draws.pointwise, atol=0.25)
    assert fewer.elpd == pytest.approx(all_draws.elpd, abs=0.02 * all_draws.se)
    assert fewer.p == pytest.approx(all_draws.p, rel=0.05)


def test_effective_parameters_of_large_tables_by_some_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = simulated_table(groups=4, words=4, stereotypes=15, controls=60)
    fit = bb.fit(table, "crossed", engine="exact", draws=500, seed=1)
    assert criteria._some_draws(fit) is None
    all_draws = fit.loo(by="word_to_compare")
    monkeypatch.setattr(criteria, "_MOST_DENSITIES", 1)
    places = criteria._some_draws(fit)
    assert places is not None
    assert (len(places), places[0], places[-1]) == (400, 0, 1999)
    some = fit.loo(by="word_to_compare")
    np.testing.assert_array_equal(some.pointwise, all_draws.pointwise)
    assert some.p != all_draws.p
    assert some.p == pytest.approx(all_draws.p, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hierarchical", "crossed", "interaction"])
@pytest.mark.parametrize("keep", [1.0, 0.9])
@pytest.mark.parametrize("by", ["word_to_compare", "protected_word"])
def test_levels_with_many_rows_are_left_out_unit_by_unit(
    name: str, keep: float, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The products that are left out of large tables are zero."""
    table = simulated_table(groups=3, words=4, stereotypes=5, controls=7)
    table = table.sample(frac=keep, random_state=1).sort_index()
    fit = bb.fit(table, name, engine="exact", draws=50, seed=1)
    expected = fit.loo(by=by)
    used: list[bool] = []

    def only_units(of_units: Any) -> Any:
        found = only(of_units)
        used.append(found is not None)
        return found

    only = gaussian_block._only_units
    monkeypatch.setattr(gaussian_block, "_MANY_SUMS", 1)
    monkeypatch.setattr(gaussian_block, "_only_units", only_units)
    found = fit.loo(by=by)
    assert any(used)
    np.testing.assert_allclose(found.pointwise, expected.pointwise, rtol=1e-9, atol=1e-9)


def test_levels_left_out_of_a_student_t_model() -> None:
    """There the draws of all parameters are reweighted."""
    spec = bb.load_model("baseline").vary(likelihood="student_t")
    fit = make_fit(spec, make_table(2), draws=250)
    level, names = pd.factorize(fit.table["word_to_compare"].astype("str"))
    values = log_likelihood(fit).reshape(-1, len(level))
    total = np.stack([values[:, level == k].sum(axis=1) for k in range(len(names))])
    found = fit.loo(by="word_to_compare")
    # Smoothing changes the plain importance-sampling estimate only a little.
    plain = -(logsumexp(-total, axis=1) - np.log(total.shape[1]))
    np.testing.assert_allclose(found.pointwise, plain, atol=0.05)
    assert found.labels == tuple(names)
    assert found.pareto_k.shape == (len(names),)


def test_two_levels_can_be_left_out() -> None:
    found = make_fit(bb.load_model("baseline"), make_table(2)).loo(by="protected_group")
    assert len(found.labels) == len(found.pointwise) == 2


@pytest.mark.parametrize("by", ["cosine_distance", "nothing"])
def test_levels_that_are_not_there(by: str) -> None:
    fit = make_fit(bb.load_model("baseline"), make_table(2))
    with pytest.raises(SpecError, match=f"'by' is '{by}'; expected a column of the table"):
        fit.loo(by=by)
    with pytest.raises(DataError, match="'embedding' has only one level, 'e0'"):
        fit.loo(by="embedding")


@pytest.fixture(scope="module")
def correlated() -> bb.models.Fit:
    return bb.fit(make_table(3, embeddings=2), "embeddings", engine="exact", draws=100, seed=1)


def test_correlated_rows_are_left_out_by_level_only(correlated: bb.models.Fit) -> None:
    for criterion in (correlated.waic, correlated.loo):
        with pytest.raises(SpecError, match="'embeddings' has correlated residuals.*loo.by='word"):
            criterion()
    with pytest.raises(SpecError, match="'by' is 'embedding', and model 'embeddings' has resid"):
        correlated.loo(by="embedding")


def test_levels_left_out_of_a_correlated_model(correlated: bb.models.Fit) -> None:
    """By importance sampling over the draws of the scales; no row has an lppd of its own."""
    found = correlated.loo(by="word_to_compare")
    assert np.isnan(found.p)
    level, names = pd.factorize(correlated.table["word_to_compare"].astype("str"))
    assert found.labels == tuple(names)
    compiled = compile_model(correlated.spec, correlated.data)
    at = correlated.unknowns(10**6)
    density = log_density_left_out(compiled, correlated.data, at, level, len(names)).T
    log_weights, k = arviz_versions.smooth_weights(-density, 1.0)
    expected = np.log((np.exp(log_weights) * np.exp(density)).sum(axis=1))
    np.testing.assert_allclose(found.pointwise, expected, rtol=1e-9)
    np.testing.assert_allclose(found.pareto_k, k, rtol=1e-9)
    assert found.unreliable == (k > 0.7).sum()


@pytest.mark.parametrize("likelihood", ["normal", "student_t"])
@pytest.mark.parametrize("by", [None, "word_to_compare"])
def test_rows_and_levels_with_heavy_tails_are_counted(
    by: str | None, likelihood: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = make_fit(bb.load_model("baseline").vary(likelihood=likelihood), make_table(2))
    tails = np.sort(fit.loo(by=by).pareto_k)
    monkeypatch.setattr(criteria, "PARETO_K_MAX", tails[-4])
    found = fit.loo(by=by)
    assert found.unreliable == 3
    assert f"above {tails[-4]} in 3 of {len(tails)} {'levels' if by else 'rows'}" in found.warning


def test_draws_that_depend_on_each_other_count_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of NUTS, the mean effective share of the draws of all parameters goes into the smoothing."""
    exactly = make_fit(bb.load_model("baseline"), make_table(2))
    asked = []

    def smooth(log_weights: np.ndarray, efficiency: float) -> tuple[np.ndarray, np.ndarray]:
        asked.append(efficiency)
        return original(log_weights, efficiency)

    original = arviz_versions.smooth_weights
    monkeypatch.setattr(arviz_versions, "smooth_weights", smooth)
    exactly.loo()
    assert set(asked) == {1.0}
    # Each draw twice, so that half of them are worth nothing.
    again = np.repeat(np.arange(100), 2)
    stats_ = xr.Dataset({"diverging": (("chain", "draw"), np.zeros((4, 200), bool))})
    sampled = replace(
        exactly,
        posterior=exactly.posterior.isel(draw=again),
        sample_stats=stats_,
        provenance={**exactly.provenance, "engine": "nuts"},
    )
    sampled.loo()
    table = sampled.diagnostics().table
    assert asked[-1] == pytest.approx(table["ess_mean"].mean() / 800)
    assert 0.3 < asked[-1] < 0.7


# What is said about them.


def test_doubtful_rows_are_counted_and_named() -> None:
    calm = make_fit(bb.load_model("baseline"), make_table(2))
    assert calm.waic().warning == ""
    assert repr(calm.waic()).startswith("WAIC ")
    wild = make_fit(bb.load_model("baseline"), make_table(2), spread=0.5)
    found = assert_waic(wild)
    assert 0 < found.unreliable <= 52
    assert f"{found.unreliable} of 52 rows" in found.warning
    assert "0.4" in found.warning
    assert found.warning in repr(found)
    left_out = replace(found, kind="LOO", labels=("x",) * 52)
    assert f"Pareto k is above 0.7 in {found.unreliable} of 52 levels" in left_out.warning


def test_a_comparison_names_all_doubtful_models_at_once() -> None:
    table = make_table(2)
    calm = make_fit(bb.load_model("baseline"), table)
    wild = {name: make_fit(bb.load_model("baseline"), table, spread=0.5) for name in "bc"}
    count = wild["b"].waic().unreliable
    with pytest.warns(BayesBiasWarning) as warned:
        bb.compare({"a": calm, **wild})
    assert [str(warning.message) for warning in warned] == [
        "WAIC is unreliable (use LOO), because the log likelihood has a variance above 0.4 in "
        f"some of the 52 rows: {count} (b) and {count} (c)"
    ]


def test_an_estimate_in_latex_and_html() -> None:
    made = bb.models.Elpd("LOO", -12.34, 1.26, 3.21, np.array([-5.0, -7.34]))
    assert (made.unreliable, made.labels, made.pareto_k) == (0, (), None)
    assert made.summary() == "LOO 24.7 (SE 2.5), p 3.2"
    latex = made.to_latex()
    assert r"24.7 & 2.5 & 3.2 \\" in latex
    assert r"LOO & SE & pLOO \\" in latex
    assert r"\caption{LOO 24.7 (SE 2.5), p 3.2}" in latex
    assert r"\caption{Mine}" in made.to_latex(caption="Mine")
    assert replace(made, kind="<LOO>")._repr_html_().startswith("<p>&lt;LOO&gt; 24.7")
    with pytest.raises(FrozenInstanceError):
        made.elpd = 0.0  # type: ignore[misc]


def test_the_table_has_a_line_for_each_row_or_level() -> None:
    made = bb.models.Elpd("WAIC", -12.0, 1.0, 3.0, np.array([-5.0, -7.0]))
    expected = pd.DataFrame({"row": [0, 1], "elpd": [-5.0, -7.0]})
    pd.testing.assert_frame_equal(made.table, expected)
    by_level = replace(made, kind="LOO", labels=("a", "b"), pareto_k=np.array([0.1, 0.2]))
    expected = pd.DataFrame({"level": ["a", "b"], "elpd": [-5.0, -7.0], "pareto_k": [0.1, 0.2]})
    pd.testing.assert_frame_equal(by_level.table, expected)


# Comparing.


@pytest.fixture(scope="module")
def fits() -> dict[str, bb.models.Fit]:
    table = make_table(2)
    return {name: make_fit(bb.load_model(name), table) for name in ("baseline", "separate")}


def test_criteria_that_were_computed_before(fits: dict[str, bb.models.Fit]) -> None:
    """Fits of a long table need not be in memory together."""
    waic = {name: fit.waic() for name, fit in fits.items()}
    pd.testing.assert_frame_equal(bb.compare(waic), bb.compare(fits))
    by_word = {name: fit.loo(by="word_to_compare") for name, fit in fits.items()}
    expected = bb.compare(fits, "loo", by="word_to_compare")
    pd.testing.assert_frame_equal(bb.compare(by_word, "loo"), expected)
    first, second = fits
    with pytest.raises(SpecError, match=f"{second!r} is a LOO; expected WAIC of each fit"):
        bb.compare({first: waic[first], second: by_word[second]})
    with pytest.raises(SpecError, match=f"{second!r} is a Fit; expected WAIC of each fit"):
        bb.compare({first: waic[first], second: fits[second]})
    others = replace(waic[second], table_sha256="another")
    with pytest.raises(DataError, match="the criteria .* are of different tables"):
        bb.compare({first: waic[first], second: others})
    fewer = replace(waic[second], pointwise=waic[second].pointwise[1:])
    with pytest.raises(DataError, match="are of different tables"):
        bb.compare({first: waic[first], second: fewer})


@pytest.mark.parametrize(
    ("criterion", "by"), [("waic", None), ("loo", None), ("loo", "word_to_compare")]
)
def test_compare(fits: dict[str, bb.models.Fit], criterion: Any, by: str | None) -> None:
    label = criterion.upper()
    table = bb.compare(fits, criterion, by=by)
    assert list(table.columns) == [label, "SE", f"d{label}", "dSE", f"p{label}", "weight"]
    assert set(table.index) == set(fits)
    found = {n: f.waic() if criterion == "waic" else f.loo(by=by) for n, f in fits.items()}
    first, second = table.index
    for name in fits:
        assert table.loc[name, label] == pytest.approx(-2 * found[name].elpd)
        assert table.loc[name, "SE"] == pytest.approx(2 * found[name].se)
        assert table.loc[name, f"p{label}"] == pytest.approx(found[name].p)
    assert table[label].is_monotonic_increasing
    assert table.loc[first, f"d{label}"] == 0
    assert np.isnan(table.loc[first, "dSE"])
    apart = 2 * (found[first].pointwise - found[second].pointwise)
    assert table.loc[second, f"d{label}"] == pytest.approx(apart.sum())
    assert table.loc[second, "dSE"] == pytest.approx(np.sqrt(len(apart)) * apart.std())
    assert table["weight"].sum() == pytest.approx(1)
    odds = np.exp(-0.5 * table.loc[second, f"d{label}"])
    assert table.loc[second, "weight"] == pytest.approx(odds / (1 + odds))


def test_a_comparison_is_shown_rounded(fits: dict[str, bb.models.Fit]) -> None:
    found = bb.compare(fits)
    best, other = found.index
    html = found._repr_html_()
    for value in (*found["WAIC"], *found["SE"], found.loc[other, "dWAIC"], *found["pWAIC"]):
        assert f"<td>{value:,.1f}</td>" in html
    assert [f"<td>{value:.2f}</td>" in html for value in found["weight"]] == [True, True]
    assert "nan" not in html.lower()
    assert "border=" not in html
    assert found.summary().splitlines() == [
        f"{best} predicts best: WAIC {found.loc[best, 'WAIC']:.1f}.",
        f"{other}: WAIC higher by {found.loc[other, 'dWAIC']:.1f} "
        f"(SE {found.loc[other, 'dSE']:.1f}).",
    ]
    latex = found.to_latex()
    assert f" & {found.loc[best, 'weight']:.2f} " in latex
    assert f"{found.loc[best, 'SE']:.1f} &" in latex
    assert type(found.iloc[:1]) is pd.DataFrame
    assert found.table["model"].tolist() == [best, other]


def test_the_order_of_the_fits_does_not_matter(fits: dict[str, bb.models.Fit]) -> None:
    backwards = dict(reversed(fits.items()))
    pd.testing.assert_frame_equal(bb.compare(fits), bb.compare(backwards))


def test_one_fit(fits: dict[str, bb.models.Fit]) -> None:
    assert bb.compare({"a": fits["baseline"]})["weight"].tolist() == [1.0]


def test_fits_in_a_list_have_the_names_of_their_models(fits: dict[str, bb.models.Fit]) -> None:
    named = bb.compare({fit.spec.name: fit for fit in fits.values()})
    pd.testing.assert_frame_equal(bb.compare(list(fits.values())), named)
    pd.testing.assert_frame_equal(bb.compare(fit for fit in fits.values()), named)


def test_comparisons_that_are_refused(fits: dict[str, bb.models.Fit]) -> None:
    other = make_fit(bb.load_model("baseline"), make_table(3))
    with pytest.raises(DataError, match="'baseline' and 'b' are of different tables"):
        bb.compare({**fits, "b": other})
    with pytest.raises(SpecError, match="'criterion' is 'aic'; expected one of 'loo', 'waic'"):
        bb.compare(fits, "aic")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'fits' is empty"):
        bb.compare({})
    with pytest.raises(SpecError, match="two fits of the model 'baseline'; give each fit a name"):
        bb.compare([fits["baseline"], fits["baseline"]])
    for one in (fits["baseline"], "baseline", bb.load_model("baseline"), 5):
        with pytest.raises(SpecError, match=f"'fits' is a {type(one).__name__}; give each fit"):
            bb.compare(one)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="1 is neither a Fit nor a model"):
        bb.compare({"a": 1})  # type: ignore[dict-item]
    with pytest.raises(SpecError, match="'by' is for criterion='loo'"):
        bb.compare(fits, by="word_to_compare")
    table = make_table(2)
    with pytest.raises(SpecError, match="'fits' is a DataFrame; name the models"):
        bb.compare(table)
    with pytest.raises(SpecError, match="^'model' is a DataFrame; expected a name"):
        bb.compare([table])
    with pytest.raises(SpecError, match="^a DataFrame is neither a Fit nor a model"):
        bb.overview(table)


def test_levels_are_checked_before_models_are_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "fit", None)
    with pytest.raises(SpecError, match="'by' is 'protected'.*Did you mean 'protected_word'"):
        bb.compare(["baseline"], "loo", by="protected", table=make_table(2))


def test_a_doubtful_comparison_warns(fits: dict[str, bb.models.Fit]) -> None:
    wild = make_fit(bb.load_model("separate"), make_table(2), spread=0.5)
    with pytest.warns(BayesBiasWarning, match="of the 52 rows: .*wild") as caught:
        bb.compare({"calm": fits["baseline"], "wild": wild})
    assert len(caught) == 1
    assert "calm" not in str(caught[0].message)
    assert caught[0].filename == __file__


def test_the_hash_is_of_the_rows() -> None:
    table = make_table(2)
    assert table_hash(table) == table_hash(table.copy())
    as_text = table.astype({"connection": "str", "embedding": "str"})
    assert table_hash(as_text) == table_hash(table)
    changed = table.copy()
    changed.loc[3, "cosine_distance"] += 1e-12
    assert table_hash(changed) != table_hash(table)
    assert table_hash(table[::-1]) != table_hash(table)
    assert table_hash(table.assign(connection="none")) != table_hash(table)


@pytest.mark.filterwarnings("ignore:.*WAIC is unreliable")
def test_models_are_compared_by_name() -> None:
    table = make_table(2)
    fits = {name: bb.fit(table, name) for name in ("baseline", "separate")}
    by_name = bb.compare(["baseline", "separate"], table=table)
    pd.testing.assert_frame_equal(by_name, bb.compare(fits))
    mixed = bb.compare({"mine": fits["baseline"], "other": "separate"}, table=table)
    assert set(mixed.index) == {"mine", "other"}
    with pytest.raises(SpecError, match="'separate' has to be fitted first: give table="):
        bb.compare(["baseline", "separate"][1:])
