"""Fits in files: a full disk, and what is kept then."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from simulated import simulated_table

import bayesbias as bb
from bayesbias.errors import DataError

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


@pytest.mark.slow
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


def changed(saved: Path, tmp_path: Path, change: Callable[[h5py.File], None]) -> Path:
    path = tmp_path / "changed.nc"
    path.write_bytes(saved.read_bytes())
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def _nan(file: h5py.File) -> None:
    file["posterior/co"][0, 0] = np.nan


def _cycle(file: h5py.File) -> None:
    file["posterior/again"] = file["/"]


def _without(file: h5py.File) -> None:
    del file["posterior/co"]


def _elsewhere(file: h5py.File) -> None:
    del file["posterior/co"]
    file["posterior/co"] = h5py.ExternalLink("/etc/passwd", "/")


def _enormous(file: h5py.File) -> None:
    """A coordinate, which xarray reads as soon as it opens a file."""
    more = file["posterior"].create_dataset("more", shape=(10**10,), chunks=(10**6,), dtype="f8")
    more.make_scale("more")


def _model(file: h5py.File) -> None:
    file.attrs["model"] = "[" * 100_000


def _word(file: h5py.File) -> None:
    file["table/protected_group"][0] = -1


def _no_such_word(file: h5py.File) -> None:
    file["table/protected_group"][0] = 100


def _schema(file: h5py.File) -> None:
    file.attrs["bayesbias_schema"] = "x"


def _newer(file: h5py.File) -> None:
    file.attrs["bayesbias_schema"] = 10**6


def _virtual(file: h5py.File) -> None:
    old = file["posterior/co"]
    layout = h5py.VirtualLayout(shape=old.shape, dtype=old.dtype)
    layout[:] = h5py.VirtualSource("/etc/passwd", "/", shape=old.shape)
    del file["posterior/co"]
    file["posterior"].create_virtual_dataset("co", layout)


def _whole_numbers(file: h5py.File) -> None:
    old = file["posterior/m"]
    values, scales = old[:], [dimension[0] for dimension in old.dims]
    del file["posterior/m"]
    new = file["posterior"].create_dataset("m", data=values.astype(int))
    for dimension, scale in zip(new.dims, scales, strict=True):
        dimension.attach_scale(scale)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_newer, "written by a newer bayesbias; upgrade to read it"),
        (_virtual, "'co' is kept in another file; not a saved fit"),
        (_without, "there are no draws of 'co'"),
        (_whole_numbers, "'m' has no chains and draws"),
        (_nan, "'co' is NaN or infinite"),
        (_enormous, "more than the file can hold"),
        (_word, "the column 'protected_group' of its table has a gap"),
        (_no_such_word, "cannot be read as netCDF of a fit"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    saved: Path, tmp_path: Path, change: Callable[[h5py.File], None], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        bb.load_fit(changed(saved, tmp_path, change))


@pytest.mark.parametrize("change", [_nan, _without, _elsewhere, _enormous, _model, _word, _schema])
def test_damaged_files_are_refused(
    saved: Path, tmp_path: Path, change: Callable[[h5py.File], None]
) -> None:
    path = changed(saved, tmp_path, change)
    with pytest.raises(DataError) as caught:
        bb.load_fit(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 2_000


def test_a_heap_without_an_end_is_refused(saved: Path, tmp_path: Path) -> None:
    """HDF5 goes through a heap until it is over; free space of no size is never over."""
    data = bytearray(saved.read_bytes())
    heap = data.index(b"GCOL\x01\0\0\0")
    end, place = heap + int.from_bytes(data[heap + 8 : heap + 16], "little"), heap + 16
    while int.from_bytes(data[place : place + 2], "little"):
        place += 16 + -(-int.from_bytes(data[place + 8 : place + 16], "little") // 8) * 8
    assert int.from_bytes(data[place + 8 : place + 16], "little") == end - place
    data[place + 8 : place + 16] = bytes(8)
    (tmp_path / "fit.nc").write_bytes(data)
    with pytest.raises(DataError, match=r"fit\.nc: damaged; its heaps of texts have no end"):
        bb.load_fit(tmp_path / "fit.nc")


def test_a_group_within_itself_is_not_followed(saved: Path, tmp_path: Path) -> None:
    path = changed(saved, tmp_path, _cycle)
    assert bb.load_fit(path).posterior.identical(bb.load_fit(saved).posterior)


def test_columns_of_ones_own_are_kept(tmp_path: Path) -> None:
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    numbers = np.arange(len(table))
    table = table.assign(note=np.where(numbers % 2, "é", "b"), number=numbers)
    bb.fit(table, "connection", draws=20, seed=0, progress=False).save(tmp_path / "fit.nc")
    again = bb.load_fit(tmp_path / "fit.nc").table
    assert again["note"].tolist() == table["note"].tolist()
    assert again["number"].tolist() == table["number"].tolist()


def test_a_row_of_a_saved_table_takes_few_bytes(tmp_path: Path) -> None:
    """Words are written once, not in every row."""
    table = simulated_table(groups=4, words=10, stereotypes=40, controls=100)
    bb.fit(table, "connection", draws=10, seed=0, progress=False).save(tmp_path / "fit.nc")
    with h5py.File(tmp_path / "fit.nc") as file:
        sizes = {name: column.id.get_storage_size() for name, column in file["table"].items()}
    assert sizes["protected_word"] + sizes["word_to_compare"] < 3 * len(table)
    assert sizes["cosine_distance"] == 8 * len(table)
