"""The models on the original authors' tables, against the numbers that they printed.

The thesis is Dobrzeniecka (2021), the follow-up Dobrzeniecka & Urbaniak (2024); its Stan summaries
are in ``religion_*_hierarchical.csv``. Where a number is not published it is from NUTS (PyMC 5.28,
see ``models.md``).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb

pytestmark = [
    pytest.mark.oracle,
    # WAIC of a few rows is doubtful; the numbers printed are of WAIC all the same.
    pytest.mark.filterwarnings("ignore:.*has a variance above 0.4"),
]


@cache
def fitted(path: Path, model: str) -> bb.models.Fit:
    return bb.fit(bb.read_table(path), model, engine="exact", seed=1)


# The thesis.


def test_comparison(thesis: Path) -> None:
    names = ["baseline", "connection", "separate"]
    path = thesis / "religionReddit.csv"
    table = bb.compare({name: fitted(path, name) for name in names})
    assert list(table.index) == ["separate", "connection", "baseline"]
    np.testing.assert_allclose(table["WAIC"], [-2400, -2328, -2283], atol=2)
    np.testing.assert_allclose(table["SE"], [93, 93, 95], atol=1)
    np.testing.assert_allclose(table["pWAIC"], [60, 20, 16], atol=1.5)
    np.testing.assert_allclose(table["dWAIC"], [0, 72, 117], atol=2)
    np.testing.assert_allclose(table["dSE"][1:], [29, 37], atol=2)


def coefficients(fit: bb.models.Fit) -> pd.Series:
    found = fit.coefficients().query("parameter == 'co'")
    return found.set_index("level")["mean"]


def test_coefficients_of_all_religions(thesis: Path) -> None:
    found = coefficients(fitted(thesis / "religionReddit.csv", "connection"))
    assert list(found.index) == ["associated", "different", "human", "none"]
    np.testing.assert_allclose(found, [-0.1496, -0.0988, -0.0728, -0.0310], atol=0.02)
    # They share a constant that the data do not determine; their differences agree closely.
    apart = found - found["none"]
    np.testing.assert_allclose(apart, [-0.1186, -0.0678, -0.0418, 0], atol=0.004)


def test_coefficients_of_islam(thesis: Path) -> None:
    table = bb.read_table(thesis / "religionReddit.csv").query("protected_group == 'muslim'")
    found = coefficients(bb.fit(table, "connection", engine="exact", seed=1))
    np.testing.assert_allclose(found, [-0.198, -0.0334, -0.0192, -0.0004], atol=0.02)
    apart = found - found["none"]
    np.testing.assert_allclose(apart, [-0.1976, -0.0330, -0.0188, 0], atol=0.006)


# The follow-up's hierarchical model, sampled with Stan.


@pytest.mark.parametrize("embedding", ["reddit", "google", "glove"])
def test_stan(thesis: Path, embedding: str) -> None:
    """Theirs are d, a, h and n of a word (in alphabetical order), and s in alphabetical order."""
    theirs = pd.read_csv(thesis / f"religion_{embedding}_hierarchical.csv", index_col=0)
    fit = fitted(thesis / f"religion_group_{embedding}.csv", "hierarchical")
    words = sorted(fit.posterior["protected_word"].to_numpy())
    assert words[0] == "bible"
    ours = {}
    for place, connection in enumerate(["associated", "different", "human", "none"], start=1):
        own = fit.posterior.sel(connection=connection)
        letter = connection[0]
        for i, word in enumerate(words, start=1):
            ours[f"{letter}[{i}]"] = own["theta"].sel(protected_word=word)
        ours |= {
            f"{letter}bar": own["bar"],
            f"{letter}sigmabar": own["tau"],
            f"s[{place}]": own["s"],
        }
    assert set(ours) == set(theirs.index)
    mean = pd.Series({name: float(draws.mean()) for name, draws in ours.items()})[theirs.index]
    sd = pd.Series({name: float(draws.std()) for name, draws in ours.items()})[theirs.index]
    # Their effective sample size is 800 to 17,000, ours 8,000: a scale's mean is then known to
    # 0.04 sd, so three Monte Carlo standard errors are allowed on top of 0.05 sd and 5%.
    error = np.sqrt(1 / theirs["n_eff"] + 1 / 8000)
    assert ((mean - theirs["mean"]).abs() / theirs["sd"] - 3 * error).max() < 0.05
    assert ((sd / theirs["sd"] - 1).abs() - 3 * error).max() < 0.05


# NUTS.

CONTRASTS = {
    ("religionReddit", "connection"): (-0.119, 0.025),
    ("religionReddit", "hierarchical"): (-0.118, 0.044),
    ("religionReddit", "crossed"): (-0.111, 0.059),
    ("religionGoogle", "connection"): (-0.064, 0.012),
    ("religionGoogle", "hierarchical"): (-0.062, 0.021),
    ("religionGoogle", "crossed"): (-0.062, 0.025),
    ("debiasedReligionReddit", "connection"): (0.000, 0.024),
    ("debiasedReligionReddit", "hierarchical"): (0.006, 0.038),
    ("debiasedReligionReddit", "crossed"): (-0.001, 0.042),
}


@pytest.mark.parametrize(("table", "model"), CONTRASTS)
def test_contrasts(thesis: Path, table: str, model: str) -> None:
    fit = fitted(thesis / f"{table}.csv", model)
    found = fit.contrasts("associated - none", words="population").iloc[0]
    mean, sd = CONTRASTS[table, model]
    assert found["mean"] == pytest.approx(mean, abs=0.006)
    assert found["sd"] == pytest.approx(sd, abs=0.006)


def test_probability_of_bias(thesis: Path) -> None:
    for table, expected in [("religionReddit", 0.96), ("debiasedReligionReddit", 0.51)]:
        found = fitted(thesis / f"{table}.csv", "crossed").contrasts("associated - none")
        assert found["prob_negative"].item() == pytest.approx(expected, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "waic", "loo", "within"),
    [("hierarchical", -2430.0, -2428.9, 2), ("crossed", -5766.6, -5759.6, 3)],
)
def test_criteria(thesis: Path, model: str, waic: float, loo: float, within: float) -> None:
    fit = fitted(thesis / "religionReddit.csv", model)
    assert fit.waic().deviance == pytest.approx(waic, abs=within)
    assert fit.loo().deviance == pytest.approx(loo, abs=within)


@pytest.mark.slow
def test_attributes_left_out(thesis: Path) -> None:
    """By refitting, in ten folds: crossed − hierarchical 1382 (SE 101), less separate 7 (13)."""
    path = thesis / "religionReddit.csv"
    models = ("separate", "hierarchical", "crossed")
    elpd = {model: fitted(path, model).loo(by="word_to_compare") for model in models}
    apart = elpd["crossed"].pointwise - elpd["hierarchical"].pointwise
    assert apart.sum() == pytest.approx(1382, abs=60)
    assert np.sqrt(len(apart)) * apart.std() == pytest.approx(101, abs=15)
    assert elpd["hierarchical"].elpd - elpd["separate"].elpd == pytest.approx(7, abs=6)
