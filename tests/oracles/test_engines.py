"""The two engines draw from the same posterior, and NUTS samples it well."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from simulated import simulated_table

import bayesbias as bb

pytestmark = pytest.mark.slow

THESIS = Path(__file__).resolve().parents[3] / "shared" / "data" / "thesis"


def table_or_demo(name: str, demo: str) -> pd.DataFrame:
    """Return a table of the original authors, or our own of the same study where it is not here."""
    path = THESIS / f"{name}.csv"
    if path.is_file():
        return bb.read_table(path)
    return bb.distance_table(bb.load_embedding(demo), bb.load_study("religion"))


@pytest.fixture(scope="module")
def religion() -> pd.DataFrame:
    return table_or_demo("religionReddit", "demo")


def agree(nuts: bb.models.Fit, exact: bb.models.Fit) -> None:
    """Means within 0.05 sd and Monte Carlo error, standard deviations within 5%."""
    found = nuts.diagnostics()
    assert found.ok, str(found)
    table = found.table
    mean_error = 4 * np.sqrt(1 / table["ess_mean"] + 1 / exact.draws(exact.spec.scale).shape[0])
    start = 0
    for parameter in nuts.spec.parameters:
        a, b = (f.draws(parameter.name) for f in (nuts, exact))
        a, b = a.reshape(len(a), -1), b.reshape(len(b), -1)
        own = slice(start, start + a.shape[1])
        start = own.stop
        sd = b.std(axis=0)
        off = np.abs(a.mean(axis=0) - b.mean(axis=0)) / sd
        assert (off < 0.05 + mean_error.iloc[own].to_numpy()).all(), parameter.name
        # The error of a standard deviation, larger where the tails are heavy.
        kurtosis = ((b - b.mean(axis=0)) ** 4).mean(axis=0) / sd**4
        ess = np.minimum(table["ess_bulk"], table["ess_tail"]).iloc[own].to_numpy()
        error = 4 * np.sqrt((kurtosis - 1) / 4 * (1 / ess + 1 / len(b)))
        assert (np.abs(a.std(axis=0) / sd - 1) < 0.05 + error).all(), parameter.name


@pytest.mark.parametrize("model", ["baseline", "connection", "separate", "hierarchical", "crossed"])
def test_engines_agree_with_the_default_settings(religion: pd.DataFrame, model: str) -> None:
    nuts = bb.fit(religion, model, engine="nuts", seed=1)
    agree(nuts, bb.fit(religion, model, engine="exact", seed=2))


def test_engines_agree_on_before_and_after(religion: pd.DataFrame) -> None:
    """With the words of one group only scales are hard to know, and `theta` to sample."""
    group = religion["protected_group"].cat.categories[0]
    after = table_or_demo("debiasedReligionReddit", "demo-100d")
    # The neutral words would be most of the rows, and of the time.
    rows = f"protected_group == {group!r} and connection != 'none'"
    spec = bb.load_model("embeddings").to_dict()
    names = ("centre", "bar", "tau", "tau_e", "theta", "tau_word", "tau_word_e", "u", "s", "s_e")
    kept = {name: spec["parameters"][name] for name in names}
    kept["theta"]["prior"] = "Normal(bar, tau_e)"
    crossed = bb.models.ModelSpec.from_dict(
        spec | {"name": "crossed embeddings", "mean": ["theta", "u"], "parameters": kept}
    )
    tables = religion.query(rows), after.query(rows)
    exact = bb.fit_paired(*tables, crossed, seed=2)
    nuts = bb.fit_paired(*tables, crossed, engine="nuts", draws=600, seed=1)
    agree(nuts.joint, exact.joint)
    # And so on the change itself.
    a, b = (p.change_draws("associated - different").to_numpy().ravel() for p in (nuts, exact))
    assert abs(a.mean() - b.mean()) < 0.1 * b.std()
    assert a.std() == pytest.approx(b.std(), rel=0.1)


@pytest.mark.parametrize("sampler", ["nutpie", "pymc"])
def test_samplers_agree_on_a_small_table(sampler: str) -> None:
    table = simulated_table(4, words=4, controls=12).assign(standard_error=0.03)
    nuts = bb.fit(table, "separate", engine="nuts", sampler=sampler, draws=1000, seed=1)
    agree(nuts, bb.fit(table, "separate", engine="exact", seed=2))
    assert nuts.provenance["sampler"] == sampler


def test_student_t_allows_for_outliers() -> None:
    """With a few wild distances it predicts better, and its means move less."""
    table = simulated_table(6, words=4, stereotypes=10, controls=40, tau_word=0.0, s=0.05)
    rng = np.random.default_rng(1)
    wild = rng.choice(len(table), 15, replace=False)
    y = table["cosine_distance"].to_numpy().copy()
    y[wild] = np.clip(y[wild] + 0.8, 0, 2)
    outliers = table.assign(cosine_distance=y)
    normal = bb.fit(outliers, "separate", engine="exact")
    student = bb.fit(outliers, "separate", likelihood="student_t", draws=1000)
    assert student.diagnostics().ok
    assert student.draws("nu").mean() < 10
    assert student.waic().elpd > normal.waic().elpd + 20
    clean = bb.fit(table, "separate", engine="exact").means()["mean"]
    moved = [(f.means()["mean"] - clean).abs().max() for f in (student, normal)]
    assert moved[0] < moved[1]
