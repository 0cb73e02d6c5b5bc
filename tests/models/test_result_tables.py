"""What every result offers: a table, a summary in words, HTML and LaTeX."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from latex_documents import complaints, needs_latex
from simulated import simulated_table

import bayesbias as bb
from bayesbias._core.interval_text import estimate_text, signed
from bayesbias._core.latex import escape, frame_to_latex


def after(table: pd.DataFrame) -> pd.DataFrame:
    distance = table["cosine_distance"] + np.random.default_rng(1).normal(0.05, 0.02, len(table))
    return table.assign(cosine_distance=distance, cosine_similarity=1 - distance)


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*LOO is unreliable")
        return make_results()


def make_results() -> dict[str, Any]:
    table = simulated_table()
    fit = bb.fit(table, "crossed", engine="exact", draws=250, seed=3)
    return {
        "fit": fit,
        "without connections": bb.fit(table, "baseline", engine="exact", draws=250),
        "paired": bb.fit_paired(table, after(table), draws=100),
        "overview": bb.overview(fit),
        "plan": bb.plan_sample_size(fit, width=0.3, simulations=0),
        "calibration": bb.calibrate("separate", table, simulations=5, draws=99, progress=False),
        "diagnostics": fit.diagnostics(),
        "rows": fit.loo(),
        "levels": fit.loo(by="word_to_compare"),
        "comparison": bb.compare(
            {"crossed": fit, "separate": bb.fit(table, "separate", draws=250)}, "loo"
        ),
    }


NAMES = [
    *("fit", "without connections", "paired", "overview", "plan", "calibration", "diagnostics"),
    *("rows", "levels", "comparison"),
]


@pytest.mark.parametrize("name", NAMES)
def test_results(results: dict[str, Any], name: str) -> None:
    result = results[name]
    assert isinstance(result.table, pd.DataFrame)
    assert len(result.table)
    assert isinstance(result.summary(), str)
    assert result.summary().strip()
    assert "<" in result._repr_html_()
    latex = result.to_latex()
    lines = latex.splitlines()
    assert lines[0] == r"\begin{table}"
    assert lines[-1] == r"\end{table}"
    assert r"\toprule" in latex
    assert "nan" not in latex
    assert "_" not in latex.replace(r"\_", "")
    widths = {line.count(" & ") for line in lines if line.endswith(r"\\")}
    assert len(widths) <= (2 if name == "overview" else 1)
    if name != "overview":
        assert r"\caption{Ours \& theirs}" in result.to_latex(caption="Ours & theirs")


def test_summaries_lead_with_the_result(results: dict[str, Any]) -> None:
    fit = results["fit"]
    row = fit.contrasts("associated - none").iloc[0]
    wanted = estimate_text(row["mean"], row["lower"], row["upper"])
    first = fit.summary().splitlines()[0]
    assert f"neutral words ({wanted}" in first.replace("89% interval ", "")
    assert "neutral words" in fit._repr_html_().partition("<table")[0]
    assert str(fit.diagnostics()) in fit.summary()
    gap = results["paired"].gap_closed().iloc[0]
    values = f"from {signed(gap['before'], 2)} to {signed(gap['after'], 2)}"
    assert values in results["paired"].summary().splitlines()[0]
    best = results["comparison"].index[0]
    assert results["comparison"].summary().startswith(f"{best} predicts best: LOO")
    paired = results["paired"]
    np.testing.assert_array_equal(paired.draws("theta"), paired.joint.draws("theta"))


def test_criteria_by_row_and_level(results: dict[str, Any]) -> None:
    rows, levels = results["rows"], results["levels"]
    assert list(rows.table.columns) == ["row", "elpd", "pareto_k"]
    assert rows.table["elpd"].sum() == pytest.approx(rows.elpd)
    assert list(levels.table["level"]) == list(levels.labels)
    assert list(results["comparison"].table.columns)[:2] == ["model", "LOO"]


def test_numbers_are_rounded_by_their_interval() -> None:
    frame = pd.DataFrame(
        {
            "word_class": ["a_b", "50% & more"],
            "mean": [-0.15123, 0.00049],
            "sd": [0.0712, 0.0534],
            "lower": [-0.27, -0.0004],
            "upper": [-0.04, 0.085],
            "prob_negative": [0.99987, 0.5],
            "rows": [1200, 3],
            "note": [None, "x"],
        }
    )
    lines = frame_to_latex(frame, "50%", label="tab:one", titles={"rows": "n"}).splitlines()
    assert lines[1:3] == [r"\caption{50\%}", r"\label{tab:one}"]
    assert lines[3].endswith(r"{\begin{tabular}{lrrrrl}")  # scaled to fit, as it is wide
    assert r"\resizebox" in lines[3]
    assert lines[-2] == r"\end{tabular}}"
    assert lines[5] == r"word class & mean & sd & prob negative & n & note \\"
    assert lines[7] == (r"a\_b & $-0.151$ [$-0.270$, $-0.040$] & 0.071 & $>0.99$ & 1,200 &  \\")
    assert lines[8] == r"50\% \& more & 0.000 [0.000, 0.085] & 0.053 & 0.50 & 3 & x \\"
    wide = frame.iloc[:1].assign(change=3.0, change_lower=1.0, change_upper=40.0)
    assert "3 [1, 40]" in frame_to_latex(wide)
    missing = pd.DataFrame({"mean": [1.0, 2.0], "lower": [0.5, np.nan], "upper": [1.5, np.nan]})
    assert frame_to_latex(missing).splitlines()[4:6] == [r"1.0 [0.5, 1.5] \\", r"2.0 \\"]


def test_thousands_have_no_space_in_negative_numbers() -> None:
    assert "$-7{,}293$" in frame_to_latex(pd.DataFrame({"WAIC": [-7293.0, 12.0]}))


def test_only_tables_that_may_not_fit_are_scaled_or_broken_over_pages() -> None:
    narrow = pd.DataFrame({"word": ["imam"] * 45, "mean": 0.5})
    assert "resizebox" not in frame_to_latex(narrow, "Words")
    assert r"\begin{table}" in frame_to_latex(narrow, "Words")
    long = frame_to_latex(pd.concat([narrow, narrow]), "Words", label="tab:words")
    assert long.count(r"\begin{longtable}{lr}") == long.count(r"\caption{Words}") == 1
    assert long.count(r"\label{tab:words}") == 1
    assert r"\begin{table}" not in long


@needs_latex
def test_latex_compiles_wide_and_long_tables(tmp_path: Path) -> None:
    texts = [f"{name}: {'all of it, ' * 5}" for name in "ab"]
    wide = pd.DataFrame(dict.fromkeys(("α", "one", "two", "three"), texts)).iloc[:, 1:]
    rows = {"word": ["imam_%&#^~\\{}[*<>−–×→≤≥∞…é"] * 90, "n": -12345}
    interval = {"mean": -0.5, "lower": -0.9, "upper": -0.1}
    long = pd.DataFrame({**rows, **interval})
    tables = [frame_to_latex(wide, "50%"), frame_to_latex(long, "Words", label="tab:words")]
    assert not complaints(tables, tmp_path)
    assert r"\begin{longtable}" in tables[1]


def test_escape() -> None:
    assert escape(r"\x{y}^~#$−") == (
        r"\textbackslash{}x\{y\}\textasciicircum{}\textasciitilde{}\#\$$-$"
    )


def test_summaries_say_which_contrasts_are_at_equal_covariates() -> None:
    table = simulated_table()
    number = table["word_to_compare"].astype("category").cat.codes.astype(float)
    fit = bb.fit(table.assign(size=number), "crossed", covariates=["size"], draws=100, seed=1)
    first, second, *_ = fit.summary().splitlines()
    assert first.startswith("At equal 'size': ")
    assert second.startswith("As observed: ")


def test_built_in_covariates_are_named_in_words() -> None:
    table = simulated_table()
    code = table["word_to_compare"].astype("category").cat.codes.astype(float)
    made = table.assign(log_frequency=-np.log1p(code), norm=np.sin(code))
    fit = bb.fit(made, "crossed", covariates=["log_frequency", "norm"], draws=100, seed=1)
    assert fit.summary().startswith("At equal frequency and vector norm: ")
