from __future__ import annotations

import json
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import assert_apart, ends, handmade, marks, names, simulated_table
from matplotlib.axes import Axes

import bayesbias as bb
from bayesbias._core.constants import MARK
from bayesbias._core.interval_text import estimate_text
from bayesbias.errors import SpecError
from bayesbias.plots.interval_rows import relabel
from bayesbias.plots.style import CONNECTION_STYLES


@pytest.fixture(scope="module")
def fit() -> bb.models.Fit:
    return handmade(simulated_table(3, words=4))


def spec(**parameters: dict[str, object]) -> bb.models.ModelSpec:
    """A model of one's own."""
    parameters["sigma"] = {"prior": "HalfCauchy(1)"}
    mean = [name for name in parameters if name != "sigma"]
    return bb.models.ModelSpec.from_dict(
        {"name": "own", "mean": mean, "scale": "sigma", "parameters": parameters}
    )


@pytest.mark.parametrize("prob", [0.5, 0.89])
def test_marks_and_lines_are_means_and_intervals(fit: bb.models.Fit, prob: float) -> None:
    ax = bb.plot_means(fit, prob=prob)
    table = fit.means(prob=prob)
    for connection, style in CONNECTION_STYLES.items():
        own = table[table["connection"] == connection].set_index("protected_word").loc[names(ax)]
        places = marks(ax, style.color)
        np.testing.assert_allclose(places[:, 0], own["mean"])
        np.testing.assert_allclose(ends(ax, style.color), own[["lower", "upper"]])
        # Each stands at its word: the middle of a row is where its name is.
        assert (np.abs(places[:, 1] - ax.get_yticks()) <= 1.5).all()
    assert f"{prob:.0%} intervals" in ax.get_xlabel()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        style.label for style in CONNECTION_STYLES.values()
    ]


def test_words_stand_with_their_group_the_nearest_first(fit: bb.models.Fit) -> None:
    ax = bb.plot_means(fit)
    words = names(ax)
    assert [word[:2] for word in words] == ["p0"] * 4 + ["p1"] * 4
    near = fit.means().query("connection == 'associated'").set_index("protected_word")["mean"]
    assert near[words[:4]].is_monotonic_increasing
    assert near[words[4:]].is_monotonic_increasing
    assert [text.get_text() for text in ax.texts] == ["g0", "g1"]
    assert ax.yaxis_inverted()  # the first word is at the top


def test_groups_are_averages_of_their_words(fit: bb.models.Fit) -> None:
    ax = bb.plot_means(fit, by="protected_group")
    assert names(ax) == ["g0", "g1"]
    assert list(ax.texts) == []
    theta = fit.posterior["theta"].sel(connection="human").to_numpy()[0]
    wanted = [theta[:, :4].mean(), theta[:, 4:].mean()]
    np.testing.assert_allclose(marks(ax, CONNECTION_STYLES["human"].color)[:, 0], wanted)


def test_without_connections() -> None:
    fit = handmade(simulated_table(3, words=2), "baseline")
    ax = bb.plot_means(fit)
    means = fit.means().set_index("protected_word").loc[names(ax)]
    np.testing.assert_allclose(marks(ax)[:, 0], means["mean"])
    np.testing.assert_allclose(ends(ax), means[["lower", "upper"]])
    assert means["mean"].iloc[:2].is_monotonic_increasing
    assert ax.get_legend() is None


def test_one_of_several_embeddings() -> None:
    tables = [simulated_table(i, words=2, embedding=name) for i, name in enumerate(["old", "new"])]
    fit = handmade(pd.concat(tables), "embeddings")
    with pytest.raises(SpecError, match=r"several embeddings \('old', 'new'\); name one: emb"):
        bb.plot_means(fit)
    with pytest.raises(SpecError, match="'embedding' is 'nw'.*Did you mean 'new'?"):
        bb.plot_means(fit, embedding="nw")
    ax = bb.plot_means(fit, embedding="new")
    own = fit.means().query("embedding == 'new' and connection == 'none'")
    wanted = own.set_index("protected_word").loc[names(ax), "mean"]
    np.testing.assert_allclose(marks(ax, CONNECTION_STYLES["none"].color)[:, 0], wanted)


def test_the_one_embedding_may_be_named(fit: bb.models.Fit) -> None:
    assert len(names(bb.plot_means(fit, embedding="simulated"))) == 8
    with pytest.raises(SpecError, match="'embedding' is 'other'"):
        bb.plot_means(fit, embedding="other")


def test_a_model_of_groups() -> None:
    table = simulated_table(3, words=2)
    by_group = spec(g={"by": ["protected_group", "connection"], "prior": "Normal(1, 1)"})
    fit = handmade(table, by_group)
    ax = bb.plot_means(fit, by="protected_group")
    wanted = fit.posterior["g"].sel(connection="none").mean(("chain", "draw"))
    np.testing.assert_allclose(marks(ax, CONNECTION_STYLES["none"].color)[:, 0], wanted)
    with pytest.raises(SpecError, match="model 'own' does not distinguish protected words"):
        bb.plot_means(fit)
    # Words and groups: each word has the coefficient of its own group.
    both = spec(
        m={"by": ["protected_word"], "prior": "Normal(1, 1)"},
        g={"by": ["protected_group", "connection"], "prior": "Normal(0, 1)"},
    )
    fit = handmade(table, both)
    ax = bb.plot_means(fit)
    m, g = (fit.posterior[name].mean(("chain", "draw")) for name in "mg")
    for word, place in zip(
        names(ax), marks(ax, CONNECTION_STYLES["human"].color)[:, 0], strict=True
    ):
        own = g.sel(protected_group=f"g{word[1]}", connection="human")
        assert place == pytest.approx(float(m.sel(protected_word=word) + own))


def test_what_it_cannot_draw(fit: bb.models.Fit) -> None:
    classes = spec(
        m={"by": ["protected_word"], "prior": "Normal(1, 1)"},
        k={"by": ["word_class"], "prior": "Normal(0, 1)"},
    )
    with pytest.raises(SpecError, match="also differ by 'word_class', which this figure does"):
        bb.plot_means(handmade(simulated_table(3), classes))
    with pytest.raises(SpecError, match="'fit' is a DataFrame; expected what fit"):
        bb.plot_means(fit.table)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'by' is 'word'"):
        bb.plot_means(fit, by="word")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'prob' is 89"):
        bb.plot_means(fit, prob=89)
    assert plt.get_fignums() == []


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "words"), [(1, 3), (3, 5), (2, 15), (2, 100)])
def test_labels_do_not_overlap(groups: int, words: int) -> None:
    ax = bb.plot_means(handmade(simulated_table(3, groups=groups, words=words), draws=10))
    assert len(names(ax)) == groups * words
    assert_apart(ax)
    many = groups * words >= 30
    assert ax.xaxis.get_major_ticks()[0].label2.get_visible() == many  # the scale at both ends
    # Small, but to be read.
    assert min(label.get_fontsize() for label in ax.get_yticklabels()) >= 7


def test_long_names() -> None:
    table = simulated_table(3, words=2)
    table["protected_word"] += "_with_quite_a_long_name"
    table["protected_group"] += " of many people"
    assert_apart(bb.plot_means(handmade(table)))


def test_given_axes_of_another_figure(fit: bb.models.Fit) -> None:
    figure = plt.figure(figsize=(11, 3), layout="constrained")
    left, right = figure.subfigures(1, 2)
    ax = left.subplots()
    right.subplots().plot([0, 1])
    assert bb.plot_means(fit, ax=ax) is ax
    assert plt.get_fignums() == [figure.number]
    # Low axes have smaller names, so that they do not touch.
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in [*ax.get_yticklabels(), *ax.texts]]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def marked(ax: Axes) -> dict[tuple[str, str], str]:
    """The texts of the marks that a page shows, by key and name."""
    parts = [json.loads(gid.removeprefix(MARK)) for p in ax.patches if (gid := p.get_gid())]
    texts: dict[tuple[str, str], str] = {}
    for key, name, text in parts:
        texts[key, name] = f"{texts.get((key, name), '')}{text};"
    return texts


def test_each_interval_has_a_mark_with_its_numbers(fit: bb.models.Fit) -> None:
    ax = bb.plot_means(fit, prob=0.5)
    means = fit.means(prob=0.5)
    texts = marked(ax)
    assert len(texts) == len(names(ax))
    for (key, name), text in texts.items():
        assert key == f"word:{name}"
        own = means[means["protected_word"] == name].set_index("connection")
        for connection, style in CONNECTION_STYLES.items():
            row = own.loc[connection]
            numbers = estimate_text(row["mean"], row["lower"], row["upper"]).split(", ")
            assert f"{style.label} {numbers[0]} ({numbers[1]});" in text
    # The marks of a row lie around its name, and together they fill the room without gaps.
    spans = sorted((p.get_y(), p.get_y() + p.get_height()) for p in ax.patches if p.get_gid())
    assert all(end <= start + 1e-9 for (_, end), (start, _) in pairwise(spans))


def test_labels_take_the_place_of_names(fit: bb.models.Fit) -> None:
    ax = bb.plot_means(fit)
    before = names(ax)
    headings = {text.get_text() for text in ax.texts}
    relabel(ax, str.upper, lambda text: f"group {text}")
    assert names(ax) == [name.upper() for name in before]
    assert {text.get_text() for text in ax.texts} == {f"group {text}" for text in headings}
    assert {name for _, name in marked(ax)} == {name.upper() for name in before}
    # The keys stay, so that tables find them.
    assert {key for key, _ in marked(ax)} == {f"word:{name}" for name in before}
    assert_apart(ax)


def test_labels_of_a_study(fit: bb.models.Fit) -> None:
    table = fit.table
    words = table.groupby("protected_group", observed=True)["protected_word"].unique()
    groups = {str(group): [str(word) for word in of] for group, of in words.items()}
    (first, members), *_ = groups.items()
    study = bb.Study(
        "labelled",
        groups,
        {first: ["an attribute"]},
        labels={"groups": {first: "First group"}, "words": {members[0]: "A label"}},
    )
    ax = bb.plot_means(fit, study=study)
    assert names(ax) == [study.word_label(name) for name in names(bb.plot_means(fit))]
    assert "A label" in names(ax)
    assert "First group" in {text.get_text() for text in ax.texts}
    ax = bb.plot_means(fit, by="protected_group", study=study)
    assert "First group" in names(ax)
    with pytest.raises(SpecError, match="'study' is an int; expected a Study"):
        bb.plot_means(fit, study=5)  # type: ignore[arg-type]


def test_only_some_words(fit: bb.models.Fit) -> None:
    some = ["p12", "p00", "p03"]
    ax = bb.plot_means(fit, words=some)
    assert sorted(names(ax)) == sorted(some)
    own = fit.means().query("connection == 'human'").set_index("protected_word")
    places = marks(ax, CONNECTION_STYLES["human"].color)
    np.testing.assert_allclose(places[:, 0], own.loc[names(ax), "mean"])
    assert [text.get_text() for text in ax.texts] == ["g0", "g1"]
    ax = bb.plot_means(fit, words=["p12"])
    assert [text.get_text() for text in ax.texts] == ["g1"]  # no heading without words


def test_words_that_cannot_be_drawn(fit: bb.models.Fit) -> None:
    with pytest.raises(SpecError, match="'words' is 'p0'"):
        bb.plot_means(fit, words=["p0"])
    with pytest.raises(SpecError, match="'words' is empty"):
        bb.plot_means(fit, words=[])
    with pytest.raises(SpecError, match="'words' is for by='protected_word'"):
        bb.plot_means(fit, by="protected_group", words=["p00"])
    assert plt.get_fignums() == []


def test_the_axis_says_at_which_covariates_the_means_are(fit: bb.models.Fit) -> None:
    assert "equal" not in bb.plot_means(fit).get_xlabel()
    code = fit.table["word_to_compare"].cat.codes.astype(float)
    rows = fit.table.assign(log_frequency=code**2, size=np.sin(code))
    adjusted = bb.fit(rows, "crossed", covariates=["log_frequency", "size"], draws=50, seed=1)
    means = adjusted.means()
    for observed, name, text in (
        (False, "equal", "expected cosine distance at equal frequency and 'size', 89%"),
        (True, "as observed", "expected cosine distance, frequency and 'size' as observed, 89%"),
    ):
        ax = bb.plot_means(adjusted, observed=observed)
        assert " ".join(ax.get_xlabel().split()).startswith(text)
        own = means[(means["covariates"] == name) & (means["connection"] == "human")]
        places = marks(ax, CONNECTION_STYLES["human"].color)
        drawn = own.set_index("protected_word").loc[names(ax), "mean"]
        np.testing.assert_allclose(places[:, 0], drawn)
