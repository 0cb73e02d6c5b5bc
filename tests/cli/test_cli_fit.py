"""`bayesbias fit` and `bayesbias compare`."""

from __future__ import annotations

import io
import json
from pathlib import Path

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


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return int(stop.value.code or 0)


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "none.csv"], "there is no file 'none.csv'"),
        (["fit", "TABLE", "--model", "nonsense"], "'model' is 'nonsense'"),
        (["fit", "TABLE", "--out", "fit.csv"], "written to a .nc file"),
        (["fit", "TABLE", "--where", "no_column == 1"], "cannot be read"),
        (["fit", "TABLE", "--where", "protected_group == 'x'"], "leaves no rows"),
        (["fit", "TABLE", "--prior", "co"], "NAME=PRIOR"),
        (["fit", "TABLE", "--prior", "nope=Normal(0, 1)"], "'priors' has 'nope'"),
        (["fit", "TABLE", "--contrast", "a - b"], "no 'a' here"),
        (["compare", "TABLE", "TABLE"], "give one table, or fits"),
        (["compare", "TABLE", "--by", "word_to_compare"], "--by is for --criterion loo"),
        (["compare", "TABLE", "--criterion", "loo", "--by", "attribute"], "'by' is 'attribute'"),
    ],
)
def test_bad_input_is_one_line(
    table: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [table if argument == "TABLE" else argument for argument in arguments]
    assert run(*given, *FAST, "--quiet") == 2
    printed = capsys.readouterr()
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
def test_where_lists_what_there_is(
    table: str, where: str, named: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fit", table, "--where", where) == 2
    err = capsys.readouterr().err
    assert all(text in err for text in named), err
