"""Building the table of cosine distances between protected words and attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import NamedTuple

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Codes
from bayesbias._core.constants import CONNECTIONS, CONTROL_CONNECTIONS
from bayesbias._core.wording import quoted
from bayesbias.distances.covariates import CovariatePlan, Side, is_protected
from bayesbias.distances.schema import categorical, category_codes, category_type
from bayesbias.embeddings import (
    Embedding,
    EmbeddingLike,
    Matched,
    MatchedWords,
    Matching,
    as_embeddings,
    match,
    one_vector_matching,
    unit_vectors,
)
from bayesbias.errors import DataError, SpecError, warn
from bayesbias.wordlists import Attribute, Frequencies, Study, Unknown, as_study

#: The lists that a warning about missing words names, and the words that it may suggest instead.
_LISTS = 6
_COMMON = 50_000


def distance_table(
    embeddings: EmbeddingLike | Iterable[EmbeddingLike],
    study: Study | str | PathLike[str],
    *,
    matching: Matching | None = None,
    covariates: Iterable[str] = (),
    frequencies: Frequencies = "rank",
    unknown_frequency: Unknown = "error",
) -> pd.DataFrame:
    """Build the table of cosine distances between protected words and attributes.

    A distance is 1 − cosine, from 0 (same direction) over 1 (unrelated) to 2 (opposite). The
    connection of a row is ``associated`` if the attribute is a stereotype of the word's own group,
    ``different`` if of another group, ``human`` or ``none`` if it is a human or neutral control.

    Parameters
    ----------
    embeddings : Embedding, str, or iterable of them
        Where the vectors are from; several need different names.
    study : Study or str
        Protected words, stereotypes and controls.
    matching : Matching, optional
        How words are matched with the vocabularies, and how many of a word set may be missing;
        that of each embedding by default. A word has one vector, the first that is found.
    covariates : iterable of str, optional
        Numeric columns to add: ``log_frequency`` and ``norm`` of the attribute,
        ``protected_log_frequency`` and ``protected_norm`` of the protected word. A norm is the
        Euclidean length of a vector.
    frequencies : str, path-like, corpus, DataFrame or mapping, default "rank"
        Where frequencies are from. ``"rank"`` is the order of the embedding's own vocabulary, most
        frequent word first as in the files of GloVe, word2vec and fastText: the log frequency is
        then −log(rank), with the rank in the whole vocabulary (`Embedding.ranks`). Only
        differences matter, and by Zipf's law those of −log(rank) are about proportional to those
        of the log frequency. Otherwise a corpus (`read_corpus`), a table with the columns
        ``word`` and ``count`` or ``frequency``, such a table as a ``.csv`` or ``.tsv`` file, a
        dictionary, or ``"wordfreq"``, ``"wordfreq:de"`` for another language (extra
        ``frequency``); the log
        frequency is then the natural logarithm of what is found there.
    unknown_frequency : {"error", "lowest"}, default "error"
        What to do about a word without a frequency: refuse it, or count it as half the smallest
        frequency that the source knows.

    Returns
    -------
    DataFrame
        One row per embedding, protected word and attribute, in the order of the study, with the
        columns ``protected_word``, ``word_to_compare``, ``word_class``, ``cosine_distance``,
        ``cosine_similarity``, ``connection``, ``protected_group`` and ``embedding``, then the
        covariates. ``table.attrs["missing"]`` names, by embedding and set, the words that were
        lost; ``table.attrs["covariates"]`` says of each covariate what it is.

    Raises
    ------
    VocabularyError
        If more of a set is lost than the threshold allows, or a whole set.
    DataError
        If a word has a zero vector, two words with different roles are one in the embedding, words
        have no frequency, or frequencies are to be taken from the order of a vocabulary that is
        plainly in another order, such as the alphabet's.
    MissingDependencyError
        If frequencies are to be those of wordfreq, and it is not installed.

    Warns
    -----
    BayesBiasWarning
        If words are lost, two words of a set are one in the embedding, or it cannot be checked
        that the most frequent words of a vocabulary come first.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.Embedding(
    ...     ["he", "she", "engineer", "nurse", "clock"],
    ...     [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.6, 0.8], [-0.6, 0.8]],
    ... )
    >>> study = bb.Study("jobs", {"man": ["he"], "woman": ["she"]},
    ...                  {"man": ["engineer"], "woman": ["nurse"]}, {"neutral": ["clock"]})
    >>> table = bb.distance_table(emb, study)
    >>> table[["protected_word", "word_to_compare", "cosine_distance", "connection"]].round(2)
      protected_word word_to_compare  cosine_distance  connection
    0             he        engineer              0.2  associated
    1             he           nurse              0.4   different
    2             he           clock              1.6        none
    3            she        engineer              0.4   different
    4            she           nurse              0.2  associated
    5            she           clock              0.2        none

    With the frequencies of the attributes:

    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("weat_7"),
    ...                           covariates=["log_frequency", "norm"])
    >>> table[["word_to_compare", "log_frequency", "norm"]].head(3).round(2)
      word_to_compare  log_frequency  norm
    0            male          -7.75  5.48
    1             man          -5.71  5.24
    2             boy          -7.38  5.24
    """
    if isinstance(embeddings, Study):
        raise SpecError("the embedding comes first, then the study: distance_table(emb, study).")
    several = as_embeddings(embeddings)
    study = as_study(study)
    plan = CovariatePlan(covariates, frequencies, unknown_frequency, matching)
    for embedding in several:
        plan.check(embedding)
    chosen = [_match_study(embedding, study, matching) for embedding in several]
    levels = _levels(study, [embedding.name for embedding in several], chosen)
    frames = [
        _frame(embedding, study, words, levels, plan)
        for embedding, words in zip(several, chosen, strict=True)
    ]
    table = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    table.attrs["missing"] = {e.name: w.missing for e, w in zip(several, chosen, strict=True)}
    table.attrs["study"] = study.name
    if plan.names:
        table.attrs["covariates"] = plan.describe()
    return table


class _StudyWords(NamedTuple):
    """The words of a study that an embedding has, each vector once, and those that it lacks."""

    protected: Side
    attributes: list[Attribute]
    attribute_rows: Codes
    missing: dict[str, list[str]]


def _match_study(embedding: Embedding, study: Study, matching: Matching | None) -> _StudyWords:
    """Match the words of a study, and refuse an embedding that lacks too many."""
    matched = match(embedding, study.word_sets(), one_vector_matching(matching, embedding))
    _refuse_two_roles(matched)
    matched.check(embedding.words)
    if matched.missing:
        shown = [f"{label}: {quoted(w, 5)}" for label, w in matched.missing.items()]
        if len(shown) > _LISTS:
            shown[_LISTS:] = [f"and words of {len(shown) - _LISTS} more lists"]
        # The whole of a large vocabulary would take seconds to search.
        similar = matched.similar(embedding.words[:_COMMON])
        warn(
            f"{embedding.name} lacks words of the study {study.name!r}, left out: "
            f"{'; '.join(shown)}{'.' if similar else ''}{similar}"
        )
    repeated = [text for words in matched.sets.values() for text in _same_vectors(words)]
    if repeated:
        warn(f"{embedding.name} has one vector for several words, used once: {'; '.join(repeated)}")
    row_of = {
        word: row
        for words in map(MatchedWords.distinct, matched.sets.values())
        for word, row in zip(words.found, words.rows.tolist(), strict=True)
    }
    protected = [word for word in study.protected_words if word in row_of]
    attributes = [attribute for attribute in study.attributes if attribute.word in row_of]
    return _StudyWords(
        Side(protected, np.array([row_of[word] for word in protected])),
        attributes,
        np.array([row_of[attribute.word] for attribute in attributes]),
        {label: list(words) for label, words in matched.missing.items()},
    )


def _refuse_two_roles(matched: Matched) -> None:
    """Refuse words of two lists that have one vector, as a word has one role in a study."""
    for first, second, entries in matched.overlaps():
        one, other = (
            words.found[words.entries.index(entries[0])]
            for words in (matched[first], matched[second])
        )
        raise DataError(
            f"embedding {matched.embedding!r}: {one!r} of {first!r} and {other!r} of {second!r} "
            f"are the same word {entries[0]!r} there; remove one of them from the study."
        )


def _same_vectors(words: MatchedWords) -> Iterator[str]:
    """Yield which words of a list have the vector of an earlier one."""
    first: dict[str, str] = {}
    for word, entry in zip(words.found, words.entries, strict=True):
        if entry in first:
            yield f"{word!r} is {first[entry]!r}"
        first.setdefault(entry, word)


def _levels(
    study: Study, names: list[str], chosen: list[_StudyWords]
) -> dict[str, pd.CategoricalDtype]:
    """Return the categories of each column, the same for all embeddings, in the study's order."""
    protected = {word for words in chosen for word in words.protected.words}
    attributes = {attribute.word for words in chosen for attribute in words.attributes}
    compared = [attribute for attribute in study.attributes if attribute.word in attributes]
    levels: dict[str, Iterable[str]] = {
        "protected_word": [word for word in study.protected_words if word in protected],
        "word_to_compare": [attribute.word for attribute in compared],
        "word_class": dict.fromkeys(attribute.word_class for attribute in compared),
        "connection": CONNECTIONS,
        "protected_group": study.groups,
        "embedding": names,
    }
    return {name: category_type(words) for name, words in levels.items()}


def _frame(
    embedding: Embedding,
    study: Study,
    words: _StudyWords,
    levels: Mapping[str, pd.CategoricalDtype],
    plan: CovariatePlan,
) -> pd.DataFrame:
    """Compute all distances with one product and lay them out, the protected word slowest."""
    compared = [attribute.word for attribute in words.attributes]
    covariates = plan.values(embedding, words.protected, Side(compared, words.attribute_rows))
    protected = unit_vectors(embedding, words.protected.rows)
    attributes = unit_vectors(embedding, words.attribute_rows)
    similarity = (protected @ attributes.T).ravel()
    np.clip(similarity, -1.0, 1.0, out=similarity)
    n_p, n_a = len(protected), len(attributes)

    group_of = {word: group for group, of in study.groups.items() for word in of}
    own_group = [group_of[word] for word in words.protected.words]
    code = {name: np.int8(i) for i, name in enumerate(CONNECTIONS)}
    is_own = np.array(own_group)[:, None] == np.array([str(a.group) for a in words.attributes])
    connection = np.where(is_own, code["associated"], code["different"])
    for kind, name in CONTROL_CONNECTIONS.items():
        connection[:, [a.control == kind for a in words.attributes]] = code[name]

    def repeated(name: str, values: Sequence[str]) -> pd.Categorical:
        return categorical(np.repeat(category_codes(levels[name], values), n_a), levels[name])

    def tiled(name: str, values: Sequence[str]) -> pd.Categorical:
        return categorical(np.tile(category_codes(levels[name], values), n_p), levels[name])

    return pd.DataFrame(
        {
            "protected_word": repeated("protected_word", words.protected.words),
            "word_to_compare": tiled("word_to_compare", compared),
            "word_class": tiled("word_class", [a.word_class for a in words.attributes]),
            "cosine_distance": 1.0 - similarity,
            "cosine_similarity": similarity,
            "connection": categorical(connection.ravel(), levels["connection"]),
            "protected_group": repeated("protected_group", own_group),
            "embedding": repeated("embedding", [embedding.name] * n_p),
            **{
                name: np.repeat(values, n_a) if is_protected(name) else np.tile(values, n_p)
                for name, values in covariates.items()
            },
        },
        copy=False,
    )
