"""Metrics: one class each, one registry."""

from bayesbias.metrics.analogies import analogies, complete_analogy
from bayesbias.metrics.base import Metric
from bayesbias.metrics.direct_bias import DirectBias, IndirectBias
from bayesbias.metrics.ect import ECT
from bayesbias.metrics.generalized_weat import GeneralizedWEAT
from bayesbias.metrics.mac import MAC
from bayesbias.metrics.nas import NAS
from bayesbias.metrics.neighbourhood import Neighbourhood
from bayesbias.metrics.proximity import GIPE, ProximityBias
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.residual_bias import ClassificationTest, ClusterTest
from bayesbias.metrics.ripa import RIPA
from bayesbias.metrics.rnd import RND
from bayesbias.metrics.rnsb import RNSB, RNSBGroups
from bayesbias.metrics.same import SAME
from bayesbias.metrics.score import Score
from bayesbias.metrics.semaxis import SemAxis
from bayesbias.metrics.weat import WEAT, WEATEffectSize

#: Every metric by its name; add a class of your own to use it by name.
METRICS: dict[str, type[Metric]] = {
    metric.name: metric
    for metric in (
        WEAT,
        WEATEffectSize,
        RND,
        RNSB,
        RNSBGroups,
        MAC,
        ECT,
        RIPA,
        DirectBias,
        IndirectBias,
        NAS,
        SAME,
        GeneralizedWEAT,
        SemAxis,
        Neighbourhood,
        ClusterTest,
        ClassificationTest,
        ProximityBias,
        GIPE,
    )
}

__all__ = [
    "ECT",
    "GIPE",
    "MAC",
    "METRICS",
    "NAS",
    "RIPA",
    "RND",
    "RNSB",
    "SAME",
    "WEAT",
    "ClassificationTest",
    "ClusterTest",
    "DirectBias",
    "GeneralizedWEAT",
    "IndirectBias",
    "Metric",
    "Neighbourhood",
    "ProximityBias",
    "RNSBGroups",
    "Score",
    "SemAxis",
    "WEATEffectSize",
    "WordVectors",
    "analogies",
    "complete_analogy",
]
