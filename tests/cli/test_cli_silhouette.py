"""The command `bayesbias silhouette`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from command_line import run

import bayesbias as bb
from bayesbias.errors import DataError
from bayesbias.silhouette_analysis import silhouette_runs as core

FEW = ("--runs", "12")


@pytest.fixture(scope="module")
def both() -> list[bb.Embedding]:
    return [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]


def test_table_and_verdict(capsys: pytest.CaptureFixture[str], both: list[bb.Embedding]) -> None:
    command = ["silhouette", "weat_7", "demo", "demo-100d", *FEW, "--seed", "3"]
    assert run(*command, "--format", "json") == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)
    query = bb.load_query("weat_7")
    found = bb.silhouettes("weat_es", query, both, runs=12, seed=3)
    for row, (_, expected) in zip(rows, found.robustness_table.iterrows(), strict=True):
        assert {name: row[name] for name in expected.index} == expected.to_dict()
        assert row["value"] == found.complete[row["embedding"]]
        assert (row["metric"], row["side"], row["words"]) == ("weat_es", "targets", 16)
        assert row["query"] == query.name
    heading = f"weat_es, targets of {query.name}:"
    # On a busy machine the time that it takes is said first.
    lines = [line for line in err.splitlines() if " random lists take about " not in line]
    assert lines == [heading, *found.verdict().splitlines()]
    assert len(found.verdict().splitlines()) == 4
    # For reading, intervals are in brackets and one query need not be named.
    first = found.robustness_table.loc[0]
    ends = [f"{first[f'robustness{end}']:.2f}" for end in ("", "_lower", "_upper")]
    assert run(*command, "-q") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "{} [{}, {}]".format(*ends) in out
    assert f"{first['chance']:.2f} [{first['chance_lower']:.2f}, " in out
    assert query.name not in out
    assert run(*command, "-q", "--format", "markdown") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| metric | side | embedding | words | value | robustness |")
    ends = [f"{first[f'robustness{end}']:.3f}" for end in ("", "_lower", "_upper")]
    assert "| {} [{}, {}] |".format(*ends) in lines[2]
    assert run(*command, "-q", "--format", "csv") == 0
    frame = pd.read_csv(io.StringIO(capsys.readouterr().out))
    np.testing.assert_allclose(frame["length_adjusted"], found.robustness_table["length_adjusted"])


def test_same_seed_same_bytes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    printed = []
    for seed, name in (("1", "a"), ("1", "b"), ("2", "c")):
        files = ["--out", str(tmp_path / f"{name}.csv"), "--figure", str(tmp_path / f"{name}.png")]
        command = ["silhouette", "weat_7", *FEW, "--seed", seed, *files, "-q"]
        assert run(*command, "--format", "csv") == 0
        table, figure = ((tmp_path / f"{name}.{suffix}").read_bytes() for suffix in ("csv", "png"))
        printed.append((capsys.readouterr().out, table, figure))
    assert printed[0] == printed[1]
    assert all(a != b for a, b in zip(printed[0], printed[2], strict=True))


@pytest.mark.slow
def test_bands_and_figure_of_several(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, both: list[bb.Embedding]
) -> None:
    command = ["silhouette", "weat_7", "-m", "weat_es", "-m", "ect", "--side", "both", *FEW]
    command += ["--step", "2", "--growth", "prefix", "--prob", "0.5", "--format", "json"]
    files = ["--out", str(tmp_path / "bands.json"), "--figure", str(tmp_path / "bands.svg")]
    assert run(*command, *files) == 0
    out, err = capsys.readouterr()
    # One query by weat_es, and one with each of the attribute sets by ect.
    rows = [(row["metric"], row["query"], row["side"]) for row in json.loads(out)]
    names = ["Math and Arts wrt Male terms", "Math and Arts wrt Female terms"]
    whole = "Math and Arts wrt Male terms and Female terms"
    sides = ("targets", "attributes")
    expected = [("weat_es", whole, side) for side in sides]
    expected += [("ect", name, side) for name in names for side in sides]
    assert rows == expected
    assert [line for line in err.splitlines() if line.endswith(":")] == [
        f"{metric}, {side} of {query}:" for metric, query, side in expected
    ]
    assert f"drawn in {tmp_path / 'bands.svg'}" in err
    bands = pd.DataFrame(json.loads((tmp_path / "bands.json").read_text("utf-8")))
    part = bands.query("metric == 'ect' and query == @names[1] and side == 'attributes'")
    found = bb.silhouettes(
        "ect",
        bb.load_query("weat_7").subqueries((2, 1))[1],
        both[0],
        side="attributes",
        runs=12,
        step=2,
        growth="prefix",
        prob=0.5,
    )
    pd.testing.assert_frame_equal(part[found.table.columns].reset_index(drop=True), found.table)
    drawn = (tmp_path / "bands.svg").read_text("utf-8")
    assert drawn.count('id="axes_') == 6
    assert f"{len(bands)} rows written to" in err


def test_planted_references(capsys: pytest.CaptureFixture[str], both: list[bb.Embedding]) -> None:
    command = ["silhouette", "weat_7", "--planted", "0.2", *FEW, "--seed", "5"]
    query = bb.load_query("weat_7")
    references = [bb.silhouette_analysis.planted_embedding(query, s, seed=5) for s in (0.2, 0)]
    found = bb.silhouettes("weat_es", query, [both[0], *references], runs=12, seed=5)
    alone = bb.silhouettes("weat_es", query, both[0], runs=12, seed=5)
    for normalisation in ("paper", "as-published"):
        assert run(*command, "--format", "json", "--normalisation", normalisation) == 0
        out, err = capsys.readouterr()
        value = found.accuracy(*references, normalisation=normalisation)
        rows = json.loads(out)
        assert [row["embedding"] for row in rows] == ["demo", "planted 0.2", "planted 0"]
        assert [row["accuracy"] for row in rows] == [None, float(value), None]
        assert rows[1]["accuracy_lower"] == value.lower < value < value.upper
        assert rows[1]["accuracy_upper"] == value.upper
        # The verdict on the lists is not about embeddings that were made for the purpose.
        lines = err.splitlines()[1:]
        assert lines[:3] == alone.verdict().splitlines()[:3]
        assert lines[3].startswith(f"Accuracy: {value:.2f} [")
        assert len(lines) == 4


def test_words_with_a_prefix_beside_planted_ones(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, both: list[bb.Embedding]
) -> None:
    path = tmp_path / "numberbatch.npz"
    bb.Embedding([f"/c/en/{word}" for word in both[0].words], both[0].vectors, "x").save(path)
    command = ["silhouette", "weat_7", str(path), "--fallback", "prefix:/c/en/", *FEW]
    assert run(*command, "--planted", "0.1", "--format", "json", "-q") == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert first["embedding"] == "numberbatch"
    value = bb.metrics.WEATEffectSize().run_query(bb.load_query("weat_7"), both[0]).value
    assert first["value"] == pytest.approx(value)


def test_the_table_is_printed_before_files_are_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise DataError("the disk is full.")

    monkeypatch.setattr("bayesbias.cli.silhouette.write_frame", full)
    assert run("silhouette", "weat_7", *FEW, "--format", "csv", "-o", str(tmp_path / "b.csv")) == 2
    out, err = capsys.readouterr()
    assert out.startswith("metric,query,side,embedding")
    assert "the disk is full" in err


def test_given_references(capsys: pytest.CaptureFixture[str], both: list[bb.Embedding]) -> None:
    command = ["silhouette", "weat_7", "demo", "other=demo-100d", "--biased", "demo", *FEW]
    assert run(*command, "--unbiased", "other", "--format", "json", "-q") == 0
    rows = json.loads(capsys.readouterr().out)
    found = bb.silhouettes("weat_es", bb.load_query("weat_7"), both, runs=12)
    assert rows[0]["accuracy"] == found.accuracy("demo", "demo-100d")
    assert rows[1]["accuracy"] is None


def test_influence(capsys: pytest.CaptureFixture[str], both: list[bb.Embedding]) -> None:
    command = ["silhouette", "weat_7", "--influence", "--side", "attributes", *FEW]
    assert run(*command, "--format", "json", "-q") == 0
    rows = pd.DataFrame(json.loads(capsys.readouterr().out))
    found = bb.silhouettes(
        "weat_es", bb.load_query("weat_7"), both[0], side="attributes", runs=12
    ).influence()
    assert list(rows.columns[:3]) == ["metric", "query", "side"]
    pd.testing.assert_frame_equal(rows[found.columns], found)


def test_options_of_metrics_and_a_range(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["silhouette", "weat_7", "-m", "ripa", *FEW, "--format", "json", "-q"]
    robustness = []
    for ends in (("-10", "10"), ("-20", "20")):
        assert run(*command, "--value-range", *ends, "--normalize") == 0
        robustness.append(json.loads(capsys.readouterr().out)[0]["robustness"])
    # The band is the same, and covers half as much of a range twice as wide.
    assert 1 - robustness[0] == pytest.approx(2 * (1 - robustness[1]))
    command = ["silhouette", "weat_7", "-m", "rnd", *FEW, "--format", "json", "-q"]
    assert run(*command, "--option", "distance=cos") == 0
    assert len(json.loads(capsys.readouterr().out)) == 2


def test_resume(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "kept"
    command = ["silhouette", "weat_7", "--resume", str(folder), "--format", "csv"]
    command += ["--chance", "19"]
    assert run(*command, "--runs", "5") == 0
    out, err = capsys.readouterr()
    assert f"0 of 5 runs are in {folder} already." in err
    assert len(list(folder.glob("run-*"))) == 5
    assert len(list(folder.glob("list-*"))) == 19

    def fail(*_: object) -> None:
        raise AssertionError("measured again")

    with monkeypatch.context() as patch:
        patch.setattr(core, "_measure", fail)
        patch.setattr(core, "_measure_all", fail)
        assert run(*command, "--runs", "5") == 0
    again, err = capsys.readouterr()
    assert again == out
    assert f"5 of 5 runs are in {folder} already." in err
    assert run(*command, "--runs", "6", "-q") == 0
    more, err = capsys.readouterr()
    assert err == ""
    assert more != out
    assert len(list(folder.glob("run-*"))) == 6


def test_time_is_told_before(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "_SHORT", -1.0)
    command = ["silhouette", "weat_7", *FEW]
    assert run(*command) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("12 runs take about ")
    assert lines[0].endswith(" seconds in 1 process.")
    # Once, also where all that is logged is shown.
    assert run("-v", *command) == 0
    assert capsys.readouterr().err.count("12 runs take about") == 1
    assert run(*command, "-q") == 0
    assert capsys.readouterr().err == ""
    assert not core._log.handlers
    assert core._log.propagate


def test_only_what_is_needed_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    load = bb.load_embedding

    def spy(*arguments: Any, words: Any = None, **options: Any) -> bb.Embedding:
        asked.append((words, options["limit"]))
        return load(*arguments, words=words, **options)

    monkeypatch.setattr("bayesbias.embeddings.load_embedding", spy)
    assert run("silhouette", "weat_7", *FEW, "--chance", "0", "-q") == 0
    assert run("silhouette", "weat_7", "-m", "neighbourhood", "--runs", "2", "-q") == 0
    # Random lists are of other words, the first ones.
    assert run("silhouette", "weat_7", *FEW, "-q") == 0
    assert run("silhouette", "weat_7", *FEW, "--limit", "12000", "-q") == 0
    query = bb.load_query("weat_7")
    listed = [word for words in query.word_sets().values() for word in words]
    assert asked[:4] == [(listed, None), (None, None), (listed, None), (None, 50_000)]
    assert asked[4:] == [(listed, 12000), (None, 12000)]


def test_words_of_the_lists_are_read_beside_the_first_ones(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = bb.load_embedding("demo")
    path = tmp_path / "vectors.txt"
    bb.Embedding(demo.words, demo.vectors).save(path)
    monkeypatch.setattr("bayesbias.cli.silhouette._FIRST_WORDS", 4000)
    assert run("silhouette", "weat_7", str(path), *FEW, "--format", "json", "-q") == 0
    [row] = json.loads(capsys.readouterr().out)
    query = bb.load_query("weat_7")
    words = [word for words in query.word_sets().values() for word in words]
    rare = [word for word in words if demo.index.get(word, 0) >= 4000]
    assert rare  # else nothing is tested
    part = bb.load_embedding(path)
    kept = part.subset([*part.words[:4000], *rare])
    expected = bb.silhouettes("weat_es", query, kept, runs=int(FEW[1]), seed=0)
    assert row["robustness"] == pytest.approx(float(expected.robustness.iloc[0]))
    assert row["chance"] == pytest.approx(float(expected.robustness_table["chance"][0]))


def test_a_query_from_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "query.toml"
    path.write_text(
        "[target_sets]\nMath = 'weat:math'\nArts = 'weat:arts'\n"
        "[attribute_sets]\nM = 'weat:male_terms'\nF = 'weat:female_terms'\n"
    )
    printed = []
    for source in (str(path), "weat_7"):
        assert run("silhouette", source, *FEW, "--format", "json", "-q") == 0
        printed.append([row["robustness"] for row in json.loads(capsys.readouterr().out)])
    assert printed[0] == printed[1]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([], "Missing argument 'QUERY'"),
        (["nonsense"], "no query 'nonsense': neither a file nor one of"),
        (["weat_7", "-m", "weat_s"], "Did you mean 'weat_es'?"),
        (["weat_7", "-m", "ripa"], "the metric 'ripa' has no finite range of values"),
        (["weat_7", "--side", "left"], "'left' is not one of 'targets', 'attributes', 'both'"),
        (["weat_7", "--runs", "1"], "--runs is 1; expected a whole number, 2 or more"),
        (["weat_7", "--chance", "5"], "--chance is 5; expected a number of random lists, 19 or"),
        (["weat_7", "--jobs", "0"], "'--jobs': 0 is not a number of processes"),
        (["weat_7", "--start", "0"], "'--start': 0 is not in the range"),
        (["weat_7", "--step", "0"], "'--step': 0 is not in the range"),
        (["weat_7", "--value-range", "2", "-2"], "--value-range is (2.0, -2.0); expected"),
        (
            ["weat_7", "-m", "mac", "-m", "weat", "--value-range", "0", "2"],
            "--value-range is of one metric, and there are several --metric",
        ),
        (["weat_7", "--planted", "0"], "--planted 0 is no bias; give a strength up to 0.3"),
        (["weat_7", "--planted", "0.5"], "'strength' is 0.5; expected a number from 0 to 0.3"),
        (["weat_7", "--planted", "0.1", "--biased", "demo"], "leave out --biased and --unbiased"),
        (["weat_7", "--planted", "0.1", "-m", "neighbourhood"], "and neighbourhood needs more"),
        (["weat_7", "--biased", "demo"], "give both --biased and --unbiased, or neither"),
        (["weat_7", "--biased", "demo", "--unbiased", "demo"], "are the same; name two"),
        (
            ["weat_7", "demo", "--biased", "demo", "--unbiased", "demo-100d"],
            "'--unbiased' is 'demo-100d'; expected one of 'demo'. Did you mean 'demo'?",
        ),
        (["weat_7", "demo", "demo"], "two embeddings are called 'demo'"),
        (["weat_7", "nothing.txt"], "'nothing.txt' is neither a file nor a known embedding"),
        (["weat_7", "--figure", "x.gif"], "the suffix is '.gif'; expected one of '.png'"),
        (["weat_7", "--figure", "no/x.png"], "the folder no does not exist"),
        (["weat_7", "--out", "x.xlsx"], "the suffix is '.xlsx'; expected one of '.csv'"),
        (["weat_7", "--out", "no/x.csv"], "the folder no does not exist"),
        (["weat_7", "--option", "ddoff=1"], "Did you mean 'ddof'?"),
        (
            ["weat_7", "--resume", "file"],
            "file: the folder cannot be made (it is a file); give another",
        ),
        (["weat_7", "-m", "cluster_test", "--side", "attributes"], "has no attribute sets"),
    ],
)
def test_bad_input(
    command: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")

    def fail(*_: object) -> None:
        raise AssertionError("long work has begun")

    monkeypatch.setattr(core, "_measure", fail)
    assert run("silhouette", *command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in " ".join(err.split())
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_all_are_tried_before_the_first_takes_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []
    measure = core.measure_runs

    def spy(lists: Any, **options: Any) -> Any:
        begun.append(len(lists[0].orders[0]))
        return measure(lists, **options)

    # The function has the name of its module.
    monkeypatch.setattr(
        sys.modules["bayesbias.silhouette_analysis.silhouettes"], "measure_runs", spy
    )
    assert run("silhouette", "weat_7", "-m", "mac", "-m", "ripa") == 2
    assert "the metric 'ripa' has no finite range" in capsys.readouterr().err
    assert max(begun) == 2
