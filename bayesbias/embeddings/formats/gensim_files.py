"""Files that only gensim can read: its own pickles, and fastText models with subwords."""

from __future__ import annotations

import mmap
import shutil
import struct
from pathlib import Path
from typing import IO, NoReturn, cast

import numpy as np

from bayesbias._core.files import scratch_folder
from bayesbias.embeddings.formats.streams import ByteStream, Rows, Wanted
from bayesbias.embeddings.matching import Fallback, candidates
from bayesbias.errors import DataError

# A fastText model: magic and version, training arguments, a double, the sizes of the dictionary.
_HEAD = struct.Struct("<2i12id")
_DIMENSION = 2  # place of the dimension among the numbers of the head
_DICTIONARY = struct.Struct("<3i2q")
_COUNT_AND_TYPE = 9
_PRUNED = 8
_MATRIX = struct.Struct("<?2q")


def read_pickled(path: Path, wanted: Wanted, *, trust: bool) -> Rows:
    """Read KeyedVectors or a model that gensim saved, if the caller trusts the file."""
    if not trust:
        raise DataError(
            f"{path}: this is a pickle, as gensim's save() writes it, and opening a pickle runs "
            "whatever code its author put in. If you made the file or trust its source, pass "
            "trust=True."
        )
    from gensim.utils import SaveLoad

    try:
        model = SaveLoad.load(str(path))
        keyed = getattr(model, "wv", model)
        return wanted.select(list(keyed.index_to_key), keyed.vectors)
    except Exception as err:  # a pickle may raise anything
        raise DataError(f"{path}: gensim finds no word vectors in the file ({err}).") from err


def read_fasttext(
    path: Path, wanted: Wanted, *, subwords: tuple[str, ...], fallbacks: tuple[Fallback, ...]
) -> Rows:
    """Read a fastText model; `subwords` are words to compose from their n-grams if need be."""
    from gensim.models.fasttext import load_facebook_vectors

    with scratch_folder() as folder, ByteStream(path) as stream:
        plain = path
        if stream.compressed:  # gensim would read the compressed bytes as numbers
            plain = folder / "model.bin"
            with plain.open("wb") as target:
                shutil.copyfileobj(cast(IO[bytes], stream), target, 1 << 20)
        _check_complete(path, plain)
        try:
            keyed = load_facebook_vectors(str(plain))
        except Exception as err:  # gensim checks little of what it reads
            _refuse(path, f"{type(err).__name__}: {err}")
    if not subwords:
        return wanted.select(list(keyed.index_to_key), keyed.vectors)
    words = []
    for word in dict.fromkeys(subwords):
        forms = (s for s in candidates(word, fallbacks) if s in keyed.key_to_index)
        words.append(next(forms, word))
    composed = sum(word not in keyed.key_to_index for word in words)
    vectors = np.array([keyed.get_vector(word) for word in words], dtype=np.float32)
    notes = [f"{composed} of {len(words)} words composed from subwords"] if composed else []
    ranks = np.array([keyed.key_to_index.get(word, -1) + 1 for word in words], dtype=np.int64)
    return Rows(words, vectors, notes, ranks)


def _check_complete(path: Path, plain: Path) -> None:
    """Walk the dictionary of a fastText model; gensim itself waits for ever on a truncated one."""
    with plain.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            dim = _HEAD.unpack_from(data, 0)[_DIMENSION]
            place = _HEAD.size
            size, _, _, _, pruned = _DICTIONARY.unpack_from(data, place)
            place += _DICTIONARY.size
            if dim <= 0 or size <= 0:
                _refuse(path, f"{size:,} words of {dim:,} dimensions")
            for _ in range(size):
                end = data.find(b"\0", place)
                if end < 0:
                    _refuse(path, f"the dictionary of {size:,} words ends early")
                place = end + 1 + _COUNT_AND_TYPE
            place += _PRUNED * max(pruned, 0)
            quantised, rows, columns = _MATRIX.unpack_from(data, place)
        except (struct.error, OverflowError):
            _refuse(path, "it ends before the matrix of vectors")
        if quantised:
            _refuse(path, "it is quantised")
        if columns != dim or rows < size or 4 * rows * columns > len(data) - place - _MATRIX.size:
            _refuse(path, f"it has no room for {rows:,} × {columns:,} values")


def _refuse(path: Path, reason: str) -> NoReturn:
    raise DataError(
        f"{path}: gensim cannot read this fastText model ({reason}); it may be truncated or "
        "damaged: download it again. Quantised models (.ftz) are not supported."
    )
