"""The benchmarks run, their records are whole, and the page shows the committed results."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    before = set(sys.modules)
    sys.path[:0] = [str(FOLDER), str(ROOT / "scripts")]
    yield FOLDER
    for name in [str(FOLDER), str(ROOT / "scripts")]:
        sys.path.remove(name)
    own = {path.stem for path in FOLDER.glob("*.py")} | {"build_benchmarks_page"}
    for name in own & (set(sys.modules) - before):
        del sys.modules[name]


@pytest.fixture(scope="module")
def measuring(folder: Path) -> ModuleType:
    return importlib.import_module("measuring")


@pytest.mark.parametrize(
    "name",
    [
        "build_table",
        pytest.param("large_audits", marks=pytest.mark.slow),
        pytest.param("large_vocabularies", marks=pytest.mark.slow),
        "learning",
        "pareto_k",
        "read_corpus",
    ],
)
def test_records_are_whole(measuring: ModuleType, name: str) -> None:
    records = list(importlib.import_module(name).records(True))
    assert records
    for record in records:
        assert record.work
        assert record.size
        assert all(seconds > 0 for seconds in (*record.ours, *record.theirs))
        if record.peer:
            assert record.ratio == pytest.approx(record.peer_seconds / record.seconds)
        if record.limit:
            assert record.share > 0
        assert measuring.Record(**measuring.as_json([record])[0]) == record
        assert len(measuring.cells(record)) == len(measuring.HEAD)


def test_a_peer_that_is_not_installed_is_listed(
    measuring: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    metrics = importlib.import_module("metrics")
    monkeypatch.setattr(metrics, "WEFE", tmp_path / "python")
    for record in metrics.records(True):
        assert (record.peer, record.theirs, record.ratio) == ("WEFE", (), None)
        assert "not installed" in measuring.cells(record)


def test_numbers_of_a_record(measuring: ModuleType) -> None:
    record = measuring.Record("a", "b", (1.0, 2.0, 3.0), "c", (4.0, 8.0), "copy", 0.5, 12.0)
    assert (record.seconds, record.peer_seconds, record.ratio) == (2.0, 6.0, 3.0)
    assert (record.spread, record.share) == (1.0, 0.25)
    assert measuring.cells(record) == (
        *("a", "b", "c", "6 s", "2 s", "3", "100%", "25% (copy)", "12 MB"),
    )


def test_exponent_is_that_of_a_regression(measuring: ModuleType) -> None:
    """As SciPy's, standard error included."""
    from scipy.stats import linregress

    rng = np.random.default_rng(0)
    sizes = (10, 20, 40, 80, 160)
    seconds = tuple(1e-3 * np.array(sizes) ** 1.5 * np.exp(rng.normal(0, 0.1, 5)))
    expected = linregress(np.log(sizes), np.log(seconds))
    found = measuring.Growth("a", "rows", sizes, seconds).exponent()
    assert found == pytest.approx((expected.slope, expected.stderr))


@pytest.mark.slow
def test_the_runner_writes_records_and_versions(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    command = [sys.executable, str(FOLDER / "run.py"), "--short", "--json", str(path), "--only"]
    for name in ("pareto_k", "build_table"):
        done = subprocess.run([*command, name], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "share of limit" in done.stdout
    content = json.loads(path.read_text("utf-8"))
    assert content["versions"].keys() >= {"bayesbias", "numpy", "gensim", "wefe", "bambi"}
    assert content["processor"]
    assert content["short"] is True
    assert set(content["benchmarks"]) == {"pareto_k", "build_table"}, "what was there stays"


def test_every_benchmark_is_run(folder: Path) -> None:
    listed = set(importlib.import_module("run").MODULES)
    # Two cores and a cluster of workers are no matter of the table.
    others = {"run", "measuring", "peer_bambi", "peer_wefe", "cluster_scaling"}
    assert {path.stem for path in folder.glob("*.py")} == listed | others


def test_the_page_shows_the_results(folder: Path) -> None:
    page = importlib.import_module("build_benchmarks_page")
    content = json.loads(page.RESULTS.read_text("utf-8"))
    assert content["short"] is False
    modules = importlib.import_module("run").MODULES
    assert {*content["benchmarks"]} <= {*modules}
    text = page.PAGE.read_text("utf-8")
    for name in modules:
        said = "Not measured" in text and name in text
        assert name in content["benchmarks"] or said, "a benchmark that was not run is named"
    assert page.filled(text, content) == text, "run: make benchmarks-page"
    assert page.PICTURE.read_bytes().startswith(b"\x89PNG")


def test_nothing_grows_faster_than_the_rows(folder: Path) -> None:
    page = importlib.import_module("build_benchmarks_page")
    _, growths = page.read(json.loads(page.RESULTS.read_text("utf-8")))
    rows = [growth for growth in growths if growth.axis == "rows"]
    assert len(rows) > 3
    for growth in rows:
        slope, error = growth.exponent()
        assert slope - 2 * error <= 1, growth.work
