"""How many rows of a table lie in their own predictive intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtr, stdtr

from bayesbias._core.array_types import Array
from bayesbias._core.validation import one_of
from bayesbias.errors import SpecError
from bayesbias.models.row_density import RowDensity
from bayesbias.numerics.intervals import check_interval

if TYPE_CHECKING:
    from bayesbias.models.fitted_model import Fit

# More draws than these would not change the second digit of a share.
_DRAWS = 1000


def predictive_ranks(fit: Fit) -> Array:
    """Return for each row the predictive probability of a smaller outcome."""
    total = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    which = np.linspace(0, total - 1, min(total, _DRAWS)).round().astype(np.intp)
    density = RowDensity.of_fit(fit, which)
    ranks = np.empty(len(fit.data.y))
    for rows in density.parts(np.arange(len(ranks))):
        z = fit.data.y[rows, None] - density.mean(rows)
        z /= np.sqrt(density.variance(rows))
        below = ndtr(z) if density.nu is None else stdtr(density.nu, z)
        ranks[rows] = below.mean(axis=1)
    return ranks


def coverage_table(fit: Fit, by: str | None, probs: Iterable[float]) -> pd.DataFrame:
    """Return the shares of rows in their predictive intervals; `Fit` documents it."""
    levels = [float(prob) for prob in probs]
    if not levels:
        raise SpecError("'probs' is empty; name a probability, such as 0.89.")
    for prob in levels:
        check_interval(prob, "eti")
    ranks = predictive_ranks(fit)
    inside = pd.DataFrame({prob: np.abs(ranks - 0.5) <= prob / 2 for prob in levels})
    if by is None:
        names = pd.Series("all", index=inside.index)
    else:
        one_of("by", by, _text_columns(fit.table))
        names = fit.table[by].reset_index(drop=True)
    parts = []
    for name, rows in inside.groupby(names.astype("category"), observed=True):
        part = {"prob": levels, "rows": len(rows), "share": rows.mean().to_numpy()}
        parts.append(pd.DataFrame({by or "rows_of": str(name), **part}))
    return pd.concat(parts, ignore_index=True)


def _text_columns(table: pd.DataFrame) -> list[str]:
    return [str(name) for name in table.columns if table[name].dtype.kind not in "fiu"]
