"""`bayesbias words check`."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.wordlists.check.word_usage import read_frequencies


def check(run: Any, *arguments: object) -> Any:
    return run("words", "check", *arguments, "--samples", "20")


def test_tables_for_reading(run: Any) -> None:
    result = check(run, "religion", "demo", "demo-100d")
    assert result.code == 0
    assert max(map(len, result.out.splitlines())) <= 101  # a cell ends in a space
    for text in ("group: jew", "/ christian", "median rank", "over embeddings", "synagogue"):
        assert text in result.out
    assert "'stereotype: christian' has only 3 words in 'demo' and 1 other" in result.out
    alone = check(run, "weat_6").out
    assert "over embeddings" not in alone
    assert "demo" not in alone  # one embedding need not be named
    assert "Nothing speaks against these lists." in alone


def test_markdown(run: Any) -> None:
    rows = [line for line in check(run, "weat_6", "--format", "markdown").out.splitlines() if line]
    assert rows[0] == "| word set | words | found | median rank | cohesion | fits least |"
    assert any(row.startswith("| target: Male names / Female names | 0 | × 4 |") for row in rows)


def test_json_holds_everything(run: Any, demo: bb.Embedding) -> None:
    parts = json.loads(check(run, "religion", "--format", "json", "--seed", "3").out)
    wanted = bb.check_words(bb.load_study("religion"), demo, samples=20, seed=3)
    assert list(parts) == ["lists", "pairs", "tags", "stability", "warnings"]
    assert [row["missing"] for row in parts["lists"] if row["missing"]] == [["younglings"]]
    assert parts["warnings"] == list(wanted.warnings)
    assert [row["coherence"] for row in parts["pairs"]] == wanted.pairs["coherence"].tolist()
    assert parts["pairs"][-1]["pca"] is None  # lists of different lengths
    assert parts["stability"] == []


def test_csv_holds_the_lists(run: Any) -> None:
    result = check(run, "religion", "--format", "csv")
    rows = {row["word_set"]: row for row in csv.DictReader(io.StringIO(result.out))}
    assert rows["control: neutral"]["missing"] == "younglings"
    assert "Warning: 'stereotype: christian' has only 3 words" in result.err
    assert check(run, "religion", "--format", "csv", "-q").err == ""


def test_strict(run: Any) -> None:
    assert check(run, "religion", "--strict").code == 1
    assert check(run, "religion").code == 0
    assert check(run, "weat_6", "--strict").code == 0


def test_folder(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "found"
    assert check(run, "religion", "demo", "demo-100d", "-o", folder).code == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "lists.csv",
        "pairs.csv",
        "stability.csv",
        "warnings.txt",
    ]
    assert len(pd.read_csv(folder / "pairs.csv")) == 12
    assert "only 3 words" in (folder / "warnings.txt").read_text("utf-8")
    assert check(run, "weat_6", "-o", folder, "--force").code == 0
    assert len(pd.read_csv(folder / "pairs.csv")) == 2


def test_frequencies(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    query = bb.load_query("weat_6")
    words = [word for words in query.word_sets().values() for word in words]
    counts = pd.DataFrame({"word": [word.lower() for word in words], "count": range(1, 33)})
    counts.to_csv(path, index=False)
    parts = json.loads(check(run, "weat_6", "--frequencies", path, "--format", "json").out)
    assert [row["median_count"] for row in parts["lists"]] == [4.5, 12.5, 20.5, 28.5]
    assert "median count" in check(run, "weat_6", "--frequencies", path).out


def test_files_of_frequencies(tmp_path: Path) -> None:
    # "null" and "nan" are words, and so is a quotation mark.
    frame = pd.DataFrame({"word": ["null", "nan", '"', "a,b", "12"], "count": [5, 4, 3, 2, 1]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    lines = ["word\tcount", *(f"{w}\t{n}" for w, n in frame.itertuples(index=False))]
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    for name in ("a.csv", "a.tsv.gz"):
        found = read_frequencies(tmp_path / name)
        assert found["word"].tolist() == frame["word"].tolist()
        assert found["count"].tolist() == [5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("none.csv", None, "none.csv: no such file; expected a table of words and counts"),
        ("a.xlsx", "word,count\n", "the suffix is '.xlsx'; expected one of '.csv', '.tsv'"),
        ("a.csv", "word,n\nhe,1\n", "a.csv: 'frequencies' has no column 'count'"),
        ("a.csv", "word,count\nhe,many\n", "a.csv: the counts of 'frequencies' are not numbers"),
        ("a.csv", "word,count\nhe,-1\n", "counts 'he' -1 times; expected 0 or more"),
        ("a.csv", "", "a.csv: not a table of words and counts"),
    ],
)
def test_bad_frequencies(
    run: Any, tmp_path: Path, name: str, text: str | None, message: str
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    result = check(run, "weat_6", "--frequencies", path)
    assert result.code == 2
    assert message in result.err


def test_corpus(run: Any, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("John and Paul and Amy have a career.\nJohn has a family, Amy a wedding.\n")
    found = json.loads(check(run, "weat_6", "--corpus", text, "-q", "--format", "json").out)
    names = next(row for row in found["lists"] if row["word_set"] == "target: Male names")
    assert names["uncounted"] == ["Mike", "Kevin", "Steve", "Greg", "Jeff", "Bill"]
    assert any("'frequencies' has no counts of 6 of the 8 words" in w for w in found["warnings"])


def test_a_corpus_by_its_name(run: Any) -> None:
    found = json.loads(check(run, "weat_6", "--corpus", "demo", "-q", "--format", "json").out)
    names = next(row for row in found["lists"] if row["word_set"] == "target: Male names")
    # Jane Austen has a John and a Bill.
    assert names["uncounted"] == ["Paul", "Mike", "Kevin", "Steve", "Greg", "Jeff"]


def test_tags_of_a_corpus(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def tag_words(corpus: object, pipeline: str, *, words: list[str], progress: bool) -> object:
        asked.append((pipeline, len(words)))
        return pd.DataFrame({"word": ["john"], "tag": ["PROPN"], "count": [2]})

    monkeypatch.setattr("bayesbias.corpus.tag_words", tag_words)
    monkeypatch.setattr("bayesbias.corpus.load_pipeline", str)
    text = tmp_path / "text.txt"
    text.write_text("John has a family.\n")
    out = check(run, "weat_6", "--corpus", text, "--pipeline", "en", "-q").out
    assert asked == [("en", 32)]
    assert "PROPN" in out
    assert max(map(len, out.splitlines())) <= 101


@pytest.mark.parametrize(
    "wrong", [("nothing.txt",), ("--pipeline", "no_such_pipeline"), ("--corpus", "nothing.txt")]
)
def test_a_corpus_is_counted_when_all_else_is_there(
    run: Any, wrong: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("long work has begun")

    monkeypatch.setattr("bayesbias.corpus.Corpus.counts", fail)
    result = run("words", "check", "weat_6", "--corpus", "demo", *wrong)
    assert result.code == 2
    assert wrong[-1] in result.err or "spacy" in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--frequencies", "a.csv", "--corpus", "b.txt"), "both tell counts; give one"),
        (("--pipeline", "en_core_web_sm"), "--pipeline tags the words of a corpus"),
        (("--out", "nowhere/folder"), "the folder nowhere does not exist"),
        (("--out", "pyproject.toml"), "pyproject.toml is a file; give the name of a folder"),
        (("--samples", "0"), "--samples is 0"),
    ],
)
def test_bad_options(
    run: Any, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    result = run("words", "check", "weat_6", *arguments)
    assert result.code == 2
    assert message in result.err
    assert result.out == ""
