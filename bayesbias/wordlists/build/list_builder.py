"""Word lists for groups, built from an embedding and a few labelled words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.array_types import Codes
from bayesbias._core.validation import at_least, one_of, share, word_list
from bayesbias._core.wording import quoted
from bayesbias.corpus import Corpus
from bayesbias.embeddings import Embedding, EmbeddingLike, Matching, as_embedding
from bayesbias.errors import DataError, SpecError, VocabularyError, warn
from bayesbias.wordlists.build import build_notes
from bayesbias.wordlists.build.base import ListMethod, ListRequest
from bayesbias.wordlists.build.built_lists import BuiltLists, listed
from bayesbias.wordlists.build.by_cluster import ByCluster
from bayesbias.wordlists.build.by_frequency import ByFrequency
from bayesbias.wordlists.build.by_part_of_speech import NEEDS_TAGS, ByPartOfSpeech
from bayesbias.wordlists.build.candidate_pool import Pool
from bayesbias.wordlists.build.group_classifier import GroupClassifier
from bayesbias.wordlists.build.labelled_words import ASSOCIATED, NEUTRAL, Labelled, as_labelled
from bayesbias.wordlists.build.parts_of_speech import PARTS_OF_SPEECH
from bayesbias.wordlists.build.vocabulary_frequency import counts_of, ranks
from bayesbias.wordlists.build.word_filters import as_stop_words, is_word
from bayesbias.wordlists.check.word_usage import HasCounts, as_counts
from bayesbias.wordlists.query import as_sets
from bayesbias.wordlists.wordset import WordSet

if TYPE_CHECKING:
    import pandas as pd

#: The methods by their names.
METHODS: dict[str, type[ListMethod]] = {
    method.name: method for method in (ByFrequency, ByPartOfSpeech, ByCluster)
}
# What to do if most words are left out for a reason, and none is left.
_REMEDIES = {
    "no frequency": "give counts of its words, as they are written or in lower case",
    "no part of speech": "give the tags of its words, as they are written or in lower case",
    "other part of speech": f"give universal tags, such as {quoted(PARTS_OF_SPEECH)}",
}
Attributes = Mapping[str, Iterable[str]] | Iterable[str] | Iterable[Iterable[str]]


def build_lists(
    embedding: EmbeddingLike,
    classifier: GroupClassifier | Labelled | str | PathLike[str],
    *,
    method: str | ListMethod = "frequency",
    size: int = 100,
    groups: Iterable[str] | None = None,
    frequencies: pd.DataFrame | Mapping[str, float] | HasCounts | None = None,
    attributes: Attributes | None = None,
    threshold: float | None = None,
    include_labelled: bool = True,
    stop_words: str | Iterable[str] | None = "english",
    matching: Matching | None = None,
    progress: bool = True,
) -> BuiltLists:
    """Build a list of words for each group from an embedding and a few labelled words.

    Parameters
    ----------
    embedding : Embedding or str
        Whose vocabulary the words are taken from.
    classifier : GroupClassifier, mapping of str to iterable of str, or str
        What estimates the groups of words: a fitted classifier, or the ``.npz`` file of one;
        labelled words to fit one to with its default settings, or their name or file, as
        `load_labelled` takes it.
    method : str or method, default "frequency"
        How words are chosen. ``"frequency"`` or `ByFrequency`: the most frequent words of each
        group, also in pairs of equal frequency; `ByPartOfSpeech`: the most frequent of each part
        of speech; ``"clusters"`` or `ByCluster`: those nearest to the attributes.
    size : int, default 100
        How many words for each group. What a part of speech or an attribute cannot supply is
        shared out over the others.
    groups : iterable of str, optional
        The groups that get a list; by default all but one called ``neutral`` and those called
        ``associated with …``, whose words are in `BuiltLists.associated`.
    frequencies : DataFrame, mapping or corpus, optional
        How often words occur: columns ``word`` and ``count``, a dictionary, or an object with a
        method `counts`. By default the counts of the method's tags; without these the place in
        the vocabulary stands for the frequency, as most files have the frequent words first.
    attributes : iterable of str, list of lists or mapping, optional
        Attribute words, or sets of them, that the lists will be tested with. They are in no list,
        in whatever capitals. The method ``clusters`` needs them.
    threshold : float, optional
        The least probability of its group that a word must have; by default the classifier's,
        0.8 unless it was given another. The notes state the share of classified words that can be
        expected to be right, estimated from the labelled words that the classifier had not seen.
    include_labelled : bool, default True
        Whether labelled words may be in the lists. They go by their label, not by the classifier.
    stop_words : "english", iterable of str or None, default "english"
        Words to leave out. Labelled words are never left out as stop words, since pronouns such as
        he and she are both.
    matching : Matching, optional
        How attributes and labelled words are matched with the vocabulary; that of the embedding by
        default.
    progress : bool, default True
        Whether to show a bar, where one can be seen.

    Returns
    -------
    BuiltLists
        The lists, why each word was included, which were left out and why, and notes on them.

    Raises
    ------
    SpecError
        If an argument is not what it should be, or something that the method needs is not given.
    DataError
        If a table lacks a column or holds impossible counts, or no word is left for a group.
    VocabularyError
        If the embedding has none of the attributes or labelled words.

    Warns
    -----
    BayesBiasWarning
        If a list is shorter than `size` or has a single word, if the embedding lacks attributes,
        and that targets chosen by closeness to the attributes make a later test circular.

    Notes
    -----
    Numbers, punctuation, single letters and fragments are left out. Equally frequent words are
    taken by the alphabet.

    Probabilities know how rare the groups are in the vocabulary, see `GroupClassifier`, and are
    still somewhat too high. With the labels ``gender`` and the 50,000 most frequent words of GloVe
    6B (50 dimensions), 0.93 of 345 classified words are expected to be female and 0.90 of 300 male.
    A single reader found 0.83 and 0.82 (a woman's surname is not a word for women). Of the 130 most
    frequent of each, which had been looked at when the settings of the classifier were chosen,
    0.98 and 0.93 were right; of the others 0.74 and 0.73. Most errors are surnames. Where no random
    sample of words is labelled, as in ``religion``, the probabilities are too high by more.

    The lists still need a person's eye: a classifier finds words that go with a group, such as
    wedding, as well as words for it, such as bride. Labels of words that are merely associated with
    a group keep many of them apart; `BuiltLists.review_sheet` is for the others. A classifier goes
    by the vectors, so a test of classified words in the same embedding partly finds what it has
    learnt. Lists of labelled words, or from one embedding and tested in another, are less prone to
    that.

    References
    ----------
    Ronur Prakash (2023), word lists from data; Antoniak & Mimno (2021), Bad seeds,
    doi:10.18653/v1/2021.acl-long.148.

    Examples
    --------
    >>> import bayesbias as bb
    >>> labelled = bb.load_labelled("gender")
    >>> two = {name: labelled[name] for name in ("female", "male")}
    >>> groups = bb.wordlists.GroupClassifier(background=200).fit("demo", two)
    >>> built = bb.build_lists("demo", groups, size=20)
    >>> built
    <BuiltLists by frequency: female 20, male 20 words>
    >>> built.words[["group", "word", "how", "rank"]].head(3)
        group   word       how  rank
    0  female    she  labelled    68
    1  female    her  labelled    72
    2  female  women  labelled   267
    """
    how = _as_method(method)
    at_least("size", size, 1)
    if threshold is not None:
        share("threshold", threshold)
    embedding = as_embedding(embedding)
    unwanted = as_stop_words(stop_words)
    sets = _as_sets(attributes)
    how.check(sets)
    attribute_rows, notes = _attribute_rows(embedding, sets, matching)
    fitted, names = _fitted(embedding, classifier, groups, matching)
    least = fitted.threshold if threshold is None else threshold
    # Last, since a corpus may take long to count.
    if isinstance(frequencies, Corpus):
        frequencies = frequencies.counts(progress=progress)
    counts = as_counts(how.frequencies if frequencies is None else frequencies)

    pool = Pool(embedding, fitted)
    _leave_out(pool, sets, attribute_rows, unwanted)
    request = ListRequest(names, size, embedding, pool.left(), attribute_rows)
    if not include_labelled:
        pool.drop(np.flatnonzero(pool.label >= 0), "labelled")
    count = None if counts is None else counts_of(embedding, counts)
    if count is None:
        notes += build_notes.of_order(embedding)
    else:
        pool.drop(np.flatnonzero(np.isnan(count)), "no frequency")
    how.leave_out(pool)
    pool.classify(least, names, progress)
    candidates = pool.candidates(ranks(embedding, count), count)
    _check_left(candidates, names, pool)
    chosen = how.choose(candidates, request)

    too_short = build_notes.of_sizes(chosen.words, names, size)
    for text in too_short:
        warn(text)
    notes += chosen.notes + too_short + build_notes.of_frequencies(chosen.words, names)
    notes += build_notes.of_purity(chosen.words, names, pool, least)
    notes += build_notes.of_background(fitted)
    notes += build_notes.of_classifier(fitted, names)
    settings = [f"method {how.name}", f"classifier {fitted.chosen_}", f"threshold {least:g}"]
    source = ", ".join([*settings, *how.settings()])
    source = f"built from {embedding.name} with bayesbias.build_lists: {source}"
    return BuiltLists(
        _word_sets(chosen.words, names, source),
        chosen.words.drop(columns="log_frequency").reset_index(drop=True),
        pool.left_out(chosen.words.index.to_numpy(), chosen.why_not),
        tuple(notes),
        how.name,
        fitted,
        sets,
        pool.associated(size, ranks(embedding, count), source),
    )


def _as_method(method: str | ListMethod) -> ListMethod:
    """Return the method, also by its name."""
    if isinstance(method, ListMethod):
        return method
    chosen = METHODS[one_of("method", method, METHODS)]
    if chosen is ByPartOfSpeech:
        raise SpecError(NEEDS_TAGS)
    return chosen()


def _leave_out(
    pool: Pool, sets: tuple[WordSet, ...], attribute_rows: Codes, unwanted: frozenset[str]
) -> None:
    """Leave out attributes, stop words, and what is not a word or has no direction."""
    pool.drop(attribute_rows, "attribute")
    # Family and FAMILY are the attribute family too.
    lower_case = {word.lower() for attributes in sets for word in attributes}
    pool.drop_if(lambda word, _: word.lower() in lower_case, "attribute")
    pool.drop_if(lambda word, _: not is_word(word), "not a word")
    pool.drop_if(lambda word, row: word.lower() in unwanted and pool.label[row] < 0, "stop word")
    pool.drop_without_direction()


def _word_sets(words: pd.DataFrame, names: Sequence[str], source: str) -> dict[str, WordSet]:
    return {
        name: WordSet(name, words.loc[words["group"] == name, "word"].tolist(), source)
        for name in names
    }


def _as_sets(attributes: Attributes | None) -> tuple[WordSet, ...]:
    """Return the sets of attributes; a plain list of words is one set."""
    if attributes is None:
        return ()
    if isinstance(attributes, Mapping):
        return tuple(WordSet(str(name), words) for name, words in attributes.items())
    if isinstance(attributes, WordSet):
        return (attributes,)
    if isinstance(attributes, str) or not isinstance(attributes, Iterable):
        raise SpecError(
            f"'attributes' is {attributes!r}; expected words, or sets of words: [[…], […]]."
        )
    given = list(attributes)
    if given and all(isinstance(item, str) for item in given):
        return (WordSet("attributes", word_list("attributes", given)),)
    return as_sets("attribute", given, None)


def _attribute_rows(
    embedding: Embedding, sets: tuple[WordSet, ...], matching: Matching | None
) -> tuple[Codes, list[str]]:
    """Return the rows of all attributes, each once, and a note on those that it lacks."""
    words = [word for attributes in sets for word in attributes]
    matched = embedding.match(words, matching)
    if words and not len(matched):
        raise VocabularyError(
            f"embedding {embedding.name!r} has none of the attributes, such as {quoted(words, 4)}."
        )
    notes = []
    if matched.missing:
        notes = [f"{embedding.name} lacks attributes: {quoted(matched.missing)}."]
        warn(notes[0])
    return matched.distinct().rows, notes


def _fitted(
    embedding: Embedding,
    classifier: GroupClassifier | Labelled | str | PathLike[str],
    groups: Iterable[str] | None,
    matching: Matching | None,
) -> tuple[GroupClassifier, tuple[str, ...]]:
    """Return a classifier, and the groups that get a list; these are checked before the fit."""
    if isinstance(classifier, str | PathLike) and Path(classifier).suffix.lower() == ".npz":
        classifier = GroupClassifier.load(classifier)
    if isinstance(classifier, GroupClassifier):
        return classifier, _wanted(groups, tuple(classifier.classes_))
    labelled = as_labelled(classifier)
    names = _wanted(groups, tuple(labelled))
    return GroupClassifier().fit(embedding, labelled, matching=matching), names


def _wanted(groups: Iterable[str] | None, all_groups: tuple[str, ...]) -> tuple[str, ...]:
    if groups is None:
        return tuple(n for n in all_groups if n != NEUTRAL and not n.startswith(ASSOCIATED))
    names = tuple(dict.fromkeys(word_list("groups", groups)))
    for name in names:
        one_of("groups", name, all_groups)
    if not names:
        raise SpecError(f"'groups' is empty; give some of {quoted(all_groups)}.")
    return names


def _check_left(candidates: pd.DataFrame, names: Sequence[str], pool: Pool) -> None:
    """Refuse a group that no word is left for."""
    for name in names:
        if not (candidates["group"] == name).any():
            reasons = pool.reasons()
            remedy = _REMEDIES.get(
                next(iter(reasons)), "lower the threshold, or give more labelled words"
            )
            raise DataError(
                f"no word of embedding {pool.embedding.name!r} is left for the group {name!r} "
                f"(left out: {listed(reasons)}); {remedy}."
            )
