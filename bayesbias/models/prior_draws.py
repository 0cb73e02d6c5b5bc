"""What a model expects before it has seen a distance: draws from its priors."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.array_types import Array
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least
from bayesbias.distances import Duplicates
from bayesbias.models.exact.compiled_model import cells_of_parameter, parent_index, together
from bayesbias.models.model_data import ModelData, dataset, model_data, prepare_table
from bayesbias.models.spec import OUTCOME, Likelihood, ModelSpec, Parameter, Residual, load_model


def prior_draws(
    table: pd.DataFrame,
    model: str | PathLike[str] | ModelSpec = "interaction",
    *,
    draws: int = 2000,
    seed: Seed = 0,
    likelihood: Likelihood | None = None,
    residual: Residual | None = None,
    priors: Mapping[str, str] | None = None,
    duplicates: Duplicates | None = None,
) -> xr.Dataset:
    """Draw the parameters of a model, and distances that they could give, from the priors alone.

    Priors that put much weight on distances below 0 or above 2 ask for another look. The distances
    of the table are not used, only which words it compares; they may be missing.

    Parameters
    ----------
    table : DataFrame
        A distance table, as for `fit`, with or without distances. A column ``standard_error``
        widens the distances drawn. Replicates are drawn as one row per pair, without an error, as
        that would be computed from their distances.
    model : str, path-like or ModelSpec, default "interaction"
        A model of the catalogue (`MODELS`), a TOML file, or a `ModelSpec`.
    draws : int, default 2000
        Number of draws. Each holds a distance for every row, so a table of 5,000 rows takes 80 MB
        by default, and about twice that while it is made.
    seed : int, Generator or None, default 0
        The same seed gives the same draws; with None one is chosen, and kept in ``attrs``. Each
        parameter has its own stream: another prior for one leaves the draws of the others as they
        are, but for those that have it in their own prior.
    likelihood : {"normal", "student_t"}, optional
        Another likelihood than the model's own.
    residual : {"one", "connection"}, optional
        One residual scale, or one for each connection, instead of what the model has.
    priors : mapping of str to str, optional
        Other priors, by the name of the parameter: ``{"co": "Normal(0, 1)"}``.
    duplicates : {"drop", "keep"}, optional
        What to do with duplicated rows: leave them out, or keep them and count each. By default as
        recorded with the table (`read_table`), else ``"drop"``.

    Returns
    -------
    xarray.Dataset
        Every parameter, laid out as in the posterior of a `Fit` with one chain, and the outcome,
        ``distance``, with dims ``chain``, ``draw`` and ``row``: the rows of the table, by default
        without duplicates.

    Raises
    ------
    SpecError
        If the model, a prior or an option is not known.
    DataError
        If the table cannot be modelled; the message says why.

    Warns
    -----
    BayesBiasWarning
        If duplicated rows are left out.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("gender"))
    >>> prior = bb.prior_draws(table, "connection", draws=500)
    >>> distance = prior["distance"]
    >>> print(f"{float(((distance < 0) | (distance > 2)).mean()):.0%} of them are impossible")
    46% of them are impossible
    """
    at_least("draws", draws, 1)
    seed = as_seed(seed)
    spec = load_model(model).vary(priors=priors, likelihood=likelihood, residual=residual)
    rows = prepare_table(_without_outcomes(table), duplicates=duplicates)
    data = model_data(spec, rows, observed=False)
    values = parameters_from_priors(spec, data, draws, seed)
    outcome = outcome_from_priors(spec, data, values, seed)
    result = dataset(spec, data, values, 1).assign_coords(row=np.arange(len(data.y)))
    result[OUTCOME] = (("chain", "draw", "row"), outcome[None])
    return result.assign_attrs(model=spec.name, seed=seed)


def parameters_from_priors(
    spec: ModelSpec, data: ModelData, draws: int, seed: int
) -> dict[str, Array]:
    """Draw every parameter from its prior; draws × its values, flattened."""
    # The first stream is that of the outcome.
    _, *streams = np.random.SeedSequence(seed).spawn(1 + len(spec.parameters))
    values: dict[str, Array] = {}
    for parameter, stream in zip(spec.parameters, streams, strict=True):
        rng = np.random.default_rng(stream)
        values[parameter.name] = _parameter(spec, data, parameter, values, draws, rng)
    return values


def outcome_from_priors(
    spec: ModelSpec, data: ModelData, values: Mapping[str, Array], seed: int
) -> Array:
    """Draw the outcomes given parameters of `parameters_from_priors`; draws × rows."""
    (stream,) = np.random.SeedSequence(seed).spawn(1)
    draws = len(values[spec.scale])
    return outcome_draws(spec, data, values, draws, np.random.default_rng(stream))


def _without_outcomes(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the same outcome in every row, so that nothing depends on its own."""
    if not isinstance(table, pd.DataFrame):
        return table  # refused by the checks that follow
    return table.drop(columns="cosine_similarity", errors="ignore").assign(cosine_distance=1.0)


def _parameter(
    spec: ModelSpec,
    data: ModelData,
    parameter: Parameter,
    values: Mapping[str, Array],
    draws: int,
    rng: np.random.Generator,
) -> Array:
    """Draw a parameter, given those in its prior; draws × its values, flattened."""
    prior = parameter.prior
    size = (draws, int(np.prod(data.shape(parameter.by), dtype=int)))
    if not parameter.is_pooled:
        return prior.draw(rng, size)

    def parent(name: str) -> Array:
        return values[name][:, parent_index(spec, data, parameter.name, name)]

    result = rng.standard_normal(size) * (parent(prior.sd) if prior.sd else prior.arguments[1])
    if parameter.common:
        cells = cells_of_parameter(spec, data, parameter)
        noise = rng.standard_normal((draws, len(cells)))
        result[:, cells] += (noise * parent(parameter.common)[:, cells[:, 0]])[..., None]
    result += prior.arguments[0]
    for name in prior.mean:
        result += parent(name)
    return result


def outcome_draws(
    spec: ModelSpec,
    data: ModelData,
    values: Mapping[str, Array],
    draws: int,
    rng: np.random.Generator,
) -> Array:
    """Draw the outcome of each row, given the parameters; draws × rows."""
    size = (draws, len(data.y))
    if spec.likelihood == "student_t":
        result = rng.standard_t(values["nu"], size)
    else:
        result = rng.standard_normal(size)
    scale = values[spec.scale][:, data.index(spec[spec.scale].by)]
    if data.error is not None:
        np.hypot(scale, data.error, out=scale)
    result *= scale
    del scale  # as large as the result
    if spec.common:
        common = values[spec.common][:, data.index(spec[spec.common].by)]
        for rows in together(data, spec.over(spec.common)):
            noise = rng.standard_normal((draws, len(rows)))
            result[:, rows] += (noise * common[:, rows[:, 0]])[..., None]
    for name in spec.mean:
        part = values[name][:, data.index(spec[name].by)]
        times = data.times(spec, name)
        result += part if times is None else part * times
    return result
