"""The log density of each row of a table at each draw of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from bayesbias._core.array_types import Array, Codes
from bayesbias.models.model_data import ModelData
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    from bayesbias.models.fitted_model import Fit

# Numbers in a temporary array: few enough to stay in the processor's cache.
_BUDGET = 200_000
# Fewer rows than this, and putting them together saves less than it costs.
_FEW = 8


@dataclass(frozen=True)
class RowDensity:
    """The log density of each row at each draw."""

    spec: ModelSpec
    data: ModelData
    # Values × draws of a term, the value of each row, and what it is multiplied by.
    means: list[tuple[Array, Codes, Array | None]]
    scale: tuple[Array, Codes]
    nu: Array | None

    @classmethod
    def of_fit(cls, fit: Fit, which: Codes | None = None) -> RowDensity:
        """Take all draws of a fit, or those of the given places."""

        def chosen(name: str) -> Array:
            draws = fit.draws(name)
            return draws if which is None else draws[which]

        def term(name: str) -> tuple[Array, Codes]:
            draws = chosen(name)
            by_value = np.ascontiguousarray(draws.reshape(len(draws), -1).T)
            return by_value, fit.data.index(fit.spec[name].by)

        nu = chosen("nu") if fit.spec.likelihood == "student_t" else None
        means = [(*term(name), fit.data.times(fit.spec, name)) for name in fit.spec.mean]
        return cls(fit.spec, fit.data, means, term(fit.spec.scale), nu)

    def mean(self, rows: Codes) -> Array:
        """Return rows × draws."""
        n_draws = self.means[0][0].shape[1]
        total = np.empty((len(rows), n_draws))
        shared = np.zeros(n_draws)  # of terms that are the same in all rows
        scratch: Array | None = None
        filled = False
        for values, index, times in self.means:
            value, factor = index[rows], None if times is None else times[rows]
            if (value == value[0]).all() and (factor is None or (factor == factor[0]).all()):
                if factor is None:
                    shared += values[value[0]]
                elif factor[0]:
                    shared += values[value[0]] * factor[0]
                continue
            if filled and scratch is None:
                scratch = np.empty_like(total)
            part = total if scratch is None else scratch
            np.take(values, value, axis=0, out=part, mode="clip")  # the other modes copy
            if factor is not None:
                part *= factor[:, None]
            if filled:
                total += part
            filled = True
        if filled:
            total += shared
        else:
            total[:] = shared
        return total

    def variance(self, rows: Codes) -> Array:
        """Return rows × draws, or one row for all: the squared scale of the likelihood."""
        values, index = self.scale
        scale_index = index[rows]
        if self.data.error is None and (scale_index == scale_index[0]).all():
            scale_index = scale_index[:1]
        squared: Array = np.take(values, scale_index, axis=0) ** 2
        if self.data.error is not None:
            squared += self.data.error[rows, None] ** 2
        return squared

    def log_density(self, rows: Codes) -> Array:
        """Return rows × draws."""
        return self.at(self.data.y[rows, None], self.mean(rows), self.variance(rows))

    def at(self, y: Array, mean: Array, variance: Array) -> Array:
        """Return the log density of outcomes; overwrites the means."""
        squares = mean
        np.subtract(y, mean, out=squares)
        np.square(squares, out=squares)
        if self.nu is None:
            squares *= -0.5 / variance
            squares -= 0.5 * np.log(2 * np.pi * variance)
            return squares
        nu = self.nu
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
        squares /= variance * nu
        np.log1p(squares, out=squares)
        squares *= -(nu + 1) / 2
        squares += constant - 0.5 * np.log(variance)
        return squares

    def parts(self, rows: Codes) -> Iterator[Codes]:
        """Return the rows in parts that fit in the cache, each of one residual scale.

        Rows that share a value of a term come together, so that it is looked up once.
        """
        if not len(rows):
            return
        step = max(1, _BUDGET // self.means[0][0].shape[1])
        scale = self.scale[1][rows]
        # Of the terms with several rows for each value, that with most values.
        shared = [
            (last, index)
            for last, (values, index, _) in zip(self._last, self.means, strict=True)
            if len(rows) >= _FEW * len(values)
        ]
        leading = max(shared, key=itemgetter(0))[1][rows] if shared else scale
        order = np.lexsort((leading, scale))
        new = (np.diff(scale[order]) != 0) | (np.diff(leading[order]) != 0)
        for group in np.split(rows[order], np.flatnonzero(new) + 1):
            for start in range(0, len(group), step):
                yield group[start : start + step]

    @cached_property
    def _last(self) -> list[int]:
        """The last value of each term that occurs: a look at all rows, once for all parts."""
        return [int(index.max()) for _, index, _ in self.means]

    def large_cells(self, fewest: int) -> Iterator[Codes]:
        """Yield the rows that share mean and scale, where there are at least so many."""
        codes = [index for _, index, _ in self.means] + [self.scale[1]]
        for _, _, times in self.means:
            if times is not None:
                codes.append(np.unique(times, return_inverse=True)[1])
        if self.data.error is not None:
            codes.append(np.unique(self.data.error, return_inverse=True)[1])
        key = np.zeros(len(self.data.y), dtype=np.int64)
        for code in codes:
            key = key * (int(code.max()) + 1) + code
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        ends = np.append(starts[1:], len(order))
        # A long table may have as many cells as rows.
        large = ends - starts >= fewest
        for start, end in zip(starts[large], ends[large], strict=True):
            yield order[start:end]
