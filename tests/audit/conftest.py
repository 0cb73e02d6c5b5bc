"""A small audit, made once, that tests copy and damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from small_audit import CONTROLS, GROUPS, QUICK, STEREOTYPES, forest, sketch

import bayesbias as bb
from bayesbias.auditing import figures


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
    return Path(shutil.copytree(made, tmp_path / "audit"))


@pytest.fixture
def sketched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "save", sketch)
