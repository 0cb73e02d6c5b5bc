"""Threads: the work is shared, the results stay the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits

from bayesbias._core import threads
from bayesbias._core.threads import in_threads, single_threaded_algebra


@pytest.fixture
def two_allowed() -> Iterator[None]:
    """As on a computer with two processors, whatever this one has."""
    token = threads._n_threads.set(2)
    yield
    threads._n_threads.reset(token)


def test_items_are_shared_in_their_order(two_allowed: None) -> None:
    both_there = threading.Barrier(2, timeout=20)

    def square(x: int) -> int:
        if x < 2:
            both_there.wait()  # neither returns before the other has begun
        return x * x

    with single_threaded_algebra():
        assert in_threads(square, range(5)) == [0, 1, 4, 9, 16]


def test_outside_they_come_one_after_the_other() -> None:
    here = threading.get_ident()
    assert in_threads(lambda _: threading.get_ident(), [1, 2]) == [here, here]


def test_threads_do_not_start_threads(two_allowed: None) -> None:
    def inner(_: int) -> set[int]:
        return set(in_threads(lambda _: threading.get_ident(), [1, 2, 3]))

    with single_threaded_algebra():
        assert all(len(seen) == 1 for seen in in_threads(inner, [1, 2]))


def test_one_thread_stays_one() -> None:
    here = threading.get_ident()
    with threadpool_limits(1, "blas"), single_threaded_algebra():
        assert in_threads(lambda _: threading.get_ident(), [1, 2]) == [here, here]


def test_an_error_comes_through(two_allowed: None) -> None:
    def fail(x: int) -> int:
        raise ValueError(f"item {x}")

    with single_threaded_algebra(), pytest.raises(ValueError, match="item 1"):
        in_threads(fail, [1, 2])
