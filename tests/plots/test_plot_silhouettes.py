from __future__ import annotations

from dataclasses import replace
from typing import Literal

import drawn
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import grown, marks
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.legend import Legend

import bayesbias as bb
from bayesbias.errors import SpecError
from bayesbias.plots.style import INK

Side = Literal["targets", "attributes"]


@pytest.fixture(scope="module")
def found(demo: bb.Embedding) -> bb.silhouette_analysis.Silhouettes:
    embeddings = [demo, bb.load_embedding("demo-100d")]
    return bb.silhouettes("weat_es", bb.load_query("weat_7"), embeddings, runs=30)


def bands(ax: Axes, color: str) -> list[pd.DataFrame]:
    """The lower and upper edge of each filled band of a colour, by the number of words."""
    result = []
    for filled in ax.collections:
        if isinstance(filled, PolyCollection) and to_hex(filled.get_facecolor()[0]) == color:
            points = pd.DataFrame(filled.get_paths()[0].vertices, columns=["k", "value"])
            result.append(points.groupby("k")["value"].agg(["min", "max"]))
    return result


def legends(ax: Axes) -> list[Legend]:
    return [child for child in ax.get_children() if isinstance(child, Legend)]


def beside(ax: Axes) -> Legend:
    return max(legends(ax), key=lambda legend: legend.get_window_extent().x0)


def written(legend: Legend) -> list[str]:
    return [text.get_text() for text in legend.get_texts()]


def colors(ax: Axes) -> list[str]:
    ax.figure.canvas.draw()
    return [to_hex(line.get_color()) for line in beside(ax).legend_handles]


def assert_apart(ax: Axes) -> None:
    """No label or legend hides another, and all are within the figure."""
    # Without the ticks beyond the ends, which are not drawn.
    low, high = ax.get_ylim()
    ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick <= high])
    drawn.assert_apart(ax, beside(ax).get_texts())
    boxes = [legend.get_window_extent() for legend in legends(ax)]
    assert not any(box.overlaps(ax.get_window_extent()) for box in boxes)


def test_what_is_drawn_is_the_table(found: bb.silhouette_analysis.Silhouettes) -> None:
    ax = bb.plot_silhouettes(found)
    for name, color in zip(found.embeddings, colors(ax), strict=True):
        table = found.table[found.table["embedding"] == name].set_index("k")
        outer, inner = bands(ax, color)
        np.testing.assert_allclose(outer, table[["min", "max"]])
        np.testing.assert_allclose(inner, table[["lower", "upper"]])
        np.testing.assert_array_equal(outer.index, found.sizes)
        lines = [line for line in ax.lines if to_hex(line.get_color()) == color]
        for line, column in zip(lines, ("min", "max", "mean"), strict=True):
            np.testing.assert_array_equal(line.get_xdata(), found.sizes)
            np.testing.assert_allclose(line.get_ydata(), table[column])
        assert [line.get_linestyle() for line in lines] == ["-", "-", "--"]
        np.testing.assert_allclose(marks(ax, color), [[16, found.complete[name]]])
    neutral = next(line for line in ax.lines if list(line.get_xdata()) == [0, 1])
    assert list(neutral.get_ydata()) == [0, 0]
    assert ax.get_xlabel() == "number of target words (16 in all)"
    assert ax.get_ylabel() == "WEAT effect size (0: no bias)"


def test_the_legends_say_what_is_there(found: bb.silhouette_analysis.Silhouettes) -> None:
    ax = bb.plot_silhouettes(found)
    ax.figure.canvas.draw()
    assert written(beside(ax)) == [
        f"{name}\nvalue {found.complete[name]:.2f}, robustness {found.robustness[name]:.2f}"
        for name in ("demo", "demo-100d")
    ]
    explained = ["all 30 runs", "89% of runs", "mean of runs", "all words", "random lists"]
    assert written(ax.get_legend()) == explained
    for band, left_out in (("min-max", 1), ("quantile", 0)):
        ax = bb.plot_silhouettes(found, band=band)
        assert written(ax.get_legend()) == [t for t in explained if t != explained[left_out]]
    ax = bb.plot_silhouettes(replace(found, values=-found.values))  # noqa: PD011
    assert written(beside(ax))[0].startswith("demo\nvalue −1.54, ")


def random_band(found: bb.silhouette_analysis.Silhouettes) -> np.ndarray:
    """The edges of the average band of random lists, sizes × edges."""
    bands = [(random.low, random.high) for random in found.random_lists.values()]
    return np.mean(bands, axis=0).T


def test_the_band_of_random_lists(
    found: bb.silhouette_analysis.Silhouettes, demo: bb.Embedding
) -> None:
    ax = bb.plot_silhouettes(found)
    [chance] = bands(ax, to_hex(INK))
    np.testing.assert_allclose(chance, random_band(found))
    # Its area is the average robustness of random lists.
    area = np.trapezoid(chance["max"] - chance["min"], chance.index) / (4 * 16)
    mean = np.mean([random.robustness for random in found.random_lists.values()])
    assert 1 - area == pytest.approx(mean)
    # Below all else.
    assert all(line.get_zorder() < 1 for line in ax.lines if line.get_color() == INK)
    alone = bb.silhouettes("weat_es", bb.load_query("weat_7"), demo, runs=5, chance=0)
    ax = bb.plot_silhouettes(alone)
    assert bands(ax, to_hex(INK)) == []
    assert "random lists" not in written(ax.get_legend())


@pytest.mark.parametrize(
    ("band", "edges"), [("min-max", ["min", "max"]), ("quantile", ["lower", "upper"])]
)
def test_one_band(found: bb.silhouette_analysis.Silhouettes, band: str, edges: list[str]) -> None:
    ax = bb.plot_silhouettes(found, band=band)
    [drawn] = bands(ax, colors(ax)[1])
    table = found.table[found.table["embedding"] == "demo-100d"]
    np.testing.assert_allclose(drawn, table[edges])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), found.table[edges[0]][: len(found.sizes)])


@settings(max_examples=12)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["both", "min-max", "quantile"]),
    st.booleans(),
    st.floats(0.001, 30),
)
def test_everything_is_within_the_axes(
    seed: int, band: str, whole_range: bool, noise: float
) -> None:
    made = grown(["a", "b"], seed=seed, noise=noise)
    _, ax = plt.subplots()
    assert bb.plot_silhouettes(made, band=band, whole_range=whole_range, ax=ax) is ax
    edges = made.table[["lower", "upper"] if band == "quantile" else ["min", "max"]]
    low, high = ax.get_ylim()
    drawn = edges.to_numpy().min(), edges.to_numpy().max()
    assert low < drawn[0] < drawn[1] < high
    if whole_range:
        drawn = min(drawn[0], -2), max(drawn[1], 2)
        assert low < -2
        assert high > 2
    # Little is left free.
    assert high - low < 1.1 * (drawn[1] - drawn[0])
    left, right = ax.get_xlim()
    assert left < made.sizes[0] < made.sizes[-1] < right
    plt.close("all")


def test_runs_that_all_agree(found: bb.silhouette_analysis.Silhouettes) -> None:
    flat = replace(found, values=np.full_like(found.values, 0.5))
    low, high = bb.plot_silhouettes(flat, whole_range=False).get_ylim()
    assert low < 0.5 < high


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 6, 9])
def test_embeddings_can_be_told_apart(number: int) -> None:
    names = [f"a long name of embedding {i}" for i in range(number)]
    ax = bb.plot_silhouettes(grown(names))
    assert len(legends(ax)) == 2
    ax.figure.canvas.draw()
    looks = {
        (line.get_color(), line.get_marker(), str(line._dash_pattern))
        for line in beside(ax).legend_handles
    }
    assert len(looks) == number
    assert len({color for color, _, _ in looks}) == min(number, 8)
    assert len({dash for _, _, dash in looks}) == min(number, 6)
    # More than two bands of each kind would hide each other.
    filled = [c for c in ax.collections if isinstance(c, PolyCollection)]
    assert len(filled) == (2 * number if number <= 2 else number)
    assert_apart(ax)


def test_few_and_many_words() -> None:
    for sizes, last in ((2, 6), (3000, 6002)):
        ax = bb.plot_silhouettes(grown(["a", "b"], sizes=sizes))
        assert ax.get_xlabel() == f"number of target words ({last:,} in all)"
        assert all(float(tick).is_integer() for tick in ax.get_xticks())
        assert_apart(ax)


@pytest.fixture(scope="module")
def several(demo: bb.Embedding) -> list[bb.silhouette_analysis.Silhouettes]:
    query, both = bb.load_query("weat_7"), [demo, bb.load_embedding("demo-100d")]
    sides: tuple[Side, Side] = ("targets", "attributes")
    return [
        bb.silhouettes(metric, query, both, side=side, runs=10)
        for metric in ("weat_es", "mac", "rnsb_groups")
        for side in sides
    ]


def test_a_single_embedding_has_one_legend(
    several: list[bb.silhouette_analysis.Silhouettes],
) -> None:
    results = [
        bb.silhouettes(
            "weat_es", result.query, bb.load_embedding("demo"), side=result.side, runs=10
        )
        for result in several[:2]
    ]
    axes = bb.plot_silhouette_grid(results)
    assert len(axes[0, 0].figure.legends) == 1
    for ax, found in zip(axes.ravel(), results, strict=True):
        assert legends(ax) == []
        assert [text.get_text() for text in ax.texts] == [
            f"robustness\n{found.robustness.iloc[0]:.2f}"
        ]


def test_grid(several: list[bb.silhouette_analysis.Silhouettes]) -> None:
    axes = bb.plot_silhouette_grid(several)
    assert axes.shape == (3, 2)
    figure = axes[0, 0].figure
    figure.canvas.draw()
    for ax, found in zip(axes.ravel(), several, strict=True):
        names = [f"{r:.2f}" for r in found.robustness]
        [legend] = legends(ax)
        assert written(legend) == names
        assert legend.get_title().get_text() == "robustness"
        color = to_hex(legend.legend_handles[1].get_color())
        own = found.table[found.table["embedding"] == "demo-100d"]
        np.testing.assert_allclose(bands(ax, color)[0], own[["min", "max"]])
        low, high = found.value_range
        assert ax.get_ylim()[0] < low < high < ax.get_ylim()[1]
        assert ax.get_title(loc="left") == ""
    assert [ax.yaxis.label.get_visible() for ax in axes.ravel()] == [True, False] * 3
    assert axes[1, 0].get_ylabel() == "MAC (1: no bias)"
    assert axes[2, 1].get_xlabel() == "number of attribute words (16 in all)"
    above, below = figure.legends
    assert written(above) == ["demo", "demo-100d"]
    explained = ["all 10 runs", "89% of runs", "mean of runs", "all words", "random lists"]
    assert written(below) == explained
    top, bottom = above.get_window_extent(), below.get_window_extent()
    for ax in axes.ravel():
        box = ax.get_tightbbox()
        assert bottom.y1 <= box.y0
        assert box.y1 <= top.y0
        assert box.x1 <= figure.bbox.x1
    for left, right in axes:
        assert left.get_tightbbox().x1 <= right.get_window_extent().x0


def test_grid_of_what_there_is(
    several: list[bb.silhouette_analysis.Silhouettes], demo: bb.Embedding
) -> None:
    [part, _] = bb.load_query("weat_7").subqueries((2, 1))
    ect = bb.silhouettes("ect", part, demo, side="attributes", runs=10, prob=0.5)
    axes = bb.plot_silhouette_grid([several[0], several[1], ect], whole_range=False)
    assert axes.shape == (2, 2)
    assert [ax.get_visible() for ax in axes.ravel()] == [True, True, False, True]
    # Queries differ, so they are named; once in a row, as is the metric.
    titles = [ax.get_title(loc="left") for ax in axes.ravel()]
    wanted = [several[0].query.name, "", "", part.name]
    assert [title.replace("\n", " ") for title in titles] == wanted
    assert axes[1, 1].yaxis.label.get_visible()
    axes[0, 0].figure.canvas.draw()
    assert all(label.get_visible() for label in axes[1, 1].get_yticklabels())
    # An embedding looks the same in each panel; a row has one axis, with the bands of both sides.
    first, last = (legends(ax)[0].legend_handles for ax in (axes[0, 0], axes[1, 1]))
    assert len(first) == 2
    assert [first[0].get_color()] == [line.get_color() for line in last]
    assert axes[0, 0].get_ylim() == axes[0, 1].get_ylim()
    ends = np.concatenate(
        [several[i].table[["min", "max"]].to_numpy().ravel() for i in (0, 1)]
        + [random_band(several[i]).ravel() for i in (0, 1)]
    )
    low, high = axes[0, 0].get_ylim()
    assert low < ends.min() < ends.max() < high
    assert high - low < 1.1 * np.ptp(ends)
    assert "most runs" in written(axes[0, 0].figure.legends[1])


def test_grid_of_many_embeddings() -> None:
    made = grown([f"an embedding of name {i}" for i in range(7)])
    one = bb.plot_silhouette_grid([made])
    assert one.shape == (1, 1)
    figure = one[0, 0].figure
    figure.canvas.draw()
    legend = figure.legends[0].get_window_extent()
    assert legend.x1 <= figure.bbox.x1
    assert one[0, 0].get_tightbbox().y1 <= legend.y0


def test_bad_input(found: bb.silhouette_analysis.Silhouettes) -> None:
    with pytest.raises(SpecError, match=r"'result' is a DataFrame; expected what silhouettes\(\)"):
        bb.plot_silhouettes(found.table)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'band' is 'minmax'; .* Did you mean 'min-max'?"):
        bb.plot_silhouettes(found, band="minmax")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'results' is a Silhouettes; expected a list of what"):
        bb.plot_silhouette_grid(found)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'result' is a str; expected what silhouettes"):
        bb.plot_silhouette_grid("weat")
    with pytest.raises(SpecError, match="'results' is empty; there is nothing to draw"):
        bb.plot_silhouette_grid([])
    with pytest.raises(
        SpecError,
        match="targets of 'Math and Arts .*'weat_es' twice",
    ):
        bb.plot_silhouette_grid([found, found])
    with pytest.raises(SpecError, match="'band' is 'all'; expected one of 'both', 'min-max'"):
        bb.plot_silhouette_grid([found], band="all")  # type: ignore[arg-type]
    assert plt.get_fignums() == []
