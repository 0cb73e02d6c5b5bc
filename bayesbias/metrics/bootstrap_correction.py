"""Draws of a bootstrap, corrected for its bias and for short lists; or why there is no interval.

A bootstrap resamples lists that are themselves samples, so its draws are noisier than lists are.
Metrics that cannot be negative, correlations and effect sizes are therefore shifted in the draws,
in the worst case so far that the value itself lies outside. And the draws of short lists vary too
little. Both are corrected here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias.numerics.intervals import centred

# Draws whose median is farther from the value than this many of their standard deviations are draws
# of something else: no shift makes an interval of them.
_MOST_BIAS = 2.0
# Less than this, relative to the value, is rounding.
_ROUNDING = 1e-9


def corrected(
    draws: Array,
    value: float,
    lengths: Sequence[int],
    bounds: tuple[float, float],
    *,
    jackknife: float = 0.0,
    whole: bool = False,
) -> Array:
    """Return draws whose median is the value, and whose spread is that of samples of words.

    Parameters
    ----------
    draws : ndarray
        Draws of a bootstrap; NaN where the metric is not defined.
    value : float
        The value for the lists as they are.
    lengths : sequence of int
        How many words, or pairs, the lists have that are resampled.
    bounds : tuple of two float
        The smallest and the largest value possible.
    jackknife : float, default 0.0
        The standard error by the jackknife; the draws vary at least as much.
    whole : bool, default False
        Whether the bootstrap is the ordinary one, and not the Bayesian.

    Returns
    -------
    ndarray
        The corrected draws, in the same order.

    Notes
    -----
    With variance s² (divided by n) of n words, the mean of the words has the squared standard error
    s² / (n − 1); a Bayesian bootstrap gives s² / (n + 1), an ordinary one s² / n. The draws are
    stretched by the root of the ratio, and once more as a t distribution is wider than a normal
    one: √((f + 1) / (f − 1)) for f degrees of freedom is the ratio of their 89% intervals to within
    3 percent. Lists of several lengths are combined as if their words varied equally.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesbias.metrics.bootstrap_correction import corrected
    >>> draws = corrected(np.array([0.3, 0.4, 0.5]), 0.2, [8, 8], (0.0, 1.0))
    >>> [round(float(draw), 3) for draw in draws]
    [0.078, 0.2, 0.322]
    """
    finite = draws[np.isfinite(draws)]
    spread = float(finite.std())
    short, tail = _stretching(lengths, whole)
    stretch = tail * max(short, jackknife / spread if spread > 0 else 0.0)
    low, high = (
        pick(bound, value, pick(finite)) for pick, bound in zip((min, max), bounds, strict=True)
    )
    return np.clip(centred(draws, value, stretch), low, high)


def _stretching(lengths: Sequence[int], whole: bool) -> tuple[float, float]:
    """Return how much too little draws of short lists vary, and how much wider tails are."""
    n = np.array([length for length in lengths if length > 1], dtype=np.float64)
    if not len(n):
        return 1.0, 1.0
    error = 1 / (n - 1)
    short = float(np.sqrt(error.sum() / (1 / (n if whole else n + 1)).sum()))
    freedom = max(float(error.sum() ** 2 / (error**3).sum()), 2.0)
    return short, float(np.sqrt((freedom + 1) / (freedom - 1)))


def jackknife_error(without: Array, lists: Sequence[int] | Codes) -> float:
    """Return the standard error by the jackknife.

    Parameters
    ----------
    without : ndarray
        The values without each word in turn; NaN where there is none.
    lists : sequence of int
        Which list the word is of.

    Returns
    -------
    float
        The standard error; lists of one word add nothing to it.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesbias.metrics.bootstrap_correction import jackknife_error
    >>> words = np.array([1.0, 2.0, 6.0])
    >>> without = (words.sum() - words) / 2
    >>> round(jackknife_error(without, [0, 0, 0]), 3), round(float(words.std(ddof=1)) / 3**0.5, 3)
    (1.528, 1.528)
    """
    places = np.asarray(lists)
    squares = 0.0
    for place in np.unique(places):
        values = without[(places == place) & np.isfinite(without)]
        if len(values) > 1:
            squares += (len(values) - 1) * float(values.var())
    return float(np.sqrt(squares))


def why_no_interval(draws: Array, value: float) -> str | None:
    """Return why draws make no interval of a value, or None if they do.

    Parameters
    ----------
    draws : ndarray
        Draws of a bootstrap, before they are corrected.
    value : float
        The value for the lists as they are.

    Returns
    -------
    str or None
        The reason, in a clause.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesbias.metrics.bootstrap_correction import why_no_interval
    >>> why_no_interval(np.array([0.8, 0.9, 1.0]), 0.5)
    'other weights of the words move the value from 0.5 to about 0.9, more than a correction allows'
    """
    finite = draws[np.isfinite(draws)]
    if len(finite) < max(2, len(draws) / 2):
        return f"the value is defined for {len(finite)} of {len(draws)} draws of the words only"
    equal = np.abs(finite - value) <= _ROUNDING * max(abs(value), 1.0)
    if equal.all():
        return "all draws of the words give the same value, so they do not show how uncertain it is"
    if 2 * equal.sum() >= len(finite):
        return (
            "most draws of the words give the same value, so they do not show how uncertain it is"
        )
    middle = float(np.median(finite))
    if abs(middle - value) > _MOST_BIAS * max(float(finite.std()), _ROUNDING):
        return (
            f"other weights of the words move the value from {value:.2g} to about {middle:.2g}, "
            "more than a correction allows"
        )
    return None
