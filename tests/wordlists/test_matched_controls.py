"""Controls that are matched to the stereotypes."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ks_2samp

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, SpecError, VocabularyError
from bayesbias.wordlists.catalogue import STUDIES
from bayesbias.wordlists.matched_controls import ks_distance


@pytest.mark.parametrize("name", STUDIES)
def test_built_in_studies_are_balanced_on_the_demo(demo: bb.Embedding, name: str) -> None:
    study = bb.load_study(name)
    matched = study.match_controls(demo)
    rows = matched.balance.set_index("words")
    assert matched.is_balanced
    assert abs(rows.loc["after", "difference"]) < 0.05
    assert rows.loc["after", "ks"] < rows.loc["before", "ks"] / 2
    words = matched.controls["neutral"]
    assert len(set(words)) == len(words) == len(matched.matches)
    assert sorted(words) == sorted(matched.matches["word"])
    assert (matched.matches["matched_to"].value_counts() == 5).all()
    assert (matched.groups, matched.stereotypes) == (study.groups, study.stereotypes)
    assert matched.controls.get("human") == study.controls.get("human")
    bb.distance_table(demo, matched)  # no word has two roles


def test_values_and_provenance(demo: bb.Embedding) -> None:
    study = bb.load_study("race")
    matches = study.match_controls(demo, ratio=2, seed=3).matches
    ranks = demo.ranks
    for row in matches.to_dict("records"):
        assert row["value"] == -np.log(ranks[demo.index[row["word"]]])
        assert row["matched_value"] == -np.log(ranks[demo.index[row["matched_to"]]])
        assert (row["drawn_from"] == "study") == (row["word"] in study.controls["neutral"])
    listed = {word for words in bb.word_sets("bing_liu").values() for word in words}
    drawn = matches[matches["drawn_from"] == "pool"]["word"]
    assert not listed & set(drawn)
    assert drawn.str.fullmatch("[a-z]{2,}").all()


def test_seeds(demo: bb.Embedding) -> None:
    study = bb.load_study("race")
    first, again, other = (study.match_controls(demo, seed=seed) for seed in (1, 1, 2))
    assert first.controls["neutral"] == again.controls["neutral"]
    assert first.controls["neutral"] != other.controls["neutral"]


def test_norms(demo: bb.Embedding) -> None:
    matched = bb.load_study("gender").match_controls(demo, "norm")
    assert matched.is_balanced
    row = matched.matches.iloc[0]
    assert row["value"] == pytest.approx(np.linalg.norm(demo[row["word"]]))
    assert "Mean vector norm" in matched.summary()


def test_counts_of_ones_own(demo: bb.Embedding) -> None:
    study = bb.load_study("weat_7")
    counts = {word: 1e9 / rank for word, rank in zip(demo.words, demo.ranks, strict=True)}
    by_counts, by_rank = (
        study.match_controls(demo, frequencies=source) for source in (counts, "rank")
    )
    assert by_counts.controls["neutral"] == by_rank.controls["neutral"]


def test_a_pool_of_ones_own(demo: bb.Embedding) -> None:
    study = bb.load_study("weat_7")
    pool = list(demo.words[200:3000])
    taken = {word for words in study.word_sets().values() for word in words}
    with pytest.warns(BayesBiasWarning, match="cannot be matched well"):
        matched = study.match_controls(demo, pool=pool)  # nothing as frequent as "he"
    assert set(matched.controls["neutral"]) <= (set(pool) - taken) | set(study.controls["neutral"])
    by_name, by_set = (
        bb.load_study("race").match_controls(demo, pool=given, ratio=1)
        for given in ("controls:neutral_2", bb.word_sets("controls")["neutral_2"])
    )
    assert by_name.controls["neutral"] == by_set.controls["neutral"]
    alone = bb.load_study("race").match_controls(demo, pool=[], ratio=1)
    assert set(alone.matches["drawn_from"]) == {"study"}


def test_a_match_that_cannot_be_had_is_told(demo: bb.Embedding) -> None:
    study = bb.load_study("weat_7")
    message = r"weat_7: the controls cannot be matched well on frequency \(the means differ"
    with pytest.warns(BayesBiasWarning, match=message):
        matched = study.match_controls(demo, pool=[], ratio=10)
    assert not matched.is_balanced
    assert not matched.matches["within_caliper"].all()
    assert "outside the caliper" in matched.summary()


def test_a_pool_without_a_known_word_is_refused(demo: bb.Embedding) -> None:
    with pytest.raises(VocabularyError, match=r"no word of 'pool' \('xqzz'\) is in the embedding"):
        bb.load_study("race").match_controls(demo, pool=["xqzz"])


def test_a_study_without_neutral_words(demo: bb.Embedding) -> None:
    study = bb.Study("few", {"a": ["he"], "b": ["she"]}, {"a": ["engineer"], "b": ["nurse"]}, {})
    matched = study.match_controls(demo, ratio=3)
    assert matched.balance["words"].tolist() == ["stereotypes", "after"]
    assert len(matched.controls["neutral"]) == 6
    assert "before" not in matched.summary()


def test_it_is_a_study(demo: bb.Embedding, tmp_path: Path) -> None:
    matched = bb.load_study("race").match_controls(demo, name="fair")
    assert isinstance(matched, bb.Study)
    assert repr(matched).startswith("<MatchedStudy 'fair': 3 groups")
    assert "KS distance" in matched._repr_html_()
    for same in (pickle.loads(pickle.dumps(matched)), copy.deepcopy(matched)):
        assert same == matched
        assert same.matches.equals(matched.matches)
    matched.save(tmp_path / "fair.toml")
    plain = bb.load_study(tmp_path / "fair.toml")
    assert plain == matched
    assert "matched to the stereotypes on frequency in the embedding demo" in plain.notes[-1]
    assert type(bb.wordlists.MatchedStudy.from_dict(matched.to_dict())) is bb.Study


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "length"}, "'on' is 'length'"),
        ({"ratio": 0}, "'ratio' is 0"),
        ({"caliper": -1.0}, "'caliper' is -1.0"),
        ({"seed": -1}, "'seed' is -1"),
        ({"pool": "opinions"}, "'pool' is 'opinions'; expected a list of words, or the name"),
        ({"pool": [], "ratio": 100}, "100 × 15 controls are asked for, but there are only 241"),
    ],
)
def test_mistakes(demo: bb.Embedding, options: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        bb.load_study("race").match_controls(demo, **options)  # type: ignore[arg-type]


def test_embeddings_that_do_not_fit(tiny: bb.Embedding) -> None:
    with pytest.raises(SpecError, match="expected an Embedding"):
        bb.load_study("race").match_controls(3)  # type: ignore[arg-type]
    with pytest.raises(VocabularyError, match="has none of the stereotypes"):
        bb.load_study("religion").match_controls(tiny, "norm")


def test_ks_distance_is_that_of_scipy(rng: np.random.Generator) -> None:
    for sizes in ((5, 40), (30, 30), (1, 7)):
        first, second = (rng.normal(size=n).round(1) for n in sizes)
        assert ks_distance(first, second) == pytest.approx(ks_2samp(first, second).statistic)
