"""Social bias in word embeddings, measured with its uncertainty.

Everything public is reachable from here; it is imported when it is first used, so that
``import bayesbias`` and the command line's ``--help`` are quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesbias.auditing import Audit as Audit
    from bayesbias.auditing import audit as audit
    from bayesbias.corpus import Corpus as Corpus
    from bayesbias.corpus import read_corpus as read_corpus
    from bayesbias.corpus import tag_words as tag_words
    from bayesbias.corpus import train_embedding as train_embedding
    from bayesbias.corpus import train_replicates as train_replicates
    from bayesbias.debias import DEBIASERS as DEBIASERS
    from bayesbias.debias import INLP as INLP
    from bayesbias.debias import LEACE as LEACE
    from bayesbias.debias import Debiaser as Debiaser
    from bayesbias.debias import DoubleHardDebias as DoubleHardDebias
    from bayesbias.debias import HalfSiblingRegression as HalfSiblingRegression
    from bayesbias.debias import HardDebias as HardDebias
    from bayesbias.debias import MulticlassHardDebias as MulticlassHardDebias
    from bayesbias.debias import Projection as Projection
    from bayesbias.debias import (
        RepulsionAttractionNeutralization as RepulsionAttractionNeutralization,
    )
    from bayesbias.debias import SoftDebias as SoftDebias
    from bayesbias.embeddings import Embedding as Embedding
    from bayesbias.embeddings import Lookup as Lookup
    from bayesbias.embeddings import load_embedding as load_embedding
    from bayesbias.errors import BayesBiasError as BayesBiasError
    from bayesbias.errors import BayesBiasWarning as BayesBiasWarning
    from bayesbias.errors import DataError as DataError
    from bayesbias.errors import EngineError as EngineError
    from bayesbias.errors import MissingDependencyError as MissingDependencyError
    from bayesbias.errors import NotFittedError as NotFittedError
    from bayesbias.errors import NotFoundError as NotFoundError
    from bayesbias.errors import SpecError as SpecError
    from bayesbias.errors import VocabularyError as VocabularyError
    from bayesbias.evaluation import BeforeAfter as BeforeAfter
    from bayesbias.evaluation import RankPosterior as RankPosterior
    from bayesbias.evaluation import Silhouettes as Silhouettes
    from bayesbias.evaluation import before_after as before_after
    from bayesbias.evaluation import neighbour_drift as neighbour_drift
    from bayesbias.evaluation import planted_embedding as planted_embedding
    from bayesbias.evaluation import query_scores as query_scores
    from bayesbias.evaluation import rank as rank
    from bayesbias.evaluation import rank_correlations as rank_correlations
    from bayesbias.evaluation import rank_posterior as rank_posterior
    from bayesbias.evaluation import run_queries as run_queries
    from bayesbias.evaluation import silhouettes as silhouettes
    from bayesbias.evaluation import word_analogies as word_analogies
    from bayesbias.evaluation import word_similarity as word_similarity
    from bayesbias.gaps import decompose_gaps as decompose_gaps
    from bayesbias.inference import MODELS as MODELS
    from bayesbias.inference import Calibration as Calibration
    from bayesbias.inference import Diagnostics as Diagnostics
    from bayesbias.inference import Elpd as Elpd
    from bayesbias.inference import Fit as Fit
    from bayesbias.inference import ModelSpec as ModelSpec
    from bayesbias.inference import Overview as Overview
    from bayesbias.inference import PairedFit as PairedFit
    from bayesbias.inference import Plan as Plan
    from bayesbias.inference import calibrate as calibrate
    from bayesbias.inference import compare as compare
    from bayesbias.inference import fit as fit
    from bayesbias.inference import fit_paired as fit_paired
    from bayesbias.inference import load_fit as load_fit
    from bayesbias.inference import load_model as load_model
    from bayesbias.inference import overview as overview
    from bayesbias.inference import plan_sample_size as plan_sample_size
    from bayesbias.inference import prior_draws as prior_draws
    from bayesbias.inference import t_contrasts as t_contrasts
    from bayesbias.metrics import ECT as ECT
    from bayesbias.metrics import GIPE as GIPE
    from bayesbias.metrics import MAC as MAC
    from bayesbias.metrics import METRICS as METRICS
    from bayesbias.metrics import NAS as NAS
    from bayesbias.metrics import RIPA as RIPA
    from bayesbias.metrics import RND as RND
    from bayesbias.metrics import RNSB as RNSB
    from bayesbias.metrics import SAME as SAME
    from bayesbias.metrics import WEAT as WEAT
    from bayesbias.metrics import ClassificationTest as ClassificationTest
    from bayesbias.metrics import ClusterTest as ClusterTest
    from bayesbias.metrics import DirectBias as DirectBias
    from bayesbias.metrics import GeneralizedWEAT as GeneralizedWEAT
    from bayesbias.metrics import IndirectBias as IndirectBias
    from bayesbias.metrics import Metric as Metric
    from bayesbias.metrics import Neighbourhood as Neighbourhood
    from bayesbias.metrics import ProximityBias as ProximityBias
    from bayesbias.metrics import RNSBGroups as RNSBGroups
    from bayesbias.metrics import Score as Score
    from bayesbias.metrics import SemAxis as SemAxis
    from bayesbias.metrics import WEATEffectSize as WEATEffectSize
    from bayesbias.metrics import WordVectors as WordVectors
    from bayesbias.metrics import analogies as analogies
    from bayesbias.metrics import complete_analogy as complete_analogy
    from bayesbias.plots import plot_before_after as plot_before_after
    from bayesbias.plots import plot_calibration as plot_calibration
    from bayesbias.plots import plot_coefficients as plot_coefficients
    from bayesbias.plots import plot_comparison as plot_comparison
    from bayesbias.plots import plot_distances as plot_distances
    from bayesbias.plots import plot_influence as plot_influence
    from bayesbias.plots import plot_means as plot_means
    from bayesbias.plots import plot_predictive_check as plot_predictive_check
    from bayesbias.plots import plot_priors as plot_priors
    from bayesbias.plots import plot_rank_correlations as plot_rank_correlations
    from bayesbias.plots import plot_rank_probabilities as plot_rank_probabilities
    from bayesbias.plots import plot_scores as plot_scores
    from bayesbias.plots import plot_silhouette_grid as plot_silhouette_grid
    from bayesbias.plots import plot_silhouettes as plot_silhouettes
    from bayesbias.plots import plot_word as plot_word
    from bayesbias.table import check_table as check_table
    from bayesbias.table import distance_table as distance_table
    from bayesbias.table import read_table as read_table
    from bayesbias.table import write_table as write_table
    from bayesbias.words import BuiltLists as BuiltLists
    from bayesbias.words import GroupClassifier as GroupClassifier
    from bayesbias.words import MatchedStudy as MatchedStudy
    from bayesbias.words import Query as Query
    from bayesbias.words import Study as Study
    from bayesbias.words import WordCheck as WordCheck
    from bayesbias.words import WordSet as WordSet
    from bayesbias.words import build_lists as build_lists
    from bayesbias.words import check_words as check_words
    from bayesbias.words import load_labelled as load_labelled
    from bayesbias.words import load_query as load_query
    from bayesbias.words import load_study as load_study
    from bayesbias.words import query_set as query_set
    from bayesbias.words import word_sets as word_sets
    from bayesbias.words import word_tuples as word_tuples

__version__ = "0.1.0"

_HOME = {
    "bayesbias.auditing": ("Audit", "audit"),
    "bayesbias.corpus": (
        "Corpus",
        "read_corpus",
        "tag_words",
        "train_embedding",
        "train_replicates",
    ),
    "bayesbias.debias": (
        "DEBIASERS",
        "INLP",
        "LEACE",
        "Debiaser",
        "DoubleHardDebias",
        "HalfSiblingRegression",
        "HardDebias",
        "MulticlassHardDebias",
        "Projection",
        "RepulsionAttractionNeutralization",
        "SoftDebias",
    ),
    "bayesbias.embeddings": ("Embedding", "Lookup", "load_embedding"),
    "bayesbias.errors": (
        "BayesBiasError",
        "BayesBiasWarning",
        "DataError",
        "EngineError",
        "MissingDependencyError",
        "NotFittedError",
        "NotFoundError",
        "SpecError",
        "VocabularyError",
    ),
    "bayesbias.evaluation": (
        "BeforeAfter",
        "RankPosterior",
        "Silhouettes",
        "before_after",
        "neighbour_drift",
        "planted_embedding",
        "query_scores",
        "rank",
        "rank_correlations",
        "rank_posterior",
        "run_queries",
        "silhouettes",
        "word_analogies",
        "word_similarity",
    ),
    "bayesbias.gaps": ("decompose_gaps",),
    "bayesbias.inference": (
        "MODELS",
        "Calibration",
        "Diagnostics",
        "Elpd",
        "Fit",
        "ModelSpec",
        "Overview",
        "PairedFit",
        "Plan",
        "calibrate",
        "compare",
        "fit",
        "fit_paired",
        "load_fit",
        "load_model",
        "overview",
        "plan_sample_size",
        "prior_draws",
        "t_contrasts",
    ),
    "bayesbias.metrics": (
        "METRICS",
        "RND",
        "RNSB",
        "MAC",
        "ECT",
        "RIPA",
        "DirectBias",
        "IndirectBias",
        "NAS",
        "SAME",
        "GeneralizedWEAT",
        "SemAxis",
        "Neighbourhood",
        "ClusterTest",
        "ClassificationTest",
        "ProximityBias",
        "GIPE",
        "analogies",
        "complete_analogy",
        "WEAT",
        "Metric",
        "RNSBGroups",
        "Score",
        "WEATEffectSize",
        "WordVectors",
    ),
    "bayesbias.plots": (
        "plot_before_after",
        "plot_calibration",
        "plot_coefficients",
        "plot_comparison",
        "plot_distances",
        "plot_influence",
        "plot_means",
        "plot_predictive_check",
        "plot_priors",
        "plot_rank_correlations",
        "plot_rank_probabilities",
        "plot_scores",
        "plot_silhouette_grid",
        "plot_silhouettes",
        "plot_word",
    ),
    "bayesbias.table": ("check_table", "distance_table", "read_table", "write_table"),
    "bayesbias.words": (
        "BuiltLists",
        "GroupClassifier",
        "MatchedStudy",
        "Query",
        "Study",
        "WordCheck",
        "WordSet",
        "build_lists",
        "check_words",
        "load_labelled",
        "load_query",
        "load_study",
        "query_set",
        "word_sets",
        "word_tuples",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *sorted(_MODULE_OF)]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'bayesbias' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
