"""What debiasing did: the same pairs of words before and after."""

from __future__ import annotations

import html
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import ndtri

from bayesbias._core.array_types import Array
from bayesbias._core.interval_text import decimals, estimate_text, signed
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, one_of
from bayesbias._core.wording import quoted
from bayesbias.errors import DataError, SpecError, warn
from bayesbias.models.contrasts import flat
from bayesbias.models.fitted_model import Fit
from bayesbias.models.fitting import ENGINES, Engine, Sampling, fit_rows
from bayesbias.models.model_data import prepare_table
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.numerics.intervals import Kind, check_interval, describe, interval

By = Literal["protected_word", "protected_group"]
_PAIR = ["protected_word", "word_to_compare"]
#: What the attributes of a connection are, in words.
_ATTRIBUTES = {
    "associated": "own stereotypes",
    "different": "stereotypes of other groups",
    "human": "human words",
    "none": "neutral words",
}


@dataclass(frozen=True, eq=False, repr=False)
class PairedFit:
    """What changed between two tables of the same pairs; made by `fit_paired`.

    Parameters
    ----------
    difference : Fit
        The model of the differences, after minus before.
    before : Fit
        The model ``interaction`` of the table before.
    after : Fit
        The same of the table after. It fixes how the change depends on the state before; the state
        after in all tables is that before plus the change, so that they add up.

    Examples
    --------
    >>> import bayesbias as bb
    >>> study = bb.load_study("religion")
    >>> before = bb.distance_table(bb.load_embedding("demo"), study)
    >>> after = bb.distance_table(bb.load_embedding("demo-100d"), study)
    >>> paired = bb.fit_paired(before, after, draws=500)
    >>> paired
    <PairedFit paired: 4,185 pairs of words, before demo, after demo-100d>
    """

    difference: Fit
    before: Fit
    after: Fit

    def __repr__(self) -> str:
        names = [str(f.table["embedding"].iloc[0]) for f in (self.before, self.after)]
        return (
            f"<PairedFit {self.difference.spec.name}: {len(self.difference.table):,} pairs of "
            f"words, before {names[0]}, after {names[1]}>"
        )

    @property
    def idata(self) -> Any:
        """The model of the differences as ArviZ has it; see `Fit.idata`.

        The models of the two tables are ``before.idata`` and ``after.idata``.
        """
        return self.difference.idata

    def draws(self, name: str) -> Array:
        """Return all draws of a parameter of the model of differences.

        Parameters
        ----------
        name : str
            Name of the parameter.

        Returns
        -------
        array
            Draws × the shape of the parameter.
        """
        return self.difference.draws(name)

    @property
    def table(self) -> pd.DataFrame:
        """The effects by protected group; see `effects`."""
        return self.effects(by="protected_group")

    def summary(self, *, prob: float = 0.89) -> str:
        """Return the result in plain words: how much of the gap was closed, then the changes.

        Parameters
        ----------
        prob : float, default 0.89
            Probability of the intervals.

        Returns
        -------
        str
            One sentence for the gap between associated and neutral attributes, if the tables have
            both, and one per connection.
        """
        lines = []
        if {"associated", "none"} <= set(self.before.data.levels["connection"]):
            gap = self.gap_closed(prob=prob).iloc[0]
            ends = float(gap["change_lower"]), float(gap["change_upper"])
            before, after = (
                signed(float(gap[name]), decimals(*ends)) for name in ("before", "after")
            )
            change = estimate_text(float(gap["change"]), *ends, f"{prob:.0%} interval")
            lines.append(
                f"The gap between own stereotypes and neutral words went from {before} to {after} "
                f"(change {change}); it is narrower with probability {gap['prob_narrower']:.2f}."
            )
        lines += [
            f"Distances from {_ATTRIBUTES.get(row['connection'], row['connection'])} changed by "
            f"{estimate_text(row['mean'], row['lower'], row['upper'])}."
            for row in self.effects(by=None, prob=prob).to_dict("records")
        ]
        return "\n".join([*lines, f"{repr(self)[1:-1]}."])

    def _repr_html_(self) -> str:
        shown = self.table.round(3).to_html(index=False, border=0)
        text = "".join(f"<p>{html.escape(line)}</p>" for line in self.summary().splitlines())
        return f"{text}{shown}<p>89% intervals.</p>"

    def to_latex(
        self,
        *,
        by: By | None = "protected_group",
        prob: float = 0.89,
        kind: Kind = "hdi",
        caption: str | None = None,
    ) -> str:
        """Return the effects as a LaTeX table, rounded by their intervals.

        Parameters
        ----------
        by : {"protected_word", "protected_group", None}, default "protected_group"
            What to have one effect for, as in `effects`.
        prob : float, default 0.89
            Probability of the intervals.
        kind : {"hdi", "eti"}, default "hdi"
            Kind of interval.
        caption : str, optional
            The caption, instead of one that names the intervals.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        frame = self.effects(by=by, prob=prob, kind=kind)
        text = f"Distances before and after, and their change, with {prob:.0%} intervals."
        titles = {"mean": "change", "prob_positive": "P(> 0)", "prob_towards_1": "P(towards 1)"}
        return frame_to_latex(frame, text if caption is None else caption, titles=titles)

    def effects(
        self, *, by: By | None = "protected_word", prob: float = 0.89, kind: Kind = "hdi"
    ) -> pd.DataFrame:
        """Return how far the distances moved, per connection.

        Parameters
        ----------
        by : {"protected_word", "protected_group", None}, default "protected_word"
            One effect per word, per group (the average of its words), or for the whole data set
            (the average of the groups that have attributes of the connection).
        prob : float, default 0.89
            Probability of the interval.
        kind : {"hdi", "eti"}, default "hdi"
            Kind of interval.

        Returns
        -------
        DataFrame
            The level of `by`, ``connection``, ``before``, ``after`` (means), ``mean``, ``sd``,
            ``lower``, ``upper`` of after − before, ``prob_positive`` (the probability that the
            distance grew) and ``prob_towards_1`` (that the words are less related than they were:
            their distance is closer to 1).
        """
        check_interval(prob, kind)
        result, b, d = self._before_and_change(by)
        result["before"], result["after"] = b.mean(axis=0), (b + d).mean(axis=0)
        result = pd.concat([result, describe(d, prob, kind)], axis=1)
        result["prob_positive"] = (d > 0).mean(axis=0)
        result["prob_towards_1"] = (np.abs(b + d - 1) < np.abs(b - 1)).mean(axis=0)
        return result

    def means_after(
        self, *, by: By = "protected_word", prob: float = 0.89, kind: Kind = "hdi"
    ) -> pd.DataFrame:
        """Return the expected distances after: those before plus the change.

        Parameters
        ----------
        by : {"protected_word", "protected_group"}, default "protected_word"
            One mean per word, or per group (the average of its words).
        prob : float, default 0.89
            Probability of the interval.
        kind : {"hdi", "eti"}, default "hdi"
            Kind of interval.

        Returns
        -------
        DataFrame
            The level of `by`, ``connection``, ``mean``, ``sd``, ``lower``, ``upper``.
        """
        check_interval(prob, kind)
        levels, b, d = self._before_and_change(by)
        return pd.concat([levels, describe(b + d, prob, kind)], axis=1)

    def gap_closed(
        self,
        contrast: str = "associated - none",
        *,
        by: By | None = None,
        prob: float = 0.89,
        kind: Kind = "hdi",
    ) -> pd.DataFrame:
        """Return how much of a gap between connections debiasing closed.

        Parameters
        ----------
        contrast : str, default "associated - none"
            The gap, as in `Fit.contrasts`.
        by : {None, "protected_word", "protected_group"}, default None
            What to have one gap for.
        prob : float, default 0.89
            Probability of the intervals.
        kind : {"hdi", "eti"}, default "hdi"
            Kind of interval.

        Returns
        -------
        DataFrame
            The gap ``before`` and ``after``, its ``change`` with ``change_lower`` and
            ``change_upper``; ``closed``, the share of the gap that is gone (median), with
            ``closed_lower`` and ``closed_upper`` (equal tails: a ratio has no mean where the gap
            may be zero), and ``prob_narrower``, the probability that the gap is smaller in size.
        """
        check_interval(prob, kind)
        draws = [self._gap(fit, contrast, by) for fit in (self.before, self.after, self.difference)]
        b, a, d = (flat(x).reshape(x.shape[0] * x.shape[1], -1) for x in draws)
        rows = []
        for j in range(d.shape[1]):
            change = _coupled(b[:, j], a[:, j], d[:, j])
            closed = -change / b[:, j]
            low, high = interval(closed, prob, "eti")
            change_low, change_high = interval(change, prob, kind)
            rows.append(
                {
                    "before": b[:, j].mean(),
                    "after": (b[:, j] + change).mean(),
                    "change": change.mean(),
                    "change_lower": change_low,
                    "change_upper": change_high,
                    "closed": np.median(closed),
                    "closed_lower": low,
                    "closed_upper": high,
                    "prob_narrower": (np.abs(b[:, j] + change) < np.abs(b[:, j])).mean(),
                }
            )
        result = pd.DataFrame(rows)
        if by is not None:
            result.insert(0, by, draws[0][by].to_numpy())
        result.insert(0, "contrast", contrast)
        return result

    def narrowing(self, contrast: str = "associated - none", *, prob: float = 0.89) -> pd.Series:
        """Return how much narrower the intervals of the paired model are.

        Parameters
        ----------
        contrast : str, default "associated - none"
            The gap whose change is estimated, besides the means.
        prob : float, default 0.89
            Probability of the intervals.

        Returns
        -------
        Series
            Width of the paired model's interval over the width from two fits that know nothing of
            each other: for the mean of a word and connection (the average ratio), and for the
            change of the gap of the whole data set and of the words.
        """

        def width(draws: Array) -> Array:
            low, high = interval(draws, prob)
            return high - low

        def ratio(pairs: list[xr.DataArray]) -> float:
            b, a, d = (flat(x) for x in pairs)
            return float((width(d) / width(a - b)).mean())

        fits = (self.before, self.after, self.difference)
        return pd.Series(
            {
                "means of words": ratio([self._cells(f, "protected_word") for f in fits]),
                f"{contrast}, words": ratio(
                    [self._gap(f, contrast, "protected_word") for f in fits]
                ),
                f"{contrast}, data set": ratio([self._gap(f, contrast, None) for f in fits]),
            },
            name="width of the paired interval / of two separate fits",
        )

    def _before_and_change(self, by: By | None) -> tuple[pd.DataFrame, Array, Array]:
        """Return the level of each mean, and its draws before and of the change, in one order."""
        cells = [self._cells(fit, by) for fit in (self.difference, self.before, self.after)]
        d, b, a = (flat(x).reshape(x.shape[0] * x.shape[1], -1) for x in cells)
        d = np.column_stack([_coupled(b[:, j], a[:, j], d[:, j]) for j in range(d.shape[1])])
        names = [str(dim) for dim in cells[0].dims[2:]]
        index = pd.MultiIndex.from_product([cells[0][n].to_numpy() for n in names], names=names)
        return index.to_frame(index=False), b, d

    @staticmethod
    def _gap(fit: Fit, contrast: str, by: By | None) -> xr.DataArray:
        return fit.contrast_draws(contrast, by=by)

    @staticmethod
    def _cells(fit: Fit, by: By | None) -> xr.DataArray:
        if by is not None:
            one_of("by", by, ("protected_word", "protected_group"))
        array = fit.expected(["word_to_compare"])
        if by == "protected_word":
            return array
        array = fit.by_group(array)
        if by is None:
            return fit.mean_of_groups(array)
        return array.transpose("chain", "draw", "protected_group", "connection")


def _coupled(before: Array, after: Array, change: Array) -> Array:
    """Return the draws of a change in an order that goes with the draws of before.

    The three fits are drawn independently. That after = before + change fixes how before and
    change must be correlated; the draws of the change are put in the order that gives this
    correlation (Iman & Conover 1982). Their distribution stays as it is.
    """
    spread = before.std() * change.std()
    if not spread:
        return change
    wanted = (after.var() - before.var() - change.var()) / 2 / spread
    correlation = float(np.clip(wanted, -0.999, 0.999))
    n = len(before)
    score = ndtri((np.argsort(np.argsort(before)) + 0.5) / n)
    noise = ndtri((np.random.default_rng(n).permutation(n) + 0.5) / n)
    order = np.argsort(np.argsort(correlation * score + np.sqrt(1 - correlation**2) * noise))
    return np.sort(change)[order]


def fit_paired(
    before: pd.DataFrame,
    after: pd.DataFrame,
    model: str | PathLike[str] | ModelSpec = "paired",
    *,
    engine: Engine = "auto",
    draws: int = 2000,
    chains: int = 4,
    seed: Seed = 0,
    duplicates: Literal["drop", "keep"] = "drop",
    sampler: str = "nutpie",
    progress: bool = True,
) -> PairedFit:
    """Fit the differences between two tables of the same pairs, before and after debiasing.

    What an attribute or a protected word is like cancels in the difference, so the intervals are
    narrower than those of two fits that are then compared.

    Parameters
    ----------
    before, after : DataFrame
        Distance tables, one embedding each. Pairs that are only in one of them are left out.
    model : str, path-like or ModelSpec, default "paired"
        A model with ``outcome = "difference"``.
    engine : {"auto", "exact", "nuts"}, default "auto"
        As in `fit`.
    draws : int, default 2000
        Posterior draws of each chain.
    chains : int, default 4
        Number of chains.
    seed : int, Generator or None, default 0
        The same seed gives the same draws; a NumPy generator draws one.
    duplicates : {"drop", "keep"}, default "drop"
        What to do with duplicated rows. Kept ones are matched by their order.
    sampler : str, default "nutpie"
        Which implementation of NUTS.
    progress : bool, default True
        Whether to show a progress bar.

    Returns
    -------
    PairedFit
        The effects, and how much of the gap was closed.

    Raises
    ------
    DataError
        If the tables share no pairs, or a pair has another connection in one than in the other.

    Examples
    --------
    >>> import bayesbias as bb
    >>> study = bb.load_study("religion")
    >>> before = bb.distance_table(bb.load_embedding("demo"), study)
    >>> after = bb.distance_table(bb.load_embedding("demo-100d"), study)
    >>> paired = bb.fit_paired(before, after, seed=1)
    >>> paired.effects(by=None)[["connection", "mean"]].round(2)
       connection  mean
    0  associated  0.04
    1   different  0.03
    2       human  0.03
    3        none  0.02
    """
    one_of("engine", engine, ENGINES)
    at_least("draws", draws, 1)
    at_least("chains", chains, 1)
    first_seed = as_seed(seed)
    spec = load_model(model)
    if spec.outcome != "difference":
        raise SpecError(
            f"model {spec.name!r} is of distances; fit_paired needs one with "
            'outcome = "difference", such as "paired".'
        )
    tables = _match(*(prepare_table(table, duplicates=duplicates) for table in (before, after)))
    alone = ModelSpec.from_dict(
        {**load_model("interaction").to_dict(), "likelihood": spec.likelihood}
    )
    fits = [
        fit_rows(
            which,
            table,
            Sampling(engine, draws, chains, first_seed + offset, sampler, progress=progress),
        )
        for offset, (which, table) in enumerate(
            [(spec, tables[0]), (alone, tables[1]), (alone, tables[2])]
        )
    ]
    return PairedFit(*fits)


def fit_difference(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    engine: Engine = "auto",
    draws: int = 2000,
    chains: int = 4,
    seed: Seed = 0,
    progress: bool = True,
) -> Fit:
    """Fit the differences alone, after minus before, as `fit_paired` does."""
    return fit_rows(
        load_model("paired"),
        _match(prepare_table(before), prepare_table(after))[0],
        Sampling(engine, draws, chains, seed, progress=progress),
    )


def _match(before: pd.DataFrame, after: pd.DataFrame) -> tuple[pd.DataFrame, ...]:
    """Return the table of differences, and the two tables with the same rows."""
    for name, table in (("before", before), ("after", after)):
        embeddings = pd.unique(table["embedding"])
        if len(embeddings) > 1:
            raise DataError(f"the table {name!r} holds several embeddings: {quoted(embeddings)}.")
    columns = [*_PAIR, "cosine_distance", "connection"]
    other = after[columns].rename(
        columns={"cosine_distance": "after", "connection": "connection_after"}
    )
    keys = before[_PAIR].astype("str")
    for name in _PAIR:
        other[name] = other[name].astype("str")
    # Duplicated rows that were kept are matched by their order.
    for frame in (keys, other):
        frame["occurrence"] = frame.groupby(_PAIR, sort=False).cumcount()
    keys["row"] = np.arange(len(before))
    matched = keys.merge(other, on=[*_PAIR, "occurrence"], how="inner").sort_values("row")
    if matched.empty:
        raise DataError("the two tables have no pair of words in common.")
    lost = len(before) + len(after) - 2 * len(matched)
    if lost:
        warn(f"{lost} rows have no counterpart in the other table and are left out")
    first = before.iloc[matched["row"].to_numpy()].reset_index(drop=True)
    connection = matched["connection_after"].astype("str").to_numpy()
    differs = np.flatnonzero(first["connection"].astype("str").to_numpy() != connection)
    if differs.size:
        row = first.iloc[differs[0]]
        raise DataError(
            f"the pair ({row['protected_word']!r}, {row['word_to_compare']!r}) is "
            f"{row['connection']!r} in one table and {connection[differs[0]]!r} in the other."
        )
    for name in ("protected_word", "word_to_compare", "word_class"):
        first[name] = first[name].cat.remove_unused_categories()
    distance = matched["after"].to_numpy()
    last = first.assign(
        cosine_distance=distance,
        cosine_similarity=1 - distance,
        embedding=pd.Categorical([str(after["embedding"].iloc[0])] * len(first)),
    )
    difference = first.assign(difference=distance - first["cosine_distance"].to_numpy())
    return difference, first, last
