"""Matching words with a vocabulary: the one way in which words are found.

Study, query and debiasing words are rarely all in a vocabulary as they are written. A `Matching`
says which fallbacks to try, how many words of a list may be missing, and whether one entry of the
vocabulary or every one that fits is used; `match` applies it to lists of words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from bayesbias._core.array_types import Codes
from bayesbias._core.constants import DEFAULT_FALLBACKS, LOST_VOCABULARY_THRESHOLD
from bayesbias._core.validation import one_of, share, word_list
from bayesbias._core.wording import kind_of, quoted, similar_word
from bayesbias.errors import SpecError, VocabularyError

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding


def _strip_accents(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


_FALLBACKS: dict[str, Callable[[str], str]] = {
    "exact": str,
    "lower": str.lower,
    "title": str.title,
    "upper": str.upper,
    "strip_accents": _strip_accents,
}
#: The fallbacks that only change the case of a word, or not even that.
CASES = ("exact", "lower", "title", "upper")
_PREFIX = "prefix:"
#: How many missing words a message suggests others for.
_SUGGESTIONS = 4

#: The name of a fallback, or a function that returns another form of a word.
Fallback: TypeAlias = str | Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Matching:
    """How words are matched with the entries of a vocabulary.

    Parameters
    ----------
    fallbacks : iterable of str or function, default ("exact", "lower", "title", "strip_accents")
        Forms of a word to try, in this order: ``exact``, ``lower``, ``title``, ``upper``, or what
        a function of the word returns; ``strip_accents`` and ``prefix:/c/en/`` (any prefix) act on
        all forms before them.
    threshold : float, default 0.2
        The share of a list that may be missing. A list that loses more is refused, and a metric
        has no value.
    strategy : {"first", "all"}, default "first"
        Use the first form of a word that the vocabulary has, or every one. Metrics then take all
        vectors of a word, and draw, leave out or reassign the word with all of them. Distance
        tables, pairs and debiasing definitions need one vector per word.

    Raises
    ------
    SpecError
        If a fallback or the strategy is not known, or `threshold` is not between 0 and 1.

    See Also
    --------
    Embedding.with_matching : Bind a matching to an embedding.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.embeddings.Matching(threshold=0.5)
    Matching(fallbacks=('exact', 'lower', 'title', 'strip_accents'), threshold=0.5,
             strategy='first')

    With a function, here for a vocabulary that joins words by underscores:

    >>> emb = bb.Embedding(["New_York"], [[1.0, 0.0]])
    >>> joined = bb.embeddings.Matching(("exact", lambda word: word.replace(" ", "_")))
    >>> emb.match(["New York"], joined).entries
    ('New_York',)
    """

    fallbacks: tuple[Fallback, ...] = DEFAULT_FALLBACKS
    threshold: float = LOST_VOCABULARY_THRESHOLD
    strategy: Literal["first", "all"] = "first"

    def __post_init__(self) -> None:
        object.__setattr__(self, "fallbacks", check_fallbacks(self.fallbacks))
        object.__setattr__(self, "threshold", share("threshold", self.threshold))
        one_of("strategy", self.strategy, ("first", "all"))

    def changed(
        self,
        *,
        fallbacks: Iterable[Fallback] | None = None,
        threshold: float | None = None,
        strategy: Literal["first", "all"] | None = None,
        prefix: str | None = None,
    ) -> Matching:
        """Return a matching with these settings in place of its own.

        Parameters
        ----------
        fallbacks : iterable of str or function, optional
            The fallbacks.
        threshold : float, optional
            The share of a list that may be missing.
        strategy : {"first", "all"}, optional
            Whether to use one form of each word, or every one.
        prefix : str, optional
            Try every form with this in front as well, such as ``/c/en/`` of ConceptNet.

        Returns
        -------
        Matching
            The changed settings.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.embeddings.Matching().changed(prefix="/c/en/").fallbacks
        ('exact', 'lower', 'title', 'strip_accents', 'prefix:/c/en/')
        """
        forms = self.fallbacks if fallbacks is None else check_fallbacks(fallbacks)
        if prefix is not None:
            forms = (*forms, f"{_PREFIX}{prefix}")
        return Matching(
            forms,
            self.threshold if threshold is None else threshold,
            self.strategy if strategy is None else strategy,
        )


@dataclass(frozen=True, slots=True, eq=False)
class MatchedWords:
    """A list of words, matched with a vocabulary.

    Parameters
    ----------
    words : tuple of str
        The list, as it was given.
    places : ndarray of int
        The places in the list of the words that were found.
    rows : ndarray of int
        The row of the embedding for each of them.
    entries : tuple of str
        The entry of the vocabulary for each of them.
    missing : tuple of str
        The words that were not found.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.load_embedding("demo").match(["NASA", "xyzzy"]).missing
    ('xyzzy',)
    """

    words: tuple[str, ...]
    places: Codes
    rows: Codes
    entries: tuple[str, ...]
    missing: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def found(self) -> tuple[str, ...]:
        """The words that were found, as they were given."""
        if np.array_equal(self.places, np.arange(len(self.words))):
            return self.words
        return tuple(self.words[place] for place in self.places.tolist())

    def take(self, kept: Codes) -> MatchedWords:
        """Return the found words at these positions only; the others are not counted as missing.

        Parameters
        ----------
        kept : ndarray of int
            Positions among the words that were found.

        Returns
        -------
        MatchedWords
            The same list with fewer words found.
        """
        entries = tuple(self.entries[i] for i in kept.tolist())
        return replace(self, places=self.places[kept], rows=self.rows[kept], entries=entries)

    def distinct(self) -> MatchedWords:
        """Return the words without those that share a vector with an earlier one.

        Returns
        -------
        MatchedWords
            Each row of the embedding once.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.load_embedding("demo").match(["nasa", "NASA"]).distinct().found
        ('nasa',)
        """
        _, first = np.unique(self.rows, return_index=True)
        return self if len(first) == len(self.rows) else self.take(np.sort(first))


class Overlap(NamedTuple):
    """Two lists that have entries of the vocabulary in common.

    Parameters
    ----------
    first, second : str
        The labels of the lists.
    entries : tuple of str
        What both have, as the vocabulary writes it.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from bayesbias.embeddings import match
    >>> match(bb.load_embedding("demo"), {"a": ["nurse"], "b": ["Nurse"]}).overlaps()
    [Overlap(first='a', second='b', entries=('nurse',))]
    """

    first: str
    second: str
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Lists of words, matched with the vocabulary of one embedding.

    Parameters
    ----------
    embedding : str
        The name of the embedding.
    sets : dict of str to MatchedWords
        What was found of each list, by its label.
    matching : Matching
        How the words were matched.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from bayesbias.embeddings import match
    >>> matched = match(bb.load_embedding("demo"), {"jobs": ["nurse", "xyzzy"]})
    >>> matched.missing
    {'jobs': ('xyzzy',)}
    >>> matched.problems()
    ["embedding 'demo' lacks 1 of 2 words of 'jobs' ('xyzzy'), more than threshold=0.2 allows"]
    """

    embedding: str
    sets: dict[str, MatchedWords]
    matching: Matching

    def __getitem__(self, label: str) -> MatchedWords:
        return self.sets[label]

    @property
    def missing(self) -> dict[str, tuple[str, ...]]:
        """The missing words of each list that has any."""
        return {label: matched.missing for label, matched in self.sets.items() if matched.missing}

    def problems(self) -> list[str]:
        """Return what is wrong with the lists that miss more words than the threshold allows.

        Returns
        -------
        list of str
            One phrase for each such list.
        """
        result = []
        for label, missing in self.missing.items():
            number = len(self.sets[label].words)
            if len(missing) == number:
                result.append(
                    f"embedding {self.embedding!r} has no word of {label!r} ({quoted(missing, 4)})"
                )
            elif len(missing) > self.matching.threshold * number:
                result.append(
                    f"embedding {self.embedding!r} lacks {len(missing)} of {number} words of "
                    f"{label!r} ({quoted(missing, 4)}), more than "
                    f"threshold={self.matching.threshold:g} allows"
                )
        return result

    def check(self, vocabulary: Iterable[str] = ()) -> Matched:
        """Refuse lists that miss more words than the threshold allows.

        Parameters
        ----------
        vocabulary : iterable of str, optional
            Words to suggest for misspelt ones.

        Returns
        -------
        Matched
            The same, for chaining.

        Raises
        ------
        VocabularyError
            If a list misses too many words.
        """
        problems = self.problems()
        if problems:
            raise VocabularyError(
                f"{'; '.join(problems)}.{self.similar(vocabulary)} Correct or replace these "
                "words, use an embedding that has them, other fallbacks, or a higher threshold: "
                "embedding.with_matching(threshold=…), or --threshold."
            )
        return self

    def similar(self, vocabulary: Iterable[str]) -> str:
        """Return what the missing words may be misspellings of, as a sentence of a message.

        Parameters
        ----------
        vocabulary : iterable of str
            Words to suggest.

        Returns
        -------
        str
            A sentence after a space, about the first few missing words; empty without suggestions.
        """
        listed = {word for matched in self.sets.values() for word in matched.words}
        options = [word for word in vocabulary if word not in listed]
        missing = [word for words in self.missing.values() for word in words]
        pairs = [(similar_word(word, options), word) for word in missing[:_SUGGESTIONS]]
        similar = [f"{other!r} for {word!r}" for other, word in pairs if other is not None]
        return f" Similar words that it has: {', '.join(similar)}." if similar else ""

    def overlaps(self) -> list[Overlap]:
        """Return which lists share entries of the vocabulary.

        Returns
        -------
        list of Overlap
            The labels of two lists, and the entries they have in common.
        """
        entries = {
            label: dict(zip(matched.rows.tolist(), matched.entries, strict=True))
            for label, matched in self.sets.items()
        }
        return [
            Overlap(one, other, tuple(entries[one][row] for row in shared))
            for one, other in combinations(entries, 2)
            if (shared := sorted(entries[one].keys() & entries[other].keys()))
        ]


def match(
    embedding: Embedding,
    word_sets: Mapping[str, Iterable[str]],
    matching: Matching | None = None,
) -> Matched:
    """Match lists of words with the vocabulary of an embedding.

    Parameters
    ----------
    embedding : Embedding
        The embedding.
    word_sets : mapping of str to iterable of str
        Lists of words by their labels, which messages use.
    matching : Matching, optional
        How to match; that of the embedding by default.

    Returns
    -------
    Matched
        What was found of each list. Nothing is refused yet; see `Matched.check`.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from bayesbias.embeddings import match
    >>> match(bb.load_embedding("demo"), {"jobs": ["Nurse"]})["jobs"].entries
    ('nurse',)
    """
    how = as_matching(matching, embedding)
    index = embedding.index
    sets = {
        label: match_words(index, word_list(label, words), how)
        for label, words in word_sets.items()
    }
    return Matched(embedding.name, sets, how)


def as_matching(matching: Matching | None, embedding: Embedding) -> Matching:
    """Return the matching that was given, or else that of the embedding."""
    return embedding.matching if matching is None else check_matching(matching)


def check_matching(matching: Matching) -> Matching:
    """Return the matching, or refuse what is not one."""
    if not isinstance(matching, Matching):
        raise SpecError(
            f"'matching' is {kind_of(matching)}; expected a Matching: "
            "bb.embeddings.Matching(fallbacks=…, threshold=…)."
        )
    return matching


def described(matching: Matching) -> dict[str, object]:
    """Return the settings as they can be written to a file; functions by their names."""
    return {
        "fallbacks": [
            f"{getattr(step, '__module__', '')}.{getattr(step, '__qualname__', repr(step))}"
            if callable(step)
            else step
            for step in matching.fallbacks
        ],
        "threshold": matching.threshold,
        "strategy": matching.strategy,
    }


def one_vector_matching(matching: Matching | None, embedding: Embedding) -> Matching:
    """Return the matching for what gives each word one vector, the first that is found."""
    how = as_matching(matching, embedding)
    if how.strategy == "all" and matching is not None:
        raise SpecError(
            "'matching' has strategy='all', which gives a word several vectors; here a word has "
            "one: matching.changed(strategy='first')."
        )
    return how.changed(strategy="first")


def check_fallbacks(fallbacks: Iterable[Fallback]) -> tuple[Fallback, ...]:
    """Return the fallbacks as a tuple if each is known or a function, else raise."""
    if callable(fallbacks):
        raise SpecError("'fallbacks' is a function; give it in a list: fallbacks=['exact', …].")
    given: tuple[Fallback, ...] = (
        word_list("fallbacks", fallbacks) if isinstance(fallbacks, str) else tuple(fallbacks)
    )
    named = [fallback for fallback in given if not callable(fallback)]
    for name in word_list("fallbacks", named):
        if not name.startswith(_PREFIX):
            one_of("fallbacks", name, [*_FALLBACKS, f"{_PREFIX}…"])
    return given


def candidates(word: str, fallbacks: tuple[Fallback, ...]) -> Iterator[str]:
    """Yield the forms of a word to try, in order and without repetition.

    ``strip_accents`` and ``prefix:…`` act on every form before them, the others on the word.
    """
    tried: dict[str, None] = {}
    for fallback in fallbacks:
        sources = list(tried) or [word]
        if callable(fallback):
            new = [_changed(word, fallback)]
        elif fallback.startswith(_PREFIX):
            prefix = fallback.removeprefix(_PREFIX)
            new = [prefix + source for source in sources]
        elif fallback == "strip_accents":
            new = [_strip_accents(source) for source in sources]
        else:
            new = [_FALLBACKS[fallback](word)]
        for form in new:
            if form not in tried:
                tried[form] = None
                yield form


def _changed(word: str, function: Callable[[str], str]) -> str:
    """Return what a function of somebody's makes of a word, if that is a word."""
    form = function(word)
    if not isinstance(form, str):
        name = getattr(function, "__name__", repr(function))
        raise SpecError(
            f"the function {name!r} of 'fallbacks' returned {form!r} for {word!r}; expected a word."
        )
    return form


def match_words(index: Mapping[str, int], words: tuple[str, ...], how: Matching) -> MatchedWords:
    """Find each word by the first of its forms that the index has, or by every one."""
    every = how.strategy == "all"
    # Most words are there as they are, and need no list of forms.
    exact_first = how.fallbacks[:1] == ("exact",) and not every
    if exact_first:
        exact = list(map(index.get, words))
        if None not in exact:
            places = np.arange(len(words), dtype=np.intp)
            return MatchedWords(words, places, np.array(exact, dtype=np.intp), words, ())
    matched_places: list[int] = []
    entries: list[str] = []
    missing: list[str] = []
    for place, word in enumerate(words):
        if exact_first and word in index:
            matches = [word]
        else:
            forms = (form for form in candidates(word, how.fallbacks) if form in index)
            matches = list(forms if every else islice(forms, 1))
        if not matches:
            missing.append(word)
        matched_places += [place] * len(matches)
        entries += matches
    rows = np.array([index[entry] for entry in entries], dtype=np.intp)
    places = np.array(matched_places, dtype=np.intp)
    return MatchedWords(words, places, rows, tuple(entries), tuple(missing))
