"""A small audit: its words, its options, and what its folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import bayesbias as bb

#: Quick options; what they leave out has tests of its own.
QUICK: dict[str, Any] = {
    "models": ["baseline", "connection", "hierarchical"],
    "metrics": ["mac", "weat_es"],
    "draws": 100,
    "confirm": False,
    "silhouettes": False,
    "progress": False,
}
#: Quicker still, for what has to do with one part of it.
FAST = QUICK | {"models": "hierarchical", "metrics": "mac"}
GROUPS = {"oak": ["oak", "acorn", "bark"], "fir": ["fir", "cone", "resin"]}
STEREOTYPES = {"oak": ["sturdy", "broad", "old", "calm"], "fir": ["slim", "tall", "dark", "sharp"]}
CONTROLS = {
    "human": [f"human{i}" for i in range(8)],
    "neutral": [f"neutral{i}" for i in range(12)],
}


def forest(name: str = "forest", seed: int = 0, bias: float = 1.2) -> bb.Embedding:
    """An embedding in which the words of a group lean to their stereotypes."""
    rng = np.random.default_rng(seed)
    words, vectors = [], []
    axes = {"oak": rng.standard_normal(20), "fir": rng.standard_normal(20)}
    for lists in (GROUPS, STEREOTYPES):
        for group, own in lists.items():
            words += own
            vectors += [rng.standard_normal(20) + bias * axes[group] for _ in own]
    for own in CONTROLS.values():
        words += own
        vectors += [rng.standard_normal(20) for _ in own]
    others = [f"other{i}" for i in range(1200)]
    return bb.Embedding([*words, *others], [*vectors, *rng.standard_normal((1200, 20))], name)


def sketch(_: object, svg: Path, png: Path, narrow: Path) -> None:
    """Write a figure that is there, but not drawn, which would take most of the time."""
    for path in (svg, narrow):
        path.write_text('<svg viewBox="0 0 1 1" xmlns="http://www.w3.org/2000/svg"/>')
    png.write_bytes(b"")


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def times(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): path.stat().st_mtime_ns
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "audit.json"
    }
