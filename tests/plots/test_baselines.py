"""Every figure beside a picture of it that was looked at once.

Text is left out of the pictures, and the axes have a fixed place: fonts are drawn a little
differently by each version of matplotlib, and the rest is drawn the same. What is written, and that
it does not overlap, is tested beside the data.

After a change that is meant, look at the figures and write the pictures again:

    BAYESBIAS_WRITE_BASELINES=1 python -m pytest tests/plots/test_baselines.py
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import grown, handmade, ranked, simulated_table, without_bias
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Rectangle, StepPatch
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text

import bayesbias as bb

BASELINE = Path(__file__).parent / "baseline"
WRITE = os.environ.get("BAYESBIAS_WRITE_BASELINES") == "1"
# The root of the mean square difference of the colours, from 0 to 255. There is none between
# matplotlib 3.9 and 3.11; a mark that moves by a few pixels makes 1 or more.
TOLERANCE = 0.5


def table() -> pd.DataFrame:
    return simulated_table(3, groups=2, words=3, controls=12)


def before_after() -> Axes:
    before = table()
    after = before.assign(cosine_distance=before["cosine_distance"] * 0.9 + 0.1)
    both = pd.concat([before.assign(embedding="before"), after.assign(embedding="after")])
    return bb.plot_before_after(bb.models.PairedFit(handmade(both, "embeddings"), ("a", "b")))


def comparison() -> Axes:
    frame = pd.DataFrame(
        {
            "WAIC": [-310, -280, -190],
            "SE": [9, 8, 9],
            "dWAIC": [0, 30, 120],
            "dSE": [np.nan, 21, 14],
        },
        index=["crossed", "separate", "baseline"],
    )
    return bb.plot_comparison(frame)


def influence() -> Axes:
    values = [0.4, -0.31, 0.3, 0.22, -0.1, 0.05]
    frame = pd.DataFrame(
        {"word_set": ["target: a", "attribute: c", "target: b"] * 2, "word": list("uvwxyz"),
         "value_without": 0.0, "influence": values}
    )  # fmt: skip
    return bb.plot_influence(frame)


def rank_probabilities() -> Axes:
    rng = np.random.default_rng(3)
    draws = pd.DataFrame(rng.normal([1.0, 0.6, 0.8], 0.15, (400, 3)), columns=list("abc"))
    scores = pd.Series([1.0, 0.6, 0.8], index=list("abc"))
    return bb.plot_rank_probabilities(
        bb.rankings.RankPosterior("weat", "abs_avg", ("q",), (), scores, draws, 0.89)
    )


def rank_correlations() -> Axes:
    values = [[1, 0.5, -0.8], [0.5, 1, np.nan], [-0.8, np.nan, 1]]
    return bb.plot_rank_correlations(pd.DataFrame(values, index=list("abc"), columns=list("abc")))


def ranking() -> Axes:
    ranks = pd.DataFrame({"m": [1, 3, 2], "n": [2, 3, 1], "o": [1, 2, 3]}, index=list("abc"))
    return bb.plot_ranking(ranks)


def by_word() -> Axes:
    frame = pd.DataFrame(
        {"word": list("uvwx"), "value": [-0.6, -0.1, 0.2, 0.7], "lower": [-0.9, -0.5, -0.2, 0.3],
         "upper": [-0.2, 0.3, 0.5, 1.1]}
    )  # fmt: skip
    return bb.plot_by_word(frame)


def dimensionality() -> Axes:
    points = ["uniform points"] * 3 + ["random directions"] * 3 + ["old", "new"]
    sizes = [2, 20, 200, 2, 20, 200, 50, 100]
    spread = [0.19, 0.07, 0.02, 0.71, 0.22, 0.07, 0.2, 0.15]
    return bb.plot_dimensionality(pd.DataFrame({"points": points, "dim": sizes, "sd": spread}))


def projections() -> Axes:
    frame = pd.DataFrame(
        {"word": list("uvwx"), "word_set": ["a", "a", "b", "b"], "x": [0.3, -0.2, 0.1, 0.4],
         "y": [-0.1, 0.2, 0.3, -0.4]}
    )  # fmt: skip
    frame.attrs["labels"] = {"x": "he − she", "y": "rich − poor"}
    return bb.plot_projections(frame)


def extremes() -> bb.metrics.ProjectionExtremes:
    """Forty words of two lists on an axis, and two of each end."""
    values = pd.DataFrame(
        {"word": [f"word {i}" for i in range(40)], "word_set": ["a", "b"] * 20,
         "projection": np.sin(np.arange(40.0)) / 2}
    )  # fmt: skip
    order = values["projection"].argsort().to_numpy()
    table = values.iloc[[order[-1], order[-2], order[0], order[1]]].reset_index(drop=True)
    table.insert(0, "side", ["he", "he", "she", "she"])
    table["lower"], table["upper"] = table["projection"] - 0.2, table["projection"] + 0.1
    table["prob_extreme"] = 0.9
    label, ends = "he − she and 3 more", ("he", "she")
    return bb.metrics.ProjectionExtremes("old", label, ends, 4, values, table, 0.89)


def projection_extremes() -> Axes:
    return bb.plot_projection_extremes(extremes())


def projection_distribution() -> Axes:
    return bb.plot_projection_distribution(extremes(), labels=1)


def scores() -> Axes:
    value = np.array([0.9, 0.4, -0.3, 0.1, 1.4, np.nan])
    frame = pd.DataFrame(
        {"metric": "weat_es", "query": np.repeat(["first", "second", "third"], 2),
         "embedding": ["old", "new"] * 3, "value": value, "lower": value - 0.4,
         "upper": value + 0.3}
    )  # fmt: skip
    return bb.plot_scores(frame)


def silhouettes() -> Axes:
    ax = bb.plot_silhouettes(grown(["old", "new"]))
    for legend in ax.findobj(Legend):
        legend.remove()
    return ax


def silhouette_convergence() -> Axes:
    ax = bb.plot_silhouette_convergence(grown(["old", "new"]))
    return ax


def silhouette_grid() -> Axes:
    several = [grown("ab"), grown("ab", metric="mac", seed=1)]
    figure = bb.plot_silhouette_grid(several, whole_range=False)[0, 0].figure
    for legend in figure.legends[:]:
        legend.remove()
    return figure.axes[1]


def word_map() -> Axes:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(24, 2)), columns=["x", "y"])
    frame = frame.assign(embedding="old", word="w", side=["a", "b"] * 12)
    [ax] = bb.plot_word_map(frame)
    ax.figure.legends[0].remove()
    return ax


FIGURES: dict[str, Callable[[], Axes]] = {
    "before_after": before_after,
    "by_word": by_word,
    "calibration": lambda: bb.plot_calibration(ranked(spread=0.6))[1],
    "coefficients": lambda: bb.plot_coefficients(handmade(table())),
    "comparison": comparison,
    "densities": lambda: bb.plot_densities(table()),
    "dimensionality": dimensionality,
    "distances": lambda: bb.plot_distances(table()),
    "influence": influence,
    "means": lambda: bb.plot_means(handmade(table())),
    "model": lambda: bb.plot_model("crossed"),
    "null_distribution": lambda: bb.plot_null_distribution(without_bias("splits", "words")),
    "predictive_check": lambda: bb.plot_predictive_check(handmade(table()), draws=50),
    "priors": lambda: bb.plot_priors("connection")[1],
    "projections": projections,
    "projection_extremes": projection_extremes,
    "projection_distribution": projection_distribution,
    "rank_correlations": rank_correlations,
    "rank_probabilities": rank_probabilities,
    "ranking": ranking,
    "scores": scores,
    "silhouette_convergence": silhouette_convergence,
    "silhouette_grid": silhouette_grid,
    "silhouettes": silhouettes,
    "word": lambda: bb.plot_word(table(), "p00", labels=0),
    "word_map": word_map,
}


@pytest.fixture(autouse=True)
def same_look() -> Iterator[None]:
    with plt.style.context("default"):
        yield


def drawn(name: str) -> Axes:
    """The figure, alone and without its text."""
    ax = FIGURES[name]()
    figure = ax.figure
    assert isinstance(figure, Figure)
    figure.set_layout_engine("none")
    for other in figure.axes:
        other.set_visible(other is ax)
    figure.set_size_inches(4.5, 4)
    ax.set_position((0.02, 0.06, 0.96, 0.92))
    if ax.get_legend() is not None:
        ax.get_legend().remove()
    for text in figure.findobj(Text):
        text.set_visible(False)
    return ax


def saved(ax: Axes, path: Path) -> str:
    ax.figure.savefig(path, dpi=60, facecolor="white", metadata={"Software": None})
    return str(path)


@pytest.mark.parametrize("name", FIGURES)
def test_looks_as_it_did(name: str, tmp_path: Path) -> None:
    picture = BASELINE / f"{name}.png"
    if WRITE:
        saved(drawn(name), picture)
    actual = saved(drawn(name), tmp_path / f"{name}.png")
    assert compare_images(str(picture), actual, TOLERANCE) is None
    assert picture.stat().st_size < 25_000


def move_something(ax: Axes) -> None:
    """Move one mark by a fiftieth of the figure, or change one bar, cell or curve by as little."""
    for artist in (*ax.collections, *ax.patches, *ax.lines):
        if isinstance(artist, PathCollection) and len(artist.get_offsets()):
            places = ax.transData.transform(np.array(artist.get_offsets()))
            places[0, 0] += 0.02 * ax.figure.bbox.width
            return artist.set_offsets(ax.transData.inverted().transform(places))
        if isinstance(artist, QuadMesh):
            values = artist.get_array().copy()
            values.flat[0] -= 0.05
            return artist.set_array(values)
        if isinstance(artist, PolyCollection):
            places = ax.transData.transform(artist.get_paths()[0].vertices)
            places[:, 0] += 0.02 * ax.figure.bbox.width
            return artist.set_paths([ax.transData.inverted().transform(places)])
        if isinstance(artist, StepPatch):
            return artist.set_data(np.roll(artist.get_data().values, 2))
        if isinstance(artist, Line2D):
            return artist.set_ydata(np.roll(artist.get_ydata(), 2))
        if isinstance(artist, Rectangle | FancyBboxPatch):
            return artist.set_width(0.95 * artist.get_width())
    raise AssertionError("nothing to move")


@pytest.mark.parametrize("name", FIGURES)
def test_a_change_is_seen(name: str, tmp_path: Path) -> None:
    ax = drawn(name)
    move_something(ax)
    actual = saved(ax, tmp_path / f"{name}.png")
    found = compare_images(str(BASELINE / f"{name}.png"), actual, TOLERANCE)
    assert found is not None
    assert "did not match" in found


def test_every_figure_has_a_picture() -> None:
    public = {name.removeprefix("plot_") for name in bb.__all__ if name.startswith("plot_")}
    assert set(FIGURES) == public
    assert {path.stem for path in BASELINE.glob("*.png")} >= set(FIGURES)
