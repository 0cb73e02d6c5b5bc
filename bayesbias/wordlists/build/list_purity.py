"""Which share of classified words is in its group, by the errors on words not learnt from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesbias.numerics.intervals import interval

if TYPE_CHECKING:
    from bayesbias.wordlists.build.group_classifier import GroupClassifier

# Draws of the error rates, and the probability of the interval.
_DRAWS, _PROB = 4000, 0.89


class Purity(NamedTuple):
    """The share of classified words that is right, with its 89% interval."""

    share: float
    lower: float
    upper: float


def expected_purity(
    classifier: GroupClassifier, group: str, n_classified: int, n_judged: int, threshold: float
) -> Purity:
    """Return which share of the words that were classified as a group is in it.

    Of the words of the other groups that the classifier had not learnt from, a few were put into
    this one. With the same error rates among the words of the vocabulary, that makes a number of
    false words, and the rest of those that were classified is right. The rates are drawn from
    their posteriors with a uniform prior, so that few words leave a wide interval.

    The mean of the probabilities does not know how many errors there are: it follows the curve of
    the calibration far beyond the words that this was learnt from, and labelled words of a group
    are easier than others. What is assumed here is only that labelled words of the other groups,
    above all the neutral ones, are a fair sample of them.
    """
    rng = np.random.default_rng(0)
    unseen = classifier.unseen_
    chosen = (unseen["predicted"] == group) & (unseen["probability"] >= threshold)
    false = np.zeros(_DRAWS)
    for name, prevalence in classifier.prevalence_.items():
        own = (unseen["group"] == name).to_numpy()
        if name == group or not own.any():
            continue
        errors, number = int((chosen & own).sum()), int(own.sum())
        false += n_judged * prevalence * rng.beta(errors + 1, number - errors + 1, _DRAWS)
    right = 1 - np.clip(false / n_classified, 0, 1)
    lower, upper = interval(right, _PROB, "eti")
    return Purity(float(np.median(right)), float(lower), float(upper))
