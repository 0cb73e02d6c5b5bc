"""How much cosine similarities differ, by the number of dimensions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.blocks import blocks
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least
from bayesbias.embeddings.embedding import Embedding, unit_vectors
from bayesbias.embeddings.loading import EmbeddingLike, as_embeddings
from bayesbias.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd

#: What random points are called in the table.
RANDOM_POINTS = ("uniform points", "random directions")


def similarity_spread(
    embeddings: EmbeddingLike | Iterable[EmbeddingLike] = (),
    *,
    dimensions: Iterable[int] = (2, 3, 5, 10, 20, 50, 100, 200, 300, 500, 1000),
    pairs: int = 5000,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Return the spread of cosine similarities of random pairs, by the number of dimensions.

    In many dimensions random vectors are nearly orthogonal, and their similarities differ little:
    the same similarity means more in 300 dimensions than in 50. Two kinds of random points are
    compared with the words of embeddings: coordinates between 0 and 1, as in the experiment that
    chapter 2 of Dobrzeniecka (2021) shows, whose standard deviation approaches √(1 / (10 d)); and
    random directions, for which it is exactly √(1 / d). Coordinates of one sign make all
    similarities large, so only the second kind is a yardstick for word vectors.

    Parameters
    ----------
    embeddings : Embedding, str, path-like, or several of them
        The embeddings whose words are paired at random; none by default.
    dimensions : iterable of int
        The numbers of dimensions of the random points.
    pairs : int, default 5000
        How many pairs of each.
    seed : int, Generator or None, default 0
        Same number, same result.

    Returns
    -------
    DataFrame
        ``points`` (``uniform points``, ``random directions`` or the name of an embedding), ``dim``,
        the ``mean`` and ``sd`` of the similarities, and ``pairs``. Random directions have the
        standard deviation of an embedding in 1 / sd² dimensions.

    Raises
    ------
    SpecError
        If a number of dimensions is below 2.

    References
    ----------
    Venkat (2018), The curse of dimensionality: inside out.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.embeddings.similarity_spread(["demo", "demo-100d"], dimensions=[50, 100])
    >>> found[["points", "dim", "sd"]].round(2)
                  points  dim    sd
    0     uniform points   50  0.04
    1     uniform points  100  0.03
    2  random directions   50  0.14
    3  random directions  100  0.10
    4               demo   50  0.22
    5          demo-100d  100  0.17
    """
    import pandas as pd

    at_least("pairs", pairs, 2)
    sizes = [at_least("dimensions", size, 2) for size in dimensions]
    several = [] if _is_empty(embeddings) else as_embeddings(embeddings)
    if not sizes and not several:
        raise SpecError("there are neither 'dimensions' nor 'embeddings'; give some of either.")
    rng = np.random.default_rng(as_seed(seed))
    rows = [
        _row(points, size, _random_similarities(points, size, pairs, rng))
        for points in RANDOM_POINTS
        for size in sizes
    ]
    for embedding in several:
        rows.append(_row(embedding.name, embedding.dim, _of_words(embedding, pairs, rng)))
    return pd.DataFrame(rows)


def _is_empty(embeddings: object) -> bool:
    return isinstance(embeddings, tuple | list) and not embeddings


def _row(points: str, dim: int, similarities: Array) -> dict[str, object]:
    return {
        "points": points,
        "dim": dim,
        "mean": float(similarities.mean()),
        "sd": float(similarities.std(ddof=1)),
        "pairs": len(similarities),
    }


def _random_similarities(points: str, dim: int, pairs: int, rng: np.random.Generator) -> Array:
    result = np.empty(pairs)
    for part in blocks(pairs, 2 * dim):
        shape = (2, part.stop - part.start, dim)
        first, second = rng.random(shape) if points == RANDOM_POINTS[0] else rng.normal(size=shape)
        lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
        result[part] = (first * second).sum(axis=1) / lengths
    return result


def _of_words(embedding: Embedding, pairs: int, rng: np.random.Generator) -> Array:
    """Return the similarities of random pairs of different words."""
    if len(embedding) < 2:
        raise SpecError(f"embedding {embedding.name!r} has one word; a pair needs two.")
    first = rng.integers(len(embedding), size=pairs)
    second = (first + rng.integers(1, len(embedding), size=pairs)) % len(embedding)
    result = np.empty(pairs)
    for part in blocks(pairs, 2 * embedding.dim):
        both = unit_vectors(embedding, first[part]), unit_vectors(embedding, second[part])
        result[part] = (both[0] * both[1]).sum(axis=1)
    return result
