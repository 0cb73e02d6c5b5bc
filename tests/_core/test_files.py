"""Writing files whole, and what a killed process leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bayesbias._core.files import (
    _temporary_prefix,
    atomic,
    missing_file_hint,
    scratch_folder,
    sweep_folder,
)
from bayesbias.errors import DataError

HOLD = """
import sys, time
from pathlib import Path
from bayesbias._core.files import atomic
with atomic(Path(sys.argv[1])) as (temporary,):
    temporary.write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


@contextmanager
def another_writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has begun to write to a path, killed at the end."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        try:
            yield process
        finally:
            process.kill()


def write(path: Path, text: str) -> None:
    with atomic(path) as (temporary,):
        temporary.write_text(text)


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write(path, "old")

    def fail() -> None:
        with atomic(path) as (temporary,):
            temporary.write_text("half")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be asked for there")
def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with another_writer(path):
        pass
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".a.csv.")
    write(tmp_path / "b.csv", "another")
    assert set(os.listdir(tmp_path)) == {left, "b.csv"}
    write(path, "new")
    assert set(os.listdir(tmp_path)) == {"a.csv", "b.csv"}
    assert path.read_text() == "new"


def test_what_a_running_process_writes_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with another_writer(path):
        before = set(os.listdir(tmp_path))
        write(path, "new")
        assert set(os.listdir(tmp_path)) == before | {"a.csv"}


def test_names_of_others_are_left_alone(tmp_path: Path) -> None:
    for name in (".a.csv.elsewhere~1~x.csv", ".a.csv.~", ".a.csv.swp", "a.csv.bak"):
        (tmp_path / name).write_text("")
    before = set(os.listdir(tmp_path))
    write(tmp_path / "a.csv", "new")
    assert set(os.listdir(tmp_path)) == before | {"a.csv"}


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be asked for there")
def test_a_folder_is_swept_of_what_killed_processes_left(tmp_path: Path) -> None:
    (tmp_path / ".hidden").write_text("mine")
    with another_writer(tmp_path / "a.csv"):
        sweep_folder(tmp_path)
        assert len(os.listdir(tmp_path)) == 2
    sweep_folder(tmp_path)
    assert os.listdir(tmp_path) == [".hidden"]


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be asked for there")
def test_scratch_folders_of_killed_processes_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(os, "getpid", lambda: 2**31 - 2)
    left = tmp_path / (_temporary_prefix(tmp_path / "bayesbias") + "x")
    monkeypatch.undo()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left.mkdir()
    (left / "model.bin").write_text("half")
    with scratch_folder() as folder:
        assert os.listdir(tmp_path) == [folder.name]
    assert os.listdir(tmp_path) == []


def test_what_is_renamed_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr("bayesbias._core.files.os.fsync", lambda _: done.append("fsync"))
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda *names: (done.append("replace"), replace(*names)))
    write(tmp_path / "a.csv", "new")
    assert done[:2] == ["fsync", "replace"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_disk_that_says_only_in_the_end_that_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.csv", "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bayesbias._core.files.os.fsync", full)
    with pytest.raises(DataError, match="a.csv: cannot be written .No space left"):
        write(tmp_path / "a.csv", "new")
    assert (tmp_path / "a.csv").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_a_name_without_its_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("age.toml").write_text("")
    assert missing_file_hint(Path("age")) == " Did you mean 'age.toml'?"
    assert missing_file_hint(Path("gender")) == ""
