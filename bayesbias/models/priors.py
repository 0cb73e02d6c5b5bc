"""Priors: how they are written, their densities and random draws from them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from math import lgamma, log, pi
from typing import Any

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.validation import one_of
from bayesbias._core.wording import quoted
from bayesbias.errors import SpecError


@dataclass(frozen=True)
class _Family:
    """A distribution with numbers for parameters: log density, draws, and which must be > 0."""

    parameters: tuple[str, ...]
    log_density: Callable[..., Array]
    draw: Callable[..., Array]
    positive: bool
    positive_parameters: tuple[int, ...]


def _log_half_t(x: Array, nu: float, scale: float) -> Array:
    constant = log(2) + lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * log(nu * pi) - log(scale)
    result: Array = constant - (nu + 1) / 2 * np.log1p((x / scale) ** 2 / nu)
    return result


def _log_normal(x: Array, mu: float, sigma: float) -> Array:
    result: Array = -0.5 * ((x - mu) / sigma) ** 2 - log(sigma) - 0.5 * log(2 * pi)
    return result


def _log_gamma(x: Array, alpha: float, beta: float) -> Array:
    result: Array = alpha * log(beta) - lgamma(alpha) + (alpha - 1) * np.log(x) - beta * x
    return result


FAMILIES: dict[str, _Family] = {
    "Normal": _Family(
        ("mu", "sigma"),
        _log_normal,
        lambda rng, size, mu, sigma: rng.normal(mu, sigma, size),
        False,
        (1,),
    ),
    "HalfCauchy": _Family(
        ("beta",),
        lambda x, beta: _log_half_t(x, 1.0, beta),
        lambda rng, size, beta: np.abs(beta * rng.standard_cauchy(size)),
        True,
        (0,),
    ),
    "HalfNormal": _Family(
        ("sigma",),
        lambda x, sigma: log(2) + _log_normal(x, 0.0, sigma),
        lambda rng, size, sigma: np.abs(rng.normal(0.0, sigma, size)),
        True,
        (0,),
    ),
    "HalfStudentT": _Family(
        ("nu", "sigma"),
        _log_half_t,
        lambda rng, size, nu, sigma: np.abs(sigma * rng.standard_t(nu, size)),
        True,
        (0, 1),
    ),
    "Exponential": _Family(
        ("lam",),
        lambda x, lam: log(lam) - lam * x,
        lambda rng, size, lam: rng.exponential(1 / lam, size),
        True,
        (0,),
    ),
    "Gamma": _Family(
        ("alpha", "beta"),
        _log_gamma,
        lambda rng, size, alpha, beta: rng.gamma(alpha, 1 / beta, size),
        True,
        (0, 1),
    ),
    "InverseGamma": _Family(
        ("alpha", "beta"),
        lambda x, alpha, beta: _log_gamma(1 / x, alpha, beta) - 2 * np.log(x),
        lambda rng, size, alpha, beta: 1 / rng.gamma(alpha, 1 / beta, size),
        True,
        (0, 1),
    ),
    "LogNormal": _Family(
        ("mu", "sigma"),
        lambda x, mu, sigma: _log_normal(np.log(x), mu, sigma) - np.log(x),
        lambda rng, size, mu, sigma: np.exp(rng.normal(mu, sigma, size)),
        True,
        (1,),
    ),
}


@dataclass(frozen=True)
class Prior:
    """A prior: a family and its arguments, numbers or names of other parameters.

    Only a normal prior can have names: its mean may be a sum of parameters, and its standard
    deviation a parameter.

    Attributes
    ----------
    family : str
        The name of the distribution, as PyMC has it.
    arguments : tuple of float
        Its parameters; of a normal prior, the number in the mean and the standard deviation (zero
        where that is a parameter).
    mean : tuple of str
        The parameters that the mean of a normal prior is the sum of.
    sd : str or None
        The parameter that is the standard deviation of a normal prior.
    """

    family: str
    arguments: tuple[float, ...]
    mean: tuple[str, ...] = ()
    sd: str | None = None

    @classmethod
    def parse(cls, text: object, name: str) -> Prior:
        """Read ``Normal(bar, tau)``, ``HalfCauchy(1)`` and the like; `name` is for messages."""
        example = "write it like 'Normal(1, 0.5)', 'Normal(bar, tau)' or 'Exponential(2)'."
        if isinstance(text, Prior):
            return text
        if not isinstance(text, str):
            raise SpecError(f"the prior of {name!r} is {text!r}; {example}")
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            raise SpecError(f"the prior of {name!r} is {text!r}; {example}") from None
        if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.keywords:
            raise SpecError(f"the prior of {name!r} is {text!r}; {example}")
        family = one_of(f"prior of {name}", tree.func.id, FAMILIES)
        wanted = FAMILIES[family].parameters
        if len(tree.args) != len(wanted):
            raise SpecError(
                f"the prior of {name!r} is {text!r}; {family} has {len(wanted)} "
                f"parameter{'s' * (len(wanted) > 1)}: {family}({', '.join(wanted)})."
            )
        sums = [_sum(argument, text, name) for argument in tree.args]
        if family != "Normal" and any(names for _, names in sums):
            raise SpecError(
                f"the prior of {name!r} is {text!r}; only Normal can have other parameters in it."
            )
        numbers = tuple(number for number, _ in sums)
        mean, sd = (sums[0][1], sums[1][1]) if family == "Normal" else ((), ())
        if len(sd) > 1 or (sd and numbers[1]):
            raise SpecError(
                f"the prior of {name!r} is {text!r}; its standard deviation must be a number or "
                "one parameter."
            )
        prior = cls(family, numbers, mean, sd[0] if sd else None)
        for place in FAMILIES[family].positive_parameters:
            if prior.sd is None and not numbers[place] > 0:
                raise SpecError(
                    f"the prior of {name!r} is {text!r}; {wanted[place]} must be above zero."
                )
        return prior

    @property
    def is_positive(self) -> bool:
        """Whether only positive values are possible: a prior of a scale."""
        return FAMILIES[self.family].positive

    @property
    def parents(self) -> tuple[str, ...]:
        """Names of the parameters in it."""
        return self.mean + ((self.sd,) if self.sd else ())

    def log_density(self, x: Array) -> Array:
        """Return the log density of a prior whose arguments are all numbers."""
        return FAMILIES[self.family].log_density(x, *self.arguments)

    def draw(self, rng: np.random.Generator, size: Any) -> Array:
        """Return random draws of a prior whose arguments are all numbers."""
        return np.asarray(FAMILIES[self.family].draw(rng, size, *self.arguments))

    def __str__(self) -> str:
        parts = [_short(number) for number in self.arguments]
        if self.mean:
            parts[0] = " + ".join([*([parts[0]] if self.arguments[0] else []), *self.mean])
        if self.sd:
            parts[1] = self.sd
        return f"{self.family}({', '.join(parts)})"


def _short(number: float) -> str:
    """Return a number with as many digits as it has."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def _sum(node: ast.expr, text: str, name: str) -> tuple[float, tuple[str, ...]]:
    """Return the number and the names of a sum such as ``1 + bar + shift``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _sum(node.left, text, name), _sum(node.right, text, name)
        return left[0] + right[0], left[1] + right[1]
    if isinstance(node, ast.Name):
        return 0.0, (node.id,)
    try:
        value = ast.literal_eval(node)
        number = float(value) if isinstance(value, int | float) else np.nan
    except (ValueError, TypeError, OverflowError):
        value, number = None, np.nan
    if not isinstance(value, bool) and np.isfinite(number):
        return number, ()
    raise SpecError(
        f"the prior of {name!r} is {text!r}; expected numbers, names and sums of them, not "
        f"{quoted([ast.unparse(node)])}."
    )
