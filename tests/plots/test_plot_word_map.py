from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import DataError, SpecError


@pytest.fixture(scope="module")
def debiased(demo: bb.Embedding) -> bb.Embedding:
    return bb.debias.HardDebias().fit(demo).transform(demo)


def test_a_panel_for_each_embedding(demo: bb.Embedding, debiased: bb.Embedding) -> None:
    table = bb.metrics.map_biased_words([demo, debiased], n_words=20)
    panels = bb.plot_word_map(table)
    assert len(panels) == 2
    for panel, name in zip(panels, (demo.name, debiased.name), strict=True):
        drawn = np.vstack([marks.get_offsets() for marks in panel.collections])
        part = table[table["embedding"] == name]
        np.testing.assert_allclose(drawn, part[["x", "y"]])
        assert panel.get_title() == f"{name} (purity {table.attrs['purity'][name]:.2f})"
    legend = panels[0].figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["male", "female"]
    _, ax = plt.subplots()
    [panel] = bb.plot_word_map(table, embedding=demo.name, ax=ax)
    assert panel is ax


def test_refusals(demo: bb.Embedding, debiased: bb.Embedding) -> None:
    table = bb.metrics.map_biased_words([demo, debiased], n_words=10)
    _, ax = plt.subplots()
    with pytest.raises(SpecError, match="embedding"):
        bb.plot_word_map(table, ax=ax)
    with pytest.raises(SpecError, match="'embedding'.*'other'"):
        bb.plot_word_map(table, embedding="other")
    with pytest.raises(DataError, match="map_biased_words"):
        bb.plot_word_map(table.drop(columns="side"))
