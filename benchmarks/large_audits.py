"""Large audits with their report: `python benchmarks/large_audits.py`.

Simulated embeddings and studies of five groups. Each audit runs in a process of its own, with all
models, and without the check by a second sampler unless the size says so. Time and memory include
those of the imports; the memory is the peak of the process above that of the embedding.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from measuring import Record, alone, apart, clock, peak

import bayesbias as bb

#: Protected words, attributes, draws per chain, whether a second sampler checks the draws.
AUDITS = (
    (60, 160, 1_000, False),
    (60, 800, 1_000, False),
    (60, 800, 1_000, True),
    (200, 5_000, 500, False),
)
#: What is left out to see that it runs.
SHORT: dict[str, Any] = {"models": "hierarchical", "metrics": "mac", "silhouettes": False}
GROUPS = 5
DIMENSIONS = 100
OTHER_WORDS = 20_000


def records(short: bool) -> Iterator[Record]:
    """Yield the time and the memory of each audit; its note has the sizes of what it wrote."""
    for words, attributes, draws, confirm in [(10, 35, 100, False)] if short else AUDITS:
        found = apart(__file__, words, attributes, draws, int(confirm), int(short))
        size = f"{found['rows']:,} rows, 4 × {draws:,} draws"
        size += ", with a second sampler" if confirm else ""
        yield Record(
            "audit with report",
            size,
            (found["seconds"],),
            memory=found["memory"],
            note=f"report.html has {found['report']:.1f} MB, the folder {found['folder']:,.0f} MB",
        )


def measure(
    words: int, attributes: int, draws: int, confirm: bool, short: bool
) -> dict[str, float]:
    """Return the rows, the seconds, the memory, and the sizes of the report and the folder."""
    warnings.simplefilter("ignore")
    options = SHORT if short else {}
    with TemporaryDirectory() as folder:
        out = Path(folder) / "audit"
        embedding, study = simulated(words, attributes)
        before = peak()
        seconds = clock(
            lambda: bb.audit(
                embedding, study, out=out, draws=draws, confirm=confirm, progress=False, **options
            )
        )
        files = [path.stat().st_size for path in out.rglob("*") if path.is_file()]
        return {
            "rows": words * attributes,
            "seconds": seconds,
            "memory": peak() - before,
            "report": (out / "report.html").stat().st_size / 1e6,
            "folder": sum(files) / 1e6,
        }


def simulated(words: int, attributes: int) -> tuple[bb.Embedding, bb.Study]:
    """Return an embedding in which groups lean to their stereotypes, and the study of them."""
    rng = np.random.default_rng(1)
    axes = rng.standard_normal((GROUPS, DIMENSIONS))
    per_list = attributes // (GROUPS + 2)
    names: list[str] = []
    vectors = []

    def add(name: str, n: int, centre: np.ndarray | float = 0.0) -> list[str]:
        own = [f"{name}x{i}" for i in range(n)]
        names.extend(own)
        vectors.append(rng.standard_normal((n, DIMENSIONS)) + centre)
        return own

    groups = {f"g{i}": add(f"p{i}", words // GROUPS, 0.5 * axes[i]) for i in range(GROUPS)}
    stereotypes = {f"g{i}": add(f"s{i}", per_list, 0.3 * axes[i]) for i in range(GROUPS)}
    controls = {
        "human": add("human", per_list),
        "neutral": add("neutral", attributes - (GROUPS + 1) * per_list),
    }
    add("other", OTHER_WORDS)
    embedding = bb.Embedding(names, np.concatenate(vectors).astype(np.float32), "simulated")
    return embedding, bb.Study("large", groups, stereotypes, controls)


if __name__ == "__main__":
    if "--one" in sys.argv:
        _, _, *numbers = sys.argv
        words, attributes, draws, confirm, short = map(int, numbers)
        print(json.dumps(measure(words, attributes, draws, bool(confirm), bool(short))))
    else:
        alone(records)
