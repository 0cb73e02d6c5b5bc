"""From a model and its rows to independent blocks of a Gaussian system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from bayesbias._core.array_types import Array, Codes
from bayesbias.errors import DataError, EngineError
from bayesbias.models.exact.factor_sums import Pattern, Records, Scatter, collapse, merge
from bayesbias.models.exact.gaussian_block import FLOOR, Block, BlockSums
from bayesbias.models.exact.precisions import ClassGroup
from bayesbias.models.model_data import ModelData
from bayesbias.models.priors import Prior
from bayesbias.models.spec import ATTRIBUTE_KIND, ModelSpec, Parameter

_WORDS = ("word_to_compare", "protected_word")


@dataclass(frozen=True)
class Layout:
    """Where each parameter's values lie among all coefficients, and among all unknowns.

    The unknowns are the scales, on the log scale.
    """

    coefficients: dict[str, slice]
    scales: dict[str, slice]
    n_coefficients: int
    n_scales: int
    priors: list[Prior]  # of each unknown


@dataclass(frozen=True)
class Compiled:
    """A model and its rows, summed and split into independent blocks."""

    layout: Layout
    blocks: list[Block]
    centre: float  # taken from the outcomes
    rows: Design
    residuals: Residuals


@dataclass(frozen=True)
class Residuals:
    """The covariance of the rows' residuals."""

    scale: Codes  # the unknown of each row
    variance: Array  # known
    cell: Codes  # rows of the same one have a part in common
    common: Codes  # the unknown of the common part; -1 for none
    label: Codes  # the same for rows with the same distribution

    def covariance(self, at: Array, rows: Codes) -> Array:
        """Return draws × rows × rows."""
        squared = np.concatenate([np.exp(2 * at), np.zeros((len(at), 1))], axis=1)
        same = self.cell[rows][:, None] == self.cell[rows]
        result: Array = squared[:, self.common[rows], None] * same
        diagonal = np.arange(len(rows))
        result[:, diagonal, diagonal] += squared[:, self.scale[rows]] + self.variance[rows]
        return result


@dataclass(frozen=True)
class Design:
    """What the expected outcome of each row is the sum of."""

    terms: list[Codes]  # for each summand, the coefficient of each row; -1 for none
    times: list[int]  # how often it counts
    values: list[Array | None]  # what a slope is multiplied by

    def matrix(self, rows: Codes, n_coefficients: int) -> sparse.csr_matrix:
        """Return rows × coefficients."""
        n = len(rows)
        data, places, columns = [], [], []
        for term, times, value in zip(self.terms, self.times, self.values, strict=True):
            has = np.flatnonzero(term[rows] >= 0)
            places.append(has)
            columns.append(term[rows[has]])
            data.append(np.full(len(has), float(times)) if value is None else times * value[rows])
        at = (np.concatenate(places), np.concatenate(columns))
        return sparse.csr_matrix((np.concatenate(data), at), shape=(n, n_coefficients))


def layout(spec: ModelSpec, data: ModelData) -> Layout:
    """Lay the parameters of a model out, or say why the model is not of this kind."""
    check_exact(spec)
    places: dict[bool, dict[str, slice]] = {True: {}, False: {}}
    end = {True: 0, False: 0}
    priors: list[Prior] = []
    for p in spec.parameters:
        scale = p.prior.is_positive
        size = int(np.prod(data.shape(p.by), dtype=int))
        places[scale][p.name] = slice(end[scale], end[scale] + size)
        end[scale] += size
        if scale:
            priors += [p.prior] * size
    return Layout(places[False], places[True], end[False], end[True], priors)


def check_exact(spec: ModelSpec) -> None:
    """Refuse a model that the exact engine cannot fit."""
    reason = exact_supports(spec)
    if reason is not None:
        raise EngineError(
            f"the exact engine cannot fit model {spec.name!r}: {reason}; use engine='auto' or "
            "engine='nuts'."
        )


def exact_supports(spec: ModelSpec) -> str | None:
    """Return why the exact engine cannot fit a model; None if it can.

    Parameters
    ----------
    spec : ModelSpec
        The model.

    Returns
    -------
    str or None
        The reason, as the end of a sentence.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from bayesbias.models.exact.compiled_model import exact_supports
    >>> exact_supports(bb.load_model("crossed"))
    >>> exact_supports(bb.load_model("crossed").vary(likelihood="student_t"))
    "its likelihood is 'student_t', not 'normal'"
    """
    if spec.likelihood != "normal":
        return f"its likelihood is {spec.likelihood!r}, not 'normal'"
    return None


def parent_index(spec: ModelSpec, data: ModelData, child: str, parent: str) -> Codes:
    """Return the place of the parent's value, in the flattened parent, for each of the child's.

    A factor of the parent that the child lacks must follow from those it has: the kind of a list
    from the attribute word, say. The rows tell.
    """
    by, of = spec[child].by, spec[parent].by
    size = int(np.prod(data.shape(by), dtype=int))
    if not of:
        return np.zeros(size, dtype=np.intp)
    grid = np.indices(data.shape(by)).reshape(len(by), -1)
    codes = tuple(
        grid[by.index(name)] if name in by else _nested(spec, data, child, name) for name in of
    )
    result: Codes = np.ravel_multi_index(codes, data.shape(of))
    return result


def _nested(spec: ModelSpec, data: ModelData, child: str, factor: str) -> Codes:
    """Return the level of a factor for each value of a parameter that does not have it."""
    by, only = spec[child].by, spec[child].only
    size = int(np.prod(data.shape(by), dtype=int))
    if factor == ATTRIBUTE_KIND and only is not None:
        # It is part of the rows of one kind of attribute.
        kinds = data.levels[factor]
        return np.full(size, kinds.index(only) if only in kinds else 0)
    index = data.index(by)
    grid = np.unravel_index(np.arange(size), data.shape(by)) if by else ()
    level = np.zeros(size, dtype=np.intp)
    # A place without rows has the level of the other rows of its attribute word, say, or of its
    # list and group in another embedding, where these agree. What tells for all of its levels goes
    # before what tells for some, because the rest of the rows are missing; then one factor goes
    # before two, and the first before the second.
    told = []
    for number in range(1, len(by)):
        for some in combinations(range(len(by)), number):
            known = tuple(by[i] for i in some)
            shape = data.shape(known)
            place = np.ravel_multi_index([grid[i] for i in some], shape)
            n = int(np.prod(shape, dtype=int))
            low, high = np.full(n, len(data.levels[factor])), np.full(n, -1)
            np.minimum.at(low, data.index(known), data.codes[factor])
            np.maximum.at(high, data.index(known), data.codes[factor])
            told.append((bool((low >= high).all()), (low == high)[place], low[place]))
    told.sort(key=lambda one: one[0], reverse=True)
    for _, tells, value in reversed(told):
        level = np.where(tells, value, level)
    level[index] = data.codes[factor]
    differs = np.flatnonzero(level[index] != data.codes[factor])
    if differs.size:
        at = np.unravel_index(index[differs[0]], data.shape(by)) if by else ()
        names = [data.levels[f][i] for f, i in zip(by, at, strict=True)]
        raise DataError(
            f"model {spec.name!r}: the prior of {child!r} differs by {factor!r}, and "
            f"{child}[{', '.join(names)}] has rows with more than one level of it; add {factor!r} "
            f"to 'by' of {child!r}."
        )
    return level


def summands(spec: ModelSpec) -> Counter[str]:
    """Return the coefficients whose sum is the mean of a row, and how often each is in it.

    A coefficient that is pooled towards others stands for its deviation from them here.
    """
    occurrences: Counter[str] = Counter()

    def visit(name: str) -> None:
        occurrences[name] += 1
        for parent in spec[name].prior.mean:
            visit(parent)

    for name in spec.mean:
        visit(name)
    return occurrences


def compile_model(spec: ModelSpec, data: ModelData) -> Compiled:
    """Sum the rows and split the model into independent blocks."""
    where = layout(spec, data)
    # Sums of squares about a far-away zero would lose the digits that matter. What is taken from
    # the outcomes is taken from the prior mean of a coefficient that is in every row.
    centre = float(data.y.mean()) if len(data.y) else 0.0
    y = data.y - centre
    parts = summands(spec)
    everywhere = set(parts) - set(spec.slopes) - {n for n in parts if spec[n].only}
    root = next(name for name in parts if not spec[name].prior.mean and name in everywhere)
    shift = np.zeros(where.n_coefficients)
    shift[where.coefficients[root]] = centre / parts[root]
    slopes = _slope_columns(spec, where)
    n_columns = len(slopes) + 1

    terms, values = [], []
    for name in parts:
        term = where.coefficients[name].start + data.index(spec[name].by)
        value = data.times(spec, name)
        if value is not None and name not in spec.slopes:
            term, value = np.where(value > 0, term, -1), None
        # A long table has millions of each.
        terms.append(term.astype(np.int32))
        values.append(value)
    design = Design(terms, list(parts.values()), values)
    columns = np.zeros((len(y), n_columns))
    columns[:, -1] = y
    for term, times, value in zip(design.terms, design.times, design.values, strict=True):
        if value is not None:
            place = np.searchsorted(slopes, term)
            np.add.at(columns, (np.arange(len(y)), place), times * value)
    plain = [i for i, value in enumerate(values) if value is None]

    groups, records = _number_classes(
        [
            *_data_records(spec, data, where, design, plain, columns),
            *_prior_records(spec, data, where, slopes, shift, n_columns),
        ]
    )
    n_entries = sum(len(g) * g.width**2 for g in groups.values())
    counts = _class_counts(groups, records)
    scatter = Scatter(n_entries, n_columns)
    records = [collapse(r, scatter) for r in records]
    patterns: list[list[Pattern]] = []
    sides = _sides(spec, data, where)
    for unit, slot in sides:
        records, merged = merge(records, unit, slot, scatter)
        patterns.append(merged)
    floor = np.log(y.std() if np.ptp(y) else 1.0) - FLOOR
    blocks = list(
        _split(
            groups, counts, records, scatter, patterns, sides, where, slopes, shift, float(floor)
        )
    )
    return Compiled(where, blocks, centre, design, _residuals(spec, data, where))


def _residuals(spec: ModelSpec, data: ModelData, where: Layout) -> Residuals:
    n = len(data.y)
    scale = where.scales[spec.scale].start + data.index(spec[spec.scale].by)
    variance = np.zeros(n) if data.error is None else data.error**2
    cell, common = np.arange(n), _common_of_rows(spec, data, where)
    member = np.zeros(n, dtype=np.intp)
    if spec.common is not None:
        over = spec.over(spec.common)
        member = data.codes[over]
        end = 0
        for rows in together(data, over):
            cell[rows] = end + np.arange(len(rows))[:, None]
            end += len(rows)
    label = scale
    for code in (common + 1, member, np.unique(variance, return_inverse=True)[1]):
        label = label * (int(code.max(initial=0)) + 1) + code
    return Residuals(scale, variance, cell, common, label)


def _common_of_rows(spec: ModelSpec, data: ModelData, where: Layout) -> Codes:
    """Return the unknown of what each row has in common with others; -1 for none."""
    if spec.common is None:
        return np.full(len(data.y), -1)
    start: int = where.scales[spec.common].start
    return start + data.index(spec[spec.common].by)


def _slope_columns(spec: ModelSpec, where: Layout) -> Codes:
    """Return the coefficients that are slopes, in order."""
    places = [where.coefficients[name] for name in where.coefficients if name in spec.slopes]
    return np.concatenate([np.arange(p.start, p.stop) for p in places] or [np.zeros(0, int)])


@dataclass
class _Draft:
    """Records whose classes have no number yet."""

    scale: Codes  # records × width
    variance: Array
    common: Codes
    terms: Codes
    times: Array
    columns: Array


def _number_classes(drafts: list[_Draft]) -> tuple[dict[int, ClassGroup], list[Records]]:
    """Give the classes of records numbers, and the entries of their precision matrices."""
    groups: dict[int, ClassGroup] = {}
    records: list[Records] = []
    first_class, first_entry = 0, 0
    for width in sorted({d.scale.shape[1] for d in drafts}):
        some = [d for d in drafts if d.scale.shape[1] == width]
        scale = np.concatenate([d.scale for d in some])
        variance = np.concatenate([d.variance for d in some])
        common = np.concatenate([d.common for d in some])
        if width == 1 and not (variance[scale[:, 0] >= 0]).any() and (common < 0).all():
            # Without known errors the scale says it all, and a fixed prior its variance.
            _, kind = np.unique(variance[:, 0], return_inverse=True)
            key = (scale[:, 0] + 1) * (kind.max() + 1) + kind
            _, first, number = np.unique(key, return_index=True, return_inverse=True)
        else:
            rows = np.column_stack([scale, variance, common])
            _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        number = number.ravel()
        groups[width] = ClassGroup(scale[first], variance[first], common[first])
        start = 0
        square = np.arange(width * width).reshape(width, width)
        for d in some:
            numbers = number[start : start + len(d.scale)]
            start += len(d.scale)
            records.append(
                Records(
                    first_class + numbers,
                    first_entry + numbers[:, None, None] * width**2 + square,
                    d.terms,
                    d.times,
                    d.columns,
                    np.ones(len(numbers)),
                )
            )
        first_class += len(first)
        first_entry += len(first) * width**2
    return groups, records


def _class_counts(groups: dict[int, ClassGroup], records: list[Records]) -> Array:
    n = sum(len(g) for g in groups.values())
    total = np.zeros(n)
    for r in records:
        total += np.bincount(r.class_, minlength=n)
    return total


def _data_records(
    spec: ModelSpec,
    data: ModelData,
    where: Layout,
    design: Design,
    plain: list[int],
    columns: Array,
) -> Iterator[_Draft]:
    """Return the rows: each by itself, or those together that have a part in common."""
    scale = where.scales[spec.scale].start + data.index(spec[spec.scale].by)
    variance = np.zeros(len(data.y)) if data.error is None else data.error**2
    terms = np.column_stack([design.terms[i] for i in plain])
    times = np.array([design.times[i] for i in plain], dtype=float)
    common = _common_of_rows(spec, data, where)
    cells = [np.arange(len(scale))[:, None]]
    if spec.common is not None:
        cells = together(data, spec.over(spec.common))
    for rows in cells:
        of_cell = common[rows[:, 0]]
        yield _Draft(scale[rows], variance[rows], of_cell, terms[rows], times, columns[rows])


def together(data: ModelData, over: str) -> list[Codes]:
    """Return the rows that differ only in a factor, one array for each number of them.

    Rows that are there several times are matched by their order.
    """
    others = [code for name, code in sorted(data.codes.items()) if name != over]
    if data.pair is not None:
        others.append(data.pair)
    key = np.zeros(len(data.y), dtype=np.int64)
    for code in others:
        key = np.unique(key * (int(code.max(initial=0)) + 1) + code, return_inverse=True)[1]
    member = data.codes[over]
    pair = key * len(data.levels[over]) + member
    order = np.argsort(pair, kind="stable")
    place = np.arange(len(order))
    starts = np.where(np.diff(pair[order], prepend=-1) != 0, place, 0)
    again = np.empty(len(order), dtype=np.int64)
    again[order] = place - np.maximum.accumulate(starts)
    cell = np.unique(key * (int(again.max(initial=0)) + 1) + again, return_inverse=True)[1]
    order = np.lexsort((member, cell))
    count = np.bincount(cell)
    ends = np.cumsum(count)
    result = []
    for n in np.unique(count).tolist():
        which = np.flatnonzero(count == n)
        result.append(order[(ends[which] - n)[:, None] + np.arange(n)])
    return result


def _prior_records(
    spec: ModelSpec,
    data: ModelData,
    where: Layout,
    slopes: Codes,
    shift: Array,
    n_columns: int,
) -> Iterator[_Draft]:
    """Return the prior of each coefficient, or of those together that have a part in common."""
    for p in spec.parameters:
        if p.prior.is_positive:
            continue
        place = where.coefficients[p.name]
        coefficients = np.arange(place.start, place.stop)
        if p.prior.sd is None:
            scale = np.full(len(coefficients), -1)
            variance = np.full(len(coefficients), p.prior.arguments[1] ** 2)
        else:
            scale = where.scales[p.prior.sd].start + parent_index(spec, data, p.name, p.prior.sd)
            variance = np.zeros(len(coefficients))
        columns = np.zeros((len(coefficients), n_columns))
        columns[:, -1] = p.prior.arguments[0] - shift[coefficients]
        terms = coefficients
        if p.name in spec.slopes:
            columns[np.arange(len(coefficients)), np.searchsorted(slopes, coefficients)] = 1
            terms = np.full(len(coefficients), -1)
        cells, common = np.arange(len(coefficients))[:, None], np.full(len(coefficients), -1)
        if p.common is not None:
            cells = cells_of_parameter(spec, data, p)
            common = where.scales[p.common].start + parent_index(spec, data, p.name, p.common)
        of_cell = common[cells[:, 0]]
        yield _Draft(
            scale[cells],
            variance[cells],
            of_cell,
            terms[cells][:, :, None],
            np.ones(1),
            columns[cells],
        )


def cells_of_parameter(spec: ModelSpec, data: ModelData, parameter: Parameter) -> Codes:
    """Return the places of values that have a part in common, one row for each such part."""
    over = spec.over(str(parameter.common))
    grid = np.arange(int(np.prod(data.shape(parameter.by)))).reshape(data.shape(parameter.by))
    return np.moveaxis(grid, parameter.by.index(over), -1).reshape(-1, len(data.levels[over]))


def _sides(spec: ModelSpec, data: ModelData, where: Layout) -> list[tuple[Codes, Codes]]:
    """Return the units of each coefficient, first for the factor with the most levels."""
    tied = {p.over for p in spec.parameters if p.over}
    sides = []
    rest = [spec[name] for name in where.coefficients if name not in spec.slopes and spec[name].by]
    for _ in range(2):
        factors = [f for f in spec.factors if f not in tied and any(f in p.by for p in rest)]
        if not factors:
            break
        # Of two with as many levels rather the words: their coefficients are more often identical.
        factor = max(factors, key=lambda f: (len(data.levels[f]), f in _WORDS))
        rest = [p for p in rest if factor not in p.by]
        unit, slot = np.full(where.n_coefficients, -1), np.full(where.n_coefficients, -1)
        end = 0
        for name, place in where.coefficients.items():
            by = spec[name].by
            if factor not in by or name in spec.slopes:
                continue
            shape = data.shape(by)
            grid = np.indices(shape)
            axis = by.index(factor)
            unit[place] = grid[axis].ravel()
            others = [grid[i] for i in range(len(by)) if i != axis]
            sizes = [n for i, n in enumerate(shape) if i != axis]
            code = np.zeros(shape, dtype=np.intp)
            for values, n in zip(others, sizes, strict=True):
                code = code * n + values
            slot[place] = end + code.ravel()
            end += int(np.prod(sizes, dtype=int))
        sides.append((unit, slot))
    return sides


def _split(
    groups: dict[int, ClassGroup],
    counts: Array,
    records: list[Records],
    scatter: Scatter,
    patterns: list[list[Pattern]],
    sides: list[tuple[Codes, Codes]],
    where: Layout,
    slopes: Codes,
    shift: Array,
    floor: float,
) -> Iterator[Block]:
    """Split the model into parts that share neither a coefficient nor an unknown."""
    n, k = where.n_coefficients, where.n_scales
    unknowns = _unknowns_of_classes(groups)
    edges: list[tuple[Codes, Codes]] = []
    for r in records:
        flat = r.terms.reshape(len(r), -1)
        used = np.asarray(r.columns[:, :, :-1].any(axis=1))
        first = flat.max(axis=1, initial=-1)
        alone = first < 0
        if used.shape[1]:
            first = np.where(alone, slopes[used.argmax(axis=1)], first)
        for column in flat.T:
            edges.append((first[column >= 0], column[column >= 0]))
        for j, slope in enumerate(slopes):
            edges.append((first[used[:, j]], np.full(int(used[:, j].sum()), slope)))
        for column in unknowns[r.class_].T:
            edges.append((first[column >= 0], n + column[column >= 0]))
    a, b = (np.concatenate(side) for side in zip(*edges, strict=True))
    links = sparse.coo_matrix((np.ones(len(a)), (a, b)), shape=(n + k, n + k))
    _, block = csgraph.connected_components(links, directed=False)
    # The deviations of merged units belong to the block of the unit that stands for them.
    merged = np.zeros(n, dtype=bool)
    split: list[list[Pattern]] = []
    # What was merged last stands for what was merged before it.
    for some in reversed(patterns):
        split.insert(0, [])
        for pattern in some:
            merged[pattern.ids[1:]] = True
            block[pattern.ids] = block[pattern.ids[0]]
            for number in np.unique(block[pattern.ids[0]]):
                split[0].append(pattern.take(np.flatnonzero(block[pattern.ids[0]] == number)))
    for number in np.unique(block[:n][~merged]).tolist():
        coefficients = np.flatnonzero(block[:n] == number)
        scales = np.flatnonzero(block[n:] == number)
        block_records: list[Records] = []
        for r in records:
            flat = r.terms.reshape(len(r), -1).max(axis=1, initial=-1)
            if len(slopes):
                used = np.asarray(r.columns[:, :, :-1].any(axis=1))
                flat = np.where(flat < 0, slopes[used.argmax(axis=1)], flat)
            block_records.append(r.take(block[flat] == number))
        block_patterns = [[p for p in side if block[p.ids[0, 0]] == number] for side in split]
        sums = BlockSums(
            groups=groups,
            counts=counts,
            records=block_records,
            scatter=scatter,
            patterns=block_patterns,
            units=[unit for unit, _ in sides],
            coefficients=coefficients,
            scales=scales,
            slopes=slopes[block[slopes] == number],
            all_slopes=slopes,
            shift=shift[coefficients],
            floor=floor,
            priors=[where.priors[s] for s in scales],
            n_scales=k,
        )
        yield Block.build(sums)


def _unknowns_of_classes(groups: dict[int, ClassGroup]) -> Codes:
    """Return classes × the unknowns each depends on; -1 fills up."""
    widest = max(g.unknowns.shape[1] for g in groups.values())
    parts = []
    for _, g in sorted(groups.items()):
        full = np.full((len(g), widest), -1)
        full[:, : g.unknowns.shape[1]] = g.unknowns
        parts.append(full)
    return np.concatenate(parts)
