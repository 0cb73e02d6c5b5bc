"""Parquet files: a column of words with a column per dimension, or with one column of lists."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias._core.progress import progress_bar
from bayesbias._core.unpacked_sizes import check_unpacked
from bayesbias._core.wording import quoted, shortened
from bayesbias.embeddings.formats.json_lines import WORD_NAMES, choose_by_name
from bayesbias.embeddings.formats.streams import RowCollector, Rows, Wanted
from bayesbias.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

    from bayesbias.embeddings.embedding import Embedding

_BATCH_VALUES = 1 << 22
_BLOCK_ROWS = 8_192
_MOST_DIMENSIONS = 1_000_000


def read_parquet(path: Path, wanted: Wanted) -> Rows:
    """Read a Parquet file batch by batch, so that memory is needed for the kept rows alone."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            return _read(path, file, wanted)
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError) as err:
        raise DataError(
            f"{path}: the file is cut short or damaged ({err}); download or save it again."
        ) from err


def write_parquet(embedding: Embedding, path: Path) -> None:
    """Write a column ``word`` and a column ``vector`` of lists."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema(
        [("word", pa.string()), ("vector", pa.list_(pa.float32(), embedding.dim))],
    )
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, len(embedding), _BLOCK_ROWS):
            block = np.ascontiguousarray(embedding.vectors[start : start + _BLOCK_ROWS])
            words = pa.array(embedding.words[start : start + _BLOCK_ROWS], pa.string())
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(block.ravel()), embedding.dim)
            writer.write_table(pa.table([words, vectors], schema=schema))


def _read(path: Path, file: Any, wanted: Wanted) -> Rows:
    schema = file.schema_arrow
    word_column, value_columns, left_out = _columns(path, schema)
    dim = _check_size(path, file, word_column, value_columns)
    rows = file.metadata.num_rows
    if not rows:
        raise DataError(f"{path}: there are no vectors in the file.")
    collector: RowCollector | None = None
    with progress_bar(
        f"Reading {path.name}", total=rows, show=wanted.progress, unit="steps"
    ) as advance:
        batches = file.iter_batches(
            batch_size=max(1, min(_BLOCK_ROWS, _BATCH_VALUES // max(dim, 1))),
            columns=[word_column, *value_columns],
        )
        for batch in batches:
            words = batch.column(batch.schema.get_field_index(word_column)).to_pylist()
            start = 0 if collector is None else collector.seen
            if None in words:
                raise DataError(
                    f"{path}, row {start + words.index(None) + 1:,}: the column {word_column!r} "
                    "has no word there; repair or remove the row."
                )
            vectors = _vectors(path, batch, value_columns, words)
            if collector is None:
                collector = RowCollector(vectors.shape[1], wanted)
                dim = vectors.shape[1]
            if vectors.shape[1] != dim:
                _wrong_length(path, words[0], vectors.shape[1], dim)
            collector.add(words, vectors)
            advance(len(words))
            if collector.left == 0:
                break
    if collector is None:
        raise DataError(f"{path}: there are no vectors in the file.")
    notes = [f"columns left out, since they hold no real numbers: {quoted(left_out)}"]
    return collector.finish(notes if left_out else [])


def _columns(path: Path, schema: pa.Schema) -> tuple[str, list[str], list[str]]:
    """Return the column of words, those of values, and numbers that are not taken for values."""
    from pyarrow import types

    names = list(schema.names)
    kinds = dict(zip(names, schema.types, strict=True))
    words, lists, reals, whole = [], [], [], []
    for name, kind in kinds.items():
        if types.is_dictionary(kind):
            kind = kind.value_type
        if types.is_string(kind) or types.is_large_string(kind):
            words.append(name)
        elif (
            types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        ) and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)):
            lists.append(name)
        elif types.is_floating(kind):
            reals.append(name)
        elif types.is_integer(kind):
            whole.append(name)
    words = choose_by_name(words, WORD_NAMES)
    twice = len(kinds) < len(names)
    if len(words) == 1 and len(lists) == 1 and not twice:
        return words[0], lists, []
    if len(words) == 1 and not lists and (reals or whole) and not twice:
        # Counts and row numbers stand beside vectors; vectors of whole numbers alone are taken.
        return words[0], reals or whole, whole if reals else []
    found = [f"{name!r} ({kind})" for name, kind in zip(names, schema.types, strict=True)]
    raise DataError(
        f"{path}: found the columns {shortened(found)}; expected one column of words (call it "
        "'word' if several hold text) and either columns of numbers or one column of lists of "
        "numbers."
    )


def _check_size(path: Path, file: Any, word_column: str, value_columns: list[str]) -> int:
    """Refuse a file that would fill the memory; return the number of values per row."""
    from pyarrow import types

    metadata = file.metadata
    rows = metadata.num_rows
    unpacked = sum(
        metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)
    )
    kind = file.schema_arrow.field(value_columns[0]).type
    if types.is_fixed_size_list(kind):
        dim = int(kind.list_size)
    elif types.is_nested(kind):
        dim = -(-_count_values(file, value_columns[0]) // max(rows, 1))
    else:
        dim = len(value_columns)
    size = path.stat().st_size
    # Repeated values are kept as one in the file, so both sizes are looked at.
    needed = max(unpacked, 4 * rows * dim, rows)
    check_unpacked(str(path), size, needed)
    if dim > _MOST_DIMENSIONS:
        raise DataError(
            f"{path}: rows of {dim:,} numbers, which word vectors never have; the file is damaged."
        )
    return dim


def _count_values(file: Any, list_column: str) -> int:
    """Return how many values all lists of a column have, without unpacking them at once."""
    # A damaged description of a column ends the process when it is looked at; the scan, which
    # needs little memory, finds it first and raises.
    file.scan_contents(columns=[list_column])
    metadata = file.metadata
    return sum(
        metadata.row_group(group).column(column).num_values
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
        if metadata.schema.column(column).path.startswith(list_column + ".")
    )


def _vectors(
    path: Path, batch: pa.RecordBatch, value_columns: list[str], words: list[str]
) -> npt.NDArray[np.float64]:
    from pyarrow import types

    columns = [batch.column(batch.schema.get_field_index(name)) for name in value_columns]
    for name, column in zip(value_columns, columns, strict=True):
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise DataError(
                f"{path}: the vector of {words[row]!r} has no value in the column {name!r}; "
                "repair or remove the row."
            )
    if not types.is_nested(columns[0].type):
        return np.column_stack(
            [column.to_numpy(zero_copy_only=False).astype(np.float64) for column in columns]
        )
    lists = columns[0]
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
    dim = int(lengths[0]) if len(lengths) else 0
    if (lengths != dim).any() or not dim:
        row = int(np.flatnonzero((lengths != dim) | (lengths == 0))[0])
        _wrong_length(path, words[row], int(lengths[row]), dim)
    flat = lists.flatten()
    if flat.null_count:
        place = int(np.flatnonzero(flat.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(
            f"{path}: the vector of {words[place // dim]!r} has an empty value; repair or remove "
            "the row."
        )
    values: npt.NDArray[np.float64] = flat.to_numpy(zero_copy_only=False).astype(np.float64)
    return values.reshape(len(words), dim)


def _wrong_length(path: Path, word: str, length: int, dim: int) -> None:
    raise DataError(
        f"{path}: the vector of {word!r} has {length} values, others have {dim}; each word needs "
        "the same number, at least one. Repair or remove the row."
    )
