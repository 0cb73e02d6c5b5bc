"""Reference embeddings that have as much bias as is put in, and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from numbers import Real

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least
from bayesbias.embeddings import Embedding, check_embedding, unit_rows
from bayesbias.errors import SpecError
from bayesbias.metrics import as_query
from bayesbias.wordlists import Query

# The cosine of a target word with the direction of its group, and with that of all groups.
_OWN, _COMMON = 0.7, 0.5
# How far attribute words may lean to or from the direction of all groups.
_LEAN = 0.5
#: The largest strength: then an attribute word may lie along its group's direction and `_LEAN`.
STRONGEST = 0.3


def planted_embedding(
    query: Query | str,
    strength: float,
    *,
    dim: int = 100,
    like: Embedding | None = None,
    seed: Seed = 0,
    name: str | None = None,
) -> Embedding:
    """Make an embedding of the words of a query in which the bias is known.

    Each target set has a direction of its own, and the words of the attribute set in the same place
    lean towards it, as strongly as is asked for. In everything else words are random.

    Parameters
    ----------
    query : Query or str
        The words, or the name of a query. A word in several sets leans to none of them.
    strength : float
        How much larger the cosine of a target word with an attribute word in the same place is
        expected to be than with one of another; from 0, no bias, to 0.3.
    dim : int, default 100
        The number of dimensions.
    like : Embedding, optional
        Where to take random vectors from instead of drawing them from all directions: words get
        rows of it at random, so that lengths and angles are real and only the meaning is gone.
    seed : int or Generator, default 0
        Same seed, same result; embeddings of different strength with the same seed differ in
        their bias alone.
    name : str, optional
        The name; "planted 0.2" for a strength of 0.2 by default.

    Returns
    -------
    Embedding
        The words of the query with their vectors.

    Raises
    ------
    SpecError
        If the strength is out of range, or there are too few dimensions for the groups.

    Notes
    -----
    With orthogonal directions gᵢ for the groups and c for what they have in common, a target word
    is 0.7 gᵢ + 0.5 c + z and an attribute word is e gᵢ + b c + z, scaled to length one by z, which
    is random and orthogonal to all of these. Words lean to their group more or less: e is spread
    evenly between 0 and 2 · strength / 0.7. And there is an order among them in which the groups
    agree if there is no bias: b is spread evenly between −0.5 and 0.5. (The embedding coherence
    test compares such orders.) All else has the same expected cosine with one group as with
    another, 0 unless `like` is given, so that the difference is the mean of 0.7 e, the strength.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query = bb.load_query("weat_6")
    >>> emb = bb.silhouette_analysis.planted_embedding(query, 0.2)
    >>> emb
    <Embedding 'planted 0.2': 32 words × 100 dimensions>
    >>> score = bb.metrics.WEAT().run_query(query, emb)
    >>> round(score.value / 16, 1)  # both groups have 8 words, and lean to their side by 0.2
    0.2
    """
    query = as_query(query)
    if not isinstance(strength, Real) or not 0 <= strength <= STRONGEST:
        raise SpecError(f"'strength' is {strength!r}; expected a number from 0 to {STRONGEST}.")
    if like is not None:
        check_embedding(like, "like")
        dim = like.dim
    n_directions = max(query.template) + 1
    at_least("dim", dim, n_directions + 2)
    rng = np.random.default_rng(as_seed(seed))
    directions = np.linalg.qr(rng.standard_normal((dim, n_directions)))[0].T
    words = list(dict.fromkeys(word for words in query.word_sets().values() for word in words))
    n = len(words)
    rest, lengths = _random_rows(n, dim, like, rng)
    planted = np.zeros((n, n_directions))
    row = {word: i for i, word in enumerate(words)}
    for side, place, members in _members(query):
        rows = [row[word] for word in members]
        along = _OWN if side == "target" else strength / _OWN * (1 + _even(len(rows), rng))
        common = _COMMON if side == "target" else _LEAN * _even(len(rows), rng)
        planted[rows, place], planted[rows, -1] = along, common
    rest -= rest @ directions.T @ directions
    free = np.sqrt(1 - (planted**2).sum(axis=1))
    rest *= (free / np.linalg.norm(rest, axis=1))[:, None]
    vectors = lengths[:, None] * (planted @ directions + rest)
    return Embedding(words, vectors, f"planted {strength:g}" if name is None else name)


def _members(query: Query) -> Iterator[tuple[str, int, list[str]]]:
    """Yield the side of each set, its place, and the words that are in no other set."""
    number = Counter(word for words in query.word_sets().values() for word in words)
    for side, sets in (("target", query.target_sets), ("attribute", query.attribute_sets)):
        for place, words in enumerate(sets):
            yield side, place, [word for word in words if number[word] == 1]


def _even(n: int, rng: np.random.Generator) -> Array:
    """Return numbers spread evenly between −1 and 1, in random order; their mean is 0."""
    return (2 * rng.permutation(n) + 1) / n - 1


def _random_rows(
    n: int, dim: int, like: Embedding | None, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return random vectors of length one, and how long they are to be."""
    if like is None:
        return rng.standard_normal((n, dim)), np.ones(n)
    rows = rng.choice(len(like), n, replace=n > len(like))
    vectors = np.asarray(like.vectors[rows], dtype=np.float64)
    unit = unit_rows(vectors, [like.words[row] for row in rows], like.name)
    return unit.copy(), np.linalg.norm(vectors, axis=1)
