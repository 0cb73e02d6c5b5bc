"""Silhouettes on the opinion lexicon beside loops over subsets: `python benchmarks/silhouettes.py`.

The peers are the loop of Spliethöver & Wachsmuth (2021), who look up the words of each sample and
compute the metric with SciPy and scikit-learn, and subsets as weights of 0 and 1, which is what we
do for metrics that have no `cumulative` of their own. Both are timed for some subsets of all sizes,
and multiplied by their number. Values must agree.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from measuring import Record, alone, check
from scipy.spatial.distance import cdist
from scipy.stats import entropy, spearmanr
from sklearn.linear_model import LogisticRegression

import bayesbias as bb
from bayesbias._core.array_types import Array

Lists = Sequence[Sequence[str]]
Vectors = Mapping[str, Array]


def lexicon_query(metric: str) -> bb.Query:
    """Return male and female names against thousands of positive and negative words."""
    names, opinions = bb.word_sets("weat"), bb.word_sets("bing_liu")
    sides = [opinions["positive_words"], opinions["negative_words"]]
    if metric == "ect":  # it has one list of concepts
        both = list(dict.fromkeys([*sides[0], *sides[1]]))
        return bb.Query([names["male_names"], names["female_names"]], [both])
    return bb.Query([names["male_names"], names["female_names"]], sides)


def weat_es(x: Lists, y: Lists, vectors_of: Vectors) -> float:
    """Return the effect size of WEAT from words."""
    vectors = [[vectors_of[word] for word in words] for words in (*x, *y)]
    first, second = (
        cdist(t, vectors[3], "cosine").mean(axis=1) - cdist(t, vectors[2], "cosine").mean(axis=1)
        for t in vectors[:2]
    )
    return float((first.mean() - second.mean()) / np.std(np.concatenate([first, second])))


def ect(x: Lists, y: Lists, vectors_of: Vectors) -> float:
    """Return the coherence of words."""
    vectors = [[vectors_of[word] for word in words] for words in (*x, *y)]
    means = [np.mean(t, axis=0) for t in vectors[:2]]
    close = 1 - cdist(means, vectors[2], "cosine")
    return float(spearmanr(close[0], close[1]).statistic)


def rnsb_groups(x: Lists, y: Lists, vectors_of: Vectors) -> float:
    """Return the divergence of the groups' predicted sentiments from words."""
    first, second, positive, negative = (
        np.array([vectors_of[word] for word in words]) for words in (*x, *y)
    )
    labels = np.repeat([0, 1], [len(positive), len(negative)])
    model = LogisticRegression(solver="liblinear").fit(np.vstack([positive, negative]), labels)
    shares = model.predict_proba(np.array([first.mean(axis=0), second.mean(axis=0)]))[:, 1]
    return float(entropy(shares, np.ones(2)))


#: The metric as the loop computes it, and how far its solver may stop before the optimum.
LOOPS: dict[str, tuple[Callable[[Lists, Lists, Vectors], float], float]] = {
    "weat_es": (weat_es, 1e-5),
    "ect": (ect, 1e-5),
    "rnsb_groups": (rnsb_groups, 1e-3),
}


def records(short: bool) -> Iterator[Record]:
    """Yield the loop and the weights for each metric."""
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)
    embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    runs = {"weat_es": 100, "ect": 100, "rnsb_groups": 5}
    subsets = 5 if short else 40
    if short:
        runs = {"weat_es": 2, "ect": 2}
    for metric, n in runs.items():
        ours, theirs = [], []
        for seed in range(1 if short or metric == "rnsb_groups" else 3):
            start = time.perf_counter()
            found = bb.silhouettes(
                metric, lexicon_query(metric), embeddings, side="attributes", runs=n, seed=seed
            )
            ours.append(time.perf_counter() - start)
            theirs.append(loop_seconds(metric, found, subsets))
        size = f"{metric}, {found.sizes[-1]:,} words, {n} runs, 2 embeddings"
        note = f"the peer's from {subsets} subsets"
        one, other = tuple(ours), tuple(theirs)
        yield Record("silhouettes", size, one, "the authors' loop", other, note=note)
        weights = weights_seconds(found)
        yield Record("silhouettes", size, one, "weights", (weights,), note="weights from one run")


def loop_seconds(metric: str, found: bb.silhouette_analysis.Silhouettes, subsets: int) -> float:
    """Return how long the loop would take for all subsets."""
    rng = np.random.default_rng(0)
    value_of, tolerance = LOOPS[metric]
    seconds = 0.0
    for _ in range(subsets):
        place, run, size = (int(rng.integers(n)) for n in found.values.shape)
        growing = found.lists[place]
        sets = growing.measurement.words.sets
        vectors_of = {w: v for one in sets for w, v in zip(one.words, one.vectors, strict=True)}
        targets = [one.words for one in growing.measurement.words.targets]
        parts = [
            [sets[i].words[j] for j in order[run][:number]]
            for i, order, number in zip(
                growing.places, growing.orders, found.counts[size], strict=True
            )
        ]
        start = time.perf_counter()
        value = value_of(targets, parts, vectors_of)
        seconds += time.perf_counter() - start
        difference = abs(value - float(found.values[place, run, size]))
        check(difference < tolerance, f"{metric} of a subset differs by {difference:.1g}")
    return seconds / subsets * found.values.size


def weights_seconds(found: bb.silhouette_analysis.Silhouettes) -> float:
    """Return how long it would take by weights, without the `cumulative` of the metric."""
    growing = found.lists[0]
    words, metric = growing.measurement.words, growing.measurement.metric
    subsets = bb.metrics.NestedSubsets(
        {place: order[0] for place, order in zip(growing.places, growing.orders, strict=True)},
        dict(zip(growing.places, growing.counts.T, strict=True)),
    )
    plain = bb.metrics.Metric.cumulative
    start = time.perf_counter()
    for i in range(0, len(subsets), 100):  # in blocks, as silhouettes ask for them
        plain(metric, words.targets, words.attributes, subsets.part(slice(i, i + 100)))
    seconds = time.perf_counter() - start
    return seconds * len(found.embeddings) * found.runs


if __name__ == "__main__":
    alone(records)
