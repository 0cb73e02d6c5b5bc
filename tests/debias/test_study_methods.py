"""Debiasing methods learn from what fits the study."""

from __future__ import annotations

from typing import Any

import pytest

import bayesbias as bb
from bayesbias.debias import method_for
from bayesbias.errors import SpecError

PAIRS = ("hard_debias", "double_hard_debias", "projection", "repulsion_attraction_neutralization")


@pytest.mark.parametrize("name", bb.debias.DEBIASERS)
def test_every_method_takes_a_study_of_two_groups(name: str, jobs: bb.Study) -> None:
    for study in (bb.load_study("gender"), bb.load_study("weat_7"), jobs):
        method = method_for(name, study, seed=3)
        assert method.debiaser.get_params().get("seed", 3) == 3
        assert repr(method.debiaser) in method.described


@pytest.mark.parametrize("name", bb.debias.DEBIASERS)
def test_methods_of_pairs_refuse_three_groups(name: str) -> None:
    study = bb.load_study("religion")
    if name in PAIRS:
        with pytest.raises(SpecError, match=f"{name!r} learns from pairs.*use 'multiclass_hard"):
            method_for(name, study, 0)
    else:
        method_for(name, study, 0)


def test_what_is_learned_from() -> None:
    religion, gender = bb.load_study("religion"), bb.load_study("gender")
    method = method_for("multiclass_hard_debias", religion, 0)
    assert method.definition == "manzini:religion_definitional_sets"
    assert method.debiaser.get_params()["n_components"] == 2
    assert method_for("hard_debias", gender, 0).definition == "bolukbasi:definitional_pairs"
    groups: Any = method_for("leace", religion, 0).definition
    assert groups["jew"] == ["judaism", "jew", "synagogue", "torah", "rabbi"]
    leace = method_for("leace", gender, 0)
    assert leace.definition is None
    assert leace.debiaser.get_params()["pairs"] == "bolukbasi:definitional_pairs"
    words = method_for("half_sibling_regression", religion, 0).definition
    assert words == religion.protected_words


def test_a_study_of_ones_own_is_not_taken_for_a_built_in_one(jobs: bb.Study) -> None:
    mine = bb.Study("religion", jobs.groups, jobs.stereotypes)
    method = method_for("hard_debias", mine, 0)
    assert method.definition == (("he", "she"),)
    assert "the words in the same places of the groups" in method.described


@pytest.mark.parametrize("name", ["multiclass_hard_debias", "leace", "half_sibling_regression"])
def test_methods_learn(name: str, demo: bb.Embedding) -> None:
    method = method_for(name, bb.load_study("religion"), 0)
    after = method.fit(demo, bb.embeddings.Matching(("exact", "lower"))).transform(demo)
    assert after.name == f"demo_{name}"
