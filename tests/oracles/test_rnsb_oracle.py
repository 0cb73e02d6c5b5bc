"""RNSB beside WEFE 1.0.1's numbers, on WEFE's own test model (GoogleNews, 13,013 words)."""

from __future__ import annotations

from typing import Any

import pytest

import bayesbias as bb

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning"),
]

# The lists of each of WEFE's queries, by their names in WEFE.
LISTS = {
    "WEAT1": "flowers insects pleasant_5 unpleasant_5a",
    "WEAT2": "instruments weapons pleasant_5 unpleasant_5a",
    "WEAT3": "european_american_names_5 african_american_names_5 pleasant_5 unpleasant_5b",
    "WEAT4": "european_american_names_7 african_american_names_7 pleasant_5 unpleasant_5b",
    "WEAT5": "european_american_names_7 african_american_names_7 pleasant_9 unpleasant_9",
    "WEAT6": "male_names female_names career family",
    "gender_family_careers": "female_terms male_terms family career",
}


def test_every_number(oracle: list[dict[str, Any]], wefe_model: bb.Embedding) -> None:
    """With and without hold-out; WEFE's solver stops about 1e-4 from the optimum."""
    records = [record for record in oracle if record["metric"] == "RNSB"]
    assert len(records) == 26
    for record in records:
        sets = [bb.word_sets("weat")[name] for name in LISTS[record["query"]].split()]
        score = bb.metrics.RNSB().run_query(
            bb.Query(sets[:2], sets[2:]),
            wefe_model,
            normalize=record["normalize"],
            holdout=record["holdout"],
            seed=record["random_state"],
            matching=bb.embeddings.Matching(("exact",)),
        )
        theirs = record["result"]
        assert score["result"] == pytest.approx(theirs["result"], rel=2e-4)
        assert score["rnsb"] == pytest.approx(theirs["rnsb"], rel=2e-4)
        for key in ("negative_sentiment_probabilities", "negative_sentiment_distribution"):
            assert list(score[key]) == list(theirs[key])
            assert score[key] == pytest.approx(theirs[key], rel=2e-4)
