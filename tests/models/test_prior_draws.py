from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from brute_force import BruteForce, make_table
from scipy import stats

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError, SpecError
from bayesbias.models.model_data import model_data, prepare_table
from bayesbias.models.prior_draws import prior_draws

DRAWS = 3000
WORDS = ["judaism", "rabbi", "imam"]
# One prior of each family, and the same distribution in scipy.
FAMILIES = {
    "HalfCauchy(2)": stats.halfcauchy(scale=2),
    "HalfNormal(0.4)": stats.halfnorm(scale=0.4),
    "HalfStudentT(3, 0.5)": stats.t(3, scale=0.5),
    "Exponential(5)": stats.expon(scale=1 / 5),
    "Gamma(2, 0.1)": stats.gamma(2, scale=1 / 0.1),
    "InverseGamma(3, 0.5)": stats.invgamma(3, scale=0.5),
    "LogNormal(-1, 0.7)": stats.lognorm(0.7, scale=np.exp(-1)),
}


@pytest.fixture(scope="module")
def table(demo: bb.Embedding) -> pd.DataFrame:
    """Three protected words, every sixth attribute, and a few pairs that are not there."""
    table = bb.distance_table(demo, bb.load_study("religion"))
    words = table["word_to_compare"].unique()[::6]
    rows = table[table["protected_word"].isin(WORDS) & table["word_to_compare"].isin(words)]
    return rows.drop(rows.index[[1, 30, 31]]).reset_index(drop=True)


def at_rows(prior: xr.Dataset, name: str, table: pd.DataFrame) -> np.ndarray:
    """Return draws × rows of a parameter, looked up by the words of each row."""
    array = prior[name].isel(chain=0)
    words = {
        str(dim): xr.DataArray(table[dim].astype("str").to_numpy(), dims="row")
        for dim in array.dims
        if dim != "draw"
    }
    return array.sel(words).transpose("draw", ...).to_numpy().reshape(array.sizes["draw"], -1)


def follows(values: np.ndarray, distribution: object) -> bool:
    return bool(stats.kstest(values, distribution.cdf).pvalue > 0.001)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("text", "expected"), FAMILIES.items())
def test_families(table: pd.DataFrame, text: str, expected: object) -> None:
    prior = prior_draws(table, "baseline", draws=4000, priors={"sigma": text})
    sigma = prior["sigma"].to_numpy().ravel()
    if text.startswith("HalfStudentT"):  # scipy has no such distribution
        assert follows(2 * expected.cdf(sigma) - 1, stats.uniform)  # type: ignore[attr-defined]
    else:
        assert follows(sigma, expected)
    for word in WORDS:
        m = prior["m"].sel(protected_word=word).to_numpy().ravel()
        assert follows(m, stats.norm(1, 0.5))


@pytest.mark.parametrize("model", ["connection", "hierarchical", "crossed"])
def test_each_row_has_the_parameters_of_its_words(table: pd.DataFrame, model: str) -> None:
    prior = prior_draws(table, model, draws=500)
    spec = bb.load_model(model)
    mean = sum(at_rows(prior, name, table) for name in spec.mean)
    z = (prior["distance"].to_numpy()[0] - mean) / at_rows(prior, spec.scale, table)
    assert z.shape == (500, len(table))
    assert follows(z.ravel(), stats.norm)
    # Noise of its own for every row.
    assert np.abs(np.corrcoef(z[:, 0], z[:, 1])[0, 1]) < 0.2


def test_pooled_parameters(table: pd.DataFrame) -> None:
    prior = prior_draws(table, "crossed", draws=500)
    theta = ((prior["theta"] - prior["bar"]) / prior["tau"]).to_numpy().ravel()
    u = (prior["u"] / prior["tau_word"]).to_numpy().ravel()
    assert follows(theta, stats.norm)
    assert follows(u, stats.norm)
    # A number beside the names, a fixed standard deviation, two parents with other factors.
    model = bb.models.ModelSpec.from_dict(
        {
            "name": "mine",
            "mean": ["theta"],
            "scale": "s",
            "parameters": {
                "m": {"by": ["protected_word"], "prior": "Normal(0, 5)"},
                "co": {"by": ["connection"], "prior": "Normal(0, 3)"},
                "theta": {"by": ["connection", "protected_word"], "prior": "Normal(1 + m + co, 2)"},
                "s": {"prior": "HalfNormal(1)"},
            },
        }
    )
    prior = prior_draws(table, model, draws=500)
    z = (prior["theta"] - 1 - prior["m"] - prior["co"]) / 2
    assert prior["theta"].dims == ("chain", "draw", "connection", "protected_word")
    assert follows(z.to_numpy().ravel(), stats.norm)


def test_student_t(table: pd.DataFrame) -> None:
    prior = prior_draws(table, "separate", draws=500, likelihood="student_t", residual="connection")
    assert prior["sigma"].dims == ("chain", "draw", "connection")
    nu = prior["nu"].to_numpy()[0]
    assert follows(nu, stats.gamma(2, scale=10))
    z = prior["distance"].to_numpy()[0] - at_rows(prior, "theta", table)
    z /= at_rows(prior, "sigma", table)
    assert follows(stats.t.cdf(z, nu[:, None]).ravel(), stats.uniform)
    assert not follows(z.ravel(), stats.norm)


@pytest.mark.parametrize("likelihood", ["normal", "student_t"])
def test_standard_errors_widen_the_distances(table: pd.DataFrame, likelihood: str) -> None:
    error = np.linspace(0, 3, len(table))
    rows = table.assign(standard_error=error)
    prior = prior_draws(rows, "separate", draws=500, likelihood=likelihood)  # type: ignore[arg-type]
    z = prior["distance"].to_numpy()[0] - at_rows(prior, "theta", rows)
    z /= np.sqrt(at_rows(prior, "sigma", rows) ** 2 + error**2)
    if likelihood == "student_t":
        z = stats.norm.ppf(stats.t.cdf(z, prior["nu"].to_numpy()[0][:, None]))
    assert follows(z.ravel(), stats.norm)


# Of so few attributes some cells have one row or none.
@pytest.mark.filterwarnings("ignore:model 'crossed'")
def test_layout_is_that_of_a_posterior(table: pd.DataFrame) -> None:
    prior = prior_draws(table, "crossed", draws=7)
    fit = bb.fit(table, "crossed", engine="exact", draws=7, chains=1)
    for name, array in fit.posterior.items():
        assert prior[name].dims == array.dims
        assert prior[name].dtype == array.dtype
        for dim in array.dims:
            np.testing.assert_array_equal(prior[name][dim], array[dim])
    assert prior["distance"].dims == ("chain", "draw", "row")
    assert prior.sizes["row"] == len(table)


# PyMC 6 itself imports a name from where PyTensor 3 no longer wants it.
@pytest.mark.filterwarnings("ignore:Importing .* is deprecated:DeprecationWarning")
@pytest.mark.parametrize("model", ["hierarchical", "crossed"])
def test_as_pymc_draws(table: pd.DataFrame, model: str) -> None:
    import pymc as pm

    from bayesbias.models.nuts.pymc_model import build_pymc_model

    spec = bb.load_model(model)
    rows = prepare_table(table)
    with build_pymc_model(spec, model_data(spec, rows)):
        # Python is quicker than compiling for so little work.
        theirs = pm.sample_prior_predictive(
            DRAWS, random_seed=3, compile_kwargs={"mode": "FAST_COMPILE"}
        )
    groups = [theirs["prior"], theirs["prior_predictive"]]
    parts = [g.to_dataset() if isinstance(g, xr.DataTree) else g for g in groups]
    other = xr.merge(parts, compat="override", join="exact")
    ours = prior_draws(table, model, draws=DRAWS)
    assert set(ours.data_vars) <= set(other.data_vars)
    probabilities = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    errors = np.sqrt(2 * probabilities * (1 - probabilities) / DRAWS)
    for name, array in ours.items():
        mine = array.to_numpy()[0].reshape(DRAWS, -1)
        from_pymc = other[name].transpose(*array.dims).to_numpy()[0].reshape(DRAWS, -1)
        assert mine.shape == from_pymc.shape
        # Levels of a parameter have the same prior, so they can be taken together.
        below = (mine.reshape(-1, 1) < np.quantile(from_pymc, probabilities)).mean(axis=0)
        assert (np.abs(below - probabilities) < 4 * errors).all(), name
        difference = mine.mean() - from_pymc.mean()
        assert abs(difference) < 4 * from_pymc.std() * np.sqrt(2 / DRAWS), name
        for place in (0, mine.shape[1] // 2, mine.shape[1] - 1):
            assert stats.ks_2samp(mine[:, place], from_pymc[:, place]).pvalue > 0.001, name
    # What goes together there goes together here: rows of one word, of one connection, of none.
    for i, j in ((0, 1), (0, len(rows) - 1), (len(rows) - 2, len(rows) - 1)):
        both = [
            stats.spearmanr(d["distance"][0, :, i], d["distance"][0, :, j]).statistic
            for d in (ours, other)
        ]
        assert abs(both[0] - both[1]) < 0.1


def test_seeds(table: pd.DataFrame) -> None:
    prior_draws = partial(globals()["prior_draws"], model="crossed")
    first = prior_draws(table, draws=20, seed=5)
    assert first.attrs == {"model": "crossed", "seed": 5}
    assert first.identical(prior_draws(table, draws=20, seed=5))
    other = prior_draws(table, draws=20, seed=6)
    assert all((first[name] != other[name]).all() for name in first.data_vars)
    chosen = prior_draws(table, draws=20, seed=None)
    assert chosen.identical(prior_draws(table, draws=20, seed=chosen.attrs["seed"]))
    # Another prior of one parameter leaves those alone that do not depend on it.
    varied = prior_draws(table, draws=20, seed=5, priors={"tau_word": "HalfNormal(1)"})
    for name in ("bar", "tau", "theta", "s"):
        assert varied[name].equals(first[name])
    assert not varied["u"].equals(first["u"])


@pytest.mark.parametrize("distance", [0.5, 7.0, np.nan, np.inf, "far", None])
def test_distances_make_no_difference(table: pd.DataFrame, distance: object) -> None:
    for model in ("crossed", "interaction", "baseline"):
        expected = prior_draws(table, model, draws=5)
        assert prior_draws(table.assign(cosine_distance=distance), model, draws=5).identical(
            expected
        )
        moved = table.assign(cosine_distance=2 - table["cosine_distance"])
        assert prior_draws(moved, model, draws=5).identical(expected)
        none = table.drop(columns=["cosine_distance", "cosine_similarity"])
        assert prior_draws(none, model, draws=5).identical(expected)
    both = pd.concat([table, table.assign(embedding="other")])
    expected = prior_draws(both, "embeddings", draws=5)
    changed = both.assign(cosine_distance=distance)
    assert prior_draws(changed, "embeddings", draws=5).identical(expected)


def test_distances_of_duplicates_and_replicates_make_no_difference(table: pd.DataFrame) -> None:
    expected = prior_draws(table, "crossed", draws=5)
    again = pd.concat([table, table.head(3).assign(cosine_distance=np.nan)])
    with pytest.warns(BayesBiasWarning, match="3 of .* rows are duplicates and were left out"):
        assert prior_draws(again, "crossed", draws=5).identical(expected)
    noisy = table.assign(cosine_distance=table["cosine_distance"] / 2)
    replicates = pd.concat([table.assign(replicate="a"), noisy.assign(replicate="b")])
    assert prior_draws(replicates, "crossed", draws=5).identical(expected)


def test_bad_input(table: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match="'model' is 'cross'; .* Did you mean 'crossed'?"):
        prior_draws(table, "cross")
    with pytest.raises(SpecError, match="'priors' has 'taus'; .* Did you mean 'tau'?"):
        prior_draws(table, priors={"taus": "Exponential(1)"})
    with pytest.raises(SpecError, match="Did you mean 'Exponential'?"):
        prior_draws(table, priors={"tau": "Exponentail(1)"})
    with pytest.raises(SpecError, match="'likelihood' is 'cauchy'"):
        prior_draws(table, likelihood="cauchy")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'draws' is 0; expected a whole number, 1 or more"):
        prior_draws(table, draws=0)
    with pytest.raises(SpecError, match="'seed' is -1"):
        prior_draws(table, seed=-1)
    with pytest.raises(DataError, match="compares embeddings"):
        prior_draws(table, "embeddings")
    with pytest.warns(BayesBiasWarning, match="3 of .* rows are duplicates and were left out"):
        prior = prior_draws(pd.concat([table, table.head(3)]), draws=2)
    assert prior.sizes["row"] == len(table)
    kept = prior_draws(pd.concat([table, table.head(3)]), draws=2, duplicates="keep")
    assert kept.sizes["row"] == len(table) + 3


def test_common_parts(demo: bb.Embedding) -> None:
    """Two embeddings: what both have cancels in the difference, and counts twice in the sum."""
    tables = [
        bb.distance_table(emb, bb.load_study("religion"))
        for emb in (demo, bb.load_embedding("demo-100d"))
    ]
    words = tables[0]["word_to_compare"].unique()[::12]
    both = pd.concat(tables)
    rows = both[both["protected_word"].isin(WORDS) & both["word_to_compare"].isin(words)]
    prior = prior_draws(rows, "embeddings", draws=4000)
    spec = bb.load_model("embeddings")
    assert set(prior.data_vars) == {"distance", *(p.name for p in spec.parameters)}
    common = prior["tau_word"].sel(attribute_kind="stereotype").to_numpy().ravel()
    own = prior["tau_word_e"].sel(attribute_kind="stereotype").to_numpy().ravel()
    assert follows(common, stats.expon(scale=1 / 5))
    assert follows(own, stats.expon(scale=1 / 7))
    u = prior["u"].isel(chain=0, word_to_compare=0)
    first, second = (u.isel(embedding=e).to_numpy() for e in (0, 1))
    apart = (second - first) / np.sqrt(2 * own**2)
    together = (second + first) / np.sqrt(4 * common**2 + 2 * own**2)
    assert follows(apart, stats.norm)
    assert follows(together, stats.norm)
    assert abs(np.corrcoef(apart, together)[0, 1]) < 0.06
    # So it is with the distances of a pair of words, given what is expected of them.
    table = prepare_table(rows)
    data = model_data(spec, table, observed=False)
    mean = np.zeros((4000, len(table)))
    table = table.assign(
        attribute_kind=[data.levels["attribute_kind"][i] for i in data.codes["attribute_kind"]]
    )
    for name in spec.mean:
        times = data.times(spec, name)
        mean += at_rows(prior, name, table) * (1 if times is None else times)
    residual = prior["distance"].to_numpy()[0] - mean
    pairs = table.groupby(["protected_word", "word_to_compare"], observed=True).indices
    i, j = next(rows for rows in pairs.values() if len(rows) == 2)
    s, own = (at_rows(prior, name, table) for name in ("s", "s_e"))
    apart = (residual[:, j] - residual[:, i]) / np.hypot(own[:, i], own[:, j])
    weights = own[:, [i, j]] ** -2.0
    middle = (residual[:, [i, j]] * weights).sum(axis=1) / weights.sum(axis=1)
    together = middle / np.sqrt(s[:, i] ** 2 + 1 / weights.sum(axis=1))
    assert follows(apart, stats.norm)
    assert follows(together, stats.norm)
    assert abs(np.corrcoef(apart, together)[0, 1]) < 0.06


def known_scales(spec: bb.models.ModelSpec) -> tuple[bb.models.ModelSpec, dict[str, float]]:
    """Return a model with scales that are as good as known, each another one."""
    names = [p.name for p in spec.parameters if p.prior.is_positive]
    known = dict(zip(names, np.geomspace(0.05, 0.5, len(names)).tolist(), strict=True))
    priors = {name: f"LogNormal({np.log(value)}, 1e-9)" for name, value in known.items()}
    return spec.vary(priors=priors), known


@pytest.mark.parametrize("errors", ["none", "few"])
@pytest.mark.parametrize("embeddings", [2, 3])
def test_covariance_of_everything(embeddings: int, errors: str) -> None:
    """Parameters and distances are those of one dense normal distribution, rows missing or not."""
    spec, known = known_scales(bb.load_model("embeddings"))
    table = make_table(3, embeddings=embeddings, keep=0.8, errors=errors)
    prior = prior_draws(table, spec, draws=DRAWS, seed=7)
    brute = BruteForce(spec, table)
    given = brute.given({name: np.full(len(brute.cells(name)), v) for name, v in known.items()})
    names = dict.fromkeys(name for name, _ in brute.names)
    parameters = [prior[name].to_numpy().reshape(DRAWS, -1) for name in names]
    drawn = (np.hstack(parameters), prior["distance"].to_numpy()[0])
    for values, mean, covariance in (
        (drawn[0], given.mean, given.covariance),
        (drawn[1], *given.marginal),
    ):
        noise = np.linalg.solve(np.linalg.cholesky(covariance), (values - mean).T).T
        assert follows(noise.ravel(), stats.norm)
        products = noise.T @ noise / DRAWS
        n = len(products)
        # The largest of so many errors, each with a standard deviation of 1 / √draws or √2 of it.
        worst = stats.norm.isf(1e-4 / n**2) / np.sqrt(DRAWS)
        assert np.abs(products - np.diag(np.diag(products))).max() < worst
        assert np.abs(np.diag(products) - 1).max() < np.sqrt(2) * worst


def test_a_common_part_beside_known_own_ones() -> None:
    """A prior that names no other parameter may have a common part as well."""
    spec = bb.models.ModelSpec.from_dict(
        {
            "name": "own",
            "mean": ["m"],
            "scale": "s",
            "parameters": {
                "tau": {"prior": "LogNormal(-1, 1e-9)", "over": "embedding"},
                "m": {
                    "by": ["connection", "embedding"],
                    "prior": "Normal(1, 0.2)",
                    "common": "tau",
                },
                "s": {"prior": "Exponential(5)"},
            },
        }
    )
    prior = prior_draws(make_table(embeddings=2), spec, draws=4000)
    first, second = (prior["m"].to_numpy()[0, :, 0, e] for e in (0, 1))
    assert follows((second - first) / (0.2 * np.sqrt(2)), stats.norm)
    together = np.sqrt(4 * np.exp(-2) + 2 * 0.2**2)
    assert follows((second + first - 2) / together, stats.norm)
