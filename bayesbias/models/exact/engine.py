"""The exact engine: draws of the posterior of models that are Gaussian given scales."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from threading import Lock

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import keep_freed_memory
from bayesbias._core.progress import progress_bar
from bayesbias._core.threads import single_threaded_algebra
from bayesbias.errors import DataError
from bayesbias.models.exact.compiled_model import Compiled, compile_model, parent_index
from bayesbias.models.exact.gaussian_block import START, Block, DrawOrder
from bayesbias.models.exact.scale_draws import Target, draw_scales
from bayesbias.models.model_data import ModelData
from bayesbias.models.spec import ModelSpec

_log = logging.getLogger(__name__)

# What a block may cost, in units of a multiplication: a few seconds. A costlier one has fewer
# draws of its scales, each with several draws of the coefficients.
_BUDGET = 5e9
_FEWEST_SCALES = 200
_MOST_SCALES = 4000
# Points of a round of adaptation, in which as many correlations are estimated as there are pairs.
_FEWEST_POINTS = 250
_POINTS_PER_PAIR = 3
_MOST_POINTS = 2000
_FEW_UNKNOWNS = 12
#: Multiplications in a second, roughly; only for the estimate of the time left.
_SPEED = 3e9
_OVERHEAD = 0.3  # seconds, however small the table
_LONG = 60.0
_SILENT = 10.0  # seconds after which a bar is shown in any case
_BAND = 1.5  # on the log scale
#: Coefficients of attributes that take more than this are kept in single precision.
_LARGE = 100_000_000


def sample_exactly(
    spec: ModelSpec,
    data: ModelData,
    draws: int,
    rng: np.random.Generator,
    *,
    progress: bool = False,
) -> tuple[dict[str, Array], dict[str, float | str]]:
    """Draw from the posterior.

    Returns
    -------
    dict of arrays
        For each parameter draws × its shape.
    dict
        How well it went: the lowest acceptance and the highest Pareto k over the blocks of the
        model, the sampler of the scales, the largest R-hat, and how many draws of the scales there
        are.
    """
    keep_freed_memory()
    compiled = compile_model(spec, data)
    where = compiled.layout
    places = where.scales | where.coefficients
    sizes = {name: place.stop - place.start for name, place in places.items()}
    result = {
        p.name: np.empty(
            (draws, sizes[p.name]),
            dtype=np.float32 if draws * sizes[p.name] > _LARGE else np.float64,
        )
        for p in spec.parameters
    }
    quality: dict[str, float | str] = {
        "acceptance": 1.0,
        "pareto_k": -np.inf,
        "scale_sampler": "rejection",
        "scale_r_hat": 1.0,
        "scale_draws": draws,
    }
    # A scale that nothing depends on (of a level without rows) keeps its prior.
    used = np.concatenate([block.scales for block in compiled.blocks])
    for s in np.setdiff1d(np.arange(where.n_scales), used):
        prior = np.log(where.priors[s].draw(rng, (draws, 1)))
        _put(result, where.scales, slice(None), np.array([s]), prior)
    with ExitStack() as stack:
        stack.enter_context(single_threaded_algebra())
        advance = _bar(stack, compiled, draws, progress)
        for block in compiled.blocks:
            unknowns = _draw_unknowns(spec, block, draws, rng, quality, advance)
            # With fewer draws of the scales than asked for, each has several of the coefficients.
            repeats = -(-draws // len(unknowns))
            of_draw = DrawOrder(len(unknowns)).unknowns(draws)
            _put(result, where.scales, slice(None), block.scales, unknowns[of_draw])
            put = partial(_put_draws, result, where.coefficients, block.coefficients, advance)
            block.draw(unknowns, rng, put, repeats)
    for p in spec.parameters:
        for parent in p.prior.mean:
            result[p.name] += result[parent][:, parent_index(spec, data, p.name, parent)]
    shaped = {}
    for p in spec.parameters:
        values = result[p.name]
        if p.prior.is_positive:
            values = np.exp(values)
        shaped[p.name] = values.reshape(draws, *data.shape(p.by))
    return shaped, quality


def _draw_unknowns(
    spec: ModelSpec,
    block: Block,
    draws: int,
    rng: np.random.Generator,
    quality: dict[str, float | str],
    advance: Callable[[int], None],
) -> Array:
    """Draw the scales of a block: as many as its cost allows, none twice."""
    distinct = _n_scales(block, draws)
    if not len(block.scales):
        return np.zeros((distinct, 0))
    target = Target(
        block.log_density,
        np.full(len(block.scales), block.floor + START),
        gradient=block.gradient,
        lower=np.full(len(block.scales), block.floor + 0.5),
        upper=np.full(len(block.scales), block.floor + START + 10.0),
        advance=advance,
    )
    drawn = draw_scales(target, distinct, rng, pilot=_n_pilot(block))
    if _has_no_bottom(drawn.draws - block.floor):
        raise DataError(
            f"model {spec.name!r} explains the outcomes without any noise, so that the "
            "posterior of a scale has no bottom; leave a parameter out, or use more rows."
        )
    quality["acceptance"] = min(float(quality["acceptance"]), drawn.acceptance)
    quality["scale_draws"] = min(int(quality["scale_draws"]), distinct)
    if drawn.sampler == "hmc":
        quality["scale_sampler"] = "hmc"
        quality["scale_r_hat"] = max(float(quality["scale_r_hat"]), drawn.r_hat)
    else:
        quality["pareto_k"] = max(float(quality["pareto_k"]), drawn.pareto_k)
    return drawn.draws


def _has_no_bottom(above_floor: Array) -> bool:
    """Return whether draws of a scale pile up where there is nothing but rounding error.

    A scale that is not needed has a density that falls like the scale itself, so a band of its
    logarithm has a fifth of the draws of the band above it; only one that grows towards zero has
    more.
    """
    lowest = (above_floor < _BAND).mean(axis=0)
    above = ((above_floor >= _BAND) & (above_floor < 2 * _BAND)).mean(axis=0)
    return bool(((lowest > 0.2) & (lowest > above)).any())


def _n_scales(block: Block, draws: int) -> int:
    """Return how many distinct draws of its unknowns a block gets."""
    affordable = int(_BUDGET / block.cost / 3)
    return min(draws, _MOST_SCALES, max(affordable, _FEWEST_SCALES))


def _n_pilot(block: Block) -> int:
    """Return how many points a round of adaptation gets: enough for each correlation."""
    n = len(block.scales)
    fewest = min(max(_FEWEST_POINTS, _POINTS_PER_PAIR * n * (n - 1) // 2), _MOST_POINTS)
    return int(np.clip(_BUDGET / block.cost / 10, fewest, _MOST_POINTS))


def estimated_seconds(compiled: Compiled, draws: int) -> float:
    """Return roughly how long drawing takes."""
    total = 0.0
    for block in compiled.blocks:
        # The proposals for each draw of the scales, the pilot's, and those of the search, whose
        # gradients cost more. A coefficient takes as long as some hundred multiplications.
        n = len(block.scales)
        # Of many scales some are close to zero, and the proposal has to be adapted again.
        rounds = 3 if n <= _FEW_UNKNOWNS else 9
        evaluations = (4 + n / 5) * _n_scales(block, draws) + rounds * _n_pilot(block) + 60 * n
        total += evaluations * block.cost + draws * 300.0 * len(block.coefficients)
    return total / _SPEED + _OVERHEAD


def _bar(stack: ExitStack, compiled: Compiled, draws: int, progress: bool) -> Callable[[int], None]:
    """Return a function that advances a bar: at once if the work is long, or when it gets long."""
    seconds = estimated_seconds(compiled, draws)
    if seconds > _LONG / 6:
        _log.info("the exact engine needs about %.0f seconds", seconds)
    is_long = seconds > _LONG
    text = f"drawing, about {seconds / 60:.0f} minutes" if is_long else "drawing"
    began = time.monotonic()
    bar: Callable[[float], None] | None = None
    lock = Lock()  # several threads advance the bar

    def advance(amount: int) -> None:
        nonlocal bar
        with lock:
            # Scales that are hard to draw take longer than anyone can say beforehand.
            if bar is None and (is_long or time.monotonic() - began > _SILENT):
                opened = progress_bar(text, total=None, show=progress, unit="steps")
                bar = stack.enter_context(opened)
            if bar is not None:
                bar(amount)

    return advance


def _put_draws(
    result: dict[str, Array],
    places: dict[str, slice],
    coefficients: Codes,
    advance: Callable[[int], None],
    numbers: Codes,
    values: Array,
) -> None:
    """Put draws of a block's coefficients where they belong; those beyond the last are left out."""
    advance(len(numbers))
    draws = len(next(iter(result.values())))
    asked = numbers < draws
    if not asked.all():
        numbers, values = numbers[asked], values[asked]
    _put(result, places, numbers, coefficients, values)


def _put(
    result: dict[str, Array],
    places: dict[str, slice],
    numbers: Codes | slice,
    which: Codes,
    values: Array,
) -> None:
    """Put values where they belong: numbers are those of the draws, which the parameters' places.

    Values are draws × places, both counted over all parameters together.
    """
    if not isinstance(numbers, slice) and bool((np.diff(numbers) == 1).all()):
        numbers = slice(int(numbers[0]), int(numbers[-1]) + 1)
    for name, place in places.items():
        here = (which >= place.start) & (which < place.stop)
        if not here.any():
            continue
        offset = which[here] - place.start
        # A range is copied much faster than a list of places.
        whole = offset[-1] - offset[0] + 1 == len(offset) and bool((np.diff(offset) == 1).all())
        source = slice(int(here.argmax()), int(here.argmax()) + len(offset))
        if whole and here[source].all():
            result[name][numbers, offset[0] : offset[-1] + 1] = values[:, source]
        else:
            rows = numbers if isinstance(numbers, slice) else numbers[:, None]
            result[name][rows, offset] = values[:, here]
