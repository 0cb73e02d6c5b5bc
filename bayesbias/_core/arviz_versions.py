"""The one seam to ArviZ, whose two generations (0.23 and 1.x) differ."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

Array = npt.NDArray[np.floating]

ARVIZ_MAJOR = int(version("arviz").split(".")[0])


@contextmanager
def importing_arviz() -> Iterator[None]:
    """Import ArviZ, and ignore what 0.23 announces, once a day, when it is: the changes of 1.0.

    PyMC imports ArviZ, so this goes around the first import of either. ArviZ notes the day in a
    file whose temporary name is the same for all processes: of several that import it at once, one
    may find its file gone. The day is noted by then, so it imports ArviZ again.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\s*ArviZ is undergoing", FutureWarning)
        for more_attempts in (4, 3, 2, 1, 0):
            try:
                import_module("arviz")
                break
            except FileNotFoundError:
                if not more_attempts:
                    raise
        yield


def import_arviz() -> Any:
    """Return the module of ArviZ."""
    with importing_arviz():
        import arviz
    return arviz


def convergence(posterior: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return effective sample sizes, R-hat and Monte Carlo errors of every parameter."""
    az = import_arviz()
    # A constant chain has no R-hat; NaN says so, and the diagnostics report it.
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        measures = {
            "ess_bulk": az.ess(posterior, method="bulk"),
            "ess_tail": az.ess(posterior, method="tail"),
            "r_hat": az.rhat(posterior),
            "ess_mean": az.ess(posterior, method="mean"),
            "mcse_mean": az.mcse(posterior, method="mean"),
        }
    return measures


def smooth_weights(log_ratios: Array, relative_efficiency: float) -> tuple[Array, Array]:
    """Pareto-smooth importance ratios along the last axis: normalised log weights, and k."""
    az = import_arviz()
    if ARVIZ_MAJOR == 0:
        weights, k = az.psislw(log_ratios, relative_efficiency)
        return np.asarray(weights), np.atleast_1d(np.asarray(k))
    from arviz_stats.base import array_stats

    # It takes log likelihoods, whose negatives are the ratios.
    weights, k = array_stats.psislw(-log_ratios, r_eff=relative_efficiency, axis=-1)
    return np.asarray(weights), np.atleast_1d(np.asarray(k))


def native(groups: dict[str, xr.Dataset]) -> Any:
    """Return the container of the installed ArviZ: InferenceData (0.23) or DataTree (1.x)."""
    if ARVIZ_MAJOR == 0:
        return import_arviz().InferenceData(**groups)
    return xr.DataTree.from_dict({f"/{name}": group for name, group in groups.items()})
