from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from drawn import assert_apart, marks

import bayesbias as bb
from bayesbias.errors import DataError


def test_lines_and_marks_are_those_of_the_table() -> None:
    table = bb.embeddings.similarity_spread(["demo", "demo-100d"], pairs=500)
    ax = bb.plot_dimensionality(table)
    for line, name in zip(ax.lines, ("uniform points", "random directions"), strict=True):
        rows = table[table["points"] == name]
        np.testing.assert_allclose(line.get_xdata(), rows["dim"])
        np.testing.assert_allclose(line.get_ydata(), rows["sd"])
        assert line.get_label() == name
    words = table[table["points"].str.startswith("demo")]
    np.testing.assert_allclose(marks(ax), words[["dim", "sd"]])
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert_apart(ax)


def test_embeddings_alone() -> None:
    ax = bb.plot_dimensionality(bb.embeddings.similarity_spread("demo", dimensions=[], pairs=500))
    assert ax.get_legend() is None
    assert [text.get_text() for text in ax.texts] == ["demo"]


def test_bad_input() -> None:
    with pytest.raises(DataError, match="no column 'sd'"):
        bb.plot_dimensionality(pd.DataFrame({"points": ["a"], "dim": [2]}))
