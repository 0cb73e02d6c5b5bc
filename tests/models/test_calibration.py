"""Calibration: what is right passes, what is wrong is found, and a stopped run goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from simulated import simulated_table

import bayesbias as bb
from bayesbias._core.array_types import Array
from bayesbias.errors import BayesBiasWarning, DataError, EngineError, SpecError
from bayesbias.models import calibration as module
from bayesbias.models.exact.engine import sample_exactly
from bayesbias.models.model_data import ModelData
from bayesbias.numerics import uniformity as ranks


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return simulated_table(3, words=2, stereotypes=3, controls=5)


# The test of uniformity


@pytest.mark.parametrize("n", [20, 300])
def test_uniform_values_pass_as_often_as_stated(n: int) -> None:
    rng = np.random.default_rng(1)
    p = np.array([ranks.uniformity(rng.uniform(size=n)) for _ in range(1500)])
    for level in (0.01, 0.05, 0.3):
        assert (p <= level).mean() == pytest.approx(level, abs=3.5 * np.sqrt(level / 1500))
    lower, upper = ranks.band(n)
    inside = 0
    for _ in range(1500):
        found = ranks.distribution(rng.uniform(size=n))
        inside += bool(((lower - 1e-9 <= found) & (found <= upper + 1e-9)).all())
    assert inside / 1500 >= 0.93


@pytest.mark.slow
def test_bands_are_arvizs() -> None:
    arviz = pytest.importorskip("arviz.stats.ecdf_utils")
    z = ranks.points()
    theirs = arviz.ecdf_confidence_band(200, z, z, prob=0.95, method="optimized")
    for ours, edge in zip(ranks.band(200), theirs, strict=True):
        assert np.abs(ours - edge).max() <= 1.01 / 200  # a count more or less


def test_what_is_not_uniform_is_found() -> None:
    rng = np.random.default_rng(2)
    assert ranks.uniformity(rng.beta(0.6, 0.6, 200)) < 0.001
    assert ranks.uniformity(rng.beta(1.5, 1, 200)) < 0.001
    assert ranks.uniformity(np.full(50, 0.5)) < 0.001


def test_adjusted_p_values() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert ranks.holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])  # Holm (1979), by hand


def test_wilsons_interval() -> None:
    found = stats.binomtest(85, 100).proportion_ci(method="wilson")
    assert ranks.wilson(0.85, 100) == pytest.approx((found.low, found.high))


# Engines that are right, and others


@pytest.mark.slow
def test_the_exact_engine_is_calibrated(table: pd.DataFrame) -> None:
    found = bb.calibrate("separate", table, simulations=150, draws=199, seed=1)
    assert (found.table["verdict"] == "no departure").all()
    assert found.table["coverage"].between(0.82, 0.96).all()
    assert "no departure from calibration is visible" in found.summary()
    assert found.simulations == 150
    assert set(found.table["level"]) == {"all", "protected_group", "protected_word", "parameter"}
    assert len(found.by_name) == 3 * (1 + 2 + 4) + 1
    curve = found.coverage([0.5, 0.89])
    assert curve.groupby("prob")["coverage"].mean().to_numpy() == pytest.approx(
        [0.5, 0.89], abs=0.04
    )
    assert "<table" in found._repr_html_()


def broken(change: Any) -> Any:
    def sample(
        spec: bb.models.ModelSpec, data: ModelData, draws: int, rng: np.random.Generator
    ) -> tuple[dict[str, Array], dict[str, float]]:
        values, quality = sample_exactly(spec, data, draws, rng)
        return {name: change(value) for name, value in values.items()}, quality

    return sample


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (lambda v: v.mean(axis=0) + (v - v.mean(axis=0)) / 2, "intervals too narrow"),
        (lambda v: v.mean(axis=0) + (v - v.mean(axis=0)) * 2, "intervals too wide"),
        (lambda v: v + 0.7 * v.std(axis=0), "estimates too high"),
    ],
)
def test_a_wrong_engine_is_found(
    table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, change: Any, verdict: str
) -> None:
    monkeypatch.setattr(module, "sample_exactly", broken(change))
    found = bb.calibrate("separate", table, simulations=120, draws=199, contrasts=())
    assert found.table["verdict"].to_list() == [verdict]
    assert found.summary().splitlines()[1].startswith(f"- sigma (parameter): {verdict}; coverage")


@pytest.mark.slow
def test_a_wrong_model_is_found() -> None:
    table = simulated_table(5, words=3, stereotypes=4, controls=10, tau_word=0.15, s=0.05)
    options: dict[str, Any] = {"truth": "posterior", "simulations": 60, "draws": 199, "seed": 2}
    wrong = bb.calibrate("separate", table, truth_model="crossed", **options)
    right = bb.calibrate("crossed", table, **options)
    key = ["quantity", "level"]
    group = ("associated - none", "protected_group")
    assert wrong.table.set_index(key).loc[group, "coverage"] < 0.75
    assert wrong.table.set_index(key).loc[group, "verdict"] == "intervals too narrow"
    assert right.table.set_index(key).loc[group, "coverage"] > 0.8
    assert "parameter" not in set(wrong.table["level"])  # they may mean other things
    assert repr(wrong) == (
        "<Calibration of 'separate': 60 simulated tables, truth from the posterior of 'crossed', "
        "exact engine>"
    )


@pytest.mark.slow
def test_estimates_that_are_off_are_not_called_wide() -> None:
    table = simulated_table(1, groups=2, words=2, stereotypes=4, controls=6)
    pulled = bb.load_model("hierarchical").vary(
        priors={"bar": "Normal(1, 0.02)", "tau": "Exponential(100)"}
    )
    found = bb.calibrate(
        pulled, table, truth="posterior", truth_model="separate", simulations=60, draws=299, seed=1
    )
    assert (found.table["coverage"] < 0.8).all()
    assert "intervals too wide" not in set(found.table["verdict"])
    low = found.table[found.table["quantity"] == "associated - none"]
    assert (low["coverage"] < 0.1).all()
    assert set(low["verdict"]) == {"estimates too high"}


@pytest.mark.slow
@pytest.mark.parametrize("draws", [19, 99])
def test_few_draws_do_not_condemn_a_right_model(draws: int) -> None:
    table = simulated_table(1)
    options: dict[str, Any] = {"truth": "posterior", "simulations": 100, "seed": 1}
    found = bb.calibrate("separate", table, draws=draws, **options)
    assert set(found.table["verdict"]) == {"no departure"}
    # Interpolated between draws, so not quite those of the ranks.
    by_rank = found.coverage([0.89]).set_index(["quantity", "level"])["coverage"]
    by_interval = found.table.set_index(["quantity", "level"])["coverage"]
    assert np.abs(by_rank - by_interval).max() < 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 200, "kind": "hdi"}, "use draws=999 or more, or kind='eti'"),
        ({"draws": 15}, "an interval of probability 0.89 needs 18 or more"),
        ({"draws": 18, "prob": 0.9}, "an interval of probability 0.9 needs 19 or more"),
        ({"draws": 5}, "'draws' is 5"),
    ],
)
def test_too_few_draws_are_refused(
    table: pd.DataFrame, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        bb.calibrate("separate", table, simulations=2, **options)


@pytest.mark.slow
def test_new_attributes_are_drawn_and_protected_words_kept(table: pd.DataFrame) -> None:
    found = bb.calibrate("crossed", table, truth="posterior", simulations=8, draws=50, seed=3)
    fit = bb.fit(table, "crossed", engine="exact", draws=500, seed=3)
    own = fit.draws("tau_word").ravel()
    drawn = found.ranks.loc[found.ranks["quantity"] == "tau_word", "truth"]
    assert np.isin(drawn.round(9), own.round(9)).all()


@pytest.mark.slow
def test_nuts(table: pd.DataFrame) -> None:
    found = bb.calibrate("separate", table, simulations=2, draws=50, engine="nuts", progress=False)
    assert found.ranks["rank"].between(0, 50).all()
    assert found.settings["engine"] == "nuts"


def test_the_engine_is_exact_where_the_model_allows_it(
    table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    auto, exact = (
        bb.calibrate("separate", table, simulations=2, draws=50, **options)
        for options in ({}, {"engine": "exact"})
    )
    assert auto.settings == exact.settings
    assert auto.settings["engine"] == "exact"
    pd.testing.assert_frame_equal(auto.ranks, exact.ranks)
    # Of a model with another likelihood NUTS is chosen before the first table is drawn.
    chosen = []
    monkeypatch.setattr(module, "_run", lambda study, *_: chosen.append(study.engine) or {})
    monkeypatch.setattr(module, "_collect", lambda study, results, settings: settings)
    student = bb.load_model("crossed").vary(likelihood="student_t")
    assert bb.calibrate(student, table, simulations=2)["engine"] == "nuts"
    assert chosen == ["nuts"]


# Long runs


@pytest.mark.slow
def test_processes_do_not_matter(table: pd.DataFrame) -> None:
    one, two = (
        bb.calibrate("crossed", table, simulations=6, draws=50, seed=4, n_jobs=n) for n in (1, 2)
    )
    pd.testing.assert_frame_equal(one.ranks, two.ranks)
    other = bb.calibrate("crossed", table, simulations=6, draws=50, seed=5)
    assert not np.array_equal(one.ranks["truth"], other.ranks["truth"])


RUN = """
import sys
sys.path[:0] = {paths!r}
import bayesbias as bb
from simulated import simulated_table
table = simulated_table(3, words=2, stereotypes=3, controls=5)
bb.calibrate("crossed", table, truth="posterior", simulations=400, draws=50, seed=4, out={out!r})
"""


@pytest.mark.slow
def test_a_killed_run_goes_on(table: pd.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "run"
    paths = [str(Path(bb.__file__).parents[1]), str(Path(__file__).parents[1])]
    code = RUN.format(paths=paths, out=str(out))
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            if len(list(out.glob("simulation-*.npz"))) >= 2:
                break
            assert process.poll() is None
            time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = {path: path.stat().st_mtime_ns for path in out.glob("simulation-*.npz")}
    assert 2 <= len(kept) < 400
    last = max(kept)
    last.write_bytes(last.read_bytes()[:50])  # as if the disk had been full
    n = len(kept) + 3
    options: dict[str, Any] = {"truth": "posterior", "draws": 50, "seed": 4, "simulations": n}
    again = bb.calibrate("crossed", table, out=out, **options)
    for path, then in kept.items():
        assert (path.stat().st_mtime_ns == then) == (path != last)
    fresh = bb.calibrate("crossed", table, **options)
    pd.testing.assert_frame_equal(again.ranks, fresh.ranks)


def test_a_folder_is_of_one_calibration(table: pd.DataFrame, tmp_path: Path) -> None:
    options: dict[str, Any] = {"simulations": 2, "draws": 50, "out": tmp_path}
    bb.calibrate("crossed", table, **options)
    with pytest.raises(SpecError, match="other settings \\('seed'\\); give another folder"):
        bb.calibrate("crossed", table, seed=9, **options)
    with pytest.raises(SpecError, match="other settings \\('model', 'truth_model'\\)"):
        bb.calibrate("separate", table, **options)
    (tmp_path / "settings.json").write_text("{", "utf-8")
    with pytest.raises(DataError, match="cannot be read; remove the folder"):
        bb.calibrate("crossed", table, **options)


def test_what_cannot_be_fitted_is_told(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def sample(*args: Any) -> Any:
        calls.append(1)
        if len(calls) % 3 == 0:
            raise DataError("the engine gave up.")
        return sample_exactly(*args)

    monkeypatch.setattr(module, "sample_exactly", sample)
    for _ in range(2):  # the second time from the folder
        with pytest.warns(BayesBiasWarning, match="2 of 6 simulated tables could not be"):
            found = bb.calibrate("separate", table, simulations=6, draws=50, out=tmp_path)
        assert found.failures == {2: "the engine gave up.", 5: "the engine gave up."}
        assert found.simulations == 4
        assert "2 simulated tables could not be fitted: the engine gave up." in found.summary()
    assert len(calls) == 6

    def fail(*args: Any) -> Any:
        raise DataError("no.")

    monkeypatch.setattr(module, "sample_exactly", fail)
    with pytest.raises(DataError, match="no simulated table could be fitted by 'separate': no"):
        bb.calibrate("separate", table, simulations=2, draws=50)


def test_bad_input(table: pd.DataFrame) -> None:
    for options, message in (
        ({"truth": "data"}, "'truth' is 'data'"),
        ({"engine": "vi"}, "'engine' is 'vi'"),
        ({"simulations": 0}, "'simulations' is 0"),
        ({"draws": 3}, "'draws' is 3"),
        ({"prob": 89}, "'prob' is 89"),
        ({"n_jobs": 0}, "'n_jobs' is 0"),
        ({"contrasts": "associated - none"}, "expected a list"),
        ({"contrasts": ["associated - nothing"]}, "there is no 'nothing' here"),
        ({"truth_model": "baseline"}, "'baseline' does not distinguish connections"),
        ({"truth_model": "krossed"}, "'model' is 'krossed'"),
    ):
        with pytest.raises(SpecError, match=message):
            bb.calibrate("crossed", table, **options)  # type: ignore[arg-type]
    student = bb.load_model("crossed").vary(likelihood="student_t")
    with pytest.raises(EngineError, match="the exact engine cannot fit model 'crossed'"):
        bb.calibrate(student, table, engine="exact")


def test_a_model_without_connections(table: pd.DataFrame) -> None:
    found = bb.calibrate("baseline", table, simulations=3, draws=50)
    assert set(found.table["level"]) == {"parameter"}
    assert "With 3 tables, only large errors are visible" in found.summary()
