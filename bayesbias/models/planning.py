"""How many attribute words a study needs."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.array_types import Array
from bayesbias._core.constants import CONTROL_CONNECTIONS
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.progress import progress_bar
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, one_of
from bayesbias._core.wording import quoted, with_article
from bayesbias.errors import DataError, SpecError
from bayesbias.models.contrasts import Layers, contrast_weights, expected, flat
from bayesbias.models.exact.compiled_model import Compiled, compile_model, parent_index, summands
from bayesbias.models.exact.engine import sample_exactly
from bayesbias.models.fitted_model import Fit, group_means
from bayesbias.models.fitting import as_fit
from bayesbias.models.model_data import ModelData, dataset
from bayesbias.models.spec import KIND_OF_CONNECTION, ModelSpec
from bayesbias.numerics.intervals import check_interval, interval

By = Literal["protected_word"]

_KNOWN = (
    "protected_word", "connection", "word_to_compare", "protected_group", "word_class",
    "attribute_kind",
)  # fmt: skip
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
        ``prob_narrow_enough``, both over the uncertainty of the scales.
    simulated : DataFrame
        Widths of the intervals of simulated studies with `n` words per group, and whether they hold
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
    >>> fit = bb.fit(table, "interaction", draws=500, seed=1)
    >>> plan = bb.plan_sample_size(fit, width=0.12, simulations=0)
    >>> 6 <= plan.n <= 10
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
        percent = f"{self.prob:.0%}"
        goal = f"{with_article(percent)} interval of '{self.contrast}' narrower than {self.width:g}"
        if self.n is None:
            last = self.table.iloc[-1]
            return (
                f"No number of words up to {last['n']:.0f} per group gives {goal}: it would still "
                f"be {last['width']:.3f} wide. {self.detail}"
            ).rstrip()
        text = f"{self.n} stereotype words per group for {goal}."
        if len(self.simulated):
            narrow = (self.simulated["width"] <= self.width).mean()
            text += (
                f" In {len(self.simulated)} simulated studies of that size the mean width was "
                f"{self.simulated['width'].mean():.3f}, and {narrow:.0%} were narrow enough."
            )
        return text

    __repr__ = __str__

    def summary(self) -> str:
        """Return the plan in plain words.

        Returns
        -------
        str
            How many words are needed, or that no number is enough.
        """
        return str(self)

    def _repr_html_(self) -> str:
        shown = self.table.round(3).to_html(index=False, border=0)
        return f"<p>{html.escape(str(self))}</p>{shown}"

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the numbers of words that were tried as a LaTeX table.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of our own.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        titles = {"n": "words per group", "prob_narrow_enough": "P(narrow enough)"}
        return frame_to_latex(
            self.table,
            str(self) if caption is None else caption,
            titles=titles,
            decimals={"width": 3},
        )


def plan_sample_size(
    fit: Fit | str | PathLike[str] | ModelSpec,
    *,
    table: pd.DataFrame | None = None,
    contrast: str = "associated - none",
    width: float,
    by: By | None = None,
    controls: int | None = None,
    prob: float = 0.89,
    assurance: float = 0.5,
    most: int = 2000,
    simulations: int = 20,
    seed: Seed = 0,
    progress: bool = True,
) -> Plan:
    """Return how many attribute words per group make the interval of a contrast narrow enough.

    Given the scales, the width of the interval of a Gaussian model depends only on which words are
    compared, not on what comes out; so it can be computed for studies not yet made, for every draw
    of the scales in the fit. Studies of the recommended size are then simulated and fitted.

    Parameters
    ----------
    fit : Fit, str, path-like or ModelSpec
        A fit to a first table, with a normal likelihood, or a model to fit to `table`;
        ``interaction`` is the model to use.
    table : DataFrame, optional
        The first table, if `fit` is a model.
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
    seed : int, Generator or None, default 0
        The same seed gives the same result; a NumPy generator draws one.
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
    >>> fit = bb.fit(table, "interaction", draws=500, seed=1)
    >>> bb.plan_sample_size(fit, width=0.02, simulations=0, most=500)
    No number of words up to 500 per group gives an 89% interval of 'associated - none' narrower
    than 0.02: it would still be 0.03... wide. The controls limit it, too: add some.
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
    seed = as_seed(seed)
    fit = as_fit(fit, table)
    design = _Design.of_fit(fit, controls)
    weights = contrast_weights(contrast, fit.data.levels["connection"])
    log_scales = fit.unknowns(_SCALE_DRAWS)
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
    widths_by_n = pd.DataFrame(
        {
            "n": n,
            "width": float(tried[n].mean()),
            "prob_narrow_enough": float((tried[n] <= width).mean()),
        }
        for n in sorted(tried)
    )
    simulated = pd.DataFrame({"width": [], "covered": []})
    if needed is not None and simulations:
        simulated = _simulate(
            fit, design.data(needed), contrast, by, prob, simulations, seed, progress
        )
    of_controls = np.isin(fit.data.levels["connection"], list(CONTROL_CONNECTIONS.values()))
    detail = "The controls limit it, too: add some." if weights[of_controls].any() else ""
    return Plan(needed, widths_by_n, simulated, float(width), contrast, prob, detail)


@dataclass(frozen=True)
class _Design:
    """Who is compared with what, for any number of attributes."""

    levels: dict[str, tuple[str, ...]]
    group_of: dict[str, str]
    controls: dict[str, int]  # by connection
    list_of: dict[str, str]  # by group, and by connection of controls

    @classmethod
    def of_fit(cls, fit: Fit, controls: int | None) -> _Design:
        spec = fit.spec
        if spec.likelihood != "normal":
            raise SpecError("a plan needs a fit with a normal likelihood; fit it with 'normal'.")
        if spec.covariates:
            raise SpecError(
                f"a plan cannot use covariates, and this fit has {quoted(spec.covariates)}; fit "
                "the model without them."
            )
        unknown = sorted(set(spec.factors) - set(_KNOWN))
        if unknown:
            raise SpecError(
                f"a plan needs a model of distances by {quoted(sorted(_KNOWN))}; {spec.name!r} "
                f"varies by {quoted(unknown)}."
            )
        if "connection" not in spec.factors:
            raise SpecError(f"model {spec.name!r} does not distinguish connections.")
        table = fit.table
        pairs = table[["protected_word", "protected_group"]].drop_duplicates().astype("str")
        names = fit.data.levels["connection"]
        counts = table.groupby("connection", observed=True)["word_to_compare"].nunique()
        wanted = {
            kind: controls or int(counts[kind])
            for kind in CONTROL_CONNECTIONS.values()
            if kind in names
        }
        if "associated" not in names:
            raise DataError("the table of the fit has no associated attributes to plan for.")
        lists = table[["word_class", "connection", "protected_group"]].astype("str")
        lists = lists.drop_duplicates()
        associated = lists[lists["connection"] == "associated"].drop_duplicates("protected_group")
        list_of = dict(zip(associated["protected_group"], associated["word_class"], strict=True))
        for kind in wanted:
            list_of[kind] = str(lists.loc[lists["connection"] == kind, "word_class"].iloc[0])
        levels = {
            "protected_word": tuple(pairs["protected_word"]),
            "connection": names,
            "protected_group": tuple(dict.fromkeys(pairs["protected_group"])),
            "word_class": tuple(dict.fromkeys(list_of.values())),
            "attribute_kind": tuple(sorted({KIND_OF_CONNECTION[c] for c in names})),
        }
        # Where the fit knows the levels, its order counts: its draws are laid out so.
        levels |= {k: v for k, v in fit.data.levels.items() if k in levels}
        return cls(levels, dict(pairs.itertuples(index=False)), wanted, list_of)

    def data(self, n: int) -> ModelData:
        """Return rows of a study with n stereotypes for each group; their outcomes are zero."""
        groups = list(dict.fromkeys(self.group_of.values()))
        words = [f"{group} {i}" for group in groups for i in range(n)]
        of = np.repeat(np.arange(len(groups)), n)
        lists = [self.list_of[group] for group in groups for _ in range(n)]
        names = self.levels["connection"]
        group_of = np.array([groups.index(self.group_of[w]) for w in self.levels["protected_word"]])
        different = names.index("different") if "different" in names else -1
        kind = np.where(group_of[:, None] == of, names.index("associated"), different)
        for connection, count in self.controls.items():
            words += [f"{connection} {i}" for i in range(count)]
            lists += [self.list_of[connection]] * count
            kind = np.hstack([kind, np.full((len(group_of), count), names.index(connection))])
        rows, columns = np.nonzero(kind >= 0)
        of_connection = [
            self.levels["attribute_kind"].index(KIND_OF_CONNECTION[name]) for name in names
        ]
        of_group = [self.levels["protected_group"].index(group) for group in groups]
        of_list = [self.levels["word_class"].index(name) for name in lists]
        codes = {
            "protected_word": rows,
            "connection": kind[rows, columns],
            "word_to_compare": columns,
            "protected_group": np.array(of_group)[group_of[rows]],
            "word_class": np.array(of_list)[columns],
            "attribute_kind": np.array(of_connection)[kind[rows, columns]],
        }
        levels = {**self.levels, "word_to_compare": tuple(words)}
        return ModelData(levels, codes, np.zeros(len(rows)), None)


def _widths(
    spec: ModelSpec, data: ModelData, log_scales: Array, weights: Array, by: By | None, prob: float
) -> Array:
    from scipy.special import ndtri

    compiled = compile_model(spec, data)
    reach = 2 * ndtri((1 + prob) / 2)
    per_word = []
    for functional in _functionals(spec, data, compiled, weights, by):
        total = np.zeros(len(log_scales))
        for block in compiled.blocks:
            block_weights = functional[block.coefficients]
            if block_weights.any():
                total += block.variance(log_scales[:, block.scales], block_weights)
        per_word.append(reach * np.sqrt(total))
    result: Array = np.mean(per_word, axis=0)
    return result


def _functionals(
    spec: ModelSpec, data: ModelData, compiled: Compiled, weights: Array, by: By | None
) -> Iterator[Array]:
    """Return the weight of each coefficient in the contrast: of the whole, or of each word.

    The expected distance of a protected word from a list is that of any row of the two, without
    what belongs to the attribute itself.
    """
    names = ("protected_word", "word_class", "connection")
    keys = np.column_stack([data.codes[name] for name in names])
    cells, first = np.unique(keys, axis=0, return_index=True)
    group = data.codes["protected_group"][first]
    lists = pd.DataFrame(cells, columns=list(names)).groupby(["protected_word", "connection"])
    share = weights[cells[:, 2]] / lists["word_class"].transform("size").to_numpy()
    design = np.zeros((len(first), compiled.layout.n_coefficients))
    for name, term, times in zip(
        summands(spec), compiled.rows.terms, compiled.rows.times, strict=True
    ):
        if "word_to_compare" in spec[name].by:
            continue
        has = np.flatnonzero(term[first] >= 0)
        np.add.at(design, (has, term[first[has]]), times)
    if by == "protected_word":
        for word in range(len(data.levels["protected_word"])):
            of_word = cells[:, 0] == word
            yield share[of_word] @ design[of_word]
        return
    words = [len(np.unique(cells[group == g, 0])) for g in range(group.max() + 1)]
    yield (share / np.array(words)[group] / len(words)) @ design


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
    n_draws = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    rows = []
    # How many random numbers a fit takes may depend on the last digit, which is not the same on all
    # processors: one stream for all studies would make them other studies there.
    studies = np.random.default_rng(seed).spawn(simulations)
    with progress_bar("simulating", total=simulations, show=progress, unit="steps") as advance:
        for rng in studies:
            truth = _new_study(fit, data, int(rng.integers(n_draws)), rng)
            y = np.zeros(len(data.y))
            for name in spec.mean:
                part = np.ravel(truth[name])[data.index(spec[name].by)]
                times = data.times(spec, name)
                y += part if times is None else part * times
            scale = np.ravel(truth[spec.scale])[data.index(spec[spec.scale].by)]
            study = ModelData(data.levels, data.codes, rng.normal(y, scale), None)
            values, _ = sample_exactly(spec, study, _SIMULATION_DRAWS, rng)
            drawn = _contrast(spec, study, values, contrast, by)
            true = _contrast(spec, study, {k: v[None] for k, v in truth.items()}, contrast, by)[0]
            low, high = interval(drawn, prob)
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
    names = ("protected_word", "protected_group", "connection", "word_class")
    frame = pd.DataFrame(
        {name: np.array(data.levels[name])[data.codes[name]] for name in names}
    ).drop_duplicates()
    layers = Layers.of_table(frame, data)
    array = expected(spec, posterior, ["word_to_compare"], layers)
    groups = frame.drop_duplicates("protected_word").set_index("protected_word")["protected_group"]
    words = list(data.levels["protected_word"])
    group_of = xr.DataArray(groups[words].to_numpy(), coords={"protected_word": words})
    group_of = group_of.rename("protected_group")
    if "protected_group" in array.dims:
        array = array.sel(protected_group=group_of)
        array = array.drop_vars("protected_group")
    weights = contrast_weights(contrast, data.levels["connection"])
    result: xr.DataArray = (array * xr.DataArray(weights, dims="connection")).sum("connection")
    if "protected_word" not in result.dims:
        result = result * xr.ones_like(group_of, dtype=float)
    if by is None:
        result = group_means(result, group_of).mean("protected_group")
    return flat(result)
