"""The catalogue of models, models of one's own, and what is refused."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from brute_force import make_table

import bayesbias as bb
from bayesbias.errors import BayesBiasError, NotFoundError, SpecError
from bayesbias.models import spec as module
from bayesbias.models.priors import Prior
from bayesbias.models.spec import Parameter

NAMES = [
    "baseline", "connection", "separate", "hierarchical", "crossed", "interaction", "embeddings",
]  # fmt: skip


def a_model(**changes: Any) -> dict[str, Any]:
    """Return a model as data; a change of None leaves the key out."""
    data = {
        "name": "mine",
        "mean": ["theta"],
        "scale": "s",
        "parameters": {
            "bar": {"prior": "Normal(1, 0.3)"},
            "tau": {"prior": "Exponential(2)"},
            "theta": {"by": ["protected_word"], "prior": "Normal(bar, tau)"},
            "s": {"prior": "Exponential(2)"},
        },
    }
    return {key: value for key, value in (data | changes).items() if value is not None}


def parameters(**changes: Any) -> dict[str, Any]:
    """Return its parameters with other ones added or, with None, left out."""
    merged = a_model()["parameters"] | changes
    return {key: value for key, value in merged.items() if value is not None}


# The catalogue.


def test_the_catalogue() -> None:
    assert list(bb.models.MODELS) == NAMES
    assert len(bb.models.MODELS) == 7
    assert bb.models.MODELS["baseline"] == bb.load_model("baseline").title
    assert repr(bb.models.MODELS).startswith("baseline: one mean per protected word\n")
    with pytest.raises(KeyError):
        bb.models.MODELS["nothing"]


# mean, scale and every parameter with its factors and prior: the table of models.md.
CATALOGUE = {
    "baseline": ("m", "sigma", "m[protected_word] Normal(1, 0.5)", "sigma[] HalfCauchy(1)"),
    "connection": (
        "m + co",
        "sigma",
        "m[protected_word] Normal(1, 0.5)",
        "co[connection] Normal(0, 0.5)",
        "sigma[] HalfCauchy(1)",
    ),
    "separate": (
        "theta",
        "sigma",
        "theta[protected_word connection] Normal(1, 0.5)",
        "sigma[] HalfCauchy(1)",
    ),
    "hierarchical": (
        "theta",
        "s",
        "bar[connection] Normal(1, 0.3)",
        "tau[connection] Exponential(2)",
        "theta[protected_word connection] Normal(bar, tau)",
        "s[connection] Exponential(2)",
    ),
    "crossed": (
        "theta + u",
        "s",
        "bar[connection] Normal(1, 0.3)",
        "tau[connection] Exponential(2)",
        "theta[protected_word connection] Normal(bar, tau)",
        "tau_word[] Exponential(5)",
        "u[word_to_compare] Normal(0, tau_word)",
        "s[connection] Exponential(2)",
    ),
}


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_models_are_those_of_the_literature(name: str) -> None:
    spec = bb.load_model(name)
    listed = [f"{p.name}[{' '.join(p.by)}] {p.prior}" for p in spec.parameters]
    assert (" + ".join(spec.mean), spec.scale, *listed) == CATALOGUE[name]
    assert (spec.likelihood, spec.common) == ("normal", None)


def test_embeddings_is_interaction_with_parts_that_all_have_in_common() -> None:
    """Every scale of `interaction` is there twice: of what is common, and of each embedding."""
    spec, one = bb.load_model("embeddings"), bb.load_model("interaction")
    assert (spec.mean, spec.scale, spec.common) == (one.mean, "s_e", "s")
    for p in one.parameters:
        if p.prior.is_positive:
            common, own = spec[p.name], spec[f"{p.name}_e"]
            assert common == replace(p, over="embedding")
            assert (own.over, own.by) == (None, p.by)
        elif p.prior.sd is not None:
            pooled = spec[p.name]
            assert pooled.by == (*p.by, "embedding")
            assert (pooled.common, pooled.only) == (p.prior.sd, p.only)
            assert pooled.prior == replace(p.prior, sd=f"{p.prior.sd}_e")


@pytest.mark.parametrize("name", NAMES)
def test_text(name: str) -> None:
    spec = bb.load_model(name)
    text = str(spec).splitlines()
    assert text[0] == f"{name}: {spec.title}"
    more = f", with a common part {spec.common}" if spec.common else ""
    assert text[1] == f"  distance ~ Normal({' + '.join(spec.mean)}, {spec.scale}){more}"
    assert len(text) == 2 + len(spec.parameters)
    if spec.common:
        assert "  tau[connection] ~ Exponential(2) over embedding" in text
        u = "  u[word_to_compare, embedding] ~ Normal(0, tau_word_e), with a common part tau_word"
        assert u in text
        with pytest.raises(SpecError, match="residuals with a common part need a normal likeli"):
            spec.vary(likelihood="student_t")
        return
    heavy = str(spec.vary(likelihood="student_t")).splitlines()
    assert heavy[1].startswith("  distance ~ StudentT(nu, ")
    assert heavy[-1] == "  nu ~ Gamma(2, 0.1)"


def test_both_places_of_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Path(module.__file__).parents[2] / "models"
    if (Path(module.__file__).parents[1] / "_models").is_dir():
        pytest.skip("an installed package has only one place")
    assert module._folder() == beside
    # An installed package has the folder inside it, and looks there first.
    monkeypatch.setattr(module, "__file__", str(tmp_path / "bayesbias" / "inference" / "spec.py"))
    assert module._folder() == tmp_path / "models"
    inside = tmp_path / "bayesbias" / "_models"
    inside.mkdir(parents=True)
    assert module._folder() == inside
    for path in beside.glob("*.toml"):
        (inside / path.name).write_bytes(path.read_bytes())
    assert module._catalogue.__wrapped__() == module._catalogue()


def test_every_model_is_shipped() -> None:
    root = Path(module.__file__).parents[2]
    if not (root / "pyproject.toml").is_file():
        pytest.skip("not a checkout")
    hatch = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]
    shipped = hatch["build"]["targets"]["wheel"]["force-include"]
    assert {f"models/{name}.toml": f"bayesbias/_models/{name}.toml" for name in NAMES} == shipped


# Models of one's own.


@pytest.mark.parametrize("residual", [None, "one", "connection"])
@pytest.mark.parametrize("likelihood", [None, "normal", "student_t"])
@pytest.mark.parametrize("name", NAMES)
def test_to_data_and_back(name: str, likelihood: Any, residual: Any) -> None:
    if name == "embeddings" and likelihood == "student_t":
        return  # refused, see above
    spec = bb.load_model(name).vary(likelihood=likelihood, residual=residual)
    assert bb.models.ModelSpec.from_dict(spec.to_dict()) == spec


def test_a_prior_with_many_digits_survives() -> None:
    spec = bb.load_model("baseline").vary(priors={"m": "Normal(0.123456789, 0.5)"})
    assert bb.models.ModelSpec.from_dict(spec.to_dict()) == spec
    assert bb.load_model(spec) is spec


def test_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "Mine.TOML"
    path.write_text(
        'name = "mine"\nmean = "theta"\nscale = "s"\nlikelihood = "student_t"\n'
        '[parameters.theta]\nby = ["protected_group", "größe"]\nprior = "Normal(1, 0.5)"\n'
        '[parameters.s]\nprior = "HalfNormal(1)"\n',
        encoding="utf-8",
    )
    for given in (path, str(path)):
        spec = bb.load_model(given)
        assert (spec.name, spec.title, spec.mean) == ("mine", "mine", ("theta",))
        assert spec["theta"] == Parameter(
            "theta", ("protected_group", "größe"), Prior("Normal", (1.0, 0.5))
        )
        assert spec["nu"].prior == Prior("Gamma", (2.0, 0.1))
        assert spec.factors == ("protected_group", "größe")


def test_a_file_with_degrees_of_freedom_of_its_own() -> None:
    nu = {"prior": "Exponential(0.1)"}
    spec = bb.models.ModelSpec.from_dict(
        a_model(likelihood="student_t", parameters=parameters(nu=nu))
    )
    assert [p.name for p in spec.parameters].count("nu") == 1
    assert spec["nu"].prior == Prior("Exponential", (0.1,))
    assert spec.vary(likelihood="student_t") == spec
    assert "nu" not in [p.name for p in spec.vary(likelihood="normal").parameters]


def test_files_that_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    with pytest.raises(NotFoundError, match="there is no file '.*mine.toml'"):
        bb.load_model(path)
    path.write_text("name = \n")
    with pytest.raises(SpecError, match="mine.toml: not valid TOML: .*line 1"):
        bb.load_model(path)
    path.write_text('name = "mine"\n')
    with pytest.raises(SpecError, match="mine.toml: model 'mine' has no 'mean'"):
        bb.load_model(path)
    path.write_bytes(b'name = "m\xff"\n')
    with pytest.raises(BayesBiasError, match="mine.toml"):
        bb.load_model(path)
    with pytest.raises(SpecError, match="'model' is 'crosed'; expected one of .*'crossed'?"):
        bb.load_model("crosed")


# Variations.


def test_vary() -> None:
    spec = bb.load_model("hierarchical")
    assert spec.vary() == spec
    one = spec.vary(residual="one")
    assert one["s"] == Parameter("s", (), Prior("Exponential", (2.0,)))
    assert one.vary(residual="connection") == spec
    changed = spec.vary(priors={"bar": "Normal(0, 1)", "s": "HalfNormal(1)"})
    assert changed["bar"].prior == Prior("Normal", (0.0, 1.0))
    assert changed["s"].by == ("connection",)
    assert spec["bar"].prior == Prior("Normal", (1.0, 0.3))
    heavy = spec.vary(likelihood="student_t", priors={"nu": "Gamma(3, 1)"})
    assert heavy["nu"].prior == Prior("Gamma", (3.0, 1.0))
    assert heavy.vary(likelihood="normal") == spec


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"priors": {"baar": "Normal(0, 1)"}}, "'priors' has 'baar'; .*'bar', .*'bar'?"),
        ({"priors": {"nu": "Gamma(2, 1)"}}, "'priors' has 'nu'"),
        ({"priors": {"bar": "Normal(0)"}}, "the prior of 'bar' is 'Normal.0.'; Normal has 2"),
        ({"priors": {"s": "Normal(0, 1)"}}, "the prior of 's', the residual scale, must allow"),
        ({"priors": {"theta": "Normal(1, 0.5)"}}, "nothing uses 'tau'"),
        ({"priors": {"theta": "Normal(bar, s)"}}, "uses 's', which is not defined before it"),
        ({"priors": {"tau": "Normal(0, 1)"}}, "'tau' cannot be the standard deviation of 'theta'"),
        ({"priors": {"bar": "Exponential(1)"}}, "'bar' cannot be the mean of 'theta'; its prior"),
        ({"likelihood": "cauchy"}, "'likelihood' is 'cauchy'; expected one of"),
        ({"covariates": "norm"}, "'covariates' is 'norm'; expected a list: .'norm'."),
        ({"residual": "word"}, "'residual' is 'word'; expected one of 'connection', 'one'"),
    ],
)
def test_variations_that_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        bb.load_model("hierarchical").vary(**changes)


# Everything that is wrong with a model has its own message.

NORMAL = {"prior": "Normal(0, 1)"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (a_model(meen=["theta"]), "'key of model mine' is 'meen'; expected one of .*'mean'?"),
        (a_model(name=None), "model '' has no 'name'"),
        (a_model(mean=None), "model 'mine' has no 'mean'"),
        (a_model(mean=[]), "model 'mine' has no 'mean'"),
        (a_model(scale=None), "model 'mine' has no 'scale'"),
        (a_model(parameters={}), "model 'mine' has no 'parameters'"),
        (a_model(parameters=["theta"]), "'parameters' must be tables"),
        (a_model(likelihood="cauchy"), "'likelihood' is 'cauchy'; expected one of"),
        (a_model(outcome="difference"), "'key of model mine' is 'outcome'; expected one of"),
        (a_model(correlation="tau"), "'key of model mine' is 'correlation'; expected one of"),
        (a_model(mean=3), "'mean of model mine' is 3; expected a list of names"),
        (a_model(mean=["theta", 3]), "expected a list of names"),
        (a_model(parameters=parameters(s="x")), "the parameter 's' is 'x'; expected by ="),
        (a_model(parameters=parameters(s={"by": []})), "the parameter 's' is .*; expected by ="),
        (a_model(parameters=parameters(s=NORMAL | {"x": 1})), "the parameter 's' is"),
        (a_model(parameters=parameters(s=NORMAL | {"by": 1})), "'by of s' is 1; expected a list"),
        (a_model(mean=["thta"]), "the model uses 'thta', .*; there is 'bar', .*'theta'?"),
        (a_model(scale="sd"), "the model uses 'sd', which is not defined"),
        (a_model(mean=["tau"]), "'tau' is a scale, not part of a mean"),
        (a_model(scale="bar"), r"the prior of 'bar', the residual scale.*Normal\(1, 0.3\)"),
        (a_model(parameters=parameters(**{"x y": NORMAL})), "'x y' is not a name for a parameter"),
        (a_model(parameters=parameters(x__=NORMAL)), "'x__' is not a name for a parameter"),
        (
            a_model(parameters=parameters(s={"by": ["c", "c"], "prior": "Exponential(1)"})),
            "'s' names a factor twice",
        ),
        (
            a_model(parameters=parameters(bar=None)),
            "the prior of 'theta' uses 'bar', .*; there is 'tau'\\.",
        ),
        (
            a_model(parameters={"theta": {"prior": "Normal(bar, 1)"}, **parameters(theta=None)}),
            "the prior of 'theta' uses 'bar', which is not defined before it; there is nothing",
        ),
        (
            a_model(parameters=parameters(theta={"prior": "Normal(bar, tau)", "covariate": "x"})),
            "'mean' needs a parameter that is part of every row and not a slope",
        ),
        (
            a_model(parameters=parameters(tau={"prior": "Exponential(2)", "covariate": "x"})),
            "'tau' is a scale and cannot be a slope",
        ),
        (
            a_model(parameters=parameters(bar={"prior": "Normal(1, 0.3)", "only": "human"})),
            "'only' is for parameters of 'mean'; 'bar' is not one",
        ),
        (
            a_model(
                parameters=parameters(
                    theta={"by": ["protected_word"], "prior": "Normal(bar, tau)", "only": "men"}
                )
            ),
            "every row",
        ),
        (
            a_model(
                mean=["m", "theta"],
                parameters=parameters(
                    m={"prior": "Normal(1, 1)"},
                    theta={"by": ["protected_word"], "prior": "Normal(bar, tau)", "only": "human"},
                ),
            ),
            "'theta' is pooled towards 'bar', and one of them is in some rows only",
        ),
        (a_model(parameters=parameters(tau=NORMAL)), "'tau' cannot be the standard deviation of"),
        (
            a_model(parameters=parameters(bar={"prior": "HalfNormal(1)"})),
            "'bar' cannot be the mean",
        ),
        (
            a_model(parameters=parameters(bar=None, theta={"prior": "Normal(tau, tau)"})),
            "'tau' cannot be the mean of 'theta'",
        ),
        (a_model(parameters=parameters(extra=NORMAL)), "nothing uses 'extra'"),
        # A parameter with the name of a coordinate of the posterior has no place in it.
        (
            a_model(mean=["theta", "draw"], parameters=parameters(draw=NORMAL)),
            "'draw' is not a name for a parameter",
        ),
        (
            a_model(
                mean=["theta", "connection"],
                parameters=parameters(connection=NORMAL | {"by": ["connection"]}),
            ),
            "'connection' is not a name for a parameter",
        ),
        (
            a_model(parameters=parameters(s={"by": ["draw"], "prior": "Exponential(1)"})),
            "'s' cannot differ by 'draw'",
        ),
        (
            a_model(mean=["theta", "bar"], parameters=parameters(bar=NORMAL | {"covariate": "x"})),
            "'bar' is part of a slope and of the mean itself; use two parameters",
        ),
        # Degrees of freedom are one positive number.
        (a_model(likelihood="student_t", parameters=parameters(nu=NORMAL)), "nu"),
        (
            a_model(
                likelihood="student_t",
                parameters=parameters(nu={"by": ["connection"], "prior": "Gamma(2, 0.1)"}),
            ),
            "nu",
        ),
    ],
)
def test_models_that_are_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        bb.models.ModelSpec.from_dict(data)


# Parts that the levels of a factor have in common.

OVER = {"prior": "Exponential(5)", "over": "embedding"}


def with_common(**changes: Any) -> dict[str, Any]:
    """Return parameters of which some have a part that all embeddings have in common."""
    theta = {
        "by": ["protected_word", "embedding"],
        "prior": "Normal(bar, tau)",
        "common": "tau_all",
    }
    merged = {"tau_all": OVER, **parameters(theta=theta), **changes}
    return {key: value for key, value in merged.items() if value is not None}


def test_common_parts_to_data_and_back() -> None:
    data = a_model(parameters=with_common(s_all=OVER), common="s_all")
    spec = bb.models.ModelSpec.from_dict(data)
    assert (spec.common, spec["theta"].common, spec["tau_all"].over) == (
        *("s_all", "tau_all", "embedding"),
    )
    assert spec.over("tau_all") == "embedding"
    assert spec.to_dict()["parameters"]["tau_all"] == {"by": [], **OVER}
    assert bb.models.ModelSpec.from_dict(spec.to_dict()) == spec
    assert str(spec).splitlines()[1:] == [
        "  distance ~ Normal(theta, s), with a common part s_all",
        "  tau_all ~ Exponential(5) over embedding",
        "  bar ~ Normal(1, 0.3)",
        "  tau ~ Exponential(2)",
        "  theta[protected_word, embedding] ~ Normal(bar, tau), with a common part tau_all",
        "  s ~ Exponential(2)",
        "  s_all ~ Exponential(5) over embedding",
    ]


def test_rows_differ_by_what_their_common_part_is_over() -> None:
    """Also where nothing else in the model distinguishes embeddings."""
    spec = bb.models.ModelSpec.from_dict(a_model(parameters=parameters(s_all=OVER), common="s_all"))
    assert spec.factors == ("protected_word", "embedding")


def test_residual_scales_of_own_and_common_parts_go_together() -> None:
    spec = bb.load_model("embeddings")
    one = spec.vary(residual="one")
    assert one["s_e"].by == one["s"].by == ()
    assert one.vary(residual="connection") == spec


def theta_with(**changes: Any) -> dict[str, Any]:
    """Return such parameters, with another theta."""
    return with_common(theta=with_common()["theta"] | changes)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            a_model(parameters=with_common(tau_all={"prior": "Normal(0, 1)", "over": "embedding"})),
            "'over' of 'tau_all' is for the standard deviation of a common part, with a prior such",
        ),
        (
            a_model(parameters=with_common(tau_all=OVER | {"by": ["embedding"]})),
            "'over' of 'tau_all' is for .* and a 'by' without 'embedding'",
        ),
        (
            a_model(parameters=with_common(tau_all={"prior": "Exponential(5)"})),
            "'tau_all' is the standard deviation of what values of 'theta' have in common; say "
            'over which factor: over = "embedding"',
        ),
        (
            a_model(parameters=parameters(), common="tau"),
            "'tau' is the standard deviation of what residuals have in common; say over which",
        ),
        (
            a_model(parameters=theta_with(prior="Normal(bar, tau_all)", common=None)),
            "'tau_all' is the standard deviation of a common part; name it as 'common' of 'theta'",
        ),
        (
            a_model(parameters=theta_with(by=["protected_word"])),
            "'tau_all' is over 'embedding', which values of 'theta' do not differ by",
        ),
        (a_model(parameters=theta_with(common="tau_al")), "'tau_al', which is not defined"),
        (a_model(parameters=with_common(), common="s_al"), "'s_al', which is not defined"),
        (a_model(parameters=with_common(s_all=OVER)), "nothing uses 's_all'"),
        (a_model(parameters=theta_with(common=None)), "nothing uses 'tau_all'"),
        (
            a_model(parameters=with_common(s_all=OVER), common="s_all", likelihood="student_t"),
            "residuals with a common part need a normal likelihood",
        ),
        # The scale of residuals is not that of a common part, nor both.
        (a_model(parameters=parameters(s=OVER)), "'s'"),
        (a_model(parameters=parameters(s=OVER), common="s"), "'s'"),
        # Scales have no common part.
        (
            a_model(
                parameters={
                    "tau_all": OVER,
                    **parameters(
                        s={"by": ["embedding"], "prior": "Exponential(2)", "common": "tau_all"}
                    ),
                }
            ),
            "'s'",
        ),
    ],
)
def test_common_parts_that_are_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        bb.models.ModelSpec.from_dict(data)


def test_a_covariate_has_one_slope() -> None:
    once = bb.load_model("hierarchical").vary(covariates=["norm"])
    assert once.covariates == ("norm",)
    assert once.vary(covariates=["norm"]) == once


def test_two_parameters_of_one_name() -> None:
    spec = bb.load_model("baseline")
    with pytest.raises(SpecError, match="two parameters named 'm'"):
        replace(spec, parameters=(*spec.parameters, spec["m"]))
    with pytest.raises(SpecError, match="has no 'mean': name at least one parameter"):
        replace(spec, mean=())


def test_a_student_t_model_needs_degrees_of_freedom() -> None:
    with pytest.raises(SpecError, match="nu"):
        replace(bb.load_model("baseline"), likelihood="student_t")


def test_an_unknown_parameter() -> None:
    with pytest.raises(KeyError):
        bb.load_model("baseline")["theta"]


def test_a_model_of_ones_own_is_fitted(tmp_path: Path) -> None:
    path = tmp_path / "groups.toml"
    path.write_text(
        'name = "groups"\nmean = ["g", "u"]\nscale = "s"\n'
        '[parameters.g]\nby = ["protected_group", "connection"]\nprior = "Normal(1, 0.5)"\n'
        '[parameters.tu]\nprior = "Exponential(5)"\n'
        '[parameters.u]\nby = ["word_to_compare"]\nprior = "Normal(0, tu)"\n'
        '[parameters.s]\nprior = "HalfNormal(1)"\n'
    )
    fit = bb.fit(make_table(), path, engine="exact", draws=100, chains=2)
    assert fit.posterior["g"].sizes == {
        "chain": 2,
        "draw": 100,
        "protected_group": 2,
        "connection": 4,
    }
