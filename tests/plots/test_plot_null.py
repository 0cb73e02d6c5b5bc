"""The figure of a metric without bias: rows, the observed value, p-values."""

from __future__ import annotations

import pytest
from drawn import assert_apart, without_bias

import bayesbias as bb
from bayesbias.errors import DataError, SpecError


def test_one_row_per_null_with_its_p_value() -> None:
    found = without_bias("splits", "words", "simulated")
    ax = bb.plot_null_distribution(found)
    labels = [label.get_text().replace("\n", " ") for label in ax.get_yticklabels()]
    assert labels == [
        "other splits of the target words",
        "random words of the same frequency",
        "simulated unrelated words",
    ]
    texts = [text.get_text() for text in ax.texts]
    assert texts == [f"p = {p:.2g}" for p in found.table["p_value"]]
    assert len(ax.patches) == 3
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["observed: 1.50"]
    assert_apart(ax)


def test_a_row_holds_all_draws_and_the_observed_value() -> None:
    found = without_bias("words", observed=-4.0)
    ax = bb.plot_null_distribution(found)
    low, high = ax.get_xlim()
    assert low <= -4.0
    assert high >= found.draws["words"].max()
    assert len(ax.get_yticks()) == 1


def test_a_null_has_the_same_colour_alone() -> None:
    several = bb.plot_null_distribution(without_bias("splits", "words"))
    alone = bb.plot_null_distribution(without_bias("words"))
    assert several.patches[1].get_facecolor() == alone.patches[0].get_facecolor()


def test_axes_that_are_given_are_used() -> None:
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert bb.plot_null_distribution(without_bias("words"), ax=ax) is ax


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(SpecError, match=r"'result' is a dict.*null_distribution\(\)"):
        bb.plot_null_distribution({})  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no null"):
        bb.plot_null_distribution(without_bias())
