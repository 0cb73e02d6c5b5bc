from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import assert_apart, names
from matplotlib.axes import Axes

import bayesbias as bb
from bayesbias._core.plugins import title_of
from bayesbias.errors import DataError, SpecError


def posterior(embeddings: list[str], spread: float = 0.2) -> bb.rankings.RankPosterior:
    rng = np.random.default_rng(5)
    sizes = np.linspace(1.5, 0.3, len(embeddings))  # the least biased last
    draws = pd.DataFrame(rng.normal(sizes, spread, (500, len(sizes))), columns=embeddings)
    scores = pd.Series(sizes, index=embeddings)
    return bb.rankings.RankPosterior("weat_es", "abs_avg", ("a query",), (), scores, draws, 0.89)


def correlations(metrics: list[str]) -> pd.DataFrame:
    rng = np.random.default_rng(6)
    ranking = pd.DataFrame(rng.normal(size=(9, len(metrics))), columns=metrics)
    return bb.rank_correlations(ranking)


def cells(ax: Axes) -> np.ndarray:
    (mesh,) = ax.collections
    return np.asarray(mesh.get_array()).reshape(len(ax.get_yticks()), -1)


def lightness(color: object) -> float:
    return float(np.dot(np.asarray(color)[:3], [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("n", [2, 6, 20])
def test_probabilities_of_places(n: int) -> None:
    found = posterior([f"embedding {i}" for i in range(n)])
    ax = bb.plot_rank_probabilities(found)
    assert names(ax) == list(found.table["embedding"])  # the least biased on top
    assert names(ax)[0] == f"embedding {n - 1}"
    assert ax.yaxis_inverted()
    wanted = found.probabilities.loc[names(ax)].to_numpy()
    np.testing.assert_allclose(cells(ax), wanted)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [str(i + 1) for i in range(n)]
    for text in ax.texts:
        x, y = text.get_position()
        chance = wanted[int(y), int(x)]
        # The number that is written holds the chance, and none is a certainty.
        low, high = {"<0.01": (0, 0.005), ">0.99": (0.995, 1)}.get(
            text.get_text(), (chance - 0.005, chance + 0.005)
        )
        assert low <= chance <= high
        assert text.get_text() in ("<0.01", ">0.99") or float(text.get_text()) == round(chance, 2)
    assert len(ax.texts) == n * n
    assert_apart(ax)


def test_numbers_can_be_read_on_their_colour() -> None:
    ax = bb.plot_rank_probabilities(posterior(list("abcdef"), spread=0.3))
    (mesh,) = ax.collections
    for text, face in zip(ax.texts, mesh.to_rgba(cells(ax).ravel()), strict=True):
        letters = plt.matplotlib.colors.to_rgb(text.get_color())
        assert abs(lightness(letters) - lightness(face)) > 0.25


def test_many_embeddings_have_a_colour_bar_instead_of_numbers() -> None:
    ax = bb.plot_rank_probabilities(posterior([f"embedding {i}" for i in range(25)]))
    assert list(ax.texts) == []
    (bar,) = [other for other in ax.figure.axes if other is not ax]
    assert bar.get_ylabel() == "probability"
    assert_apart(ax)


def test_long_names() -> None:
    long = ["word2vec-google-news-300-gender-hard-debiased", "glove.840B.300d common crawl", "x"]
    ax = bb.plot_rank_probabilities(posterior(long))
    assert [name.replace("\n", "").replace(" ", "") for name in names(ax)] == [
        name.replace(" ", "") for name in reversed(long)
    ]
    assert_apart(ax)


@pytest.mark.parametrize(
    "metrics",
    [
        ["weat", "rnd"],
        ["weat", "weat_es", "rnd", "rnsb", "mac"],
        [f"WEAT: {of} average of abs values score" for of in ("gender", "ethnicity", "religion")],
        [f"metric {i}" for i in range(22)],
    ],
    ids=["two", "five", "long", "many"],
)
def test_correlations(metrics: list[str]) -> None:
    frame = correlations(metrics)
    ax = bb.plot_rank_correlations(frame)
    np.testing.assert_allclose(cells(ax), frame)
    titles = [title_of(name, bb.metrics.METRICS) for name in metrics]
    assert [name.replace("\n", " ") for name in names(ax)] == titles
    assert [t.get_text().replace("\n", " ") for t in ax.get_xticklabels()] == titles
    if len(metrics) <= 20:
        values = [float(text.get_text().replace("−", "-")) for text in ax.texts]
        np.testing.assert_allclose(values, frame.to_numpy().ravel(), atol=0.005)
    else:
        assert list(ax.texts) == []
    (mesh,) = ax.collections
    assert mesh.get_clim() == (-1, 1)
    assert_apart(ax)


def test_no_correlation() -> None:
    frame = correlations(["weat", "rnd"])
    frame.iloc[0, 1] = frame.iloc[1, 0] = np.nan
    ax = bb.plot_rank_correlations(frame)
    assert [text.get_text() for text in ax.texts] == ["1.00", "–", "–", "1.00"]


def test_errors() -> None:
    frame = correlations(["weat", "rnd"])
    with pytest.raises(SpecError, match="'posterior' is a DataFrame; expected what rank_poster"):
        bb.plot_rank_probabilities(frame)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'frame' is a list; expected the table of rank_corr"):
        bb.plot_rank_correlations([1])  # type: ignore[arg-type]
    with pytest.raises(DataError, match="'frame' has no rows"):
        bb.plot_rank_correlations(frame.iloc[:0])
    for wrong in (frame.iloc[:1], frame * 2, frame.astype("str")):
        with pytest.raises(DataError, match="'frame' is not metrics × metrics from −1 to 1"):
            bb.plot_rank_correlations(wrong)
    assert plt.get_fignums() == []


def test_given_axes() -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    assert bb.plot_rank_probabilities(posterior(["a", "b"]), ax=left) is left
    assert bb.plot_rank_correlations(correlations(["weat", "rnd"]), ax=right) is right
    assert plt.get_fignums() == [figure.number]
