"""How well a Gaussian model predicts rows that it has not seen, given its scales.

With the expected values of some rows distributed N(m, V) in the posterior, and their residual
variances R, the rows y have, given all *other* rows, the log density

    −½ (y − m)ᵀ (R − V)⁻¹ (y − m) + ½ log |R − V| − log |R| − n/2 log 2π,

so that nothing needs to be fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesbias._arrays import Array, Codes
from bayesbias.inference.data import ModelData
from bayesbias.inference.gaussian import Block, Compiled, Solution, times

_BUDGET = 4_000_000


def log_density_left_out(
    compiled: Compiled, data: ModelData, log_scales: Array, level: Codes, n_levels: int
) -> Array:
    """Return, for each row of scales and each level, the log density of the level's rows.

    Parameters
    ----------
    compiled : Compiled
        The model and its rows.
    data : ModelData
        The rows.
    log_scales : array
        draws × scales.
    level : array of int
        The level of each row; all rows of one are left out together.
    n_levels : int
        How many levels there are.
    """
    result = np.zeros((len(log_scales), n_levels))
    y = data.y - compiled.centre
    for block in compiled.blocks:
        rows = _Rows.of_block(block, compiled)
        if not len(rows.number):
            continue
        for pattern in _patterns(rows, level[rows.number]):
            e, d, n = len(block.eliminated), len(block.dense), pattern.rows.shape[1]
            size = e * d + n * (d + n + len(pattern.rows)) + len(block.classes)
            step = max(1, _BUDGET // size)
            for start in range(0, len(log_scales), step):
                part = slice(start, start + step)
                at = block.solve(log_scales[part][:, block.scales])
                density = _density(block, at, rows, pattern.rows, y)
                result[part, pattern.levels] += density
    return result


@dataclass(frozen=True)
class _Rows:
    """The rows of a block, and where their expected values come from."""

    number: Codes  # of the row in the table
    class_: Codes
    eliminated: Codes  # place among the eliminated coordinates
    eliminated_factor: Array
    dense: Codes  # rows × other parameters: place among the dense coordinates
    dense_factor: Array
    group: Codes  # -1: in none
    member: Codes  # place within the group
    group_factor: Array  # how often the member counts

    @classmethod
    def of_block(cls, block: Block, compiled: Compiled) -> _Rows:
        local = np.full(compiled.layout.n_coefficients, -1)
        local[block.coefficients] = np.arange(len(block.coefficients))
        number = np.flatnonzero(local[compiled.row_terms[0]] >= 0)
        n = len(block.coefficients)
        place, factor = np.empty(n, dtype=np.intp), np.ones(n)
        group, member = np.full(n, -1), np.zeros(n, dtype=np.intp)
        place[block.single] = block.single_place
        for g, of in enumerate(block.groups):
            place[of.members] = of.place
            factor[of.members] = 1 / np.sqrt(len(of.members))
            group[of.members], member[of.members] = g, np.arange(len(of.members))
        terms = np.column_stack([local[term[number]] for term in compiled.row_terms])
        gone = np.zeros(n, dtype=bool)
        gone[np.isin(place, block.eliminated)] = True
        position = np.empty(len(block.eliminated) + len(block.dense), dtype=np.intp)
        position[block.eliminated] = np.arange(len(block.eliminated))
        position[block.dense] = np.arange(len(block.dense))
        # One summand is eliminated, for every row the same one.
        one = int(gone[terms[0]].argmax()) if len(terms) else 0
        own, others = terms[:, one], np.delete(terms, one, axis=1)
        often = np.array(compiled.row_times, dtype=np.float64)
        grouped = (group[terms] >= 0).argmax(axis=1)
        in_group = terms[np.arange(len(terms)), grouped]
        renumber = np.full(int(block.class_numbers.max()) + 1, -1)
        renumber[block.class_numbers] = np.arange(len(block.class_numbers))
        return cls(
            number=number,
            class_=renumber[compiled.row_class[number]],
            eliminated=position[place[own]],
            eliminated_factor=factor[own] * often[one],
            dense=position[place[others]],
            dense_factor=factor[others] * np.delete(often, one),
            group=group[in_group],
            member=member[in_group],
            group_factor=often[grouped],
        )


@dataclass(frozen=True)
class _Pattern:
    """Levels whose rows have expected values with the same covariance."""

    levels: Codes
    rows: Codes  # levels × rows of a level, places among the block's rows


def _patterns(rows: _Rows, level: Codes) -> list[_Pattern]:
    order = np.lexsort((rows.member, rows.eliminated, rows.class_, level))
    starts = np.flatnonzero(np.diff(level[order], prepend=-1))
    found: dict[bytes, tuple[list[int], list[Codes]]] = {}
    for own in np.split(order, starts[1:]):
        same = np.unique(rows.member[own], return_inverse=True)[1]
        parts = (rows.class_[own], rows.eliminated[own], rows.dense[own], rows.group[own], same)
        key = b"|".join(np.ascontiguousarray(part).tobytes() for part in parts)
        levels, members = found.setdefault(key, ([], []))
        levels.append(int(level[own[0]]))
        members.append(own)
    return [_Pattern(np.array(a), np.stack(b)) for a, b in found.values()]


def _density(block: Block, at: Solution, rows: _Rows, which: Codes, y: Array) -> Array:
    """Return draws × levels."""
    first = which[0]
    n = len(first)
    own, f = rows.eliminated[first], rows.eliminated_factor[first]
    # Sensitivity of the expected values to the dense coordinates.
    scaled = at.coupling / at.diagonal[:, :, None]
    z = -f[:, None] * scaled[:, own]
    for j in range(rows.dense.shape[1]):
        z[:, np.arange(n), rows.dense[first, j]] += rows.dense_factor[first, j]
    half = z @ np.linalg.inv(at.cholesky).transpose(0, 2, 1)
    v = half @ half.transpose(0, 2, 1)
    v += (own[:, None] == own) * np.outer(f, f) / at.diagonal[:, own][:, :, None]
    mean = z @ at.mean[:, :, None]
    base = mean[:, :, 0] + f * (at.linear / at.diagonal)[:, own]
    expected = np.repeat(base[:, None, :], len(which), axis=1)
    for g, group in enumerate(block.groups):
        here = rows.group[first] == g
        if not here.any():
            continue
        precision = at.precision @ block.deviation_diagonal[:, g]
        same = rows.member[first][:, None] == rows.member[first]
        often = here * rows.group_factor[first]
        both = np.outer(often, often)
        v += (both * (same - 1 / len(group.members))) / precision[:, None, None]
        deviations = times(at.precision, group.linear) / precision[:, None]
        deviations -= deviations.mean(axis=1, keepdims=True)
        expected[:, :, here] += often[here] * deviations[:, rows.member[which][:, here]]
    residual = 1 / at.precision[:, rows.class_[first]]
    remaining = -v
    remaining[:, np.arange(n), np.arange(n)] += residual
    cholesky = np.linalg.cholesky(remaining)
    error = y[rows.number[which]] - expected
    solved = error @ np.linalg.inv(cholesky).transpose(0, 2, 1)
    log_determinant = np.log(np.diagonal(cholesky, axis1=1, axis2=2)).sum(axis=1)
    constant = log_determinant - np.log(residual).sum(axis=1) - n / 2 * np.log(2 * np.pi)
    density: Array = constant[:, None] - 0.5 * (solved**2).sum(axis=2)
    return density
