"""A named list of words that knows where it is from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

from bayesbias._core.validation import word_list
from bayesbias._core.wording import counted, quoted
from bayesbias.errors import SpecError, warn
from bayesbias.wordlists.languages import ENGLISH, check_language


@dataclass(frozen=True, slots=True, init=False, repr=False)
class WordSet(Sequence[str]):
    """A named list of words without repetition, with its source.

    It is a sequence of strings, so it goes wherever a list of words goes. Two sets are equal if
    their names and words are; source, note and language do not count.

    Parameters
    ----------
    name : str
        What the words have in common.
    words : iterable of str
        The words; of a word given twice the first is kept.
    source : str, optional
        Where the list was published.
    note : str, optional
        A known slip of the list, or a correction.
    language : str, default "en"
        The language of the words, by its code of ISO 639-1.

    Raises
    ------
    SpecError
        If there is no word, or something that is not a word, or the language has no such code.

    Warns
    -----
    BayesBiasWarning
        If a word is given twice.

    Examples
    --------
    >>> import bayesbias as bb
    >>> career = bb.word_sets("weat")["career"]
    >>> career
    WordSet('career', 8 words: executive, management, professional, …)
    >>> "office" in career
    True
    >>> bb.WordSet("pronouns", ["he", "she"])[1]
    'she'
    >>> bb.WordSet("Pronomen", ["er", "sie"], language="de")
    WordSet('Pronomen', 2 words in de: er, sie)
    """

    name: str
    words: tuple[str, ...]
    source: str = field(compare=False)
    note: str = field(compare=False)
    language: str = field(compare=False)

    def __init__(
        self,
        name: str,
        words: Iterable[str],
        source: str = "",
        note: str = "",
        language: str = ENGLISH,
    ) -> None:
        given = word_list(name, words)
        if not given:
            raise SpecError(f"the word set {name!r} is empty; give it at least one word.")
        if not all(word.strip() for word in given):
            raise SpecError(f"the word set {name!r} holds an empty word; remove it.")
        spaced = [word for word in given if word != word.strip()]
        if spaced:
            given = tuple(word.strip() for word in given)
            warn(f"the word set {name!r} has spaces around words, removed: {quoted(spaced)}")
        unique = tuple(dict.fromkeys(given))
        if len(unique) < len(given):
            seen: set[str] = set()
            repeated = [w for w in given if w in seen or seen.add(w)]  # type: ignore[func-returns-value]
            warn(f"the word set {name!r} has words more than once, kept once: {quoted(repeated)}")
        for key, value in (
            ("name", str(name)),
            ("words", unique),
            ("source", source),
            ("note", note),
            ("language", check_language(language)),
        ):
            object.__setattr__(self, key, value)

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.words

    @overload
    def __getitem__(self, item: int) -> str: ...
    @overload
    def __getitem__(self, item: slice) -> tuple[str, ...]: ...
    def __getitem__(self, item: int | slice) -> str | tuple[str, ...]:
        return self.words[item]

    def __repr__(self) -> str:
        count = counted(len(self), "word")
        if self.language != ENGLISH:
            count += f" in {self.language}"
        return f"WordSet({self.name!r}, {count}: {self.preview(3)})"

    def preview(self, limit: int = 12) -> str:
        """Return the first words in one line.

        Parameters
        ----------
        limit : int, default 12
            How many.

        Returns
        -------
        str
            The words, with an ellipsis if there are more.
        """
        return ", ".join(self.words[:limit]) + (", …" if len(self) > limit else "")
