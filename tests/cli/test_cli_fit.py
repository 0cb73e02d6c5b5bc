"""`bayesbias fit` and `bayesbias compare`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from simulated import simulated_table

import bayesbias as bb
from bayesbias.cli import main


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("table") / "table.csv"
    bb.write_table(simulated_table(), path)
    return str(path)


FAST = ["--engine", "exact", "--draws", "200"]


def test_fit_prints_contrasts(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["fit", table, *FAST, "--by", "protected_group", "--rope", "0.05", "--format", "json"])
    printed = capsys.readouterr()
    rows = json.loads(printed.out)
    assert [row["protected_group"] for row in rows] == ["g0", "g1"]
    assert set(rows[0]) >= {"mean", "lower", "upper", "prob_negative", "prob_in_rope"}
    assert "independent draws" in printed.err


def test_fit_is_written_and_read(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "fit.nc")
    main(["fit", table, *FAST, "--seed", "7", "--out", path, "--format", "csv"])
    first = capsys.readouterr()
    assert f"written to {path}" in first.err
    assert bb.load_fit(path).provenance["seed"] == 7
    main(["fit", path, "--format", "csv", "--quiet"])
    again = capsys.readouterr()
    assert again.out == first.out
    assert again.err == ""


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        ("means", "protected_word,connection,mean"),
        ("coefficients", "parameter,level,mean"),
        ("overview", "question,answer,probability"),
        ("parameters", "parameter,mean,sd"),
    ],
)
def test_what_can_be_shown(
    table: str, show: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["fit", table, *FAST, "--model", "separate", "--show", show, "--format", "csv"])
    assert capsys.readouterr().out.startswith(expected)


def test_an_overview_stands_alone_and_says_that_covariates_are_equal(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "size.csv")
    rows = bb.read_table(table)
    size = rows["word_to_compare"].astype("category").cat.codes.astype(float)
    bb.write_table(rows.assign(size=size), path)
    command = ["fit", path, *FAST, "--model", "separate", "--covariate", "size", "--format", "csv"]
    main([*command, "--show", "overview"])
    shown = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert (shown["covariates"] == "equal").all()
    # There is nothing else to look at.
    assert not shown["meaning"].str.contains("see the contrasts").any()
    main([*command, "--show", "means"])
    means = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert set(means["covariates"]) == {"equal", "as observed"}


def test_the_kind_of_interval_can_be_chosen(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "fit.nc")
    main(["fit", table, *FAST, "--kind", "eti", "--out", path, "--format", "csv", "--quiet"])
    row = pd.read_csv(io.StringIO(capsys.readouterr().out)).iloc[0]
    draws = bb.load_fit(path).contrast_draws("associated - none")
    expected = np.quantile(draws, [0.055, 0.945])
    np.testing.assert_allclose(row[["lower", "upper"]].to_numpy(float), expected, atol=2e-3)


def test_models_priors_and_rows_can_be_chosen(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "fit.nc")
    where = "protected_group == 'g1'"
    options = ["--model", "connection", "--prior", "co=Normal(0, 1)", "--residual", "connection"]
    main(["fit", table, *FAST, *options, "--where", where, "--out", path, "--quiet"])
    fit = bb.load_fit(path)
    assert str(fit.spec["co"].prior) == "Normal(0, 1)"
    assert fit.draws("sigma").shape == (800, 4)
    assert set(fit.table["protected_group"]) == {"g1"}


def test_compare_fits_models(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--model", "baseline", "--model", "connection", "--format", "json"]
    main(["compare", table, *FAST, *options])
    captured = capsys.readouterr()
    rows = json.loads(captured.out)
    assert captured.err.splitlines()[:2] == [
        "step 1 of 2: fitting the model baseline",
        "step 2 of 2: fitting the model connection",
    ]
    assert {row["model"] for row in rows} == {"baseline", "connection"}
    assert list(rows[0]) == ["model", "WAIC", "SE", "dWAIC", "dSE", "pWAIC", "weight"]
    assert rows[0]["dSE"] is None


def test_compare_reads_fits(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(tmp_path / f"{name}.nc") for name in ("baseline", "connection")]
    for path in paths:
        main(["fit", table, *FAST, "--model", Path(path).stem, "-o", path, "-q", "--show", "means"])
    capsys.readouterr()
    main(["compare", *paths, "--criterion", "loo", "--by", "word_to_compare", "--format", "csv"])
    assert capsys.readouterr().out.startswith("model,LOO,SE,dLOO")


def test_a_saved_fit_is_not_fitted_again(table: str, tmp_path: Path, run: Any) -> None:
    path = str(tmp_path / "a.nc")
    assert run("fit", table, *FAST, "-o", path, "-q").code == 0
    for options in (
        ["--covariate", "log_frequency", "--draws", "3"],
        ["--model", "separate", "--where", "connection == 'none'"],
        ["--duplicates", "keep", "-e", "nuts"],
        ["--likelihood", "normal", "--residual", "one", "--prior", "co=Normal(0, 1)"],
        ["--sampler", "pymc", "--chains", "4", "--seed", "0"],
    ):
        result = run("fit", path, *options)
        assert result.code == 2
        names = {"-e": "--engine"}
        for name in options[::2]:
            assert names.get(name, name) in result.err
        assert f"need a table to fit a model to, and {path} is a fit already" in result.err
        assert result.out == ""
    assert run("fit", path, "--by", "protected_group", "--prob", "0.5").code == 0
    result = run("compare", path, path, "--model", "separate")
    assert result.code == 2
    assert "--model needs a table to fit a model to, and these are fits already" in result.err


def test_compare_adds_covariates(table: str, tmp_path: Path, run: Any) -> None:
    rows = bb.read_table(table)
    rows["x"] = np.random.default_rng(0).normal(size=len(rows))
    path = tmp_path / "x.csv"
    bb.write_table(rows, path)
    options = ["--model", "baseline", "--model", "connection", "--format", "csv", *FAST]
    options += ["--criterion", "loo"]
    plain = run("compare", path, *options)
    added = run("compare", path, *options, "--covariate", "x")
    assert added.code == plain.code == 0
    fits = {
        model: bb.fit(rows, model, covariates=["x"], draws=200)
        for model in ("baseline", "connection")
    }
    wanted = bb.compare(fits, "loo")["LOO"].to_numpy()
    np.testing.assert_allclose(pd.read_csv(io.StringIO(added.out))["LOO"], wanted)
    assert (pd.read_csv(io.StringIO(plain.out))["LOO"] != wanted).all()
    result = run("compare", table, *options, "--covariate", "log_freq")
    assert result.code == 2
    assert "Did you mean 'log_frequency'? Build it with bayesbias table --covariate" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "none.csv"], "there is no file 'none.csv'"),
        (["fit", "TABLE", "--model", "nonsense"], "--model is 'nonsense'"),
        (["fit", "TABLE", "--out", "fit.csv"], "written to a .nc file"),
        (["fit", "TABLE", "--where", "no_column == 1"], "cannot be read"),
        (["fit", "TABLE", "--where", "protected_group == 'x'"], "leaves no rows"),
        (["fit", "TABLE", "--prior", "co"], "NAME=PRIOR"),
        (["fit", "TABLE", "--prior", "nope=Normal(0, 1)"], "--prior has 'nope'"),
        (["fit", "TABLE", "--contrast", "a - b"], "no 'a' here"),
        (["compare", "TABLE", "TABLE"], "give one table, or fits"),
        (["compare", "TABLE", "--by", "word_to_compare"], "--by is for --criterion loo"),
        (["compare", "TABLE", "--criterion", "loo", "--by", "attribute"], "--by is 'attribute'"),
    ],
)
def test_bad_input_is_one_line(table: str, arguments: list[str], message: str, run: Any) -> None:
    given = [table if argument == "TABLE" else argument for argument in arguments]
    printed = run(*given, *FAST, "--quiet")
    assert printed.code == 2
    assert message in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


def test_neutral_is_another_name_of_none(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = []
    for name in ("none", "neutral"):
        where = f"connection in ['associated', '{name}']"
        contrast = ["--contrast", f"associated - {name}", "--where", where]
        main(["fit", table, *FAST, *contrast, "--format", "json", "-q"])
        numbers.append([row["mean"] for row in json.loads(capsys.readouterr().out)])
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("protected_group == 'x'", ["protected_group", "'g0'", "'g1'"]),
        ("protected_group == 'x' and connection == 'neutral'", ["'g0'", "'associated'", "'none'"]),
        ("cosine_distance > 99", ["cosine_distance is from"]),
        ("group == 'g0'", ["The columns are", "protected_group"]),
        ("protected_group = 'g0'", ["cannot be read: a comparison is written with ==", "'g0'"]),
        ("protected_grop == 'a = b'", ["not defined", "Did you mean 'protected_group'?"]),
    ],
)
def test_where_lists_what_there_is(table: str, where: str, named: list[str], run: Any) -> None:
    result = run("fit", table, "--where", where)
    assert result.code == 2
    assert all(text in result.err for text in named), result.err
