"""Blocks cover every row once, within the budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bayesbias._core.blocks import blocks


@given(st.integers(0, 500), st.floats(0, 50), st.integers(1, 200))
def test_every_row_once(n: int, numbers: float, budget: int) -> None:
    parts = list(blocks(n, numbers, budget))
    assert [i for part in parts for i in range(n)[part]] == list(range(n))
    assert all((p.stop - p.start) * numbers <= max(budget, numbers) for p in parts)
