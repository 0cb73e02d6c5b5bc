"""Many queries, metrics and embeddings at once: tables of scores, and rankings of embeddings."""

from bayesbias.rankings.rank_posterior import RankPosterior, rank_posterior
from bayesbias.rankings.ranking import rank, rank_correlations
from bayesbias.rankings.run_queries import query_scores, run_queries

__all__ = [
    "RankPosterior",
    "query_scores",
    "rank",
    "rank_correlations",
    "rank_posterior",
    "run_queries",
]
