"""A sentence about the words that a debiaser has learnt from."""

from __future__ import annotations

from typing import Any

from bayesbias._core.wording import counted, enumerated, shortened
from bayesbias.debias.base import Debiaser
from bayesbias.debias.debias_words import GivenTuples, as_pairs, tuple_rows
from bayesbias.debias.group_words import GroupDebiaser
from bayesbias.embeddings import Embedding

_SHOWN = 4


def learnt_from(debiaser: Debiaser, definition: Any, embedding: Embedding) -> str:
    """Return what a fitted debiaser has learnt from, and how much of it the embedding has.

    `definition` and `embedding` are those of its `fit`.
    """
    if isinstance(debiaser, GroupDebiaser) and definition is None:
        pairs = debiaser.default_pairs if debiaser.pairs is None else debiaser.pairs
        groups: tuple[tuple[str, ...], ...] = debiaser.groups_
        sides = enumerated([f"{len(words):,} ({shortened(words, _SHOWN)})" for words in groups])
        return (
            f"{sides} words that lean most to either side of "
            f"{_tuples(debiaser, as_pairs('pairs', pairs), pairs, embedding, 'pairs')}"
        )
    given = debiaser._read(definition)
    source = debiaser.default_definition if definition is None else definition
    if isinstance(given, GivenTuples):
        return _tuples(debiaser, given, source, embedding, debiaser.learns_from)
    if not isinstance(given, list):
        return _words(debiaser, given.words, source, embedding)
    names = source if isinstance(source, list) else [None] * len(given)
    return enumerated(
        [
            f"{_words(debiaser, group.words, name, embedding)} as group {number}"
            for number, (group, name) in enumerate(zip(given, names, strict=True), 1)
        ]
    )


def _tuples(
    debiaser: Debiaser, given: GivenTuples, source: object, embedding: Embedding, noun: str
) -> str:
    """Return how many pairs or sets are complete, and the first of them."""
    matching = debiaser._matching(embedding)
    complete = [
        "–".join(together)
        for together in given.tuples
        if tuple_rows(together, embedding, matching) is not None
    ]
    of = f"{len(complete):,} of {counted(len(given.tuples), noun.removesuffix('s'))}"
    return f"{of}{_named(source)} ({shortened(complete, _SHOWN)})"


def _words(debiaser: Debiaser, words: tuple[str, ...], source: object, embedding: Embedding) -> str:
    """Return how many words there are, and the first of them."""
    matched = embedding.match(words, debiaser._matching(embedding))
    missing = set(matched.missing)
    there = [word for word in words if word not in missing]
    of = f"{len(there):,} of {counted(len(words), 'word')}"
    return f"{of}{_named(source)} ({shortened(there, _SHOWN)})"


def _named(source: object) -> str:
    return f" of {source}" if isinstance(source, str) else ""
