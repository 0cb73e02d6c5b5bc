"""What to know of lists that were built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.wording import counted, quoted
from bayesbias.embeddings import Embedding
from bayesbias.wordlists.build.balanced_choice import shares
from bayesbias.wordlists.build.candidate_pool import Pool
from bayesbias.wordlists.build.clusters import Clusters
from bayesbias.wordlists.build.group_classifier import GroupClassifier
from bayesbias.wordlists.build.list_purity import expected_purity
from bayesbias.wordlists.build.parts_of_speech import PARTS_OF_SPEECH
from bayesbias.wordlists.check.word_usage import in_order

if TYPE_CHECKING:
    import pandas as pd

# Words of one group that are so many times as frequent as those of another, a cluster with so
# large a share of the words, and a classifier with so low a mean F1 are worth a note.
_UNEQUAL = 1.5
_LARGE = 0.5
_POOR = 0.6

CIRCULAR = (
    "The words were chosen for being close to the attributes, so a test of these lists with these "
    "attributes is circular; test others with them."
)


def of_order(embedding: Embedding) -> list[str]:
    """Report that the order of the vocabulary stands for frequencies."""
    note = "Without frequencies, the order of the vocabulary stands for them"
    if in_order(embedding.words):
        return [f"{note}."]
    return [f"{note}, but its first words do not look frequent; give 'frequencies'."]


def of_closeness(clusters: Clusters, centres: Sequence[str]) -> list[str]:
    """Report that a test with these attributes is circular, and what became of the clusters."""
    notes = [CIRCULAR]
    counts = np.bincount(clusters.labels, minlength=len(centres))
    largest = int(counts.argmax())
    part = counts[largest] / counts.sum()
    if part > _LARGE:
        notes.append(f"The cluster of {centres[largest]!r} holds {part:.0%} of all words.")
    if clusters.drift.min() < 1 - 1e-6:
        far = int(clusters.drift.argmin())
        notes.append(
            f"The centroids have moved: that of {centres[far]!r} has a cosine of "
            f"{clusters.drift[far]:.2f} to the word now, their mean is {clusters.drift.mean():.2f}."
        )
    return notes


def of_sizes(chosen: pd.DataFrame, groups: Sequence[str], size: int) -> list[str]:
    """Report which lists are shorter than was asked for, or have only one word."""
    counts = chosen["group"].value_counts()
    notes = []
    short = {name: int(counts[name]) for name in groups if counts[name] < size}
    if short:
        listed = ", ".join(f"{count} for {name!r}" for name, count in short.items())
        notes.append(f"Fewer than the {size} words asked for: {listed}.")
    single = [name for name in groups if counts[name] == 1]
    if single:
        notes.append(
            f"A single word for {quoted(single)}: nothing tells what is the group's from what is "
            "the word's own; build longer lists."
        )
    return notes


def of_frequencies(chosen: pd.DataFrame, groups: Sequence[str]) -> list[str]:
    """Report that the words of one group are much more frequent than those of another."""
    logs = chosen["log_frequency"]
    means = {name: float(logs[chosen["group"] == name].mean()) for name in groups}
    most, least = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    ratio = np.exp(means[most] - means[least])
    if ratio < _UNEQUAL:
        return []
    judged = "" if "count" in chosen else ", judged by their ranks"
    remedy = "" if "cluster" in chosen else "; ByFrequency(match_frequency=True) pairs them"
    return [
        f"The words of {most!r} are {ratio:.1f} times as frequent as those of {least!r} "
        f"(geometric means{judged}), and unequal frequencies can look like bias{remedy}."
    ]


def of_parts_of_speech(chosen: pd.DataFrame, groups: Sequence[str]) -> list[str]:
    """Report which parts of speech had too few words, so that others replace them."""
    notes = []
    for name in groups:
        tags = chosen.loc[chosen["group"] == name, "tag"]
        counts = {tag: int((tags == tag).sum()) for tag in PARTS_OF_SPEECH}
        fair = shares(len(tags), [len(tags)] * len(PARTS_OF_SPEECH))
        if any(counts[tag] < n for tag, n in zip(PARTS_OF_SPEECH, fair, strict=True)):
            listed = ", ".join(f"{tag} {n}" for tag, n in counts.items())
            notes.append(f"Not all parts of speech have enough words for {name!r}: {listed}.")
    return notes


def of_purity(
    chosen: pd.DataFrame, groups: Sequence[str], pool: Pool, threshold: float
) -> list[str]:
    """Report which share of the words can be expected to be in their group."""
    parts = []
    for name in groups:
        mine = chosen[(chosen["group"] == name) & (chosen["how"] == "classified")]
        if not len(mine):
            continue
        number = pool.n_classified[name]
        text = f"{name!r} ({counted(number, 'word')}, {len(mine)} of them in the list)"
        if pool.classifier.prior == "equal":  # how many words there are of other groups is unknown
            parts.append(f"{text} {mine['probability'].mean():.2f} by their probabilities")
            continue
        share, lower, upper = expected_purity(
            pool.classifier, name, number, pool.n_judged, threshold
        )
        # Where errors may account for all of the words, the middle of the interval means nothing.
        middle = f"{share:.2f}" if lower > 0 else "not known"
        parts.append(f"{text} {middle} (89% interval {lower:.2f} to {upper:.2f})")
    if not parts:
        return []
    return [f"Expected to be right among classified words: {', '.join(parts)}; look through them."]


def of_classifier(classifier: GroupClassifier, groups: Sequence[str]) -> list[str]:
    """Report that the groups of words are not reliable."""
    f1 = classifier.evaluation_.set_index("group")["f1"].reindex(list(groups)).sort_values()
    if f1.mean() >= _POOR:
        return []
    return [
        f"The classifier is poor (mean F1 {f1.mean():.2f} on held-out words of these groups), most "
        f"of all for {quoted([f1.index[0]])}; look through the lists, or give more labelled words."
    ]


def of_background(classifier: GroupClassifier) -> list[str]:
    """Report that probabilities are too high where neutral words were not labelled."""
    if not classifier.background_:
        return []
    return [
        f"{len(classifier.background_):,} words of the vocabulary stand for neutral words, since "
        "few or none are labelled, so the probabilities are somewhat too high; labels of a random "
        "sample of words would fix that."
    ]
