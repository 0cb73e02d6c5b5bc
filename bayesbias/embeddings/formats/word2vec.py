"""The binary format of word2vec: a header line, then each word, a space and its raw values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesbias.embeddings.formats.streams import (
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

_BLOCK_BYTES = 1 << 20
_BLOCK_ROWS = 8_192
_LONGEST_WORD = 4_096


def read_word2vec(path: Path, wanted: Wanted) -> Rows:
    """Read a word2vec binary file; memory is needed only for the rows that are kept."""
    with ByteStream(path, progress=wanted.progress) as stream:
        data = stream.read(_BLOCK_BYTES)
        promised, dim, place = parse_header(path, data)
        width = 4 * dim
        count = promised if wanted.limit is None else min(promised, wanted.limit)
        keep = wanted.encoded()
        # What the header promises is believed only as far as the file can hold it.
        most = (1 << 28) // width + 1 if stream.compressed else stream.size // (width + 1) + 1
        rows = RowBuffer(dim, min(count if keep is None else len(keep), most))
        decode = WordDecoder()
        words: list[bytes] = []
        places: list[int] = []
        ranks: list[int] = []
        base, ended = 0, False
        left = None if keep is None else set(keep)
        for number in range(count):
            if left is not None and not left:
                break
            while True:
                space = data.find(b" ", place, place + _LONGEST_WORD)
                if space >= 0 and space + 1 + width <= len(data):
                    break
                if space < 0 and len(data) - place >= _LONGEST_WORD:
                    raise DataError(
                        f"{path}, byte {base + place:,}: no word where row {number + 1:,} of "
                        f"{promised:,} should begin; the file is damaged, or not {dim} dimensions "
                        "wide as its header says."
                    )
                if ended:
                    raise DataError(
                        f"{path}, byte {base + len(data):,}: the file ends inside row "
                        f"{number + 1:,} of the {promised:,} that its header promises; it is "
                        f"truncated: {remedy(number)}"
                    )
                more = stream.read(_BLOCK_BYTES)
                ended = not more
                base += place
                data, place = data[place:] + more, 0
            word = data[place:space].lstrip(b"\n")
            if left is None or word in left:
                rows.take(1)[0] = np.frombuffer(data, "<f4", dim, space + 1)
                words.append(word)
                places.append(base + place)
                ranks.append(number + 1)
                if left is not None:
                    left.discard(word)
            place = space + 1 + width
        complete = left is None and count == promised
        surplus = complete and bool(data[place:].strip() or stream.read(1 << 10).strip())
    matrix = rows.finish()
    _check_finite(path, matrix, words, places)
    notes = []
    if surplus:
        notes.append(f"more data than the {promised:,} rows that the header promises; left out")
    decoded = decode(words)
    return Rows(decoded, matrix, notes + decode.notes(), np.array(ranks, dtype=np.int64))


def _check_finite(
    path: Path, matrix: npt.NDArray[np.float32], words: list[bytes], places: list[int]
) -> None:
    for start in range(0, len(matrix), _BLOCK_ROWS):
        good = np.isfinite(matrix[start : start + _BLOCK_ROWS]).all(axis=1)
        if not good.all():
            row = start + int(np.flatnonzero(~good)[0])
            raise DataError(
                f"{path}, byte {places[row]:,} (row {row + 1:,}, "
                f"{words[row].decode(errors='backslashreplace')!r}): NaN or infinite values; "
                "the file is damaged, or the vector was never trained."
            )


def write_word2vec(embedding: Embedding, path: Path) -> None:
    """Write a word2vec binary file."""
    check_separable(embedding.words, " \n")
    with open_for_writing(path) as stream:
        stream.write(f"{len(embedding)} {embedding.dim}\n".encode())
        for start in range(0, len(embedding), _BLOCK_ROWS):
            block = np.ascontiguousarray(embedding.vectors[start : start + _BLOCK_ROWS], "<f4")
            words = embedding.words[start : start + _BLOCK_ROWS]
            stream.write(
                b"".join(
                    word.encode() + b" " + row.tobytes()
                    for word, row in zip(words, block, strict=True)
                )
            )
