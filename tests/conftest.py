"""Fixtures that many tests share."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from command_line import Result
from command_line import run as run_command
from hypothesis import settings
from small_audit import CONTROLS, GROUPS, QUICK, STEREOTYPES, forest, sketch

import bayesbias as bb
from bayesbias.auditing import audit_figures

matplotlib.use("Agg")

# How long an example takes depends on what else the machine does, and is no property. A change is
# judged by the same examples each time; who develops sees new ones.
settings.register_profile("untimed", deadline=None, max_examples=50, derandomize="CI" in os.environ)
settings.load_profile("untimed")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260)


@pytest.fixture(scope="session")
def demo() -> bb.Embedding:
    return bb.load_embedding("demo")


@pytest.fixture
def tiny(rng: np.random.Generator) -> bb.Embedding:
    """Five words with hand-made directions, lengths not one."""
    words = ["he", "she", "engineer", "nurse", "clock"]
    vectors = [[2.0, 0.0], [0.0, 3.0], [0.8, 0.6], [0.6, 0.8], [-3.0, 4.0]]
    return bb.Embedding(words, vectors, "tiny")


@pytest.fixture
def jobs() -> bb.Study:
    return bb.Study(
        "jobs",
        {"man": ["he"], "woman": ["she"]},
        {"man": ["engineer"], "woman": ["nurse"]},
        {"neutral": ["clock"]},
    )


@pytest.fixture
def thesis() -> Path:
    """The folder of the original authors' tables; they carry no licence, so they do not ship."""
    folder = SHARED / "thesis"
    if not folder.is_dir():
        pytest.skip("the original authors' tables are not here")
    return folder


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the network would have; the cache is empty."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BAYESBIAS_MIRROR", folder.as_uri())
    return folder


@pytest.fixture(scope="session")
def oracle() -> list[dict[str, Any]]:
    """What WEFE 1.0.1 says of its test model."""
    path = SHARED / "wefe" / "oracle.json"
    if not path.is_file():
        pytest.skip("WEFE's numbers are not here")
    records: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["records"]
    return records


@pytest.fixture(scope="session")
def wefe_model() -> bb.Embedding:
    """WEFE's test model: a part of GoogleNews without a licence of its own, so it does not ship."""
    path = os.environ.get("BAYESBIAS_WEFE_MODEL")
    if not path:
        pytest.skip("no WEFE model: `make oracle` fetches it and says how to name it")
    return bb.load_embedding(path, "test_w2v")


@pytest.fixture(scope="session")
def trees() -> bb.Study:
    return bb.Study("trees", GROUPS, STEREOTYPES, CONTROLS, source="made up", notes=["A note."])


@pytest.fixture(scope="session")
def wood() -> bb.Embedding:
    return forest()


@pytest.fixture(scope="session")
def made(wood: bb.Embedding, trees: bb.Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit") / "made"
    bb.audit(wood, trees, out=folder, **QUICK)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of the small audit."""
    return Path(shutil.copytree(made, tmp_path / "auditing"))


@pytest.fixture
def sketched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_figures, "save", sketch)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run a command, and return its exit code and what it printed."""

    def call(*arguments: object) -> Result:
        code = run_command(*map(str, arguments))
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture(autouse=True)
def own_directory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where audits without `out` make their folder."""
    if request.path.parent.name == "auditing":
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
