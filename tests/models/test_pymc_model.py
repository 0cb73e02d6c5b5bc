"""The coordinates in which pooled parameters are sampled, and the guesses that they rest on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from brute_force import SCIPY, BruteForce, by_name, make_table
from hypothesis import given
from hypothesis import strategies as st
from pymc.model.transform.conditioning import remove_value_transforms
from scipy import stats
from simulated import KINDS, simulated_table

import bayesbias as bb
from bayesbias.models.exact.compiled_model import compile_model
from bayesbias.models.model_data import model_data, prepare_table
from bayesbias.models.nuts.initial_values import Guess, guess_pooled
from bayesbias.models.nuts.pymc_model import _Standardised, build_pymc_model

#: Pooled in two steps, with an effect of attributes.
TWO_STEPS = bb.models.ModelSpec.from_dict(
    {
        "name": "two_steps",
        "mean": ["theta", "u"],
        "scale": "s",
        "parameters": {
            "centre": {"by": ["connection"], "prior": "Normal(1, 0.3)"},
            "tau_embedding": {"prior": "Exponential(2)"},
            "bar": {"by": ["connection", "embedding"], "prior": "Normal(centre, tau_embedding)"},
            "tau": {"by": ["connection", "embedding"], "prior": "Exponential(2)"},
            "theta": {
                "by": ["protected_word", "connection", "embedding"],
                "prior": "Normal(bar, tau)",
            },
            "tau_word": {"by": ["embedding"], "prior": "Exponential(5)"},
            "u": {"by": ["word_to_compare", "embedding"], "prior": "Normal(0, tau_word)"},
            "s": {"by": ["connection", "embedding"], "prior": "Exponential(2)"},
        },
    }
)


def guesses(table: pd.DataFrame, model: str | bb.models.ModelSpec) -> dict[str, Guess]:
    spec = bb.load_model(model)
    return guess_pooled(spec, model_data(spec, prepare_table(table)))


def test_guesses_are_means_of_cells_and_of_those() -> None:
    table = simulated_table(1)
    found = guesses(table, "hierarchical")
    assert set(found) == {"theta"}
    cells = table.pivot_table("cosine_distance", "protected_word", "connection")
    np.testing.assert_allclose(found["theta"].value, cells[list(KINDS)])
    both = pd.concat([simulated_table(i, embedding=f"e{i}") for i in range(2)])
    found = guesses(both, TWO_STEPS)
    assert set(found) == {"theta", "bar", "u"}
    cells = both.pivot_table("cosine_distance", "protected_word", ["connection", "embedding"])
    cells = cells.mean().reset_index(name="mean").pivot_table("mean", "connection", "embedding")
    np.testing.assert_allclose(found["bar"].value, cells.loc[list(KINDS)])


def test_precisions_are_those_that_the_table_was_made_with() -> None:
    tau, tau_word, s = 0.05, 0.1, 0.08
    size = {"groups": 4, "words": 10, "stereotypes": 20, "controls": 80}
    both = pd.concat(
        [
            simulated_table(i, embedding=f"e{i}", tau=tau, tau_word=tau_word, s=s, **size)
            for i in range(2)
        ]
    )
    found = guesses(both, TWO_STEPS)
    rows = {"associated": 20, "different": 60, "human": 80, "none": 80}
    for place, kind in enumerate(KINDS):
        np.testing.assert_allclose(found["theta"].precision[:, place], rows[kind] / s**2, rtol=0.3)
        spread = tau**2 + s**2 / rows[kind]
        np.testing.assert_allclose(found["bar"].precision[place], 40 / spread, rtol=0.7)
    np.testing.assert_allclose(found["u"].precision, 40 / s**2, rtol=0.3)
    # What the cells leave over of an attribute's distances is its effect.
    cells = both.groupby(["protected_word", "connection", "embedding"])["cosine_distance"]
    left = both.assign(left=both["cosine_distance"] - cells.transform("mean"))
    expected = left.pivot_table("left", "word_to_compare", "embedding", sort=False)
    np.testing.assert_allclose(found["u"].value, expected, atol=1e-12)


def test_a_cell_without_rows_is_guessed_from_the_prior() -> None:
    table = simulated_table(1).query("protected_word != 'p00' or connection != 'human'")
    theta = guesses(table, "crossed")["theta"]
    place = 0, KINDS.index("human")
    assert theta.value[place] == 1
    assert theta.precision[place] == 0
    assert np.count_nonzero(theta.precision == 0) == 1


def test_with_one_row_a_cell_nothing_is_known_about_the_spread() -> None:
    table = simulated_table(1).drop_duplicates(["protected_word", "connection"])
    assert not guesses(table, "hierarchical")["theta"].precision.any()


def test_precisions_are_right_in_size_with_more_means_than_rows() -> None:
    """Then many means say the same, and the rest is still known, roughly."""
    precisions = []
    for seed in range(20):
        table = simulated_table(seed, groups=2, words=2, stereotypes=3, controls=5, s=0.1)
        found = guesses(table, "interaction")
        assert sum(guess.value.size for guess in found.values()) > len(table)
        precisions.append(np.median(found["u"].precision[found["u"].precision > 0] / 4))
    # 1 / 0.1², each attribute has four rows.
    assert 100 / 4 < np.median(precisions) < 100 * 4


def test_of_values_that_nothing_is_known_about_only_deviations_are_sampled() -> None:
    """No product with a precision of zero is left to PyTensor."""
    mean, sd = np.array([1.0, 2.0, 3.0]), np.array(0.5)
    without = _Standardised.about(Guess(np.zeros(3), np.zeros(3)))
    assert without.guess is None
    np.testing.assert_array_equal(without.forward(mean + 1, mean, sd), [2, 2, 2])
    np.testing.assert_array_equal(without.backward(np.ones(3), mean, sd), mean + 0.5)
    some = _Standardised.about(Guess(np.zeros(3), np.array([0.0, 0.0, 4.0])))
    middle = some.backward(np.zeros(3), mean, sd)
    np.testing.assert_allclose(middle.eval(), [1, 2, 1.5])


def test_the_order_of_the_terms_does_not_move_the_level() -> None:
    crossed = bb.load_model("crossed")
    turned = bb.models.ModelSpec.from_dict({**crossed.to_dict(), "mean": ["u", "theta"]})
    table = simulated_table(1)
    for name, guess in guesses(table, crossed).items():
        np.testing.assert_allclose(guesses(table, turned)[name].value, guess.value)


@pytest.fixture(scope="module")
def transform() -> Callable[..., list[np.ndarray]]:
    """From a coordinate z: the value, its logarithmic derivative, and z from the value."""
    import pytensor
    import pytensor.tensor as pt

    z, mean, sd, guess, precision = (pt.dscalar(n) for n in ("z", "mean", "sd", "guess", "p"))
    standardised = _Standardised(Guess(guess, precision))  # type: ignore[arg-type]
    inputs = (None, None, mean, sd)
    value = standardised.backward(z, *inputs)
    outputs = [value, standardised.log_jac_det(z, *inputs), standardised.forward(value, *inputs)]
    return pytensor.function([z, mean, sd, guess, precision], outputs, mode="FAST_COMPILE")


@given(
    z=st.floats(-4, 4),
    mean=st.floats(-1, 2),
    sd=st.floats(1e-3, 2),
    guess=st.floats(-1, 2),
    error=st.floats(1e-3, 10),
)
def test_the_coordinate_is_standard_normal_if_the_guess_is_right(
    transform: Callable[..., list[np.ndarray]],
    z: float,
    mean: float,
    sd: float,
    guess: float,
    error: float,
) -> None:
    """One observation, the guess, of a value with a normal prior: the textbook's posterior."""

    def log_density(at: float) -> float:
        value, jacobian, _ = transform(at, mean, sd, guess, error**-2)
        prior, likelihood = (
            stats.norm.logpdf(value, m, s) for m, s in ((mean, sd), (guess, error))
        )
        return float(prior + likelihood + jacobian)

    found = log_density(z) - log_density(0)
    # The two densities may be huge and cancel.
    size = ((mean - guess) / min(sd, error)) ** 2
    assert found == pytest.approx(-(z**2) / 2, abs=1e-9 * (1 + size))
    _, jacobian, back = transform(z, mean, sd, guess, error**-2)
    assert back == pytest.approx(z, abs=1e-9 * (1 + size))
    assert np.exp(jacobian) == pytest.approx(1 / np.hypot(1 / sd, 1 / error))


@given(z=st.floats(-4, 4), mean=st.floats(-1, 2), sd=st.floats(1e-3, 2))
def test_without_rows_it_is_the_distance_from_the_mean(
    transform: Callable[..., list[np.ndarray]], z: float, mean: float, sd: float
) -> None:
    value, jacobian, back = transform(z, mean, sd, 5.0, 0.0)
    assert value == pytest.approx(mean + sd * z, abs=1e-12)
    assert jacobian == pytest.approx(np.log(sd))
    assert back == pytest.approx(z, abs=1e-9)


def test_samplers_start_at_the_guess() -> None:
    built = bb.fit(simulated_table(1), "crossed", engine="exact", draws=10).pymc_model()
    point = built.initial_point(random_seed=1)
    assert abs(point["theta_standardised__"]).max() < 0.5
    assert abs(point["u_standardised__"]).max() < 0.5
    assert np.isfinite(built.compile_logp(mode="FAST_COMPILE")(point))


def assert_density(spec: bb.models.ModelSpec, table: pd.DataFrame) -> None:
    """Compare PyMC's density of parameters and rows with that of dense normal distributions."""
    data = model_data(spec, table)
    compiled = compile_model(spec, data)
    brute = BruteForce(spec, table)
    at = np.random.default_rng(1).normal(-1, 0.3, compiled.layout.n_scales)
    normal = brute.given(by_name(compiled, at))
    root = np.linalg.cholesky(normal.covariance)
    z = normal.mean + root @ np.random.default_rng(2).normal(size=len(root))
    expected = stats.multivariate_normal.logpdf(z, normal.mean, normal.covariance)
    expected += stats.multivariate_normal.logpdf(normal.y, normal.x @ z, normal.noise)
    point: dict[str, np.ndarray] = {}
    for p in spec.parameters:
        shape = data.shape(p.by)
        if p.prior.is_positive:
            point[p.name] = np.exp(at[compiled.layout.scales[p.name]]).reshape(shape)
            expected += SCIPY[p.prior.family](*p.prior.arguments).logpdf(point[p.name]).sum()
        else:
            of = [i for i, (parameter, _) in enumerate(brute.names) if parameter == p.name]
            values = z[of].reshape(shape)
            if p.common:
                axis = p.by.index("embedding")
                for i, level in enumerate(data.levels["embedding"]):
                    point[f"{p.name}_{level}"] = values.take(i, axis)
            else:
                point[p.name] = values
    model = build_pymc_model(spec, data)
    model.rvs_to_initial_values.update(dict.fromkeys(model.rvs_to_initial_values))
    model = remove_value_transforms(model)
    parts = model.compile_logp(mode="FAST_COMPILE", sum=False)(point)
    # PyMC computes the mean of Exponential(5) in single precision.
    assert sum(float(np.sum(part)) for part in parts) == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "embeddings"), [("interaction", 1), ("embeddings", 2)])
def test_the_density_by_brute_force_where_words_lack_a_list(name: str, embeddings: int) -> None:
    # Word x0 has neutral attributes only, and y0 no stereotypes in one of two embeddings.
    table = make_table(1, embeddings=embeddings)
    word, connection = table["protected_word"], table["connection"]
    gone = (word == "x0") & (connection != "none")
    if embeddings > 1:
        gone |= (word == "y0") & (connection == "associated") & (table["embedding"] == "e1")
    assert_density(bb.load_model(name), bb.check_table(table[~gone]))


#: Common parts in factors of another order, of a slope, of some rows only, and of residuals.
COMMON = bb.models.ModelSpec.from_dict(
    {
        "name": "common",
        "mean": ["theta", "b", "u", "slope"],
        "scale": "s",
        "common": "s_all",
        "parameters": {
            "bar": {"by": ["connection"], "prior": "Normal(1, 0.3)"},
            "tau_all": {"by": ["connection"], "over": "embedding", "prior": "Exponential(2)"},
            "tau": {"by": ["embedding", "connection"], "prior": "Exponential(2)"},
            "theta": {
                "by": ["embedding", "protected_word", "connection"],
                "prior": "Normal(0.1 + bar, tau)",
                "common": "tau_all",
            },
            "tau_kind": {"by": ["attribute_kind"], "over": "embedding", "prior": "HalfNormal(1)"},
            "tau_b": {"prior": "Exponential(5)"},
            "b": {
                "by": ["word_class", "embedding"],
                "prior": "Normal(0, tau_b)",
                "common": "tau_kind",
                "only": "stereotype",
            },
            "u": {
                "by": ["word_to_compare", "embedding"],
                "prior": "Normal(0, tau_b)",
                "common": "tau_kind",
            },
            "tau_slope": {"over": "embedding", "prior": "Exponential(5)"},
            "slope": {
                "by": ["embedding"],
                "prior": "Normal(0, tau_b)",
                "common": "tau_slope",
                "covariate": "length",
            },
            "s_all": {"by": ["connection"], "over": "embedding", "prior": "Exponential(2)"},
            "s": {"by": ["connection", "embedding"], "prior": "Exponential(2)"},
        },
    }
)


@pytest.mark.slow
@pytest.mark.parametrize("errors", ["none", "many"])
@pytest.mark.parametrize("embeddings", [2, 3])
def test_the_density_of_common_parts_by_brute_force(embeddings: int, errors: str) -> None:
    """Rows are missing, so that some are alone and some in two of three embeddings."""
    table = make_table(4, embeddings=embeddings, keep=0.7, errors=errors)
    length = np.random.default_rng(3).normal(size=len(table))
    assert_density(COMMON, table.assign(length=length))


@pytest.mark.slow
def test_the_density_of_a_common_part_beside_known_own_ones() -> None:
    """A prior that names no other parameter may have a common part as well."""
    data = COMMON.to_dict()
    data["parameters"]["b"]["prior"] = "Normal(0, 0.2)"
    table = make_table(4, embeddings=2, keep=0.7)
    length = np.random.default_rng(3).normal(size=len(table))
    assert_density(bb.models.ModelSpec.from_dict(data), table.assign(length=length))
