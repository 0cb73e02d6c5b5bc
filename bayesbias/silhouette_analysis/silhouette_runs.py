"""The runs of silhouettes: measured in parallel, kept in a folder, their time announced."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import time
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from types import CodeType
from zipfile import BadZipFile

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.files import atomic, make_folder, sweep_folder
from bayesbias._core.progress import progress_bar
from bayesbias._core.wording import counted, plural, waiting_time
from bayesbias.metrics import Measurement, Metric
from bayesbias.parallel import in_parallel, number_at_once

_log = logging.getLogger(__name__)
# Each run is measured in one thread, so that it does not matter how many work at once.
_BLAS = ThreadpoolController()
# About as many sizes are tried to see how long all of them take.
_SOME = 100
# Work of fewer seconds is done before it is announced.
_SHORT = 2.0


@dataclasses.dataclass(frozen=True, eq=False)
class Growing:
    """The lists of one embedding, and how they grow."""

    measurement: Measurement
    #: Which of the sets grow.
    places: tuple[int, ...]
    #: For each of these sets, the order of its words in each run.
    orders: tuple[Codes, ...]
    #: How many words of each there are, sizes × sets.
    counts: Codes

    def run(self, number: int) -> Array:
        """Return the values of one run."""
        orders = {
            place: order[number] for place, order in zip(self.places, self.orders, strict=True)
        }
        with _BLAS.limit(limits=1, user_api="blas"):
            return self.measurement.grow(orders, dict(zip(self.places, self.counts.T, strict=True)))

    def only(self, number: int) -> tuple[Codes, ...]:
        """Return the orders of one of the runs."""
        return tuple(order[number : number + 1] for order in self.orders)

    def seconds(self) -> float:
        """Return about how long a run takes: one with some of the sizes, and half of these, do."""
        thin = max(1, len(self.counts) // _SOME)
        few, some = (dataclasses.replace(self, counts=self.counts[:: n * thin]) for n in (2, 1))
        few.run(0)  # what is computed once is not counted
        start = time.perf_counter()
        few.run(0)
        between = time.perf_counter()
        some.run(0)
        base, longer = between - start, time.perf_counter() - between
        each = (longer - base) / max(1, len(some.counts) - len(few.counts))
        return longer + max(0.0, each) * (len(self.counts) - len(some.counts))

    def names(self) -> list[str]:
        """Return for each run a name that changes with anything that its values depend on."""
        metric = self.measurement.metric
        kind = type(metric)
        sets = [dataclasses.asdict(words) for words in self.measurement.words.sets]
        written = [kind.__module__, kind.__qualname__, _code(kind), vars(metric)]
        owners = self.measurement.words.owners
        common = joblib.hash(
            [version("bayesbias"), written, sets, owners, self.places, self.counts]
        )
        return [joblib.hash([common, list(orders)]) for orders in zip(*self.orders, strict=True)]


def _code(kind: type[Metric]) -> list[object]:
    """Return how a metric and those it is made from are written."""
    parts: list[object] = []
    for base in kind.__mro__[: kind.__mro__.index(Metric)]:
        try:
            parts.append(inspect.getsource(base))
        except (OSError, TypeError):  # written in a console or notebook
            parts += [
                (name, _compiled(value.__code__) if inspect.isfunction(value) else repr(value))
                for name, value in vars(base).items()
                if inspect.isfunction(value) or not name.startswith("__")
            ]
    return parts


def _compiled(code: CodeType) -> list[object]:
    """Return what a function does, without where it is written."""
    constants = [_compiled(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return [code.co_code, code.co_names, constants]


def measure_runs(
    lists: Sequence[Growing], *, n_jobs: int, progress: bool, folder: Path | None
) -> Array:
    """Return the values, embeddings × runs × sizes; runs kept in the folder are read from it."""
    runs = len(lists[0].orders[0])
    values = np.empty((len(lists), runs, len(lists[0].counts)))
    left = [(i, run) for i in range(len(lists)) for run in range(runs)]
    total = len(left)
    files: list[list[Path | None]] = [[None] * runs for _ in lists]
    if folder is not None:
        make_folder(folder)
        sweep_folder(folder)
        place = folder.absolute()  # workers may have another working directory
        files = [[place / f"run-{name}.npz" for name in growing.names()] for growing in lists]
        left = [(i, run) for i, run in left if not _read(files[i][run], values[i, run])]
        _log.info("%d of %d runs are in %s already.", total - len(left), total, folder)
    if not left:
        return values
    workers = min(number_at_once(n_jobs), len(left))
    number = Counter(i for i, _ in left)
    seconds = sum(lists[i].seconds() * n for i, n in number.items()) / workers
    what = "Silhouettes"
    if seconds > _SHORT:
        what += f", about {waiting_time(seconds)}"
        amount = f"{counted(len(left), 'run')} {plural(len(left), 'takes', 'take')}"
        where = counted(workers, "process", "processes")
        _log.info("%s about %s in %s.", amount, waiting_time(seconds), where)
    without = [dataclasses.replace(growing, orders=()) for growing in lists]
    tasks = ((without[i], lists[i].only(run), files[i][run]) for i, run in left)
    with progress_bar(what, total=len(left), show=progress, unit="steps") as advance:
        done = in_parallel(_measure, tasks, n_jobs=n_jobs, shared=without)
        for (i, run), result in zip(left, done, strict=True):
            values[i, run] = result
            advance(1)
    return values


def measure_lists(
    lists: Sequence[Growing], *, n_jobs: int, progress: bool, folder: Path | None
) -> list[Array]:
    """Return the values of all runs of each, runs × sizes; lists kept in the folder are read."""
    files: list[Path | None] = [None] * len(lists)
    if folder is not None:
        place = folder.absolute()
        files = [place / f"list-{joblib.hash(growing.names())}.npz" for growing in lists]
    values: list[Array] = [np.empty((len(g.orders[0]), len(g.counts))) for g in lists]
    left = [i for i, path in enumerate(files) if not _read(path, values[i])]
    if not left:
        return values
    workers = min(number_at_once(n_jobs), len(left))
    first = lists[left[0]]
    seconds = first.seconds() * len(first.orders[0]) * len(left) / workers
    what = "Random lists"
    if seconds > _SHORT:
        what += f", about {waiting_time(seconds)}"
        where = counted(workers, "process", "processes")
        _log.info("%d random lists take about %s in %s.", len(left), waiting_time(seconds), where)
    tasks = ((lists[i], files[i]) for i in left)
    with progress_bar(what, total=len(left), show=progress, unit="steps") as advance:
        done = in_parallel(_measure_all, tasks, n_jobs=n_jobs)
        for i, result in zip(left, done, strict=True):
            values[i] = result
            advance(1)
    return values


def _measure_all(growing: Growing, path: Path | None) -> Array:
    """Return the values of all runs of a list, and keep them at once."""
    values = np.array([growing.run(number) for number in range(len(growing.orders[0]))])
    _keep(values, path)
    return values


def _measure(growing: Growing, orders: tuple[Codes, ...], path: Path | None) -> Array:
    """Return the values of one run, and keep them at once: the next may be interrupted."""
    values = dataclasses.replace(growing, orders=orders).run(0)
    _keep(values, path)
    return values


def _keep(values: Array, path: Path | None) -> None:
    if path is not None:
        with atomic(path) as (temporary,):
            np.savez(temporary, values=values)


def _read(path: Path | None, into: Array) -> bool:
    """Read the values of a run, if they are there and whole."""
    if path is None:
        return False
    try:
        with np.load(path, allow_pickle=False) as kept:
            into[:] = kept["values"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return False
    return True
