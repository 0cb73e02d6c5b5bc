"""Fixtures that many tests share."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pytest

import bayesbias as bb

matplotlib.use("Agg")

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
