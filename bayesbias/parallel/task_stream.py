"""Tasks that do not depend on each other, and their results in the order of the tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from bayesbias.parallel.cluster_connection import current_cluster

Result = TypeVar("Result")


def in_parallel(
    function: Callable[..., Result],
    tasks: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int,
    shared: Sequence[object] = (),
) -> Iterator[Result]:
    """Yield what a function returns for the arguments of each task, in the order of the tasks.

    Parameters
    ----------
    function : callable
        A function of a module; other processes import it.
    tasks : iterable of tuple
        The arguments of each call; they are made when they are needed.
    n_jobs : int
        The number of processes, by joblib; on a cluster all workers are used instead.
    shared : sequence of object
        Large objects that are arguments of several tasks. A cluster gets each of them once.
    """
    active = current_cluster()
    if active is not None:
        yield from active.results(function, tasks, shared)
        return
    import joblib

    calls = (joblib.delayed(function)(*task) for task in tasks)
    yield from joblib.Parallel(n_jobs=n_jobs, return_as="generator")(calls)


def number_at_once(n_jobs: int) -> int:
    """Return how many tasks are worked on at the same time."""
    active = current_cluster()
    if active is not None:
        return max(1, active.n_workers)
    import joblib

    return int(joblib.effective_n_jobs(n_jobs))
