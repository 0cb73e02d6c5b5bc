"""What a notebook shows of an embedding, a fit and a comparison."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from simulated import simulated_table

import bayesbias as bb


@pytest.fixture(scope="module")
def fits() -> dict[str, bb.models.Fit]:
    table = simulated_table(stereotypes=8, controls=20)
    return {
        name: bb.fit(table, name, engine="exact", draws=200, seed=1)
        for name in ("baseline", "connection")
    }


def test_embedding_shows_its_size_and_first_words() -> None:
    embedding = bb.Embedding(["<b>", "tea"], np.eye(2, dtype=np.float32), name="a & b")
    page = embedding._repr_html_()
    assert "a &amp; b" in page
    assert "&lt;b&gt;, tea<" in page
    assert "<b>" not in page


def test_long_vocabularies_are_cut() -> None:
    page = bb.load_embedding("demo")._repr_html_()
    assert "12,187" in page
    assert page.count(", …") == 1


def test_fit_shows_coefficients_and_diagnostics(fits: dict[str, bb.models.Fit]) -> None:
    fit = fits["connection"]
    page = fit._repr_html_()
    for mean in fit.coefficients()["mean"].round(3):
        assert f"<td>{mean:.3f}</td>" in page
    assert "No problem found." in page


def test_comparison_is_a_frame_that_shows_itself_rounded(fits: dict[str, bb.models.Fit]) -> None:
    found = bb.compare(fits, "loo")
    assert type(found.round()) is pd.DataFrame
    pd.testing.assert_frame_equal(pd.DataFrame(found), found, check_frame_type=False)
    page = found._repr_html_()
    assert f"<td>{found['LOO'].iloc[0]:,.1f}</td>" in page
    assert "nan" not in page.lower()
