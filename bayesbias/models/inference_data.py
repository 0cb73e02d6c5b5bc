"""A fit in the groups that ArviZ knows; large arrays are computed when they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.arviz_versions import native
from bayesbias._core.blocks import blocks
from bayesbias.models.model_data import dataset
from bayesbias.models.nuts.log_posterior import LogPosterior, is_written_out
from bayesbias.models.prior_draws import (
    outcome_draws,
    outcome_from_priors,
    parameters_from_priors,
)
from bayesbias.models.row_density import RowDensity
from bayesbias.models.spec import OUTCOME

if TYPE_CHECKING:
    from bayesbias.models.fitted_model import Fit

#: Draws from the priors.
PRIOR_DRAWS = 2000
# Tables that are predicted from one random stream, so that a part is the same as in the whole.
_TABLES = 64
_ROW_LABELS = ("protected_word", "word_to_compare", "connection")

#: Takes the places along each dimension, returns the values at all combinations of them.
Compute = Callable[[tuple[Codes, ...]], Array]


class _ComputedArray(BackendArray):
    """An array that is computed where it is read, as xarray reads files."""

    def __init__(self, shape: tuple[int, ...], compute: Compute) -> None:
        self.shape, self.dtype = shape, np.dtype(np.float64)
        self._compute = compute

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        outer = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, outer, self._read)

    def _read(self, key: tuple[Any, ...]) -> Array:
        ranges = [np.arange(size)[part] for size, part in zip(self.shape, key, strict=True)]
        values = self._compute(tuple(np.atleast_1d(places) for places in ranges))
        # A single place takes its dimension away.
        return values[tuple(slice(None) if places.ndim else 0 for places in ranges)]


@dataclass(frozen=True, eq=False)
class FitGroups:
    """The groups of a fit.

    Attributes
    ----------
    fit : Fit
        The fit.
    """

    fit: Fit

    def container(self) -> Any:
        """Return all groups in the container of the installed ArviZ."""
        groups = {
            "posterior": self.fit.posterior,
            "sample_stats": self.sample_stats(),
            "posterior_predictive": self._by_row(self._predicted),
            "prior": self.prior(),
            "prior_predictive": self._by_row(self._prior_predicted, chains=1, draws=PRIOR_DRAWS),
            "observed_data": self.observed(),
        }
        if not self.fit.spec.common:
            groups["log_likelihood"] = self._by_row(self._log_likelihood)
        return native(groups)

    def observed(self) -> xr.Dataset:
        """Return the outcome of each row, and the words it is of."""
        outcome = {OUTCOME: ("row", self.fit.data.y)}
        return xr.Dataset(outcome, coords=self._row_coords)

    def sample_stats(self) -> xr.Dataset:
        """Return what the sampler recorded; of independent draws, their log density."""
        if self.fit.sample_stats.data_vars:
            return self.fit.sample_stats
        posterior, dims = self.fit.posterior, ("chain", "draw")
        stats = xr.Dataset(
            {"diverging": (dims, np.zeros(self._shape, dtype=bool))},
            coords={name: posterior[name] for name in dims},
        )
        if is_written_out(self.fit.spec):
            stats["lp"] = _variable(dims, self._shape, self._log_posterior)
        return stats

    def prior(self) -> xr.Dataset:
        """Return draws of the parameters from their priors, made when one of them is read."""
        posterior = self.fit.posterior.isel(chain=[0])
        sizes = {**posterior.sizes, "draw": PRIOR_DRAWS}
        variables = {}
        for name, values in posterior.data_vars.items():
            shape = tuple(sizes[dim] for dim in values.dims)
            variables[name] = _variable(
                values.dims, shape, partial(self._prior_parameter, str(name))
            )
        coords = posterior.drop_dims("draw").coords
        return xr.Dataset(variables, coords={**coords, "draw": np.arange(PRIOR_DRAWS)})

    @property
    def _seed(self) -> int:
        return int(self.fit.provenance.get("seed", 0))

    @property
    def _shape(self) -> tuple[int, int]:
        sizes = self.fit.posterior.sizes
        return sizes["chain"], sizes["draw"]

    @cached_property
    def _row_coords(self) -> dict[str, Any]:
        table = self.fit.table
        labels = {name: ("row", table[name].astype("str").to_numpy(str)) for name in _ROW_LABELS}
        return {"row": np.arange(len(table)), **labels}

    def _by_row(
        self, compute: Compute, *, chains: int | None = None, draws: int | None = None
    ) -> xr.Dataset:
        n_chains, n_draws = chains or self._shape[0], draws or self._shape[1]
        shape = (n_chains, n_draws, len(self.fit.data.y))
        return xr.Dataset(
            {OUTCOME: _variable(("chain", "draw", "row"), shape, compute)},
            coords={"chain": np.arange(n_chains), "draw": np.arange(n_draws), **self._row_coords},
        )

    def _numbers(self, chains: Codes, draws: Codes) -> Codes:
        """Return the place of each draw where the chains are one after another."""
        return np.add.outer(chains * self._shape[1], draws).ravel()

    def _log_likelihood(self, places: tuple[Codes, ...]) -> Array:
        chains, draws, rows = places
        density = RowDensity.of_fit(self.fit, self._numbers(chains, draws))
        values = np.empty((len(rows), len(chains) * len(draws)))
        position = np.empty(len(self.fit.data.y), dtype=np.intp)
        position[rows] = np.arange(len(rows))
        for part in density.parts(rows):
            values[position[part]] = density.log_density(part)
        return values.T.reshape(len(chains), len(draws), len(rows))

    def _predicted(self, places: tuple[Codes, ...]) -> Array:
        chains, draws, rows = places
        numbers = self._numbers(chains, draws)
        values = np.empty((len(numbers), len(rows)))
        parameters = {p.name: self.fit.draws(p.name) for p in self.fit.spec.parameters}
        total = len(parameters[self.fit.spec.scale])
        for block in np.unique(numbers // _TABLES):
            of_block = np.arange(block * _TABLES, min((block + 1) * _TABLES, total))
            drawn = outcome_draws(
                self.fit.spec,
                self.fit.data,
                {name: x[of_block].reshape(len(of_block), -1) for name, x in parameters.items()},
                len(of_block),
                np.random.default_rng([self._seed, int(block)]),
            )
            here = np.flatnonzero(numbers // _TABLES == block)
            values[here] = drawn[np.ix_(numbers[here] - block * _TABLES, rows)]
        return values.reshape(len(chains), len(draws), len(rows))

    def _log_posterior(self, places: tuple[Codes, ...]) -> Array:
        chains, draws = places
        numbers = self._numbers(chains, draws)
        log_posterior = LogPosterior(self.fit.spec, self.fit.data)
        parameters = {p.name: self.fit.draws(p.name) for p in self.fit.spec.parameters}
        values = [
            log_posterior({name: x[numbers[part]] for name, x in parameters.items()})
            for part in blocks(len(numbers), len(self.fit.data.y))
        ]
        return np.concatenate(values).reshape(len(chains), len(draws))

    @cached_property
    def _prior_parameters(self) -> dict[str, Array]:
        return parameters_from_priors(self.fit.spec, self.fit.data, PRIOR_DRAWS, self._seed)

    def _prior_parameter(self, name: str, places: tuple[Codes, ...]) -> Array:
        values = dataset(self.fit.spec, self.fit.data, self._prior_parameters, 1)[name]
        return np.asarray(values.to_numpy()[np.ix_(*places)])

    def _prior_predicted(self, places: tuple[Codes, ...]) -> Array:
        fit = self.fit
        drawn = outcome_from_priors(fit.spec, fit.data, self._prior_parameters, self._seed)
        return np.asarray(drawn[None][np.ix_(*places)])


def _variable(dims: tuple[Any, ...], shape: tuple[int, ...], compute: Compute) -> xr.Variable:
    computed = indexing.LazilyIndexedArray(_ComputedArray(shape, compute))
    # As xarray wraps arrays of files: a copy of the dataset shares them.
    shared = indexing.CopyOnWriteArray(computed)  # type: ignore[arg-type]
    return xr.Variable(dims, shared)
