"""The works that an audit builds on, as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from bayesbias import __version__

SOFTWARE = "bayesbias"
_SOFTWARE_ENTRY = (
    # The styles of BibTeX know neither @software nor version.
    f"@misc{{{SOFTWARE},\n"
    "  author = {{The bayesbias developers}},\n"
    "  title  = {bayesbias: social bias in word embeddings, measured with its uncertainty},\n"
    f"  note   = {{Version {__version__}}},\n"
    "  year   = {2026}\n"
    "}\n"
)
_KEY = re.compile(r"@\w+\{([^,]+),")
_FIELD = r"^\s*{name}\s*=\s*\{{(.+)\}},?$"
_IDENTIFIERS = ("doi", "eprint", "url")


@cache
def entries() -> dict[str, str]:
    """Return all entries by their keys."""
    text = files("bayesbias.auditing").joinpath("references.bib").read_text("utf-8")
    found = {match[1]: block for block in text.split("\n\n") if (match := _KEY.match(block))}
    return {SOFTWARE: _SOFTWARE_ENTRY} | {key: f"{block.strip()}\n" for key, block in found.items()}


def field(key: str, name: str) -> str:
    """Return a field of an entry; empty if it has none."""
    found = re.search(_FIELD.format(name=name), entries()[key], re.MULTILINE)
    return found[1] if found else ""


def keys_of(reference: str) -> list[str]:
    """Return the entries that a reference such as ``Garg (2018), doi:10.1073/…`` is to."""
    text = reference.lower()
    return [
        key
        for key in entries()
        for name in _IDENTIFIERS
        if (value := field(key, name).lower().removeprefix("https://")) and value in text
    ]


def bibliography(keys: Iterable[str]) -> str:
    """Return the entries of some keys, each once, in the order of the collection."""
    wanted = set(keys)
    return "\n".join(entry for key, entry in entries().items() if key in wanted)


def in_words(key: str) -> str:
    """Return author and year, as a text cites a work.

    >>> in_words("manzini2019black")
    'Manzini et al., 2019'
    """
    if key == SOFTWARE:
        return "The bayesbias developers"
    names = [name.split(",")[0] for name in field(key, "author").split(" and ")]
    plain = [re.sub(r"\{\\['\"](\w)\}", _accented, name) for name in names]
    who = " & ".join(plain) if len(plain) < 3 else f"{plain[0]} et al."
    return f"{who}, {field(key, 'year')}"


def _accented(found: re.Match[str]) -> str:
    return {"o": "ö", "e": "é"}[found[1]]
