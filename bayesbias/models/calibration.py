"""Calibration: whether the intervals of a model contain the true value as often as stated."""

from __future__ import annotations

import html
import json
import math
import warnings
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.array_types import Array
from bayesbias._core.constants import CONNECTIONS
from bayesbias._core.files import atomic, make_folder, read_utf8, sweep_folder
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.locks import locked
from bayesbias._core.progress import progress_bar
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, check_jobs, one_of
from bayesbias._core.wording import quoted
from bayesbias.errors import DataError, SpecError, warn
from bayesbias.models.contrasts import contrast_weights, flat
from bayesbias.models.exact.compiled_model import check_exact, exact_supports
from bayesbias.models.exact.engine import sample_exactly
from bayesbias.models.fitted_model import Fit
from bayesbias.models.fitting import ENGINES, Engine, Sampling, fit_rows, table_hash
from bayesbias.models.model_data import dataset, model_data, prepare_table
from bayesbias.models.prior_draws import _parameter, outcome_draws
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.numerics.intervals import Kind, check_interval, interval
from bayesbias.numerics.uniformity import clustered_share, holm, uniformity
from bayesbias.parallel import in_parallel

Truth = Literal["prior", "posterior"]
_Engine = Literal["exact", "nuts"]

_CONTRASTS = ("associated - none", "associated - different", "associated - human")
_LEVELS = {"all": None, "protected_group": "protected_group", "protected_word": "protected_word"}
_WORDS = {"protected_word", "word_to_compare"}
# NUTS draws depend on each other: one of this many is kept.
_THIN = 4
_CHAINS = 2
#: The narrowest interval of fewer draws is visibly too narrow.
_FEWEST_HDI = 999
_TRUTH_DRAWS = 2000
# Adjusted p-values below this say that ranks are not uniform.
_ALPHA = 0.05
_SETTINGS = "settings.json"
_ARRAYS = ("truth", "rank", "pit", "lower", "upper")


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """How often intervals contained the true value in simulated tables, and its ranks.

    Parameters
    ----------
    ranks : DataFrame
        One row per simulation and quantity: ``simulation``, ``quantity`` (a contrast or a
        parameter), ``level`` (``all``, ``protected_group``, ``protected_word`` or ``parameter``),
        ``name`` (of the group, word or level), ``truth``, ``rank`` (the number of draws below the
        truth), ``pit`` (the rank on the scale from 0 to 1, ties broken at random), ``lower`` and
        ``upper``.
    settings : mapping
        What was simulated and fitted: ``model``, ``truth``, ``truth_model``, ``engine``,
        ``draws``, ``prob``, ``kind``, ``seed``.
    failures : mapping of int to str
        Simulations that could not be fitted, and why.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> found = bb.calibrate("separate", table, simulations=20, draws=99)
    >>> found
    <Calibration of 'separate': 20 simulated tables, truth from the prior, exact engine>
    """

    ranks: pd.DataFrame
    settings: Mapping[str, Any]
    failures: Mapping[int, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<Calibration of {self.model!r}: {self.simulations} simulated tables, "
            f"{self._source()}, {self.settings['engine']} engine>"
        )

    def _source(self) -> str:
        other = self.settings["truth_model"]
        name = "" if other["name"] == self.model else f" of {other['name']!r}"
        return f"truth from the {self.settings['truth']}{name}"

    def _repr_html_(self) -> str:
        first, *rest = self.summary().splitlines()
        lines = "<br>".join(html.escape(line) for line in rest)
        shown = (
            self.table.drop(columns=["lower", "upper", "trials"])
            .round(3)
            .to_html(index=False, border=0)
        )
        return f"<p><b>{html.escape(first)}</b></p><p>{lines}</p>{shown}"

    @property
    def model(self) -> str:
        """The name of the model that was fitted."""
        return str(self.settings["model"]["name"])

    @property
    def prob(self) -> float:
        """The probability of the intervals."""
        return float(self.settings["prob"])

    @property
    def simulations(self) -> int:
        """The number of simulated tables that were fitted."""
        return int(self.ranks["simulation"].nunique())

    @cached_property
    def by_name(self) -> pd.DataFrame:
        """One row per single quantity: its coverage, width and the test of its ranks.

        The columns are those of `table`, with the ``name`` of the group or word, and without
        ``verdict``.
        """
        names = ["quantity", "level", "name"]
        rows: list[dict[str, object]] = [
            {
                **dict(zip(names, key, strict=True)),
                "prob": self.prob,
                **_coverage(part),
                "p_value": uniformity(part["pit"].to_numpy()),
            }
            for key, part in self.ranks.groupby(names, sort=False)
        ]
        return pd.DataFrame(rows)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per quantity and level, over all groups or words of that level.

        ``quantity``, ``level``, ``prob``, ``coverage`` (the share of intervals that hold the
        truth), ``lower`` and ``upper`` (a 95% Monte Carlo interval of it, Wilson's, which allows
        for the correlation of intervals of one table), ``trials`` (the number of independent
        intervals with as much information), ``width`` (mean), ``p_value`` (that the ranks are
        uniform; for several words the smallest, times their number) and ``verdict``. Where the
        truth is drawn from the model's own prior the verdict is that of the ranks, otherwise that
        of the coverage; it allows for the number of rows (Holm's method, 5%).
        """
        rows: list[dict[str, object]] = []
        names = ["quantity", "level"]
        single = self.by_name.groupby(names, sort=False)["p_value"]
        several = zip(self.ranks.groupby(names, sort=False), single, strict=True)
        for (key, part), (_, p_values) in several:
            rows.append(
                {
                    "quantity": key[0],
                    "level": key[1],
                    "prob": self.prob,
                    **_coverage(part),
                    "p_value": min(1.0, float(p_values.min()) * len(p_values)),
                    "verdict": self._departure(part),
                }
            )
        result = pd.DataFrame(rows)
        tests = result["p_value"] if self._is_exact else result.apply(_far_from_stated, axis=1)
        departs = holm(tests.to_numpy(dtype=np.float64)) < _ALPHA
        result["verdict"] = result["verdict"].where(departs, "no departure")
        return result

    def _departure(self, part: pd.DataFrame) -> str:
        """Return in which way a quantity departs from calibration, if it does."""
        pit = part["pit"].to_numpy()
        if not self._is_exact:
            return _shape_of_coverage(pit, _coverage(part)["coverage"] - self.prob)
        return _shape(pit)

    @property
    def _is_exact(self) -> bool:
        """Whether right draws have uniform ranks: the truth is from the model's own prior."""
        return bool(
            self.settings["truth"] == "prior"
            and self.settings["model"] == self.settings["truth_model"]
        )

    def coverage(self, probs: Iterable[float]) -> pd.DataFrame:
        """Return the coverage of equal-tailed intervals of any probability, from the ranks.

        Parameters
        ----------
        probs : iterable of float
            Probabilities between 0 and 1.

        Returns
        -------
        DataFrame
            ``quantity``, ``level``, ``prob``, ``coverage``, its Monte Carlo interval (``lower``,
            ``upper``) and ``trials``.
        """
        parts = []
        for prob in probs:
            check_interval(prob, "eti")
            for key, part in self.ranks.groupby(["quantity", "level"], sort=False):
                hit = (2 * part["pit"] - 1).abs() <= prob
                parts.append({"quantity": key[0], "level": key[1], "prob": prob,
                              **clustered_share(hit, part["simulation"])})  # fmt: skip
        return pd.DataFrame(parts)

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the coverage of the intervals as a LaTeX table.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of our own.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        text = f"Coverage of {self.prob:.0%} intervals of model {self.model}, {self._source()}."
        columns = ["quantity", "level", "coverage", "lower", "upper", "width", "verdict"]
        frame = self.table[columns].replace({"level": _LEVEL_NAMES})
        return frame_to_latex(frame, text if caption is None else caption, decimals={"width": 3})

    def summary(self) -> str:
        """Return the result in plain words.

        Returns
        -------
        str
            The answer first, then what departs from it, then what was done.
        """
        table = self.table
        low, high = table["coverage"].min(), table["coverage"].max()
        wrong = table[table["verdict"] != "no departure"]
        span = f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
        lines = [
            f"{self.prob:.0%} intervals of {self.model!r} contain the true value in {span} of "
            f"{self.simulations} simulated tables ({self._source()}): "
            + (
                "no departure from calibration is visible."
                if wrong.empty
                else f"{len(wrong)} of {len(table)} quantities depart from calibration."
            )
        ]
        for row in wrong.itertuples():
            lines.append(
                f"- {row.quantity} ({_LEVEL_NAMES[str(row.level)]}): {row.verdict}; coverage "
                f"{row.coverage:.2f} ({row.lower:.2f} to {row.upper:.2f})."
            )
        contrasts = table[table["level"] != "parameter"]
        for row in contrasts[~contrasts.index.isin(wrong.index)].itertuples():
            lines.append(
                f"- {row.quantity} ({_LEVEL_NAMES[str(row.level)]}): coverage {row.coverage:.2f} "
                f"({row.lower:.2f} to {row.upper:.2f}), mean width {row.width:.3f}."
            )
        if self.simulations < 100:
            lines.append(
                f"With {self.simulations} tables, only large errors are visible; use 200 or more. "
                "A call with the same out= adds to the simulations that are finished."
            )
        if self.failures:
            first = next(iter(self.failures.values()))
            lines.append(f"{len(self.failures)} simulated tables could not be fitted: {first}")
        return "\n".join(lines)


_LEVEL_NAMES = {
    "all": "whole table",
    "protected_group": "groups",
    "protected_word": "protected words",
    "parameter": "parameter",
}


def calibrate(
    model: str | PathLike[str] | ModelSpec,
    table: pd.DataFrame,
    *,
    truth: Truth = "prior",
    truth_model: str | PathLike[str] | ModelSpec | None = None,
    simulations: int = 200,
    engine: Engine = "auto",
    draws: int = 999,
    prob: float = 0.89,
    kind: Kind = "eti",
    contrasts: Sequence[str] | None = None,
    seed: Seed = 0,
    n_jobs: int = 1,
    out: str | PathLike[str] | None = None,
    progress: bool = True,
) -> Calibration:
    """Simulate tables with known values, fit them, and count how often intervals contain these.

    The simulated tables have the layout of the given one: the same words are compared with the
    same words. Two questions can be asked.

    *Is the computation right?* With ``truth="prior"`` the truth is drawn from the priors, a table
    is drawn given it, and the model is fitted. Then the rank of the truth among the posterior draws
    is uniform, for every quantity, if the engine draws from the posterior; this is simulation-based
    calibration (Talts et al. 2018). The distances of the table are not used.

    *Do the intervals hold for tables like mine?* With ``truth="posterior"`` the truth is drawn from
    a fit to the table, with new attribute words each time. Ranks are then not exactly uniform even
    for a right model, since the fit starts from the prior; coverage near `prob` is what counts.
    With `truth_model` the truth is that of another model, best one that predicts well: coverage
    when the fitted model is wrong.

    Parameters
    ----------
    model : str, path-like or ModelSpec
        The model that is fitted: a name of the catalogue, a TOML file, or a `ModelSpec`.
    table : DataFrame
        A distance table, as for `fit`.
    truth : {"prior", "posterior"}, default "prior"
        Where the true parameters are drawn from.
    truth_model : str, path-like or ModelSpec, optional
        The model that the truth is drawn from; by default the one that is fitted. With another
        one only contrasts are compared. They are about the listed protected words, as those of
        `Fit.contrasts` are.
    simulations : int, default 200
        The number of simulated tables.
    engine : {"auto", "exact", "nuts"}, default "auto"
        How to fit, as in `fit`: exactly if the model allows it. NUTS takes seconds or more per
        table, most of it compilation. ``settings["engine"]`` of the result says which it was.
    draws : int, default 999
        Posterior draws of each fit. With NUTS, every fourth is kept, so that they hardly depend on
        each other. Equal-tailed intervals allow for their number.
    prob : float, default 0.89
        Probability of the intervals.
    kind : {"hdi", "eti"}, default "eti"
        Kind of interval. The narrowest interval of a few draws is a little too narrow: of 999, the
        fewest that are allowed with it, it contains 0.883 instead of 0.89.
    contrasts : sequence of str, optional
        Contrasts to examine; by default associated minus none, different and human, as far as the
        table has these connections.
    seed : int, Generator or None, default 0
        The same seed gives the same result, whatever the number of processes; a NumPy generator
        draws one.
    n_jobs : int, default 1
        Processes to use, by joblib; -1 for all cores.
    out : str or path-like, optional
        A folder. Each finished simulation is kept there, so that the same call continues a run that
        was stopped, and a call with more simulations adds to it.
    progress : bool, default True
        Whether to show a progress bar.

    Returns
    -------
    Calibration
        Ranks, coverage, and what they say.

    Raises
    ------
    SpecError
        If an option or a model is not known, or the folder is of another calibration.
    DataError
        If the table cannot be modelled, or no simulated table could be fitted.

    Warns
    -----
    BayesBiasWarning
        If some of the simulated tables could not be fitted.

    Notes
    -----
    ``simuk`` of the ArviZ project does simulation-based calibration of PyMC models. It is not used
    here because it knows neither the exact engine nor contrasts, records ranks but not intervals,
    works in one process, and keeps its progress in memory only. The test of the ranks is that of
    Säilynoja et al. (2022), whose bands `plot_calibration` draws.

    References
    ----------
    Talts, Betancourt, Simpson, Vehtari & Gelman (2018). Validating Bayesian inference algorithms
    with simulation-based calibration. arXiv:1804.06788.

    Säilynoja, Bürkner & Vehtari (2022). Graphical test for discrete uniformity and its applications
    in goodness-of-fit evaluation and multiple sample comparison. Statistics and Computing 32, 32.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> found = bb.calibrate("separate", table, simulations=20, draws=99)
    >>> print(found.summary().splitlines()[0])
    89% intervals of 'separate' contain the true value in ... of 20 simulated tables (truth from the
    prior): no departure from calibration is visible.
    """
    one_of("truth", truth, ("prior", "posterior"))
    one_of("engine", engine, ENGINES)
    check_interval(prob, kind)
    at_least("simulations", simulations, 1)
    _check_draws(draws, prob, kind)
    seed = as_seed(seed)
    check_jobs(n_jobs)
    spec = load_model(model)
    source = spec if truth_model is None else load_model(truth_model)
    drawn_by = _chosen_engine(spec, engine)
    rows = prepare_table(table)
    for each in (spec, source):
        model_data(each, rows)
    chosen = _check_contrasts(spec, source, rows, contrasts)
    settings = {
        "model": spec.to_dict(),
        "truth": truth,
        "truth_model": source.to_dict(),
        "engine": drawn_by,
        "draws": draws,
        "prob": prob,
        "kind": kind,
        "contrasts": list(chosen),
        "seed": seed,
        "table_sha256": table_hash(rows),
        "bayesbias": version("bayesbias"),
    }
    folder = None if out is None else Path(out)
    if folder is not None:
        _check_folder(folder, settings)
    study = _Simulated(
        spec=spec,
        source=source,
        table=rows,
        posterior=None if truth == "prior" else _posterior(source, rows, seed, folder, progress),
        contrasts=chosen,
        engine=drawn_by,
        draws=draws,
        prob=prob,
        kind=kind,
        seed=seed,
    )
    results = _run(study, simulations, n_jobs, folder, progress)
    return _collect(study, results, settings)


def _check_draws(draws: int, prob: float, kind: Kind) -> None:
    """Refuse fewer draws than an interval of this probability and kind can be taken from."""
    at_least("draws", draws, 10)
    if kind == "hdi" and draws < _FEWEST_HDI:
        raise SpecError(
            f"'draws' is {draws}; the narrowest interval of so few draws covers too little: use "
            f"draws={_FEWEST_HDI} or more, or kind='eti'."
        )
    fewest = math.ceil(round(2 / (1 - prob), 9)) - 1  # 2 / (1 - 0.9) is a little more than 20
    if draws < fewest:
        raise SpecError(
            f"'draws' is {draws}; an interval of probability {prob:g} needs {fewest} or more."
        )


def _chosen_engine(spec: ModelSpec, engine: Engine) -> _Engine:
    """Return the engine that fits all tables; it depends on the model alone."""
    if engine == "exact":
        check_exact(spec)
    if engine == "exact" or (engine == "auto" and exact_supports(spec) is None):
        return "exact"
    from bayesbias.models.nuts.sampling import check_sampler

    check_sampler("nutpie")
    return "nuts"


def _check_contrasts(
    spec: ModelSpec, source: ModelSpec, table: pd.DataFrame, contrasts: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the contrasts to look at."""
    present = set(table["connection"].astype("str"))
    names = tuple(name for name in CONNECTIONS if name in present)
    if "connection" not in spec.factors or "connection" not in source.factors:
        if contrasts or source.name != spec.name:
            lacks = spec if "connection" not in spec.factors else source
            raise SpecError(
                f"model {lacks.name!r} does not distinguish connections, so it has no contrasts to "
                "compare; choose a model that does, such as 'crossed'."
            )
        return ()
    if contrasts is None:
        chosen = tuple(c for c in _CONTRASTS if set(c.split(" - ")) <= set(names))
    else:
        if isinstance(contrasts, str):
            raise SpecError(f"'contrasts' is {contrasts!r}; expected a list: [{contrasts!r}].")
        chosen = tuple(contrasts)
    for contrast in chosen:
        contrast_weights(contrast, names)
    return chosen


def _check_folder(folder: Path, settings: Mapping[str, Any]) -> None:
    """Make the folder, and refuse one that holds a calibration of something else."""
    make_folder(folder)
    # Several processes may share the work, but not two that begin with different settings.
    with locked(folder):
        sweep_folder(folder)
        _check_settings(folder, settings)


def _check_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    path = folder / _SETTINGS
    plain = json.loads(json.dumps(settings))
    if path.is_file():
        try:
            before = json.loads(read_utf8(path))
        except (ValueError, RecursionError) as err:
            raise DataError(f"{path} cannot be read; remove the folder or give another.") from err
        if not isinstance(before, dict):
            raise DataError(f"{path} does not hold settings; remove the folder or give another.")
        differs = [key for key in plain if plain[key] != before.get(key)]
        if differs:
            raise SpecError(
                f"{folder} holds a calibration with other settings ({quoted(differs)}); give "
                "another folder, or repeat the call with the same settings to continue it."
            )
        return
    with atomic(path) as (temporary,):
        temporary.write_text(json.dumps(plain, indent=1, ensure_ascii=False), "utf-8")


def _posterior(
    spec: ModelSpec, table: pd.DataFrame, seed: int, folder: Path | None, progress: bool
) -> dict[str, Array]:
    """Return draws of what is not about single attributes, from a fit to the table."""
    names = [p.name for p in spec.parameters if "word_to_compare" not in p.by]
    path = None if folder is None else folder / "truth.npz"
    if path is not None:
        kept = _kept_arrays(path, names)
        if kept is not None:
            return kept
    engine = _chosen_engine(spec, "auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampling = Sampling(engine, _TRUTH_DRAWS // 4, chains=4, seed=seed, progress=progress)
        fit = fit_rows(spec, table, sampling)
    values: dict[str, Any] = {name: fit.draws(name).reshape(_TRUTH_DRAWS, -1) for name in names}
    if path is not None:
        with atomic(path) as (temporary,), temporary.open("wb") as file:
            np.savez(file, **values)
    return values


@dataclass(frozen=True, eq=False)
class _Simulated:
    """All that one simulation needs, but for its number."""

    spec: ModelSpec
    source: ModelSpec
    table: pd.DataFrame
    posterior: dict[str, Array] | None
    contrasts: tuple[str, ...]
    engine: _Engine
    draws: int
    prob: float
    kind: Kind
    seed: int

    @property
    def same(self) -> bool:
        """Whether the model that is fitted is the one that is true."""
        return self.spec == self.source

    def run(self, number: int) -> dict[str, Array] | str:
        """Return what one simulation gave, or why it could not be fitted."""
        of_truth, of_fit, of_ties = (
            np.random.default_rng(stream)
            for stream in np.random.SeedSequence(self.seed, spawn_key=(number,)).spawn(3)
        )
        values, distances = self.draw(of_truth)
        names, true = self.quantities(self.source, self.table, values)
        table = self.table.assign(cosine_distance=distances)
        try:
            fitted, draws = self.quantities(self.spec, table, self.fit(table, of_fit))
        except DataError as err:
            return str(err)
        drawn, true = draws[:, [fitted.index(name) for name in names]], true[0]
        lower, upper = _interval(drawn, self.prob, self.kind)
        below, equal = (drawn < true).sum(axis=0), (drawn == true).sum(axis=0)
        rank = below + of_ties.integers(0, equal + 1)
        pit = (rank + of_ties.uniform(size=len(true))) / (len(drawn) + 1)
        return {"truth": true, "rank": rank.astype(float), "pit": pit, "lower": lower,
                "upper": upper}  # fmt: skip

    def draw(self, rng: np.random.Generator) -> tuple[dict[str, Array], Array]:
        """Return true parameters, one draw × their values, and a distance for each row."""
        data = model_data(self.source, self.table)
        values: dict[str, Array] = {}
        place = None if self.posterior is None else int(rng.integers(_TRUTH_DRAWS))
        for p in self.source.parameters:
            if self.posterior is not None and p.name in self.posterior:
                values[p.name] = self.posterior[p.name][place : place + 1]  # type: ignore[operator]
            else:
                values[p.name] = _parameter(self.source, data, p, values, 1, rng)
        return values, outcome_draws(self.source, data, values, 1, rng)[0]

    def fit(self, table: pd.DataFrame, rng: np.random.Generator) -> dict[str, Array]:
        """Return draws of all parameters of the fitted model."""
        data = model_data(self.spec, table)
        if self.engine == "exact":
            return sample_exactly(self.spec, data, self.draws, rng)[0]
        from bayesbias.models.nuts.sampling import sample_nuts

        posterior = sample_nuts(
            self.spec,
            data,
            draws=-(-self.draws * _THIN // _CHAINS),
            tune=500,
            chains=_CHAINS,
            cores=1,
            seed=int(rng.integers(2**31)),
            sampler="nutpie",
            target_accept=0.95,
            progress=False,
        ).posterior
        return {
            p.name: flat(posterior[p.name])[::_THIN][: self.draws] for p in self.spec.parameters
        }

    def quantities(
        self, spec: ModelSpec, table: pd.DataFrame, values: Mapping[str, Array]
    ) -> tuple[list[tuple[str, str, str]], Array]:
        """Return names (quantity, level, name) and draws × quantities."""
        data = model_data(spec, table)
        posterior = dataset(spec, data, values, 1)
        names: list[tuple[str, str, str]] = []
        parts: list[Array] = []

        def add(quantity: str, level: str, array: xr.DataArray) -> None:
            dims = [d for d in array.dims if d not in ("chain", "draw")]
            array = array.transpose("chain", "draw", *dims)
            drawn = flat(array)
            parts.append(drawn.reshape(len(drawn), -1))
            levels = [array[d].to_numpy().astype(str) for d in dims]
            for labels in pd.MultiIndex.from_product(levels) if dims else [()]:
                text = ", ".join(labels)
                if level == "parameter":
                    names.append((f"{quantity}[{text}]" if text else quantity, level, ""))
                else:
                    names.append((quantity, level, text))

        fit = Fit(spec, table, posterior, xr.Dataset(), {"engine": "exact"})
        if self.contrasts:
            distances = fit.expected(["word_to_compare"])
        for contrast in self.contrasts:
            weights = contrast_weights(contrast, data.levels["connection"])
            for level, by in _LEVELS.items():
                add(contrast, level, fit.contrast_of(distances, weights, by))
        if self.same:
            for p in spec.parameters:
                if not _WORDS & set(p.by):
                    add(p.name, "parameter", posterior[p.name])
        return names, np.concatenate(parts, axis=1)


def _run(
    study: _Simulated, simulations: int, n_jobs: int, folder: Path | None, progress: bool
) -> dict[int, dict[str, Array] | str]:
    """Run the simulations that are not in the folder, and return all of them."""
    results: dict[int, dict[str, Array] | str] = {}
    # Workers of a cluster may have another working directory.
    files = [None if folder is None else folder.absolute() / f"simulation-{i:06}.npz"
             for i in range(simulations)]  # fmt: skip
    for number, path in enumerate(files):
        kept = None if path is None else _read(path)
        if kept is not None:
            results[number] = kept
    left = [number for number in range(simulations) if number not in results]
    tasks = ((study, number, files[number]) for number in left)
    what = f"Calibrating {study.spec.name}"
    with progress_bar(what, total=simulations, show=progress, unit="steps") as advance:
        advance(len(results))
        done = in_parallel(_one, tasks, n_jobs=n_jobs, shared=[study])
        for number, result in zip(left, done, strict=True):
            results[number] = result
            advance(1)
    return dict(sorted(results.items()))


def _one(study: _Simulated, number: int, path: Path | None) -> dict[str, Array] | str:
    """Run one simulation, in one thread, and keep it at once: the next may be interrupted."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = study.run(number)
    if path is not None:
        arrays: dict[str, Any] = (
            {"failure": np.array(result)} if isinstance(result, str) else dict(result)
        )
        with atomic(path) as (temporary,), temporary.open("wb") as file:
            np.savez(file, **arrays)
    return result


def _read(path: Path) -> dict[str, Array] | str | None:
    """Return a simulation that is kept, or None if it is not there or not whole."""
    failure = _kept_arrays(path, ["failure"])
    return _kept_arrays(path, _ARRAYS) if failure is None else str(failure["failure"])


def _kept_arrays(path: Path, names: Sequence[str]) -> dict[str, Array] | None:
    """Return arrays of a file; None if they are not there, or the file is not whole."""
    try:
        # A file that is not whole would be left open by numpy.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            return {name: kept[name] for name in names}
    except (OSError, ValueError, KeyError, EOFError, TypeError, BadZipFile, zlib.error):
        return None


def _collect(
    study: _Simulated,
    results: Mapping[int, dict[str, Array] | str],
    settings: Mapping[str, Any],
) -> Calibration:
    """Lay the simulations out as one table."""
    failures = {i: result for i, result in results.items() if isinstance(result, str)}
    done = {i: result for i, result in results.items() if not isinstance(result, str)}
    if failures:
        first = next(iter(failures.values()))
        if not done:
            raise DataError(f"no simulated table could be fitted by {study.spec.name!r}: {first}")
        warn(f"{len(failures)} of {len(results)} simulated tables could not be fitted: {first}")
    values, _ = study.draw(np.random.default_rng(0))
    names, _ = study.quantities(study.source, study.table, values)
    index = pd.MultiIndex.from_tuples(
        [(i, *name) for i in done for name in names],
        names=["simulation", "quantity", "level", "name"],
    )
    ranks = index.to_frame(index=False)
    for column in _ARRAYS:
        ranks[column] = np.concatenate([result[column] for result in done.values()])
    return Calibration(ranks.astype({"rank": int}), settings, failures)


def _coverage(part: pd.DataFrame) -> dict[str, float]:
    hit = (part["lower"] <= part["truth"]) & (part["truth"] <= part["upper"])
    return {
        **clustered_share(hit, part["simulation"]),
        "width": float((part["upper"] - part["lower"]).mean()),
    }


def _far_from_stated(row: pd.Series[Any]) -> float:
    """Return the p-value of the test that a coverage is the stated one."""
    from scipy import stats

    error = np.sqrt(row["prob"] * (1 - row["prob"]) / row["trials"])
    return float(2 * stats.norm.sf(abs(row["coverage"] - row["prob"]) / error))


def _shape(pit: Array) -> str:
    """Return in which way ranks that are not uniform depart from it."""
    distance = (pit.mean() - 0.5) * np.sqrt(12 * len(pit))
    if abs(distance) > 3:
        return _side(pit)
    return "intervals too narrow" if pit.var() > 1 / 12 else "intervals too wide"


def _shape_of_coverage(pit: Array, excess: float) -> str:
    """Return in which way intervals that do not have the stated coverage depart from it."""
    if excess > 0:
        return "intervals too wide"
    # Truths on both sides of the draws vary more than uniform ranks, those on one side less.
    return "intervals too narrow" if pit.var() > 1 / 12 else _side(pit)


def _side(pit: Array) -> str:
    return "estimates too low" if pit.mean() > 0.5 else "estimates too high"


def _interval(draws: Array, prob: float, kind: Kind) -> tuple[Array, Array]:
    """Return the interval that holds a further independent draw with the stated probability.

    Between the usual quantiles of few draws lies less: of 99 draws, 0.872 for 0.89.
    """
    if kind == "hdi":
        return interval(draws, prob, kind)
    lower, upper = np.quantile(draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0, method="weibull")
    return lower, upper
