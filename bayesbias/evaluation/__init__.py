"""Many queries, metrics and embeddings at once: tables, rankings, before and after debiasing."""

from bayesbias.evaluation.before_after import BeforeAfter, before_after
from bayesbias.evaluation.planted import planted_embedding
from bayesbias.evaluation.quality import neighbour_drift, word_analogies, word_similarity
from bayesbias.evaluation.queries import query_scores, run_queries
from bayesbias.evaluation.rank_uncertainty import RankPosterior, rank_posterior
from bayesbias.evaluation.ranking import rank, rank_correlations
from bayesbias.evaluation.silhouettes import Silhouettes, silhouettes

__all__ = [
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
]
