"""Run the benchmarks, print one table, and write it with the versions as JSON.

    python benchmarks/run.py                          # all of them
    python benchmarks/run.py --short                  # small sizes: does everything run?
    python benchmarks/run.py --only metrics debias    # some of them
    python benchmarks/run.py --json benchmarks/results.json

Speed is a ratio to a peer in the same run, in turns with ours. A peer that is not installed is
listed as such. With `--only`, what the file has of other benchmarks stays in it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import time
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import growth
from measuring import BAMBI, HEAD, NOT_INSTALLED, WEFE, as_json, cells, growth_cells, show

#: In this order; `growth` is a table of its own.
MODULES = (
    "load_text",
    "search_binary",
    "read_corpus",
    "build_table",
    "metrics",
    "large_queries",
    "silhouettes",
    "exact_engine",
    "large_tables",
    "large_audits",
    "large_vocabularies",
    "pareto_k",
    "debias",
    "learning",
    "growth",
)
PACKAGES = (
    "bayesbias",
    "numpy",
    "scipy",
    "pandas",
    "scikit-learn",
    "gensim",
    "pymc",
    "nutpie",
    "arviz",
)


def main() -> None:
    """Read the command line, run what is asked for, print and write it."""
    parser = argparse.ArgumentParser(description="Run the benchmarks and print one table.")
    parser.add_argument("--short", action="store_true", help="small sizes, to see that all run")
    parser.add_argument("--only", nargs="+", choices=MODULES, default=MODULES, metavar="NAME")
    parser.add_argument("--json", type=Path, help="write records and versions to this file")
    given = parser.parse_args()
    content = machine(short=given.short)
    found: dict[str, list[dict[str, Any]]] = {}
    if given.json is not None and given.json.exists() and given.only is not MODULES:
        found = json.loads(given.json.read_text("utf-8"))["benchmarks"]
    tables: list[list[tuple[str, ...]]] = [[HEAD], [growth.HEAD]]
    for name in MODULES:
        if name not in given.only:
            continue
        start = time.perf_counter()
        if name == "growth":
            growths = list(growth.growths(given.short))
            tables[1] += map(growth_cells, growths)
            found[name] = as_json(growths)
        else:
            records = list(importlib.import_module(name).records(given.short))
            tables[0] += map(cells, records)
            found[name] = as_json(records)
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
        if given.json is not None:
            write(given.json, {**content, "benchmarks": found})
    for rows in tables:
        if len(rows) > 1:
            print()
            show(rows)


def machine(short: bool) -> dict[str, Any]:
    """Return what the numbers depend on."""
    versions = {name: metadata.version(name) for name in PACKAGES}
    for name, interpreter in (("wefe", WEFE), ("bambi", BAMBI)):
        versions[name] = version_in(interpreter, name)
    names = [line for line in _cpu_lines() if line.startswith("model name")]
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "short": short,
        "processor": names[0].partition(": ")[2] if names else platform.processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "versions": versions,
    }


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text("utf-8").splitlines() if path.exists() else []


def version_in(interpreter: Path, package: str) -> str:
    """Return the version of a package in another environment."""
    if not interpreter.exists():
        return NOT_INSTALLED
    code = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([interpreter, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def write(path: Path, content: dict[str, Any]) -> None:
    """Write the file anew."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    temporary.replace(path)


if __name__ == "__main__":
    main()
