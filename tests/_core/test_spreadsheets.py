"""Words that spreadsheets would compute."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import SpecError

ODD = ["=1+1", "+x", "-y", "@z", "\ttab"]


def test_words_like_formulas_are_escaped_and_numbers_are_not(tmp_path: Path) -> None:
    words = [*ODD[:4], "tab", "oak", "it's", "a=b"]
    vectors = np.random.default_rng(0).standard_normal((8, 4))
    study = bb.Study(
        "odd", {"a": ODD[:2], "b": ["oak"]}, {"a": ODD[2:4]}, {"neutral": ["tab", *words[6:]]}
    )
    table = bb.distance_table(bb.Embedding(words, vectors), study)
    # Lists have no words with spaces around them; tables of others may.
    attributes = table["word_to_compare"].astype("str").replace("tab", "\ttab")
    table = table.assign(word_to_compare=attributes)
    bb.write_table(table, tmp_path / "safe.csv", spreadsheet_safe=True)
    bb.write_table(table, tmp_path / "plain.csv")
    with (tmp_path / "safe.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {row[name] for row in rows for name in ("protected_word", "word_to_compare")}
    assert found == {*(f"'{word}" for word in ODD), "oak", "it's", "a=b"}
    assert [float(row["cosine_distance"]) for row in rows] == table["cosine_distance"].tolist()
    assert set(bb.read_table(tmp_path / "plain.csv")["protected_word"]) == {*ODD[:2], "oak"}
    with pytest.raises(SpecError, match="'spreadsheet_safe' is for .csv"):
        bb.write_table(table, tmp_path / "safe.parquet", spreadsheet_safe=True)
