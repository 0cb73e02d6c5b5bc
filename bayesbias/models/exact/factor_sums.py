"""The Gaussian factors of a model, summed as far as symmetry allows.

Given the scales, a model is a product of Gaussian factors: one for each row of the table (about the
sum of its coefficients) and one for each coefficient (its prior; a pooled coefficient stands for
its deviation from what it is pooled towards, so that nothing cancels when the scale of these
deviations is tiny). Rows or coefficients with a common part share a factor. A `Records` holds
factors of the same width.

The words of one list that are compared with the same protected words differ only in their outcomes.
Such *units*, with all the coefficients that belong to them, are replaced by their mean, which is
all that the rest of the model depends on, and by deviations from it, which depend on nothing else
(but for slopes of covariates). The same is then done for protected words. What is left is small,
whatever the number of rows; where rows are missing at random there is only less to merge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import blocks

_Hash = npt.NDArray[np.uint64]
_Term = tuple[Codes, Codes, Array]  # row and column of a sparse matrix, and the value to add


@dataclass(frozen=True)
class Records:
    """Gaussian factors, each about `width` sums of coefficients minus outcomes.

    Attributes
    ----------
    class_ : array of int
        The class of each record's covariance.
    entry : array of int
        Records × width × width: the numbers of the entries of its precision matrix.
    terms : array of int
        Records × width × terms: the coefficients that are summed; -1 for none.
    times : array
        How often each term counts.
    columns : array
        Records × width × columns: what the slopes are multiplied by, and last the outcome.
    weight : array
        How many such factors the record stands for.
    """

    class_: Codes
    entry: Codes
    terms: Codes
    times: Array
    columns: Array
    weight: Array

    def __len__(self) -> int:
        return len(self.class_)

    @property
    def width(self) -> int:
        """How many outcomes a record is about."""
        return int(self.terms.shape[1])

    def take(self, which: Codes | npt.NDArray[np.bool_]) -> Records:
        """Return some of the records."""
        return replace(
            self,
            class_=self.class_[which],
            entry=self.entry[which],
            terms=self.terms[which],
            columns=self.columns[which],
            weight=self.weight[which],
        )


class Scatter:
    """Sums of products of columns, by entry of the precision matrices."""

    def __init__(self, n_entries: int, n_columns: int) -> None:
        self.total = np.zeros((n_entries, n_columns, n_columns))

    def add(self, entry: Codes, left: Array, right: Array, weight: Array) -> None:
        """Add the products of rows of columns."""
        n = len(self.total)
        for a in range(left.shape[1]):
            for b in range(right.shape[1]):
                values = weight * left[:, a] * right[:, b]
                self.total[:, a, b] += np.bincount(entry, values, minlength=n)


@dataclass(frozen=True)
class Pattern:
    """Units that only their outcomes distinguish, replaced by their mean.

    Attributes
    ----------
    ids : array of int
        Units × their coefficients. The first unit's stand for the means from now on.
    precision : sparse matrix
        Entries × (coefficients · coefficients): the precision of a unit's own coefficients.
    pair_slot, pair_entry : array of int
        The coefficient and the entry of each pair that occurs.
    linear : array
        Units × pairs × columns: sums of the centred columns.
    """

    ids: Codes
    precision: sparse.csr_matrix
    pair_slot: Codes
    pair_entry: Codes
    linear: Array

    def take(self, slots: Codes) -> Pattern:
        """Return the pattern of some of the units' coefficients, which nothing ties to the rest."""
        k = self.ids.shape[1]
        cells = (slots[:, None] * k + slots).ravel()
        place = np.full(k, -1)
        place[slots] = np.arange(len(slots))
        pairs = np.flatnonzero(place[self.pair_slot] >= 0)
        return Pattern(
            self.ids[:, slots],
            sparse.csr_matrix(self.precision[:, cells]),
            place[self.pair_slot[pairs]],
            self.pair_entry[pairs],
            self.linear[:, pairs],
        )


def collapse(records: Records, scatter: Scatter) -> Records:
    """Replace records that are about the same coefficients by their mean."""
    n, b = len(records), records.width
    key = _mixed([records.class_, *records.terms.reshape(n, -1).T])
    _, first, group, count = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    if len(first) == n:
        return records
    columns = np.empty((len(first), b, records.columns.shape[2]))
    for i in range(b):
        for v in range(columns.shape[2]):
            sums = np.bincount(group, records.columns[:, i, v], minlength=len(first))
            columns[:, i, v] = sums / count
    centred = records.columns - columns[group]
    for i in range(b):
        for j in range(b):
            scatter.add(records.entry[:, i, j], centred[:, i], centred[:, j], records.weight)
    kept = records.take(first)
    return replace(kept, columns=columns, weight=kept.weight * count)


def merge(
    parts: list[Records], unit: Codes, slot: Codes, scatter: Scatter
) -> tuple[list[Records], list[Pattern]]:
    """Replace units that only their outcomes distinguish by their means.

    Parameters
    ----------
    parts : list of Records
        All records.
    unit : array of int
        The unit of each coefficient; -1 for those that belong to none.
    slot : array of int
        Which of its unit's coefficients a coefficient is; the same for those that correspond.
    scatter : Scatter
        Where sums of products of deviations are added.
    """
    n_units = int(unit.max(initial=-1)) + 1
    if n_units < 2:
        return parts, []
    signature = np.zeros(n_units, dtype=np.uint64)
    owners, hashes = [], []
    for part in parts:
        owner, record_hash = _owners(part, unit, slot)
        has = owner >= 0
        np.add.at(signature, owner[has], record_hash[has])
        owners.append(owner)
        hashes.append(record_hash)
    _, pattern_of, counts = np.unique(signature, return_inverse=True, return_counts=True)
    several = np.flatnonzero(counts > 1)
    if not len(several):
        return parts, []
    kept: list[list[Records]] = []
    by_pattern: dict[int, list[tuple[Records, Codes]]] = {int(f): [] for f in several}
    for part, owner, record_hash in zip(parts, owners, hashes, strict=True):
        of_pattern = np.where(owner >= 0, pattern_of[owner], -1)
        merged = np.isin(of_pattern, several)
        kept.append([part.take(~merged)])
        which = np.flatnonzero(merged)
        order = which[np.lexsort((record_hash[which], owner[which], of_pattern[which]))]
        starts = np.flatnonzero(np.diff(of_pattern[order], prepend=-2))
        for rows in np.split(order, starts[1:]) if len(order) else []:
            f = int(of_pattern[rows[0]])
            grid = rows.reshape(counts[f], -1)
            first = part.take(grid[0])
            mean = part.columns[grid].mean(axis=0)
            kept[-1].append(replace(first, columns=mean, weight=first.weight * counts[f]))
            by_pattern[f].append((part, grid))
    patterns = [_pattern(members, unit, slot, scatter) for members in by_pattern.values()]
    return [_joined(some) for some in kept], patterns


def _owners(part: Records, unit: Codes, slot: Codes) -> tuple[Codes, _Hash]:
    """Return the unit of each record, -1 for none, and a hash of all else that it is about."""
    owner = np.empty(len(part), dtype=np.intp)
    record_hash = np.empty(len(part), dtype=np.uint64)
    for rows in blocks(len(part), 4 * part.width * part.terms.shape[2]):
        terms = part.terms[rows]
        local = (terms >= 0) & (unit[terms] >= 0)
        owner[rows] = np.where(local, unit[terms], -1).max(axis=(1, 2), initial=-1)
        code = np.where(local, -2 - slot[terms], terms)
        shape = [part.class_[rows], part.weight[rows].view(np.int64)]
        record_hash[rows] = _mixed([*shape, *code.reshape(len(terms), -1).T])
    return owner, record_hash


def _joined(some: list[Records]) -> Records:
    first = some[0]
    if len(some) == 1:
        return first
    return Records(
        np.concatenate([r.class_ for r in some]),
        np.concatenate([r.entry for r in some]),
        np.concatenate([r.terms for r in some]),
        first.times,
        np.concatenate([r.columns for r in some]),
        np.concatenate([r.weight for r in some]),
    )


def _coefficients_by_slot(
    members: list[tuple[Records, Codes]], unit: Codes, slot: Codes
) -> dict[int, Codes]:
    """Return, for each slot of a unit, the coefficients of the units that stand there."""
    ids: dict[int, Codes] = {}
    for part, grid in members:
        terms = part.terms[grid[0]]
        local = (terms >= 0) & (unit[terms] >= 0)
        for r, i, t in np.argwhere(local):
            code = int(slot[terms[r, i, t]])
            if code not in ids:
                ids[code] = part.terms[grid[:, r], i, t].astype(np.intp)
    return ids


def _add_scatter(part: Records, grid: Codes, centred: Array, scatter: Scatter) -> None:
    """Add the products of centred columns to the scatter."""
    n, records = grid.shape
    weight, entry = part.weight[grid[0]], part.entry[grid[0]]
    for i in range(part.width):
        for j in range(part.width):
            scatter.add(
                np.tile(entry[:, i, j], n),
                centred[:, :, i].reshape(n * records, -1),
                centred[:, :, j].reshape(n * records, -1),
                np.tile(weight, n),
            )


def _add_terms(
    part: Records,
    first: Codes,
    at: Codes,
    sizes: tuple[int, int, int],
    squares: list[_Term],
    linear: list[_Term],
) -> None:
    """Add the terms of the first unit's records to the precision and to the linear part.

    `at` is the place of each record's terms among the unit's coefficients, -1 for others; `sizes`
    are the number of these coefficients, that of entries, and that of the columns before.
    """
    k, n_entries, offset = sizes
    weight, entry = part.weight[first], part.entry[first]
    for i, j, t in np.ndindex(part.width, part.width, at.shape[2]):
        has = np.flatnonzero(at[:, i, t] >= 0)
        if not len(has):
            continue
        factor = weight[has] * part.times[t]
        pair = at[has, i, t] * n_entries + entry[has, i, j]
        linear.append((pair, offset + has * part.width + j, factor))
        for other in range(at.shape[2]):
            both = has[at[has, j, other] >= 0]
            if len(both):
                cell = at[both, i, t] * k + at[both, j, other]
                value = weight[both] * part.times[t] * part.times[other]
                squares.append((entry[both, i, j], cell, value))


def _pattern(
    members: list[tuple[Records, Codes]], unit: Codes, slot: Codes, scatter: Scatter
) -> Pattern:
    """Sum what the deviations of a pattern's units need."""
    ids = _coefficients_by_slot(members, unit, slot)
    place = {code: a for a, code in enumerate(ids)}
    k, n_entries = len(place), len(scatter.total)
    squares: list[_Term] = []  # entry, cell of the precision, value
    linear: list[_Term] = []  # pair, place among all columns, factor
    values: list[Array] = []
    offset = 0
    for part, grid in members:
        centred = part.columns[grid]
        centred = centred - centred.mean(axis=0)
        _add_scatter(part, grid, centred, scatter)
        terms = part.terms[grid[0]]
        local = (terms >= 0) & (unit[terms] >= 0)
        slots = np.where(local, slot[terms], -1)
        codes, inverse = np.unique(slots, return_inverse=True)
        at = np.array([place.get(int(c), -1) for c in codes])[inverse].reshape(slots.shape)
        _add_terms(part, grid[0], at, (k, n_entries, offset), squares, linear)
        n, records = grid.shape
        values.append(centred.reshape(n, records * part.width, -1))
        offset += records * part.width
    pairs, rows = np.unique(np.concatenate([p for p, _, _ in linear]), return_inverse=True)
    summing = sparse.csr_matrix(
        (
            np.concatenate([f for _, _, f in linear]),
            (rows, np.concatenate([c for _, c, _ in linear])),
        ),
        shape=(len(pairs), offset),
    )
    everything = np.concatenate(values, axis=1)
    n, columns = len(everything), everything.shape[2]
    flat = everything.transpose(1, 0, 2).reshape(offset, n * columns)
    sums = (summing @ flat).reshape(len(pairs), n, columns).transpose(1, 0, 2)
    precision = sparse.csr_matrix(
        (
            np.concatenate([v for _, _, v in squares]),
            (
                np.concatenate([e for e, _, _ in squares]),
                np.concatenate([c for _, c, _ in squares]),
            ),
        ),
        shape=(n_entries, k * k),
    )
    slot_of, entry_of = np.divmod(pairs, n_entries)
    return Pattern(
        np.column_stack(list(ids.values())),
        precision,
        slot_of,
        entry_of,
        np.ascontiguousarray(sums),
    )


def _mixed(codes: list[Codes]) -> _Hash:
    """Return one number for the codes of each place; equal, in all likelihood, if all codes are."""
    result = np.zeros(len(codes[0]), dtype=np.uint64)
    for code in codes:
        result ^= np.asarray(code).astype(np.int64).view(np.uint64)
        # The finaliser of splitmix64: every bit of the input reaches every bit of the output.
        result += np.uint64(0x9E3779B97F4A7C15)
        result ^= result >> np.uint64(30)
        result *= np.uint64(0xBF58476D1CE4E5B9)
        result ^= result >> np.uint64(27)
        result *= np.uint64(0x94D049BB133111EB)
        result ^= result >> np.uint64(31)
    return result
