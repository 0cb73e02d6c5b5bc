"""JSON lines: one object per line, with a word and a list of numbers.

The fields are found by their types in the first line, so any names will do.
"""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

import numpy as np

from bayesbias._core.wording import quoted
from bayesbias.embeddings.formats.streams import (
    ByteStream,
    RowCollector,
    Rows,
    Wanted,
    open_for_writing,
)
from bayesbias.embeddings.formats.text_vectors import line_blocks
from bayesbias.errors import DataError

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding

#: What the field or column of words is called, where several hold text.
WORD_NAMES = ("word", "words", "token", "term", "key", "text", "label")
_VECTOR_NAMES = ("vector", "embedding", "values")


def is_json_object(head: bytes) -> bool:
    """Return whether a file begins with an object of JSON that is not an empty one."""
    line = head.removeprefix(codecs.BOM_UTF8).lstrip().partition(b"\n")[0]
    return line.startswith(b'{"') or line.rstrip() == b"{"


def read_json_lines(path: Path, wanted: Wanted) -> Rows:
    """Read one object per line; the first tells which fields are the word and the vector."""
    collector: RowCollector | None = None
    word_field = vector_field = ""
    dim = number = 0
    with ByteStream(path, progress=wanted.progress) as stream:
        for block in line_blocks(stream):
            words: list[str] = []
            vectors: list[list[float]] = []
            for raw in block.removesuffix(b"\n").split(b"\n"):
                number += 1
                line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
                if not line.strip():
                    continue
                entry = _parse(path, number, line)
                if collector is None:
                    word_field, vector_field = _fields(path, number, entry)
                    dim = len(entry[vector_field])
                    collector = RowCollector(dim, wanted)
                word, vector = entry.get(word_field), entry.get(vector_field)
                if not isinstance(word, str) or not _is_vector(vector) or len(vector) != dim:
                    _bad_entry(path, number, entry, word_field, vector_field, dim)
                words.append(word)
                vectors.append(vector)
                if collector.left is not None and len(words) >= collector.left:
                    break
            if collector is not None and words:
                collector.add(words, _as_matrix(path, words, vectors))
                if collector.left == 0:
                    break
    if collector is None:
        raise DataError(f"{path}: there are no vectors in the file.")
    return collector.finish([])


def write_json_lines(embedding: Embedding, path: Path) -> None:
    """Write one object per line, each value in the fewest digits that give it back."""
    with open_for_writing(path) as stream:
        for word, vector in zip(embedding.words, embedding.vectors, strict=True):
            # A float32 is printed shorter than the double of the same value.
            values = ", ".join(repr(float(str(value))) for value in vector)
            text = json.dumps(word, ensure_ascii=False)
            stream.write(f'{{"word": {text}, "vector": [{values}]}}\n'.encode())


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as err:
        raise DataError(
            f"{path}, line {number}: not an object of JSON ({err}); expected one object per line, "
            'such as {"word": "nurse", "vector": [0.1, 0.2]}.'
        ) from err
    if not isinstance(entry, dict):
        raise DataError(
            f"{path}, line {number}: {type(entry).__name__} instead of an object; expected one per "
            'line, such as {"word": "nurse", "vector": [0.1, 0.2]}.'
        )
    return entry


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"the value {name}")


def _is_vector(value: object) -> TypeGuard[list[float]]:
    return (
        isinstance(value, list)
        and bool(value)
        and all(type(number) is float or type(number) is int for number in value)
    )


def _fields(path: Path, number: int, entry: dict[str, Any]) -> tuple[str, str]:
    words = [name for name, value in entry.items() if isinstance(value, str)]
    vectors = [name for name, value in entry.items() if _is_vector(value)]
    words = choose_by_name(words, WORD_NAMES)
    vectors = choose_by_name(vectors, _VECTOR_NAMES)
    if len(words) == 1 and len(vectors) == 1:
        return words[0], vectors[0]
    kinds = [f"{name} ({type(value).__name__})" for name, value in entry.items()]
    raise DataError(
        f"{path}, line {number}: found the fields {quoted(kinds)}; expected one that holds text, "
        "the word, and one that holds a list of numbers, the vector. Of several, call them 'word' "
        "and 'vector'."
    )


def choose_by_name(names: list[str], known: tuple[str, ...]) -> list[str]:
    """Return the name that stands first among the known ones, or all if there is none."""
    for name in known:
        chosen = [each for each in names if each.lower() == name]
        if len(names) > 1 and len(chosen) == 1:
            return chosen
    return names


def _bad_entry(
    path: Path, number: int, entry: dict[str, Any], word_field: str, vector_field: str, dim: int
) -> NoReturn:
    word, vector = entry.get(word_field), entry.get(vector_field)
    if not isinstance(word, str):
        raise DataError(
            f"{path}, line {number}: the field {word_field!r} is {word!r}; expected the word, as "
            f"in the first line. The fields are {quoted(entry)}."
        )
    held = f"{len(vector)} values" if _is_vector(vector) else f"{type(vector).__name__}"
    raise DataError(
        f"{path}, line {number} ({word!r}): the field {vector_field!r} holds {held}"
        f"{'' if _is_vector(vector) else ', or what is not a number'}; expected {dim} numbers, as "
        "in the first line. Repair or remove the line."
    )


def _as_matrix(path: Path, words: list[str], vectors: list[list[float]]) -> np.ndarray[Any, Any]:
    try:
        return np.array(vectors, dtype=np.float64)
    except OverflowError as err:  # a whole number of hundreds of digits
        raise DataError(
            f"{path}: a value between the words {words[0]!r} and {words[-1]!r} is too large "
            f"({err}); repair or remove it."
        ) from err
