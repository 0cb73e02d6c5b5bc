"""What must hold of the exact engine whatever the data: calibration, invariances, closed forms."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from brute_force import BruteForce, by_name, deviations, make_table
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError
from bayesbias.models.exact.compiled_model import compile_model
from bayesbias.models.exact.engine import sample_exactly
from bayesbias.models.model_data import ModelData, model_data

pytestmark = pytest.mark.numpy_only

HIERARCHIES = ["baseline", "connection", "separate", "hierarchical", "crossed", "interaction"]


@cache
def exact(name: str, seed: int = 1, draws: int = 2000) -> bb.models.Fit:
    return bb.fit(make_table(6), name, engine="exact", draws=draws, seed=seed)


# Closed forms.


def assert_normal(draws: np.ndarray, mean: float, sd: float) -> None:
    assert stats.kstest((draws - mean) / sd, "norm").pvalue > 1e-4


def test_one_mean_per_word_and_a_known_scale() -> None:
    """The textbook: precisions add, and the mean is weighted by them."""
    table = make_table(1, keep=0.7)
    fit = bb.fit(
        table,
        "baseline",
        engine="exact",
        priors={"m": "Normal(0.5, 0.1)", "sigma": "LogNormal(-1.6, 0.0001)"},
    )
    variance = np.exp(-1.6) ** 2
    for i, word in enumerate(fit.data.levels["protected_word"]):
        y = table.loc[table["protected_word"] == word, "cosine_distance"]
        precision = 1 / 0.1**2 + len(y) / variance
        mean = (0.5 / 0.1**2 + y.sum() / variance) / precision
        assert_normal(fit.draws("m")[:, i], mean, precision**-0.5)


KNOWN = {"s": -1.8, "tau": -2.0, "tau_word": -2.4, "tau_pair": -2.6, "tau_group": -2.2,
         "tau_list": -2.3, "tau_a": -2.5, "tau_level": -1.9, "sigma": -1.6}  # fmt: skip
# Of what each embedding has for itself.
KNOWN |= {f"{name}_e": value - 0.5 for name, value in KNOWN.items()}


@pytest.mark.parametrize("name", list(bb.models.MODELS))
def test_every_parameter_with_known_scales(name: str) -> None:
    """Mean and covariance of all draws, the pooled parameters put together again."""
    spec = bb.load_model(name)
    scales = [p.name for p in spec.parameters if p.prior.is_positive]
    spec = spec.vary(priors={s: f"LogNormal({KNOWN[s]}, 0.01)" for s in scales})
    table = make_table(2, embeddings=2 if name == "embeddings" else 1)
    data = model_data(spec, table)
    n = 4000
    drawn, _ = sample_exactly(spec, data, n, np.random.default_rng(1))
    brute = BruteForce(spec, table)
    known = {
        s: np.full(np.prod(data.shape(spec[s].by), dtype=int), np.exp(KNOWN[s])) for s in scales
    }
    mean, covariance = brute.given(known).posterior()
    flat = np.hstack(
        [drawn[p.name].reshape(n, -1) for p in spec.parameters if not p.prior.is_positive]
    )
    sd = np.sqrt(np.diag(covariance))
    z = (flat.mean(axis=0) - mean) / sd * np.sqrt(n)
    assert np.abs(z).max() < stats.norm.isf(0.0005 / len(z))
    # Sums of all coefficients with random weights: the covariances, not only the variances.
    weights = np.random.default_rng(2).normal(size=(len(sd), 20)) / sd[:, None]
    ratio = (flat @ weights).var(axis=0) / np.einsum("ik,ij,jk->k", weights, covariance, weights)
    assert np.abs(ratio - 1).max() < 4.5 * np.sqrt(2 / n)


def test_pooling_by_quadrature() -> None:
    """The density of (tau, s) as worked out on paper for `hierarchical`, summed on a grid."""
    fit = exact("hierarchical")
    table = fit.table
    for c, connection in enumerate(fit.data.levels["connection"]):
        rows = table[table["connection"] == connection]
        words = rows.groupby("protected_word", observed=True)["cosine_distance"]
        size, mean = words.size().to_numpy(), words.mean().to_numpy()
        within = ((rows["cosine_distance"] - words.transform("mean")) ** 2).sum()
        log_tau, log_s = np.linspace(-14, 3, 700)[:, None], np.linspace(-4.5, 2, 300)
        tau, s = np.exp(log_tau), np.exp(log_s)
        v = tau[..., None] ** 2 + s[:, None] ** 2 / size
        p = (1 / v).sum(axis=-1) + 1 / 0.3**2
        b = (mean / v).sum(axis=-1) + 1 / 0.3**2
        log_density = -0.5 * (np.log(v) + mean**2 / v).sum(axis=-1) + b**2 / p / 2 - np.log(p) / 2
        log_density += -within / (2 * s**2) - (len(rows) - len(size)) * log_s
        log_density += -2 * tau + log_tau - 2 * s + log_s
        density = np.exp(log_density - log_density.max())
        for name, grid, other in (("tau", log_tau[:, 0], 1), ("s", log_s, 0)):
            cumulative = density.sum(axis=other).cumsum() / density.sum()
            edges = grid + (grid[1] - grid[0]) / 2
            # Each draw of the scales has several draws of the coefficients.
            draws = np.log(np.unique(fit.draws(name)[:, c]))
            assert (
                stats.kstest(draws, lambda x, e=edges, f=cumulative: np.interp(x, e, f)).pvalue
                > 1e-3
            )
        # The common mean, given the scales, is normal.
        at = np.exp(2 * np.log(fit.draws("tau")[:, [c]])) + fit.draws("s")[:, [c]] ** 2 / size
        precision = (1 / at).sum(axis=1) + 1 / 0.3**2
        centre = ((mean / at).sum(axis=1) + 1 / 0.3**2) / precision
        assert_normal((fit.draws("bar")[:, c] - centre) * np.sqrt(precision), 0, 1)


def test_a_single_row() -> None:
    """One distance says little, but the posterior exists: between the prior and the row."""
    table = make_table(6).head(1)
    with pytest.warns(BayesBiasWarning, match="1 of 1 cells have one row"):
        fit = bb.fit(table, "baseline", engine="exact", draws=500)
    y = table["cosine_distance"].item()
    low, high = sorted([y, 1.0])
    assert low - 0.01 < fit.draws("m").mean() < high + 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", HIERARCHIES)
def test_distances_without_any_noise_are_refused(name: str) -> None:
    """Sums of a number per word and one per attribute: the residual scale wants to be zero."""
    table = make_table(6).drop(columns="cosine_similarity")
    of_word = {word: 0.6 + 0.05 * i for i, word in enumerate(["x0", "x1", "y0", "y1"])}
    distance = table["protected_word"].astype("str").map(of_word).astype(float)
    if name in ("crossed", "interaction"):
        distance += 0.01 * table["word_to_compare"].cat.codes
    with pytest.raises(DataError):
        bb.fit(table.assign(cosine_distance=distance), name, engine="exact", draws=100)


def test_many_draws_of_a_scale_that_may_be_zero() -> None:
    """A tiny value of tau among thousands is a draw like any other, and no reason to refuse."""
    table = make_table(1, words=3)
    for seed in range(12, 18):
        fit = bb.fit(table, "hierarchical", engine="exact", draws=5000, seed=seed)
        assert fit.draws("tau").min() < 1e-4


# Calibration: parameters are drawn from the prior and data from them; the rank of each parameter
# among the draws of its posterior is then uniform (Talts et al. 2018).


def design(rng: np.random.Generator, connections: int) -> tuple[dict, dict]:
    """Four protected words and, for each connection, five attributes; a quarter of rows missing."""
    words = 5 * connections
    p, w = np.divmod(np.arange(4 * words), words)
    keep = rng.random(4 * words) < 0.75
    names = {"protected_word": 4, "word_to_compare": words, "connection": connections}
    levels = {f: tuple(f"{f}{i}" for i in range(n)) for f, n in names.items()}
    codes = {"protected_word": p, "word_to_compare": w, "connection": w // 5}
    return levels, {f: code[keep] for f, code in codes.items()}


def simulate(spec: bb.models.ModelSpec, levels: dict, codes: dict, rng: np.random.Generator):
    """Draw the parameters from their priors, and rows from the parameters."""
    shape = {f: len(names) for f, names in levels.items()}
    values: dict[str, np.ndarray] = {}
    for p in spec.parameters:
        size = tuple(shape[f] for f in p.by)
        at = dict(zip(p.by, np.indices(size), strict=True))

        def parent(name: str, at: dict = at) -> np.ndarray:
            return values[name][tuple(at[f] for f in spec[name].by)]

        if p.prior.is_positive:
            values[p.name] = p.prior.draw(rng, size)
            continue
        mean = p.prior.arguments[0] + sum(parent(name) for name in p.prior.mean)
        sd = parent(p.prior.sd) if p.prior.sd else p.prior.arguments[1]
        values[p.name] = rng.normal(mean, sd, size)

    def of_row(name: str) -> np.ndarray:
        return values[name][tuple(codes[f] for f in spec[name].by)]

    n = len(codes["connection"])
    y = rng.normal(sum(of_row(name) for name in spec.mean), of_row(spec.scale), n)
    own = {f: levels[f] for f in spec.factors}
    return values, ModelData(own, {f: codes[f] for f in spec.factors}, y, None)


def ranks(name: str, connections: int, times: int) -> dict[str, np.ndarray]:
    """Return, for each parameter, the ranks (0 to 19) of one of its values."""
    spec = bb.load_model(name)
    rng = np.random.default_rng(7)
    levels, codes = design(rng, connections)
    found: dict[str, list[int]] = {p.name: [] for p in spec.parameters}
    refused = 0
    for _ in range(times):
        values, data = simulate(spec, levels, codes, rng)
        try:
            drawn, _ = sample_exactly(spec, data, 19, rng)
        except DataError:
            refused += 1
            continue
        for key, value in values.items():
            found[key].append(int((drawn[key].reshape(19, -1)[:, 0] < np.ravel(value)[0]).sum()))
    # The engine may refuse a table, but not many: the ranks would be those of an easier problem.
    assert refused <= 0.02 * times
    return {key: np.array(value) for key, value in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "connections"), [("hierarchical", 1), ("crossed", 2)])
def test_calibration(name: str, connections: int) -> None:
    for key, rank in ranks(name, connections, 200).items():
        counts = np.bincount(rank // 2, minlength=10)
        assert stats.chisquare(counts).pvalue > 1e-4, key


# Invariances.


@pytest.mark.parametrize("name", ["baseline", "crossed"])
def test_same_seed_same_draws(name: str) -> None:
    table = make_table(6)
    one, same, other = (
        bb.fit(table, name, engine="exact", draws=100, seed=seed).posterior for seed in (4, 4, 5)
    )
    assert one.equals(same)
    assert not any((one[key] == other[key]).any() for key in one.data_vars)


def test_a_seed_is_chosen_and_kept() -> None:
    table = make_table(6)
    one = bb.fit(table, "baseline", engine="exact", draws=50, seed=None)
    again = bb.fit(table, "baseline", engine="exact", draws=50, seed=one.provenance["seed"])
    assert one.posterior.equals(again.posterior)


def solved(
    spec: bb.models.ModelSpec, data: ModelData, log_scales: np.ndarray
) -> tuple[float, pd.Series]:
    """Return the density at some scales, relative to that at others, and the deviations there."""
    compiled = compile_model(spec, data)
    at = log_scales[: compiled.layout.n_scales]
    both = np.stack([at, at[::-1] - 0.2])
    density = sum(np.diff(block.log_density(both[:, block.scales]))[0] for block in compiled.blocks)
    index = [
        (name, *(data.levels[f][i] for f, i in zip(spec[name].by, cell, strict=True)))
        for name in compiled.layout.coefficients
        for cell in np.ndindex(data.shape(spec[name].by))
    ]
    values = pd.Series(deviations(compiled, at)[0], index=[" ".join(key) for key in index])
    return density, values


log_scales = st.lists(st.floats(-3, 0.5), min_size=21, max_size=21).map(np.array)


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(HIERARCHIES), st.integers(0, 10**6), log_scales)
def test_the_order_of_the_rows_does_not_matter(name: str, seed: int, at: np.ndarray) -> None:
    spec = bb.load_model(name)
    table = make_table(8, keep=0.8, errors="few")
    # As text, so that the levels are in another order too.
    words = dict.fromkeys(["protected_word", "word_to_compare", "protected_group"], "str")
    shuffled = bb.check_table(table.astype(words).sample(frac=1, random_state=seed))
    one, ours = solved(spec, model_data(spec, table), at)
    other, theirs = solved(spec, model_data(spec, shuffled), at)
    assert one == pytest.approx(other, rel=1e-10)
    np.testing.assert_allclose(ours, theirs[ours.index], atol=1e-10)


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(HIERARCHIES), st.floats(-5, 5), log_scales)
def test_a_shift_of_all_distances(name: str, by: float, at: np.ndarray) -> None:
    """With the prior of the level of the distances moved as far, the level moves as far."""
    spec = bb.load_model(name)
    level = "bar" if "bar" in [p.name for p in spec.parameters] else spec.mean[0]
    prior = spec[level].prior
    prior = replace(prior, arguments=(prior.arguments[0] + by, prior.arguments[1]))
    data = model_data(spec, make_table(8, keep=0.8))
    one, ours = solved(spec, data, at)
    other, theirs = solved(spec.vary(priors={level: prior}), replace(data, y=data.y + by), at)
    assert one == pytest.approx(other, abs=1e-6)
    # The deviations from the level stay as they are.
    expected = np.where(ours.index.str.startswith(f"{level} "), by, 0.0)
    np.testing.assert_allclose(theirs - ours, expected, atol=1e-8)


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(HIERARCHIES), st.floats(0.1, 10), log_scales)
def test_another_unit_of_distance(name: str, unit: float, at: np.ndarray) -> None:
    """With all distances, priors and scales in another unit, only the unit changes."""
    spec = bb.load_model(name)
    data = model_data(spec, make_table(8, keep=0.8))
    priors = {
        p.name: replace(p.prior, arguments=tuple(a * unit for a in p.prior.arguments))
        for p in spec.parameters
        if not p.prior.is_positive
    }
    other_unit = replace(data, y=data.y * unit)
    ours = solved(spec, data, at)[1]
    theirs = solved(spec.vary(priors=priors), other_unit, at + np.log(unit))[1]
    np.testing.assert_allclose(theirs, unit * ours, rtol=1e-7, atol=1e-8)


@settings(deadline=None, max_examples=20)
@given(st.sampled_from(HIERARCHIES), st.integers(0, 10**6), log_scales)
def test_any_table_as_by_brute_force(name: str, seed: int, at: np.ndarray) -> None:
    """Tables with any rows missing, down to a few."""
    rng = np.random.default_rng(seed)
    table = make_table(seed % 5, words=1 + seed % 3, errors=["none", "few"][seed % 2])
    chosen = rng.random(len(table)) < rng.uniform(0.15, 1)
    chosen[:2] = True
    table = bb.check_table(table[chosen])
    spec = bb.load_model(name)
    data = model_data(spec, table)
    compiled = compile_model(spec, data)
    sets = np.stack([at, at[::-1]])[:, : compiled.layout.n_scales]
    ours = sum(block.log_density(sets[:, block.scales]) for block in compiled.blocks)
    brute = BruteForce(spec, table)
    theirs = [brute.given(by_name(compiled, one)).log_density() for one in sets]
    assert ours[1] - ours[0] == pytest.approx(theirs[1] - theirs[0], abs=1e-7)
