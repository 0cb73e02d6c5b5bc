"""NumPy and safetensors files: a matrix ``vectors`` and the words beside it.

In ``.npz`` and ``.safetensors`` the words are the bytes of a JSON list, so any word can be kept and
nothing is ever unpickled; a part of a vocabulary has the ``ranks`` of its words beside them. A
``.npy`` file has its words, one per line, in a text file of its own.
"""

from __future__ import annotations

import json
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias._core.files import read_utf8
from bayesbias._core.progress import progress_bar
from bayesbias._core.unpacked_sizes import check_unpacked
from bayesbias._core.wording import quoted, shortened
from bayesbias.embeddings.formats.streams import Rows, Wanted, check_separable
from bayesbias.errors import DataError

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding

#: Endings of a vocabulary file beside a ``.npy`` file, in the order they are looked for.
VOCABULARY_SUFFIXES = (".vocab.txt", ".vocab", ".words.txt")
_BLOCK_ROWS = 16_384
# What damaged archives and headers raise inside zipfile, zlib and NumPy.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    TypeError,
    KeyError,
    MemoryError,
    LookupError,
    ValueError,
    struct.error,
    tokenize.TokenError,
)


def read_npz(path: Path, wanted: Wanted) -> Rows:
    """Read ``.npz``: ours (``words``, ``vectors``), or any list of strings with any matrix."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = set(archive.namelist())
            words_name, vectors_name = _find_arrays(path, archive)
            with _open_member(path, archive, words_name) as stream:
                words = _decode_words(path, _read_array(path, stream))
            ranks = None
            if words_name == "words.npy" and "ranks.npy" in members:
                with _open_member(path, archive, "ranks.npy") as stream:
                    ranks = _check_ranks(path, _read_array(path, stream), len(words))
            with _open_member(path, archive, vectors_name) as stream:
                return _with_ranks(_stream_rows(path, stream, words, wanted), ranks)
    except DataError:
        raise
    except _DAMAGE as err:
        raise _damaged(path, err) from err


def _find_arrays(path: Path, archive: zipfile.ZipFile) -> tuple[str, str]:
    """Return the members of the words and of the vectors: by their names, or else by their types.

    Only headers are read, so that nothing is unpacked to find out.
    """
    members = archive.namelist()
    if {"words.npy", "vectors.npy"} <= set(members):
        return "words.npy", "vectors.npy"
    described = []
    words, matrices, objects = [], [], []
    for member in members:
        if not member.endswith(".npy"):
            continue
        with archive.open(member) as stream:
            shape, _, dtype = _read_header(stream)
        described.append(f"{member.removesuffix('.npy')!r} ({dtype}, shape {shape})")
        if dtype.hasobject:
            objects.append(member)
        elif len(shape) == 1 and dtype.kind in "US":
            words.append(member)
        elif len(shape) == 2 and dtype.kind == "f":
            matrices.append(member)
    if len(words) == 1 and len(matrices) == 1:
        return words[0], matrices[0]
    if not described:
        raise DataError(
            f"{path}: holds {quoted(sorted(members))}; expected the arrays 'words' and "
            "'vectors'. A zipped text file must be unzipped first."
        )
    if objects and not words:
        raise DataError(
            f"{path}: the words cannot be read without unpickling, since "
            f"{quoted(name.removesuffix('.npy') for name in objects)} holds Python objects; save "
            "them as text: np.savez(path, words=np.array(words, dtype=str), vectors=vectors)."
        )
    raise DataError(
        f"{path}: found the arrays {shortened(described)}; expected one list of strings and one "
        "matrix of real numbers. Save them with np.savez(path, words=words, vectors=vectors)."
    )


def _open_member(path: Path, archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open an array of an archive, unless its sizes show that it is made to fill the memory."""
    member = archive.getinfo(name)
    unpacked, packed = member.file_size, member.compress_size
    check_unpacked(f"{path}: {name.removesuffix('.npy')!r}", packed, unpacked)
    with archive.open(name) as stream:
        shape, _, dtype = _read_header(stream)
    if dtype.hasobject:
        raise DataError(f"{path}: the words cannot be read without unpickling; save them as text.")
    if math.prod(shape) * dtype.itemsize > unpacked:
        raise DataError(
            f"{path}: {name.removesuffix('.npy')!r} says that it has the shape {shape}, and has "
            f"{unpacked:,} bytes; the file is damaged: download or save it again."
        )
    return archive.open(name)


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, fortran, dtype = read(stream)
    if any(size < 0 for size in shape):
        raise ValueError(f"the shape {shape}")
    return shape, fortran, dtype


def write_npz(
    embedding: Embedding, path: Path, *, dtype: npt.DTypeLike = np.float32, compress: bool = False
) -> None:
    """Write our ``.npz``; half precision and compression are for files that are shipped."""
    save: Callable[..., None] = np.savez_compressed if compress else np.savez
    ranks = {"ranks": embedding.ranks} if embedding.is_part else {}
    with path.open("wb") as stream:
        save(
            stream,
            words=_encode_words(embedding),
            vectors=embedding.vectors.astype(dtype, copy=False),
            **ranks,
        )


def read_npy(path: Path, wanted: Wanted) -> Rows:
    """Map a ``.npy`` file into memory; its words come from the vocabulary file beside it."""
    vocabulary = _vocabulary_of(path)
    words = read_utf8(vocabulary).removesuffix("\n").split("\n")
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except _DAMAGE as err:
        raise _damaged(path, err) from err
    _check_matrix(path, vectors.shape, vectors.dtype, len(words), str(vocabulary))
    return wanted.select(words, vectors)


def write_npy(embedding: Embedding, path: Path, vocabulary: Path) -> None:
    """Write the matrix and, one per line, the words."""
    check_separable(embedding.words, "\n\r")
    vocabulary.write_text("".join(f"{word}\n" for word in embedding.words), "utf-8", newline="\n")
    with path.open("wb") as stream:
        np.save(stream, embedding.vectors)


def read_safetensors(path: Path, wanted: Wanted) -> Rows:
    """Read our ``.safetensors``: tensors ``words`` and ``vectors``, streamed."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as tensors:
            names = set(tensors.keys())
            if not {"words", "vectors"} <= names:
                raise DataError(
                    f"{path}: found the tensors {quoted(sorted(names))}; expected 'words' (bytes "
                    "of a JSON list) and 'vectors'. For the input embeddings of a language model "
                    "give its folder, which also holds tokenizer.json."
                )
            words = _decode_words(path, tensors.get_tensor("words"))
            matrix = tensors.get_slice("vectors")
            first = matrix[:1]
            _check_matrix(path, tuple(matrix.get_shape()), first.dtype, len(words), "'words'")
            ranks = None
            if "ranks" in names:
                ranks = _check_ranks(path, tensors.get_tensor("ranks"), len(words))
            rows = _collect(path, words, wanted, first.shape[1], lambda a, b: matrix[a:b])
            return _with_ranks(rows, ranks)
    except DataError:
        raise
    except TypeError as err:  # a type that NumPy lacks, such as bfloat16
        raise DataError(
            f"{path}: the vectors are of a type that NumPy does not have ({err}); "
            "save them as float32."
        ) from err
    except (SafetensorError, *_DAMAGE) as err:
        raise _damaged(path, err) from err


def write_safetensors(embedding: Embedding, path: Path) -> None:
    """Write our ``.safetensors`` block by block, so that a mapped matrix stays on disk."""
    words = _encode_words(embedding).tobytes()
    rows, dim = embedding.vectors.shape
    ranks = embedding.ranks.astype("<i8").tobytes() if embedding.is_part else b""
    # Tensors lie in the file in this order; eight-byte numbers must begin at a multiple of eight.
    middle = len(ranks)
    end = middle + 4 * rows * dim
    tensors: dict[str, object] = {
        "__metadata__": {"format": "bayesbias embedding", "name": embedding.name},
        "vectors": {"dtype": "F32", "shape": [rows, dim], "data_offsets": [middle, end]},
        "words": {
            "dtype": "U8",
            "shape": [len(words)],
            "data_offsets": [end, end + len(words)],
        },
    }
    if ranks:
        tensors["ranks"] = {"dtype": "I64", "shape": [rows], "data_offsets": [0, middle]}
    header = json.dumps(tensors).encode()
    header += b" " * (-len(header) % 8)
    with path.open("wb") as stream:
        stream.write(struct.pack("<Q", len(header)) + header + ranks)
        for start in range(0, rows, _BLOCK_ROWS):
            block = embedding.vectors[start : start + _BLOCK_ROWS]
            stream.write(np.ascontiguousarray(block, "<f4").tobytes())
        stream.write(words)


def vocabulary_path(path: Path) -> Path:
    """Return where the words of a ``.npy`` file are written."""
    return path.with_suffix(VOCABULARY_SUFFIXES[0])


def _damaged(path: Path, err: Exception) -> DataError:
    return DataError(
        f"{path}: the file is cut short or damaged ({err}); download or save it again."
    )


def _encode_words(embedding: Embedding) -> npt.NDArray[np.uint8]:
    return np.frombuffer(json.dumps(embedding.words, ensure_ascii=False).encode(), dtype=np.uint8)


def _decode_words(path: Path, array: npt.NDArray[Any]) -> list[str]:
    if array.dtype.kind == "U" and array.ndim == 1:
        return [str(word) for word in array]
    if array.dtype.kind == "S" and array.ndim == 1:
        try:
            return [word.decode() for word in array.tolist()]
        except UnicodeDecodeError as err:
            raise DataError(
                f"{path}: the words are not in UTF-8 ({err}); save them again."
            ) from err
    if array.dtype != np.uint8:
        raise DataError(f"{path}: 'words' is of the type {array.dtype}; expected text.")
    try:
        words = json.loads(array.tobytes())
    except (ValueError, RecursionError) as err:
        raise DataError(f"{path}: 'words' is not a JSON list ({err}).") from err
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise DataError(f"{path}: 'words' is not a JSON list of strings.")
    return words


def _read_array(path: Path, stream: IO[bytes]) -> npt.NDArray[Any]:
    try:
        return np.lib.format.read_array(stream, allow_pickle=False)
    except ValueError as err:
        raise DataError(f"{path}: the words cannot be read without unpickling ({err}).") from err


def _stream_rows(path: Path, stream: IO[bytes], words: list[str], wanted: Wanted) -> Rows:
    """Read a ``.npy`` member block by block."""
    shape, fortran, dtype = _read_header(stream)
    _check_matrix(path, shape, dtype, len(words), "'words'")
    if fortran:
        raise DataError(
            f"{path}: 'vectors' is stored column by column; save it with "
            "np.ascontiguousarray(vectors)."
        )
    width = shape[1] * dtype.itemsize

    def block(start: int, stop: int) -> npt.NDArray[Any]:
        data = stream.read((stop - start) * width)
        if len(data) < (stop - start) * width:
            raise DataError(
                f"{path}: the file ends near row {start + len(data) // width:,} of {shape[0]:,}; "
                "it is truncated: download or save it again."
            )
        return np.frombuffer(data, dtype).reshape(-1, shape[1])

    return _collect(path, words, wanted, shape[1], block)


def _collect(
    path: Path,
    words: list[str],
    wanted: Wanted,
    dim: int,
    block: Callable[[int, int], npt.NDArray[Any]],
) -> Rows:
    """Gather the wanted rows from consecutive blocks, as float32."""
    rows = wanted.pick(words)
    vectors = np.empty((len(rows), dim), dtype=np.float32)
    stop = int(rows[-1]) + 1 if len(rows) else 0
    with (
        progress_bar(
            f"Reading {path.name}", total=stop, show=wanted.progress, unit="steps"
        ) as advance,
        np.errstate(over="ignore"),
    ):
        for start in range(0, stop, _BLOCK_ROWS):
            end = min(start + _BLOCK_ROWS, stop)
            low, high = np.searchsorted(rows, [start, end])
            vectors[low:high] = block(start, end)[rows[low:high] - start]
            advance(end - start)
    return Rows([words[i] for i in rows], vectors, ranks=rows + 1)


def _check_ranks(path: Path, ranks: npt.NDArray[Any], n_words: int) -> npt.NDArray[np.int64]:
    if ranks.shape != (n_words,) or ranks.dtype.kind not in "iu":
        raise DataError(
            f"{path}: 'ranks' has the shape {ranks.shape} and the type {ranks.dtype}; expected "
            f"{n_words:,} whole numbers, one for each word."
        )
    return ranks.astype(np.int64)


def _with_ranks(rows: Rows, ranks: npt.NDArray[np.int64] | None) -> Rows:
    """Put the ranks that the file holds in place of the places in the file."""
    if ranks is not None and rows.ranks is not None:
        rows.ranks = ranks[rows.ranks - 1]
    return rows


def _check_matrix(
    path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], n_words: int, where: str
) -> None:
    if len(shape) != 2 or dtype.kind != "f":
        raise DataError(
            f"{path}: the vectors have the shape {shape} and the type {dtype}; "
            "expected a matrix of real numbers, words × dimensions."
        )
    if shape[0] != n_words:
        raise DataError(
            f"{path}: {shape[0]:,} vectors but {n_words:,} words in {where}; "
            "they do not belong together."
        )


def _vocabulary_of(path: Path) -> Path:
    for suffix in VOCABULARY_SUFFIXES:
        candidate = path.with_suffix(suffix)
        if candidate.is_file():
            return candidate
    names = ", ".join(path.with_suffix(suffix).name for suffix in VOCABULARY_SUFFIXES)
    raise DataError(
        f"{path}: a .npy file needs its words, one per line, in a file beside it: one of {names}."
    )
