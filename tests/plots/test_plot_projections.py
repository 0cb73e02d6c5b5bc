from __future__ import annotations

import numpy as np
import pytest
from drawn import marks
from matplotlib.axes import Axes

import bayesbias as bb
from bayesbias.errors import DataError, SpecError

JOBS = {
    "female": ["nurse", "librarian", "nanny", "housekeeper", "hairdresser", "receptionist"],
    "male": ["captain", "boss", "pilot", "warrior", "architect", "philosopher"],
}


def assert_words_apart(ax: Axes) -> None:
    """No word touches another, a mark or the edge of the axes."""
    ax.figure.canvas.draw()
    words = [(text.get_text(), text.get_window_extent()) for text in ax.texts]
    points = ax.transData.transform(marks(ax))
    frame = ax.get_window_extent()
    for i, (word, box) in enumerate(words):
        for other, place in words[i + 1 :]:
            assert not box.overlaps(place), f"{word!r} and {other!r} overlap"
        assert not any(box.contains(*point) for point in points), f"a mark in {word!r}"
        assert frame.x0 <= box.x0 <= box.x1 <= frame.x1, word
        assert frame.y0 <= box.y0 <= box.y1 <= frame.y1, word


def test_marks_are_where_the_table_says(demo: bb.Embedding) -> None:
    table = bb.metrics.project_words(demo, JOBS, y=("rich", "poor"))
    ax = bb.plot_projections(table)
    np.testing.assert_allclose(marks(ax), table[["x", "y"]])
    assert ax.get_xlabel() == "cosine with he − she"
    assert ax.get_ylabel() == "cosine with rich − poor"
    # Lines at zero on both axes.
    assert ax.lines[0].get_xdata()[0] == 0
    assert ax.lines[1].get_ydata()[0] == 0
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(JOBS)
    assert {text.get_text() for text in ax.texts} <= set(table["word"])
    assert len(ax.texts) >= 10
    assert_words_apart(ax)


def test_words_that_would_overlap_are_left_out(demo: bb.Embedding) -> None:
    table = bb.metrics.project_words(demo, ["nurse"] * 12, x="he", y="she")
    ax = bb.plot_projections(table)
    assert 1 <= len(ax.texts) < 12
    assert_words_apart(ax)
    assert not bb.plot_projections(table, labels=False).texts


def test_two_words_have_a_diagonal(demo: bb.Embedding) -> None:
    table = bb.metrics.project_words(demo, JOBS, x="he", y="she", normalize=False)
    ax = bb.plot_projections(table)
    assert len(ax.lines) == 1
    assert ax.lines[0].get_slope() == 1
    assert ax.get_xlabel() == "dot product with he"
    low, high = ax.get_xlim()
    assert low < table["x"].min()
    assert table["x"].max() < high < 1.3 * table["x"].max()


def test_bad_input(demo: bb.Embedding) -> None:
    with pytest.raises(DataError, match="no column 'y'"):
        bb.plot_projections(bb.metrics.project_words(demo, JOBS))
    with pytest.raises(SpecError, match="'table' is a str"):
        bb.plot_projections("table")  # type: ignore[arg-type]
