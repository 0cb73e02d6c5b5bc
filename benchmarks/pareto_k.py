"""The Pareto k of the exact engine beside ArviZ's: `python benchmarks/pareto_k.py`.

ArviZ smooths the weights as well. How far the two estimates are apart depends on its version.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from measuring import Record, alone, in_turns

from bayesbias._core.array_types import Array
from bayesbias._core.arviz_versions import smooth_weights
from bayesbias.models.exact.scale_draws import pareto_k

WEIGHTS, REPEATS = 2000, 20


def arviz_k(log_weights: Array) -> float:
    """Return ArviZ's estimate."""
    return float(smooth_weights(log_weights[None], 1.0)[1][0])


def records(short: bool) -> Iterator[Record]:
    """Yield the time of one estimate, and the largest difference."""
    rng = np.random.default_rng(0)
    tables = rng.normal(0, 0.5, (REPEATS, WEIGHTS))
    apart = max(abs(pareto_k(one) - arviz_k(one)) for one in tables)
    ours, theirs = in_turns(
        lambda: [pareto_k(one) for one in tables],
        lambda: [arviz_k(one) for one in tables],
        1 if short else 5,
    )
    yield Record(
        "Pareto k",
        f"{REPEATS} × {WEIGHTS:,} weights",
        ours,
        "ArviZ",
        theirs,
        note=f"the estimates differ by at most {apart:.4f}",
    )


if __name__ == "__main__":
    alone(records)
