"""Word lists for groups: the most frequent words, by part of speech, or around attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesbias._core.array_types import Codes
from bayesbias._core.validation import at_least, one_of, positive, share, word_list
from bayesbias._core.wording import quoted
from bayesbias.corpus import Corpus
from bayesbias.embeddings import Embedding, Matching, check_embedding
from bayesbias.errors import DataError, SpecError, VocabularyError, warn
from bayesbias.wordlists.build import build_notes
from bayesbias.wordlists.build.built_lists import BuiltLists, listed
from bayesbias.wordlists.build.balanced_choice import take
from bayesbias.wordlists.build.group_classifier import GroupClassifier
from bayesbias.wordlists.build.clusters import CENTROIDS, Centroids, Clusters, cluster
from bayesbias.wordlists.build.word_filters import as_stop_words, is_word
from bayesbias.wordlists.build.vocabulary_frequency import counts_of, ranks
from bayesbias.wordlists.build.labelled_words import Labelled, as_labelled
from bayesbias.wordlists.build.parts_of_speech import PARTS_OF_SPEECH, majority_tags, tags_of
from bayesbias.wordlists.build.candidate_pool import Pool
from bayesbias.wordlists.query import as_sets
from bayesbias.wordlists.check.word_usage import HasCounts, as_counts
from bayesbias.wordlists.wordset import WordSet

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("frequency", "pos", "clusters")
#: A group for words that belong to none of the others; it gets no list unless it is asked for.
NEUTRAL = "neutral"
# What to do if most words are left out for a reason, and none is left.
_REMEDIES = {
    "no frequency": "give counts of its words, in their spelling or in small letters",
    "no part of speech": "give the tags of its words, in their spelling or in small letters",
    "other part of speech": f"give universal tags, such as {quoted(PARTS_OF_SPEECH)}",
}
Attributes = Mapping[str, Iterable[str]] | Iterable[str] | Iterable[Iterable[str]]


def build_lists(
    embedding: Embedding,
    classifier: GroupClassifier | Labelled | str | PathLike[str],
    *,
    method: Literal["frequency", "pos", "clusters"] = "frequency",
    size: int = 100,
    groups: Iterable[str] | None = None,
    frequencies: pd.DataFrame | Mapping[str, float] | HasCounts | None = None,
    tags: pd.DataFrame | None = None,
    attributes: Attributes | None = None,
    threshold: float | None = None,
    include_labelled: bool = True,
    stop_words: str | Iterable[str] | None = "english",
    match_frequency: bool = False,
    caliper: float = 0.2,
    centroids: Centroids = "fixed",
    matching: Matching | None = None,
    seed: int = 0,
    progress: bool = True,
) -> BuiltLists:
    """Build a list of words for each group from an embedding and a few labelled words.

    Parameters
    ----------
    embedding : Embedding
        Whose vocabulary the words are taken from.
    classifier : GroupClassifier, mapping of str to iterable of str, or str
        What tells the groups of words: a fitted classifier, labelled words to fit one to, or their
        name or file, as `load_labelled` takes it.
    method : {"frequency", "pos", "clusters"}, default "frequency"
        Take the most frequent words of each group; the most frequent of each part of speech
        (adjectives, nouns, proper nouns, pronouns, verbs), the same number of each; or those
        nearest to the attributes, the same number for each attribute word.
    size : int, default 100
        How many words for each group. What a part of speech or an attribute cannot supply is
        shared out over the others.
    groups : iterable of str, optional
        The groups that get a list; by default all but one called ``neutral``.
    frequencies : DataFrame, mapping or corpus, optional
        How often words occur: columns ``word`` and ``count``, a dictionary, or an object with a
        method `counts`. By default the counts of `tags`; without these the place in the
        vocabulary stands for the frequency, as most files have the frequent words first.
    tags : DataFrame, optional
        The parts of speech that words have in sentences, which the method ``pos`` needs: columns
        ``word``, ``tag`` and ``count``, as `tag_words` gives them. The most frequent tag counts.
    attributes : iterable of str, list of lists or mapping, optional
        Attribute words, or sets of them, that the lists will be tested with. They are in no list,
        in whatever capitals. The method ``clusters`` needs them.
    threshold : float, optional
        The least probability of its group that a word must have; by default the classifier's.
    include_labelled : bool, default True
        Whether labelled words may be in the lists. They go by their label, not by the classifier.
    stop_words : "english", iterable of str or None, default "english"
        Words to leave out. Labelled words are never left out as stop words, since pronouns such as
        he and she are both.
    match_frequency : bool, default False
        Whether the groups get words in pairs of about the same frequency, since words of unequal
        frequency can look like bias. Not for the method ``clusters``.
    caliper : float, default 0.2
        How much the logarithms of two frequencies may differ in a pair.
    centroids : {"fixed", "spherical", "free"}, default "fixed"
        For the method ``clusters``: whether the centroids stay at the attribute words, move to the
        mean directions of their clusters (spherical k-means), or to their means (k-means). What
        moves may end far from the attribute, and one cluster may swallow most words.
    matching : Matching, optional
        How attributes and labelled words are matched with the vocabulary; that of the embedding by
        default.
    seed : int, default 0
        Of a classifier that is fitted here.
    progress : bool, default True
        Whether to show a bar, where one can be seen.

    Returns
    -------
    BuiltLists
        The lists, how each word got in, which were left out and why, and what to know of them.

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
    taken by the alphabet. The lists need a person's eye: a classifier finds words that go with a
    group, such as wedding, as well as words for it, such as bride. It goes by the vectors, so a
    test of classified words in the same embedding partly finds what the classifier has learnt.
    Lists of labelled words, or from one embedding and tested in another, are less prone to that.

    References
    ----------
    Ronur Prakash (2023), word lists from data; Antoniak & Mimno (2021), Bad seeds,
    doi:10.18653/v1/2021.acl-long.148.

    Examples
    --------
    >>> import bayesbias as bb
    >>> built = bb.build_lists(bb.load_embedding("demo"), "gender", size=20, threshold=0.9)
    >>> built
    <BuiltLists by frequency: female 20, male 20 words>
    >>> built.words[["group", "word", "how", "rank"]].head(3)
        group   word       how  rank
    0  female    she  labelled    68
    1  female    her  labelled    72
    2  female  women  labelled   267
    """
    one_of("method", method, METHODS)
    at_least("size", size, 1)
    positive("caliper", caliper)
    one_of("centroids", centroids, CENTROIDS)
    at_least("seed", seed, 0)
    if threshold is not None:
        share("threshold", threshold)
    check_embedding(embedding)
    unwanted = as_stop_words(stop_words)
    sets = _as_sets(attributes)
    _check_method(method, match_frequency, sets, tags)
    around, known = _attribute_rows(embedding, sets, matching)
    tag_of = None if tags is None else majority_tags(tags)
    fitted, names = _fitted(embedding, classifier, groups, matching, seed)
    least = fitted.threshold if threshold is None else threshold
    # Last, since a corpus may take long to count.
    if isinstance(frequencies, Corpus):
        frequencies = frequencies.counts(progress=progress)
    counts = as_counts(tags if frequencies is None else frequencies)

    pool = Pool(embedding, fitted)
    pool.drop(around, "attribute")
    # Family and FAMILY are the attribute family too.
    spelt = {word.lower() for attributes in sets for word in attributes}
    pool.drop_if(lambda word, _: word.lower() in spelt, "attribute")
    pool.drop_if(lambda word, _: not is_word(word), "not a word")
    pool.drop_if(lambda word, row: word.lower() in unwanted and pool.label[row] < 0, "stop word")
    pool.drop_without_direction()
    all_words = pool.left()
    if not include_labelled:
        pool.drop(np.flatnonzero(pool.label >= 0), "labelled")
    count = None if counts is None else counts_of(embedding, counts)
    if count is not None:
        pool.drop(np.flatnonzero(np.isnan(count)), "no frequency")
    tagged = {} if tag_of is None else tags_of(embedding.words, tag_of)
    if method == "pos":
        pool.drop_if(lambda word, _: word not in tagged, "no part of speech")
        pool.drop_if(lambda word, _: tagged[word] not in PARTS_OF_SPEECH, "other part of speech")
    pool.classify(least, names, progress)

    candidates = pool.candidates(ranks(embedding, count), count)
    _check_left(candidates, names, pool)
    if count is None:
        known += build_notes.of_order(embedding)
    column, rest = "", "less frequent"
    classes: tuple[str, ...] = ()
    if tags is not None:
        candidates["tag"] = candidates["word"].map(tagged)
    if method == "pos":
        column, classes = "tag", PARTS_OF_SPEECH
    if method == "clusters":
        column, classes = "cluster", tuple(embedding.words[row] for row in around)
        rest = "farther from the attributes"
        found = cluster(embedding, all_words, around, centroids)
        candidates = _nearest_first(candidates, found, all_words, classes)
        known += build_notes.of_closeness(found, classes)
        warn(build_notes.CIRCULAR)
    if match_frequency:
        rest = "less frequent, or without a pair"
    chosen = take(candidates, names, size, column, classes, caliper if match_frequency else None)
    _check_chosen(chosen, names, caliper)
    short = build_notes.of_sizes(chosen, names, size)
    for text in short:
        warn(text)
    known += short + build_notes.of_frequencies(chosen, names) + build_notes.of_classifier(fitted)
    if method == "pos":
        known += build_notes.of_parts_of_speech(chosen, names)

    settings = [f"method {method}", f"classifier {fitted.chosen}", f"threshold {least:g}"]
    settings += ["frequencies matched"] if match_frequency else []
    settings += [f"{centroids} centroids"] if method == "clusters" else []
    source = f"built from {embedding.name} with bayesbias.build_lists: {', '.join(settings)}"
    word_sets = {
        name: WordSet(name, chosen.loc[chosen["group"] == name, "word"].tolist(), source)
        for name in names
    }
    return BuiltLists(
        word_sets,
        chosen.drop(columns="log_frequency").reset_index(drop=True),
        pool.left_out(chosen.index.to_numpy(), rest),
        tuple(known),
        method,
        fitted,
        sets,
    )


def _check_method(
    method: str, match_frequency: bool, sets: tuple[WordSet, ...], tags: pd.DataFrame | None
) -> None:
    """Refuse a method without what it needs, before long work."""
    if method == "pos" and tags is None:
        # The tag of a bare word, without a sentence, would be a guess.
        raise SpecError(
            "the method 'pos' needs 'tags', the parts of speech that words have in sentences: "
            "tags=tag_words(corpus), which needs pip install 'bayesbias[pos]'."
        )
    if method == "clusters" and not sets:
        raise SpecError(
            "the method 'clusters' needs 'attributes', the words to cluster around, such as "
            "[word_sets('weat')['career'], word_sets('weat')['family']]."
        )
    if method == "clusters" and match_frequency:
        raise SpecError(
            "'match_frequency' goes with the methods 'frequency' and 'pos'; 'clusters' takes the "
            "words nearest to the attributes, however frequent they are."
        )


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
    """Return the rows of all attributes, each once, and a note of those that are not there."""
    words = [word for attributes in sets for word in attributes]
    found = embedding.match(words, matching)
    if words and not found.found:
        raise VocabularyError(
            f"embedding {embedding.name!r} has none of the attributes, such as {quoted(words, 4)}."
        )
    lacking = [f"{embedding.name} lacks attributes: {quoted(found.missing)}."]
    if found.missing:
        warn(lacking[0])
    rows = np.array(list(dict.fromkeys(found.rows.tolist())), dtype=np.intp)
    return rows, lacking if found.missing else []


def _fitted(
    embedding: Embedding,
    classifier: GroupClassifier | Labelled | str | PathLike[str],
    groups: Iterable[str] | None,
    matching: Matching | None,
    seed: int,
) -> tuple[GroupClassifier, tuple[str, ...]]:
    """Return a classifier, and the groups that get a list; these are checked before the fit."""
    if isinstance(classifier, GroupClassifier):
        return classifier, _wanted(groups, classifier.groups)
    labelled = as_labelled(classifier)
    names = _wanted(groups, tuple(labelled))
    return GroupClassifier().fit(embedding, labelled, seed=seed, matching=matching), names


def _wanted(groups: Iterable[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    if groups is None:
        return tuple(name for name in known if name != NEUTRAL)
    names = tuple(dict.fromkeys(word_list("groups", groups)))
    for name in names:
        one_of("groups", name, known)
    if not names:
        raise SpecError(f"'groups' is empty; give some of {quoted(known)}.")
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


def _check_chosen(chosen: pd.DataFrame, names: Sequence[str], caliper: float) -> None:
    """Refuse lists without words, as when none are of like frequency."""
    for name in names:
        if not (chosen["group"] == name).any():
            raise DataError(
                f"no words of {quoted(names)} are of like frequency; give a larger caliper than "
                f"{caliper:g}, or leave match_frequency out."
            )


def _nearest_first(
    candidates: pd.DataFrame, found: Clusters, rows: Codes, centres: Sequence[str]
) -> pd.DataFrame:
    """Return the candidates with their clusters, those nearest to a centroid first."""
    place = np.searchsorted(rows, candidates.index.to_numpy())
    names = np.array(centres, dtype=object)
    told = candidates.assign(cluster=names[found.labels[place]], similarity=found.similarity[place])
    return told.sort_values(["similarity", "rank"], ascending=[False, True])
