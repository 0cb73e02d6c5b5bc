from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import bayesbias as bb
from bayesbias.cli import main


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    def call(*arguments: object) -> Result:
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = capsys.readouterr()
        return Result(code, printed.out, printed.err)

    return call


COMMANDS = [
    (),
    ("table",),
    ("words",),
    ("words", "list"),
    ("words", "show"),
    ("words", "check"),
    ("embedding",),
    ("embedding", "info"),
    ("embedding", "convert"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help(run, command: tuple[str, ...]) -> None:
    result = run(*command, "--help")
    assert result.code == 0
    assert result.out.startswith("Usage: bayesbias")
    if command not in ((), ("words",), ("embedding",)):
        assert "Example: bayesbias" in result.out
    assert run(*command, "-h").out == result.out


def test_version(run) -> None:
    assert run("--version").out.strip() == f"bayesbias, version {bb.__version__}"


def test_table_summary_and_file(run, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    result = run("table", "demo", "--study", "religion", "--out", path)
    assert result.code == 0
    assert "associated" in result.out
    assert "4,185 rows written" in result.err
    assert "Warning: demo lacks words of the study 'religion'" in result.err
    assert "errors.py" not in result.err
    assert len(bb.read_table(path)) == 4185


def test_default_is_the_demo(run) -> None:
    assert run("table", "--format", "csv").out == run("table", "demo", "--format", "csv").out


def test_quiet(run) -> None:
    assert run("table", "--quiet").err == ""
    assert run("table").err != ""  # the silence ends with the command


def test_machine_readable(run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("table", "--format", "csv", "-q").out)))
    records = json.loads(run("table", "--format", "json", "-q").out)
    assert [r["connection"] for r in rows] == [r["connection"] for r in records]
    assert float(rows[0]["mean"]) == pytest.approx(records[0]["mean"], rel=1e-12)
    whole = run("table", "--out", "-", "-q").out
    assert len(list(csv.reader(io.StringIO(whole)))) == 4186


def test_only_words_of_the_study_are_read(run, tmp_path: Path, demo: bb.Embedding) -> None:
    demo.save(tmp_path / "vectors.bin")
    result = run("table", tmp_path / "vectors.bin", "-s", "weat_7", "--format", "csv", "-q")
    expected = run("table", "demo", "-s", "weat_7", "--format", "csv", "-q")
    assert result.out == expected.out.replace("demo,", "vectors,")


def test_words_commands(run) -> None:
    assert "weat_1 … weat_10" in run("words", "list").out
    assert "weat:career" in run("words", "list", "weat").out
    assert run("words", "show", "weat:career").out.split()[:2] == ["executive", "management"]
    assert "woman man" in run("words", "show", "bolukbasi:definitional_pairs").out
    assert "target: Math (8)" in run("words", "show", "query:weat_7").out
    assert "group: jew (5)" in run("words", "show", "religion").out
    found = json.loads(run("words", "check", "religion", "demo", "--format", "json").out)
    assert [row["missing"] for row in found if row["missing"]] == [["younglings"]]


def test_embedding_commands(run, tmp_path: Path, demo: bb.Embedding) -> None:
    info = run("embedding", "info", "demo")
    assert "12,187" in info.out
    target = tmp_path / "demo.txt"
    assert run("embedding", "convert", "demo", target, "--limit", "5", "--to", "glove").code == 0
    assert target.read_text().startswith("the ")
    assert "glove" in run("embedding", "info", target).out
    assert (
        run("embedding", "convert", "demo", tmp_path / "a.npz", "--words", "query:weat_7").code == 0
    )
    assert len(bb.load_embedding(tmp_path / "a.npz")) == 32


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("table", "nosuch.bin"), "Error: 'nosuch.bin' is no file"),
        (("table", "--study", "religon"), "Did you mean 'religion'"),
        (("table", "--fallback", "lowre"), "Did you mean 'lower'"),
        (("table", "--out", "table.xlsx"), "one of the kinds"),
        (("table", "--lost", "7"), "not in the range"),
        (("words", "show", "weat:carer"), "Did you mean 'career'"),
        (("words", "list", "weet"), "Did you mean 'weat'"),
        (("words", "check", "nothing"), "no study 'nothing'"),
        (("embedding", "convert", "demo", "x.kv"), "suffix '.kv'"),
        (("embedding", "info", "."), "is a folder"),
        (("tabel",), "No such command 'tabel'"),
        (("table", "--nonsense"), "No such option"),
    ],
)
def test_bad_input(run, arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert message in result.err
    assert "Traceback" not in result.err


def test_traceback_on_request(run) -> None:
    with pytest.raises(bb.NotFoundError):
        run("-vv", "table", "nosuch.bin")


def test_pickles_need_trust(run, tmp_path: Path, demo: bb.Embedding) -> None:
    path = tmp_path / "demo.kv"
    demo.subset(demo.words[:50]).to_gensim().save(str(path))
    assert "--trust" in run("embedding", "info", path).err
    assert run("embedding", "info", path, "--trust").code == 0


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m bayesbias table --out - -q | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("protected_word,")
    assert done.stderr == ""
