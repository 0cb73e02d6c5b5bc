"""Large arrays handled in blocks, so that memory does not grow with the data."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import numpy as np

from bayesbias.errors import SpecError

#: Numbers that a block may hold: 32 MB of double precision, well inside the caches' reach.
BLOCK_NUMBERS = 4_000_000
#: The environment variable that gives the megabytes of a block instead.
VARIABLE = "BAYESBIAS_MEMORY"
# A little less than 32 MiB, the largest array by which glibc changes its thresholds.
_LARGEST_KEPT = 2**25 - 2**16


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


def keep_freed_memory() -> None:
    """Have freed arrays of up to 32 MB kept for the next ones of the process.

    Otherwise the memory of arrays of a few megabytes, made and freed in a loop, goes back to the
    operating system each time, which fills it with zeros again. glibc keeps what is smaller than
    the largest array of at most 32 MiB that has been freed so far, and never more than twice that
    for each of its arenas (M_MMAP_THRESHOLD in mallopt(3)). With another C library this changes
    nothing. The array made here is not written to, so it takes no memory.
    """
    np.empty(_LARGEST_KEPT, dtype=np.uint8)
