"""The models computed the slow way: one dense multivariate normal, straight from the definition.

Nothing here uses the package's own algebra: levels are looked up by name, and every coefficient is
written as a number plus independent standard normals.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import pandas as pd
from scipy import stats

import bayesbias as bb
from bayesbias.inference.data import ModelData, model_data
from bayesbias.inference.gaussian import Compiled

MODELS = ("baseline", "connection", "separate", "hierarchical", "crossed", "embeddings", "paired")
OUTCOME = {"distance": "cosine_distance", "difference": "difference"}

# A model of nobody's catalogue: two crossed terms, one pooled in two steps, one shared scale.
OWN = bb.ModelSpec.from_dict(
    {
        "name": "own",
        "mean": ["a", "u"],
        "scale": "s",
        "parameters": {
            "t": {"prior": "HalfNormal(1)"},
            "top": {"prior": "Normal(0.5, 0.4)"},
            "g": {"by": ["protected_group"], "prior": "Normal(top, 0.2)"},
            "a": {
                "by": ["protected_group", "protected_word"],
                "prior": "Normal(0.1 + g + top, t)",
            },
            "tu": {"by": ["connection"], "prior": "InverseGamma(3, 0.5)"},
            "u": {"by": ["connection", "word_to_compare"], "prior": "Normal(0.2, tu)"},
            "s": {"prior": "LogNormal(-1, 0.5)"},
        },
    }
)

SCIPY = {
    "Normal": lambda mu, sigma: stats.norm(mu, sigma),
    "HalfCauchy": lambda beta: stats.halfcauchy(scale=beta),
    "HalfNormal": lambda sigma: stats.halfnorm(scale=sigma),
    "HalfStudentT": lambda nu, sigma: stats.foldcauchy(0, scale=sigma)
    if nu == 1
    else _HalfT(nu, sigma),
    "Exponential": lambda lam: stats.expon(scale=1 / lam),
    "Gamma": lambda alpha, beta: stats.gamma(alpha, scale=1 / beta),
    "InverseGamma": lambda alpha, beta: stats.invgamma(alpha, scale=beta),
    "LogNormal": lambda mu, sigma: stats.lognorm(sigma, scale=np.exp(mu)),
}
"""Each family of priors as SciPy has it, with PyMC's parameters."""


class _HalfT:
    """A t distribution folded at zero, which SciPy has not."""

    def __init__(self, nu: float, sigma: float) -> None:
        self.t = stats.t(nu, scale=sigma)

    def logpdf(self, x: np.ndarray) -> np.ndarray:
        return np.log(2) + self.t.logpdf(x)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        return 2 * self.t.cdf(x) - 1


def make_table(
    seed: int = 0,
    *,
    keep: float = 1.0,
    without: tuple[str, str] | None = None,
    embeddings: int = 1,
    errors: str = "none",
    words: int = 2,
) -> pd.DataFrame:
    """Make a small distance table.

    `keep` is the share of rows that stay, at random; `without` a protected word and a connection
    that have no row together; `errors` is "none", "few" or "many" (distinct standard errors).
    """
    rng = np.random.default_rng(seed)
    groups = {g: [f"{g}{i}" for i in range(words)] for g in ("x", "y")}
    attributes = {
        "x_stereotype": ["xa", "xb", "xc"],
        "y_stereotype": ["ya", "yb", "yc"],
        "human": ["ha", "hb", "hc"],
        "neutral": ["na", "nb", "nc", "nd"],
    }
    rows = []
    for e, (g, of_group) in product(range(embeddings), groups.items()):
        for p, (kind, of_kind) in product(of_group, attributes.items()):
            connection = {"human": "human", "neutral": "none", f"{g}_stereotype": "associated"}
            rows += [(p, w, kind, connection.get(kind, "different"), g, f"e{e}") for w in of_kind]
    columns = ["protected_word", "word_to_compare", "word_class", "connection"]
    table = pd.DataFrame(rows, columns=[*columns, "protected_group", "embedding"])
    effect = {w: rng.normal(0, 0.1) for w in sorted(set(table["word_to_compare"]))}
    table["cosine_distance"] = (
        0.9
        + table["word_to_compare"].map(effect)
        - 0.1 * (table["connection"] == "associated")
        + rng.normal(0, 0.15, len(table))
    )
    table["difference"] = table["cosine_distance"] - 0.9
    if errors != "none":
        grid = rng.choice([0.05, 0.1], len(table)) if errors == "few" else rng.random(len(table))
        table["standard_error"] = grid
    stays = rng.random(len(table)) < keep
    if without is not None:
        stays &= ~((table["protected_word"] == without[0]) & (table["connection"] == without[1]))
    return bb.check_table(table[stays].sample(frac=1, random_state=seed))


@dataclass(frozen=True)
class Dense:
    """A model given its scales: coefficients ~ N(mean, covariance), y ~ N(X coefficients, noise)."""

    names: list[tuple[str, tuple[str, ...]]]  # of the coefficients: parameter and levels
    mean: np.ndarray
    covariance: np.ndarray
    x: np.ndarray
    y: np.ndarray
    noise: np.ndarray  # variances
    log_prior: float  # of the logarithms of the scales

    @property
    def marginal(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of y."""
        return self.x @ self.mean, self.x @ self.covariance @ self.x.T + np.diag(self.noise)

    def log_density(self) -> float:
        """Return the log of the joint density of the rows and the logarithms of the scales."""
        return stats.multivariate_normal(*self.marginal).logpdf(self.y) + self.log_prior

    def log_conditional(self, out: np.ndarray) -> float:
        """Return log p(rows that are out | the other rows)."""
        mean, covariance = self.marginal
        if out.all():
            return stats.multivariate_normal(mean, covariance).logpdf(self.y)
        a, b = np.ix_(out, ~out), np.ix_(~out, ~out)
        gain = np.linalg.solve(covariance[b], covariance[a].T).T
        centre = mean[out] + gain @ (self.y - mean)[~out]
        spread = covariance[np.ix_(out, out)] - gain @ covariance[a].T
        return stats.multivariate_normal(centre, spread).logpdf(self.y[out])

    def posterior(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of the coefficients, given the rows."""
        mean, covariance = self.marginal
        gain = np.linalg.solve(covariance, self.x @ self.covariance).T
        return (
            self.mean + gain @ (self.y - mean),
            self.covariance - gain @ self.x @ self.covariance,
        )


def dense(spec: bb.ModelSpec, table: pd.DataFrame, scales: dict[str, np.ndarray]) -> Dense:
    """Build the model given its scales, each an array over the levels of the scale's factors."""
    levels = {
        f: [c for c in table[f].cat.categories if (table[f] == c).any()] for f in spec.factors
    }

    def cells(name: str) -> list[tuple[str, ...]]:
        return list(product(*[levels[f] for f in spec[name].by]))

    def scale(name: str, where: dict[str, str]) -> float:
        place = cells(name).index(tuple(where[f] for f in spec[name].by))
        return float(np.ravel(scales[name])[place])

    coefficients = [p for p in spec.parameters if p.prior.family == "Normal"]
    names = [(p.name, cell) for p in coefficients for cell in cells(p.name)]
    place = {key: i for i, key in enumerate(names)}
    mean, noise_of = np.zeros(len(names)), np.zeros((len(names),) * 2)
    for p in coefficients:
        for cell in cells(p.name):
            own = place[p.name, cell]
            where = dict(zip(p.by, cell, strict=True))
            mean[own] = p.prior.arguments[0]
            for parent in p.prior.mean:
                of = place[parent, tuple(where[f] for f in spec[parent].by)]
                mean[own] += mean[of]
                noise_of[own] += noise_of[of]
            noise_of[own, own] = scale(p.prior.sd, where) if p.prior.sd else p.prior.arguments[1]
    x = np.zeros((len(table), len(names)))
    noise = np.zeros(len(table))
    for i, row in enumerate(table.to_dict("records")):
        for name in spec.mean:
            x[i, place[name, tuple(row[f] for f in spec[name].by)]] += 1
        noise[i] = scale(spec.scale, row) ** 2 + row.get("standard_error", 0.0) ** 2
    log_prior = 0.0
    for p in spec.parameters:
        if p.prior.family != "Normal":
            value = np.asarray(scales[p.name])
            log_prior += np.sum(SCIPY[p.prior.family](*p.prior.arguments).logpdf(value))
            log_prior += np.sum(np.log(value))  # from the scale to its logarithm
    y = table[OUTCOME[spec.outcome]].to_numpy()
    return Dense(names, mean, noise_of @ noise_of.T, x, y, noise, float(log_prior))


def by_name(compiled: Compiled, log_scales: np.ndarray) -> dict[str, np.ndarray]:
    """Return the scales by the name of the parameter."""
    return {name: np.exp(log_scales[part]) for name, part in compiled.layout.scales.items()}


def data_of(spec: bb.ModelSpec, table: pd.DataFrame) -> ModelData:
    return model_data(spec, table)


def size_of(data: ModelData, by: tuple[str, ...]) -> int:
    return prod(data.shape(by))
