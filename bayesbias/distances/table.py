"""The long-format distance table: build, check, read, write.

One row is one protected word, one attribute and one embedding, with the cosine distance between
the two words and the kind of their connection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from csv import QUOTE_MINIMAL, QUOTE_NONNUMERIC
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from bayesbias._core.constants import (
    CONNECTIONS,
    CONTROL_CONNECTIONS,
    DEFAULT_FALLBACKS,
    LOST_VOCABULARY_THRESHOLD,
)
from bayesbias._core.files import atomic, check_folder
from bayesbias._core.validation import one_of, share
from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.distances.covariates import CovariatePlan, Side, is_protected
from bayesbias.embeddings import Embedding, Matching, as_embeddings, unit_vectors
from bayesbias.embeddings.matching import check_fallbacks
from bayesbias.errors import DataError, NotFoundError, SpecError, VocabularyError, warn
from bayesbias.wordlists.frequencies import Frequencies, Unknown
from bayesbias.wordlists.study import Attribute, Study

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
_CATEGORIES = tuple(name for name in COLUMNS if not name.startswith("cosine"))
_PAIR = ["embedding", "protected_word", "word_to_compare"]
_UNKNOWN_GROUP = "unknown"

# In the authors' files a word that the embedding lacks has this for its distance.
_MISSING = -100
# Rounding may put a distance this far outside [0, 2]; more is a fault.
_TOLERANCE = 1e-6
_READ_SUFFIXES = (".csv", ".csv.gz", ".parquet")


#: What to do with duplicated rows.
Duplicates: TypeAlias = Literal["drop", "keep"]


def distance_table(
    embeddings: Embedding | Iterable[Embedding],
    study: Study,
    *,
    fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
    lost_vocabulary_threshold: float = LOST_VOCABULARY_THRESHOLD,
    covariates: Iterable[str] = (),
    frequencies: Frequencies = "rank",
    unknown_frequency: Unknown = "error",
) -> pd.DataFrame:
    """Build the table of cosine distances between protected words and attributes.

    A distance is 1 − cosine, from 0 (same direction) over 1 (unrelated) to 2 (opposite). The
    connection of a row is ``associated`` if the attribute is a stereotype of the word's own group,
    ``different`` if of another group, ``human`` or ``none`` if it is a human or neutral control.

    Parameters
    ----------
    embeddings : Embedding or iterable of Embedding
        Where the vectors are from; several need different names.
    study : Study
        Protected words, stereotypes and controls.
    fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
        Forms of a word to try, as in `Matching`.
    lost_vocabulary_threshold : float, default 0.2
        The share of any one word set that an embedding may lack.
    covariates : iterable of str, optional
        Numeric columns to add: ``log_frequency`` and ``norm`` of the attribute,
        ``protected_log_frequency`` and ``protected_norm`` of the protected word. A norm is the
        Euclidean length of a vector.
    frequencies : str, path-like, corpus, DataFrame or mapping, default "rank"
        Where frequencies are from. ``"rank"`` is the order of the embedding's own vocabulary, most
        frequent word first as in the files of GloVe, word2vec and fastText: the log frequency is
        then −log(rank), with the rank in the whole vocabulary (`Embedding.ranks`). Only
        differences matter, and by Zipf's law those of −log(rank) are about proportional to those
        of the log frequency. Otherwise a corpus (`read_corpus`), a table with the columns
        ``word`` and ``count`` or ``frequency``, such a table as a ``.csv`` or ``.tsv`` file, a
        dictionary, or ``"wordfreq"``, ``"wordfreq:de"`` for another language (extra
        ``frequency``); the log
        frequency is then the natural logarithm of what is found there.
    unknown_frequency : {"error", "lowest"}, default "error"
        What to do about a word without a frequency: refuse it, or count it as half the smallest
        frequency that the source knows.

    Returns
    -------
    DataFrame
        One row per embedding, protected word and attribute, in the order of the study, with the
        columns ``protected_word``, ``word_to_compare``, ``word_class``, ``cosine_distance``,
        ``cosine_similarity``, ``connection``, ``protected_group`` and ``embedding``, then the
        covariates. ``table.attrs["missing"]`` names, by embedding and set, the words that were
        lost; ``table.attrs["covariates"]`` says of each covariate what it is.

    Raises
    ------
    VocabularyError
        If more of a set is lost than the threshold allows, or a whole set.
    DataError
        If a word has a zero vector, two words with different roles are one in the embedding, words
        have no frequency, or frequencies are to be taken from the order of a vocabulary that is
        plainly in another order, such as the alphabet's.
    MissingDependencyError
        If frequencies are to be those of wordfreq, and it is not installed.

    Warns
    -----
    BayesBiasWarning
        If words are lost, two words of a set are one in the embedding, or it cannot be checked
        that the most frequent words of a vocabulary come first.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.Embedding(
    ...     ["he", "she", "engineer", "nurse", "clock"],
    ...     [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.6, 0.8], [-0.6, 0.8]],
    ... )
    >>> study = bb.Study("jobs", {"man": ["he"], "woman": ["she"]},
    ...                  {"man": ["engineer"], "woman": ["nurse"]}, {"neutral": ["clock"]})
    >>> table = bb.distance_table(emb, study)
    >>> table[["protected_word", "word_to_compare", "cosine_distance", "connection"]].round(2)
      protected_word word_to_compare  cosine_distance  connection
    0             he        engineer              0.2  associated
    1             he           nurse              0.4   different
    2             he           clock              1.6        none
    3            she        engineer              0.4   different
    4            she           nurse              0.2  associated
    5            she           clock              0.2        none

    With the frequencies of the attributes:

    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("weat_7"),
    ...                           covariates=["log_frequency", "norm"])
    >>> table[["word_to_compare", "log_frequency", "norm"]].head(3).round(2)
      word_to_compare  log_frequency  norm
    0            male          -7.75  5.48
    1             man          -5.71  5.24
    2             boy          -7.38  5.24
    """
    several = as_embeddings(embeddings)
    if not isinstance(study, Study):
        raise SpecError(
            f"'study' is {type(study).__name__}; expected a Study: load_study('religion')."
        )
    ways = check_fallbacks(fallbacks)
    threshold = share("lost_vocabulary_threshold", lost_vocabulary_threshold)
    plan = CovariatePlan(covariates, frequencies, unknown_frequency, ways)
    for embedding in several:
        plan.check(embedding)
    chosen = [_choose(embedding, study, ways, threshold) for embedding in several]
    levels = _levels(study, [embedding.name for embedding in several], chosen)
    frames = [
        _frame(embedding, study, words, levels, plan)
        for embedding, words in zip(several, chosen, strict=True)
    ]
    table = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    table.attrs["missing"] = {e.name: w.missing for e, w in zip(several, chosen, strict=True)}
    table.attrs["study"] = study.name
    if plan.names:
        table.attrs["covariates"] = plan.describe()
    return table


class _Chosen:
    """The words of a study that an embedding has, and their rows."""

    def __init__(self) -> None:
        self.protected: list[str] = []
        self.protected_rows: list[int] = []
        self.attributes: list[Attribute] = []
        self.attribute_rows: list[int] = []
        self.missing: dict[str, list[str]] = {}
        self.same: list[str] = []


def _choose(
    embedding: Embedding, study: Study, fallbacks: tuple[str, ...], threshold: float
) -> _Chosen:
    """Look every word of the study up, and refuse an embedding that lacks too many."""
    chosen = _Chosen()
    attributes = {attribute.word: attribute for attribute in study.attributes}
    role: dict[int, tuple[str, str]] = {}
    too_many = []
    for label, words in study.word_sets().items():
        found = embedding.match(words, Matching(fallbacks))
        if found.missing:
            chosen.missing[label] = list(found.missing)
            lost = len(found.missing) / len(words)
            if lost > threshold or not found.found:
                too_many.append(
                    f"{label!r} loses {len(found.missing)} of {len(words)} "
                    f"({quoted(found.missing, 5)})"
                )
        for word, row in zip(found.found, found.rows.tolist(), strict=True):
            if row in role:
                other, other_label = role[row]
                if label != other_label:
                    raise DataError(
                        f"embedding {embedding.name!r}: {word!r} of {label!r} and {other!r} of "
                        f"{other_label!r} are the same word {embedding.words[row]!r} there; "
                        "remove one of them from the study."
                    )
                chosen.same.append(f"{word!r} is {other!r}")
                continue
            role[row] = (word, label)
            if word in attributes:
                chosen.attributes.append(attributes[word])
                chosen.attribute_rows.append(row)
            else:
                chosen.protected.append(word)
                chosen.protected_rows.append(row)
    if too_many:
        raise VocabularyError(
            f"embedding {embedding.name!r} lacks more than {threshold:.0%} of a word set: "
            f"{'; '.join(too_many)}. Use an embedding with these words, other fallbacks, or a "
            "higher lost_vocabulary_threshold."
        )
    if chosen.missing:
        lists = "; ".join(f"{label}: {quoted(w, 5)}" for label, w in chosen.missing.items())
        warn(f"{embedding.name} lacks words of the study {study.name!r}, left out: {lists}")
    if chosen.same:
        same = "; ".join(chosen.same)
        warn(f"{embedding.name} has one vector for several words, used once: {same}")
    return chosen


def _levels(
    study: Study, names: list[str], chosen: list[_Chosen]
) -> dict[str, pd.CategoricalDtype]:
    """Return the categories of each column, the same for all embeddings, in the study's order."""
    protected = {word for words in chosen for word in words.protected}
    attributes = {attribute.word for words in chosen for attribute in words.attributes}
    compared = [attribute for attribute in study.attributes if attribute.word in attributes]
    levels: dict[str, Iterable[str]] = {
        "protected_word": [word for word in study.protected_words if word in protected],
        "word_to_compare": [attribute.word for attribute in compared],
        "word_class": dict.fromkeys(attribute.word_class for attribute in compared),
        "connection": CONNECTIONS,
        "protected_group": study.groups,
        "embedding": names,
    }
    return {name: _category_type(words) for name, words in levels.items()}


def _frame(
    embedding: Embedding,
    study: Study,
    words: _Chosen,
    levels: Mapping[str, pd.CategoricalDtype],
    plan: CovariatePlan,
) -> pd.DataFrame:
    """Compute all distances with one product and lay them out, the protected word slowest."""
    rows = np.array(words.protected_rows), np.array(words.attribute_rows)
    covariates = plan.values(
        embedding,
        Side(words.protected, rows[0]),
        Side([attribute.word for attribute in words.attributes], rows[1]),
    )
    protected, attributes = (unit_vectors(embedding, side) for side in rows)
    similarity = (protected @ attributes.T).ravel()
    np.clip(similarity, -1.0, 1.0, out=similarity)
    n_p, n_a = len(protected), len(attributes)

    group_of = {word: group for group, of in study.groups.items() for word in of}
    own_group = [group_of[word] for word in words.protected]
    code = {name: np.int8(i) for i, name in enumerate(CONNECTIONS)}
    is_own = np.array(own_group)[:, None] == np.array([str(a.group) for a in words.attributes])
    connection = np.where(is_own, code["associated"], code["different"])
    for kind, name in CONTROL_CONNECTIONS.items():
        connection[:, [a.control == kind for a in words.attributes]] = code[name]

    def repeated(name: str, values: list[str]) -> pd.Categorical:
        return _categories(np.repeat(_codes(levels[name], values), n_a), levels[name])

    def tiled(name: str, values: list[str]) -> pd.Categorical:
        return _categories(np.tile(_codes(levels[name], values), n_p), levels[name])

    return pd.DataFrame(
        {
            "protected_word": repeated("protected_word", words.protected),
            "word_to_compare": tiled("word_to_compare", [a.word for a in words.attributes]),
            "word_class": tiled("word_class", [a.word_class for a in words.attributes]),
            "cosine_distance": 1.0 - similarity,
            "cosine_similarity": similarity,
            "connection": _categories(connection.ravel(), levels["connection"]),
            "protected_group": repeated("protected_group", own_group),
            "embedding": repeated("embedding", [embedding.name] * n_p),
            **{
                name: np.repeat(values, n_a) if is_protected(name) else np.tile(values, n_p)
                for name, values in covariates.items()
            },
        },
        copy=False,
    )


def check_table(table: pd.DataFrame, *, duplicates: Duplicates = "drop") -> pd.DataFrame:
    """Return a table with the columns, types and categories that everything else relies on.

    Parameters
    ----------
    table : DataFrame
        At least the columns ``protected_word``, ``word_to_compare``, ``word_class``,
        ``cosine_distance`` and ``connection``. Without ``protected_group`` the group of a word is
        taken from the class of its associated attributes; without ``embedding`` it is one.
    duplicates : {"drop", "keep"}, default "drop"
        What to do with duplicated rows: leave them out, or keep them and count each.

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
        If duplicated rows are left out.

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
    one_of("duplicates", duplicates, ["drop", "keep"])
    _check_columns(table)
    result = table.reset_index(drop=True)
    for name in [n for n in COLUMNS if n in result.columns]:
        _no_gaps(result, name)
    result["cosine_distance"] = _distances(result)
    similarity = 1.0 - result["cosine_distance"].to_numpy()
    if "cosine_similarity" in result.columns:
        similarity = _checked_similarity(result, similarity)
    result["cosine_similarity"] = similarity
    _check_connections(result["connection"])
    if "protected_group" not in result.columns:
        result["protected_group"] = _infer_groups(result)
    if "embedding" not in result.columns:
        result["embedding"] = "embedding"
    for name in _CATEGORIES:
        result[name] = _as_categories(result[name], CONNECTIONS if name == "connection" else None)
    _check_one_group(result)
    if duplicates == "drop":
        result = _without_duplicates(result)
    result = result[[*COLUMNS, *(name for name in result.columns if name not in COLUMNS)]]
    result.attrs = dict(table.attrs)
    return result


def read_table(path: str | PathLike[str], *, duplicates: Duplicates = "drop") -> pd.DataFrame:
    """Read a distance table, ours or one of the original study.

    Parameters
    ----------
    path : path-like
        A ``.csv``, ``.csv.gz`` or ``.parquet`` file. The files of Dobrzeniecka (2021) are read as
        they are: an unnamed index column is dropped, rows with −100 for a missing word are left
        out and named in ``table.attrs["missing"]``, camelCase column names are accepted.
    duplicates : {"drop", "keep"}, default "drop"
        What to do with duplicated rows, as in the authors' race tables: leave them out, or keep
        them and count each. What reads the table afterwards takes the same option.

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
        raise NotFoundError(f"there is no file {str(source)!r}.")
    try:
        raw = _read_file(source)
        raw = raw.loc[:, [not re.fullmatch(r"(Unnamed: \d+)?", str(c)) for c in raw.columns]]
        raw = raw.rename(columns=_snake_case)
        _check_columns(raw)
        if "embedding" not in raw.columns:
            raw = raw.assign(embedding=source.name.split(".")[0])
        return check_table(_without_missing(raw), duplicates=duplicates)
    except DataError as err:
        raise DataError(f"{source}: {err}") from err


def write_table(table: pd.DataFrame, path: str | PathLike[str]) -> None:
    """Write a distance table; nothing is left half-written.

    Parameters
    ----------
    table : DataFrame
        The table.
    path : path-like
        A ``.csv``, ``.csv.gz`` or ``.parquet`` file.

    Raises
    ------
    SpecError
        If the suffix is another.
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
    checked = check_table(table, duplicates="keep")
    with atomic(target) as (temporary,):
        if suffix == ".parquet":
            checked.to_parquet(temporary, index=False)
        else:
            compression: Any = {"method": "gzip", "mtime": 0} if suffix == ".csv.gz" else None
            # pandas quotes a line feed by itself, but not a carriage return.
            odd = any("\r" in word for name in _CATEGORIES for word in checked[name].cat.categories)
            quoting: Any = QUOTE_NONNUMERIC if odd else QUOTE_MINIMAL
            checked.to_csv(temporary, index=False, compression=compression, quoting=quoting)


def covariate_values(table: pd.DataFrame, name: str) -> npt.NDArray[np.float64]:
    """Return a numeric column of a table as it is used in a model; a gap in it is refused.

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
        raise SpecError(
            f"the table has no covariate {name!r}; its further numeric columns are "
            f"{quoted(numeric, 12) or 'none'}.{did_you_mean(name, names)} Build it with "
            "distance_table(..., covariates=['log_frequency']), or add a column of numbers."
        )
    if names.count(name) > 1:
        raise DataError(f"the table has the column {name!r} more than once; remove one.")
    column = table[name]
    if not pd.api.types.is_numeric_dtype(column):
        raise DataError(f"the covariate {name!r} is of the type {column.dtype}; expected numbers.")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise DataError(
            f"the covariate {name!r} is {values[bad[0]]} in {_row(table, bad[0])}, and not a "
            f"finite number in {bad.size:,} of {len(values):,} rows; fill these in or remove them."
        )
    return values


def writable_table(target: Path) -> str:
    """Return the kind of file to write a table to, or refuse it before any work is done."""
    suffix = _suffix(target)
    check_folder(target)
    return suffix


def _category_type(names: Iterable[str]) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index(list(names), dtype="str"))


def _codes(levels: pd.CategoricalDtype, values: list[str]) -> npt.NDArray[np.integer]:
    """Return the place of each value, in the small integers that pandas keeps such codes in."""
    codes = levels.categories.get_indexer(pd.Index(values, dtype="str"))
    small = np.min_scalar_type(-len(levels.categories))
    return codes.astype(small)


def _categories(codes: npt.NDArray[np.integer], levels: pd.CategoricalDtype) -> pd.Categorical:
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
    return text.astype(_category_type(pd.unique(text) if categories is None else categories))


def _all_text(column: pd.Series[Any]) -> bool:
    return all(isinstance(name, str) for name in column.cat.categories)


def _distinct(column: pd.Series[Any]) -> list[str]:
    return [str(value) for value in pd.unique(column)]


def _check_columns(table: pd.DataFrame) -> None:
    if not isinstance(table, pd.DataFrame):
        raise SpecError(f"the table is {type(table).__name__}; expected a pandas DataFrame.")
    names = [str(name) for name in table.columns]
    for name in _REQUIRED:
        if name not in names:
            raise DataError(
                f"the table has no column {name!r}; it has {quoted(names, 12)}."
                f"{did_you_mean(name, names)}"
            )
    for name in COLUMNS:
        if names.count(name) > 1:
            raise DataError(f"the table has the column {name!r} more than once; remove one.")
    if table.empty:
        raise DataError("the table has no rows.")


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
            f"{name!r} is missing in {gaps.size} row{'s' * (gaps.size > 1)}, first in row "
            f"{gaps[0]}; fill in or remove such rows."
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
        raise DataError(f"{name!r} holds something that is no number: {err}.") from err


def _check_connections(column: pd.Series[Any]) -> None:
    unknown = [value for value in _distinct(column) if value not in CONNECTIONS]
    if unknown:
        raise DataError(
            f"'connection' contains {quoted(unknown)}; expected one of {quoted(CONNECTIONS)}."
            f"{did_you_mean(unknown[0], CONNECTIONS)}"
        )


def _row(table: pd.DataFrame, row: int) -> str:
    words = table[["protected_word", "word_to_compare"]].iloc[row]
    return f"row {row} ({', '.join(repr(str(word)) for word in words)})"


def _infer_groups(table: pd.DataFrame) -> pd.Series[Any]:
    """Name the group of a protected word after the class of its associated attributes."""
    own = table.loc[table["connection"] == "associated", ["protected_word", "word_class"]]
    first = own.drop_duplicates("protected_word").set_index("protected_word")["word_class"]
    groups = first.astype("str").str.removesuffix("_stereotype")
    of_word = groups.to_dict()
    return table["protected_word"].astype("str").map(lambda word: of_word.get(word, _UNKNOWN_GROUP))


def _without_duplicates(table: pd.DataFrame) -> pd.DataFrame:
    again = table.duplicated(_PAIR)
    if not again.any():
        return table
    same = table.duplicated([name for name in COLUMNS if name != "cosine_similarity"])
    if (again & ~same).any():
        row = int(np.flatnonzero(again & ~same)[0])
        raise DataError(
            f"the pair in {_row(table, row)} occurs twice with different values; several "
            "embeddings in one table need an 'embedding' column that distinguishes them, and a "
            "pair has one class and one connection."
        )
    warn(
        f"{int(same.sum())} of {len(table)} rows are duplicates and left out "
        "(duplicates='keep' keeps them)"
    )
    return table[~same].reset_index(drop=True)


def _read_file(path: Path) -> pd.DataFrame:
    suffix = _suffix(path)
    try:
        if suffix == ".parquet":
            return pd.read_parquet(path)
        # Arrow reads every digit, and does not take words such as "none", "true" or "7" for
        # anything but words; only an empty cell is a gap.
        camel = {re.sub("_([a-z])", lambda m: m[1].upper(), name) for name in _CATEGORIES}
        options = csv.ConvertOptions(
            column_types=dict.fromkeys([*_CATEGORIES, *camel], pa.string()),
            null_values=[""],
            strings_can_be_null=True,
        )
        with pa.input_stream(str(path)) as stream:
            parsing = csv.ParseOptions(newlines_in_values=True)
            read = csv.read_csv(stream, parse_options=parsing, convert_options=options)
        frame: pd.DataFrame = read.to_pandas()
        return frame
    except (ValueError, OSError, EOFError) as err:
        first = str(err).splitlines()[0] if str(err) else type(err).__name__
        raise DataError(f"cannot be read as {suffix} ({first}).") from err


def _suffix(path: Path) -> str:
    for suffix in _READ_SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    raise SpecError(f"{path}: a table is a file of one of the kinds {quoted(_READ_SUFFIXES)}.")


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
