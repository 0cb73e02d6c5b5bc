"""The sentence about the words that a debiaser has learnt from."""

from __future__ import annotations

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.debias import learnt_from

PAIRS = [("he", "she"), ("man", "woman"), ("qwx", "xwq")]
GROUPS = [["he", "man", "boy", "king", "father"], ["she", "woman", "girl", "qwx"]]


@pytest.mark.filterwarnings("ignore:.*lacks:bayesbias.errors.BayesBiasWarning")
@pytest.mark.filterwarnings("ignore:.*left out:bayesbias.errors.BayesBiasWarning")
def test_what_is_there_is_counted_and_the_first_words_are_named(demo: bb.Embedding) -> None:
    hard = bb.debias.HardDebias().fit(demo, definition=PAIRS)
    assert learnt_from(hard, PAIRS, demo) == "2 of 3 pairs (he–she, man–woman)"
    sets = [("judaism", "christianity", "islam"), ("jew", "christian", "muslim")]
    several = bb.debias.MulticlassHardDebias().fit(demo, definition=sets)
    assert learnt_from(several, sets, demo).startswith("2 of 2 sets (judaism–christianity–islam,")
    leace = bb.debias.LEACE().fit(demo, definition=GROUPS)
    assert learnt_from(leace, GROUPS, demo) == (
        "5 of 5 words (he, man, boy, king and 1 more) as group 1 and "
        "3 of 4 words (she, woman, girl) as group 2"
    )


def test_lists_that_have_a_name_are_named(demo: bb.Embedding) -> None:
    hard = bb.debias.HardDebias().fit(demo)
    assert "10 of 10 pairs of bolukbasi:definitional_pairs (" in learnt_from(hard, None, demo)
    names = ["bolukbasi:male_terms", "bolukbasi:female_terms"]
    leace = bb.debias.LEACE().fit(demo, definition=names)
    text = learnt_from(leace, names, demo)
    assert " words of bolukbasi:male_terms (" in text
    assert " words of bolukbasi:female_terms (" in text
    words = bb.word_sets("bolukbasi")["gender_specific"]
    known = len(words) - len(demo.match(words).missing)
    sibling = bb.debias.HalfSiblingRegression().fit(demo)
    text = learnt_from(sibling, None, demo)
    assert text.startswith(f"{known} of {len(words):,} words of bolukbasi:gender_specific (")


def test_words_that_lean_to_a_side_are_said_to_be_found_by_pairs(demo: bb.Embedding) -> None:
    leace = bb.debias.LEACE(n_words=5, pairs=[("she", "he")]).fit(demo)
    first, second = leace.groups_
    assert learnt_from(leace, None, demo) == (
        f"5 ({', '.join(first[:4])} and 1 more) and 5 ({', '.join(second[:4])} and 1 more) words "
        "that lean most to either side of 1 of 1 pair (she–he)"
    )
    default = bb.debias.LEACE(n_words=5).fit(demo)
    assert "side of 10 of 10 pairs of bolukbasi:definitional_pairs" in learnt_from(
        default, None, demo
    )
    assert not np.array_equal(default.groups_, leace.groups_)
