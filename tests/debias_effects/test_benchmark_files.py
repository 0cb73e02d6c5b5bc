"""Analogies that are downloaded, from a folder that serves as a mirror, and those of gensim."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from archives import zipped

import bayesbias as bb
from bayesbias._core.remote_files import REMOTE_FILES
from bayesbias.debias_effects import word_analogies
from bayesbias.debias_effects.benchmarks import analogy_questions
from bayesbias.errors import DataError


@pytest.mark.oracle
def test_the_google_analogies_have_the_known_hash() -> None:
    """gensim brings the file that is downloaded elsewhere: 19,544 questions in 14 sections."""
    from gensim.test.utils import datapath

    data = Path(datapath("questions-words.txt")).read_bytes()
    assert hashlib.sha256(data).hexdigest() == REMOTE_FILES["google_analogies"].sha256
    name, questions = analogy_questions("google_analogies")
    assert name == "google_analogies"
    assert len(questions) == 19_544
    assert len({question.section for question in questions}) == 14


BATS = {
    "BATS_3.0/1_Inflectional_morphology/I01 [noun - plural].txt": "king\tkings\nqueen\tqueens\n"
    "year\tyears\n",
    "BATS_3.0/4_Lexicographic_semantics/L01 [hypernyms - animals].txt": "dog\tanimal/mammal\n"
    "father\tparent/relative\n",
    "BATS_3.0/metadata.json": "{}",
    "__MACOSX/BATS_3.0/._I01 [noun - plural].txt": "\0",
}


def test_bats(shelf: Path, demo: bb.Embedding) -> None:
    zipped(shelf / "BATS_3.0.zip", BATS)
    name, questions = analogy_questions("bats")
    assert name == "bats"
    # All ordered pairs of two pairs: 3 × 2 and 2 × 1.
    assert len(questions) == 8
    assert questions[-2][1:] == ("dog", "animal", "father", "parent")
    assert questions[0].section == "I01 [noun - plural]"
    from_file = analogy_questions(shelf / "BATS_3.0.zip")
    assert from_file == ("BATS_3.0", questions)
    assert word_analogies(demo, "bats", draws=50)["benchmark"].iloc[0] == "bats"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.txt": "king kings"}, "no analogies"),
        ({"I01 [x].txt": "king\n"}, "'king' is not a pair"),
    ],
)
def test_other_archives(tmp_path: Path, files: dict[str, str], message: str) -> None:
    zipped(tmp_path / "x.zip", files)
    with pytest.raises(DataError, match=message):
        analogy_questions(tmp_path / "x.zip")


def test_an_archive_that_is_damaged(tmp_path: Path) -> None:
    zipped(tmp_path / "x.zip", {"E10 [a].txt": "king\tqueen\nman\twoman\n"})
    damaged = (tmp_path / "x.zip").read_bytes().replace(b"king", b"kong")
    (tmp_path / "x.zip").write_bytes(damaged)
    with pytest.raises(DataError, match="not an archive of analogies"):
        analogy_questions(tmp_path / "x.zip")
