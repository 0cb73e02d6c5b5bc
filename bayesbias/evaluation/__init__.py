"""Many queries, metrics and embeddings at once: tables, rankings, before and after debiasing."""

from bayesbias.evaluation.before_after import BeforeAfter, before_after
from bayesbias.evaluation.quality import neighbour_drift, word_analogies, word_similarity
from bayesbias.evaluation.queries import query_scores, run_queries
from bayesbias.evaluation.rank_uncertainty import RankPosterior, rank_posterior
from bayesbias.evaluation.ranking import rank, rank_correlations

__all__ = [
    "BeforeAfter",
    "RankPosterior",
    "before_after",
    "neighbour_drift",
    "query_scores",
    "rank",
    "rank_correlations",
    "rank_posterior",
    "run_queries",
    "word_analogies",
    "word_similarity",
]
