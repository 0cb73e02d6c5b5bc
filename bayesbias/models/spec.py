"""The model catalogue: what a model is, and where it is read from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from bayesbias._core.files import is_file, missing_file_hint
from bayesbias._core.plugins import Registry
from bayesbias._core.toml_json import read_toml
from bayesbias._core.validation import named, one_of
from bayesbias._core.wording import brief, did_you_mean, quoted
from bayesbias.errors import DataError, NotFoundError, SpecError
from bayesbias.models.priors import Prior

#: Columns that a parameter can have one value per level of; further text columns may be used too.
FACTORS = (
    "protected_word",
    "connection",
    "word_to_compare",
    "embedding",
    "protected_group",
    "attribute_kind",
)

#: The factor of these kinds; it follows from the connection.
ATTRIBUTE_KIND = "attribute_kind"
#: What a model is of, as it is called in formulas and in the data of ArviZ.
OUTCOME = "distance"
#: The kinds of lists that attributes are from.
ATTRIBUTE_KINDS = ("stereotype", "human", "neutral")
#: The kind of list of each connection.
KIND_OF_CONNECTION = {
    "associated": "stereotype",
    "different": "stereotype",
    "human": "human",
    "none": "neutral",
}

Likelihood = Literal["normal", "student_t"]
Residual = Literal["one", "connection"]
LIKELIHOODS = ("normal", "student_t")

# Degrees of freedom of the Student-t likelihood (Juárez & Steel 2010).
_NU = Prior("Gamma", (2.0, 0.1))
# The slope of a covariate, in distance per standard deviation.
_SLOPE = Prior("Normal", (0.0, 0.1))


@dataclass(frozen=True)
class Parameter:
    """A named set of unknowns, one per combination of the levels of its factors.

    Attributes
    ----------
    name : str
        Its name.
    by : tuple of str
        The factors, columns of the table.
    prior : Prior
        The prior of each value.
    covariate : str, optional
        A column of numbers that the value is multiplied by: the parameter is a slope.
    common : str, optional
        The parameter that is the standard deviation of the part that values have in common if they
        differ only in the factor that it is over.
    over : str, optional
        Of such a standard deviation: the factor over whose levels the part is common.
    only : str, optional
        The kind of attributes (stereotype, human or neutral) whose rows it is part of; all by
        default.
    """

    name: str
    by: tuple[str, ...]
    prior: Prior
    covariate: str | None = None
    common: str | None = None
    over: str | None = None
    only: str | None = None

    @property
    def is_pooled(self) -> bool:
        """Whether its values depend on other parameters, by their prior or a common part."""
        return bool(self.prior.parents) or self.common is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the parameter as a TOML file holds it."""
        result: dict[str, Any] = {"by": list(self.by), "prior": str(self.prior)}
        names = ("covariate", "common", "over", "only")
        more = {name: getattr(self, name) for name in names}
        return result | {key: value for key, value in more.items() if value is not None}


@dataclass(frozen=True)
class ModelSpec:
    """A model of the distances: which parameters there are, and how a distance depends on them.

    Both engines read it: PyMC samples it, and the exact engine integrates it.

    Parameters
    ----------
    name : str
        Short name.
    title : str
        One line that says what it is.
    parameters : tuple of Parameter
        All unknowns. A parameter named in another one's prior comes before it.
    mean : tuple of str
        The parameters whose sum is the mean of a distance.
    scale : str
        The parameter that is the standard deviation of a distance about its mean.
    likelihood : {"normal", "student_t"}, default "normal"
        The distribution of a distance.
    mathematics : str, default ""
        The formula, for people.
    reference : str, default ""
        Where the model is from.
    common : str, optional
        The parameter that is the standard deviation of the part that the residuals of the same pair
        of words have in common, in several embeddings for instance. Then `scale` is that of the
        rest.

    Examples
    --------
    >>> import bayesbias as bb
    >>> spec = bb.load_model("hierarchical")
    >>> print(spec)
    hierarchical: one mean per protected word and connection, pooled within each connection
      distance ~ Normal(theta, s)
      bar[connection] ~ Normal(1, 0.3)
      tau[connection] ~ Exponential(2)
      theta[protected_word, connection] ~ Normal(bar, tau)
      s[connection] ~ Exponential(2)
    """

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    mean: tuple[str, ...]
    scale: str
    likelihood: Likelihood = "normal"
    mathematics: str = ""
    reference: str = ""
    common: str | None = None

    def __post_init__(self) -> None:
        one_of("likelihood", self.likelihood, LIKELIHOODS)
        names = [parameter.name for parameter in self.parameters]
        for name in names:
            if names.count(name) > 1:
                raise SpecError(f"model {self.name!r} has two parameters named {name!r}.")
        if not self.mean:
            raise SpecError(f"model {self.name!r} has no 'mean': name at least one parameter.")
        self._check_known((*self.mean, self.scale), names, "the model")
        for place, parameter in enumerate(self.parameters):
            self._check_parameter(parameter, names[:place])
        for name in self.mean:
            if self[name].prior.is_positive:
                raise SpecError(f"model {self.name!r}: {name!r} is a scale, not part of a mean.")
        self._check_slopes()
        self._check_common(names)
        if not self[self.scale].prior.is_positive:
            raise SpecError(
                f"model {self.name!r}: the prior of {self.scale!r}, the residual scale, must allow "
                f"only positive values; it is {self[self.scale].prior}."
            )
        self._check_used()
        if self.likelihood == "student_t":
            self._check_known(("nu",), names, "a Student-t likelihood")
            if self["nu"].by or not self["nu"].prior.is_positive:
                raise SpecError(
                    f"model {self.name!r}: 'nu', the degrees of freedom, is one positive number."
                )

    def _check_known(self, wanted: tuple[str, ...], names: list[str], where: str) -> None:
        for name in wanted:
            if name not in names:
                raise SpecError(
                    f"model {self.name!r}: {where} uses {name!r}, which is not defined before it; "
                    f"there is {quoted(names) or 'nothing'}.{did_you_mean(name, names)}"
                )

    def _check_parameter(self, parameter: Parameter, before: list[str]) -> None:
        taken = {"chain", "draw", "row", OUTCOME, *FACTORS, *parameter.by}
        name = parameter.name
        if not name.isidentifier() or name.endswith("__") or name in taken:
            raise SpecError(
                f"model {self.name!r}: {name!r} is not a name for a parameter; use letters and "
                "digits, and none of the table's columns."
            )
        for factor in parameter.by:
            if factor in ("chain", "draw", "row", "cosine_distance", "cosine_similarity"):
                raise SpecError(f"model {self.name!r}: {name!r} cannot differ by {factor!r}.")
        if len(set(parameter.by)) < len(parameter.by):
            raise SpecError(f"model {self.name!r}: {parameter.name!r} names a factor twice.")
        prior = parameter.prior
        self._check_known(prior.parents, before, f"the prior of {parameter.name!r}")
        if parameter.common is not None:
            self._check_known((parameter.common,), before, f"'common' of {parameter.name!r}")
            if prior.is_positive:
                raise SpecError(
                    f"model {self.name!r}: {parameter.name!r} is a scale; 'common' is for "
                    "coefficients."
                )
        for name in prior.parents:
            role = "mean" if name in prior.mean else "standard deviation"
            if self[name].prior.is_positive != (role != "mean"):
                raise SpecError(
                    f"model {self.name!r}: {name!r} cannot be the {role} of {parameter.name!r}; "
                    f"its prior is {self[name].prior}."
                )

    def _check_slopes(self) -> None:
        plain = [name for name in self.mean if self[name].covariate is None]
        if not any(self[name].only is None for name in plain):
            raise SpecError(
                f"model {self.name!r}: 'mean' needs a parameter that is part of every row and not "
                "a slope."
            )
        for parameter in self.parameters:
            if parameter.only is not None:
                one_of(f"only of {parameter.name}", parameter.only, ATTRIBUTE_KINDS)
                if parameter.name not in self.mean:
                    raise SpecError(
                        f"model {self.name!r}: 'only' is for parameters of 'mean'; "
                        f"{parameter.name!r} is not one."
                    )
        for parameter in self.parameters:
            for parent in parameter.prior.mean:
                if parameter.only is not None or self[parent].only is not None:
                    raise SpecError(
                        f"model {self.name!r}: {parameter.name!r} is pooled towards {parent!r}, "
                        "and one of them is in some rows only ('only'); give the prior a number as "
                        "its mean."
                    )
            if parameter.covariate is not None and parameter.prior.is_positive:
                raise SpecError(
                    f"model {self.name!r}: {parameter.name!r} is a scale and cannot be a slope."
                )

        def visit(name: str) -> set[str]:
            return {name}.union(*(visit(parent) for parent in self[name].prior.mean))

        both = set(self.slopes) & set().union(*(visit(name) for name in plain))
        if both:
            raise SpecError(
                f"model {self.name!r}: {quoted(sorted(both))} is part of a slope and of the mean "
                "itself; use two parameters."
            )

    def _check_common(self, names: list[str]) -> None:
        uses = [(f"values of {p.name!r}", p.common, p.by) for p in self.parameters if p.common]
        if self.common is not None:
            # Rows differ by every factor.
            uses.append(("residuals", self.common, self.factors))
            if self.likelihood != "normal":
                raise SpecError(
                    f"model {self.name!r}: residuals with a common part need a normal likelihood."
                )
        if self[self.scale].over:
            raise SpecError(
                f"model {self.name!r}: {self.scale!r} is the standard deviation of a common part; "
                "name it as 'common' of the model, and another one as 'scale'."
            )
        for p in self.parameters:
            if p.over and (not p.prior.is_positive or p.over in p.by):
                raise SpecError(
                    f"model {self.name!r}: 'over' of {p.name!r} is for the standard deviation of a "
                    f"common part, with a prior such as Exponential(5) and a 'by' without "
                    f"{p.over!r}."
                )
            if p.prior.sd is not None and self[p.prior.sd].over:
                raise SpecError(
                    f"model {self.name!r}: {p.prior.sd!r} is the standard deviation of a common "
                    f"part; name it as 'common' of {p.name!r}, and another one in its prior."
                )
        for user, name, by in uses:
            self._check_known((name,), names, user)
            if not self[name].over:
                raise SpecError(
                    f"model {self.name!r}: {name!r} is the standard deviation of what {user} have "
                    'in common; say over which factor: over = "embedding".'
                )
            if self[name].over not in by:
                raise SpecError(
                    f"model {self.name!r}: {name!r} is over {self[name].over!r}, which {user} "
                    "do not differ by."
                )

    def over(self, common: str) -> str:
        """Return the factor over whose levels a part is common.

        Parameters
        ----------
        common : str
            Name of the parameter that is the standard deviation of the part.

        Returns
        -------
        str
            The factor.
        """
        return str(self[common].over)

    @property
    def slopes(self) -> dict[str, str]:
        """The slopes and what they are pooled towards, each with its covariate."""
        slopes: dict[str, str] = {}

        def visit(name: str, covariate: str) -> None:
            slopes[name] = covariate
            for parent in self[name].prior.mean:
                visit(parent, covariate)

        for name in self.mean:
            if self[name].covariate is not None:
                visit(name, str(self[name].covariate))
        return slopes

    @property
    def covariates(self) -> tuple[str, ...]:
        """The columns of numbers that the model has slopes for."""
        return tuple(dict.fromkeys(p.covariate for p in self.parameters if p.covariate))

    def _check_used(self) -> None:
        used = {*self.mean, self.scale, *(["nu"] if self.likelihood == "student_t" else [])}
        used |= {str(name) for name in (self.common,) if name}
        for parameter in reversed(self.parameters):
            if parameter.name not in used:
                raise SpecError(f"model {self.name!r}: nothing uses {parameter.name!r}.")
            used.update(parameter.prior.parents)
            used.update([parameter.common] if parameter.common else [])

    def __getitem__(self, name: str) -> Parameter:
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(name)

    @property
    def factors(self) -> tuple[str, ...]:
        """The columns of the table whose levels the model distinguishes."""
        over = [p.over for p in self.parameters if p.over]
        over += [ATTRIBUTE_KIND for p in self.parameters if p.only]
        return tuple(dict.fromkeys([name for p in self.parameters for name in p.by] + over))

    def vary(
        self,
        *,
        priors: Mapping[str, str] | None = None,
        likelihood: Likelihood | None = None,
        residual: Residual | None = None,
        covariates: Iterable[str] = (),
    ) -> ModelSpec:
        """Return the model with other priors, another likelihood, residual scales or covariates.

        Parameters
        ----------
        priors : mapping of str to str, optional
            New priors by the name of the parameter: ``{"co": "Normal(0, 1)"}``.
        likelihood : {"normal", "student_t"}, optional
            The distribution of a distance.
        residual : {"one", "connection"}, optional
            One residual scale, or one for each connection.
        covariates : iterable of str, default ()
            Columns of numbers to add a slope for, with the prior Normal(0, 0.1) per standard
            deviation: ``log_frequency``. A model of several embeddings has a slope in each.

        Returns
        -------
        ModelSpec
            The new model.

        Examples
        --------
        >>> import bayesbias as bb
        >>> spec = bb.load_model("connection").vary(priors={"co": "Normal(0, 1)"})
        >>> print(spec["co"].prior)
        Normal(0, 1)
        """
        spec = self
        if isinstance(covariates, str):
            raise SpecError(f"'covariates' is {covariates!r}; expected a list: [{covariates!r}].")
        for column in covariates:
            if column in spec.covariates:
                continue
            # A column may have any name, a parameter one of letters, digits and underscores.
            name = re.sub(r"\W", "_", f"slope_{column}")
            # A slope for all embeddings would leave differences between them as they are.
            levels = ("embedding",) if "embedding" in self.factors else ()
            slope = Parameter(name, levels, _SLOPE, covariate=str(column))
            spec = replace(
                spec, parameters=(*spec.parameters, slope), mean=(*spec.mean, slope.name)
            )
        if likelihood is not None:
            one_of("likelihood", likelihood, LIKELIHOODS)
            if likelihood != spec.likelihood:
                parameters = _for_likelihood(spec.parameters, likelihood)
                spec = replace(spec, likelihood=likelihood, parameters=parameters)
        if residual is not None:
            one_of("residual", residual, ("one", "connection"))
            by: tuple[str, ...] = ("connection",) if residual == "connection" else ()
            for name in filter(None, (spec.scale, spec.common)):
                spec = spec._with_parameter(replace(spec[name], by=by))
        for name, text in (priors or {}).items():
            names = [parameter.name for parameter in spec.parameters]
            if name not in names:
                raise SpecError(
                    f"'priors' has {name!r}; the parameters of model {spec.name!r} are "
                    f"{quoted(names)}.{did_you_mean(name, names)}"
                )
            spec = spec._with_parameter(replace(spec[name], prior=Prior.parse(text, name)))
        return spec

    def _with_parameter(self, new: Parameter) -> ModelSpec:
        changed = tuple(new if p.name == new.name else p for p in self.parameters)
        return replace(self, parameters=changed)

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data, in the form of a TOML file.

        Returns
        -------
        dict
            What `load_model` reads.
        """
        return {
            "name": self.name,
            "title": self.title,
            "mean": list(self.mean),
            "scale": self.scale,
            "likelihood": self.likelihood,
            "mathematics": self.mathematics,
            "reference": self.reference,
            **({"common": self.common} if self.common else {}),
            "parameters": {p.name: p.to_dict() for p in self.parameters},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ModelSpec:
        """Return a model from plain data, as a TOML file holds it.

        Parameters
        ----------
        data : mapping
            With ``name``, ``mean``, ``scale`` and ``parameters``.

        Returns
        -------
        ModelSpec
            The model, checked.
        """
        keys = ("name", "title", "mean", "scale", "likelihood", "mathematics", "reference",
                 "common", "parameters")  # fmt: skip
        name = data.get("name", "")
        for key in data:
            one_of(f"key of model {name}", str(key), keys)
        for key in ("name", "mean", "scale", "parameters"):
            if not data.get(key):
                raise SpecError(f"model {name!r} has no {key!r}.")
        if not isinstance(data["parameters"], Mapping):
            raise SpecError(f"model {name!r}: 'parameters' must be tables: [parameters.theta] ….")
        likelihood = one_of("likelihood", data.get("likelihood", "normal"), LIKELIHOODS)
        parameters = tuple(_parameter(str(key), value) for key, value in data["parameters"].items())
        return cls(
            name=str(name),
            title=str(data.get("title", name)),
            parameters=(
                parameters if likelihood == "normal" else _for_likelihood(parameters, likelihood)
            ),
            mean=_names(f"mean of model {name}", data["mean"]),
            scale=str(data["scale"]),
            likelihood=likelihood,  # type: ignore[arg-type]
            mathematics=str(data.get("mathematics", "")),
            reference=str(data.get("reference", "")),
            common=str(data["common"]) if data.get("common") else None,
        )

    def __str__(self) -> str:
        kind = {"normal": "Normal", "student_t": "StudentT"}[self.likelihood]
        first = "nu, " if self.likelihood == "student_t" else ""
        covariate = {name: self[name].covariate for name in self.mean}
        mean = " + ".join(f"{n} * {c}" if c else n for n, c in covariate.items())
        more = f", with a common part {self.common}" if self.common else ""
        lines = [
            f"{self.name}: {self.title}",
            f"  {OUTCOME} ~ {kind}({first}{mean}, {self.scale}){more}",
        ]
        for p in self.parameters:
            index = f"[{', '.join(p.by)}]" if p.by else ""
            more = f", only for {p.only} attributes" if p.only else ""
            more += f", with a common part {p.common}" if p.common else ""
            more += f" over {p.over}" if p.over else ""
            lines.append(f"  {p.name}{index} ~ {p.prior}{more}")
        return "\n".join(lines)


def _for_likelihood(parameters: tuple[Parameter, ...], likelihood: str) -> tuple[Parameter, ...]:
    """Add or remove the degrees of freedom of a Student-t likelihood."""
    others = tuple(p for p in parameters if p.name != "nu")
    if likelihood == "normal":
        return others
    return parameters if len(others) < len(parameters) else (*parameters, Parameter("nu", (), _NU))


def _names(what: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise SpecError(f"{what!r} is {value!r}; expected a list of names.")
    return tuple(value)


def _parameter(name: str, data: object) -> Parameter:
    keys = {"by", "prior", "covariate", "common", "over", "only"}
    if not isinstance(data, Mapping) or "prior" not in data or set(data) - keys:
        raise SpecError(
            f'the parameter {name!r} is {data!r}; expected by = [factors] and prior = "Normal(1, '
            '0.5)".'
        )
    by = _names(f"by of {name}", data.get("by", ()))
    more = {key: str(data[key]) for key in sorted(keys - {"by", "prior"}) if data.get(key)}
    return Parameter(name, by, Prior.parse(data["prior"], name), **more)


def _folder() -> Path:
    """Return the folder of the catalogue: in the package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    inside = package / "_models"
    return inside if inside.is_dir() else package.parent / "models"


def _read(path: Path) -> ModelSpec:
    try:
        data = read_toml(path)
    except DataError as err:
        raise SpecError(str(err)) from err
    try:
        return ModelSpec.from_dict(data)
    except SpecError as err:
        raise SpecError(f"{path}: {err}") from err


@cache
def _catalogue() -> Mapping[str, ModelSpec]:
    specs = [_read(path) for path in sorted(_folder().glob("*.toml"))]
    by_name = {spec.name: spec for spec in specs}
    order = (
        "baseline",
        "connection",
        "separate",
        "hierarchical",
        "crossed",
        "interaction",
        "embeddings",
    )
    own = {name: by_name[name] for name in (*order, *sorted(set(by_name) - set(order)))}
    return Registry("bayesbias.models", own, _added_model)


def _added_model(added: object) -> tuple[str, ModelSpec]:
    """Return a model that a package adds, as such or as the path of its file, and its name."""
    if not isinstance(added, ModelSpec | str | PathLike):
        raise SpecError(f"it is {added!r}; expected a ModelSpec or the path of a .toml file.")
    spec = added if isinstance(added, ModelSpec) else _read(Path(added))
    return spec.name, spec


class _Models(Mapping[str, str]):
    """The names of the models and what each is; read when first asked for."""

    def __getitem__(self, name: str) -> str:
        return _catalogue()[name].title

    def __iter__(self) -> Iterator[str]:
        return iter(_catalogue())

    def __len__(self) -> int:
        return len(_catalogue())

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {title}" for name, title in self.items())


MODELS: Mapping[str, str] = _Models()


def load_model(model: str | PathLike[str] | ModelSpec) -> ModelSpec:
    """Return a model of the catalogue, or read one from a TOML file.

    Parameters
    ----------
    model : str, path-like or ModelSpec
        A name (`MODELS` lists them) or the path of a ``.toml`` file; a `ModelSpec` is returned as
        it is.

    Returns
    -------
    ModelSpec
        The model.

    Raises
    ------
    SpecError
        If the file is not such a model; the message says what is wrong.
    NotFoundError
        If there is no such file.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.load_model("baseline")["sigma"].prior
    Prior(family='HalfCauchy', arguments=(1.0,), mean=(), sd=None)
    """
    if isinstance(model, ModelSpec):
        return model
    if not isinstance(model, str | PathLike):
        raise SpecError(
            f"'model' is {brief(model)}; expected a name such as 'interaction', a TOML file or a "
            "ModelSpec."
        )
    name = str(model)
    if not name.lower().endswith(".toml"):
        return _catalogue()[named("model", name, _catalogue())]
    if not is_file(Path(name)):
        raise NotFoundError(f"there is no file {name!r}.{missing_file_hint(Path(name))}")
    return _read(Path(name))
