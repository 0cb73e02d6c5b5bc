"""Many queries, metrics and embeddings at once: tables of scores, rankings, how sure they are."""

from bayesbias.evaluation.queries import query_scores, run_queries
from bayesbias.evaluation.rank_uncertainty import RankPosterior, rank_posterior
from bayesbias.evaluation.ranking import rank, rank_correlations

__all__ = [
    "RankPosterior",
    "query_scores",
    "rank",
    "rank_correlations",
    "rank_posterior",
    "run_queries",
]
