"""Silhouettes beside those of random lists."""

from __future__ import annotations

import numpy as np
import pytest
from grown_lists import made, of_numbers

import bayesbias as bb
from bayesbias.errors import DataError, SpecError
from bayesbias.silhouette_analysis import planted_embedding
from bayesbias.silhouette_analysis.random_lists import RandomLists
from bayesbias.wordlists import is_plain, listed_words

pytestmark = pytest.mark.numpy_only


def called(found: bb.silhouette_analysis.Silhouettes) -> str:
    """The first words of the verdict."""
    return found.verdict().partition(":")[0]


def random_verdicts(metric: str, length: int, draws: int, runs: int) -> list[str]:
    """What lists of random words of the demo are called, beside the attributes of WEAT 7."""
    emb, query = bb.load_embedding("demo"), bb.load_query("weat_7")
    listed = listed_words()
    pool = [word for word in emb.words if is_plain(word) and word not in listed]
    rng = np.random.default_rng(3)
    verdicts = []
    for seed in range(draws):
        words = rng.choice(pool, (2, length), replace=False).tolist()
        asked = bb.Query(words, query.attribute_sets)
        found = bb.silhouettes(metric, asked, emb, runs=runs, seed=seed, progress=False)
        verdicts.append(called(found))
    return verdicts


@pytest.mark.slow
def test_random_words_are_seldom_called_robust() -> None:
    """By MAC, whose values vary little, the robustness of any words is above 0.9."""
    verdicts = random_verdicts("mac", 6, draws=20, runs=8)
    assert set(verdicts) <= {"Robust", "Fairly robust", "No more robust than random words"}
    assert sum("obust" in v and "random" not in v for v in verdicts) <= 3


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "length"), [("mac", 8), ("weat_es", 80)])
def test_long_lists_of_random_words_are_seldom_called_robust(metric: str, length: int) -> None:
    verdicts = random_verdicts(metric, length, draws=60, runs=8)
    assert sum(v in ("Robust", "Fairly robust") for v in verdicts) <= 7  # 99% of binomial draws


def test_planted_bias_is_called_robust(demo: bb.Embedding) -> None:
    """Words of the demo get vectors with a known bias; the others stay."""
    query = bb.load_query("weat_7")
    planted = planted_embedding(query, 0.2, like=demo)
    vectors = np.array(demo.vectors, dtype=np.float64)
    row = {word: i for i, word in enumerate(demo.words)}
    for word, vector in zip(planted.words, planted.vectors, strict=True):
        vectors[row[word]] = vector
    emb = bb.Embedding(demo.words, vectors, "with bias", ranks=demo.ranks)
    found = bb.silhouettes("weat_es", query, emb, runs=30, seed=0)
    assert called(found) == "Robust"
    assert found.robustness_table["percentile"].item() == 100


def test_tables_and_words_say_where_the_lists_fall(demo: bb.Embedding) -> None:
    query = bb.load_query("weat_7")
    found, again = (
        bb.silhouettes("weat_es", query, demo, runs=10, seed=0, chance=19) for _ in range(2)
    )
    random = found.random_lists["demo"]
    assert (random.robustness == again.random_lists["demo"].robustness).all()
    assert random.robustness.shape == (19,)
    row = found.robustness_table.iloc[0]
    assert row["chance"] == random.robustness.mean()
    assert row["chance_lower"] < row["chance"] < row["chance_upper"]
    assert row["percentile"] == 100 * (random.robustness < row["robustness"]).mean()
    line = found.verdict().splitlines()[1]
    assert "19 random lists" in line
    assert f"percentile {row['percentile']:.0f}" in line
    # Neither the number of processes nor other embeddings matter, and other seeds do.
    both = [demo, bb.load_embedding("demo-100d")]
    two = bb.silhouettes(
        "weat_es", query, both, runs=10, seed=0, chance=19, n_jobs=2, progress=False
    )
    assert (two.random_lists["demo"].robustness == random.robustness).all()
    other = bb.silhouettes("weat_es", query, demo, runs=10, seed=1, chance=19)
    assert (other.random_lists["demo"].robustness != random.robustness).any()
    # The lists themselves are measured as before.
    alone = bb.silhouettes("weat_es", query, demo, runs=10, seed=0, chance=0)
    assert (alone.values == found.values).all()
    assert alone.robustness_table["percentile"].isna().all()
    assert "chance=0" in alone.verdict().splitlines()[1]
    assert "random lists" in found.to_latex()
    assert "random lists" not in alone.to_latex()


def test_random_lists_are_measured_as_queries_of_their_words(demo: bb.Embedding) -> None:
    """Lists drawn by hand in the same way have robustness of about the same distribution."""
    query = bb.load_query("weat_7")
    found = bb.silhouettes("weat_es", query, demo, runs=10, seed=0, chance=40)
    listed = listed_words()
    rows = [i for i, w in enumerate(demo.words) if is_plain(w) and w not in listed]
    ranks = np.array([demo.ranks[i] for i in rows])
    rng = np.random.default_rng(0)
    own = []
    for seed in range(40):
        lists: list[list[str]] = []
        used: set[str] = set()
        for words in query.target_sets:
            chosen = []
            for word in words:
                rank = demo.ranks[demo.words.index(word)]
                near = np.argsort(np.abs(np.log(ranks / rank)), kind="stable")[:100]
                free = [w for w in (demo.words[rows[i]] for i in near) if w not in used]
                chosen.append(free[rng.integers(len(free))])
                used.add(chosen[-1])
            lists.append(chosen)
        asked = bb.Query(lists, query.attribute_sets)
        one = bb.silhouettes("weat_es", asked, demo, runs=10, seed=seed, chance=0)
        own.append(one.robustness["demo"])
    theirs = found.random_lists["demo"].robustness
    error = np.sqrt((np.var(own) + np.var(theirs)) / 40)
    assert abs(np.mean(own) - theirs.mean()) < 3 * error


def test_percentile_and_p_value() -> None:
    random = RandomLists(np.arange(19) / 20, np.zeros(2), np.zeros(2))
    assert random.percentile(1.0) == 100
    assert random.percentile(0.0) == pytest.approx(50 / 19)
    assert random.p_value(1.0) == 1 / 20
    assert random.p_value(0.0) == 1
    assert random.exceeded_by(1.0)
    assert not random.exceeded_by(0.9)  # as robust as the best


def test_short_lists_are_too_short_to_tell(demo: bb.Embedding) -> None:
    query = bb.load_query("weat_7")
    for length in (3, 4, 5):
        short = bb.Query([words[:length] for words in query.target_sets], query.attribute_sets)
        found = bb.silhouettes("weat_es", short, demo, runs=20, seed=0)
        assert called(found).startswith("Too few words to tell") == (length < 5)
    # The robustness of 3 words of each list that start with 2 is at least 5 / 6.
    short = bb.Query([words[:3] for words in query.target_sets], query.attribute_sets)
    assert "at least 0.83" in bb.silhouettes("weat_es", short, demo, runs=20).verdict()
    # And so are parts that are nearly the whole from the start.
    late = bb.silhouettes("weat_es", query, demo, runs=20, start=7)
    assert called(late).startswith("Too few words to tell")


def test_no_interval_without_width() -> None:
    """All orders of three words are among the runs, and none makes a difference."""
    found = of_numbers([np.array([0.1, 0.5, 0.9])], runs=100, step=1)
    table = found.robustness_table
    assert table[["robustness_lower", "robustness_upper"]].isna().all(axis=None)
    assert "[" not in found.verdict().splitlines()[0]


def test_embeddings_without_other_words_are_not_compared() -> None:
    query, embeddings = made((6, 7), (5, 5))
    found = bb.silhouettes("mac", query, embeddings, runs=5)
    assert not found.random_lists
    assert set(found.not_compared) == {"emb0", "emb1"}
    assert called(found) == "Not compared with random words"
    with pytest.raises(DataError, match="'emb0' has 0 words .* whole vocabulary"):
        bb.silhouettes("mac", query, embeddings, runs=5, chance=19)


def test_what_costs_much_is_compared_if_asked_for(demo: bb.Embedding) -> None:
    query = bb.load_query("weat_7")
    found = bb.silhouettes("rnsb_groups", query, demo, runs=2, step=8)
    assert "chance=39" in found.not_compared["demo"]
    found = bb.silhouettes("rnsb_groups", query, demo, runs=2, step=8, chance=19)
    assert len(found.random_lists["demo"].robustness) == 19


@pytest.mark.parametrize("number", [1, 18, -1, True, 2.5, "many"])
def test_numbers_of_random_lists_that_say_nothing(number: object, demo: bb.Embedding) -> None:
    with pytest.raises(SpecError, match="'chance' is .*; expected .* 19 or more"):
        bb.silhouettes("weat_es", "weat_7", demo, chance=number)  # type: ignore[arg-type]


def test_metrics_without_random_lists(demo: bb.Embedding) -> None:
    query = bb.load_query("weat_7").subqueries((2, 1))[0]
    for metric, reason in (("neighbourhood", "the rest of the embedding"), ("ripa", "pairs")):
        with pytest.raises(SpecError, match=reason):
            bb.silhouettes(metric, query, demo, value_range=(-9, 9), chance=19)
        found = bb.silhouettes(metric, query, demo, value_range=(-9, 9), runs=2)
        assert reason in found.not_compared["demo"]
