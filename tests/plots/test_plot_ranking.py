"""Stacked and separate ranks, and attribute words one by one."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import assert_apart, names

import bayesbias as bb
from bayesbias.errors import DataError, SpecError

#: Badilla (2020), table 3.2, overall: the ranks by WEAT, WEAT-ES, RND and RNSB.
BADILLA = pd.DataFrame(
    {
        "WEAT": [2, 3, 4, 7, 5, 1, 6],
        "WEAT-ES": [1, 3, 4, 7, 5, 2, 6],
        "RND": [2, 3, 5, 6, 7, 1, 4],
        "RNSB": [2, 1, 5, 4, 7, 3, 6],
    },
    index=[
        "conceptnet-numberbatch",
        "fasttext-wiki-news",
        "glove-twitter",
        "glove-wiki-gigaword",
        "lexvec-commoncrawl",
        "word2vec-gender-hard-debiased",
        "word2vec-google-news",
    ],
)


def test_stacked_bars_end_at_the_sums() -> None:
    ax = bb.plot_ranking(BADILLA)
    ends = {}
    for bar in ax.patches:
        place = round(bar.get_y() + bar.get_height() / 2)
        ends[place] = max(ends.get(place, 0), bar.get_x() + bar.get_width())
    order = [name.replace("\n", "") for name in names(ax)]
    assert [ends[i] for i in range(7)] == pytest.approx([7, 7, 10, 18, 22, 24, 24])
    assert order[2:5] == ["fasttext-wiki-news", "glove-twitter", "word2vec-google-news"]
    assert sorted(text.get_text() for text in ax.texts) == sorted(
        map(str, BADILLA.to_numpy().ravel())
    )
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(BADILLA)
    assert all(tick == round(tick) for tick in ax.get_xticks())
    assert_apart(ax)


@pytest.mark.parametrize("metrics", [1, 4, 7])
def test_panels_have_the_ranks_of_one_metric_each(metrics: int) -> None:
    wide = pd.concat([BADILLA, BADILLA.add_suffix(" 2")], axis=1).iloc[:, :metrics]
    axes = bb.plot_ranking(wide, facets=True)
    order = bb.overall_ranking(wide).index
    assert [ax.get_title() for ax in axes] == list(wide)
    for ax, name in zip(axes, wide, strict=True):
        assert [bar.get_width() for bar in ax.patches] == wide.loc[order, name].tolist()


def test_what_cannot_be_stacked_is_named() -> None:
    gap = BADILLA.astype(float).mask(BADILLA == 7)
    with pytest.raises(DataError, match=r"'glove-wiki-gigaword' has no rank by 'WEAT'.*dropna"):
        bb.plot_ranking(gap)
    with pytest.raises(SpecError, match="'ranking' is a dict; expected the table of rank"):
        bb.plot_ranking({})  # type: ignore[call-overload]
    with pytest.raises(SpecError, match="facets=True"):
        bb.plot_ranking(BADILLA, facets=True, ax=plt.gca())  # type: ignore[call-overload]


def by_word(n: int) -> pd.DataFrame:
    value = np.linspace(-1, 1, n)
    frame = pd.DataFrame({"word": [f"word{i}" for i in range(n)], "value": value})
    return frame.assign(lower=value - 0.4, upper=value + 0.4)


def test_words_whose_interval_excludes_the_neutral_value_differ() -> None:
    frame = by_word(9)
    ax = bb.plot_by_word(frame)
    assert names(ax) == frame["word"].tolist()
    clear, unclear = ax.collections[1::2]
    excluded = (frame["lower"] > 0) | (frame["upper"] < 0)
    np.testing.assert_allclose(clear.get_offsets()[:, 0], frame.loc[excluded, "value"])
    np.testing.assert_allclose(unclear.get_offsets()[:, 0], frame.loc[~excluded, "value"])
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "interval excludes 0",
        "inconclusive",
    ]


def test_only_the_strongest_words_are_drawn() -> None:
    assert names(bb.plot_by_word(by_word(9), top=2)) == ["word0", "word8"]
    with pytest.raises(DataError, match="no value that is a number"):
        bb.plot_by_word(by_word(2).assign(value=np.nan))
    with pytest.raises(DataError, match=r"no column 'word'.*by_word"):
        bb.plot_by_word(by_word(2).drop(columns="word"))
