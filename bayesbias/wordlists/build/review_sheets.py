"""Sheets on which a person decides about the words of lists, with how the words are used."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.files import atomic, check_folder, is_file
from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.errors import DataError, NotFoundError, SpecError

if TYPE_CHECKING:
    import pandas as pd

#: Decisions about a word; the name of another group moves it there.
KEEP, DROP = "keep", "drop"
# Words on each side of a word in its context.
_AROUND = 8


def contexts(
    words: Iterable[str], documents: Iterable[Sequence[str]], n: int, rng: np.random.Generator
) -> dict[str, list[str]]:
    """Return n places for each word, drawn at random from all of them, in the order of the text."""
    # As the corpus writes them; an embedding may have capitals.
    found: dict[str, list[tuple[int, str]]] = {word: [] for word in words}
    spelt: dict[str, list[str]] = {}
    for word in found:
        for spelling in {word, word.lower()}:
            spelt.setdefault(spelling, []).append(word)
    seen = dict.fromkeys(found, 0)
    place = 0
    for document in documents:
        for i, token in enumerate(document):
            place += 1
            for word in spelt.get(token, ()):
                seen[word] += 1
                # Each place is as likely to be kept as any other (reservoir sampling).
                slot = len(found[word]) if seen[word] <= n else int(rng.integers(seen[word]))
                if slot < n:
                    around = document[max(0, i - _AROUND) : i], document[i + 1 : i + 1 + _AROUND]
                    before, after = (" ".join(part) for part in around)
                    text = f"{before} [{token}] {after}".strip()
                    found[word][slot : slot + 1] = [(place, text)]
    return {word: [text for _, text in sorted(places)] for word, places in found.items()}


def writable_sheet(path: str | PathLike[str]) -> Path:
    """Return the path of a sheet; refuse what cannot be written, before a corpus is read."""
    target = Path(path)
    if target.suffix.lower() != ".csv":
        raise SpecError(f"{target}: a review sheet is a .csv file.")
    check_folder(target)
    return target


def write_sheet(path: Path, words: pd.DataFrame, places: Mapping[str, list[str]], n: int) -> None:
    """Write one line per word, with its contexts and room for a decision and a comment.

    It is made for spreadsheets, which must not compute a word or a context that begins with ``=``.
    """
    from bayesbias._core.spreadsheets import escape_formulas

    sheet = words.assign(decision="", comment="")
    for i in range(n):
        sheet[f"context_{i + 1}"] = [
            (places.get(word) or [])[i] if i < len(places.get(word) or []) else ""
            for word in words["word"]
        ]
    with atomic(path) as (temporary,):
        # With a mark, spreadsheets know that it is UTF-8.
        safe = escape_formulas(sheet)
        safe.to_csv(temporary, index=False, encoding="utf-8-sig", quoting=csv.QUOTE_MINIMAL)


def read_sheet(path: Path, words: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Return ``group``, ``word``, ``decision`` and ``comment`` of a sheet, in the order of `words`.

    The sheet may be sorted, and lines without a decision may be missing.
    """
    import pandas as pd

    from bayesbias._core.spreadsheets import escaped

    if not is_file(path):
        raise NotFoundError(f"no review sheet {str(path)!r}; review_sheet(path) writes one.")
    sheet = pd.read_csv(
        path, sep=None, engine="python", dtype=str, keep_default_na=False, encoding="utf-8-sig"
    )
    for column in ("group", "word", "decision"):
        if column not in sheet:
            raise DataError(f"{path}: no column {column!r}; it has {quoted(sheet.columns, 12)}.")
    if "comment" not in sheet:
        sheet["comment"] = ""
    sheet = sheet[["group", "word", "decision", "comment"]].apply(lambda c: c.str.strip())
    for column in ("group", "word"):
        # As they were before they were made safe for spreadsheets.
        original = {escaped(text): text for text in words[column]} | dict(
            zip(words[column], words[column], strict=True)
        )
        sheet[column] = [original.get(text, text) for text in sheet[column]]
    options = (KEEP, DROP, *groups)
    for row in sheet.itertuples(index=False):
        if row.decision and row.decision not in options:
            raise DataError(
                f"{path}: the decision about {row.word!r} is {row.decision!r}; expected "
                f"{quoted(options)} or nothing.{did_you_mean(row.decision, options)}"
            )
    keys = ["group", "word"]
    if sheet.duplicated(keys).any():
        twice = sheet.loc[sheet.duplicated(keys), "word"]
        raise DataError(f"{path}: words with two lines: {quoted(twice)}; keep one of each.")
    known = set(zip(words["group"], words["word"], strict=True))
    other = [
        row.word for row in sheet.itertuples(index=False) if (row.group, row.word) not in known
    ]
    if other:
        raise DataError(f"{path}: words that are not in these lists: {quoted(other)}.")
    return words[keys].merge(sheet, on=keys, how="left").fillna("")
