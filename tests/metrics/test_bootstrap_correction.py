"""Corrections of bootstrap draws, and what is shown where there is no interval."""

from __future__ import annotations

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning
from bayesbias.metrics.bootstrap_correction import corrected, why_no_interval


def test_stretched_to_the_standard_error_of_a_mean(rng: np.random.Generator) -> None:
    words = rng.normal(size=8)
    weights = rng.dirichlet(np.ones(8), size=200_000)
    draws = corrected(weights @ words, float(words.mean()), [8], (-np.inf, np.inf))
    tail = np.sqrt(8 / 6)  # of 7 degrees of freedom
    error = words.std(ddof=1) / np.sqrt(8)
    assert draws.std() == pytest.approx(error * tail, rel=0.01)
    assert np.median(draws) == pytest.approx(words.mean())


def test_corrected_draws_keep_their_bounds_and_gaps() -> None:
    draws = corrected(np.array([0.1, np.nan, 0.5, 0.9]), 0.05, [3, 3], (0.0, 1.0))
    assert np.isnan(draws).tolist() == [False, True, False, False]
    assert np.nanmin(draws) == 0.0
    wide = corrected(np.array([0.4, 0.5, 0.6]), 0.5, [20], (0, 1), jackknife=0.2)
    assert np.ptp(wide) > np.ptp(corrected(np.array([0.4, 0.5, 0.6]), 0.5, [20], (0, 1)))


@pytest.mark.parametrize(
    ("draws", "value", "reason"),
    [
        ([1.0, 1.0, 1.0, 1.0], 1.0, "all draws of the words give the same value"),
        ([1.0, 1.0, 1.0, 0.5], 1.0, "most draws of the words give the same value"),
        ([0.7, np.nan, np.nan, np.nan], 0.7, "the value is defined for 1 of 4 draws"),
        ([0.8, 0.9, 0.95, 1.0], 0.51, "other weights of the words move the value from 0.51"),
        ([0.4, 0.5, 0.6, 0.7], 0.5, None),
    ],
)
def test_reasons(draws: list[float], value: float, reason: str | None) -> None:
    found = why_no_interval(np.array(draws), value)
    assert found is None if reason is None else str(found).startswith(reason)


def test_no_interval_is_shown_everywhere() -> None:
    embedding = bb.load_embedding("demo")
    query = bb.Query([["he", "his", "man"], ["she", "her", "woman"]], [], ["male", "female"])
    with pytest.warns(BayesBiasWarning, match="1 of 1 values have no interval"):
        table = bb.query_scores(bb.metrics.ClusterTest(n_words=50), query, embedding, draws=20)
    assert table["reason"].item().startswith("no interval: other weights")
    assert table[["lower", "upper"]].isna().all(axis=None)
    ax = bb.plot_scores(table)
    assert "no interval" in {text.get_text() for text in ax.texts}
