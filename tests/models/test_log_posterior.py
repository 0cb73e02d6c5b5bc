"""The density in plain NumPy and SciPy: PyMC's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pymc.model.transform.conditioning import remove_value_transforms
from simulated import simulated_table

import bayesbias as bb
from bayesbias.errors import SpecError
from bayesbias.models.model_data import model_data
from bayesbias.models.nuts.log_posterior import _PRIORS, LogPosterior, is_written_out
from bayesbias.models.nuts.pymc_model import build_pymc_model
from bayesbias.models.priors import FAMILIES, Prior
from bayesbias.models.spec import MODELS, ModelSpec, load_model

NORMAL = [name for name in MODELS if is_written_out(load_model(name))]


def rows_for(spec: ModelSpec) -> pd.DataFrame:
    table = simulated_table(words=2)
    if "embedding" in spec.factors:
        other = simulated_table(1, words=2, embedding="other")
        table = pd.concat([table, other], ignore_index=True)
    return bb.check_table(table)


def test_models() -> None:
    assert {"baseline", "crossed", "interaction"} <= set(NORMAL)


@pytest.mark.parametrize("name", NORMAL)
@pytest.mark.parametrize("errors", [False, True])
def test_it_is_the_density_of_the_pymc_model(name: str, errors: bool) -> None:
    spec = load_model(name)
    rows = rows_for(spec)
    if errors:
        rows = rows.assign(standard_error=0.02)
    data = model_data(spec, rows)
    model = build_pymc_model(spec, data)
    # Transforms are not removed from a model with initial values.
    model.rvs_to_initial_values.update(dict.fromkeys(model.rvs_to_initial_values))
    model = remove_value_transforms(model)
    log_density = model.compile_logp(mode="FAST_COMPILE")
    rng = np.random.default_rng(1)
    values = {
        p.name: (np.exp if p.prior.is_positive else np.asarray)(
            rng.normal(0, 0.3, (2, *data.shape(p.by)))
        )
        for p in spec.parameters
    }
    found = LogPosterior(spec, data)(values)
    logs = [np.log(values[p.name]) for p in spec.parameters if p.prior.is_positive]
    for i in range(2):
        expected = log_density({key: value[i] for key, value in values.items()})
        expected += sum(log[i].sum() for log in logs)  # the density of the logarithms
        # PyMC computes the mean of Exponential(5) in single precision.
        assert found[i] == pytest.approx(float(expected), rel=1e-8)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_priors(family: str) -> None:
    arguments = (1.5, 0.7)[: len(FAMILIES[family].parameters)]
    x = np.array([0.01, 0.4, 3.0])
    ours = Prior(family, arguments).log_density(x)
    np.testing.assert_allclose(_PRIORS[family](*arguments).logpdf(x), ours, rtol=1e-12)


def test_a_student_t_likelihood_is_refused() -> None:
    spec = load_model("separate").vary(likelihood="student_t")
    with pytest.raises(SpecError, match="is not written out"):
        LogPosterior(spec, model_data(spec, rows_for(spec)))


def test_common_parts_are_refused() -> None:
    spec = load_model("embeddings")
    assert not is_written_out(spec)
    with pytest.raises(SpecError, match="a normal likelihood without common parts"):
        LogPosterior(spec, model_data(spec, rows_for(spec)))
