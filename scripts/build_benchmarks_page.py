"""Fill the page about speed from a file of results: ``python scripts/build_benchmarks_page.py``.

The results are those of ``benchmarks/run.py --json benchmarks/results.json``.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.ticker import NullLocator
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
from growth import HEAD as GROWTH_HEAD
from measuring import HEAD, NOT_INSTALLED, Growth, Record, cells, growth_cells
from run import MODULES

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results.json"
PAGE = ROOT / "docs" / "benchmarks.md"
PICTURE = ROOT / "docs" / "benchmarks-growth.png"


def main() -> None:
    """Fill the page and draw the figure."""
    content = json.loads(RESULTS.read_text("utf-8"))
    PAGE.write_text(filled(PAGE.read_text("utf-8"), content), "utf-8")
    draw(read(content)[1])


def read(content: dict[str, Any]) -> tuple[list[Record], list[Growth]]:
    """Return the records and the growths of a file."""
    records, growths = [], []
    for name, rows in content["benchmarks"].items():
        for row in rows:
            given: dict[str, Any] = {
                key: tuple(x) if isinstance(x, list) else x for key, x in row.items()
            }
            if name == "growth":
                growths.append(Growth(**given))
            else:
                records.append(Record(**given))
    return records, growths


def filled(page: str, content: dict[str, Any]) -> str:
    """Return the text of the page with everything that depends on the results."""
    records, growths = read(content)
    notes = dict.fromkeys(
        f"- {', '.join(filter(None, [r.work, r.size, r.peer]))}: {r.note}."
        for r in records
        if r.note
    )
    parts = {
        "machine": machine(content),
        "table": markdown([HEAD, *map(cells, records)]),
        "notes": "\n".join(notes),
        "slower": slower(records),
        "growth": markdown([GROWTH_HEAD, *map(growth_cells, growths)]),
    }
    for name, text in parts.items():
        start = f"<!-- fill: {name} -->\n"
        before, found, rest = page.partition(start)
        _, end, after = rest.partition("<!-- end -->")
        if not (found and end):
            raise ValueError(f"{PAGE} has no place for {name!r}.")
        page = f"{before}{start}{text}\n{end}{after}"
    return page


def machine(content: dict[str, Any]) -> str:
    """Return where and with what it was measured."""
    versions = ", ".join(f"{name} {version}" for name, version in content["versions"].items())
    busy = content["load"] >= 1
    missing = [name for name in MODULES if name not in content["benchmarks"]]
    return (
        f"Measured on {content['date']} with {content['cores']} cores of {content['processor']}"
        + (f", with other work on it (load {content['load']}): ratios" if busy else ": ratios")
        + " are more reliable than times.\n"
        f"Python {content['python']}, {versions}."
        # Of results that were put together by hand; the runner writes none.
        + (f"\n{content['note']}" if "note" in content else "")
        + (f"\nNot measured this time: {', '.join(missing)}." if missing else "")
    )


def slower(records: Sequence[Record]) -> str:
    """Return where a peer is faster, and which peers were missing."""
    names = [
        f"{r.work} ({r.size}; {r.peer}, ratio {r.ratio:.2f})"
        for r in records
        if r.ratio is not None and r.ratio < 1
    ]
    missing = sorted({r.peer for r in records if r.peer and not r.theirs})
    text = f"Peers are faster here: {'; '.join(names)}." if names else "No peer was faster."
    return text + (f" Peers that were {NOT_INSTALLED}: {', '.join(missing)}." if missing else "")


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return a table of a page."""
    marked = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(row)} |" for row in marked)


def draw(growths: Sequence[Growth]) -> None:
    """Draw seconds by size, one panel for each kind of size, with a slope of 1 for comparison."""
    mpl.use("Agg")
    axes_of = list(dict.fromkeys(growth.axis for growth in growths))
    columns = 3
    figure, panels = plt.subplots(
        -(-len(axes_of) // columns), columns, figsize=(11, 6.2), layout="constrained", squeeze=False
    )
    for panel in panels.flat[len(axes_of) :]:
        panel.set_visible(False)
    for panel, axis in zip(panels.flat, axes_of, strict=False):
        mine = [growth for growth in growths if growth.axis == axis]
        for growth, mark in zip(mine, cycle("osD^v")):
            slope, error = growth.exponent()
            label = f"{growth.work}: {slope:.2f} ± {error:.2f}"
            panel.plot(growth.sizes, growth.seconds, marker=mark, ms=4, lw=1.2, label=label)
        sizes = mine[0].sizes
        low = min(growth.seconds[0] for growth in mine) / 2
        line = [low * size / sizes[0] for size in sizes]
        panel.plot(sizes, line, color="0.6", ls="--", lw=1, label="linear")
        panel.set(xscale="log", yscale="log", xlabel=axis, ylabel="seconds")
        panel.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=8)
        panel.xaxis.set_minor_locator(NullLocator())
        panel.legend(fontsize=7, frameon=False, loc="lower left", bbox_to_anchor=(0, 1))
        panel.spines[["top", "right"]].set_visible(False)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=110, facecolor="white")
    plt.close(figure)
    Image.open(drawn).convert("RGB").quantize(64).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
