"""Large arrays handled in blocks, so that memory does not grow with the data."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

from bayesbias.errors import SpecError

#: Numbers that a block may hold: 32 MB of double precision, well inside the caches' reach.
BLOCK_NUMBERS = 4_000_000
#: The environment variable that gives the megabytes of a block instead.
VARIABLE = "BAYESBIAS_MEMORY"


def blocks(n: int, numbers_per_row: float = 1, budget: int | None = None) -> Iterator[slice]:
    """Yield slices that cover `n` rows, each of at most `budget` numbers and of one row or more.

    >>> list(blocks(5, numbers_per_row=2, budget=4))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    numbers = block_numbers() if budget is None else budget
    step = max(1, int(numbers / max(numbers_per_row, 1)))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def block_numbers() -> int:
    """Return how many numbers a block may hold, by the environment if it says so."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return BLOCK_NUMBERS
    try:
        megabytes = float(text)
    except ValueError:
        megabytes = math.nan
    if not 0 < megabytes < math.inf:
        raise SpecError(
            f"the environment variable {VARIABLE} is {text[:40]!r}; expected a number of megabytes "
            "above 0, such as 32, the default."
        )
    return max(1, int(megabytes * 1e6 / 8))
