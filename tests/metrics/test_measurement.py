"""What a measurement adds to the short forms: names, seeds, matching, words left out."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings import Matching


def test_a_query_by_its_name(demo: bb.Embedding) -> None:
    by_name = bb.metrics.WEAT().on("weat_6", demo)
    assert by_name.query == bb.load_query("weat_6")
    assert by_name.value() == bb.metrics.WEAT().run_query(bb.load_query("weat_6"), demo).value
    silhouettes = bb.silhouettes("weat_es", "weat_6", demo, runs=2, progress=False)
    assert silhouettes.query.name == by_name.query.name
    assert len(bb.silhouette_analysis.planted_embedding("weat_6", 0.1)) == 32
    frame = bb.run_queries("weat", ["weat_6", bb.load_query("weat_7")], demo, progress=False)
    assert frame.shape == (1, 2)
    assert bb.run_queries("weat", "weat_6", demo, progress=False).iloc[0, 0] == by_name.value()


def test_a_generator_as_seed(demo: bb.Embedding) -> None:
    """It gives one seed for all embeddings and queries, and another the next time."""

    def draws(seed: int | np.random.Generator) -> object:
        score = bb.metrics.WEAT().posterior("weat_6", demo, draws=20, seed=seed)
        assert score.draws is not None
        return score.draws.tolist()

    rng = np.random.default_rng(1)
    assert draws(np.random.default_rng(1)) == draws(rng)
    assert draws(np.random.default_rng(1)) != draws(rng)
    number = int(np.random.default_rng(2).integers(2**32))
    assert draws(np.random.default_rng(2)) == draws(number)
    embeddings = [demo, bb.load_embedding("demo-100d")]
    found = bb.silhouettes(
        "weat_es", "weat_6", embeddings, runs=2, seed=np.random.default_rng(2), progress=False
    )
    assert found.seed == number
    scores = [
        bb.query_scores(
            "weat", ["weat_6", "weat_7"], embeddings, draws=20, seed=seed, progress=False
        )
        for seed in (np.random.default_rng(2), number)
    ]
    np.testing.assert_array_equal(scores[0]["lower"], scores[1]["lower"])


def test_a_matching_bound_to_the_embedding_is_used(demo: bb.Embedding) -> None:
    query = bb.load_query("weat_6")
    words = [word for listed in query.word_sets().values() for word in listed]
    entries = demo.match(words).entries
    part = demo.subset(entries)
    prefixed = bb.Embedding([f"/c/en/{entry}" for entry in entries], part.vectors, "prefixed")
    prefixed = prefixed.with_matching(prefix="/c/en/")
    value = bb.metrics.WEAT().on(query, demo).value()
    assert bb.metrics.WEAT().on(query, prefixed).value() == pytest.approx(value)
    assert bb.run_queries("weat", query, prefixed, progress=False).iloc[0, 0] == pytest.approx(
        value
    )
    grown = bb.silhouettes("weat_es", query, [demo, prefixed], runs=3, progress=False)
    np.testing.assert_allclose(grown.values[0], grown.values[1])
    strict = Matching(("exact",))
    with pytest.warns(bb.errors.BayesBiasWarning, match="has no word"):
        assert np.isnan(bb.metrics.WEAT().run_query(query, prefixed, matching=strict).value)


def test_value_is_silent_and_says_why(demo: bb.Embedding) -> None:
    nothing = bb.Query([["xyzzy"], ["he"]], [["nurse"], ["boss"]])
    measurement = bb.metrics.WEAT().on(nothing, demo)
    assert np.isnan(measurement.value())
    assert measurement.reason is not None
    assert "has no word of" in measurement.reason


@pytest.mark.parametrize("name", ["weat", "rnd", "ripa"])
def test_words_left_out(name: str, demo: bb.Embedding) -> None:
    """Beside queries without the word, or pair."""
    metric = bb.metrics.METRICS[name]()
    attributes = [["nurse", "boss", "clerk"], ["art", "math", "music"]][: int(metric.template[1])]
    targets = [["he", "his", "man"], ["she", "her", "woman"]]
    measurement = metric.on(bb.Query(targets, attributes), demo)
    for i, without in enumerate(measurement.without_each(0)):
        left = [words[:i] + words[i + 1 :] for words in targets]
        if not metric.paired:
            left[1] = targets[1]
        assert without == pytest.approx(metric.on(bb.Query(left, attributes), demo).value())
    if metric.paired:
        assert measurement.label(0) == "target: Target set 0 – Target set 1"
        assert measurement.words_at(0)[0] == "he – she"


def test_a_measurement_is_small_when_sent_to_a_process(demo: bb.Embedding) -> None:
    measurement = bb.metrics.WEAT().on("weat_6", demo)
    data = pickle.dumps(measurement)
    assert len(data) < demo.vectors.nbytes / 10
    assert pickle.loads(data).value() == measurement.value()


@pytest.mark.filterwarnings("ignore:.*share:bayesbias.errors.BayesBiasWarning")
def test_splits_that_cannot_be_made_have_a_reason(demo: bb.Embedding) -> None:
    attributes = [["doctor", "lawyer"], ["nurse", "teacher"]]

    def reason(metric: bb.metrics.Metric, *query: list[list[str]], **options: Any) -> str | None:
        return metric.on(bb.Query(*query), demo, **options).split_values(iterations=50).reason

    weat = bb.metrics.WEAT()
    assert reason(weat, [["he", "man"], ["man", "he"]], attributes) == (
        "there is only one way to assign the words to the sets"
    )
    pair = [["he"], ["she"]]
    assert reason(bb.metrics.ClusterTest(n_words=5), pair, []) == bb.metrics.ClusterTest.no_p_value
    assert reason(bb.metrics.MAC(), [["he"]], [["nurse"]]) == "splits need two target sets"
    few = bb.Query([["he", "qwx", "xwq"], ["she"]], attributes)
    measurement = weat.on(few, demo)
    assert measurement.split_values().reason == measurement.words.reason
    assert measurement.words.reason is not None


def test_splits_of_equal_values_have_a_reason() -> None:
    words = ["a", "b", "c", "d", "x", "y"]
    same = bb.Embedding(words, np.array([[1.0, 0.0]] * 4 + [[0.5, 1.0], [0.3, -1.0]]))
    query = bb.Query([["a", "b"], ["c", "d"]], [["x"], ["y"]])
    found = bb.metrics.WEAT().on(query, same).split_values()
    assert len(found.draws) == 0
    assert found.reason == "it does not matter to the metric which set a word is in"
