"""SemBias: which of four pairs of words differs most as he and she do."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, true_or_false, word_list
from bayesbias._core.wording import counted, quoted
from bayesbias.embeddings import Embedding, EmbeddingLike, as_embeddings, unit_rows
from bayesbias.errors import SpecError, VocabularyError
from bayesbias.numerics.intervals import check_interval, interval

if TYPE_CHECKING:
    import pandas as pd

_FILE = Path(__file__).parent / "data" / "sembias.tsv"
# The items whose definitional pairs are not among the words that GN-GloVe was trained with.
_HELD_OUT = 40
# The four pairs of an item, in the order of the file.
_PLACES = ("definition", "none_1", "none_2", "stereotype")
_KINDS = ("definition", "stereotype", "none")
_KIND_OF_PLACE = ("definition", "none", "none", "stereotype")
# A difference that is shorter than this leads nowhere.
_SAME = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class SemBias:
    """Answers to the items of SemBias, from `sembias`.

    Parameters
    ----------
    table : DataFrame
        One row per embedding and kind of answer: ``embedding``, ``answer`` (``definition``,
        ``stereotype`` or ``none``), ``n`` (how many items), ``share`` with ``lower`` and ``upper``.
    items : DataFrame
        One row per embedding and item: the four pairs, their cosines with the difference of the
        two words (NaN without a vector), and the ``answer``; missing if a word is.
    pair : tuple of str
        The two words whose difference is looked for.
    missing : dict of str to tuple of str
        For each embedding, the words that it lacks.
    prob : float
        Probability of the intervals.
    partial : bool
        Whether items count that lack words of unrelated pairs.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.metrics.sembias("demo", partial=True, draws=500)
    >>> found
    <SemBias: 224 of 440 items answered in demo>
    """

    table: pd.DataFrame
    items: pd.DataFrame
    pair: tuple[str, str]
    missing: dict[str, tuple[str, ...]]
    prob: float = 0.89
    partial: bool = False

    def __repr__(self) -> str:
        parts = []
        for name, part in self.items.groupby("embedding", sort=False):
            parts.append(f"{part['answer'].notna().sum()} of {len(part)} items answered in {name}")
        return f"<SemBias: {', '.join(parts)}>"

    def summary(self) -> str:
        """Return the result in plain words.

        Returns
        -------
        str
            For each embedding, how often the stereotype is the answer, with its interval, beside
            the definition; and the words that are missing.
        """
        lines = []
        for name, part in self.table.groupby("embedding", sort=False):
            rows = {row["answer"]: row for row in part.to_dict("records")}
            told = ", ".join(
                f"{kind} {rows[kind]['share']:.1%} [{rows[kind]['lower']:.1%}, "
                f"{rows[kind]['upper']:.1%}]"
                for kind in _KINDS
            )
            lines.append(
                f"{name}: most like {self.pair[0]} − {self.pair[1]} in "
                f"{counted(int(part['n'].sum()), 'item')}: {told} ({self.prob:.0%} intervals)."
            )
            if lost := self.missing[str(name)]:
                left_out = "pairs" if self.partial else "items"
                lines.append(f"- {name} lacks {quoted(lost)}; {left_out} with these are left out.")
        return "\n".join(lines)

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the shares as a LaTeX table.

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
            f"SemBias: the pair that differs most as {self.pair[0]} and {self.pair[1]} do, as a "
            f"share of the items, with {self.prob:.0%} intervals."
        )
        return frame_to_latex(self.table, text if caption is None else caption)

    def _repr_html_(self) -> str:
        shown = self.table.to_html(index=False, border=0, float_format=lambda x: f"{x:.3f}")
        told = "".join(f"<p>{html.escape(line)}</p>" for line in self.summary().splitlines())
        return f"{shown}{told}"


def sembias(
    embeddings: EmbeddingLike | Iterable[EmbeddingLike],
    *,
    pair: tuple[str, str] = ("he", "she"),
    held_out: bool = False,
    partial: bool = False,
    normalize: bool = True,
    draws: int = 2000,
    prob: float = 0.89,
    seed: Seed = 0,
) -> SemBias:
    """Choose among a gender definition, a gender stereotype and two other pairs (Zhao et al. 2018).

    Each of the 440 items has four pairs of words: a definition (*waiter, waitress*), a stereotype
    (*doctor, nurse*) and two that have nothing to do with gender (*dog, cat*). The answer is the
    pair whose difference has the largest cosine with *he − she*. Debiasing should lower the share
    of stereotypes without lowering that of definitions.

    Parameters
    ----------
    embeddings : Embedding, str, or iterable of them
        The embeddings, such as one before and one after debiasing.
    pair : tuple of two str, default ("he", "she")
        The words whose difference is looked for, male first, as in the items.
    held_out : bool, default False
        Whether only the last 40 items are used, which Zhao et al. call the subset: the words of
        their definitions were not used to train GN-GloVe.
    partial : bool, default False
        Whether items also count that lack words of one or both unrelated pairs, for embeddings with
        a small vocabulary. There are then fewer wrong answers to choose from, so that the shares of
        definitions and stereotypes are larger.
    normalize : bool, default True
        Whether vectors are scaled to length one first.
    draws : int, default 2000
        How many draws the intervals come from.
    prob : float, default 0.89
        Probability of the intervals.
    seed : int or Generator, default 0
        Same seed, same result.

    Returns
    -------
    SemBias
        The share of each kind of answer, and all answers.

    Raises
    ------
    SpecError
        If an argument is not what it should be, or the pair has no difference.
    VocabularyError
        If an embedding lacks a word of the pair, or a word of every item.

    Notes
    -----
    The items cross 22 definitions with 20 stereotypes, so 440 answers are far fewer independent
    ones. The interval is from a Bayesian bootstrap of both: draws of Dirichlet weights of the
    definitions and of the stereotypes, multiplied. It would be misleadingly narrow if the items
    were resampled. Items with a missing word are left out, as in the authors' program.

    References
    ----------
    Zhao, Zhou, Li, Wang, Chang (2018), doi:10.18653/v1/D18-1521.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> debiaser = bb.debias.HardDebias().fit(emb)
    >>> debiased = debiaser.transform(emb, ignore="bolukbasi:gender_specific")
    >>> found = bb.metrics.sembias([emb, debiased], partial=True, draws=500)
    >>> found.table[found.table["answer"] == "stereotype"].drop(columns=["lower", "upper"]).round(2)
              embedding      answer   n  share
    1              demo  stereotype  47   0.21
    4  demo_hard_debias  stereotype   1   0.00
    """
    import pandas as pd

    words = word_list("pair", pair)
    if len(words) != 2 or words[0] == words[1]:
        raise SpecError(f"'pair' is {pair!r}; expected two different words: ('he', 'she').")
    true_or_false("held_out", held_out)
    true_or_false("partial", partial)
    true_or_false("normalize", normalize)
    at_least("draws", draws, 2)
    check_interval(prob, "eti")
    items = _items()[-_HELD_OUT:] if held_out else _items()
    seed = as_seed(seed)
    frames, tables, missing = [], [], {}
    for embedding in as_embeddings(embeddings):
        frame, lost = _answers(embedding, items, (words[0], words[1]), partial, normalize)
        frames.append(frame)
        tables.append(_shares(frame, draws, prob, np.random.default_rng(seed)))
        missing[embedding.name] = lost
    return SemBias(
        table=pd.concat(tables, ignore_index=True),
        items=pd.concat(frames, ignore_index=True),
        pair=(words[0], words[1]),
        missing=missing,
        prob=prob,
        partial=partial,
    )


@cache
def _items() -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return four pairs of words for each item, the definition first and the stereotype last."""
    return tuple(
        tuple((a, b) for a, b in (pair.split(":") for pair in line.split("\t")))
        for line in _FILE.read_text("utf-8").splitlines()
    )


def _answers(
    embedding: Embedding,
    items: tuple[tuple[tuple[str, str], ...], ...],
    pair: tuple[str, str],
    partial: bool,
    normalize: bool,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the cosines and the answer of each item, and the words that are missing."""
    import pandas as pd

    wanted = list(dict.fromkeys(word for item in items for two in item for word in two))
    matched = embedding.match([*pair, *wanted])
    if lost := [word for word in pair if word in matched.missing]:
        raise VocabularyError(f"embedding {embedding.name!r} lacks {quoted(lost)} of 'pair'.")
    vectors = np.asarray(embedding.vectors[matched.rows], dtype=np.float64)
    if normalize:
        vectors = unit_rows(vectors, matched.found, embedding.name)
    vector = dict(zip(matched.found, vectors, strict=True))
    step = vector[pair[0]] - vector[pair[1]]
    if np.linalg.norm(step) < _SAME:
        raise SpecError(
            f"{pair[0]!r} and {pair[1]!r} have the same vector in {embedding.name!r}; give words "
            "that differ."
        )
    pairs = dict.fromkeys(two for item in items for two in item)
    cosine = {two: _cosine(step, vector.get(two[0]), vector.get(two[1])) for two in pairs}
    values = np.array([[cosine[two] for two in item] for item in items])
    needed = [(item[0], item[-1]) if partial else item for item in items]
    known = np.array([all(w in vector for two in some for w in two) for some in needed])
    if not known.any():
        raise VocabularyError(
            f"embedding {embedding.name!r} lacks a word of every item ({quoted(matched.missing)})."
        )
    best = np.argmax(np.nan_to_num(values, nan=-np.inf), axis=1)
    frame = pd.DataFrame({"embedding": embedding.name}, index=range(len(items)))
    for place, name in enumerate(_PLACES):
        frame[name] = [" − ".join(item[place]) for item in items]
        frame[f"{name}_cosine"] = values[:, place]
    frame["answer"] = [
        _KIND_OF_PLACE[place] if there else None for place, there in zip(best, known, strict=True)
    ]
    return frame, tuple(word for word in wanted if word not in vector)


def _cosine(step: Array, first: Array | None, second: Array | None) -> float:
    if first is None or second is None:
        return np.nan
    difference = first - second
    length = float(np.linalg.norm(difference) * np.linalg.norm(step))
    return float(difference @ step) / length if length > _SAME**2 else np.nan


def _shares(frame: pd.DataFrame, draws: int, prob: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return the share of each kind of answer, with an interval over both kinds of pairs."""
    import pandas as pd

    known = frame[frame["answer"].notna()]
    answers = known["answer"].to_numpy()
    weights = np.ones((draws, len(known)))
    for place in ("definition", "stereotype"):
        codes, pairs = pd.factorize(known[place])
        weights *= rng.dirichlet(np.ones(len(pairs)), draws)[:, codes]
    weights /= weights.sum(axis=1, keepdims=True)
    rows = []
    for kind in _KINDS:
        hit: npt.NDArray[np.bool_] = answers == kind
        lower, upper = interval(np.clip(weights @ hit, 0, 1), prob, "eti")
        rows.append(
            {
                "embedding": known["embedding"].iloc[0],
                "answer": kind,
                "n": int(hit.sum()),
                "share": float(hit.mean()),
                "lower": float(lower),
                "upper": float(upper),
            }
        )
    return pd.DataFrame(rows)
