"""Blocks cover every row once, within the budget."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbias._core.blocks import blocks
from bayesbias.errors import SpecError


@given(st.integers(0, 500), st.floats(0, 50), st.integers(1, 200))
def test_every_row_once(n: int, numbers: float, budget: int) -> None:
    parts = list(blocks(n, numbers, budget))
    assert [i for part in parts for i in range(n)[part]] == list(range(n))
    assert all((p.stop - p.start) * numbers <= max(budget, numbers) for p in parts)


def test_the_environment_gives_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAYESBIAS_MEMORY", "0.008")
    assert [part.stop - part.start for part in blocks(250, 10)] == [100, 100, 50]
    assert len(list(blocks(250, 10, budget=2500))) == 1
    monkeypatch.setenv("BAYESBIAS_MEMORY", " ")
    assert len(list(blocks(250, 10))) == 1


@pytest.mark.parametrize("text", ["much", "0", "-5", "nan", "inf", "2 GB"])
def test_a_budget_that_is_not_a_number_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAYESBIAS_MEMORY", text)
    with pytest.raises(SpecError, match=f"BAYESBIAS_MEMORY is '{text}'.*megabytes"):
        list(blocks(3))


#: Prints how many pages were handed out while arrays were made and freed, ten times.
_COUNT_PAGES = """
import resource, sys
import numpy as np
from bayesbias._core.blocks import keep_freed_memory
if sys.argv[1] == "keep":
    keep_freed_memory()
def work():
    arrays = [np.ones(300_000) for _ in range(8)]
work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has such thresholds")
def test_freed_memory_is_used_again() -> None:
    pages = {
        how: int(subprocess.check_output([sys.executable, "-c", _COUNT_PAGES, how]))
        for how in ("keep", "give back")
    }
    assert pages["keep"] < 1000 < 20_000 < pages["give back"]
