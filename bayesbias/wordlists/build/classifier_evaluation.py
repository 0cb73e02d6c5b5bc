"""How good a classifier is, from words it has not learnt from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias._core.array_types import Array, Codes
from bayesbias.numerics.intervals import interval

# Draws of the weights of words, bins of the calibration.
_DRAWS = 4000
_BINS = 10


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What held-out words say of a classifier."""

    table: pd.DataFrame
    confusion: pd.DataFrame
    macro_f1: float
    macro_f1_interval: tuple[float, float]
    brier: float
    calibration_error: float


def evaluate(
    true: Codes,
    probabilities: Array,
    names: Sequence[str],
    lemmas: Sequence[str],
    sure: npt.NDArray[np.bool_],
    rng: np.random.Generator,
) -> Evaluation:
    """Compare the groups of words with their probabilities, those of equally frequent groups."""
    n = len(names)
    predicted = probabilities.argmax(axis=1)
    certain = probabilities.max(axis=1)
    counts = _confusion(true, predicted, np.ones((1, len(true))), n)[0]
    hits, n_true, n_predicted = counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)
    f1 = _f1(counts[None])[0]
    table = pd.DataFrame(
        {
            "group": list(names),
            "precision": _ratio(hits, n_predicted),
            "recall": _ratio(hits, n_true),
            "f1": f1,
            "fpr": _ratio(n_predicted - hits, len(true) - n_true),
            "fnr": _ratio(n_true - hits, n_true),
            "unsure": [float((~sure[true == k]).mean()) for k in range(n)],
            "support": n_true.astype(int),
        }
    )
    # The Bayesian bootstrap over lemmas: forms of one word are no independent evidence.
    units, unit = np.unique(np.asarray(lemmas, dtype=object), return_inverse=True)
    weights = rng.standard_exponential((_DRAWS, len(units)))[:, unit]
    draws = _f1(_confusion(true, predicted, weights, n)).mean(axis=1)
    lower, upper = interval(draws)
    # The probabilities are those of groups that are equally frequent, and so are judged as such.
    balance = (len(true) / n / n_true)[true]
    return Evaluation(
        table,
        pd.DataFrame(
            counts.astype(int),
            index=pd.Index(names, name="group"),
            columns=pd.Index(names, name="predicted"),
        ),
        float(f1.mean()),
        (float(lower), float(upper)),
        brier(true, probabilities, balance),
        calibration_error(certain, predicted == true, balance),
    )


def brier(true: Codes, probabilities: Array, weights: Array) -> float:
    """Return the weighted mean of the squared distances between probabilities and truth."""
    miss = probabilities - np.eye(probabilities.shape[1])[true]
    return float(np.average((miss**2).sum(axis=1), weights=weights))


def calibration_error(certain: Array, right: Array, weights: Array) -> float:
    """Return how far, on average, the share of right answers is from what was promised."""
    place = np.minimum((certain * _BINS).astype(int), _BINS - 1)
    gaps = np.bincount(place, weights=weights * (certain - right), minlength=_BINS)
    return float(np.abs(gaps).sum() / weights.sum())


def _confusion(true: Codes, predicted: Codes, weights: Array, n: int) -> Array:
    """Return draws × true group × predicted group, by weights of draws × words."""
    cells = np.zeros((len(true), n * n))
    cells[np.arange(len(true)), true * n + predicted] = 1
    result: Array = (weights @ cells).reshape(-1, n, n)
    return result


def _f1(counts: Array) -> Array:
    """Return draws × groups: 2 TP / (2 TP + FP + FN)."""
    hits = np.einsum("dkk->dk", counts)
    return _ratio(2 * hits, counts.sum(axis=1) + counts.sum(axis=2))


def _ratio(part: Array, whole: Array) -> Array:
    """Return the ratio; zero where there is nothing, as for a group that is never predicted."""
    result: Array = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return result
