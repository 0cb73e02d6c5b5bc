"""Factual association: projections of occupations beside the share of women in them."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least
from bayesbias._core.wording import counted, kind_of
from bayesbias.embeddings import EmbeddingLike, as_embedding
from bayesbias.errors import DataError, SpecError
from bayesbias.metrics.word_projections import ProjectionAxis, project_words
from bayesbias.numerics.intervals import check_interval, interval
from bayesbias.numerics.weighted import correlation, ranks

if TYPE_CHECKING:
    import pandas as pd

_FILE = Path(__file__).parent / "data" / "occupations.tsv"
# Fewer words have no correlation worth the name.
_LEAST = 3


@dataclass(frozen=True, eq=False, repr=False)
class FactualAssociation:
    """How projections of words agree with facts about them, from `factual_association`.

    Parameters
    ----------
    table : DataFrame
        ``correlation`` (``pearson`` and ``spearman``), ``value``, ``lower``, ``upper`` and the
        number ``n`` of words.
    words : DataFrame
        One row per word: ``word``, ``fact`` and ``projection``, the largest fact first.
    embedding, axis : str
        Where the words were projected, and on what.
    missing : tuple of str
        The words that the embedding lacks.
    prob : float
        Probability of the intervals.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.metrics.factual_association("demo", draws=500)
    >>> found
    <FactualAssociation: r = 0.47 of 53 words with she − he in demo>
    """

    table: pd.DataFrame
    words: pd.DataFrame
    embedding: str
    axis: str
    missing: tuple[str, ...] = ()
    prob: float = 0.89

    def __repr__(self) -> str:
        return (
            f"<FactualAssociation: r = {self.table['value'].iloc[0]:.2f} of "
            f"{counted(len(self.words), 'word')} with {self.axis} in {self.embedding}>"
        )

    def summary(self) -> str:
        """Return the correlations in plain words.

        Returns
        -------
        str
            Both correlations with their intervals, and the number of words.
        """
        told = " and ".join(
            f"{row['correlation']} {row['value']:.2f} [{row['lower']:.2f}, {row['upper']:.2f}]"
            for row in self.table.to_dict("records")
        )
        text = (
            f"Projections on {self.axis} in {self.embedding} beside the facts about "
            f"{counted(len(self.words), 'word')}: {told} ({self.prob:.0%} intervals)."
        )
        lost = f" Not found: {', '.join(self.missing)}." if self.missing else ""
        return text + lost

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the correlations as a LaTeX table.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of our own.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        text = (
            f"Correlation of projections on {self.axis} in {self.embedding} with facts about "
            f"{counted(len(self.words), 'word')}, with {self.prob:.0%} intervals."
        )
        return frame_to_latex(self.table, text if caption is None else caption)

    def _repr_html_(self) -> str:
        shown = self.words.to_html(index=False, border=0, float_format=lambda x: f"{x:.2f}")
        return f"<p>{html.escape(self.summary())}</p>{shown}"


def load_occupations() -> pd.DataFrame:
    """Return the percentage of women in 60 occupations in the United States.

    Returns
    -------
    DataFrame
        ``word``, ``percent_women`` and ``year`` (2015 or 2016): figures of the US Bureau of Labor
        Statistics as published by Rudinger et al. (2018) for the occupations of Caliskan et al.
        (2017) and ten more.

    References
    ----------
    Rudinger, Naradowsky, Leonard, Van Durme (2018), doi:10.18653/v1/N18-2002.
    Caliskan, Bryson, Narayanan (2017), doi:10.1126/science.aal4230.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.metrics.load_occupations().set_index("word").loc[["nurse", "plumber"], "percent_women"]
    word
    nurse      89.58
    plumber     0.70
    Name: percent_women, dtype: float64
    """
    import pandas as pd

    return pd.read_csv(_FILE, sep="\t")


def factual_association(
    embedding: EmbeddingLike,
    facts: Mapping[str, float] | pd.Series | None = None,
    *,
    axis: ProjectionAxis = ("she", "he"),
    draws: int = 2000,
    prob: float = 0.89,
    seed: Seed = 0,
) -> FactualAssociation:
    """Correlate the projections of words on an axis with a fact about each word.

    By default, whether occupations lie further towards *she* the more women work in them. An
    association that mirrors a statistic is not thereby harmless, and one that exceeds it is not
    shown by a correlation: it says how well the order agrees, not how strong the bias is.

    Parameters
    ----------
    embedding : Embedding, str or path-like
        The embedding, its name or its file.
    facts : mapping of str to float, or Series, optional
        A number for each word; by default the percentage of women of `load_occupations`.
    axis : str, pair of str, or sequence of pairs, default ("she", "he")
        What the words are projected on; see `project_words`.
    draws : int, default 2000
        How many draws the intervals come from.
    prob : float, default 0.89
        Probability of the intervals.
    seed : int or Generator, default 0
        Same seed, same result.

    Returns
    -------
    FactualAssociation
        Pearson's and Spearman's correlation with intervals, and the words.

    Raises
    ------
    SpecError
        If `facts` is something else.
    DataError
        If fewer than three words are found, or their facts are not finite or all the same.
    VocabularyError
        If the embedding lacks a word of the axis, or all of the words.

    Notes
    -----
    The intervals come from a Bayesian bootstrap of the words.

    References
    ----------
    Caliskan, Bryson, Narayanan (2017), doi:10.1126/science.aal4230, figure 1.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.metrics.factual_association("demo", draws=500)
    >>> found.table[["correlation", "value", "n"]].round(2)
      correlation  value   n
    0     pearson   0.47  53
    1    spearman   0.45  53
    """
    import pandas as pd

    given = load_occupations().set_index("word")["percent_women"] if facts is None else facts
    if not isinstance(given, Mapping | pd.Series):
        raise SpecError(
            f"'facts' is {kind_of(given)}; expected a number for each word, as a dictionary."
        )
    numbers = {str(word): float(number) for word, number in given.items()}
    if not np.isfinite(list(numbers.values())).all():
        raise DataError("'facts' holds a number that is not finite; leave that word out.")
    at_least("draws", draws, 2)
    check_interval(prob, "eti")
    model = as_embedding(embedding)
    lost = tuple(model.match(list(numbers)).missing)
    there = [word for word in numbers if word not in lost]
    projected = project_words(model, there or list(numbers), x=axis)
    words = pd.DataFrame(
        {
            "word": projected["word"],
            "fact": [numbers[word] for word in there],
            "projection": projected["x"],
        }
    )
    if len(words) < _LEAST or words["fact"].nunique() < _LEAST - 1:
        raise DataError(
            f"{counted(len(words), 'word')} of 'facts' in {model.name!r}, with "
            f"{counted(words['fact'].nunique(), 'different number')}: too few for a correlation."
        )
    weights = np.random.default_rng(as_seed(seed)).dirichlet(np.ones(len(words)), draws)
    return FactualAssociation(
        table=_correlations(words, weights, prob),
        words=words.sort_values("fact", ascending=False, ignore_index=True),
        embedding=model.name,
        axis=projected.attrs["labels"]["x"],
        missing=lost,
        prob=prob,
    )


def _correlations(words: pd.DataFrame, weights: Array, prob: float) -> pd.DataFrame:
    """Return both correlations, and their intervals from weights of draws × words."""
    import pandas as pd

    one = np.ones((1, len(words)))
    x, y = (words[column].to_numpy(dtype=np.float64)[None] for column in ("fact", "projection"))

    def pearson(weights: Array) -> Array:
        return correlation(x, y, weights)

    def spearman(weights: Array) -> Array:
        # A rank counts the words below, each as often as its weight says.
        return correlation(ranks(x, weights), ranks(y, weights), weights)

    rows = []
    for name, of_weights in (("pearson", pearson), ("spearman", spearman)):
        lower, upper = interval(of_weights(len(words) * weights), prob, "eti")
        rows.append(
            {
                "correlation": name,
                "value": float(of_weights(one)[0]),
                "lower": float(lower),
                "upper": float(upper),
                "n": len(words),
            }
        )
    return pd.DataFrame(rows)
