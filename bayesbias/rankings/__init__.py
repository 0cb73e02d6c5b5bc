"""Many queries, metrics and embeddings at once: tables of scores, and rankings of embeddings."""

# Names that are not in __all__ are for other rooms.
from bayesbias.rankings.common_words import CommonWords as CommonWords
from bayesbias.rankings.common_words import common_words as common_words
from bayesbias.rankings.list_comparison import ListComparison, compare_lists
from bayesbias.rankings.null_distribution import NullDistribution, null_distribution
from bayesbias.rankings.parallel_scores import Queries as Queries
from bayesbias.rankings.parallel_scores import Settings as Settings
from bayesbias.rankings.parallel_scores import as_queries as as_queries
from bayesbias.rankings.parallel_scores import fitting as fitting
from bayesbias.rankings.parallel_scores import measure as measure
from bayesbias.rankings.random_words import random_words as random_words
from bayesbias.rankings.random_words import vectors_of as vectors_of
from bayesbias.rankings.rank_posterior import OverallRankPosterior, RankPosterior, rank_posterior
from bayesbias.rankings.ranking import overall_ranking, rank, rank_correlations
from bayesbias.rankings.run_queries import query_scores, run_queries
from bayesbias.rankings.study_labels import StudyLabels as StudyLabels
from bayesbias.rankings.study_labels import contrast_title as contrast_title
from bayesbias.rankings.study_queries import study_queries as study_queries

__all__ = [
    "ListComparison",
    "NullDistribution",
    "OverallRankPosterior",
    "RankPosterior",
    "compare_lists",
    "null_distribution",
    "overall_ranking",
    "query_scores",
    "rank",
    "rank_correlations",
    "rank_posterior",
    "run_queries",
]
