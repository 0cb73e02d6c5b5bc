"""TOML and JSON from strangers: whatever is in a file, it is data or one clear error."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from bayesbias._core.files import read_utf8
from bayesbias.errors import DataError

# No study, model or record comes near these.
_MOST_BYTES = 100_000_000
_MOST_PARTS = 32
_LARGEST = 2**63
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
# Python's parser needs memory that grows with the square of the parts of a dotted key.
_LONG_KEY = re.compile(
    rf"""(?<![A-Za-z0-9_.\-"']){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_MOST_PARTS},}}"""
)


def read_json(path: Path, *, most_bytes: int = _MOST_BYTES) -> Any:
    """Return the data of a JSON file that is not larger than anyone would write it."""
    return _read(path, "JSON", most_bytes)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file."""
    data: dict[str, Any] = _read(path, "TOML")
    return data


def _read(path: Path, language: str, most_bytes: int = _MOST_BYTES) -> Any:
    size = path.stat().st_size
    if size > most_bytes:
        raise DataError(
            f"{path}: {size:,} bytes are too many for {language}; at most {most_bytes:,} are read."
        )
    text = read_utf8(path)
    if language == "TOML" and (key := _LONG_KEY.search(text)):
        line = text.count("\n", 0, key.start()) + 1
        raise DataError(
            f"{path}, line {line}: a key of more than {_MOST_PARTS} parts with dots between them."
        )
    try:
        data = json.loads(text) if language == "JSON" else tomllib.loads(text)
    # ValueError is also raised for numbers of thousands of digits.
    except (ValueError, RecursionError, OverflowError) as err:
        raise DataError(f"{path}: not valid {language}: {err}.") from err
    _check_numbers(path, data)
    return data


def _check_numbers(path: Path, data: object) -> None:
    """Refuse whole numbers that no computer word holds: Python cannot even print the largest."""
    left = [data]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            left += item.values()
        elif isinstance(item, list):
            left += item
        elif isinstance(item, int) and not -_LARGEST <= item < _LARGEST:
            raise DataError(f"{path}: holds a whole number of more than 64 bits.")
