"""One block of a Gaussian system: integrate its coefficients, draw them, ask what they predict.

With the entries λ of the precision matrices (`precisions`), the block's records (`factor_sums`)
give an augmented matrix F = Σ λₑ Fₑ over its coordinates, its slopes and the outcome. Coordinates
of units (an attribute word, say) that are tied to no other unit are eliminated unit by unit; what
remains is a dense matrix H, whose Cholesky factor has the determinant and the residual sum of
squares. The deviations of merged units add to the slopes and the outcome only. The gradient follows
the same steps backwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.threads import in_threads
from bayesbias.models.exact.factor_sums import Pattern, Records, Scatter
from bayesbias.models.exact.precisions import ClassGroup
from bayesbias.models.priors import Prior

# Numbers in the temporary arrays of a batch: about what the caches hold.
_BUDGET = 1_000_000
# A batch has this many evaluations even so, to share the cost of the calls, as memory allows.
_TOGETHER = 4
_MOST = 16_000_000
#: A scale is not looked for below exp(-14) of the outcomes' standard deviation, nor above exp(26).
FLOOR = 14.0
#: Where to start looking for it, above the floor: at half of the outcomes' standard deviation.
START = FLOOR - 0.7
_RANGE = 20.0
_ROUNDING = 1e-14
# With fewer coordinates than this one dense matrix is quicker than eliminating units from it.
_FEW = 30
# Up to this size a triangular system is solved for all draws at once, column by column.
_SMALL = 64
# Up to this size the Cholesky factors of many matrices are computed number by number; of fewer
# matrices than there are steps to take for each, one by one.
_TINY = 16
# From so many sums on it is looked whether each has coefficients of one unit only.
_MANY_SUMS = 100


# Slots tied to more than this share of what their cluster is tied to count as tied to all of it.
_NARROW = 0.7
# As long as the calls for one more cluster take, in multiplications.
_CALLS = 500_000.0
# Up to this many kinds of units are compared with each other.
_KINDS = 300
# To go to another run of neighbouring coordinates takes as long as to pick this many numbers.
_RUN = 150
# Up to this many numbers a linear map is kept as a dense matrix, which is quicker to apply.
_DENSE = 200_000


class Linear:
    """A linear map from the entries of the precision matrices: what they add up to."""

    def __init__(self, matrix: sparse.csr_matrix) -> None:
        self.nnz = int(matrix.nnz)
        self.width = int(matrix.shape[1])
        small = matrix.shape[0] * matrix.shape[1] <= _DENSE
        self._forward = matrix.toarray() if small else sparse.csr_matrix(matrix.T)
        self._backward = self._forward.T if small else sparse.csr_matrix(matrix)
        self._small = small

    def __call__(self, entries: Array, places: Codes | None = None) -> Array:
        """Return draws × the width of the map, or some of its places."""
        if self._small:
            forward = self._forward if places is None else self._forward[:, places]
            return np.asarray(entries @ forward)
        forward = self._forward if places is None else self._forward[places]
        return np.ascontiguousarray((forward @ entries.T).T)

    def pull_back(self, gradient: Array) -> Array:
        """Return the gradient by the entries."""
        if self._small:
            return np.asarray(gradient @ self._backward)
        return np.ascontiguousarray((self._backward @ gradient.T).T)


@dataclass(frozen=True)
class _Slots:
    """Coordinates of each unit that are tied to the same columns of its cluster."""

    slots: Codes  # of a unit
    columns: Codes  # of the cluster


@dataclass(frozen=True)
class _Cluster:
    """Units of the same size that are tied to nearly the same dense coordinates.

    The coordinates of a unit that are tied to the fewest others come first: so eliminated, an
    attribute's effect in one group stays tied to that group's words. Dense coordinates to which
    all units are tied in the same way (a word's two effects that always occur together) share a
    column.
    """

    coordinates: Codes  # units × size, of the block
    support: Codes  # dense coordinates; the slopes and the outcome come last
    column: Codes  # of each of them
    precision: Linear  # units · size · size
    coupling: Linear  # units · size · columns
    parts: list[_Slots]  # all slots, by what they are tied to
    runs: list[tuple[slice, slice]]  # of dense coordinates and their columns

    @property
    def shape(self) -> tuple[int, int, int]:
        """Units, size, columns."""
        return (*self.coordinates.shape, int(self.column[-1]) + 1)

    @property
    def cost(self) -> float:
        """Roughly how many multiplications it takes to eliminate the units."""
        n, k, m = self.shape
        squares = sum(len(part.slots) * len(part.columns) ** 2 for part in self.parts)
        work = n * (k * k * (k + m) + squares) + 10.0 * self.coupling.nnz
        return float(work + 3 * len(self.support) ** 2)

    def subtract(self, h: Array, product: Array) -> None:
        """Subtract products of the columns from the lower triangle of the dense matrix."""
        if not self._by_runs(len(h)):
            spread = product[:, self.column[:, None], self.column]
            h[:, self.support[:, None], self.support] -= spread
            return
        for i, (rows, of_rows) in enumerate(self.runs):
            for columns, of_columns in self.runs[: i + 1]:
                h[:, rows, columns] -= product[:, of_rows, of_columns]

    def collect(self, matrix: Array) -> Array:
        """Add up a matrix of the dense coordinates over those that share a column."""
        m = self.shape[2]
        if not self._by_runs(len(matrix)):
            onto = self.onto_columns
            return np.asarray(onto.T @ matrix[:, self.support[:, None], self.support] @ onto)
        result = np.zeros((len(matrix), m, m))
        for rows, of_rows in self.runs:
            for columns, of_columns in self.runs:
                result[:, of_rows, of_columns] += matrix[:, rows, columns]
        return result

    def _by_runs(self, draws: int) -> bool:
        """Return whether it is quicker to go run by run than to pick each coordinate."""
        return _RUN * len(self.runs) ** 2 < draws * len(self.support) ** 2

    @cached_property
    def onto_columns(self) -> Array:
        """Return the matrix, of zeros and ones, that adds up the support's coordinates."""
        return np.equal.outer(self.column, np.arange(self.shape[2])).astype(np.float64)


@dataclass(frozen=True)
class _Deviations:
    """Deviations of merged units from their mean."""

    coefficients: Codes  # units × size, of the block
    columns: Codes  # dense coordinates of the slopes and the outcome
    linear: Linear  # units · size · columns
    first_side: bool  # whether the units are those that were merged first

    @property
    def shape(self) -> tuple[int, int, int]:
        """Units, size, columns."""
        return (*self.coefficients.shape, len(self.columns))

    def ties(self, entries: Array, units: Codes | None = None) -> Array:
        """Return draws × units, or some of them, × size × columns."""
        _, k, v = self.shape
        places = None if units is None else (units[:, None] * k * v + np.arange(k * v)).ravel()
        return self.linear(entries, places).reshape(len(entries), -1, k, v)


@dataclass(frozen=True)
class _Patterns:
    """What the density needs to know of the deviations with units of one size.

    Of each pattern a few rows stand for all units: those with the same sums of products.
    """

    which: Codes  # of the deviations
    free: Array  # units of each, minus one
    size: int
    columns: Codes  # dense coordinates of the slopes and the outcome
    precision: Linear  # patterns · size · size
    rows: Linear  # patterns · size · rows · columns

    def unit_precisions(self, entries: Array) -> Array:
        """Return draws × patterns × size × size."""
        return self.precision(entries).reshape(len(entries), len(self.which), self.size, self.size)

    def of_rows(self, entries: Array) -> Array:
        """Return draws × patterns × size × the columns of all rows."""
        return self.rows(entries).reshape(len(entries), len(self.which), self.size, -1)


@dataclass(frozen=True)
class Solution:
    """The Gaussian distribution of a block's coefficients, for a batch of unknowns."""

    entries: Array  # draws × entries of the precision matrices
    roots: list[Array]  # of each cluster: inverse Cholesky factors, draws × units × size × size
    halves: list[Array]  # of each cluster: those times the coupling
    pattern_roots: list[Array]  # draws × patterns × size × size
    deviation_roots: list[Array]  # the same by pattern: draws × size × size
    cholesky: Array  # of the dense coordinates' precision
    half: Array  # draws × dense: cholesky⁻¹ times the linear part
    log_density: Array  # of the unknowns, up to a constant

    @cached_property
    def mean(self) -> Array:
        """Draws × dense."""
        return _solve_upper(self.cholesky, self.half)

    @cached_property
    def inverse_root(self) -> Array:
        """The inverse of the Cholesky factor, for many questions about the same draws."""
        return np.linalg.inv(self.cholesky)


@dataclass(frozen=True)
class DrawOrder:
    """The order of draws where each draw of the unknowns has several of the coefficients.

    All draws of the unknowns come once, then all of them again, and so on.
    """

    distinct: int  # draws of the unknowns

    def numbers(self, unknowns: Codes, repeats: Codes) -> Codes:
        """Return the number of a draw among all, draws of the unknowns × repeats."""
        return np.asarray(repeats * self.distinct + unknowns[:, None])

    def unknowns(self, draws: int) -> Codes:
        """Return the draw of the unknowns that each draw has."""
        return np.arange(draws) % self.distinct


@dataclass(frozen=True)
class BlockSums:
    """What a block is built from: sums of the table, and where the block's unknowns stand.

    Attributes
    ----------
    groups, counts : dict, array
        The classes of rows of the whole model, and the number of rows of each.
    records, scatter, patterns : list, Scatter, list of list
        The sums of the block's rows, within and between merged units; patterns by side.
    units : list of array
        The unit of each coefficient of the model, by side.
    coefficients, scales, slopes : array of int
        The block's places among all coefficients and all unknowns.
    all_slopes : array of int
        The slopes of the whole model, in the order of the columns of the sums.
    shift, floor, priors : array, float, list
        As in `Block`.
    n_scales : int
        The number of unknowns of the whole model.
    """

    groups: dict[int, ClassGroup]
    counts: Array
    records: list[Records]
    scatter: Scatter
    patterns: list[list[Pattern]]
    units: list[Codes]
    coefficients: Codes
    scales: Codes
    slopes: Codes
    all_slopes: Codes
    shift: Array
    floor: float
    priors: list[Prior]
    n_scales: int

    @property
    def n_coefficients(self) -> int:
        """The number of coefficients of the whole model, or at least of those that occur."""
        most = int(max((unit.size for unit in self.units), default=0))
        return most or int(self.coefficients.max()) + 1

    @cached_property
    def local(self) -> Codes:
        """The place in the block of each coefficient of the model; -1 for others."""
        places = np.full(self.n_coefficients + 1, -1)
        places[self.coefficients] = np.arange(len(self.coefficients))
        return places

    @cached_property
    def remaining(self) -> Codes:
        """The block's coefficients that are neither slopes nor deviations of merged units."""
        gone = np.zeros(self.n_coefficients + 1, dtype=bool)
        for side in self.patterns:
            for pattern in side:
                gone[pattern.ids[1:]] = True
        gone[self.all_slopes] = True
        return self.coefficients[~gone[self.coefficients]]


@dataclass(frozen=True)
class Block:
    """A part of a model that is independent of the rest.

    The dense coordinates come first the coefficients, then the slopes, and last the outcome.
    """

    groups: dict[int, ClassGroup]
    count: Array  # of each class
    coefficients: Codes  # places among all coefficients
    scales: Codes  # places among all unknowns
    slopes: Codes  # of the block's coefficients
    shift: Array  # what to add to the coefficients, as the outcomes were centred
    floor: float  # of the log scales
    priors: list[Prior]
    dense: Codes  # of the block's coefficients, in the order of the dense coordinates
    matrix: Linear  # (dense + 1)²
    n_entries: int
    clusters: list[_Cluster]
    deviations: list[_Deviations]  # those of the units that were merged last come first
    patterns: list[_Patterns]  # of all deviations, by the size of their units

    @classmethod
    def build(cls, sums: BlockSums) -> Block:
        """Arrange the sums of a block so that it is cheap to solve again and again."""
        groups, count, entry_of = _block_classes(
            sums.groups, sums.counts, sums.records, sums.scales, sums.n_scales
        )
        n_entries = sum(len(g) * g.width**2 for g in groups.values())
        local, left = sums.local, sums.remaining
        eliminated = _eliminated(left, sums.units)
        is_dense = np.ones(len(left), dtype=bool) if eliminated is None else eliminated[left] < 0
        dense = np.concatenate([left[is_dense], sums.slopes])
        d = len(dense)
        position = np.full(sums.n_coefficients + 1, -1)
        position[dense] = np.arange(d)
        columns = np.append(position[sums.slopes], d)
        keep = np.append(np.isin(sums.all_slopes, sums.slopes), True)

        entries = _Entries(len(position), len(columns))
        for r in sums.records:
            entries.add(r, entry_of, keep)
        entries.add_scatter(sums.scatter.total[:, keep][:, :, keep], entry_of)
        rows, cols, e, value = entries.finish(position, columns)
        clusters = []
        if eliminated is not None:
            drafts = _drafts(left[~is_dense], eliminated, rows, cols, e, value, d, columns)
            order = _ordered(drafts, columns)
            dense, rank = dense[order[:d]], np.argsort(order)
            rows, cols = (np.where(x >= 0, rank[np.maximum(x, 0)], x) for x in (rows, cols))
            clusters = [draft.cluster(rank, local, columns, n_entries) for draft in drafts]
        inside = (rows >= 0) & (cols >= 0)
        size = d + 1
        matrix = sparse.csr_matrix(
            (value[inside], (e[inside], rows[inside] * size + cols[inside])),
            shape=(n_entries, size * size),
        )
        deviations, patterns = _merged_units(sums, columns, keep, entry_of, n_entries)
        return cls(
            groups=groups,
            count=count,
            coefficients=sums.coefficients,
            scales=sums.scales,
            slopes=local[sums.slopes],
            shift=sums.shift,
            floor=sums.floor,
            priors=sums.priors,
            dense=local[dense],
            matrix=Linear(matrix),
            n_entries=n_entries,
            clusters=clusters,
            deviations=deviations,
            patterns=patterns,
        )

    @property
    def batch(self) -> int:
        """How many sets of unknowns to work on at a time."""
        d = len(self.dense) + 1
        size = 3 * d * d + self.n_entries
        for cluster in self.clusters:
            n, k, m = cluster.shape
            size += 2 * n * k * (k + m)
        for patterns in self.patterns:
            size += 2 * patterns.rows.width + patterns.precision.width
        return max(1, min(_TOGETHER, _MOST // size), _BUDGET // size)

    @property
    def cost(self) -> float:
        """Roughly how many multiplications it takes to solve the block once."""
        d = len(self.dense) + 1
        total = d**3 / 3 + 10.0 * self.matrix.nnz
        for cluster in self.clusters:
            total += cluster.cost
        for patterns in self.patterns:
            total += 10.0 * patterns.rows.nnz + len(patterns.which) * patterns.size**3
        return total + 2000.0

    def _entries(self, at: Array) -> tuple[Array, Array]:
        parts = [g.precision(at) for _, g in sorted(self.groups.items())]
        values = [p.reshape(len(at), -1) for p, _ in parts]
        return np.concatenate(values, axis=1), np.concatenate([q for _, q in parts], axis=1)

    def solve(self, at: Array) -> Solution:
        """Integrate the coefficients out, for each row of unknowns."""
        entries, log_determinant = self._entries(at)
        draws, d = len(at), len(self.dense)
        log_density = 0.5 * log_determinant @ self.count
        h = self.matrix(entries).reshape(draws, d + 1, d + 1)
        roots: list[Array] = []
        halves: list[Array] = []
        precision: Array
        half: Array
        for cluster in self.clusters:
            n, k, m = cluster.shape
            precision = cluster.precision(entries).reshape(draws, n, k, k)
            root = _inverse_cholesky(precision)
            half = root @ cluster.coupling(entries).reshape(draws, n, k, m)
            log_density += np.log(np.diagonal(root, axis1=2, axis2=3)).sum(axis=(1, 2))
            cluster.subtract(h, _squares(cluster, half))
            roots.append(root)
            halves.append(half)
        pattern_roots: list[Array] = []
        deviation_roots: list[Array] = [np.zeros(0)] * len(self.deviations)
        for patterns in self.patterns:
            root = _inverse_cholesky(patterns.unit_precisions(entries))
            log_density += np.log(np.diagonal(root, axis1=2, axis2=3)).sum(axis=2) @ patterns.free
            flat = (root @ patterns.of_rows(entries)).reshape(draws, -1, len(patterns.columns))
            h[:, patterns.columns[:, None], patterns.columns] -= flat.transpose(0, 2, 1) @ flat
            pattern_roots.append(root)
            for place, which in enumerate(patterns.which.tolist()):
                deviation_roots[which] = root[:, place]
        matrix, linear = h[:, :d, :d], h[:, d, :d]
        # What is left may be smaller than the rounding of what it is the difference of.
        matrix[:, np.arange(d), np.arange(d)] *= 1 + _ROUNDING * 10
        cholesky = np.linalg.cholesky(matrix)
        half = _solve_lower(cholesky, linear)
        log_density -= np.log(np.diagonal(cholesky, axis1=1, axis2=2)).sum(axis=1)
        log_density -= 0.5 * (h[:, d, d] - (half**2).sum(axis=1))
        log_density += self._log_prior(at)
        return Solution(
            entries,
            roots,
            halves,
            pattern_roots,
            deviation_roots,
            cholesky,
            half,
            log_density,
        )

    def _log_prior(self, at: Array) -> Array:
        total = np.zeros(len(at))
        for prior, x in zip(self.priors, at.T, strict=True):
            total += prior.log_density(np.exp(x)) + x
        return total

    def inside(self, at: Array) -> npt.NDArray[np.bool_]:
        """Return whether a scale is large enough to be more than rounding error."""
        above = at - self.floor
        result: npt.NDArray[np.bool_] = np.asarray(((above > 0) & (above < 2 * _RANGE)).all(axis=1))
        return result

    def log_density(self, at: Array) -> Array:
        """Return the log of the posterior density of the unknowns, up to a constant.

        A scale below a millionth of the outcomes' own is nothing but rounding error; there is
        hardly any probability of it, and none is given.
        """
        result = np.full(len(at), -np.inf)
        which = np.flatnonzero(self.inside(at))
        parts = [which[i : i + self.batch] for i in range(0, len(which), self.batch)]
        for part, values in zip(
            parts, in_threads(lambda part: self._solved_density(at[part]), parts), strict=True
        ):
            result[part] = values
        return np.where(np.isnan(result), -np.inf, result)

    def _solved_density(self, at: Array) -> Array:
        try:
            return self.solve(at).log_density
        except np.linalg.LinAlgError:
            if len(at) == 1:
                return np.array([-np.inf])  # beyond what the digits allow: no density
            return np.concatenate([self._solved_density(one[None]) for one in at])

    def gradient(self, at: Array) -> tuple[Array, Array]:
        """Return the log density of the unknowns and its gradient; minus infinity for none."""
        parts = [at[i : i + self.batch] for i in range(0, len(at), self.batch)]
        values, slopes = zip(*in_threads(self._gradient_or_none, parts), strict=True)
        return np.concatenate(values), np.concatenate(slopes)

    def _gradient_or_none(self, at: Array) -> tuple[Array, Array]:
        try:
            return self._gradient(at)
        except np.linalg.LinAlgError:
            if len(at) == 1:
                return np.array([-np.inf]), np.zeros_like(at)
            values, slopes = zip(*(self._gradient_or_none(one[None]) for one in at), strict=True)
            return np.concatenate(values), np.concatenate(slopes)

    def _gradient(self, at: Array) -> tuple[Array, Array]:
        solved = self.solve(at)
        draws, d = len(at), len(self.dense)
        inverse = _inverse(solved.cholesky)
        adjoint = np.zeros((draws, d + 1, d + 1))
        adjoint[:, :d, :d] = inverse
        g = np.concatenate([-solved.mean, np.ones((draws, 1))], axis=1)
        adjoint += g[:, :, None] * g[:, None, :]
        adjoint *= -0.5
        by_entry = self.matrix.pull_back(adjoint.reshape(draws, -1))
        for cluster, root, half in zip(self.clusters, solved.roots, solved.halves, strict=True):
            n, _, m = cluster.shape
            here = cluster.collect(adjoint)
            by_half = np.zeros_like(half)
            for part in cluster.parts:
                tied = part.columns
                if len(tied) == m:
                    product = _part(half, part) @ here
                    by_half[:, :, part.slots] = product.reshape(draws, n, len(part.slots), m)
                else:
                    product = _part(half, part) @ here[:, tied[:, None], tied]
                    product = product.reshape(draws, n, len(part.slots), len(tied))
                    by_half[:, :, part.slots[:, None], tied] = product
            transposed = root.transpose(0, 1, 3, 2)
            weighted = transposed @ by_half
            by_entry += cluster.coupling.pull_back(-2 * weighted.reshape(draws, -1))
            # A slot is tied to all columns that those eliminated into it are tied to, so the lower
            # triangle has all of its terms, and the upper one may not.
            lower = np.tril(by_half @ half.transpose(0, 1, 3, 2))
            symmetric = lower + np.tril(lower, -1).transpose(0, 1, 3, 2)
            by_precision = transposed @ (symmetric - 0.5 * np.eye(symmetric.shape[-1])) @ root
            by_entry += cluster.precision.pull_back(by_precision.reshape(draws, -1))
        for patterns, root in zip(self.patterns, solved.pattern_roots, strict=True):
            here = adjoint[:, patterns.columns[:, None], patterns.columns]
            covariance = root.transpose(0, 1, 3, 2) @ root
            solution = covariance @ patterns.of_rows(solved.entries)
            weighted = solution.reshape(draws, -1, len(patterns.columns)) @ here
            by_entry += patterns.rows.pull_back(-2 * weighted.reshape(draws, -1))
            by_precision = weighted.reshape(solution.shape) @ solution.transpose(0, 1, 3, 2)
            by_precision -= 0.5 * patterns.free[:, None, None] * covariance
            by_entry += patterns.precision.pull_back(by_precision.reshape(draws, -1))
        result = self._prior_gradient(at)
        first_entry, first_class = 0, 0
        for _, group in sorted(self.groups.items()):
            n, square = len(group), group.width**2
            entries = by_entry[:, first_entry : first_entry + n * square].reshape(draws, n, square)
            determinant = np.broadcast_to(
                0.5 * self.count[first_class : first_class + n], (draws, n)
            )
            result += group.pull_back(at, entries, determinant)
            first_entry += n * square
            first_class += n
        return solved.log_density, result

    def _prior_gradient(self, at: Array) -> Array:
        step = 1e-5
        result = np.empty_like(at)
        for place, (prior, x) in enumerate(zip(self.priors, at.T, strict=True)):
            up, down = (prior.log_density(np.exp(x + h)) for h in (step, -step))
            result[:, place] = (up - down) / (2 * step) + 1
        return result

    def draw(
        self,
        at: Array,
        rng: np.random.Generator,
        use: Callable[[Codes, Array], None],
        repeats: int = 1,
    ) -> None:
        """Draw the coefficients for each row of unknowns, several times if asked to.

        Batches go to `use`, perhaps several at once: the numbers of the draws, by `DrawOrder`, and
        their values. Each batch has random numbers of its own, so that the draws do not depend on
        the number of threads.
        """
        order = DrawOrder(len(at))
        size = len(self.coefficients)
        at_once = min(repeats, max(1, _BUDGET // size))
        step = min(self.batch, max(1, _BUDGET // (size * at_once)))
        starts = range(0, len(at), step)
        # Not from the generator's own sequence of seeds, which not every generator has.
        seeds = np.random.SeedSequence(rng.integers(2**32, size=4).tolist()).spawn(len(starts))

        def draw_part(part: tuple[int, np.random.SeedSequence]) -> None:
            start, stream = part[0], np.random.default_rng(part[1])
            solved = self.solve(at[start : start + step])
            unknowns = np.arange(start, start + len(solved.half))
            for first in range(0, repeats, at_once):
                values = self._draw(solved, stream, min(at_once, repeats - first))
                numbers = order.numbers(unknowns, first + np.arange(values.shape[1]))
                use(numbers.ravel(), values.reshape(numbers.size, size))

        in_threads(draw_part, list(zip(starts, seeds, strict=True)))

    def _draw(self, at: Solution, rng: np.random.Generator, repeats: int) -> Array:
        """Return draws × repeats × coefficients."""
        draws, d = len(at.mean), len(self.dense)
        result = np.zeros((draws, repeats, len(self.coefficients)))
        noise = rng.standard_normal((draws, repeats, d)).transpose(0, 2, 1)
        dense = at.mean[:, None] + _solve_upper(at.cholesky, noise).transpose(0, 2, 1)
        result[:, :, self.dense] = dense
        augmented = np.concatenate([-dense, np.ones((draws, repeats, 1))], axis=2)
        for cluster, root, half in zip(self.clusters, at.roots, at.halves, strict=True):
            n, k, m = cluster.shape
            columns = augmented[:, :, cluster.support] @ cluster.onto_columns
            target = columns @ half.reshape(draws, n * k, m).transpose(0, 2, 1)
            target += rng.standard_normal(target.shape)
            # Unit by unit, the repeats at once.
            drawn = target.reshape(draws, repeats, n, k).transpose(0, 2, 1, 3) @ root
            drawn = drawn.transpose(0, 2, 1, 3).reshape(draws, repeats, n * k)
            result[:, :, cluster.coordinates.ravel()] = drawn
        for deviation, root in zip(self.deviations, at.deviation_roots, strict=True):
            n, k, v = deviation.shape
            ties = deviation.ties(at.entries).reshape(draws, n * k, v)
            target = augmented[:, :, deviation.columns] @ ties.transpose(0, 2, 1)
            drawn = target.reshape(draws, repeats * n, k) @ root.transpose(0, 2, 1)
            drawn += rng.standard_normal(target.shape).reshape(drawn.shape)
            drawn = (drawn @ root).reshape(draws, repeats, n, k)
            # A product is quicker than a mean over an axis that is not the last.
            shift = result[:, :, None, deviation.coefficients[0]]
            drawn += shift - np.full((1, n), 1 / n) @ drawn
            result[:, :, deviation.coefficients.ravel()] = drawn.reshape(draws, repeats, n * k)
        result += self.shift
        return result

    def whiten(self, at: Solution, values: Array) -> tuple[Array, Array]:
        """Return coefficients as the noise they would be drawn from, and their log density.

        Parameters
        ----------
        at : Solution
            For each draw of the unknowns.
        values : array
            Draws × the block's coefficients.

        Returns
        -------
        noise : array
            Draws × the block's coefficients: independent and standard normal if the coefficients
            are drawn given the unknowns.
        log_density : array
            Of the coefficients given the unknowns, up to a constant.
        """
        draws = len(values)
        left = values - self.shift
        noise = np.zeros_like(left)
        total = np.log(np.diagonal(at.cholesky, axis1=1, axis2=2)).sum(axis=1)
        apart = []
        # The mean of merged units is among the coordinates that come before it.
        for deviation in reversed(self.deviations):
            part = left[:, deviation.coefficients]
            mean = part.mean(axis=1, keepdims=True)
            left[:, deviation.coefficients[0]] = mean[:, 0]
            apart.append(part - mean)
        dense = left[:, self.dense]
        upper = at.cholesky.transpose(0, 2, 1)
        noise[:, self.dense] = (upper @ (dense - at.mean)[..., None])[..., 0]
        augmented = np.concatenate([-dense, np.ones((draws, 1))], axis=1)
        for cluster, root, half in zip(self.clusters, at.roots, at.halves, strict=True):
            n, k, _ = cluster.shape
            part = left[:, cluster.coordinates.ravel()].reshape(draws, n, k)
            columns = augmented[:, cluster.support] @ cluster.onto_columns
            target = (half @ columns[:, None, :, None])[..., 0]
            lower = np.linalg.inv(root)
            z = (lower.transpose(0, 1, 3, 2) @ part[..., None])[..., 0] - target
            noise[:, cluster.coordinates.ravel()] = z.reshape(draws, -1)
            total -= np.log(np.diagonal(root, axis1=2, axis2=3)).sum(axis=(1, 2))
        for deviation, root, part in zip(
            self.deviations, at.deviation_roots, reversed(apart), strict=True
        ):
            n, k, _ = deviation.shape
            ties = deviation.ties(at.entries)
            target = (ties @ augmented[:, None, deviation.columns, None])[..., 0]
            z = part @ np.linalg.inv(root) - target @ root.transpose(0, 2, 1)
            # Deviations from a mean: one fewer is free. The first unit's noise is that of the mean.
            free = linalg.helmert(n) @ z
            noise[:, deviation.coefficients[1:].ravel()] = free.reshape(draws, -1)
            total -= (n - 1) * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        return noise, total - 0.5 * (noise**2).sum(axis=1)

    def predict(self, at: Solution, weights: Array, columns: Codes) -> tuple[Array, Array]:
        """Return mean and covariance of weighted sums of the coefficients.

        Parameters
        ----------
        at : Solution
            For each draw of the unknowns.
        weights : array
            Sums × the coefficients that occur in them.
        columns : array of int
            Which of the block's coefficients these are; each once.

        Returns
        -------
        mean : array
            Draws × sums.
        covariance : array
            Draws × sums × sums.
        """
        draws, d, n_sums = len(at.mean), len(self.dense), len(weights)
        left = _Weights.of(weights, columns, self)
        # On the dense coordinates, and last the constant.
        on_dense = np.zeros((draws, n_sums, d + 1))
        covariance = np.zeros((draws, n_sums, n_sums))
        self._add_deviations(at, left, on_dense, covariance)
        self._add_clusters(at, left, on_dense, covariance)
        on_dense[:, :, :d] += left[self.dense]
        onto = on_dense[:, :, :d].transpose(0, 2, 1)
        half = at.inverse_root @ onto
        covariance += half.transpose(0, 2, 1) @ half
        shift = weights @ self.shift[columns]
        mean = on_dense[:, :, d] + (at.mean[:, None] @ onto)[:, 0] + shift
        return mean, covariance

    def _add_deviations(
        self, at: Solution, left: _Weights, on_dense: Array, covariance: Array
    ) -> None:
        """Add the part of the deviations to what `predict` makes; only their mean is left."""
        draws, n_sums = covariance.shape[:2]
        order = list(zip(self.deviations, at.deviation_roots, strict=True))
        for deviation, root in reversed(order):
            n, k, _ = deviation.shape
            some, of_units = left.of_units(deviation.coefficients)
            if not len(some):
                continue
            total = of_units.sum(axis=1)
            left[deviation.coefficients[some]] = 0
            left[deviation.coefficients[0]] = total
            upper = root.transpose(0, 2, 1)
            of_mean = total @ upper
            place = _only_units(of_units)
            if place is not None:
                unit = some[place]
                products = of_mean @ of_mean.transpose(0, 2, 1)
                covariance += products * (unit[:, None] == unit)
                covariance -= products / n
                each = root[:, None] @ deviation.ties(at.entries, unit)
                on_dense[:, :, deviation.columns] += _signed(
                    (of_mean[:, :, None, :] @ each)[:, :, 0]
                )
                continue
            flat = (of_units.reshape(-1, k) @ upper).reshape(draws, n_sums, -1)
            # Deviations from the mean of all units, most of which do not occur here.
            covariance += flat @ flat.transpose(0, 2, 1)
            covariance -= of_mean @ of_mean.transpose(0, 2, 1) / n
            # The linear parts of all units add up to zero, so their mean is not missing.
            ties = deviation.ties(at.entries, some).transpose(0, 2, 1, 3).reshape(draws, k, -1)
            by_unit = (root @ ties).reshape(draws, k, len(some), -1).transpose(0, 2, 1, 3)
            on_dense[:, :, deviation.columns] += _signed(
                flat @ by_unit.reshape(draws, len(some) * k, -1)
            )

    def _add_clusters(
        self, at: Solution, left: _Weights, on_dense: Array, covariance: Array
    ) -> None:
        """Add the part of the clusters to what `predict` makes."""
        draws, n_sums = covariance.shape[:2]
        for cluster, root, half in zip(self.clusters, at.roots, at.halves, strict=True):
            some, of_units = left.of_units(cluster.coordinates)
            if not len(some):
                continue
            place = _only_units(of_units)
            if place is not None:
                unit = some[place]
                weight = of_units[np.arange(n_sums), place]
                one = (root[:, unit] @ weight[None, :, :, None])[..., 0]
                covariance += one @ one.transpose(0, 2, 1) * (unit[:, None] == unit)
                by_sum = (one[:, :, None, :] @ half[:, unit])[:, :, 0]
                on_dense[:, :, cluster.support] += _signed(by_sum)[:, :, cluster.column]
                continue
            # draws × units × sums × size
            scaled = of_units.transpose(1, 0, 2) @ root[:, some].transpose(0, 1, 3, 2)
            flat = scaled.transpose(0, 2, 1, 3).reshape(draws, n_sums, -1)
            covariance += flat @ flat.transpose(0, 2, 1)
            tied = half[:, some].reshape(draws, -1, half.shape[3])
            on_dense[:, :, cluster.support] += _signed(flat @ tied)[:, :, cluster.column]

    def variance(self, at: Array, weights: Array) -> Array:
        """Return the variance of a weighted sum of the coefficients, for each row of unknowns."""
        result = np.empty(len(at))
        columns = np.flatnonzero(weights)
        for start in range(0, len(at), self.batch):
            part = slice(start, start + self.batch)
            solved = self.solve(at[part])
            result[part] = self.predict(solved, weights[None, columns], columns)[1][:, 0, 0]
        return result


@dataclass(frozen=True)
class _Weights:
    """The weights of coefficients in sums, without the many coefficients that occur in none.

    An array of all coefficients would have rows times attributes numbers.
    """

    values: Array  # sums × coefficients that may occur; the last is 0, for all others
    place: Codes  # of each of the block's coefficients among them; -1 for others

    @classmethod
    def of(cls, weights: Array, columns: Codes, block: Block) -> _Weights:
        """Take the weights of some coefficients; the means of merged units may occur later."""
        means = [deviation.coefficients[0] for deviation in block.deviations]
        occurring = np.unique(np.concatenate([columns, *means]))
        place = np.full(len(block.coefficients), -1)
        place[occurring] = np.arange(len(occurring))
        values = np.zeros((len(weights), len(occurring) + 1))
        values[:, place[columns]] = weights
        return cls(values, place)

    def __getitem__(self, coefficients: Codes) -> Array:
        return np.asarray(self.values[:, self.place[coefficients]])

    def __setitem__(self, coefficients: Codes, values: Array | float) -> None:
        """Set the weights of coefficients that may occur."""
        self.values[:, self.place[coefficients]] = values

    def of_units(self, coefficients: Codes) -> tuple[Codes, Array]:
        """Return the units that occur, and sums × these units × size."""
        units = np.flatnonzero((self.place[coefficients] >= 0).any(axis=1))
        values = self[coefficients[units]]
        some = values.any(axis=(0, 2))
        return units[some], values[:, some]


def _only_units(of_units: Array) -> Codes | None:
    """Return the unit that each of many sums has, given sums × units × size.

    None if there are few sums, or some have several units: then the products of all sums and units
    are computed, most of which are zero for many units.
    """
    if len(of_units) < _MANY_SUMS:
        return None
    touched = of_units.any(axis=2)
    return None if (touched.sum(axis=1) > 1).any() else touched.argmax(axis=1)


def _part(half: Array, part: _Slots) -> Array:
    """Return draws × units and slots × columns."""
    draws, n, k, m = half.shape
    picked = half
    if len(part.slots) < k or len(part.columns) < m:
        picked = half[:, :, part.slots[:, None], part.columns]
    return picked.reshape(draws, n * len(part.slots), len(part.columns))


def _squares(cluster: _Cluster, half: Array) -> Array:
    """Return draws × columns × columns: the products of the columns, added up over the units."""
    # The widest part comes last, and is tied to all columns.
    *narrow, wide = (_part(half, part) for part in cluster.parts)
    total: Array = wide.transpose(0, 2, 1) @ wide
    for part, flat in zip(cluster.parts, narrow, strict=False):
        total[:, part.columns[:, None], part.columns] += flat.transpose(0, 2, 1) @ flat
    return total


def _signed(values: Array) -> Array:
    """Return what a coefficient's mean depends on: minus the coordinates, plus the constant."""
    values[..., :-1] *= -1
    return values


def _inverse_cholesky(matrix: Array) -> Array:
    """Return the inverse of the lower Cholesky factor of each of many small matrices."""
    if matrix.shape[-1] == 1:
        return np.asarray(1 / np.sqrt(matrix))
    k = matrix.shape[-1]
    if k > _TINY or 6 * matrix.size < k**5:
        return np.linalg.inv(np.linalg.cholesky(matrix))
    # All matrices at once, number by number: the calls to LAPACK would take longer than the work.
    a = np.ascontiguousarray(matrix.reshape(-1, k, k).transpose(1, 2, 0))
    inverse = np.zeros_like(a)
    for j in range(k):
        pivot = a[j, j] - sum((a[j, i] ** 2 for i in range(j)), np.zeros(a.shape[2]))
        if not (pivot > 0).all():
            raise np.linalg.LinAlgError("a matrix is not positive definite")
        inverse[j, j] = 1 / np.sqrt(pivot)
        for i in range(j + 1, k):
            for m in range(j):
                a[i, j] -= a[i, m] * a[j, m]
            a[i, j] *= inverse[j, j]
        for i in range(j):
            for m in range(i, j):
                inverse[j, i] -= a[j, m] * inverse[m, i]
            inverse[j, i] *= inverse[j, j]
    return np.ascontiguousarray(inverse.transpose(2, 0, 1)).reshape(matrix.shape)


def _inverse(cholesky: Array) -> Array:
    """Return the inverse of the matrices whose Cholesky factors are given."""
    if cholesky.shape[1] <= _SMALL:
        root = np.linalg.inv(cholesky)
        return root.transpose(0, 2, 1) @ root
    result = np.empty_like(cholesky)
    for s, one in enumerate(cholesky):
        # In the order of Fortran the lower factor is the upper one.
        upper, _ = linalg.lapack.dpotri(one.T, lower=0)
        result[s] = np.triu(upper) + np.triu(upper, 1).T
    return result


def _solve_lower(cholesky: Array, b: Array) -> Array:
    """Solve L x = b for each draw; b is draws × size."""
    if b.shape[1] > _SMALL:
        return _solve_one_by_one(cholesky, b, trans=1)
    x = b.copy()
    for i in range(b.shape[1]):
        if i:
            x[:, i] -= np.einsum("sj,sj->s", cholesky[:, i, :i], x[:, :i])
        x[:, i] /= cholesky[:, i, i]
    return x


def _solve_upper(cholesky: Array, b: Array) -> Array:
    """Solve L' x = b for each draw; b is draws × size, or draws × size × columns."""
    d = b.shape[1]
    if d > _SMALL:
        return _solve_one_by_one(cholesky, b, trans=0)
    x = b.copy()
    for i in reversed(range(d)):
        if i + 1 < d:
            x[:, i] -= np.einsum("sj,sj...->s...", cholesky[:, i + 1 :, i], x[:, i + 1 :])
        x[:, i] = (x[:, i].T / cholesky[:, i, i]).T
    return x


def _solve_one_by_one(cholesky: Array, b: Array, trans: int) -> Array:
    x = np.empty_like(b)
    for s, (one, right) in enumerate(zip(cholesky, b, strict=True)):
        # In the order of Fortran the lower factor is the upper one.
        x[s], _ = linalg.lapack.dtrtrs(one.T, right, lower=0, trans=trans)
    return x


def _merged_units(
    sums: BlockSums, columns: Codes, keep: npt.NDArray[np.bool_], entry_of: Codes, n_entries: int
) -> tuple[list[_Deviations], list[_Patterns]]:
    """Return the deviations of merged units, those merged last first, and by the units' size."""
    patterns = sums.patterns
    merged = [(p, side == 0) for side in reversed(range(len(patterns))) for p in patterns[side]]
    deviations = [
        _deviations(pattern, sums.local, columns, keep, entry_of, n_entries, first_side)
        for pattern, first_side in merged
    ]
    by_size: dict[int, list[int]] = {}
    for place, (pattern, _) in enumerate(merged):
        by_size.setdefault(pattern.ids.shape[1], []).append(place)
    by_unit_size = [
        _patterns([merged[i][0] for i in which], which, columns, keep, entry_of, n_entries)
        for which in by_size.values()
    ]
    return deviations, by_unit_size


def _block_classes(
    groups: dict[int, ClassGroup], counts: Array, records: list[Records], scales: Codes, n: int
) -> tuple[dict[int, ClassGroup], Array, Codes]:
    """Return the classes of a block, how often each occurs, and the new number of each entry."""
    used = np.unique(np.concatenate([r.class_ for r in records]))
    renumber = np.full(n + 1, -1)
    renumber[scales] = np.arange(len(scales))
    classes, class_counts, entry_of = {}, [], []
    first_class, first_entry = 0, 0
    for width, group in sorted(groups.items()):
        which = used[(used >= first_class) & (used < first_class + len(group))] - first_class
        place = np.full(len(group), -1)
        square = width**2
        if len(which):
            classes[width] = group.take(which, renumber)
            class_counts.append(counts[first_class + which])
            place[which] = first_entry + np.arange(len(which)) * square
            first_entry += len(which) * square
        numbers = np.where(place[:, None] >= 0, place[:, None] + np.arange(square), -1)
        entry_of.append(numbers.ravel())
        first_class += len(group)
    return classes, np.concatenate(class_counts), np.concatenate(entry_of)


def _eliminated(left: Codes, units: list[Codes]) -> Codes | None:
    """Return the unit of each coefficient that is to be eliminated, or None for no elimination."""
    if len(left) <= _FEW or not units:
        return None
    costs = []
    for unit in units:
        unit_of = unit[left]
        sizes = np.bincount(unit_of[unit_of >= 0]).astype(float)
        dense = float((unit_of < 0).sum()) + 1
        costs.append(float((sizes**3).sum() + sizes.sum() * dense**2 + dense**3))
    best = int(np.argmin(costs))
    return units[best] if costs[best] < float(len(left)) ** 3 else None


class _Entries:
    """The augmented matrix: for each entry of the precision matrices, what it is multiplied by.

    A record adds the product of each two of its terms and columns. The sum over the records is a
    product of two sparse matrices, of which one knows the entry, too.
    """

    def __init__(self, n_coefficients: int, n_columns: int) -> None:
        self.size = n_coefficients + n_columns  # coefficients first, then columns
        self.n_coefficients = n_coefficients
        self.n_records = 0
        self.left: list[tuple[Codes, Codes, Array]] = []  # record, entry and place, value
        self.right: list[tuple[Codes, Codes, Array]] = []  # record, place, value

    def add(self, r: Records, entry_of: Codes, keep: npt.NDArray[np.bool_]) -> None:
        """Add records, with some of their columns."""
        n, n_terms = len(r), r.terms.shape[2]
        columns = r.columns[:, :, keep]
        of_columns = np.arange(self.n_coefficients, self.size)
        place = np.concatenate([r.terms, np.broadcast_to(of_columns, columns.shape)], axis=2)
        times = np.broadcast_to(r.times, (n, r.width, n_terms))
        value = np.concatenate([np.where(r.terms >= 0, times, 0.0), columns], axis=2)
        for i, j in np.ndindex(r.width, r.width):
            entry = entry_of[r.entry[:, i, j]] * self.size
            self._put(
                (entry[:, None] + place[:, i], value[:, i] * r.weight[:, None]),
                (place[:, j], value[:, j]),
            )

    def add_scatter(self, total: Array, entry_of: Codes) -> None:
        """Add sums of products of columns: entries × columns × columns."""
        used = np.flatnonzero(entry_of >= 0)
        of_columns = np.arange(self.n_coefficients, self.size)
        ones = np.ones((len(used), 1))
        for a, place in enumerate(of_columns.tolist()):
            self._put(
                (entry_of[used, None] * self.size + place, ones),
                (np.broadcast_to(of_columns, (len(used), len(of_columns))), total[used, a]),
            )

    def _put(self, left: tuple[Codes, Array], right: tuple[Codes, Array]) -> None:
        for side, (place, value) in ((self.left, left), (self.right, right)):
            record, which = np.nonzero(value)
            side.append((self.n_records + record, place[record, which], value[record, which]))
        self.n_records += len(left[0])

    def finish(self, position: Codes, columns: Codes) -> tuple[Codes, Codes, Codes, Array]:
        """Return row, column, entry and value, summed.

        Dense coordinates have their position; those that are eliminated -2 - coefficient.
        """
        record, key, value = (np.concatenate(part) for part in zip(*self.left, strict=True))
        keys, row = np.unique(key, return_inverse=True)
        left = sparse.csr_matrix((value, (row, record)), shape=(len(keys), self.n_records))
        record, place, value = (np.concatenate(part) for part in zip(*self.right, strict=True))
        right = sparse.csr_matrix((value, (record, place)), shape=(self.n_records, self.size))
        product = left @ right
        product.sort_indices()
        product = product.tocoo()
        entry, first = np.divmod(keys[product.row], self.size)
        n = self.n_coefficients
        places = np.concatenate([np.where(position >= 0, position, -2 - np.arange(n)), columns])
        return places[first], places[product.col], entry, product.data


@dataclass(frozen=True)
class _Draft:
    """A cluster before the dense coordinates have their order."""

    members: Codes  # units × size: coefficients
    ties: npt.NDArray[np.bool_]  # size × dense coordinates
    precision: tuple[Codes, Codes, Array]  # entry, units · size · size, value
    coupling: tuple[Codes, Codes, Codes, Array]  # entry, units · size, dense coordinate, value

    def cluster(self, rank: Codes, local: Codes, columns: Codes, n_entries: int) -> _Cluster:
        """Return the cluster, given the places of the dense coordinates."""
        n, k = self.members.shape
        back = np.argsort(rank)
        support = np.flatnonzero(self.ties[:, back].any(axis=0))
        column = _shared_columns(self.coupling, back[support], columns)
        m = int(column[-1]) + 1
        place = np.full(len(rank), -1)
        place[support] = column
        entry, at, tied, value = self.coupling
        # Of the coordinates that share a column the first counts.
        first = np.unique(column, return_index=True)[1]
        once = np.isin(rank[tied], support[first])
        coupling = sparse.csr_matrix(
            (value[once], (entry[once], at[once] * m + place[rank[tied[once]]])),
            shape=(n_entries, n * k * m),
        )
        entry, at, value = self.precision
        precision = sparse.csr_matrix((value, (entry, at)), shape=(n_entries, n * k * k))
        kinds, kind = np.unique(self.ties[:, back[support[first]]], axis=0, return_inverse=True)
        by_width = np.argsort(kinds.sum(axis=1), kind="stable")
        parts = [
            _Slots(np.flatnonzero(kind.ravel() == i), np.flatnonzero(kinds[i])) for i in by_width
        ]
        cuts = np.flatnonzero((np.diff(support) != 1) | (np.diff(column) != 1)) + 1
        runs = [
            (slice(s[0], s[-1] + 1), slice(c[0], c[-1] + 1))
            for s, c in zip(np.split(support, cuts), np.split(column, cuts), strict=True)
        ]
        return _Cluster(
            local[self.members], support, column, Linear(precision), Linear(coupling), parts, runs
        )


def _shared_columns(
    coupling: tuple[Codes, Codes, Codes, Array], coordinates: Codes, columns: Codes
) -> Codes:
    """Return the column of each coordinate: the same for those tied in the same way."""
    entry, at, tied, value = coupling
    order = np.lexsort([at, entry, tied])
    bounds = np.searchsorted(tied[order], [coordinates, coordinates + 1])
    # The last digits depend on the order in which something was added up.
    digits = (value / np.abs(value).max(initial=1e-300) * 1e12).round().astype(np.int64)
    ties = np.column_stack([entry, at, digits])[order]
    seen: dict[bytes | int, int] = {}
    last = set(columns.tolist())
    return np.array(
        [
            seen.setdefault(c if c in last else ties[start:stop].tobytes(), len(seen))
            for c, start, stop in zip(coordinates.tolist(), *bounds, strict=True)
        ]
    )


def _ordered(drafts: list[_Draft], columns: Codes) -> Codes:
    """Return the dense coordinates, those that the same slots are tied to side by side."""
    ties = np.concatenate([draft.ties for draft in drafts])
    key = np.asarray(np.unique(ties, axis=1, return_inverse=True)[1]).ravel().astype(np.int64)
    key[columns] = key.max() + 1 + np.arange(len(columns))
    return np.argsort(key, kind="stable")


def _drafts(
    coefficients: Codes,
    unit: Codes,
    rows: Codes,
    cols: Codes,
    entry: Codes,
    value: Array,
    d: int,
    columns: Codes,
) -> list[_Draft]:
    """Arrange the units that are eliminated by what they are tied to."""
    units = np.unique(unit[coefficients])
    number = np.full(int(units.max()) + 1, -1)
    number[units] = np.arange(len(units))
    tied = np.flatnonzero((rows <= -2) & (cols >= 0))
    tie = np.unique((-2 - rows[tied]) * (d + 1) + cols[tied])
    n_ties = np.bincount(tie // (d + 1), minlength=int(coefficients.max()) + 1)[coefficients]
    most = np.zeros(len(units), dtype=int)
    np.maximum.at(most, number[unit[coefficients]], n_ties)
    # Not sorted by the number itself: the slots of all units are to mean the same.
    widely = n_ties > _NARROW * most[number[unit[coefficients]]]
    order = np.lexsort([widely, unit[coefficients]])
    sizes = np.bincount(number[unit[coefficients]])
    members = np.split(coefficients[order], np.cumsum(sizes)[:-1])
    slot = np.full(int(coefficients.max()) + 1, -1)
    for unit_members in members:
        slot[unit_members] = np.arange(len(unit_members))
    of_unit = number[unit[-2 - rows[tied]]]
    ties = sparse.csr_matrix(
        (np.ones(len(tied), dtype=bool), (of_unit, cols[tied])), shape=(len(units), d + 1)
    ).toarray()
    ties[:, columns] = True
    within = np.flatnonzero((rows <= -2) & (cols <= -2))
    drafts = []
    for some in _joined(ties, sizes):
        k = int(sizes[some[0]])
        row_of = np.full(len(units), -1)
        row_of[some] = np.arange(len(some))
        here = tied[row_of[of_unit] >= 0]
        at = row_of[number[unit[-2 - rows[here]]]] * k + slot[-2 - rows[here]]
        coupling = (entry[here], at, cols[here], value[here])
        inside = within[row_of[number[unit[-2 - rows[within]]]] >= 0]
        at = row_of[number[unit[-2 - rows[inside]]]] * k + slot[-2 - rows[inside]]
        between = (entry[inside], at * k + slot[-2 - cols[inside]], value[inside])
        filled = _filled(
            between[1] % (k * k), coupling[1] % k, coupling[2], columns, k, d, len(some)
        )
        drafts.append(_Draft(np.array([members[u] for u in some]), filled, between, coupling))
    return drafts


def _joined(ties: npt.NDArray[np.bool_], sizes: Codes) -> list[Codes]:
    """Return which units to eliminate together: those tied to much the same coordinates.

    Ties are units × dense coordinates. Units that are put together are as wide as all their ties,
    which costs multiplications; those that are not cost calls.
    """
    kinds, kind = np.unique(np.column_stack([sizes[:, None], ties]), axis=0, return_inverse=True)
    kind, k = np.asarray(kind).ravel(), kinds[:, 0].astype(float)
    width = kinds[:, 1:].astype(np.float32)
    label = np.arange(len(kinds))
    if len(kinds) > _KINDS:
        # Too many to compare them all: first each with what was found before it.
        label = _similar(width, k)
    joined = np.unique(label)
    unions = np.stack([width[label == j].max(axis=0) for j in joined])
    k = k[joined]
    counts = np.bincount(np.searchsorted(joined, label[kind]), minlength=len(joined)).astype(float)
    place = np.searchsorted(joined, label)
    candidates = _Candidates(unions, counts, k)
    gain = candidates.gain(candidates)
    np.fill_diagonal(gain, -np.inf)
    while len(gain) > 1:
        first, second = np.unravel_index(int(gain.argmax()), gain.shape)
        if gain[first, second] <= 0:
            break
        candidates.join(int(first), int(second))
        place[place == second] = first
        row = candidates.only(int(first)).gain(candidates)[0]
        row[np.isneginf(gain[first])] = -np.inf
        gain[first], gain[:, first] = row, row
        gain[second], gain[:, second], gain[first, first] = -np.inf, -np.inf, -np.inf
    return [np.flatnonzero(place[kind] == j) for j in np.unique(place)]


@dataclass(frozen=True)
class _Candidates:
    """Clusters that may be put together: one row of each array per cluster."""

    unions: Array  # clusters × dense coordinates: one where a unit is tied to it
    counts: Array  # units
    size: Array  # coordinates of a unit

    @property
    def width(self) -> Array:
        """How many dense coordinates each cluster is tied to."""
        return np.asarray(self.unions.sum(axis=1))

    def only(self, place: int) -> _Candidates:
        """Return one of the clusters."""
        one = slice(place, place + 1)
        return _Candidates(self.unions[one], self.counts[one], self.size[one])

    def join(self, first: int, second: int) -> None:
        """Put the second cluster into the first; its own row is left as it is."""
        self.unions[first] = np.maximum(self.unions[first], self.unions[second])
        self.counts[first] += self.counts[second]

    def gain(self, others: _Candidates) -> Array:
        """Return what it saves to put each of these together with each of the others."""
        width, other_width = self.width, others.width
        together = width[:, None] + other_width - self.unions @ others.unions.T
        apart = (self.counts * width**2)[:, None] + others.counts * other_width**2
        units = self.counts[:, None] + others.counts
        more = others.size * (units * together**2 - apart)
        return np.where(self.size[:, None] == others.size, _CALLS - more, -np.inf)


def _similar(width: Array, k: Array) -> Codes:
    """Return for each row of ties one that it is much like."""
    label = np.arange(len(width))
    unions: list[tuple[int, Array]] = []
    for row in range(len(width)):
        for place, (first, union) in enumerate(unions):
            both = float(union @ width[row])
            new = float(width[row].sum()) - both
            if k[first] == k[row] and 8 * new <= both and 4 * (union.sum() - both) <= both:
                unions[place] = (first, np.maximum(union, width[row]))
                label[row] = first
                break
        else:
            unions.append((row, width[row]))
    return label


def _filled(
    linked_cells: Codes, slots: Codes, tied: Codes, columns: Codes, k: int, d: int, n: int
) -> npt.NDArray[np.bool_]:
    """Return what each slot is tied to when those before it are eliminated."""
    linked = np.zeros((k, k), dtype=bool)
    linked.ravel()[linked_cells] = True
    ties = np.zeros((k, d + 1), dtype=bool)
    ties[slots, tied] = True
    ties[:, columns] = True
    for slot in range(k):
        later = slot + 1 + np.flatnonzero(linked[slot + 1 :, slot])
        ties[later] |= ties[slot]
        linked[np.ix_(later, later)] = True
    # A few more zeros cost less than one more product. The last slot is tied to everything, or
    # counts as if it were.
    union = ties.any(axis=0)
    m = union.sum()
    wide = (ties.sum(axis=1) > _NARROW * m) | (n * m**2 < _CALLS / 4)
    wide[-1] = True
    ties[wide] = union
    return ties


def _deviations(
    pattern: Pattern,
    local: Codes,
    columns: Codes,
    keep: npt.NDArray[np.bool_],
    entry_of: Codes,
    n_entries: int,
    first_side: bool,
) -> _Deviations:
    linear = pattern.linear[:, :, keep]
    slot = np.arange(len(linear))[:, None] * pattern.ids.shape[1] + pattern.pair_slot
    ties = _ties(pattern, linear, slot, entry_of, n_entries, pattern.ids.size)
    return _Deviations(local[pattern.ids], columns, Linear(ties), first_side)


def _patterns(
    patterns: list[Pattern],
    which: list[int],
    columns: Codes,
    keep: npt.NDArray[np.bool_],
    entry_of: Codes,
    n_entries: int,
) -> _Patterns:
    """Put the patterns with units of one size together."""
    k, v = patterns[0].ids.shape[1], len(columns)
    reduced = []
    for pattern in patterns:
        n, pairs = pattern.linear.shape[:2]
        flat = pattern.linear[:, :, keep].reshape(n, pairs * v)
        if n > pairs * v:
            flat = np.asarray(np.linalg.qr(flat, mode="r"))
        reduced.append(flat.reshape(len(flat), pairs, v))
    n_rows = max(len(rows) for rows in reduced)
    precisions, ties = [], []
    for pattern, rows in zip(patterns, reduced, strict=True):
        picked = pattern.precision.tocoo()
        precisions.append(
            sparse.csr_matrix(
                (picked.data, (entry_of[picked.row], picked.col)), shape=(n_entries, k * k)
            )
        )
        slot = pattern.pair_slot * n_rows + np.arange(len(rows))[:, None]
        ties.append(_ties(pattern, rows, slot, entry_of, n_entries, k * n_rows))
    return _Patterns(
        which=np.array(which),
        free=np.array([len(pattern.ids) - 1.0 for pattern in patterns]),
        size=k,
        columns=columns,
        precision=Linear(sparse.csr_matrix(sparse.hstack(precisions))),
        rows=Linear(sparse.csr_matrix(sparse.hstack(ties))),
    )


def _ties(
    pattern: Pattern, values: Array, slot: Codes, entry_of: Codes, n_entries: int, n_slots: int
) -> sparse.csr_matrix:
    """Return the map from the entries to what the columns add to each slot.

    Values are rows × pairs × columns; the slot is that of each row and pair.
    """
    v = values.shape[2]
    at = slot[:, :, None] * v + np.arange(v)
    entry = np.broadcast_to(entry_of[pattern.pair_entry][None, :, None], values.shape)
    return sparse.csr_matrix(
        (values.ravel(), (entry.ravel(), at.ravel())), shape=(n_entries, n_slots * v)
    )
