"""A metric, a debiasing method, a model and a file format, as a package adds them to bayesbias."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import bayesbias as bb

NOT_A_METRIC = 3
#: The path of a model file that the package brings along.
ONE_LEVEL = Path(__file__).with_name("one_level.toml")


class NearestGap(bb.metrics.Metric):
    """How much closer the nearest words of the first targets are to each attribute."""

    name = "nearest_gap"
    template = (2, 1)
    value_range = (-2.0, 2.0)
    neutral_value = 0.0
    orientation = "above 0: attributes have nearer words among the first targets"

    def value(self, targets: Any, attributes: Any) -> float:
        """Return the mean difference of the largest cosines."""
        first, second = (np.max(t.unit @ attributes[0].unit.T, axis=0) for t in targets)
        return float(np.mean(first - second))


@dataclass(eq=False, repr=False)
class Centring(bb.debias.Debiaser):
    """Subtract the mean of some words from all vectors."""

    name: ClassVar[str] = "centring"
    learns_from: ClassVar[Any] = "words"
    default_definition: ClassVar[str | None] = "bolukbasi:gender_specific"
    unit: ClassVar[bool] = False

    def _learn(self, embedding: bb.Embedding, definition: Any) -> None:
        words = [word for word in definition.words if word in embedding]
        self.mean_ = embedding.subset(words).vectors.mean(axis=0)

    def _change(self, vectors: npt.NDArray[Any], rows: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        vectors -= self.mean_
        return vectors


def _read(path: Path) -> tuple[list[str], npt.NDArray[np.float64]]:
    lines = [line.rsplit("|", 1) for line in path.read_text("utf-8").splitlines()]
    return [word for word, _ in lines], np.array([row.split() for _, row in lines], dtype=float)


def _write(embedding: bb.Embedding, path: Path) -> None:
    rows = (" ".join(f"{x:.9g}" for x in row) for row in embedding.vectors)
    lines = (f"{word}|{row}\n" for word, row in zip(embedding.words, rows, strict=True))
    path.write_text("".join(lines), "utf-8")


#: Lines of a word, a bar and numbers.
PAIRS = bb.embeddings.FileFormat("pairs", (".pairs",), _read, _write)
