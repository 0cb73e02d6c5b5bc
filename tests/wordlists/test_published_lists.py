"""The built-in lists, against what the publications say of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import bayesbias as bb
from bayesbias.errors import NotFoundError
from bayesbias.wordlists import catalogue

SIZES = {
    # Caliskan et al. (2017), table 1: sizes of targets and attributes of each test.
    "weat_1": (25, 25, 25, 25),
    "weat_2": (25, 25, 25, 25),
    "weat_3": (32, 32, 25, 25),
    "weat_4": (16, 16, 25, 25),
    "weat_5": (16, 16, 8, 8),
    "weat_6": (8, 8, 8, 8),
    "weat_7": (8, 8, 8, 8),
    "weat_8": (8, 8, 8, 8),
    "weat_9": (6, 6, 7, 7),
    "weat_10": (8, 8, 8, 8),
}


@pytest.mark.parametrize(("name", "sizes"), SIZES.items())
def test_weat_sizes(name: str, sizes: tuple[int, ...]) -> None:
    query = bb.load_query(name)
    assert tuple(len(words) for words in query.word_sets().values()) == sizes


def test_every_list_is_well_formed() -> None:
    for collection in catalogue.COLLECTIONS:
        about = catalogue.describe_collection(collection)
        assert about["source"]
        assert about["licence"]
        for name, words in bb.word_sets(collection).items():
            assert words.source, name
            assert about["sets"][name], f"{collection}:{name} has no description"
            assert all(word == word.strip() for word in words)


def test_case_study_queries() -> None:
    assert [len(bb.query_set(n)) for n in ("gender", "ethnicity", "religion", "weat")] == [
        7,
        9,
        9,
        10,
    ]
    queries = [q for n in ("gender", "ethnicity", "religion") for q in bb.query_set(n)]
    assert {q.template for q in queries} == {(2, 2)}
    assert len({q.name for q in queries}) == 25
    assert bb.query_set("gender")[0] == bb.load_query("gender_1")
    with pytest.raises(NotFoundError, match="Did you mean 'ethnicity'"):
        bb.query_set("etnicity")


def test_sizes_named_by_the_sources() -> None:
    bolukbasi, tuples = bb.word_sets("bolukbasi"), bb.word_tuples("bolukbasi")
    assert len(tuples["definitional_pairs"]) == 10
    assert len(tuples["equalize_pairs"]) == 52
    assert len(bolukbasi["professions"]) == 320
    assert len(bolukbasi["gender_specific_seed"]) == 218
    lexicon = bb.word_sets("bing_liu")
    assert len(lexicon["positive_words"]) == 2006
    assert len(lexicon["negative_words"]) == 4783
    assert len(bb.word_sets("controls")["human"]) == 27
    assert len(bb.word_sets("controls")["neutral"]) == 242


def test_slips_that_are_corrected() -> None:
    # Swapped in one table of the WEFE thesis and in WEFE's loader.
    terms = bb.word_sets("bolukbasi")
    assert "he" in terms["male_terms"]
    assert "she" in terms["female_terms"]
    assert "short-term" in bb.word_sets("weat")["temporary"]


def test_slips_that_are_kept_and_marked() -> None:
    garg = bb.word_sets("garg")
    assert len(set(garg["names_white"]) & set(garg["names_black"])) == 19
    assert "19" in garg["names_white"].note + garg["names_black"].note


def test_names_of_manzini() -> None:
    assert bb.word_tuples("manzini")["religion_definitional_sets"] == (
        ("judaism", "christianity", "islam"),
        ("jew", "christian", "muslim"),
        ("synagogue", "church", "mosque"),
        ("torah", "bible", "quran"),
        ("rabbi", "priest", "imam"),
    )
    assert bb.word_tuples("weat") == {}


def test_unknown_collection() -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'manzini'"):
        bb.word_sets("manzin")


def test_the_demo_holds_the_lists(demo: bb.Embedding) -> None:
    assert bb.check_words(bb.load_query("weat_6"), demo, samples=1).lists["coverage"].eq(1).all()
    assert len(demo) > 10_000
    assert demo.words[:3] == ("the", ",", ".")
    other = bb.load_embedding("demo-100d")
    assert (other.dim, other.name) == (100, "demo-100d")
    for query in bb.query_set("weat"):
        found = bb.check_words(query, [demo, other], samples=1).lists
        assert found["n_found"].sum() / found["n_words"].sum() > 0.98, query.name
    # Published neighbours survive half precision.
    similar = [w for w, _ in demo.to_gensim().most_similar("king", topn=10)]
    assert "prince" in similar
    assert "queen" in similar


@pytest.mark.parametrize("name", ["religion", "gender", "race", "weat_1", "weat_7"])
def test_groups_have_labels_with_capitals(name: str) -> None:
    study = bb.load_study(name)
    labels = [study.group_label(group) for group in study.groups]
    assert len(set(labels)) == len(labels)
    assert all(label[0].isupper() and label not in study.groups for label in labels)
    assert study.label != study.name


def test_names_of_peoples_have_capitals() -> None:
    """As APA style has it: Black and White, as Asian and Hispanic; and no adjective as a noun."""
    path = Path(bb.__file__).parent / "wordlists" / "data"
    entries = tomllib.loads((path / "queries.toml").read_text("utf-8"))
    names = [
        name
        for kind, queries in entries.items()
        if kind != "sources"
        for query in queries
        for name in (*query["target_names"], *query["attribute_names"])
    ]
    for name in names:
        assert name[0].isupper(), name
        assert not re.search(r"\b(black|white|asian|hispanic|Jews?|Blacks|Whites)\b", name), name
