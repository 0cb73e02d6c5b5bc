"""A value never lies outside its own interval, whatever the metric, the words and the vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias.debias_effects.change_tables import scores_frame
from bayesbias.numerics.intervals import centred, interval_around

pytestmark = pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")

OPTIONS: dict[str, dict[str, Any]] = {
    "cluster_test": {"n_words": 8},
    "classification_test": {"n_words": 16, "n_train": 6, "classifier": "logistic"},
    "neighbourhood": {"k": 5},
    "pmn": {"k": 5},
    "proximity_bias": {"k": 5},
    "gipe": {"k": 5},
}
METRICS = [replace(kind(), **OPTIONS.get(name, {})) for name, kind in bb.metrics.METRICS.items()]  # type: ignore[type-var]
METRICS += [
    bb.metrics.DirectBias(strictness=0),
    bb.metrics.DirectBias(strictness=3),
    bb.metrics.RND(distance="cos"),
]
METRICS += [
    bb.metrics.WEATEffectSize(ddof=1),
    bb.metrics.SemAxis(neighbours=2),
    bb.metrics.RNSB(holdout=True),
]

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 7)
probs = st.floats(0.05, 0.99)
kinds = st.sampled_from(["hdi", "eti"])


def made(
    metric: bb.metrics.Metric, seed: int, targets: int, attributes: int, strength: float
) -> tuple[bb.Query, list[bb.Embedding]]:
    """Return a query, and two random embeddings that are alike, with other words around it."""
    rng = np.random.default_rng(seed)
    shape = [2 if n == "n" else n for n in metric.template]
    # Sets of unequal length, but for pairs.
    counts = [targets + (i if not metric.paired else 0) for i in range(shape[0])]
    counts += [attributes] * shape[1]
    sets = [[f"{i}-{j}" for j in range(n)] for i, n in enumerate(counts)]
    words = [word for words in sets for word in words]
    words += [f"other{i}" for i in range(60 if metric.whole_embedding else 0)]
    vectors = rng.normal(size=(len(words), 6)) * rng.lognormal(size=(len(words), 1))
    vectors[: counts[0], 0] += strength
    moved = vectors + rng.normal(size=vectors.shape) * rng.choice([0.0, 0.3])
    query = bb.Query(sets[: shape[0]], sets[shape[0] :])
    return query, [bb.Embedding(words, v, name) for v, name in ((vectors, "a"), (moved, "b"))]


def holds(lower: float, value: float, upper: float) -> bool:
    """Return whether an interval holds the value, or is not given."""
    return bool(np.isnan(lower) and np.isnan(upper)) or lower <= value <= upper


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@settings(max_examples=15, deadline=None)
@given(
    seed=seeds,
    targets=sizes,
    attributes=sizes,
    strength=st.sampled_from([0.0, 0.5, 5.0]),
    prob=probs,
    kind=kinds,
)
def test_values_lie_in_their_intervals(
    metric: bb.metrics.Metric,
    seed: int,
    targets: int,
    attributes: int,
    strength: float,
    prob: float,
    kind: Any,
) -> None:
    query, embeddings = made(metric, seed, targets, attributes, strength)
    scores = [
        metric.posterior(query, one, draws=30, prob=prob, kind=kind, seed=seed % 100)
        for one in embeddings
    ]
    low, high = metric.bounds(query)
    for score in scores:
        assert holds(score.lower, score.value, score.upper)
        assert score.value == metric.run_query(query, embeddings[0], seed=seed % 100).value or (
            score.embedding == "b" or np.isnan(score.value)
        )
        given_one = np.isfinite(score.lower)
        # An interval, or why there is none; never both, never neither.
        assert given_one == (score.draws is not None)
        assert given_one != (score.reason is not None or score.no_interval is not None)
        if score.draws is not None and len(set(map(len, query.target_sets))) == 1:
            assert low - 1e-9 <= np.nanmin(score.draws)
            assert np.nanmax(score.draws) <= high + 1e-9
        if not given_one:
            assert score.row()["reason"]
            assert "nan" not in repr(score).split("=")[1].split(",")[0] or np.isnan(score.value)
        score.summary()
        score._repr_html_()
    frame = scores_frame(scores, prob)
    for row in frame.to_dict("records"):
        for value, ends in (("before",) * 2, ("after",) * 2, ("change", "")):
            lower, upper = (row[f"{ends}_{end}".lstrip("_")] for end in ("lower", "upper"))
            assert holds(lower, row[value], upper)
        assert row["note"] or row["verdict"]


@pytest.mark.parametrize("name", ["weat", "weat_es", "mac", "same", "rnsb", "ect"])
@settings(max_examples=10, deadline=None)
@given(
    seed=seeds,
    aggregate=st.sampled_from(["avg", "abs_avg", "sum", "abs_sum"]),
    prob=probs,
)
def test_scores_of_rankings_lie_in_their_intervals(
    name: str, seed: int, aggregate: Any, prob: float
) -> None:
    metric = bb.metrics.METRICS[name]()
    query, embeddings = made(metric, seed, 5, 5, 0.0)
    other = bb.Query(query.target_sets[::-1], query.attribute_sets)
    found = bb.rank_posterior(
        metric, [query, other], embeddings, aggregate=aggregate, draws=30, prob=prob
    )
    table = found.table
    assert (table["lower"] <= table["score"]).all()
    assert (table["score"] <= table["upper"]).all()
    if aggregate.startswith("abs_"):
        assert (found.draws >= 0).all(axis=None)


@given(
    draws=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60),
    value=st.floats(-1e6, 1e6),
    prob=probs,
    kind=kinds,
)
def test_intervals_around_a_value_hold_it(
    draws: list[float], value: float, prob: float, kind: Any
) -> None:
    lower, upper = interval_around(value, centred(np.array(draws), value), prob, kind)
    assert lower <= value <= upper
