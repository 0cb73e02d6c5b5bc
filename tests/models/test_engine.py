"""The exact engine: what it tells while it works, and its threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
from layouts import random_table
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias._core import threads
from bayesbias.models.exact import engine
from bayesbias.models.exact.compiled_model import compile_model
from bayesbias.models.model_data import model_data


@pytest.mark.parametrize(
    ("silent", "seconds", "shown"),
    [
        (1e9, 1.0, []),
        (0.0, -1.0, ["drawing"]),
        (10.0, 12.0, ["drawing, about 12 seconds"]),
        (10.0, 75.0, ["drawing, about 75 seconds"]),
        (10.0, 100.0, ["drawing, about 1.7 minutes"]),
    ],
)
def test_a_bar_if_the_work_is_long_or_gets_long(
    monkeypatch: pytest.MonkeyPatch, silent: float, seconds: float, shown: list[str]
) -> None:
    bars: list[str] = []
    steps: list[float] = []

    @contextmanager
    def bar(text: str, **options: object) -> Iterator[Callable[[float], None]]:
        assert options == {"total": 1.0, "show": True, "unit": "share"}
        bars.append(text)
        yield steps.append

    monkeypatch.setattr(engine, "progress_bar", bar)
    monkeypatch.setattr(engine, "_SILENT", silent)
    monkeypatch.setattr(engine, "estimated_seconds", lambda compiled, draws: seconds)
    spec = bb.load_model("hierarchical")
    data = model_data(spec, random_table(3, most_words=4, most_attributes=8))
    engine.sample_exactly(spec, data, 100, np.random.default_rng(1), progress=True)
    assert bars == shown
    assert bool(steps) == bool(shown)
    if shown:
        # The share of the work that is done never falls, and is one at the end.
        assert min(steps) >= 0
        assert sum(steps) == pytest.approx(1)


def test_a_bar_is_not_full_while_scales_take_more_than_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps: list[float] = []

    @contextmanager
    def bar(*args: object, **options: object) -> Iterator[Callable[[float], None]]:
        yield steps.append

    monkeypatch.setattr(engine, "progress_bar", bar)
    monkeypatch.setattr(engine, "_SILENT", 0.0)
    spec = bb.load_model("hierarchical")
    compiled = compile_model(spec, model_data(spec, random_table(3, most_words=4)))
    work = [engine._expected_work(block, 100) for block in compiled.blocks]
    with ExitStack() as stack:
        shown = engine._Bar(stack, compiled, 100, show=True)
        shown.begin_part()
        shown.advance(work[0][0] / 2)
        assert sum(steps) == pytest.approx(work[0][0] / 2 / sum(map(sum, work)))
        for _ in range(100):
            shown.advance(work[0][0])
        assert 0.7 < sum(steps) < engine._MORE**-1
        assert min(steps) >= 0
        # What the first scales took is known when the next part begins.
        shown.begin_part()
        shown.advance(work[0][1])
        first = 100.5 * work[0][0] + work[0][1]
        later = sum(map(sum, work[1:]))
        assert sum(steps) == pytest.approx(first / (first + later))


def test_the_estimate_grows_with_the_table() -> None:
    spec = bb.load_model("interaction")
    sizes = ((4, 8), (12, 40), (40, 300))
    few, more, many = (
        engine.estimated_seconds(
            compile_model(
                spec,
                model_data(spec, random_table(4, most_words=words, most_attributes=attributes)),
            ),
            400,
        )
        for words, attributes in sizes
    )
    assert engine._OVERHEAD < few < more < many


@pytest.mark.slow
@pytest.mark.parametrize("model", ["hierarchical", "interaction"])
def test_the_draws_do_not_depend_on_the_number_of_threads(model: str) -> None:
    spec = bb.load_model(model)
    data = model_data(spec, random_table(3, most_words=12, most_attributes=40))

    def drawn(n_threads: int) -> dict[str, np.ndarray]:
        token = threads._n_threads.set(n_threads)
        try:
            with threadpool_limits(1, "blas"):
                return engine.sample_exactly(spec, data, 300, np.random.default_rng(1))[0]
        finally:
            threads._n_threads.reset(token)

    one, three = drawn(1), drawn(3)
    assert all(np.array_equal(one[name], three[name]) for name in one)
