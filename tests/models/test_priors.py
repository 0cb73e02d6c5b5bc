"""Priors against SciPy, and how they are written."""

from __future__ import annotations

import numpy as np
import pytest
from brute_force import SCIPY
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayesbias.errors import SpecError
from bayesbias.models.priors import FAMILIES, Prior

EXAMPLES = {
    "Normal": [(0.0, 1.0), (-1.5, 0.3)],
    "HalfCauchy": [(1.0,), (0.2,)],
    "HalfNormal": [(1.0,), (2.5,)],
    "HalfStudentT": [(3.0, 1.0), (1.0, 2.0), (30.0, 0.5)],
    "Exponential": [(2.0,), (0.1,)],
    "Gamma": [(2.0, 0.1), (0.5, 3.0)],
    "InverseGamma": [(3.0, 0.5), (1.2, 4.0)],
    "LogNormal": [(-1.6, 0.5), (0.0, 2.0)],
}
PRIORS = [
    pytest.param(Prior(family, arguments), id=f"{family}{arguments}")
    for family, several in EXAMPLES.items()
    for arguments in several
]


def test_every_family_is_here() -> None:
    assert set(EXAMPLES) == set(FAMILIES) == set(SCIPY)


@pytest.mark.parametrize("prior", PRIORS)
def test_log_density_is_that_of_scipy(prior: Prior) -> None:
    x = np.geomspace(1e-6, 50, 200)
    if not prior.is_positive:
        x = np.concatenate([-x, x])
    expected = SCIPY[prior.family](*prior.arguments).logpdf(x)
    np.testing.assert_allclose(prior.log_density(x), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("prior", PRIORS)
def test_draws_follow_the_distribution(prior: Prior) -> None:
    draws = prior.draw(np.random.default_rng(1), (500, 10))
    assert draws.shape == (500, 10)
    assert (draws > 0).all() == prior.is_positive
    distribution = SCIPY[prior.family](*prior.arguments)
    assert stats.kstest(draws.ravel(), distribution.cdf).pvalue > 0.001


def test_one_draw() -> None:
    assert Prior("Exponential", (2.0,)).draw(np.random.default_rng(1), ()).shape == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Normal(1, 0.5)", Prior("Normal", (1.0, 0.5))),
        ("  Normal( -1,5e-1 ) ", Prior("Normal", (-1.0, 0.5))),
        ("Normal(bar, tau)", Prior("Normal", (0.0, 0.0), ("bar",), "tau")),
        ("Normal(0.5 + a + 1 + b, 2)", Prior("Normal", (1.5, 2.0), ("a", "b"))),
        ("Normal(0, tau)", Prior("Normal", (0.0, 0.0), (), "tau")),
        ("Gamma(2, .1)", Prior("Gamma", (2.0, 0.1))),
    ],
)
def test_reading(text: str, expected: Prior) -> None:
    assert Prior.parse(text, "theta") == expected
    assert Prior.parse(expected, "theta") is expected


def test_parents() -> None:
    prior = Prior.parse("Normal(1 + bar + shift, tau)", "theta")
    assert prior.parents == ("bar", "shift", "tau")
    assert not prior.is_positive
    assert str(prior) == "Normal(1 + bar + shift, tau)"


EXAMPLE = r"write it like 'Normal\(1, 0.5\)', 'Normal\(bar, tau\)' or 'Exponential\(2\)'\."
NOT_A_SUM = "expected numbers, names and sums of them, not "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (3, f"^the prior of 'm' is 3; {EXAMPLE}"),
        (None, EXAMPLE),
        ("", EXAMPLE),
        ("Normal(1, 2", rf"'Normal\(1, 2'; {EXAMPLE}"),
        ("Normal", EXAMPLE),
        ("1 + 1", EXAMPLE),
        ("pm.Normal(1, 2)", EXAMPLE),
        ("Normal(mu=1, sigma=2)", EXAMPLE),
        ("Normal(1, 2); x", EXAMPLE),
        ("Normal(\0)", EXAMPLE),
        ("normal(1, 2)", "'prior of m' is 'normal'; expected one of 'Exponential', .*'Normal'?"),
        ("Uniform(0, 1)", "'prior of m' is 'Uniform'; expected one of"),
        ("Normal(1)", r"Normal has 2 parameters: Normal\(mu, sigma\)\.$"),
        ("Exponential(1, 2)", r"Exponential has 1 parameter: Exponential\(lam\)\.$"),
        ("Normal('a', 1)", NOT_A_SUM),
        ("Normal(-bar, 1)", NOT_A_SUM + "'-bar'"),
        ("Normal(2 * bar, 1)", NOT_A_SUM + r"'2 \* bar'"),
        ("Normal(1 - 0.5, 1)", NOT_A_SUM + "'1 - 0.5'"),
        ("Normal(bar[0], 1)", NOT_A_SUM + r"'bar\[0\]'"),
        ("Normal(True, 1)", NOT_A_SUM + "'True'"),
        ("Normal(1 + 2j, 1)", NOT_A_SUM + "'2j'"),
        ("Normal(1e999, 1)", NOT_A_SUM),
        ("Normal(*bar, 1)", NOT_A_SUM),
        ("Normal({[]: 1}, 1)", NOT_A_SUM),
        (f"Normal(1{'0' * 400}, 1)", NOT_A_SUM),
        ("Exponential(tau)", "only Normal can have other parameters in it"),
        ("Gamma(2, 1 + beta)", "only Normal can have other parameters in it"),
        ("Normal(0, tau + 1)", "its standard deviation must be a number or one parameter"),
        ("Normal(0, tau + t)", "its standard deviation must be a number or one parameter"),
        ("Normal(0, 0)", "sigma must be above zero"),
        ("Normal(bar, -1)", "sigma must be above zero"),
        ("HalfCauchy(0)", "beta must be above zero"),
        ("HalfNormal(-1)", "sigma must be above zero"),
        ("HalfStudentT(0, 1)", "nu must be above zero"),
        ("HalfStudentT(3, 0)", "sigma must be above zero"),
        ("Exponential(-2)", "lam must be above zero"),
        ("Gamma(0, 1)", "alpha must be above zero"),
        ("Gamma(1, 0)", "beta must be above zero"),
        ("InverseGamma(0, 1)", "alpha must be above zero"),
        ("LogNormal(0, 0)", "sigma must be above zero"),
    ],
)
def test_what_is_refused(text: object, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Prior.parse(text, "m")


names = st.sampled_from(["bar", "tau", "t_1", "_x", "Größe", "e1"])
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
positive = st.floats(1e-6, 1e6)


@st.composite
def priors(draw: st.DrawFn) -> Prior:
    family = draw(st.sampled_from(sorted(FAMILIES)))
    places = range(len(FAMILIES[family].parameters))
    must = FAMILIES[family].positive_parameters
    arguments = tuple(draw(positive if place in must else numbers) for place in places)
    if family != "Normal":
        return Prior(family, arguments)
    mean = tuple(draw(st.lists(names, max_size=3)))
    sd = draw(st.none() | names)
    return Prior(family, (arguments[0], 0.0 if sd else arguments[1]), mean, sd)


@given(priors())
def test_written_and_read_again(prior: Prior) -> None:
    assert Prior.parse(str(prior), "theta") == prior


def test_round_numbers_are_written_short() -> None:
    assert str(Prior("Normal", (1.0, 0.5))) == "Normal(1, 0.5)"
    assert str(Prior("Gamma", (2.0, 0.1))) == "Gamma(2, 0.1)"
    assert str(Prior("Normal", (0.0, 0.0), ("bar",), "tau")) == "Normal(bar, tau)"
