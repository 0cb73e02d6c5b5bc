"""The check of coverage with drawn words: seeded, resumable, right where the answer is known."""

from __future__ import annotations

import importlib.util
import string
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import DataError

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    path = ROOT / "scripts" / "coverage_by_design.py"
    spec = importlib.util.spec_from_file_location("coverage_by_design", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["coverage_by_design"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["coverage_by_design"]


@pytest.fixture
def small(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script with an embedding without any structure, in which small pools are drawn from."""
    study = bb.load_study("gender")
    own = [word for words in study.word_sets().values() for word in words]
    letters = list(string.ascii_lowercase)
    rng = np.random.default_rng(0)
    others = {"".join(rng.choice(letters, 9)) for _ in range(2500)}
    words = [*dict.fromkeys([*own, *sorted(others)])]
    embedding = bb.Embedding(words, rng.normal(size=(len(words), 20)), "made")
    monkeypatch.setattr(bb, "load_embedding", lambda name: embedding)
    monkeypatch.setattr(script, "NEUTRAL", slice(300, 2400))
    for name, size in (("ATTRIBUTE_POOL", 150), ("PEOPLE_POOL", 40), ("NEUTRAL_POOL", 600)):
        monkeypatch.setattr(script, name, size)
    designs = {"tiny": script.Design("gender", (4, 6), (2, 3), human=8, neutral=40)}
    monkeypatch.setattr(script, "DESIGNS", designs)
    return script


@pytest.mark.slow
def test_t_intervals_cover_and_runs_continue(small: ModuleType, tmp_path: Path) -> None:
    options: dict[str, Any] = {"designs": ["tiny"], "seed": 1, "out": tmp_path, "progress": False}
    first = small.run(["separate"], tables=4, jobs=1, **options)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    assert len(times) == 8
    more = small.run(["separate"], tables=30, jobs=1, **options)
    assert all(path.stat().st_mtime_ns == then for path, then in times.items())
    pd.testing.assert_frame_equal(more[more["table"] < 4].reset_index(drop=True), first)
    found = small.summarise(more).set_index(["contrast", "level", "method"])
    rows = found.xs("t-interval", level="method")
    assert set(rows.index.get_level_values("level")) == set(small.LEVELS)
    assert (rows["relative_width"] == 1).all()
    assert rows.loc[("associated - none", "protected_word"), "coverage"] == pytest.approx(
        0.89, abs=0.1
    )
    assert (found["tables"] == 30).all()
    same = found.loc[("associated - different", "attribute_group", "separate")]
    assert 0 <= same["coverage"] <= 1


def test_the_truth_is_that_of_the_pools(small: ModuleType) -> None:
    vectors = small.Vectors(bb.load_embedding("made"))
    design = small.DESIGNS["tiny"]
    pool = small.pools(vectors, design, 1)
    drawn = small.draw([vectors], design, pool, 1, 7)
    again = small.draw([vectors], design, pool, 1, 7)
    pd.testing.assert_frame_equal(drawn.tables[0], again.tables[0])
    other = small.draw([vectors], design, pool, 1, 8)
    assert not drawn.tables[0]["protected_word"].equals(other.tables[0]["protected_word"])
    word = drawn.tables[0]["protected_word"].iloc[0]
    own, rest, none = (
        np.mean([1 - vectors.unit[vectors.row[word]] @ vectors.unit[i] for i in pool.lists[of]])
        for of in ("man", "woman", "none")
    )
    at = f"protected_word | {word}"
    assert drawn.truth[f"associated - none | {at}"] == pytest.approx(own - none)
    assert drawn.truth[f"associated - different | {at}"] == pytest.approx(own - rest)
    # Seen from the groups or from the attributes, the double difference is the same.
    both = [drawn.truth[f"associated - different | attribute_group | {g}"] for g in pool.people]
    whole = drawn.truth["associated - different | listed words | "]
    assert np.mean(both) == pytest.approx(whole)
    # As it should be in drawn tables: a large one has the contrasts of its pools.
    counts = drawn.tables[0].groupby("connection", observed=True)["word_to_compare"].nunique()
    assert counts.to_dict() == {"associated": 10, "different": 10, "human": 8, "none": 40}


@pytest.mark.slow
def test_changes_are_those_between_the_pools(
    small: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bb.load_embedding("made")
    rng = np.random.default_rng(1)
    moved = np.asarray(first.vectors) + rng.normal(0, 0.3, first.vectors.shape)
    second = bb.Embedding(first.words, moved, "moved")
    several = [small.Vectors(one) for one in (first, second)]
    pool = small.pools(several[0], small.DESIGNS["tiny"], 1)
    alone = [small.draw([one], small.DESIGNS["tiny"], pool, 1, 3) for one in several]
    both = small.draw(several, small.DESIGNS["tiny"], pool, 1, 3)
    for one, table in zip(alone, both.tables, strict=True):
        pd.testing.assert_frame_equal(one.tables[0], table)
    for key, change in both.truth.items():
        assert change == pytest.approx(alone[1].truth[key] - alone[0].truth[key])
    apart = small.differences(*both.tables)
    pairs = [table.set_index(["protected_word", "word_to_compare"]) for table in both.tables]
    expected = pairs[1]["cosine_distance"] - pairs[0]["cosine_distance"]
    np.testing.assert_allclose(apart["cosine_distance"] - 1, expected)

    monkeypatch.setattr(small, "embeddings", lambda name: [first, second])
    options: dict[str, Any] = {"designs": ["tiny"], "seed": 1, "out": tmp_path, "progress": False}
    found = small.run(["embeddings"], tables=1, jobs=1, second="moved", **options)
    assert set(found["level"]) == set(small.LEVELS) - {"new words"}
    assert (tmp_path / "to-moved" / "tiny").is_dir()
    result = small.summarise(found)
    assert set(result["method"]) == {"t-interval", "embeddings"}


def test_what_fails_is_kept(
    small: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise DataError("the engine gave up.")

    monkeypatch.setattr(bb, "fit", fail)
    options: dict[str, Any] = {"designs": ["tiny"], "seed": 1, "out": tmp_path, "progress": False}
    found = small.run(["separate"], tables=2, jobs=1, **options)
    assert found["failure"].dropna().to_list() == ["the engine gave up."] * 2
    assert set(small.summarise(found)["method"]) == {"t-interval"}
