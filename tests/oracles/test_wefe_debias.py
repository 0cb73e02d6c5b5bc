"""Debiasing beside WEFE 1.0.1's numbers, on WEFE's own test model (GoogleNews, 13,013 words)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import SpecError

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning"),
]

EXACT = bb.embeddings.Matching(fallbacks=("exact",))
QUERIES = {
    "WEAT6": ("male_names", "female_names", "career", "family"),
    "WEAT7": ("math", "arts", "male_terms", "female_terms"),
    "WEAT8": ("science", "arts_2", "male_terms_2", "female_terms_2"),
}


def record(oracle: list[dict[str, Any]], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(r["result"] for r in oracle if r["metric"] == f"debias:{name}")
    return found


def probe(after: bb.Embedding, expected: dict[str, Any], words: list[str] | None = None) -> None:
    """Compare the first numbers of some words' vectors."""
    for word in words or expected["probes"]:
        assert after[word][:5] == pytest.approx(expected["probes"][word], abs=1e-6), word


def compare(after: bb.Embedding, expected: dict[str, Any]) -> None:
    """Compare what WEFE says of all vectors together, and of WEAT afterwards."""
    probe(after, expected)
    vectors = after.vectors.astype(float)
    assert np.linalg.norm(vectors) == pytest.approx(expected["frobenius"], rel=1e-6)
    assert vectors.mean() == pytest.approx(expected["mean"], abs=1e-8)
    for name, lists in QUERIES.items():
        sets = [bb.word_sets("weat")[key] for key in lists]
        score = bb.metrics.WEAT().run_query(
            bb.Query(sets[:2], sets[2:]), after, matching=bb.embeddings.Matching(("exact",))
        )
        for key in ("weat", "effect_size"):
            assert score[key] == pytest.approx(expected["weat"][name][key], abs=1e-5), name


@pytest.fixture(scope="module")
def hard(wefe_model: bb.Embedding) -> bb.debias.HardDebias:
    return bb.debias.HardDebias(equalize="bolukbasi:equalize_pairs").fit(
        wefe_model, definition="bolukbasi:definitional_pairs", matching=EXACT
    )


def test_hard_debias(
    oracle: list[dict[str, Any]], wefe_model: bb.Embedding, hard: bb.debias.HardDebias
) -> None:
    expected = record(oracle, "HardDebias(ignore=gender_specific)")
    head = np.array(expected["bias_direction_head"])
    sign = np.sign(hard.directions_[0, 0] * head[0])
    assert sign * hard.directions_[0, :5] == pytest.approx(head, abs=1e-6)
    ratios = expected["explained_variance_ratio"]
    assert hard.explained_variance_ratio_[:10] == pytest.approx(ratios, abs=1e-6)
    compare(hard.transform(wefe_model, ignore="bolukbasi:gender_specific"), expected)


def test_hard_debias_of_all_words(
    oracle: list[dict[str, Any]], wefe_model: bb.Embedding, hard: bb.debias.HardDebias
) -> None:
    """Where WEFE leaves words of pairs at other lengths, only these differ."""
    expected = record(oracle, "HardDebias(all)")
    after = hard.transform(wefe_model)
    probe(after, expected, ["nurse", "programmer", "family", "business"])
    assert np.linalg.norm(after.vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_half_sibling_regression(oracle: list[dict[str, Any]], wefe_model: bb.Embedding) -> None:
    expected = record(oracle, "HalfSiblingRegression(gender_specific,alpha=60)")
    after = bb.debias.HalfSiblingRegression().fit(wefe_model, matching=EXACT).transform(wefe_model)
    changed = (after.vectors != wefe_model.vectors).any(axis=1)
    assert changed.sum() == expected["rows_changed"]
    assert (~changed).sum() == expected["n_bias_words"]
    compare(after, expected)


def test_multiclass_space(oracle: list[dict[str, Any]], wefe_model: bb.Embedding) -> None:
    """WEFE goes on to ten components where the sets span seven: the rest are of rounding errors.

    So its vectors are no measure here, but the space is.
    """
    expected = record(oracle, "MulticlassHardDebias(gender)")
    debiaser = bb.debias.MulticlassHardDebias(n_components=7).fit(
        wefe_model, definition="manzini:gender_definitional_sets", matching=EXACT
    )
    ratios = expected["evr"]
    assert debiaser.explained_variance_ratio_[:7] == pytest.approx(ratios[:7], abs=1e-6)
    assert max(ratios[7:]) < 1e-12
    with pytest.raises(SpecError, match="span 7 dimensions; use n_components=7"):
        bb.debias.MulticlassHardDebias(n_components=10).fit(
            wefe_model, definition="manzini:gender_definitional_sets"
        )


def test_double_hard_debias(oracle: list[dict[str, Any]], wefe_model: bb.Embedding) -> None:
    """Near WEFE's vectors, for a word that WEFE changes, with the component that it chose.

    WEFE leaves the same remainder in all words, its principal components are approximate, and its
    direction is that of the pairs as they were: hence the tolerance.
    """
    expected = record(oracle, "DoubleHardDebias(n_words=1000,np.random.seed(0))")
    debiaser = bb.debias.DoubleHardDebias(n_components=1).fit(wefe_model)
    component, direction = debiaser.directions_
    head = np.array(expected["bias_direction_head"])
    assert np.sign(direction[0] * head[0]) * direction[:5] == pytest.approx(head, abs=0.01)
    after = debiaser.transform(wefe_model)
    remainder = (component @ debiaser.mean_) * component
    nurse = after["nurse"] - remainder
    assert nurse[:5] == pytest.approx(expected["probes"]["nurse"], abs=0.02)
    assert np.abs(wefe_model["nurse"][:5] - expected["probes"]["nurse"]).max() > 0.05
    assert not np.allclose(after["programmer"], wefe_model["programmer"], atol=0.05)
    assert wefe_model["programmer"][:5] == pytest.approx(expected["probes"]["programmer"])
