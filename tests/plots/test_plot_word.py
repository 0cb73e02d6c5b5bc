from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import assert_apart, marks
from matplotlib.axes import Axes
from matplotlib.collections import Collection

import bayesbias as bb
from bayesbias.errors import DataError, SpecError
from bayesbias.plots.style import CONNECTION_STYLES

KINDS = list(CONNECTION_STYLES)


@pytest.fixture(scope="module")
def table(demo: bb.Embedding) -> pd.DataFrame:
    return bb.distance_table(demo, bb.load_study("religion"))


def invented(
    counts: list[int], seed: int = 0, length: int = 0, spread: tuple[float, float] = (0.3, 1.4)
) -> pd.DataFrame:
    """One word with so many attributes of each kind."""
    rng = np.random.default_rng(seed)
    rows = [
        (
            "imam",
            f"{kind[:3]}{i}" + "_abcdefgh" * length,
            f"{kind}_words",
            rng.uniform(*spread),
            kind,
        )
        for kind, count in zip(KINDS, counts, strict=True)
        for i in range(count)
    ]
    columns = ["protected_word", "word_to_compare", "word_class", "cosine_distance", "connection"]
    return pd.DataFrame(rows, columns=columns).assign(protected_group="muslim")


def named(ax: Axes, table: pd.DataFrame) -> list[str]:
    words = set(table["word_to_compare"])
    return [text.get_text() for text in ax.texts if text.get_text() in words]


def large(ax: Axes) -> list[Collection]:
    """The marks of words that have their names beside them."""
    return [c for c in ax.collections if c.get_sizes().max() > 20 and len(c.get_offsets())]


def test_every_attribute_is_as_far_from_the_middle_as_from_the_word(table: pd.DataFrame) -> None:
    ax = bb.plot_word(table, "muslim")
    own = table[table["protected_word"] == "muslim"]
    for number, kind in enumerate(KINDS):
        places = marks(ax, CONNECTION_STYLES[kind].color)
        wanted = own.loc[own["connection"] == kind, "cosine_distance"]
        np.testing.assert_allclose(np.sort(np.hypot(*places.T)), np.sort(wanted))
        # In its quarter, clockwise from the top.
        turn = np.arctan2(places[:, 0], places[:, 1]) % (2 * np.pi)
        assert (turn // (np.pi / 2) == number).all()
    assert ax.get_aspect() == 1
    rings = sorted(patch.get_radius() for patch in ax.patches)
    assert rings == [0.25, 0.5, 0.75, 1, 1.25, 1.5]


def test_names_stand_beside_their_own_marks(table: pd.DataFrame) -> None:
    ax = bb.plot_word(table, "muslim")
    own = table[table["protected_word"] == "muslim"].set_index("word_to_compare")
    ax.figure.canvas.draw()
    inverse = ax.transData.inverted()
    places = np.concatenate([c.get_offsets() for c in large(ax)])
    for text in ax.texts:
        if text.get_text() not in own.index:
            continue
        box = text.get_window_extent().transformed(inverse)
        y = (box.y0 + box.y1) / 2
        sides = [np.hypot(*(places - [x, y]).T) for x in (box.x0, box.x1)]
        nearest = places[np.minimum(*sides).argmin()]
        assert np.hypot(*nearest) == pytest.approx(own.loc[text.get_text(), "cosine_distance"])


def test_few_have_all_their_names_many_the_nearest(table: pd.DataFrame) -> None:
    few = invented([4, 8, 5, 5])
    assert sorted(named(bb.plot_word(few, "imam"), few)) == sorted(few["word_to_compare"])
    ax = bb.plot_word(table, "imam")
    own = table[table["protected_word"] == "imam"].sort_values("cosine_distance")
    found = named(ax, own)
    by_kind = own.set_index("word_to_compare").loc[found, "connection"].value_counts()
    # 36 names: the few stereotypes have all of theirs, the controls share the rest.
    assert by_kind["associated"] == 4
    assert by_kind["different"] == 7
    assert by_kind["human"] + by_kind["none"] >= 23
    for kind in ("human", "none"):
        nearest = own.loc[own["connection"] == kind, "word_to_compare"].head(13)
        assert set(found) & set(own.loc[own["connection"] == kind, "word_to_compare"]) <= set(
            nearest
        )


@pytest.mark.parametrize("labels", [0, 3, 10])
def test_as_many_names_as_asked_for(table: pd.DataFrame, labels: int) -> None:
    ax = bb.plot_word(table, "imam", labels=labels)
    assert len(named(ax, table)) == labels
    assert len(marks(ax)) == (table["protected_word"] == "imam").sum()


@pytest.mark.parametrize(
    ("counts", "length", "spread"),
    [
        ((3, 0, 0, 0), 0, (0.3, 1.4)),
        ((2, 3, 0, 0), 3, (0.9, 2.0)),
        ((4, 6, 0, 9), 0, (0.02, 0.5)),
        ((4, 6, 0, 9), 3, (0.3, 1.4)),
        ((4, 7, 27, 200), 0, (0.3, 1.4)),
        ((4, 7, 27, 200), 3, (0.02, 0.5)),
        ((4, 7, 27, 200), 3, (0.9, 2.0)),
    ],
)
def test_names_hide_nothing(
    counts: tuple[int, ...], length: int, spread: tuple[float, float]
) -> None:
    table = invented(list(counts), seed=sum(counts), length=length, spread=spread)
    ax = bb.plot_word(table, "imam")
    assert_apart(ax)
    # No mark lies under a name, but for the crowd of those without.
    points = ax.transData.transform(np.concatenate([c.get_offsets() for c in large(ax)]))
    for text in ax.texts:
        if text.get_text() in set(table["word_to_compare"]):
            box = text.get_window_extent()
            assert not any(box.contains(*point) for point in points)


def test_the_same_figure_each_time(table: pd.DataFrame) -> None:
    first, second = (marks(bb.plot_word(table, "imam")) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_one_of_several_embeddings(table: pd.DataFrame) -> None:
    other = table.assign(embedding="other", cosine_distance=table["cosine_distance"] / 2)
    both = pd.concat([table, other.drop(columns="cosine_similarity")])
    both["cosine_similarity"] = 1 - both["cosine_distance"]
    with pytest.raises(SpecError, match=r"several embeddings \('demo', 'other'\); name one: em"):
        bb.plot_word(both, "imam")
    with pytest.raises(SpecError, match="'embedding' is 'x'; expected one of 'demo', 'other'"):
        bb.plot_word(both, "imam", embedding="x")
    ax = bb.plot_word(both, "imam", embedding="other")
    wanted = table.loc[table["protected_word"] == "imam", "cosine_distance"] / 2
    np.testing.assert_allclose(np.sort(np.hypot(*marks(ax).T)), np.sort(wanted))


def test_errors(table: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="no protected word 'iman' in the table; there are jud"):
        bb.plot_word(table, "iman")
    with pytest.raises(DataError, match="Did you mean 'imam'?"):
        bb.plot_word(table, "iman")
    with pytest.raises(SpecError, match="'labels' is -1; expected a whole number, 0 or more"):
        bb.plot_word(table, "imam", labels=-1)
    with pytest.raises(DataError, match="'connection'"):
        bb.plot_word(table.drop(columns="connection"), "imam")
    assert plt.get_fignums() == []


def test_given_axes(table: pd.DataFrame) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    for ax, word in zip(axes, ("imam", "priest"), strict=True):
        assert bb.plot_word(table, word, ax=ax) is ax
    assert plt.get_fignums() == [figure.number]
    for ax in axes:
        assert_apart(ax)
