"""One word: its vector, its neighbours, its projections, its distances and its lists."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.blocks import blocks
from bayesbias._core.constants import AS_OBSERVED, EQUAL
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.validation import at_least
from bayesbias._core.wording import counted, kind_of, quoted
from bayesbias.embeddings import Embedding, EmbeddingLike, as_embedding
from bayesbias.errors import DataError, SpecError, VocabularyError
from bayesbias.metrics import ProjectionAxis, project_words, projection_direction
from bayesbias.models import Fit
from bayesbias.numerics.intervals import check_interval
from bayesbias.wordlists import COLLECTIONS, STUDIES, load_study, word_sets

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("section", "item", "value", "lower", "upper", "percentile")
_GENDER: Mapping[str, ProjectionAxis] = {"he − she": ("he", "she")}
_TITLES = {
    "vector": "Vector",
    "neighbour": "Nearest neighbours (cosine)",
    "projection": "Projections (cosine), and percentile in the vocabulary",
    "distance": "Distances",
    "list": "Published lists with this word",
}


@dataclass(frozen=True, eq=False, repr=False)
class WordReport:
    """All that is known of one word, from `word_report`.

    Parameters
    ----------
    word : str
        The word, as the embedding spells it.
    embedding : str
        The name of the embedding.
    table : DataFrame
        One row per fact: ``section`` (``vector``, ``neighbour``, ``projection``, ``distance`` or
        ``list``), ``item``, ``value``, ``lower`` and ``upper`` where there is an interval, and the
        ``percentile`` in the vocabulary where there is one.
    n_vocabulary : int
        How many words the embedding has.
    prob : float
        Probability of the intervals.

    Examples
    --------
    >>> import bayesbias as bb
    >>> report = bb.word_report("nurse", "demo", n=3)
    >>> report
    <WordReport 'nurse' in demo: 3 neighbours, 1 projection, 14 lists>
    """

    word: str
    embedding: str
    table: pd.DataFrame
    n_vocabulary: int
    prob: float = 0.89

    def __repr__(self) -> str:
        counts = self.table["section"].value_counts()
        parts = [
            counted(int(counts[section]), section)
            for section in ("neighbour", "projection", "distance", "list")
            if section in counts
        ]
        return f"<WordReport {self.word!r} in {self.embedding}: {', '.join(parts)}>"

    def summary(self) -> str:
        """Return the report in plain words.

        Returns
        -------
        str
            One line per section.
        """
        of_vector = self.table[self.table["section"] == "vector"].to_dict("records")
        facts = {row["item"]: row for row in of_vector}
        lines = [
            f"{self.word!r} in {self.embedding}: rank {facts['rank']['value']:,.0f}, norm "
            f"{facts['norm']['value']:.2f} (percentile "
            f"{facts['norm']['percentile']:.0f} of {self.n_vocabulary:,} words)."
        ]
        for section, rows in self.table.groupby("section", sort=False):
            if section != "vector":
                told = ", ".join(_told(str(section), row) for row in rows.to_dict("records"))
                lines.append(f"{_TITLES[str(section)]}: {told}.")
        return "\n".join(lines)

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the table as LaTeX.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names the word and the embedding.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        text = f"The word {self.word} in {self.embedding}, with {self.prob:.0%} intervals."
        shown = self.table[["section", "item"]].assign(
            value=[_number(row) for row in self.table.to_dict("records")],
            percentile=self.table["percentile"],
        )
        return frame_to_latex(
            shown, text if caption is None else caption, decimals={"percentile": 0}
        )

    def _repr_html_(self) -> str:
        parts = [f"<h4>{html.escape(self.word)} in {html.escape(self.embedding)}</h4>"]
        for section, rows in self.table.groupby("section", sort=False):
            shown = rows.drop(columns="section").dropna(axis=1, how="all")
            frame = shown.to_html(
                index=False, border=0, na_rep="", float_format=lambda number: f"{number:.4g}"
            )
            parts.append(f"<p><b>{html.escape(_TITLES[str(section)])}</b></p>{frame}")
        return "".join(parts)


def word_report(
    word: str,
    embedding: EmbeddingLike,
    *,
    axes: Mapping[str, ProjectionAxis] | None = None,
    fit: Fit | None = None,
    n: int = 10,
    prob: float = 0.89,
) -> WordReport:
    """Gather what is known of one word.

    Parameters
    ----------
    word : str
        The word.
    embedding : Embedding, str or path-like
        The embedding, its name or its file.
    axes : mapping of str to axis, optional
        The axes that the word is projected on, by name; see `project_words`. By default *he − she*,
        if the embedding has both.
    fit : Fit, optional
        A fit whose table has the word as a protected word or as an attribute: its expected
        distance to each kind of attribute, with intervals, or its mean distance to each group.
    n : int, default 10
        How many neighbours.
    prob : float, default 0.89
        Probability of the intervals.

    Returns
    -------
    WordReport
        One row per fact.

    Raises
    ------
    VocabularyError
        If the embedding lacks the word, or a word of an axis.
    DataError
        If the word has a zero vector, or the table of the fit does not have the word.
    SpecError
        If an argument is not what it should be.

    Examples
    --------
    >>> import bayesbias as bb
    >>> print(bb.word_report("nurse", "demo", n=3).summary())
    'nurse' in demo: rank 6,795, norm 4.93 (percentile 65 of 12,187 words).
    Nearest neighbours (cosine): doctor 0.80, dentist 0.77, pediatrician 0.75.
    Projections (cosine), and percentile in the vocabulary: he − she -0.34 (percentile 2).
    Published lists with this word: garg:female_occupations, ...
    """
    import pandas as pd

    if not isinstance(word, str) or not word:
        raise SpecError(f"'word' is {word!r}; expected one word.")
    at_least("n", n, 1)
    check_interval(prob, "hdi")
    if fit is not None and not isinstance(fit, Fit):
        raise SpecError(f"'fit' is {kind_of(fit)}; expected what fit() returned.")
    model = as_embedding(embedding)
    matched = model.match([word])
    if matched.missing:
        raise VocabularyError(f"embedding {model.name!r} lacks {word!r}; look at its spelling.")
    row = int(matched.rows[0])
    spelling = model.words[row]
    norms = _norms(model)
    if not norms[row] > 0:
        raise DataError(f"the vector of {spelling!r} in {model.name!r} is zero.")
    facts = [
        {"section": "vector", "item": "rank", "value": float(model.ranks[row])},
        {
            "section": "vector",
            "item": "norm",
            "value": float(norms[row]),
            "percentile": _percentile(norms, norms[row]),
        },
        *_neighbours(model, spelling, n),
        *_projections(model, spelling, row, norms, axes),
    ]
    if fit is not None:
        facts += _distances(fit, word, prob)
    facts += [{"section": "list", "item": name} for name in _lists({word, spelling})]
    table = pd.DataFrame(facts, columns=list(_COLUMNS))
    return WordReport(spelling, model.name, table, len(model), prob)


def _norms(embedding: Embedding) -> Array:
    parts = [
        np.linalg.norm(np.asarray(embedding.vectors[part], dtype=np.float64), axis=1)
        for part in blocks(len(embedding), embedding.dim)
    ]
    return np.concatenate(parts)


def _percentile(values: Array, value: float) -> float:
    """Return the per cent of values below, ties half."""
    below, equal = (values < value).sum(), (values == value).sum()
    return float(100 * (below + equal / 2) / len(values))


def _neighbours(embedding: Embedding, word: str, n: int) -> list[dict[str, Any]]:
    near = embedding.most_similar(word, n=n)
    return [
        {"section": "neighbour", "item": item, "value": float(cosine)}
        for item, cosine in zip(near["word"], near["cosine"], strict=True)
    ]


def _projections(
    embedding: Embedding,
    word: str,
    row: int,
    norms: Array,
    axes: Mapping[str, ProjectionAxis] | None,
) -> Iterator[dict[str, Any]]:
    """Yield the cosine of the word with each axis, and its place among all words."""
    if axes is None:
        axes = {} if embedding.match(["he", "she"]).missing else _GENDER
    if not isinstance(axes, Mapping):
        raise SpecError(f"'axes' is {kind_of(axes)}; expected axes by name, a dictionary.")
    for name, axis in axes.items():
        value = float(project_words(embedding, [word], x=axis)["x"].iloc[0])
        direction = projection_direction(embedding, axis)
        along = np.concatenate(
            [
                np.asarray(embedding.vectors[part], dtype=np.float64) @ direction
                for part in blocks(len(embedding), embedding.dim)
            ]
        )
        cosines = along[norms > 0] / norms[norms > 0]
        place = _percentile(cosines, along[row] / norms[row])
        yield {"section": "projection", "item": str(name), "value": value, "percentile": place}


def _distances(fit: Fit, word: str, prob: float) -> list[dict[str, Any]]:
    """Return the expected distances of a protected word, or the mean ones of an attribute."""
    table = fit.table
    if word in set(table["protected_word"].astype("str")):
        means = fit.means(prob=prob)
        if "protected_word" not in means or "connection" not in means:
            raise SpecError(
                f"model {fit.spec.name!r} does not distinguish protected words and kinds of "
                "attributes; fit model 'interaction', for instance."
            )
        rows = means[means["protected_word"] == word]
        covariates = {EQUAL: "equal covariates", AS_OBSERVED: AS_OBSERVED}
        return [
            {
                "section": "distance",
                "item": ", ".join(
                    [
                        _kind(row["connection"]),
                        *([row["embedding"]] if "embedding" in row else []),
                        *([covariates[row["covariates"]]] if "covariates" in row else []),
                    ]
                ),
                "value": float(row["mean"]),
                "lower": float(row["lower"]),
                "upper": float(row["upper"]),
            }
            for row in rows.to_dict("records")
        ]
    listed = table[table["word_to_compare"].astype("str") == word]
    if listed.empty:
        known = list(dict.fromkeys(table["protected_word"].astype("str")))
        raise DataError(
            f"the table of the fit does not have {word!r}; it is about {quoted(known)} and their "
            "attributes."
        )
    by = [listed["connection"].astype("str"), listed["protected_group"].astype("str")]
    return [
        {
            "section": "distance",
            "item": f"to the words of {group} ({_kind(connection)}, mean of {len(part)})",
            "value": float(part.mean()),
        }
        for (connection, group), part in listed["cosine_distance"].groupby(by, sort=False)
    ]


def _kind(connection: object) -> str:
    return "neutral" if connection == "none" else str(connection)


def _lists(spellings: set[str]) -> Iterator[str]:
    """Yield the names of the published lists, and the parts of studies, that hold the word."""
    for collection in COLLECTIONS:
        for name, words in word_sets(collection).items():
            if spellings & set(words):
                yield f"{collection}:{name}"
    for study in STUDIES:
        for name, words in load_study(study).word_sets().items():
            if spellings & set(words):
                yield f"study {study} ({name})"


def _number(row: Mapping[Any, Any]) -> str:
    """Return the value of a fact with its interval, or nothing for membership in a list."""
    if not np.isfinite(row["value"]):
        return ""
    if row["item"] == "rank" and row["section"] == "vector":
        return f"{row['value']:,.0f}"
    text = f"{row['value']:.2f}"
    if np.isfinite(row["lower"]):
        text += f" [{row['lower']:.2f}, {row['upper']:.2f}]"
    return text


def _told(section: str, row: Mapping[Any, Any]) -> str:
    text = f"{row['item']} {_number(row)}".strip()
    if section == "projection":
        text += f" (percentile {row['percentile']:.0f})"
    return text
