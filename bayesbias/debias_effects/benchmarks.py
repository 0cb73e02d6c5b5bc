"""Benchmarks of similarity and analogies: those that come with the package, and files."""

from __future__ import annotations

import csv
import tomllib
import zipfile
from collections.abc import Sequence
from itertools import permutations
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from bayesbias._core.downloads import fetch
from bayesbias._core.files import read_utf8
from bayesbias._core.remote_files import REMOTE_FILES, remote_names
from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.errors import DataError, NotFoundError, SpecError

_DATA = Path(__file__).parent / "data"

#: Judgements of similarity that come with the package.
SIMILARITIES = ("rg_65", "mc_30")
#: Analogies that come with the package.
ANALOGIES = ("basic",)

# Those that gensim has among its files, by our names; they need no network.
_OF_GENSIM = {
    "wordsim_353": "wordsim353.tsv",
    "simlex_999": "simlex999.txt",
    "google_analogies": "questions-words.txt",
}

#: The name of a benchmark that comes with the package or is downloaded, or a file.
Benchmark: TypeAlias = str | PathLike[str]


class Pair(NamedTuple):
    """Two words and how similar people find them."""

    first: str
    second: str
    score: float


class Question(NamedTuple):
    """An analogy: a is to b as c is to d, in a section of the benchmark."""

    section: str
    a: str
    b: str
    c: str
    d: str


def similarity_pairs(benchmark: Benchmark) -> tuple[str, list[Pair]]:
    """Return the name of a benchmark of similarity, and its pairs."""
    if benchmark in SIMILARITIES:
        data = tomllib.loads(read_utf8(_DATA / f"{benchmark}.toml"))
        return str(benchmark), [Pair(*row) for row in data["pairs"]]
    names = remote_names("similarity")
    if benchmark in names:
        return str(benchmark), _read_pairs(_known_file(str(benchmark)))
    path = _file(benchmark, (*SIMILARITIES, *names))
    return path.stem, _read_pairs(path)


def analogy_questions(benchmark: Benchmark) -> tuple[str, list[Question]]:
    """Return the name of a benchmark of analogies, and its questions."""
    if benchmark in ANALOGIES:
        data = tomllib.loads(read_utf8(_DATA / f"{benchmark}.toml"))
        return str(benchmark), [
            Question(section, *first, *second)
            for section, pairs in data["relations"].items()
            for first, second in permutations(pairs, 2)
        ]
    names = remote_names("analogies")
    known = benchmark in names
    path = _known_file(str(benchmark)) if known else _file(benchmark, (*ANALOGIES, *names))
    questions = _read_bats(path) if zipfile.is_zipfile(path) else _read_questions(path)
    return (str(benchmark) if known else path.stem), questions


def _known_file(name: str) -> Path:
    """Return the file of a benchmark that is known by name, if need be from the network."""
    if name in _OF_GENSIM:
        from gensim.test.utils import datapath

        path = Path(datapath(_OF_GENSIM[name]))
        if path.is_file():
            return path
    return fetch(REMOTE_FILES[name])


def _read_bats(path: Path) -> list[Question]:
    """Read the archive of BATS: a file per relation, with a word and its answers in each line.

    A question is made of every two pairs of a relation, with the first of several answers.
    """
    questions = []
    try:
        with zipfile.ZipFile(path) as archive:
            files = sorted(n for n in archive.namelist() if _is_relation(n))
            for name in files:
                text = archive.read(name).decode("utf-8")
                pairs = [_bats_pair(path, name, line) for line in text.splitlines() if line.strip()]
                section = Path(name).stem
                questions += [Question(section, *a, *b) for a, b in permutations(pairs, 2)]
    except (zipfile.BadZipFile, UnicodeDecodeError) as err:
        raise DataError(f"{path}: not an archive of analogies ({err}).") from err
    if not questions:
        raise DataError(f"{path}: no analogies; expected text files with two words in each line.")
    return questions


def _is_relation(name: str) -> bool:
    return name.endswith(".txt") and "__MACOSX" not in name and "[" in name


def _bats_pair(path: Path, name: str, line: str) -> tuple[str, str]:
    word, _, answers = line.strip().partition("\t" if "\t" in line else " ")
    answer = answers.strip().split("/")[0]
    if not word or not answer or len(answer.split()) > 1:
        raise DataError(
            f"{path}, {name}: {line[:60]!r} is not a pair; expected a word and its answers."
        )
    return word, answer


def _file(benchmark: Benchmark, names: tuple[str, ...]) -> Path:
    if not isinstance(benchmark, str | PathLike):
        raise SpecError(f"'benchmark' is {benchmark!r}; expected one of {quoted(names)} or a file.")
    path = Path(benchmark)
    if not path.is_file():
        raise NotFoundError(
            f"no benchmark {str(benchmark)!r}: there are {quoted(names)}, and no such file exists."
            f"{did_you_mean(benchmark, names)}"
        )
    return path


def _read_pairs(path: Path) -> list[Pair]:
    """Read two words and a score from each line, however these are separated.

    The score is the first number after the words: SimLex-999 has a part of speech before it,
    WordSim-353 what each person said behind it. A first line without a number in that place is a
    header; where its first cell is empty, the lines are numbered.
    """
    lines = _lines(path)
    separator = next((s for s in "\t;," if lines and s in lines[0][1]), None)
    rows = [_cells(line, separator) for _, line in lines]
    if rows and not rows[0][0]:
        rows = [cells[1:] for cells in rows]
    # The second line shows where the score is: the first may be a header with numbers in it.
    place = next((p for p in map(_score_place, rows[1::-1]) if p), 2)
    headed = bool(rows) and _score(rows[0], place) is None and len(rows) > 1
    pairs = []
    for (number, line), cells in list(zip(lines, rows, strict=True))[int(headed) :]:
        score = _score(cells, place)
        if score is None or not all(cells[:2]):
            raise DataError(
                f"{path}, line {number}: {line[:60]!r} is not a pair; expected two words and a "
                "score, separated by tabs, commas, semicolons or spaces."
            )
        pairs.append(Pair(cells[0], cells[1], score))
    if not pairs:
        raise DataError(f"{path}: no pair of words; expected two words and a score in each line.")
    return _without_tags(pairs)


def _score_place(cells: Sequence[str]) -> int | None:
    """Return the place of the first number after two words."""
    return next((i for i in range(2, len(cells)) if _number(cells[i]) is not None), None)


def _score(cells: Sequence[str], place: int) -> float | None:
    return _number(cells[place]) if place < len(cells) else None


def _without_tags(pairs: list[Pair]) -> list[Pair]:
    """Take the parts of speech from words such as ``sun-n``, as MEN has them, if all have one."""
    words = [word for pair in pairs for word in pair[:2]]
    if not all(word.endswith(("-n", "-v", "-j")) and len(word) > 2 for word in words):
        return pairs
    return [Pair(first[:-2], second[:-2], score) for first, second, score in pairs]


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _read_questions(path: Path) -> list[Question]:
    """Read four words from each line, and a section from lines such as ``: capitals``."""
    section = "questions"
    questions = []
    for number, line in _lines(path):
        if line.startswith(":"):
            section = line[1:].strip()
            if not section:
                raise DataError(f"{path}, line {number}: a section without a name.")
            continue
        words = line.split()
        if len(words) != 4:
            raise DataError(
                f"{path}, line {number}: {line[:60]!r} has {len(words)} words; expected four, "
                "or a section such as ': capitals'."
            )
        questions.append(Question(section, *words))
    if not questions:
        raise DataError(f"{path}: no questions; expected four words in each line.")
    return questions


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines that say something, with their numbers."""
    lines = enumerate(read_utf8(path).splitlines(), start=1)
    # The end of a line only: an empty first cell is a cell.
    return [(n, line.rstrip()) for n, line in lines if line.strip() and not _is_remark(line)]


def _is_remark(line: str) -> bool:
    return line.startswith(("#", "//"))
