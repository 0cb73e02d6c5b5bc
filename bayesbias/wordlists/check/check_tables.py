"""The rows of the tables: what there is to say of a list, or of two, in one embedding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.wording import quoted
from bayesbias.embeddings import Embedding, Matching, unit_vectors
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


@dataclass(frozen=True, eq=False)
class Found:
    """A list in an embedding."""

    words: WordSet
    missing: tuple[str, ...]
    #: The words found and their rows.
    found: tuple[str, ...]
    rows: Codes
    #: The same without words that fall together with an earlier one, and their vectors, of
    #: length one.
    unique: tuple[str, ...]
    unique_rows: Codes
    unit: Array


def find(
    sets: Mapping[str, WordSet], embedding: Embedding, ways: tuple[str, ...]
) -> dict[str, Found]:
    """Look up the words of lists."""
    result = {}
    for label, words in sets.items():
        looked = embedding.match(words, Matching(ways))
        first: dict[int, str] = {}
        for word, row in zip(looked.found, looked.rows.tolist(), strict=True):
            first.setdefault(row, word)
        rows = np.array(list(first), dtype=np.intp)
        unit = unit_vectors(embedding, rows)
        result[label] = Found(
            words, looked.missing, looked.found, looked.rows, tuple(first.values()), rows, unit
        )
    if not any(one.found for one in result.values()):
        listed = [word for words in sets.values() for word in words]
        raise VocabularyError(
            f"embedding {embedding.name!r} has none of the words of the lists "
            f"({quoted(listed, 5)}); look at the spelling, the language or a prefix such as "
            "'/c/en/'."
        )
    return result


def shared_words(one: Found, others: Iterable[Found]) -> list[str]:
    """Return the words of a list that others have too, by spelling or by vector."""
    several = list(others)
    spellings = {word for other in several for word in other.words}
    rows = {row for other in several for row in other.rows.tolist()}
    same = {word for word, row in zip(one.found, one.rows.tolist(), strict=True) if row in rows}
    return [word for word in one.words if word in spellings or word in same]


def list_row(
    label: str,
    found: Mapping[str, Found],
    usage: Usage,
    vocabulary: Vocabulary,
    samples: int,
    seed: int,
) -> dict[str, Any]:
    """Return what there is to say of a list."""
    one = found[label]
    row: dict[str, Any] = {
        "word_set": label,
        "embedding": vocabulary.embedding.name,
        "n_words": len(one.words),
        "n_found": len(one.found),
        "coverage": len(one.found) / len(one.words),
        "missing": list(one.missing),
        "shared": shared_words(one, (them for other, them in found.items() if other != label)),
        "same_vector": [word for word in one.found if word not in one.unique],
        "median_rank": usage.median,
        "median_count": usage.median,
        "uncounted": usage.uncounted,
        "tags": ", ".join(f"{tag} {share:.2f}" for tag, share in usage.tags.items()),
        "untagged": usage.untagged,
        "fits_least": "",
    }
    if len(one.unit) > 1:
        value = cohesion(one.unit)
        rng = _generator(seed, one.words)
        drawn = random_cohesions(vocabulary, one.unique_rows, samples, rng)
        row["cohesion"] = value
        row["cohesion_random"] = drawn.mean() if len(drawn) else np.nan
        row["cohesion_percentile"] = percentile(value, drawn)
    if len(one.unit) > 2:  # of two words, one fits as well as the other
        cosines = cosines_to_others(one.unit)
        row["fits_least"] = one.unique[int(cosines.argmin())]
        row["fits_least_cosine"] = cosines.min()
    return row


def pair_rows(
    compared: Sequence[tuple[str, str]],
    found: Mapping[str, Found],
    usage: Mapping[str, Usage],
    vocabulary: Vocabulary,
    samples: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Return what there is to say of each two lists; the vocabulary is gone through once."""
    there = [(a, b) for a, b in compared if found[a].found and found[b].found]
    values = coherences(vocabulary, [(found[a].unit, found[b].unit) for a, b in there])
    coherence = dict(zip(there, values.tolist(), strict=True))
    rows = []
    for a, b in compared:
        one, other = found[a], found[b]
        row: dict[str, Any] = {
            "first": a,
            "second": b,
            "embedding": vocabulary.embedding.name,
            "n_first": len(one.unique),
            "n_second": len(other.unique),
            "shared": shared_words(one, [other]),
            "frequency_ratio": usage[a].frequency / usage[b].frequency,
            "tag_distance": _variation(usage[a].tags, usage[b].tags),
            "n_pairs": 0,
        }
        if (a, b) in coherence:
            rng = _generator(seed, (*one.words, "", *other.words))
            value, shuffled = shuffled_coherences(
                vocabulary, one.unique_rows, other.unique_rows, samples, rng
            )
            row["coherence"] = coherence[a, b]
            row["coherence_shuffled"] = shuffled.mean()
            row["coherence_percentile"] = percentile(value, shuffled)
            row["similarity"] = similarity(one.unit, other.unit)
            row |= _paired(one, other, vocabulary, samples, rng)
        rows.append(row)
    return rows


def tag_rows(label: str, usage: Usage, embedding: str) -> Iterator[tuple[str, str, str, float]]:
    """Yield the share of each part of speech in a list."""
    for tag, share in usage.tags.items():
        yield label, embedding, tag, share


def _paired(
    one: Found, other: Found, vocabulary: Vocabulary, samples: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Return what the first component explains of pairs in the same places of two lists."""
    if len(one.words) != len(other.words):
        return {}
    rows = [dict(zip(side.found, side.rows.tolist(), strict=True)) for side in (one, other)]
    both = [
        (rows[0][a], rows[1][b])
        for a, b in zip(one.words, other.words, strict=True)
        if a in rows[0] and b in rows[1]
    ]
    if len(both) < 2:  # one pair is always explained
        return {"n_pairs": len(both)}
    first, second = (vocabulary.unit(np.array(side)) for side in zip(*both, strict=True))
    value = paired_variance(first, second)
    shuffled = shuffled_variances(first, second, samples, rng)
    return {
        "n_pairs": len(both),
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


def _generator(seed: int, words: Iterable[str]) -> np.random.Generator:
    """Return random numbers that depend on the words and the seed, not on what else is checked."""
    return np.random.default_rng([seed, crc32("\n".join(words).encode())])
