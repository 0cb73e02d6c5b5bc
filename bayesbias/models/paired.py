"""What debiasing did: the same pairs of words before and after."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.array_types import Array
from bayesbias._core.constants import AS_OBSERVED, EQUAL
from bayesbias._core.interval_text import decimals, estimate_text, signed
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.random import Seed
from bayesbias._core.validation import at_least, one_of
from bayesbias._core.wording import capitalized, quoted
from bayesbias.distances import Duplicates, at_equal, covariate_values
from bayesbias.errors import DataError, SpecError, warn
from bayesbias.models.contrasts import flat, tidy_draws
from bayesbias.models.fitted_model import Fit
from bayesbias.models.fitting import ENGINES, Engine, Sampling, fit_rows
from bayesbias.models.model_data import STANDARD_ERROR, prepare_table
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.numerics.intervals import Kind, check_interval, interval

By = Literal["protected_word", "protected_group"]
#: What the two embeddings are called in the joint model.
BEFORE, AFTER = "before", "after"
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

    Before, after and the change are from one posterior, so they add up in every draw.

    Parameters
    ----------
    joint : Fit
        The model of both tables, whose embeddings are called ``before`` and ``after``.
    names : tuple of str
        The names of the two embeddings.

    Examples
    --------
    >>> import bayesbias as bb
    >>> study = bb.load_study("religion")
    >>> before = bb.distance_table(bb.load_embedding("demo"), study)
    >>> after = bb.distance_table(bb.load_embedding("demo-100d"), study)
    >>> paired = bb.fit_paired(before, after, draws=500)
    >>> paired
    <PairedFit embeddings: 4,185 pairs of words, before demo, after demo-100d>
    """

    joint: Fit
    names: tuple[str, str]

    def __repr__(self) -> str:
        return (
            f"<PairedFit {self.joint.spec.name}: {len(self.joint.table) // 2:,} pairs of words, "
            f"before {self.names[0]}, after {self.names[1]}>"
        )

    @property
    def idata(self) -> Any:
        """The joint model as ArviZ has it; see `Fit.idata`."""
        return self.joint.idata

    def draws(self, name: str) -> Array:
        """Return all draws of a parameter of the joint model.

        Parameters
        ----------
        name : str
            Name of the parameter.

        Returns
        -------
        array
            Draws × the shape of the parameter.
        """
        return self.joint.draws(name)

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
            both, and one per connection. For a model with covariates, these are two paragraphs: at
            equal covariates for all words, and as observed.
        """
        effects = self.effects(by=None, prob=prob)
        has_gap = {"associated", "none"} <= set(self.joint.data.levels["connection"])
        gaps = self.gap_closed(prob=prob) if has_gap else effects.iloc[:0]
        if self.joint.spec.covariates:
            lines = []
            for kind, name in self.kinds().items():
                gap, moved = (frame[frame["covariates"] == kind] for frame in (gaps, effects))
                lines.append(f"{capitalized(name)}: {' '.join(_sentences(gap, moved, prob))}")
        else:
            lines = [*_sentences(gaps, effects, prob)]
        return "\n".join([*lines, f"{repr(self)[1:-1]}."])

    def kinds(self) -> dict[str, str]:
        """Return at which covariates the rows of tables are, in words; empty without covariates.

        Returns
        -------
        dict of str to str
            For each value of the column ``covariates``, as in ``at equal frequency``.
        """
        covariates = self.joint.spec.covariates
        return {EQUAL: at_equal(covariates), AS_OBSERVED: AS_OBSERVED} if covariates else {}

    def _repr_html_(self) -> str:
        shown = self.table.round(3).to_html(index=False, border=0)
        text = "".join(f"<p>{html.escape(line)}</p>" for line in self.summary().splitlines())
        return f"{text}{shown}<p>89% intervals{self._kinds_text()}.</p>"

    def _kinds_text(self) -> str:
        """Return what follows the description of a table that may have rows of two kinds."""
        return f", {' and '.join(self.kinds().values())}" if self.kinds() else ""

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
        text = (
            f"Distances before and after, and their change, with {prob:.0%} "
            f"intervals{self._kinds_text()}."
        )
        titles = {"mean": "change", "prob_positive": "P(> 0)", "prob_towards_1": "P(less related)"}
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
            their distance is closer to 1). For a model with covariates, also ``covariates``, as in
            `Fit.contrasts`.
        """
        check_interval(prob, kind)

        def table(observed: bool) -> pd.DataFrame:
            cells = self._cells(by, observed)
            b, a = self._before_and_after(cells)
            result = tidy_draws(self._change(cells), prob, kind)
            place = list(result.columns).index("mean")
            result.insert(place, "before", b.mean(axis=0))
            result.insert(place + 1, "after", a.mean(axis=0))
            result["prob_positive"] = (a > b).mean(axis=0)
            result["prob_towards_1"] = (np.abs(a - 1) < np.abs(b - 1)).mean(axis=0)
            return result

        return self._at_covariates(table, after="connection")

    def means(
        self, *, by: By = "protected_word", prob: float = 0.89, kind: Kind = "hdi"
    ) -> pd.DataFrame:
        """Return the expected distances before and after.

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
            ``embedding`` (``before`` or ``after``), the level of `by`, ``connection``, ``mean``,
            ``sd``, ``lower``, ``upper``. For a model with covariates, also ``covariates``, as in
            `Fit.contrasts`.
        """
        check_interval(prob, kind)

        def table(observed: bool) -> pd.DataFrame:
            cells = self._cells(by, observed)
            rest = [dim for dim in cells.dims if dim != "embedding"]
            return tidy_draws(cells.transpose(*rest[:2], "embedding", *rest[2:]), prob, kind)

        return self._at_covariates(table, after="connection")

    def change_draws(
        self, contrast: str, *, by: str | None = None, observed: bool = False
    ) -> xr.DataArray:
        """Return the draws of the change in a contrast, after minus before.

        Parameters
        ----------
        contrast : str
            A linear expression of connections, as in `Fit.contrasts`.
        by : {None, "protected_word", "protected_group", "attribute_group"}, default None
            What to have one change for.
        observed : bool, default False
            For a model with covariates: the covariates as observed, instead of equal for all.

        Returns
        -------
        xarray.DataArray
            With dims ``chain``, ``draw`` and, if given, `by`.
        """
        return self._change(self._gap(contrast, by, observed))

    def changes(
        self,
        contrast: str = "associated - none",
        *,
        by: str | None = None,
        prob: float = 0.89,
        kind: Kind = "hdi",
    ) -> pd.DataFrame:
        """Return the change in a contrast, after minus before, in the form of `Fit.contrasts`.

        Parameters
        ----------
        contrast : str, default "associated - none"
            A linear expression of connections, as in `Fit.contrasts`.
        by : {None, "protected_word", "protected_group", "attribute_group"}, default None
            What to have one change for.
        prob : float, default 0.89
            Probability of the intervals.
        kind : {"hdi", "eti"}, default "hdi"
            Kind of interval.

        Returns
        -------
        DataFrame
            ``contrast``, the level of `by`, ``mean``, ``sd``, ``lower``, ``upper`` and
            ``prob_negative`` of the change. For a model with covariates, also ``covariates``, as in
            `Fit.contrasts`.
        """
        check_interval(prob, kind)

        def table(observed: bool) -> pd.DataFrame:
            array = self.change_draws(contrast, by=by, observed=observed)
            result = tidy_draws(array, prob, kind)
            result["prob_negative"] = np.atleast_1d((flat(array) < 0).mean(axis=0))
            result.insert(0, "contrast", contrast)
            return result

        return self._at_covariates(table)

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
            For a model with covariates, also ``covariates``, as in `Fit.contrasts`.
        """
        check_interval(prob, kind)
        return self._at_covariates(
            lambda observed: self._closed(contrast, by, prob, kind, observed=observed)
        )

    def _closed(
        self, contrast: str, by: By | None, prob: float, kind: Kind, *, observed: bool
    ) -> pd.DataFrame:
        draws = self._gap(contrast, by, observed)
        b, a = self._before_and_after(draws)
        change = a - b
        closed = -change / b
        change_low, change_high = interval(change, prob, kind)
        closed_low, closed_high = interval(closed, prob, "eti")
        result = pd.DataFrame(
            {
                "before": b.mean(axis=0),
                "after": a.mean(axis=0),
                "change": change.mean(axis=0),
                "change_lower": change_low,
                "change_upper": change_high,
                "closed": np.median(closed, axis=0),
                "closed_lower": closed_low,
                "closed_upper": closed_high,
                "prob_narrower": (np.abs(a) < np.abs(b)).mean(axis=0),
            }
        )
        if by is not None:
            result.insert(0, by, draws[by].to_numpy())
        result.insert(0, "contrast", contrast)
        return result

    def narrowing(self, contrast: str = "associated - none", *, prob: float = 0.89) -> pd.Series:
        """Return how much narrower the intervals of changes are than those of two separate fits.

        Parameters
        ----------
        contrast : str, default "associated - none"
            The gap whose change is estimated, besides the means.
        prob : float, default 0.89
            Probability of the intervals.

        Returns
        -------
        Series
            Width of the interval of a change over the width from two fits that know nothing of
            each other: for the mean of a word and connection (the average ratio), and for the
            change of the gap of the whole data set and of the words. For a model with covariates,
            these are at equal covariates.
        """

        def width(draws: Array) -> Array:
            low, high = interval(draws, prob)
            return high - low

        def ratio(draws: xr.DataArray) -> float:
            b, a = self._before_and_after(draws)
            # Each draw of after beside another draw of before, as if they were of two fits.
            return float((width(a - b) / width(np.roll(a, len(a) // 2, axis=0) - b)).mean())

        return pd.Series(
            {
                "means of words": ratio(self._cells("protected_word")),
                f"{contrast}, words": ratio(self._gap(contrast, "protected_word")),
                f"{contrast}, data set": ratio(self._gap(contrast, None)),
            },
            name="width of the interval of a change / of two separate fits",
        )

    def _at_covariates(
        self, table: Callable[[bool], pd.DataFrame], after: str = "contrast"
    ) -> pd.DataFrame:
        """Return a table at equal covariates, and below it the one at those observed.

        The column that says so follows the one that is named.
        """
        if not self.joint.spec.covariates:
            return table(False)
        parts = []
        for kind in self.kinds():
            part = table(kind == AS_OBSERVED)
            part.insert(list(part.columns).index(after) + 1, "covariates", kind)
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    def _gap(self, contrast: str, by: str | None, observed: bool = False) -> xr.DataArray:
        """Return the draws of a contrast before and after."""
        if by is None:
            by = "embedding"
        else:
            one_of("by", by, ("protected_word", "protected_group", "attribute_group"))
        return self.joint.contrast_draws(contrast, by=by, observed=observed)

    def _cells(self, by: By | None, observed: bool = False) -> xr.DataArray:
        """Return the draws of the means of each connection before and after."""
        if by is not None:
            one_of("by", by, ("protected_word", "protected_group"))
        array = self.joint.expected(["word_to_compare"], observed=observed)
        if by != "protected_word":
            array = self.joint.by_group(array)
        if by is None:
            array = self.joint.mean_of_groups(array)
        order = [by] if by else []
        return array.transpose("chain", "draw", *order, "connection", "embedding")

    @staticmethod
    def _before_and_after(array: xr.DataArray) -> tuple[Array, Array]:
        """Return draws × values, before and after."""
        before, after = (
            flat(array.sel(embedding=name)).reshape(array.sizes["chain"] * array.sizes["draw"], -1)
            for name in (BEFORE, AFTER)
        )
        return before, after

    @staticmethod
    def _change(array: xr.DataArray) -> xr.DataArray:
        return array.sel(embedding=AFTER, drop=True) - array.sel(embedding=BEFORE, drop=True)


def _sentences(gaps: pd.DataFrame, effects: pd.DataFrame, prob: float) -> Iterator[str]:
    """Yield how the gap changed, if there is one, and how the distances did."""
    for gap in gaps.to_dict("records"):
        ends = float(gap["change_lower"]), float(gap["change_upper"])
        before, after = (signed(float(gap[name]), decimals(*ends)) for name in ("before", "after"))
        change = estimate_text(float(gap["change"]), *ends, f"{prob:.0%} interval")
        yield (
            f"The gap between own stereotypes and neutral words went from {before} to {after} "
            f"(change {change}); it is narrower with probability {gap['prob_narrower']:.2f}."
        )
    for row in effects.to_dict("records"):
        yield (
            f"Distances from {_ATTRIBUTES.get(row['connection'], row['connection'])} changed by "
            f"{estimate_text(row['mean'], row['lower'], row['upper'])}."
        )


def fit_paired(
    before: pd.DataFrame,
    after: pd.DataFrame,
    model: str | PathLike[str] | ModelSpec = "embeddings",
    *,
    engine: Engine = "auto",
    draws: int = 2000,
    chains: int = 4,
    seed: Seed = 0,
    covariates: Iterable[str] = (),
    duplicates: Duplicates | None = None,
    sampler: str = "nutpie",
    progress: bool = True,
) -> PairedFit:
    """Fit two tables of the same pairs together, before and after debiasing.

    What an attribute or a protected word is like in both cancels in the difference, so the
    intervals of a change are narrower than those of two fits that are then compared.

    Parameters
    ----------
    before, after : DataFrame
        Distance tables, one embedding each. Pairs that are only in one of them are left out.
    model : str, path-like or ModelSpec, default "embeddings"
        A model that compares embeddings.
    engine : {"auto", "exact", "nuts"}, default "auto"
        As in `fit`.
    draws : int, default 2000
        Posterior draws of each chain.
    chains : int, default 4
        Number of chains.
    seed : int, Generator or None, default 0
        The same seed gives the same draws; a NumPy generator draws one.
    covariates : iterable of str, default ()
        Columns of numbers to add a slope for, as in `fit`; one in each embedding.
    duplicates : {"drop", "keep"}, optional
        What to do with duplicated rows, as in `fit`. Kept ones are matched by their order.
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
    spec = load_model(model).vary(covariates=covariates)
    if "embedding" not in spec.factors:
        raise SpecError(
            f"model {spec.name!r} does not distinguish embeddings; fit_paired needs one that does, "
            "such as 'embeddings'."
        )
    given = [prepare_table(table, duplicates=duplicates) for table in (before, after)]
    for name, table in zip(("before", "after"), given, strict=True):
        for column in spec.covariates:
            covariate_values(table, column, what=f"the table {name!r}", user=spec.name)
    tables = _match(given[0], given[1])
    names = tuple(str(table["embedding"].iloc[0]) for table in given)
    joint = fit_rows(
        spec,
        pd.concat(tables, ignore_index=True),
        Sampling(engine, draws, chains, seed, sampler, progress=progress),
    )
    return PairedFit(joint, (names[0], names[1]))


def _match(before: pd.DataFrame, after: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows that both tables have, in one order."""
    for name, table in (("before", before), ("after", after)):
        embeddings = pd.unique(table["embedding"])
        if len(embeddings) > 1:
            raise DataError(f"the table {name!r} holds several embeddings: {quoted(embeddings)}.")
    keys = []
    for name, table in ((BEFORE, before), (AFTER, after)):
        key = table[_PAIR].astype("str")
        # Duplicated rows that were kept are matched by their order.
        key["occurrence"] = key.groupby(_PAIR, sort=False).cumcount()
        key[name] = np.arange(len(table))
        keys.append(key)
    matched = keys[0].merge(keys[1], how="inner").sort_values(BEFORE)
    if matched.empty:
        raise DataError("the two tables have no pair of words in common.")
    lost = len(before) + len(after) - 2 * len(matched)
    if lost:
        warn(f"{lost} rows have no counterpart in the other table and are left out")
    first = before.iloc[matched[BEFORE].to_numpy()].reset_index(drop=True)
    other = after.iloc[matched[AFTER].to_numpy()].reset_index(drop=True)
    for name in ("connection", "protected_group", "word_class"):
        values = other[name].astype("str").to_numpy()
        differs = np.flatnonzero(first[name].astype("str").to_numpy() != values)
        if differs.size:
            row = first.iloc[differs[0]]
            raise DataError(
                f"the pair ({row['protected_word']!r}, {row['word_to_compare']!r}) has {name!r} "
                f"{row[name]!r} in one table and {values[differs[0]]!r} in the other."
            )
    with_errors = [STANDARD_ERROR in table for table in (before, after)]
    if len(set(with_errors)) > 1:
        has, lacks = (BEFORE, AFTER) if with_errors[0] else (AFTER, BEFORE)
        raise DataError(
            f"the table {has!r} has standard errors and the table {lacks!r} has none; give both "
            f"the column {STANDARD_ERROR!r} (0 where a distance is known exactly), or neither."
        )
    for name in ("protected_word", "word_to_compare", "word_class"):
        first[name] = first[name].cat.remove_unused_categories()
    when = pd.CategoricalDtype([BEFORE, AFTER])
    first["embedding"] = pd.Categorical([BEFORE] * len(first), dtype=when)
    # Distances, their standard errors and covariates may differ; the words are the same.
    numbers = [
        name
        for name in first.columns
        if name in other and pd.api.types.is_numeric_dtype(first[name])
    ]
    last = first.assign(
        **{name: other[name] for name in numbers},
        embedding=pd.Categorical([AFTER] * len(first), dtype=when),
    )
    return first, last
