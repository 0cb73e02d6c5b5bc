"""What holds for the tests and for the examples in docstrings."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close what was drawn: matplotlib warns of more than twenty open figures."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
