"""Words of the vocabulary, drawn at random, that stand for the words of no group."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from bayesbias._core.array_types import Codes
from bayesbias.embeddings import Embedding
from bayesbias.wordlists.build.lemmas import lemmas_of
from bayesbias.wordlists.build.word_filters import as_stop_words, is_word

#: Words of this many first entries stand for the vocabulary; rarer ones are mostly names and slips.
FIRST_WORDS = 50_000
#: Fewer words say little of how frequent groups are.
FEWEST_OTHERS = 100
# Words that the shares of the groups are estimated from, at most.
_MOST_OTHERS = 10_000


@dataclass(frozen=True, eq=False)
class VocabularySample:
    """Rows of words without a label: some to learn from, and others to estimate shares from."""

    background: Codes
    others: Codes


def draw_sample(
    embedding: Embedding,
    labelled: Collection[str],
    lemmas: Collection[str],
    n: int,
    rng: np.random.Generator,
) -> VocabularySample:
    """Draw words that have a direction and are neither labelled, stop words nor forms of these.

    At most half of the words are learnt from.
    """
    stop_words = as_stop_words("english")
    known, known_lemmas = set(labelled), set(lemmas)
    rows: list[int] = []
    for row in rng.permutation(min(len(embedding), FIRST_WORDS)).tolist():
        word = embedding.words[row]
        if word in known or word.lower() in stop_words or not is_word(word):
            continue
        if lemmas_of([word], None)[0] not in known_lemmas:
            rows.append(row)
        if len(rows) == n + _MOST_OTHERS:
            break
    drawn = np.array(rows, dtype=np.intp)
    if drawn.size:
        norms = np.linalg.norm(np.asarray(embedding.vectors[drawn], dtype=np.float64), axis=1)
        drawn = drawn[np.isfinite(norms) & (norms > 0)]
    if drawn.size < FEWEST_OTHERS:
        return VocabularySample(drawn[:0], drawn[:0])
    used = min(n, drawn.size // 2)
    return VocabularySample(drawn[:used], drawn[used:])
