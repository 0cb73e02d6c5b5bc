"""Languages of word lists, and the translated lists against what their sources hold."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import Result

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, SpecError
from bayesbias.wordlists import LANGUAGES, catalogue, collections_in, listed_words

# Words of the two targets and the two attributes of each test: what the program of the source
# makes of its tables, each translation once, a masculine and a feminine form as two words.
TESTS = {
    "xweat_de": {1: (25, 24, 26, 24), 2: (24, 24, 26, 24), 6: (8, 8, 9, 8), 7: (8, 8, 8, 8)},
    "xweat_es": {1: (25, 23, 27, 27), 2: (24, 22, 27, 27), 6: (8, 8, 9, 8), 7: (7, 8, 7, 8)},
    "xweat_hr": {1: (24, 24, 23, 23), 2: (24, 23, 23, 23), 6: (8, 8, 8, 8), 7: (8, 8, 8, 7)},
    "xweat_it": {1: (24, 23, 25, 24), 2: (24, 24, 25, 24), 6: (8, 8, 8, 8), 7: (7, 8, 7, 7)},
    "xweat_ru": {1: (24, 24, 29, 24), 2: (25, 24, 29, 24), 6: (8, 8, 8, 7), 7: (9, 8, 7, 6)},
    "xweat_tr": {1: (24, 24, 24, 23), 2: (24, 22, 24, 23), 6: (8, 8, 8, 8), 7: (8, 8, 8, 7)},
    "weathub_fr": {1: (25, 24, 24, 24), 2: (24, 25, 24, 24), 6: (8, 8, 8, 6), 7: (7, 8, 7, 5)},
}
OTHERS = {
    "xweat_de": {8: (8, 8, 8, 8), 9: (6, 5, 7, 7)},
    "xweat_es": {8: (8, 8, 7, 8), 9: (9, 6, 7, 7)},
    "xweat_hr": {8: (8, 8, 8, 8), 9: (6, 5, 7, 7)},
    "xweat_it": {8: (8, 8, 7, 7), 9: (6, 5, 7, 7)},
    "xweat_ru": {8: (8, 8, 8, 7), 9: (12, 6, 14, 12)},
    "xweat_tr": {8: (8, 8, 8, 8), 9: (6, 5, 7, 7)},
    "weathub_fr": {8: (8, 8, 8, 7), 9: (6, 5, 7, 7)},
}


@pytest.mark.parametrize("name", TESTS)
def test_sizes_of_the_translated_tests(name: str) -> None:
    code = name[-2:]
    for number, sizes in {**TESTS[name], **OTHERS[name]}.items():
        query = bb.load_query(f"{name}_{number}")
        assert tuple(map(len, query.word_sets().values())) == sizes, number
        assert query.language == code
        assert query.name == f"{bb.load_query(f'weat_{number}').name} ({code})"
    assert len(bb.query_set(name)) == 6
    assert set(bb.word_sets(name)) <= {*bb.word_sets("weat"), "occupations"}
    assert {words.language for words in bb.word_sets(name).values()} == {code}


def test_words_of_the_sources() -> None:
    german, spanish = bb.word_sets("xweat_de"), bb.word_sets("xweat_es")
    # Rows of vocab_en_de.csv and vocab_en_es.csv: friend, nurse; he, him and his.
    assert german["pleasant_9"][5:7] == ("Freund", "Freundin")
    assert {"Krankenschwester", "Krankenpfleger"} <= set(german["occupations"])
    assert spanish["male_terms"].words[4:] == ("él", "su", "hijo")
    assert "insvestigadora" in spanish["occupations"]
    # The first translation of "constant" is another than its masculine form.
    assert bb.word_sets("xweat_ru")["permanent"].words[3:5] == ("постоянный", "постоянная")
    # weat6.json of the folder fr_all.
    assert bb.word_sets("weathub_fr")["male_names"][:3] == ("Louis", "Gabriel", "Alexandre")
    assert bb.word_sets("xweat_tr")["male_names"] == bb.word_sets("weat")["male_names"]


def test_notes_name_what_the_source_leaves_out_and_shares() -> None:
    assert "rose" in bb.word_sets("xweat_ru")["flowers"].note
    assert "home" in bb.word_sets("xweat_ru")["family"].note
    for collection, shared in (("xweat_tr", {"o"}), ("xweat_es", {"su"}), ("weathub_fr", {"son"})):
        sets = bb.word_sets(collection)
        assert set(sets["male_terms"]) & set(sets["female_terms"]) == shared
        assert "also in female_terms" in sets["male_terms"].note
    for collection in TESTS:
        about = catalogue.describe_collection(collection)
        licence = "CC BY 4.0" if collection == "weathub_fr" else "states no licence"
        assert licence in about["licence"]


def test_codes() -> None:
    assert len(LANGUAGES) == 183  # ISO 639-1 has 183 languages
    assert (LANGUAGES["de"], LANGUAGES["hr"]) == ("German", "Croatian")
    assert bb.WordSet("x", ["a"]).language == "en"
    for wrong, right in (("german", "de"), ("DE", "de")):
        with pytest.raises(SpecError, match=f"{wrong!r}.*Did you mean {right!r}"):
            bb.WordSet("x", ["a"], language=wrong)
    for wrong in ("deu", "", None, 3):
        with pytest.raises(SpecError, match="'language' is"):
            bb.Query([["a"]], [["b"]], language=wrong)  # type: ignore[arg-type]


def test_lists_by_language() -> None:
    assert collections_in("en") == catalogue.COLLECTIONS[:8]
    assert collections_in("fr") == ("weathub_fr",)
    assert collections_in("nl") == ()
    listed = bb.wordlists.published_lists
    assert set(listed("ru")["name"]) == {"xweat_ru", "xweat_ru_1 … xweat_ru_9"}
    assert len(listed()) == sum(len(listed(code)) for code in set(listed()["language"]))
    assert listed("nl").empty
    with pytest.raises(SpecError, match="ISO 639-1"):
        listed("russian")
    # Words of lists in other languages are no reason to leave out an English word.
    assert "rat" in bb.word_sets("xweat_hr")["unpleasant_9"]
    assert "rat" not in listed_words()
    assert listed_words("hr+en") == listed_words("en") | listed_words("hr")


def test_command_line(run: Callable[..., Result]) -> None:
    text = run("words", "list", "--language", "tr").out
    assert "xweat_tr" in text
    assert "weat_1 …" not in text.replace("xweat_tr_1 …", "")
    header = run("words", "list", "weat", "--format", "csv").out.splitlines()[0]
    assert header == "list,language,entries,about"
    missing = run("words", "list", "--language", "nl")
    assert missing.code
    assert "Dutch" in missing.err
    other = run("words", "list", "weat", "--language", "de")
    assert other.code
    assert "'en', not in 'de'" in other.err


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_a_study_keeps_its_languages(suffix: str, tmp_path: Path) -> None:
    study = bb.Study(
        "Rollen",
        {"Mann": ["er", "Vater"], "Frau": ["sie", "Mutter"]},
        {"Mann": ["Ingenieur"], "Frau": ["Krankenpflege"]},
        {"neutral": ["Uhr", "Gras"]},
        language="de",
    )
    mixed = bb.Study("mixed", study.groups, {"Mann": bb.WordSet("m", ["engineer"])}, language="en")
    assert (study.language, mixed.language) == ("de", "de+en")
    for one in (study, mixed):
        one.save(tmp_path / f"study{suffix}")
        again = bb.load_study(tmp_path / f"study{suffix}")
        assert again == one
        for loaded in (again, pickle.loads(pickle.dumps(one))):
            assert loaded.language == one.language
            assert loaded.stereotypes["Mann"].language == one.stereotypes["Mann"].language
    assert "language" not in bb.load_study("religion").to_dict()


def test_files_name_languages(tmp_path: Path) -> None:
    path = tmp_path / "query.toml"
    lists = '[target_sets]\na = ["hij"]\nb = "weat:career"\n[attribute_sets]\nc = ["thuis"]\n'
    path.write_text('language = "nl"\n' + lists, "utf-8")
    query = bb.load_query(path)
    # A built-in list keeps its own language and source.
    assert [words.language for words in query.word_sets().values()] == ["nl", "en", "nl"]
    assert "Caliskan" in query.target_sets[1].source
    assert bb.Query.from_dict(query.to_dict()).to_dict() == query.to_dict()
    assert {words.language for words in bb.word_sets(path).values()} == {"nl", "en"}
    path.write_text('[groups]\na = ["x"]\nb = ["y"]\n[language]\ngroups = "nl"\n', "utf-8")
    assert bb.load_labelled(path)["a"].language == "nl"
    path.write_text(lists + '[language.target_sets]\nz = "nl"\n', "utf-8")
    with pytest.raises(SpecError, match="language of 'z'"):
        bb.load_query(path)
    path.write_text(lists + '[language]\ntarget = "nl"\n', "utf-8")
    with pytest.raises(SpecError, match="Did you mean 'target_sets'"):
        bb.load_query(path)


def test_a_bilingual_embedding_and_a_bilingual_query() -> None:
    german, english = bb.load_query("xweat_de_7"), bb.load_query("weat_7")
    both = bb.Query(german.target_sets, english.attribute_sets)
    assert both.language == "de+en"
    assert both.name.endswith("(de+en)")
    assert bb.Query.from_dict(both.to_dict()).language == "de+en"
    assert {q.language for q in both.subqueries((1, 1))} == {"de+en"}
    words = list(
        dict.fromkeys(w for q in (german, english) for s in q.word_sets().values() for w in s)
    )
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(len(words), 40))
    index = {word: i for i, word in enumerate(words)}
    # Math and men share a direction, whatever the language.
    for query in (german, english):
        for group, shift in zip(query.word_sets().values(), (0.6, -0.6, 1, -1), strict=True):
            vectors[[index[word] for word in group], 0] += 4 * shift
    emb = bb.Embedding(words, vectors, name="bilingual")
    metric = bb.metrics.WEAT(return_effect_size=True)
    for query in (german, english, both):
        assert metric.posterior(query, emb, draws=200, seed=1).value > 1
    with pytest.warns(BayesBiasWarning, match="женщина"):
        assert np.isnan(metric.posterior("xweat_ru_7", emb, draws=200).value)


def test_accents_are_dropped_where_a_vocabulary_has_none() -> None:
    emb = bb.Embedding(["calculo", "algebra"], np.eye(2))
    spanish = bb.word_sets("xweat_es")["math"]
    assert emb.match(["cálculo", "álgebra"]).entries == ("calculo", "algebra")
    assert emb.match(spanish).found == ("álgebra", "cálculo")
    exact = bb.embeddings.Matching(("exact", "lower", "title"))
    assert emb.match(["cálculo"], exact).missing == ("cálculo",)
