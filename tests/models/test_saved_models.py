"""The fits that come with the project can be rebuilt."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb

FITS = Path(__file__).resolve().parents[2] / "models" / "fits"


@pytest.mark.parametrize("study", ["religion", "gender", "race"])
def test_each_has_its_card(study: str) -> None:
    fit = bb.load_fit(FITS / f"{study}.nc")
    card = (FITS / f"{study}.md").read_text("utf-8")
    assert fit.spec == bb.load_model("interaction")
    assert str(fit.spec) in card
    assert f"{len(fit.table)} distances" in card
    for heading in ("Model", "Results", "Models compared", "Table", "Diagnostics", "rebuild"):
        assert heading in card


def test_one_is_rebuilt() -> None:
    saved = bb.load_fit(FITS / "race.nc")
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("race"))
    rebuilt = bb.fit(table, "interaction", engine="exact", draws=1000, seed=9)
    n = saved.posterior.sizes["chain"] * saved.posterior.sizes["draw"]
    for parameter in saved.spec.parameters:
        old, new = saved.draws(parameter.name), rebuilt.draws(parameter.name)
        sd = new.std(axis=0)
        # Two independent sets of draws; the largest of a few hundred differences is below 5 errors.
        error = sd * np.sqrt(1 / n + 1 / len(new))
        assert (np.abs(old.mean(axis=0) - new.mean(axis=0)) < 5 * error).all()
        # Scales learnt from few lists have heavy tails, so the middle half is compared.
        old_iqr, new_iqr = (
            np.ptp(np.quantile(x, [0.25, 0.75], axis=0), axis=0) for x in (old, new)
        )
        np.testing.assert_allclose(old_iqr, new_iqr, rtol=0.3)


def test_every_model_has_a_card() -> None:
    for name in bb.models.MODELS:
        card = re.sub(r"\[[^]]*\]", "", (FITS.parent / f"{name}.md").read_text("utf-8"))
        for parameter in bb.load_model(name).parameters:
            assert f"~ {parameter.prior}" in card, f"{name}: {parameter.name}"
