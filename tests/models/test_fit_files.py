"""Fits in files: a full disk, and what is kept then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bayesbias as bb

# A limit on the size of files stands for a disk that is full.
SAVE = """
import resource, signal, sys
import bayesbias as bb
from bayesbias.errors import DataError
fit = bb.load_fit(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
try:
    fit.save(sys.argv[2])
except DataError as err:
    print(err)
    sys.exit(2)
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fits") / "fit.nc"
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    bb.fit(table, "connection", draws=100, seed=0, progress=False).save(path)
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.99])
def test_a_full_disk_is_one_line_and_the_old_file_is_kept(
    saved: Path, tmp_path: Path, share: float
) -> None:
    out = tmp_path / "fit.nc"
    out.write_bytes(b"the old fit")
    room = str(int(share * saved.stat().st_size))
    command = [sys.executable, "-c", SAVE, str(saved), str(out), room]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stdout.count("\n") == 1
    assert f"{out}: cannot be written" in done.stdout
    assert out.read_bytes() == b"the old fit"
    assert os.listdir(tmp_path) == ["fit.nc"]


def test_the_file_that_is_written_again_is_the_same(saved: Path, tmp_path: Path) -> None:
    bb.load_fit(saved).save(tmp_path / "again.nc")
    one, other = bb.load_fit(saved), bb.load_fit(tmp_path / "again.nc")
    assert one.posterior.identical(other.posterior)
    assert one.table.equals(other.table)
    assert one.provenance == other.provenance
