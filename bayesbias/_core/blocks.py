"""Large arrays handled in blocks, so that memory does not grow with the data."""

from __future__ import annotations

from collections.abc import Iterator

#: Numbers that a block may hold: 32 MB of double precision, well inside the caches' reach.
BLOCK_NUMBERS = 4_000_000


def blocks(n: int, numbers_per_row: float = 1, budget: int = BLOCK_NUMBERS) -> Iterator[slice]:
    """Yield slices that cover `n` rows, each of at most `budget` numbers and of one row or more.

    >>> list(blocks(5, numbers_per_row=2, budget=4))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, int(budget / max(numbers_per_row, 1)))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
