"""The words of a query that every one of several embeddings has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayesbias._core.array_types import Codes
from bayesbias._core.wording import quoted
from bayesbias.embeddings import Embedding
from bayesbias.errors import SpecError, VocabularyError
from bayesbias.metrics import Metric
from bayesbias.metrics.query_vectors import gather
from bayesbias.wordlists import Query, WordSet


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
    fallbacks: tuple[str, ...],
    needed: Sequence[tuple[int, str]],
) -> CommonWords:
    """Return the query with the words that all embeddings have; an error if these are too few.

    `needed` has the least number of words of each set, and why so many.
    """
    lists = query.word_sets()
    kept = [np.ones(len(words), dtype=bool) for words in lists.values()]
    lacking = {}
    for embedding in embeddings:
        found = gather(
            query,
            embedding,
            fallbacks=fallbacks,
            strategy="first",
            threshold=1.0,
            normalize=False,
            paired=metric.paired,
            least=(0, 0),
        )
        for there, places in zip(kept, found.places, strict=True):
            there &= np.isin(np.arange(len(there)), places)
        missing = tuple(dict.fromkeys(word for words in found.lost.values() for word in words))
        if missing:
            lacking[embedding.name] = missing
    names = quoted([embedding.name for embedding in embeddings], 4)
    for (label, words), there, (number, why) in zip(lists.items(), kept, needed, strict=True):
        left = int(there.sum())
        if left >= number:
            continue
        if len(words) < number:
            raise SpecError(
                f"{label!r} has {len(words)} word{'s' * (len(words) > 1)} and needs {number}: "
                f"{why}. Add words."
            )
        lost = [word for word, known in zip(words, there, strict=True) if not known]
        raise VocabularyError(
            f"{label!r} is left with {left} of its {len(words)} words, those that {names} have in "
            f"common, and needs {number}: {why}. Lost are {quoted(lost, 5)}; give other words, or "
            "other spellings by 'fallbacks'."
        )
    sets = [
        WordSet(words.name, np.array(words.words)[there], words.source, words.note)
        for words, there in zip(lists.values(), kept, strict=True)
    ]
    n_targets = len(query.target_sets)
    dropped = dict.fromkeys(
        word
        for words, there in zip(lists.values(), kept, strict=True)
        for word, known in zip(words, there, strict=True)
        if not known
    )
    return CommonWords(
        query=Query(sets[:n_targets], sets[n_targets:]),
        places=tuple(np.flatnonzero(there) for there in kept),
        lacking=lacking,
        dropped=tuple(dropped),
    )
