"""What the rows alone say about each pooled value, roughly: where a sampler should look for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias.models.exact.compiled_model import parent_index
from bayesbias.models.model_data import ModelData
from bayesbias.models.spec import ModelSpec

#: A spread is guessed as if there were this many further outcomes of average spread.
_FEW = 4
#: Of so many outcomes at least, as a share, it is taken that no mean explains them.
_FREE = 0.25
#: With no more than this share of the outcomes' variance, what is left is rounding error.
_NOTHING = 1e-12


class Guess(NamedTuple):
    """A guess of each value of a parameter, and its precision.

    Where no row says anything, that is the mean of the prior, and the precision 0.
    """

    value: Array
    precision: Array


def guess_pooled(spec: ModelSpec, data: ModelData) -> dict[str, Guess]:
    """Return a guess of every parameter that others are part of the prior of.

    The outcomes are explained by means of groups, one term of the model after another; what is left
    over gives their precision. The guesses of ``theta`` are then the outcomes that ``bar`` has to
    explain, and so on upwards.
    """
    guesses: dict[str, Guess] = {}
    # Slopes are left to the sampler.
    terms = {name: data.index(spec[name].by) for name in spec.mean if name not in spec.slopes}
    parts = {name: data.times(spec, name) for name in terms}
    for name in spec.slopes:
        if spec[name].is_pooled:
            shape = data.shape(spec[name].by)
            guesses[name] = Guess(np.full(shape, _location(spec, name)), np.zeros(shape))
    _explain(spec, data, data.y, terms, parts, data.index(spec[spec.scale].by), guesses)
    return guesses


def _explain(
    spec: ModelSpec,
    data: ModelData,
    outcomes: Array,
    terms: Mapping[str, Codes],
    parts: Mapping[str, Array | None],
    scale: Codes,
    guesses: dict[str, Guess],
) -> None:
    """Add the guesses of the terms whose sum the outcomes are, and of what those are pooled by.

    A term that is part of some rows only has a one for those in `parts`.
    """
    one = np.ones(len(outcomes))
    times = {name: one if (part := parts[name]) is None else part for name in terms}
    counts = {
        name: np.bincount(i, times[name], minlength=_size(spec, data, name))
        for name, i in terms.items()
    }
    left = outcomes
    means: dict[str, Array] = {}
    location = {name: _location(spec, name) for name in terms}
    # The terms that are about zero come last, so that another one takes the level of the outcomes.
    for name in sorted(terms, key=lambda name: location[name] == 0):
        index, n = terms[name], counts[name]
        mean = np.bincount(index, left * times[name], len(n)) / np.maximum(n, 1)
        means[name] = np.where(n > 0, mean, location[name])
        left = left - means[name][index] * times[name]
    used = sum(int(np.count_nonzero(n)) for n in counts.values())
    precision = _precision(outcomes, left, scale, used)
    for name, index in terms.items():
        prior = spec[name].prior
        if not spec[name].is_pooled:
            continue
        shape = data.shape(spec[name].by)
        term_precision = np.bincount(index, precision * times[name], len(counts[name])).astype(
            np.float64
        )
        finer = [f for f in terms if set(spec[f].by) > set(spec[name].by)]
        for other in finer:
            # Only the mean of the finer values is known; they count as its outcomes.
            cells = np.unique(np.column_stack([index, terms[other]])[times[name] > 0], axis=0)
            spread = float(np.var(means[other][cells[:, 1]])) + 1e-12
            limit = np.bincount(cells[:, 0], minlength=len(term_precision)) / spread
            term_precision = term_precision * limit / np.maximum(term_precision + limit, 1e-300)
        guesses[name] = Guess(means[name].reshape(shape), term_precision.reshape(shape))
        seen = counts[name] > 0
        parents = {of: parent_index(spec, data, name, of)[seen] for of in prior.parents}
        _explain(
            spec,
            data,
            means[name][seen] - prior.arguments[0],
            {of: parents[of] for of in prior.mean},
            dict.fromkeys(prior.mean),
            parents[prior.sd] if prior.sd else np.zeros(np.count_nonzero(seen), dtype=np.intp),
            guesses,
        )


def _precision(outcomes: Array, left: Array, scale: Codes, used: int) -> Array:
    """Return the precision of each outcome, from what `used` means have left of it."""
    squares = left**2
    if squares.mean() <= _NOTHING * outcomes.var():
        return np.zeros(len(left))
    # A small table has fewer outcomes than means, many of which say the same.
    free = max(len(left) - used, _FREE * len(left))
    # A scale with few outcomes is moved towards the others, so that none is small by chance.
    total = np.bincount(scale, squares) + _FEW * squares.mean()
    variance = total / (np.bincount(scale) + _FEW) * len(left) / free
    result: Array = 1 / variance[scale]
    return result


def _size(spec: ModelSpec, data: ModelData, name: str) -> int:
    return int(np.prod(data.shape(spec[name].by), dtype=int))


def _location(spec: ModelSpec, name: str) -> float:
    """Return the mean of a parameter in the prior."""
    prior = spec[name].prior
    return prior.arguments[0] + sum(_location(spec, of) for of in prior.mean)
