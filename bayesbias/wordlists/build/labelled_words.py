"""Labelled words, found in an embedding."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np

from bayesbias._core.array_types import Codes
from bayesbias._core.validation import word_list
from bayesbias._core.wording import counted, kind_of, quoted
from bayesbias.embeddings import Embedding, Matching, match
from bayesbias.errors import SpecError, VocabularyError
from bayesbias.wordlists.catalogue import load_labelled

#: Lemmas that each group needs: two at least are held out, and five folds share the others.
FEWEST = 10
#: What a word is called that no group is probable enough for.
UNSURE = "unsure"
# Columns of the table of predictions, beside one for each group.
_TAKEN = ("word", "group", "probability", UNSURE)

#: A group for words that belong to none of the others.
NEUTRAL = "neutral"
#: How the names of groups begin whose words go with another group without meaning it.
ASSOCIATED = "associated with "

Labelled = Mapping[str, Iterable[str]]


@dataclass(frozen=True)
class LabelledWords:
    """The labelled words of an embedding: their rows, entries and groups."""

    rows: Codes
    words: tuple[str, ...]
    codes: Codes
    missing: tuple[str, ...]
    two_labels: tuple[str, ...]


def as_labelled(labelled: Labelled | str | PathLike[str]) -> dict[str, tuple[str, ...]]:
    """Return the words of each group, if there are two groups or more of words enough."""
    if isinstance(labelled, str | PathLike):
        labelled = load_labelled(labelled)
    if not isinstance(labelled, Mapping):
        raise SpecError(
            f"'labelled' is {kind_of(labelled)}; expected a dictionary of groups and their "
            "words, or the name of labelled words such as 'gender'."
        )
    groups = {str(name): word_list(str(name), words) for name, words in labelled.items()}
    if not groups:
        raise SpecError("'labelled' is empty; give the words of at least two groups.")
    if len(groups) == 1:
        raise SpecError(
            f"labelled words of 1 group: {quoted(groups)}; a classifier needs at least two groups "
            "to distinguish, such as 'female', 'male' and 'neutral'."
        )
    for name, words in groups.items():
        if name in _TAKEN:
            raise SpecError(f"a group cannot be called {name!r}; that is a column of the results.")
        given = len(set(words))
        if given < FEWEST:
            raise SpecError(
                f"the group {name!r} has {counted(given, 'word')}; a classifier needs at least "
                f"{FEWEST} for each group. Give it more words."
            )
    return groups


def without_groups(
    groups: Mapping[str, tuple[str, ...]], few: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return the other groups; the words of these are neutral, if there is such a group."""
    left = {name: words for name, words in groups.items() if name not in few}
    if NEUTRAL in left:
        left[NEUTRAL] += tuple(word for name in few for word in groups[name])
    return left


def find_labelled(
    groups: Mapping[str, tuple[str, ...]], embedding: Embedding, matching: Matching | None
) -> LabelledWords:
    """Match the words; entries of the vocabulary that have two labels are left out."""
    matched = match(embedding, groups, matching)
    missing = [word for words in matched.sets.values() for word in words.missing]
    labels: dict[int, set[int]] = {}
    for code, words in enumerate(matched.sets.values()):
        for row in words.rows.tolist():
            labels.setdefault(row, set()).add(code)
    if not labels:
        raise VocabularyError(
            f"embedding {embedding.name!r} has none of the {len(missing)} labelled words, such as "
            f"{quoted(missing, 4)}; give words in its language and spelling."
        )
    rows = [row for row, codes in labels.items() if len(codes) == 1]
    return LabelledWords(
        np.array(rows, dtype=np.intp),
        tuple(embedding.words[row] for row in rows),
        np.array([min(labels[row]) for row in rows], dtype=np.intp),
        tuple(dict.fromkeys(missing)),
        tuple(embedding.words[row] for row, codes in labels.items() if len(codes) > 1),
    )
