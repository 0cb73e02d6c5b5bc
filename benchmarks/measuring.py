"""What all benchmarks share: the records, the clock, peers in other environments, the table."""

from __future__ import annotations

import argparse
import json
import math
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
#: Interpreters with what cannot be installed beside bayesbias; the Makefile makes them.
WEFE = ROOT / ".venv-wefe" / "bin" / "python"
BAMBI = ROOT / ".venv-peers" / "bin" / "python"
#: WEFE's test model; the Makefile fetches it.
MODEL = ROOT / ".oracle" / "wefe-model.npz"
NOT_INSTALLED = "not installed"


@dataclass(frozen=True)
class Record:
    """How long some work took, in every repetition, beside a peer and the limit of the machine."""

    work: str
    size: str
    #: Seconds of each repetition.
    ours: tuple[float, ...]
    peer: str = ""
    #: Seconds of the peer, in turns with ours; empty if it is not installed.
    theirs: tuple[float, ...] = ()
    #: What the machine cannot do faster: copying, a matrix product, reading a file.
    limit: str = ""
    #: The seconds that this takes by itself.
    floor: float | None = None
    #: By how many MB the peak of the memory grew, ours and the peer's.
    memory: float | None = None
    peer_memory: float | None = None
    note: str = ""

    @property
    def seconds(self) -> float:
        """The median of our repetitions."""
        return statistics.median(self.ours)

    @property
    def peer_seconds(self) -> float | None:
        """The median of the peer's repetitions."""
        return statistics.median(self.theirs) if self.theirs else None

    @property
    def ratio(self) -> float | None:
        """How many times as long the peer took."""
        return None if self.peer_seconds is None else self.peer_seconds / self.seconds

    @property
    def spread(self) -> float | None:
        """The largest of our repetitions minus the smallest, as a share of the median."""
        if len(self.ours) < 2:
            return None
        return (max(self.ours) - min(self.ours)) / self.seconds

    @property
    def share(self) -> float | None:
        """The share of the time that the machine needs in any case."""
        return None if self.floor is None else self.floor / self.seconds


@dataclass(frozen=True)
class Growth:
    """The seconds of some work at growing sizes."""

    work: str
    #: What grows.
    axis: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    def exponent(self) -> tuple[float, float]:
        """Return the slope of log seconds on log size by least squares, and its standard error."""
        x, y = np.log(self.sizes), np.log(self.seconds)
        x = x - x.mean()
        slope = float(x @ y / (x @ x))
        rest = y - y.mean() - slope * x
        error = math.sqrt(float(rest @ rest) / (len(x) - 2) / float(x @ x))
        return slope, error


def clock(function: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def in_turns(
    ours: Callable[[], object], theirs: Callable[[], object], repeats: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the seconds of both in each repetition; what slows the machine slows both."""
    pairs = [(clock(ours), clock(theirs)) for _ in range(repeats)]
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


def repeated(function: Callable[[], object], repeats: int) -> tuple[float, ...]:
    """Return the seconds of each repetition."""
    return tuple(clock(function) for _ in range(repeats))


def check(holds: bool, what: str) -> None:
    """Stop a benchmark that does not compare the same work."""
    if not holds:
        raise AssertionError(f"The benchmark compares different results: {what}.")


def peak() -> float:
    """Return the largest resident memory of this process so far, in MB.

    Where there is ``/proc``, from there: what `getrusage` says includes that of the process that
    started this one.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = re.search(r"^VmHWM:\s*(\d+) kB", status.read_text("utf-8"), re.M)
    assert found is not None
    return int(found[1]) / 1024


def copy_seconds(bytes_moved: int) -> float:
    """Return how long the machine takes to copy this much, at the best of three."""
    source = np.ones(min(bytes_moved, 256 * 2**20), dtype=np.uint8)
    target = np.empty_like(source)
    target[:] = 0  # the pages exist
    best = min(repeated(lambda: np.copyto(target, source), 3))
    return best * bytes_moved / len(source)


def read_seconds(path: Path) -> float:
    """Return how long plain reading of a file takes, at the best of three; it is in the cache."""

    def read() -> None:
        with path.open("rb", buffering=0) as stream:
            while stream.read(2**22):
                pass

    return min(repeated(read, 3))


def apart(script: str, *arguments: object) -> Any:
    """Run a script with ``--one`` in a process of its own, and return the JSON that it prints."""
    command = [sys.executable, script, "--one", *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


class Peer:
    """A script that answers one line of JSON with another, in an environment of its own."""

    def __init__(self, interpreter: Path, script: str) -> None:
        command = [str(interpreter), str(Path(__file__).with_name(script))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **question: object) -> Any:
        """Return the answer to a question."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self._process.args!r} stopped; what it said is above.")
        return json.loads(answer)

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()


HEAD = ("work", "size", "peer", "peer's", "ours", "ratio", "spread", "share of limit", "memory")


def cells(record: Record) -> tuple[str, ...]:
    """Return a record as the cells of a table."""
    theirs = NOT_INSTALLED if record.peer and not record.theirs else _time(record.peer_seconds)
    return (
        record.work,
        record.size,
        record.peer,
        theirs,
        _time(record.seconds),
        "" if record.ratio is None else _short(record.ratio),
        "" if record.spread is None else f"{record.spread:.0%}",
        "" if record.share is None else f"{record.share:.0%} ({record.limit})",
        "" if record.memory is None else f"{record.memory:,.0f} MB",
    )


def growth_cells(growth: Growth) -> tuple[str, ...]:
    """Return the growth of some work as the cells of a table."""
    slope, error = growth.exponent()
    span = f"{growth.sizes[0]:,} to {growth.sizes[-1]:,} {growth.axis}"
    times = f"{_time(growth.seconds[0])} to {_time(growth.seconds[-1])}"
    return (growth.work, span, times, f"{slope:.2f} ± {error:.2f}")


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    unit, name = (60.0, "min") if seconds >= 60 else (1.0, "s") if seconds >= 1 else (1e-3, "ms")
    return f"{_short(seconds / unit)} {name}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def show(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of cells below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))


def alone(records: Callable[[bool], Iterator[Record]]) -> None:
    """Run one module from the command line, and print its table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true", help="small sizes, to try it")
    found = list(records(parser.parse_args().short))
    show([HEAD, *map(cells, found)])
    for record in found:
        if record.note:
            print(f"{record.work}, {record.size}: {record.note}.")


def as_json(found: Sequence[Record | Growth]) -> list[dict[str, Any]]:
    """Return records as dictionaries."""
    return [asdict(one) for one in found]
