"""Data by name, from a folder that serves as a mirror."""

from __future__ import annotations

import gzip
import hashlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from archives import zipped
from command_line import Result

import bayesbias as bb
from bayesbias._core.remote_files import REMOTE_FILES
from bayesbias.debias_effects import word_similarity
from bayesbias.errors import DataError, NotFoundError, SpecError


def test_an_embedding_without_a_known_hash(shelf: Path) -> None:
    text = b"2 3\nnurse 1 0 0\nboss 0 1 0\n"
    (shelf / "numberbatch-en-19.08.txt.gz").write_bytes(gzip.compress(text))
    emb = bb.load_embedding("numberbatch-en-19.08", progress=False)
    assert emb.words == ("nurse", "boss")
    assert emb.name == "numberbatch-en-19.08"
    listed = bb.embeddings.downloads().set_index("name").loc["numberbatch-en-19.08"]
    assert listed["hash"] == "recorded"
    assert listed["cached"]
    digest = hashlib.sha256((shelf / "numberbatch-en-19.08.txt.gz").read_bytes()).hexdigest()
    assert listed["sha256"] == digest


def test_an_embedding_in_an_archive(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zipped(shelf / "glove.6B.zip", {"glove.6B.300d.txt": "nurse 1 0\nboss 0 1\n"})
    digest = hashlib.sha256((shelf / "glove.6B.zip").read_bytes()).hexdigest()
    known = REMOTE_FILES["glove-6b-300d"]
    monkeypatch.setitem(REMOTE_FILES, "glove-6b-300d", replace(known, urls=()))
    # It is not the file that everybody knows by this name,
    with pytest.raises(DataError, match="617afb2fe6cb.* was expected"):
        bb.load_embedding("glove-6b-300d", progress=False)
    # but may be accepted.
    path = bb.download("glove-6b-300d", sha256=digest, progress=False)
    assert path.name == "glove.6B.zip.glove.6B.300d.txt"
    emb = bb.load_embedding("glove-6b-300d", progress=False)
    np.testing.assert_array_equal(emb["boss"], [0, 1])


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("religion-reddit", "religionReddit.csv"),
        ("religion-google", "religionGoogle.csv"),
        ("religion-reddit-debiased", "debiasedReligionReddit.csv"),
        ("religion-glove-2024", "religion_group_glove.csv"),
        ("religion-google-2024", "religion_group_google.csv"),
        ("religion-reddit-2024", "religion_group_reddit.csv"),
    ],
)
def test_the_authors_tables_have_the_known_hashes(
    shelf: Path, thesis: Path, name: str, file: str
) -> None:
    shutil.copy(thesis / file, shelf / f"{name}.csv")
    table = bb.load_table(name, progress=False)
    assert set(table["embedding"]) == {name}
    assert len(table) == len(bb.read_table(thesis / file))


def test_tables_that_are_not_there(shelf: Path) -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'religion-reddit'"):
        bb.load_table("religion-redit")
    with pytest.raises(NotFoundError, match="no download 'glove'"):
        bb.download("glove")
    with pytest.raises(SpecError, match="checked by gensim"):
        bb.download("glove-twitter-25", sha256="0" * 64)


def test_similarities_by_name(shelf: Path, demo: bb.Embedding) -> None:
    lines = (
        "sun moon 50\nfather mother 40\nking stone 5\nwater river 42\ncar road 30\nxyzzy man 9\n"
    )
    zipped(shelf / "MEN.zip", {"MEN/MEN_dataset_natural_form_full": lines})
    found = word_similarity(demo, "men", draws=50).iloc[0]
    assert found["benchmark"] == "men"
    assert found["n_pairs"] + found["n_lost"] == 6


@pytest.mark.parametrize(("name", "pairs"), [("wordsim_353", 353), ("simlex_999", 999)])
def test_similarities_that_need_no_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, demo: bb.Embedding, name: str, pairs: int
) -> None:
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "none"))
    found = word_similarity(demo, name, draws=50).iloc[0]
    assert found["n_pairs"] + found["n_lost"] == pairs
    assert not (tmp_path / "none").exists()


@pytest.mark.oracle
def test_similarities_are_those_of_gensim(demo: bb.Embedding) -> None:
    from gensim.test.utils import datapath

    theirs = demo.to_gensim().evaluate_word_pairs(datapath("simlex999.txt"), case_insensitive=True)
    ours = word_similarity(demo, "simlex_999", draws=50).iloc[0]
    assert ours["spearman"] == pytest.approx(theirs[1].statistic, abs=1e-6)


def test_every_file_says_where_it_is_from() -> None:
    for name, remote in REMOTE_FILES.items():
        assert remote.name == name
        assert all(url.startswith("https://") for url in remote.urls)
        assert remote.urls
        assert remote.licence
        assert remote.source
        assert remote.sha256 is None or len(remote.sha256) == 64
    # Archives may be shared by several names; then all is the same but the file within.
    of_file: dict[str, tuple[Any, ...]] = {}
    for remote in REMOTE_FILES.values():
        facts = (remote.urls, remote.sha256)
        assert of_file.setdefault(remote.filename, facts) == facts


def test_the_command(shelf: Path, tmp_path: Path, run: Callable[..., Result]) -> None:
    (shelf / "cc.en.300.vec.gz").write_bytes(gzip.compress(b"1 2\na 1 0\n"))
    result = run("download", "fasttext-cc-en-300d", "--quiet")
    assert result.code == 0
    assert result.out.strip() == str(tmp_path / "cache" / "cc.en.300.vec.gz")
    listed = run("download", "--format", "csv").out
    assert "fasttext-cc-en-300d,embedding,cc.en.300.vec.gz" in listed
    assert "recorded" in listed
    wrong = run("download", "fasttext-cc-en-300d", "--sha256", "0" * 64)
    assert wrong.code == 2
    assert "SHA-256" in wrong.err
    assert run("download", "--sha256", "0" * 64).code == 2
