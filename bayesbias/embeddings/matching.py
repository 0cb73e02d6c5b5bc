"""Finding a word in a vocabulary that may spell it differently."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from bayesbias._core.validation import one_of, word_list


def _strip_accents(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


_SPELLINGS: dict[str, Callable[[str], str]] = {
    "exact": str,
    "lower": str.lower,
    "title": str.title,
    "upper": str.upper,
    "strip_accents": _strip_accents,
}
#: The fallbacks that only change the case of a word, or not even that.
CASES = ("exact", "lower", "title", "upper")
_PREFIX = "prefix:"


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """What a look-up found, in the order of the words asked for.

    Parameters
    ----------
    found : tuple of str
        The words that were found, as they were asked for.
    missing : tuple of str
        The words that were not.
    rows : ndarray of int
        The row of each found word.
    spelling : tuple of str
        How the vocabulary spells each found word.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.load_embedding("demo").lookup(["NASA", "xyzzy"]).missing
    ('xyzzy',)
    """

    found: tuple[str, ...]
    missing: tuple[str, ...]
    rows: npt.NDArray[np.intp]
    spelling: tuple[str, ...]


def check_fallbacks(fallbacks: Iterable[str]) -> tuple[str, ...]:
    """Return the fallbacks as a tuple if each is known, else raise."""
    names = word_list("fallbacks", fallbacks)
    for name in names:
        if not name.startswith(_PREFIX):
            one_of("fallbacks", name, [*_SPELLINGS, f"{_PREFIX}…"])
    return names


def spellings(word: str, fallbacks: tuple[str, ...]) -> Iterator[str]:
    """Yield the spellings to try, in order and without repetition.

    ``strip_accents`` and ``prefix:…`` act on every spelling before them, the others on the word.
    """
    tried: dict[str, None] = {}
    for name in fallbacks:
        sources = list(tried) or [word]
        if name.startswith(_PREFIX):
            prefix = name.removeprefix(_PREFIX)
            new = [prefix + source for source in sources]
        elif name == "strip_accents":
            new = [_strip_accents(source) for source in sources]
        else:
            new = [_SPELLINGS[name](word)]
        for spelling in new:
            if spelling not in tried:
                tried[spelling] = None
                yield spelling


def look_up(
    index: Mapping[str, int], words: Iterable[str], ways: tuple[str, ...], *, every: bool = False
) -> Lookup:
    """Find each word by the first of its spellings that the index holds, or by every one."""
    asked = tuple(words)
    # Most words are there as they are, and need no list of spellings.
    exact_first = ways[:1] == ("exact",) and not every
    if exact_first:
        exact = list(map(index.get, asked))
        if None not in exact:
            return Lookup(asked, (), np.array(exact, dtype=np.intp), asked)
    found: list[str] = []
    missing: list[str] = []
    rows: list[int] = []
    spelling: list[str] = []
    for word in asked:
        if exact_first and word in index:
            matches = [word]
        else:
            known = (s for s in spellings(word, ways) if s in index)
            matches = list(known if every else islice(known, 1))
        if not matches:
            missing.append(word)
        for match in matches:
            found.append(word)
            rows.append(index[match])
            spelling.append(match)
    return Lookup(tuple(found), tuple(missing), np.array(rows, dtype=np.intp), tuple(spelling))
