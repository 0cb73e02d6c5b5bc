from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias._core.constants import DEFAULT_FALLBACKS
from bayesbias.cli.common import matching_option_values
from bayesbias.errors import NotFoundError
from bayesbias.wordlists import frequencies

COMMANDS = [
    (),
    ("table",),
    ("fit",),
    ("compare",),
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
    bb.Embedding(demo.words, demo.vectors).save(tmp_path / "vectors.bin")
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
        (("table", "nosuch.bin"), "Error: 'nosuch.bin' is neither a file"),
        (("table", "--study", "religon"), "Did you mean 'religion'"),
        (("table", "--fallback", "lowre"), "Did you mean 'lower'"),
        (("table", "--out", "table.xlsx"), "one of the kinds"),
        (("table", "--threshold", "7"), "not in the range"),
        (("words", "show", "weat:carer"), "Did you mean 'career'"),
        (("words", "list", "weet"), "Did you mean 'weat'"),
        (("words", "check", "nothing"), "no study or query 'nothing'"),
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
    with pytest.raises(NotFoundError):
        run("-vv", "table", "nosuch.bin")


def test_pickles_need_trust(run, tmp_path: Path, demo: bb.Embedding) -> None:
    path = tmp_path / "demo.kv"
    demo.subset(demo.words[:50]).to_gensim().save(str(path))
    assert "--trust" in run("embedding", "info", path).err
    assert run("embedding", "info", path, "--trust").code == 0


def test_a_closed_pipe_is_no_error() -> None:
    command = [sys.executable, "-m", "bayesbias", "table", "--out", "-", "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"protected_word,")
        process.stdout.close()  # the reader has seen enough
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_console_without_unicode() -> None:
    command = [sys.executable, "-m", "bayesbias", "words", "list"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    assert b"weat_1 ? weat_10" in done.stdout


def test_json_has_no_nan(run, tmp_path: Path) -> None:
    study = bb.Study("x", {"a": ["he"], "b": ["she"]}, {"a": ["boss"], "b": ["nurse"]})
    study.save(tmp_path / "x.json")
    records = json.loads(run("table", "-s", tmp_path / "x.json", "--format", "json").out)
    assert [record["sd"] for record in records] == [None] * 4


def test_bad_output_is_refused_before_the_work(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*arguments: object, **options: object) -> None:
        raise AssertionError("loaded before the output was checked")

    monkeypatch.setattr("bayesbias.embeddings.load_embedding", work)
    assert "one of the kinds" in run("table", "--out", "t.xlsx").err
    assert "does not exist" in run("table", "--out", "nowhere/t.csv").err
    assert "suffix '.kv'" in run("embedding", "convert", "demo", "x.kv").err
    assert "is a folder" in run("embedding", "convert", "demo", ".", "--to", "npz").err


def test_one_embedding_under_two_names(run) -> None:
    assert "two embeddings are called 'demo'" in run("table", "demo", "demo").err
    summary = run("table", "a=demo", "b=demo", "-q", "--format", "csv").out
    assert "\na,jew" in summary
    assert "\nb,jew" in summary


def test_lists_in_csv(run) -> None:
    facts = csv.DictReader(io.StringIO(run("embedding", "info", "--format", "csv").out))
    assert {row["what"]: row["value"] for row in facts}["first words"].startswith("the; ,; .")


def test_a_file_is_taken_for_what_it_is(run, tmp_path: Path) -> None:
    path = tmp_path / "q.toml"
    path.write_text("[target_sets]\nm = ['he']\n[attribute_set]\na = ['boss']\n")
    assert "a query has no 'attribute_set'" in run("words", "check", path).err
    path.write_text("[target_sets]\nm = ['he']\n[attribute_sets]\na = ['boss']\n")
    assert "target: m (1)" in run("words", "show", path).out


def test_table_with_covariates(run, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    options = ("--covariate", "log_frequency", "--covariate", "norm")
    result = run("table", "demo", "--study", "weat_7", *options, "--out", path, "-q")
    assert result.code == 0
    assert "mean log frequency" in result.out
    table = bb.read_table(path)
    assert list(table.columns[-2:]) == ["log_frequency", "norm"]
    counts = tmp_path / "counts.csv"
    counts.write_text("word,count\nhe,5\n", "utf-8")
    result = run("table", "demo", "--study", "weat_7", *options, "--frequencies", counts, "-q")
    assert result.code == 2
    assert "no frequency of 'male'" in result.err
    result = run(
        *("table", "demo", "--study", "weat_7", *options, "--frequencies", counts),
        *("--unknown-frequency", "lowest", "-q"),
    )
    assert result.code == 0


@pytest.mark.parametrize(
    "command",
    [
        ("table", "demo"),
        ("before-after", "demo", "--draws", 50, "--metric", "mac", "--no-residual"),
    ],
)
def test_a_file_of_frequencies_is_read_once(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[object, ...]
) -> None:
    words = [word for own in bb.load_study("weat_7").word_sets().values() for word in own]
    path = tmp_path / "counts.csv"
    counts = (f"{word},{number}\n" for number, word in enumerate(words, start=1))
    path.write_text(f"word,count\n{''.join(counts)}", "utf-8")
    read = []
    real = frequencies.read_frequencies
    monkeypatch.setattr(
        frequencies, "read_frequencies", lambda source: read.append(source) or real(source)
    )
    options = ("--study", "weat_7", "--covariate", "log_frequency", "--frequencies", path, "-q")
    assert run(*command, *options).code == 0
    assert read == [path]


def test_table_says_what_is_wrong_before_reading(run) -> None:
    options = ("table", "missing.txt", "--frequencies", "wordfrek")
    assert "no covariate uses it" in run(*options).err
    result = run(*options, "--covariate", "log_frequency")
    assert "Did you mean 'wordfreq'?" in result.err


def test_options_of_matching() -> None:
    assert matching_option_values(DEFAULT_FALLBACKS, 0.2) is None
    assert matching_option_values(()) is None
    assert matching_option_values(("upper",)) == bb.embeddings.Matching(("upper",))
    assert matching_option_values((), 0.5) == bb.embeddings.Matching(threshold=0.5)


def test_listing_words_imports_little() -> None:
    code = (
        "import sys, io, contextlib\nfrom bayesbias.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()) as printed:\n    main(['words', 'list'])\n"
        "assert 'religion' in printed.getvalue()\n"
        "print(*[m for m in ('pandas', 'scipy', 'sklearn', 'gensim') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
