from __future__ import annotations

import numpy as np
import pandas as pd
from drawn import assert_apart, ends, marks, names

from bayesbias.plots import plot_embeddings

OTHERS = {"associated - none": "neutral words", "associated - human": "human words"}


def differences() -> pd.DataFrame:
    """Return contrasts of two embeddings and their difference, without those at equal frequency."""
    rng = np.random.default_rng(0)
    rows = [
        (contrast, one, other)
        for contrast in OTHERS
        for one, other in (("demo", ""), ("demo-100d", ""), ("demo", "demo-100d"))
    ]
    table = pd.DataFrame(rows, columns=["contrast", "embedding", "second"])
    table["mean"] = rng.uniform(0.05, 0.2, len(table))
    table["lower"], table["upper"] = table["mean"] - 0.03, table["mean"] + 0.03
    return table.assign(equal_mean=np.nan, equal_lower=np.nan, equal_upper=np.nan)


def test_embeddings_and_their_differences() -> None:
    table = differences()
    ax = plot_embeddings(table, OTHERS, prob=0.89)
    assert names(ax) == ["demo", "demo-100d", "demo minus demo-100d"] * 2
    assert [text.get_text() for text in ax.texts] == list(OTHERS.values())
    drawn = marks(ax)
    order = np.argsort(drawn[:, 1])
    np.testing.assert_allclose(drawn[order, 0], table["mean"])
    np.testing.assert_allclose(np.sort(ends(ax)[:, 0]), np.sort(table["lower"]))
    # No difference is on the axis, and labelled, however far the intervals are from it.
    low, high = ax.get_xlim()
    shown = [tick for tick in ax.get_xticks() if low <= tick <= high]
    assert min(map(abs, shown)) < 1e-12
    legend = ax.get_legend()
    assert legend is not None
    assert len(legend.get_texts()) == 2
    assert_apart(ax)


def test_differences_at_equal_frequency_are_below() -> None:
    table = differences()
    for name in ("mean", "lower", "upper"):
        table[f"equal_{name}"] = table[name] - 0.01
    ax = plot_embeddings(table, OTHERS, prob=0.89)
    drawn = marks(ax)
    order = np.argsort(drawn[:, 1])
    both = table[["mean", "equal_mean"]].to_numpy().ravel()
    np.testing.assert_allclose(drawn[order, 0], both)
    ends_of_both = table[["lower", "equal_lower"]].to_numpy().ravel()
    np.testing.assert_allclose(np.sort(ends(ax)[:, 0]), np.sort(ends_of_both))
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_texts()[-1].get_text() == "at equal frequency"
    assert_apart(ax)
