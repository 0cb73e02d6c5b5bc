"""The Pareto k of the exact engine beside ArviZ's, which smooths the weights as well.

``python benchmarks/pareto_k.py`` prints the time of both for 2,000 weights, and how far the two
estimates are apart, which depends on the version of ArviZ.
"""

from __future__ import annotations

import timeit
from functools import partial

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.arviz_versions import smooth_weights
from bayesbias.models.exact.scale_draws import pareto_k

WEIGHTS, REPEATS, TRIALS = 2000, 50, 20


def arviz_k(log_weights: Array) -> float:
    """Return ArviZ's estimate."""
    return float(smooth_weights(log_weights[None], 1.0)[1][0])


def main() -> None:
    """Print milliseconds, their ratio, and the largest difference."""
    rng = np.random.default_rng(0)
    tables = rng.normal(0, 0.5, (TRIALS, WEIGHTS))
    differences = [abs(pareto_k(one) - arviz_k(one)) for one in tables]
    ours, theirs = (
        min(timeit.repeat(partial(estimate, tables[0]), number=REPEATS)) / REPEATS * 1000
        for estimate in (pareto_k, arviz_k)
    )
    print(f"bayesbias {ours:.2f} ms, ArviZ {theirs:.2f} ms, ratio {theirs / ours:.1f}")
    print(f"largest difference of k: {max(differences):.4f}")


if __name__ == "__main__":
    main()
