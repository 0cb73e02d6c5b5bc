"""Whether the machine has the memory that an audit needs, before hours of work."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pandas as pd

from bayesbias.errors import DataError
from bayesbias.models import ModelSpec
from bayesbias.parallel import current_cluster

# Measured with 48,000 to 10,000,000 distances: the draws of the largest model are held in the
# posterior, in the file that is written and by rows for the criteria; each distance takes so many
# bytes in the tables. The rest is that of the packages.
_COPIES_OF_DRAWS = 3.5
_BYTES_PER_ROW = 250
_PACKAGES = 0.4e9
# What a factor that is not a column of the table, such as the kind of attribute, has at most.
_DERIVED_LEVELS = 3


def memory_needed(table: pd.DataFrame, specs: Sequence[ModelSpec], draws: int) -> float:
    """Return about how many bytes the audit of a table needs, with this many draws in all."""
    levels = {
        str(name): len(column.cat.categories)
        for name, column in table.items()
        if isinstance(column.dtype, pd.CategoricalDtype)
    }
    sizes = [
        sum(
            float(np.prod([levels.get(name, _DERIVED_LEVELS) for name in parameter.by]))
            for parameter in spec.parameters
        )
        for spec in specs
    ]
    return _PACKAGES + _COPIES_OF_DRAWS * 8 * draws * max(sizes) + _BYTES_PER_ROW * len(table)


def machine_memory() -> float | None:
    """Return the bytes of memory that the machine has; None where it does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(tables: Sequence[pd.DataFrame], specs: Sequence[ModelSpec], draws: int) -> None:
    """Refuse an audit that does not fit into the memory of the machine; a cluster has its own."""
    available = machine_memory()
    if available is None or current_cluster() is not None:
        return
    for table in tables:
        needed = memory_needed(table, specs, draws)
        if needed > available:
            raise DataError(
                f"the audit of {len(table):,} distances needs about {needed / 1e9:.0f} GB of "
                f"memory, and this machine has {available / 1e9:.0f} GB; use fewer draws (draws=, "
                "--draws) or fewer attributes, or fit one model without an audit (bb.fit)."
            )
