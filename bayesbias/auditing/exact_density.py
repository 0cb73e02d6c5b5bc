"""A fit as the exact engine sees it, and whether its density and draws are those of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array, Codes
from bayesbias.models import Fit
from bayesbias.models.exact import Block, compile_model, parent_index
from bayesbias.models.nuts import LogPosterior

#: At how many exact draws, and at how many points far from them, the densities are compared.
POINTS: dict[str, int] = {"draws": 10, "far": 6}
#: Monte Carlo standard errors that are granted to a difference; the largest of some hundreds is
#: about three.
ERRORS = 3.0
#: How much farther from their mean than the exact draws the chains, and the far points, start.
OVERDISPERSION = 2.0
# Coefficients of all draws that are turned into noise.
_MOST_NOISE = 2_500_000


class ExactFit:
    """The exact engine's view of a fit: unknowns, deviations and blocks.

    The unknowns are the logarithms of the scales. A coefficient that is pooled towards others
    stands for its deviation from them.
    """

    def __init__(self, exact: Fit) -> None:
        self.fit, self.spec, self.data = exact, exact.spec, exact.data
        compiled = compile_model(self.spec, self.data)
        self.layout, self.blocks = compiled.layout, compiled.blocks
        self.values = {p.name: exact.draws(p.name) for p in self.spec.parameters}
        self.unknowns = self._joined(
            self.layout.scales, {name: np.log(self.values[name]) for name in self.layout.scales}
        )
        deviations = {}
        for name in self.layout.coefficients:
            values = np.array(self.values[name], dtype=float).reshape(len(self.unknowns), -1)
            deviations[name] = values - self._pooled_towards(name, self.values)
        self.deviations = self._joined(self.layout.coefficients, deviations)
        used = np.concatenate([block.scales for block in self.blocks])
        # Nothing depends on these: they keep their prior.
        self.unused = np.setdiff1d(np.arange(self.layout.n_scales), used)

    def _joined(self, places: Mapping[str, slice], values: Mapping[str, Array]) -> Array:
        draws = len(next(iter(self.values.values())))
        parts = [values[name].reshape(draws, -1) for name in places]
        return np.concatenate([np.zeros((draws, 0)), *parts], axis=1)

    def _pooled_towards(self, name: str, values: Mapping[str, Array]) -> Array:
        """Return the sum of what the values of a parameter are pooled towards."""
        total = np.zeros((1, 1))
        for parent in self.spec[name].prior.mean:
            index = parent_index(self.spec, self.data, name, parent)
            total = total + values[parent].reshape(len(values[parent]), -1)[:, index]
        return total

    def as_values(self, unknowns: Array, deviations: Array) -> dict[str, Array]:
        """Return draws of each parameter, in its shape."""
        result: dict[str, Array] = {}
        for p in self.spec.parameters:
            if p.name in self.layout.scales:
                values = np.exp(unknowns[:, self.layout.scales[p.name]])
            else:
                values = deviations[:, self.layout.coefficients[p.name]]
                values = values + self._pooled_towards(p.name, result)
            result[p.name] = values.reshape(len(values), *self.data.shape(p.by))
        return result

    def log_density(self, unknowns: Array, deviations: Array) -> Array:
        """Return the log density that the engine draws from, up to a constant."""
        total = np.zeros(len(unknowns))
        for place in self.unused:
            x = unknowns[:, place]
            total += self.layout.priors[place].log_density(np.exp(x)) + x
        for block in self.blocks:
            at = unknowns[:, block.scales]
            total += block.log_density(at)
            for part in batches(block, np.flatnonzero(np.isfinite(total))):
                coefficients = deviations[np.ix_(part, block.coefficients)]
                total[part] += block.whiten(block.solve(at[part]), coefficients)[1]
        return total


def batches(block: Block, places: Codes) -> Iterator[Codes]:
    """Return some of the draws, as many at a time as the block can take."""
    for start in range(0, len(places), block.batch):
        yield places[start : start + block.batch]


def compare_densities(exact: ExactFit, rng: np.random.Generator) -> pd.DataFrame:
    """Compare the engine's log density with the model's, row by row, at draws and far points.

    ``difference`` is that of the two log densities minus its median, ``relative`` the same relative
    to the size of the log density, 1 at least.
    """
    unknowns, deviations = exact.unknowns, exact.deviations
    n_draws, n_far = POINTS["draws"], POINTS["far"]
    picked = rng.choice(len(unknowns), n_draws + n_far, replace=len(unknowns) < n_draws + n_far)
    far = np.arange(len(picked)) >= n_draws
    x, y = unknowns[picked], deviations[picked]
    # Far points have coefficients that do not belong to their scales, too.
    centre = unknowns.mean(axis=0)
    x[far] = centre + OVERDISPERSION * (x[far] - centre)
    for block in exact.blocks:
        x[:, block.scales] = kept_inside(block, x[:, block.scales])
    middle = deviations.mean(axis=0)
    y[far] = middle + OVERDISPERSION * (y[far][::-1] - middle)
    written = LogPosterior(exact.spec, exact.data)(exact.as_values(x, y))
    drawn = exact.log_density(x, y)
    difference = written - drawn
    difference -= np.median(difference[~far])
    return pd.DataFrame(
        {
            "point": np.where(far, "far", "draw"),
            "model": written,
            "engine": drawn,
            "difference": difference,
            "relative": np.abs(difference) / np.maximum(np.abs(written), 1.0),
        }
    )


def kept_inside(block: Block, at: Array) -> Array:
    """Return unknowns no lower than where the engine finds any density."""
    return np.maximum(at, block.floor + 1.5)


def noise_of_draws(exact: ExactFit) -> pd.DataFrame:
    """Turn the coefficients of the draws back into noise; return its mean and spread by parameter.

    ``beyond`` is how far the mean is from 0, or the standard deviation from 1, minus three Monte
    Carlo standard errors.
    """
    size = max(exact.layout.n_coefficients, 1)
    draws = min(len(exact.unknowns), max(200, _MOST_NOISE // size))
    sums = np.zeros((2, size))
    for block in exact.blocks:
        at = exact.unknowns[:draws][:, block.scales]
        for part in batches(block, np.arange(draws)):
            coefficients = exact.deviations[np.ix_(part, block.coefficients)]
            noise, _ = block.whiten(block.solve(at[part]), coefficients)
            sums[:, block.coefficients] += [noise.sum(axis=0), (noise**2).sum(axis=0)]
    rows = []
    for name, place in exact.layout.coefficients.items():
        n = draws * (place.stop - place.start)
        mean, sd = sums[0, place].sum() / n, np.sqrt(sums[1, place].sum() / n)
        off = (abs(mean) - ERRORS / np.sqrt(n), abs(sd - 1) - ERRORS / np.sqrt(2 * n))
        rows.append((name, n, mean, sd, max(0.0, *off)))
    return pd.DataFrame(rows, columns=["parameter", "n", "mean", "sd", "beyond"])
