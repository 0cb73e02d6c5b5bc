"""Information criteria, computed row by row without an array of draws × rows."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.polynomial.chebyshev import chebinterpolate, chebval
from scipy.special import logsumexp

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.validation import one_of
from bayesbias._core.wording import did_you_mean, enumerated
from bayesbias.distances import COLUMNS, Duplicates
from bayesbias.errors import DataError, SpecError, warn
from bayesbias.models.exact.compiled_model import compile_model
from bayesbias.models.exact.leave_out import log_density_left_out
from bayesbias.models.row_density import RowDensity
from bayesbias.models.spec import ModelSpec, load_model

if TYPE_CHECKING:
    from bayesbias.models.fitted_model import Fit


#: What `fit` takes as a model.
Model: TypeAlias = str | PathLike[str] | ModelSpec
#: Above this variance of a row's log likelihood WAIC is not to be trusted (Vehtari et al. 2017).
VARIANCE_MAX = 0.4
#: Above this tail index leave-one-out by importance sampling is not to be trusted.
PARETO_K_MAX = 0.7
# Rows with the same mean and scale have a log density that is a smooth function of the outcome;
# with more than twice as many rows it is computed at this number of points and interpolated, to
# rounding error.
_NODES = 33
# Draws of the scales that are reweighted when whole levels are left out: fewer for large tables,
# where each takes the time of this many numbers in covariance matrices, and which determine the
# scales all the better.
_SCALE_DRAWS = 1000
_FEWEST_SCALE_DRAWS = 100
_LARGE_COVARIANCES = 40_000_000
# Log densities, rows times draws, that the effective number of parameters is computed from when
# whole levels are left out; larger tables do with some of the draws.
_MOST_DENSITIES = 1_000_000_000
_FEWEST_DRAWS = 400


@dataclass(frozen=True, repr=False)
class Elpd:
    """Expected log predictive density: how well a model predicts data it has not seen.

    Parameters
    ----------
    kind : str
        ``WAIC`` or ``LOO``.
    elpd : float
        The estimate, on the log scale: higher is better.
    se : float
        Its standard error.
    p : float
        The effective number of parameters.
    pointwise : array
        The contribution of each row (or level).
    labels : tuple of str
        The levels that were left out; empty for rows.
    unreliable : int
        How many rows break the approximation: a log likelihood that varies by more than 0.4 (WAIC)
        or a Pareto k above 0.7 (LOO).
    pareto_k : array or None
        Tail index of each row's importance weights (LOO).
    table_sha256 : str
        The hash of the rows that were fitted; empty if not known. `compare` refuses criteria
        with different hashes.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> bb.fit(table, "baseline", seed=1).waic()
    WAIC -292... (SE 9...), p 1...
    """

    kind: str
    elpd: float
    se: float
    p: float
    pointwise: Array
    labels: tuple[str, ...] = ()
    unreliable: int = 0
    pareto_k: Array | None = None
    table_sha256: str = ""

    @property
    def deviance(self) -> float:
        """−2 elpd: what is usually called WAIC, lower is better."""
        return -2 * self.elpd

    @property
    def warning(self) -> str:
        """Why it is unreliable; empty if no problem is known."""
        if not self.unreliable:
            return ""
        return _not_to_trust(self, f"in {self.unreliable:,} of {_units(self)}")

    @property
    def table(self) -> pd.DataFrame:
        """The contribution of each row (or level): ``elpd`` and, of LOO, ``pareto_k``."""
        columns: dict[str, object] = {"elpd": self.pointwise}
        if self.pareto_k is not None:
            columns["pareto_k"] = self.pareto_k
        labels = self.labels or range(len(self.pointwise))
        return pd.DataFrame({"level" if self.labels else "row": labels, **columns})

    def summary(self) -> str:
        """Return the estimate in plain words.

        Returns
        -------
        str
            The criterion, its standard error, the effective number of parameters, and why not to
            trust it, if so.
        """
        return repr(self)

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the estimate as a LaTeX table of one line.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of our own.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        frame = pd.DataFrame(
            {self.kind: [self.deviance], "SE": [2 * self.se], f"p{self.kind}": [self.p]}
        )
        return frame_to_latex(
            frame,
            repr(self) if caption is None else caption,
            decimals=dict.fromkeys(map(str, frame), 1),
        )

    def __repr__(self) -> str:
        text = f"{self.kind} {self.deviance:.1f} (SE {2 * self.se:.1f}), p {self.p:.1f}"
        return f"{text}; {self.warning}" if self.warning else text


def _units(elpd: Elpd) -> str:
    """Return how many rows (or levels) there are, such as ``52 rows``."""
    return f"{len(elpd.pointwise):,} {'levels' if elpd.labels else 'rows'}"


def _not_to_trust(elpd: Elpd, where: str) -> str:
    """Return why not to trust a criterion, given where it is unreliable."""
    if elpd.kind == "WAIC":
        return (
            f"WAIC is unreliable (use LOO), because the log likelihood has a variance above "
            f"{VARIANCE_MAX} {where}"
        )
    return f"LOO is unreliable, because Pareto k is above {PARETO_K_MAX} {where}"


def _elpd(fit: Fit, kind: str, pointwise: Array, lppd: Array, **more: Any) -> Elpd:
    """Sum what each row (or level) contributes."""
    return Elpd(
        kind=kind,
        elpd=float(pointwise.sum()),
        se=float(np.sqrt(len(pointwise) * pointwise.var())),
        p=float((lppd - pointwise).sum()),
        pointwise=pointwise,
        table_sha256=fit.provenance["table_sha256"],
        **more,
    )


def _check_independent(fit: Fit) -> None:
    """Refuse rows that are correlated: what one of them contributes depends on the others."""
    if fit.spec.common:
        raise SpecError(
            f"model {fit.spec.name!r} has correlated residuals, so single rows cannot be left out "
            "or counted; use loo(by='word_to_compare')."
        )


def waic(fit: Fit) -> Elpd:
    """Compute WAIC: for each row the log of its mean density minus the variance of the log."""
    _check_independent(fit)
    lppd, variance = _lppd_and_variance(fit)
    unreliable = int((variance > VARIANCE_MAX).sum())
    return _elpd(fit, "WAIC", lppd - variance, lppd, unreliable=unreliable)


def _lppd_and_variance(fit: Fit) -> tuple[Array, Array]:
    """Return, for each row, the log of the mean of its density and the variance of its log."""
    density = RowDensity.of_fit(fit)
    n = len(density.data.y)
    lppd, variance = np.empty(n), np.empty(n)
    left = np.ones(n, dtype=bool)
    if density.nu is None:
        for rows in density.large_cells(2 * _NODES + 1):
            lppd[rows], variance[rows] = _of_cell(density, rows)
            left[rows] = False

    def part(rows: Codes) -> None:
        values = density.log_density(rows)
        mean = values.mean(axis=1)
        variance[rows] = np.einsum("rs,rs->r", values, values) / values.shape[1] - mean**2
        lppd[rows] = _log_mean(values)

    # NumPy lets go of the interpreter, so threads do share the work.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(part, density.parts(np.flatnonzero(left))))
    return lppd, variance


def _log_mean(values: Array) -> Array:
    """Return the log of the mean over draws of what the values are the logs of; overwrites them."""
    top = values.max(axis=1, keepdims=True)
    values -= top
    np.exp(values, out=values)
    result: Array = np.log(values.mean(axis=1)) + top[:, 0]
    return result


def _of_cell(density: RowDensity, rows: Codes) -> tuple[Array, Array]:
    """Return the log mean density and its variance for many rows of one cell."""
    y = density.data.y[rows]
    one = rows[:1]
    mean, variance = density.mean(one)[0], density.variance(one)[0]
    centre, reach = (y.max() + y.min()) / 2, (y.max() - y.min()) / 2 or 1.0
    # The log density is a parabola in the outcome, up to a constant, whose coefficients vary over
    # the draws.
    shifted = mean - centre
    parabola = np.stack(
        [
            -0.5 * np.log(variance) - shifted**2 / (2 * variance),
            shifted / variance,
            -0.5 / variance,
        ]
    )
    d = y - centre
    powers = np.stack([np.ones_like(d), d, d**2])
    spread = np.einsum("ir,ij,jr->r", powers, np.cov(parabola, bias=True), powers)

    def log_mean(x: Array) -> Array:
        x = centre + reach * np.asarray(x)
        at = np.repeat(mean[None], len(x), axis=0)
        return _log_mean(density.at(x[:, None], at, variance[None]))

    series = np.asarray(chebinterpolate(log_mean, _NODES - 1), dtype=np.float64)  # type: ignore[type-var]
    if np.abs(series[-3:]).max() > 1e-11 * max(1.0, np.abs(series).max()):
        parts = [_log_mean(density.log_density(rows[i : i + 50])) for i in range(0, len(rows), 50)]
        return np.concatenate(parts), spread
    return np.asarray(chebval(d / reach, series)), spread


def loo(fit: Fit, *, by: str | None = None) -> Elpd:
    """Leave one row out at a time, or all rows of a level."""
    if by is None:
        _check_independent(fit)
        return _loo_rows(fit)
    if fit.spec.common and by == fit.spec.over(fit.spec.common):
        raise SpecError(
            f"'by' is {by!r}, and model {fit.spec.name!r} has residuals that are correlated over "
            "it; leave out 'word_to_compare' or 'protected_word'."
        )
    check_levels(fit.table, by)
    level, names = pd.factorize(fit.table[by].astype("str"))
    if len(names) < 2:
        raise DataError(f"{by!r} has only one level, {names[0]!r}; nothing is left without it.")
    if fit.spec.likelihood == "normal":
        return _loo_levels_exactly(fit, level, tuple(names))
    return _loo_levels_by_weights(fit, level, tuple(names))


def check_levels(table: pd.DataFrame, by: str) -> None:
    """Refuse to leave out the levels of what is not a column of names."""
    if by not in table.columns or table[by].dtype.kind == "f":
        names = [str(name) for name in table.columns if table[name].dtype.kind != "f"]
        raise SpecError(
            f"'by' is {by!r}; expected a column of the table that holds names, such as "
            f"'word_to_compare' or 'protected_word'.{did_you_mean(by, names)}"
        )


def _relative_efficiency(fit: Fit) -> float:
    """Return the effective share of the draws, as ArviZ takes it for importance sampling."""
    if fit.provenance["engine"] == "exact":
        return 1.0
    table = fit.diagnostics().table
    sizes = fit.posterior.sizes
    return float(table["ess_mean"].mean() / (sizes["chain"] * sizes["draw"]))


def _smoothed(log_density: Array, efficiency: float) -> tuple[Array, Array, Array]:
    """Return elpd, lppd and Pareto k of rows × draws."""
    from bayesbias._core.arviz_versions import smooth_weights

    log_weights, k = smooth_weights(-log_density, efficiency)
    elpd = logsumexp(log_weights + log_density, axis=1)
    lppd = logsumexp(log_density, axis=1) - np.log(log_density.shape[1])
    return elpd, lppd, k


def _loo_rows(fit: Fit) -> Elpd:
    density = RowDensity.of_fit(fit)
    efficiency = _relative_efficiency(fit)
    n = len(density.data.y)
    elpd, lppd, k = np.empty(n), np.empty(n), np.empty(n)
    for rows in density.parts(np.arange(n)):
        elpd[rows], lppd[rows], k[rows] = _smoothed(density.log_density(rows), efficiency)
    return _elpd(fit, "LOO", elpd, lppd, unreliable=int((k > PARETO_K_MAX).sum()), pareto_k=k)


def _loo_levels_exactly(fit: Fit, level: Codes, names: tuple[str, ...]) -> Elpd:
    compiled = compile_model(fit.spec, fit.data)
    at = fit.unknowns(_scale_draws(level))
    left_out = log_density_left_out(compiled, fit.data, at, level, len(names)).T
    elpd, _, k = _smoothed(left_out, 1.0)
    lppd = np.full(len(names), np.nan)
    if not fit.spec.common:
        density = RowDensity.of_fit(fit, _some_draws(fit))
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            lppd = np.array(list(pool.map(partial(_log_mean_total, density), _rows_of(level))))
    return _elpd(
        fit, "LOO", elpd, lppd, labels=names, unreliable=int((k > PARETO_K_MAX).sum()), pareto_k=k
    )


def _scale_draws(level: Codes) -> int:
    """Return how many draws of the scales are reweighted when the levels are left out."""
    numbers = float((np.bincount(level).astype(np.float64) ** 2).sum())
    wanted = _SCALE_DRAWS * _LARGE_COVARIANCES / numbers
    return int(np.clip(wanted, _FEWEST_SCALE_DRAWS, _SCALE_DRAWS))


def _some_draws(fit: Fit) -> Codes | None:
    """Return the places of some draws of the fit to a large table; None for all of them."""
    total = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    wanted = max(_FEWEST_DRAWS, _MOST_DENSITIES // len(fit.data.y))
    return None if total <= wanted else np.linspace(0, total - 1, wanted).round().astype(np.intp)


def _rows_of(level: Codes) -> list[Codes]:
    """Return the rows of each level."""
    return np.split(np.argsort(level, kind="stable"), np.cumsum(np.bincount(level))[:-1])


def _total(density: RowDensity, rows: Codes) -> Array:
    """Return 1 × draws: the log density of all these rows together."""
    parts = [density.log_density(part).sum(axis=0) for part in density.parts(rows)]
    total: Array = np.sum(parts, axis=0)[None]
    return total


def _log_mean_total(density: RowDensity, rows: Codes) -> float:
    """Return the log of the mean over draws of the density of all these rows together."""
    return float(_log_mean(_total(density, rows))[0])


def _loo_levels_by_weights(fit: Fit, level: Codes, names: tuple[str, ...]) -> Elpd:
    """Reweight the draws of all parameters: rough, and Pareto k says how rough."""
    density = RowDensity.of_fit(fit)
    total = np.concatenate([_total(density, rows) for rows in _rows_of(level)])
    elpd, lppd, k = _smoothed(total, _relative_efficiency(fit))
    return _elpd(
        fit, "LOO", elpd, lppd, labels=names, unreliable=int((k > PARETO_K_MAX).sum()), pareto_k=k
    )


def _named_fits(
    fits: object, table: pd.DataFrame | None, duplicates: Duplicates | None
) -> dict[str, Fit]:
    """Return fits by name; models among them are fitted to the table."""
    from bayesbias.models.fitted_model import Fit
    from bayesbias.models.fitting import as_fit

    example = "give each fit a name: compare({'separate': one, 'crossed': another})"
    if isinstance(fits, pd.DataFrame):
        raise SpecError(
            "'fits' is a DataFrame; name the models that are fitted to it: "
            "compare(['crossed', 'interaction'], table=table)."
        )
    if isinstance(fits, str | Fit | ModelSpec) or not isinstance(fits, Iterable):
        raise SpecError(f"'fits' is a {type(fits).__name__}; {example}.")
    if isinstance(fits, Mapping):
        named = {str(name): value for name, value in fits.items()}
    else:
        named = {}
        for value in fits:
            name = value.spec.name if isinstance(value, Fit) else load_model(value).name
            if name in named and (isinstance(value, Fit) or isinstance(named[name], Fit)):
                raise SpecError(f"'fits' has two fits of the model {name!r}; {example}.")
            named[name] = value
    if not named:
        raise SpecError(f"'fits' is empty; {example}.")
    return {name: as_fit(value, table, duplicates=duplicates) for name, value in named.items()}


class Comparison(pd.DataFrame):
    """The table of `compare`: a DataFrame that a notebook shows rounded.

    What is made of it, by selecting rows for instance, is a plain DataFrame.

    Parameters
    ----------
    data, index, columns, dtype, copy : object
        As for a DataFrame.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> print(bb.compare(["baseline", "connection"], table=table).summary())
    connection predicts best: WAIC -312...
    baseline: WAIC higher by 20... (SE 2...).
    """

    @property
    def _constructor(self) -> type[pd.DataFrame]:  # what is made of it is a plain DataFrame
        return pd.DataFrame

    def _repr_html_(self) -> str:
        shown = self.map(lambda x: "" if np.isnan(x) else f"{x:,.1f}")
        shown["weight"] = [f"{x:.2f}" for x in self["weight"]]
        return f"{shown.to_html(border=0)}<p>Deviance scale: lower is better; the best first.</p>"

    @property
    def table(self) -> pd.DataFrame:
        """The comparison as a plain DataFrame, the names of the fits in the column ``model``."""
        return pd.DataFrame(self).rename_axis("model").reset_index()

    def summary(self) -> str:
        """Return which model predicts best, and by how much, in plain words.

        Returns
        -------
        str
            One sentence for the best, and one per other model.
        """
        label = str(self.columns[0])
        best, *others = self.index
        lines = [f"{best} predicts best: {label} {self.loc[best, label]:.1f}."]
        for name in others:
            gap, error = self.loc[name, f"d{label}"], self.loc[name, "dSE"]
            lines.append(f"{name}: {label} higher by {gap:.1f} (SE {error:.1f}).")
        return "\n".join(lines)

    def to_latex(  # type: ignore[override]
        self, *, caption: str = "Deviance scale: lower is better."
    ) -> str:
        """Return the comparison as a LaTeX table.

        Parameters
        ----------
        caption : str
            The caption.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        decimals = {**dict.fromkeys(map(str, self.columns), 1), "weight": 2}
        return frame_to_latex(self.table, caption, decimals=decimals)


def compare(
    fits: Mapping[str, Fit | Model | Elpd] | Iterable[Fit | Model],
    criterion: Literal["waic", "loo"] = "waic",
    *,
    by: str | None = None,
    table: pd.DataFrame | None = None,
    duplicates: Duplicates | None = None,
) -> Comparison:
    """Compare fits of the same table by their expected accuracy on new data.

    Parameters
    ----------
    fits : mapping of str to Fit, model or Elpd, or list of Fit or models
        The fits, by a name for each; in a list, fits have the names of their models. Models, such
        as ``["crossed", "interaction"]``, are fitted to `table`. The criteria of all fits, as
        `Fit.waic` and `Fit.loo` return them, do as well: fits of a long table need not be in
        memory together.
    criterion : {"waic", "loo"}, default "waic"
        Widely applicable information criterion, or leave-one-out cross-validation.
    by : str, optional
        Leave out all rows of one level of this column at a time (``word_to_compare``); only for
        ``loo``.
    table : DataFrame, optional
        The distance table, if there are models to fit.
    duplicates : {"drop", "keep"}, optional
        What to do with duplicated rows of `table`, as in `fit`.

    Returns
    -------
    Comparison
        A DataFrame, best first, in the shape of ``rethinking::compare``: the criterion on the
        deviance scale (lower is better), its standard error, the difference to the best and that
        difference's own standard error, the effective number of parameters, and the Akaike weight.
        Also `Comparison.summary` and `Comparison.to_latex`.

    Raises
    ------
    DataError
        If the fits are of different tables.
    SpecError
        If two fits in a list are of one model; give them names. If `duplicates` is given without
        `table`.

    Warns
    -----
    BayesBiasWarning
        If the criterion of a fit is not to be trusted.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> fits = {name: bb.fit(table, name, seed=1)
    ...         for name in ["baseline", "connection"]}
    >>> bb.compare(fits).round().astype({"WAIC": int, "dWAIC": int})
                WAIC    SE  dWAIC   dSE  pWAIC  weight
    connection -3128  94.0      0   NaN   19.0     1.0
    baseline   -2921  92.0    207  24.0   16.0     0.0
    """
    one_of("criterion", criterion, ("waic", "loo"))
    if by is not None and criterion == "waic":
        raise SpecError("'by' is for criterion='loo'; WAIC is of rows.")
    if duplicates is not None and table is None:
        raise SpecError("'duplicates' is about the rows of 'table'; give 'table', too.")
    if by is not None and by not in COLUMNS and table is not None:
        check_levels(table, by)  # before any model is fitted
    if isinstance(fits, Mapping) and any(isinstance(value, Elpd) for value in fits.values()):
        return _compared(_checked_criteria(fits, criterion.upper()))
    by_name = _named_fits(fits, table, duplicates)
    _check_rows("fits", {n: fit.provenance["table_sha256"] for n, fit in by_name.items()})
    return _compared(
        {
            name: fit.waic() if criterion == "waic" else fit.loo(by=by)
            for name, fit in by_name.items()
        }
    )


def _checked_criteria(given: Mapping[str, object], kind: str) -> dict[str, Elpd]:
    """Return criteria by name; refuse those of another kind, or of other rows."""
    criteria: dict[str, Elpd] = {}
    for name, value in given.items():
        if not isinstance(value, Elpd) or value.kind != kind:
            what = value.kind if isinstance(value, Elpd) else type(value).__name__
            raise SpecError(
                f"'fits' has criteria, and {name!r} is a {what}; expected {kind} of each fit, as "
                f"fit.{kind.lower()}() returns it."
            )
        criteria[str(name)] = value
    # Of criteria that were made by hand only the number of rows, or the levels, are known.
    known = {name: value for name, value in criteria.items() if value.table_sha256}
    _check_rows("criteria", {name: value.table_sha256 for name, value in known.items()})
    _check_rows("criteria", {n: (len(c.pointwise), c.labels) for n, c in criteria.items()})
    return criteria


def _check_rows(what: str, rows: Mapping[str, object]) -> None:
    """Refuse fits or criteria of different rows, given by what identifies them."""
    first = next(iter(rows), "")
    for name, value in rows.items():
        if value != rows[first]:
            raise DataError(
                f"the {what} {first!r} and {name!r} are of different tables; only fits of the same "
                "rows can be compared."
            )


def _compared(criteria: Mapping[str, Elpd]) -> Comparison:
    """Return the criteria of fits in one table, the best first."""
    doubtful = {name: elpd for name, elpd in criteria.items() if elpd.unreliable}
    if doubtful:
        counts = [f"{elpd.unreliable:,} ({name})" for name, elpd in doubtful.items()]
        one = next(iter(doubtful.values()))
        warn(_not_to_trust(one, f"in some of the {_units(one)}: {enumerated(counts)}"))
    label = next(iter(criteria.values())).kind
    order = sorted(criteria, key=lambda name: criteria[name].deviance)
    best = criteria[order[0]]
    rows = []
    for name in order:
        elpd = criteria[name]
        difference = elpd.pointwise - best.pointwise
        rows.append(
            {
                label: elpd.deviance,
                "SE": 2 * elpd.se,
                f"d{label}": elpd.deviance - best.deviance,
                "dSE": 2 * np.sqrt(len(difference) * difference.var())
                if elpd is not best
                else np.nan,
                f"p{label}": elpd.p,
            }
        )
    result = pd.DataFrame(rows, index=order)
    relative = np.exp(-0.5 * result[f"d{label}"])
    result["weight"] = relative / relative.sum()
    return Comparison(result)
