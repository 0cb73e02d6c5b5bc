"""Locks: one run at a time writes to a path, and those of killed runs are taken over."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bayesbias._core.locks import check_free, lock_path, locked
from bayesbias.errors import DataError

HOLD_LOCK = """
import sys, time
from pathlib import Path
from bayesbias._core.locks import locked
with locked(Path(sys.argv[1])):
    print("holding", flush=True)
    time.sleep(60)
"""


@contextmanager
def another_holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds a path, killed at the end."""
    command = [sys.executable, "-c", HOLD_LOCK, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "holding\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_two_do_not_hold_one_path(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.npy"
    if kind == "folder":
        path.mkdir()
    with another_holder(path) as process:
        for take in (check_free, hold):
            with pytest.raises(DataError) as caught:
                take(path)
            for named in (path, f"process {process.pid} ", socket.gethostname(), lock_path(path)):
                assert str(named) in str(caught.value)
    if sys.platform != "win32":
        hold(path)  # the process that had it was killed
        assert not lock_path(path).exists()


def hold(path: Path) -> None:
    with locked(path):
        assert lock_path(path).is_file()


def signed(path: Path, **changes: object) -> None:
    """Write the lock of a process, by default of this one."""
    with locked(path):
        text = json.loads(lock_path(path).read_text())
    lock_path(path).write_text(json.dumps(text | changes))


def test_processes_elsewhere_are_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    signed(path, host="elsewhere", process=2**22 - 1)
    with pytest.raises(DataError, match="on elsewhere, since .* remove .*a.npy.lock"):
        hold(path)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no record of processes")
def test_the_number_of_a_process_that_is_used_again_is_not_the_holder(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    signed(path)
    with pytest.raises(DataError, match=f"process {os.getpid()} "):
        hold(path)
    signed(tmp_path / "b.npy", began="1")
    hold(tmp_path / "b.npy")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"process": "x"}', "\x00" * 50, "[" * 100_000])
def test_locks_that_nobody_signed_are_taken_over(tmp_path: Path, text: str) -> None:
    lock_path(tmp_path / "a.npy").write_text(text)
    hold(tmp_path / "a.npy")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_lock_that_is_a_link_does_not_reach_outside(tmp_path: Path) -> None:
    outside = tmp_path / "thesis.docx"
    outside.write_text("years of work")
    lock_path(tmp_path / "a.npy").symlink_to(outside)
    with pytest.raises(DataError, match="a.npy: cannot be written"):
        hold(tmp_path / "a.npy")
    assert outside.read_text() == "years of work"


TAKE = """
import sys, time
from pathlib import Path
from bayesbias._core.locks import locked
from bayesbias.errors import DataError
path, counts = Path(sys.argv[1]), [0, 0]
end = time.monotonic() + 1
while time.monotonic() < end:
    try:
        with locked(path):
            inside = path.with_name("inside")
            inside.open("x").close()  # fails if another one is inside
            inside.unlink()
            counts[0] += 1
    except DataError:
        counts[1] += 1
print(*counts)
"""


@pytest.mark.slow
def test_one_at_a_time_holds_a_path_however_many_try(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TAKE, str(tmp_path / "a.npy")]
    several = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    printed = [process.communicate() for process in several]
    assert all(process.returncode == 0 for process in several), printed
    assert sum(int(out.split()[0]) for out, _ in printed) > 10
