"""Bias silhouettes: how robust word lists are, and how accurate a metric is with them."""

# Names that are not in __all__ are for other rooms.
from bayesbias.silhouette_analysis.planted_embedding import planted_embedding
from bayesbias.silhouette_analysis.silhouette_sets import SilhouetteSet, run_silhouettes
from bayesbias.silhouette_analysis.silhouette_sets import asked_silhouettes as asked_silhouettes
from bayesbias.silhouette_analysis.silhouette_sets import stacked as stacked
from bayesbias.silhouette_analysis.silhouette_sets import try_all as try_all
from bayesbias.silhouette_analysis.silhouettes import Normalisation as Normalisation
from bayesbias.silhouette_analysis.silhouettes import Side as Side
from bayesbias.silhouette_analysis.silhouettes import Silhouettes, silhouettes
from bayesbias.silhouette_analysis.silhouettes import bracketed as bracketed

__all__ = ["SilhouetteSet", "Silhouettes", "planted_embedding", "run_silhouettes", "silhouettes"]
