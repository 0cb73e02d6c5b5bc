"""How often words stand near each other: counts in windows, over a corpus and by document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: What a pair of words counts, by the distance between them.
Weighting: TypeAlias = Literal["equal", "linear", "harmonic"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)

_Ids: TypeAlias = npt.NDArray[np.int64]
# Pairs are counted for this many words at once.
_TOKENS_AT_ONCE = 300_000


def pair_weight(weighting: Weighting, distance: int, window: int) -> float:
    """Return what a pair counts: 1, (window − distance + 1) / window, or 1 / distance."""
    if weighting == "harmonic":
        return 1 / distance
    return (window - distance + 1) / window if weighting == "linear" else 1.0


@dataclass(frozen=True, slots=True)
class _Block:
    """Words of several documents by their number, and the number of each word's document."""

    words: _Ids
    documents: _Ids

    def pairs(self, distance: int) -> tuple[_Ids, _Ids, _Ids]:
        """Return the first and second words of pairs at a distance, and their documents."""
        inside = self.documents[distance:] == self.documents[:-distance]
        first, second = self.words[:-distance][inside], self.words[distance:][inside]
        return first, second, self.documents[distance:][inside]


def _blocks(documents: Iterable[Sequence[str]], index: Mapping[str, int]) -> Iterator[_Block]:
    """Yield the documents in blocks. Words that are not in the index are taken out before.

    Windows therefore reach over them, as in word2vec and GloVe.
    """
    ids: list[int] = []
    lengths: list[int] = []
    start = 0
    for words in documents:
        known = [number for word in words if (number := index.get(word)) is not None]
        ids += known
        lengths.append(len(known))
        if len(ids) >= _TOKENS_AT_ONCE:
            yield _block(ids, lengths, start)
            start += len(lengths)
            ids, lengths = [], []
    if ids:
        yield _block(ids, lengths, start)


def _block(ids: list[int], lengths: list[int], start: int) -> _Block:
    numbers = np.repeat(np.arange(start, start + len(lengths)), lengths)
    return _Block(np.array(ids, dtype=np.int64), numbers)


def count_pairs(
    documents: Iterable[Sequence[str]],
    index: Mapping[str, int],
    window: int,
    weighting: Weighting = "equal",
) -> csr_array[Any]:
    """Return how often each word stands near each other word, as a symmetric sparse matrix.

    A pair of two occurrences of one word counts twice, once from the side of each.
    """
    from scipy.sparse import coo_array, csr_array

    size = len(index)
    total = csr_array((size, size), dtype=np.float64)
    for block in _blocks(documents, index):
        parts = []
        for distance in range(1, min(window, len(block.words) - 1) + 1):
            first, second, _ = block.pairs(distance)
            weight = pair_weight(weighting, distance, window)
            parts.append((first, second, np.full(len(first), weight)))
        if parts:
            rows, columns, data = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
            total = total + coo_array((data, (rows, columns)), shape=(size, size)).tocsr()
    symmetric = csr_array(total + total.T)
    symmetric.sort_indices()
    return symmetric


@dataclass(frozen=True, slots=True)
class GroupPairs:
    """How often the words of groups stand near chosen words, document by document.

    Parameters
    ----------
    near : tuple of sparse arrays
        For each group, one row per document and one column per chosen word.
    total : ndarray
        One row per document, one column per group: its pairs with all words.
    margins : ndarray
        How many pairs in the corpus each word of the vocabulary has.
    """

    near: tuple[csr_array[Any], ...]
    total: npt.NDArray[np.float64]
    margins: npt.NDArray[np.float64]


def count_group_pairs(
    documents: Iterable[Sequence[str]],
    index: Mapping[str, int],
    window: int,
    groups: Sequence[Sequence[str]],
    words: Sequence[str],
) -> GroupPairs:
    """Count the pairs of the words of groups. Documents without such a word have no row."""
    from scipy.sparse import coo_array, vstack

    group_of = np.full(len(index), -1)
    for number, listed in enumerate(groups):
        group_of[[index[word] for word in listed]] = number
    column_of = np.full(len(index), -1)
    column_of[[index[word] for word in words]] = np.arange(len(words))
    near: list[list[Any]] = [[] for _ in groups]
    totals = []
    margins = np.zeros(len(index))
    for block in _blocks(documents, index):
        members, others, numbers = _group_pairs(block, window, group_of, margins)
        unique, rows = np.unique(numbers, return_inverse=True)
        shape = (len(unique), len(groups))
        ones = np.ones(len(rows))
        totals.append(coo_array((ones, (rows, members)), shape=shape).toarray())
        columns = column_of[others]
        for number, parts in enumerate(near):
            chosen = (members == number) & (columns >= 0)
            cells = (ones[chosen], (rows[chosen], columns[chosen]))
            parts.append(coo_array(cells, shape=(len(unique), len(words))).tocsr())
    return GroupPairs(
        tuple(vstack(parts, format="csr") for parts in near), np.concatenate(totals), margins
    )


def _group_pairs(
    block: _Block, window: int, group_of: _Ids, margins: npt.NDArray[np.float64]
) -> tuple[_Ids, _Ids, _Ids]:
    """Return the group of one word of each pair, the other word, and the document.

    The pairs of each word are added to `margins`.
    """
    found = []
    for distance in range(1, min(window, len(block.words) - 1) + 1):
        first, second, numbers = block.pairs(distance)
        for member, other in ((first, second), (second, first)):
            margins += np.bincount(member, minlength=len(margins))
            group = group_of[member]
            inside = group >= 0
            found.append((group[inside], other[inside], numbers[inside]))
    if not found:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty, empty
    groups, others, numbers = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return groups, others, numbers
