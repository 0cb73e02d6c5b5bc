"""Every format gives back what was written, to the bit, for all words and values."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias.embeddings import Matching

FLOAT32 = hnp.from_dtype(np.dtype(np.float32), allow_nan=False, allow_infinity=False)


def words(forbidden: str) -> st.SearchStrategy[str]:
    # A byte order mark at the start of a file is not a part of its first word.
    alphabet = st.characters(exclude_categories=["Cs"], exclude_characters=forbidden + "\ufeff")
    return st.text(alphabet, max_size=8)


@st.composite
def embeddings(draw: st.DrawFn, forbidden: str = "") -> bb.Embedding:
    vocabulary = draw(st.lists(words(forbidden), min_size=1, max_size=12, unique=True))
    # One dimension is left out: a first line such as "5 1" could also be a header.
    shape = (len(vocabulary), draw(st.integers(2, 5)))
    return bb.Embedding(vocabulary, draw(hnp.arrays(np.float32, shape, elements=FLOAT32)), "x")


def assert_same(read: bb.Embedding, written: bb.Embedding) -> None:
    assert read.words == written.words
    assert read.vectors.dtype == np.float32
    # The bits, so that 0.0 and -0.0 are told apart.
    np.testing.assert_array_equal(
        read.vectors.copy().view(np.uint32), written.vectors.copy().view(np.uint32)
    )


def round_trip(
    embedding: bb.Embedding, suffix: str, format: str | None = None, read_as: str | None = None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"vectors{suffix}"
        embedding.save(path, format=format)
        assert_same(bb.load_embedding(path, format=read_as), embedding)
        some = embedding.words[::2]
        if some:
            chosen = bb.load_embedding(
                path, words=some, matching=Matching(("exact",)), format=read_as
            )
            assert set(chosen.words) == set(some)
            for word in some:
                np.testing.assert_array_equal(chosen[word], embedding[word])
        assert bb.load_embedding(path, limit=1, format=read_as).words == embedding.words[:1]
        assert [p.name for p in Path(folder).iterdir() if p.name.startswith(".")] == []


@settings(deadline=None)
@given(embeddings())
@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_our_formats_hold_any_word(suffix: str, embedding: bb.Embedding) -> None:
    round_trip(embedding, suffix)


@settings(deadline=None)
@given(embeddings(forbidden="\n\r"))
def test_mapped_matrix(embedding: bb.Embedding) -> None:
    round_trip(embedding, ".npy")


@settings(deadline=None)
@given(embeddings(forbidden=" \n"))
@pytest.mark.parametrize("suffix", [".bin", ".bin.gz"])
def test_word2vec_binary(suffix: str, embedding: bb.Embedding) -> None:
    # A few values can by chance be the bytes of text, so the format is not guessed here.
    round_trip(embedding, suffix, read_as="word2vec-bin")


@settings(deadline=None)
@given(embeddings(forbidden=" \t\n"))
@pytest.mark.parametrize("suffix", [".txt", ".vec", ".txt.gz", ".vec.gz"])
def test_word2vec_and_fasttext_text(suffix: str, embedding: bb.Embedding) -> None:
    round_trip(embedding, suffix)


@settings(deadline=None)
@given(embeddings(forbidden=" \t\n"))
@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_glove(suffix: str, embedding: bb.Embedding) -> None:
    round_trip(embedding, suffix, format="glove")


@settings(deadline=None)
@given(embeddings())
@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".parquet"])
def test_tables_that_hold_any_word(suffix: str, embedding: bb.Embedding) -> None:
    round_trip(embedding, suffix)


@settings(deadline=None)
@given(embeddings(forbidden="\n\r"))
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".tsv.gz"])
def test_delimited_text(suffix: str, embedding: bb.Embedding) -> None:
    round_trip(embedding, suffix)


@settings(deadline=None)
@given(embeddings(forbidden="\n\r\0"), st.booleans())
def test_csv_that_pandas_writes(embedding: bb.Embedding, header: bool) -> None:
    frame = pd.DataFrame(embedding.vectors.astype(float), index=list(embedding.words))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.csv"
        # Without a header, rows of 0, 1, 2 under a word such as "key" would be taken for one.
        frame.to_csv(path, header=[f"x{i}" for i in frame] if header else None)
        assume(header or embedding.words[0].strip().lower() not in ("", "word", "key", "term"))
        assert_same(bb.load_embedding(path, format="csv"), embedding)


@settings(deadline=None)
@given(embeddings())
def test_gensim_both_ways(embedding: bb.Embedding) -> None:
    assert_same(bb.Embedding.from_gensim(embedding.to_gensim(), name="x"), embedding)
