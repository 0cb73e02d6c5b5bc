"""Fit every Gaussian model to many simulated tables and report what goes wrong.

``python scripts/stress_exact.py --tables 2000`` draws tables with random layouts
(`tests/layouts.py`), fits each model with few draws, and prints one line per model. A fit fails if
it raises an error, takes more than its time budget (a minute, or three times the estimate), if the
chains of the fallback have an R-hat of 1.05 or more, if the search missed a higher mode, or if a
draw is not finite. The fits are also counted that take more than 10 seconds and more than three
times the estimate.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.models.exact import engine
from bayesbias.models.exact.compiled_model import compile_model
from bayesbias.models.exact.scale_draws import ScaleDraws, Target, draw_scales
from bayesbias.models.model_data import model_data

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from layouts import random_table  # type: ignore[import-not-found]

#: A fit may take this many CPU seconds, or so many times as long as the engine says beforehand.
BUDGET = 60.0
TIMES = 3
#: And these are counted as longer than said, if they take more than this many seconds too.
NOTICED = 10.0


def fit_one(name: str, seed: int, draws: int, **size: int) -> dict[str, Any]:
    """Fit a model to the table of a seed; return how it went."""
    several = 2 if name == "embeddings" else 1
    table = random_table(seed, embeddings=several, **size)
    spec = bb.load_model(name)
    seen: list[ScaleDraws] = []

    def watched(target: Target, *args: Any, **options: Any) -> ScaleDraws:
        seen.append(draw_scales(target, *args, **options))
        return seen[-1]

    found: dict[str, Any] = {"model": name, "seed": seed, "rows": len(table), "problem": ""}
    again = table.duplicated(["embedding", "protected_word", "word_to_compare"]).any()
    vars(engine)["draw_scales"] = watched
    start = time.process_time()
    try:
        data = model_data(spec, table)
        found["estimate"] = engine.estimated_seconds(compile_model(spec, data), draws)
        start = time.process_time()
        values, quality = engine.sample_exactly(spec, data, draws, np.random.default_rng(seed))
        found |= quality
        if not all(np.isfinite(v).all() for v in values.values()):
            found["problem"] = "a draw is not finite"
    except Exception as error:
        found["problem"] = f"{type(error).__name__}: {error}"
        if "without any noise" in found["problem"] and again:
            # Identical outcomes of one pair: a residual scale of zero may be the right answer.
            found["refused"], found["problem"] = True, ""
    finally:
        vars(engine)["draw_scales"] = draw_scales
    found["seconds"] = time.process_time() - start
    found["above_mode"] = max((s.best - s.mode for s in seen), default=0.0)
    found["unknowns"] = max((s.draws.shape[1] for s in seen), default=0)
    if not found["problem"] and not found.get("refused"):
        if found["seconds"] > max(BUDGET, TIMES * found["estimate"]):
            found["problem"] = f"slow: {found['seconds']:.0f} s, said {found['estimate']:.0f} s"
        elif found.get("scale_r_hat", 1.0) >= 1.05:
            found["problem"] = f"R-hat {found['scale_r_hat']:.3f}"
        elif found["above_mode"] > 0.1:
            found["problem"] = f"a point {found['above_mode']:.2f} above the mode"
    return found


def main() -> None:
    """Fit, and print a line per model and per problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--models", nargs="+", default=list(bb.models.MODELS))
    parser.add_argument("--seed", type=int, default=0, help="of the first table")
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--most-words", type=int, default=40, help="protected words of a table")
    parser.add_argument("--most-attributes", type=int, default=300, help="of a list")
    parser.add_argument("--seconds", type=float, default=np.inf, help="per model, then stop")
    parser.add_argument(
        "--output", type=Path, help="a file with one JSON object per fit; fits in it are not redone"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    done = kept(options.output)
    for name in options.models:
        start = time.process_time()
        own = []
        for seed in range(options.seed, options.seed + options.tables):
            one = done.get((name, seed))
            if one is None:
                if time.process_time() - start > options.seconds:
                    break
                try:
                    one = fit_one(
                        name,
                        seed,
                        options.draws,
                        most_words=options.most_words,
                        most_attributes=options.most_attributes,
                    )
                except KeyboardInterrupt:  # report what is done
                    break
                if options.output:
                    with options.output.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(one, default=float) + "\n")
            own.append(one)
            if one["problem"]:
                print(f"  {name} seed {seed}, {one['rows']} rows: {one['problem']}", flush=True)
        if own:
            report(name, pd.DataFrame(own))


def kept(path: Path | None) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the fits of an earlier run, by model and seed."""
    if path is None or not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {(row["model"], row["seed"]): row for row in rows}


def report(name: str, table: pd.DataFrame) -> None:
    """Print the line of a model."""
    for column in ("refused", "scale_sampler", "acceptance", "pareto_k"):
        if column not in table:
            table[column] = np.nan
    chains = (table["scale_sampler"] == "hmc").mean()
    slowest = table.sort_values("seconds").iloc[-1]
    longer = (table["seconds"] > NOTICED) & (table["seconds"] > TIMES * table["estimate"])
    print(
        f"{name:13} {len(table):5} tables, {int((table['problem'] != '').sum())} failed, "
        f"{int(table['refused'].notna().sum())} refused for duplicated rows, "
        f"chains {chains:.1%}, acceptance {table['acceptance'].median():.2f} (lowest "
        f"{table['acceptance'].min():.3f}), median {table['seconds'].median():.2f} s, "
        f"99% {table['seconds'].quantile(0.99):.1f} s, longer than said {longer.mean():.1%}, "
        f"longest {slowest['seconds']:.1f} s (seed {slowest['seed']}, {slowest['rows']} rows)",
        flush=True,
    )


if __name__ == "__main__":
    main()
