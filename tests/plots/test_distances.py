from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import DataError, SpecError
from bayesbias.plots.style import CONNECTION_STYLES


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table(demo: bb.Embedding) -> pd.DataFrame:
    return bb.distance_table(demo, bb.load_study("gender"))


def test_every_distance_is_a_dot_and_every_mean_a_mark(table: pd.DataFrame) -> None:
    ax = bb.plot_distances(table)
    dots = np.concatenate([np.asarray(c.get_offsets())[:, 0] for c in ax.collections])
    np.testing.assert_allclose(np.sort(dots), np.sort(table["cosine_distance"]))
    means = table.groupby("connection", observed=True)["cosine_distance"].mean()
    marks = [line.get_xdata()[0] for line in ax.lines]
    np.testing.assert_allclose(sorted(marks), sorted(means))
    assert [t.get_text() for t in ax.get_yticklabels()][-1] == "associated stereotypes"


def test_one_group_on_given_axes(table: pd.DataFrame) -> None:
    _, ax = plt.subplots()
    assert bb.plot_distances(table, group="man", ax=ax) is ax
    count = sum(len(c.get_offsets()) for c in ax.collections)
    assert count == (table["protected_group"] == "man").sum()
    with pytest.raises(DataError, match="no group 'men' in the table; there are man, woman"):
        bb.plot_distances(table, group="men")


@pytest.mark.parametrize(
    "kinds", [["associated", "different"], ["none", "different", "associated"], ("human",)]
)
def test_without_some_or_all_controls(table: pd.DataFrame, kinds: list[str]) -> None:
    ax = bb.plot_distances(table, connections=kinds)
    dots = np.concatenate([np.asarray(c.get_offsets())[:, 0] for c in ax.collections])
    wanted = table.loc[table["connection"].isin(kinds), "cosine_distance"]
    np.testing.assert_allclose(np.sort(dots), np.sort(wanted))
    # In the usual order, from the top, whatever the order asked for.
    order = [style.label for name, style in CONNECTION_STYLES.items() if name in kinds]
    assert [t.get_text() for t in ax.get_yticklabels()] == order[::-1]


def test_connections_that_are_not_there(table: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match="'connections' is 'assoc'.*Did you mean 'associated'?"):
        bb.plot_distances(table, connections=["assoc"])
    with pytest.raises(SpecError, match="'connections' is the string 'human'; expected a list"):
        bb.plot_distances(table, connections="human")
    with pytest.raises(DataError, match="no rows of 'human' in the table"):
        bb.plot_distances(table[table["connection"] != "human"], connections=["human"])
    assert plt.get_fignums() == []


def test_labels_do_not_overlap(table: pd.DataFrame) -> None:
    ax = bb.plot_distances(table)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts] + [
        label.get_window_extent() for label in ax.get_yticklabels()
    ]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_of_very_many_distances_some_are_dots(
    table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bayesbias.plots import distances_plot

    monkeypatch.setattr(distances_plot, "MOST_DOTS", 100)
    ax = bb.plot_distances(table)
    sizes = table["connection"].value_counts()
    for collection, line, text, kind in zip(
        ax.collections, ax.lines, ax.texts, reversed(CONNECTION_STYLES), strict=True
    ):
        own = table.loc[table["connection"] == kind, "cosine_distance"]
        drawn = np.asarray(collection.get_offsets())[:, 0]
        assert len(drawn) == min(100, sizes[kind])
        assert set(drawn) <= set(own)
        assert line.get_xdata()[0] == pytest.approx(own.mean())  # the mean is of all
        assert f"n = {len(own):,}" in text.get_text()
        assert ("100 drawn" in text.get_text()) == (len(own) > 100)
    assert sizes.max() > 100
