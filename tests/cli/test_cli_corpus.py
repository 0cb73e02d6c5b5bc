"""Commands that read a corpus: `pmi-bias`, `embedding train`, and the options of files."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import run

import bayesbias as bb

LINES = ["she sews well", "he rides well", "he sews and she rides"] * 20
QUERY = """
[target_sets]
women = ["she"]
men = ["he"]

[attribute_sets]
verbs = ["sews", "rides", "flies"]
"""


@pytest.fixture
def query(tmp_path: Path) -> Path:
    path = tmp_path / "query.toml"
    path.write_text(QUERY)
    return path


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    path = tmp_path / "posts.jsonl"
    path.write_text("".join(json.dumps({"body": line}) + "\n" for line in LINES))
    return path


def test_pmi_bias(query: Path, posts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["pmi-bias", str(query), str(posts), "--field", "body", "--window", "2"]
    assert run(*command, "--format", "csv") == 0
    printed = capsys.readouterr()
    found = pd.read_csv(io.StringIO(printed.out))
    expected = bb.metrics.pmi_bias(bb.corpus.Corpus(LINES), bb.load_query(query), window=2)
    pd.testing.assert_frame_equal(found, expected.table)
    assert "Note: 1 of 3 words of 'verbs' too rare in the corpus: 'flies'." in printed.err
    out = query.parent / "lists.csv"
    command += ["--independent", "pairs", "--smoothing", "1", "--prob", "0.95", "--lists"]
    assert run(*command, "--out", str(out)) == 0
    expected = bb.metrics.pmi_bias(
        bb.corpus.Corpus(LINES),
        bb.load_query(query),
        window=2,
        independent="pairs",
        smoothing=1,
        prob=0.95,
    )
    pd.testing.assert_frame_equal(pd.read_csv(out), expected.lists)
    assert run(*command, "--out", str(out)) == 2
    assert "--force" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["word2vec", "glove", "pmi"])
def test_train(tmp_path: Path, method: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes("\n".join([*LINES, "größe und maß"] * 5).encode("latin-1"))
    target = tmp_path / "mine.npz"
    command = ["embedding", "train", str(target), str(text), "--method", method, "--dim", "4"]
    assert run(*command, "--encoding", "latin-1", "--seed", "3", "--window", "2") == 0
    assert "<Embedding 'mine': 9 words × 4 dimensions> written to" in capsys.readouterr().err
    corpus = bb.read_corpus(text, encoding="latin-1")
    expected = bb.train_embedding(corpus, method, dim=4, window=2, seed=3)  # type: ignore[arg-type]
    found = bb.load_embedding(target)
    assert found.words == expected.words
    assert np.array_equal(found.vectors, expected.vectors)
    assert run(*command, "--encoding", "latin-1") == 2
    assert "--force" in capsys.readouterr().err


def test_options_of_glove(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(LINES))
    target = tmp_path / "mine.npz"
    command = ["embedding", "train", str(target), str(text), "--dim", "4", "--x-max", "10"]
    assert run(*command) == 2
    assert "--x-max is an option of glove, not of word2vec" in capsys.readouterr().err
    assert run(*command, "--method", "glove", "--epochs", "3") == 0
    corpus = bb.read_corpus(text)
    expected = bb.train_embedding(corpus, bb.corpus.GloVe(x_max=10), dim=4, epochs=3)
    assert np.array_equal(bb.load_embedding(target).vectors, expected.vectors)
    assert run("embedding", "train", "a.npz", str(text), "--method", "pmi", "--epochs", "3") == 2
    assert "'epochs' is not an option of 'pmi'" in capsys.readouterr().err


def test_words_check_reads_json_lines(posts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["words", "check", "weat_7", "--corpus", str(posts), "--samples", "5"]
    assert run(*command) == 2
    assert "give --field …" in capsys.readouterr().err
    assert run(*command, "--field", "body", "--format", "csv") == 0
