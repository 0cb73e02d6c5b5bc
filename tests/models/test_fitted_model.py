"""Fits: what they hold, what they say, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from simulated import simulated_table

import bayesbias as bb
from bayesbias._core.constants import CONNECTIONS
from bayesbias.errors import (
    BayesBiasError,
    BayesBiasWarning,
    DataError,
    EngineError,
    NotFoundError,
    SpecError,
)
from bayesbias.models import seconds_to_fit
from bayesbias.models.contrasts import contrast_weights
from bayesbias.models.exact.compiled_model import exact_supports
from bayesbias.models.model_data import ModelData, model_data, prepare_table
from bayesbias.numerics.intervals import interval


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return simulated_table()


@pytest.fixture(scope="module")
def crossed(table: pd.DataFrame) -> bb.models.Fit:
    return bb.fit(table, "crossed", engine="exact", seed=3)


def exact(table: pd.DataFrame, model: str = "separate", **options: object) -> bb.models.Fit:
    return bb.fit(table, model, engine="exact", draws=200, **options)  # type: ignore[arg-type]


def test_the_posterior_has_words_as_coordinates(crossed: bb.models.Fit) -> None:
    theta = crossed.posterior["theta"]
    assert theta.dims == ("chain", "draw", "protected_word", "connection")
    assert theta.shape == (4, 2000, 6, 4)
    assert list(theta["connection"].to_numpy()) == ["associated", "different", "human", "none"]
    assert list(crossed.posterior["u"]["word_to_compare"].to_numpy())[:2] == ["a00", "a01"]
    assert repr(crossed) == (
        "<Fit crossed: 120 distances, 6 protected words, 4 × 2,000 draws, exact engine>"
    )


def test_means_are_tidy(crossed: bb.models.Fit, table: pd.DataFrame) -> None:
    means = crossed.means()
    assert list(means.columns) == [
        "protected_word", "connection", "mean", "sd", "lower", "upper", "protected_group", "rows",
    ]  # fmt: skip
    assert len(means) == 24
    one = means.query("protected_word == 'p01' and connection == 'none'").iloc[0]
    draws = crossed.posterior["theta"].sel(protected_word="p01", connection="none")
    low, high = interval(draws.to_numpy().ravel(), 0.89)
    assert (one["mean"], one["lower"], one["upper"]) == pytest.approx(
        (float(draws.mean()), float(low), float(high))
    )
    assert one["rows"] == 6
    assert one["protected_group"] == "g0"
    assert means["rows"].sum() == len(table)


@pytest.mark.parametrize("model", ["baseline", "connection", "separate", "hierarchical"])
def test_means_of_every_model_are_near_those_of_the_rows(model: str) -> None:
    table = simulated_table(5, stereotypes=40, controls=60, tau_word=0.0)
    means = exact(table, model).means()
    by = [name for name in ("protected_word", "connection") if name in means.columns]
    rows = table.groupby(by)["cosine_distance"].mean().reset_index()
    both = means.merge(rows, on=by)
    assert len(both) == len(means)
    # `connection` has the same coefficients for all words.
    slack = 0.12 if model == "connection" else 0.04
    assert (both["mean"] - both["cosine_distance"]).abs().max() < slack


def test_intervals_of_both_kinds(rng: np.random.Generator) -> None:
    draws = rng.gamma(2.0, size=(4000, 2))
    low, high = interval(draws, 0.89, "eti")
    np.testing.assert_allclose(low, stats.gamma(2).ppf(0.055), rtol=0.1)
    shorter = np.subtract(*reversed(interval(draws, 0.89)))
    assert (shorter < high - low).all()
    inside = (draws >= interval(draws, 0.5)[0]) & (draws <= interval(draws, 0.5)[1])
    np.testing.assert_allclose(inside.mean(axis=0), 0.5, atol=0.001)


def test_hdi_is_that_of_arviz(rng: np.random.Generator) -> None:
    from bayesbias._core.arviz_versions import ARVIZ_MAJOR, import_arviz

    draws = rng.gamma(3.0, size=(1, 2000))
    az = import_arviz()
    expected = az.hdi(draws[0], hdi_prob=0.89) if ARVIZ_MAJOR == 0 else az.hdi(draws[0], prob=0.89)
    low, high = interval(draws[0], 0.89)
    np.testing.assert_allclose([low, high], np.ravel(expected), rtol=1e-9)


def test_contrasts(crossed: bb.models.Fit) -> None:
    whole = crossed.contrasts("associated - none", rope=0.05)
    assert list(whole.columns) == [
        "contrast", "mean", "sd", "lower", "upper", "prob_negative", "prob_in_rope",
    ]  # fmt: skip
    theta = crossed.draws("theta")
    difference = (theta[..., 0] - theta[..., 3]).mean(axis=1)
    assert whole["mean"].item() == pytest.approx(difference.mean())
    assert whole["prob_negative"].item() == (difference < 0).mean()
    assert whole["prob_in_rope"].item() == (np.abs(difference) < 0.05).mean()
    bar = crossed.draws("bar")
    new = crossed.contrasts("associated - none", words="population")
    assert new["mean"].item() == pytest.approx((bar[:, 0] - bar[:, 3]).mean())

    words = crossed.contrasts("associated - (human + none) / 2", by="protected_word")
    theta = crossed.draws("theta")
    expected = theta[..., 0] - (theta[..., 2] + theta[..., 3]) / 2
    np.testing.assert_allclose(words["mean"], expected.mean(axis=0))

    groups = crossed.contrasts("associated - none", by="protected_group")
    assert list(groups["protected_group"]) == ["g0", "g1"]
    mean = (theta[..., 0] - theta[..., 3])[:, :3].mean()
    assert groups["mean"].iloc[0] == pytest.approx(mean)


def test_contrasts_of_a_model_without_words(table: pd.DataFrame) -> None:
    fit = exact(table, "connection")
    words = fit.contrasts("associated - none", by="protected_word")
    assert len(words) == 6
    assert np.ptp(words["mean"]) < 1e-12


@pytest.mark.parametrize(
    ("contrast", "message"),
    [
        ("asociated - none", "no 'asociated' here.*Did you mean 'associated'"),
        ("associated", None),
        ("associated * none", "write it like"),
        ("associated - none + 1", "write it like"),
        ("associated -", "write it like"),
        ("__import__('os')", "write it like"),
        ("3", "write it like"),
        ("associated / none", "write it like"),
        ("associated / 0", "write it like"),
        ("associated - 'none'", "write it like"),
        (3, "'contrast' is 3; write it like"),
    ],
)
def test_contrasts_are_linear_expressions(
    crossed: bb.models.Fit, contrast: str, message: str | None
) -> None:
    if message is None:
        crossed.contrasts(contrast)
        return
    with pytest.raises(SpecError, match=message):
        crossed.contrasts(contrast)


@pytest.mark.parametrize(
    ("contrast", "weights"),
    [
        ("-none + associated", [1, 0, 0, -1]),
        ("2 * associated - human * 2", [2, 0, -2, 0]),
        ("associated - (human + neutral) / 2", [1, 0, -0.5, -0.5]),
        ("associated + 1 - 1", [1, 0, 0, 0]),
    ],
)
def test_weights_of_contrasts(contrast: str, weights: list[float]) -> None:
    assert contrast_weights(contrast, CONNECTIONS).tolist() == weights


def test_bad_options_of_contrasts(crossed: bb.models.Fit, table: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match="'by' is 'word'"):
        crossed.contrasts(by="word")
    for rope in (-0.1, True, "0.05", (0.1, -0.1), (0, 1, 2), ("0", "1")):
        with pytest.raises(SpecError, match="'rope' is"):
            crossed.contrasts(rope=rope)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'contrast' is .*call it once for each"):
        crossed.contrasts(["associated - none", "associated - human"])  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'prob' is 89"):
        crossed.contrasts(prob=89)
    with pytest.raises(SpecError, match="does not distinguish connections"):
        exact(table, "baseline").contrasts()


def test_coefficients(table: pd.DataFrame) -> None:
    found = exact(table, "connection").coefficients()
    assert list(found["parameter"]) == ["co"] * 4 + ["sigma"]
    assert list(found["level"]) == ["associated", "different", "human", "none", ""]
    # The data do not determine co: its spread is that of the prior, whatever the data.
    assert found["sd"].iloc[0] == pytest.approx(0.5 / np.sqrt(6 + 4), rel=0.2)


def test_summary_and_diagnostics(crossed: bb.models.Fit) -> None:
    summary = crossed.parameters()
    assert "theta[p00, associated]" in summary.index
    assert summary.loc["tau_word", "mean"] == pytest.approx(crossed.draws("tau_word").mean())
    assert (summary["r_hat"] < 1.01).all()
    found = crossed.diagnostics()
    assert found.ok
    assert str(found).startswith("8,000 independent draws")
    assert len(found.table) == len(summary)


def test_bad_draws_are_reported(crossed: bb.models.Fit) -> None:
    """Chains that disagree, divergences and an interrupt are said in words."""
    from dataclasses import replace

    import xarray as xr

    chains = crossed.posterior.isel(draw=slice(0, 100)).copy(deep=True)
    chains["tau_word"] = chains["tau_word"] + chains["chain"]
    stats_ = xr.Dataset({"diverging": (("chain", "draw"), np.eye(4, 100) > 0)})
    provenance = {**crossed.provenance, "engine": "nuts", "sampler": "pymc", "interrupted": True}
    bad = replace(crossed, posterior=chains, sample_stats=stats_, provenance=provenance)
    found = bad.diagnostics()
    assert not found.ok
    text = str(found)
    assert "4 divergences" in text
    assert "interrupted" in text
    assert "R-hat is 1.01 or more" in text
    assert "tau_word" in text
    assert "effective sample size is below 400" in text


def test_saving_and_loading(crossed: bb.models.Fit, tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    crossed.save(path)
    again = bb.load_fit(path)
    assert again.spec == crossed.spec
    assert dict(again.provenance) == dict(crossed.provenance)
    assert again.provenance["seed"] == 3
    assert "pymc" in again.provenance["versions"]
    for name in crossed.posterior.data_vars:
        np.testing.assert_array_equal(again.posterior[name], crossed.posterior[name])
    pd.testing.assert_frame_equal(again.means(), crossed.means())
    pd.testing.assert_frame_equal(again.table, crossed.table)
    assert again.waic().elpd == pytest.approx(crossed.waic().elpd)
    assert list(tmp_path.iterdir()) == [path]
    again.save(path)  # over itself
    assert bb.load_fit(path).spec == crossed.spec


def test_words_of_any_script_are_saved(tmp_path: Path) -> None:
    table = simulated_table().replace({"p00": "größe", "a00": "слово, 'x'"})
    fit = exact(table)
    fit.save(tmp_path / "fit.nc")
    again = bb.load_fit(tmp_path / "fit.nc")
    assert "größe" in again.posterior["protected_word"].to_numpy()
    assert "слово, 'x'" in list(again.table["word_to_compare"])


def test_files_that_are_no_fits(crossed: bb.models.Fit, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"written to a \.nc file"):
        crossed.save(tmp_path / "fit.csv")
    with pytest.raises(NotFoundError, match="there is no file"):
        bb.load_fit(tmp_path / "none.nc")
    text = tmp_path / "text.nc"
    text.write_text("no netCDF")
    with pytest.raises(DataError, match="cannot be read as netCDF"):
        bb.load_fit(text)
    crossed.posterior.isel(draw=slice(0, 2)).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(DataError, match="not a fit saved by bayesbias"):
        bb.load_fit(tmp_path / "other.nc")
    crossed.save(tmp_path / "cut.nc")
    data = (tmp_path / "cut.nc").read_bytes()
    (tmp_path / "cut.nc").write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match="cannot be read as netCDF"):
        bb.load_fit(tmp_path / "cut.nc")


def test_seeds(table: pd.DataFrame) -> None:
    first, second, other = (exact(table, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.draws("theta"), second.draws("theta"))
    assert (first.draws("theta") != other.draws("theta")).any()
    chosen = exact(table, seed=None)
    again = exact(table, seed=chosen.provenance["seed"])
    np.testing.assert_array_equal(chosen.draws("theta"), again.draws("theta"))
    with pytest.raises(SpecError, match="'seed' is -1"):
        exact(table, seed=-1)


def test_a_generator_is_a_seed(table: pd.DataFrame) -> None:
    first, second = (exact(table, seed=np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(first.draws("theta"), second.draws("theta"))
    assert isinstance(first.provenance["seed"], int)
    rng = np.random.default_rng(7)
    for other in (exact(table, seed=rng), exact(table, seed=rng)):
        again = exact(table, seed=other.provenance["seed"])
        np.testing.assert_array_equal(other.draws("theta"), again.draws("theta"))


def test_priors_by_name_change_the_posterior(table: pd.DataFrame) -> None:
    tight = exact(table, "connection", priors={"co": "Normal(0, 0.001)"})
    assert np.abs(tight.draws("co")).max() < 0.01
    assert str(tight.spec["co"].prior) == "Normal(0, 0.001)"
    with pytest.raises(SpecError, match="'priors' has 'coo'.*Did you mean 'co'"):
        exact(table, "connection", priors={"coo": "Normal(0, 1)"})


def test_residual_scales(table: pd.DataFrame) -> None:
    assert exact(table, residual="connection").draws("sigma").shape == (800, 4)
    assert exact(table, "hierarchical", residual="one").draws("s").shape == (800,)
    with pytest.raises(SpecError, match="'residual' is 'word'"):
        exact(table, residual="word")


def test_student_t_is_for_nuts(table: pd.DataFrame) -> None:
    reason = "its likelihood is 'student_t', not 'normal'; use engine='auto' or engine='nuts'"
    with pytest.raises(EngineError, match=reason):
        exact(table, likelihood="student_t")


@pytest.mark.parametrize("name", list(bb.models.MODELS))
def test_auto_is_exact_where_the_likelihood_is_normal(name: str) -> None:
    spec = bb.load_model(name)
    assert exact_supports(spec) is None
    if spec.common:
        return  # for a normal likelihood only
    assert exact_supports(spec.vary(likelihood="student_t")) is not None


def test_the_default_engine_is_auto(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = bb.fit(table, "separate", draws=50)
    assert fit.provenance["engine"] == "exact"
    assert "exact engine" in repr(fit)
    sampled = []

    def sample_nuts(spec: bb.models.ModelSpec, data: ModelData, **_: object) -> None:
        sampled.append(spec.name)
        raise KeyboardInterrupt

    monkeypatch.setattr("bayesbias.models.nuts.sampling.sample_nuts", sample_nuts)
    with pytest.raises(KeyboardInterrupt):
        bb.fit(table, "separate", likelihood="student_t", draws=50)
    assert sampled == ["separate"]


def test_auto_samples_what_the_exact_engine_cannot_draw(
    table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise EngineError("the exact engine cannot draw.")

    monkeypatch.setattr("bayesbias.models.fitting.sample_exactly", refuse)
    with pytest.raises(EngineError, match="cannot draw"):
        bb.fit(table, "separate", engine="exact", draws=50)
    monkeypatch.setattr("bayesbias.models.nuts.sampling.sample_nuts", refuse)
    with (
        pytest.warns(BayesBiasWarning, match="So NUTS was used"),
        pytest.raises(EngineError),
    ):
        bb.fit(table, "separate", draws=50)


def test_one_model_at_a_time(table: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match="'model' is a list; expected one model.*once for each"):
        bb.fit(table, ["crossed"])  # type: ignore[arg-type]


def test_sub_studies_drop_levels(table: pd.DataFrame) -> None:
    fit = exact(prepare_table(table).query("protected_group == 'g1'"), "crossed")
    assert list(fit.posterior["protected_word"].to_numpy()) == ["p10", "p11", "p12"]
    assert len(fit.posterior["connection"]) == 4
    few = exact(table[table["connection"].isin(["associated", "none"])], "crossed")
    assert list(few.posterior["connection"].to_numpy()) == ["associated", "none"]
    assert few.posterior.sizes["word_to_compare"] == 2 * 4 + 6
    with pytest.raises(SpecError, match="no 'human' here"):
        few.contrasts("associated - human")


def test_duplicates_are_dropped_and_counted(table: pd.DataFrame) -> None:
    twice = pd.concat([table, table.iloc[:30]])
    with pytest.warns(BayesBiasWarning, match="30 of 150 rows are duplicates"):
        fit = exact(twice)
    assert len(fit.table) == 120
    assert len(exact(twice, duplicates="keep").table) == 150


def test_cells_without_rows_are_marked(table: pd.DataFrame) -> None:
    gone = (table["protected_word"] == "p00") & (table["connection"] == "human")
    with pytest.warns(BayesBiasWarning, match="1 of 24 cells have no row.*p00 – human"):
        fit = exact(table[~gone], "hierarchical", seed=4)
    cell = fit.means().query("protected_word == 'p00' and connection == 'human'").iloc[0]
    assert cell["rows"] == 0
    # The estimate is the population's: its spread is that of bar and tau.
    bar, tau = fit.draws("bar")[:, 2], fit.draws("tau")[:, 2]
    assert cell["mean"] == pytest.approx(bar.mean(), abs=0.03)
    assert cell["sd"] == pytest.approx(np.sqrt(bar.var() + (tau**2).mean()), rel=0.25)
    assert "p00 – human" in str(fit.diagnostics())


def test_cells_with_one_row_are_marked(table: pd.DataFrame) -> None:
    human = table[(table["protected_word"] == "p00") & (table["connection"] == "human")]
    with pytest.warns(BayesBiasWarning, match="1 of 24 cells have one row"):
        exact(table.drop(human.index[1:]))


def test_one_protected_word_is_marked(table: pd.DataFrame) -> None:
    with pytest.warns(BayesBiasWarning, match="tau is estimated from one value.*protected words"):
        fit = exact(table[table["protected_word"] == "p00"], "hierarchical")
    assert fit.draws("tau").mean() > 0.2  # the prior's mean is 0.5


def test_one_group_is_marked(table: pd.DataFrame) -> None:
    one = table[table["protected_group"] == table["protected_group"].iloc[0]]
    message = "tau_group and tau_a are each estimated from one value.*or more groups$"
    with pytest.warns(BayesBiasWarning, match=message):
        exact(one, "interaction")


def test_bad_tables_are_refused_before_sampling(table: pd.DataFrame) -> None:
    def refused(message: str, bad: object, **options: object) -> None:
        with pytest.raises(BayesBiasError, match=message):
            bb.fit(bad, **options)  # type: ignore[arg-type]

    refused("expected a pandas DataFrame", [1])
    refused("has no rows", table.iloc[:0])
    gap = table["cosine_distance"].where(table.index > 0)
    refused("'cosine_distance' is missing in 1 row", table.assign(cosine_distance=gap))
    refused("all 120 values are 0.5", table.assign(cosine_distance=0.5), model="separate")
    flat = table["cosine_distance"].where(table["connection"] != "human", 0.7)
    refused("all 36 values of 'human' are 0.7", table.assign(cosine_distance=flat))
    refused("'model' is 'croosed'.*Did you mean 'crossed'", table, model="croosed")
    refused("'engine' is 'stan'", table, engine="stan")
    refused("'sampler' is 'stan'", table, sampler="stan")
    refused("'draws' is 0", table, draws=0)
    refused("'chains' is 0", table, chains=0)
    refused("'target_accept' is 2", table, target_accept=2)
    refused("holds only 'simulated'", table, model="embeddings")
    two = pd.concat([table, table.assign(embedding="other")])
    refused("holds 2 embeddings.*does not distinguish them", two)
    spec = bb.load_model("baseline").to_dict()
    spec["parameters"]["m"]["by"] = ["corpus"]
    refused("needs the column 'corpus'", table, model=bb.models.ModelSpec.from_dict(spec))
    refused("holds numbers", table.assign(corpus=0.5), model=bb.models.ModelSpec.from_dict(spec))


def test_a_column_of_the_user_can_be_a_factor(table: pd.DataFrame) -> None:
    spec = bb.load_model("baseline").to_dict()
    spec["parameters"]["m"]["by"] = ["corpus"]
    halves = table.assign(corpus=np.where(np.arange(len(table)) % 2, "odd", "even"))
    fit = exact(halves, bb.models.ModelSpec.from_dict(spec))  # type: ignore[arg-type]
    assert list(fit.posterior["corpus"].to_numpy()) == ["even", "odd"]


@pytest.mark.slow
def test_several_embeddings() -> None:
    table = pd.concat(
        [
            simulated_table(1, embedding="x"),
            simulated_table(2, embedding="y", theta={"associated": 1.0}),
        ]
    )
    fit = exact(table, "embeddings")
    by = fit.contrasts("associated - none", by="embedding")
    assert list(by["embedding"]) == ["x", "y"]
    assert by["mean"].iloc[0] < by["mean"].iloc[1]
    both = fit.contrasts("associated - none")
    assert both["mean"].item() == pytest.approx(by["mean"].mean())
    assert set(fit.means().columns) > {"protected_word", "connection", "embedding"}


def test_standard_errors_enter_the_model(table: pd.DataFrame) -> None:
    certain = exact(table, "separate", seed=1)
    error = np.full(len(table), 0.07)
    fit = exact(table.assign(standard_error=error), "separate", seed=1)
    # The spread of the rows is shared between the known error and sigma.
    total = np.sqrt(fit.draws("sigma") ** 2 + 0.07**2).mean()
    assert total == pytest.approx(certain.draws("sigma").mean(), rel=0.05)
    with pytest.raises(DataError, match="'standard_error' is -1.0 in row 0"):
        exact(table.assign(standard_error=-1.0))
    with pytest.raises(DataError, match="'standard_error' is nan"):
        exact(table.assign(standard_error=np.nan))


def test_rows_with_large_errors_count_less(table: pd.DataFrame) -> None:
    """A distance with a huge known error does not move the mean; without, it does."""
    human = table.index[(table["protected_word"] == "p00") & (table["connection"] == "human")]
    wrong = table.assign(cosine_distance=table["cosine_distance"].where(table.index != human[0], 2))
    error = np.where(table.index == human[0], 5.0, 0.0)
    cell = "protected_word == 'p00' and connection == 'human'"
    true, moved, known = (
        exact(t, seed=2).means().query(cell)["mean"].item()
        for t in (table.drop(human[0]), wrong, wrong.assign(standard_error=error))
    )
    assert moved > true + 0.1
    assert known == pytest.approx(true, abs=0.03)


def test_covariates_of_replicates_become_means(rng: np.random.Generator) -> None:
    table = simulated_table(words=4, controls=30)
    size = len(table)
    norms = rng.uniform(1, 2, (3, size))
    noise = rng.normal(0, 0.03, (3, size))
    replicated = pd.concat(
        [
            table.assign(
                cosine_distance=(table["cosine_distance"] + noise[r]).clip(0, 2),
                replicate=r,
                norm=norms[r],
            )
            for r in range(3)
        ],
        ignore_index=True,
    )
    np.testing.assert_allclose(prepare_table(replicated)["norm"], norms.mean(axis=0))
    backwards = prepare_table(replicated.iloc[::-1])["norm"]
    np.testing.assert_allclose(backwards, norms.mean(axis=0)[::-1])
    replicated.loc[size + 3, "norm"] = np.nan
    assert prepare_table(replicated)["norm"].isna().sum() == 1


def test_replicates_become_means_and_errors(rng: np.random.Generator) -> None:
    table = simulated_table(words=4, controls=30)
    noise = rng.normal(0, 0.03, (5, len(table)))
    replicated = pd.concat(
        [
            table.assign(cosine_distance=table["cosine_distance"] + noise[r], replicate=r)
            for r in range(5)
        ],
        ignore_index=True,
    )
    replicated["cosine_distance"] = replicated["cosine_distance"].clip(0, 2)
    prepared = prepare_table(replicated)
    assert len(prepared) == len(table)
    assert "replicate" not in prepared
    np.testing.assert_allclose(prepared["standard_error"], 0.03 / np.sqrt(5), rtol=0.15)
    mean = replicated.groupby(["protected_word", "word_to_compare"])["cosine_distance"].mean()
    keys = pd.MultiIndex.from_frame(prepared[["protected_word", "word_to_compare"]].astype(str))
    np.testing.assert_allclose(prepared["cosine_distance"], mean.loc[keys])
    data = model_data(bb.load_model("crossed"), prepared)
    assert data.error is not None
    with pytest.raises(DataError, match="has one replicate only"):
        prepare_table(replicated.drop(index=range(len(table), 5 * len(table) - 1)))
    with pytest.raises(SpecError, match="remove one of the two columns"):
        prepare_table(replicated.assign(standard_error=0.1))
    again = pd.concat([replicated, replicated.iloc[[3, 7]]], ignore_index=True)
    with pytest.warns(BayesBiasWarning, match=f"2 of {len(again)} rows repeat a pair of a repl"):
        pd.testing.assert_frame_equal(prepare_table(again), prepared)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": "many"}, "the covariate 'x' is of the type .*; expected numbers"),
        ({"x": "3.5"}, "the covariate 'x' is of the type .*; expected numbers"),
        ({"x": 1j}, "the covariate 'x' is of the type complex128; expected numbers"),
        ({"x": np.nan}, r"'x' is nan in row 0 \('.*', '.*'\), and not a finite number in all rows"),
        ({"x": 3.0}, "the covariate 'x' is 3 in every row"),
        ({"x": 0.0}, "the covariate 'x' is 0 in every row"),
    ],
)
def test_bad_covariates(table: pd.DataFrame, change: dict[str, object], message: str) -> None:
    spec = bb.load_model("crossed").vary(covariates=["x"])
    with pytest.raises(SpecError, match="no covariate 'x', for which model 'crossed' has a slope"):
        model_data(spec, table)
    with pytest.raises(DataError, match=message.replace("all", f"{len(table)} of {len(table)}")):
        model_data(spec, table.assign(**change))


def test_the_unit_of_a_covariate_does_not_matter(
    table: pd.DataFrame, rng: np.random.Generator
) -> None:
    """Not even one in which squares are infinite or zero: a power of two loses no digit."""
    table = prepare_table(table)
    x = rng.normal(-8, 2, len(table))
    spec = bb.load_model("crossed").vary(covariates=["x"])
    expected = (x - x.mean()) / x.std()
    for unit in (1.0, 2.0**1000, 2.0**-1000):
        found = model_data(spec, table.assign(x=unit * x)).covariates["x"]
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    with pytest.raises(SpecError, match="no covariate 'cosine_similarity', .* columns are none"):
        model_data(bb.load_model("crossed").vary(covariates=["cosine_similarity"]), table)


def test_a_covariate_may_have_any_name(table: pd.DataFrame, rng: np.random.Generator) -> None:
    named = table.assign(**{"per million (é)": rng.normal(size=len(table))})
    fit = bb.fit(named, "crossed", draws=50, covariates=["per million (é)"])
    plain = bb.fit(
        named.rename(columns={"per million (é)": "x"}), "crossed", draws=50, covariates=["x"]
    )
    np.testing.assert_array_equal(fit.draws("slope_per_million__é_"), plain.draws("slope_x"))


def test_a_list_has_one_connection_to_a_group(table: pd.DataFrame) -> None:
    """As in a table whose groups are all called the same."""
    with pytest.raises(
        DataError, match="group 'all' have the connections 'associated', 'different'"
    ):
        bb.fit(table.assign(protected_group="all"), draws=50)
    bb.fit(table.assign(protected_group="all"), "crossed", draws=50)  # has no groups


def test_bad_factors_and_errors(table: pd.DataFrame) -> None:
    own = bb.load_model("crossed").to_dict()
    own["parameters"]["u"]["by"] = ["era"]
    spec = bb.models.ModelSpec.from_dict(own)
    with pytest.raises(DataError, match="needs the column 'era'; the table has 'protected_word'"):
        model_data(spec, table)
    with pytest.raises(DataError, match="'era' is missing in row 2"):
        model_data(spec, table.assign(era=[*"ab", None, *"a" * (len(table) - 3)]))
    with pytest.raises(DataError, match="'era' holds numbers; a factor of a model holds names"):
        model_data(spec, table.assign(era=0.5))
    with pytest.raises(DataError, match="'standard_error' holds something that is not a number"):
        model_data(bb.load_model("crossed"), table.assign(standard_error="little"))


def test_pymc_model_is_readable(table: pd.DataFrame) -> None:
    model = exact(table, "crossed").pymc_model()
    assert model.named_vars_to_dims["theta"] == ("protected_word", "connection")
    assert list(model.coords["connection"]) == ["associated", "different", "human", "none"]
    assert {v.name for v in model.free_RVs} == {
        "bar", "tau", "theta", "tau_word", "u", "s",
    }  # fmt: skip
    assert "theta ~ Normal(bar, tau)" in model.str_repr()
    assert "distance_observed" in model.named_vars


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["baseline", "connection", "separate", "hierarchical", "crossed", "interaction"]
)
@pytest.mark.parametrize("likelihood", ["normal", "student_t"])
def test_every_pymc_model_has_the_density_of_its_spec(
    table: pd.DataFrame, model: str, likelihood: str
) -> None:
    """At one point, PyMC's log density is that of the priors and the rows, by SciPy."""
    spec = bb.load_model(model).vary(
        likelihood=likelihood,  # type: ignore[arg-type]
        covariates=["length"] if model == "interaction" else [],
    )
    errors = np.linspace(0.01, 0.05, len(table))
    rows = table.assign(standard_error=errors, length=np.arange(len(table)) % 7)
    data = model_data(spec, prepare_table(rows))
    from bayesbias.models.exact.compiled_model import parent_index
    from bayesbias.models.nuts.pymc_model import build_pymc_model

    built = build_pymc_model(spec, data)
    point = built.initial_point(random_seed=1)
    rng = np.random.default_rng(2)
    point = {name: value + rng.normal(0, 0.1, np.shape(value)) for name, value in point.items()}
    evaluate = built.compile_fn(built.unobserved_value_vars, mode="FAST_COMPILE")
    names = [v.name for v in built.unobserved_value_vars]
    values = dict(zip(names, evaluate(point), strict=True))
    expected = 0.0
    for p in spec.parameters:
        if p.prior.parents:
            mean = np.full(values[p.name].size, p.prior.arguments[0])
            for parent in p.prior.mean:
                mean += values[parent].ravel()[parent_index(spec, data, p.name, parent)]
            assert p.prior.sd is not None
            sd = np.ravel(values[p.prior.sd])[parent_index(spec, data, p.name, p.prior.sd)]
            expected += float(stats.norm.logpdf(values[p.name].ravel(), mean, sd).sum())
        else:
            expected += float(p.prior.log_density(values[p.name]).sum())
    mean = np.zeros(len(table))
    for n in spec.mean:
        times = data.times(spec, n)
        mean += np.ravel(values[n])[data.index(spec[n].by)] * (1 if times is None else times)
    scale = np.ravel(values[spec.scale])[data.index(spec[spec.scale].by)]
    scale = np.sqrt(scale**2 + errors**2)
    if likelihood == "normal":
        expected += float(stats.norm.logpdf(data.y, mean, scale).sum())
    else:
        expected += float(stats.t.logpdf(data.y, values["nu"], mean, scale).sum())
    found = built.compile_logp(jacobian=False, mode="FAST_COMPILE")(point)
    # PyMC holds the mean of Exponential(5) in single precision.
    assert float(found) == pytest.approx(expected, rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("errors", ["none", "few"])
def test_the_pymc_model_of_embeddings_with_common_parts(errors: str) -> None:
    """Its density is that of multivariate normals, by SciPy, also where rows are missing."""
    from brute_force import BruteForce, make_table

    from bayesbias.models.nuts.pymc_model import build_pymc_model

    spec = bb.load_model("embeddings")
    table = make_table(3, embeddings=3, keep=0.8, errors=errors)
    data = model_data(spec, table)
    built = build_pymc_model(spec, data)
    point = built.initial_point(random_seed=1)
    rng = np.random.default_rng(2)
    point = {name: value + rng.normal(0, 0.1, np.shape(value)) for name, value in point.items()}
    evaluate = built.compile_fn(built.unobserved_value_vars, mode="FAST_COMPILE")
    names = [v.name for v in built.unobserved_value_vars]
    values = dict(zip(names, evaluate(point), strict=True))
    brute = BruteForce(spec, table)
    scales = {p.name: np.ravel(values[p.name]) for p in spec.parameters if p.prior.is_positive}
    given = brute.given(scales)
    coefficients = np.concatenate(
        [np.ravel(values[p.name]) for p in spec.parameters if not p.prior.is_positive]
    )
    expected = stats.multivariate_normal.logpdf(coefficients, given.mean, given.covariance)
    expected += stats.multivariate_normal.logpdf(given.y, given.x @ coefficients, given.noise)
    for p in spec.parameters:
        if p.prior.is_positive:
            expected += float(p.prior.log_density(values[p.name]).sum())
    # PyTensor's slow mode cannot add more than 31 terms.
    found = built.compile_logp(jacobian=False, sum=False, mode="FAST_COMPILE")(point)
    assert sum(float(np.sum(part)) for part in found) == pytest.approx(expected, rel=1e-7)


GROUPS_MODEL = """
name = "by_group"
mean = ["theta"]
scale = "s"

[parameters.bar]
by = ["connection", "protected_group"]
prior = "Normal(1, 0.3)"

[parameters.tau]
by = ["connection"]
prior = "Exponential(2)"

[parameters.theta]
by = ["protected_word", "connection", "protected_group"]
prior = "Normal(bar, tau)"

[parameters.s]
prior = "Exponential(2)"
"""


def test_words_have_the_values_of_their_own_group(tmp_path: Path) -> None:
    path = tmp_path / "by_group.toml"
    path.write_text(GROUPS_MODEL, "utf-8")
    table = simulated_table(controls=20)
    with pytest.warns(BayesBiasWarning, match="24 of 48 cells have no row"):
        found = bb.fit(table, path, engine="exact", draws=200, seed=1)
    theta = found.posterior["theta"].transpose("protected_word", "connection", ...)
    own = dict(zip(*_words_and_groups(found), strict=True))

    means = found.means()
    assert len(means) == len(own) * 4
    for row in means.itertuples():
        values = theta.sel(
            protected_word=row.protected_word,
            connection=row.connection,
            protected_group=own[row.protected_word],
        )
        assert row.mean == pytest.approx(float(values.mean()))

    by_group = found.contrasts("associated - none", by="protected_group")
    for row in by_group.itertuples():
        words = [word for word, group in own.items() if group == row.protected_group]
        part = theta.sel(protected_word=words, protected_group=row.protected_group)
        gap = part.sel(connection="associated") - part.sel(connection="none")
        assert row.mean == pytest.approx(float(gap.mean()))
    bar = found.posterior["bar"].mean("protected_group")  # as many words in each group
    gap = bar.sel(connection="associated") - bar.sel(connection="none")
    overall = found.contrasts("associated - none", words="population").iloc[0]
    assert overall["mean"] == pytest.approx(float(gap.mean()))


def test_contrasts_of_a_model_of_groups_alone(tmp_path: Path) -> None:
    path = tmp_path / "groups_alone.toml"
    path.write_text(
        'name = "groups_alone"\nmean = ["g"]\nscale = "s"\n'
        '[parameters.g]\nby = ["protected_group", "connection"]\nprior = "Normal(1, 1)"\n'
        '[parameters.s]\nprior = "Exponential(2)"\n',
        "utf-8",
    )
    found = bb.fit(simulated_table(), path, engine="exact", draws=200, seed=1)
    g = found.posterior["g"].mean(("chain", "draw"))
    gap = (g.sel(connection="associated") - g.sel(connection="none")).to_series().to_dict()
    by = {
        name: found.contrasts("associated - none", by=name)
        for name in ("protected_group", "protected_word", None)
    }
    groups, words = by["protected_group"], by["protected_word"]
    assert dict(zip(groups["protected_group"], groups["mean"], strict=True)) == pytest.approx(gap)
    own = dict(zip(*_words_and_groups(found), strict=True))
    assert dict(zip(words["protected_word"], words["mean"], strict=True)) == pytest.approx(
        {word: gap[group] for word, group in own.items()}
    )
    assert by[None]["mean"].item() == pytest.approx(np.mean(list(gap.values())))


def _words_and_groups(found: bb.models.Fit) -> tuple[list[str], list[str]]:
    groups = found.groups()
    return list(groups["protected_word"].to_numpy()), list(groups.to_numpy())


def test_the_time_of_a_fit_is_estimated_for_the_exact_engine_only(table: pd.DataFrame) -> None:
    spec = bb.load_model("crossed")
    rows = prepare_table(table)
    few, many = (seconds_to_fit(rows, spec, draws) for draws in (1_000, 1_000_000))
    assert few is not None
    assert many is not None
    assert 0 < few < many
    assert seconds_to_fit(rows, spec.vary(likelihood="student_t"), 1_000) is None
