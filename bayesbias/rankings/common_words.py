"""The words of a query that every one of several embeddings has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from bayesbias._core.array_types import Codes
from bayesbias._core.wording import counted, quoted
from bayesbias.embeddings import Embedding, Matching, as_matching
from bayesbias.errors import SpecError, VocabularyError
from bayesbias.metrics import Metric, gather
from bayesbias.wordlists import Query


@dataclass(frozen=True, eq=False)
class CommonWords:
    """A query reduced to the words that all embeddings have."""

    query: Query
    #: For each set, the places of its words in the list as it was.
    places: tuple[Codes, ...]
    #: By embedding, the words that it lacks.
    lacking: dict[str, tuple[str, ...]]
    #: All words left out: those that an embedding lacks, and whose pair or vector is used up.
    dropped: tuple[str, ...]


def common_words(
    metric: Metric,
    query: Query,
    embeddings: Sequence[Embedding],
    *,
    matching: Matching | None,
    needed: Sequence[tuple[int, str]],
) -> CommonWords:
    """Return the query with the words that all embeddings have; an error if these are too few.

    `needed` has the least number of words of each set, and why so many.
    """
    lists = query.word_sets()
    kept = [np.ones(len(words), dtype=bool) for words in lists.values()]
    lacking = {}
    for embedding in embeddings:
        how = as_matching(matching, embedding)
        words_found = gather(query, embedding, how.changed(threshold=1.0), paired=metric.paired)
        for is_common, places in zip(kept, words_found.places, strict=True):
            is_common &= np.isin(np.arange(len(is_common)), places)
        lost_words = (word for words in words_found.lost.values() for word in words)
        missing = tuple(dict.fromkeys(lost_words))
        if missing:
            lacking[embedding.name] = missing
    names = quoted([embedding.name for embedding in embeddings], 4)
    for (label, words), is_common, (number, why) in zip(lists.items(), kept, needed, strict=True):
        left = int(is_common.sum())
        if left >= number:
            continue
        if len(words) < number:
            raise SpecError(
                f"{label!r} has {counted(len(words), 'word')} and needs {number}: {why}. Add words."
            )
        lost = [word for word, common in zip(words, is_common, strict=True) if not common]
        raise VocabularyError(
            f"{label!r} is left with {left} of its {len(words)} words, those that {names} have in "
            f"common, and needs {number}: {why}. Lost are {quoted(lost, 5)}; give other words, or "
            "other fallbacks by 'matching'."
        )
    sets = [
        replace(words, words=tuple(compress(words, is_common)))
        for words, is_common in zip(lists.values(), kept, strict=True)
    ]
    n_targets = len(query.target_sets)
    dropped = dict.fromkeys(
        word
        for words, is_common in zip(lists.values(), kept, strict=True)
        for word, common in zip(words, is_common, strict=True)
        if not common
    )
    return CommonWords(
        query=Query(sets[:n_targets], sets[n_targets:]),
        places=tuple(np.flatnonzero(is_common) for is_common in kept),
        lacking=lacking,
        dropped=tuple(dropped),
    )
