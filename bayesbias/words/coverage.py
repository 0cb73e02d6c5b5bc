"""What an embedding knows of word lists, before anything is measured with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from bayesbias.constants import DEFAULT_FALLBACKS
from bayesbias.embeddings import Embedding, as_embeddings
from bayesbias.errors import SpecError
from bayesbias.words.query import Query
from bayesbias.words.study import Study
from bayesbias.words.wordset import WordSet

if TYPE_CHECKING:
    import pandas as pd


def check_words(
    words: Study | Query | Mapping[str, Iterable[str]],
    embeddings: Embedding | Iterable[Embedding],
    *,
    fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
) -> pd.DataFrame:
    """Tell, for each word list and embedding, which words are there and which lists overlap.

    Parameters
    ----------
    words : Study, Query or mapping of str to iterable of str
        The lists to look at.
    embeddings : Embedding or iterable of Embedding
        Where to look for the words.
    fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
        Spellings to try, as in `Embedding.lookup`.

    Returns
    -------
    DataFrame
        One row a list and embedding: ``word_set``, ``embedding``, ``n_words``, ``n_found``,
        ``coverage`` (their ratio), ``missing`` (the words), ``shared`` (words that another of the
        lists holds too) and ``same_vector`` (words that fall together with an earlier word of
        the list, for instance once lower-cased).

    Examples
    --------
    >>> import bayesbias as bb
    >>> report = bb.check_words(bb.load_query("weat_6"), bb.load_embedding("demo"))
    >>> report[["word_set", "n_words", "coverage"]]
                   word_set  n_words  coverage
    0    target: Male names        8       1.0
    1  target: Female names        8       1.0
    2     attribute: Career        8       1.0
    3     attribute: Family        8       1.0
    """
    import pandas as pd

    if isinstance(words, Study | Query):
        sets = words.word_sets()
    elif isinstance(words, Mapping):
        sets = {str(name): WordSet(str(name), listed) for name, listed in words.items()}
    else:
        raise SpecError(
            f"'words' is {type(words).__name__}; expected a Study, a Query or a dictionary of "
            "lists."
        )
    several = as_embeddings(embeddings)
    ways = tuple(fallbacks)
    rows = []
    for label, word_set in sets.items():
        others = {w for other, words_ in sets.items() if other != label for w in words_}
        for embedding in several:
            found = embedding.lookup(word_set, ways)
            first: dict[int, str] = {}
            same = [
                word
                for word, row in zip(found.found, found.rows.tolist(), strict=True)
                if first.setdefault(row, word) != word
            ]
            rows.append(
                {
                    "word_set": label,
                    "embedding": embedding.name,
                    "n_words": len(word_set),
                    "n_found": len(found.found),
                    "coverage": len(found.found) / len(word_set),
                    "missing": list(found.missing),
                    "shared": [word for word in word_set if word in others],
                    "same_vector": same,
                }
            )
    return pd.DataFrame(rows)
