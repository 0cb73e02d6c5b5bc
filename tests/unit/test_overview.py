"""The overview, on a posterior made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from simulated import simulated_table

import bayesbias as bb


@pytest.fixture(scope="module")
def fit() -> bb.Fit:
    """Four words; draws so narrow that means and intervals are what is written here."""
    made = bb.fit(simulated_table(words=2), "separate", engine="exact", draws=250)
    means = np.array(
        [  # associated, different, human, none
            [0.70, 0.80, 0.60, 0.90],
            [0.70, 0.60, 0.90, 0.90],
            [0.85, 0.85, 0.84, 0.86],
            [0.90, 0.95, 0.95, 0.50],
        ]
    )
    noise = np.random.default_rng(0).normal(0, 0.01, (4, 250, 4, 4))
    posterior = made.posterior.copy()
    posterior["theta"] = (posterior["theta"].dims, means + noise)
    return replace(made, posterior=posterior)


def test_percentages(fit: bb.Fit) -> None:
    table = bb.overview(fit).table
    assert table["answer"].iloc[:5].to_dict() == {
        "A close to N": 25.0,
        "A close to H": 25.0,
        "H closer than A": 50.0,
        "D similar with A": 25.0,
        "D closer than A": pytest.approx(50.0, abs=25.1),  # word 2 is a tie
    }
    chances = table["probability"]
    assert chances["A close to N"] == pytest.approx(25, abs=1)
    # 0.90 and 0.95 differ by the region of practical equivalence: half the draws are inside.
    assert chances["D similar with A"] == pytest.approx(37.5, abs=4)
    assert chances["H closer than A"] == pytest.approx(100 * (1 + 0.76 + 0 + 0) / 4, abs=3)


def test_contrasts_lead(fit: bb.Fit) -> None:
    found = bb.overview(fit, rope=0.02)
    assert list(found.contrasts["contrast"]) == [
        "associated - none", "associated - human", "associated - different",
    ]  # fmt: skip
    text = str(found)
    assert text.index("associated - none") < text.index("A close to N")
    assert "25.00%" in text
    assert "<table" in found._repr_html_()


def test_data_set_rows(fit: bb.Fit) -> None:
    table = bb.overview(fit).table
    assert table.loc["General HPDI outside of 0", "answer"] in ("yes", "no")
    co = bb.fit(fit.table, "connection", engine="exact", draws=250).draws("co")
    similar = abs(co[:, 0].mean() - co[:, 1].mean()) < 0.016
    assert table.loc["General D similar to A", "answer"] == ("yes" if similar else "no")
    assert "General N moved closer" not in table.index


def test_what_moved(fit: bb.Fit) -> None:
    """Human words were moved towards the protected words, neutral ones away."""
    shift = fit.table["connection"].astype(str).map({"human": -0.2, "none": 0.2}).fillna(0)
    moved = fit.table.assign(cosine_distance=(fit.table["cosine_distance"] + shift).clip(0, 2))
    after = bb.fit(moved.drop(columns="cosine_similarity"), "separate", engine="exact", draws=250)
    table = bb.overview(after, before=fit).table
    assert table.loc["General H moved closer to A", "answer"] == "yes"
    assert table.loc["General N moved closer", "answer"] == "no"
    assert table.loc["General N moved closer", "probability"] < 0.1


def test_without_some_connections(fit: bb.Fit) -> None:
    rows = fit.table[fit.table["connection"].isin(["associated", "none"])]
    table = bb.overview(bb.fit(rows, "separate", engine="exact", draws=50)).table
    assert list(table.index) == ["A close to N", "General HPDI outside of 0"]


def test_fits_that_have_no_overview(fit: bb.Fit) -> None:
    def exact(table: pd.DataFrame, model: str) -> bb.Fit:
        return bb.fit(table, model, engine="exact", draws=50)

    with pytest.raises(bb.SpecError, match="needs a mean for each protected word and connection"):
        bb.overview(exact(fit.table, "baseline"))
    with pytest.raises(bb.SpecError, match="needs associated attributes"):
        bb.overview(exact(fit.table[fit.table["connection"] != "associated"], "separate"))
    with pytest.raises(bb.SpecError, match="'rope' is 0"):
        bb.overview(fit, rope=0)
