"""Models that are Gaussian given their scales, as sums of squares.

Given the scale parameters, such a model is a product of Gaussian factors: one per row of the table
(its mean is a sum of coefficients) and one per coefficient (its prior; a pooled coefficient stands
for its deviation from what it is pooled towards, so that nothing cancels when the scale of these
deviations is tiny). Factors with the same
precision form a class; per class only the sums ``X'X``, ``X'y`` and ``y'y`` matter, so rows are
summed once and the cost does not grow with them.

A model falls into blocks that share neither coefficient nor scale. Within a block, coefficients
that cannot be told apart but for their outcomes (the words of one list, each compared with the
same protected words) are replaced by their mean, which is all the others depend on, and by
deviations from it, which depend on nothing else. Of the rest, one parameter has a diagonal
precision matrix and is eliminated; what remains is a small dense matrix. This is the closed form of
the balanced two-way layout, and where the layout is not balanced there are only more groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from bayesbias._arrays import Array, Codes
from bayesbias.errors import SpecError
from bayesbias.inference.data import ModelData
from bayesbias.inference.priors import Prior
from bayesbias.inference.spec import ModelSpec

# Numbers in the largest temporary array; more evaluations at a time would only cost memory.
_BUDGET = 4_000_000
# A scale is not looked for below exp(-14) of the outcomes' standard deviation, nor above exp(26).
_FLOOR = 14.0
#: Where to start looking for a scale, above the floor: at half of the outcomes' standard deviation.
START = _FLOOR - 0.7
_RANGE = 20.0
_ROUNDING = 1e-14
# With more classes than this (known standard errors), hardly any two coefficients are alike.
_MANY_CLASSES = 200


@dataclass(frozen=True)
class _Classes:
    """The precision of each class: 1 / (scale² + error²), or a number if it has no scale."""

    scale: Codes  # -1: none
    error: Array  # variance added to that of the scale; without a scale, the variance itself

    def __len__(self) -> int:
        return len(self.scale)

    def take(self, which: Codes) -> _Classes:
        return _Classes(self.scale[which], self.error[which])

    def precision(self, log_scales: Array) -> Array:
        """Return draws × classes."""
        variance = np.empty((len(log_scales), len(self)))
        variance[:] = self.error
        has = self.scale >= 0
        variance[:, has] += np.exp(2 * log_scales[:, self.scale[has]])
        result: Array = 1 / variance
        return result


@dataclass(frozen=True)
class Layout:
    """Where each parameter's values lie among all coefficients, and among all scales."""

    coefficients: dict[str, slice]
    scales: dict[str, slice]
    n_coefficients: int
    n_scales: int
    priors: list[Prior]  # of each scale


def layout(spec: ModelSpec, data: ModelData) -> Layout:
    """Lay the parameters of a model out, or say why the model is not of this kind."""
    if spec.likelihood != "normal":
        raise SpecError(
            f"engine 'exact' is for a normal likelihood, and this one is {spec.likelihood!r}; "
            "use engine='nuts'."
        )
    places: dict[bool, dict[str, slice]] = {True: {}, False: {}}
    end = {True: 0, False: 0}
    priors: list[Prior] = []
    for p in spec.parameters:
        kind = p.prior.is_positive
        size = int(np.prod(data.shape(p.by), dtype=int))
        places[kind][p.name] = slice(end[kind], end[kind] + size)
        end[kind] += size
        if kind:
            priors += [p.prior] * size
    return Layout(places[False], places[True], end[False], end[True], priors)


@dataclass
class _Entries:
    """Entries of the classes' matrices ``X'X``, in coordinate form, and what goes with them."""

    class_: list[Codes]
    row: list[Codes]
    column: list[Codes]
    value: list[Array]
    linear: list[tuple[Codes, Codes, Array]]

    def add(
        self, class_: Codes, terms: list[Codes], times: list[int], weight: Array, y: Array
    ) -> None:
        """Add factors whose mean is the sum of one coefficient of each term, so many times."""
        for i, n_i in zip(terms, times, strict=True):
            own, row, _, value = _summed(class_, i, np.zeros_like(i), n_i * weight * y)
            self.linear.append((own, row, value))
            for j, n_j in zip(terms, times, strict=True):
                own, row, column, value = _summed(class_, i, j, n_i * n_j * weight)
                self.class_.append(own)
                self.row.append(row)
                self.column.append(column)
                self.value.append(value)


def parent_index(spec: ModelSpec, data: ModelData, child: str, parent: str) -> Codes:
    """Return the place of the parent's value, in the flattened parent, for each of the child's."""
    by, of = spec[child].by, spec[parent].by
    size = int(np.prod(data.shape(by), dtype=int))
    if not of:
        return np.zeros(size, dtype=np.intp)
    grid = np.indices(data.shape(by)).reshape(len(by), -1)
    codes = tuple(grid[by.index(name)] for name in of)
    result: Codes = np.ravel_multi_index(codes, data.shape(of))
    return result


def summands(spec: ModelSpec) -> Counter[str]:
    """Return the coefficients whose sum is the mean of a row, and how often each is in it.

    A coefficient that is pooled towards others stands for its deviation from them here.
    """
    found: Counter[str] = Counter()

    def visit(name: str) -> None:
        found[name] += 1
        for parent in spec[name].prior.mean:
            visit(parent)

    for name in spec.mean:
        visit(name)
    return found


def _summed(
    class_: Codes, row: Codes, column: Codes, value: Array
) -> tuple[Codes, Codes, Codes, Array]:
    """Add up what belongs to the same class, row and column."""
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    key, place = np.unique((class_ * rows + row) * columns + column, return_inverse=True)
    class_and_row, own_column = np.divmod(key, columns)
    own_class, own_row = np.divmod(class_and_row, rows)
    total: Array = np.bincount(place, value).astype(np.float64)
    return own_class, own_row, own_column, total


@dataclass(frozen=True)
class Compiled:
    """A model and its rows, summed and split into independent blocks."""

    layout: Layout
    blocks: list[Block]
    centre: float  # taken from the outcomes
    row_class: Codes  # of each row
    row_terms: list[Codes]  # for each summand, the coefficient of each row
    row_times: list[int]  # how often it counts


def compile_model(spec: ModelSpec, data: ModelData) -> Compiled:
    """Sum the rows and split the model into independent blocks."""
    where = layout(spec, data)
    scale_of: list[int] = []
    variance_of: list[float] = []
    numbers: dict[tuple[int, float], int] = {}

    def class_number(scale: int, variance: float) -> int:
        key = (scale, variance)
        if key not in numbers:
            numbers[key] = len(scale_of)
            scale_of.append(scale)
            variance_of.append(variance)
        return numbers[key]

    # Sums of squares about a far-away zero would lose the digits that matter. What is taken from
    # the outcomes is taken from the prior mean of a coefficient that is in every row.
    centre = float(data.y.mean()) if len(data.y) else 0.0
    y = data.y - centre
    parts = summands(spec)
    root = next(name for name in parts if not spec[name].prior.mean)
    shift = np.zeros(where.n_coefficients)
    shift[where.coefficients[root]] = centre / parts[root]

    entries = _Entries([], [], [], [], [])
    total: list[tuple[Codes, Array, Array]] = []  # class, number of factors, sum of squares

    residual = where.scales[spec.scale].start + data.index(spec[spec.scale].by)
    variance = np.zeros(len(data.y)) if data.error is None else data.error**2
    terms = [where.coefficients[name].start + data.index(spec[name].by) for name in parts]
    times = list(parts.values())
    if data.error is None:
        distinct, inverse = np.unique(residual, return_inverse=True)
        class_ = np.array([class_number(int(r), 0.0) for r in distinct])[inverse]
    else:
        pairs = np.column_stack([residual.astype(np.float64), variance])
        unique, inverse = np.unique(pairs, axis=0, return_inverse=True)
        class_ = np.array([class_number(int(r), v) for r, v in unique.tolist()])[inverse.ravel()]
    cell, members = _cells([class_, *terms])
    n = np.bincount(cell, minlength=len(members)).astype(np.float64)
    mean = np.bincount(cell, y, minlength=len(members)) / n
    entries.add(class_[members], [t[members] for t in terms], times, n, mean)
    total.append((class_, np.ones(len(y)), y**2))

    for p in spec.parameters:
        if p.prior.is_positive:
            continue
        place = where.coefficients[p.name]
        own = np.arange(place.start, place.stop)
        constant = p.prior.arguments[0] - shift[own]
        if p.prior.sd is None:
            of_prior = np.full(len(own), class_number(-1, p.prior.arguments[1] ** 2))
        else:
            scales = where.scales[p.prior.sd].start + parent_index(spec, data, p.name, p.prior.sd)
            of_prior = np.array([class_number(int(s), 0.0) for s in scales])
        entries.add(of_prior, [own], [1], np.ones(len(own)), constant)
        total.append((of_prior, np.ones(len(own)), constant**2))

    classes = _Classes(np.array(scale_of, dtype=np.intp), np.array(variance_of))
    floor = np.log(y.std() if np.ptp(y) else 1.0) - _FLOOR
    blocks = list(_split(classes, entries, total, where, shift, float(floor)))
    return Compiled(where, blocks, centre, class_, terms, times)


def _cells(codes: list[Codes]) -> tuple[Codes, Codes]:
    """Return the cell of each row (rows alike in all codes) and one row of each cell."""
    key = np.zeros(len(codes[0]), dtype=np.int64)
    for code in codes:
        key = key * (int(code.max(initial=0)) + 1) + code
    _, members, cell = np.unique(key, return_index=True, return_inverse=True)
    return cell, members


def _split(
    classes: _Classes,
    entries: _Entries,
    total: list[tuple[Codes, Array, Array]],
    where: Layout,
    shift: Array,
    floor: float,
) -> Iterator[Block]:
    n, k = where.n_coefficients, len(classes)
    class_, row = np.concatenate(entries.class_), np.concatenate(entries.row)
    column, value = np.concatenate(entries.column), np.concatenate(entries.value)
    linear_class = np.concatenate([c for c, _, _ in entries.linear])
    linear_row = np.concatenate([r for _, r, _ in entries.linear])
    linear_value = np.concatenate([v for _, _, v in entries.linear])
    of_total, factors, sums = (np.concatenate(part) for part in zip(*total, strict=True))
    count = np.bincount(of_total, factors, minlength=k)
    squares = np.bincount(of_total, sums, minlength=k)

    # Coefficients are linked by shared factors, and to the scales of their factors.
    scale = classes.scale[class_]
    links = sparse.coo_matrix(
        (
            np.ones(len(row) + np.count_nonzero(scale >= 0)),
            (
                np.concatenate([row, row[scale >= 0]]),
                np.concatenate([column, n + scale[scale >= 0]]),
            ),
        ),
        shape=(n + where.n_scales,) * 2,
    )
    n_blocks, block = csgraph.connected_components(links, directed=False)
    names = [(name, place) for name, place in where.coefficients.items()]
    owner = np.concatenate([np.full(p.stop - p.start, i) for i, (_, p) in enumerate(names)])
    for b in range(n_blocks):
        own = np.flatnonzero(block[:n] == b)
        scales = np.flatnonzero(block[n:] == b)
        if not len(own):
            continue  # a scale that nothing depends on
        local = np.full(n, -1)
        local[own] = np.arange(len(own))
        inside, linear = block[row] == b, block[linear_row] == b
        which = np.unique(class_[inside])
        renumber = np.full(k, -1)
        renumber[which] = np.arange(len(which))
        local_scale = np.full(where.n_scales + 1, -1)  # the last for "none"
        local_scale[scales] = np.arange(len(scales))
        # A class without a scale (a fixed prior) may occur in several blocks; its constants do not
        # depend on anything, so it does not matter that each block counts them all.
        yield Block.build(
            _Classes(local_scale[classes.scale[which]], classes.error[which]),
            count=count[which],
            squares=squares[which],
            quadratic=(
                renumber[class_[inside]],
                local[row[inside]],
                local[column[inside]],
                value[inside],
            ),
            linear=(
                renumber[linear_class[linear]],
                local[linear_row[linear]],
                linear_value[linear],
            ),
            owner=owner[own],
            coefficients=own,
            scales=scales,
            class_numbers=which,
            shift=shift[own],
            floor=floor,
            priors=[where.priors[s] for s in scales],
        )


@dataclass(frozen=True)
class _Group:
    """Coefficients that only their outcomes tell apart, replaced by one: their sum over √n."""

    members: Codes  # of the block's coefficients
    place: int  # of the one that stands for them, among the coordinates
    linear: sparse.csr_matrix  # classes × members: X'y


@dataclass(frozen=True)
class Solution:
    """The Gaussian distribution of a block's coefficients, for a batch of scales."""

    precision: Array  # draws × classes
    diagonal: Array  # draws × eliminated: their precision
    coupling: Array  # draws × eliminated × dense
    linear: Array  # draws × eliminated
    cholesky: Array  # draws × dense × dense, of the dense ones' precision
    mean: Array  # draws × dense
    log_density: Array  # of the scales, up to a constant


@dataclass(frozen=True)
class Block:
    """A part of a model that is independent of the rest."""

    classes: _Classes
    count: Array
    squares: Array
    coefficients: Codes  # places among all coefficients
    scales: Codes  # places among all scales
    class_numbers: Codes  # of the block's classes among all classes
    shift: Array  # what to add to the coefficients, as the outcomes were centred
    floor: float  # of the log scales
    priors: list[Prior]
    groups: list[_Group]
    single: Codes  # of the block's coefficients, those in no group
    single_place: Codes  # their places among the coordinates
    eliminated: Codes  # coordinates
    dense: Codes  # coordinates
    matrix_diagonal: sparse.csr_matrix  # classes × eliminated
    matrix_coupling: sparse.csr_matrix  # classes × (eliminated · dense)
    matrix_dense: sparse.csr_matrix  # classes × (dense · dense)
    matrix_linear: sparse.csr_matrix  # classes × coordinates
    deviation_diagonal: Array  # classes × groups
    deviation_count: Array  # groups
    deviation_rows: Array  # rows × classes, whose squares sum to those of the deviations
    deviation_group: Codes  # rows

    @classmethod
    def build(
        cls,
        classes: _Classes,
        *,
        count: Array,
        squares: Array,
        quadratic: tuple[Codes, Codes, Codes, Array],
        linear: tuple[Codes, Codes, Array],
        owner: Codes,
        coefficients: Codes,
        scales: Codes,
        class_numbers: Codes,
        shift: Array,
        floor: float,
        priors: list[Prior],
    ) -> Block:
        """Arrange the sums of a block so that it is cheap to solve again and again."""
        k, n = len(classes), len(coefficients)
        class_, row, column, value = quadratic
        by_class = sparse.csr_matrix((linear[2], (linear[0], linear[1])), shape=(k, n))
        found = _alike(class_, row, column, value, owner) if k <= _MANY_CLASSES else []
        members = [np.array(m, dtype=np.intp) for m in found]
        grouped = np.zeros(n, dtype=bool)
        for m in members:
            grouped[m] = True
        single = np.flatnonzero(~grouped)
        # Coordinates: those in no group, then one for each group.
        place = np.empty(n, dtype=np.intp)
        place[single] = np.arange(len(single))
        factor = np.ones(n)
        for g, m in enumerate(members):
            place[m] = len(single) + g
            factor[m] = 1 / np.sqrt(len(m))
        n_coordinates = len(single) + len(members)
        kind = np.empty(n_coordinates, dtype=np.intp)
        kind[place] = owner

        off = row != column
        rows, columns = place[row], place[column]
        scaled = np.where(off, factor[row] * factor[column], factor[row] ** 2) * value
        eliminated, dense = _choose_eliminated(kind)
        position = np.empty(n_coordinates, dtype=np.intp)
        position[eliminated] = np.arange(len(eliminated))
        position[dense] = np.arange(len(dense))
        gone = np.zeros(n_coordinates, dtype=bool)
        gone[eliminated] = True
        e, d = len(eliminated), len(dense)

        def matrix(where: npt.NDArray[np.bool_], to: Codes, width: int) -> sparse.csr_matrix:
            return sparse.csr_matrix((scaled[where], (class_[where], to[where])), shape=(k, width))

        at_row, at_column = position[rows], position[columns]
        groups, deviations, rows_of, group_of = [], [], [], []
        for g, m in enumerate(members):
            sums = sparse.csr_matrix(by_class[:, m])
            groups.append(_Group(m, len(single) + g, sums))
            one = (row == m[0]) & (column == m[0])
            deviations.append(np.bincount(class_[one], value[one], minlength=k))
            centred = sums.toarray().T
            centred -= centred.mean(axis=0)
            kept = np.linalg.qr(centred, mode="r") if len(m) > k else centred
            rows_of.append(kept)
            group_of.append(np.full(len(kept), g))
        to_coordinates = sparse.csr_matrix(
            (factor, (np.arange(n), place)), shape=(n, n_coordinates)
        )
        return cls(
            classes=classes,
            count=count,
            squares=squares,
            coefficients=coefficients,
            scales=scales,
            class_numbers=class_numbers,
            shift=shift,
            floor=floor,
            priors=priors,
            groups=groups,
            single=single,
            single_place=place[single],
            eliminated=eliminated,
            dense=dense,
            matrix_diagonal=matrix(gone[rows] & gone[columns], at_row, e),
            matrix_coupling=matrix(gone[rows] & ~gone[columns], at_row * d + at_column, e * d),
            matrix_dense=matrix(~gone[rows] & ~gone[columns], at_row * d + at_column, d * d),
            matrix_linear=sparse.csr_matrix(by_class @ to_coordinates),
            deviation_diagonal=np.column_stack(deviations) if groups else np.zeros((k, 0)),
            deviation_count=np.array([len(m) - 1.0 for m in members]),
            deviation_rows=np.concatenate(rows_of) if groups else np.zeros((0, k)),
            deviation_group=np.concatenate(group_of) if groups else np.zeros(0, dtype=np.intp),
        )

    @property
    def batch(self) -> int:
        """How many sets of scales to work on at a time."""
        e, d = len(self.eliminated), len(self.dense)
        size = len(self.classes) + e * (d + 2) + d * d + len(self.deviation_rows)
        return max(1, _BUDGET // size)

    def solve(self, log_scales: Array) -> Solution:
        """Integrate the coefficients out, for each row of scales (on the log scale)."""
        precision = self.classes.precision(log_scales)
        draws, e, d = len(log_scales), len(self.eliminated), len(self.dense)
        diagonal = times(precision, self.matrix_diagonal)
        coupling = times(precision, self.matrix_coupling).reshape(draws, e, d)
        dense = times(precision, self.matrix_dense).reshape(draws, d, d)
        linear = times(precision, self.matrix_linear)
        own, rest = linear[:, self.eliminated], linear[:, self.dense]
        scaled = coupling / diagonal[:, :, None]
        # What is left may be smaller than the rounding of what it is the difference of.
        dense[:, np.arange(d), np.arange(d)] *= 1 + _ROUNDING
        dense -= np.matmul(coupling.transpose(0, 2, 1), scaled)
        rest = rest - np.einsum("sed,se->sd", scaled, own)
        cholesky = np.linalg.cholesky(dense)
        half = _solve_lower(cholesky, rest)
        mean = _solve_upper(cholesky, half)

        log_density = 0.5 * (np.log(precision) @ self.count - precision @ self.squares)
        log_density -= 0.5 * np.log(diagonal).sum(axis=1)
        log_density -= np.log(np.diagonal(cholesky, axis1=1, axis2=2)).sum(axis=1)
        log_density += 0.5 * ((own**2 / diagonal).sum(axis=1) + (half**2).sum(axis=1))
        if self.groups:
            of_groups = precision @ self.deviation_diagonal
            log_density -= 0.5 * np.log(of_groups) @ self.deviation_count
            rows = precision @ self.deviation_rows.T
            log_density += 0.5 * (rows**2 / of_groups[:, self.deviation_group]).sum(axis=1)
        for place, prior in enumerate(self.priors):
            log_density += prior.log_density(np.exp(log_scales[:, place])) + log_scales[:, place]
        return Solution(precision, diagonal, coupling, own, cholesky, mean, log_density)

    def log_density(self, log_scales: Array) -> Array:
        """Return the log of the posterior density of the scales' logarithms, up to a constant.

        A scale below a millionth of the outcomes' own is nothing but rounding error; there is
        hardly any probability of it, and none is given.
        """
        result = np.full(len(log_scales), -np.inf)
        which = np.flatnonzero((np.abs(log_scales - self.floor - _RANGE) < _RANGE).all(axis=1))
        for i in range(0, len(which), self.batch):
            part = which[i : i + self.batch]
            result[part] = self.solve(log_scales[part]).log_density
        return result

    def draw(self, log_scales: Array, rng: np.random.Generator) -> Iterator[tuple[slice, Array]]:
        """Draw the coefficients, one set for each row of scales; yields them batch by batch."""
        step = min(self.batch, max(1, _BUDGET // len(self.coefficients)))
        for start in range(0, len(log_scales), step):
            part = slice(start, min(start + step, len(log_scales)))
            yield part, self._draw(self.solve(log_scales[part]), rng)

    def variance(self, log_scales: Array, weights: Array) -> Array:
        """Return the variance of a weighted sum of the coefficients, for each row of scales."""
        parts = range(0, len(log_scales), self.batch)
        return np.concatenate(
            [self._variance(self.solve(log_scales[i : i + self.batch]), weights) for i in parts]
        )

    def _variance(self, at: Solution, weights: Array) -> Array:
        on = np.zeros(len(self.dense) + len(self.eliminated))
        on[self.single_place] = weights[self.single]
        for group in self.groups:
            on[group.place] = weights[group.members].sum() / np.sqrt(len(group.members))
        own = on[self.eliminated]
        scaled = at.coupling / at.diagonal[:, :, None]
        rest = on[self.dense] - np.einsum("sed,e->sd", scaled, own)
        total: Array = (_solve_lower(at.cholesky, rest) ** 2).sum(axis=1)
        total += (own**2 / at.diagonal).sum(axis=1)
        for g, group in enumerate(self.groups):
            w = weights[group.members]
            apart = (w**2).sum() - w.sum() ** 2 / len(w)
            total += apart / (at.precision @ self.deviation_diagonal[:, g])
        return total

    def _draw(self, at: Solution, rng: np.random.Generator) -> Array:
        draws = len(at.precision)
        noise = rng.standard_normal((draws, len(self.dense)))
        dense = at.mean + _solve_upper(at.cholesky, noise)
        coordinates = np.empty((draws, len(self.dense) + len(self.eliminated)))
        coordinates[:, self.dense] = dense
        mean = (at.linear - np.einsum("sed,sd->se", at.coupling, dense)) / at.diagonal
        noise = rng.standard_normal(mean.shape)
        coordinates[:, self.eliminated] = mean + noise / np.sqrt(at.diagonal)
        result = np.empty((draws, len(self.coefficients)))
        result[:, self.single] = coordinates[:, self.single_place]
        for g, group in enumerate(self.groups):
            diagonal = (at.precision @ self.deviation_diagonal[:, g])[:, None]
            own = times(at.precision, group.linear) / diagonal
            own += rng.standard_normal(own.shape) / np.sqrt(diagonal)
            own -= own.mean(axis=1, keepdims=True)
            own += coordinates[:, [group.place]] / np.sqrt(len(group.members))
            result[:, group.members] = own
        result += self.shift
        return result


def times(precision: Array, matrix: sparse.csr_matrix) -> Array:
    """Return precision @ matrix as a dense array."""
    return np.ascontiguousarray((matrix.T @ precision.T).T)


def _solve_lower(cholesky: Array, b: Array) -> Array:
    """Solve L x = b for each draw; the matrices are small, so column by column over all draws."""
    x = b.copy()
    for i in range(b.shape[1]):
        if i:
            x[:, i] -= np.einsum("sj,sj->s", cholesky[:, i, :i], x[:, :i])
        x[:, i] /= cholesky[:, i, i]
    return x


def _solve_upper(cholesky: Array, b: Array) -> Array:
    """Solve L' x = b for each draw."""
    x = b.copy()
    for i in reversed(range(b.shape[1])):
        if i + 1 < b.shape[1]:
            x[:, i] -= np.einsum("sj,sj->s", cholesky[:, i + 1 :, i], x[:, i + 1 :])
        x[:, i] /= cholesky[:, i, i]
    return x


def _alike(class_: Codes, row: Codes, column: Codes, value: Array, owner: Codes) -> list[list[int]]:
    """Return groups of coefficients with the same precision and the same ties to all others.

    Only the parameter with the most coefficients is looked at: it is the one worth shortening.
    """
    n = len(owner)
    largest = np.bincount(owner).argmax()
    inside = owner[row] == largest
    # Its ties: what it is tied to (itself, or another coefficient), in which class, how strongly.
    other = np.where(row[inside] == column[inside], n, column[inside])
    width = n + 1
    ties = sparse.csr_matrix(
        (value[inside], (row[inside], class_[inside] * width + other)),
        shape=(n, (int(class_.max()) + 1) * width),
    )
    ties.sum_duplicates()
    ties.sort_indices()
    groups: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(owner == largest).tolist():
        a, b = ties.indptr[i], ties.indptr[i + 1]
        key = ties.indices[a:b].tobytes() + ties.data[a:b].tobytes()
        groups.setdefault(key, []).append(i)
    return [members for members in groups.values() if len(members) > 1]


def _choose_eliminated(kind: Codes) -> tuple[Codes, Codes]:
    """Choose the parameter to eliminate: the one with the most coordinates.

    Its own coordinates never occur together in a factor, so their precision is diagonal.
    """
    largest = np.bincount(kind).argmax()
    return np.flatnonzero(kind == largest), np.flatnonzero(kind != largest)
