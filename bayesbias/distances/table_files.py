"""Reading and writing distance tables, also those of the original study."""

from __future__ import annotations

import re
from csv import QUOTE_MINIMAL, QUOTE_NONNUMERIC
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import csv, parquet

from bayesbias._core.downloads import fetch
from bayesbias._core.files import (
    atomic,
    check_folder,
    column_separator,
    missing_file_hint,
    refuse_spreadsheet,
)
from bayesbias._core.remote_files import REMOTE_FILES, remote_names
from bayesbias._core.spreadsheets import escape_formulas
from bayesbias._core.unpacked_sizes import CheckedGzip, check_unpacked
from bayesbias._core.validation import true_or_false
from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.distances.schema import TEXT_COLUMNS, Duplicates, check_columns, check_table
from bayesbias.errors import DataError, NotFoundError, SpecError

# In the authors' files a word that the embedding lacks has this for its distance.
_MISSING = -100
#: The longest line of names that is read to find what separates the columns, in bytes.
_LONGEST_HEADER = 1 << 16
_READ_SUFFIXES = (".csv", ".csv.gz", ".parquet")


def read_table(path: str | PathLike[str], *, duplicates: Duplicates | None = None) -> pd.DataFrame:
    """Read a distance table, ours or one of the original study.

    Parameters
    ----------
    path : path-like
        A ``.csv``, ``.csv.gz`` or ``.parquet`` file. A file with semicolons between the columns
        and decimal commas, as spreadsheets write it in many languages, is read as well. The files
        of Dobrzeniecka (2021) are read as they are: an unnamed index column is dropped, rows with
        −100 for a missing word are left out and named in ``table.attrs["missing"]``, camelCase
        column names are accepted, and ``neutral`` stands for the connection ``none``, as in their
        control tables.
    duplicates : {"drop", "keep"}, optional
        What to do with duplicated rows, as in the authors' race tables: leave them out, or keep
        them and count each. ``"keep"`` is recorded in ``table.attrs["duplicates"]``, so that
        models, metrics and figures of this table, and of rows chosen from it, keep them as well. By
        default as recorded in a ``.parquet`` file, else ``"drop"``.

    Returns
    -------
    DataFrame
        The table, checked by `check_table`; the embedding is named after the file if it has no
        such column.

    Raises
    ------
    NotFoundError
        If there is no such file.
    DataError
        If the file is not such a table; the message names the column or row.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("weat_7"))
    >>> with TemporaryDirectory() as folder:
    ...     bb.write_table(table, Path(folder) / "table.csv")
    ...     again = bb.read_table(Path(folder) / "table.csv")
    >>> again.shape
    (5232, 8)
    """
    source = Path(path)
    if not source.is_file():
        raise NotFoundError(f"there is no file {str(source)!r}.{missing_file_hint(source)}")
    refuse_spreadsheet(source)
    try:
        raw = _read_file(source)
        raw = raw.loc[:, [not re.fullmatch(r"(Unnamed: \d+)?", str(c)) for c in raw.columns]]
        raw = raw.rename(columns=_snake_case)
        check_columns(raw)
        if "embedding" not in raw.columns:
            raw = raw.assign(embedding=source.name.split(".")[0])
        return check_table(_without_missing(raw), duplicates=duplicates)
    except DataError as err:
        raise DataError(f"{source}: {err}") from err
    except (TypeError, KeyError, AttributeError, NotImplementedError, pa.ArrowException) as err:
        # Columns of dates, lists or bytes, which no distance table has.
        raise DataError(f"{source}: not a distance table ({type(err).__name__}: {err}).") from err


def load_table(
    name: str, *, duplicates: Duplicates | None = None, progress: bool = True
) -> pd.DataFrame:
    """Load a table of the original authors by its name; it is downloaded when it is first used.

    Parameters
    ----------
    name : str
        ``religion``, ``gender`` or ``race``, with the embedding: ``-reddit``, ``-google`` or
        ``-reddit-debiased``, such as ``"religion-reddit"``; ``control-reddit`` and
        ``control-google``, whose words are controls; of the follow-up ``religion-reddit-2024``,
        ``-google-2024`` and ``-glove-2024``, and those that end with ``-reddit-debiased-2024``.
    duplicates : {"drop", "keep"}, optional
        What to do with duplicated rows, as in `read_table`.
    progress : bool, default True
        Show a progress bar while it is downloaded.

    Returns
    -------
    DataFrame
        The table, as `read_table` returns it.

    Raises
    ------
    NotFoundError
        If there is no such table.
    DataError
        If it cannot be downloaded; the message says what to do without a network.

    References
    ----------
    Dobrzeniecka, Urbaniak (2024), doi:10.1162/coli_a_00507.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.load_table("religion-redit")
    Traceback (most recent call last):
    ...
    bayesbias.errors.NotFoundError: there is no table 'religion-redit'. Did you mean
    'religion-reddit'? A file is read by read_table().
    """
    names = remote_names("table")
    if name not in names:
        raise NotFoundError(
            f"there is no table {str(name)!r}.{did_you_mean(name, names)} A file is read by "
            "read_table()."
        )
    return read_table(fetch(REMOTE_FILES[name], progress=progress), duplicates=duplicates)


def write_table(
    table: pd.DataFrame, path: str | PathLike[str], *, spreadsheet_safe: bool = False
) -> None:
    """Write a distance table; nothing is left half-written.

    Parameters
    ----------
    table : DataFrame
        The table.
    path : path-like
        A ``.csv``, ``.csv.gz`` or ``.parquet`` file.
    spreadsheet_safe : bool, default False
        Whether to put an apostrophe before words that begin with ``=``, ``+``, ``-`` or ``@``, for
        files that are opened with a spreadsheet, which would compute them; words of embeddings may
        come from anywhere. `read_table` reads such a word with its apostrophe.

    Raises
    ------
    SpecError
        If the suffix is another, or `spreadsheet_safe` is asked for in a ``.parquet`` file.
    DataError
        If it is not a distance table, or the file cannot be written.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("weat_7"))
    >>> with TemporaryDirectory() as folder:
    ...     bb.write_table(table, Path(folder) / "table.parquet")
    ...     print([path.name for path in Path(folder).iterdir()])
    ['table.parquet']
    """
    target = Path(path)
    suffix = writable_table(target)
    if true_or_false("spreadsheet_safe", spreadsheet_safe) and suffix == ".parquet":
        raise SpecError(f"{target}: 'spreadsheet_safe' is for .csv files; leave it out.")
    checked = check_table(table, duplicates="keep")
    # All rows are written; only the caller decides whether duplicates are kept when they are read.
    checked.attrs = dict(table.attrs)
    with atomic(target) as (temporary,):
        if suffix == ".parquet":
            checked.to_parquet(temporary, index=False)
        else:
            compression: Any = {"method": "gzip", "mtime": 0} if suffix == ".csv.gz" else None
            # pandas quotes a line feed by itself, but not a carriage return.
            odd = any(
                "\r" in word for name in TEXT_COLUMNS for word in checked[name].cat.categories
            )
            quoting: Any = QUOTE_NONNUMERIC if odd else QUOTE_MINIMAL
            written = escape_formulas(checked) if spreadsheet_safe else checked
            written.to_csv(temporary, index=False, compression=compression, quoting=quoting)


def writable_table(target: Path) -> str:
    """Return the kind of file to write a table to, or refuse it before any work is done."""
    suffix = _suffix(target)
    check_folder(target)
    return suffix


def _read_file(path: Path) -> pd.DataFrame:
    suffix = _suffix(path)
    try:
        if suffix == ".parquet":
            with parquet.ParquetFile(path) as file:
                head = file.metadata
                # One repeated value takes no space in the file.
                needed = 8 * head.num_rows * head.num_columns
                check_unpacked("the table", path.stat().st_size, needed)
            return pd.read_parquet(path)
        # Arrow reads every digit, and does not take words such as "none", "true" or "7" for
        # anything but words; only an empty cell is a gap.
        camel = {re.sub("_([a-z])", lambda m: m[1].upper(), name) for name in TEXT_COLUMNS}
        with path.open("rb") as raw:
            stream = CheckedGzip(raw, "the table") if suffix == ".csv.gz" else raw
            comma = column_separator(stream.readline(_LONGEST_HEADER).decode("latin-1"))
            stream.seek(0)
            options = csv.ConvertOptions(
                column_types=dict.fromkeys([*TEXT_COLUMNS, *camel], pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                decimal_point="," if comma == ";" else ".",
            )
            parsing = csv.ParseOptions(newlines_in_values=True, delimiter=comma)
            read = csv.read_csv(stream, parse_options=parsing, convert_options=options)
        frame: pd.DataFrame = read.to_pandas()
        return frame
    except DataError:
        raise
    # Arrow and pandas raise errors of many kinds for damaged files.
    except Exception as err:
        first = str(err).splitlines()[0] if str(err) else type(err).__name__
        raise DataError(f"cannot be read as {suffix} ({first}).") from err


def _suffix(path: Path) -> str:
    for suffix in _READ_SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    raise SpecError(f"{path}: a table must be a file of one of the kinds {quoted(_READ_SUFFIXES)}.")


def _snake_case(name: object) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda m: f"_{m[1]}", str(name).strip()).lower()


def _without_missing(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out the rows that stand for a word the embedding lacks, and name those words."""
    lost = table["cosine_distance"] == _MISSING
    if lost.all():
        raise DataError("every row stands for a missing word (−100); there is nothing to read.")
    result = table[~lost]
    if lost.any():
        result.attrs["missing"] = {
            str(name): _lost_words(rows, lost[rows.index])
            for name, rows in table.groupby("embedding", sort=False, observed=True)
        }
    return result


def _lost_words(table: pd.DataFrame, lost: pd.Series[bool]) -> dict[str, list[str]]:
    """Return the words, protected or compared to, all of whose rows are lost."""
    missing: dict[str, list[str]] = {}
    for column in ("protected_word", "word_to_compare"):
        gone = lost.groupby(table[column].astype("str"), sort=False).all()
        if gone.any():
            missing[column] = [str(word) for word in gone.index[gone]]
    return missing
