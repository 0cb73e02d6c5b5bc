"""What tests of figures share: results made by hand, and a look at what was drawn."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.text import Text
from scipy.stats import norm
from simulated import simulated_table

import bayesbias as bb
from bayesbias.models.model_data import dataset, model_data, prepare_table

__all__ = [
    "assert_apart",
    "ends",
    "grown",
    "handmade",
    "marks",
    "names",
    "ranked",
    "simulated_table",
]


def handmade(
    table: pd.DataFrame,
    model: str | bb.models.ModelSpec = "crossed",
    *,
    draws: int = 60,
    seed: int = 0,
) -> bb.models.Fit:
    """A fit whose posterior is not sampled but invented, so that it costs nothing."""
    spec = bb.load_model(model)
    rows = prepare_table(table)
    data = model_data(spec, rows)
    rng = np.random.default_rng(seed)
    values = {}
    for p in spec.parameters:
        size = int(np.prod(data.shape(p.by), dtype=int))
        if p.prior.is_positive:
            values[p.name] = rng.uniform(0.05, 0.1, (draws, size))
        else:
            centre = 0.9 if p.name in ("m", "bar", "theta", "centre") else 0.0
            values[p.name] = rng.normal(centre, 0.1, size) + rng.normal(0, 0.04, (draws, size))
    provenance = {"engine": "exact", "seed": seed, "table_sha256": ""}
    return bb.models.Fit(spec, rows, dataset(spec, data, values, 1), xr.Dataset(), provenance)


def ranked(
    *, spread: float = 1.0, parameters: bool = True, tables: int = 60
) -> bb.models.Calibration:
    """A calibration nobody ran: posteriors as wide as they should be, or `spread` times so."""
    rng = np.random.default_rng(3)
    names = [("associated - none", "all", ""), ("associated - human", "all", "")]
    names += [("associated - none", "protected_group", group) for group in ("one", "two")]
    names += [("associated - none", "protected_word", word) for word in "abcd"]
    if parameters:
        names += [("tau", "parameter", ""), ("s[none]", "parameter", "")]
    parts = []
    for quantity, level, name in names:
        z = rng.normal(size=tables) / spread
        columns = {"simulation": np.arange(tables), "quantity": quantity, "level": level,
                   "name": name, "truth": 0.0, "rank": (norm.cdf(z) * 99).astype(int),
                   "pit": norm.cdf(z), "lower": z - 1.6, "upper": z + 1.6}  # fmt: skip
        parts.append(pd.DataFrame(columns))
    model = {"name": "made"}
    settings = {"model": model, "truth_model": model, "truth": "prior", "engine": "exact",
                "prob": 0.89}  # fmt: skip
    return bb.models.Calibration(pd.concat(parts, ignore_index=True), settings)


def grown(
    embeddings: Iterable[str],
    *,
    metric: str = "weat_es",
    sizes: int = 12,
    seed: int = 0,
    noise: float = 1.0,
) -> bb.silhouette_analysis.Silhouettes:
    """Silhouettes whose values nobody measured; they need not keep to the range of the metric."""
    labels = tuple(embeddings)
    rng = np.random.default_rng(seed)
    spread = noise * np.linspace(1, 0, sizes) / 4
    levels = rng.normal(0, 1 / 3, (len(labels), 1, 1))
    return bb.silhouette_analysis.Silhouettes(
        metric=metric,
        query=bb.load_query("weat_7"),
        side="targets",
        embeddings=labels,
        values=levels + spread * rng.normal(size=(len(labels), 25, sizes)),
        counts=2 + np.arange(sizes)[:, None].repeat(2, axis=1),
        value_range=(-2.0, 2.0),
        neutral_value=0.0,
        prob=0.89,
        growth="proportional",
        seed=seed,
        dropped=(),
        lists=(),
    )


def without_bias(*nulls: str, observed: float = 1.5) -> bb.rankings.NullDistribution:
    """A null distribution of normal numbers."""
    rng = np.random.default_rng(3)
    draws = {name: rng.normal(0, 0.5 + i, 400) for i, name in enumerate(nulls)}
    return bb.rankings.NullDistribution(
        metric="weat_es",
        query="a and b wrt c and d",
        embedding="old",
        observed=observed,
        draws=draws,
        exact=dict.fromkeys(draws, False),
        skipped={},
        neutral_value=0.0,
        value_range=(-2.0, 2.0),
    )


def names(ax: Axes) -> list[str]:
    """What is written beside the rows."""
    return [label.get_text() for label in ax.get_yticklabels()]


def marks(ax: Axes, color: str | None = None) -> np.ndarray:
    """The places of all marks, or of those of a colour."""
    found = [
        np.asarray(c.get_offsets())
        for c in ax.collections
        if isinstance(c, PathCollection)
        and (color is None or to_hex(c.get_facecolor()[0]) == color.lower())
    ]
    return np.concatenate(found)


def ends(ax: Axes, color: str | None = None) -> np.ndarray:
    """The two ends of all lines of intervals, or of those of a colour."""
    found = [
        np.reshape([s[:, 0] for s in c.get_segments() if len(s)], (-1, 2))  # without gaps
        for c in ax.collections
        if isinstance(c, LineCollection)
        and (color is None or to_hex(c.get_color()[0]) == color.lower())
    ]
    return np.concatenate(found)


def assert_apart(ax: Axes, texts: Iterable[Text] = ()) -> None:
    """No label, number or legend hides another, and none is cut off by the edge of the figure."""
    ax.figure.canvas.draw()
    low, high = sorted(ax.get_xlim())
    ticks = [
        label
        for tick in ax.xaxis.get_major_ticks()
        for label in (tick.label1, tick.label2)
        if label.get_visible() and low <= tick.get_loc() <= high
    ]
    legend = ax.get_legend()
    every = [*ax.get_yticklabels(), *ticks, *ax.texts, *texts, ax.xaxis.label]
    every = [text for text in every if text.get_text().strip()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in every]
    if legend is not None:
        boxes.append(("the legend", legend.get_window_extent()))
    whole = ax.figure.bbox
    for i, (text, box) in enumerate(boxes):
        for other, place in boxes[i + 1 :]:
            # Half a pixel is rounding.
            wide = min(box.x1, place.x1) - max(box.x0, place.x0)
            high_ = min(box.y1, place.y1) - max(box.y0, place.y0)
            assert min(wide, high_) <= 0.5, f"{text!r} and {other!r} overlap"
        assert whole.x0 - 0.5 <= box.x0, f"{text!r} is cut off at the left"
        assert box.x1 <= whole.x1 + 0.5, f"{text!r} is cut off at the right"
        assert whole.y0 - 0.5 <= box.y0, f"{text!r} is cut off at the bottom"
        assert box.y1 <= whole.y1 + 0.5, f"{text!r} is cut off at the top"
