"""Published lists for one concept, side by side: what the choice of the list changes."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least
from bayesbias._core.wording import counted, enumerated, kind_of, plural, quoted
from bayesbias.embeddings import Embedding, EmbeddingLike, Matching, as_embedding
from bayesbias.errors import BayesBiasWarning, SpecError, VocabularyError
from bayesbias.metrics import Metric, MetricLike, Score, as_metrics
from bayesbias.numerics.intervals import check_interval
from bayesbias.wordlists import Query, WordSet, check_words, load_concept, resolve

#: What check_words says of each list, and of the pair.
_OF_LIST = ("cohesion", "cohesion_percentile")
_OF_PAIR = (
    "frequency_ratio",
    "coherence",
    "coherence_percentile",
    "similarity",
    "pca",
    "pca_percentile",
)
_DECIMALS = {
    **dict.fromkeys(("coverage", "cohesion", "coherence", "similarity"), 2),
    "coherence_percentile": 0,
    "frequency_ratio": 1,
}
# Below this coverage, a list is named in the summary.
_LOW_COVERAGE = 0.8


@dataclass(frozen=True, eq=False, repr=False)
class ListComparison:
    """Lists for one concept side by side, from `compare_lists`.

    Parameters
    ----------
    concept : str
        What the lists are for.
    embedding, metric : str
        Where and by what they were measured.
    attributes : tuple of str
        The names of the two attribute lists, the same for all.
    table : DataFrame
        One row per pair of lists: ``lists`` (its name), ``groups`` and ``source``; ``n_words`` and
        ``n_found`` of both lists, ``coverage`` (their ratio), the words ``missing``; ``cohesion``
        and ``cohesion_percentile`` (the less cohesive list of the two), ``frequency_ratio``,
        ``coherence``, ``similarity`` and ``pca`` with their percentiles, as in `check_words`;
        ``value``, ``lower`` and ``upper`` of the metric; and the ``reason`` for NaN.
    neutral_value : float
        The value of the metric without bias.
    prob : float
        Probability of the intervals.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.compare_lists("age", "demo", draws=500, samples=50)
    >>> found
    <ListComparison of 2 pairs of lists for age in demo by weat_es>
    >>> found.table[["lists", "n_words", "coverage", "value"]].round(2)
                      lists  n_words  coverage  value
    0  Caliskan 2017, names       16      1.00   1.02
    1         Rudinger 2017        6      0.33    NaN
    """

    concept: str
    embedding: str
    metric: str
    attributes: tuple[str, str]
    table: pd.DataFrame
    neutral_value: float = 0.0
    prob: float = 0.89

    def __repr__(self) -> str:
        return (
            f"<ListComparison of {counted(len(self.table), 'pair')} of lists for {self.concept} in "
            f"{self.embedding} by {self.metric}>"
        )

    def summary(self) -> str:
        """Return what the choice of the list changes, in plain words.

        Returns
        -------
        str
            For each two groups, the range of the values, how many intervals exclude the neutral
            value, and whether some differ, given how many are compared; then lists with few words.
        """
        lines = [
            f"{self.metric} with {enumerated(self.attributes)} in {self.embedding}, "
            f"{self.prob:.0%} intervals:"
        ]
        for groups, part in self.table.groupby("groups", sort=False):
            lines.append(f"- {groups}: {self._of_groups(part)}")
        scarce = self.table[self.table["coverage"] < _LOW_COVERAGE]
        if len(scarce):
            named = [
                f"{name} ({found} of {words})"
                for name, found, words in zip(
                    scarce["lists"], scarce["n_found"], scarce["n_words"], strict=True
                )
            ]
            lines.append(f"Few words found: {', '.join(named)}.")
        return "\n".join(lines)

    def _of_groups(self, part: pd.DataFrame) -> str:
        measured = part.dropna(subset="value").sort_values("value")
        if measured.empty:
            return f"no value ({part['reason'].iloc[0]})."
        low, high = measured.iloc[0], measured.iloc[-1]
        if len(measured) == 1:
            return f"one value, {low['value']:.2f} {_interval(low)} ({low['lists']})."
        with_interval = measured.dropna(subset=["lower", "upper"])
        above = int((with_interval["lower"] > self.neutral_value).sum())
        below = int((with_interval["upper"] < self.neutral_value).sum())
        open_ = len(with_interval) - above - below
        text = (
            f"{len(measured)} pairs of lists, from {low['value']:.2f} {_interval(low)} "
            f"({low['lists']}) to {high['value']:.2f} {_interval(high)} ({high['lists']}), median "
            f"{measured['value'].median():.2f}. {above} above {self.neutral_value:g}, {below} "
            f"below, {open_} inconclusive."
        )
        differ = _some_differ(with_interval, self.prob)
        if differ:
            text += " Some differ, given how many are compared: the choice of the list matters."
        elif len(with_interval) > 1:
            text += " None clearly differ, given how many are compared."
        lost = len(part) - len(measured)
        return text + (f" {lost} {plural(lost, 'pair')} without a value." if lost else "")

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the table as LaTeX.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names the concept, the metric and the embedding.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        text = (
            f"Lists for {self.concept} in {self.embedding}: {self.metric} with "
            f"{enumerated(self.attributes)}, {self.prob:.0%} intervals."
        )
        return frame_to_latex(
            self._shown(),
            text if caption is None else caption,
            titles={"n_words": "n", "value": self.metric, "coherence_percentile": "percentile"},
            decimals=_DECIMALS,
        )

    def _repr_html_(self) -> str:
        shown = self._shown().to_html(
            index=False, border=0, na_rep="", float_format=lambda number: f"{number:.2f}"
        )
        told = "".join(f"<p>{html.escape(line)}</p>" for line in self.summary().splitlines())
        return f"<p><b>{html.escape(repr(self)[1:-1])}</b></p>{shown}{told}"

    def _shown(self) -> pd.DataFrame:
        columns = ["lists", "groups", "n_words", "coverage", "cohesion", "coherence"]
        columns += ["coherence_percentile", "similarity", "value", "lower", "upper"]
        shown = self.table[columns]
        return shown.drop(columns="groups") if len(set(shown["groups"])) == 1 else shown


class _Settings(NamedTuple):
    metric: Metric
    matching: Matching | None
    draws: int
    prob: float
    samples: int
    seed: int


def compare_lists(
    concept: str | Mapping[str, Sequence[Iterable[str]]],
    embedding: EmbeddingLike,
    *,
    attributes: Sequence[Iterable[str] | str] | None = None,
    lists: Mapping[str, Sequence[Iterable[str]]] | None = None,
    metric: MetricLike = "weat_es",
    draws: int = 2000,
    prob: float = 0.89,
    samples: int = 200,
    matching: Matching | None = None,
    seed: Seed = 0,
) -> ListComparison:
    """Compare published word lists for one concept: coverage, diagnostics, effect and interval.

    The attributes stay the same and the lists of the groups change, so that a difference between
    two rows comes from the choice of words alone. This is the main experiment of Antoniak & Mimno
    (2021) with the uncertainty of each value beside it.

    Parameters
    ----------
    concept : {"gender", "ethnicity", "religion", "age", "sentiment"} or mapping
        What the lists are for; or pairs of lists of your own by name.
    embedding : Embedding, str or path-like
        Where to measure; the whole vocabulary, for the diagnostics.
    attributes : sequence of two lists, optional
        The words that the groups are compared by, or names of built-in lists such as
        ``"weat:career"``. By default career and family for gender, flowers and insects for
        sentiment, pleasant and unpleasant words for the other concepts.
    lists : mapping of str to two lists, optional
        Lists of your own beside the published ones.
    metric : str, Metric class or Metric, default "weat_es"
        A metric of two target and two attribute sets.
    draws : int, default 2000
        How many draws of the words' weights the intervals come from; see `Measurement.posterior`.
    prob : float, default 0.89
        Probability of the intervals.
    samples : int, default 200
        How many random or shuffled lists the diagnostics are compared with; see `check_words`.
    matching : Matching, optional
        How words are matched with the vocabulary; by default as the embedding says. There is no
        value if a list misses more words than its threshold allows.
    seed : int or Generator, default 0
        Same seed, same result.

    Returns
    -------
    ListComparison
        One row per pair of lists.

    Raises
    ------
    NotFoundError
        If there is no such concept or built-in list.
    SpecError
        If the metric takes other numbers of sets, or a pair of lists is not two lists.
    VocabularyError
        If the embedding has no word of any list.

    Notes
    -----
    The intervals take the words of a list as a sample of words that could have been listed. Lists
    of one concept share words, so the rows are not independent. A list that differs from the others
    by more than its interval is not a larger sample of the same: it measures something else, such
    as first names instead of gendered nouns.

    References
    ----------
    Antoniak, Mimno (2021), doi:10.18653/v1/2021.acl-long.148.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.compare_lists("religion", "demo", draws=500, samples=50)
    >>> print(found.summary())
    weat_es with Pleasant and Unpleasant in demo, 89% intervals:
    - christianity and islam: 3 pairs of lists, from ...
    """
    chosen, first_name = _chosen(concept, attributes)
    [measure] = as_metrics(metric)
    if measure.template != (2, 2):
        raise SpecError(
            f"the metric {measure.name!r} takes {measure.template} target and attribute sets; "
            "compare_lists needs one that takes two of each, such as 'weat_es'."
        )
    at_least("draws", draws, 2)
    at_least("samples", samples, 1)
    check_interval(prob, "eti")
    pairs = {**chosen[0], **{str(name): _pair(name, two) for name, two in (lists or {}).items()}}
    if not pairs:
        raise SpecError("'concept' has no lists; give pairs of lists by name.")
    model = as_embedding(embedding)
    settings = _Settings(measure, matching, draws, prob, samples, as_seed(seed))
    rows = [_row(name, two, chosen[1], model, settings) for name, two in pairs.items()]
    table = pd.DataFrame(rows)
    if not table["n_found"].any():
        listed = [word for two in pairs.values() for words in two for word in words]
        raise VocabularyError(
            f"embedding {model.name!r} has none of the words of the lists ({quoted(listed, 5)}); "
            "look at the spelling, the language or a prefix such as '/c/en/'."
        )
    first, second = chosen[1]
    return ListComparison(
        concept=first_name,
        embedding=model.name,
        metric=measure.name,
        attributes=(first.name, second.name),
        table=table,
        neutral_value=measure.neutral_value,
        prob=prob,
    )


_Pair = tuple[WordSet, WordSet]


def _chosen(
    concept: str | Mapping[str, Sequence[Iterable[str]]],
    attributes: Sequence[Iterable[str] | str] | None,
) -> tuple[tuple[dict[str, _Pair], _Pair], str]:
    """Return the pairs of lists, the attributes and the name of the concept."""
    given = None if attributes is None else _pair("attributes", attributes)
    if isinstance(concept, str):
        known = load_concept(concept)
        return (dict(known.pairs), given or known.attributes), known.name
    if not isinstance(concept, Mapping):
        raise SpecError(
            f"'concept' is {kind_of(concept)}; expected a name such as 'gender', or a "
            "dictionary of pairs of lists."
        )
    if given is None:
        raise SpecError("give 'attributes', two lists that the groups are compared by.")
    pairs = {str(name): _pair(name, two) for name, two in concept.items()}
    return (pairs, given), "own lists"


def _pair(name: object, two: object) -> _Pair:
    """Return two named lists from lists of words or names of built-in lists."""
    if isinstance(two, str) or not isinstance(two, Sequence) or len(two) != 2:
        raise SpecError(f"{str(name)!r} is {two!r}; expected two lists of words.")
    sets = [resolve(words) if isinstance(words, str) else words for words in two]
    first, second = (
        words if isinstance(words, WordSet) else WordSet(label, words)
        for label, words in zip(("first", "second"), sets, strict=True)
    )
    return first, second


def _row(
    name: str, pair: _Pair, attributes: _Pair, embedding: Embedding, settings: _Settings
) -> dict[str, Any]:
    first, second = pair
    n_words = len(first) + len(second)
    sources = dict.fromkeys(words.source for words in pair if words.source)
    row: dict[str, Any] = {
        "lists": name,
        "groups": f"{first.name} and {second.name}",
        "source": "; ".join(sources),
        "n_words": n_words,
        **_diagnostics(pair, embedding, settings),
    }
    score = _score(pair, attributes, embedding, settings)
    row["coverage"] = row["n_found"] / n_words
    return row | {
        "metric": settings.metric.name,
        "value": score.value,
        "lower": score.lower,
        "upper": score.upper,
        "reason": score.row()["reason"],
    }


def _diagnostics(pair: _Pair, embedding: Embedding, settings: _Settings) -> dict[str, Any]:
    """Return what check_words says of the two lists."""
    lists = {"first": pair[0], "second": pair[1]}
    row: dict[str, Any] = {"n_found": 0, "coverage": 0.0, "missing": sum(map(tuple, pair), ())}
    row |= dict.fromkeys((*_OF_LIST, *_OF_PAIR), np.nan)
    try:
        check = check_words(
            lists,
            embedding,
            matching=settings.matching,
            samples=settings.samples,
            seed=settings.seed,
        )
    except VocabularyError:  # none of these words; the other lists may have some
        return row
    row["n_found"] = int(check.lists["n_found"].sum())
    row["missing"] = tuple(word for words in check.lists["missing"] for word in words)
    cohesion = check.lists["cohesion"]
    if cohesion.notna().any():
        least = check.lists.iloc[int(np.nanargmin(cohesion.to_numpy()))]
        row |= {column: least[column] for column in _OF_LIST}
    return row | {column: check.pairs[column].iloc[0] for column in _OF_PAIR}


def _score(pair: _Pair, attributes: _Pair, embedding: Embedding, settings: _Settings) -> Score:
    query = Query(pair, attributes)
    measurement = settings.metric.on(
        query, embedding, matching=settings.matching, seed=settings.seed
    )
    with warnings.catch_warnings():  # the reason for a missing value is in its row
        warnings.simplefilter("ignore", BayesBiasWarning)
        return measurement.posterior(draws=settings.draws, prob=settings.prob)


def _some_differ(scores: pd.DataFrame, prob: float) -> bool:
    """Return whether two of some values differ, by normal errors and Bonferroni's correction.

    The errors are taken for independent, although lists may share words: that makes it cautious.
    """
    from scipy.stats import norm

    value = scores["value"].to_numpy()
    width = (scores["upper"] - scores["lower"]).to_numpy()
    error = width / (2 * norm.ppf(0.5 + prob / 2))
    one, other = np.triu_indices(len(value), 1)
    if not len(one):
        return False
    z = np.abs(value[one] - value[other]) / np.hypot(error[one], error[other])
    return bool(z.max() > norm.isf((1 - prob) / (2 * len(one))))


def _interval(row: pd.Series) -> str:
    if pd.isna(row["lower"]):
        return "(no interval)"
    return f"[{row['lower']:.2f}, {row['upper']:.2f}]"
