"""Queries, embeddings and metrics made up for tests of growing lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import bayesbias as bb

DIM = 12


def made(
    targets: tuple[int, ...], attributes: tuple[int, ...], *, seed: int = 0, number: int = 2
) -> tuple[bb.Query, list[bb.Embedding]]:
    """A query of that many words a set, and embeddings of them with random vectors."""
    sides = {"t": targets, "a": attributes}
    sets = {
        side: [[f"{side}{i}_{j}" for j in range(n)] for i, n in enumerate(sizes)]
        for side, sizes in sides.items()
    }
    words = [word for side in sets.values() for words in side for word in words]
    rng = np.random.default_rng(seed)
    embeddings = [
        bb.Embedding(words, rng.normal(size=(len(words), DIM)) + 0.3, f"emb{i}")
        for i in range(number)
    ]
    return bb.Query(sets["t"], sets["a"]), embeddings


class Spread(bb.metrics.Metric):
    """A metric of a user: only `value`."""

    name = "spread"
    template = (2, 1)
    value_range = (-10.0, 10.0)

    def value(self, targets: Any, attributes: Any) -> float:
        first, second = (t.vectors.mean(axis=0) for t in targets)
        return float(np.median(attributes[0].vectors @ (first - second)) / DIM)


@dataclass(frozen=True)
class Means(bb.metrics.Metric):
    """The mean of the first numbers of the attribute vectors."""

    name: ClassVar[str] = "means"
    template: ClassVar[Any] = (1, 1)
    value_range: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    def value(self, targets: Any, attributes: Any) -> float:
        return float(attributes[0].vectors[:, 0].mean())

    def weighted(self, targets: Any, attributes: Any, target_weights: Any, weights: Any) -> Any:
        return (weights[0] @ attributes[0].vectors[:, 0]) / weights[0].sum(axis=1)


def of_numbers(
    numbers: list[np.ndarray[Any, Any]], **options: Any
) -> bb.silhouette_analysis.Silhouettes:
    """The silhouette of a plain mean of numbers, one list for each embedding."""
    words = [f"w{i}" for i in range(len(numbers[0]))]
    embeddings = [
        bb.Embedding(
            ["t", *words], np.column_stack([np.append(1, x), np.ones(len(x) + 1)]), f"e{i}"
        )
        for i, x in enumerate(numbers)
    ]
    return bb.silhouettes(
        Means, bb.Query([["t"]], [words]), embeddings, side="attributes", **options
    )
