"""Silhouettes of several metrics, queries and sides, and whether there were enough runs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import SpecError
from bayesbias.silhouette_analysis.convergence import expected_extremes, run_numbers

FEW = {"runs": 8, "chance": 0, "progress": False}


def test_several_are_those_of_single_calls(demo: bb.Embedding) -> None:
    found = bb.run_silhouettes(["weat_es", "mac"], ["weat_6", "weat_7"], demo, **FEW)
    assert len(found) == 8
    places = [(each.query.name, each.metric, each.side) for each in found]
    assert len(set(places)) == 8
    for each in found:
        query = next(q for q in ("weat_6", "weat_7") if bb.load_query(q).name == each.query.name)
        alone = bb.silhouettes(each.metric, query, demo, side=each.side, **FEW)
        np.testing.assert_array_equal(each.values, alone.values)
    assert list(found.table.columns[:6]) == [
        "metric",
        "query",
        "side",
        "embedding",
        "words",
        "value",
    ]
    assert found.table["robustness"].tolist() == [float(each.robustness.iloc[0]) for each in found]
    assert found.summary().count("Adjusted for length") == 8
    assert found[0].metric == "weat_es"
    assert bb.plot_silhouette_grid(found).shape == (4, 2)


def test_sides_and_parts_of_queries(demo: bb.Embedding) -> None:
    assert [
        s.side for s in bb.run_silhouettes("weat_es", "weat_7", demo, side="targets", **FEW)
    ] == ["targets"]
    # A metric of one attribute set takes a query of two in parts.
    parts = bb.run_silhouettes("ect", "weat_7", demo, side="targets", **FEW)
    assert [each.query.template for each in parts] == [(2, 1), (2, 1)]
    with pytest.raises(SpecError, match="'side' is 'left'"):
        bb.run_silhouettes("weat_es", "weat_7", demo, side="left")
    with pytest.raises(SpecError, match="at least one metric and one query"):
        bb.run_silhouettes("weat_es", [], demo)
    with pytest.raises(SpecError, match="'runs' is 1"):
        bb.run_silhouettes("weat_es", "weat_7", demo, runs=1)


def test_what_will_fail_fails_first(demo: bb.Embedding, monkeypatch: pytest.MonkeyPatch) -> None:
    # The second metric has no finite range; the first must not have run by then.
    calls = []
    from bayesbias.silhouette_analysis import silhouette_sets

    real = silhouette_sets.silhouettes

    def spy(*arguments: object, **options: object) -> object:
        calls.append(options["runs"])
        return real(*arguments, **options)

    monkeypatch.setattr(silhouette_sets, "silhouettes", spy)
    with pytest.raises(SpecError, match="'ripa' has no finite range"):
        bb.run_silhouettes(["weat_es", "ripa"], "weat_7", demo, side="targets", **FEW)
    assert set(calls) == {2}


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_expected_extremes_are_those_of_all_choices(n: int) -> None:
    values = np.random.default_rng(0).normal(size=(2, 6, 4))
    chosen = [values[:, list(some)] for some in combinations(range(6), n)]
    low, high = expected_extremes(values, n)
    np.testing.assert_allclose(low, np.mean([part.min(axis=1) for part in chosen], axis=0))
    np.testing.assert_allclose(high, np.mean([part.max(axis=1) for part in chosen], axis=0))


def test_convergence(demo: bb.Embedding) -> None:
    wide = bb.load_embedding("demo-100d")
    found = bb.silhouettes("weat_es", "weat_7", [demo, wide], runs=40, chance=0, progress=False)
    table = found.convergence
    assert table["runs"].max() == 40
    last = table[table["runs"] == 40].set_index("embedding")["robustness"]
    pd.testing.assert_series_equal(last, found.robustness, check_names=False)
    for _, one in table.groupby("embedding"):
        assert (np.diff(one["robustness"]) < 0).all()
        assert one["gap"].iloc[-1] == 0
    # The mean over random choices of ten runs.
    rng = np.random.default_rng(0)
    picks = [rng.choice(40, 10, replace=False) for _ in range(400)]
    width, k = 4.0, found.sizes
    runs = found.values  # noqa: PD011
    areas = [np.trapezoid(np.ptp(runs[0, p], axis=0), k) / (width * k[-1]) for p in picks]
    low, high = expected_extremes(runs[:1], 10)
    expected = 1 - np.trapezoid((high - low)[0], k) / (width * k[-1])
    assert 1 - np.mean(areas) == pytest.approx(expected, abs=0.005)
    assert run_numbers(2).tolist() == [2]
    assert run_numbers(100)[[0, -1]].tolist() == [2, 100]
    ax = bb.plot_silhouette_convergence(found)
    for line, (_, one) in zip(ax.get_lines(), table.groupby("embedding", sort=False), strict=True):
        np.testing.assert_allclose(line.get_ydata(), one["robustness"])
    with pytest.raises(SpecError, match="expected what silhouettes"):
        bb.plot_silhouette_convergence("weat_7")


def test_curves_are_the_runs(demo: bb.Embedding) -> None:
    found = bb.silhouettes("weat_es", "weat_7", demo, **FEW)
    runs = found.values  # noqa: PD011
    ax = bb.plot_silhouettes(found, curves=True, band="quantile")
    lines = next(c for c in ax.collections if len(c.get_paths()) == 8)
    for path, run in zip(lines.get_paths(), runs[0], strict=True):
        np.testing.assert_allclose(path.vertices, np.column_stack([found.sizes, run]))
    low, high = ax.get_ylim()
    assert low <= runs.min()
    assert high >= runs.max()
    with pytest.raises(SpecError, match="'curves' is 1"):
        bb.plot_silhouettes(found, curves=1)


def test_the_lists_of_the_paper() -> None:
    ethnicity, gender, religion = bb.query_set("silhouettes")
    sizes = {tuple(map(len, query.word_sets().values())) for query in (ethnicity, religion)}
    assert sizes == {(82, 80, 2006, 4783), (17, 19, 2006, 4783)}
    # "gender bias (290 words)", section 4.2 of the paper.
    assert sum(map(len, gender.attribute_sets)) == 290
    assert tuple(map(len, gender.target_sets)) == (39, 39)
    # As the paper says where they are from.
    garg, manzini = bb.word_sets("garg"), bb.word_sets("manzini")
    for words, name in zip(religion.target_sets, ("christianity", "islam"), strict=True):
        assert set(words) == {*garg[f"words_{name}"], *manzini[f"{name}_terms"]}
    professions = set(bb.word_sets("bolukbasi")["professions"])
    assert {word for words in gender.attribute_sets for word in words} <= professions
    names = {word.lower() for words in ethnicity.target_sets for word in words}
    assert {*garg["names_white"], *garg["names_black"]} <= names
