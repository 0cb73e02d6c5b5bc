"""The overview, on a posterior made by hand."""

from __future__ import annotations

import html
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from simulated import simulated_table

import bayesbias as bb
from bayesbias._core.latex import escape
from bayesbias.errors import SpecError


@pytest.fixture(scope="module")
def fit() -> bb.models.Fit:
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


def test_percentages(fit: bb.models.Fit) -> None:
    table = bb.overview(fit).table
    assert table["answer"].iloc[:5].to_dict() == {
        "A close to N": 25.0,
        "A close to H": 25.0,
        "H closer than A": 50.0,
        "D similar with A": 25.0,
        "D closer than A": pytest.approx(50.0, abs=25.1),  # word 2 is a tie
    }
    chances = table["probability"]
    # Whether intervals overlap is not an event that has a probability.
    overlaps = ["A close to N", "A close to H", "D similar with A"]
    assert chances[overlaps].isna().all()
    assert table.loc[overlaps, "meaning"].str.contains("intervals of the distances.*overlap").all()
    assert table.loc[overlaps, "meaning"].str.contains("probability: none, because").all()
    assert chances["H closer than A"] == pytest.approx(100 * (1 + 0.76 + 0 + 0) / 4, abs=3)


def test_contrasts_lead(fit: bb.models.Fit) -> None:
    found = bb.overview(fit, rope=0.02)
    assert list(found.contrasts["contrast"]) == [
        "associated - none", "associated - human", "associated - different",
    ]  # fmt: skip
    text = str(found)
    assert text.index("associated - none") < text.index("A close to N")
    assert "25.00%" in text
    assert "<table" in found._repr_html_()


def test_data_set_rows(fit: bb.models.Fit) -> None:
    table = bb.overview(fit).table
    assert table.loc["General HPDI outside of 0", "answer"] in ("yes", "no")
    assert "89% highest-density interval" in table.loc["General HPDI outside of 0", "meaning"]
    by_tails = bb.overview(fit, kind="eti").table
    assert "General HPDI outside of 0" not in by_tails.index
    assert "89% equal-tailed interval" in by_tails.loc["General ETI outside of 0", "meaning"]
    co = bb.fit(fit.table, "connection", engine="exact", draws=250).draws("co")
    size = abs(co[:, 0].mean() - co[:, 1].mean())
    expected = "yes" if size < 0.016 else "slightly not" if size <= 0.1 else "no"
    assert table.loc["General D similar to A", "answer"] == expected
    similar = np.mean(np.abs(co[:, 0] - co[:, 1]) < 0.016)
    assert table.loc["General D similar to A", "probability"] == pytest.approx(similar)
    assert "General N moved closer" not in table.index


@pytest.mark.parametrize(
    ("gap", "answer", "likely"),
    [(0.0, "yes", True), (0.06, "slightly not", False), (0.2, "no", False)],
)
def test_how_similar_different_and_associated_are(gap: float, answer: str, likely: bool) -> None:
    rows = simulated_table(words=2, tau=0.0, tau_word=0.0, s=0.01)
    mean = (
        rows["connection"]
        .astype(str)
        .map({"associated": 0.8, "different": 0.8 + gap, "human": 0.9, "none": 1.0})
    )
    noise = np.random.default_rng(1).normal(0, 0.01, len(rows))
    made = bb.fit(rows.assign(cosine_distance=mean + noise), "separate", draws=250)
    row = bb.overview(made, kind="eti").table.loc["General D similar to A"]
    assert row["answer"] == answer
    assert (row["probability"] > 0.5) == likely


@pytest.mark.parametrize("shift", [-0.15, -0.03, 0.03, 0.15])
@pytest.mark.parametrize("seed", [0, 1])
def test_answer_and_probability_are_of_one_event(
    fit: bb.models.Fit, shift: float, seed: int
) -> None:
    """All means move, those of human words less, so that the coefficients move another way."""
    rng = np.random.default_rng(seed)
    by = {"associated": 2 * shift, "different": 2 * shift, "human": shift, "none": -shift}
    moved = fit.table["connection"].astype(str).map(by) + rng.normal(0, 0.01, len(fit.table))
    rows = fit.table.drop(columns="cosine_similarity")
    rows["cosine_distance"] = (rows["cosine_distance"] + moved).clip(0, 2)
    after = bb.fit(rows, "separate", draws=250)
    table = bb.overview(after, before=fit).table
    for name in ("General H moved closer to A", "General N moved closer"):
        assert (table.loc[name, "answer"] == "yes") == (table.loc[name, "probability"] > 0.5)
    assert (table.loc["General H moved closer to A", "answer"] == "yes") == (shift < 0)


def test_the_rules_are_shown_everywhere(fit: bb.models.Fit) -> None:
    found = bb.overview(fit)
    assert list(found.formatted().columns) == ["answer", "probability", "meaning"]
    for text in found.table["meaning"]:
        assert text.startswith("answer: ")
        assert "probability: " in text
        assert text in " ".join(str(found).split())
        assert html.escape(text, quote=False) in found._repr_html_()
        assert escape(text) in found.to_latex()
        assert "none" not in text.partition("probability: ")[0]
    assert r"p{0.6\linewidth}" in found.to_latex()


def test_what_moved(fit: bb.models.Fit) -> None:
    """Human words were moved towards the protected words, neutral ones away."""
    shift = fit.table["connection"].astype(str).map({"human": -0.2, "none": 0.2}).fillna(0)
    moved = fit.table.assign(cosine_distance=(fit.table["cosine_distance"] + shift).clip(0, 2))
    after = bb.fit(moved.drop(columns="cosine_similarity"), "separate", engine="exact", draws=250)
    table = bb.overview(after, before=fit).table
    assert table.loc["General H moved closer to A", "answer"] == "yes"
    assert table.loc["General N moved closer", "answer"] == "no"
    assert table.loc["General N moved closer", "probability"] < 0.1


def test_fits_with_the_same_seed_are_independent(fit: bb.models.Fit) -> None:
    """They share random numbers, so that draws of the same place are nearly the same."""
    rng = np.random.default_rng(0)
    rows = fit.table.drop(columns="cosine_similarity")
    moved = rows["cosine_distance"] - 0.0003 + rng.normal(0, 1e-5, len(rows))
    after = bb.fit(rows.assign(cosine_distance=moved), "separate", draws=250)
    row = bb.overview(after, before=fit).table.loc["General N moved closer"]
    assert row["answer"] == "yes"
    # Two normal posteriors: the standard error of the difference is that of independent means.
    errors = []
    for table in (fit.table, after.table):
        of_none = table.loc[table["connection"] == "none", "cosine_distance"]
        errors.append(of_none.std() / len(of_none) ** 0.5)
    expected = stats.norm.cdf(0.0003 / np.hypot(*errors))
    assert row["probability"] == pytest.approx(expected, abs=0.03)


def test_without_some_connections(fit: bb.models.Fit) -> None:
    rows = fit.table[fit.table["connection"].isin(["associated", "none"])]
    table = bb.overview(bb.fit(rows, "separate", engine="exact", draws=50)).table
    assert list(table.index) == ["A close to N", "General HPDI outside of 0"]


@pytest.mark.filterwarnings("ignore:.*cells have no row")
def test_words_without_stereotypes_do_not_count(fit: bb.models.Fit) -> None:
    """The shares are those of the other group alone: `separate` does not pool words."""
    table = fit.table
    lacking = table[table["word_class"] != "g1_stereotype"]
    both = bb.fit(lacking, "separate", draws=250)
    found = bb.overview(both, kind="eti").table.iloc[:3]
    # By hand, from the means of the words that have stereotypes.
    means = both.means().pivot_table(index="protected_word", columns="connection", values="mean")
    own = means.loc[["p00", "p01"]]
    share = 100 * float((own["human"] < own["associated"]).mean())
    assert found.loc["H closer than A", "answer"] == share
    draws = both.expected(["word_to_compare"]).sel(protected_word=["p00", "p01"])
    closer = draws.sel(connection="human") < draws.sel(connection="associated")
    assert found.loc["H closer than A", "probability"] == pytest.approx(100 * float(closer.mean()))


def test_fits_that_have_no_overview(fit: bb.models.Fit) -> None:
    def exact(table: pd.DataFrame, model: str) -> bb.models.Fit:
        return bb.fit(table, model, engine="exact", draws=50)

    with pytest.raises(SpecError, match="needs a mean for each protected word and connection"):
        bb.overview(exact(fit.table, "baseline"))
    with pytest.raises(SpecError, match="'before' is a str; expected what fit"):
        bb.overview(fit, before="x")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'before' is a str"):  # before a model is fitted
        bb.overview("separate", before="x")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="needs associated attributes"):
        bb.overview(exact(fit.table[fit.table["connection"] != "associated"], "separate"))
    with pytest.raises(SpecError, match="'rope' is 0"):
        bb.overview(fit, rope=0)


def test_a_model_is_fitted_by_name() -> None:
    table = simulated_table(1)
    found = bb.overview("separate", table=table)
    pd.testing.assert_frame_equal(found.table, bb.overview(bb.fit(table, "separate")).table)


@pytest.fixture(scope="module")
def of_frequency() -> pd.DataFrame:
    """Stereotypes are nearer for their frequency alone: at equal frequency there is no gap."""
    table = simulated_table(words=2, controls=20, tau=0.0, tau_word=0.0, s=0.01)
    rng = np.random.default_rng(2)
    words = table["word_to_compare"].astype(str)
    own = {word: rng.normal(0, 1) for word in sorted(set(words))}
    x = words.map(own) + 2.0 * (table["connection"] == "associated")
    distance = 0.9 - 0.03 * x + rng.normal(0, 0.01, len(table))
    return table.assign(log_frequency=x, cosine_distance=distance, cosine_similarity=1 - distance)


def test_all_rows_are_at_equal_covariates(of_frequency: pd.DataFrame) -> None:
    plain = bb.fit(of_frequency, "separate", draws=250, seed=1)
    raw = bb.overview(plain)
    fit = bb.fit(of_frequency, "separate", covariates=["log_frequency"], draws=250, seed=1)
    equal = bb.overview(fit, before=fit)
    rows = ["H closer than A", "General D similar to A"]
    assert raw.table.loc[rows, "answer"].tolist() == [0.0, "slightly not"]
    assert equal.table.loc[rows[1], "answer"] == "yes"
    assert equal.table.loc[rows[0], "probability"] > 5
    assert (equal.table["covariates"] == "equal").all()
    assert "covariates" not in raw.table
    note = "at equal frequency"
    for shown in (str(equal), equal.summary(), equal._repr_html_(), equal.to_latex()):
        assert note in shown
    assert note not in str(raw) + raw._repr_html_() + raw.to_latex()
    with pytest.raises(SpecError, match="debiasing are none, and those .* are 'log_freq"):
        bb.overview(fit, before=plain)


def test_overviews_say_which_data_sets_are_at_equal_covariates(of_frequency: pd.DataFrame) -> None:
    fits = {
        "raw": bb.fit(of_frequency, "separate", draws=100),
        "adjusted": bb.fit(of_frequency, "separate", covariates=["log_frequency"], draws=100),
    }
    found = bb.overviews(fits)
    for shown in (str(found), found.summary(), found._repr_html_(), found.to_latex()):
        assert "At equal frequency: adjusted." in shown
