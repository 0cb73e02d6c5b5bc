"""The folder of an audit: steps are done once, and files of others are left alone."""

from __future__ import annotations

import errno
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbias.auditing.audit_folder import Folder, check_out, fingerprint
from bayesbias.errors import DataError, warn

ABOUT: dict[str, Any] = {"parts": [], "options": {}, "embeddings": {}, "studies": {}}


class Work:
    """A step that counts how often it is done."""

    def __init__(self, text: str = "x") -> None:
        self.text, self.done = text, 0

    def __call__(self, *paths: Path) -> None:
        self.done += 1
        for path in paths:
            path.write_text(self.text)


def opened(path: Path, *, force: bool = False) -> Folder:
    return Folder(path / "audit", ABOUT, force=force)


def report(path: Path) -> None:
    path.write_text("report")


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_data, max_size=4))
def test_the_order_of_keys_does_not_matter(data: dict[str, Any]) -> None:
    assert fingerprint(data) == fingerprint(dict(reversed(data.items())))


@given(json_data, json_data)
def test_different_data_have_different_fingerprints(one: Any, other: Any) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (fingerprint(one) == fingerprint(other)) == same


def test_a_step_is_done_once(tmp_path: Path) -> None:
    work = Work()
    for _ in range(2):
        folder = opened(tmp_path)
        folder.step("a", {"n": 1}, ["a.txt", "deep/b.txt"], work)
        folder.report(report)
    assert work.done == 1
    opened(tmp_path).step("a", {"n": 2}, ["a.txt", "deep/b.txt"], work)
    assert work.done == 2
    opened(tmp_path, force=True).step("a", {"n": 2}, ["a.txt", "deep/b.txt"], work)
    assert work.done == 3


def test_equal_steps_of_other_names_are_not_the_same(tmp_path: Path) -> None:
    folder, work = opened(tmp_path), Work()
    assert folder.step("a", {}, ["a.txt"], work) != folder.step("b", {}, ["b.txt"], work)
    assert work.done == 2
    # In another part of the audit it is.
    assert folder.step("x/y/a", {}, ["x/y/a.txt"], work) == folder.step("a", {}, ["a.txt"], work)
    assert work.done == 2
    assert (tmp_path / "audit" / "x" / "y" / "a.txt").read_text() == "x"


def test_another_version_does_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work()
    opened(tmp_path).step("a", {}, ["a.txt"], work)
    monkeypatch.setattr("bayesbias.auditing.audit_folder.__version__", "99")
    opened(tmp_path).step("a", {}, ["a.txt"], work)
    assert work.done == 2


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def full(path: Path) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    folder = opened(tmp_path)
    with pytest.raises(DataError, match=r"a.txt: cannot be written \(No space left on device"):
        folder.step("a", {}, ["a.txt"], full)
    assert [path.name for path in (tmp_path / "audit").iterdir()] == ["audit.json"]
    work = Work()
    opened(tmp_path).step("a", {}, ["a.txt"], work)
    assert work.done == 1


def test_leftovers_are_removed_if_they_are_ours_and_unchanged(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    for name in ("kept", "gone", "edited"):
        folder.step(name, {}, [f"{name}/{name}.txt"], Work())
    folder.report(report)
    path = tmp_path / "audit"
    (path / "edited" / "edited.txt").write_text("by hand")
    (path / "gone" / "mine.txt").write_text("mine")
    folder = opened(tmp_path)
    folder.step("kept", {}, ["kept/kept.txt"], Work())
    folder.report(report)
    left = sorted(str(file.relative_to(path)) for file in path.rglob("*.txt"))
    assert left == ["edited/edited.txt", "gone/mine.txt", "kept/kept.txt"]
    assert list(json.loads((path / "audit.json").read_text())["steps"]) == ["kept", "report"]


def test_empty_folders_go_with_their_files(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.step("gone", {}, ["a/b/gone.txt"], Work())
    folder.report(report)
    opened(tmp_path).report(report)
    assert sorted(file.name for file in (tmp_path / "audit").iterdir()) == [
        "audit.json",
        "report.html",
    ]


def test_what_a_killed_process_had_begun_is_removed(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    (tmp_path / "audit" / ".a.txt.abcd1234.txt").write_text("half")
    folder.step("a", {}, ["a.txt"], Work())
    folder.report(report)
    assert not list((tmp_path / "audit").glob(".a*"))


def test_warnings_are_kept_with_the_step(tmp_path: Path) -> None:
    def make(path: Path) -> None:
        warn("mind the gap")
        warnings.warn("old numpy", DeprecationWarning, stacklevel=1)
        path.write_text("x")

    folder = opened(tmp_path)
    with pytest.warns(DeprecationWarning, match="old numpy"):
        folder.step("a", {}, ["a.txt"], make, warned=["before"])
    record = json.loads((tmp_path / "audit" / "audit.json").read_text())
    assert record["steps"]["a"]["warnings"] == ["before", "mind the gap"]


def test_no_report_on_files_that_are_not_as_they_were_left(tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.step("a", {}, ["a.txt", "b.txt"], Work())
    (tmp_path / "audit" / "b.txt").write_text("of another audit")
    with pytest.raises(DataError, match=r"b\.txt.*run the audit again"):
        folder.report(report)
    assert not (tmp_path / "audit" / "report.html").exists()
    folder = opened(tmp_path)
    folder.step("a", {}, ["a.txt", "b.txt"], Work())
    folder.report(report)
    assert (tmp_path / "audit" / "report.html").read_text() == "report"


def test_a_report_on_files_that_were_made_again_is_written_again(tmp_path: Path) -> None:
    written = Work()
    for font, times in (("one", 1), ("not asked for", 1), ("another", 2)):
        if font == "another":
            (tmp_path / "audit" / "a.svg").unlink()
        folder = opened(tmp_path)
        folder.step("a", {}, ["a.svg"], Work(font))
        folder.report(written)
        assert written.done == times


def test_a_folder_that_a_killed_run_had_just_made_can_be_used(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text('{"process": ')
    (tmp_path / ".audit.json.host~1~x.json").write_text("{")
    check_out(tmp_path)
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="holds files and no audit"):
        check_out(tmp_path)
