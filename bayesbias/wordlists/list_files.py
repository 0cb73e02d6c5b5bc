"""Word lists in tables and text files."""

from __future__ import annotations

import csv
from pathlib import Path

from bayesbias._core.files import column_separator, read_utf8
from bayesbias._core.wording import quoted
from bayesbias.errors import DataError
from bayesbias.wordlists.wordset import WordSet

#: Files of lists that are neither TOML nor JSON.
LIST_SUFFIXES = (".csv", ".tsv", ".txt")

# What the columns of a table with one row per word are called.
_WORD = "word"
_LIST = ("list", "group", "set", "category")


def read_lists(path: Path) -> dict[str, WordSet]:
    """Return the lists of a text file (one list) or of a table (one or several)."""
    text = read_utf8(path)
    if path.suffix.lower() == ".txt":
        lines = [line.strip() for line in text.splitlines()]
        lists = {path.stem: [line for line in lines if line and not line.startswith("#")]}
    else:
        first_line = text.lstrip().partition("\n")[0]
        comma = "\t" if path.suffix.lower() == ".tsv" else column_separator(first_line)
        rows = [row for row in csv.reader(text.splitlines(), delimiter=comma) if any(row)]
        lists = _from_rows([[cell.strip() for cell in row] for row in rows], path)
    empty = [name for name, words in lists.items() if not words]
    if empty or not lists:
        raise DataError(f"{path}: no words{f' in {quoted(empty)}' if empty else ''}.")
    return {name: WordSet(name, words, source=path.name) for name, words in lists.items()}


def _from_rows(rows: list[list[str]], path: Path) -> dict[str, list[str]]:
    """Return the lists of a table whose first row has the names of its columns.

    A table with the columns ``word`` and ``list`` has one row per word. Every column of another
    table is a list, the empty cells at its end apart.
    """
    if len(rows) < 2:
        raise DataError(
            f"{path}: no rows; expected a line of names, and below it words: one column per list, "
            f"or the columns 'word' and one of {quoted(_LIST)}."
        )
    header, body = rows[0], rows[1:]
    longest = max(map(len, body))
    if longest > len(header) or not all(header) or len(set(header)) < len(header):
        raise DataError(
            f"{path}: the first line is {','.join(header)!r}; expected a different name for each "
            f"of {max(longest, len(header))} columns."
        )
    columns = {
        name: [row[place] if place < len(row) else "" for row in body]
        for place, name in enumerate(header)
    }
    if _WORD not in header:
        return {name: [cell for cell in cells if cell] for name, cells in columns.items()}
    kind = next((name for name in _LIST if name in header), None)
    names = [path.stem] * len(body) if kind is None else columns[kind]
    lists: dict[str, list[str]] = {}
    for number, (name, word) in enumerate(zip(names, columns[_WORD], strict=True), 1):
        if not name or not word:
            raise DataError(
                f"{path}, row {number}: no {'word' if not word else 'list'}; fill the cell or "
                "remove the row."
            )
        lists.setdefault(name, []).append(word)
    return lists
