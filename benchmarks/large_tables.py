"""Large tables through fit, contrasts and WAIC: `python benchmarks/large_tables.py`.

Simulated tables of protected words × attributes in five groups, with four chains. Each runs in a
process of its own. The memory is the peak of the process above that of the table.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from measuring import Record, alone, apart, clock, peak

import bayesbias as bb

#: Protected words, attributes, share of missing cells, draws per chain.
TABLES = (
    (100, 800, 0.0, 2_000),
    (100, 800, 0.1, 2_000),
    (316, 3_162, 0.0, 500),
    (1_000, 10_000, 0.0, 500),
)
MODEL = "interaction"
GROUPS = 5
STEPS = ("fit", "contrasts", "WAIC")


def records(short: bool) -> Iterator[Record]:
    """Yield the steps of each table."""
    for words, attributes, missing, draws in [(25, 200, 0.0, 50)] if short else TABLES:
        found = apart(__file__, words, attributes, missing, draws)
        size = f"{MODEL}, {found['rows']:,} rows, 4 × {draws:,} draws"
        size += f", {missing:.0%} missing" if missing else ""
        for step, (seconds, memory) in zip(STEPS, found["steps"], strict=True):
            yield Record(step, size, (seconds,), memory=memory)


def measure(words: int, attributes: int, missing: float, draws: int) -> dict[str, object]:
    """Return the rows, and of each step the seconds and the memory so far."""
    warnings.simplefilter("ignore")
    small = bb.fit(bb.distance_table("demo", "weat_7"), MODEL, draws=50, progress=False)
    small.contrasts()
    small.waic()  # imports
    table = simulated(words, attributes, missing)
    before = peak()
    fits: list[bb.models.Fit] = []
    steps = []
    for step in (
        lambda: fits.append(bb.fit(table, MODEL, draws=draws, progress=False, seed=1)),
        lambda: fits[0].contrasts(),
        lambda: fits[0].waic(),
    ):
        steps.append((clock(step), peak() - before))
    return {"rows": len(table), "steps": steps}


def simulated(words: int, attributes: int, missing: float) -> pd.DataFrame:
    """Return a table with effects of words, of attributes, and of attributes on groups."""
    rng = np.random.default_rng(1)
    p, a = (x.ravel() for x in np.indices((words, attributes), dtype=np.int32))
    if missing:
        kept = rng.random(len(p)) >= missing
        p, a = p[kept], a[kept]
    group, kind = p % GROUPS, a % (GROUPS + 2)
    connection = np.where(kind == group, 0, np.maximum(kind - GROUPS + 2, 1))
    distance = (
        0.9
        + rng.normal(0, 0.05, attributes)[a]
        + rng.normal(0, 0.03, (attributes, GROUPS))[a, group]
        + rng.normal(0, 0.03, words)[p]
        + rng.normal(0, 0.05, len(p))
    )
    named = {
        "protected_word": (p, [f"p{i}" for i in range(words)]),
        "protected_group": (group, [f"g{i}" for i in range(GROUPS)]),
        "word_to_compare": (a, [f"a{i}" for i in range(attributes)]),
        "word_class": (kind, [f"l{i}" for i in range(GROUPS + 2)]),
        "connection": (connection, ["associated", "different", "human", "none"]),
    }
    columns = {
        name: pd.Categorical.from_codes(codes, pd.Index(names))
        for name, (codes, names) in named.items()
    }
    return pd.DataFrame({**columns, "cosine_distance": distance, "cosine_similarity": 1 - distance})


if __name__ == "__main__":
    if "--one" in sys.argv:
        _, _, words, attributes, missing, draws = sys.argv
        print(json.dumps(measure(int(words), int(attributes), float(missing), int(draws))))
    else:
        alone(records)
