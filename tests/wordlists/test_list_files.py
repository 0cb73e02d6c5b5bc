"""Word lists in text files and tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from command_line import run

import bayesbias as bb
from bayesbias.errors import DataError, NotFoundError

LISTS = {"female": ["she", "woman", "naïve, she"], "male": ["he", "man", "boy", "son"]}


@pytest.mark.parametrize(("suffix", "comma"), [(".csv", ","), (".tsv", "\t")])
def test_tables_as_pandas_writes_them(tmp_path: Path, suffix: str, comma: str) -> None:
    path = tmp_path / f"lists{suffix}"
    pd.DataFrame({k: pd.Series(v) for k, v in LISTS.items()}).to_csv(path, sep=comma, index=False)
    found = bb.word_sets(path)
    assert {name: list(words) for name, words in found.items()} == LISTS
    assert found["male"].source == path.name
    rows = [(word, name, 3) for name, words in LISTS.items() for word in words]
    for column in ("list", "group"):
        long = pd.DataFrame(rows, columns=["word", column, "count"])
        long.to_csv(path, sep=comma, index=False)
        assert {n: list(w) for n, w in bb.word_sets(str(path)).items()} == LISTS
    long[["word"]].to_csv(path, sep=comma, index=False)
    assert list(bb.word_sets(path)["lists"]) == [word for word, _, _ in rows]


def test_semicolons_of_a_spreadsheet(tmp_path: Path) -> None:
    path = tmp_path / "lists.csv"
    path.write_bytes("old;young\r\nretired;teenager\r\ngrandpa, old man;\r\n".encode("utf-8-sig"))
    found = {name: list(words) for name, words in bb.word_sets(path).items()}
    assert found == {"old": ["retired", "grandpa, old man"], "young": ["teenager"]}
    path.write_bytes("old;young\nälter;jung\n".encode("cp1252"))
    with pytest.raises(DataError, match=r"not UTF-8; save it as UTF-8 \(in Excel: CSV UTF-8\)"):
        bb.word_sets(path)


def test_text(tmp_path: Path) -> None:
    path = tmp_path / "verbs.txt"
    path.write_text("﻿# from a thesaurus\nsew\n\n  ride \nwalk\n", "utf-8")
    assert list(bb.word_sets(path)["verbs"]) == ["sew", "ride", "walk"]


def test_wrong_files(tmp_path: Path) -> None:
    path = tmp_path / "lists.csv"
    with pytest.raises(NotFoundError, match="lists.csv': no such file of word lists"):
        bb.word_sets(path)
    for text, message in (
        ("a,b\n", "lists.csv: no rows; expected a line of names"),
        ("a,a\nx,y\n", "first line is 'a,a'; expected a different name for each of 2 columns"),
        ("a\nx,y,z\n", "expected a different name for each of 3 columns"),
        ("a,b\nx,\n", "lists.csv: no words in 'b'"),
        ("word,list\nx,one\n,two\n", "lists.csv, row 2: no word; fill the cell"),
        ("word,list\nx,\n", "lists.csv, row 1: no list; fill the cell"),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match=message):
            bb.word_sets(path)
    empty = tmp_path / "empty.txt"
    empty.write_text("# nothing\n")
    with pytest.raises(DataError, match="empty.txt: no words in 'empty'"):
        bb.word_sets(empty)


@pytest.mark.slow
def test_tables_of_attributes_on_the_command_line(tmp_path: Path) -> None:
    weat = bb.word_sets("weat")
    path, out = tmp_path / "attributes.csv", tmp_path / "lists.toml"
    pd.DataFrame({k: list(weat[k]) for k in ("career", "family")}).to_csv(path, index=False)
    command = ["words", "build", "demo", "--attributes", str(path), "--size", "5", "-q"]
    assert run(*command, "--out", str(out)) == 0
    attributes = bb.load_query(out).attribute_sets
    assert [list(words) for words in attributes] == [list(weat["career"]), list(weat["family"])]
