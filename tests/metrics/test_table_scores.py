"""Metrics from a distance table: the same numbers as from vectors, and clear refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError, SpecError


@pytest.fixture(scope="module")
def religion() -> pd.DataFrame:
    study = bb.load_study("religion")
    words = {key: study.controls[key][:40] for key in study.controls}
    small = bb.Study("religion", study.groups, study.stereotypes, words)
    return bb.distance_table(bb.load_embedding("demo"), small)


@pytest.fixture(scope="module")
def weat_7() -> pd.DataFrame:
    return bb.distance_table(bb.load_embedding("demo"), bb.load_study("weat_7"))


def test_mac_of_a_table_is_that_of_the_vectors(religion: pd.DataFrame, demo: bb.Embedding) -> None:
    study = bb.load_study("religion")
    query = bb.Query(study.groups.values(), study.stereotypes.values())
    score = bb.metrics.MAC().from_table(religion)
    assert score.value == pytest.approx(bb.metrics.MAC().on(query, demo).value(), abs=1e-7)
    assert score.words["target: muslim"] == study.groups["muslim"].words
    assert score.embedding == "demo"


@pytest.mark.parametrize("name", ["weat", "weat_es"])
@pytest.mark.parametrize("ddof", [0, 1])
def test_weat_of_a_table_is_that_of_the_vectors(
    name: str, ddof: int, weat_7: pd.DataFrame, demo: bb.Embedding
) -> None:
    metric = bb.metrics.METRICS[name](ddof=ddof)  # type: ignore[call-arg]
    ours, theirs = metric.from_table(weat_7), metric.run_query("weat_7", demo)
    assert ours.value == pytest.approx(theirs.value, abs=1e-7)
    for key in ("weat", "effect_size"):
        assert ours[key] == pytest.approx(theirs[key], abs=1e-7)


def test_the_order_of_groups_and_lists_is_as_named(weat_7: pd.DataFrame) -> None:
    metric = bb.metrics.WEAT()
    value = metric.from_table(weat_7).value
    assert metric.from_table(weat_7, targets=["arts", "math"]).value == pytest.approx(value)
    lists = ["arts_stereotype", "math_stereotype"]
    assert metric.from_table(weat_7, attributes=lists).value == pytest.approx(-value)


def test_controls_can_be_measured_in_place_of_stereotypes(religion: pd.DataFrame) -> None:
    controls = religion[religion["word_class"] == "neutral"]
    score = bb.metrics.MAC().from_table(religion, attributes=["neutral"])
    assert score.value == pytest.approx(controls["cosine_distance"].mean())
    # A table of controls alone has no groups but the words do.
    with pytest.raises(DataError, match="associated.*attributes=.*neutral"):
        bb.metrics.MAC().from_table(controls)


def test_a_duplicated_pair_counts_once(religion: pd.DataFrame) -> None:
    twice = pd.concat([religion, religion.iloc[:3]])
    with pytest.warns(BayesBiasWarning, match="3 of"):
        score = bb.metrics.MAC().from_table(twice)
    assert score.value == pytest.approx(bb.metrics.MAC().from_table(religion).value)


def test_a_table_of_too_many_groups_says_how_to_choose(religion: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match=r"2 groups.*'muslim'.*targets=\['jew', 'christian'\]"):
        bb.metrics.WEAT().from_table(religion)
    score = bb.metrics.WEAT().from_table(religion, targets=["jew", "muslim"])
    assert score.query_name == "jew and muslim wrt jew_stereotype and muslim_stereotype"


def test_what_the_table_lacks_is_named(religion: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="2 groups.*only 'jew'"):
        bb.metrics.WEAT().from_table(religion, targets=["jew"])
    with pytest.raises(DataError, match=r"'targets' names 'jews'.*Did you mean 'jew'"):
        bb.metrics.MAC().from_table(religion, targets=["jews"])
    with pytest.raises(DataError, match="'attributes' names 'muslims'"):
        bb.metrics.MAC().from_table(religion, attributes=["muslims"])
    imam = (religion["protected_word"] == "imam") & (religion["word_to_compare"] == "greedy")
    with pytest.raises(DataError, match="'imam' and 'greedy'"):
        bb.metrics.MAC().from_table(religion[~imam])
    with pytest.raises(DataError, match="cosine_distance"):
        bb.metrics.MAC().from_table(religion.drop(columns="cosine_distance"))


def test_several_embeddings_are_refused(religion: pd.DataFrame) -> None:
    both = pd.concat([religion, religion.assign(embedding="other")])
    with pytest.raises(SpecError, match="2 embeddings.*'demo', 'other'"):
        bb.metrics.MAC().from_table(both)


def test_a_metric_that_needs_vectors_says_so(religion: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match=r"'rnsb' needs the vectors.*run_query.*'mac'"):
        bb.metrics.RNSB().from_table(religion)
    assert not bb.metrics.RNSB().takes_cosines
    with pytest.raises(SpecError, match="'rnsb'.*run_query"):
        bb.metrics.RNSB().from_cosines([])


def test_cosines_may_have_leading_dimensions(rng: np.random.Generator) -> None:
    cosines = [[rng.uniform(-1, 1, (5, 3, words, listed)) for listed in (4, 6)] for words in (3, 2)]
    for metric in (bb.metrics.MAC(), bb.metrics.WEAT(), bb.metrics.WEATEffectSize()):
        values = metric.from_cosines(cosines)
        assert values.shape == (5, 3)
        one = [[block[4, 1] for block in row] for row in cosines]
        assert values[4, 1] == pytest.approx(float(metric.from_cosines(one)))


def test_the_preaveraged_test_is_that_of_scipy(religion: pd.DataFrame) -> None:
    after = religion.assign(cosine_distance=religion["cosine_distance"] * 0.8 + 0.2)
    after = after.drop(columns="cosine_similarity").sample(frac=1, random_state=1)
    by = ["protected_word", "word_class"]
    means = []
    for table in (religion, after):
        chosen = table[table["connection"].isin(["associated", "different"])]
        means.append(chosen.groupby(by, observed=True)["cosine_distance"].mean().sort_index())
    found = bb.metrics.preaveraged_t_test(religion, after).set_index("test")
    assert list(found["n"]) == [45, 45, 45]
    assert found.loc["before", "p_value"] == pytest.approx(stats.ttest_1samp(means[0], 1).pvalue)
    assert found.loc["after", "t"] == pytest.approx(stats.ttest_1samp(means[1], 1).statistic)
    paired = stats.ttest_rel(means[1].reindex(means[0].index), means[0])
    assert found.loc["change", "t"] == pytest.approx(paired.statistic)
    assert found.loc["change", "p_value"] == pytest.approx(paired.pvalue)
    assert found.loc["before", "mean"] == pytest.approx(bb.metrics.MAC().from_table(religion).value)


def test_the_preaveraged_test_needs_the_same_words(religion: pd.DataFrame) -> None:
    without = religion[religion["protected_word"] != "imam"]
    with pytest.raises(DataError, match="'imam'.*same words"):
        bb.metrics.preaveraged_t_test(religion, without)
    one = religion[religion["protected_word"] == "imam"]
    with pytest.raises(DataError, match="two words"):
        bb.metrics.preaveraged_t_test(one, attributes=["muslim_stereotype"])


def test_neutral_lists_differ_from_each_other_by_the_preaveraged_test(
    rng: np.random.Generator, religion: pd.DataFrame
) -> None:
    """Both lists are neutral words at random, and the test finds a difference most of the time."""
    neutral = religion[religion["word_class"] == "neutral"]
    wide = neutral.pivot_table(
        index="protected_word", columns="word_to_compare", values="cosine_distance", observed=True
    ).to_numpy()
    p_values = []
    for _ in range(200):
        drawn = rng.permutation(wide.shape[1])[:22].reshape(2, 11)
        first, second = (
            np.concatenate([wide[:, part].mean(axis=1) for part in np.split(half, [4, 7])])
            for half in drawn
        )
        p_values.append(stats.ttest_rel(first, second).pvalue)
    assert np.mean(np.array(p_values) < 0.05) > 0.5


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("sizes", [(2, 2), (8, 8), (3, 7), (1, 4)])
def test_no_effect_size_exceeds_its_bound_and_one_reaches_it(
    sizes: tuple[int, int], ddof: int, rng: np.random.Generator
) -> None:
    metric = bb.metrics.WEATEffectSize(ddof=ddof)
    bound = bb.metrics.max_effect_size(*sizes, ddof=ddof)
    random = [[rng.normal(size=(20_000, n, 1)), np.zeros((20_000, n, 1))] for n in sizes]
    assert np.abs(metric.from_cosines(random)).max() <= bound + 1e-12
    apart = [
        [np.full((n, 1), side), np.zeros((n, 1))] for n, side in zip(sizes, (0.5, 0.1), strict=True)
    ]
    assert float(metric.from_cosines(apart)) == pytest.approx(bound)


def test_the_bound_of_two_and_two_words() -> None:
    assert bb.metrics.max_effect_size(2, 2, ddof=1) == pytest.approx(np.sqrt(3))
    assert bb.metrics.max_effect_size(2, 2, ddof=1) < 1.82 < bb.metrics.max_effect_size(2, 2)
    with pytest.raises(SpecError, match="'second' is 0"):
        bb.metrics.max_effect_size(2, 0)
    with pytest.raises(SpecError, match="'ddof' is 2"):
        bb.metrics.max_effect_size(2, 2, ddof=2)
