"""Writing TOML, which Python reads but does not write."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping


def quote(text: str) -> str:
    """Return a string; those of TOML are those of JSON but for one control character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def array(words: Iterable[str]) -> str:
    """Return strings in one line."""
    return f"[{', '.join(quote(word) for word in words)}]"


def table(name: str, lists: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the lines of a table of lists of strings."""
    return ["", f"[{name}]", *(f"{quote(key)} = {array(words)}" for key, words in lists.items())]
