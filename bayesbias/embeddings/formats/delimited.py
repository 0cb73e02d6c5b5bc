"""Tables as text: CSV and TSV, one row per word, the word first, with or without a header line.

A line is split from its end, since all but the word are numbers. So a word may hold the delimiter,
quoted or not, and a lone quotation mark is a word and does not swallow the lines that follow.
Blocks of lines are parsed by Arrow; a block in which Arrow sees anything else than one row per line
is taken apart line by line, which also names the line of a fault. Line ends inside a word are not
read.
"""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from bayesbias.embeddings.formats.streams import (
    ByteStream,
    RowCollector,
    Rows,
    Wanted,
    WordDecoder,
    check_separable,
    open_for_writing,
    remedy,
)
from bayesbias.embeddings.formats.text_vectors import (
    TOO_LARGE,
    WIDEST,
    line_blocks,
    parse_number,
)
from bayesbias.errors import DataError

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding

_DELIMITERS = (b"\t", b",", b";")
_BLOCK_ROWS = 8_192
#: What the column of words is called, where the other columns are called 0, 1, 2 and so on.
_WORD_COLUMNS = {b"", b"word", b"words", b"token", b"tokens", b"term", b"key", b"index"}


def sniff_delimiter(head: bytes) -> bytes | None:
    """Return what separates the values of a table of vectors, or None if this is none.

    Most of the first lines must be a word and numbers, and have the same number of values.
    """
    for delimiter in _DELIMITERS:
        _, share = _common_count(head, delimiter)
        if share >= 0.5:  # of two lines one may be the header
            return delimiter
    # With a decimal comma: the reader says what to do about it.
    _, share = _common_count(head.replace(b",", b"."), b";")
    return b";" if share >= 0.5 else None


def read_delimited(path: Path, wanted: Wanted, *, delimiter: bytes | None = None) -> Rows:
    """Read a table of vectors; without `delimiter` it is found in the first lines."""
    with ByteStream(path, progress=wanted.progress) as stream:
        blocks = line_blocks(stream)
        first = next(blocks, b"").removeprefix(codecs.BOM_UTF8)
        if delimiter is None:
            delimiter = sniff_delimiter(first) or b","
        reader = _TableReader(path, delimiter, _dimension(path, first, delimiter), wanted)
        start = reader.header_length(first)
        reader.feed(first[start:], 1 + bool(start))
        line_number = 1 + first.count(b"\n")
        for block in blocks:
            if reader.collector.left == 0:
                break
            reader.feed(block, line_number)
            line_number += block.count(b"\n")
        return reader.finish()


def write_delimited(embedding: Embedding, path: Path, *, delimiter: str) -> None:
    """Write a table with a header line; words are quoted where they must be."""
    import pyarrow as pa
    import pyarrow.compute as pc

    check_separable(embedding.words, "\n\r")
    names = ["word", *(f"d{i}" for i in range(embedding.dim))]
    with open_for_writing(path) as stream:
        stream.write((delimiter.join(names) + "\n").encode())
        for start in range(0, len(embedding), _BLOCK_ROWS):
            block = np.ascontiguousarray(embedding.vectors[start : start + _BLOCK_ROWS].T)
            columns = [pc.cast(pa.array(column), pa.string()) for column in block]
            words = [_quote(w, delimiter) for w in embedding.words[start : start + _BLOCK_ROWS]]
            lines = pc.binary_join_element_wise(pa.array(words, pa.string()), *columns, delimiter)
            stream.write(("\n".join(lines.to_pylist()) + "\n").encode())


class _TableReader:
    """Collects the rows of consecutive blocks of lines."""

    def __init__(self, path: Path, delimiter: bytes, dim: int, wanted: Wanted) -> None:
        self.path, self.delimiter, self.dim = path, delimiter, dim
        self.collector = RowCollector(dim, wanted)
        self.decode = WordDecoder()
        self.open_end: str | None = None

    def header_length(self, block: bytes) -> int:
        """Return the length of the header line, 0 if the first line is a word and its vector."""
        end = block.find(b"\n") + 1 or len(block)
        line = block[:end].rstrip(b"\r\n")
        fields = _fields(line, self.delimiter)
        if _is_row(fields):
            counting = [str(i).encode() for i in range(self.dim + 1)]
            named = fields[0].strip().lower() in _WORD_COLUMNS
            # pandas calls columns 0, 1, 2, which look like values.
            counted = self.dim > 1 and fields[1:] in (counting[:-1], counting[1:])
            return end if counted and (named or self.dim > 3) else 0
        # A first row with one fault is not a header: its fault is to be named. R leaves out the
        # name of the first column.
        numbers = sum(parse_number(field) is not None for field in fields[1:])
        widths = (self.dim + 1, self.dim) if self.dim > 1 else (2,)
        return end if len(fields) in widths and not numbers else 0

    def feed(self, block: bytes, line_number: int) -> None:
        """Take the rows of a block of whole lines."""
        parsed = self._parse(block)
        words, vectors = self._parse_lines(block, line_number) if parsed is None else parsed
        decoded = self.decode(words)
        within = self.collector.left is None or self.collector.left >= len(decoded)
        self.collector.add(decoded, vectors)
        if decoded and within and not block.endswith(b"\n"):
            self.open_end = decoded[-1]

    def _parse(self, block: bytes) -> tuple[list[bytes], npt.NDArray[Any]] | None:
        """Parse a block in one go; None if anything in it needs a closer look."""
        if self.dim > WIDEST or not block:
            return None
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        values = [str(i) for i in range(self.dim)]
        types = {"word": pa.binary(), **dict.fromkeys(values, pa.float64())}
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(block),
                arrow_csv.ReadOptions(column_names=["word", *values], block_size=1 << 20),
                arrow_csv.ParseOptions(delimiter=self.delimiter.decode(), ignore_empty_lines=False),
                arrow_csv.ConvertOptions(
                    column_types=types, null_values=[], strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid:
            return None
        if table.num_rows != block.count(b"\n") + (not block.endswith(b"\n")):
            return None  # a quotation mark or a lone carriage return joined or cut lines
        vectors = np.column_stack([table.column(name).to_numpy() for name in values])
        if not np.abs(vectors).max(initial=0.0) < TOO_LARGE:
            return None
        return table.column("word").to_pylist(), vectors

    def _parse_lines(
        self, block: bytes, line_number: int
    ) -> tuple[list[bytes], npt.NDArray[np.float64]]:
        words: list[bytes] = []
        rows: list[list[float]] = []
        left = self.collector.left
        lines = block.split(b"\n")
        for number, raw in enumerate(lines, start=line_number):
            line = raw.removesuffix(b"\r")
            if not line:
                continue
            if left is not None and len(words) >= left:
                break
            word, *values = line.rsplit(self.delimiter, self.dim)
            if len(values) < self.dim:
                self._too_short(line, number, len(values), last=raw is lines[-1])
            word = _unquote(word)
            words.append(word)
            rows.append([self._value(value, word, number) for value in values])
        return words, np.array(rows, dtype=np.float64).reshape(len(rows), self.dim)

    def _too_short(self, line: bytes, number: int, count: int, *, last: bool) -> NoReturn:
        word = _unquote(line.partition(self.delimiter)[0]).decode(errors="backslashreplace")
        if last:
            raise DataError(
                f"{self.path}, line {number} ({word!r}): the file ends after {count} of "
                f"{self.dim} values, so it is truncated; {remedy(self.collector.seen)}"
            )
        raise DataError(
            f"{self.path}, line {number} ({word!r}): {count} values, expected {self.dim} as in the "
            "rest of the file; repair or remove the line. A word must not hold a line end."
        )

    def _value(self, text: bytes, word: bytes, number: int) -> float:
        value = parse_number(_unquote(text))
        if value is not None and abs(value) < TOO_LARGE:
            return value
        what = "is not a number" if value is None else "is NaN or too large for 32 bits"
        hint = ""
        if value is None and (not word or parse_number(word) is not None):
            hint = " The word must be the first column: leave out a column of row numbers."
        elif value is None and parse_number(_unquote(text).replace(b",", b".")) is not None:
            hint = " Write numbers with a decimal point, not a comma."
        raise DataError(
            f"{self.path}, line {number} ({word.decode(errors='backslashreplace')!r}): the value "
            f"{text.decode(errors='backslashreplace')!r} {what}; repair or remove the line.{hint}"
        )

    def finish(self) -> Rows:
        """Return all rows and what was noticed."""
        if not self.collector.seen:
            raise DataError(f"{self.path}: there are no vectors in the file.")
        notes = self.decode.notes()
        if self.open_end is not None and self.open_end in self.collector.words[-1:]:
            notes.append(
                f"the file does not end with a line end; its last row ({self.open_end!r}) may be "
                "cut short"
            )
        return self.collector.finish(notes)


def _first_lines(head: bytes) -> list[bytes]:
    lines = head.removeprefix(codecs.BOM_UTF8).split(b"\n", 200)
    # The last of many is the rest of the block, or cut where the peek ended.
    lines = lines[:-1] if len(lines) > 20 else lines
    return [line.rstrip(b"\r") for line in lines if line.strip()]


def _fields(line: bytes, delimiter: bytes) -> list[bytes]:
    """Return the fields of a line; one with a lone quotation mark is cut at every delimiter."""
    if b'"' in line:
        try:
            rows = list(csv.reader([line.decode("latin-1")], delimiter=delimiter.decode()))
        except csv.Error:  # a field longer than its limit
            rows = []
        if len(rows) == 1 and len(rows[0]) > 1:
            return [field.encode("latin-1") for field in rows[0]]
    return line.split(delimiter)


def _is_row(fields: list[bytes]) -> bool:
    """Return whether the fields are a word and numbers."""
    return len(fields) > 1 and all(parse_number(field) is not None for field in fields[1:])


def _common_count(head: bytes, delimiter: bytes) -> tuple[int, float]:
    """Return the number of values that most rows have, and the share of lines that are such."""
    lines = [_fields(line, delimiter) for line in _first_lines(head)]
    counts = Counter(len(fields) - 1 for fields in lines if _is_row(fields))
    [(count, number)] = counts.most_common(1) or [(0, 0)]
    return count, number / max(len(lines), 1)


def _dimension(path: Path, block: bytes, delimiter: bytes) -> int:
    """Return the number of values that most of the first lines have."""
    dim, _ = _common_count(block, delimiter)
    if not dim:
        counts = Counter(len(_fields(line, delimiter)) - 1 for line in _first_lines(block))
        dim = counts.most_common(1)[0][0] if counts else 0
    if not dim:
        raise DataError(
            f"{path}: no line with a word, {delimiter.decode()!r} and numbers; this is not a table "
            "of vectors."
        )
    return dim


def _quote(word: str, delimiter: str) -> str:
    # An empty word too: a line of nothing but delimiters is hard to read.
    if word and '"' not in word and delimiter not in word:
        return word
    return '"' + word.replace('"', '""') + '"'


def _unquote(field: bytes) -> bytes:
    """Return a field without the quotation marks of CSV, if it has them."""
    if len(field) < 2 or not (field.startswith(b'"') and field.endswith(b'"')):
        return field
    inner = field[1:-1]
    # A quotation mark that is not doubled is a part of the word.
    return field if b'"' in inner.replace(b'""', b"") else inner.replace(b'""', b'"')
