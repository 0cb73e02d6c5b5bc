"""Text formats: word2vec and fastText ``.vec`` (with a header line), GloVe (without).

Blocks of lines are parsed by Arrow's CSV reader, into double precision and then to float32, which
gives the bits that Python's own ``float`` gives. A block it cannot parse is taken apart line by
line, which finds words with spaces and names the line of a fault.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import numpy.typing as npt

from bayesbias._core.wording import counted, quoted
from bayesbias.embeddings.formats.streams import (
    HEADER,
    ByteStream,
    RowBuffer,
    Rows,
    Wanted,
    WordDecoder,
    check_separable,
    open_for_writing,
    parse_header,
    remedy,
)
from bayesbias.errors import DataError

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding

_TAB = re.compile(rb"\t[-+]?\.?\d")
_BLOCK_BYTES = 1 << 23
_BLOCK_ROWS = 8_192
_LONGEST_LINE = 1 << 28
WIDEST = 5_000  # Arrow is slow with very many columns, and in version 17 hangs
# From here on a double is rounded to infinity in 32 bits.
TOO_LARGE = 2.0**128 - 2.0**103


def read_text(path: Path, wanted: Wanted, *, header: bool) -> Rows:
    """Read a text file of vectors, with or without a header line."""
    with ByteStream(path, progress=wanted.progress) as stream:
        blocks = line_blocks(stream)
        first = next(blocks, b"").removeprefix(codecs.BOM_UTF8)
        tabs = uses_tabs(first)
        first = _with_spaces(first) if tabs else first
        line_number = 1
        promised: int | None = None
        if header:
            promised, dim, length = parse_header(path, first)
            first = first[length:]
            line_number = 2
        else:
            dim = _common_dimension(path, first)
        reader = _LineReader(path, dim, wanted, promised, stream.size)
        reader.feed(first, line_number)
        line_number += first.count(b"\n")
        for block in blocks:
            if reader.done:
                break
            reader.feed(_with_spaces(block) if tabs else block, line_number)
            line_number += block.count(b"\n")
        return reader.finish()


def uses_tabs(head: bytes) -> bool:
    """Return whether in most of the first lines a tab stands before a number."""
    lines = [line for line in head.split(b"\n", 100)[:100] if line.strip()]
    return 2 * sum(bool(_TAB.search(line)) for line in lines) > len(lines)


def _with_spaces(block: bytes) -> bytes:
    return block.replace(b"\t", b" ")


def is_vector_line(line: bytes, dim: int | None = None) -> bool:
    """Return whether a line is a word and then numbers (`dim` of them, where that is known)."""
    separator = b"\t" if uses_tabs(line) else b" "
    fields = line.rstrip(b" \t\r\n").replace(separator, b" ").split(b" ")
    values = fields[-dim:] if dim else fields[1:]
    if not values or len(fields) <= (dim or 0):
        return False
    return all(parse_number(value) is not None for value in values)


def write_text(embedding: Embedding, path: Path, *, header: bool) -> None:
    """Write words and vectors as text; each value in the fewest digits that give it back."""
    import pyarrow as pa
    import pyarrow.compute as pc

    check_separable(embedding.words, " \t\n")
    if embedding.dim == 1 and not header:
        raise DataError(
            "one dimension cannot be written without a header, since a line such as '5 1' would be "
            "taken for one; use format='word2vec-text'."
        )
    with open_for_writing(path) as stream:
        if header:
            stream.write(f"{len(embedding)} {embedding.dim}\n".encode())
        for start in range(0, len(embedding), _BLOCK_ROWS):
            block = np.ascontiguousarray(embedding.vectors[start : start + _BLOCK_ROWS].T)
            columns = [pc.cast(pa.array(column), pa.string()) for column in block]
            words = pa.array(embedding.words[start : start + _BLOCK_ROWS], pa.string())
            lines = pc.binary_join_element_wise(words, *columns, " ")
            stream.write(("\n".join(lines.to_pylist()) + "\n").encode())


class _LineReader:
    """Collects the rows of consecutive blocks of lines."""

    def __init__(
        self, path: Path, dim: int, wanted: Wanted, promised: int | None, size: int
    ) -> None:
        self.path, self.dim, self.promised = path, dim, promised
        self.keep = wanted.encoded()
        self.limit = wanted.limit
        # A plain file of `size` bytes cannot hold more rows than this, whatever its header says.
        most = size // (2 * dim + 2) + 1
        if self.keep is not None:
            expected = len(self.keep)
        else:
            expected = min(n for n in (promised, self.limit, most) if n is not None)
        self.rows = RowBuffer(dim, min(expected, most))
        self.words: list[str] = []
        self.ranks: list[int] = []  # places of the words, where not all are kept
        self.seen = 0  # rows of the file that went by, kept or not
        self.with_spaces: list[bytes] = []
        self.surplus = False  # whether there is more than the header promises
        self.open_end: str | None = None
        self.decode = WordDecoder()

    @property
    def done(self) -> bool:
        """Whether nothing in the rest of the file is wanted."""
        if self.keep is not None and len(self.words) >= len(self.keep):
            return len(set(self.words)) == len(self.keep)
        return self.surplus or (self.limit is not None and self.seen >= self.limit)

    def feed(self, block: bytes, line_number: int) -> None:
        """Take the rows of a block of whole lines."""
        ends = [end for end in (self.limit, self.promised) if end is not None]
        if ends and block.count(b"\n") + 1 > min(ends) - self.seen:
            block = self._cut(block, min(ends) - self.seen)
        if block and not (self.keep is None and self._feed_fast(block)):
            self._feed_lines(block, line_number)

    def _cut(self, block: bytes, count: int) -> bytes:
        """Return the first `count` lines that are not blank."""
        lines = block.split(b"\n")
        full = [i for i, line in enumerate(lines) if line.strip(b" \r")]
        if len(full) <= count:
            return block
        self.surplus = self.seen + count == self.promised
        return b"".join(line + b"\n" for line in lines[: full[count]])

    def _feed_fast(self, block: bytes) -> bool:
        """Parse a block in one go; False if anything in it needs a closer look."""
        parsed = _parse(block, self.dim)
        if parsed is None:
            return False
        words, columns = parsed
        fill_columns(self.rows.take(len(words)), columns)
        self.words += self.decode(words)
        self.seen += len(words)
        self._note_end(block)
        return True

    def _note_end(self, block: bytes) -> None:
        """Remember the last word if its line has no end: its last value may be cut."""
        if not block.endswith(b"\n"):
            self.open_end = self.words[-1]

    def _feed_lines(self, block: bytes, line_number: int) -> None:
        """Parse a block line by line, keeping only the words that are wanted."""
        words: list[bytes] = []
        values: list[bytes] = []
        numbers: list[int] = []
        spaced = self.keep is not None and any(b" " in word for word in self.keep)
        lines = block.split(b"\n")
        last_number = line_number + len(lines) - 1  # of a line without an end, or of none
        for number, raw in enumerate(lines, start=line_number):
            line = raw.rstrip(b" \r")
            if not line:
                continue
            self.seen += 1
            if self.keep is not None and not spaced and line.partition(b" ")[0] not in self.keep:
                continue
            word, numbers_text = self._split(line, number, last=number == last_number)
            if self.keep is None or word in self.keep:
                words.append(word)
                values.append(numbers_text)
                numbers.append(number)
                if self.keep is not None:
                    self.ranks.append(self.seen)
        if not words:
            return
        parsed = _parse(b"".join(b"x " + text + b"\n" for text in values), self.dim)
        rows = self.rows.take(len(words))
        if parsed is not None:
            fill_columns(rows, parsed[1])
        else:
            for row, word, text, number in zip(rows, words, values, numbers, strict=True):
                row[:] = [self._value(v, word, number) for v in text.split(b" ")]
        self.words += self.decode(words)
        if numbers[-1] == last_number:
            self._note_end(block)

    def _split(self, line: bytes, number: int, *, last: bool) -> tuple[bytes, bytes]:
        """Split a line into its word, which may hold spaces, and its values."""
        count = line.count(b" ")
        if count == self.dim:
            word, _, values = line.partition(b" ")
            return word, values
        if count > self.dim:
            *_, values = line.split(b" ", count - self.dim + 1)
            word = line[: -len(values) - 1].rstrip(b" ")
            extra = word.split(b" ")[1:]
            if not extra or not all(parse_number(field) is not None for field in extra):
                self.with_spaces += [word] if extra else []
                return word, values
        self._wrong_dimension(line, number, count, last=last)

    def _wrong_dimension(self, line: bytes, number: int, count: int, *, last: bool) -> NoReturn:
        word = line.partition(b" ")[0].decode(errors="backslashreplace")
        if last and count < self.dim:
            raise DataError(
                f"{self.path}, line {number} ({word!r}): the file ends after {count} of "
                f"{self.dim} values, so it is truncated; {remedy(self.seen - 1)}"
            )
        if not self.seen - 1 and self.promised is None and HEADER.fullmatch(line):
            raise DataError(
                f"{self.path}, line 1: {line.decode()!r} looks like a word2vec header; "
                "read the file with format='word2vec-text'."
            )
        raise DataError(
            f"{self.path}, line {number} ({word!r}): {count} values, expected {self.dim} as in the "
            "rest of the file; repair or remove the line."
        )

    def _value(self, text: bytes, word: bytes, number: int) -> float:
        value = parse_number(text)
        if value is not None and abs(value) < TOO_LARGE:
            return value
        what = "is not a number" if value is None else "is NaN or too large for 32 bits"
        raise DataError(
            f"{self.path}, line {number} ({word.decode(errors='backslashreplace')!r}): the value "
            f"{text.decode(errors='backslashreplace')!r} {what}; repair or remove the line."
        )

    def finish(self) -> Rows:
        """Return all rows, after a check against what the header promised."""
        if self.promised is not None and not self.done and self.seen < self.promised:
            raise DataError(
                f"{self.path}: the header promises {self.promised:,} rows, the file holds "
                f"{self.seen:,}; it is truncated: {remedy(self.seen)}"
            )
        if not self.seen:
            raise DataError(f"{self.path}: there are no vectors in the file.")
        notes = self.decode.notes()
        if self.open_end is not None:
            notes.append(
                f"the file does not end with a line end; its last row ({self.open_end!r}) may be "
                "cut short"
            )
        if self.surplus:
            notes.append(
                f"more rows than the {self.promised:,} that the header promises; the rest left out"
            )
        if self.with_spaces:
            names = [word.decode(errors="backslashreplace") for word in self.with_spaces]
            notes.append(f"{counted(len(names), 'word')} with spaces: {quoted(names)}")
        ranks = None if self.keep is None else np.array(self.ranks, dtype=np.int64)
        return Rows(self.words, self.rows.finish(), notes, ranks)


def line_blocks(stream: ByteStream) -> Iterator[bytes]:
    """Yield blocks that end with a line; only the last may lack its newline."""
    rest = b""
    while data := stream.read(_BLOCK_BYTES):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield rest + data[:cut]
            rest = data[cut:]
        else:
            rest += data
            if len(rest) > _LONGEST_LINE:
                raise DataError(
                    f"{stream.path}: a line is longer than {_LONGEST_LINE:,} bytes, which the "
                    "lines of word vectors never are; the file is damaged or malicious."
                )
    if rest:
        yield rest


def _common_dimension(path: Path, block: bytes) -> int:
    """Return the number of values that most of the first lines have."""
    lines = [line.rstrip(b" \r") for line in block.split(b"\n", 200)[:200]]
    counts = Counter(line.count(b" ") for line in lines if line)
    dim = counts.most_common(1)[0][0] if counts else 0
    if not dim:
        raise DataError(f"{path}: no line with a word and numbers; this is not a file of vectors.")
    return dim


def _parse(block: bytes, dim: int) -> tuple[list[bytes], list[npt.NDArray[np.float64]]] | None:
    """Parse lines of a word and `dim` numbers; None if a line is anything else."""
    if dim > WIDEST:
        return None
    import pyarrow as pa
    from pyarrow import csv

    head = block[: block.find(b"\n")].rstrip(b"\r")
    # word2vec and fastText themselves write a space behind the last value.
    trailing = head.endswith(b" ")
    values = [str(i) for i in range(dim)]
    names = ["word", *values, *(["end"] if trailing else [])]
    types = {"word": pa.binary(), **dict.fromkeys(values, pa.float64()), "end": pa.binary()}
    try:
        table = csv.read_csv(
            pa.BufferReader(block),
            csv.ReadOptions(column_names=names, block_size=1 << 20),
            csv.ParseOptions(
                delimiter=" ", quote_char=False, double_quote=False, ignore_empty_lines=False
            ),
            csv.ConvertOptions(
                column_types={name: types[name] for name in names},
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    if trailing and max(map(len, table.column("end").to_pylist()), default=0):
        return None
    # Arrow takes a lone carriage return for the end of a line, the formats do not.
    if table.num_rows != block.count(b"\n") + (not block.endswith(b"\n")):
        return None
    columns = [table.column(name).to_numpy() for name in values]
    if not all(np.abs(column).max(initial=0.0) < TOO_LARGE for column in columns):
        return None
    return table.column("word").to_pylist(), columns


def fill_columns(rows: npt.NDArray[np.float32], columns: Sequence[npt.NDArray[np.float64]]) -> None:
    """Write columns into a matrix of rows."""
    for j, column in enumerate(columns):
        rows[:, j] = column


def parse_number(text: bytes) -> float | None:
    """Return the number that a text is, or None."""
    if b"_" in text:  # Python reads 1_000, no other program does
        return None
    try:
        return float(text)
    except ValueError:
        return None
