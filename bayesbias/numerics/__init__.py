"""Computations that several rooms share."""
