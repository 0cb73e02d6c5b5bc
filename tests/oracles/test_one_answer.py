"""The difference of two embeddings is the same by every road that leads to it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb

pytestmark = pytest.mark.slow

CONTRASTS = ("associated - none", "associated - different")
PAIRS = [
    (study, second) for study in ("religion", "gender") for second in ("demo-100d", "debiased")
]


@cache
def tables(study: str, second: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the distances before and after, or in another embedding."""
    demo, lists = bb.load_embedding("demo"), bb.load_study(study)
    if second == "debiased":
        other = bb.debias.HardDebias().fit(demo).transform(demo)
    else:
        other = bb.load_embedding(second)
    return bb.distance_table(demo, lists), bb.distance_table(other, lists)


@cache
def paired(study: str, second: str) -> bb.models.PairedFit:
    return bb.fit_paired(*tables(study, second), draws=1000, seed=1)


def levels(contrast: str) -> list[str | None]:
    same = ["attribute_group"] if contrast == "associated - different" else []
    return [None, "protected_group", "protected_word", *same]


def assert_same(one: xr.DataArray, other: xr.DataArray, where: str) -> None:
    """Allow for a tenth of a standard deviation, and three Monte Carlo errors of 400 draws."""
    a, b = (x.to_numpy().reshape(x.sizes["chain"] * x.sizes["draw"], -1) for x in (one, other))
    sd = b.std(axis=0)
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) / sd).max() < 0.1 + 3 / np.sqrt(400), where
    ratio = a.std(axis=0) / sd
    assert ratio.min() > 0.88, where
    assert ratio.max() < 1.14, where


@pytest.mark.parametrize(("study", "second"), PAIRS)
def test_a_model_of_the_differences_agrees(study: str, second: str) -> None:
    """The differences themselves, as the outcome of the model of one embedding."""
    before, after = tables(study, second)
    pair = ["protected_word", "word_to_compare"]
    moved = after.set_index(pair)["cosine_distance"]
    moved = moved.loc[pd.MultiIndex.from_frame(before[pair])].to_numpy()
    # Around one, where the model expects distances.
    differences = before.assign(cosine_distance=1 + moved - before["cosine_distance"])
    alone = bb.fit(differences.drop(columns="cosine_similarity"), "interaction", draws=1000, seed=2)
    for contrast in CONTRASTS:
        for by in levels(contrast):
            change = paired(study, second).change_draws(contrast, by=by)
            assert_same(change, alone.contrast_draws(contrast, by=by), f"{contrast}, {by}")


@pytest.mark.parametrize(("study", "second"), PAIRS[:2])
def test_the_joint_model_agrees(study: str, second: str) -> None:
    before, after = tables(study, second)
    both = pd.concat([before.assign(embedding="one"), after.assign(embedding="two")])
    joint = bb.fit(both, "embeddings", draws=1000, seed=2)
    for contrast in CONTRASTS:
        for by in levels(contrast):
            draws = joint.contrast_draws(contrast, by=by or "embedding")
            change = draws.sel(embedding="two") - draws.sel(embedding="one")
            same = paired(study, second).change_draws(contrast, by=by)
            assert_same(change, same, f"{contrast}, {by}")


@pytest.mark.parametrize(("study", "second"), PAIRS)
def test_before_change_and_after_add_up(study: str, second: str) -> None:
    result = paired(study, second)
    gaps = result.gap_closed(CONTRASTS[0], by="protected_group")
    np.testing.assert_allclose(gaps["before"] + gaps["change"], gaps["after"])
    changes = result.changes(CONTRASTS[0], by="protected_group")
    np.testing.assert_allclose(gaps["change"], changes["mean"])
    effects = result.effects()
    np.testing.assert_allclose(effects["before"] + effects["mean"], effects["after"])
    # Each of the two as a fit of its own has it, within a fifth of a standard deviation.
    for table, when in zip(tables(study, second), ("before", "after"), strict=True):
        alone = bb.fit(table, draws=1000, seed=3).contrasts(CONTRASTS[0], by="protected_group")
        joint = result.joint.contrast_draws(CONTRASTS[0], by="protected_group")
        joint = joint.sel(embedding=when).mean(["chain", "draw"])
        assert (np.abs(joint - alone["mean"]) / alone["sd"]).max() < 0.2 + 3 / np.sqrt(400), when


def test_the_tables_of_reports_agree(tmp_path: Path) -> None:
    audit = bb.audit(
        ["demo", "demo-100d"], "religion", out=tmp_path, models=["interaction"], metrics="mac",
        silhouettes=False, confirm=False, draws=500, seed=1, progress=False,
    )  # fmt: skip
    between = audit.between["religion"]
    rows = between[(between["embedding"] == "demo") & (between["second"] == "demo-100d")]
    names = ("demo-100d", "demo")
    before, after = (bb.distance_table(name, bb.load_study("religion")) for name in names)
    result = bb.fit_paired(before, after, draws=500, seed=1)
    for contrast in CONTRASTS:
        row = rows[rows["contrast"] == contrast].iloc[0]
        expected = result.changes(contrast).iloc[0]
        for name in ("mean", "sd", "lower", "upper"):
            assert row[name] == pytest.approx(expected[name], rel=1e-9), (contrast, name)
