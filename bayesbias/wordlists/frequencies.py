"""How frequent words are: by the order of a vocabulary, a corpus, a table, or wordfreq."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Codes
from bayesbias._core.validation import one_of
from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.embeddings import Embedding, Matching, as_matching, demo_ranks
from bayesbias.errors import DataError, MissingDependencyError, NotFoundError, SpecError, warn
from bayesbias.wordlists.check.word_usage import (
    HasCounts,
    as_counts,
    in_order,
    read_frequencies,
    values_of_words,
)

if TYPE_CHECKING:
    import pandas as pd

#: What to do about words without a frequency.
Unknown = Literal["error", "lowest"]

_Floats: TypeAlias = npt.NDArray[np.float64]
_RANK = "rank"
_WORDFREQ = "wordfreq"
# An order is compared with that of English if it has this many of its words ...
_ENOUGH_SHARED = 100
# ... and is not one of frequency if the rank correlation is below this. Novels of 200 years ago
# have 0.46 with newswire; words at random have 0 with a standard error of at most 0.1.
_LEAST_CORRELATION = 0.2
# The order of so few words cannot be judged.
_ENOUGH_LETTERS = 20
_ALPHABETICAL = 0.9


@dataclass(frozen=True)
class FrequencySource:
    """Where frequencies are from: what it is called, and how to ask it.

    `find` takes an embedding, words and their rows there, and returns natural logarithms, NaN for
    a word it does not know; `smallest` returns the lowest value that it knows. It can be sent to
    other processes, as its functions belong to a module.
    """

    label: str
    find: Callable[[Embedding, Sequence[str], Codes], _Floats]
    smallest: Callable[[Embedding], float]
    check: Callable[[Embedding], None]
    #: Whether it is the order of the vocabulary, which not every embedding has.
    is_order: bool = False


#: What can be given as `frequencies`.
Frequencies: TypeAlias = Union[
    str, PathLike[str], "pd.DataFrame", Mapping[str, float], HasCounts, FrequencySource
]


def frequency_source(frequencies: Frequencies, matching: Matching | None) -> FrequencySource:
    """Return the source that a user named or gave; a fault is reported before any measurement.

    A table of counts is asked for a word by the fallbacks of `matching`, or of the embedding.
    """
    if isinstance(frequencies, FrequencySource):
        return frequencies
    if isinstance(frequencies, str) and frequencies == _RANK:
        return FrequencySource(
            "the vocabulary's order, −log(rank)",
            _find_ranks,
            _smallest_rank,
            check_frequency_order,
            is_order=True,
        )
    if isinstance(frequencies, str) and frequencies.partition(":")[0] == _WORDFREQ:
        return _wordfreq_source(frequencies.partition(":")[2] or "en", matching)
    if isinstance(frequencies, str | PathLike):
        path = Path(frequencies)
        if not path.is_file():
            raise NotFoundError(
                f"frequencies={str(frequencies)!r} is neither a file nor one of 'rank', 'wordfreq' "
                f"and 'wordfreq:LANGUAGE'.{did_you_mean(frequencies, (_RANK, _WORDFREQ))}"
            )
        return _count_source(as_counts(read_frequencies(path)), f"counts of {path.name}", matching)
    name = getattr(frequencies, "name", None)
    label = f"counts of the corpus {name!r}" if isinstance(name, str) else "the given counts"
    return _count_source(as_counts(frequencies), label, matching)


def log_frequencies(
    source: FrequencySource,
    embedding: Embedding,
    words: Sequence[str],
    rows: Codes,
    unknown: Unknown = "error",
) -> _Floats:
    """Return the log frequency of each word, or refuse words without one, all by name."""
    one_of("unknown_frequency", unknown, ("error", "lowest"))
    values = source.find(embedding, words, rows)
    missing = np.flatnonzero(np.isnan(values))
    if not missing.size:
        return values
    nowhere = missing.size == len(values)
    if unknown == "error" or nowhere:
        names = quoted([words[i] for i in missing.tolist()], 12)
        remedy = (
            "none of the words has one; take frequencies from elsewhere."
            if nowhere
            else "leave these words out of the study, take frequencies from elsewhere, or give "
            "unknown_frequency='lowest' to count them as half the smallest frequency there."
        )
        raise DataError(
            f"no frequency of {names} in {source.label} (embedding {embedding.name!r}); {remedy}"
        )
    values[missing] = source.smallest(embedding) - np.log(2)
    return values


def check_frequency_order(embedding: Embedding) -> None:
    """Refuse a vocabulary that is plainly not in the order of frequency.

    It is not if it is in alphabetical order, or if English words in it have another order than
    in English. What cannot be checked (another language, few words) is said in a warning.
    """
    placed = np.flatnonzero(embedding.ranks > 0)
    order = placed[np.argsort(embedding.ranks[placed], kind="stable")]
    words = tuple(embedding.words[row] for row in order)
    remedy = (
        "give frequencies: a corpus, a table of counts, or frequencies='wordfreq' (extra "
        "'frequency')."
    )
    if _is_alphabetical(words):
        raise DataError(
            f"embedding {embedding.name!r}: the vocabulary is in alphabetical order "
            f"({quoted(words[:4])}, …), so its ranks say nothing about frequency; {remedy}"
        )
    reference = demo_ranks()
    theirs = np.array([reference[word] for word in words if word in reference])
    if len(theirs) >= _ENOUGH_SHARED:
        correlation = _correlation(np.arange(len(theirs), dtype=np.float64), theirs)
        if correlation >= _LEAST_CORRELATION:
            return
        if not in_order(words):
            raise DataError(
                f"embedding {embedding.name!r}: the vocabulary ({quoted(words[:4])}, …) is not in "
                f"the order of frequency: the ranks of {len(theirs):,} English words have a "
                f"correlation of {correlation:.2f} with their ranks in English text; {remedy}"
            )
    elif in_order(words):
        return
    warn(
        f"{embedding.name}: it cannot be checked that the most frequent words of its vocabulary "
        f"come first ({len(embedding):,} words, {len(theirs):,} of them known English words), as "
        f"log_frequency = −log(rank) takes for granted; if they do not, {remedy}"
    )


def _find_ranks(embedding: Embedding, words: Sequence[str], rows: Codes) -> _Floats:
    ranks = embedding.ranks[rows].astype(np.float64)
    ranks[ranks == 0] = np.nan
    return -np.log(ranks)


def _smallest_rank(embedding: Embedding) -> float:
    return -float(np.log(embedding.ranks.max()))


def _count_source(
    counts: Mapping[str, float] | None, label: str, matching: Matching | None
) -> FrequencySource:
    if counts is None:
        raise SpecError(
            "'frequencies' is None; expected 'rank', 'wordfreq', a corpus, a table or a dictionary "
            "of counts."
        )
    positive = {word: count for word, count in counts.items() if count > 0}
    if not positive:
        raise DataError(f"no word has a count above 0 in {label}; give other frequencies.")
    return FrequencySource(
        f"{label}, log(count)",
        partial(_find_counts, positive, matching),
        partial(_smallest_count, float(np.log(min(positive.values())))),
        _no_check,
    )


def _find_counts(
    counts: Mapping[str, float],
    matching: Matching | None,
    embedding: Embedding,
    words: Sequence[str],
    rows: Codes,
) -> _Floats:
    fallbacks = as_matching(matching, embedding).fallbacks
    return np.log(_values(values_of_words(words, counts, fallbacks), words))


def _smallest_count(lowest: float, embedding: Embedding) -> float:
    return lowest


def _wordfreq_source(language: str, matching: Matching | None) -> FrequencySource:
    try:
        import wordfreq
    except ImportError as err:
        raise MissingDependencyError(
            "frequencies='wordfreq' needs a package: pip install 'bayesbias[frequency]'."
        ) from err
    languages = sorted(wordfreq.available_languages())
    if language not in languages:
        raise SpecError(
            f"wordfreq has no language {language!r}; it has {quoted(languages, 60)}."
            f"{did_you_mean(language, languages)}"
        )
    # Of single words, as an embedding has them; a phrase has no frequency there.
    return _count_source(wordfreq.get_frequency_dict(language), f"wordfreq ({language})", matching)


def _values(frequencies: Mapping[str, float], words: Iterable[str]) -> _Floats:
    return np.array([frequencies.get(word, np.nan) for word in words], dtype=np.float64)


def _no_check(embedding: Embedding) -> None:
    """Take the frequencies as they are."""


def _is_alphabetical(words: Sequence[str]) -> bool:
    if len(words) < _ENOUGH_LETTERS:
        return False
    places = np.empty(len(words))
    places[sorted(range(len(words)), key=lambda i: words[i].casefold())] = np.arange(len(words))
    return abs(_correlation(places, np.arange(len(words)))) > _ALPHABETICAL


def _correlation(first: npt.NDArray[np.floating], second: npt.NDArray[np.generic]) -> float:
    """Return Spearman's rank correlation of values without ties."""
    one, other = (
        np.argsort(np.argsort(values)) - (len(first) - 1) / 2 for values in (first, second)
    )
    return float(one @ other / (one @ one))
