"""Figures for narrow screens: no text is cut, none is written over another."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

import bayesbias as bb
from bayesbias.plots import narrow_figures


@pytest.fixture(scope="module")
def fit() -> bb.Fit:
    return bb.fit(bb.distance_table("demo", "religion"), "interaction", draws=100, seed=1)


def silhouettes(fit: bb.Fit) -> Any:
    results = [
        bb.silhouettes("weat_es", "weat_7", "demo", side=side, runs=10, progress=False)
        for side in ("targets", "attributes")
    ]
    return bb.plot_silhouette_grid(results)[0, 0]


def before_after(_: bb.Fit) -> Any:
    after = bb.debias.HardDebias().fit("demo").transform("demo")
    tables = [
        bb.distance_table(one, "weat_7", covariates=["log_frequency"])
        for one in (bb.load_embedding("demo"), after)
    ]
    paired = bb.fit_paired(*tables, covariates=["log_frequency"], draws=100, progress=False)
    left = bb.plot_before_after(paired)
    panels = left.figure.axes
    assert [" ".join(p.get_xlabel().split()).split(",")[0] for p in panels] == [
        "expected cosine distance as observed",
        "expected cosine distance at equal frequency",
    ]
    # One below the other, each with its words and numbers.
    assert panels[0].get_position().y0 > panels[1].get_position().y1
    assert all(label.get_visible() for panel in panels for label in panel.get_yticklabels())
    return left


def comparison(fit: bb.Fit) -> Any:
    other = bb.fit(fit.table, "hierarchical", draws=100, seed=1)
    return bb.plot_comparison(bb.compare({"interaction": fit, "hierarchical": other}))


FIGURES: dict[str, Callable[[bb.Fit], Any]] = {
    "before and after": before_after,
    "distances": lambda fit: bb.plot_distances(fit.table),
    "comparison": comparison,
    "means": lambda fit: bb.plot_means(fit, by="protected_word"),
    "groups": lambda fit: bb.plot_means(fit, by="protected_group"),
    "predictive": lambda fit: bb.plot_predictive_check(fit, draws=20),
    "coefficients": bb.plot_coefficients,
    "silhouettes": silhouettes,
}


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_texts_are_inside_the_figure_and_apart(name: str, fit: bb.Fit) -> None:
    with narrow_figures():
        figure = FIGURES[name](fit).figure
    try:
        assert figure.get_figwidth() == pytest.approx(3.9)
        figure.draw_without_rendering()
        texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
        boxes = {text: text.get_window_extent() for text in texts if text.axes is not None}
        # Tick labels beyond the ends of an axis are not drawn.
        ticks = {
            tick.label1: tick.get_loc()
            for axes in figure.axes
            for axis in (axes.xaxis, axes.yaxis)
            for tick in axis.get_major_ticks()
            if np.clip(tick.get_loc(), *sorted(axis.get_view_interval())) != tick.get_loc()
        }
        drawn = {text: box for text, box in boxes.items() if text not in ticks}
        for text, box in drawn.items():
            assert box.x0 > -2, text
            assert box.x1 < figure.bbox.width + 2, text
        labels = [axes.xaxis.label for axes in figure.axes if axes.get_xlabel()]
        for one, other in combinations(labels, 2):
            assert not one.get_window_extent().overlaps(other.get_window_extent())
    finally:
        plt.close(figure)


def test_figures_are_wide_again_afterwards(fit: bb.Fit) -> None:
    with pytest.raises(RuntimeError), narrow_figures():
        raise RuntimeError
    axes = bb.plot_distances(fit.table)
    assert axes.figure.get_figwidth() > 5
    plt.close(axes.figure)
