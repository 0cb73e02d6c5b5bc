"""Metrics: one class each, one registry."""

from bayesbias.metrics.base import Metric
from bayesbias.metrics.score import Score
from bayesbias.metrics.vectors import WordVectors
from bayesbias.metrics.weat import WEAT, WEATEffectSize

#: Every metric by its name; add a class of your own to use it by name.
METRICS: dict[str, type[Metric]] = {
    metric.name: metric
    for metric in (
        WEAT,
        WEATEffectSize,
    )
}

__all__ = [
    "METRICS",
    "WEAT",
    "Metric",
    "Score",
    "WEATEffectSize",
    "WordVectors",
]
