"""Fit random tables with both engines and report where the posteriors differ.

``python scripts/compare_engines.py --tables 5`` draws small tables with random layouts
(`tests/layouts.py`), fits each Gaussian model exactly and with NUTS, and prints one line per fit:
the largest difference of a mean in posterior standard deviations, the largest difference of a
standard deviation, and both beyond what the tolerance (0.05 and 5%) and four Monte Carlo errors
allow. NUTS is slow and may diverge on such tables; the line then says so, and nothing is concluded.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias._core.array_types import Array
from bayesbias.errors import DataError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from layouts import random_table  # type: ignore[import-not-found]

TOLERANCE = 0.05
#: Monte Carlo errors that a difference may have.
ERRORS = 4.0


@dataclass(frozen=True)
class Differences:
    """How far the posteriors of two fits are apart, over all their parameters."""

    mean: float  # in standard deviations
    sd: float  # as a share
    beyond: tuple[str, ...]  # parameters that differ by more than chance

    def __str__(self) -> str:
        where = f", BEYOND CHANCE: {', '.join(self.beyond)}" if self.beyond else ""
        return f"means {self.mean:.2f} sd, standard deviations {self.sd:.0%}{where}"


def differences(nuts: bb.models.Fit, exact: bb.models.Fit, table: pd.DataFrame) -> Differences:
    """Compare means and standard deviations of each parameter; the table is that of diagnostics."""
    start, means, sds, beyond = 0, [0.0], [0.0], []
    for parameter in nuts.spec.parameters:
        a, b = (_flat(fit.draws(parameter.name)) for fit in (nuts, exact))
        own = table.iloc[start : start + a.shape[1]]
        start += a.shape[1]
        sd = b.std(axis=0)
        off = np.abs(a.mean(axis=0) - b.mean(axis=0)) / sd
        error = np.sqrt(1 / own["ess_mean"].to_numpy() + 1 / len(b))
        # The error of a standard deviation is larger where the tails are heavy.
        kurtosis = ((b - b.mean(axis=0)) ** 4).mean(axis=0) / sd**4
        ess = own[["ess_bulk", "ess_tail"]].min(axis=1).to_numpy()
        sd_error = np.sqrt((kurtosis - 1) / 4 * (1 / ess + 1 / len(b)))
        wider = np.abs(a.std(axis=0) / sd - 1)
        means.append(float(off.max()))
        sds.append(float(wider.max()))
        far = (off > TOLERANCE + ERRORS * error) | (wider > TOLERANCE + ERRORS * sd_error)
        if far.any():
            beyond.append(f"{parameter.name} ({int(far.sum())} of {far.size})")
    return Differences(max(means), max(sds), tuple(beyond))


def _flat(draws: Array) -> Array:
    return draws.reshape(len(draws), -1)


def compare(name: str, seed: int, most_words: int, most_attributes: int) -> str:
    """Return one line about a model on the table of a seed."""
    table = random_table(
        seed,
        embeddings=2 if name == "embeddings" else 1,
        most_words=most_words,
        most_attributes=most_attributes,
    )
    begins = f"{name:13} seed {seed}, {len(table)} rows: "
    start = time.perf_counter()
    try:
        exact = bb.fit(table, name, engine="exact", seed=seed, duplicates="keep", progress=False)
    except DataError as refused:
        return f"{begins}refused: {refused}"
    middle = time.perf_counter()
    nuts = bb.fit(table, name, engine="nuts", seed=seed, duplicates="keep", progress=False)
    end = time.perf_counter()
    found = nuts.diagnostics()
    doubt = "" if found.ok else f"; NUTS in doubt: {'; '.join(found.problems)}"
    times = f"{middle - start:.1f} s and {end - middle:.0f} s"
    return f"{begins}{differences(nuts, exact, found.table)} ({times}){doubt}"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument("--models", nargs="+", default=list(bb.models.MODELS))
    parser.add_argument("--seed", type=int, default=0, help="of the first table")
    parser.add_argument("--most-words", type=int, default=8, help="protected words of a table")
    parser.add_argument("--most-attributes", type=int, default=30, help="of a list")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.models:
        for seed in range(options.seed, options.seed + options.tables):
            print(compare(name, seed, options.most_words, options.most_attributes), flush=True)


if __name__ == "__main__":
    main()
