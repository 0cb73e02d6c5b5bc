"""How much of a contrast a covariate such as frequency explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias._core.constants import CONNECTIONS
from bayesbias._core.validation import one_of, word_list
from bayesbias._core.wording import quoted
from bayesbias.distances.schema import check_table, covariate_values
from bayesbias.errors import DataError, SpecError, warn
from bayesbias.numerics.intervals import check_interval

#: The contrasts that are split by default.
CONTRASTS = ("associated - none", "associated - human", "associated - different")
_Floats = npt.NDArray[np.float64]
_NEUTRAL = "none"
# Slopes are trusted between these quantiles of the covariate in the words they were learnt from.
_RANGE = (0.05, 0.95)
# The share of words outside this range that is worth a warning; one in ten is there by definition.
_MANY_OUTSIDE = 1 / 3
# The fewest words for a slope and its error.
_FEWEST = 4


class _Mean(NamedTuple):
    """A mean over attributes: its value, the variance of the mean, and its degrees of freedom."""

    value: float
    variance: float
    df: float


class _Slope(NamedTuple):
    """A slope from least squares, its variance and degrees of freedom, and the trusted range."""

    value: float
    variance: float
    df: float
    r2: float
    low: float
    high: float


def decompose_gaps(
    table: pd.DataFrame,
    on: str = "log_frequency",
    *,
    contrasts: Iterable[str] | None = None,
    by: Literal["protected_group"] | None = None,
    prob: float = 0.89,
) -> pd.DataFrame:
    r"""Split contrasts into the part that a covariate explains and the rest.

    The distances of an attribute are averaged over the protected words, and attributes are what is
    counted. The *raw* contrast is the difference of the means of two kinds of attributes. The
    *slope* of an attribute's mean distance on its covariate is estimated by least squares among
    attributes of one kind, times the difference of the mean covariates it is the *explained*
    part; raw minus explained is the *rest*, the contrast at equal covariates if the relation is
    linear and causal (the decomposition of Oaxaca and Blinder, 1973). This is a description, not a
    model: every attribute counts the same.

    Parameters
    ----------
    table : DataFrame
        A distance table with the covariate as a column.
    on : str, default "log_frequency"
        The covariate: a numeric column with one value per attribute and embedding.
    contrasts : iterable of str, optional
        Differences of two connections; by default that of ``associated`` to ``none``, ``human``
        and ``different``, as far as the table has them.
    by : {"protected_group"}, optional
        Split the contrasts of each group of protected words.
    prob : float, default 0.89
        The probability of the intervals.

    Returns
    -------
    DataFrame
        One row per embedding (and group), contrast and ``slope_from``: slopes among the neutral
        attributes, ``"neutral"``, and among all attributes within their lists, ``"within lists"``.
        The columns are ``n_first`` and ``n_second`` (the number of attributes), the mean
        ``difference`` of the covariate, then ``slope``, ``raw``, ``explained`` and ``rest``, each
        followed by the ends of its interval, ``r2``, the share of the variance of distances that
        goes with the covariate among the words of the slope, and ``outside``, the share of the
        first connection's attributes outside the middle 90% of the covariate among these words;
        ``extrapolates`` if that is more than a third, or their mean is outside. A contrast with
        fewer than two attributes on a side is left out.

    Raises
    ------
    SpecError
        If the covariate or a contrast is not known.
    DataError
        If the covariate has gaps, differs between rows of one attribute, the table lacks a
        connection of `contrasts`, or there are too few attributes.

    Warns
    -----
    BayesBiasWarning
        If a contrast is extrapolated.

    Notes
    -----
    Attributes are taken for independent draws from their lists. With ``d`` the difference of the
    mean covariates, ``b`` the slope, which least squares makes independent of the means, and ``s``
    the residual standard deviations, ``var(rest) = s1²/n1 + s2²/n2 + d² var(b)`` and
    ``var(explained) = d² var(b) + b² var(d)``.
    Intervals use Student's t with the degrees of freedom of Welch and Satterthwaite.

    In `t_contrasts` and in models groups count the same, not attributes, so that their contrasts of
    the whole table differ a little from ``raw`` if the lists have different lengths.

    In ``associated - different`` without `by` the same attributes are on both sides, so that their
    frequencies cancel; the errors of the two means are taken from the differences within
    attributes.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("race"),
    ...                           covariates=["log_frequency"])
    >>> gaps = bb.decompose_gaps(table, contrasts=["associated - none"])
    >>> gaps[["slope_from", "raw", "explained", "rest", "rest_lower", "rest_upper"]].round(3)
         slope_from    raw  explained   rest  rest_lower  rest_upper
    0       neutral -0.135     -0.143  0.009      -0.046       0.064
    1  within lists -0.135     -0.141  0.006      -0.048       0.060
    """
    check_interval(prob, "eti")
    if by is not None:
        one_of("by", by, ("protected_group",))
    asked = None if contrasts is None else word_list("contrasts", contrasts)
    pairs = [_parse(contrast) for contrast in (CONTRASTS if asked is None else asked)]
    # Trainings are averaged like protected words.
    replicates = isinstance(table, pd.DataFrame) and "replicate" in table.columns
    checked = check_table(table, duplicates="keep" if replicates else None)
    present = set(checked["connection"].unique())
    lacking = [name for pair in pairs for name in pair if name not in present]
    if asked is not None and lacking:
        raise DataError(
            f"the table has no rows with the connection {lacking[0]!r}, which a contrast needs; it "
            f"has {quoted(sorted(present))}."
        )
    checked = checked.assign(**{on: covariate_values(checked, on)})
    _check_one_value(checked, on)
    keys = ["embedding"] if by is None else ["embedding", by]
    rows = []
    for key, part in checked.groupby(keys, observed=True, sort=False):
        label = dict(zip(keys, key, strict=True))
        for row in _split(part, on, pairs, prob, label):
            rows.append({**label, **row})
    if not rows:
        raise DataError(
            "no contrast has two or more attributes on both sides; use longer lists, or leave out "
            "'by'."
        )
    _warn_outside(rows, on)
    return pd.DataFrame(rows)


def _parse(contrast: str) -> tuple[str, str]:
    first, minus, second = (part.strip() for part in contrast.partition("-"))
    names = tuple("none" if name == "neutral" else name for name in (first, second))
    if not minus or any(name not in CONNECTIONS for name in names) or names[0] == names[1]:
        raise SpecError(
            f"the contrast {contrast!r} is not a difference of two connections; expected such as "
            f"'associated - none', of {quoted(CONNECTIONS)}."
        )
    return names[0], names[1]


def _check_one_value(table: pd.DataFrame, on: str) -> None:
    spread = table.groupby(["embedding", "word_to_compare"], observed=True)[on].agg(["min", "max"])
    differs = spread[spread["max"] > spread["min"]]
    if len(differs):
        raise DataError(
            f"{on!r} is not a covariate of attributes: {differs.index[0][1]!r} has values from "
            f"{differs['min'].iloc[0]:g} to {differs['max'].iloc[0]:g}; give one with one value "
            "per attribute and embedding, such as 'log_frequency'."
        )


def _split(
    table: pd.DataFrame,
    on: str,
    pairs: list[tuple[str, str]],
    prob: float,
    label: dict[str, object],
) -> Iterator[dict[str, object]]:
    """Yield a row per contrast and slope."""
    grouped = table.groupby(["connection", "word_class", "word_to_compare"], observed=True)
    cells = grouped.agg(y=("cosine_distance", "mean"), x=(on, "first")).reset_index()
    whole = table.groupby(["word_class", "word_to_compare"], observed=True)
    attributes = whole.agg(y=("cosine_distance", "mean"), x=(on, "first")).reset_index()
    slopes = {"within lists": _slope(attributes)}
    neutral = cells[cells["connection"] == _NEUTRAL]
    if len(neutral):
        slopes = {"neutral": _slope(neutral), **slopes}
    where = ", ".join(map(str, label.values()))
    if all(slope is None for slope in slopes.values()):
        raise DataError(
            f"{where}: {on!r} does not vary within any list of {_FEWEST} or more attributes, so "
            "there is no slope to estimate; use longer lists."
        )
    for first, second in pairs:
        parts = [cells[cells["connection"] == name] for name in (first, second)]
        if min(map(len, parts)) < 2:
            continue
        for name, slope in slopes.items():
            if slope is not None:
                yield {
                    "contrast": f"{first} - {second}",
                    "slope_from": name,
                    **_row(parts[0], parts[1], slope, prob),
                }


def _slope(words: pd.DataFrame) -> _Slope | None:
    """Return the slope within lists by least squares; None if there is too little to go by."""
    y, x = (words[name].to_numpy(dtype=np.float64) for name in ("y", "x"))
    lists = words["word_class"].astype("str").to_numpy()
    names, codes, sizes = np.unique(lists, return_inverse=True, return_counts=True)
    y_within, x_within = (v - (np.bincount(codes, v) / sizes)[codes] for v in (y, x))
    squares = float(x_within @ x_within)
    df = len(y) - len(names) - 1
    if len(y) < _FEWEST or df < 1 or squares <= 1e-24 * float(x @ x):
        return None
    value = float(x_within @ y_within) / squares
    rest = y_within - value * x_within
    total = float(y_within @ y_within)
    low, high = np.quantile(x, _RANGE)
    return _Slope(
        value,
        float(rest @ rest) / df / squares,
        float(df),
        1 - float(rest @ rest) / total if total else np.nan,
        float(low),
        float(high),
    )


def _row(
    first: pd.DataFrame, second: pd.DataFrame, slope: _Slope, prob: float
) -> dict[str, object]:
    x_first, x_second = (part["x"].to_numpy(dtype=np.float64) for part in (first, second))
    difference = float(x_first.mean() - x_second.mean())
    b = slope.value
    by_slope = _Mean(b * difference, difference**2 * slope.variance, slope.df)
    raw = _difference(first, second, 0.0)
    rest = _difference(first, second, b)
    of_x = _difference(first.assign(y=first["x"]), second.assign(y=second["x"]), 0.0)
    quantities = {
        "slope": [_Mean(b, slope.variance, slope.df)],
        "raw": raw,
        "explained": [by_slope, *(_Mean(0.0, b**2 * m.variance, m.df) for m in of_x)],
        "rest": [*rest, _Mean(0.0, by_slope.variance, slope.df)],
    }
    row: dict[str, object] = {
        "n_first": len(first),
        "n_second": len(second),
        "difference": difference,
    }
    for name, parts in quantities.items():
        row[name], row[f"{name}_lower"], row[f"{name}_upper"] = _interval(parts, prob)
        if name == "slope":
            row["r2"] = slope.r2
    outside = float(((x_first < slope.low) | (x_first > slope.high)).mean())
    beyond = not slope.low <= float(x_first.mean()) <= slope.high
    row["outside"] = outside
    row["extrapolates"] = difference != 0 and (outside > _MANY_OUTSIDE or beyond)
    return row


def _difference(first: pd.DataFrame, second: pd.DataFrame, b: float) -> list[_Mean]:
    """Return the terms of a difference of means of y − b x; of pairs if the words are the same."""
    values = [
        pd.Series(
            (part["y"] - b * part["x"]).to_numpy(dtype=np.float64),
            index=part["word_to_compare"].astype("str").to_numpy(),
        )
        for part in (first, second)
    ]
    if set(values[0].index) == set(values[1].index):
        return [_mean((values[0] - values[1].reindex(values[0].index)).to_numpy())]
    one, other = (_mean(series.to_numpy()) for series in values)
    return [one, _Mean(-other.value, other.variance, other.df)]


def _mean(values: _Floats) -> _Mean:
    n = len(values)
    return _Mean(float(values.mean()), float(values.var(ddof=1)) / n, n - 1.0)


def _interval(parts: list[_Mean], prob: float) -> tuple[float, float, float]:
    """Return a sum of independent terms and its interval (Welch and Satterthwaite)."""
    from scipy.stats import t

    value = sum(part.value for part in parts)
    variance = sum(part.variance for part in parts)
    if variance <= 0:
        return value, value, value
    df = variance**2 / sum(part.variance**2 / part.df for part in parts)
    half = float(t.ppf((1 + prob) / 2, df)) * variance**0.5
    return value, value - half, value + half


def _warn_outside(rows: list[dict[str, object]], on: str) -> None:
    """Say which contrasts are extrapolated."""
    keys = ("embedding", "protected_group", "contrast")
    named = dict.fromkeys(
        ", ".join(str(row[key]) for key in keys if key in row)
        for row in rows
        if row["extrapolates"]
    )
    if named:
        warn(
            f"extrapolated: {'; '.join(named)}. The {on} of these attributes lies largely outside "
            "the middle 90% of the words that the slope is from (column 'outside'); "
            "Study.match_controls finds controls in their range"
        )
