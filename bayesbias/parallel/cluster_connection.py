"""The connection to a Dask cluster, on which everything within its context is computed."""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import metadata
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bayesbias._core.files import is_file
from bayesbias._core.validation import positive
from bayesbias._core.wording import counted
from bayesbias.errors import ClusterError, MissingDependencyError, SpecError, warn
from bayesbias.parallel.worker_tasks import (
    SharedObject,
    itself,
    own_version,
    run_batch,
    version_error,
)

if TYPE_CHECKING:
    from distributed import Client, Future

_log = logging.getLogger(__name__)
_active: ContextVar[Cluster | None] = ContextVar("cluster", default=None)

# Seconds: short tasks are sent together, so that sending them takes a small part of the time.
_BATCH = 0.5
_MOST_TASKS = 1000
# What has a host has a port; inproc:// and others of Dask are left to it.
_ADDRESS = re.compile(r"((tcp|tls)://)?[^/\s]+:\d{1,5}|(?!tcp:|tls:)\w+://\S+")
_LOOPBACK = re.compile(r"(\w+://)?(127\.|localhost:|\[::1\])")
# Seconds after which a person is told that no worker is there.
_PATIENCE = 30.0


def current_cluster() -> Cluster | None:
    """Return the cluster that computations run on, if there is one."""
    return _active.get()


class Cluster:
    """A Dask cluster that computations run on; `cluster` makes it.

    Parameters
    ----------
    client : distributed.Client
        The connection to the scheduler.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.parallel.Cluster  # made by bb.cluster
    <class 'bayesbias.parallel.cluster_connection.Cluster'>
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self._address = str(client.scheduler_info()["address"])

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        return self._address

    @property
    def dashboard(self) -> str:
        """The address of the dashboard, a web page that shows what the workers do."""
        return str(self.client.dashboard_link)

    @property
    def n_workers(self) -> int:
        """The number of workers at this moment."""
        try:
            return len(self.client.nthreads())
        except OSError as err:
            raise _ended(self.address) from err

    def __repr__(self) -> str:
        return f"<Cluster {self.address}: {counted(self.n_workers, 'worker')}>"

    def results(
        self,
        function: Callable[..., Any],
        tasks: Iterable[tuple[Any, ...]],
        shared: Sequence[object] = (),
    ) -> Iterator[Any]:
        """Yield the results of tasks in their order.

        What a lost worker had been given, or had computed and not yet sent, another one computes
        again.

        Parameters
        ----------
        function : callable
            A function that the workers can import.
        tasks : iterable of tuple
            The arguments of each call.
        shared : sequence of object
            Arguments of several tasks, which are sent once.

        Yields
        ------
        object
            The result of a task.

        Raises
        ------
        ClusterError
            If the cluster ends, or a task ends its worker several times.
        """
        numbers = {id(value): number for number, value in enumerate(shared)}
        sent = [self._submit(itself, value) for value in shared]
        coming = iter(tasks)
        unfinished: set[Future[Any]] = set()
        unread: deque[Future[Any]] = deque()
        size = 1
        try:
            while True:
                # Two batches for each worker, so that none waits for the next one to be sent.
                while len(unfinished) < 2 * max(1, self.n_workers):
                    some = list(islice(coming, size))
                    if not some:
                        break
                    batch, used = _without_shared(some, numbers)
                    arguments = (own_version(), function, batch, *(sent[n] for n in used))
                    future = self._submit(run_batch, *arguments)
                    unfinished.add(future)
                    unread.append(future)
                if not unread:
                    return
                if not unread[0].done():
                    self._wait(unfinished)
                unfinished = {future for future in unfinished if not future.done()}
                while unread and unread[0].done():
                    seconds, results = self._result(unread.popleft())
                    each = max(seconds / len(results), 1e-9)
                    size = max(1, min(int(_BATCH / each), 2 * size, _MOST_TASKS))
                    yield from results
        finally:
            self.client.cancel([*unread, *sent], force=True)

    def _submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        with warnings.catch_warnings():
            # What is large has been warned of where a person can do something about it.
            warnings.filterwarnings("ignore", "Sending large graph")
            key = f"bayesbias-{function.__name__}-{uuid4().hex}"
            return self.client.submit(function, *arguments, key=key)

    def _wait(self, unfinished: Iterable[Future[Any]]) -> None:
        """Wait until one of the futures is done."""
        from distributed import CancelledError, wait

        try:
            with self.client.as_current():
                wait(list(unfinished), timeout=_PATIENCE, return_when="FIRST_COMPLETED")
        except TimeoutError:
            if self.client.status == "running" and not self.n_workers:
                _log.warning("%s has no workers; waiting for one.", self.address)
        except CancelledError:
            pass  # reading the result says why

    def _result(self, future: Future[Any]) -> Any:
        from distributed import CancelledError, KilledWorker

        try:
            return future.result()
        except KilledWorker as err:
            raise ClusterError(
                "one task ended its worker several times, most often because the worker had too "
                "little memory; start workers with more, or see their logs."
            ) from err
        except CancelledError as err:
            raise _ended(self.address) from err


def _without_shared(
    tasks: Sequence[tuple[Any, ...]], numbers: dict[int, int]
) -> tuple[list[tuple[Any, ...]], list[int]]:
    """Return tasks with marks in the places of shared objects, and which of these they need."""
    used: dict[int, int] = {}

    def marked(argument: object) -> object:
        number = numbers.get(id(argument))
        if number is None:
            return argument
        return SharedObject(used.setdefault(number, len(used)))

    return [tuple(map(marked, task)) for task in tasks], list(used)


def _ended(address: str) -> ClusterError:
    return ClusterError(
        f"the cluster {address} has ended, or its tasks were cancelled there; start it, and do the "
        "same again."
    )


@contextmanager
def cluster(address: object, *, timeout: float = 5.0) -> Iterator[Cluster]:
    """Compute on a Dask cluster everything within the ``with`` block that can run in parallel.

    That is `audit` (embeddings × studies), `run_queries`, `query_scores` and `rank_posterior` with
    their permutation tests, `silhouettes`, `calibrate`, `before_after` and `train_replicates`.
    Results are the same as in one process; `n_jobs` is not used. Embeddings that were read from a
    file are read from the same file by the workers, which need to see it, and the folder of an
    audit, at the same place. What a lost worker was doing, another one does again.

    Parameters
    ----------
    address : str, path-like, distributed.Client or cluster of Dask
        The address of the scheduler, such as ``tcp://host:8786``, the file that the scheduler
        wrote (``--scheduler-file``), a client, or a cluster such as dask-jobqueue's
        ``SLURMCluster``.
    timeout : float, default 5.0
        Seconds to wait for the scheduler.

    Yields
    ------
    Cluster
        The cluster; its `dashboard` is the address of a web page.

    Raises
    ------
    MissingDependencyError
        If Dask is not installed: it is the extra ``distributed``.
    ClusterError
        If the scheduler cannot be reached, or its workers have another version of bayesbias.

    Warns
    -----
    BayesBiasWarning
        If workers have several threads, of which only one is used at a time.

    Examples
    --------
    >>> import bayesbias as bb
    >>> with bb.cluster("tcp://127.0.0.1:9", timeout=0.2):  # where no scheduler is
    ...     scores = bb.run_queries("weat_es", "gender", ["demo", "demo-100d"])
    Traceback (most recent call last):
    ...
    bayesbias.errors.ClusterError: no Dask scheduler at tcp://127.0.0.1:9...
    """
    try:
        from distributed import Client
    except ImportError as err:
        raise MissingDependencyError(
            f"a cluster needs Dask ({err}): pip install 'bayesbias[distributed]'."
        ) from err
    positive("timeout", timeout)
    given = isinstance(address, Client)
    client = address if isinstance(address, Client) else _connect(address, timeout)
    try:
        connected = Cluster(client)
        _check_workers(connected)
        _log.info("%r, dashboard: %s", connected, connected.dashboard)
        token = _active.set(connected)
        try:
            yield connected
        finally:
            _active.reset(token)
    finally:
        if not given:
            client.close()


def _connect(address: object, timeout: float) -> Client:
    from distributed import Client

    place = getattr(address, "scheduler_address", address)  # of a cluster
    if isinstance(place, PathLike) or (isinstance(place, str) and is_file(Path(place))):
        place = _address_in(Path(place))
    if not isinstance(place, str) or not place:
        raise SpecError(
            f"'address' is {address!r}; expected the address of a Dask scheduler, such as "
            "'tcp://host:8786', its file, a Client, or a cluster of Dask."
        )
    if not _ADDRESS.fullmatch(place):
        raise SpecError(
            f"{place!r} is neither a file nor the address of a Dask scheduler; expected one such "
            "as 'tcp://host:8786'."
        )
    secure = getattr(address, "security", None)
    try:
        return Client(place, timeout=timeout, set_as_default=False, security=secure)
    except Exception as err:  # another program may answer anything
        advice = "start one (dask scheduler), or give its address as it prints it."
        if _LOOPBACK.match(place):
            # Dask falls back to this address on a machine without a default route.
            advice += (
                " Only programs on the machine of the scheduler reach this address; for other "
                "machines, start it with --interface (such as eth0) or --host."
            )
        raise ClusterError(f"no Dask scheduler at {place} ({_first_line(err)}); {advice}") from err


def _address_in(path: Path) -> str:
    """Return the address in the file that a scheduler wrote."""
    try:
        return str(json.loads(path.read_text("utf-8"))["address"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as err:
        raise ClusterError(
            f"{path}: not the file of a Dask scheduler ({_first_line(err)}); it is written by "
            "dask scheduler --scheduler-file FILE."
        ) from err


def _first_line(err: Exception) -> str:
    return (str(err).strip() or type(err).__name__).splitlines()[0]


def _check_workers(connected: Cluster) -> None:
    """Refuse workers that would compute something else; those that come later check themselves."""
    # A function of Python itself, which workers without this package can run, too.
    found = connected.client.run(metadata.version, "bayesbias", on_error="return")
    others = {str(value) for value in found.values() if not isinstance(value, Exception)}
    lacking = [worker for worker, value in found.items() if isinstance(value, Exception)]
    if lacking:
        raise ClusterError(
            f"{counted(len(lacking), 'worker')} of {connected.address} cannot import bayesbias, "
            f"such as {lacking[0]}; install version {own_version()} there."
        )
    if others - {own_version()}:
        raise version_error(own_version(), sorted(others - {own_version()}))
    if not found:
        _log.warning("%s has no workers yet; work begins when one joins.", connected.address)
    if any(number > 1 for number in connected.client.nthreads().values()):
        warn(
            "workers have several threads, of which one at a time is used; start one worker per "
            "core, with one thread: dask worker --nworkers 8 --nthreads 1."
        )
