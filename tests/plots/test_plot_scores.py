from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from drawn import assert_apart, ends, marks, names
from matplotlib.colors import to_hex

import bayesbias as bb
from bayesbias.errors import DataError, SpecError


def invented(queries: int, embeddings: int, metric: str = "weat_es") -> pd.DataFrame:
    rng = np.random.default_rng(4)
    rows = []
    for i in range(queries):
        for j in range(embeddings):
            value = rng.normal()
            rows.append(
                {
                    "metric": metric,
                    "query": f"Male terms and Female terms wrt Positive words {i} and Others",
                    "embedding": f"embedding {j}",
                    "value": value,
                    "lower": value - 0.3,
                    "upper": value + 0.2,
                }
            )
    return pd.DataFrame(rows)


def colors(ax: plt.Axes) -> dict[str, str]:
    legend = ax.get_legend()
    return {
        text.get_text(): to_hex(line.get_color())
        for text, line in zip(legend.get_texts(), legend.legend_handles, strict=True)
    }


@pytest.mark.parametrize(("queries", "embeddings"), [(1, 2), (4, 3), (25, 8)])
def test_marks_and_lines_are_values_and_intervals(queries: int, embeddings: int) -> None:
    frame = invented(queries, embeddings)
    ax = bb.plot_scores(frame)
    assert [name.replace("\n", " ") for name in names(ax)] == list(frame["query"].unique())
    pitch = np.diff(ax.get_yticks()).min() if queries > 1 else np.inf
    for embedding, color in colors(ax).items():
        own = frame[frame["embedding"] == embedding]
        places = marks(ax, color)
        np.testing.assert_allclose(places[:, 0], own["value"])
        np.testing.assert_allclose(ends(ax, color), own[["lower", "upper"]])
        assert (np.abs(places[:, 1] - ax.get_yticks()) < pitch / 2).all()
    assert len(colors(ax)) == embeddings
    assert_apart(ax)


def test_more_embeddings_than_colours() -> None:
    ax = bb.plot_scores(invented(2, 17))
    assert len(marks(ax)) == 34
    assert_apart(ax)
    styles = {
        (to_hex(line.get_color()), line.get_marker()) for line in ax.get_legend().legend_handles
    }
    assert len(styles) == 17


def test_scores_and_their_neutral_value(demo: bb.Embedding) -> None:
    query = bb.load_query("weat_7")
    score = bb.metrics.MAC().posterior(query, demo, draws=100)
    for given in (score, [score], score.table):
        ax = bb.plot_scores(given)
        np.testing.assert_allclose(marks(ax)[:, 0], [score.value])
        np.testing.assert_allclose(ends(ax), [[score.lower, score.upper]])
        assert [line.get_xdata()[0] for line in ax.lines] == [1]
        assert ax.get_xlabel() == "MAC in demo (1: no bias)"
        assert ax.get_legend() is None
        assert_apart(ax)
    # Without draws there is a mark and no line.
    ax = bb.plot_scores(bb.metrics.MAC().run_query(query, demo))
    assert len(ends(ax)) == 0
    assert len(marks(ax)) == 1


def test_a_metric_of_ones_own_has_no_neutral_line(demo: bb.Embedding) -> None:
    score = bb.metrics.WEAT().run_query(bb.load_query("weat_7"), demo)
    ax = bb.plot_scores(replace(score, metric="mine"))
    assert list(ax.lines) == []
    assert ax.get_xlabel() == "mine in demo"


def test_a_score_without_a_value_is_said_to_have_none() -> None:
    frame = invented(2, 2)
    frame.loc[1, ["value", "lower", "upper"]] = np.nan
    ax = bb.plot_scores(frame)
    (note,) = ax.texts
    assert note.get_text() == "no value"
    assert to_hex(note.get_color()) == colors(ax)["embedding 1"]
    assert np.isfinite(marks(ax)).all(axis=1).sum() == 3
    assert_apart(ax)
    with pytest.raises(DataError, match="no value of 'weat_es' is a number"):
        bb.plot_scores(frame.assign(value=np.nan))


def test_one_metric_a_figure() -> None:
    frame = pd.concat([invented(2, 2), invented(2, 2, "ect")], ignore_index=True)
    with pytest.raises(SpecError, match=r"several metrics \('weat_es', 'ect'\); name one: metr"):
        bb.plot_scores(frame)
    with pytest.raises(SpecError, match="'metric' is 'etc'.*Did you mean 'ect'?"):
        bb.plot_scores(frame, metric="etc")
    assert bb.plot_scores(frame, metric="ect").get_xlabel().startswith("ECT")


def test_errors() -> None:
    frame = invented(2, 2)
    with pytest.raises(SpecError, match="'scores' is a str; expected the table of query_scores"):
        bb.plot_scores("weat")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'scores' holds an int; expected scores, or the table"):
        bb.plot_scores([1])  # type: ignore[list-item]
    with pytest.raises(DataError, match="'scores' has no column 'query'"):
        bb.plot_scores(frame.drop(columns="query"))
    with pytest.raises(DataError, match="'scores' has no rows"):
        bb.plot_scores(frame.iloc[:0])
    with pytest.raises(DataError, match="'scores' has no rows"):
        bb.plot_scores([])
    with pytest.raises(DataError, match="in 'embedding 0' twice; keep one of them"):
        bb.plot_scores(pd.concat([frame, frame]))
    assert plt.get_fignums() == []


def test_given_axes() -> None:
    figure, (left, _) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
    assert bb.plot_scores(invented(3, 2), ax=left) is left
    assert plt.get_fignums() == [figure.number]


def wide_frame() -> pd.DataFrame:
    emb = bb.load_embedding("demo")
    queries = [bb.load_query(f"weat_{i}") for i in (6, 7, 8)]
    embeddings = [emb, bb.load_embedding("demo-100d")]
    return bb.run_queries("weat_es", queries, embeddings, aggregate="abs_avg")


@pytest.mark.parametrize("by", ["query", "embedding"])
def test_the_table_of_run_queries_is_drawn_either_way(by: str) -> None:
    frame = wide_frame()
    values = frame.iloc[:, :-1]
    ax = bb.plot_scores(frame, by=by)  # type: ignore[arg-type]
    rows, marked = (values.T, values) if by == "query" else (values, values.T)
    assert [name.replace("\n", " ") for name in names(ax)] == list(rows.index)
    assert list(colors(ax)) == list(marked.index)
    for label, color in colors(ax).items():
        np.testing.assert_allclose(marks(ax, color)[:, 0], marked.loc[label])
    assert_apart(ax)


def test_an_aggregate_alone_is_drawn() -> None:
    frame = wide_frame()
    alone = frame.iloc[:, [-1]]
    ax = bb.plot_scores(alone)
    found = [marks(ax, color)[0, 0] for color in colors(ax).values()]
    np.testing.assert_allclose(found, alone.iloc[:, 0])
    with pytest.raises(SpecError, match="'by' is 'metric'"):
        bb.plot_scores(frame, by="metric")  # type: ignore[arg-type]
