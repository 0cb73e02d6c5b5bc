"""The words that lean most to either end of an axis, and how all words are distributed on it."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, word_list
from bayesbias._core.wording import counted, quoted
from bayesbias.embeddings import (
    Embedding,
    EmbeddingLike,
    as_embedding,
    one_vector_matching,
    unit_rows,
)
from bayesbias.errors import SpecError, VocabularyError, warn
from bayesbias.metrics.word_projections import (
    ProjectionAxis,
    axis_label,
    axis_pairs,
    pair_differences,
    projection_direction,
)
from bayesbias.numerics.intervals import Kind, check_interval, interval
from bayesbias.wordlists import has_direction, is_plain, word_tuples

if TYPE_CHECKING:
    import pandas as pd

# Directions that all words are projected on at once.
_DIRECTIONS = 64


@dataclass(frozen=True, eq=False, repr=False)
class ProjectionExtremes:
    """Words by their projections on an axis, from `extreme_projections`.

    Parameters
    ----------
    embedding : str
        The name of the embedding.
    axis : str
        What the axis is.
    ends : tuple of str
        The words at its two ends: a projection above 0 leans to the first.
    n_pairs : int
        The number of pairs that the axis is from.
    values : DataFrame
        Every word: ``word``, ``word_set`` and ``projection``.
    extremes : DataFrame
        The words that lean most to either end; see `table`.
    prob : float
        Probability of the intervals.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.metrics.extreme_projections("demo", n_words=3, draws=200)
    >>> found
    <ProjectionExtremes of 9,630 words of demo on woman − man and 9 more>
    """

    embedding: str
    axis: str
    ends: tuple[str, str]
    n_pairs: int
    values: pd.DataFrame
    extremes: pd.DataFrame
    prob: float

    @property
    def table(self) -> pd.DataFrame:
        """One row per extreme word, the most extreme of each side first.

        ``side``, the word at that end of the axis; ``word``, ``word_set`` and ``projection``; its
        spread ``lower`` to ``upper`` over the pairs of the axis; and ``prob_extreme``, how often
        the word is among the extreme ones of its side if the pairs are resampled.
        """
        return self.extremes

    def summary(self) -> str:
        """Return the result in plain words.

        Returns
        -------
        str
            The extreme words, how many words lean to either end, and the spread.
        """
        projection = self.values["projection"].to_numpy()
        low, middle, high = np.quantile(projection, [0.05, 0.5, 0.95])
        lines = [
            f"{counted(len(self.values), 'word')} of {self.embedding} on {self.axis}: median "
            f"{middle:.2f}, nine of ten between {low:.2f} and {high:.2f}, standard deviation "
            f"{projection.std():.2f}."
        ]
        for side, rows in self.extremes.groupby("side", sort=False):
            shown = [f"{row.word} {row.projection:.2f}" for row in rows.head(5).itertuples()]
            lines.append(f"Towards {side}: {', '.join(shown)}.")
        if self.n_pairs < 2:
            lines.append("The axis is not from several pairs, so the spread over pairs is unknown.")
        else:
            stable = int((self.extremes["prob_extreme"] >= self.prob).sum())
            lines.append(
                f"With the {self.n_pairs} pairs of the axis resampled, {stable} of these "
                f"{len(self.extremes)} words are among the extreme ones in at least "
                f"{self.prob:.0%} of draws."
            )
        return "\n".join(lines)

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the extreme words as LaTeX.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names embedding and axis.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        text = (
            f"Words with the largest projections on {self.axis} in {self.embedding}, with "
            f"{self.prob:.0%} intervals over the pairs of the axis."
        )
        return frame_to_latex(self.table, text if caption is None else caption)

    def __repr__(self) -> str:
        return (
            f"<ProjectionExtremes of {counted(len(self.values), 'word')} of {self.embedding} on "
            f"{self.axis}>"
        )

    def _repr_html_(self) -> str:
        text = "<br>".join(html.escape(line) for line in self.summary().splitlines())
        return f"<p>{text}</p>{self.table.round(3).to_html(index=False)}"


def extreme_projections(
    embedding: EmbeddingLike,
    words: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    *,
    axis: ProjectionAxis | None = None,
    n_words: int = 15,
    vocabulary: int = 10_000,
    draws: int = 1000,
    prob: float = 0.89,
    kind: Kind = "hdi",
    seed: Seed = 0,
) -> ProjectionExtremes:
    """Find the words that lean most to either end of an axis, such as he − she.

    Parameters
    ----------
    embedding : Embedding, str or path-like
        The embedding, its name or its file.
    words : iterable of str, or mapping of str to iterable of str, optional
        The words, or several lists by their names; by default the first words of the vocabulary
        that are made of letters, in lower case. Words of the axis itself are left out.
    axis : str, pair of str, or sequence of pairs, optional
        The axis, as in `project_words`; by default the ten definitional pairs of Bolukbasi et al.,
        *woman − man* and nine more.
    n_words : int, default 15
        How many words of each side.
    vocabulary : int, default 10,000
        How many first words of the embedding are looked at, without `words`.
    draws : int, default 1000
        Draws of the bootstrap over the pairs.
    prob : float, default 0.89
        Probability of the intervals.
    kind : {"hdi", "eti"}, default "hdi"
        The narrowest interval, or one with equal probability on either side.
    seed : int, Generator or None, default 0
        Same seed, same result.

    Returns
    -------
    ProjectionExtremes
        The extreme words in `table`, all of them in `values`; `plot_projection_extremes` and
        `plot_projection_distribution` draw them.

    Raises
    ------
    SpecError
        If an argument is wrong, or there are fewer than twice `n_words` words.
    VocabularyError
        If the embedding lacks a word of the axis, or all of the words.

    Notes
    -----
    Projections are cosines. The spread is that of a Bayesian bootstrap: each draw weighs the pairs
    at random and computes the axis anew. It tells how much the values depend on the choice of
    pairs. It is not an interval for a true axis: the differences of pairs are noisy, and noise
    makes all projections smaller. Nor does it know that the words were chosen for being extreme:
    with other pairs most of them are less extreme, which ``prob_extreme`` shows.

    References
    ----------
    Bolukbasi, Chang, Zou, Saligrama, Kalai (2016), arXiv:1607.06520.
    Rubin (1981), doi:10.1214/aos/1176345338.

    Examples
    --------
    >>> import bayesbias as bb
    >>> jobs = ["nurse", "maid", "librarian", "clerk", "captain", "coach", "engineer"]
    >>> found = bb.metrics.extreme_projections("demo", jobs, n_words=2, draws=200)
    >>> found.table.drop(columns="word_set").round(2)
        side     word  projection  lower  upper  prob_extreme
    0  woman     maid        0.33  -0.11   0.40           1.0
    1  woman    nurse        0.26  -0.13   0.31           1.0
    2    man  captain       -0.49  -0.54  -0.37           1.0
    3    man    coach       -0.48  -0.50  -0.35           0.9
    """
    import pandas as pd

    at_least("n_words", n_words, 1)
    at_least("vocabulary", vocabulary, 1)
    at_least("draws", draws, 2)
    check_interval(prob, kind)
    model = as_embedding(embedding)
    chosen: Any = word_tuples("bolukbasi")["definitional_pairs"] if axis is None else axis
    values, unit = _projected(model, words, chosen, vocabulary)
    if len(values) < 2 * n_words:
        raise SpecError(
            f"there are {counted(len(values), 'word')} to take {n_words} of either side from; "
            "lower 'n_words' or give more words."
        )
    order = np.argsort(-values["projection"].to_numpy(), kind="stable")
    places = np.concatenate([order[:n_words], order[::-1][:n_words]])
    pairs = [] if isinstance(chosen, str) else axis_pairs("axis", chosen)
    ends = pairs[0] if pairs else (chosen, f"away from {chosen}")
    rows = values.iloc[places].reset_index(drop=True)
    extremes = pd.DataFrame({"side": np.repeat(ends, n_words), **rows})
    extremes["lower"] = extremes["upper"] = extremes["prob_extreme"] = np.nan
    if len(pairs) > 1:
        directions = _resampled_directions(
            pair_differences(model, "axis", pairs), draws, np.random.default_rng(as_seed(seed))
        )
        drawn = unit[places] @ directions.T
        # The value itself is within, as in other tables.
        spread = np.array([interval(row, prob, kind) for row in drawn])
        extremes["lower"] = np.minimum(spread[:, 0], extremes["projection"])
        extremes["upper"] = np.maximum(spread[:, 1], extremes["projection"])
        extremes["prob_extreme"] = _shares(unit, directions, places, n_words)
    return ProjectionExtremes(
        model.name,
        axis_label(chosen),
        (ends[0], ends[1]),
        max(len(pairs), 1),
        values,
        extremes,
        prob,
    )


def _projected(
    model: Embedding,
    words: Iterable[str] | Mapping[str, Iterable[str]] | None,
    axis: ProjectionAxis,
    vocabulary: int,
) -> tuple[pd.DataFrame, Array]:
    """Return the projections of the words without those of the axis, and their unit vectors."""
    import pandas as pd

    how = one_vector_matching(None, model)
    pairs = [(axis,)] if isinstance(axis, str) else axis_pairs("axis", axis)
    used = model.match([word for pair in pairs for word in pair], how).rows
    columns: dict[str, list[str]] = {"word": [], "word_set": []}
    rows: list[int] = []
    missing: list[str] = []
    for name, listed in _lists(model, words, vocabulary).items():
        matched = model.match(word_list(f"words of {name}", listed), how).distinct()
        matched = matched.take(np.flatnonzero(~np.isin(matched.rows, used)))
        columns["word"] += matched.found
        columns["word_set"] += [name] * len(matched)
        rows += matched.rows.tolist()
        missing += matched.missing
    if not rows:
        raise VocabularyError(f"embedding {model.name!r} has none of the words {quoted(missing)}.")
    if missing:
        warn(f"{model.name} lacks {quoted(missing)}; left out of the projections")
    vectors = np.asarray(model.vectors[rows], dtype=np.float64)
    unit: Array = unit_rows(vectors, columns["word"], model.name)
    frame = pd.DataFrame(columns).assign(projection=unit @ projection_direction(model, axis))
    return frame, unit


def _lists(
    model: Embedding,
    words: Iterable[str] | Mapping[str, Iterable[str]] | None,
    vocabulary: int,
) -> dict[str, Iterable[str]]:
    """Return the lists by name; without any the first plain words of the vocabulary."""
    if isinstance(words, Mapping):
        return {str(name): listed for name, listed in words.items()}
    if words is not None:
        return {str(getattr(words, "name", "words")): words}
    plain = np.array([row for row, word in enumerate(model.words[:vocabulary]) if is_plain(word)])
    usable = plain[has_direction(model, plain)] if len(plain) else plain
    return {"vocabulary": [model.words[row] for row in usable.tolist()]}


def _resampled_directions(differences: Array, draws: int, rng: np.random.Generator) -> Array:
    """Return draws × dimensions: the first component of the pairs with random weights.

    It is found in the space of the pairs, which are far fewer than the dimensions.
    """
    root = np.sqrt(rng.standard_exponential((draws, len(differences))))
    gram = differences @ differences.T
    _, vectors = np.linalg.eigh(root[:, :, None] * gram * root[:, None, :])
    directions: Array = (root * vectors[:, :, -1]) @ differences
    along = ((directions @ differences.T) * root**2).sum(axis=1)
    directions *= np.where(along < 0, -1.0, 1.0)[:, None]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions


def _shares(unit: Array, directions: Array, places: npt.NDArray[np.intp], n_words: int) -> Array:
    """Return how often each of the extreme words is among those of its side."""
    counts = np.zeros(len(places))
    first = np.arange(len(places)) < n_words
    for start in range(0, len(directions), _DIRECTIONS):
        projected = unit @ directions[start : start + _DIRECTIONS].T
        high = np.partition(projected, -n_words, axis=0)[-n_words]
        low = np.partition(projected, n_words - 1, axis=0)[n_words - 1]
        own = projected[places]
        counts += np.where(first[:, None], own >= high, own <= low).sum(axis=1)
    shares: Array = counts / len(directions)
    return shares
