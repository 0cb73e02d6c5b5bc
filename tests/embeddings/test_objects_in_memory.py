"""Embeddings from dictionaries, data frames and spaCy pipelines."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError, SpecError

VECTORS = np.array([[1, 2], [3, 4.5]], dtype=np.float32)


@given(st.dictionaries(st.text(), st.tuples(*[st.floats(width=32, allow_nan=False)] * 2)))
def test_a_dictionary_gives_its_words_in_order(mapping: dict[str, tuple[float, float]]) -> None:
    finite = {w: v for w, v in mapping.items() if np.isfinite(v).all()}
    if not finite:
        with pytest.raises(DataError, match="empty"):
            bb.Embedding.from_dict(finite)
        return
    emb = bb.Embedding.from_dict(finite, "mine")
    assert emb.words == tuple(finite)
    assert emb.vectors.tolist() == [list(v) for v in finite.values()]
    frame = pd.DataFrame(emb.vectors, index=pd.Index(list(finite), dtype=object))
    assert bb.Embedding.from_frame(frame) == emb


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"he": [1, 2], "she": [1]}, "'she' has 1 values, those before it have 2"),
        ({"he": [1, 2], "she": "x"}, "the vector of 'she'"),
        ({"he": [1, np.nan]}, "'he'.*NaN"),
        ({5: [1, 2]}, "the word 5 is not a string"),
    ],
)
def test_faults_in_a_dictionary(mapping: dict[str, list[float]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        bb.Embedding.from_dict(mapping)


def test_what_is_not_a_dictionary_or_a_frame() -> None:
    with pytest.raises(SpecError, match="'mapping' is a list"):
        bb.Embedding.from_dict(["he"])  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'frame' is a dict.*to_pandas"):
        bb.Embedding.from_frame({})  # type: ignore[arg-type]


def test_words_of_a_frame_are_the_index_or_a_column() -> None:
    index = pd.DataFrame(VECTORS, index=["he", "New York"])
    column = index.reset_index(names="w")
    numbered = column.assign(lang="en")
    for frame in (index, column, column.set_axis([7, 8])):
        emb = bb.Embedding.from_frame(frame, "mine")
        assert emb.words == ("he", "New York")
        np.testing.assert_array_equal(emb.vectors, VECTORS)
    with pytest.raises(DataError, match="'w', 'lang' do not hold numbers"):
        bb.Embedding.from_frame(numbered)
    with pytest.raises(DataError, match="not all numbers"):
        bb.Embedding.from_frame(numbered, words="w")
    with pytest.raises(DataError, match="no column is called 'x'; found 'w'"):
        bb.Embedding.from_frame(column, words="x")
    with pytest.raises(DataError, match="the index is 0, 1.*expected words"):
        bb.Embedding.from_frame(pd.DataFrame(VECTORS))
    with pytest.raises(DataError, match="'he'.*NaN"):
        bb.Embedding.from_frame(index.astype("Float32").mask(index == 2))
    with pytest.warns(BayesBiasWarning, match="1 duplicate word"):
        bb.Embedding.from_frame(pd.DataFrame(VECTORS, index=["he", "he"]))


def stand_in(mode: str = "default", rows: dict[int, int] | None = None) -> SimpleNamespace:
    """Return an object with what is used of a spaCy pipeline."""
    strings = {11: "he", 12: "she", 13: "they"}
    key2row = {11: 1, 12: 0, 13: 0} if rows is None else rows
    vectors = SimpleNamespace(data=VECTORS, key2row=key2row, mode=mode)
    return SimpleNamespace(vocab=SimpleNamespace(vectors=vectors, strings=strings))


def test_vectors_of_a_pipeline_or_its_vocabulary() -> None:
    for given_object in (stand_in(), stand_in().vocab):
        emb = bb.Embedding.from_spacy(given_object)
        assert emb.words == ("he", "she", "they")  # words may share a row
        np.testing.assert_array_equal(emb.vectors, VECTORS[[1, 0, 0]])


def test_pipelines_without_a_list_of_vectors() -> None:
    with pytest.raises(DataError, match="floret.*from_dict"):
        bb.Embedding.from_spacy(stand_in("floret"))
    with pytest.raises(DataError, match="no word vectors.*en_core_web_md"):
        bb.Embedding.from_spacy(stand_in(rows={}))
    with pytest.raises(SpecError, match="'nlp' is a str"):
        bb.Embedding.from_spacy("en_core_web_md")
    with pytest.warns(BayesBiasWarning, match="1 vector left out"):
        assert bb.Embedding.from_spacy(stand_in(rows={11: 0, 99: 1})).words == ("he",)


def test_spacy_itself() -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    with pytest.raises(DataError, match="no word vectors"):
        bb.Embedding.from_spacy(nlp)
    for word, vector in zip(["he", "New York"], VECTORS, strict=True):
        nlp.vocab.set_vector(word, vector)
    emb = bb.Embedding.from_spacy(nlp, "mine")
    assert set(emb.words) == {"he", "New York"}
    for word in emb:
        np.testing.assert_array_equal(emb[word], nlp.vocab.get_vector(word))
