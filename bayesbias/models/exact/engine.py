"""The exact engine: draws of the posterior of models that are Gaussian given scales."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from threading import Lock

import numpy as np

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import keep_freed_memory
from bayesbias._core.progress import progress_bar
from bayesbias._core.threads import single_threaded_algebra
from bayesbias._core.wording import waiting_time
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
# Only for the estimate of the time, roughly: multiplications in a second, in products of matrices;
# how many of them take as long as one in the elimination of a unit, whose matrices are small; and
# how many take as long as drawing a coefficient.
_SPEED = 1e10
_SMALL_MATRICES = 5.0
_OF_COEFFICIENT = 300.0
_OVERHEAD = 0.3  # seconds, however small the table
_SILENT = 10.0  # seconds: what takes longer has a bar
_MORE = 1.25  # times what was done, if it is more than expected: what is now expected
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
        bar = _Bar(stack, compiled, draws, progress)
        for block in compiled.blocks:
            bar.begin_part()
            unknowns = _draw_unknowns(spec, block, draws, rng, quality, bar.advance)
            # With fewer draws of the scales than asked for, each has several of the coefficients.
            repeats = -(-draws // len(unknowns))
            of_draw = DrawOrder(len(unknowns)).unknowns(draws)
            _put(result, where.scales, slice(None), block.scales, unknowns[of_draw])
            bar.begin_part()
            work = _work_of_draw(block, repeats)
            put = partial(
                _put_draws, result, where.coefficients, block.coefficients, bar.advance, work
            )
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
    advance: Callable[[float], None],
) -> Array:
    """Draw the scales of a block: as many as its cost allows, none twice."""
    distinct = _n_scales(block, draws)
    if not len(block.scales):
        return np.zeros((distinct, 0))
    work = _work_of_evaluation(block)
    target = Target(
        block.log_density,
        np.full(len(block.scales), block.floor + START),
        gradient=block.gradient,
        lower=np.full(len(block.scales), block.floor + 0.5),
        upper=np.full(len(block.scales), block.floor + START + 10.0),
        advance=lambda evaluations: advance(evaluations * work),
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
    parts = [_expected_work(block, draws) for block in compiled.blocks]
    return sum(map(sum, parts)) / _SPEED + _OVERHEAD


def _expected_work(block: Block, draws: int) -> tuple[float, float]:
    """Return how many multiplications drawing the scales and the coefficients takes, roughly."""
    n, distinct = len(block.scales), _n_scales(block, draws)
    # The pilot's points, the proposals for each draw, and those of the search, whose gradients cost
    # more. Of many scales some are close to zero, and the proposal has to be adapted again.
    pilots = 0 if not n else 1 if n <= _FEW_UNKNOWNS else 5
    evaluations = pilots * _n_pilot(block) + (2 + n / 8) * distinct * bool(n) + 60 * n
    repeats = -(-draws // distinct)
    of_coefficients = repeats * distinct * _work_of_draw(block, repeats)
    return evaluations * _work_of_evaluation(block), of_coefficients


def _work_of_evaluation(block: Block) -> float:
    """Return how many multiplications in large matrices take as long as to solve a block once."""
    small = sum(n * k * k * (k + m) for n, k, m in (cluster.shape for cluster in block.clusters))
    return block.cost + (_SMALL_MATRICES - 1) * small


def _work_of_draw(block: Block, repeats: int) -> float:
    """Return how many multiplications a draw of the coefficients takes, roughly."""
    # The draws with the same scales share a solution, which takes longer than a density.
    return _OF_COEFFICIENT * len(block.coefficients) + 1.5 * _work_of_evaluation(block) / repeats


class _Bar:
    """A bar of the work of drawing, which is shown at once if it is long, or when it gets long.

    The work has two parts for each block, the scales and the coefficients; it is counted in
    multiplications, as it is estimated. Scales that are hard to draw take more evaluations than
    anyone can say beforehand. What is expected of the part then grows, so that the bar is not full
    before the work is done.
    """

    def __init__(self, stack: ExitStack, compiled: Compiled, draws: int, show: bool) -> None:
        seconds = estimated_seconds(compiled, draws)
        is_long = seconds > _SILENT
        if is_long:
            _log.info("the exact engine needs about %s", waiting_time(seconds))
        self._text = f"drawing, about {waiting_time(seconds)}" if is_long else "drawing"
        self._opens = -np.inf if is_long else time.monotonic() + _SILENT
        self._stack, self._show = stack, show
        self._later: deque[tuple[float, float]] = deque()
        for block in compiled.blocks:
            scales, coefficients = _expected_work(block, draws)
            self._later += [(scales, _MORE), (coefficients, 1.0)]
        self._before, self._now = 0.0, 0.0
        self._expected, self._more = 0.0, 1.0
        self._shown = 0.0
        self._advance: Callable[[float], None] | None = None
        self._lock = Lock()  # several threads advance the bar

    def begin_part(self) -> None:
        """Go to the next part of the work; of the last one, what it took is known now."""
        self._before, self._now = self._before + self._now, 0.0
        self._expected, self._more = self._later.popleft()

    def advance(self, work: float) -> None:
        """Count some work of this part."""
        with self._lock:
            self._now += work
            if self._advance is None:
                if time.monotonic() < self._opens:
                    return
                bar = progress_bar(self._text, total=1.0, show=self._show, unit="share")
                self._advance = self._stack.enter_context(bar)
            done = self._before + self._now
            of_part = max(self._expected, self._more * self._now)
            total = self._before + of_part + sum(expected for expected, _ in self._later)
            share = max(self._shown, done / total)  # a bar that goes back would be odd
            self._advance(share - self._shown)
            self._shown = share


def _put_draws(
    result: dict[str, Array],
    places: dict[str, slice],
    coefficients: Codes,
    advance: Callable[[float], None],
    work: float,
    numbers: Codes,
    values: Array,
) -> None:
    """Put draws of a block's coefficients where they belong; those beyond the last are left out."""
    advance(len(numbers) * work)
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
