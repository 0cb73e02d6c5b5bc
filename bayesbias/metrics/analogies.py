"""Analogies: pairs of words that differ as two given words do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import blocks
from bayesbias._core.validation import at_least, word_list
from bayesbias.embeddings import Embedding, nearest, unit_vectors
from bayesbias.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd

# Cosines in memory at once.
_NUMBERS = 8_000_000
# Words that are nearer than this have the same vector but for rounding: no direction leads from one
# to the other.
_SAME = 1e-3


def analogies(
    embedding: Embedding,
    pair: tuple[str, str] = ("she", "he"),
    *,
    delta: float = 1.0,
    n: int = 100,
    unrestricted: bool = False,
    vocabulary: int = 50_000,
) -> pd.DataFrame:
    """List the pairs x, y that differ most as a given pair does: she is to x as he is to y.

    Parameters
    ----------
    embedding : Embedding
        Where the vectors are from; they are scaled to length one.
    pair : tuple of two str, default ("she", "he")
        The two words whose difference is looked for.
    delta : float, default 1.0
        The largest distance of x and y, so that they are close in meaning; 1 is an angle of 60°.
    n : int, default 100
        How many pairs.
    unrestricted : bool, default False
        Whether x and y may be words of `pair`, and each analogy is checked: the column ``answer``
        is then what `complete_analogy` says with no word excluded.
    vocabulary : int, default 50,000
        x and y are among this many first words; in most files these are the most frequent.

    Returns
    -------
    DataFrame
        The pairs, most parallel first: ``x``, ``y``, ``score`` (the cosine of x − y with the
        difference of `pair`), ``distance`` of x and y, and ``answer`` if `unrestricted`. Each x
        comes once.

    Raises
    ------
    VocabularyError
        If the embedding lacks a word of the pair.
    SpecError
        If an argument is not what it should be.

    Notes
    -----
    x and y differ by definition, so that such a list never says *she is to doctor as he is to
    doctor*, though that may be the embedding's answer (Nissim et al. 2019): compare ``answer``
    with ``y``, and do not take a list for a measure of bias.

    References
    ----------
    Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), arXiv:1607.06520.
    Nissim, van Noord, van der Goot (2019), doi:10.1162/coli_a_00379.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> bb.metrics.analogies(emb, n=3, vocabulary=3000).round(2)
             x        y  score  distance
    0      her      his   0.97      0.49
    1  herself  himself   0.92      0.61
    2   mother   father   0.85      0.47
    """
    import pandas as pd

    words = word_list("pair", pair)
    if len(words) != 2 or words[0] == words[1]:
        raise SpecError(f"'pair' is {pair!r}; expected two different words: ('she', 'he').")
    query = _rows(embedding, *words)
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0 < delta <= 2:
        raise SpecError(f"'delta' is {delta!r}; expected a distance above 0 and up to 2.")
    at_least("n", n, 1)
    at_least("vocabulary", vocabulary, 2)
    first, second = unit_vectors(embedding, query)
    step = first - second
    length = float(np.linalg.norm(step))
    if length < _SAME:
        raise SpecError(
            f"{words[0]!r} and {words[1]!r} have the same vector in {embedding.name!r}; give words "
            "that differ."
        )
    unwanted = query[:0] if unrestricted else query
    x, y = _parallel(embedding, step / length, delta, vocabulary, unwanted)
    difference = unit_vectors(embedding, x) - unit_vectors(embedding, y)
    distance = np.linalg.norm(difference, axis=1)
    score = difference @ step / length / distance
    best = np.lexsort((x, -score))[:n]
    frame = pd.DataFrame(
        {
            "x": [embedding.words[row] for row in x[best]],
            "y": [embedding.words[row] for row in y[best]],
            "score": score[best],
            "distance": distance[best],
        }
    )
    if unrestricted:
        answers, _ = nearest(embedding, unit_vectors(embedding, x[best]) - step, 1)
        frame["answer"] = [embedding.words[row] for row in answers[:, 0]]
    return frame


def complete_analogy(
    embedding: Embedding, a: str, b: str, c: str, *, exclude: bool = True, n: int = 10
) -> pd.DataFrame:
    """Complete an analogy: a is to b as c is to what.

    Parameters
    ----------
    embedding : Embedding
        Where the vectors are from; they are scaled to length one.
    a, b, c : str
        The three words that are given.
    exclude : bool, default True
        Whether the answer may not be one of the three, as is usual. Often one of them is the
        nearest word, and its exclusion makes a difference where the embedding sees none
        (Nissim et al. 2019): look at both.
    n : int, default 10
        How many answers.

    Returns
    -------
    DataFrame
        The answers, nearest first: ``word`` and its ``cosine`` with b − a + c.

    Raises
    ------
    VocabularyError
        If the embedding lacks a word.

    References
    ----------
    Nissim, van Noord, van der Goot (2019), doi:10.1162/coli_a_00379.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> bb.metrics.complete_analogy(emb, "man", "doctor", "woman", n=1)["word"].item()
    'nurse'
    >>> found = bb.metrics.complete_analogy(emb, "man", "doctor", "woman", exclude=False, n=1)
    >>> found["word"].item()
    'doctor'
    """
    return embedding.analogy(a, b, c, n=n, exclude=exclude)


def _rows(embedding: Embedding, *words: str) -> Codes:
    for word in words:
        embedding[word]  # a word that is not there is refused by its name
    return np.array([embedding.index[word] for word in words], dtype=np.intp)


def _parallel(
    embedding: Embedding, axis: Array, delta: float, vocabulary: int, exclude: Codes
) -> tuple[Codes, Codes]:
    """Return the rows of each word x and of the y within delta that makes x − y most parallel."""
    vectors = np.asarray(embedding.vectors[:vocabulary])
    norms = np.linalg.norm(vectors, axis=1)
    usable = np.isfinite(norms) & (norms > 0)
    usable[exclude[exclude < len(usable)]] = False
    rows = np.flatnonzero(usable)
    unit = vectors[rows] / norms[rows, None]
    along = unit @ axis.astype(np.float32)
    # Along the axis, x comes before y: half of all pairs need no look.
    order = np.argsort(-along, kind="stable")
    rows, unit, along = rows[order], unit[order], along[order]
    pairs: list[tuple[Codes, Codes]] = []
    for part in blocks(len(rows), len(rows), _NUMBERS):
        start = part.start
        cosines = unit[part] @ unit[start:].T
        near = np.flatnonzero(cosines >= 1 - delta**2 / 2)
        distance = np.sqrt(np.maximum(2 - 2 * cosines.ravel()[near], 0))
        x, y = np.divmod(near, cosines.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            score = (along[start + x] - along[start + y]) / distance
        score[distance < _SAME] = 0
        x, y = _best(x, y, score)
        pairs.append((rows[start + x], rows[start + y]))
    if not pairs:
        return np.empty(0, np.intp), np.empty(0, np.intp)
    xs, ys = zip(*pairs, strict=True)
    return np.concatenate(xs), np.concatenate(ys)


def _best(x: Codes, y: Codes, score: npt.NDArray[np.float32]) -> tuple[Codes, Codes]:
    """Return for each x the y of the highest score, if that is above 0; x is sorted."""
    words, starts, counts = np.unique(x, return_index=True, return_counts=True)
    if not len(words):
        return x, y
    highest = np.repeat(np.maximum.reduceat(score, starts), counts)
    best = np.flatnonzero((score == highest) & (score > 0))
    _, first = np.unique(x[best], return_index=True)
    return x[best][first], y[best][first]
