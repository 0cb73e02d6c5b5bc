"""Words projected on one or two axes, such as he − she."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.validation import true_or_false, word_list
from bayesbias._core.wording import quoted
from bayesbias.embeddings import Embedding, EmbeddingLike, as_embedding, unit_rows
from bayesbias.errors import SpecError, VocabularyError, warn

if TYPE_CHECKING:
    import pandas as pd

#: A word, a pair of words whose difference is taken, or several such pairs.
ProjectionAxis: TypeAlias = str | Sequence[str] | Sequence[Sequence[str]]

_SAME = 1e-9


def project_words(
    embedding: EmbeddingLike,
    words: Iterable[str] | Mapping[str, Iterable[str]],
    *,
    x: ProjectionAxis = ("he", "she"),
    y: ProjectionAxis | None = None,
    normalize: bool = True,
) -> pd.DataFrame:
    """Return the projections of words on an axis, or on two.

    The projection on he − she is the bias of a single word as Bolukbasi et al. (2016) define it;
    the mean of its absolute values is direct bias. `plot_projections` draws a second axis against
    it.

    Parameters
    ----------
    embedding : Embedding, str or path-like
        The embedding, its name or its file.
    words : iterable of str, or mapping of str to iterable of str
        The words, or several lists of them by their names.
    x, y : str, pair of str, or sequence of pairs
        The axes. A word stands for its own vector, a pair such as ``("he", "she")`` for the
        difference of the two, and several pairs for the first principal component of their
        differences, in the direction of the first words. Without `y` there is one axis.
    normalize : bool, default True
        Whether words and axes are scaled to length one, so that projections are cosines. With
        False they are plain dot products, and frequent words are farther from 0.

    Returns
    -------
    DataFrame
        ``word``, the list it is from (``word_set``), ``x`` and ``y``. What the axes are is in
        ``attrs``, for the figure.

    Raises
    ------
    SpecError
        If an axis is something else.
    VocabularyError
        If the embedding lacks a word of an axis, or all of the words.

    Warns
    -----
    BayesBiasWarning
        If the embedding lacks some of the words; they are left out.

    References
    ----------
    Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), arXiv:1607.06520.

    Examples
    --------
    >>> import bayesbias as bb
    >>> jobs = {"female": ["nurse", "librarian"], "male": ["captain", "boss"]}
    >>> bb.metrics.project_words("demo", jobs, y=("good", "bad")).round(2)
            word word_set     x     y
    0      nurse   female -0.34  0.10
    1  librarian   female -0.08  0.16
    2    captain     male  0.35  0.15
    3       boss     male  0.28 -0.04
    """
    import pandas as pd

    true_or_false("normalize", normalize)
    model = as_embedding(embedding)
    lists = words if isinstance(words, Mapping) else {"words": words}
    columns: dict[str, list[str]] = {"word": [], "word_set": []}
    rows: list[int] = []
    missing: list[str] = []
    for name, listed in lists.items():
        matched = model.match(word_list(f"words of {name}", listed))
        columns["word"] += matched.found
        columns["word_set"] += [str(name)] * len(matched)
        rows += matched.rows.tolist()
        missing += matched.missing
    if not rows:
        raise VocabularyError(f"embedding {model.name!r} has none of the words {quoted(missing)}.")
    if missing:
        warn(f"{model.name} lacks {quoted(missing)}; left out of the projections")
    vectors = np.asarray(model.vectors[rows], dtype=np.float64)
    if normalize:
        vectors = unit_rows(vectors, columns["word"], model.name)
    frame = pd.DataFrame(columns)
    axes = {"x": x} if y is None else {"x": x, "y": y}
    labels = {}
    for name, axis in axes.items():
        direction, labels[name] = _direction(model, name, axis, normalize)
        frame[name] = vectors @ direction
    frame.attrs = {"labels": labels, "normalize": normalize, "embedding": model.name}
    return frame


def projection_direction(embedding: Embedding, axis: ProjectionAxis) -> Array:
    """Return the vector of an axis, of length one."""
    return _direction(embedding, "axis", axis, True)[0]


def _direction(
    embedding: Embedding, argument: str, axis: ProjectionAxis, normalize: bool
) -> tuple[Array, str]:
    """Return the vector of an axis, and what to call it."""
    if isinstance(axis, str):
        vector = _vectors(embedding, argument, [axis])[0]
        label = axis
    else:
        pairs = axis_pairs(argument, axis)
        label = axis_label(axis)
        vector = _of_pairs(embedding, argument, pairs, normalize)
    length = float(np.linalg.norm(vector))
    if length < _SAME:
        raise SpecError(
            f"{argument!r}: the words of {label!r} have the same vector in {embedding.name!r}, so "
            "they give no axis; use others."
        )
    return (vector / length if normalize else vector), label


def axis_label(axis: ProjectionAxis) -> str:
    """Return what to call an axis."""
    if isinstance(axis, str):
        return axis
    pairs = axis_pairs("axis", axis)
    return " − ".join(pairs[0]) + (f" and {len(pairs) - 1} more" if len(pairs) > 1 else "")


def axis_pairs(
    argument: str, axis: Sequence[str] | Sequence[Sequence[str]]
) -> list[tuple[str, ...]]:
    """Return the pairs of an axis, also of one that is a single pair."""
    given = list(axis)
    words = tuple(word for word in given if isinstance(word, str))
    several = [tuple(pair) for pair in given if not isinstance(pair, str)]
    pairs = [words] if words and not several else several
    if not pairs or (words and several) or any(len(pair) != 2 for pair in pairs):
        raise SpecError(
            f"{argument!r} is {axis!r}; expected a word, a pair of words such as ('he', 'she'), "
            "or a list of such pairs."
        )
    return pairs


def _of_pairs(
    embedding: Embedding, argument: str, pairs: Sequence[tuple[str, ...]], normalize: bool
) -> Array:
    """Return the difference of a pair, or the first principal component of several."""
    if len(pairs) == 1 and not normalize:
        first, second = _vectors(embedding, argument, list(pairs[0]))
        plain: Array = first - second
        return plain
    differences = pair_differences(embedding, argument, pairs)
    if len(pairs) == 1:
        one: Array = differences[0]
        return one
    # Each pair about its own centre: half the difference and its opposite, of the mean zero.
    component: Array = np.linalg.svd(differences, full_matrices=False)[2][0]
    return component if (differences @ component).sum() >= 0 else -component


def pair_differences(
    embedding: Embedding, argument: str, pairs: Sequence[tuple[str, ...]]
) -> Array:
    """Return the difference of each pair, of vectors of length one."""
    words = [word for pair in pairs for word in pair]
    both = unit_rows(_vectors(embedding, argument, words), words, embedding.name)
    differences: Array = both[::2] - both[1::2]
    return differences


def _vectors(embedding: Embedding, argument: str, words: list[str]) -> Array:
    matched = embedding.match(words)
    if matched.missing:
        raise VocabularyError(
            f"embedding {embedding.name!r} lacks {quoted(matched.missing)} of the axis "
            f"{argument!r}; use another word."
        )
    return np.asarray(embedding.vectors[matched.rows], dtype=np.float64)
