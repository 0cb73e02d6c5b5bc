"""Moments of all vectors of an embedding, block by block."""

from __future__ import annotations

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import blocks
from bayesbias.debias.base import to_unit
from bayesbias.embeddings import Embedding
from bayesbias.errors import DataError

# Rows handled at once: enough for fast products, few enough to need little memory.
_BLOCK = 8192


def double_vectors(embedding: Embedding, rows: Codes) -> Array:
    """Return some vectors in double precision."""
    return np.asarray(embedding.vectors[rows], dtype=np.float64)


def mean_vector(embedding: Embedding) -> Array:
    """Return the mean of all vectors."""
    total = np.zeros(embedding.dim)
    for rows in blocks(len(embedding), budget=_BLOCK):
        total += embedding.vectors[rows].sum(axis=0, dtype=np.float64)
    return _checked(total / len(embedding), embedding)


def second_moments(
    embedding: Embedding, *, centre: Array | None = None, unit: bool = False
) -> Array:
    """Return the sum of the outer products of all vectors with themselves, dim × dim.

    Vectors are taken about a centre, or scaled to length one, where asked for. Products are those
    of single precision, as the vectors are; blocks are added in double precision.
    """
    total = np.zeros((embedding.dim, embedding.dim))
    for rows in blocks(len(embedding), budget=_BLOCK):
        part = np.array(embedding.vectors[rows])
        if centre is not None:
            part -= centre.astype(np.float32)
        if unit:
            to_unit(part)
        total += part.T @ part
    return _checked(total, embedding)


def _checked(moments: Array, embedding: Embedding) -> Array:
    """Return the moments if they are finite."""
    if not np.isfinite(moments).all():
        raise DataError(
            f"embedding {embedding.name!r} holds vectors that are too large; leave out their words."
        )
    return moments
