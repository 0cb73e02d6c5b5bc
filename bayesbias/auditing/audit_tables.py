"""Tables of an audit, read from its files as they were written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias._core.files import read_utf8
from bayesbias.errors import DataError
from bayesbias.models.criteria import Comparison

# Columns of words and names, which may look like numbers, truth values or gaps and are none.
_TEXT = (
    "protected_word",
    "protected_group",
    "connection",
    "word",
    "group",
    "model",
    "level",
    "contrast",
    "verdict",
    "parameter",
    "metric",
    "query",
    "side",
    "embedding",
    "reason",
    "question",
    "answer",
    "meaning",
    "word_set",
    "first",
    "second",
    "missing",
    "shared",
    "same_vector",
    "duplicates",
    "fits_least",
    "problems",
    "notes",
    "found",
    "engine",
    "what",
    "measure",
    "event",
    "note",
)


def read_csv(path: Path) -> pd.DataFrame:
    """Read a table; only an empty cell is a gap, and in columns of text an empty text."""
    _check(path)
    frame = pd.read_csv(
        path, dtype=dict.fromkeys(_TEXT, "str"), keep_default_na=False, na_values=[""]
    )
    text = [name for name in _TEXT if name in frame.columns]
    frame[text] = frame[text].fillna("")
    return frame


def read_comparison(path: Path) -> pd.DataFrame:
    """Read a comparison of models, as `compare` returns it."""
    return Comparison(read_csv(path).set_index("model").rename_axis(None))


def read_overview(path: Path) -> pd.DataFrame:
    """Read the table of an overview, in the shape of `Overview.table`."""
    frame = read_csv(path).set_index("question").rename_axis(None)
    frame["answer"] = [
        a if a in ("yes", "slightly not", "no") else float(a) for a in frame["answer"]
    ]
    return frame


def read_json(path: Path) -> Any:
    """Read plain data."""
    _check(path)
    return json.loads(read_utf8(path))


def read_lines(path: Path) -> list[str]:
    """Read a text line by line."""
    _check(path)
    return read_utf8(path).splitlines()


def _check(path: Path) -> None:
    if not path.is_file():
        raise DataError(f"{path} is not there any more; run the audit again to make it.")
