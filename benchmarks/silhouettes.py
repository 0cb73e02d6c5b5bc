"""Silhouettes on the opinion lexicon beside weights, and beside a loop over subsets.

    python benchmarks/silhouettes.py

WEAT and RNSB have a `cumulative` of their own; without it, subsets are weights of 0 and 1. The loop
takes the vectors of each subset and asks the metric for its value. It is timed for a few subsets of
all sizes, and multiplied by their number.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import bayesbias as bb

SUBSETS = 60


def lexicon_query() -> bb.Query:
    """Return male and female names against thousands of positive and negative words."""
    names, opinions = bb.word_sets("weat"), bb.word_sets("bing_liu")
    return bb.Query(
        [names["male_names"], names["female_names"]],
        [opinions["positive_words"], opinions["negative_words"]],
    )


def loop_seconds(found: bb.silhouette_analysis.Silhouettes) -> tuple[float, float]:
    """Return how long the loop would take, and how far its values are from those found."""
    rng = np.random.default_rng(0)
    seconds, difference = 0.0, 0.0
    for _ in range(SUBSETS):
        embedding, run, size = (int(rng.integers(n)) for n in found.values.shape)
        growing = found.lists[embedding]
        words = growing.measurement.words
        sets = list(words.sets)
        start = time.perf_counter()
        for place, order, number in zip(
            growing.places, growing.orders, found.counts[size], strict=True
        ):
            sets[place] = sets[place].take(order[run][:number])
        n_targets = len(words.targets)
        value = growing.measurement.metric.value(sets[:n_targets], sets[n_targets:])
        seconds += time.perf_counter() - start
        difference = max(difference, abs(value - float(found.values[embedding, run, size])))
    return seconds / SUBSETS * found.values.size, difference


def weights_seconds(found: bb.silhouette_analysis.Silhouettes) -> float:
    """Return how long it would take by weights, without the `cumulative` of the metric."""
    growing = found.lists[0]
    plain = bb.metrics.Metric.cumulative
    metric = growing.measurement.metric
    subsets = bb.metrics.NestedSubsets(
        {place: order[0] for place, order in zip(growing.places, growing.orders, strict=True)},
        dict(zip(growing.places, growing.counts.T, strict=True)),
    )
    words = growing.measurement.words
    start = time.perf_counter()
    plain(metric, words.targets, words.attributes, subsets)
    return (time.perf_counter() - start) * len(found.embeddings) * found.runs


def main() -> None:
    """Time both, for the effect size of WEAT and for RNSB, whose classifiers learn anew."""
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)
    query = lexicon_query()
    embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    for metric, runs in (("weat_es", 100), ("rnsb_groups", 5)):
        start = time.perf_counter()
        found = bb.silhouettes(metric, query, embeddings, side="attributes", runs=runs)
        ours = time.perf_counter() - start
        weights = weights_seconds(found)
        loop, difference = loop_seconds(found)
        print(
            f"{metric}, {found.sizes[-1]} words, {runs} runs, 2 embeddings: {ours:.1f} s; "
            f"by weights about {weights:.1f} s, {weights / ours:.1f} times as long; by the loop "
            f"about {loop:.0f} s, {loop / ours:.0f} times as long, differing by "
            f"{difference:.0e} at most"
        )


if __name__ == "__main__":
    main()
