"""Where changed vectors are written, block by block: an array, or a file that can be resumed."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np
import numpy.typing as npt

from bayesbias._core.files import check_folder, to_disk
from bayesbias._core.locks import check_free, locked
from bayesbias._core.wording import kind_of
from bayesbias.embeddings import Embedding, check_separable, vocabulary_path
from bayesbias.errors import DataError, SpecError


class ArrayTarget:
    """An array in memory, or one that is mapped."""

    rows_done = 0

    def __init__(self, matrix: npt.NDArray[np.float32] | None, embedding: Embedding) -> None:
        if matrix is None:
            matrix = np.empty_like(embedding.vectors)
        _check_array(matrix, embedding)
        self._matrix = matrix

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def block(self, rows: slice) -> npt.NDArray[np.float32]:
        """Return the array that the vectors of some rows are to be written into."""
        return self._matrix[rows]

    def append(self, vectors: npt.NDArray[np.float32]) -> None:
        """Do nothing: the block is a part of the array."""

    def matrix(self) -> npt.NDArray[np.float32]:
        """Return the array."""
        return self._matrix


def _check_array(matrix: object, embedding: Embedding) -> None:
    """Refuse an array that cannot take the vectors, or that an embedding is made of."""
    shape = embedding.vectors.shape
    if not isinstance(matrix, np.ndarray):
        raise SpecError(
            f"'out' is {kind_of(matrix)}; expected an array, or the name of a .npy file."
        )
    if matrix.shape != shape or matrix.dtype != np.float32 or not matrix.flags.c_contiguous:
        raise SpecError(
            f"'out' is an array of the shape {matrix.shape} and the type {matrix.dtype}; expected "
            f"numpy.empty({shape}, dtype='float32')."
        )
    if not matrix.flags.writeable:
        raise SpecError("'out' is a read-only array; give one that can be written to.")
    if np.may_share_memory(matrix, embedding.vectors):
        raise SpecError(
            f"'out' is the array of embedding {embedding.name!r}, and an embedding does not "
            f"change; give another one: numpy.empty({shape}, dtype='float32')."
        )


class FileTarget:
    """A ``.npy`` file that grows by appended rows, under another name until it is whole.

    Rows are written with plain file operations, not through a memory map, as a full disk is then
    an error and not the end of the process. An interrupted run is resumed at the beginning of a
    block: how rows are multiplied, and so the last digits, depends on the block they are in.
    """

    def __init__(
        self, path: str | PathLike[str], embedding: Embedding, fingerprint: str, block_rows: int
    ) -> None:
        self.path = Path(path)
        if self.path.suffix != ".npy":
            raise SpecError(f"{self.path}: the suffix is {self.path.suffix!r}; expected '.npy'.")
        check_folder(self.path)
        check_free(self.path)
        check_separable(embedding.words, "\n\r")
        self._words = embedding.words
        self._shape = embedding.vectors.shape
        self._part = self.path.with_name(f".{self.path.name}.part")
        self._state = self.path.with_name(f".{self.path.name}.part.json")
        self._fingerprint = fingerprint
        self._stream: IO[bytes] | None = None
        self._header = _header(self._shape)
        self._block_rows = block_rows
        self._lock = ExitStack()
        self.rows_done = 0

    def _resumable_rows(self) -> int:
        """Return how many rows of an interrupted run can be kept."""
        try:
            state = json.loads(self._state.read_text("utf-8"))
            size = self._part.stat().st_size
        except (OSError, ValueError):
            return 0
        if state != {"fingerprint": self._fingerprint, "shape": list(self._shape)}:
            return 0
        rows = max(0, (size - len(self._header)) // self._row_bytes)
        if rows >= self._shape[0]:
            return int(self._shape[0])
        return int(rows - rows % self._block_rows)

    @property
    def _row_bytes(self) -> int:
        return 4 * int(self._shape[1])

    def __enter__(self) -> Self:
        self._lock.enter_context(locked(self.path))
        try:
            self.rows_done = self._resumable_rows()
            # What another run has left is emptied before the state says that it is of this one.
            self._stream = self._part.open("r+b" if self.rows_done else "wb")
            state = {"fingerprint": self._fingerprint, "shape": list(self._shape)}
            self._state.write_text(json.dumps(state), "utf-8")
            if not self.rows_done:
                self._stream.write(self._header)
            end = len(self._header) + self.rows_done * self._row_bytes
            self._stream.truncate(end)
            self._stream.seek(end)
        except OSError as err:
            self._close()
            raise self._cannot(err) from err
        return self

    def _close(self) -> None:
        """Close silently, as another error is on its way."""
        if self._stream is not None:
            with suppress(OSError):
                self._stream.close()
        self._lock.close()

    def block(self, rows: slice) -> npt.NDArray[np.float32]:
        """Return an array for the vectors of some rows, which `append` then writes."""
        return np.empty((rows.stop - rows.start, self._shape[1]), dtype=np.float32)

    def append(self, vectors: npt.NDArray[np.float32]) -> None:
        """Write the next rows."""
        assert self._stream is not None
        try:
            self._stream.write(vectors.data)
        except OSError as err:
            raise self._cannot(err) from err

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self._close()
            return
        assert self._stream is not None
        words = vocabulary_path(self.path)
        partial = words.with_name(f".{words.name}.part")
        text = "".join(f"{word}\n" for word in self._words)
        try:
            self._stream.close()
            partial.write_text(text, "utf-8", newline="\n")
            for written in (partial, self._part):
                to_disk(written)
            os.replace(partial, words)
            os.replace(self._part, self.path)
            to_disk(self.path.parent)
            self._state.unlink()
        except OSError as err:
            partial.unlink(missing_ok=True)
            raise self._cannot(err) from err
        finally:
            self._lock.close()

    def matrix(self) -> npt.NDArray[np.float32]:
        """Return the finished file, mapped."""
        mapped: npt.NDArray[np.float32] = np.load(self.path, mmap_mode="r")
        return mapped

    def _cannot(self, err: OSError) -> DataError:
        return DataError(
            f"{self.path}: cannot be written ({err.strerror or err}); make room or give another "
            f"place. Run again, it goes on from what has been written, in {self._part.name}."
        )


def _header(shape: tuple[int, ...]) -> bytes:
    """Return the beginning of a ``.npy`` file of that shape."""
    import io

    stream = io.BytesIO()
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue()
