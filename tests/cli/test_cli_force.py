"""Commands do not replace files, unless they are told to."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.cli.audit import _check_junit
from bayesbias.errors import DataError

FEW = ("--draws", "20", "-q")
COMMANDS = {
    "table.csv": ("table", "--study", "weat_7", "--out", "FILE"),
    "fit.nc": ("fit", "TABLE", "--model", "connection", *FEW, "--out", "FILE"),
    "scores.csv": ("metrics", "weat_7", *FEW, "--out", "FILE"),
    "ranks.csv": ("rank", "weat_7", "demo", "demo-100d", *FEW, "--out", "FILE"),
    "bands.csv": ("silhouette", "weat_7", "--runs", "3", "--chance", "0", "--out", "FILE"),
    "bands.png": ("silhouette", "weat_7", "--runs", "3", "--chance", "0", "--figure", "FILE"),
    "after.npz": ("debias", "demo", "FILE"),
    "after.npy": ("debias", "demo", "FILE"),
    "demo.npz": ("embedding", "convert", "demo", "FILE"),
    "lists.toml": ("words", "build", "demo", "--size", "5", "--out", "FILE"),
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "distances.csv"
    bb.write_table(bb.distance_table("demo", "weat_7"), path)
    return path


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name == "lists.toml")) for name in COMMANDS],
)
def test_an_existing_file_is_replaced_only_with_force(
    run, tmp_path: Path, table: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_text("mine")
    places = {"FILE": path, "TABLE": table}
    command = [places.get(part, part) for part in COMMANDS[name]]
    refused = run(*command)
    assert refused.code == 2
    assert refused.out == ""
    assert str(path) in refused.err
    assert "--force" in refused.err
    assert path.read_text() == "mine"
    assert run(*command, "--force").code == 0
    assert path.read_bytes() != b"mine"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("lists.words.csv", ("words", "build", "--out", "lists.toml")),
        ("demo.vocab.txt", ("embedding", "convert", "demo", "demo.npy")),
        ("out/pairs.csv", ("words", "check", "weat_7", "--out", "out")),
        ("x.png", ("before-after", "demo", "--study", "weat_7", "--figure", "x.png")),
        ("x.csv", ("before-after", "demo", "--study", "weat_7", "--out", "x.csv")),
        ("x.html", ("report", ".", "--out", "x.html")),
        (
            "gate.xml",
            ("audit", "--fail-if", "associated < 0 with P > 0.5", "--junit", "gate.xml"),
        ),
    ],
)
def test_files_are_refused_before_the_work(
    run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    command: tuple[str, ...],
) -> None:
    def work(*arguments: object, **options: object) -> None:
        raise AssertionError("loaded before the output was checked")

    monkeypatch.setattr("bayesbias.embeddings.load_embedding", work)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    refused = run(*command)
    assert refused.code == 2
    assert str(Path(name)) in refused.err
    assert "--force" in refused.err
    assert path.read_text() == "mine"


def test_an_interrupted_debiasing_is_resumed_without_force(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bayesbias.debias.vector_targets import FileTarget

    append = FileTarget.append
    written = []

    def interrupted(self: FileTarget, vectors) -> None:
        if len(written) == 1:
            raise KeyboardInterrupt
        append(self, vectors)
        written.append(len(vectors))

    out = tmp_path / "after.npy"
    monkeypatch.setattr(FileTarget, "append", interrupted)
    assert run("debias", "demo", out, "-q").code == 130
    assert not out.exists()
    monkeypatch.setattr(FileTarget, "append", append)
    assert run("debias", "demo", out, "-q").code == 0
    assert run("debias", "demo", out, "-q").code == 2


def test_silhouettes_go_on_from_their_folder_without_force(run, tmp_path: Path) -> None:
    command = (
        "silhouette",
        "weat_7",
        "--runs",
        "3",
        "--chance",
        "0",
        "--resume",
        tmp_path / "runs",
    )
    first = run(*command, "--format", "csv")
    assert first.code == 0
    again = run(*command, "--format", "csv")
    assert again.out == first.out


def test_the_conditions_of_an_audit_are_written_again(tmp_path: Path) -> None:
    path = tmp_path / "gate.xml"
    conditions = ("associated < 0 with P > 0.5",)
    path.write_text("<testsuites name='bayesbias' />")
    _check_junit(str(path), conditions, force=False)
    path.write_text("<testsuites name='pytest' />")
    with pytest.raises(DataError, match="gate.xml exists already.*--force"):
        _check_junit(str(path), conditions, force=False)
    _check_junit(str(path), conditions, force=True)
