"""How often words are used, and as which part of speech."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from bayesbias._core.wording import kind_of, quoted
from bayesbias.embeddings import Fallback, candidates
from bayesbias.errors import DataError, NotFoundError, SpecError

if TYPE_CHECKING:
    import pandas as pd

_T = TypeVar("_T")
# What separates the columns of a file, by its suffix.
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


class Usage(NamedTuple):
    """How often the words of a list are used, and as which part of speech."""

    #: The median of the counts, or of the places in the vocabulary; NaN if neither is known.
    median: float
    #: What is proportional to the frequency; NaN if it is not known.
    frequency: float
    #: Words that the counts lack; they count as 0.
    uncounted: list[str]
    #: The share of each part of speech, the largest first.
    tags: dict[str, float]
    #: Words without a part of speech.
    untagged: list[str]


class HasCounts(Protocol):
    """Whatever can tell how often its words occur, such as a corpus."""

    def counts(self) -> pd.DataFrame | Mapping[str, float]:
        """Return words and their counts."""


def as_counts(
    frequencies: pd.DataFrame | Mapping[str, float] | HasCounts | None,
) -> dict[str, float] | None:
    """Return how often each word occurs; what a table says in several rows is added up."""
    import pandas as pd

    if frequencies is None:
        return None
    if isinstance(frequencies, pd.DataFrame):
        column = _count_column(frequencies)
        _check_counts("frequencies", frequencies["word"], frequencies[column])
        summed = frequencies.groupby("word", sort=False)[column].sum()
        return {str(word): float(count) for word, count in summed.items()}
    if isinstance(frequencies, Mapping):
        _check_counts("frequencies", list(frequencies), list(frequencies.values()))
        return {str(word): float(count) for word, count in frequencies.items()}
    if callable(getattr(frequencies, "counts", None)):
        return as_counts(frequencies.counts())
    raise SpecError(
        f"'frequencies' is {kind_of(frequencies)}; expected a table with the columns 'word' "
        "and 'count' (or 'frequency'), a dictionary of counts, or a corpus."
    )


def as_tags(tags: pd.DataFrame | None) -> dict[str, dict[str, float]] | None:
    """Return for each word the share of each part of speech in its uses."""
    import pandas as pd

    if tags is None:
        return None
    if not isinstance(tags, pd.DataFrame):
        raise SpecError(
            f"'tags' is {kind_of(tags)}; expected a table with the columns 'word', 'tag' and "
            "'count': tag_words(corpus)."
        )
    _check_columns("tags", tags, ("word", "tag", "count"))
    _check_counts("tags", tags["word"], tags["count"])
    summed = tags[tags["count"] > 0].groupby(["word", "tag"], observed=True)["count"].sum()
    shares = summed / summed.groupby(level="word", observed=True).transform("sum")
    result: dict[str, dict[str, float]] = {}
    words, labels = (shares.index.get_level_values(name) for name in ("word", "tag"))
    for word, tag, share in zip(words, labels, shares, strict=True):
        result.setdefault(str(word), {})[str(tag)] = float(share)
    return result


def usage_of(
    words: Sequence[str],
    ranks: npt.NDArray[np.int64] | None,
    counts: Mapping[str, float] | None,
    tags: Mapping[str, Mapping[str, float]] | None,
    fallbacks: tuple[Fallback, ...],
) -> Usage:
    """Return how the words of a list are used; ranks are their places in an order of frequency."""
    median = frequency = np.nan
    uncounted: list[str] = []
    if counts is not None:
        counted = values_of_words(words, counts, fallbacks)
        uncounted = [word for word in words if word not in counted]
        if words:
            median = float(np.median([counted.get(word, 0.0) for word in words]))
        frequency = median or np.nan
    elif ranks is not None and (ranks > 0).any():
        median = float(np.median(ranks[ranks > 0]))
        frequency = 1 / median  # Zipf's law
    tagged = values_of_words(words, tags or {}, fallbacks)
    mix: dict[str, float] = {}
    for shares in tagged.values():
        for tag, share in shares.items():
            mix[tag] = mix.get(tag, 0.0) + share / len(tagged)
    most_first = dict(sorted(mix.items(), key=lambda item: (-item[1], item[0])))
    return Usage(
        median, frequency, uncounted, most_first, [word for word in words if word not in tagged]
    )


def in_order(words: tuple[str, ...]) -> bool:
    """Return whether a vocabulary seems to have its most frequent words first.

    Frequent words are short, in all languages (Zipf's law of abbreviation), so the first words
    are shorter than the rest. They are so in an alphabet too, where "a" and "aa" come first.
    """
    first = words[:100]
    if len(words) < 10 * len(first):
        return False
    rising = np.mean([a <= b for a, b in pairwise(words[:1000])])
    lengths = np.fromiter(map(len, words), np.intp, len(words))
    return bool(rising < 0.9 and lengths[: len(first)].mean() < 0.75 * lengths.mean())


def read_frequencies(path: str | PathLike[str]) -> pd.DataFrame:
    """Read a table of words and counts from a ``.csv`` or ``.tsv`` file, or a ``.gz`` of one."""
    import pandas as pd

    source = Path(path)
    if not source.is_file():
        raise NotFoundError(f"{source}: no such file; expected a table of words and counts.")
    suffix = Path(source.name.lower().removesuffix(".gz")).suffix
    if suffix not in _SEPARATORS:
        raise SpecError(
            f"{source}: the suffix is {suffix!r}; expected one of {quoted(_SEPARATORS)}."
        )
    try:
        # "null" and "nan" are words, and so is a quotation mark where tabs separate.
        frame = pd.read_csv(
            source,
            sep=_SEPARATORS[suffix],
            dtype={"word": str},
            keep_default_na=False,
            quoting=csv.QUOTE_NONE if suffix == ".tsv" else csv.QUOTE_MINIMAL,
        )
    except (ValueError, OSError) as err:  # a fault of pandas's parser is a ValueError
        raise DataError(f"{source}: not a table of words and counts ({err}).") from err
    try:
        _check_counts("frequencies", frame["word"], frame[_count_column(frame)])
    except DataError as err:
        raise DataError(f"{source}: {err}") from err
    return frame


def values_of_words(
    words: Iterable[str], table: Mapping[str, _T], fallbacks: tuple[Fallback, ...]
) -> dict[str, _T]:
    """Return the table's value of each word, by the first of its forms that the table has."""
    forms = (
        (word, next((form for form in candidates(word, fallbacks) if form in table), None))
        for word in words
    )
    return {word: table[form] for word, form in forms if form is not None}


def _count_column(frame: pd.DataFrame) -> str:
    """Return the column of a table of words that says how often they occur."""
    named = [column for column in ("count", "frequency") if column in frame.columns]
    column = named[0] if named else "count"
    _check_columns("frequencies", frame, ("word", column))
    return column


def _check_columns(name: str, frame: pd.DataFrame, columns: tuple[str, ...]) -> None:
    lacking = [column for column in columns if column not in frame.columns]
    if lacking:
        raise DataError(
            f"{name!r} has no column {quoted(lacking)}; expected {quoted(columns)}, got "
            f"{quoted(frame.columns)}."
        )


def _check_counts(name: str, words: Iterable[object], counts: Iterable[object]) -> None:
    """Refuse a table without words, with something else than words, or impossible counts."""
    try:
        numbers = np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as err:
        raise DataError(f"the counts of {name!r} are not numbers ({err}).") from err
    listed = list(words)
    if not listed:
        raise DataError(f"{name!r} holds no words; leave it out, or give counts.")
    for word in listed:
        if not isinstance(word, str):
            raise DataError(f"{name!r} holds the word {word!r}, which is not a string.")
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if wrong.size:
        i = int(wrong[0])
        raise DataError(f"{name!r} counts {listed[i]!r} {numbers[i]:g} times; expected 0 or more.")
