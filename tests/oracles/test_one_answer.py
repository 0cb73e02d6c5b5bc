"""The difference of two embeddings is the same by every road that leads to it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb

pytestmark = pytest.mark.slow

CONTRASTS = ("associated - none", "associated - different")


@cache
def tables(study: str, second: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the distances before and after, or in another embedding."""
    demo, lists = bb.load_embedding("demo"), bb.load_study(study)
    if second == "debiased":
        other = bb.debias.HardDebias().fit(demo).transform(demo)
    else:
        other = bb.load_embedding(second)
    return bb.distance_table(demo, lists), bb.distance_table(other, lists)


# The other two pairs take minutes in the joint model.
@pytest.mark.parametrize(("study", "second"), [("religion", "demo-100d"), ("gender", "debiased")])
def test_joint_model_and_differences_agree(study: str, second: str) -> None:
    before, after = tables(study, second)
    paired = bb.fit_paired(before, after, draws=1000, seed=1)
    both = pd.concat([t.astype({"embedding": "str"}) for t in (before, after)])
    names = [str(t["embedding"].iloc[0]) for t in (before, after)]
    if names[0] == names[1]:
        both["embedding"] = np.repeat(["before", "after"], [len(before), len(after)])
        names = ["before", "after"]
    joint = bb.fit(both, "embeddings", draws=1000, seed=1)
    for contrast in CONTRASTS:
        change = paired.difference.contrast_draws(contrast).to_numpy().ravel()
        by = joint.contrast_draws(contrast, by="embedding")
        moved = (by.sel(embedding=names[1]) - by.sel(embedding=names[0])).to_numpy().ravel()
        sd = change.std()
        # A tenth of a standard deviation, and three Monte Carlo errors of 400 effective draws.
        assert abs(change.mean() - moved.mean()) < 0.1 * sd + 3 * sd / np.sqrt(400), contrast
        # How the means of three lists are correlated is hardly known, which widens the joint one.
        assert 0.8 < moved.std() / sd < 1.7, contrast
        levels = ["protected_group", "protected_word"]
        for level in [*levels, *(["attribute_group"] if contrast == CONTRASTS[1] else [])]:
            change_by = paired.difference.contrast_draws(contrast, by=level)
            both_by = joint.contrast_draws(contrast, by=level)
            moved_by = both_by.sel(embedding=names[1]) - both_by.sel(embedding=names[0])
            sd_by = change_by.std(["chain", "draw"])
            apart = abs(moved_by.mean(["chain", "draw"]) - change_by.mean(["chain", "draw"]))
            # Groups and words are pooled to their mean, differences more than distances.
            assert float((apart / moved_by.std(["chain", "draw"])).max()) < 1 / 3, (contrast, level)
            assert float((apart / sd_by).mean()) < 0.25, (contrast, level)
            ratio = moved_by.std(["chain", "draw"]) / sd_by
            assert 0.8 < float(ratio.min()) < float(ratio.max()) < 1.7, (contrast, level)
    # Before, change and after add up in every table.
    gaps = paired.gap_closed(CONTRASTS[0], by="protected_group")
    np.testing.assert_allclose(gaps["before"] + gaps["change"], gaps["after"])
    effects = paired.effects()
    np.testing.assert_allclose(effects["before"] + effects["mean"], effects["after"])
