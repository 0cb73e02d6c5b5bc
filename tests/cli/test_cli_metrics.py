"""The commands `bayesbias metrics` and `bayesbias rank`."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from command_line import run

import bayesbias as bb


def test_metrics(capsys: pytest.CaptureFixture[str], demo: bb.Embedding) -> None:
    assert run("metrics", "weat_7", "-m", "weat_es", "--p-values", "--format", "json", "-q") == 0
    [row] = json.loads(capsys.readouterr().out)
    query = bb.load_query("weat_7")
    score = bb.metrics.WEATEffectSize().posterior(query, demo)
    assert row["value"] == pytest.approx(score.value)
    assert (row["lower"], row["upper"]) == pytest.approx((score.lower, score.upper))
    tested = bb.metrics.WEAT().run_query(
        query, demo, calculate_p_value=True, p_value_test_type="two-sided", return_effect_size=True
    )
    assert row["p_value"] == pytest.approx(tested.p_value)


def test_metrics_splits_queries_and_takes_options(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["metrics", "weat_7", "demo", "other=demo-100d", "-m", "rnd", "-m", "mac"]
    command += ["--option", "distance=cos", "--draws", "0", "--format", "csv"]
    assert run(*command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 2 * 2 + 2
    assert any(line.startswith("rnd,Math and Arts wrt Female terms,other,") for line in lines)


def test_true_and_false_may_have_a_capital(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for value in ("false", "False", "true", "True"):
        command = [
            "metrics",
            "weat_7",
            "-m",
            "rnsb",
            "--option",
            f"holdout={value}",
            "--draws",
            "0",
        ]
        assert run(*command, "--format", "csv", "-q") == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != printed[2] == printed[3]


def test_metrics_writes_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("scores.csv", "scores.json", "scores.md"):
        assert run("metrics", "weat_7", "--draws", "50", "--out", str(tmp_path / name)) == 0
        assert f"1 row written to {tmp_path / name}" in capsys.readouterr().err
    frame = pd.read_csv(tmp_path / "scores.csv")
    assert frame.loc[0, "metric"] == "weat_es"
    assert json.loads((tmp_path / "scores.json").read_text())[0]["n_words"] == 32
    text = (tmp_path / "scores.md").read_text("utf-8").splitlines()
    assert text[0].startswith("| metric | query | embedding | value |")
    assert text[1].startswith("| --- | --- | --- | ---: |")
    assert text[2].startswith("| weat_es |")
    assert "89% intervals" in text[4]
    assert len(text) == 5


@pytest.mark.slow
def test_metrics_of_a_set_in_several_processes(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for jobs in ("1", "2"):
        assert run("metrics", "weat", "--draws", "20", "-j", jobs, "--format", "csv", "-q") == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert len(printed[0].splitlines()) == 11


def test_influence(capsys: pytest.CaptureFixture[str], demo: bb.Embedding) -> None:
    assert run("metrics", "weat_7", "-m", "weat", "--influence", "--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    expected = bb.metrics.WEAT().influence(bb.load_query("weat_7"), demo)
    assert [row["word"] for row in rows] == expected["word"].tolist()
    assert rows[0]["influence"] == pytest.approx(expected.loc[0, "influence"])


def test_list_of_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("metrics", "--list", "--format", "csv") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == list(bb.metrics.METRICS)


def test_small_p_values_are_not_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("metrics", "weat_6", "--p-values", "--draws", "0") == 0
    assert "0.0002" in capsys.readouterr().out


def test_rank(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["rank", "weat", "demo", "demo-100d", "-m", "weat_es", "-m", "rnd"]
    assert run(*command, "--draws", "200", "--format", "json") == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)
    assert [row["metric"] for row in rows] == ["weat_es", "weat_es", "rnd", "rnd"]
    for first, second in (rows[:2], rows[2:]):
        assert first["expected_rank"] <= second["expected_rank"]
        assert first["prob_best"] + second["prob_best"] == pytest.approx(1)
    assert "weat_es over 10 queries (abs_avg), 2 embeddings." in err
    assert run(*command, "--draws", "0", "--format", "csv", "-q") == 0
    assert capsys.readouterr().out.splitlines()[0] == "embedding,weat_es,rnd"
    assert run(*command, "--correlations", "--format", "csv", "-q") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "metric,weat_es,rnd"
    assert lines[1].startswith("weat_es,1.0,")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["metrics", "nonsense"], "no query 'nonsense': neither a file nor one of"),
        (["metrics"], "Missing argument 'QUERY', such as weat_7"),
        (["metrics", "weat_7", "-m", "wet"], "Did you mean 'weat'?"),
        (["metrics", "weat_7", "--out", "x.xlsx"], "the suffix is '.xlsx'; expected one of '.csv'"),
        (["metrics", "weat_7", "--out", "no/x.csv"], "the folder no does not exist"),
        (["metrics", "weat_7", "--option", "ddof"], "expected NAME=VALUE"),
        (["metrics", "weat_7", "--option", "ddoff=1"], "Did you mean 'ddof'?"),
        (["metrics", "weat_7", "--draws", "1"], "--draws is 1; expected a whole number, 2 or more"),
        (["rank", "gender", "demo"], "a ranking needs at least two embeddings"),
        (["rank", "gender", "demo", "demo"], "two embeddings are called 'demo'"),
    ],
)
def test_bad_input(command: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in " ".join(err.split())
    assert "Traceback" not in err
