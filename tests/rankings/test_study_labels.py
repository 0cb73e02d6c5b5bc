"""What people read in place of the names of queries and word sets."""

from __future__ import annotations

import pytest

import bayesbias as bb
from bayesbias._core.plugins import title_of
from bayesbias.rankings import StudyLabels, study_queries

STUDIES = ("religion", "gender", "race", "weat_1", "weat_7")
RACE = StudyLabels(bb.load_study("race"))


def test_every_query_of_every_study_has_a_label() -> None:
    for name in STUDIES:
        study = bb.load_study(name)
        labels = StudyLabels(study)
        metrics = [metric for metric in bb.metrics.METRICS.values() if not metric.paired]
        for _, queries in study_queries(metrics, study)[0]:
            for query in queries:
                shown = labels.query(query)
                assert "wrt" not in shown
                assert all(study.group_label(group) in shown for group in query.split(" wrt ")[0]
                           .replace(" and ", ", ").split(", "))  # fmt: skip


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Math and Arts wrt Male terms", "Math and Arts wrt Male terms"),
        ("black", bb.load_study("race").group_label("black")),
        ("nothing", "nothing"),
    ],
)
def test_other_names_stay(name: str, shown: str) -> None:
    assert RACE.query(name) == shown


def test_a_group_may_be_called_by_the_word_between() -> None:
    study = bb.Study("s", {"a wrt b": ["x"], "c": ["y"]}, {"a wrt b": ["u"], "c": ["v"]},
                     labels={"groups": {"a wrt b": "A", "c": "C"}})  # fmt: skip
    labels = StudyLabels(study)
    assert labels.query("a wrt b and c wrt c stereotypes") == "A and C, by the stereotypes of C"
    assert labels.query("a wrt b wrt a wrt b stereotypes") == "A, by its stereotypes"


def test_sets_pairs_and_texts() -> None:
    label = bb.load_study("race").group_label("caucasian")
    assert RACE.word_set("group: caucasian") == f"{label}: protected words"
    assert RACE.word_set("control: human") == "Human controls"
    assert RACE.word_set("something else") == "something else"
    both = RACE.pair("stereotype: caucasian", "stereotype: asian")
    assert both == f"{label} / {bb.load_study('race').group_label('asian')}: stereotypes"
    assert RACE.pair("group: asian", "control: human").endswith(
        ": protected words / Human controls"
    )
    text = "The words of 'stereotype: caucasian' in 'demo'"
    assert RACE.text(text) == f"The words of '{label}: stereotypes' in 'demo'"


def test_titles_of_metrics_and_methods() -> None:
    metrics, methods = bb.metrics.METRICS, bb.debias.DEBIASERS
    assert title_of("weat_es", metrics) == "WEAT effect size"
    assert title_of("nothing", metrics) == "nothing"
    assert all(kind.title for kind in (*metrics.values(), *methods.values()))
    for registry in (metrics, methods):
        titles = [title_of(name, registry) for name in registry]
        assert len(set(titles)) == len(titles)
        assert not any("_" in title for title in titles)

    class Mine(bb.metrics.WEAT):
        name = "mine"

    assert title_of("mine", {"mine": Mine}) == "mine"

    class Same(bb.metrics.WEAT):
        pass

    assert title_of("weat", {"weat": Same}) == "WEAT"
