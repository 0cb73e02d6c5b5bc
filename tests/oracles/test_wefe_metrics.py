"""Metrics beside WEFE 1.0.1's numbers, on WEFE's own test model (GoogleNews, 13,013 words)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings import Matching

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning"),
]

# The lists of each of WEFE's queries, by their names in WEFE.
LISTS = {
    "WEAT1": ("flowers", "insects", "pleasant_5", "unpleasant_5a"),
    "WEAT2": ("instruments", "weapons", "pleasant_5", "unpleasant_5a"),
    "WEAT3": (
        "european_american_names_5",
        "african_american_names_5",
        "pleasant_5",
        "unpleasant_5b",
    ),
    "WEAT4": (
        "european_american_names_7",
        "african_american_names_7",
        "pleasant_5",
        "unpleasant_5b",
    ),
    "WEAT5": (
        "european_american_names_7",
        "african_american_names_7",
        "pleasant_9",
        "unpleasant_9",
    ),
    "WEAT6": ("male_names", "female_names", "career", "family"),
    "gender_family_careers": ("female_terms", "male_terms", "family", "career"),
    "gender_family": ("female_terms", "male_terms", "family"),
}
WAYS = {"lowercase": "lower", "titlecase": "title", "uppercase": "upper"}
METRICS = {
    "WEAT": bb.metrics.WEAT,
    "MAC": bb.metrics.MAC,
    "ECT": bb.metrics.ECT,
    "RIPA": bb.metrics.RIPA,
    "RND": bb.metrics.RND,
}


def query(name: str) -> bb.Query:
    lists = LISTS[name.removesuffix("_2x1")]
    sets = [bb.word_sets("weat")[key] for key in lists]
    return bb.Query(sets[:2], sets[2:3] if name.endswith("_2x1") else sets[2:])


def options(record: dict[str, Any]) -> dict[str, Any]:
    matching = Matching().changed(
        fallbacks=[WAYS[next(iter(p))] if p else "exact" for p in record["preprocessors"]],
        strategy=record.get("strategy"),
        threshold=record.get("lost_vocabulary_threshold"),
    )
    chosen = {key: record[key] for key in ("normalize", "distance") if key in record}
    return {"matching": matching, **chosen}


def leaves(expected: Any, found: Any) -> Iterator[tuple[float, float]]:
    """Pair the numbers of two nested results by their keys."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            if key not in ("query_name", "p_value", "targets_eval"):
                yield from leaves(value, found[key])
    elif expected is not None:
        yield expected, found


def test_every_number(oracle: list[dict[str, Any]], wefe_model: bb.Embedding) -> None:
    compared = dict.fromkeys(METRICS, 0)
    for record in oracle:
        name, result = record["metric"], record["result"]
        if (
            name not in METRICS
            or "error" in record
            or result["result" if name != "MAC" else "mac"] is None
        ):
            continue
        asked = query(record["query"])
        score = METRICS[name]().run_query(asked, wefe_model, **options(record))
        if name == "RIPA" and score.lost:
            continue  # WEFE pairs the words that are left wrongly: see below
        if score.reason is not None:
            # WEFE finds 0 for sets that are empty or the same word; we say why there is nothing.
            assert result["result"] == 0, record["query"]
            continue
        for expected, found in leaves(result, score):
            assert found == pytest.approx(expected, abs=1e-6), (name, record["query"])
            compared[name] += 1
    assert compared["WEAT"] > 150
    assert min(compared.values()) >= 14, compared


def test_nothing_where_wefe_has_nothing(
    oracle: list[dict[str, Any]], wefe_model: bb.Embedding
) -> None:
    weat = [r for r in oracle if r["metric"] == "WEAT" and "error" not in r]
    lost = [r for r in weat if not r["result"]["result"]]
    assert len(lost) >= 8
    for record in lost:
        score = bb.metrics.WEAT().run_query(query(record["query"]), wefe_model, **options(record))
        assert np.isnan(score.value)
        assert score.reason is not None
        assert set(score) == {"query_name", "result", "weat", "effect_size", "p_value"}


def test_ripa_keeps_pairs_together_where_wefe_does_not(wefe_model: bb.Embedding) -> None:
    # WEFE raises an IndexError here, as a weapon is missing and an instrument is not.
    score = bb.metrics.RIPA().run_query(
        query("WEAT2_2x1"), wefe_model, matching=Matching(("exact",))
    )
    first, second = (words for label, words in score.words.items() if "target" in label)
    pairs = list(zip(*(bb.word_sets("weat")[key] for key in LISTS["WEAT2"][:2]), strict=True))
    kept = [p for p in pairs if p[0] in wefe_model and p[1] in wefe_model]
    assert list(zip(first, second, strict=True)) == kept
    assert len(kept) < len(pairs)
    products = []
    for a, b in kept:
        difference = wefe_model[a].astype(float) - wefe_model[b]
        unit = difference / np.linalg.norm(difference)
        words = score.words["attribute: pleasant_5"]
        products.append([float(wefe_model[w] @ unit) for w in words])
    assert score.value == pytest.approx(np.mean(products), abs=1e-6)


@pytest.mark.parametrize("name", ["WEAT3", "WEAT5", "WEAT6"])
def test_p_values(oracle: list[dict[str, Any]], wefe_model: bb.Embedding, name: str) -> None:
    true = next(
        r["result"] for r in oracle if r["query"] == name and "true_permutation" in r["metric"]
    )
    for test, key in (("right-sided", "p_right_ge"), ("two-sided", "p_two_ge")):
        score = bb.metrics.WEAT().run_query(
            query(name),
            wefe_model,
            matching=Matching(("exact",)),
            calculate_p_value=True,
            p_value_iterations=100_000,
            p_value_test_type=test,
        )
        if true["kind"] == "exact":
            assert score.p_value == pytest.approx(true[key], rel=1e-8)
        else:
            error = np.sqrt(2 * true[key] / 100_000)  # of both, drawn 100,000 times each
            assert score.p_value == pytest.approx(true[key], abs=4 * error)
