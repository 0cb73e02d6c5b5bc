"""What a fit says of bias, in tidy tables: contrasts, means, coefficients, diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.constants import CONNECTIONS
from bayesbias.inference import Fit

#: What a contrast is of.
LEVELS = {"data set": None, "group": "protected_group", "word": "protected_word"}


def contrasts_table(fit: Fit, *, prob: float, rope: float) -> pd.DataFrame:
    """Return how much closer the own stereotypes are than all else: over all, by group, by word.

    A row has the ``contrast``, its ``level`` (data set, group, word), the ``group`` and ``word``,
    ``mean``, ``sd``, ``lower``, ``upper``, ``P(<0)``, ``P(in rope)``, ``rows``, the number of
    distances from own stereotypes, 0 where there is nothing to compare them with, and a
    ``verdict``: closer or farther if the interval excludes 0, else open; nothing without rows,
    where the model only guesses from other words.
    """
    there = fit.data.levels["connection"]
    groups = fit.groups().to_series().astype(str)
    parts = []
    for other in [name for name in reversed(CONNECTIONS) if name in there[1:]]:
        for level, by in LEVELS.items():
            part = fit.contrasts(f"associated - {other}", by=by, prob=prob, rope=rope)
            names = part[by].astype(str) if by else pd.Series([""])
            part.insert(1, "level", level)
            part.insert(2, "group", names.map(groups) if level == "word" else names)
            part.insert(3, "word", names if level == "word" else "")
            own, others = (
                names.map(_counts(fit.table, connection, by)).fillna(0).astype(int)
                for connection in ("associated", other)
            )
            part["rows"] = own.where(others > 0, 0)
            parts.append(part.drop(columns=[by] if by else []))
    table = pd.concat(parts, ignore_index=True)
    table["verdict"] = verdicts(table)
    table.insert(0, "model", fit.spec.name)
    return table


def _counts(table: pd.DataFrame, connection: str, by: str | None) -> pd.Series[int]:
    """Return the number of distances of a connection: of all words, or of each group or word."""
    chosen = table[table["connection"] == connection]
    return chosen[by].astype(str).value_counts() if by else pd.Series({"": len(chosen)})


def verdicts(table: pd.DataFrame) -> list[str]:
    """Return closer, farther or open for each interval of a difference of distances."""
    unknown, below, above = table["rows"] == 0, table["upper"] < 0, table["lower"] > 0
    chosen = np.select([unknown, below, above], ["", "closer", "farther"], "open")
    return [str(verdict) for verdict in chosen]


def coefficients_table(fits: Mapping[str, Fit], prob: float) -> pd.DataFrame:
    """Return the parameters of the whole data set, of several models."""
    parts = [fit.coefficients(prob=prob).assign(model=name) for name, fit in fits.items()]
    table = pd.concat(parts, ignore_index=True)
    return table[["model", *table.columns.drop("model")]]


def diagnostics_table(fits: Mapping[str, Fit]) -> pd.DataFrame:
    """Return what speaks for and against each fit, one row each."""
    rows = []
    for name, fit in fits.items():
        found = fit.diagnostics()
        row: dict[str, Any] = {"model": name, "engine": fit.provenance["engine"]}
        row["draws"] = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
        row["ok"] = found.ok
        row["found"] = found.description
        row["problems"] = "; ".join(found.problems)
        row["notes"] = "; ".join(found.notes)
        rows.append(row)
    return pd.DataFrame(rows)
