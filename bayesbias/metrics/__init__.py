"""Metrics: one class each, one registry."""

# Names that are not in __all__ are for other rooms.
from bayesbias.metrics.analogies import analogies, complete_analogy
from bayesbias.metrics.base import Metric
from bayesbias.metrics.biased_word_map import map_biased_words
from bayesbias.metrics.direct_bias import DirectBias, IndirectBias
from bayesbias.metrics.ect import ECT
from bayesbias.metrics.factual_association import (
    FactualAssociation,
    factual_association,
    load_occupations,
)
from bayesbias.metrics.generalized_weat import GeneralizedWEAT
from bayesbias.metrics.mac import MAC
from bayesbias.metrics.mac_shares import mac_band as mac_band
from bayesbias.metrics.mac_shares import shares_beyond_mac
from bayesbias.metrics.measurement import Measurement
from bayesbias.metrics.nas import NAS
from bayesbias.metrics.neighbourhood import Neighbourhood
from bayesbias.metrics.nested_subsets import NestedSubsets
from bayesbias.metrics.permutations import TESTS as TESTS
from bayesbias.metrics.permutations import NullDraws as NullDraws
from bayesbias.metrics.permutations import Test as Test
from bayesbias.metrics.pmi_bias import PMIBias, pmi_bias
from bayesbias.metrics.pmn import PMN
from bayesbias.metrics.preaveraged_test import preaveraged_t_test
from bayesbias.metrics.projection_extremes import ProjectionExtremes, extreme_projections
from bayesbias.metrics.proximity import GIPE, ProximityBias
from bayesbias.metrics.query_vectors import WordVectors
from bayesbias.metrics.query_vectors import as_query as as_query
from bayesbias.metrics.query_vectors import gather as gather
from bayesbias.metrics.registry import METRICS
from bayesbias.metrics.registry import MetricLike as MetricLike
from bayesbias.metrics.registry import as_metrics as as_metrics
from bayesbias.metrics.residual_bias import ClassificationTest, ClusterTest
from bayesbias.metrics.ripa import RIPA
from bayesbias.metrics.rnd import RND
from bayesbias.metrics.rnsb import RNSB, RNSBGroups
from bayesbias.metrics.same import SAME
from bayesbias.metrics.score import Score
from bayesbias.metrics.semaxis import SemAxis
from bayesbias.metrics.sembias_items import SemBias, sembias
from bayesbias.metrics.weat import WEAT, WEATEffectSize, max_effect_size
from bayesbias.metrics.weighting import cosines as cosines
from bayesbias.metrics.weighting import ones as ones
from bayesbias.metrics.word_projections import ProjectionAxis as ProjectionAxis
from bayesbias.metrics.word_projections import project_words
from bayesbias.metrics.word_projections import projection_direction as projection_direction

__all__ = [
    "ECT",
    "GIPE",
    "MAC",
    "METRICS",
    "NAS",
    "PMN",
    "RIPA",
    "RND",
    "RNSB",
    "SAME",
    "WEAT",
    "ClassificationTest",
    "ClusterTest",
    "DirectBias",
    "FactualAssociation",
    "GeneralizedWEAT",
    "IndirectBias",
    "Measurement",
    "Metric",
    "Neighbourhood",
    "NestedSubsets",
    "PMIBias",
    "ProjectionExtremes",
    "ProximityBias",
    "RNSBGroups",
    "Score",
    "SemAxis",
    "SemBias",
    "WEATEffectSize",
    "WordVectors",
    "analogies",
    "complete_analogy",
    "extreme_projections",
    "factual_association",
    "load_occupations",
    "map_biased_words",
    "max_effect_size",
    "pmi_bias",
    "preaveraged_t_test",
    "project_words",
    "sembias",
    "shares_beyond_mac",
]
