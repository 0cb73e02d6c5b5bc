"""Figures: functions that take a result and an optional Axes, and return the Axes."""

from bayesbias.plots.before_after import plot_before_after
from bayesbias.plots.distances import plot_distances
from bayesbias.plots.priors import plot_priors

__all__ = ["plot_before_after", "plot_distances", "plot_priors"]
