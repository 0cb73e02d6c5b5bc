"""Words clustered around attribute words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from bayesbias._core.array_types import Codes
from bayesbias.embeddings import Embedding, unit_vectors

#: What becomes of the centroids: they stay, move on the sphere, or move freely.
CENTROIDS = ("fixed", "spherical", "free")
Centroids = Literal["fixed", "spherical", "free"]
Floats: TypeAlias = npt.NDArray[np.floating]

# Rows handled at once, and the most rounds.
_BLOCK = 8192
_ROUNDS = 300


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each row and its cosine to the centroid, and how far centroids have moved."""

    labels: Codes
    similarity: npt.NDArray[np.float32]
    drift: npt.NDArray[np.float64]


def cluster(embedding: Embedding, rows: Codes, attributes: Codes, centroids: Centroids) -> Clusters:
    """Give each row to the nearest centroid; the centroids start at the attributes.

    All vectors have length one. Fixed centroids stay at the attributes, so the nearest one is
    that with the highest cosine; spherical k-means moves each to the direction of the mean of its
    cluster, ordinary k-means (``free``) to the mean. A cluster without words stays where it is.
    """
    start = unit_vectors(embedding, attributes)
    centres = start
    labels = np.full(len(rows), -1, dtype=np.intp)
    with threadpool_limits(1, user_api="blas"):
        lengths = np.concatenate([_lengths(vectors) for _, vectors in _blocks(embedding, rows)])
        for _ in range(_ROUNDS):
            before = labels
            labels, sums = _assign(embedding, rows, lengths, centres)
            if centroids == "fixed" or (labels == before).all():
                break
            centres = _moved(centres, sums, labels, centroids)
        directions = (centres / _lengths(centres)[:, None]).astype(np.float32)
        similarity = np.empty(len(rows), dtype=np.float32)
        for part, vectors in _blocks(embedding, rows):
            similarity[part] = np.einsum("ij,ij->i", vectors, directions[labels[part]])
        similarity /= lengths
    return Clusters(labels, similarity, np.einsum("ij,ij->i", start, directions))


def _assign(
    embedding: Embedding, rows: Codes, lengths: Floats, centres: npt.NDArray[np.float64]
) -> tuple[Codes, npt.NDArray[np.float64]]:
    """Return the nearest centre of each row, and the sum of the unit vectors of each centre."""
    single = centres.astype(np.float32)
    half = (single**2).sum(axis=1) / 2
    labels = np.empty(len(rows), dtype=np.intp)
    sums = np.zeros_like(centres)
    for part, vectors in _blocks(embedding, rows):
        products = vectors @ single.T
        products /= lengths[part, None]
        labels[part] = (products - half).argmax(axis=1)
        members = np.zeros_like(products)
        members[np.arange(len(vectors)), labels[part]] = 1 / lengths[part]
        sums += members.T @ vectors
    return labels, sums


def _moved(
    centres: npt.NDArray[np.float64],
    sums: npt.NDArray[np.float64],
    labels: Codes,
    centroids: Centroids,
) -> npt.NDArray[np.float64]:
    counts = np.bincount(labels, minlength=len(centres))[:, None]
    whole = _lengths(sums)[:, None] if centroids == "spherical" else np.maximum(counts, 1)
    result: npt.NDArray[np.float64] = np.where(counts > 0, sums / whole, centres)
    return result


def _blocks(embedding: Embedding, rows: Codes) -> Iterator[tuple[slice, npt.NDArray[np.float32]]]:
    for start in range(0, len(rows), _BLOCK):
        part = slice(start, start + _BLOCK)
        yield part, np.asarray(embedding.vectors[rows[part]])


def _lengths(vectors: npt.NDArray[np.floating]) -> Floats:
    """Return the lengths; one for what has none, so that it can be divided by."""
    norms: Floats = np.linalg.norm(vectors, axis=1)
    norms[norms == 0] = 1
    return norms
