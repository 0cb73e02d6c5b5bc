"""A metric of one's own, in ten lines of one file: what it gets without more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_audit import FAST

import bayesbias as bb
from bayesbias.metrics import METRICS


class NearestGap(bb.metrics.Metric):
    """How much closer the nearest words of the first targets are to each attribute."""

    name, template, value_range = "nearest_gap", (2, 1), (-2.0, 2.0)

    def value(self, targets: Any, attributes: Any) -> float:
        first, second = (np.max(t.unit @ attributes[0].unit.T, axis=0) for t in targets)
        return float(np.mean(first - second))


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS, "nearest_gap", NearestGap)


@pytest.fixture(scope="module")
def query() -> bb.Query:
    return bb.load_query("weat_6").subqueries((2, 1))[0]


def test_value_posterior_test_and_words(demo: bb.Embedding, query: bb.Query) -> None:
    measurement = NearestGap().on(query, demo)
    assert (
        NearestGap().run_query(query, demo).value
        == measurement.value()
        == measurement.score().value
    )
    score = measurement.posterior(draws=200)
    assert score.lower < score.value < score.upper
    assert measurement.permutation_test().p_value < 0.05
    influence = measurement.influence()
    assert len(influence) == sum(map(len, query.word_sets().values()))
    assert len(measurement.by_word(draws=50)) == len(query.attribute_sets[0])


def test_silhouettes_by_name(demo: bb.Embedding, query: bb.Query) -> None:
    result = bb.silhouettes("nearest_gap", query, demo, runs=5, progress=False)
    complete = NearestGap().on(query, demo).value()
    np.testing.assert_allclose(result.complete, complete)
    assert set(result.influence()["word"]) == {w for s in query.target_sets for w in s}


def test_rankings_by_name(demo: bb.Embedding, query: bb.Query) -> None:
    embeddings = [demo, bb.load_embedding("demo-100d")]
    values = bb.run_queries("nearest_gap", query, embeddings, progress=False)
    assert values.loc["demo"].item() == pytest.approx(NearestGap().on(query, demo).value())
    ranking = bb.rank_posterior("nearest_gap", query, embeddings, draws=100, progress=False)
    assert list(ranking.table["embedding"]) == ["demo-100d", "demo"]
    scores = bb.query_scores(
        ["mac", "nearest_gap"], "weat_6", demo, subqueries=True, progress=False
    )
    assert (scores["metric"] == "nearest_gap").sum() == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_audit_by_name(wood: bb.Embedding, trees: bb.Study, tmp_path: Path, sketched: None) -> None:
    result = bb.audit(wood, trees, out=tmp_path, **(FAST | {"metrics": "nearest_gap"}))
    scores = result.scores.query("metric == 'nearest_gap'")
    assert len(scores) == 2, "one for the stereotypes of each group"
    assert np.isfinite(scores["value"]).all()
    assert (scores["value"].between(scores["lower"], scores["upper"])).all()
    assert "Nearest gap" in Path(result.report).read_text("utf-8")
