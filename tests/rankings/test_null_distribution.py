"""Metrics without bias: beside brute force, SciPy, closed forms and published figures."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt
import pytest
from r_random import RandomR
from scipy import stats

import bayesbias as bb
from bayesbias.errors import DataError, SpecError
from bayesbias.rankings.random_words import RandomWords

WORDS = [f"w{i:02d}" for i in range(40)]


@pytest.fixture(scope="module")
def random() -> bb.Embedding:
    vectors = np.random.default_rng(5).normal(size=(len(WORDS), 12))
    return bb.Embedding(WORDS, vectors, "random")


@pytest.fixture(scope="module")
def query() -> bb.Query:
    return bb.Query([WORDS[:4], WORDS[4:7]], [WORDS[7:10], WORDS[10:14]])


def effect_size(
    associations: npt.NDArray[np.float64], first: npt.NDArray[np.bool_], ddof: int = 0
) -> npt.NDArray[np.float64]:
    """Associations × words; the effect size as written in the paper."""
    means = [associations[..., side].mean(axis=-1) for side in (first, ~first)]
    return (means[0] - means[1]) / associations.std(axis=-1, ddof=ddof)


# All splits


def test_all_splits_are_those_of_brute_force(random: bb.Embedding, query: bb.Query) -> None:
    unit = random.vectors / np.linalg.norm(random.vectors, axis=1, keepdims=True)
    cosines = unit[:7] @ unit[7:14].T
    s = cosines[:, :3].mean(axis=1) - cosines[:, 3:].mean(axis=1)
    expected = []
    for chosen in combinations(range(7), 4):
        first = np.isin(np.arange(7), chosen)
        expected.append(effect_size(s, first))
    found = bb.null_distribution("weat_es", query, random, nulls="splits")
    assert found.exact["splits"]
    assert np.sort(found.draws["splits"]) == pytest.approx(np.sort(expected), abs=1e-6)
    assert found.observed == pytest.approx(expected[0])


def test_the_p_value_is_that_of_scipy(random: bb.Embedding, query: bb.Query) -> None:
    unit = random.vectors / np.linalg.norm(random.vectors, axis=1, keepdims=True)
    cosines = unit[:7] @ unit[7:14].T
    s = cosines[:, :3].mean(axis=1) - cosines[:, 3:].mean(axis=1)
    theirs = stats.permutation_test(
        (s[:4], s[4:]), lambda x, y: x.mean() - y.mean(), n_resamples=np.inf
    )
    found = bb.null_distribution("weat_es", query, random, nulls=["splits"])
    assert found.table["p_value"].iloc[0] == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("name", ["weat", "weat_es"])
def test_equal_lists_have_the_p_value_of_the_permutation_test(
    name: str, demo: bb.Embedding
) -> None:
    measurement = bb.metrics.METRICS[name]().on("weat_8", demo)
    found = bb.null_distribution(name, "weat_8", demo, nulls="splits")
    assert len(found.draws["splits"]) == 12870
    expected = measurement.permutation_test(test="two-sided").p_value
    assert found.table["p_value"].iloc[0] == pytest.approx(expected)
    assert found.table["mean"].iloc[0] == pytest.approx(0, abs=1e-12)


def test_splits_beyond_a_million_are_drawn(demo: bb.Embedding) -> None:
    found = bb.null_distribution("weat_es", "weat_1", demo, nulls="splits", draws=300)
    assert len(found.draws["splits"]) == 300
    assert not found.exact["splits"]
    # The observed value is counted in, so that no p-value is 0.
    assert found.table["p_value"].iloc[0] == pytest.approx(2 / 301)


# Unrelated words


def test_simulated_effect_sizes_have_their_closed_form(demo: bb.Embedding) -> None:
    """Half the effect size of 8 + 8 words is a correlation, whose square is a beta variable."""
    found = bb.null_distribution("weat_es", "weat_7", demo, nulls="simulated", draws=20_000)
    squares = (found.draws["simulated"] / 2) ** 2
    assert stats.kstest(squares, stats.beta(0.5, 7).cdf).pvalue > 0.001
    expected = stats.beta(0.5, 7).sf((1.27 / 2) ** 2)
    assert expected == pytest.approx(0.0082, abs=5e-5)
    assert found.exceeds(1.27)["simulated"] == pytest.approx(expected, abs=0.003)


def test_simulated_vectors_are_like_simulated_cosines(random: bb.Embedding) -> None:
    """A metric without from_cosines gets vectors; for the same metric they say the same."""

    class ByVectors(bb.metrics.WEATEffectSize):
        from_cosines = bb.metrics.Metric.from_cosines  # type: ignore[assignment]

    query = bb.Query([WORDS[:4], WORDS[4:8]], [WORDS[8:14], WORDS[14:20]])
    by_vectors, by_cosines = (
        bb.null_distribution(metric, query, random, nulls="simulated", sd=0.08, draws=3000)
        for metric in (ByVectors(), bb.metrics.WEATEffectSize())
    )
    both = [found.draws["simulated"] for found in (by_vectors, by_cosines)]
    assert stats.ks_2samp(*both).pvalue > 0.001


def test_simulated_mac_is_about_one(demo: bb.Embedding) -> None:
    found = bb.null_distribution("mac", "religion", demo, nulls="simulated", sd=0.08)
    # Means of 4, 3 and 4 cosines, their mean over 3 lists and 15 words.
    expected = 0.08 * np.sqrt((1 / 4 + 1 / 3 + 1 / 4) / 9 / 15)
    assert found.draws["simulated"].mean() == pytest.approx(1, abs=4 * expected / 100)
    assert found.draws["simulated"].std() == pytest.approx(expected, rel=0.03)


# Random words


def test_random_words_are_all_words_alike(random: bb.Embedding) -> None:
    """With any word of a small pool, the draws are all ordered pairs, each as often."""
    query = bb.Query([WORDS[:3], WORDS[3:6]], [WORDS[6:7], WORDS[7:8]])
    pool = WORDS[8:13]
    found = bb.null_distribution(
        "weat", query, random, nulls="words", pool=pool, nearest=None, draws=20_000
    )
    every = np.array(
        [
            bb.metrics.WEAT().on(bb.Query(query.target_sets, [[a], [b]]), random).value()
            for a, b in permutations(pool, 2)
        ]
    )
    gaps = np.abs(found.draws["words"][:, None] - every)
    assert gaps.min(axis=1).max() < 1e-9
    assert stats.chisquare(np.bincount(gaps.argmin(axis=1), minlength=20)).pvalue > 0.001


def test_random_words_are_as_frequent(demo: bb.Embedding) -> None:
    """The mean log rank of the words drawn is that of the words they take the place of."""
    from bayesbias.rankings.random_words import random_words

    measurement = bb.metrics.MAC().on("weat_8", demo)
    listed = measurement.words.attributes
    used = np.concatenate([words.rows for words in measurement.words.sets]).tolist()
    options = {"pool": None, "frequencies": "rank", "matching": None}
    near = random_words(demo, listed, used, nearest=30, **options)  # type: ignore[arg-type]
    drawn = near.rows[near.draw(200, np.random.default_rng(0))]
    assert not set(drawn.ravel().tolist()) & set(used)
    assert all(len(set(row)) == len(row) for row in drawn.tolist())
    wanted = np.log(demo.ranks[np.concatenate([words.rows for words in listed])])
    got = np.log(demo.ranks[drawn]).mean(axis=0)
    # The most frequent words, such as "he", have few words as frequent.
    assert np.corrcoef(wanted, got)[0, 1] > 0.9
    assert np.abs(np.log(demo.ranks[drawn]) - wanted).max() <= near.gap + 1e-9


def test_words_without_others_as_frequent_are_worth_a_note(demo: bb.Embedding) -> None:
    found, near = (
        bb.null_distribution("weat", "weat_7", demo, nulls="words", draws=50, nearest=nearest)
        for nearest in (200, 16)
    )
    assert "times as frequent" in found.summary()
    assert near.notes == ()


def test_no_word_is_drawn_twice_even_from_narrow_windows() -> None:
    near = np.tile(np.arange(6), (6, 1))
    drawn = RandomWords(np.arange(6), near, 0.0).draw(500, np.random.default_rng(1))
    assert (np.sort(drawn, axis=1) == np.arange(6)).all()


@pytest.mark.parametrize("side", ["targets", "attributes", "both"])
def test_only_the_named_lists_are_replaced(side: str, random: bb.Embedding) -> None:
    query = bb.Query([WORDS[:3], WORDS[3:6]], [WORDS[6:9], WORDS[9:12]])
    found = bb.null_distribution(
        "weat", query, random, nulls="words", nearest=None, pool=WORDS[12:], draws=50, replace=side
    )
    assert np.ptp(found.draws["words"]) > 0
    same = bb.null_distribution(
        "weat", query, random, nulls="words", nearest=None, pool=WORDS[12:], draws=50, replace=side
    )
    assert (same.draws["words"] == found.draws["words"]).all()
    other = bb.null_distribution(
        "weat",
        query,
        random,
        nulls="words",
        nearest=None,
        pool=WORDS[12:],
        draws=50,
        replace=side,
        seed=1,
    )
    assert (other.draws["words"] != found.draws["words"]).any()


def test_mac_of_neutral_words_is_not_one(demo: bb.Embedding) -> None:
    """Neutral controls of the study in lists of the same lengths: the scale of MAC."""
    study = bb.load_study("religion")
    found = bb.null_distribution(
        "mac", study, demo, nulls="words", pool=study.controls["neutral"], nearest=None
    )
    row = found.table.iloc[0]
    assert row["mean"] < 0.98
    assert row["lower"] > found.observed
    assert found.skipped == {}


# What is refused, and what there is to see


def test_a_metric_without_a_null_says_why(demo: bb.Embedding) -> None:
    found = bb.null_distribution("mac", "weat_7", demo, draws=20)
    assert list(found.draws) == ["words", "simulated"]
    assert "which set" in found.skipped["splits"]
    assert "splits: none; " in found.summary()
    with pytest.raises(SpecError, match="'splits' is not a null of 'mac': .*which set"):
        bb.null_distribution("mac", "weat_7", demo, nulls="splits")
    with pytest.raises(SpecError, match="two target sets"):
        bb.null_distribution("mac", "religion", demo, nulls=["splits"])
    pairs = bb.Query([["he", "man"], ["she", "woman"]], [["nurse", "clerk"]])
    with pytest.raises(SpecError, match="'words' is not a null of 'ripa': .*pairs"):
        bb.null_distribution("ripa", pairs, demo, nulls="words", replace="both")
    half = bb.load_query("weat_7").subqueries((2, 1))[0]
    with pytest.raises(SpecError, match="'words' is not a null of 'semaxis'"):
        bb.null_distribution("semaxis", half, demo, nulls="words")


def test_bad_input_is_named(demo: bb.Embedding, random: bb.Embedding, query: bb.Query) -> None:
    with pytest.raises(SpecError, match="'nulls' is 'split'.*Did you mean 'splits'"):
        bb.null_distribution("weat", "weat_7", demo, nulls="split")
    with pytest.raises(SpecError, match="'nulls' is empty"):
        bb.null_distribution("weat", "weat_7", demo, nulls=[])
    with pytest.raises(SpecError, match="'religion' asks 3 questions.*Query"):
        bb.null_distribution("weat", "religion", demo)
    with pytest.raises(SpecError, match="'sd' is -1"):
        bb.null_distribution("weat", "weat_7", demo, sd=-1)
    with pytest.raises(SpecError, match="'replace' is 'all'"):
        bb.null_distribution("weat", "weat_7", demo, replace="all")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="2 words to draw 7 words from.*larger 'pool'"):
        bb.null_distribution("weat", query, random, nulls="words", pool=WORDS[20:22], nearest=None)
    with pytest.raises(DataError, match="alphabetical.*frequencies"):
        bb.null_distribution("weat", query, random, nulls="words")
    with pytest.raises(SpecError, match="no value to compare"):
        bb.null_distribution("weat", bb.Query([["x"], ["y"]], [["z"], ["u"]]), demo)


def test_a_metric_that_cannot_fall_below_neutral_has_one_side(demo: bb.Embedding) -> None:
    found = bb.null_distribution("rnsb_groups", "weat_7", demo, nulls="splits", draws=60)
    expected = (found.draws["splits"] >= found.observed - 1e-9).mean()
    assert found.table["p_value"].iloc[0] == pytest.approx(expected)


def test_the_result_is_shown_in_every_form(demo: bb.Embedding) -> None:
    found = bb.null_distribution("weat_es", "weat_7", demo, draws=200)
    assert list(found.table["null"]) == ["splits", "words", "simulated"]
    text = found.summary()
    assert "all 12,870" in text
    assert "percentile 99.98" in text
    assert r"weat\_es" in found.to_latex()
    assert found.to_latex(caption="Mine").count("Mine") == 1
    assert "<table" in found._repr_html_()
    assert repr(found).startswith("<NullDistribution weat_es = 1.54")
    assert found.exceeds(0.0).tolist() == [1.0, 1.0, 1.0]
    assert found.exceeds(2.1).tolist() == [0.0, 0.0, 0.0]


# Dobrzeniecka & Urbaniak (2024), section 3.2; seeds as in the source of the paper.


def test_the_published_example_is_reproduced() -> None:
    """0.39 and 1.27, and one p-value for both: equal lists order the splits alike."""
    values = RandomR(10232169).rnorm(256, 0, 0.08).reshape(16, 2, 8).mean(axis=-1)
    s = values[:, 0] - values[:, 1]
    first = np.arange(16) < 8
    assert s[:8].sum() - s[8:].sum() == pytest.approx(0.39, abs=0.005)
    assert effect_size(s, first) == pytest.approx(1.27, abs=0.005)
    observed = s[:8].mean() - s[8:].mean()
    differences = np.array(
        [2 * s[list(chosen)].sum() - s.sum() for chosen in combinations(range(16), 8)]
    )
    p = (np.abs(differences) >= 8 * abs(observed) - 1e-9).mean()
    assert p == pytest.approx(0.0096, abs=5e-5)  # published: 0.011 and 0.0086


def test_38_per_cent_are_of_the_first_word_of_each_list_alone() -> None:
    """R's mean(a, b, …) is the mean of a; with all words, the share is below one per cent."""
    values = RandomR(123456).rnorm(10_000 * 256, 0, 0.08).reshape(10_000, 16, 2, 8).mean(axis=-1)
    s = values[..., 0] - values[..., 1]
    wrong = (s[:, 0] - s[:, 8]) / s.std(axis=1, ddof=1)
    right = effect_size(s, np.arange(16) < 8, ddof=1)
    assert (np.abs(wrong) >= 1.27).mean() == pytest.approx(0.38, abs=0.005)
    assert (np.abs(right) >= 1.27).mean() == pytest.approx(0.0055, abs=1e-9)
    # In closed form: the share of a contrast in the sum of squares is a beta variable.
    assert stats.beta(0.5, 7).sf(1.27**2 / 2 / 15) == pytest.approx(0.3875, abs=0.0001)
    assert stats.beta(0.5, 7).sf((1.27 / 2) ** 2 * 16 / 15) == pytest.approx(0.0058, abs=1e-4)


def test_200_000_simulations_give_the_same_shares() -> None:
    s = np.random.default_rng(1).normal(size=(200_000, 16))  # the scale cancels
    first = np.arange(16) < 8
    shares = [(np.abs(effect_size(s, first, ddof)) >= 1.27).mean() for ddof in (0, 1)]
    assert shares == pytest.approx([0.0082, 0.0058], abs=0.0007)
    wrong = (s[:, 0] - s[:, 8]) / s.std(axis=1, ddof=1)
    assert (np.abs(wrong) >= 1.27).mean() == pytest.approx(0.387, abs=0.004)


def test_an_effect_size_of_182_for_two_and_two_words_is_of_the_first_words_alone() -> None:
    values = RandomR(123).rnorm(40, 0, 0.05).reshape(4, 2, 5).mean(axis=-1)
    s = values[:, 0] - values[:, 1]
    assert (s[0] - s[2]) / s.std(ddof=1) == pytest.approx(1.82, abs=0.006)
    assert effect_size(s, np.arange(4) < 2, ddof=1) == pytest.approx(0.65, abs=0.005)
    assert bb.metrics.max_effect_size(2, 2, ddof=1) < 1.82


def test_the_worked_example_of_weat() -> None:
    """Published as 1.93."""
    s = np.array([0.5, 0.3, -0.6, -0.3])
    first = np.arange(4) < 2
    assert effect_size(s, first) == pytest.approx(1.92, abs=0.005)
    assert effect_size(s, first, ddof=1) == pytest.approx(1.66, abs=0.005)
