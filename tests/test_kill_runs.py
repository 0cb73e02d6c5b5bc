"""Runs that are killed at random moments, or begun twice, lose and mix nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "kill_runs.py"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the script begins runs by fork")
@pytest.mark.parametrize(
    ("job", "kills"), [("debias .npy", 4), ("debias .txt", 2), ("silhouettes", 3), ("calibrate", 2)]
)
def test_killed_runs_go_on(job: str, kills: int) -> None:
    options = ["--kills", str(kills), "--rounds", "2", "--job", job]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
