"""Figures: functions that take a result and an optional Axes, and return the Axes."""

# Names that are not in __all__ are for other rooms.
from bayesbias.plots.before_after_plot import plot_before_after
from bayesbias.plots.by_word_plot import plot_by_word
from bayesbias.plots.calibration_plot import plot_calibration
from bayesbias.plots.coefficients_plot import plot_coefficients
from bayesbias.plots.comparison_plot import plot_comparison
from bayesbias.plots.densities_plot import plot_densities
from bayesbias.plots.dimensionality_plot import plot_dimensionality
from bayesbias.plots.distances_plot import MOST_DOTS as MOST_DOTS
from bayesbias.plots.distances_plot import plot_distances
from bayesbias.plots.embeddings_plot import plot_embeddings as plot_embeddings
from bayesbias.plots.extremes_plot import plot_projection_distribution, plot_projection_extremes
from bayesbias.plots.heat_maps import plot_rank_correlations, plot_rank_probabilities
from bayesbias.plots.influence_plot import plot_influence
from bayesbias.plots.means_plot import plot_means
from bayesbias.plots.model_plot import plot_model
from bayesbias.plots.null_plot import plot_null_distribution
from bayesbias.plots.predictive_plot import PredictedDensities as PredictedDensities
from bayesbias.plots.predictive_plot import draw_predicted as draw_predicted
from bayesbias.plots.predictive_plot import plot_predictive_check
from bayesbias.plots.predictive_plot import predicted_densities as predicted_densities
from bayesbias.plots.priors_plot import plot_priors
from bayesbias.plots.projections_plot import plot_projections
from bayesbias.plots.ranking_plot import plot_ranking
from bayesbias.plots.scores_plot import plot_scores
from bayesbias.plots.silhouettes_plot import (
    plot_silhouette_convergence,
    plot_silhouette_grid,
    plot_silhouettes,
)
from bayesbias.plots.style import CONNECTION_STYLES as CONNECTION_STYLES
from bayesbias.plots.style import narrow_figures as narrow_figures
from bayesbias.plots.word_map_plot import plot_word_map
from bayesbias.plots.word_plot import plot_word

__all__ = [
    "plot_before_after",
    "plot_by_word",
    "plot_calibration",
    "plot_coefficients",
    "plot_comparison",
    "plot_densities",
    "plot_dimensionality",
    "plot_distances",
    "plot_influence",
    "plot_means",
    "plot_model",
    "plot_null_distribution",
    "plot_predictive_check",
    "plot_priors",
    "plot_projection_distribution",
    "plot_projection_extremes",
    "plot_projections",
    "plot_rank_correlations",
    "plot_rank_probabilities",
    "plot_ranking",
    "plot_scores",
    "plot_silhouette_convergence",
    "plot_silhouette_grid",
    "plot_silhouettes",
    "plot_word",
    "plot_word_map",
]
