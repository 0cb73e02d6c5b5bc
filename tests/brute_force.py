"""The models computed the slow way: one dense multivariate normal, straight from the definition.

Nothing here uses the package's own algebra: levels are looked up by name, every coefficient is a
sum of deviations that are independent but for what they have in common, and the densities are
SciPy's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, product

import numpy as np
import pandas as pd
from scipy import stats

import bayesbias as bb
from bayesbias.models.exact.compiled_model import Compiled


class _HalfT:
    """A t distribution folded at zero, which SciPy has not."""

    def __init__(self, nu: float, sigma: float) -> None:
        self.t = stats.t(nu, scale=sigma)

    def logpdf(self, x: np.ndarray) -> np.ndarray:
        return np.log(2) + self.t.logpdf(x)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        return 2 * self.t.cdf(x) - 1


#: Each family of priors as SciPy has it, with PyMC's parameters.
SCIPY = {
    "Normal": lambda mu, sigma: stats.norm(mu, sigma),
    "HalfCauchy": lambda beta: stats.halfcauchy(scale=beta),
    "HalfNormal": lambda sigma: stats.halfnorm(scale=sigma),
    "HalfStudentT": _HalfT,
    "Exponential": lambda lam: stats.expon(scale=1 / lam),
    "Gamma": lambda alpha, beta: stats.gamma(alpha, scale=1 / beta),
    "InverseGamma": lambda alpha, beta: stats.invgamma(alpha, scale=beta),
    "LogNormal": lambda mu, sigma: stats.lognorm(sigma, scale=np.exp(mu)),
}


@cache
def make_table(
    seed: int = 0,
    *,
    keep: float = 1.0,
    without: tuple[str, str] | None = None,
    embeddings: int = 1,
    errors: str = "none",
    words: int = 2,
) -> pd.DataFrame:
    """Make a small distance table, its rows in no order; do not change it in place.

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
    for e, (group, protected) in product(range(embeddings), groups.items()):
        connection = {"human": "human", "neutral": "none", f"{group}_stereotype": "associated"}
        for p, (kind, compared) in product(protected, attributes.items()):
            c = connection.get(kind, "different")
            rows += [(p, w, kind, c, group, f"e{e}") for w in compared]
    names = ["protected_word", "word_to_compare", "word_class", "connection"]
    table = pd.DataFrame(rows, columns=[*names, "protected_group", "embedding"])
    effect = {w: rng.normal(0, 0.1) for w in sorted(set(table["word_to_compare"]))}
    noise = rng.normal(0, 0.15, len(table))
    shift = 0.1 * (table["connection"] == "associated")
    table["cosine_distance"] = 0.9 + table["word_to_compare"].map(effect) - shift + noise
    if errors != "none":
        few, many = rng.choice([0.05, 0.1], len(table)), 0.1 * rng.random(len(table))
        table["standard_error"] = few if errors == "few" else many
    stays = rng.random(len(table)) < keep
    if without is not None:
        stays &= ~((table["protected_word"] == without[0]) & (table["connection"] == without[1]))
    return bb.check_table(table[stays].sample(frac=1, random_state=seed))


class BruteForce:
    """A model and a table, for any scales.

    Coefficients are ``chain @ deviations``: a pooled one is its own deviation plus what it is
    pooled towards. A deviation is normal, with a known mean and a scale or a known sd; those that
    have a part in common are correlated.
    """

    def __init__(self, spec: bb.models.ModelSpec, table: pd.DataFrame) -> None:
        self.spec = spec
        kinds = {"associated": "stereotype", "different": "stereotype", "none": "neutral"}
        kind = [kinds.get(c, c) for c in table["connection"]]
        table = table.assign(attribute_kind=pd.Categorical(kind))
        # The model sees covariates in standard deviations from their means.
        own = {c: (table[c] - table[c].mean()) / table[c].std(ddof=0) for c in spec.covariates}
        self.rows = table.assign(**own).to_dict("records")
        self.levels = {
            f: [c for c in table[f].cat.categories if (table[f] == c).any()] for f in spec.factors
        }
        coefficients = [p for p in spec.parameters if p.prior.family == "Normal"]
        self.names = [(p.name, cell) for p in coefficients for cell in self.cells(p.name)]
        place = {key: i for i, key in enumerate(self.names)}
        n = len(self.names)
        self.chain, self.mean = np.eye(n), np.zeros(n)
        self.sd: list[float | tuple[str, int]] = []
        self.where: dict[int, Mapping[str, str]] = {}
        for p in coefficients:
            for cell in self.cells(p.name):
                own, where = place[p.name, cell], dict(zip(p.by, cell, strict=True))
                # What does not follow from the cell itself follows from its rows.
                here = [r for r in self.rows if all(r[f] == v for f, v in where.items())]
                where = {**(here[0] if here else self.elsewhere(where)), **where}
                if p.only is not None:
                    where["attribute_kind"] = p.only
                self.where[own] = where
                self.mean[own] = p.prior.arguments[0]
                for parent in p.prior.mean:
                    self.chain[own] += self.chain[place[parent, self.cell(parent, where)]]
                self.sd.append(self.scale(p.prior.sd, where) or p.prior.arguments[1])
        rows = self.rows
        self.x = np.zeros((len(rows), n))
        for i, row in enumerate(rows):
            for name in spec.mean:
                if spec[name].only not in (None, row["attribute_kind"]):
                    continue
                times = row[spec[name].covariate] if spec[name].covariate else 1
                self.x[i, place[name, self.cell(name, row)]] += times
        self.residual = [self.scale(spec.scale, row) for row in rows]
        self.error = np.array([row.get("standard_error", 0.0) for row in rows])
        self.y = table["cosine_distance"].to_numpy()

    def elsewhere(self, where: Mapping[str, str]) -> dict[str, str]:
        """Return the levels of a cell without rows, from the other rows of some of its levels.

        What has one level in all rows with the same names (a connection one kind of attributes)
        is known better than what happens to have one in the rows that are left.
        """
        some = [names for n in range(1, len(where)) for names in combinations(where, n)]
        result = {}
        for factor, levels in self.levels.items():
            always, here = [], []
            for names in some:
                found: dict[tuple[str, ...], set[str]] = {}
                for r in self.rows:
                    found.setdefault(tuple(r[f] for f in names), set()).add(r[factor])
                seen = found.get(tuple(where[f] for f in names), set())
                if len(seen) == 1:
                    sure = all(len(one) == 1 for one in found.values())
                    (always if sure else here).extend(seen)
            result[factor] = [*always, *here, levels[0]][0]
        return result

    def cells(self, name: str) -> list[tuple[str, ...]]:
        return list(product(*[self.levels[f] for f in self.spec[name].by]))

    def cell(self, name: str, where: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(where[f] for f in self.spec[name].by)

    def scale(self, name: str | None, where: Mapping[str, str]) -> tuple[str, int] | None:
        return (name, self.cells(name).index(self.cell(name, where))) if name else None

    def given(self, scales: Mapping[str, np.ndarray]) -> Gaussian:
        """Return the model given its scales, each a flat array over the levels of its factors."""

        def value(of: float | tuple[str, int]) -> float:
            return scales[of[0]][of[1]] if isinstance(of, tuple) else of

        def common(name: str, where: Mapping[str, str]) -> float:
            return value(self.scale(name, where))

        covariance = np.diag([value(of) ** 2 for of in self.sd])
        for i, (name, cell) in enumerate(self.names):
            by = self.spec[name].common
            if by is None:
                continue
            over = self.spec[name].by.index(self.spec[by].over)
            for j, (other, other_cell) in enumerate(self.names):
                if name == other and _without(cell, over) == _without(other_cell, over):
                    covariance[i, j] += common(by, self.where[i]) ** 2
        assert (covariance == covariance.T).all()
        residual = np.array([value(of) for of in self.residual])
        noise = np.diag(residual**2 + self.error**2)
        if self.spec.common:
            keys = [(r["protected_word"], r["word_to_compare"]) for r in self.rows]
            over = self.spec[self.spec.common].over
            for i, j in product(range(len(self.rows)), repeat=2):
                if keys[i] == keys[j]:
                    assert i == j or self.rows[i][over] != self.rows[j][over]
                    noise[i, j] += common(self.spec.common, self.rows[i]) ** 2
        log_prior = 0.0
        for p in self.spec.parameters:
            if p.prior.family != "Normal":
                density = SCIPY[p.prior.family](*p.prior.arguments)
                # Of the logarithm of the scale.
                log_prior += (density.logpdf(scales[p.name]) + np.log(scales[p.name])).sum()
        return Gaussian(
            self.chain @ self.mean,
            self.chain @ covariance @ self.chain.T,
            self.x,
            self.y,
            noise,
            float(log_prior),
        )


def _without(cell: tuple[str, ...], place: int) -> tuple[str, ...]:
    return cell[:place] + cell[place + 1 :]


@dataclass(frozen=True)
class Gaussian:
    """coefficients ~ N(mean, covariance), y ~ N(x @ coefficients, noise)."""

    mean: np.ndarray
    covariance: np.ndarray
    x: np.ndarray
    y: np.ndarray
    noise: np.ndarray
    log_prior: float

    @cached_property
    def marginal(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of y."""
        return self.x @ self.mean, self.x @ self.covariance @ self.x.T + self.noise

    @cached_property
    def log_likelihood(self) -> float:
        """The log density of all rows."""
        return self.log_marginal(np.ones(len(self.y), dtype=bool))

    def log_density(self) -> float:
        """Return the log of the joint density of the rows and the logarithms of the scales."""
        return self.log_likelihood + self.log_prior

    def log_marginal(self, rows: np.ndarray) -> float:
        """Return the log density of some of the rows."""
        mean, covariance = self.marginal
        root = np.linalg.cholesky(covariance[np.ix_(rows, rows)])
        return stats.multivariate_normal.logpdf(
            self.y[rows], mean[rows], stats.Covariance.from_cholesky(root)
        )

    def log_conditional(self, out: np.ndarray) -> float:
        """Return log p(rows that are out | the other rows)."""
        return self.log_likelihood - self.log_marginal(~out)

    def posterior(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of the coefficients, given the rows."""
        mean, covariance = self.marginal
        gain = np.linalg.solve(covariance, self.x @ self.covariance).T
        spread = self.covariance - gain @ self.x @ self.covariance
        return self.mean + gain @ (self.y - mean), spread


def by_name(compiled: Compiled, at: np.ndarray) -> dict[str, np.ndarray]:
    """Return the scales by the name of the parameter."""
    return {name: np.exp(at[part]) for name, part in compiled.layout.scales.items()}


class OneAtATime:
    """In the place of a random generator: no noise in the first draw, then each noise by itself.

    Drawing is linear in the noise, so this shows the mean and the covariance exactly.
    """

    def __init__(self) -> None:
        self.used = 0

    def standard_normal(self, shape: tuple[int, int, int]) -> np.ndarray:
        noise = np.zeros(shape)
        place = np.arange(shape[2])
        noise[1 + self.used + place, 0, place] = 1
        self.used += shape[2]
        return noise


def deviations(compiled: Compiled, log_scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of the deviations that the exact engine draws."""
    n = compiled.layout.n_coefficients
    mean, covariance = np.zeros(n), np.zeros((n, n))
    for block in compiled.blocks:
        # A block has no more noise than three numbers for each coefficient.
        repeated = np.tile(log_scales[block.scales], (1 + 3 * len(block.coefficients), 1))
        draws = block._draw(block.solve(repeated), OneAtATime(), 1)[:, 0]  # type: ignore[arg-type]
        mean[block.coefficients] = draws[0]
        apart = draws - draws[0]
        covariance[np.ix_(block.coefficients, block.coefficients)] = apart.T @ apart
    return mean, covariance
