from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command_line import Result

import bayesbias as bb
from bayesbias import auditing
from bayesbias.errors import SpecError

QUICK = ("--model", "hierarchical", "--metric", "mac", "--draws", "100", "--no-confirm",
         "--no-silhouettes")  # fmt: skip


@pytest.mark.parametrize("command", ["audit", "report"])
def test_help(run, command: str) -> None:
    result = run(command, "--help")
    assert result.code == 0
    assert "Example: bayesbias" in result.out


@pytest.mark.slow
def test_audit_prints_the_summary_and_the_report(run, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    arguments = ("audit", "small=demo", "--study", "weat_7", "--out", folder, *QUICK)
    result = run(*arguments)
    assert result.code == 0
    title, association = result.out.split("\n\n")[:2]
    assert title.startswith("Mathematics and arts (WEAT 7) in small: 12,187 words; 16 protected wo")
    assert title.endswith("; model hierarchical")
    assert association.startswith("Association: Protected words are closer to the stereotypes of")
    assert result.out.endswith(f"Report: {folder / 'report.html'}\n")
    assert all(len(line) <= 100 for line in result.out.splitlines()[:-1])
    steps = [line for line in result.err.splitlines() if line.startswith("step ")]
    assert steps[0] == "step 1 of 16: writing the distances"
    assert steps[2] == "step 3 of 16: fitting the model hierarchical"
    assert len(steps) == 16
    assert steps[-1] == "step 16 of 16: writing the report"
    found = bb.Audit(folder)
    assert list(found.parts) == [("small", "weat_7")]
    assert found.record["options"]["metrics"] == ["mac"]
    again = run(*arguments)
    assert (again.code, again.out, again.err) == (0, result.out, "")


@pytest.mark.slow
def test_the_gate(run, tmp_path: Path, sketched: None) -> None:
    folder, junit = tmp_path / "out", tmp_path / "junit.xml"
    holds = "associated - neutral < 0.5 with P > 0.5"
    words = "different - associated < 9 with P > 0.5 for any word"
    never = "associated - neutral < -1.5 with P > 0.5"
    arguments = ("audit", "--study", "weat_7", "--out", folder, "--quiet", *QUICK)
    result = run(*arguments, "--fail-if", holds, "--fail-if", never, "--fail-if", words,
                 "--junit", junit)  # fmt: skip
    assert result.code == 1
    assert result.out.endswith(f"Report: {folder / 'report.html'}\n")
    lines = result.err.splitlines()
    assert [line.partition(" (")[0] for line in lines] == [f"Failed: {holds}", f"Failed: {words}"]
    assert "data set of demo on weat_7: P = " in lines[0]
    root = ElementTree.parse(junit).getroot()
    assert [case.get("name") for case in root.iter("testcase")] == [holds, never, words]
    assert len(list(root.iter("failure"))) == 2
    gate = json.loads((folder / "results.json").read_text("utf-8"))["gate"]
    assert gate["passed"] is False
    again = run(*arguments, "--fail-if", never, "--junit", junit)
    assert (again.code, again.err) == (0, "")
    assert ElementTree.parse(junit).getroot().get("failures") == "0"
    assert run(*arguments).code == 0
    assert bb.Audit(folder).gate is None


@pytest.mark.slow
def test_quiet(run, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    result = run("audit", "--study", "weat_7", "--out", folder, "--quiet", *QUICK)
    assert (result.code, result.err) == (0, "")
    page = (folder / "report.html").read_bytes()
    assert run("report", folder, "--quiet") == Result(0, "", "")
    assert (folder / "report.html").read_bytes() == page
    result = run("report", folder, "--out", tmp_path / "page.html")
    assert result == Result(0, "", f"written to {tmp_path / 'page.html'}\n")
    assert (tmp_path / "page.html").read_bytes() == page


def test_options_reach_the_audit(run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def stop(embedding: Any, study: Any, **options: Any) -> None:
        seen.update(options, embedding=embedding, study=study)
        raise SpecError("enough")

    monkeypatch.setattr(auditing, "audit", stop)
    assert run("audit").err == "Error: enough\n"
    assert [given.source for given in seen["embedding"]] == ["demo"]
    assert seen["study"] == ("religion",)
    assert seen["out"] == "bayesbias-audit"
    assert seen["models"] is None
    assert "metrics" not in seen
    assert (seen["confirm"], seen["silhouettes"], seen["force"]) == (True, True, False)
    assert (seen["frequencies"], seen["unknown_frequency"]) == ("rank", "error")
    run("audit", "a.txt", "b=c.txt", "-s", "gender", "-s", "race", "--debias", "leace", "--debias",
        "inlp", "--model", "crossed", "-m", "mac", "--no-confirm", "--no-silhouettes", "--force",
        "--seed", 3, "--prob", 0.5, "--jobs", 2, "--threshold", 0.1, "--rope", 0.1, "-q",
        "--frequencies", "counts.csv", "--unknown-frequency", "LOWEST",
        "--limit", 9, "--trust", "--fallback", "exact", "--fail-if", "a",
        "--fail-if", "b")  # fmt: skip
    assert [(given.name, given.source) for given in seen["embedding"]] == [
        (None, "a.txt"),
        ("b", "c.txt"),
    ]
    expected = {
        "study": ("gender", "race"),
        "debias": ("leace", "inlp"),
        "models": ("crossed",),
        "metrics": ("mac",),
        "confirm": False,
        "silhouettes": False,
        "force": True,
        "seed": 3,
        "prob": 0.5,
        "n_jobs": 2,
        "rope": 0.1,
        "progress": False,
        "frequencies": "counts.csv",
        "unknown_frequency": "lowest",
        "limit": 9,
        "trust": True,
        "fail_if": ("a", "b"),
        "matching": bb.embeddings.Matching(("exact",), 0.1),
    }
    assert {name: seen[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("nowhere.bin",), "Error: 'nowhere.bin' is neither a file nor a known embedding."),
        (("--study", "relig"), "Error: "),
        (("--model", "embeddings"), "Error: model 'embeddings' is for several embeddings"),
        (("--debias", "hard"), "Error: --debias is 'hard'; expected one of"),
        (("--metric", "x"), "Error: 'metric' is 'x'; expected one of"),
        (("--frequencies", "rnk"), "Error: --frequencies rnk is neither a file nor one of 'rank'"),
        (("--fail-if", "associated > x"), "Error: condition 'associated > x', at character 14: "),
        (
            ("--fail-if", "associated > 1 with P > 0.5 for word imm"),
            "Error: condition 'associated > 1 with P > 0.5 for word imm': there is no word 'imm'",
        ),
        (
            ("--fail-if", "associated > 1 with P > 0.5", "--junit", "nowhere/x.xml"),
            "Error: nowhere/x.xml: the folder nowhere does not exist",
        ),
    ],
)
def test_bad_input(run, tmp_path: Path, arguments: tuple[str, ...], text: str) -> None:
    result = run("audit", *arguments, "--out", tmp_path / "x")
    assert result.code == 2
    assert result.err.startswith(text)
    assert result.err.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_a_junit_file_needs_a_condition(run, tmp_path: Path) -> None:
    result = run("audit", "--junit", tmp_path / "x.xml", "--out", tmp_path / "x")
    assert result.code == 2
    assert "--fail-if" in result.err
    assert not list(tmp_path.iterdir())


def test_folders_of_others(run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    result = run("audit", "--out", tmp_path)
    assert result.code == 2
    assert f"Error: {tmp_path} holds files and no audit; nothing of it is touched." in result.err
    result = run("report", tmp_path)
    assert result.code == 2
    assert result.err == f"Error: {tmp_path} is not the folder of an audit: it has no audit.json.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_interrupted(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(auditing, "audit", interrupt)
    result = run("audit")
    assert result.code == 130
    assert result.err == (
        "Finished steps are kept; run the same command again to resume.\nInterrupted.\n"
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")
def test_steps_on_a_terminal(tmp_path: Path) -> None:
    """Steps are counted; a second run knows from the first how long they take."""
    import pty

    command = [sys.executable, "-m", "bayesbias", "audit", "--study", "weat_7", "--out", "out"]

    def shown(*more: str) -> str:
        main, terminal = pty.openpty()
        with subprocess.Popen(
            [*command, *QUICK, *more], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=terminal
        ) as process:
            os.close(terminal)
            text = b""
            while True:
                try:
                    read = os.read(main, 65536)
                except OSError:  # how Linux says that the other end was closed
                    break
                if not read:
                    break
                text += read
        os.close(main)
        assert process.returncode == 0
        return text.decode().replace("\r\n", "\n")

    assert "step 3 of 16: fitting the model hierarchical\n" in shown()
    record = json.loads((tmp_path / "out" / "audit.json").read_text("utf-8"))
    record["steps"]["fit hierarchical"]["seconds"] = 20.4
    (tmp_path / "out" / "audit.json").write_text(json.dumps(record))
    (tmp_path / "out" / "fits" / "hierarchical.nc").unlink()
    again = shown()
    assert "step 3 of 16: fitting the model hierarchical, about 20 seconds\n" in again
    assert "step 16 of 16: writing the report" in again
    assert shown("--quiet") == ""
    assert "about" not in shown("--force", "--draws", "101").split("comparing")[0]


@pytest.mark.slow
def test_the_demo(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bayesbias", "audit"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"Report: {Path('bayesbias-audit') / 'report.html'}\n")
    assert done.stdout.startswith("Religion in GloVe 6B 50d (demo): 12,187 words; 15 protected wo")
    paragraphs = done.stdout.split("\n\n")[1:-1]
    names = [paragraph.partition(":")[0] for paragraph in paragraphs]
    assert names == ["Association", "For whom", "How sure"]
    # Each contrast is there twice, as observed and at equal frequency.
    assert all(len(paragraph) < 650 for paragraph in paragraphs)
    assert paragraphs[0].count("at equal frequency") == 3
    page = (tmp_path / "bayesbias-audit" / "report.html").read_text("utf-8")
    assert "The exact draws passed their checks" in page
    record = json.loads((tmp_path / "bayesbias-audit" / "audit.json").read_text("utf-8"))
    assert record["parts"] == [{"embedding": "demo", "study": "religion", "folder": ""}]
    assert len(record["options"]["models"]) == 6
