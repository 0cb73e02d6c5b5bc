"""The exact engine: what it tells while it works, and its threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from layouts import random_table
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias._core import threads
from bayesbias.models.exact import engine
from bayesbias.models.model_data import model_data


@pytest.mark.parametrize(
    ("silent", "long", "shown"),
    [(1e9, 1e9, []), (0.0, 1e9, ["drawing"]), (1e9, 0.0, ["drawing, about 0 minutes"])],
)
def test_a_bar_if_the_work_is_long_or_gets_long(
    monkeypatch: pytest.MonkeyPatch, silent: float, long: float, shown: list[str]
) -> None:
    bars: list[str] = []
    steps: list[float] = []

    @contextmanager
    def bar(text: str, **options: object) -> Iterator[Callable[[float], None]]:
        bars.append(text)
        yield steps.append

    monkeypatch.setattr(engine, "progress_bar", bar)
    monkeypatch.setattr(engine, "_SILENT", silent)
    monkeypatch.setattr(engine, "_LONG", long)
    spec = bb.load_model("hierarchical")
    data = model_data(spec, random_table(3, most_words=4, most_attributes=8))
    engine.sample_exactly(spec, data, 100, np.random.default_rng(1), progress=True)
    assert bars == shown
    assert bool(steps) == bool(shown)


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
