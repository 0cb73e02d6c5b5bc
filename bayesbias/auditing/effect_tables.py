"""What a fit says of bias, in tidy tables: contrasts, means, coefficients, diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from bayesbias._core.constants import CONNECTIONS, EQUAL
from bayesbias.errors import DataError, SpecError
from bayesbias.models import Fit, t_contrasts

#: What a contrast is of. The last compares groups on the stereotypes of one of them.
LEVELS = {
    "data set": None,
    "group": "protected_group",
    "word": "protected_word",
    "same attributes": "attribute_group",
}

#: The most protected words that the report shows, in its figure and in its table.
MOST_WORDS = 100


def contrasts_table(
    fit: Fit, *, equal: Fit | None = None, prob: float, rope: float
) -> pd.DataFrame:
    """Return how much closer the own stereotypes are than all else: over all, by group, by word.

    A row has the ``contrast``, its ``level`` (data set, group, word, same attributes), the
    ``group`` and ``word``, ``mean``, ``sd``, ``lower``, ``upper``, ``prob_negative``,
    ``prob_in_rope``, ``rows``, the number of distances from own stereotypes, 0 where there is
    nothing to compare them with, and a ``verdict``: closer or farther if the interval excludes 0,
    else inconclusive; nothing without rows, where the model only guesses from other words. Next to
    it the t-interval (``t_lower``, ``t_upper``), and from `equal`, a fit with a slope for
    frequency, the contrast at equal frequency of the attributes (``equal_mean``, ``equal_lower``,
    ``equal_upper``).
    """
    connections = fit.data.levels["connection"]
    groups = fit.groups().to_series().astype(str)
    parts = []
    for other in [name for name in reversed(CONNECTIONS) if name in connections[1:]]:
        contrast = f"associated - {other}"
        for level, by in LEVELS.items():
            if by == "attribute_group" and other != "different":
                continue
            try:
                part = fit.contrasts(contrast, by=by, prob=prob, rope=rope)
            except (DataError, SpecError):
                continue  # groups share no attributes, or the model does not distinguish lists
            names = part[by].astype(str) if by else pd.Series([""])
            _beside(part, names, fit.table, equal, contrast, by, prob)
            part.insert(1, "level", level)
            part.insert(2, "group", names.map(groups) if level == "word" else names)
            part.insert(3, "word", names if level == "word" else "")
            column = "protected_group" if by == "attribute_group" else by
            associated, compared = (
                names.map(_counts(fit.table, connection, column)).fillna(0).astype(int)
                for connection in ("associated", other)
            )
            part["rows"] = associated.where(compared > 0, 0)
            parts.append(part.drop(columns=[by] if by else []))
    table = pd.concat(parts, ignore_index=True)
    table["verdict"] = verdicts(table)
    table.insert(0, "model", fit.spec.name)
    return table


def _beside(
    part: pd.DataFrame,
    names: pd.Series[str],
    table: pd.DataFrame,
    equal: Fit | None,
    contrast: str,
    by: str | None,
    prob: float,
) -> None:
    """Add the t-interval, and the contrast at equal frequency, to the rows of a contrast."""
    part["t_lower"] = part["t_upper"] = np.nan
    try:
        classical = t_contrasts(table, contrast, by=by, prob=prob)  # type: ignore[arg-type]
    except DataError:
        pass  # too few attributes to estimate a variance: the cells stay empty
    else:
        intervals = classical.set_index(names.name if by else "contrast")
        place = names if by else pd.Series([contrast])
        for end in ("lower", "upper"):
            part[f"t_{end}"] = place.map(intervals[end]).to_numpy(dtype=float)
    adjusted = None if equal is None else equal.contrasts(contrast, by=by, prob=prob)
    put_at_equal_frequency(part, adjusted)


def put_at_equal_frequency(raw: pd.DataFrame, adjusted: pd.DataFrame | None) -> None:
    """Add to contrasts the same ones at equal covariates; nothing but gaps without them."""
    for name in ("mean", "lower", "upper"):
        raw[f"equal_{name}"] = (
            np.nan
            if adjusted is None
            else adjusted.loc[adjusted["covariates"] == EQUAL, name].to_numpy()
        )


def _counts(table: pd.DataFrame, connection: str, by: str | None) -> pd.Series[int]:
    """Return the number of distances of a connection: of all words, or of each group or word."""
    chosen = table[table["connection"] == connection]
    return chosen[by].astype(str).value_counts() if by else pd.Series({"": len(chosen)})


def shown_words(contrasts: pd.DataFrame) -> list[str] | None:
    """Return the protected words with the largest first contrasts; None if there is room for all.

    A page with thousands of words, each with its closest attributes, does not open in a browser.
    """
    rows = contrasts[contrasts["level"] == "word"]
    first = rows[rows["contrast"] == rows["contrast"].iloc[0]] if len(rows) else rows
    if len(first) <= MOST_WORDS:
        return None
    size = first["mean"].abs().where(first["verdict"] != "", -1.0)
    largest = size.sort_values(ascending=False, kind="stable").index[:MOST_WORDS]
    return [str(word) for word in first.loc[largest, "word"]]


def verdicts(table: pd.DataFrame) -> list[str]:
    """Return closer, farther or inconclusive for each interval of a difference of distances."""
    unknown, below, above = table["rows"] == 0, table["upper"] < 0, table["lower"] > 0
    chosen = np.select([unknown, below, above], ["", "closer", "farther"], "inconclusive")
    return [str(verdict) for verdict in chosen]


def coefficients_table(fits: Mapping[str, Fit], prob: float) -> pd.DataFrame:
    """Return the parameters of the whole data set, of several models."""
    parts = [fit.coefficients(prob=prob).assign(model=name) for name, fit in fits.items()]
    table = pd.concat(parts, ignore_index=True)
    return table[["model", *table.columns.drop("model")]]


def diagnostics_row(name: str, fit: Fit) -> dict[str, Any]:
    """Return what speaks for and against a fit."""
    checks = fit.diagnostics()
    return {
        "model": name,
        "engine": fit.provenance["engine"],
        "scale_sampler": str(fit.provenance.get("scale_sampler", "")),
        "draws": fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"],
        "ok": checks.ok,
        "found": checks.description,
        "problems": "; ".join(checks.problems),
        "notes": "; ".join(checks.notes),
    }


def diagnostics_table(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return what speaks for and against each fit, one row each."""
    return pd.DataFrame(list(rows))
