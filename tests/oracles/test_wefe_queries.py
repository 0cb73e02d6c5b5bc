"""Tables of queries, rankings and their correlations beside WEFE 1.0.1's.

WEFE ran WEAT 6, 7 and 8 on its test model and on that model after hard debiasing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb

pytestmark = pytest.mark.oracle

LISTS = (
    ("male_names", "female_names", "career", "family"),
    ("math", "arts", "male_terms", "female_terms"),
    ("science", "arts_2", "male_terms_2", "female_terms_2"),
)


@pytest.fixture(scope="module")
def tables(oracle: list[dict[str, Any]]) -> dict[str, pd.DataFrame]:
    """Return WEFE's tables by what was run."""
    return {
        record["metric"]: pd.DataFrame(record["result"])
        for record in oracle
        if record["metric"].startswith(("run_queries:", "create_ranking", "calculate_ranking"))
    }


def queries() -> list[bb.Query]:
    sets = bb.word_sets("weat")
    return [bb.Query([sets[t] for t in q[:2]], [sets[a] for a in q[2:]]) for q in LISTS]


RUNS = [
    f"run_queries:{m}:{a}" for m in ("WEAT", "MAC") for a in ("abs_avg", "avg", "sum", "abs_sum")
]
RUNS.append("run_queries:RND:abs_avg:subqueries")


@pytest.mark.parametrize("run", RUNS)
def test_run_queries(run: str, tables: dict[str, pd.DataFrame], wefe_model: bb.Embedding) -> None:
    metric, aggregate, *parts = run.split(":")[1:]
    found = bb.run_queries(
        metric.lower(),
        queries(),
        wefe_model,
        name="gender",
        aggregate=aggregate,  # type: ignore[arg-type]
        subqueries=bool(parts),
        matching=bb.embeddings.Matching(("exact",)),
    )
    expected = tables[run].loc[["test_w2v"]]
    assert list(found.columns) == list(expected.columns)
    # WEFE computes in single precision.
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-7)
    alone = bb.run_queries(
        metric.lower(),
        queries(),
        wefe_model,
        name="gender",
        aggregate=aggregate,  # type: ignore[arg-type]
        only_aggregate=True,
        subqueries=bool(parts),
        matching=bb.embeddings.Matching(("exact",)),
    )
    pd.testing.assert_frame_equal(alone, found.iloc[:, [-1]])


def test_every_run_is_compared(tables: dict[str, pd.DataFrame]) -> None:
    assert set(tables) == {*RUNS, "create_ranking", "calculate_ranking_correlations"}


def test_ranking_and_correlations(tables: dict[str, pd.DataFrame]) -> None:
    frames = [
        tables[f"run_queries:{run}"]
        for run in ("WEAT:abs_avg", "MAC:abs_avg", "RND:abs_avg:subqueries")
    ]
    ranking = bb.rank(frames, by="value")
    pd.testing.assert_frame_equal(ranking, tables["create_ranking"])
    expected = tables["calculate_ranking_correlations"]
    pd.testing.assert_frame_equal(bb.rank_correlations(ranking), expected)


def test_ranking_by_bias_turns_mac_round(tables: dict[str, pd.DataFrame]) -> None:
    """Hard debiasing brings MAC closer to 1: all three metrics then call it less biased."""
    frames = {}
    for run in ("WEAT:abs_avg", "MAC:abs_avg", "RND:abs_avg:subqueries"):
        metric = run.partition(":")[0].lower()
        frames[metric] = tables[f"run_queries:{run}"].copy()
        frames[metric].attrs = {"neutral_value": bb.metrics.METRICS[metric].neutral_value}
    ranking = bb.rank(frames)
    assert (ranking.loc["test_w2v"] == 2).all()
    assert (ranking.loc["test_w2v_debiased"] == 1).all()
    assert (bb.rank_correlations(ranking).round(12) == 1).all(axis=None)
