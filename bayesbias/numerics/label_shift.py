"""Probabilities of groups that are rarer, or more frequent, than where they were learnt."""

from __future__ import annotations

import numpy as np

from bayesbias._core.array_types import Array

# The change of the shares that ends the iteration, and the most iterations.
_TOLERANCE = 1e-7
_ITERATIONS = 2000


def with_prior(probabilities: Array, prior: Array, learnt_with: Array) -> Array:
    """Return probabilities for groups of other shares than those they were learnt with.

    Bayes' rule: each column is multiplied by the ratio of the shares, and rows add up to one again.
    """
    weighted = probabilities * (np.asarray(prior) / np.asarray(learnt_with))
    result: Array = weighted / weighted.sum(axis=1, keepdims=True)
    return result


def estimate_prior(probabilities: Array, learnt_with: Array) -> Array:
    """Return the shares of the groups among items of which only probabilities are known.

    The EM algorithm of Saerens, Latinne & Decaestecker (2002): the maximum of the likelihood if the
    items of a group look the same here as where the probabilities were learnt.

    Parameters
    ----------
    probabilities : ndarray of shape (n_items, n_groups)
        Probabilities that hold for groups with the shares `learnt_with`.
    learnt_with : ndarray of shape (n_groups,)
        Those shares.

    Returns
    -------
    ndarray of shape (n_groups,)
        The shares, which add up to one.
    """
    start = np.asarray(learnt_with, dtype=np.float64)
    ratios = np.asarray(probabilities, dtype=np.float64) / start
    prior = start / start.sum()
    for _ in range(_ITERATIONS):
        # The mean of the probabilities under the shares so far.
        new = prior * (ratios / (ratios @ prior)[:, None]).mean(axis=0)
        done = np.abs(new - prior).max() < _TOLERANCE
        prior = new
        if done:
            break
    result: Array = prior / prior.sum()
    return result
