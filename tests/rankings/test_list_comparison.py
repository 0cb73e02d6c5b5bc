"""Lists for one concept side by side: against each measurement alone, and against bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import bayesbias as bb
from bayesbias.errors import NotFoundError, SpecError, VocabularyError
from bayesbias.rankings.list_comparison import _some_differ
from bayesbias.wordlists import CONCEPTS, load_concept

FAST = {"draws": 200, "samples": 20}


@pytest.fixture(scope="module")
def gender(demo: bb.Embedding) -> bb.rankings.ListComparison:
    return bb.compare_lists("gender", demo, **FAST)


def test_a_row_is_what_the_functions_say_of_its_lists(
    gender: bb.rankings.ListComparison, demo: bb.Embedding
) -> None:
    row = gender.table.set_index("lists").loc["Garg 2018"]
    garg, weat = bb.word_sets("garg"), bb.word_sets("weat")
    query = bb.Query(
        [garg["male_terms"], garg["female_terms"]],
        [weat["career"], weat["family"]],
        ["male", "female"],
        ["Career", "Family"],
    )
    score = bb.metrics.WEATEffectSize().on(query, demo, seed=0).posterior(draws=200)
    assert (row["value"], row["lower"], row["upper"]) == (score.value, score.lower, score.upper)
    lists = {"first": garg["male_terms"], "second": garg["female_terms"]}
    check = bb.check_words(lists, demo, samples=20)
    assert row["coherence"] == check.pairs["coherence"].item()
    assert row["cohesion"] == check.lists["cohesion"].min()
    assert row["similarity"] == check.pairs["similarity"].item()


def test_effect_size_by_hand(gender: bb.rankings.ListComparison, demo: bb.Embedding) -> None:
    """Caliskan's formula with WEFE's standard deviation, with nothing of ours but the vectors."""
    unit = {word: demo[word] / np.linalg.norm(demo[word]) for word in demo.words}
    weat, lists = bb.word_sets("weat"), bb.word_sets("bad_seeds")

    def leaning(word: str) -> float:
        career, family = (
            np.mean([unit[word] @ unit[a] for a in weat[name]]) for name in ("career", "family")
        )
        return float(career - family)

    male, female = (
        [leaning(word) for word in lists[f"kozlowski_{sex}"]] for sex in ("male", "female")
    )
    expected = (np.mean(male) - np.mean(female)) / np.std(male + female, ddof=0)
    value = gender.table.set_index("lists").loc["Kozlowski 2019", "value"]
    assert value == pytest.approx(expected, abs=1e-5)


def test_coverage_and_reasons(gender: bb.rankings.ListComparison, demo: bb.Embedding) -> None:
    for row in gender.table.to_dict("records"):
        assert row["coverage"] == row["n_found"] / row["n_words"]
        assert len(row["missing"]) == row["n_words"] - row["n_found"]
        assert not set(row["missing"]) & set(demo.words)
        assert np.isnan(row["value"]) == row["reason"].startswith("embedding 'demo' lacks")
    empath = gender.table.set_index("lists").loc["Fast 2016, Empath"]
    assert np.isnan(empath["value"])
    assert "Empath (74 of 151)" in gender.summary()


def test_summary_counts_the_intervals(gender: bb.rankings.ListComparison) -> None:
    table = gender.table.dropna(subset="value")
    above, below = int((table["lower"] > 0).sum()), int((table["upper"] < 0).sum())
    rest = len(table) - above - below
    text = gender.summary()
    assert f"{above} above 0, {below} below, {rest} inconclusive" in text
    assert f"from {table['value'].min():.2f} [" in text
    assert "Caliskan 2017, names" in text


@pytest.mark.parametrize("concept", CONCEPTS)
def test_every_concept_has_lists_with_a_source(concept: str) -> None:
    found = load_concept(concept)
    assert len(found.pairs) > 1
    for name, pair in found.pairs.items():
        assert all(words.source for words in pair)
        assert pair[0].name != pair[1].name
        # The year of a row is the year of its source.
        for year in [part.strip(",") for part in name.split(" ") if part.strip(",").isdigit()]:
            if len(year) < 4:
                continue
            assert any(f"({year})" in words.source for words in pair), name


def test_lists_of_ones_own(demo: bb.Embedding) -> None:
    own = {"mine": (["he", "him"], ["she", "her"])}
    found = bb.compare_lists("gender", demo, lists=own, **FAST)
    assert found.table["lists"].iloc[-1] == "mine"
    alone = bb.compare_lists(own, demo, attributes=["weat:career", "weat:family"], **FAST)
    columns = ["n_words", "coherence", "value", "lower"]
    expected = found.table.iloc[[-1]][columns].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone.table[columns], expected)


def test_a_list_that_is_not_there_is_a_row_without_a_value(demo: bb.Embedding) -> None:
    pairs = {"none": (["qwxz"], ["zxwq"]), "some": (["he"], ["she"])}
    found = bb.compare_lists(pairs, demo, attributes=["weat:career", "weat:family"], **FAST)
    assert found.table["n_found"].tolist() == [0, 2]
    assert found.table["coherence"].isna().tolist() == [True, False]
    with pytest.raises(VocabularyError, match="has none of the words of the lists.*qwxz"):
        bb.compare_lists({"none": pairs["none"]}, demo, attributes=["weat:career", "weat:family"])


def test_bad_input(demo: bb.Embedding) -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'gender'"):
        bb.compare_lists("gendr", demo)
    with pytest.raises(SpecError, match="'mac'.*'weat_es'"):
        bb.compare_lists("gender", demo, metric="mac")
    with pytest.raises(SpecError, match="give 'attributes'"):
        bb.compare_lists({"a": (["he"], ["she"])}, demo)
    with pytest.raises(SpecError, match="'a' is .*two lists"):
        bb.compare_lists({"a": (["he"],)}, demo, attributes=["weat:career", "weat:family"])
    with pytest.raises(SpecError, match="'concept' is an int"):
        bb.compare_lists(3, demo)  # type: ignore[arg-type]


def test_the_figure_has_a_row_for_each_pair(gender: bb.rankings.ListComparison) -> None:
    ax = bb.plot_scores(gender)
    names = [label.get_text().replace("\n", " ") for label in ax.get_yticklabels()]
    assert names == list(gender.table["lists"])
    assert ax.get_xlabel() == "WEAT effect size in demo (0: no bias)"


def test_gathered_lists_are_those_of_the_file() -> None:
    """Sizes of sets in gathered_seeds.json, repeated words once."""
    sizes = {name: len(words) for name, words in bb.word_sets("bad_seeds").items()}
    assert sizes["hoyle_male_singular"] == sizes["hoyle_female_singular"] == 23
    assert sizes["hoyle_male_plural"] == sizes["hoyle_female_plural"] == 22
    assert sizes["zhao_male"] == sizes["zhao_female"] == 22
    assert sizes["zhao_male_stereotypes"] == sizes["zhao_female_stereotypes"] == 20
    assert len(sizes) == 71
    # 222 pairs, as Kumar et al. (2020) count them; 21 and 15 words are in several pairs.
    assert (sizes["zhao_female_definition"], sizes["zhao_male_definition"]) == (201, 207)
    # 50 occupations and 50 names (Caliskan et al. 2017); the seven topics of Kozlowski et al.
    # have 57 of the 59 words of the survey.
    assert sizes["caliskan_occupations"] == sizes["caliskan_androgynous_names"] == 50
    topics = ("occupations", "clothing", "sports", "music", "vehicles", "food", "first_names")
    assert sum(sizes[f"kozlowski_{topic}"] for topic in topics) == 57
    # 310 identities (Joseph et al. 2017), ten of them split; 14 parts repeat other words.
    assert sizes["joseph_identities"] == 310 + 10 - 14
    assert sizes["knoche_intellectual"] == len(bb.word_sets("garg")["adjectives_intelligence"]) + 10
    assert {sizes[f"bhatia_{trait}"] for trait in ("morality", "warmth", "competence")} == {8}
    for corpus, size in (("ptb", 15), ("wikitext", 46), ("cnn", 28)):
        assert sizes[f"bordia_male_{corpus}"] == size
    assert sizes["kaneko_neutral"] == 1031
    weat = bb.word_sets("weat")
    both = bb.word_sets("bad_seeds")
    # Knoche's lists are unions of Caliskan's, which the file and the paper both say.
    for sex in ("male", "female"):
        union = {*weat[f"{sex}_terms"], *weat[f"{sex}_terms_2"]}
        assert set(both[f"knoche_{sex}_terms"]) == union
        names = {name.lower() for name in weat[f"{sex}_names"]}
        assert set(both[f"knoche_{sex}"]) == union | names
    union = {*weat["pleasant_5"], *weat["pleasant_9"]}
    assert set(both["knoche_pleasant"]) == union
    assert set(both["knoche_unpleasant"]) == {*weat["unpleasant_5a"], *weat["unpleasant_9"]}
    for race, left_out in (("european", {"allison"}), ("african", {"tremayne"})):
        sets = [f"{race}_american_names_5_full", f"{race}_american_names_7"]
        union = {name.lower() for name in (*weat[sets[0]], *weat[sets[1]])}
        side = "white" if race == "european" else "black"
        assert set(both[f"knoche_{side}_names"]) == union - left_out


@pytest.mark.parametrize(("number", "share"), [(2, 0.11), (4, 0.11), (12, 0.11)])
def test_lists_that_do_not_differ_are_seldom_said_to(number: int, share: float) -> None:
    rng = np.random.default_rng(number)
    half = norm.ppf(0.945) * 0.2
    said = 0
    for _ in range(400):
        value = rng.normal(0.5, 0.2, number)
        scores = pd.DataFrame({"value": value, "lower": value - half, "upper": value + half})
        said += _some_differ(scores, 0.89)
    assert 0.3 * share < said / 400 < share + 3 * np.sqrt(share * (1 - share) / 400)


def test_lists_that_differ_are_said_to() -> None:
    value = np.array([0.1, 0.5, 1.6])
    scores = pd.DataFrame({"value": value, "lower": value - 0.3, "upper": value + 0.3})
    assert _some_differ(scores, 0.89)
    assert not _some_differ(scores.head(1), 0.89)
