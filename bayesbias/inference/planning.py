"""How many attribute words a study needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from bayesbias._arrays import Array
from bayesbias._intervals import check_interval, interval
from bayesbias._progress import progress_bar
from bayesbias._validate import at_least, one_of, quoted
from bayesbias.constants import CONTROL_CONNECTIONS
from bayesbias.errors import DataError, SpecError
from bayesbias.inference.compiled import Compiled, compile_model
from bayesbias.inference.data import ModelData, dataset
from bayesbias.inference.estimates import contrast_weights, expected, flat
from bayesbias.inference.exact import sample_exactly
from bayesbias.inference.fit import Fit
from bayesbias.inference.spec import ModelSpec

By = Literal["protected_word"]

_SCALE_DRAWS = 200
_SIMULATION_DRAWS = 1000


@dataclass(frozen=True, repr=False)
class Plan:
    """How many attribute words make an interval narrow enough.

    Parameters
    ----------
    n : int or None
        Stereotype words needed for each group; None if no number up to the limit is enough.
    table : DataFrame
        For the numbers that were tried: ``n``, the expected ``width`` of the interval and
        ``P(narrow enough)``, both over what the fit leaves open about the scales.
    simulated : DataFrame
        Widths of the intervals of simulated studies with `n` words a group, and whether they hold
        the simulated truth.
    width : float
        The width that was asked for.
    contrast : str
        The contrast.
    prob : float
        Probability of the interval.
    detail : str, default ""
        What else limits the width.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> fit = bb.fit(table, "crossed", engine="exact", seed=1)
    >>> plan = bb.plan_sample_size(fit, width=0.12, simulations=0)
    >>> 8 <= plan.n <= 12
    True
    """

    n: int | None
    table: pd.DataFrame
    simulated: pd.DataFrame
    width: float
    contrast: str
    prob: float
    detail: str = field(default="")

    def __str__(self) -> str:
        goal = f"a {self.prob:.0%} interval of '{self.contrast}' narrower than {self.width:g}"
        if self.n is None:
            last = self.table.iloc[-1]
            return (
                f"No number of words up to {last['n']:.0f} a group gives {goal}: it would still be "
                f"{last['width']:.3f} wide. {self.detail}"
            )
        text = f"{self.n} stereotype words a group for {goal}."
        if len(self.simulated):
            narrow = (self.simulated["width"] <= self.width).mean()
            text += (
                f" In {len(self.simulated)} simulated studies of that size the mean width was "
                f"{self.simulated['width'].mean():.3f}, and {narrow:.0%} were narrow enough."
            )
        return text

    __repr__ = __str__


def plan_sample_size(
    fit: Fit,
    *,
    contrast: str = "associated - none",
    width: float,
    by: By | None = None,
    controls: int | None = None,
    prob: float = 0.89,
    assurance: float = 0.5,
    most: int = 2000,
    simulations: int = 20,
    seed: int = 0,
    progress: bool = True,
) -> Plan:
    """Return how many attribute words per group make the interval of a contrast narrow enough.

    Given the scales, the width of the interval of a Gaussian model depends only on which words are
    compared, not on what comes out; so it can be computed for studies not yet made, for every draw
    of the scales in the fit. Studies of the recommended size are then simulated and fitted.

    Parameters
    ----------
    fit : Fit
        A fit to a first table, with a normal likelihood; best of the model ``crossed``.
    contrast : str, default "associated - none"
        As in `Fit.contrasts`.
    width : float
        The width that the interval should stay below.
    by : {None, "protected_word"}, default None
        The contrast of the whole data set, or those of the single protected words (on average).
    controls : int, optional
        Words in each list of controls; as many as in the fit by default.
    prob : float, default 0.89
        Probability of the interval.
    assurance : float, default 0.5
        The probability, over what is not known of the scales, with which the interval shall be
        narrow enough.
    most : int, default 2000
        The largest number of words per group to consider.
    simulations : int, default 20
        How many studies of the recommended size to simulate.
    seed : int, default 0
        The same seed gives the same result.
    progress : bool, default True
        Whether to show a progress bar.

    Returns
    -------
    Plan
        The number, how the width falls with it, and the simulated studies.

    Raises
    ------
    SpecError
        If the fit is not of this kind.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> fit = bb.fit(table, "crossed", engine="exact", seed=1)
    >>> bb.plan_sample_size(fit, width=0.04, simulations=0)
    No number of words up to 2000 a group gives a 89% interval of 'associated - none' narrower than
    0.04: it would still be 0.09... wide. It rests on 15 protected words, too: add some.
    """
    check_interval(prob, "hdi")
    if not isinstance(width, int | float) or not width > 0:
        raise SpecError(f"'width' is {width!r}; expected a number above zero.")
    if not 0 < assurance < 1:
        raise SpecError(f"'assurance' is {assurance!r}; expected a number between 0 and 1.")
    if by is not None:
        one_of("by", by, ("protected_word",))
    at_least("most", most, 2)
    at_least("simulations", simulations, 0)
    if controls is not None:
        at_least("controls", controls, 1)
    design = _Design.of_fit(fit, controls)
    weights = contrast_weights(contrast, fit.data.levels["connection"])
    log_scales = _log_scales(fit)
    tried: dict[int, Array] = {}

    def widths(n: int) -> Array:
        """Return the width of the interval for each draw of the scales."""
        if n not in tried:
            data = design.data(n)
            tried[n] = _widths(fit.spec, data, log_scales, weights, by, prob)
        return tried[n]

    def enough(n: int) -> bool:
        return bool((widths(n) <= width).mean() >= assurance)

    low, high = 1, 2
    while high < most and not enough(high):
        low, high = high, min(2 * high, most)
    needed: int | None = None
    if enough(high):
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        needed = high
    table = pd.DataFrame(
        {
            "n": n,
            "width": float(tried[n].mean()),
            "P(narrow enough)": float((tried[n] <= width).mean()),
        }
        for n in sorted(tried)
    )
    simulated = pd.DataFrame({"width": [], "covered": []})
    if needed is not None and simulations:
        simulated = _simulate(
            fit, design.data(needed), contrast, by, prob, simulations, seed, progress
        )
    detail = (
        f"It rests on {len(design.group_of)} protected words, too: add some."
        if by is None
        else "The controls limit it, too: add some."
    )
    return Plan(needed, table, simulated, float(width), contrast, prob, detail)


@dataclass(frozen=True)
class _Design:
    """Who is compared with what, for any number of attributes."""

    levels: dict[str, tuple[str, ...]]
    group_of: dict[str, str]
    controls: dict[str, int]  # by connection

    @classmethod
    def of_fit(cls, fit: Fit, controls: int | None) -> _Design:
        spec = fit.spec
        if spec.likelihood != "normal":
            raise SpecError("a plan needs a fit with a normal likelihood; fit it with 'normal'.")
        known = {"protected_word", "connection", "word_to_compare"}
        if set(spec.factors) - known or spec.outcome != "distance":
            raise SpecError(
                f"a plan needs a model of distances by {quoted(sorted(known))}; {spec.name!r} has "
                f"{quoted(spec.factors)}."
            )
        if "connection" not in spec.factors:
            raise SpecError(f"model {spec.name!r} does not tell connections apart.")
        table = fit.table
        pairs = table[["protected_word", "protected_group"]].astype("str").drop_duplicates()
        names = fit.data.levels["connection"]
        counts = table.groupby("connection", observed=True)["word_to_compare"].nunique()
        wanted = {
            kind: controls or int(counts[kind])
            for kind in CONTROL_CONNECTIONS.values()
            if kind in names
        }
        if "associated" not in names:
            raise DataError("the table of the fit has no associated attributes to plan for.")
        levels = {"protected_word": fit.data.levels["protected_word"], "connection": names}
        return cls(levels, dict(pairs.itertuples(index=False)), wanted)

    def data(self, n: int) -> ModelData:
        """Return rows of a study with n stereotypes for each group; their outcomes are zero."""
        groups = list(dict.fromkeys(self.group_of.values()))
        words = [f"{group} {i}" for group in groups for i in range(n)]
        of = np.repeat(np.arange(len(groups)), n)
        names = self.levels["connection"]
        own = np.array([groups.index(self.group_of[w]) for w in self.levels["protected_word"]])
        different = names.index("different") if "different" in names else -1
        kind = np.where(own[:, None] == of, names.index("associated"), different)
        for connection, count in self.controls.items():
            words += [f"{connection} {i}" for i in range(count)]
            kind = np.hstack([kind, np.full((len(own), count), names.index(connection))])
        rows, columns = np.nonzero(kind >= 0)
        codes = {"protected_word": rows, "connection": kind[rows, columns],
                 "word_to_compare": columns}  # fmt: skip
        levels = {**self.levels, "word_to_compare": tuple(words)}
        return ModelData(levels, codes, np.zeros(len(rows)), None)


def _log_scales(fit: Fit) -> Array:
    """Return some draws of all scales, in the order of the exact engine."""
    names = [p.name for p in fit.spec.parameters if p.prior.is_positive]
    draws = [fit.draws(name) for name in names]
    flat_draws = np.column_stack([d.reshape(len(d), -1) for d in draws])
    every = max(1, len(flat_draws) // _SCALE_DRAWS)
    result: Array = np.log(flat_draws[::every])
    return result


def _widths(
    spec: ModelSpec, data: ModelData, log_scales: Array, weights: Array, by: By | None, prob: float
) -> Array:
    from scipy.special import ndtri

    compiled = compile_model(spec, data)
    words = range(len(data.levels["protected_word"])) if by == "protected_word" else [None]
    reach = 2 * ndtri((1 + prob) / 2)
    per_word = [
        reach * np.sqrt(_variance(spec, data, compiled, log_scales, weights, word))
        for word in words
    ]
    result: Array = np.mean(per_word, axis=0)
    return result


def _variance(
    spec: ModelSpec,
    data: ModelData,
    compiled: Compiled,
    log_scales: Array,
    weights: Array,
    word: int | None,
) -> Array:
    """Return the posterior variance of a contrast for each row of scales."""
    functional = np.zeros(compiled.layout.n_coefficients)
    for connection, weight in enumerate(weights):
        for name in spec.mean:
            at = {"connection": connection, "protected_word": word}
            _add(spec, data, compiled, functional, name, at, weight)
    total = np.zeros(len(log_scales))
    for block in compiled.blocks:
        own = functional[block.coefficients]
        if own.any():
            total += block.variance(log_scales[:, block.scales], own)
    return total


def _add(
    spec: ModelSpec,
    data: ModelData,
    compiled: Compiled,
    functional: Array,
    name: str,
    at: dict[str, int | None],
    weight: float,
) -> None:
    """Add a parameter's part of an expected distance, as `expected` defines it."""
    p = spec[name]
    lost = [factor for factor in p.by if at.get(factor) is None]
    if not lost or p.prior.sd is None:
        shape = data.shape(p.by)
        picked = [np.arange(shape[i]) if f in lost else [at[f]] for i, f in enumerate(p.by)]
        places = np.ravel_multi_index(np.ix_(*picked), shape).ravel() if p.by else np.zeros(1, int)
        start = compiled.layout.coefficients[name].start
        functional[start + places] += weight / len(places)
    for parent in p.prior.mean:
        _add(spec, data, compiled, functional, parent, at, weight)


def _simulate(
    fit: Fit,
    data: ModelData,
    contrast: str,
    by: By | None,
    prob: float,
    simulations: int,
    seed: int,
    progress: bool,
) -> pd.DataFrame:
    """Draw studies from the fit's posterior, fit them, and look at their intervals."""
    spec = fit.spec
    rng = np.random.default_rng(seed)
    n_draws = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    rows = []
    with progress_bar("simulating", total=simulations, show=progress, unit="steps") as advance:
        for draw in rng.integers(n_draws, size=simulations):
            truth = _new_study(fit, data, int(draw), rng)
            y = sum(np.ravel(truth[n])[data.index(spec[n].by)] for n in spec.mean)
            scale = np.ravel(truth[spec.scale])[data.index(spec[spec.scale].by)]
            study = ModelData(data.levels, data.codes, rng.normal(y, scale), None)
            values, _ = sample_exactly(spec, study, _SIMULATION_DRAWS, rng)
            found = _contrast(spec, study, values, contrast, by)
            true = _contrast(spec, study, {k: v[None] for k, v in truth.items()}, contrast, by)[0]
            low, high = interval(found, prob)
            rows.append(
                {
                    "width": float(np.mean(high - low)),
                    "covered": float(np.mean((low <= true) & (true <= high))),
                }
            )
            advance(1)
    return pd.DataFrame(rows)


def _new_study(fit: Fit, data: ModelData, draw: int, rng: np.random.Generator) -> dict[str, Array]:
    """Return true parameters of a new study: its attribute words are new, the rest is the fit's."""
    from bayesbias.inference.compiled import parent_index

    truth: dict[str, Array] = {}
    for p in fit.spec.parameters:
        shape = data.shape(p.by)
        if "word_to_compare" not in p.by:
            truth[p.name] = fit.draws(p.name)[draw]
            continue
        mean = np.full(int(np.prod(shape, dtype=int)), p.prior.arguments[0])
        for parent in p.prior.mean:
            mean += np.ravel(truth[parent])[parent_index(fit.spec, data, p.name, parent)]
        if p.prior.sd is None:
            sd: Array | float = p.prior.arguments[1]
        else:
            sd = np.ravel(truth[p.prior.sd])[parent_index(fit.spec, data, p.name, p.prior.sd)]
        truth[p.name] = rng.normal(mean, sd).reshape(shape)
    return truth


def _contrast(
    spec: ModelSpec, data: ModelData, values: dict[str, Array], contrast: str, by: By | None
) -> Array:
    posterior = dataset(spec, data, values, 1)
    over = ["word_to_compare", *([] if by else ["protected_word"])]
    array = expected(spec, posterior, over)
    weights = contrast_weights(contrast, data.levels["connection"])
    draws = flat(array.transpose(..., "connection"))
    result: Array = draws @ weights
    return result
