from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from simulated import simulated_table

import bayesbias as bb
from bayesbias.errors import SpecError
from bayesbias.plots.style import CONNECTION_STYLES


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    plt.close("all")


def fitted(words: int, draws: int = 100) -> bb.models.PairedFit:
    before = simulated_table(3, words=words)
    rng = np.random.default_rng(1)
    moved = before["connection"].map({"associated": 0.12, "none": -0.02}).fillna(0)
    change = moved.to_numpy() + rng.normal(0, 0.02, len(before))
    after = before.assign(cosine_distance=before["cosine_distance"] + change, embedding="after")
    return bb.fit_paired(before, after, draws=draws, seed=2)


@pytest.fixture(scope="module")
def paired() -> bb.models.PairedFit:
    return fitted(4)


def marks(ax: Axes, connection: str) -> list[np.ndarray]:
    """The open and the filled marks of a connection, by their places."""
    color = CONNECTION_STYLES[connection].color.lower()
    dots = [c for c in ax.collections if isinstance(c, PathCollection)]
    mine = [c for c in dots if to_hex(c.get_edgecolor()[0]) == color]
    return [
        np.asarray(c.get_offsets())
        for c in sorted(mine, key=lambda c: to_hex(c.get_facecolor()[0]) == color)
    ]


def test_marks_are_the_means_before_and_after(paired: bb.models.PairedFit) -> None:
    ax = bb.plot_before_after(paired)
    words = [label.get_text() for label in ax.get_yticklabels()]
    for connection in CONNECTION_STYLES:
        tables = [part for _, part in paired.means().groupby("embedding", sort=False)]
        for table, places in zip(tables, marks(ax, connection), strict=True):
            means = table.query("connection == @connection").set_index("protected_word")
            np.testing.assert_allclose(places[:, 0], means.loc[words, "mean"])
    assert len(words) == 8


def test_lines_are_the_intervals(paired: bb.models.PairedFit) -> None:
    ax = bb.plot_before_after(paired, prob=0.5)
    ends = np.concatenate(
        [[s[:, 0] for s in c.get_segments()] for c in ax.collections if hasattr(c, "get_segments")]
    )
    wanted = paired.means(prob=0.5)[["lower", "upper"]].to_numpy()
    np.testing.assert_allclose(np.sort(ends, axis=0), np.sort(wanted, axis=0))


def test_words_stand_with_their_group_the_nearest_first(paired: bb.models.PairedFit) -> None:
    ax = bb.plot_before_after(paired)
    words = [label.get_text() for label in ax.get_yticklabels()]
    assert [word[:2] for word in words] == ["p0"] * 4 + ["p1"] * 4
    means = paired.means().query("connection == 'associated' and embedding == 'before'")
    ordered = means.set_index("protected_word").loc[words, "mean"]
    assert ordered.iloc[:4].is_monotonic_increasing
    assert ordered.iloc[4:].is_monotonic_increasing
    assert [text.get_text() for text in ax.texts] == ["g0", "g1"]
    # The first word is at the top.
    assert ax.yaxis_inverted()


def test_groups(paired: bb.models.PairedFit) -> None:
    ax = bb.plot_before_after(paired, by="protected_group")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["g0", "g1"]
    effects = paired.effects(by="protected_group").query("connection == 'associated'")
    before, after = marks(ax, "associated")
    np.testing.assert_allclose(before[:, 0], effects["before"])
    np.testing.assert_allclose(after[:, 0], effects["after"])


def test_covariates_have_a_panel_each() -> None:
    before = simulated_table(3)
    rng = np.random.default_rng(1)
    number = before["word_to_compare"].astype("category").cat.codes
    before["log_frequency"] = np.log(1.0 + number)
    change = rng.normal(0.02, 0.02, len(before))
    after = before.assign(cosine_distance=before["cosine_distance"] + change)
    paired = bb.fit_paired(before, after, covariates=["log_frequency"], draws=30, seed=2)
    left = bb.plot_before_after(paired)
    panels = left.figure.axes
    assert panels[0] is left
    words = [label.get_text() for label in left.get_yticklabels()]
    texts = ("as observed", "at equal frequency")
    for ax, kind, text in zip(panels, ("as observed", "equal"), texts, strict=True):
        assert ax.get_xlabel().startswith(f"expected cosine distance {text},\n89% intervals")
        means = paired.means().query("covariates == @kind and connection == 'associated'")
        for when, places in zip(("before", "after"), marks(ax, "associated"), strict=True):
            wanted = means[means["embedding"] == when].set_index("protected_word")["mean"]
            np.testing.assert_allclose(places[:, 0], wanted.loc[words])
        alone = bb.plot_before_after(paired, covariates=kind)
        assert len(alone.figure.axes) == 1
        assert alone.get_xlabel().startswith(f"expected cosine distance {text}, 89% intervals")
    assert not panels[1].texts
    left.figure.canvas.draw()
    labels = [ax.xaxis.get_label().get_window_extent() for ax in panels]
    assert not labels[0].overlaps(labels[1])
    _, given = plt.subplots()
    assert bb.plot_before_after(paired, covariates="equal", ax=given) is given
    with pytest.raises(SpecError, match="drawn in two panels, and 'ax' is one; add covariates='eq"):
        bb.plot_before_after(paired, ax=given)
    with pytest.raises(SpecError, match="'covariates' is 'observed'"):
        bb.plot_before_after(paired, covariates="observed")  # type: ignore[arg-type]


def test_covariates_need_a_model_with_them(paired: bb.models.PairedFit) -> None:
    with pytest.raises(SpecError, match="'covariates' is 'equal', and the model has none"):
        bb.plot_before_after(paired, covariates="equal")


@pytest.mark.slow
def test_given_axes_and_a_whole_result(paired: bb.models.PairedFit, demo: bb.Embedding) -> None:
    _, ax = plt.subplots()
    assert bb.plot_before_after(paired, ax=ax) is ax
    debiaser = bb.debias.HardDebias().fit(demo)
    result = bb.before_after(
        demo, debiaser, bb.load_study("weat_7"), draws=30, metrics="mac", residual=(),
        similarity=(), analogies=(),
    )  # fmt: skip
    assert len(bb.plot_before_after(result).get_yticklabels()) == 16
    assert {"Mathematics", "Arts"} <= {
        text.get_text() for text in bb.plot_before_after(result).texts
    }
    with pytest.raises(SpecError, match="no distance changed"):
        bb.plot_before_after(replace(result, paired=None))
    with pytest.raises(SpecError, match="'result' is a DataFrame; expected what before_after"):
        bb.plot_before_after(result.table)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'by' is 'word'"):
        bb.plot_before_after(paired, by="word")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("words", [7, 50])
def test_labels_do_not_overlap(words: int) -> None:
    ax = bb.plot_before_after(fitted(words, draws=30))
    ax.figure.canvas.draw()
    labels = [*ax.get_yticklabels(), *ax.texts]
    boxes = [label.get_window_extent() for label in labels]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])
    legend = ax.get_legend()
    assert legend is not None
    ticks = [t.label2 for t in ax.xaxis.get_major_ticks() if t.label2.get_visible()]
    assert bool(ticks) == (words == 50)
    for tick in ticks:
        assert not legend.get_window_extent().overlaps(tick.get_window_extent())
    # All of it is inside the figure.
    whole = ax.figure.bbox
    for box in [*boxes, legend.get_window_extent()]:
        assert whole.x0 <= box.x0
        assert box.y1 <= whole.y1
