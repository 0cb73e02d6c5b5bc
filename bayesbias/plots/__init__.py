"""Figures: functions that take a result and an optional Axes, and return the Axes."""

from bayesbias.plots.distances import plot_distances
from bayesbias.plots.priors import plot_priors

__all__ = ["plot_distances", "plot_priors"]
