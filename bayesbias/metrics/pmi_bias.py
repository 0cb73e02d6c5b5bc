"""Bias in a text itself: with which of two groups a word occurs more often than expected."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.rounded_table import decimals_of_interval
from bayesbias._core.validation import at_least, one_of
from bayesbias._core.wording import counted, quoted
from bayesbias.corpus import Corpus, GroupPairs, check_corpus, count_group_pairs
from bayesbias.errors import DataError, SpecError
from bayesbias.metrics.query_vectors import as_query
from bayesbias.numerics.intervals import check_interval
from bayesbias.wordlists import Query

if TYPE_CHECKING:
    from bayesbias.wordlists import WordSet

#: What is taken to be independent: each pair of words, or only documents.
Independent: TypeAlias = Literal["documents", "pairs"]
INDEPENDENT: tuple[Independent, ...] = get_args(Independent)

# With fewer documents, their spread says little.
_FEW_DOCUMENTS = 30


@dataclass(frozen=True, eq=False, repr=False)
class PMIBias:
    """The bias of words in a corpus, from `pmi_bias`.

    Parameters
    ----------
    corpus : str
        The name of the corpus.
    groups : tuple of str
        The names of the two groups.
    words : DataFrame
        One row per word; see `table`.
    lists : DataFrame
        One row per list of words, taken as one: pairs with any of its words are counted. The
        columns are those of `table`; ``word`` is missing.
    independent : {"documents", "pairs"}
        What the intervals take to be independent.
    notes : tuple of str
        Words that are not in the corpus.
    prob : float
        Probability of the intervals.

    Examples
    --------
    >>> import bayesbias as bb
    >>> words = {"she": ["she", "her"], "he": ["he", "him", "his"]}
    >>> query = bb.Query(words.values(), [["heart", "money"]], words, ["words"])
    >>> found = bb.metrics.pmi_bias(bb.read_corpus("demo"), query, progress=False)
    >>> found.table[["word", "bias", "lower", "upper"]].round(2)
        word  bias  lower  upper
    0  heart  0.13  -0.10   0.37
    1  money -0.58  -1.05  -0.10
    """

    corpus: str
    groups: tuple[str, str]
    words: pd.DataFrame
    lists: pd.DataFrame
    independent: Independent
    notes: tuple[str, ...] = ()
    prob: float = 0.89

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per word.

        ``list`` and ``word``; ``near_first`` and ``near_second``, how often it occurs near words of
        the two groups; its ``pmi_first`` and ``pmi_second`` with the groups; their difference
        ``bias``, positive towards the first group, with ``lower`` and ``upper``; the standard error
        ``se``; the ``log_odds_ratio``; and the two-sided ``p_value`` of no bias.
        """
        return self.words

    def summary(self) -> str:
        """Return the result in plain words.

        Returns
        -------
        str
            The bias of each list, and how many words lean to either group.
        """
        first, second = self.groups
        digits = decimals_of_interval(self.lists["lower"], self.lists["upper"])
        lines = [f"PMI bias in the corpus {self.corpus!r}, {first} (above 0) and {second} (below)."]
        for row in self.lists.to_dict("records"):
            bias, lower, upper = (f"{row[key]:z.{digits}f}" for key in ("bias", "lower", "upper"))
            words = self.words[self.words["list"] == row["list"]]
            towards = [int((words["lower"] > 0).sum()), int((words["upper"] < 0).sum())]
            lines.append(
                f"- {row['list']}: {bias}, {self.prob:.0%} interval {lower} to {upper}. Intervals "
                f"of {counted(len(words), 'word')}: {towards[0]} above 0 (more with {first}), "
                f"{towards[1]} below 0 (more with {second})."
            )
        lines.append(f"The intervals take {self.independent} to be independent.")
        lines += [f"Note: {note}." for note in self.notes]
        return "\n".join(lines)

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the table as LaTeX.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names corpus and groups.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        text = (
            f"PMI bias of words between {self.groups[0]} (above 0) and {self.groups[1]} (below 0) "
            f"in the corpus {self.corpus}, with {self.prob:.0%} intervals."
        )
        columns = ["list", "word", "near_first", "near_second", "bias", "lower", "upper", "p_value"]
        titles = {
            "near_first": f"near {self.groups[0]}",
            "near_second": f"near {self.groups[1]}",
            "p_value": "p",
        }
        return frame_to_latex(
            self.words[columns],
            text if caption is None else caption,
            titles=titles,
            decimals={"p_value": 4},
        )

    def __repr__(self) -> str:
        lists = ", ".join(
            f"{row['list']} {row['bias']:.2f}" for row in self.lists.to_dict("records")
        )
        return f"<PMIBias {self.groups[0]} and {self.groups[1]}, {self.corpus}: {lists}>"

    def _repr_html_(self) -> str:
        shown = self.words.to_html(index=False, border=0, float_format=lambda x: f"{x:.3g}")
        remarks = "".join(f"<p>{html.escape(note)}.</p>" for note in self.notes)
        return (
            f"<p><b>{html.escape(repr(self)[1:-1])}</b></p>{shown}"
            f"<p>{self.prob:.0%} intervals, if {self.independent} are independent.</p>{remarks}"
        )


def pmi_bias(
    corpus: Corpus,
    query: Query | str,
    *,
    window: int = 10,
    min_count: int = 5,
    smoothing: float = 0.5,
    independent: Independent = "documents",
    prob: float = 0.89,
    progress: bool = True,
) -> PMIBias:
    """Measure with which of two groups words occur more often than expected, without vectors.

    The bias of a word x is PMI(x, A) − PMI(x, B) = log(P(x | A) / P(x | B)): how much more probable
    it is near words of the group A than near words of B. For rare words this is close to a log odds
    ratio, whose standard error has a closed form.

    Parameters
    ----------
    corpus : Corpus
        The text; it is read twice.
    query : Query or str
        Two target sets, the groups A and B, and at least one attribute set, the words x.
    window : int, default 10
        How many words before and behind are near.
    min_count : int, default 5
        Leave out words that occur less often. Windows reach over them.
    smoothing : float, default 0.5
        Add this to how often each pair of words occurs, so that no logarithm is infinite.
    independent : {"documents", "pairs"}, default "documents"
        What the intervals take to be independent. ``"pairs"`` is published: each pair of words is
        an observation, and the standard error is that of the log odds ratio. But pairs of one
        document are about the same thing, and one word is in many pairs, so that these intervals
        are too narrow; only of a word that is in a large share of all pairs they are too wide.
        ``"documents"`` sums the influence of each document on the bias, also in closed form; no
        standard error is below that of a log ratio of shares of independent pairs.
    prob : float, default 0.89
        Probability of the intervals.
    progress : bool, default True
        Show a progress bar, in terminals and notebooks.

    Returns
    -------
    PMIBias
        The bias of each word and of each list, with intervals.

    Raises
    ------
    SpecError
        If the query does not have two target sets and an attribute set, or the groups share a word.
    DataError
        If the corpus has no word of a set.

    References
    ----------
    Valentini, Rosati, Blasi, Fernandez Slezak, Altszyler (2023), On the Interpretability and
    Significance of Bias Metrics in Texts: a PMI-based Approach,
    https://doi.org/10.18653/v1/2023.acl-short.44

    Examples
    --------
    >>> import bayesbias as bb
    >>> corpus = bb.corpus.Corpus(["she sews", "she sews", "he rides", "he sews"] * 10)
    >>> query = bb.Query([["she"], ["he"]], [["sews", "rides"]], ["she", "he"], ["verbs"])
    >>> bb.metrics.pmi_bias(corpus, query, progress=False)
    <PMIBias she and he, corpus: verbs 0.00>
    """
    check_corpus(corpus)
    asked = _check_query(as_query(query))
    at_least("window", window, 1)
    at_least("min_count", min_count, 1)
    if isinstance(smoothing, bool) or not 0 <= smoothing < np.inf:
        raise SpecError(f"'smoothing' is {smoothing!r}; expected a number, 0 or more.")
    one_of("independent", independent, INDEPENDENT)
    check_interval(prob, "eti")
    counts = corpus.counts(min_count, progress=progress)
    index = {word: number for number, word in enumerate(counts["word"])}
    groups, lists, notes = _known_words(asked, index, corpus)
    words = list(dict.fromkeys(word for listed in lists for word in listed))
    with corpus._progress_bar("Counting pairs of words", show=progress) as advance:
        pairs = count_group_pairs(corpus._words(advance), index, window, groups, words)
    if independent == "documents" and len(pairs.total) < _FEW_DOCUMENTS:
        notes.append(
            f"only {counted(len(pairs.total), 'document')} with words of the groups: too few to "
            "tell how much documents differ"
        )
    smooth = _Smoothing(smoothing, (len(groups[0]), len(groups[1])), len(index))
    columns = {word: number for number, word in enumerate(words)}

    def measure(listed: Sequence[str]) -> dict[str, Any]:
        places = [columns[word] for word in listed], [index[word] for word in listed]
        result = _bias(pairs, *places, smooth, independent, prob)
        if not np.isfinite(result["lower"]):
            raise DataError(
                f"{quoted(listed, 3)} never near words of {quoted(asked.target_names)}, or always: "
                "the logarithm is infinite. Give 'smoothing' above 0."
            )
        return result

    named_lists = list(zip(asked.attribute_names, lists, strict=True))
    by_word = [
        {"list": name, "word": word, **measure([word])}
        for name, listed in named_lists
        for word in listed
    ]
    by_list = [{"list": name, **measure(listed)} for name, listed in named_lists]
    return PMIBias(
        corpus.name,
        (asked.target_names[0], asked.target_names[1]),
        pd.DataFrame(by_word),
        pd.DataFrame(by_list),
        independent,
        tuple(notes),
        prob,
    )


@dataclass(frozen=True, slots=True)
class _Smoothing:
    """What is added to the counts of pairs: so much for each pair of two words."""

    each: float
    group_sizes: tuple[int, int]
    vocabulary: int


def _check_query(query: Query) -> Query:
    if len(query.target_sets) != 2 or not query.attribute_sets:
        raise SpecError(
            f"the query {query.name!r} has {counted(len(query.target_sets), 'target set')} and "
            f"{counted(len(query.attribute_sets), 'attribute set')}; PMI bias compares two groups "
            "by one list of words or several. query.subqueries((2, 'n')) gives such queries."
        )
    return query


def _known_words(
    query: Query, index: dict[str, int], corpus: Corpus
) -> tuple[list[list[str]], list[list[str]], list[str]]:
    """Return the words of groups and lists as the corpus writes them, and notes on the others."""
    notes: list[str] = []

    def known(words: WordSet) -> list[str]:
        written = [word.lower() for word in words] if corpus.tokenizer.lower else list(words)
        unique = list(dict.fromkeys(written))
        missing = [word for word in unique if word not in index]
        if len(missing) == len(unique):
            raise DataError(
                f"the corpus {corpus.name!r} has none of the words of {words.name!r} often enough "
                f"({quoted(unique, 5)}); lower min_count (--min-count), or give other words."
            )
        if missing:
            notes.append(
                f"{len(missing)} of {counted(len(unique), 'word')} of {words.name!r} too rare in "
                f"the corpus: {quoted(missing, 5)}"
            )
        return [word for word in unique if word in index]

    groups = [known(words) for words in query.target_sets]
    both = sorted(set(groups[0]) & set(groups[1]))
    if both:
        raise SpecError(
            f"{quoted(both, 5)} in both groups, {quoted(query.target_names)}; a word belongs to "
            "one of them."
        )
    return groups, [known(words) for words in query.attribute_sets], notes


def _bias(
    pairs: GroupPairs,
    columns: Sequence[int],
    ids: Sequence[int],
    smooth: _Smoothing,
    independent: Independent,
    prob: float,
) -> dict[str, Any]:
    """Return the bias of a word, or of several taken as one, with its interval.

    The words are given by their columns among the chosen words and by their places in the
    vocabulary.
    """
    from scipy.stats import norm

    # One row per document, one column per group: pairs with the word, and with any word.
    near = np.stack([block[:, columns].sum(axis=1) for block in pairs.near], axis=1)
    added = smooth.each * np.array(smooth.group_sizes)
    counts = near.sum(axis=0) + added * len(columns)
    totals = pairs.total.sum(axis=0) + added * smooth.vocabulary
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.log(counts / totals)
        log_odds = np.log(counts / (totals - counts))
        error = ratio_error = float(np.sqrt((1 / counts + 1 / (totals - counts)).sum()))
        if independent == "documents":
            with_word, others = near / counts, (pairs.total - near) / (totals - counts)
            # If pairs are independent, this is the error of a log ratio of two shares.
            least = float(np.sqrt((1 / counts - 1 / totals).sum()))
            error = max(least, _error_by_document(with_word - pairs.total / totals))
            ratio_error = max(ratio_error, _error_by_document(with_word - others))
    bias = float(shares[0] - shares[1])
    ratio = float(log_odds[0] - log_odds[1])
    half = float(norm.ppf(0.5 + prob / 2)) * error
    size = smooth.vocabulary
    margin = pairs.margins[ids].sum() + smooth.each * size * len(ids)
    everywhere = np.log(margin / (pairs.margins.sum() + smooth.each * size**2))
    return {
        "near_first": int(near[:, 0].sum()),
        "near_second": int(near[:, 1].sum()),
        "pmi_first": float(shares[0] - everywhere),
        "pmi_second": float(shares[1] - everywhere),
        "bias": bias,
        "lower": bias - half,
        "upper": bias + half,
        "se": error,
        "log_odds_ratio": ratio,
        "p_value": float(2 * norm.sf(abs(ratio) / ratio_error)),
    }


def _error_by_document(change: Array) -> float:
    """Return the standard error of a difference between the groups if documents are independent.

    The difference is a function of sums over documents; to first order, it is a sum of what each
    document adds, `change` (documents × groups): the linearisation that survey statistics use for
    clusters.
    """
    number = len(change)
    if number < 2:
        return 0.0
    influence = change[:, 0] - change[:, 1]
    influence = influence - influence.mean()
    return float(np.sqrt((influence**2).sum() * number / (number - 1)))
