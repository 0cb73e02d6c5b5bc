"""The columns of a distance table, and the checks that every table passes.

One row is one protected word, one attribute and one embedding, with the cosine distance between
the two words and the kind of their connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias._core.constants import CONNECTIONS, CONTROL_CONNECTIONS, COVARIATES
from bayesbias._core.validation import one_of
from bayesbias._core.wording import counted, did_you_mean, kind_of, quoted
from bayesbias.errors import DataError, SpecError, warn

#: The columns of every table, in order. The first six are those of the authors' own files.
COLUMNS = (
    "protected_word",
    "word_to_compare",
    "word_class",
    "cosine_distance",
    "cosine_similarity",
    "connection",
    "protected_group",
    "embedding",
)
_REQUIRED = ("protected_word", "word_to_compare", "word_class", "cosine_distance", "connection")
#: The columns of words, which are kept as categories.
TEXT_COLUMNS = tuple(name for name in COLUMNS if not name.startswith("cosine"))
_PAIR = ["embedding", "protected_word", "word_to_compare"]
_UNKNOWN_GROUP = "unknown"
_STEREOTYPE = "_stereotype"

# Rounding may put a distance this far outside [0, 2]; more is a fault.
_TOLERANCE = 1e-6
#: A number as spreadsheets write it in many languages.
_DECIMAL_COMMA = r"-?\d+,\d+"

# Where a table records that its duplicated rows are kept.
_RECORD = "duplicates"

#: What to do with duplicated rows.
Duplicates: TypeAlias = Literal["drop", "keep"]


def check_table(table: pd.DataFrame, *, duplicates: Duplicates | None = None) -> pd.DataFrame:
    """Return a table with the columns, types and categories that everything else relies on.

    Parameters
    ----------
    table : DataFrame
        At least the columns ``protected_word``, ``word_to_compare``, ``word_class``,
        ``cosine_distance`` and ``connection``. ``neutral`` is read as the connection ``none``.
        Without ``protected_group`` the group of a word is taken from the class of its associated
        attributes, and a word without any is in the group ``unknown``; without ``embedding`` it is
        one. In the authors' control tables, the words compared are controls themselves, and
        ``connection`` is their kind: it names their group.
    duplicates : {"drop", "keep"}, optional
        What to do with duplicated rows: leave them out, or keep them and count each. By default as
        recorded with the table, else ``"drop"``. ``"keep"`` is recorded in
        ``attrs["duplicates"]`` of the table returned, and all functions that take it follow.

    Returns
    -------
    DataFrame
        A new frame; `table` is not changed. Further columns come last, as they are; any of them
        that holds numbers can be a covariate.

    Raises
    ------
    DataError
        If a column is missing or holds something else than it should.

    Warns
    -----
    BayesBiasWarning
        If duplicated rows are left out, or the group of a word is not known.

    Examples
    --------
    >>> import bayesbias as bb
    >>> import pandas as pd
    >>> bb.check_table(pd.DataFrame({"protected_word": ["he"], "word_to_compare": ["nurse"],
    ...     "word_class": ["woman_stereotype"], "cosine_distance": [2.4],
    ...     "connection": ["different"]}))
    Traceback (most recent call last):
    ...
    bayesbias.errors.DataError: 'cosine_distance' is 2.4 in row 0 ('he', 'nurse'); expected a
    number from 0 to 2. Is it a similarity, or not cosine at all?
    """
    if duplicates is not None:
        one_of("duplicates", duplicates, ["drop", "keep"])
    check_columns(table)
    attrs = dict(table.attrs)
    recorded = attrs.pop(_RECORD, "drop")
    if duplicates is None:
        one_of(f"attrs[{_RECORD!r}]", recorded, ["drop", "keep"])
        duplicates = recorded
    result = table.reset_index(drop=True)
    for name in [n for n in COLUMNS if n in result.columns]:
        _no_gaps(result, name)
    result["cosine_distance"] = _distances(result)
    similarity = 1.0 - result["cosine_distance"].to_numpy()
    if "cosine_similarity" in result.columns:
        similarity = _checked_similarity(result, similarity)
    result["cosine_similarity"] = similarity
    result["connection"] = _connections(result["connection"])
    if "protected_group" not in result.columns:
        result["protected_group"] = _infer_groups(result)
    if "embedding" not in result.columns:
        result["embedding"] = "embedding"
    for name in TEXT_COLUMNS:
        result[name] = _as_categories(result[name], CONNECTIONS if name == "connection" else None)
    _check_one_group(result)
    if duplicates == "drop":
        result = _without_duplicates(result)
    result = result[[*COLUMNS, *(name for name in result.columns if name not in COLUMNS)]]
    result.attrs = attrs | ({_RECORD: duplicates} if duplicates == "keep" else {})
    return result


def covariate_values(
    table: pd.DataFrame, name: str, *, what: str = "the table", user: str = ""
) -> npt.NDArray[np.float64]:
    """Return a numeric column of a table as it is used in a model; a gap in it is refused.

    Parameters
    ----------
    table : DataFrame
        A distance table.
    name : str
        The column.
    what : str, default "the table"
        What a message calls the table.
    user : str, default ""
        The model that has a slope for the column, for a message.

    Raises
    ------
    SpecError
        If there is no such column, or it has another role.
    DataError
        If the column does not hold numbers, or one of them is NaN or infinite; the row is named.
    """
    names = [str(column) for column in table.columns if column not in COLUMNS]
    if name not in names:
        numeric = [n for n in names if pd.api.types.is_numeric_dtype(table[n])]
        slope = f", for which model {user!r} has a slope" if user else ""
        built = name if name in COVARIATES else COVARIATES[0]
        raise SpecError(
            f"{what} has no covariate {name!r}{slope}; its other numeric columns are "
            f"{quoted(numeric, 12) or 'none'}.{did_you_mean(name, [*numeric, *COVARIATES])} "
            f"Build it with distance_table(..., covariates=[{built!r}]), or add a column of "
            "numbers."
        )
    if names.count(name) > 1:
        raise DataError(f"the table has the column {name!r} more than once; remove one.")
    column = table[name]
    if not pd.api.types.is_numeric_dtype(column) or column.dtype.kind == "c":
        raise DataError(f"the covariate {name!r} is of the type {column.dtype}; expected numbers.")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise DataError(
            f"the covariate {name!r} is {values[bad[0]]} in {_row(table, bad[0])}, and not a "
            f"finite number in {bad.size:,} of {len(values):,} rows; fill these in or remove them."
        )
    return values


def category_type(names: Iterable[str]) -> pd.CategoricalDtype:
    """Return the type of a column with these names."""
    return pd.CategoricalDtype(pd.Index(list(names), dtype="str"))


def category_codes(levels: pd.CategoricalDtype, values: Sequence[str]) -> npt.NDArray[np.integer]:
    """Return the place of each value, in the small integers that pandas keeps such codes in."""
    codes = levels.categories.get_indexer(pd.Index(list(values), dtype="str"))
    small = np.min_scalar_type(-len(levels.categories))
    return codes.astype(small)


def categorical(codes: npt.NDArray[np.integer], levels: pd.CategoricalDtype) -> pd.Categorical:
    """Return a column by the places of its values among the levels."""
    return pd.Categorical.from_codes(codes, dtype=levels)


def _as_categories(
    column: pd.Series[Any], categories: Iterable[str] | None = None
) -> pd.Series[Any]:
    """Make a column categorical, by default with the categories in the order they appear."""
    if isinstance(column.dtype, pd.CategoricalDtype) and _all_text(column):
        # Without the cost of a string for each row.
        used = column.cat.remove_unused_categories()
        names = used.cat.categories if categories is None else categories
        return used.cat.set_categories(pd.Index(list(names), dtype="str"))
    text = column.astype("str")
    return text.astype(category_type(pd.unique(text) if categories is None else categories))


def _all_text(column: pd.Series[Any]) -> bool:
    return all(isinstance(name, str) for name in column.cat.categories)


def _distinct(column: pd.Series[Any]) -> list[str]:
    return [str(value) for value in pd.unique(column)]


def check_columns(table: pd.DataFrame) -> None:
    """Refuse a table that lacks a column or has one twice, or has no rows."""
    if not isinstance(table, pd.DataFrame):
        raise SpecError(
            f"the table is {kind_of(table)}; expected a pandas DataFrame, as distance_table() "
            "returns it; read_table(path) reads it from a file."
        )
    names = [str(name) for name in table.columns]
    for name in _REQUIRED:
        if name not in names:
            raise DataError(
                f"the table has no column {name!r}; it has {quoted(names, 12)}."
                f"{_hint_of_missing(name, table) or did_you_mean(name, names)}"
            )
    for name in COLUMNS:
        if names.count(name) > 1:
            raise DataError(f"the table has the column {name!r} more than once; remove one.")
    if table.empty:
        raise DataError("the table has no rows.")


def _hint_of_missing(name: str, table: pd.DataFrame) -> str:
    """Return where a column that is missing may be, for a message."""
    if name in table.index.names:
        return " It is the index: use table.reset_index()."
    if any(";" in str(column) for column in table.columns):
        return " The file has semicolons: read it with read_table(), or sep=';'."
    return ""


def _check_one_group(table: pd.DataFrame) -> None:
    pairs = table[["embedding", "protected_word", "protected_group"]].drop_duplicates()
    twice = np.flatnonzero(pairs.duplicated(["embedding", "protected_word"]))
    if twice.size:
        word = pairs["protected_word"].iloc[twice[0]]
        groups = pairs.loc[pairs["protected_word"] == word, "protected_group"]
        raise DataError(
            f"the protected word {word!r} is in the groups {quoted(pd.unique(groups))}; "
            "it can be in only one."
        )


def _no_gaps(table: pd.DataFrame, name: str) -> None:
    gaps = np.flatnonzero(table[name].isna())
    if gaps.size:
        raise DataError(
            f"{name!r} is missing in {counted(gaps.size, 'row')}, first in row {gaps[0]}; fill in "
            "or remove such rows."
        )


def _distances(table: pd.DataFrame) -> npt.NDArray[np.float64]:
    values = _numbers(table, "cosine_distance")
    bad = np.flatnonzero(~((values >= -_TOLERANCE) & (values <= 2 + _TOLERANCE)))
    if bad.size:
        raise DataError(
            f"'cosine_distance' is {values[bad[0]]} in {_row(table, bad[0])}; expected a number "
            "from 0 to 2. Is it a similarity, or not cosine at all?"
        )
    clipped: npt.NDArray[np.float64] = np.clip(values, 0.0, 2.0)
    return clipped


def _checked_similarity(
    table: pd.DataFrame, expected: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    given = _numbers(table, "cosine_similarity")
    bad = np.flatnonzero(~(np.abs(given - expected) < 1e-3))
    if bad.size:
        raise DataError(
            f"'cosine_similarity' is {given[bad[0]]} in {_row(table, bad[0])}; expected "
            f"1 − cosine_distance = {expected[bad[0]]:.6g}. Are the columns mixed up?"
        )
    clipped: npt.NDArray[np.float64] = np.clip(given, -1.0, 1.0)
    return clipped


def _numbers(table: pd.DataFrame, name: str) -> npt.NDArray[np.float64]:
    if table[name].dtype.kind not in "fiuO":
        raise DataError(f"{name!r} is of the type {table[name].dtype}; expected numbers.")
    try:
        return table[name].to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as err:
        # Text that is not UTF-8 arrives as bytes, which pandas does not turn into a string.
        commas = table[name].map(str).str.fullmatch(_DECIMAL_COMMA).any()
        hint = " Read the file with read_table(), or decimal=','." if commas else ""
        raise DataError(f"{name!r} holds something that is not a number: {err}.{hint}") from err


def _connections(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the connections, with ``none`` for ``neutral``; others are refused."""
    values = _distinct(column)
    accepted = (*CONNECTIONS, *CONTROL_CONNECTIONS)
    unknown = [value for value in values if value not in accepted]
    if unknown:
        raise DataError(
            f"'connection' contains {quoted(unknown)}; expected one of {quoted(CONNECTIONS)}."
            f"{did_you_mean(unknown[0], accepted)}"
        )
    if not any(value in CONTROL_CONNECTIONS and value not in CONNECTIONS for value in values):
        return column
    return column.astype("str").replace(CONTROL_CONNECTIONS)


def _row(table: pd.DataFrame, row: int) -> str:
    words = table[["protected_word", "word_to_compare"]].iloc[row]
    return f"row {row} ({', '.join(repr(str(word)) for word in words)})"


def _infer_groups(table: pd.DataFrame) -> pd.Series[Any]:
    """Name the group of a protected word after the class of its associated attributes.

    A word whose connection with stereotypes is that of a control is a control word itself.
    """
    associated = table.loc[table["connection"] == "associated", ["protected_word", "word_class"]]
    first = associated.drop_duplicates("protected_word").set_index("protected_word")["word_class"]
    groups = first.astype("str").str.removesuffix(_STEREOTYPE)
    kinds = {connection: kind for kind, connection in CONTROL_CONNECTIONS.items()}
    is_control = table["connection"].isin(list(kinds)) & table["word_class"].astype(
        "str"
    ).str.endswith(_STEREOTYPE)
    controls = table.loc[is_control].drop_duplicates("protected_word")
    of_word = dict(
        zip(
            controls["protected_word"], controls["connection"].astype("str").map(kinds), strict=True
        )
    )
    of_word |= groups.to_dict()
    words = table["protected_word"].astype("str")
    lost = [word for word in words.unique() if word not in of_word]
    if lost and of_word:
        warn(
            "the table has no column 'protected_group', so protected words without associated "
            f"attributes are in the group {_UNKNOWN_GROUP!r}: {quoted(lost)}"
        )
    return words.map(lambda word: of_word.get(word, _UNKNOWN_GROUP))


def _without_duplicates(table: pd.DataFrame) -> pd.DataFrame:
    again = table.duplicated(_PAIR)
    if not again.any():
        return table
    apart = {"cosine_similarity"}
    if table["connection"].isin(list(CONTROL_CONNECTIONS.values())).all():
        # Control words belong to no list, so it does not matter in which one they met an attribute.
        apart.add("word_class")
    same = table.duplicated([name for name in COLUMNS if name not in apart])
    if (again & ~same).any():
        row = int(np.flatnonzero(again & ~same)[0])
        raise DataError(
            f"the pair in {_row(table, row)} occurs twice with different values; several "
            "embeddings in one table need an 'embedding' column that distinguishes them, and a "
            "pair has one class and one connection."
        )
    warn(
        f"{int(same.sum()):,} of {len(table):,} rows are duplicates and were left out; to "
        "keep them, read the table with duplicates='keep'"
    )
    return table[~same].reset_index(drop=True)
