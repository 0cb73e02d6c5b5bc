from __future__ import annotations

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import assert_apart, ends, marks, names, simulated_table

import bayesbias as bb
from bayesbias.errors import DataError, SpecError


@pytest.fixture(scope="module")
def comparison() -> pd.DataFrame:
    table = simulated_table(3)
    models = ["baseline", "connection", "crossed"]
    fits = {name: bb.fit(table, name, engine="exact", draws=200) for name in models}
    with warnings.catch_warnings(action="ignore"):  # a table so small leaves WAIC in doubt
        return bb.compare(fits)


@pytest.mark.parametrize("criterion", ["WAIC", "LOO"])
def test_differences_with_their_errors_the_best_on_top(
    comparison: pd.DataFrame, criterion: str
) -> None:
    table = comparison.rename(columns=lambda name: name.replace("WAIC", criterion))
    ax = bb.plot_comparison(table.iloc[::-1])  # whatever the order of the rows
    assert names(ax) == list(table.index)
    assert ax.yaxis_inverted()
    np.testing.assert_allclose(marks(ax), np.column_stack([table[f"d{criterion}"], range(3)]))
    worse, error = table[f"d{criterion}"].iloc[1:], table["dSE"].iloc[1:]
    np.testing.assert_allclose(ends(ax), np.column_stack([worse - error, worse + error]))
    assert [line.get_xdata()[0] for line in ax.lines] == [0]
    best, second, _ = [text.get_text() for text in ax.texts]
    assert best.startswith(f"best: {criterion} −")
    assert second == f"{worse.iloc[0]:.0f} ± {error.iloc[0]:.0f}"
    assert f"difference in {criterion}" in ax.get_xlabel()
    assert_apart(ax)


def test_small_differences_have_a_decimal_and_one_model_is_enough() -> None:
    table = pd.DataFrame(
        {"LOO": [-101.2, -100], "SE": [9, 8], "dLOO": [0, 1.24], "dSE": [np.nan, 2.06]},
        index=["a model with a name that is long enough for two lines", "b"],
    )
    ax = bb.plot_comparison(table)
    assert ax.texts[1].get_text() == "1.2 ± 2.1"
    assert "\n" in names(ax)[0]
    assert_apart(ax)
    assert_apart(bb.plot_comparison(table.iloc[:1]))


def test_errors(comparison: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match=r"'comparison' is a dict; expected the table of compare"):
        bb.plot_comparison({})  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"'comparison' has no column 'dSE'"):
        bb.plot_comparison(comparison.drop(columns="dSE"))
    with pytest.raises(DataError, match="'comparison' has neither WAIC nor LOO"):
        bb.plot_comparison(comparison.drop(columns="dWAIC"))
    with pytest.raises(DataError, match="'comparison' has no rows"):
        bb.plot_comparison(comparison.iloc[:0])
    assert plt.get_fignums() == []


def test_given_axes(comparison: pd.DataFrame) -> None:
    figure, (left, _) = plt.subplots(1, 2)
    assert bb.plot_comparison(comparison, ax=left) is left
    assert plt.get_fignums() == [figure.number]
