"""Parts of an audit that other processes do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_audit import FAST, files, forest

import bayesbias as bb
from bayesbias._core.locks import LOCK
from bayesbias.auditing import audit_steps, part_tasks
from bayesbias.auditing.audit_folder import PartFolder, read_part_record
from bayesbias.errors import ClusterError

TWO = FAST | {"n_jobs": 2}
#: What has times in it, or hashes of that.
TIMED = (".nc", "report.html", "audit.json")


def here(function: Callable[..., Any], tasks: Any, **_: Any) -> Iterator[Any]:
    """Do the tasks in this process, where tests can look at them."""
    return (function(*task) for task in tasks)


@pytest.fixture
def given(tmp_path: Path) -> list[Path | bb.Embedding]:
    forest("a", 0).save(tmp_path / "a.npy")
    return [Path("a.npy"), forest("b", 1)]  # the working directory is tmp_path


def untimed(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in files(folder).items() if not name.endswith(TIMED)}


@pytest.mark.slow
def test_two_processes_write_the_same_files(given: list[Any], trees: bb.Study) -> None:
    words = [word for words in trees.word_sets().values() for word in words]
    counts = {word: float(number) for number, word in enumerate(words, start=1)}
    bb.audit(given, trees, out="one", frequencies=counts, **FAST)
    bb.audit(given, trees, out="two", frequencies=counts, **TWO)
    assert set(files(Path("one"))) == set(files(Path("two")))
    assert untimed(Path("one")) == untimed(Path("two"))


@pytest.mark.slow
def test_what_is_done_is_taken_over_from_an_audit_that_was_stopped(
    given: list[Any], trees: bb.Study, monkeypatch: pytest.MonkeyPatch, sketched: None
) -> None:
    def one_then_stop(function: Callable[..., Any], tasks: Any, **_: Any) -> Iterator[Any]:
        function(*next(tasks))
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(part_tasks, "in_parallel", one_then_stop)
    with pytest.raises(KeyboardInterrupt):
        bb.audit(given, trees, out="audit", **TWO)
    assert list(Path("audit", ".parts").iterdir())
    fitted: list[str] = []
    real = audit_steps.fit

    def count(table: Any, spec: Any, **options: Any) -> bb.models.Fit:
        fitted.append(table["embedding"].iloc[0])
        return real(table, spec, **options)

    monkeypatch.setattr(audit_steps, "fit", count)
    bb.audit(given, trees, out="audit", **FAST)
    assert set(fitted) == {"b"}
    assert not Path("audit", ".parts").exists()


@pytest.mark.slow
def test_force_does_all_again_once(
    given: list[Any], trees: bb.Study, monkeypatch: pytest.MonkeyPatch, sketched: None
) -> None:
    monkeypatch.setattr(part_tasks, "in_parallel", here)
    bb.audit(given, trees, out="audit", **FAST)
    before = untimed(Path("audit"))
    checked: list[str] = []
    real = audit_steps.check_words

    def count(study: bb.Study, embedding: bb.Embedding, **options: Any) -> Any:
        checked.append(embedding.name)
        return real(study, embedding, **options)

    monkeypatch.setattr(audit_steps, "check_words", count)
    bb.audit(given, trees, out="audit", **TWO)
    assert checked == []
    bb.audit(given, trees, out="audit", force=True, **TWO)
    assert checked == ["a", "b"]
    assert untimed(Path("audit")) == before


def test_a_part_of_an_audit_that_has_ended_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "audit.json").write_text(
        '{"schema": 1, "parts": [], "steps": {}, "options": {}, "embeddings": {}, "studies": {}}'
    )
    lock = tmp_path / LOCK
    lock.write_text("first")
    folder = PartFolder(tmp_path, "a/", "first", force=False)
    folder.step("a/one", {}, ["a/one.txt"], lambda path: path.write_text("1"))

    def too_late(path: Path) -> None:
        path.write_text("2")
        lock.write_text("second")  # the client has begun again meanwhile

    with pytest.raises(ClusterError, match="has ended"):
        folder.step("a/two", {}, ["a/two.txt"], too_late)
    with pytest.raises(ClusterError, match="has ended"):
        folder.step("a/three", {}, ["a/three.txt"], lambda path: path.write_text("3"))
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["one.txt"]
    # Another process goes on with what the first did.
    again = PartFolder(tmp_path, "a/", "second", force=True)
    again.step("a/one", {}, ["a/one.txt"], lambda _: pytest.fail("this was done already"))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"steps": []}',
        '{"steps": {"a": {}}}',
        '{"steps": {"a": {"key": "k", "warnings": [], "files": {"../b": "hash"}}}}',
    ],
)
def test_a_damaged_record_of_a_part_counts_for_nothing(tmp_path: Path, content: str) -> None:
    source = tmp_path / "part.json"
    source.write_text(content)
    assert read_part_record(tmp_path, source) == {}
    assert read_part_record(tmp_path, tmp_path / "absent.json") == {}


def test_a_worker_that_does_not_see_the_folder_says_so(
    given: list[Any], trees: bb.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(function: Callable[..., Any], tasks: Any, **_: Any) -> Iterator[Any]:
        record = Path("audit", "audit.json")
        record.rename("moved.json")
        yield function(*next(tasks))

    monkeypatch.setattr(part_tasks, "in_parallel", elsewhere)
    with pytest.raises(ClusterError, match=r"does not find .*audit; put the folder"):
        bb.audit(given, trees, out="audit", **TWO)


def test_a_worker_that_does_not_see_the_file_says_so(
    given: list[Any], trees: bb.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(function: Callable[..., Any], tasks: Any, **_: Any) -> Iterator[Any]:
        Path("a.npy").unlink()
        yield function(*next(tasks))

    monkeypatch.setattr(part_tasks, "in_parallel", elsewhere)
    with pytest.raises(ClusterError, match=r"does not find .*a\.npy; put it"):
        bb.audit(given, trees, out="audit", **TWO)


def test_another_file_on_the_worker_is_refused(
    given: list[Any], trees: bb.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(function: Callable[..., Any], tasks: Any, **_: Any) -> Iterator[Any]:
        vectors = np.load("a.npy")
        vectors[-1] += 1
        np.save("a.npy", vectors)
        yield function(*next(tasks))

    monkeypatch.setattr(part_tasks, "in_parallel", elsewhere)
    with pytest.raises(ClusterError, match="a is not the same on the worker"):
        bb.audit(given, trees, out="audit", **TWO)
