"""What is wrong with word lists, before anything is measured with them."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, word_list
from bayesbias._core.wording import counted, kind_of
from bayesbias.embeddings import EmbeddingLike, Matching, as_embeddings, as_matching
from bayesbias.errors import SpecError
from bayesbias.wordlists.catalogue import load_lists
from bayesbias.wordlists.check.check_tables import (
    MatchedList,
    list_row,
    match_lists,
    pair_rows,
    shared_words,
    tag_rows,
)
from bayesbias.wordlists.check.geometry import Vocabulary
from bayesbias.wordlists.check.recommendations import PLAIN, advise
from bayesbias.wordlists.check.word_usage import HasCounts, as_counts, as_tags, usage_of
from bayesbias.wordlists.query import Query
from bayesbias.wordlists.study import Study
from bayesbias.wordlists.wordset import WordSet

if TYPE_CHECKING:
    import pandas as pd

_LISTS = (
    "word_set",
    "embedding",
    "n_words",
    "n_found",
    "coverage",
    "missing",
    "shared",
    "same_vector",
    "duplicates",
    "median_rank",
    "median_count",
    "uncounted",
    "tags",
    "untagged",
    "cohesion",
    "cohesion_random",
    "cohesion_percentile",
    "fits_least",
    "fits_least_cosine",
)
_PAIRS = (
    "side",
    "first",
    "second",
    "embedding",
    "n_first",
    "n_second",
    "shared",
    "frequency_ratio",
    "tag_distance",
    "coherence",
    "coherence_shuffled",
    "coherence_percentile",
    "similarity",
    "n_pairs",
    "pca",
    "pca_shuffled",
    "pca_percentile",
)
_MEASURES = {
    "median_rank",
    "median_count",
    "cohesion",
    "cohesion_random",
    "cohesion_percentile",
    "fits_least_cosine",
    "frequency_ratio",
    "tag_distance",
    "coherence",
    "coherence_shuffled",
    "coherence_percentile",
    "similarity",
    "pca",
    "pca_shuffled",
    "pca_percentile",
}
_TAGS = ("word_set", "embedding", "tag", "share")
_STABILITY = ("first", "second", "measure", "n_embeddings", "mean", "sd", "min", "max")
#: Digits after the point in tables for reading.
_DECIMALS = {
    **dict.fromkeys(("cohesion", "coherence", "similarity", "pca", "tag_distance"), 2),
    **dict.fromkeys((f"{name}_percentile" for name in ("cohesion", "coherence", "pca")), 0),
    **dict.fromkeys(("median_rank", "median_count"), 0),
}
# Lists of a study on this side are not compared, and their words have nothing in common.
_CONTROL = "control"


@dataclass(frozen=True, eq=False, repr=False)
class WordCheck:
    """What is wrong with word lists, list by list and pair by pair; made by `check_words`.

    Parameters
    ----------
    lists : DataFrame
        One row per list and embedding: ``word_set``, ``embedding``, ``n_words``, ``n_found``,
        ``coverage`` (their ratio), the words ``missing``, ``shared`` (another of the lists holds
        them too), ``same_vector`` (they fall together with an earlier word of the list, for
        instance once lower-cased) and ``duplicates``. ``median_rank`` in the vocabulary; or, if
        frequencies were given, ``median_count`` and the words ``uncounted``. If parts of speech
        were given, ``tags`` in one line and the words ``untagged``. ``cohesion``, the mean cosine
        of two words, ``cohesion_random``, that of random words of about the same frequency, and
        ``cohesion_percentile`` among these; ``fits_least``, the word furthest from the others,
        and ``fits_least_cosine``, its mean cosine to them.
    pairs : DataFrame
        One row per pair of lists and embedding: ``side``, ``first``, ``second``, ``embedding``,
        ``n_first`` and ``n_second`` words that were found, the words ``shared``,
        ``frequency_ratio`` (above 1 if the first are more frequent), ``tag_distance`` (total
        variation, if parts of speech were given); ``coherence``, ``coherence_shuffled``, its mean
        for the same words randomly reassigned, and ``coherence_percentile`` among these;
        ``similarity``; the number ``n_pairs`` of words in the same places, ``pca``,
        ``pca_shuffled`` and ``pca_percentile``.
    tags : DataFrame
        The share of each part of speech: ``word_set``, ``embedding``, ``tag``, ``share``.
    stability : DataFrame
        The spread of a measure over the embeddings, if there are several: ``first``, ``second``
        (empty for a single list), ``measure``, ``n_embeddings``, ``mean``, ``sd``, ``min``,
        ``max``.
    warnings : tuple of str
        What is wrong, and what to do about it.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.check_words(bb.load_query("ethnicity_1"), bb.load_embedding("demo"), samples=50)
    >>> found
    <WordCheck: 4 lists, 2 pairs, 1 embedding, 2 warnings>
    >>> found.warnings[1]
    "'target: White last names' and 'target: Black last names' point the same way in 'demo'
    (similarity 1.00): the difference between their means may be noise; choose words that differ
    more."
    """

    lists: pd.DataFrame
    pairs: pd.DataFrame
    tags: pd.DataFrame
    stability: pd.DataFrame
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        parts = (
            (self.lists["word_set"].nunique(), "list"),
            (len(self.pairs[["first", "second"]].drop_duplicates()), "pair"),
            (self.lists["embedding"].nunique(), "embedding"),
            (len(self.warnings), "warning"),
        )
        return f"<WordCheck: {', '.join(counted(number, noun) for number, noun in parts)}>"

    @property
    def table(self) -> pd.DataFrame:
        """One row per list and embedding; `lists`."""
        return self.lists

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return lists and pairs of lists as LaTeX tables.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of our own; that of the pairs stays.

        Returns
        -------
        str
            Up to two ``table`` environments, for the packages booktabs, graphicx and
            longtable.
        """
        several = len(set(self.lists["embedding"])) > 1
        by = ["embedding"] if several else []
        rank = "median_count" if "median_count" in self.lists else "median_rank"
        measure = ["cohesion", "cohesion_percentile", "fits_least"]
        where = "" if several else f" in {self.lists['embedding'].iloc[0]}"
        text = f"Word lists{where}: cohesion, and its percentile among random lists."
        latex = frame_to_latex(
            self.lists[["word_set", *by, "n_words", "n_found", rank, *measure]],
            text if caption is None else caption,
            titles={"n_words": "n", "n_found": "found", "cohesion_percentile": "percentile"},
            decimals=_DECIMALS,
        )
        if not len(self.pairs):
            return latex
        tags = ["tag_distance"] if "tag_distance" in self.pairs else []
        measure = ["coherence", "coherence_percentile", "similarity", "pca", "pca_percentile"]
        shown = self.pairs[["first", "second", *by, "shared", "frequency_ratio", *tags, *measure]]
        return latex + frame_to_latex(
            shown.assign(shared=self.pairs["shared"].map(len)),
            f"Pairs of word lists{where}: coherence and PCA, and their percentiles among the same "
            "words reassigned at random.",
            titles={
                "coherence_percentile": "percentile of coherence",
                "pca": "PCA",
                "pca_percentile": "percentile of PCA",
            },
            decimals=_DECIMALS,
        )

    def summary(self) -> str:
        """Say what is wrong with the lists, and what to do about it.

        Returns
        -------
        str
            One line per warning; one line in all if there is none.
        """
        return "\n".join(self.warnings) or "Nothing speaks against these lists."

    def _repr_html_(self) -> str:
        warned = "".join(f"<li>{html.escape(text)}</li>" for text in self.summary().splitlines())
        tables = [
            frame.round(3).to_html(index=False, border=0, na_rep="")
            for frame in (self.lists, self.pairs)
            if len(frame)
        ]
        return f"<ul>{warned}</ul>{''.join(tables)}"


def check_words(
    lists: Study | Query | Mapping[str, Iterable[str]] | str | PathLike[str],
    embeddings: EmbeddingLike | Iterable[EmbeddingLike],
    *,
    frequencies: pd.DataFrame | Mapping[str, float] | HasCounts | None = None,
    tags: pd.DataFrame | None = None,
    matching: Matching | None = None,
    samples: int = 500,
    seed: Seed = 0,
) -> WordCheck:
    r"""Find what is wrong with word lists and pairs of lists, before they are used.

    Lists on the same side are compared in pairs: the target sets of a query and its attribute
    sets, the groups of a study and its stereotypes, all lists of a dictionary. How much a single
    word changes the value of a metric is measured by `Metric.influence`.

    Parameters
    ----------
    lists : Study, Query, mapping of str to iterable of str, str or path-like
        The lists to look at, or the name or file of a study or query; where both have one name,
        ``query:weat_7`` is the query.
    embeddings : Embedding, str, or iterable of them
        Where to look for the words; the whole vocabulary, not only the words of the lists, as
        these are compared with it. Of several (other corpora, or other seeds) the spread is
        reported.
    frequencies : DataFrame, mapping or corpus, optional
        How often words occur: columns ``word`` and ``count``, a dictionary, or an object with a
        method `counts`. Without it the rank in the vocabulary stands for the frequency, where the
        first words seem to be the most frequent: they are shorter than the rest and not in
        alphabetical order. In most files they are.
    tags : DataFrame, optional
        Parts of speech: columns ``word``, ``tag`` and ``count``, as `tag_words` gives them. A word
        counts for each part of speech by its share.
    matching : Matching, optional
        How words are matched with the vocabularies; that of each embedding by default.
    samples : int, default 500
        How many random or shuffled lists to compare with.
    seed : int, Generator or None, default 0
        Same seed, same result. A NumPy generator draws the seed.

    Returns
    -------
    WordCheck
        Tables of lists, pairs, parts of speech and stability, and warnings.

    Raises
    ------
    SpecError
        If an argument is not what it should be, or a list is empty.
    NotFoundError
        If there is no study or query of the name.
    DataError
        If a table lacks a column or holds impossible counts, or a vector is zero, NaN or infinite.
    VocabularyError
        If an embedding has none of the words.

    Notes
    -----
    Coherence, similarity and the first principal component are those of Antoniak & Mimno. For
    *coherence* the vocabulary is ranked by the cosine with the difference of the means of the two
    lists; it is the distance of the mean ranks of the lists, as a share of the vocabulary: from 0,
    no order, to almost 1, the two ends. The difference is made from the same words that are ranked,
    so random words are coherent too: eight against eight reach about .6 in 50 dimensions, and more
    in more. Hence the percentile: among the same words randomly reassigned to the two lists. It is
    low for lists that do not differ, and for lists that most other words lie beyond: the difference
    of the names of WEAT's third test is one of frequency above all, in GloVe 6B. *Similarity* is
    the cosine of the means. *PCA* is for lists of the same length, the share of the first component
    in the variance of pairs in the same places, each centred on its own mean; its percentile is
    among shuffled pairs. *Cohesion* is compared with random lists of words from half to twice the
    place in the order of frequency. Means are those of vectors scaled to length one.

    Frequency ratios are those of the medians; of places, by Zipf's law, the inverse. Target sets
    of unequal frequency bias WEAT (Ethayarajh et al.), and short lists depend on single words
    (Spliethöver & Wachsmuth). The thresholds of the warnings are in
    ``bayesbias.wordlists.check.recommendations``.

    References
    ----------
    Antoniak & Mimno (2021), Bad Seeds: Evaluating Lexical Methods for Bias Measurement,
    https://doi.org/10.18653/v1/2021.acl-long.148.
    Ethayarajh, Duvenaud & Hirst (2019), Understanding Undesirable Word Embedding Associations,
    https://doi.org/10.18653/v1/P19-1166.
    Spliethöver & Wachsmuth (2021), Bias Silhouette Analysis,
    https://doi.org/10.24963/ijcai.2021/77.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.check_words("query:weat_7", "demo", samples=50)
    >>> found.lists[["word_set", "n_words", "coverage", "cohesion", "fits_least"]].round(2)
                      word_set  n_words  coverage  cohesion fits_least
    0             target: Math        8       1.0      0.48    numbers
    1             target: Arts        8       1.0      0.56   symphony
    2    attribute: Male terms        8       1.0      0.70       male
    3  attribute: Female terms        8       1.0      0.72     female
    >>> found.pairs[["first", "second", "coherence", "similarity", "pca"]].round(2)
                       first                   second  coherence  similarity   pca
    0           target: Math             target: Arts       0.89        0.44  0.50
    1  attribute: Male terms  attribute: Female terms       0.66        0.89  0.63
    """
    import pandas as pd

    sets, sides, duplicates = _as_sets(lists)
    several = as_embeddings(embeddings)
    counts, parts = as_counts(frequencies), as_tags(tags)
    at_least("samples", samples, 1)
    seed = as_seed(seed)
    controls = [label for label in sets if sides[label] == _CONTROL]
    compared = [
        (a, b) for a, b in combinations(sets, 2) if sides[a] == sides[b] and a not in controls
    ]
    # All words are looked up before the first vocabulary is gone through.
    matched = [(embedding, match_lists(sets, embedding, matching)) for embedding in several]

    of_lists, of_pairs, of_tags = [], [], []
    sizes: dict[str, int] = {}
    for embedding, matched_lists in matched:
        vocabulary = Vocabulary.of(embedding, counts)
        sizes[embedding.name] = len(vocabulary.rows)
        usage = {
            label: usage_of(
                one.matched.found,
                embedding.ranks[one.matched.rows] if vocabulary.ordered else None,
                counts,
                parts,
                as_matching(matching, embedding).fallbacks,
            )
            for label, one in matched_lists.items()
        }
        of_lists.append(
            [
                list_row(label, matched_lists, usage[label], vocabulary, samples, seed)
                for label in sets
            ]
        )
        of_pairs.append(pair_rows(compared, matched_lists, usage, vocabulary, samples, seed))
        of_tags.append([tag_rows(label, usage[label], embedding.name) for label in sets])

    unused = {
        "median_count" if counts is None else "median_rank",
        *(("uncounted",) if counts is None else ()),
        *(("tags", "untagged", "tag_distance") if parts is None else ()),
    }
    list_frame = _frame(_woven(of_lists), [c for c in _LISTS if c not in unused])
    list_frame["duplicates"] = list_frame["word_set"].map(duplicates)
    pair_frame = _frame(_woven(of_pairs), [c for c in _PAIRS if c not in unused])
    pair_frame["side"] = pair_frame["first"].map(sides)
    return WordCheck(
        lists=list_frame,
        pairs=pair_frame,
        tags=pd.DataFrame(list(chain.from_iterable(_woven(of_tags))), columns=list(_TAGS)),
        stability=_stability(list_frame, pair_frame, len(several)),
        warnings=advise(
            _rows(list_frame),
            _rows(pair_frame),
            _across(sides, [by_label for _, by_label in matched]),
            controls,
            sizes,
        ),
    )


def _as_sets(
    lists: object,
) -> tuple[dict[str, WordSet], dict[str, str], dict[str, list[str]]]:
    """Return the lists by label, the side that each is on, and words that it was given twice."""
    if isinstance(lists, str | PathLike):
        lists = load_lists(fspath(lists))
    if isinstance(lists, Study | Query):
        sets = lists.word_sets()
        return (
            sets,
            {label: label.partition(":")[0] for label in sets},
            {label: [] for label in sets},
        )
    if not isinstance(lists, Mapping):
        raise SpecError(
            f"'lists' is {kind_of(lists)}; expected a Study, a Query, the name or file of one, or "
            "a dictionary of lists."
        )
    if not lists:
        raise SpecError("'lists' is empty; give at least one list of words.")
    given = {str(name): word_list(str(name), words) for name, words in lists.items()}
    # A word given twice is reported with all else, not by a warning of its own.
    sets = {name: WordSet(name, tuple(dict.fromkeys(words))) for name, words in given.items()}
    repeated = {
        name: [word for word, times in Counter(words).items() if times > 1]
        for name, words in given.items()
    }
    return sets, dict.fromkeys(sets, PLAIN), repeated


def _across(
    sides: Mapping[str, str], by_embedding: Sequence[Mapping[str, MatchedList]]
) -> list[tuple[str, str, list[str]]]:
    """Return lists of different sides that share words in some embedding, and these words."""
    pairs = [(a, b) for a, b in combinations(sides, 2) if sides[a] != sides[b]]
    both = [
        (a, b, [shared_words(lists[a], [lists[b]]) for lists in by_embedding]) for a, b in pairs
    ]
    return [(a, b, list(dict.fromkeys(chain(*shared)))) for a, b, shared in both if any(shared)]


def _woven(by_embedding: Sequence[Sequence[Any]]) -> list[Any]:
    """Return rows by list and then by embedding, given by embedding and then by list."""
    return list(chain.from_iterable(zip(*by_embedding, strict=True)))


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return rows as a table; a measure that no row has is still a column of numbers."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=list(columns))
    return frame.astype({name: "float64" for name in columns if name in _MEASURES})


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _stability(lists: pd.DataFrame, pairs: pd.DataFrame, n_embeddings: int) -> pd.DataFrame:
    """Return the spread of each measure over the embeddings, if there are several."""
    import pandas as pd

    rows = []
    if n_embeddings > 1:
        named = lists.assign(first=lists["word_set"], second="")
        for frame, measures in (
            (named, ("cohesion",)),
            (pairs, ("coherence", "similarity", "pca")),
        ):
            for (first, second), group in frame.groupby(["first", "second"], sort=False):
                for measure in measures:
                    values = group[measure].dropna()
                    if len(values):
                        spread = values.agg(["mean", "std", "min", "max"])
                        rows.append((first, second, measure, len(values), *spread))
    return pd.DataFrame(rows, columns=list(_STABILITY))
