from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import assert_apart, ends, handmade, marks, names, simulated_table

import bayesbias as bb
from bayesbias.errors import SpecError
from bayesbias.plots.style import CONNECTION_STYLES


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return simulated_table(3)


@pytest.mark.parametrize(
    ("model", "parameter", "reference", "meaning"),
    [
        ("crossed", "bar", 1, "cosine distance"),
        ("connection", "co", 0, "added to the distance"),
    ],
)
def test_coefficients(
    table: pd.DataFrame, model: str, parameter: str, reference: int, meaning: str
) -> None:
    fit = handmade(table, model)
    ax = bb.plot_coefficients(fit, prob=0.8)
    wanted = fit.coefficients(prob=0.8).query("parameter == @parameter").set_index("level")
    assert names(ax) == [CONNECTION_STYLES[level].label for level in wanted.index]
    for place, (level, row) in zip(ax.get_yticks(), wanted.iterrows(), strict=True):
        color = CONNECTION_STYLES[str(level)].color
        np.testing.assert_allclose(marks(ax, color), [[row["mean"], place]])
        np.testing.assert_allclose(ends(ax, color), [[row["lower"], row["upper"]]])
    numbers = [text.get_text() for text in ax.texts]
    assert numbers == [f"{mean:.2f}".replace("-", "−") for mean in wanted["mean"]]
    assert [line.get_xdata()[0] for line in ax.lines] == [reference]
    assert ax.get_xlabel().startswith(meaning)
    assert "80% intervals" in ax.get_xlabel()
    assert_apart(ax)


def test_a_block_for_each_embedding_or_group(table: pd.DataFrame) -> None:
    both = pd.concat([table, simulated_table(4, embedding="other")])
    fit = handmade(both, "embeddings")
    ax = bb.plot_coefficients(fit)
    headings = [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]
    assert headings == ["centre", "bar, simulated", "bar, other"]
    assert len(names(ax)) == 12
    every = fit.coefficients().query("parameter == 'bar'").set_index("level")["mean"]
    drawn = marks(ax, CONNECTION_STYLES["different"].color)
    np.testing.assert_allclose(drawn[1:, 0], every[["different, simulated", "different, other"]])
    np.testing.assert_allclose(drawn[:, 1], ax.get_yticks()[1::4])
    assert_apart(ax)

    spec = bb.load_model("connection").to_dict()
    spec["parameters"]["co"]["by"] = ["connection", "protected_group"]
    ax = bb.plot_coefficients(handmade(table, bb.models.ModelSpec.from_dict(spec)))
    assert [t.get_text() for t in ax.texts if t.get_fontweight() == "bold"] == ["co, g0", "co, g1"]


def test_errors(table: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match="model 'separate' has no coefficients of connections"):
        bb.plot_coefficients(handmade(table, "separate"))
    with pytest.raises(SpecError, match="'fit' is a str; expected what fit"):
        bb.plot_coefficients("crossed")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'prob' is 0;"):
        bb.plot_coefficients(handmade(table), prob=0)
    assert plt.get_fignums() == []


def test_given_axes(table: pd.DataFrame) -> None:
    figure, (left, _) = plt.subplots(1, 2)
    assert bb.plot_coefficients(handmade(table), ax=left) is left
    assert plt.get_fignums() == [figure.number]


def test_several_fits_have_a_heading_each(table: pd.DataFrame) -> None:
    fits = {
        "religion": handmade(table, "connection", seed=1),
        "gender, debiased": handmade(table, "connection", seed=2),
    }
    ax = bb.plot_coefficients(fits)
    headings = [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]
    assert headings == list(fits)
    for connection in ("associated", "none"):
        drawn = marks(ax, CONNECTION_STYLES[connection].color)[:, 0]
        means = [
            fit.coefficients().set_index(["parameter", "level"]).loc[("co", connection), "mean"]
            for fit in fits.values()
        ]
        np.testing.assert_allclose(drawn, means)
    assert_apart(ax)


def test_several_fits_of_models_with_several_coefficients(table: pd.DataFrame) -> None:
    both = pd.concat([table, simulated_table(4, embedding="other")])
    ax = bb.plot_coefficients({"a": handmade(both, "embeddings"), "b": handmade(table, "crossed")})
    headings = [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]
    assert headings == ["a: centre", "a: bar, simulated", "a: bar, other", "b"]


def test_what_is_not_a_fit_is_refused() -> None:
    with pytest.raises(SpecError, match="'fit' is empty"):
        bb.plot_coefficients({})
    with pytest.raises(SpecError, match="'fit' is a str"):
        bb.plot_coefficients({"a": "fit"})  # type: ignore[dict-item]
