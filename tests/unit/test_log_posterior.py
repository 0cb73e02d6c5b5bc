"""The density in plain NumPy: PyMC's, with the gradient that belongs to it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad
from simulated import simulated_table

import bayesbias as bb
from bayesbias.inference.data import model_data
from bayesbias.inference.log_posterior import LogPosterior
from bayesbias.inference.pymc_model import build_pymc_model
from bayesbias.inference.spec import MODELS, ModelSpec, load_model

NORMAL = [
    name
    for name in MODELS
    if load_model(name).likelihood == "normal" and load_model(name).outcome == "distance"
]


def rows_for(spec: ModelSpec) -> pd.DataFrame:
    table = simulated_table(words=2)
    if "embedding" in spec.factors:
        other = table.assign(embedding="other", cosine_distance=table["cosine_distance"] * 0.99)
        table = pd.concat([table, other], ignore_index=True)
    return bb.check_table(table)


def pymc_density(spec: ModelSpec, rows: pd.DataFrame, x: np.ndarray) -> float:
    data = model_data(spec, rows)
    model = build_pymc_model(spec, data)
    log_density = model.compile_logp(mode="FAST_COMPILE")
    names = [model.rvs_to_values[model[p.name]].name for p in spec.parameters]
    shapes = [data.shape(p.by) for p in spec.parameters]
    stops = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = np.split(x, stops[:-1])
    point = {n: v.reshape(s) for n, v, s in zip(names, parts, shapes, strict=True)}
    return float(log_density(point))


@pytest.mark.parametrize("name", NORMAL)
def test_it_is_the_density_of_the_pymc_model(name: str) -> None:
    spec = load_model(name)
    rows = rows_for(spec)
    density = LogPosterior(spec, model_data(spec, rows))
    rng = np.random.default_rng(1)
    for _ in range(2):
        x = rng.normal(0, 0.3, density.size)
        assert density(x)[0] == pytest.approx(pymc_density(spec, rows, x), rel=1e-9)


@pytest.mark.parametrize("name", NORMAL)
@pytest.mark.parametrize("errors", [False, True])
def test_gradient(name: str, errors: bool) -> None:
    spec = load_model(name)
    rows = rows_for(spec)
    if errors:
        rows = rows.assign(standard_error=0.02)
    density = LogPosterior(spec, model_data(spec, rows))
    x = np.random.default_rng(2).normal(0, 0.3, density.size)
    size = np.linalg.norm(density(x)[1])
    assert check_grad(lambda at: density(at)[0], lambda at: density(at)[1], x) < 1e-5 * size


@pytest.mark.parametrize("name", NORMAL)
def test_coordinates_and_back(name: str) -> None:
    spec = load_model(name)
    made = bb.fit(rows_for(spec), spec, engine="exact", draws=5)
    density = LogPosterior(spec, made.data)
    values = {p.name: made.draws(p.name) for p in spec.parameters}
    again = density.shaped(density.coordinates(values))
    for key, value in values.items():
        np.testing.assert_allclose(again[key], value, rtol=1e-9)


def test_a_student_t_likelihood_is_refused() -> None:
    spec = load_model("separate").vary(likelihood="student_t")
    with pytest.raises(bb.SpecError, match="written out for 'normal' only"):
        LogPosterior(spec, model_data(spec, rows_for(spec)))
