"""Embeddings as tables: CSV, TSV, JSON lines, Parquet, and archives with any array names."""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import bayesbias as bb
from bayesbias._core import unpacked_sizes
from bayesbias.embeddings import guess_format
from bayesbias.errors import BayesBiasError, BayesBiasWarning, DataError

WORDS = ["the", "New York", 'say "hi"', "1,000", "naïve"]
VECTORS = np.arange(1, 16, dtype=np.float32).reshape(5, 3) / 8


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8", newline="")
    return path


def frame() -> pd.DataFrame:
    return pd.DataFrame(VECTORS, index=WORDS)


def assert_is_ours(embedding: bb.Embedding) -> None:
    assert embedding.words == tuple(WORDS)
    np.testing.assert_array_equal(embedding.vectors, VECTORS)


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC, csv.QUOTE_ALL])
@pytest.mark.parametrize("label", [None, "word", "wort"])
@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".tsv", "\t"), (".csv", ";")])
@pytest.mark.parametrize("header", [True, False])
def test_tables_that_pandas_writes(
    tmp_path: Path, quoting: int, label: str | None, suffix: str, separator: str, header: bool
) -> None:
    # Its columns are called 0, 1, 2, which look like values.
    if label == "wort":
        columns = ["a", "b", "c"]
        table = frame().set_axis(columns, axis=1)
    else:
        table = frame()
    path = tmp_path / f"a{suffix}"
    table.to_csv(path, sep=separator, quoting=quoting, header=header, index_label=label)
    assert guess_format(path) == suffix[1:]
    assert_is_ours(bb.load_embedding(path))
    packed = tmp_path / f"b{suffix}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    loaded = bb.load_embedding(packed)
    assert_is_ours(loaded)
    assert loaded.name == "b"


def test_tables_as_other_programs_write_them(tmp_path: Path) -> None:
    excel = write(tmp_path / "a.csv", "\ufeffword,x,y\r\nhe,1,2\r\nshe, 3, 4\r\n")
    r_table = write(tmp_path / "b.tsv", '"V1"\t"V2"\n"he"\t1\t2\n"she"\t3\t4\n')
    for path in (excel, r_table):
        loaded = bb.load_embedding(path)
        assert loaded.words == ("he", "she")
        assert loaded.vectors.tolist() == [[1, 2], [3, 4]]


def test_a_lone_quotation_mark_is_a_word(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", '"\t1\t2\nhe\t3\t4\n"\'\t5\t6\na,b\t7\t8\n')
    assert bb.load_embedding(path).words == ('"', "he", "\"'", "a,b")
    path = write(tmp_path / "a.csv", "he,1,2\na,b,3,4\nshe,5,6\n")  # a comma without quotes
    assert bb.load_embedding(path)["a,b"].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("he,1,2\nshe,3,x\nit,5,6\n", r"line 2 \('she'\): the value 'x' is not a number"),
        ("w,a,b\nhe,1,2\nshe,3,nan\n", r"line 3 \('she'\): the value 'nan' is NaN"),
        ("he,1,2\nshe,3\nit,5,6\n", r"line 2 \('she'\): 1 values, expected 2"),
        ("he,1,2\nshe,3,4\nit,5", r"line 3 \('it'\): the file ends after 1 of 2.*limit=2"),
        ("id,word,a\n0,he,1\n1,she,2\n", "leave out a column of row numbers"),
        (",word,a\n0,he,1\n1,she,2\n", "leave out a column of row numbers"),
        ("he;1,5;2,5\nshe;3,5;4,5\n", "decimal point"),
        ("word,a,b\n", "no vectors|not a table"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        bb.load_embedding(write(tmp_path / "a.csv", text))


def test_the_last_row_may_be_cut(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "he,1,2\nshe,3,4")
    with pytest.warns(BayesBiasWarning, match=r"last row \('she'\) may be cut"):
        bb.load_embedding(path)
    assert not bb.load_embedding(path, limit=1).notes


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_words_limit_and_duplicates(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    bb.Embedding(WORDS, VECTORS).save(path)
    assert guess_format(path) == suffix[1:]
    part = bb.load_embedding(path, words=["naïve", "1,000", "xyzzy"])
    assert part.words == ("1,000", "naïve")
    assert part.ranks.tolist() == [4, 5]
    np.testing.assert_array_equal(part.vectors, VECTORS[3:])
    assert bb.load_embedding(path, limit=2).words == tuple(WORDS[:2])
    assert bb.load_embedding(path, limit=4, words=["naïve", "the"]).words == ("the",)
    disguised = path.rename(tmp_path / "vectors.dat")
    assert_is_ours(bb.load_embedding(disguised))


def test_duplicates_as_elsewhere(tmp_path: Path) -> None:
    table = pd.DataFrame({"word": ["he", "she", "he"], "a": [1.0, 2, 3], "b": [1.0, 1, 1]})
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_parquet(tmp_path / "a.parquet")
    lines = [json.dumps({"word": w, "vector": [a, b]}) for w, a, b in table.to_numpy().tolist()]
    write(tmp_path / "a.jsonl", "\n".join(lines) + "\n")
    for suffix in ("csv", "parquet", "jsonl"):
        with pytest.warns(BayesBiasWarning, match="1 duplicate word left out.*'he'"):
            loaded = bb.load_embedding(tmp_path / f"a.{suffix}")
        assert loaded["he"].tolist() == [1, 1]


# --- Parquet


def test_parquet_with_columns_of_numbers_or_of_lists(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame().set_axis(["a", "b", "c"], axis=1).to_parquet(path)  # the words are the index
    assert_is_ours(bb.load_embedding(path))
    for kind in (pa.list_(pa.float64()), pa.large_list(pa.float32()), pa.list_(pa.float16(), 3)):
        vectors = pa.array(
            VECTORS.astype(np.float16).tolist()
            if kind.value_type == pa.float16()
            else VECTORS.tolist(),
            kind,
        )
        words = pa.array(WORDS).dictionary_encode()
        parquet.write_table(pa.table({"vector": vectors, "token": words}), path)
        assert_is_ours(bb.load_embedding(path))
    integers = pd.DataFrame({"w": ["he", "she"], "x": [1, 2], "y": [3, 4]})
    integers.to_parquet(path)
    assert bb.load_embedding(path).vectors.tolist() == [[1, 3], [2, 4]]


def test_counts_beside_vectors_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pd.DataFrame(
        {"word": ["he", "she"], "pos": ["P", "P"], "n": [9, 8], "x": [0.5, 1.0], "y": [1.0, 2.0]}
    ).to_parquet(path)
    with pytest.warns(BayesBiasWarning, match="left out.*'n'"):
        assert bb.load_embedding(path).vectors.tolist() == [[0.5, 1], [1, 2]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["he"], "b": ["she"], "x": [1.0]}, r"found the columns 'a' \(.*'x' \(double\)"),
        ({"x": [1.0], "y": [2.0]}, "expected one column of words"),
        ({"w": ["he", "she"], "v": [[1.0, 2.0], [1.0]]}, "'she' has 1 values, others have 2"),
        ({"w": ["he", "she"], "v": [[1.0], [None]]}, "'she' has an empty value"),
        ({"w": ["he", "she"], "v": [[1.0], None]}, "'she' has no value in the column 'v'"),
        ({"w": ["he", "she"], "x": [1.0, None]}, "'she' has no value in the column 'x'"),
        ({"w": ["he", "she"], "x": [1.0, float("nan")]}, "'she'.*NaN"),
        ({"w": ["he", None], "x": [1.0, 2.0]}, "row 2: the column 'w' has no word"),
        ({"w": pa.array([], pa.string()), "x": pa.array([], pa.float32())}, "no vectors"),
    ],
)
def test_faults_in_parquet(tmp_path: Path, columns: dict[str, object], message: str) -> None:
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=message):
        bb.load_embedding(tmp_path / "a.parquet")


def test_parquet_made_to_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacked_sizes, "UNPACKED_ANYWAY", 1 << 16)
    # One repeated value takes no space in the file; the words are as cheap.
    rows = 100_000
    words = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), ["w"])
    column = pa.array(np.zeros(rows, np.float32))
    table = pa.table({"word": words, **{f"d{i}": column for i in range(30)}})
    offsets = np.array([0, rows * 30], dtype=np.int32)
    long = pa.ListArray.from_arrays(offsets, pa.array(np.zeros(rows * 30, np.float32)))
    for each in (table, pa.table({"word": ["w"], "vector": long})):
        parquet.write_table(each, tmp_path / "a.parquet")
        with pytest.raises(DataError, match="unpack to .* never do"):
            bb.load_embedding(tmp_path / "a.parquet")


# --- JSON lines


def test_json_fields_are_found_by_type(tmp_path: Path) -> None:
    lines = [
        {"id": 3, "term": word, "lang": "en", "e": vector}
        for word, vector in zip(WORDS, VECTORS.tolist(), strict=True)
    ]
    text = "\n\n".join(json.dumps(line) for line in lines)
    assert_is_ours(bb.load_embedding(write(tmp_path / "a.jsonl", text)))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"a": "he", "b": "x", "v": [1]}'], r"line 1: found the fields 'a \(str\)'"),
        (['{"word": "he"}'], "expected one that holds text"),
        (['{"word": "he", "v": [1, 2]}', '{"word": "she", "v": [1]}'], r"line 2 \('she'\).*1 val"),
        (['{"word": "he", "v": [1]}', '{"word": "she", "v": ["1"]}'], r"line 2 \('she'\)"),
        (['{"word": "he", "v": [1]}', '{"word": "she", "v": [true]}'], r"line 2 \('she'\)"),
        (['{"word": "he", "v": [1]}', '{"word": 5, "v": [1]}'], "line 2: the field 'word' is 5"),
        (['{"word": "he", "v": [1]}', "[1, 2]"], "line 2: list instead of an object"),
        (['{"word": "he", "v": [1]}', '{"word": "she", "v": [NaN]}'], "line 2.*NaN"),
        (['{"word": "he", "v": [1]}', '{"word": "she", "v": [1e99]}'], "'she'.*infinite"),
        (['{"word": "he", "v": [1]}', '{"word": "sh'], "line 2: not an object of JSON"),
        (['{"word": "he", "v": [1' + "0" * 400 + "]}"], "'he'.*too large"),
        (["{", '"he": [1, 2]}'], "line 1: not an object"),
        (['{"word": ' + "[" * 100_000], "line 1: not an object"),
    ],
)
def test_faults_in_json(tmp_path: Path, lines: list[str], message: str) -> None:
    path = write(tmp_path / "a.jsonl", "\n".join(lines) + "\n")
    with pytest.raises(DataError, match=message):
        bb.load_embedding(path)


# --- archives of arrays


def test_npz_with_any_names(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, W=VECTORS, vocab=np.array(WORDS), counts=np.arange(5))
    assert_is_ours(bb.load_embedding(path))
    np.savez(path, VECTORS, np.array([word.encode() for word in WORDS]))
    assert_is_ours(bb.load_embedding(path))


def test_npz_that_is_not_clear(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, U=VECTORS, V=VECTORS, vocab=np.array(WORDS))
    with pytest.raises(DataError, match=r"found the arrays 'U' \(float32, shape \(5, 3\)\), 'V'"):
        bb.load_embedding(path)
    np.savez(path, W=VECTORS, vocab=np.array(WORDS, dtype=object))
    with pytest.raises(DataError, match="without unpickling.*'vocab'.*dtype=str"):
        bb.load_embedding(path)
    np.savez(path, W=VECTORS, vocab=np.array([b"\xff"] * 5))
    with pytest.raises(DataError, match="UTF-8"):
        bb.load_embedding(path)


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz", ".jsonl", ".parquet"])
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_damage_never_ends_in_a_foreign_error(
    tmp_path: Path, rng: np.random.Generator, suffix: str
) -> None:
    path = tmp_path / f"a{suffix}"
    bb.Embedding(WORDS, VECTORS).save(path)
    data = path.read_bytes()
    flips = rng.integers(0, [[len(data), 256]] * 60)
    broken = [data[:end] for end in range(0, len(data), 1 + len(data) // 60)]
    broken += [data[:i] + bytes([b]) + data[i + 1 :] for i, b in flips.tolist()]
    for content in broken:
        path.write_bytes(content)
        with contextlib.suppress(BayesBiasError):
            bb.load_embedding(path)
