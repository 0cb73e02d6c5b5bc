"""What holds for the tests and for the examples in docstrings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from bayesbias._core.arviz_versions import import_arviz

if "PYTEST_XDIST_WORKER" in os.environ:
    # Before a test does: several processes at once are too much for ArviZ's first import of a day.
    import_arviz()

#: Examples of docstrings that take more than a few seconds.
SLOW_EXAMPLES = frozenset(
    {
        "bayesbias.auditing.audit_run.audit",
        "bayesbias.debias_effects.before_after.BeforeAfter",
        "bayesbias.debias_effects.before_after.BeforeAfter.summary",
        "bayesbias.debias_effects.before_after.before_after",
        "bayesbias.models.calibration.Calibration",
        "bayesbias.models.calibration.calibrate",
        "bayesbias.models.paired.PairedFit",
        "bayesbias.models.paired.fit_paired",
        "bayesbias.plots.calibration_plot.plot_calibration",
    }
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow examples as what they are."""
    for item in items:
        if item.name in SLOW_EXAMPLES:
            item.add_marker("slow")


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close what was drawn: matplotlib warns of more than twenty open figures."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
