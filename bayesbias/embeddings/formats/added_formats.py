"""Formats that installed packages add."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesbias._core.plugins import Registry
from bayesbias.embeddings.formats.streams import Rows, Wanted
from bayesbias.errors import BayesBiasError, DataError, SpecError

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding


@dataclass(frozen=True)
class FileFormat:
    """A format of embedding files that a package adds.

    An entry point of the group ``bayesbias.formats`` names it; `load_embedding` and
    `Embedding.save` then know its suffixes, and its name as ``format=``.

    Parameters
    ----------
    name : str
        What ``format=`` takes.
    suffixes : tuple of str
        The suffixes of such files, with the dot.
    read : callable
        Takes a path; returns the words and their vectors, one row each.
    write : callable, optional
        Takes an embedding and a path. Without it such files can only be read.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.embeddings.FileFormat("lines", (".lines",), read=lambda path: (["a"], [[1.0]]))
    FileFormat(name='lines', suffixes=('.lines',))
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path], tuple[Iterable[str], npt.ArrayLike]]
    write: Callable[[Embedding, Path], None] | None = None

    def __repr__(self) -> str:
        return f"FileFormat(name={self.name!r}, suffixes={self.suffixes!r})"


def _checked(added: object) -> tuple[str, FileFormat]:
    if not isinstance(added, FileFormat):
        raise SpecError(f"it is {added!r}; expected a FileFormat.")
    if not added.suffixes or not all(s.startswith(".") for s in added.suffixes):
        raise SpecError(f"its suffixes are {added.suffixes!r}; expected such as ('.vectors',).")
    return added.name, added


#: The formats that installed packages add, by name.
ADDED_FORMATS: Registry[FileFormat] = Registry("bayesbias.formats", {}, _checked)


def added_by_suffix(suffix: str) -> FileFormat | None:
    """Return the format that a package adds for a suffix."""
    return next((each for each in ADDED_FORMATS.values() if suffix in each.suffixes), None)


def read_added(kind: str, path: Path, wanted: Wanted) -> Rows:
    """Read a file in a format that a package adds, and check what the package made of it."""
    try:
        given, matrix = ADDED_FORMATS[kind].read(path)
        words = [str(word) for word in given]
        vectors = np.asarray(matrix, dtype=np.float32)
    except BayesBiasError:
        raise
    except Exception as err:
        raise DataError(
            f"{path}: the reader of the format {kind!r} failed: {type(err).__name__}: {err}"
        ) from err
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise DataError(
            f"{path}: the reader of the format {kind!r} returned {len(words)} words and vectors of "
            f"shape {vectors.shape}; expected one row per word."
        )
    return wanted.select(words, vectors)
