"""The rows of the tables: what there is to say of a list, or of two, in one embedding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.random import generator_for
from bayesbias._core.wording import quoted
from bayesbias.embeddings import (
    Embedding,
    MatchedWords,
    Matching,
    match,
    one_vector_matching,
    unit_vectors,
)
from bayesbias.errors import VocabularyError
from bayesbias.wordlists.check.geometry import (
    Vocabulary,
    coherences,
    cohesion,
    cosines_to_others,
    paired_variance,
    percentile,
    random_cohesions,
    shuffled_coherences,
    shuffled_variances,
    similarity,
)
from bayesbias.wordlists.check.word_usage import Usage
from bayesbias.wordlists.wordset import WordSet


class MatchedList(NamedTuple):
    """A list in an embedding: all its words, those with a vector of their own, their directions."""

    matched: MatchedWords
    distinct: MatchedWords
    unit: Array


def match_lists(
    sets: Mapping[str, WordSet], embedding: Embedding, matching: Matching | None
) -> dict[str, MatchedList]:
    """Match lists with an embedding, and refuse one that has none of their words."""
    matched = match(embedding, sets, one_vector_matching(matching, embedding))
    if not any(map(len, matched.sets.values())):
        listed = [word for words in sets.values() for word in words]
        raise VocabularyError(
            f"embedding {embedding.name!r} has none of the words of the lists "
            f"({quoted(listed, 5)}); look at the spelling, the language or a prefix such as "
            "'/c/en/'."
        )
    result = {}
    for label, words in matched.sets.items():
        distinct = words.distinct()
        result[label] = MatchedList(words, distinct, unit_vectors(embedding, distinct.rows))
    return result


def shared_words(one: MatchedList, others: Iterable[MatchedList]) -> list[str]:
    """Return the words of a list that others have too, as they are written or by their vector."""
    several = [other.matched for other in others]
    written = {word for other in several for word in other.words}
    rows = {row for other in several for row in other.rows.tolist()}
    words = one.matched
    same = {word for word, row in zip(words.found, words.rows.tolist(), strict=True) if row in rows}
    return [word for word in words.words if word in written or word in same]


def list_row(
    label: str,
    lists: Mapping[str, MatchedList],
    usage: Usage,
    vocabulary: Vocabulary,
    samples: int,
    seed: int,
) -> dict[str, Any]:
    """Return what there is to say of a list."""
    one = lists[label]
    words, distinct = one.matched, one.distinct
    row: dict[str, Any] = {
        "word_set": label,
        "embedding": vocabulary.embedding.name,
        "n_words": len(words.words),
        "n_found": len(words),
        "coverage": len(words) / len(words.words),
        "missing": list(words.missing),
        "shared": shared_words(one, (them for other, them in lists.items() if other != label)),
        "same_vector": [word for word in words.found if word not in distinct.found],
        "median_rank": usage.median,
        "median_count": usage.median,
        "uncounted": usage.uncounted,
        "tags": ", ".join(f"{tag} {share:.2f}" for tag, share in usage.tags.items()),
        "untagged": usage.untagged,
        "fits_least": "",
    }
    if len(one.unit) > 1:
        value = cohesion(one.unit)
        rng = generator_for(seed, words.words)
        drawn = random_cohesions(vocabulary, distinct.rows, samples, rng)
        row["cohesion"] = value
        row["cohesion_random"] = drawn.mean() if len(drawn) else np.nan
        row["cohesion_percentile"] = percentile(value, drawn)
    if len(one.unit) > 2:  # of two words, one fits as well as the other
        cosines = cosines_to_others(one.unit)
        row["fits_least"] = distinct.found[int(cosines.argmin())]
        row["fits_least_cosine"] = cosines.min()
    return row


def pair_rows(
    compared: Sequence[tuple[str, str]],
    lists: Mapping[str, MatchedList],
    usage: Mapping[str, Usage],
    vocabulary: Vocabulary,
    samples: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Return what there is to say of each two lists; the vocabulary is gone through once."""
    with_words = [(a, b) for a, b in compared if len(lists[a].unit) and len(lists[b].unit)]
    values = coherences(vocabulary, [(lists[a].unit, lists[b].unit) for a, b in with_words])
    coherence = dict(zip(with_words, values.tolist(), strict=True))
    rows = []
    for a, b in compared:
        one, other = lists[a], lists[b]
        row: dict[str, Any] = {
            "first": a,
            "second": b,
            "embedding": vocabulary.embedding.name,
            "n_first": len(one.unit),
            "n_second": len(other.unit),
            "shared": shared_words(one, [other]),
            "frequency_ratio": usage[a].frequency / usage[b].frequency,
            "tag_distance": _variation(usage[a].tags, usage[b].tags),
            "n_pairs": 0,
        }
        if (a, b) in coherence:
            rng = generator_for(seed, (*one.matched.words, "", *other.matched.words))
            value, shuffled = shuffled_coherences(
                vocabulary, one.distinct.rows, other.distinct.rows, samples, rng
            )
            row["coherence"] = coherence[a, b]
            row["coherence_shuffled"] = shuffled.mean()
            row["coherence_percentile"] = percentile(value, shuffled)
            row["similarity"] = similarity(one.unit, other.unit)
            row |= _paired(one.matched, other.matched, vocabulary, samples, rng)
        rows.append(row)
    return rows


def tag_rows(label: str, usage: Usage, embedding: str) -> Iterator[tuple[str, str, str, float]]:
    """Yield the share of each part of speech in a list."""
    for tag, share in usage.tags.items():
        yield label, embedding, tag, share


def _paired(
    one: MatchedWords,
    other: MatchedWords,
    vocabulary: Vocabulary,
    samples: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Return what the first component explains of pairs in the same places of two lists."""
    if len(one.words) != len(other.words):
        return {}
    _, in_one, in_other = np.intersect1d(one.places, other.places, return_indices=True)
    if len(in_one) < 2:  # one pair is always explained
        return {"n_pairs": len(in_one)}
    first = vocabulary.unit(one.rows[in_one])
    second = vocabulary.unit(other.rows[in_other])
    value = paired_variance(first, second)
    shuffled = shuffled_variances(first, second, samples, rng)
    return {
        "n_pairs": len(in_one),
        "pca": value,
        "pca_shuffled": shuffled.mean(),
        "pca_percentile": percentile(value, shuffled),
    }


def _variation(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Return the total variation distance of two distributions; NaN where one is empty."""
    if not first or not second:
        return np.nan
    tags = {*first, *second}
    return sum(abs(first.get(tag, 0.0) - second.get(tag, 0.0)) for tag in tags) / 2
