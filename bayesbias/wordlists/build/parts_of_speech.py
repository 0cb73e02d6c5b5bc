"""The part of speech of words, from how they are used in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from bayesbias.wordlists.check.word_usage import as_tags

if TYPE_CHECKING:
    import pandas as pd

#: Parts of speech that can stand for a group of people, by their universal tags.
PARTS_OF_SPEECH = ("ADJ", "NOUN", "PROPN", "PRON", "VERB")


def majority_tags(tags: pd.DataFrame) -> dict[str, str]:
    """Return the tag that each word has most often, of equally frequent ones the first by name."""
    shares: Mapping[str, Mapping[str, float]] = as_tags(tags) or {}
    return {
        word: min(by_tag, key=lambda tag: (-by_tag[tag], tag)) for word, by_tag in shares.items()
    }


def tags_of(words: Iterable[str], tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of those words that have one, if need be in lower case."""
    # A corpus may be in lower case where an embedding is not.
    tagged = ((word, tags.get(word) or tags.get(word.lower())) for word in words)
    return {word: tag for word, tag in tagged if tag is not None}
