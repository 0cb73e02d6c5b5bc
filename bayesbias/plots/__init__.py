"""Figures: functions that take a result and an optional Axes, and return the Axes."""

from bayesbias.plots.distances import plot_distances

__all__ = ["plot_distances"]
