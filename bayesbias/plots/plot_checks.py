"""Checks of what a figure is drawn from."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from bayesbias._core.validation import one_of
from bayesbias._core.wording import did_you_mean, kind_of, quoted
from bayesbias.errors import DataError, SpecError
from bayesbias.models import Fit


def check_fit(fit: object) -> Fit:
    """Return a fit, or say what was given instead."""
    if isinstance(fit, Fit):
        return fit
    raise SpecError(f"'fit' is {kind_of(fit)}; expected what fit() or load_fit() returned.")


def check_frame(name: str, frame: object, columns: Iterable[str], maker: str) -> pd.DataFrame:
    """Return a table with rows and these columns, or say what it lacks."""
    if not isinstance(frame, pd.DataFrame):
        raise SpecError(f"{name!r} is {kind_of(frame)}; expected the table of {maker}.")
    if frame.empty:
        raise DataError(f"{name!r} has no rows; there is nothing to draw.")
    for column in columns:
        if column not in frame.columns:
            raise DataError(f"{name!r} has no column {column!r}; expected the table of {maker}.")
    return frame


def choose(what: str, value: str | None, available: Iterable[str]) -> str:
    """Return the one that was asked for, or the only one that there is."""
    names = list(available)
    if value is None:
        if len(names) > 1:
            raise SpecError(
                f"there are several {what}s ({quoted(names)}); name one: {what}={names[0]!r}."
            )
        return names[0]
    return one_of(what, value, names)


def in_table(what: str, value: str, available: Iterable[str]) -> str:
    """Return a name that the table holds, or say which there are."""
    names = list(available)
    if value in names:
        return value
    raise DataError(
        f"no {what} {value!r} in the table; there are {', '.join(names[:20])}"
        f"{' and more' if len(names) > 20 else ''}.{did_you_mean(value, names)}"
    )
