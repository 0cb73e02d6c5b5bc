"""Bias silhouettes: how robust word lists are, and how accurate a metric is with them."""

# Names that are not in __all__ are for other rooms.
from bayesbias.silhouette_analysis.planted_embedding import planted_embedding
from bayesbias.silhouette_analysis.silhouettes import Normalisation as Normalisation
from bayesbias.silhouette_analysis.silhouettes import Side as Side
from bayesbias.silhouette_analysis.silhouettes import Silhouettes, silhouettes
from bayesbias.silhouette_analysis.silhouettes import bracketed as bracketed

__all__ = ["Silhouettes", "planted_embedding", "silhouettes"]
