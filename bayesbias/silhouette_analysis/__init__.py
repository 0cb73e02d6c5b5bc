"""Bias silhouettes: how robust word lists are, and how accurate a metric is with them."""

from bayesbias.silhouette_analysis.planted_embedding import planted_embedding
from bayesbias.silhouette_analysis.silhouettes import Silhouettes, silhouettes

__all__ = ["Silhouettes", "planted_embedding", "silhouettes"]
