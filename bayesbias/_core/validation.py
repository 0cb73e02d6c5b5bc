"""Checks of arguments; each returns the value it was given, normalised."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from numbers import Integral, Real

import numpy as np

from bayesbias._core.wording import brief, did_you_mean, quoted, same_name
from bayesbias.errors import SpecError


def one_of(name: str, value: str, options: Collection[str]) -> str:
    """Return `value` if it is one of the options, else raise with the nearest one."""
    # A table, for instance, cannot be looked for.
    is_text = isinstance(value, str)
    if is_text and value in options:
        return value
    raise SpecError(
        f"{name!r} is {brief(value)}; expected one of {quoted(sorted(options), limit=50)}."
        f"{did_you_mean(value, options) if is_text else ''}"
    )


def named(name: str, value: str, options: Collection[str]) -> str:
    """Return the option that `value` names, whatever its case, else raise with the nearest one."""
    same = same_name(value, options)
    return one_of(name, value, options) if same is None else same


def share(name: str, value: float) -> float:
    """Return `value` as a float if it lies in [0, 1]."""
    if not isinstance(value, Real) or not 0 <= value <= 1:
        raise SpecError(f"{name!r} is {value!r}; expected a number from 0 to 1.")
    return float(value)


def positive(name: str, value: float) -> float:
    """Return `value` as a float if it is a finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < float("inf"):
        raise SpecError(f"{name!r} is {value!r}; expected a number above 0.")
    return float(value)


def at_least(name: str, value: int, least: int) -> int:
    """Return `value` if it is a whole number not below `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise SpecError(f"{name!r} is {value!r}; expected a whole number, {least} or more.")
    return int(value)


def true_or_false(name: str, value: bool) -> bool:
    """Return `value` if it is True or False, also NumPy's; None is neither."""
    if not isinstance(value, bool | np.bool_):
        raise SpecError(f"{name!r} is {value!r}; expected True or False.")
    return bool(value)


def check_jobs(n_jobs: int) -> None:
    """Refuse what is not a number of processes."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise SpecError(
            f"'n_jobs' is {n_jobs!r}; expected a number of processes, or -1 for all cores."
        )


def word_list(name: str, words: object) -> tuple[str, ...]:
    """Return the words as a tuple; a lone string or anything that is not text is refused.

    A set has no order of its own; its words are sorted, so that results are the same each time.
    """
    if isinstance(words, str):
        raise SpecError(f"{name!r} is the string {words!r}; expected a list of words: [{words!r}].")
    if not isinstance(words, Iterable) or isinstance(words, Mapping):
        raise SpecError(f"{name!r} is {words!r}; expected a list of words.")
    items = tuple(words)
    for item in items:
        if not isinstance(item, str):
            # An empty cell of a column is NaN.
            hint = " Leave empty cells out: column.dropna()." if item != item else ""
            raise SpecError(f"{name!r} holds {item!r}, which is not a string.{hint}")
    # str() turns numpy's string scalars into plain ones.
    plain = tuple(str(item) for item in items)
    return tuple(sorted(plain)) if isinstance(words, AbstractSet) else plain
