"""Threads: one for each part of the work, none inside the linear algebra.

A product of matrices that two threads share adds up its terms in another order than one that a
single thread computes, and its last digits differ. Parts of the work that do not depend on each
other can be shared among threads without such differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import islice
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

_n_threads: ContextVar[int] = ContextVar("n_threads", default=1)


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries of linear algebra: NumPy's, and SciPy's, which is loaded for that."""
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()


@contextmanager
def single_threaded_algebra() -> Iterator[None]:
    """Keep the linear algebra to one thread; `in_threads` then uses as many as it would have."""
    libraries = _libraries()
    allowed = [library["num_threads"] for library in libraries.select(user_api="blas").info()]
    token = _n_threads.set(max([_n_threads.get(), *allowed]))
    try:
        with libraries.limit(limits=1, user_api="blas"):
            yield
    finally:
        _n_threads.reset(token)


def in_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return what a function makes of each item, in their order.

    Within `single_threaded_algebra` the items are shared among threads; elsewhere, and in such a
    thread, they come one after the other.

    >>> in_threads(abs, [-1, 2])
    [1, 2]
    """
    threads = min(_n_threads.get(), len(items))
    if threads < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


def mapped_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Result]:
    """Yield what `in_threads` returns, of items that are made only when a thread is free for them.

    >>> list(mapped_in_threads(abs, iter([-1, 2])))
    [1, 2]
    """
    coming = iter(items)
    while some := list(islice(coming, max(_n_threads.get(), 1))):
        yield from in_threads(function, some)
