from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where audits without `out` make their folder."""
    monkeypatch.chdir(tmp_path)
