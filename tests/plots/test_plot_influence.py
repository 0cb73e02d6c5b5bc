from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import assert_apart, names
from matplotlib.colors import to_hex

import bayesbias as bb
from bayesbias.errors import DataError, SpecError


@pytest.fixture(scope="module")
def frame(demo: bb.Embedding) -> pd.DataFrame:
    return bb.metrics.WEAT().influence(bb.load_query("weat_7"), demo)


@pytest.mark.parametrize("top", [1, 7, 200])
def test_bars_are_the_strongest_words(frame: pd.DataFrame, top: int) -> None:
    ax = bb.plot_influence(frame.sample(frac=1, random_state=1), top=top)  # in any order
    wanted = frame.head(top)
    assert names(ax) == list(wanted["word"])
    bars = sorted(ax.patches, key=lambda bar: bar.get_y())
    np.testing.assert_allclose([bar.get_width() for bar in bars], wanted["influence"])
    np.testing.assert_allclose(
        [bar.get_y() + bar.get_height() / 2 for bar in bars], range(len(wanted))
    )
    assert ax.yaxis_inverted()
    # A colour for each set, and the legend tells which.
    legend = ax.get_legend()
    color_of = {
        text.get_text(): to_hex(handle.get_facecolor())
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True)
    }
    assert [color_of[name] for name in wanted["word_set"]] == [
        to_hex(bar.get_facecolor()) for bar in bars
    ]
    assert len(set(color_of.values())) == len(color_of) == wanted["word_set"].nunique()
    assert_apart(ax)


def test_colours_do_not_depend_on_how_many_words(frame: pd.DataFrame) -> None:
    def color(top: int) -> str:
        bars = sorted(bb.plot_influence(frame, top=top).patches, key=lambda bar: bar.get_y())
        return to_hex(bars[0].get_facecolor())

    assert color(1) == color(20)


def test_words_without_an_influence_are_left_out(frame: pd.DataFrame) -> None:
    gap = frame.assign(influence=frame["influence"].where(frame.index != 0))
    assert names(bb.plot_influence(gap, top=3)) == list(frame["word"].iloc[1:4])
    with pytest.raises(DataError, match="'frame' has no influence that is a number"):
        bb.plot_influence(frame.assign(influence=np.nan))


def test_a_word_of_two_sets_has_two_bars(frame: pd.DataFrame) -> None:
    twice = pd.concat([frame.head(1), frame.head(1).assign(word_set="another")])
    ax = bb.plot_influence(twice)
    assert len(ax.patches) == 2
    assert [bar.get_y() + bar.get_height() / 2 for bar in ax.patches] == pytest.approx([1, 0])


@pytest.fixture(scope="module")
def of_silhouettes(demo: bb.Embedding) -> pd.DataFrame:
    embeddings = [demo, bb.load_embedding("demo-100d")]
    return bb.silhouettes("weat_es", bb.load_query("weat_7"), embeddings, runs=10).influence()


@pytest.mark.parametrize("by", ["influence", "contribution"])
def test_tables_of_silhouettes(of_silhouettes: pd.DataFrame, by: Any) -> None:
    own = of_silhouettes[of_silhouettes["embedding"] == "demo-100d"]
    wanted = own.loc[own[by].abs().sort_values(ascending=False).index].head(6)
    ax = bb.plot_influence(of_silhouettes, by=by, embedding="demo-100d", top=6)
    assert names(ax) == list(wanted["word"])
    bars = sorted(ax.patches, key=lambda bar: bar.get_y())
    np.testing.assert_allclose([bar.get_width() for bar in bars], wanted[by])
    assert ax.get_xlabel().startswith(f"{by}: ")
    assert len(ax.containers) == 2 + (by == "contribution")
    if by == "contribution":
        [lines] = ax.containers[-1].lines[2]
        ends = np.array([segment[:, 0] for segment in lines.get_segments()])
        np.testing.assert_allclose(np.ptp(ends, axis=1) / 2, wanted["standard_error"])
    with pytest.raises(SpecError, match="there are several embeddings .*; name one: embedding="):
        bb.plot_influence(of_silhouettes)


def test_errors(frame: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match="'frame' is a list; expected the table of Metric.infl"):
        bb.plot_influence([])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="'frame' has no column 'word'; expected the table"):
        bb.plot_influence(frame.drop(columns="word"))
    with pytest.raises(DataError, match="no column 'contribution'; .* or Silhouettes.influence"):
        bb.plot_influence(frame, by="contribution")
    with pytest.raises(SpecError, match="'by' is 'weight'; expected one of 'contribution', 'in"):
        bb.plot_influence(frame, by="weight")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="'frame' has no rows"):
        bb.plot_influence(frame.iloc[:0])
    with pytest.raises(SpecError, match="'top' is 0; expected a whole number, 1 or more"):
        bb.plot_influence(frame, top=0)
    assert plt.get_fignums() == []


def test_given_axes(frame: pd.DataFrame) -> None:
    figure, (left, _) = plt.subplots(1, 2, figsize=(12, 6))
    assert bb.plot_influence(frame, ax=left) is left
    assert plt.get_fignums() == [figure.number]
