"""Neutral controls that are as frequent as the stereotypes they are compared with."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Codes
from bayesbias._core.blocks import blocks
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, one_of, positive, word_list
from bayesbias._core.wording import quoted
from bayesbias.embeddings import (
    Embedding,
    EmbeddingLike,
    Matching,
    as_embedding,
    one_vector_matching,
)
from bayesbias.errors import DataError, SpecError, VocabularyError, warn
from bayesbias.wordlists.catalogue import COLLECTIONS, collections_in, resolve, word_sets
from bayesbias.wordlists.frequencies import (
    Frequencies,
    FrequencySource,
    frequency_source,
    log_frequencies,
)
from bayesbias.wordlists.languages import ENGLISH
from bayesbias.wordlists.study import Study
from bayesbias.wordlists.wordset import WordSet

if TYPE_CHECKING:
    import pandas as pd

_Floats = npt.NDArray[np.float64]
# The share of a standard deviation that a control may differ from its stereotype.
_CALIPER = 0.1
# A match is called poor beyond these: the difference of the means in standard deviations, the
# distance of the distributions, and the share of controls that no word was near enough for.
_POOR_MEAN, _POOR_KS, _POOR_SHARE = 0.1, 0.2, 0.1
_SLOTS = ("matches", "balance", "on", "seed")
# More lists for concepts that the other collections have; random words do not depend on these.
_SAME_CONCEPTS = ("bad_seeds",)


class MatchedStudy(Study):
    """A study whose neutral controls were matched to its stereotypes; by `Study.match_controls`.

    It goes wherever a study goes. Saved to a file it is a plain study, with a note on the match.

    Parameters
    ----------
    study : Study
        The study with its new controls.
    matches : DataFrame
        One row per control: the ``word``, the stereotype it was ``matched_to``, the values of both
        (``value``, ``matched_value``), whether they are ``within_caliper``, and whether the word
        is ``drawn_from`` the study's own neutral list or the pool.
    balance : DataFrame
        How good the match is, one row each for the ``stereotypes``, the neutral controls
        ``before`` and ``after``: the number of words ``n``, ``mean`` and ``sd`` of the values,
        ``difference`` from the stereotypes in their standard deviations, and ``ks``, the
        Kolmogorov–Smirnov distance to their distribution.
    on : {"frequency", "norm"}
        What was matched.
    seed : int
        The seed of the draw.

    Examples
    --------
    >>> import bayesbias as bb
    >>> study = bb.load_study("weat_7").match_controls(bb.load_embedding("demo"), ratio=3, seed=1)
    >>> study
    <MatchedStudy 'weat_7_matched': 2 groups with 16 protected words, 16 stereotypes, 133 controls>
    >>> study.balance.round(2)
             words    n  mean    sd  difference    ks
    0  stereotypes   16 -6.23  1.87        0.00  0.00
    1       before  226 -9.70  1.46       -1.86  0.85
    2        after   48 -6.24  1.83       -0.01  0.08
    """

    __slots__ = _SLOTS

    matches: pd.DataFrame
    balance: pd.DataFrame
    on: str
    seed: int

    def __init__(
        self, study: Study, matches: pd.DataFrame, balance: pd.DataFrame, on: str, seed: int
    ) -> None:
        parts = study.groups, study.stereotypes, study.controls
        Study.__init__(self, study.name, *parts, study.source, study.notes, study.labels)
        for name, value in zip(_SLOTS, (matches, balance, on, seed), strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Study:
        """Make a plain study from what `to_dict` returns.

        Parameters
        ----------
        data : mapping
            What `Study.from_dict` takes.

        Returns
        -------
        Study
            The study, without the tables of the match.
        """
        return Study.from_dict(data)

    @property
    def is_balanced(self) -> bool:
        """Whether the controls are distributed as the stereotypes are, closely enough."""
        return not _faults(self.balance, self.matches)

    def summary(self) -> str:
        """Say how good the match is.

        Returns
        -------
        str
            One or two sentences with the values before and after.
        """
        return _summary(self.balance, self.matches, self.on)

    @property
    def table(self) -> pd.DataFrame:
        """How good the match is; `balance`."""
        return self.balance

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return how good the match is as a LaTeX table.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names what was matched and the number of controls.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        text = (
            f"{len(self.matches):,} neutral controls of the study {self.name}, matched to the "
            f"stereotypes on {self.on}: difference of the means in standard deviations, and "
            "Kolmogorov–Smirnov distance (KS)."
        )
        return frame_to_latex(
            self.balance,
            text if caption is None else caption,
            titles={"ks": "KS"},
            decimals=dict.fromkeys(("mean", "sd", "difference", "ks"), 2),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        tables = self.matches, self.balance, self.on, self.seed
        return MatchedStudy, (Study.from_dict(self.to_dict()), *tables)

    def __repr__(self) -> str:
        return Study.__repr__(self).replace("<Study", "<MatchedStudy", 1)

    def _repr_html_(self) -> str:
        table = self.balance.round(3).to_html(index=False, border=0, na_rep="")
        return f"{Study._repr_html_(self)}<p>{html.escape(self.summary())}</p>{table}"


@dataclass(frozen=True)
class _Words:
    """Words, the value of each, and whether it is in the study's own list."""

    words: Sequence[str]
    value: _Floats
    in_study: npt.NDArray[np.bool_]

    def within(self, low: float, high: float, enough: int) -> _Words:
        """Return the words with a value in the range, or all if these are not enough."""
        inside = (self.value >= low) & (self.value <= high)
        # A word beyond the range is taken only if there is nothing nearer, which the report says.
        if inside.sum() < enough:
            return self
        words = [self.words[i] for i in np.flatnonzero(inside).tolist()]
        return _Words(words, self.value[inside], self.in_study[inside])


def match_controls(
    study: Study,
    embedding: EmbeddingLike,
    on: Literal["frequency", "norm"],
    *,
    pool: str | Iterable[str] | None,
    ratio: int,
    caliper: float | None,
    frequencies: Frequencies,
    matching: Matching | None,
    seed: Seed,
    name: str | None,
) -> MatchedStudy:
    """Return the study with other neutral controls; the method of `Study` documents it."""
    embedding = as_embedding(embedding)
    one_of("on", on, ("frequency", "norm"))
    at_least("ratio", ratio, 1)
    seed = as_seed(seed)
    if caliper is not None:
        positive("caliper", caliper)
    how = one_vector_matching(matching, embedding)
    given = None if pool is None else given_pool(pool)
    source = frequency_source(frequencies, how) if on == "frequency" else None
    if source is not None:
        source.check(embedding)

    measured = [word for words in study.stereotypes.values() for word in words]
    stereotypes = embedding.match(measured, how)
    if not len(stereotypes):
        raise VocabularyError(
            f"embedding {embedding.name!r} has none of the stereotypes of the study "
            f"{study.name!r} ({quoted(measured, 5)}); use another embedding or other fallbacks."
        )
    wanted = _values(source, embedding, stereotypes.found, stereotypes.rows, strict=True)
    spread = float(wanted.std(ddof=1)) if len(wanted) > 1 else 0.0
    near = caliper if caliper is not None else _CALIPER * (spread or 1.0)

    neutral = embedding.match(study.controls.get("neutral", ()), how)
    before = _values(source, embedding, neutral.found, neutral.rows, strict=False)
    candidates = _candidates(study, embedding, source, given, how)
    candidates = candidates.within(wanted.min() - near, wanted.max() + near, ratio * len(wanted))
    if len(candidates.words) < ratio * len(wanted):
        raise SpecError(
            f"study {study.name!r}: {ratio} × {len(wanted)} controls are asked for, but there are "
            f"only {len(candidates.words)} words to choose from; lower 'ratio', give a larger "
            "'pool', or use an embedding with its whole vocabulary."
        )
    chosen, of = _draw(wanted, candidates, ratio, near, np.random.default_rng(seed))
    matches = _matches(stereotypes.found, wanted, candidates, chosen, of, near)
    balance = _balance(wanted, before, candidates.value[chosen])
    words = [candidates.words[i] for i in np.sort(chosen)]
    where = f"on {on} in the embedding {embedding.name}"
    language = next(iter(study.stereotypes.values())).language
    controls = WordSet("neutral", words, note=f"matched {where}", language=language)
    new = Study(
        name or f"{study.name}_matched",
        study.groups,
        study.stereotypes,
        {**study.controls, "neutral": controls},
        study.source,
        (
            *study.notes,
            f"Neutral controls matched to the stereotypes {where}, {ratio} for each, seed {seed}. "
            f"{_summary(balance, matches, on)}",
        ),
        _labels(study, words),
    )
    if faults := _faults(balance, matches):
        warn(
            f"{study.name}: the controls cannot be matched well on {on} ({'; '.join(faults)}); "
            "lower 'ratio', give a larger 'pool', or use an embedding with its whole vocabulary. "
            "`matches` names the words."
        )
    return MatchedStudy(new, matches, balance, on, seed)


def _labels(study: Study, drawn: list[str]) -> dict[str, Any]:
    """Return the labels of a study without those of neutral words that were not drawn."""
    replaced = set(study.controls.get("neutral", ())) - set(drawn)
    labels = dict(study.labels)
    if "words" in labels:
        kept = {word: text for word, text in labels["words"].items() if word not in replaced}
        labels["words"] = kept
    return labels


def given_pool(pool: str | Iterable[str]) -> tuple[str, ...]:
    """Return the words of a pool: a list, or the name of a built-in one."""
    if isinstance(pool, str):
        if pool.partition(":")[0] not in COLLECTIONS or ":" not in pool:
            raise SpecError(
                f"'pool' is {pool!r}; expected a list of words, or the name of a built-in list "
                "such as 'controls:neutral_2'."
            )
        return tuple(resolve(pool))
    return tuple(dict.fromkeys(word_list("pool", pool)))


def _values(
    source: FrequencySource | None,
    embedding: Embedding,
    words: Sequence[str],
    rows: Codes,
    *,
    strict: bool,
) -> _Floats:
    """Return what is matched, of each word; words without a frequency are refused if `strict`."""
    if source is None:
        vectors = np.asarray(embedding.vectors[rows], dtype=np.float64)
        norms: _Floats = np.linalg.norm(vectors, axis=1)
        return norms
    if not len(words):
        return np.empty(0)
    if strict:
        return log_frequencies(source, embedding, words, rows)
    values = source.find(embedding, words, rows)
    return values[~np.isnan(values)]


def _candidates(
    study: Study,
    embedding: Embedding,
    source: FrequencySource | None,
    pool: tuple[str, ...] | None,
    how: Matching,
) -> _Words:
    """Return the study's own neutral words, then those of the pool, each once."""
    taken = {word for key, words in study.word_sets().items() for word in words}
    neutral = embedding.match(study.controls.get("neutral", ()), how).distinct()
    used = set(embedding.match(sorted(taken), how).rows.tolist())
    if pool is None:
        listed = listed_words(study.language)
        others = [
            (word, row)
            for row, word in enumerate(embedding.words)
            if row not in used and word not in listed and is_plain(word)
        ]
    else:
        offered = embedding.match(pool, how).distinct()
        if pool and not len(offered):
            raise VocabularyError(
                f"no word of 'pool' ({quoted(pool, 5)}) is in the embedding {embedding.name!r}; "
                "give words that it has, or other fallbacks."
            )
        others = [
            (word, row)
            for word, row in zip(offered.found, offered.rows.tolist(), strict=True)
            if row not in used and word not in taken
        ]
    words = [*neutral.found, *(word for word, _ in others)]
    rows = np.array([*neutral.rows.tolist(), *(row for _, row in others)], dtype=np.intp)
    if not len(rows):
        raise DataError(
            f"study {study.name!r}: there is no word to choose controls from in the embedding "
            f"{embedding.name!r}; give a 'pool' of words that it has."
        )
    if source is None:
        values = _values(None, embedding, words, rows, strict=False)
    else:
        values = source.find(embedding, words, rows)
    usable = np.isfinite(values) & has_direction(embedding, rows)
    in_study = np.arange(len(rows)) < len(neutral)
    return _Words(
        [words[i] for i in np.flatnonzero(usable).tolist()], values[usable], in_study[usable]
    )


def listed_words(language: str = ENGLISH) -> set[str]:
    """Return the words of the published lists in a language, or in several, as ``de+en``.

    Opinions, people, professions and the like are not neutral.
    """
    return {
        word
        for code in language.split("+")
        for collection in collections_in(code)
        if collection not in _SAME_CONCEPTS
        for name, words in word_sets(collection).items()
        if not name.startswith("neutral")
        for word in words
    }


def is_plain(word: str) -> bool:
    """Return whether a word is of letters, in lower case where there is one, and not a letter."""
    return word.isalpha() and word == word.lower() and (len(word) > 1 or not word.isascii())


def has_direction(embedding: Embedding, rows: Codes) -> npt.NDArray[np.bool_]:
    """Tell which words have a finite vector that is not zero, and with it a cosine."""
    result = np.empty(len(rows), dtype=bool)
    for part in blocks(len(rows), embedding.dim):
        vectors = np.asarray(embedding.vectors[rows[part]])
        result[part] = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
    return result


def _draw(
    wanted: _Floats, candidates: _Words, ratio: int, near: float, rng: np.random.Generator
) -> tuple[Codes, Codes]:
    """Draw controls in rounds, in each one for every stereotype, no word twice.

    A word is drawn at random among those within the caliper, from the study's own list while that
    has any; if there is none, it is the nearest.
    """
    free = np.ones(len(candidates.words), dtype=bool)
    chosen: list[int] = []
    of: list[int] = []
    for _ in range(ratio):
        for i in rng.permutation(len(wanted)):
            gap = np.where(free, np.abs(candidates.value - wanted[i]), np.inf)
            close = np.flatnonzero(gap <= near)
            from_study = close[candidates.in_study[close]]
            options = from_study if from_study.size else close
            pick = int(rng.choice(options)) if options.size else int(gap.argmin())
            free[pick] = False
            chosen.append(pick)
            of.append(int(i))
    return np.array(chosen, dtype=np.intp), np.array(of, dtype=np.intp)


def _matches(
    stereotypes: Sequence[str],
    wanted: _Floats,
    candidates: _Words,
    chosen: Codes,
    of: Codes,
    near: float,
) -> pd.DataFrame:
    import pandas as pd

    order = np.lexsort((np.arange(len(of)), of))
    chosen, of = chosen[order], of[order]
    values = candidates.value[chosen]
    return pd.DataFrame(
        {
            "word": [candidates.words[i] for i in chosen],
            "matched_to": [stereotypes[i] for i in of],
            "value": values,
            "matched_value": wanted[of],
            "within_caliper": np.abs(values - wanted[of]) <= near,
            "drawn_from": np.where(candidates.in_study[chosen], "study", "pool"),
        }
    )


def _balance(wanted: _Floats, before: _Floats, after: _Floats) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for name, values in (("stereotypes", wanted), ("before", before), ("after", after)):
        if len(values):
            difference = float(values.mean() - wanted.mean())
            sd = float(wanted.std(ddof=1)) if len(wanted) > 1 else 0.0
            rows.append(
                {
                    "words": name,
                    "n": len(values),
                    "mean": float(values.mean()),
                    "sd": float(values.std(ddof=1)) if len(values) > 1 else np.nan,
                    "difference": difference / sd if sd else difference,
                    "ks": ks_distance(values, wanted),
                }
            )
    return pd.DataFrame(rows)


def ks_distance(first: _Floats, second: _Floats) -> float:
    """Return the largest difference of two empirical distribution functions."""
    both = np.concatenate([first, second])
    below = [
        np.searchsorted(np.sort(values), both, side="right") / len(values)
        for values in (first, second)
    ]
    return float(np.abs(below[0] - below[1]).max())


def _faults(balance: pd.DataFrame, matches: pd.DataFrame) -> list[str]:
    """Return what is wrong with a match, nothing if it is good."""
    after = balance[balance["words"] == "after"].iloc[0]
    outside = float((~matches["within_caliper"]).mean())
    faults = []
    if abs(after["difference"]) > _POOR_MEAN:
        faults.append(f"the means differ by {abs(after['difference']):.2f} sd")
    # Each of n stereotypes is a step of 1 / n, which controls around it cannot follow.
    if after["ks"] > max(_POOR_KS, 1 / balance["n"].iloc[0] + 1e-9):
        faults.append(f"the KS distance is {after['ks']:.2f}")
    if outside > _POOR_SHARE:
        faults.append(f"{outside:.0%} of the controls are outside the caliper")
    return faults


def _summary(balance: pd.DataFrame, matches: pd.DataFrame, on: str) -> str:
    rows = {str(row["words"]): row for row in balance.to_dict("records")}
    what = "log frequency" if on == "frequency" else "vector norm"
    means = f"{rows['after']['mean']:.2f}"
    ks = f"{rows['after']['ks']:.2f}"
    if "before" in rows:
        means += f" (before {rows['before']['mean']:.2f})"
        ks += f" (before {rows['before']['ks']:.2f})"
    outside = int((~matches["within_caliper"]).sum())
    return (
        f"Mean {what}: stereotypes {rows['stereotypes']['mean']:.2f}, matched controls {means}; "
        f"KS distance {ks}; {outside} of {len(matches)} controls outside the caliper."
    )
