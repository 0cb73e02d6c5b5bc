"""The effects of debiasing: planted truths, and the parts by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias._core.latex import escape
from bayesbias._core.rounded_table import rounded_table
from bayesbias._core.wording import capitalized
from bayesbias.debias_effects.change_summary import (
    _counts,
    _gaps,
    _metrics,
    _residual,
    _went,
    gap_sentence,
    related_sentence,
    words_sentence,
)
from bayesbias.debias_effects.change_tables import COLUMNS, _verdict, verdict_rule
from bayesbias.errors import BayesBiasError, BayesBiasWarning

pytestmark = pytest.mark.numpy_only

NUMBERS = ["change", "lower", "upper"]
SETS = "manzini:religion_definitional_sets"


@pytest.fixture(scope="module")
def debiaser(demo: bb.Embedding) -> bb.debias.MulticlassHardDebias:
    return bb.debias.MulticlassHardDebias(n_components=2).fit(demo, definition=SETS)


@pytest.fixture(scope="module")
def result(demo: bb.Embedding, debiaser: bb.debias.Debiaser) -> bb.debias_effects.BeforeAfter:
    study = bb.load_study("religion")
    tests = [bb.metrics.ClusterTest(n_words=100), bb.metrics.Neighbourhood(k=20)]
    return bb.before_after(
        demo, debiaser, study, draws=200, residual=tests, residual_draws=10, seed=3
    )


@pytest.fixture(scope="module")
def small() -> bb.Study:
    """A part of a study, for what does not depend on its size."""
    whole = bb.load_study("weat_7")

    def first(sets: Mapping[str, bb.WordSet], n: int) -> dict[str, list[str]]:
        return {name: list(words)[:n] for name, words in sets.items()}

    parts = (first(whole.groups, 4), first(whole.stereotypes, 5), first(whole.controls, 12))
    return bb.Study("small", *parts)


def rows(
    result: bb.debias_effects.BeforeAfter, what: str, measure: str, group: str = ""
) -> pd.DataFrame:
    table = result.table
    return table[
        (table["what"] == what) & (table["measure"] == measure) & (table["group"] == group)
    ]


def change_text(row: pd.Series[Any]) -> str:
    """Return a change as the table for reading has it."""
    rounded = rounded_table(row[NUMBERS].to_frame().T.astype(float), by_row=True)
    [[text]] = rounded.columns
    return text


# The parts, each against the function that makes it


def test_one_table(result: bb.debias_effects.BeforeAfter) -> None:
    table = result.table
    assert list(table.columns) == list(COLUMNS)
    assert list(pd.unique(table["what"])) == [
        "distance", "gap", "overview", "metric", "residual", "similarity", "analogies",
        "neighbours",
    ]  # fmt: skip
    assert not table.duplicated(["what", "measure", "group", "word"]).any()
    known = table.dropna(subset=NUMBERS)
    assert (known["lower"] <= known["upper"]).all()
    assert table["probability"].dropna().between(0, 1).all()
    assert set(table["verdict"]) <= {
        "", "less related", "more related", "nearer", "farther", "narrower", "wider", "fell",
        "rose", "inconclusive", "unchanged", "too few pairs",
    }  # fmt: skip
    # What is inconclusive includes 0, and what is not too uncertain to be judged does not.
    includes_0 = (known["lower"] <= 0) & (known["upper"] >= 0)
    assert includes_0[known["verdict"] == "inconclusive"].all()
    assert not includes_0[known["verdict"].isin(["rose", "fell"])].any()
    assert set(table.loc[table["measure"] == "mac", "event"]) == {"less related"}
    assert repr(result) == (
        f"<BeforeAfter demo → demo_multiclass_hard_debias, study religion: {len(table)} measures>"
    )


def test_distances_are_those_of_fit_paired(
    result: bb.debias_effects.BeforeAfter, demo: bb.Embedding, debiaser: bb.debias.Debiaser
) -> None:
    study = bb.load_study("religion")
    tables = [bb.distance_table(one, study) for one in (demo, debiaser.transform(demo))]
    alone = bb.fit_paired(*tables, draws=200, seed=3).effects(by=None).set_index("connection")
    own = rows(result, "distance", "associated").iloc[0]
    assert own["change"] == pytest.approx(alone.loc["associated", "mean"])
    assert own["lower"] == pytest.approx(alone.loc["associated", "lower"])
    assert own["probability"] == pytest.approx(alone.loc["associated", "prob_towards_1"])
    # Stereotypes of the own group moved away, towards 1.
    assert own["change"] > 0
    assert own["probability"] > 0.9
    assert own["after"] < 1
    assert own["verdict"] == "less related"
    words = result.table.query("what == 'distance' and word != ''")
    assert len(words) == 15 * 4
    assert words.set_index("word")["group"]["quran"].iloc[0] == "muslim"


def test_gaps_and_overview(result: bb.debias_effects.BeforeAfter) -> None:
    assert result.paired is not None
    gap = rows(result, "gap", "associated - none").iloc[0]
    alone = result.paired.gap_closed().iloc[0]
    assert gap["change"] == pytest.approx(alone["change"])
    assert gap["probability"] == pytest.approx(alone["prob_narrower"])
    for name in ("closed", "closed_lower", "closed_upper"):
        assert gap[name] == pytest.approx(alone[name])
    moved = rows(result, "overview", "General N moved closer").iloc[0]
    answer = result.overview.table.loc["General N moved closer", "answer"]
    assert moved["note"] == f"by the thesis's rule: {answer}"
    effects = result.paired.effects(by=None).set_index("connection")
    assert moved["probability"] == pytest.approx(1 - effects.loc["none", "prob_positive"])
    assert (moved["probability"] > 0.5) == (answer == "yes")


def test_mac_before_and_after(result: bb.debias_effects.BeforeAfter, demo: bb.Embedding) -> None:
    study = bb.load_study("religion")
    query = bb.Query(study.groups.values(), study.stereotypes.values())
    scores = [
        bb.metrics.MAC().posterior(query, one, draws=200, seed=3) for one in (demo, result.debiased)
    ]
    row = result.metrics[result.metrics["metric"] == "mac"].iloc[0]
    assert [row["before"], row["after"]] == pytest.approx([score.value for score in scores])
    assert row["before_lower"] == pytest.approx(scores[0].lower)
    assert row["after_upper"] == pytest.approx(scores[1].upper)
    drawn = [score.draws for score in scores]
    assert drawn[0] is not None
    assert drawn[1] is not None
    change = drawn[1] - drawn[0]
    assert row["probability"] == pytest.approx((np.abs(drawn[1] - 1) < np.abs(drawn[0] - 1)).mean())
    assert row["lower"] <= row["change"] <= row["upper"]
    # The draws of the change are moved so that their median is the change.
    moved = change - np.median(change) + row["change"]
    inside = ((moved >= row["lower"]) & (moved <= row["upper"])).mean()
    assert inside == pytest.approx(0.89, abs=0.02)
    # The words' weights are shared, so the change is surer than either value.
    assert row["upper"] - row["lower"] < row["after_upper"] - row["after_lower"]


def test_metrics_ask_groups_about_their_own_stereotypes(
    result: bb.debias_effects.BeforeAfter,
) -> None:
    queries = result.metrics.groupby("metric")["query"].agg(list)
    assert queries["weat"][0] == "jew and christian wrt jew stereotypes and christian stereotypes"
    assert {name: len(asked) for name, asked in queries.items()} == {
        "mac": 1, "weat": 3, "weat_es": 3, "rnd": 6, "rnsb": 3, "ect": 3, "nas": 6, "same": 3,
        "semaxis": 6, "generalized_weat": 1,
    }  # fmt: skip


def test_lengths_do_not_count(demo: bb.Embedding, small: bb.Study) -> None:
    """Vectors that are only scaled to length one have not been debiased."""
    lengths = np.linalg.norm(demo.vectors, axis=1, keepdims=True)
    unit = demo.with_vectors(demo.vectors / lengths, "unit")
    found = bb.before_after(
        demo, unit, small, draws=50, metrics=["rnd", "semaxis", "rnsb"],
        residual=(), analogies=(), similarity=(),
    )  # fmt: skip
    assert found.paired is None
    assert np.abs(found.metrics["change"]).max() < 1e-5
    assert (rows(found, "distance", "associated")["verdict"] == "unchanged").all()


def test_tests_of_what_is_left(result: bb.debias_effects.BeforeAfter, demo: bb.Embedding) -> None:
    study = bb.load_study("religion")
    query = bb.Query([study.groups["jew"], study.groups["muslim"]], [])
    test = bb.metrics.ClusterTest(n_words=100, original=demo)
    wanted = [test.run_query(query, one, seed=3).value for one in (demo, result.debiased)]
    row = rows(result, "residual", "cluster_test", "jew and muslim").iloc[0]
    assert [row["before"], row["after"]] == pytest.approx(wanted)
    assert len(result.residual) == 6
    assert set(result.residual["neutral"]) == {0.5, 0.0}


@pytest.mark.slow
def test_groups_of_what_is_left(demo: bb.Embedding, small: bb.Study) -> None:
    found = bb.before_after(
        demo, bb.debias.HardDebias().fit(demo), small, draws=20, metrics="mac",
        residual=bb.metrics.ClusterTest(n_words=50), residual_draws=3,
        residual_groups={"male": ["he", "him"], "female": ["she", "her"]},
        analogies=(), similarity=(),
    )  # fmt: skip
    assert list(found.residual["query"]) == ["male and female"]


def test_quality_and_drift(result: bb.debias_effects.BeforeAfter, demo: bb.Embedding) -> None:
    both = [demo, result.debiased]
    similarity = bb.debias_effects.word_similarity(both, draws=200, seed=3).iloc[1]
    row = rows(result, "similarity", "rg_65").iloc[0]
    assert row["change"] == pytest.approx(similarity["change"])
    # Fifteen pairs are no ground for a verdict, whatever the interval says.
    assert (row["verdict"], row["note"]) == ("too few pairs", "15 of 65 pairs, too few to rely on")
    analogies = bb.debias_effects.word_analogies(both, draws=200, seed=3).iloc[-1]
    row = rows(result, "analogies", "basic", "all sections").iloc[0]
    assert row[NUMBERS].to_list() == pytest.approx(
        analogies[["change", "change_lower", "change_upper"]].to_list()
    )
    drift = bb.debias_effects.neighbour_drift(*both, seed=3)
    row = rows(result, "neighbours", "share of 10 kept", "frequent words").iloc[0]
    assert row["after"] == pytest.approx(drift["kept"].mean())
    assert 1 + row["lower"] < row["after"] < 1 + row["upper"]
    assert len(result.drift) == 500 + 15


# Known truths


def test_nothing_changes_without_a_change(demo: bb.Embedding, small: bb.Study) -> None:
    tests = [
        bb.metrics.ClusterTest(n_words=50),
        bb.metrics.ClassificationTest(n_words=100, n_train=40),
    ]
    found = bb.before_after(demo, demo, small, draws=50, residual=tests, residual_draws=3)
    assert found.paired is None
    measured = found.table[found.table["what"] != "overview"]
    assert (measured["change"] == 0).all()
    # The tests of residual bias have no interval, and say why.
    left = measured["what"] == "residual"
    assert (measured.loc[~left, NUMBERS] == 0).all(axis=None)
    assert measured.loc[left, ["lower", "upper"]].isna().all(axis=None)
    assert measured.loc[left, "note"].str.contains("no interval: other weights").all()
    assert (measured["probability"].dropna() == 0).all()
    assert set(measured["verdict"]) == {"", "unchanged"}
    assert found.debiased.name == "demo (after)"
    told = found.summary()
    assert "No distance of the study changed." in told
    assert "MAC, the mean distance from all stereotypes, stayed at" in told
    assert " fell " not in told
    assert " rose " not in told


def planted(
    rng: np.random.Generator, *, hidden: float
) -> tuple[bb.Embedding, bb.Embedding, bb.Study]:
    """Words that lean along one axis, and as much of that along a second one as is hidden.

    The second embedding has the first axis taken out.
    """
    groups = {"one": [f"p{i}" for i in range(6)], "two": [f"q{i}" for i in range(6)]}
    stereotypes = {"one": [f"s{i}" for i in range(12)], "two": [f"t{i}" for i in range(12)]}
    controls = {"human": [f"h{i}" for i in range(15)], "neutral": [f"n{i}" for i in range(30)]}
    leaning = dict.fromkeys([*groups["one"], *stereotypes["one"]], 2.5)
    leaning |= dict.fromkeys([*groups["two"], *stereotypes["two"]], -2.5)
    leaning |= {word: rng.normal() for words in controls.values() for word in words}
    leaning |= {f"w{i}": rng.normal(0, 2) for i in range(800)}
    lean = np.array(list(leaning.values()))
    vectors = rng.normal(0, 0.5, (len(lean), 40))
    vectors[:, 0] += lean
    vectors[:, 1] += hidden * lean
    before = bb.Embedding(list(leaning), vectors, "before")
    without = vectors.copy()
    without[:, 0] = 0
    return before, bb.Embedding(list(leaning), without, "after"), bb.Study(
        "planted", groups, stereotypes, controls
    )  # fmt: skip


TESTS = [
    bb.metrics.ClusterTest(n_words=100),
    bb.metrics.ClassificationTest(n_words=300, n_train=150),
]


@pytest.mark.slow
def test_planted_bias_that_is_removed(rng: np.random.Generator) -> None:
    before, after, study = planted(rng, hidden=0)
    found = bb.before_after(
        before, after, study, draws=200, metrics=["weat", "weat_es", "rnd"], residual=TESTS,
        residual_draws=10,
    )  # fmt: skip
    own = rows(found, "distance", "associated").iloc[0]
    assert own["before"] < 0.7
    assert own["after"] == pytest.approx(1, abs=0.05)
    assert own["verdict"] == "less related"
    words = found.table.query("measure == 'associated' and word != ''")
    assert set(words["verdict"]) == {"less related"}
    # Stereotypes of the other group were on the far side, and came nearer.
    other = rows(found, "distance", "different").iloc[0]
    assert other["upper"] < 0
    assert other["verdict"] == "less related"
    assert rows(found, "gap", "associated - none")["verdict"].item() == "narrower"
    assert set(found.metrics.loc[found.metrics["metric"] != "mac", "verdict"]) == {"nearer"}
    # Nothing of it is left: no better than chance.
    left = found.residual.set_index("metric")
    assert left.loc["classification_test", "before"] > 0.95
    assert left.loc["classification_test", "after"] < 0.62
    assert left.loc["cluster_test", "after"] < 0.65
    assert "similarity: rg_65" in found.skipped
    assert "analogies: basic" in found.skipped
    assert "only 0 of the 65 pairs of 'rg_65' have both words in " in found.summary()


@pytest.mark.slow
def test_planted_bias_that_is_only_hidden(rng: np.random.Generator) -> None:
    before, after, study = planted(rng, hidden=1)
    found = bb.before_after(
        before, after, study, draws=50, metrics="mac", residual=TESTS, residual_draws=10
    )
    assert (found.residual["after"] > 0.9).all()
    told = found.summary()
    assert "No interval can be given for the cluster test and classification test." in told
    assert "nan" not in told
    neighbours = bb.before_after(
        before, after, study, draws=50, metrics="mac", residual=bb.metrics.Neighbourhood(k=20)
    )
    row = neighbours.residual.iloc[0]
    assert row["after_lower"] <= row["after"] <= row["after_upper"]
    assert "lies above 0 for 1 of 1 pair of groups" in neighbours.summary()


@pytest.mark.slow
def test_connections_that_did_not_move(demo: bb.Embedding, small: bb.Study) -> None:
    """Only some stereotypes are debiased; the controls and the protected words stay."""
    debiaser = bb.debias.HardDebias().fit(demo)
    found = bb.before_after(
        demo, debiaser, small, target=list(small.stereotypes["math"]), draws=50, metrics="mac",
        residual=(), similarity=(), analogies=(),
    )  # fmt: skip
    assert found.paired is not None
    for name in ("human", "none"):
        row = rows(found, "distance", name).iloc[0]
        assert row[NUMBERS].to_list() == [0, 0, 0]
        assert row["verdict"] == "unchanged"
    assert rows(found, "distance", "associated")["verdict"].item() != "unchanged"


# Options


@pytest.mark.slow
def test_same_seed_same_result(demo: bb.Embedding, small: bb.Study) -> None:
    def run(seed: int) -> pd.DataFrame:
        return bb.before_after(
            demo, bb.debias.HardDebias().fit(demo), small, draws=30, metrics="weat",
            residual=(), similarity=(), seed=seed,
        ).table  # fmt: skip

    first = run(1)
    assert first.equals(run(1))
    assert not first.equals(run(2))


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "expected"), [(None, 5), (0, 0), (3, 3)])
def test_the_seed_of_a_metric_counts_unless_one_is_given(
    demo: bb.Embedding,
    small: bb.Study,
    monkeypatch: pytest.MonkeyPatch,
    seed: int | None,
    expected: int,
) -> None:
    used = set()

    def measure(self: bb.metrics.ClusterTest, *_: object) -> tuple[float, dict[str, float]]:
        used.add(self.seed)
        return 0.5, {}

    monkeypatch.setattr(bb.metrics.ClusterTest, "measure", measure)
    bb.before_after(
        demo, bb.debias.HardDebias().fit(demo), small, draws=30, metrics="weat", similarity=(),
        analogies=(), residual=bb.metrics.ClusterTest(n_words=100, seed=5), residual_draws=2,
        seed=seed,
    )  # fmt: skip
    assert used == {expected}


@pytest.mark.slow
def test_more_queries_and_metrics_of_pairs(demo: bb.Embedding, small: bb.Study) -> None:
    pairs = bb.Query(
        [["he", "man", "king"], ["she", "woman", "queen"]], [["nurse", "clerk", "boss"]]
    )
    found = bb.before_after(
        demo, bb.debias.HardDebias().fit(demo), small, queries=pairs, draws=30,
        metrics=["ripa", "rnd", bb.metrics.WEAT], residual=(), similarity=(), analogies=(),
    )  # fmt: skip
    asked = found.metrics.groupby("metric")["query"].agg(list)
    assert asked["ripa"] == [pairs.name]
    assert pairs.name in asked["rnd"]
    # The query has one attribute set, and WEAT needs two.
    assert asked["weat"] == ["math and arts wrt math stereotypes and arts stereotypes"]
    assert len(asked["mac"]) == 1
    without = bb.before_after(
        demo, bb.debias.HardDebias().fit(demo), small, draws=30, metrics="ripa",
        residual=(), similarity=(), analogies=(),
    )  # fmt: skip
    assert without.skipped["ripa"].startswith("it takes pairs of words")


@pytest.mark.slow
def test_a_group_without_stereotypes(demo: bb.Embedding) -> None:
    study = bb.load_study("religion")
    part = bb.Study(
        "part", study.groups, {name: study.stereotypes[name] for name in ("muslim", "jew")},
        {"neutral": list(study.controls["neutral"])[:30]},
    )  # fmt: skip
    debiaser = bb.debias.MulticlassHardDebias(n_components=2).fit(demo, definition=SETS)
    with pytest.warns(BayesBiasWarning):  # christian words have no stereotypes of their own
        found = bb.before_after(
            demo, debiaser, part, draws=30, metrics=["mac", "weat", "rnd", "generalized_weat"],
            residual=(), similarity=(), analogies=(),
        )  # fmt: skip
    asked = found.metrics.groupby("metric")["query"].agg(list)
    assert asked["mac"][0].startswith("muslim, jew and christian wrt muslim stereotypes")
    assert asked["weat"] == ["jew and muslim wrt jew stereotypes and muslim stereotypes"]
    assert len(asked["rnd"]) == 4
    assert "generalized_weat" in found.skipped
    assert list(found.overview.table.index[-1:]) == ["General N moved closer"]


def test_tests_that_do_not_apply_are_skipped(rng: np.random.Generator) -> None:
    before, after, study = planted(rng, hidden=0)
    words = [word for word in before.words if word[0] != "w"]
    found = bb.before_after(
        before.subset(words), after.subset(words), study, draws=30, metrics="mac",
        residual=[bb.metrics.Neighbourhood(k=500), bb.metrics.ClusterTest(n_words=20)],
        residual_draws=3,
    )  # fmt: skip
    assert "500 neighbours" in found.skipped["neighbourhood"]
    assert list(found.residual["metric"]) == ["cluster_test"]
    assert "Neighbourhood test: embedding" in found.summary()


@pytest.mark.slow
def test_files_of_ones_own(demo: bb.Embedding, small: bb.Study, tmp_path: Path) -> None:
    pairs = tmp_path / "mine.csv"
    words = demo.words[500:540]
    pairs.write_text("".join(f"{a},{b},{i}\n" for i, (a, b) in enumerate(pairwise(words))))
    questions = tmp_path / "asked.txt"
    questions.write_text(": royal\nman woman king queen\n")
    found = bb.before_after(
        demo, bb.debias.HardDebias().fit(demo), small, draws=30, metrics="mac",
        residual=(), similarity=[pairs, "rg_65"], analogies=questions, neighbours=5,
    )  # fmt: skip
    assert list(found.quality["benchmark"]) == ["mine", "rg_65", "asked"]
    assert rows(found, "similarity", "mine")["note"].item() == "39 of 39 pairs"
    assert rows(found, "analogies", "asked", "royal")["note"].item() == "1 of 1 questions"
    assert len(rows(found, "neighbours", "share of 5 kept", "protected words")) == 1


def test_words(result: bb.debias_effects.BeforeAfter) -> None:
    told = result.summary()
    paragraphs = told.split("\n\n")
    assert [text.split(":")[0] for text in paragraphs] == [
        "Effect of debiasing", "Residual bias", "Side effects",
    ]  # fmt: skip
    own = rows(result, "distance", "associated").iloc[0]
    assert own["verdict"] == "less related"
    assert "After debiasing, protected words are less related to the stereotypes of their" in told
    assert f"rose from {own['before']:.2f} to {own['after']:.2f} (change 0.03, " in told
    # MAC's interval includes no change, and so does the sentence.
    mac = result.metrics.iloc[0]
    assert mac["lower"] < 0 < mac["upper"]
    assert (
        f"stereotypes, went from {mac['before']:.2f} to {mac['after']:.2f} (change 0.00, " in told
    )
    assert "; inconclusive); 1 means unrelated." in told
    counts = result.table.query("measure == 'associated' and word != ''")["verdict"].value_counts()
    number = counts["less related"]
    assert f"Of 15 words, {number} are less related to their stereotypes; for {15 - number}" in told
    page = result._repr_html_()
    assert page.count("<p>") == 4
    assert result.verdict_rule() in page
    # Rounded by the interval, which stands beside the change.
    assert f">{change_text(own)}</td>" in page
    assert escape(result.verdict_rule()) in result.to_latex()
    assert "synagogue" not in page
    assert "<table" in page


@pytest.mark.slow
def test_words_that_are_not_known_are_not_counted(demo: bb.Embedding, small: bb.Study) -> None:
    lost = list(small.protected_words)[:2]
    few = demo.subset([word for word in demo.words if word not in lost])
    found = bb.before_after(
        few, bb.debias.HardDebias().fit(few), small, draws=30, metrics="mac", residual=(),
        matching=bb.embeddings.Matching(threshold=0.9),
    )  # fmt: skip
    assert "on 6 of the 8 protected words of the study small" in found.summary()


NAMES = ("narrower", "wider")


@pytest.mark.parametrize(
    ("p", "against", "ends", "verdict"),
    [
        (0.945, 0.055, (-0.1, 0.2), "narrower"),
        (0.03, 0.96, (-0.2, -0.1), "wider"),
        # The change is clear, and what it means is not.
        (0.94, 0.06, (0.01, 0.2), "rose"),
        (0.5, 0.5, (-0.2, -0.01), "fell"),
        (0.94, 0.06, (-0.01, 0.2), "inconclusive"),
        (0.94, 0.06, (0.0, 0.2), "inconclusive"),
        (0.0, 0.0, (0.0, 0.0), "unchanged"),
    ],
)
def test_verdicts_follow_the_rule_that_is_shown(
    p: float, against: float, ends: tuple[float, float], verdict: str
) -> None:
    assert _verdict(p, against, 0.89, NAMES, ends) == verdict
    assert "is 0.945 or more" in verdict_rule(0.89)
    assert "is 0.975 or more. Otherwise, only the change is named if its 95%" in verdict_rule(0.95)


def test_words_that_changed_without_a_verdict_are_not_lost() -> None:
    verdicts = pd.Series(["less related", "fell", "inconclusive", "unchanged"])
    told = words_sentence(verdicts)
    assert told.endswith("1 is unchanged; for 2 the data do not decide.")


def test_counts_are_told_with_what_they_are_of() -> None:
    verdicts = pd.Series(["farther", "inconclusive", "farther", "unchanged"])
    assert _counts(verdicts) == "2 farther from it, 1 unchanged, 1 inconclusive (of 4)"
    verdicts = pd.Series(["less related", "nearer", "rose", "fell"])
    changed = "2 changed without being clearly nearer or farther"
    assert _counts(verdicts) == f"2 nearer to it, {changed} (of 4)"


def test_tests_without_a_value_or_an_interval_are_told_apart() -> None:
    rows = [
        ("cluster_test", 0.5, 0.9, 0.8, -0.1, 0.7, ""),
        ("cluster_test", 0.5, 0.8, 0.6, -0.2, 0.4, ""),
        ("neighbourhood", 0.0, 0.3, 0.2, -0.1, np.nan, ""),
        ("classification_test", 0.5, np.nan, np.nan, np.nan, np.nan, "there are too few words"),
    ]
    columns = ["metric", "neutral", "before", "after", "change", "after_lower", "note"]
    first, *told = _residual(pd.DataFrame(rows, columns=columns))
    assert first.startswith("Words that leaned to one of two groups before debiasing")
    title = [bb.metrics.METRICS[str(row[0])].title for row in rows[1:]]
    assert told == [
        f"{capitalized(title[0])} (0.5: no residual bias): 0.80 to 0.90 before, 0.60 to 0.80 "
        "after; the interval lies above 0.5 for 1 of 2 pairs of groups.",
        f"{capitalized(title[1])} (0: no residual bias): 0.30 before, 0.20 after.",
        f"The {title[2]} could not be measured: there are too few words.",
        f"No interval can be given for the {title[1]}.",
    ]
    assert list(_residual(pd.DataFrame())) == []


@pytest.mark.parametrize(
    ("lower", "upper", "verdict", "told"),
    [
        (0.0, 0.0, "unchanged", "stayed at 0.40"),
        (0.05, 0.15, "nearer", "rose from 0.40 to 0.50 (change 0.10, 0.05 to 0.15)"),
        (-0.15, -0.05, "farther", "fell from 0.40 to 0.30 (change −0.10, −0.15 to −0.05)"),
        (-0.05, 0.15, "nearer", "went from 0.40 to 0.45 (change 0.05, −0.05 to 0.15; inconclus"),
        (0.05, 0.15, "rose", "rose from 0.40 to 0.50 (change 0.10, 0.05 to 0.15)"),
        (0.05, 0.15, "too few pairs", "went from 0.40 to 0.50 (change 0.10, 0.05 to 0.15)"),
    ],
)
def test_a_direction_is_claimed_only_where_the_interval_allows(
    lower: float, upper: float, verdict: str, told: str
) -> None:
    change = (lower + upper) / 2
    row = {"before": 0.4, "after": 0.4 + change, "change": change, "verdict": verdict}
    assert _went({**row, "lower": lower, "upper": upper}).startswith(told)


def test_values_that_could_not_be_measured_are_counted() -> None:
    row = {"before": 0.4, "after": 0.5, "lower": 0.05, "upper": 0.15, "verdict": "nearer"}
    rows = [
        {"metric": "mac", "change": 0.1, **row},
        {"metric": "weat", "change": 0.1, **row},
        {"metric": "weat", "change": np.nan, **row, "verdict": ""},
        {"metric": "rnd", "change": 0.1, **row, "verdict": ""},
    ]
    mac, judged, unmeasured, without = _metrics(pd.DataFrame(rows))
    assert mac.startswith("MAC, the mean distance from all stereotypes, rose from 0.40 to 0.50")
    assert judged.endswith("compared with the value without bias: 1 nearer to it (of 1).")
    assert unmeasured.startswith("1 value could not be measured")
    assert without.startswith("For 1 value no interval of the change can be given")
    assert len(list(_metrics(pd.DataFrame(rows[1:2])))) == 1


def gap(before: float, after: float, half: float, verdict: str) -> dict[str, object]:
    change = after - before
    closed = -change / before
    return {
        "before": before, "after": after, "change": change, "verdict": verdict, "probability": 0.6,
        "lower": change - half, "upper": change + half, "closed": closed,
        "closed_lower": closed - half / abs(before), "closed_upper": closed + half / abs(before),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (gap(-0.1, -0.062, 0.02, "narrower"), "closed by 38%, 18% to 58% (from −0.10 to −0.06)."),
        (gap(0.1, 0.062, 0.02, "narrower"), "closed by 38%, 18% to 58% (from 0.10 to 0.06)."),
        (gap(-0.1, -0.15, 0.02, "wider"), "widened by 50%, 30% to 70% (from −0.10 to −0.15)."),
        (gap(-0.1, 0.02, 0.01, "narrower"), "changed its sign and is smaller in size (from −0.10"),
        (gap(-0.1, 0.3, 0.01, "wider"), "changed its sign and is larger in size (from −0.10"),
        (
            gap(-0.1, -0.09, 0.05, "inconclusive"),
            "(change 0.01, −0.04 to 0.06; P(narrower) = 0.60)",
        ),
        # A clear change of a difference of uncertain sign is not called inconclusive itself.
        (
            gap(-0.04, 0.02, 0.01, "rose"),
            "rose from −0.04 to 0.02 (change 0.06, 0.05 to 0.07), but it is inconclusive whether",
        ),
    ],
)
def test_gaps_cannot_be_read_backwards(row: dict[str, object], told: str) -> None:
    text = gap_sentence(row, "neutral words")
    assert told in text
    assert ("inconclusive" in text) == (row["verdict"] in ("inconclusive", "rose"))
    assert ("closed by" in text) == (told.startswith("closed"))


def test_gaps_that_are_inconclusive_share_a_sentence() -> None:
    others = ["associated - none", "associated - human", "associated - different"]
    verdicts = ["narrower", "inconclusive", "inconclusive"]
    made = [
        {"what": "gap", "measure": other, "group": "", **gap(-0.1, -0.06, 0.05, verdict)}
        for other, verdict in zip(others, verdicts, strict=True)
    ]
    first, second = _gaps(pd.DataFrame(made))
    assert first.startswith("The gap to neutral words closed by 40%")
    assert second == (
        "Inconclusive: the gap to human words (from −0.10 to −0.06; change 0.04, −0.01 to "
        "0.09) and to stereotypes of other groups (from −0.10 to −0.06; change 0.04, −0.01 to "
        "0.09)."
    )


@pytest.mark.parametrize(
    ("before", "after", "verdict", "told"),
    [
        (0.8, 0.9, "less related", "less related to the stereotypes of their own group: their exp"),
        # Beyond 1, words that come back to it are less related, too.
        (1.2, 1.1, "less related", "distance fell from 1.20 to 1.10 (change −0.10, "),
        (0.9, 0.8, "more related", "are more related to the stereotypes of their own group: their"),
        (0.9, 0.89, "inconclusive", "It is inconclusive whether protected words are less or more"),
        # A clear change may cross 1, the value of unrelated words.
        (1.05, 0.96, "fell", "fell from 1.05 to 0.96 (change −0.09, −0.12 to −0.06; 1 means unrel"),
        (0.9, 0.9, "unchanged", "Debiasing did not change how related protected words are to"),
    ],
)
def test_relatedness_is_said_as_the_verdict_has_it(
    before: float, after: float, verdict: str, told: str
) -> None:
    change = after - before
    row = {
        "before": before, "after": after, "change": change, "probability": 0.5, "verdict": verdict,
        "lower": change - 0.03, "upper": change + 0.03,
    }  # fmt: skip
    assert told in related_sentence(row)


@pytest.mark.slow
def test_names(demo: bb.Embedding) -> None:
    """An embedding, a method and a study by their names; the method learns what fits the study."""
    options: dict[str, Any] = {
        "draws": 30, "metrics": "mac", "residual": (), "similarity": (), "analogies": (),
    }  # fmt: skip
    study = bb.load_study("gender")
    expected = bb.before_after(demo, bb.debias.HardDebias().fit(demo), study, **options).table
    assert bb.before_after("demo", "hard_debias", "gender", **options).table.equals(expected)
    assert bb.before_after(demo, bb.debias.HardDebias, study, **options).table.equals(expected)


@pytest.mark.slow
def test_a_vocabulary_with_prefixes(demo: bb.Embedding, small: bb.Study) -> None:
    """Everything is found by the matching that is bound to an embedding, or given."""
    options: dict[str, Any] = {"draws": 30, "metrics": "mac", "residual": ()}
    words = [f"/c/en/{word}" for word in demo.words]
    prefixed = bb.Embedding(words, demo.vectors, "demo")
    expected = bb.before_after(demo, "hard_debias", small, **options)
    matching = bb.embeddings.Matching().changed(prefix="/c/en/")
    for found in (
        bb.before_after(prefixed.with_matching(matching), "hard_debias", small, **options),
        bb.before_after(prefixed, "hard_debias", small, matching=matching, **options),
    ):
        pd.testing.assert_frame_equal(found.table, expected.table)


@pytest.mark.slow
def test_a_generator_as_the_seed(demo: bb.Embedding, small: bb.Study) -> None:
    options: dict[str, Any] = {
        "draws": 30, "metrics": "mac", "residual": (), "similarity": (), "analogies": (),
    }  # fmt: skip
    first, again = (
        bb.before_after(demo, "hard_debias", small, seed=np.random.default_rng(1), **options).table
        for _ in range(2)
    )
    assert first.equals(again)


def test_what_is_refused(demo: bb.Embedding, small: bb.Study) -> None:
    fitted = bb.debias.HardDebias().fit(demo)
    cases = {
        "'embedding' is an int; expected an Embedding": (3, fitted, small, {}),
        "'study' is an int; expected a Study": (demo, fitted, 3, {}),
        "no study 'weat_77'": (demo, fitted, "weat_77", {}),
        "'debiaser' is 'hard_debia'.* Did you mean": (demo, "hard_debia", small, {}),
        "'debiaser' is an int; expected the name of a method": (demo, 3, small, {}),
        "'matching' is a list": (demo, fitted, small, {"matching": ["lower"]}),
        "has not been fitted": (demo, bb.debias.HardDebias(), small, {}),
        "'target' and 'ignore' are for a debiaser": (demo, demo, small, {"ignore": ["he"]}),
        "'metric' is 'weet'": (demo, fitted, small, {"metrics": "weet"}),
        "'residual_groups' is": (demo, fitted, small, {"residual_groups": {"a": ["he"]}}),
        "no benchmark 'rg'": (demo, fitted, small, {"similarity": "rg"}),
        "'analogies' is 3; expected the names": (demo, fitted, small, {"analogies": 3}),
        "no benchmark 'google'": (demo, fitted, small, {"analogies": ["google"]}),
        "'engine' is 'mcmc'": (demo, fitted, small, {"engine": "mcmc"}),
        "'draws' is 0": (demo, fitted, small, {"draws": 0}),
        "'residual_draws' is 1": (demo, fitted, small, {"residual_draws": 1}),
        "'neighbours' is 0": (demo, fitted, small, {"neighbours": 0}),
        "'prob' is 89": (demo, fitted, small, {"prob": 89}),
        "'n_jobs' is 0": (demo, fitted, small, {"n_jobs": 0}),
    }
    for message, (embedding, debiaser, words, options) in cases.items():
        with pytest.raises(BayesBiasError, match=message):
            bb.before_after(embedding, debiaser, words, **options)


# Covariates

QUICK: dict[str, Any] = {
    "draws": 100, "metrics": "mac", "residual": (), "similarity": (), "analogies": (), "seed": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def at_equal(demo: bb.Embedding, small: bb.Study) -> bb.debias_effects.BeforeAfter:
    return bb.before_after(demo, "hard_debias", small, covariates=["log_frequency"], **QUICK)


def test_gaps_at_equal_covariates_beside_those_observed(
    at_equal: bb.debias_effects.BeforeAfter, demo: bb.Embedding, small: bb.Study
) -> None:
    """They are those of the joint model, to which words have the frequency that they had before."""
    before = bb.distance_table(demo, small, covariates=["log_frequency"])
    after = bb.distance_table(at_equal.debiased, small)
    key = ["protected_word", "word_to_compare"]
    assert (before[key] == after[key]).all(axis=None)
    after["log_frequency"] = before["log_frequency"]
    paired = bb.fit_paired(before, after, covariates=["log_frequency"], draws=100, seed=3)
    table = at_equal.table
    assert list(table.columns[:3]) == ["what", "measure", "covariates"]
    for by in (None, "protected_group"):
        wanted = paired.gap_closed("associated - none", by=by)  # type: ignore[arg-type]
        found = table[(table["what"] == "gap") & (table["measure"] == "associated - none")]
        found = found[(found["group"] == "") == (by is None)]
        assert list(found["covariates"]) == list(wanted["covariates"])
        assert set(found["covariates"]) == {"equal", "as observed"}
        for name, column in (("before", "before"), ("change", "change"), ("lower", "change_lower")):
            np.testing.assert_allclose(found[name], wanted[column])
    words = table.query("what == 'distance' and word != ''")
    assert words["covariates"].value_counts().to_dict() == {"equal": 32, "as observed": 32}
    assert set(table.loc[~table["what"].isin(["distance", "gap"]), "covariates"]) == {""}
    moved = rows(at_equal, "overview", "General N moved closer")["probability"].item()
    raw = paired.effects(by=None).query("connection == 'none' and covariates == 'as observed'")
    assert moved == pytest.approx(1 - raw["prob_positive"].item())


def test_the_summary_has_gaps_at_equal_frequency_beside_those_observed(
    at_equal: bb.debias_effects.BeforeAfter,
) -> None:
    told = dict(text.split(": ", 1) for text in at_equal.summary().split("\n\n"))
    assert list(told)[:2] == ["Effect of debiasing", "At equal frequency"]
    gaps = at_equal.table.query("what == 'gap' and group == '' and measure == 'associated - none'")
    for title, kind in zip(told, ("as observed", "equal"), strict=False):
        row = gaps[gaps["covariates"] == kind].iloc[0]
        assert gap_sentence({str(k): v for k, v in row.items()}, "neutral words") in told[title]
    assert "Of 8 words" in told["At equal frequency"]
    assert "MAC" not in told["At equal frequency"]
    assert "covariates" in at_equal._repr_html_()
    assert "as observed" in at_equal.to_latex()


def test_connections_that_did_not_move_are_as_observed(demo: bb.Embedding, small: bb.Study) -> None:
    found = bb.before_after(
        demo, bb.debias.HardDebias().fit(demo), small, target=list(small.stereotypes["math"]),
        covariates=["log_frequency"], **QUICK,
    )  # fmt: skip
    none = rows(found, "distance", "none")
    assert list(none["covariates"]) == ["as observed"]
    assert list(none["verdict"]) == ["unchanged"]


def test_other_frequencies_and_covariates(demo: bb.Embedding, small: bb.Study) -> None:
    words = [*small.protected_words, *(a.word for a in small.attributes)]
    counts = {word: 10 + number**2 for number, word in enumerate(words)}
    found = bb.before_after(
        demo,
        "hard_debias",
        small,
        covariates=["log_frequency", "norm"],
        frequencies=counts,
        **QUICK,
    )
    assert found.paired is not None
    table = found.paired.joint.table
    log = np.log([counts[word] for word in table["word_to_compare"].astype(str)])
    np.testing.assert_allclose(table["log_frequency"], log)
    # The length that vectors had before: hard debiasing scales them to one.
    lengths = table.groupby("embedding", observed=True)["norm"].agg(["min", "max"])
    assert lengths.loc["before"].equals(lengths.loc["after"])
    assert "At equal frequency and vector norm: " in found.summary()


def test_covariates_that_are_refused(demo: bb.Embedding, small: bb.Study) -> None:
    lengths = np.linalg.norm(demo.vectors, axis=1, keepdims=True)
    unit = bb.Embedding(demo.words, np.sign(demo.vectors), "signs")
    assert np.ptp(lengths) > 1
    cases: list[tuple[bb.Embedding, dict[str, Any], str]] = [
        (demo, {"covariates": ["frequency"]}, "'covariates' is 'frequency'"),
        (demo, {"frequencies": {"he": 3}}, "no covariate uses it"),
        (demo, {"covariates": ["log_frequency"], "frequencies": {"he": 3}}, "no frequency of"),
        (demo, {"covariates": ["norm"], "unknown_frequency": "zero"}, "'unknown_frequency' is"),
        (unit, {"covariates": ["norm"]}, "the covariate 'norm' is .* in every row; leave it out"),
    ]
    for embedding, options, message in cases:
        with pytest.raises(BayesBiasError, match=message):
            bb.before_after(embedding, "hard_debias", small, **{**QUICK, **options})
