"""Fit a model to a table."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.array_types import Array
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, one_of
from bayesbias._core.wording import brief
from bayesbias.distances import Duplicates
from bayesbias.errors import EngineError, SpecError, warn
from bayesbias.models.diagnostics import data_notes
from bayesbias.models.exact.compiled_model import compile_model, exact_supports
from bayesbias.models.exact.engine import estimated_seconds, sample_exactly
from bayesbias.models.fitted_model import Fit
from bayesbias.models.model_data import ModelData, dataset, model_data, prepare_table
from bayesbias.models.nuts.sampling import SAMPLERS
from bayesbias.models.spec import Likelihood, ModelSpec, Residual, load_model

Engine = Literal["auto", "exact", "nuts"]
ENGINES: tuple[Engine, ...] = ("auto", "exact", "nuts")
_PACKAGES = ("bayesbias", "numpy", "scipy", "pandas", "xarray", "pymc", "pytensor", "arviz")


@dataclass(frozen=True)
class Sampling:
    """How a posterior is sampled: the options of `fit` that are not about the model."""

    engine: Engine
    draws: int
    chains: int
    seed: Seed
    sampler: str = "nutpie"
    tune: int = 1000
    target_accept: float = 0.95
    cores: int | None = None
    progress: bool = True

    def check(self) -> None:
        """Refuse an option that is wrong."""
        one_of("engine", self.engine, ENGINES)
        one_of("sampler", self.sampler, SAMPLERS)
        if not 0 < self.target_accept < 1:
            raise SpecError(
                f"'target_accept' is {self.target_accept!r}; expected a number in (0, 1)."
            )
        at_least("draws", self.draws, 1)
        at_least("chains", self.chains, 1)
        at_least("tune", self.tune, 1)


def fit(
    table: pd.DataFrame,
    model: str | PathLike[str] | ModelSpec = "interaction",
    *,
    engine: Engine = "auto",
    draws: int = 2000,
    chains: int = 4,
    seed: Seed = 0,
    likelihood: Likelihood | None = None,
    residual: Residual | None = None,
    priors: Mapping[str, str] | None = None,
    covariates: Iterable[str] = (),
    duplicates: Duplicates | None = None,
    sampler: str = "nutpie",
    tune: int = 1000,
    target_accept: float = 0.95,
    cores: int | None = None,
    progress: bool = True,
) -> Fit:
    """Fit a model to a table of distances.

    Parameters
    ----------
    table : DataFrame
        A distance table, or the rows of it that are of interest. With a column ``standard_error``
        the known error of each distance enters the model; with a column ``replicate`` (one row per
        pair and training of the embedding) it is computed from the spread of the replicates.
    model : str, path-like or ModelSpec, default "interaction"
        A model of the catalogue (`MODELS`), a TOML file, or a `ModelSpec`.
    engine : {"auto", "exact", "nuts"}, default "auto"
        ``exact`` draws independently from the posterior, in a fraction of the time; it is for a
        normal likelihood. ``nuts`` samples the PyMC model. ``auto`` takes the exact engine where
        it can fit the model, and NUTS elsewhere; ``fit.provenance["engine"]`` says which it was.
    draws : int, default 2000
        Posterior draws of each chain.
    chains : int, default 4
        Number of chains.
    seed : int, Generator or None, default 0
        The same seed gives the same draws. A NumPy generator draws one, and with None one is
        chosen; it is kept with the fit.
    likelihood : {"normal", "student_t"}, optional
        Another likelihood than the model's own.
    residual : {"one", "connection"}, optional
        One residual scale, or one for each connection, instead of what the model has.
    priors : mapping of str to str, optional
        Other priors, by the name of the parameter: ``{"co": "Normal(0, 1)"}``.
    covariates : iterable of str, default ()
        Columns of numbers to add a slope for, such as ``log_frequency`` of `distance_table`. The
        contrasts then hold at equal covariates as well as at those observed. A model of several
        embeddings has a slope in each.
    duplicates : {"drop", "keep"}, optional
        What to do with duplicated rows: leave them out, or keep them and count each. By default as
        recorded with the table (`read_table`), else ``"drop"``.
    sampler : {"nutpie", "pymc", "numpyro", "blackjax"}, default "nutpie"
        Which implementation of NUTS.
    tune : int, default 1000
        Warm-up steps of each chain (NUTS).
    target_accept : float, default 0.95
        Target of the acceptance rate; higher takes smaller steps (NUTS).
    cores : int, optional
        Processor cores to use (NUTS); all, up to one per chain, by default.
    progress : bool, default True
        Whether to show a progress bar, on standard error, where one can be seen.

    Returns
    -------
    Fit
        The posterior and what can be asked of it.

    Raises
    ------
    SpecError
        If the model, a prior or an option is not known.
    DataError
        If the table cannot be modelled; the message says why.
    EngineError
        If ``engine="exact"`` cannot fit the model; it is a `SpecError` and a `DataError`.

    Warns
    -----
    BayesBiasWarning
        If the draws are unreliable, or some estimates depend on hardly any data.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> fit = bb.fit(table, seed=1)
    >>> fit
    <Fit interaction: 4,185 distances, 15 protected words, 4 × 2,000 draws, exact engine>
    >>> fit.contrasts("associated - none")[["contrast", "mean"]].round(2)
                contrast  mean
    0  associated - none  -0.1
    """
    sampling = Sampling(engine, draws, chains, seed, sampler, tune, target_accept, cores, progress)
    sampling.check()
    if not isinstance(model, str | PathLike | ModelSpec):
        raise SpecError(
            f"'model' is a {type(model).__name__}; expected one model: a name such as "
            "'interaction', a TOML file or a ModelSpec. To fit several, call fit once for each: "
            "{name: fit(table, name) for name in ['crossed', 'interaction']}."
        )
    spec = load_model(model).vary(
        priors=priors, likelihood=likelihood, residual=residual, covariates=covariates
    )
    return fit_rows(spec, prepare_table(table, duplicates=duplicates), sampling)


def as_fit(
    fit_or_model: Fit | str | PathLike[str] | ModelSpec,
    table: pd.DataFrame | None,
    *,
    duplicates: Duplicates | None = None,
) -> Fit:
    """Return a fit as it is; fit a model to the table, with the defaults of `fit`."""
    if isinstance(fit_or_model, Fit):
        return fit_or_model
    if not isinstance(fit_or_model, str | PathLike | ModelSpec):
        raise SpecError(
            f"{brief(fit_or_model)} is neither a Fit nor a model; expected what fit or load_fit "
            "returned, or a model such as 'interaction' together with table=."
        )
    spec = load_model(fit_or_model)
    if table is None:
        raise SpecError(
            f"model {spec.name!r} has to be fitted first: give table=, or fit(table, "
            f"{spec.name!r})."
        )
    return fit(table, spec, duplicates=duplicates)


def fit_rows(spec: ModelSpec, table: pd.DataFrame, sampling: Sampling) -> Fit:
    """Fit a model to rows that are checked already."""
    draws, chains, seed = sampling.draws, sampling.chains, as_seed(sampling.seed)
    data = model_data(spec, table)
    chosen, exact = _draw_exactly(spec, data, sampling, seed)
    provenance: dict[str, Any] = {"engine": chosen, "seed": seed, "draws": draws, "chains": chains}
    if exact is not None:
        values, quality = exact
        posterior = dataset(spec, data, values, chains)
        stats = xr.Dataset()
        provenance |= quality
    else:
        from bayesbias.models.nuts.sampling import check_sampler, sample_nuts

        check_sampler(sampling.sampler)
        done = sample_nuts(
            spec,
            data,
            draws=draws,
            tune=sampling.tune,
            chains=chains,
            cores=sampling.cores,
            seed=seed,
            sampler=sampling.sampler,
            target_accept=sampling.target_accept,
            progress=sampling.progress,
        )
        posterior, stats = done.posterior, done.sample_stats
        provenance |= {
            "sampler": sampling.sampler,
            "tune": sampling.tune,
            "target_accept": sampling.target_accept,
            "interrupted": done.interrupted,
        }
    provenance |= {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "versions": _versions(provenance.get("sampler")),
        "table_sha256": table_hash(table),
    }
    result = Fit(spec, table, posterior, stats, provenance)
    _report(result)
    return result


def _draw_exactly(
    spec: ModelSpec, data: ModelData, sampling: Sampling, seed: int
) -> tuple[Engine, tuple[dict[str, Array], dict[str, float | str]] | None]:
    """Return the engine to use, and the draws if it is the exact one."""
    if sampling.engine == "nuts":
        return "nuts", None
    if sampling.engine == "auto" and exact_supports(spec) is not None:
        return "nuts", None
    try:
        rng = np.random.default_rng(seed)
        draws = sampling.draws * sampling.chains
        return "exact", sample_exactly(spec, data, draws, rng, progress=sampling.progress)
    except EngineError as err:
        if sampling.engine == "exact":
            raise
        warn(f"{err} So NUTS was used.")
        return "nuts", None


def seconds_to_fit(table: pd.DataFrame, spec: ModelSpec, draws: int) -> float | None:
    """Return about how long the exact engine needs; None if NUTS is used, of which nobody knows."""
    if exact_supports(spec) is not None:
        return None
    try:
        return estimated_seconds(compile_model(spec, model_data(spec, table)), draws)
    except EngineError:
        return None


def _report(result: Fit) -> None:
    """Warn of what a user should not overlook."""
    notes = data_notes(result)
    if notes:
        warn(f"model {result.spec.name!r}: {'; '.join(notes)}")
    # Independent draws have nothing to converge, and need no looking into.
    if result.provenance["engine"] == "nuts" or result.provenance.get("scale_sampler") == "hmc":
        problems = result.diagnostics().problems
        if problems:
            warn(f"model {result.spec.name!r} is not to be relied on: {'; '.join(problems)}")


def table_hash(table: pd.DataFrame) -> str:
    """Return a hash of the rows that does not depend on how they are stored."""
    digest = hashlib.sha256()
    for name in table.columns:
        column = table[name]
        digest.update(str(name).encode())
        if column.dtype.kind in "fiub":
            digest.update(np.ascontiguousarray(column.to_numpy(dtype=np.float64)).tobytes())
        else:
            # Of categories that are texts without the cost of a text for each row.
            is_text = isinstance(column.dtype, pd.CategoricalDtype) and all(
                isinstance(name, str) for name in column.cat.categories
            )
            codes, levels = pd.factorize(column if is_text else column.astype("str"))
            digest.update(codes.astype(np.int64).tobytes() + "\0".join(levels).encode())
    return digest.hexdigest()


def _versions(sampler: str | None) -> dict[str, str]:
    versions = {}
    for name in dict.fromkeys([*_PACKAGES, *([sampler] if sampler else [])]):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return versions
