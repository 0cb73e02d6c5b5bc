"""What readers and writers share: what is wanted, what was read, streams of bytes, words."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np
import numpy.typing as npt

from bayesbias._core.progress import progress_bar
from bayesbias._core.unpacked_sizes import CheckedGzip
from bayesbias._core.wording import counted, quoted
from bayesbias.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"
HEADER = re.compile(rb"(\d{1,18}) (\d{1,18})[ \t]*\r?(?:\n|$)")
_MOST_DIMENSIONS = 1_000_000


@dataclass(slots=True)
class Rows:
    """What a reader returns: words, their vectors, what it noticed, their places in the file."""

    words: list[str]
    vectors: npt.NDArray[np.float32]
    notes: list[str] = field(default_factory=list)
    #: From 1; None if the words are the first of the file.
    ranks: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows of a file to keep: all, the first `limit`, or those of some words."""

    words: frozenset[str] | None = None
    limit: int | None = None
    progress: bool = False

    def encoded(self) -> frozenset[bytes] | None:
        """Return the words as the bytes of a file."""
        if self.words is None:
            return None
        return frozenset(word.encode(errors="surrogatepass") for word in self.words)

    def pick(self, words: list[str]) -> npt.NDArray[np.intp]:
        """Return the rows to keep of a vocabulary that is at hand as a whole."""
        head = words[: self.limit]
        if self.words is None:
            return np.arange(len(head), dtype=np.intp)
        return np.array([i for i, word in enumerate(head) if word in self.words], dtype=np.intp)

    def select(self, words: list[str], vectors: npt.NDArray[np.float32]) -> Rows:
        """Return the rows to keep of a matrix that is at hand; without words it stays mapped."""
        if self.words is None:
            return Rows(words[: self.limit], vectors[: self.limit])
        rows = self.pick(words)
        return Rows([words[i] for i in rows], np.asarray(vectors[rows]), ranks=rows + 1)


class RowBuffer:
    """A float32 matrix that grows in place (by `realloc`), so that no second copy is made."""

    def __init__(self, dim: int, expected: int) -> None:
        self._rows = np.empty((max(expected, 16), dim), dtype=np.float32)
        self.filled = 0

    def take(self, count: int) -> npt.NDArray[np.float32]:
        """Return the next `count` rows, to be written to."""
        end = self.filled + count
        if end > len(self._rows):
            size = max(end, len(self._rows) * 5 // 4)
            self._rows.resize((size, self._rows.shape[1]), refcheck=False)
        rows = self._rows[self.filled : end]
        self.filled = end
        return rows

    def finish(self) -> npt.NDArray[np.float32]:
        """Return the rows that were filled."""
        self._rows.resize((self.filled, self._rows.shape[1]), refcheck=False)
        return self._rows


class RowCollector:
    """Gathers the wanted rows of consecutive batches, as float32."""

    def __init__(self, dim: int, wanted: Wanted) -> None:
        self.words: list[str] = []
        self.seen = 0  # rows of the file that went by, kept or not
        self._wanted = wanted
        self._rows = RowBuffer(dim, 16)
        self._ranks: list[npt.NDArray[np.intp]] = []

    @property
    def left(self) -> int | None:
        """How many rows of the file are still to be looked at; None stands for all."""
        return None if self._wanted.limit is None else max(self._wanted.limit - self.seen, 0)

    def add(self, words: list[str], vectors: npt.NDArray[np.floating]) -> None:
        """Take the wanted rows of a batch."""
        rows = Wanted(self._wanted.words, self.left).pick(words)
        with np.errstate(over="ignore"):  # what becomes infinite is reported with its word
            self._rows.take(len(rows))[:] = vectors[rows]
        self.words += [words[i] for i in rows]
        self._ranks.append(self.seen + rows + 1)
        self.seen += len(words)

    def finish(self, notes: list[str]) -> Rows:
        """Return all rows that were kept."""
        ranks = np.concatenate([np.zeros(0, np.intp), *self._ranks]).astype(np.int64)
        return Rows(self.words, self._rows.finish(), notes, ranks)


class ByteStream:
    """A file, plain or gzip, read in blocks with a progress bar over its bytes on disk."""

    def __init__(self, path: Path, *, progress: bool = False) -> None:
        self.path = path
        self.size = path.stat().st_size
        self._stack = ExitStack()
        self._progress = progress
        self._reported = 0

    def __enter__(self) -> Self:
        self._raw: IO[bytes] = self._stack.enter_context(self.path.open("rb"))
        self.compressed = self._raw.read(2) == GZIP_MAGIC
        self._raw.seek(0)
        self._stream: IO[bytes] | CheckedGzip = self._raw
        if self.compressed:
            self._stream = self._stack.enter_context(CheckedGzip(self._raw, str(self.path)))
        self._advance: Callable[[float], None] = self._stack.enter_context(
            progress_bar(f"Reading {self.path.name}", total=self.size, show=self._progress)
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def read(self, size: int) -> bytes:
        """Return the next bytes; fewer than `size` only at the end of the file."""
        try:
            data = self._stream.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as err:
            raise DataError(
                f"{self.path}: the gzip data is cut short or damaged near byte "
                f"{self._raw.tell():,} of {self.size:,} ({err}); download or compress it again."
            ) from err
        place = self._raw.tell()
        self._advance(place - self._reported)
        self._reported = place
        return data


class WordDecoder:
    """Turns bytes into words, and counts those that are not UTF-8 instead of failing."""

    def __init__(self) -> None:
        self.bad = 0
        self._examples: list[str] = []

    def __call__(self, words: list[bytes]) -> list[str]:
        """Decode words; a byte that is not UTF-8 becomes an escape of its number."""
        try:
            # One decoding of all of them is several times faster than one each.
            decoded = b"\n".join(words).decode().split("\n") if words else []
        except UnicodeDecodeError:
            decoded = []
        # Damaged binary files have words with line ends.
        return decoded if len(decoded) == len(words) else [self._one(word) for word in words]

    def _one(self, word: bytes) -> str:
        try:
            return word.decode()
        except UnicodeDecodeError:
            self.bad += 1
            text = word.decode(errors="backslashreplace")
            if len(self._examples) < 5:
                self._examples.append(text)
            return text

    def notes(self) -> list[str]:
        """Return a sentence about the words that were not UTF-8, if there were any."""
        if not self.bad:
            return []
        return [
            f"{counted(self.bad, 'word')} not in UTF-8, kept with escapes: "
            f"{quoted(self._examples, 5)}"
        ]


def parse_header(path: Path, data: bytes) -> tuple[int, int, int]:
    """Return the numbers of rows and dimensions in a header line, and the length of that line."""
    match = HEADER.match(data)
    if match is None:
        line = data.partition(b"\n")[0][:60].decode(errors="backslashreplace")
        raise DataError(
            f"{path}, line 1: {line!r} is not a header with the numbers of rows and dimensions; "
            "a text file without one is read with format='glove'."
        )
    count, dim = int(match[1]), int(match[2])
    if not count or not 0 < dim <= _MOST_DIMENSIONS:
        raise DataError(
            f"{path}, line 1: the header promises {count:,} rows × {dim:,} dimensions, which "
            "cannot be; the file is damaged or not an embedding."
        )
    return count, dim, match.end()


@contextmanager
def open_for_writing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing, compressed if its name ends in ``.gz``."""
    with path.open("wb") as raw:
        if path.suffix != ".gz":
            yield raw
            return
        # Without a time stamp the same embedding gives the same file.
        with gzip.GzipFile("", "wb", 6, raw, mtime=0) as stream:
            yield stream  # type: ignore[misc]


def check_separable(words: Iterable[str], separators: str) -> None:
    """Refuse words that a format cannot hold, since they contain what separates words there."""
    for word in words:
        separator = next((char for char in separators if char in word), None)
        if separator is not None:
            raise DataError(
                f"the word {word!r} cannot be written in this format, where {separator!r} "
                "separates words; save as .npz or .safetensors instead."
            )


def remedy(intact: int) -> str:
    """Say what to do about a truncated file of which so many rows are intact."""
    if not intact:
        return "download it again."
    return f"download it again, or read the intact rows with limit={intact}."
