"""Corpora: files of all kinds, words beside gensim's, counts, constant memory."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import logging
import lzma
import re
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from gensim.utils import simple_preprocess
from hypothesis import given
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias.corpus import corpus as corpus_module
from bayesbias.corpus import documents as text_module
from bayesbias.corpus import language as language_module
from bayesbias.corpus.documents import TextFiles, cut, paragraphs
from bayesbias.corpus.tokens import Tokenizer
from bayesbias.errors import (
    BayesBiasWarning,
    DataError,
    MissingDependencyError,
    NotFoundError,
    SpecError,
)

pytestmark = pytest.mark.numpy_only

DATA = Path(corpus_module.__file__).parent / "data"
TEXT = "She is a nurse.\nHe is an engineer!\n\nThe Café’s 2 naïve doctors — don't know_it\n"


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": zstd,
}


@pytest.fixture(scope="module")
def demo_lines() -> list[str]:
    return bz2.decompress((DATA / "austen.txt.bz2").read_bytes()).decode().splitlines()


# Words

texts = st.one_of(
    st.text(),
    st.text(st.characters(categories=["L", "Nd", "Zs", "P"], include_characters="_'-İß")),
    st.text(st.sampled_from("ab_1 -.éİΣßA\n\t"), max_size=60),
)


@given(texts)
def test_words_are_those_of_gensim(text: str) -> None:
    assert Tokenizer()(text) == simple_preprocess(text)


@given(texts, st.integers(1, 5), st.integers(5, 20))
def test_lengths_are_those_of_gensim(text: str, shortest: int, longest: int) -> None:
    words = Tokenizer(min_length=shortest, max_length=longest)(text)
    assert words == simple_preprocess(text, min_len=shortest, max_len=longest)


@given(texts)
def test_places_of_words(text: str) -> None:
    found = list(Tokenizer().spans(text))
    assert [word for _, word in found] == Tokenizer()(text)
    assert [place for place, _ in found] == sorted({place for place, _ in found})
    for place, word in found:
        assert text[place].casefold()[0] == word[0].casefold()[0]


@given(texts)
def test_case_is_kept(text: str) -> None:
    words = Tokenizer(lower=False, max_length=None)(text)
    assert words == [w for w in re.findall(r"[^\W\d]+", text) if len(w) > 1 and w[0] != "_"]


def test_the_demo_has_the_words_of_gensim(demo_lines: list[str]) -> None:
    corpus = bb.read_corpus("demo")
    words = [simple_preprocess(line) for line in demo_lines]
    assert list(corpus) == [document for document in words if document]
    assert list(corpus.lines()) == demo_lines


# Files


@pytest.mark.parametrize("suffix", PACKERS)
def test_every_compression(suffix: str, tmp_path: Path) -> None:
    # Told by the content, not by the name; a byte order mark and Windows line ends do not matter.
    path = tmp_path / "corpus.dat"
    windows = "\ufeff" + TEXT.replace("\n", "\r\n")
    path.write_bytes(PACKERS[suffix](windows.encode()))
    corpus = bb.read_corpus(path)
    expected = [simple_preprocess(line) for line in TEXT.splitlines() if line]
    assert list(corpus) == list(corpus) == expected
    assert list(corpus.lines()) == [line for line in TEXT.splitlines() if line]
    assert corpus.name == "corpus"


def test_text_that_begins_like_bzip2(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("BZh9 is how it begins")
    assert list(bb.read_corpus(tmp_path / "a.txt")) == [["bzh", "is", "how", "it", "begins"]]


def test_folder_glob_and_several(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    for name, text in {
        "b.txt": "bb",
        "a.TXT": "aa",
        "sub/c.text.gz": "cc",
        ".hidden.txt": "hidden",
        ".git/config.txt": "hidden",
        "notes.md": "notes",
    }.items():
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)

    def words(source: object) -> list[str]:
        return [word for document in bb.read_corpus(source) for word in document]  # type: ignore[arg-type]

    assert words(tmp_path) == ["aa", "bb", "cc"]
    assert words(str(tmp_path / "*.md")) == ["notes"]
    assert words(str(tmp_path / "**" / "*.gz")) == ["cc"]
    assert words([tmp_path / "b.txt", tmp_path, str(tmp_path / "sub" / ".." / "b.txt")]) == [
        "bb",
        "aa",
        "cc",
    ]
    assert words(["demo", tmp_path / "b.txt"]) == [*words("demo"), "bb"]
    assert bb.read_corpus(tmp_path).name == tmp_path.name
    assert bb.read_corpus(tmp_path / ".hidden.txt").name == "hidden"
    assert repr(bb.read_corpus(tmp_path, "mine")) == "<Corpus 'mine': 3 files, 0.0 MB>"


def test_a_file_with_a_glob_in_its_name(tmp_path: Path) -> None:
    (tmp_path / "a[1].txt").write_text("yes")
    assert list(bb.read_corpus(tmp_path / "a[1].txt")) == [["yes"]]


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="'nowhere.txt' is neither a file nor a folder"):
        bb.read_corpus("nowhere.txt")
    with pytest.raises(
        NotFoundError, match="'a text a te.*is neither a file nor a folder. For texts"
    ):
        bb.read_corpus("a text " * 1000)
    with pytest.raises(NotFoundError, match=r"\*.txt': no file has such a name"):
        bb.read_corpus(str(tmp_path / "*.txt"))
    (tmp_path / "a.md").write_text("text")
    with pytest.raises(NotFoundError, match="no text files in the folder; expected names that"):
        bb.read_corpus(tmp_path)
    # The path of nothing is the folder one is in.
    with pytest.raises(SpecError, match="the source is ''; expected a path, a glob, a folder"):
        bb.read_corpus("")
    with pytest.raises(SpecError, match="the source is empty; name at least one file"):
        bb.read_corpus([])
    with pytest.raises(SpecError, match="the source is 3; expected a path, a glob, a folder"):
        bb.read_corpus(3)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="the source holds 3; expected paths. For texts in mem"):
        bb.read_corpus([3])  # type: ignore[list-item]


def test_what_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\0")
    with pytest.raises(DataError, match=r"a\.txt, line 2, byte 7: a NUL byte, so this is no"):
        bb.read_corpus(path)
    path.write_bytes("café\nnaïve\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"a\.txt, line 1, byte 3: not UTF-8; save it as UTF-8"):
        bb.read_corpus(path)
    path.write_bytes("text".encode("utf-16"))
    with pytest.raises(DataError, match="byte 3: a NUL byte"):
        bb.read_corpus(path)
    path.write_bytes(b"the end is cut \xc3")
    with pytest.raises(DataError, match="line 1, byte 15: not UTF-8"):
        bb.read_corpus(path)


def test_what_is_no_text_further_on(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    good = b"a line of text\n" * 200_000
    path.write_bytes(gzip.compress(good + b"b\xffd\n"))
    corpus = bb.read_corpus(path)
    with pytest.raises(DataError, match=r"gz, line 200,001, byte 3,000,001: not UTF-8"):
        corpus.counts()


@pytest.mark.parametrize(
    ("suffix", "kind"), [(".gz", "gzip"), (".bz2", "bzip2"), (".xz", "xz"), (".zst", "zstd")]
)
def test_damaged_archives(suffix: str, kind: str, tmp_path: Path, demo_lines: list[str]) -> None:
    whole = PACKERS[suffix]("\n".join(demo_lines).encode())
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(whole[: len(whole) * 9 // 10])
    corpus = bb.read_corpus(path)
    message = (
        rf"{suffix}: the {kind} data is cut short or damaged near byte [\d,]+ of [\d,]+ \(.*\)"
    )
    with pytest.raises(DataError, match=message):
        corpus.counts()
    path.write_bytes(whole[:20] + bytes(range(256)))
    with pytest.raises(DataError, match=f"the {kind} data is cut short or damaged"):
        bb.read_corpus(path).counts()


def test_zstd_with_a_large_window(tmp_path: Path) -> None:
    # A frame header, as `zstd --long=31` writes it: no content size, a window of 2 GB.
    path = tmp_path / "a.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00" + bytes([21 << 3]) + b"\x09\x00\x00a")
    with pytest.raises(DataError, match="a window too large to unpack here; unpack it first"):
        bb.read_corpus(path)


def test_a_file_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    corpus = bb.read_corpus(path)
    path.unlink()
    with pytest.raises(DataError, match=r"a\.txt: cannot be read \(No such file"):
        list(corpus)


def test_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"no text in '.*a\.txt': empty"):
        bb.read_corpus(path)
    path.write_text(" \n\n")
    with pytest.raises(DataError, match="corpus 'a': no text in it"):
        list(bb.read_corpus(path))
    path.write_text("1 2 3")
    with pytest.raises(DataError, match="corpus 'a': no words of 2 to 15 letters in it; words"):
        list(bb.read_corpus(path))
    with pytest.raises(DataError, match="no words of 2 or more letters"):
        bb.read_corpus(path, max_length=None).counts()
    # One empty file among others does no harm.
    path.write_bytes(b"")
    (tmp_path / "b.txt").write_text("text")
    assert list(bb.read_corpus(tmp_path)) == [["text"]]


def test_progress_counts_the_bytes_on_disk(tmp_path: Path, demo_lines: list[str]) -> None:
    for suffix, pack in PACKERS.items():
        (tmp_path / f"a.txt{suffix}").write_bytes(pack("\n".join(demo_lines).encode()))
    paths = tuple(sorted(tmp_path.iterdir()))
    files = TextFiles(paths, "line")
    done: list[float] = []
    assert sum(1 for _ in files.read(done.append)) == len(PACKERS) * len(demo_lines)
    assert sum(done) == files.size == sum(path.stat().st_size for path in paths)


# Lines, paragraphs, pieces

BOOK = "\nFirst line\nof a paragraph\n \nAnother\n\n\nLast\n"


def test_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text(BOOK)
    joined = ["First line of a paragraph", "Another", "Last"]
    assert list(bb.read_corpus(path, unit="paragraph").lines()) == joined
    assert len(list(bb.read_corpus(path).lines())) == 4
    with pytest.raises(SpecError, match="'unit' is 'book'; expected one of 'line', 'paragraph'"):
        bb.read_corpus(path, unit="book")  # type: ignore[arg-type]


def test_wrapped_books_are_unwrapped(tmp_path: Path, demo_lines: list[str]) -> None:
    # More than a block, so that paragraphs go on from one block to the next.
    path = tmp_path / "book.txt"
    wrapper = textwrap.TextWrapper(70, break_on_hyphens=False, break_long_words=False)
    path.write_text("\n\n".join(wrapper.fill(line) for line in demo_lines))
    assert path.stat().st_size > text_module._BLOCK
    corpus = bb.read_corpus(path, unit="paragraph")
    assert [p.split() for p in corpus.lines()] == [line.split() for line in demo_lines]


@given(st.lists(st.text("ab \t", max_size=8)))
def test_paragraphs_hold_every_word(lines: list[str]) -> None:
    blocks = re.split(r"(?:^|\n)(?:[ \t]*(?:\n|$))+", "\n".join(lines))
    assert [p.split() for p in paragraphs(lines)] == [b.split() for b in blocks if b.split()]


def test_hard_wrapped_lines_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text(("a line of a book that somebody has wrapped at a width\n" * 9 + "\n") * 20)
    with pytest.warns(BayesBiasWarning, match=r"book\.txt' look hard-wrapped.*unit='paragraph'"):
        bb.read_corpus(path)
    assert len(list(bb.read_corpus(path, unit="paragraph"))) == 20
    # Long lines, or no blank ones: a document in each line.
    path.write_text(("a line of a book that somebody has wrapped at a width " * 9 + "\n\n") * 200)
    bb.read_corpus(path)
    path.write_text("a comment that somebody wrote somewhere in few words\n" * 200)
    bb.read_corpus(path)


@given(st.text("ab é\u4e00", max_size=400), st.integers(1, 50))
def test_pieces_are_the_text(text: str, longest: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_module, "LONGEST", longest)
        pieces = list(cut(text))
    assert "".join(pieces) == text
    assert all(len(piece) <= longest for piece in pieces)
    # A word is cut only where it is longer than a piece.
    whole = [word for word in text.split() if len(word) < longest]
    assert len([word for piece in pieces for word in piece.split()]) >= len(whole)
    if all(len(word) < longest for word in text.split(" ")):
        assert [word for piece in pieces for word in piece.split()] == text.split()


@given(st.text("ab\n é\u4e00\U0001f600", max_size=200), st.integers(1, 40))
def test_chunks_are_the_text(tmp_path_factory: pytest.TempPathFactory, text: str, n: int) -> None:
    path = tmp_path_factory.mktemp("chunks") / "a.txt"
    path.write_bytes(text.encode())
    chunks = list(text_module._chunks(path, lambda amount: None, n))
    assert "".join(chunks) == text


@pytest.mark.parametrize("unit", ["line", "paragraph"])
def test_a_book_in_one_line(unit: text_module.Unit, tmp_path: Path, demo_lines: list[str]) -> None:
    path = tmp_path / "book.txt"
    book = " ".join(demo_lines)
    path.write_text(book)
    documents = list(bb.read_corpus(path, unit=unit))
    assert [word for document in documents for word in document] == simple_preprocess(book)
    assert max(map(len, documents)) <= 10_000
    assert max(map(len, bb.read_corpus(path, unit=unit).lines())) <= text_module.LONGEST


def test_more_than_ten_thousand_words_in_a_document() -> None:
    # gensim leaves out what is behind the 10,000th word of a document.
    for documents in (["aa " * 12_345], [["aa"] * 12_345]):
        assert [len(words) for words in bb.corpus.Corpus(documents)] == [10_000, 2_345]
    assert [len(words) for words in bb.corpus.Corpus(["a1" * 20_001], min_length=1)] == [
        10_000,
        10_000,
        1,
    ]


# In memory


def test_texts_and_words_in_memory() -> None:
    corpus = bb.corpus.Corpus(["She is.", ["Already", "cut", "x"], ("A",), "", [], " "])
    assert list(corpus) == [["she", "is"], ["Already", "cut", "x"], ["A"]]
    assert list(corpus.lines()) == ["She is.", "Already cut x", "A"]
    assert repr(corpus) == "<Corpus 'corpus': 6 documents>"
    assert corpus.report() == {"documents": 3, "left_out": 0, "tokens": 6, "words": 6}
    assert corpus.name == "corpus"
    assert corpus.language is None


def test_a_stream_of_ones_own() -> None:
    class Stream:
        def __iter__(self) -> Iterator[str]:
            return iter(["one text", "another text"])

    corpus = bb.corpus.Corpus(Stream(), name="mine")
    assert list(corpus) == list(corpus) == [["one", "text"], ["another", "text"]]
    assert repr(corpus) == "<Corpus 'mine': Stream>"


def test_what_is_no_corpus() -> None:
    with pytest.raises(SpecError, match="'documents' is a string; give a list of texts, or read"):
        bb.corpus.Corpus("text")
    with pytest.raises(SpecError, match="'documents' is an int; expected a list of texts"):
        bb.corpus.Corpus(3)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'documents' is a set; expected a list of texts"):
        bb.corpus.Corpus({"one", "two"})  # in another order in every run
    with pytest.raises(SpecError, match="'documents' is a dict; expected a list of texts"):
        bb.corpus.Corpus({"name": "text"})
    with pytest.raises(SpecError, match="'documents' is a generator, which can be read only on"):
        bb.corpus.Corpus(text for text in ["one"])
    with pytest.raises(DataError, match="corpus 'mine': no documents"):
        bb.corpus.Corpus([], name="mine")
    with pytest.raises(SpecError, match="document 2: expected a text or a list of words, got 3"):
        list(bb.corpus.Corpus(["one", 3]))  # type: ignore[list-item]
    with pytest.raises(SpecError, match=r"document 1: expected a text .*, got \['one', 2\]"):
        list(bb.corpus.Corpus([["one", 2]]))  # type: ignore[list-item]
    with pytest.raises(SpecError, match="'min_length' is 0; expected a whole number, 1 or more"):
        bb.corpus.Corpus(["text"], min_length=0)
    with pytest.raises(SpecError, match="'max_length' is 2, below 'min_length', 3; no word"):
        bb.corpus.Corpus(["text"], min_length=3, max_length=2)


# Counts


def test_counts_of_the_demo(demo_lines: list[str]) -> None:
    counts = bb.read_corpus("demo").counts(min_count=2)
    counted = Counter(word for line in demo_lines for word in simple_preprocess(line))
    expected = sorted(((-n, w) for w, n in counted.items() if n > 1))
    assert list(zip(-counts["count"], counts["word"], strict=True)) == expected
    assert bb.read_corpus("demo").report()["tokens"] == counted.total()


@given(st.lists(st.text("abc ", max_size=30)))
def test_counts_are_those_of_gensim(documents: list[str]) -> None:
    counted = Counter(word for document in documents for word in simple_preprocess(document))
    if not counted:
        return
    counts = bb.corpus.Corpus(documents).counts()
    assert dict(zip(counts["word"], counts["count"], strict=True)) == counted
    rows = list(zip(-counts["count"], counts["word"], strict=True))
    assert rows == sorted(rows)


def test_counts_of_no_word() -> None:
    counts = bb.corpus.Corpus(["one two"]).counts(min_count=2)
    assert list(counts.columns) == ["word", "count"]
    assert len(counts) == 0
    assert counts["count"].dtype == "int64"
    with pytest.raises(SpecError, match="'min_count' is 0; expected a whole number, 1 or more"):
        bb.corpus.Corpus(["one"]).counts(min_count=0)


# Languages

MIXED = [
    "She is a nurse at the hospital of our town.",
    "Ich habe gestern meine Mutter besucht und wir haben Kuchen gegessen.",
    "La plupart des gens ne savent pas ce qu'ils veulent.",
    "Los niños juegan en la calle todos los días.",
    "He works as an engineer and she knows it.",
    "Hm.",  # too short to tell
]


def test_other_languages_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("py3langid", reason="needs the extra 'language'")
    corpus = bb.corpus.Corpus(MIXED, language="en", name="mixed")
    with caplog.at_level(logging.INFO, logger="bayesbias"):
        assert list(corpus.lines()) == [MIXED[0], MIXED[4], MIXED[5]]
    assert "mixed: 3 of 6 documents left out, not in the language 'en'" in caplog.text
    assert corpus.report()["left_out"] == 3
    assert corpus.language == "en"
    assert list(bb.corpus.Corpus(MIXED, language="de").lines()) == [MIXED[1], MIXED[5]]
    words = [text.split() for text in MIXED]
    assert list(bb.corpus.Corpus(words, language="en")) == [words[0], words[4], words[5]]
    with pytest.raises(DataError, match="none of 2 documents is in the language 'ja'"):
        list(bb.corpus.Corpus(MIXED[:2], language="ja"))


def test_novels_are_english(demo_lines: list[str]) -> None:
    pytest.importorskip("py3langid", reason="needs the extra 'language'")
    report = bb.corpus.Corpus(demo_lines[::4], language="en").report()
    assert report["left_out"] < 0.002 * report["documents"]


def test_languages_that_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("py3langid", reason="needs the extra 'language'")
    with pytest.raises(SpecError, match="'language' is 'english'; expected an ISO 639 code that"):
        bb.read_corpus("demo", language="english")
    monkeypatch.setattr(language_module, "find_spec", lambda name: None)
    message = r"needs the package 'py3langid', which is not .*: pip install 'bayesbias\[language\]'"
    with pytest.raises(MissingDependencyError, match=message):
        bb.read_corpus("demo", language="en")


# The demo, memory, imports


def test_the_demo_is_what_its_page_says(demo_lines: list[str]) -> None:
    page = (DATA / "README.md").read_text("utf-8")
    data = (DATA / "austen.txt.bz2").read_bytes()
    assert hashlib.sha256(data).hexdigest() in page
    assert len(data) < 500_000
    report = bb.read_corpus("demo").report()
    assert f"{report['documents']:,} paragraphs" in page
    assert f" {report['tokens']:,} " in page
    text = "\n".join(demo_lines)
    assert "Gutenberg" not in text
    assert not re.search(r"CHAPTER|VOLUME|FINIS|_|by Jane Austen", text)
    assert {len(part) for part in re.findall(r"Woodhouse|Dashwood|Elliot", text)} == {6, 8, 9}


MEMORY = """
import re, sys
import bayesbias as bb
def peak():  # MB; getrusage() would begin with the peak of the process that started this one
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1000
small, large = sys.argv[1:]
sum(map(len, bb.read_corpus(small))); bb.read_corpus(small).counts()
before = peak()
tokens = sum(map(len, bb.read_corpus(large)))
assert bb.read_corpus(large).counts()["count"].sum() == tokens
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("end", ["\n", " "], ids=["lines", "one line"])
def test_memory_is_constant(end: str, tmp_path: Path, demo_lines: list[str]) -> None:
    small, large = tmp_path / "small.txt", tmp_path / "large.txt"
    text = end.join(demo_lines) + end
    small.write_text(text)
    with large.open("w") as stream:
        for _ in range(30):
            stream.write(text)
    assert large.stat().st_size > 50e6
    command = [sys.executable, "-c", MEMORY, str(small), str(large)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 10  # MB


def test_importing_is_light() -> None:
    code = (
        "import sys, bayesbias.corpus as c; c.Corpus(['a text']).report(); "
        "print(*[m for m in ('gensim', 'spacy', 'pandas', 'scipy', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


# JSON lines and encodings


def write_lines(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def test_json_lines(tmp_path: Path) -> None:
    records = [
        {"id": 1, "text": "She is\nhere.\n\nHe is not."},
        {"id": 2, "text": None},
        {"id": 3, "text": "Łódź, “naïve” \u2028 town"},
    ]
    path = write_lines(tmp_path / "posts.jsonl", records)
    corpus = bb.read_corpus(path, field="text")
    assert list(corpus.lines()) == [records[0]["text"], records[2]["text"]]
    assert corpus.name == "posts"
    by_paragraph = bb.read_corpus(path, field="text", unit="paragraph")
    assert list(by_paragraph.lines())[:2] == ["She is here.", "He is not."]
    # As pandas reads them.
    theirs = pd.read_json(path, lines=True)["text"].dropna()
    assert list(corpus.lines()) == list(theirs)
    packed = tmp_path / "folder" / "b.jsonl.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(path.read_bytes()))
    (packed.parent / "notes.txt").write_text("other text")
    assert list(bb.read_corpus(packed.parent, field="text")) == list(corpus)


def test_json_lines_longer_than_a_block(tmp_path: Path) -> None:
    long = "word " * 400_000
    path = write_lines(tmp_path / "long.ndjson", [{"body": long}, {"body": "short text"}])
    texts = list(bb.read_corpus(path, field="body").lines())
    assert sum(text.count("word") for text in texts) == 400_000
    assert texts[-1] == "short text"
    assert max(map(len, texts)) <= 50_000


def test_wrong_json_lines(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "posts.jsonl", [{"text": "one"}, {"body": "two"}])
    with pytest.raises(SpecError, match="posts.jsonl: JSON lines; give field="):
        bb.read_corpus(path)
    with pytest.raises(DataError, match="posts.jsonl, line 1: no field 'txt'; there are 'text'"):
        bb.read_corpus(path, field="txt")
    with pytest.raises(DataError, match="line 2: no field 'text'; there are 'body'"):
        list(bb.read_corpus(path, field="text"))
    path.write_text('{"text": "fine"}\n\n{"text": }\n')
    with pytest.raises(DataError, match=r"line 3: not JSON \(Expecting value\); expected one obj"):
        list(bb.read_corpus(path, field="text"))
    path.write_text("[1, 2]\n")
    with pytest.raises(DataError, match="line 1: a JSON list; expected one object per line"):
        bb.read_corpus(path, field="text")
    path.write_text('{"text": 3}\n')
    with pytest.raises(DataError, match="the field 'text' holds an int; expected a text"):
        bb.read_corpus(path, field="text")
    with pytest.raises(SpecError, match="'field' is ''; expected the name of a field"):
        bb.read_corpus(path, field="")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(NotFoundError, match="no files of JSON lines in the folder; .*'.jsonl'"):
        bb.read_corpus(empty, field="text")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8-sig"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    text = "Ça va, señora Müller\nnaïve größe\n" * 2_000
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode(encoding))
    assert list(bb.read_corpus(path, encoding=encoding).lines()) == text.splitlines()


def test_other_alphabets_across_blocks(tmp_path: Path) -> None:
    text = "слова и люди\nещё слова\n" * 50
    path = tmp_path / "text.txt"
    for encoding in ("koi8-r", "utf-16", "utf-8"):
        path.write_bytes(text.encode(encoding))
        for block in (1, 7, 64):
            chunks = text_module._chunks(path, lambda amount: None, block, encoding=encoding)
            assert "".join(chunks) == text


def test_wrong_encodings(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes("größe\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8; save it as UTF-8, or give its 'encoding'"):
        bb.read_corpus(path)
    path.write_bytes(b"abc\x81\n")
    with pytest.raises(DataError, match="text.txt, after byte 0: not cp1252 .* give the 'enc"):
        bb.read_corpus(path, encoding="cp1252")
    for encoding in ("latin-11", "base64", None):
        with pytest.raises(SpecError, match="'encoding' is .*; expected one that Python knows"):
            bb.read_corpus(path, encoding=encoding)  # type: ignore[arg-type]
