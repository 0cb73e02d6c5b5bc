"""What the workers of a cluster run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from threading import Lock
from typing import Any

from bayesbias.errors import ClusterError

# Warnings, figures and the limits of linear algebra belong to a process, so that a worker with
# several threads computes in one of them at a time.
_one_at_a_time = Lock()


@dataclass(frozen=True)
class SharedObject:
    """Stands for an argument that the worker gets apart from the tasks."""

    number: int


def itself(value: object) -> object:
    """Return a shared object; as the result of a task it is sent again if its worker is lost."""
    return value


@cache
def own_version() -> str:
    """Return the version of bayesbias in this process."""
    return version("bayesbias")


def version_error(expected: str, others: Sequence[str]) -> ClusterError:
    """Return the error of workers with other versions."""
    return ClusterError(
        f"workers of the cluster have bayesbias {', '.join(others)}, and this process has "
        f"{expected}; install the same version on both."
    )


def run_batch(
    expected: str,
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *shared: object,
) -> tuple[float, list[Any]]:
    """Return how many seconds some tasks took, and their results."""
    if own_version() != expected:  # a worker that has come after the others were checked
        raise version_error(expected, [own_version()])

    def argument(given: object) -> object:
        return shared[given.number] if isinstance(given, SharedObject) else given

    with _one_at_a_time:
        start = time.perf_counter()
        results = [function(*map(argument, task)) for task in tasks]
        return time.perf_counter() - start, results
