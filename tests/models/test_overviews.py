from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias._core.latex import escape
from bayesbias.errors import SpecError


@pytest.fixture(scope="module")
def fits(demo: bb.Embedding) -> dict[str, bb.models.Fit]:
    return {
        name: bb.fit(bb.distance_table(demo, name), "separate", draws=250, seed=1)
        for name in ("religion", "gender")
    }


def test_a_column_is_the_overview_of_its_fit(fits: dict[str, bb.models.Fit]) -> None:
    found = bb.overviews(fits, kind="eti", rope=0.02)
    for name, fit in fits.items():
        alone = bb.overview(fit, kind="eti", rope=0.02)
        assert found.table[name].tolist() == alone.table["answer"].tolist()
        np.testing.assert_array_equal(
            found.probabilities[name].astype(float), alone.table["probability"]
        )
        contrasts = found.contrasts.query("data_set == @name").drop(columns="data_set")
        pd.testing.assert_frame_equal(contrasts.reset_index(drop=True), alone.contrasts)


def test_rows_about_what_moved_are_empty_without_a_fit_before(
    fits: dict[str, bb.models.Fit],
) -> None:
    found = bb.overviews(fits, before={"gender": fits["gender"]})
    assert list(found.table.index)[-2:] == ["General H moved closer to A", "General N moved closer"]
    shown = found.formatted().loc["General N moved closer"]
    assert shown["religion"] == ""
    assert shown["gender"].startswith("no (0.")


def test_what_a_result_offers(fits: dict[str, bb.models.Fit]) -> None:
    found = bb.overviews({"a_b & 5%": fits["religion"], "c": fits["gender"]})
    assert "D closer than A" in str(found)
    assert "associated - none" in found.summary()
    assert found._repr_html_().count("<tr") == len(found.table) + 1
    latex = found.to_latex(caption="Ours & theirs")
    assert r"a\_b \& 5\%" in latex
    assert r"\caption{Ours \& theirs}" in latex
    assert len(re.findall(r"(?<!\\)%", latex)) == 0


def test_probabilities_and_rules_are_shown_everywhere(fits: dict[str, bb.models.Fit]) -> None:
    found = bb.overviews(fits)
    shown = found.formatted()
    assert list(shown.columns) == ["religion", "gender", "meaning"]
    for name in fits:
        answer = found.table.loc["H closer than A", name]
        probability = found.probabilities.loc["H closer than A", name]
        assert shown.loc["H closer than A", name] == f"{answer:.2f}% ({probability:.1f}%)"
        assert re.fullmatch(r"\d+\.\d\d%", shown.loc["A close to N", name])
    for cell in shown.loc["H closer than A"]:
        assert cell in " ".join(str(found).split())
    for rule in shown["meaning"]:
        assert rule in " ".join(found.summary().split())
        assert html.escape(rule, quote=False) in found._repr_html_()
        assert escape(rule) in found.to_latex()
    assert r"p{0.6\linewidth}" in found.to_latex()


def test_bad_input(fits: dict[str, bb.models.Fit]) -> None:
    with pytest.raises(SpecError, match="'fits' is a list"):
        bb.overviews(list(fits.values()))  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'fits' is empty"):
        bb.overviews({})
    with pytest.raises(SpecError, match="'fits' has a str for 'a'"):
        bb.overviews({"a": "fit"})  # type: ignore[dict-item]
    with pytest.raises(SpecError, match="Did you mean 'gender'"):
        bb.overviews(fits, before={"gendr": fits["gender"]})
    with pytest.raises(SpecError, match="'fits' has the name 'meaning'"):
        bb.overviews({"meaning": fits["gender"]})
