"""How well a Gaussian model predicts rows that it has not seen, given its scales.

With the expected values of some rows distributed N(m, V) in the posterior, and their residual
covariance R, the rows y have, given all *other* rows, the log density

    −½ (y − m)ᵀ (R − V)⁻¹ (y − m) + ½ log |R − V| − log |R| − n/2 log 2π,

so that nothing needs to be fitted again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import block_numbers
from bayesbias._core.threads import in_threads, single_threaded_algebra
from bayesbias.models.exact.compiled_model import Compiled, Residuals
from bayesbias.models.exact.gaussian_block import Block, Solution
from bayesbias.models.model_data import ModelData

_BUDGET = 4_000_000


def log_density_left_out(
    compiled: Compiled, data: ModelData, at: Array, level: Codes, n_levels: int
) -> Array:
    """Return, for each row of unknowns and each level, the log density of the level's rows.

    Parameters
    ----------
    compiled : Compiled
        The model and its rows.
    data : ModelData
        The rows.
    at : array
        draws × unknowns.
    level : array of int
        The level of each row; all rows of one are left out together.
    n_levels : int
        How many levels there are.
    """
    result = np.zeros((len(at), n_levels))
    with single_threaded_algebra():
        _add_blocks(result, compiled, data, at, level)
    return result


def _add_blocks(
    result: Array, compiled: Compiled, data: ModelData, at: Array, level: Codes
) -> None:
    """Add the log densities of each block's rows."""
    y = data.y - compiled.centre
    n_coefficients = compiled.layout.n_coefficients
    for block in compiled.blocks:
        local = np.full(n_coefficients + 1, -1)  # the last for a term that a row does not have
        local[block.coefficients] = np.arange(len(block.coefficients))
        has = np.zeros(len(y), dtype=bool)
        for term in compiled.rows.terms:
            has |= local[term] >= 0
        rows = np.flatnonzero(has)
        if not len(rows):
            continue
        groups = _equal_levels(block, compiled, rows, level[rows], local)
        # The block is solved once for some draws, and asked about all levels.
        step = min(_draws_at_once(block, equal) for equal in groups)
        for start in range(0, len(at), step):
            part = slice(start, start + step)
            solved = block.solve(at[part][:, block.scales])
            densities = partial(_density, block, solved, compiled.residuals, at[part], y)
            for equal, density in zip(groups, in_threads(densities, groups), strict=True):
                result[part, equal.levels] += density


@dataclass(frozen=True)
class _EqualLevels:
    """Levels whose rows have expected values with the same covariance."""

    levels: Codes
    rows: Codes  # levels × rows of a level, places in the table
    weights: Array  # rows of the first level × the coefficients that occur in them
    columns: Codes  # which of the block's coefficients these are
    merged: list[tuple[int, Codes, Array]]
    # for deviations: which, the units (levels × rows), rows × size: how often each counts


def _equal_levels(
    block: Block, compiled: Compiled, rows: Codes, level: Codes, local: Codes
) -> list[_EqualLevels]:
    """Sort the levels of a block by what distinguishes their rows besides the outcomes."""
    design = compiled.rows
    n = len(block.coefficients)
    # A coefficient of a merged unit is known by the one that stands for it; and by its unit.
    stands = np.append(np.arange(n), -1)  # the last for a term that a row does not have
    which, unit = np.full(n + 1, -1), np.zeros(n + 1, dtype=np.intp)
    slot = np.zeros(n + 1, dtype=np.intp)
    if not len(block.slopes):
        for number, deviation in enumerate(block.deviations):
            if not deviation.first_side:
                continue
            stands[deviation.coefficients] = deviation.coefficients[0]
            which[deviation.coefficients] = number
            members, size = deviation.coefficients.shape
            unit[deviation.coefficients] = np.arange(members)[:, None]
            slot[deviation.coefficients] = np.arange(size)
    by_pattern: dict[bytes, list[Codes]] = {}
    for some in _rows_by_level(level, len(design.terms)):
        terms = np.column_stack([local[term[rows[some]]] for term in design.terms])
        keys = np.column_stack([compiled.residuals.label[rows[some]], stands[terms]])
        # Rows of one cell have a part in common, so cells must be in the same places, too.
        cell = compiled.residuals.cell[rows[some]]
        order = np.lexsort((cell, *keys.T[::-1], level[some]))
        starts = np.flatnonzero(np.diff(level[some[order]], prepend=-1))
        for level_rows in np.split(order, starts[1:]):
            # Units that differ within a level must do so in the same places.
            pattern = which[terms[level_rows]]
            units = np.where(pattern >= 0, unit[terms[level_rows]], -1)
            same = np.unique(units, return_inverse=True)[1]
            distinct = np.unique(same, return_index=True)[1].argsort().argsort()[same]
            cells = np.unique(cell[level_rows], return_inverse=True)[1]
            key = b"".join(part.tobytes() for part in (keys[level_rows], distinct, cells))
            if len(block.slopes):
                key = str(len(by_pattern)).encode()
            by_pattern.setdefault(hashlib.sha256(key).digest(), []).append(some[level_rows])
    result = []
    for members in by_pattern.values():
        grid = np.stack(members)
        members.clear()  # a copy of all rows
        terms = np.column_stack([local[term[rows[grid[0]]]] for term in design.terms])
        matrix = design.matrix(rows[grid[0]], len(local) - 1).tocoo()
        columns, place = np.unique(local[matrix.col], return_inverse=True)
        weights = np.zeros((grid.shape[1], len(columns)))
        np.add.at(weights, (matrix.row, place), matrix.data)
        merged = []
        for number in np.unique(which[terms]).tolist():
            if number < 0:
                continue
            deviation = block.deviations[number]
            here = which[terms] == number
            counts = np.zeros((grid.shape[1], deviation.shape[1]))
            of_rows = np.zeros(grid.shape, dtype=np.intp)
            for t, (term, times) in enumerate(zip(design.terms, design.times, strict=True)):
                some = np.flatnonzero(here[:, t])
                np.add.at(counts, (some, slot[terms[some, t]]), times)
                of_rows[:, some] = unit[local[term[rows[grid[:, some]]]]]
            merged.append((number, of_rows, counts))
        levels = level[grid[:, 0]]
        result.append(_EqualLevels(levels, rows[grid], weights, columns, merged))
    return result


def _rows_by_level(level: Codes, terms: int) -> Iterator[Codes]:
    """Yield the rows of some levels at a time, so that tables of their terms stay small."""
    order = np.argsort(level, kind="stable")
    ends = np.flatnonzero(np.diff(level[order], append=-1)) + 1
    start = 0
    # A row has as many numbers in each of three tables: of terms, of keys and in their order.
    most = block_numbers() // (3 * terms)
    while start < len(order):
        within = ends[(ends > start) & (ends <= start + most)]
        end = int(within[-1] if len(within) else ends[np.searchsorted(ends, start, "right")])
        yield order[start:end]
        start = end


def _draws_at_once(block: Block, equal: _EqualLevels) -> int:
    n_rows, n_dense = int(equal.rows.shape[1]), len(block.dense) + 1
    size = n_rows * (n_dense + n_rows + len(equal.rows)) + len(block.coefficients)
    return max(1, min(block.batch, _BUDGET // size))


def _density(
    block: Block,
    at: Solution,
    residuals: Residuals,
    unknowns: Array,
    y: Array,
    equal: _EqualLevels,
) -> Array:
    """Return draws × levels."""
    residual = residuals.covariance(unknowns, equal.rows[0])
    mean, covariance = block.predict(at, equal.weights, equal.columns)
    # The outcomes are centred, and so is what they are expected to be.
    mean -= equal.weights @ block.shift[equal.columns]
    expected = np.repeat(mean[:, None, :], len(equal.rows), axis=1)
    if len(equal.rows) > 1:
        for number, units, counts in equal.merged:
            deviation, root = block.deviations[number], at.deviation_roots[number]
            ties = deviation.ties(at.entries)[..., -1]
            centre = ties @ (root.transpose(0, 2, 1) @ root)
            apart = centre[:, units] - centre[:, units[:1]]
            expected += np.einsum("slrk,rk->slr", apart, counts)
    remaining = residual - covariance
    cholesky = np.linalg.cholesky(remaining)
    error = y[equal.rows] - expected
    solved = error @ np.linalg.inv(cholesky).transpose(0, 2, 1)
    log_determinant = np.log(np.diagonal(cholesky, axis1=1, axis2=2)).sum(axis=1)
    n = equal.rows.shape[1]
    constant = log_determinant - np.linalg.slogdet(residual)[1] - n / 2 * np.log(2 * np.pi)
    density: Array = constant[:, None] - 0.5 * (solved**2).sum(axis=2)
    return density
