"""Kill runs at random moments, and see whether anything is lost, mixed or left behind.

``python scripts/kill_runs.py --kills 200`` begins audits, debiasing, silhouettes and calibrations,
ends each with SIGKILL at a random moment, up to three times, lets the last one finish, and compares
its results with those of a run that was not killed. It also begins two different runs to one place
at once, of which one must be refused, and writes fits to a disk that is full. It prints one table
and exits with 1 if anything went wrong. It needs a system that can fork.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import bayesbias as bb
from bayesbias.auditing.audit_folder import check_unchanged
from bayesbias.errors import BayesBiasError

Job = Callable[[Path, int], None]
#: Exit codes of a process that does a job.
DONE, REFUSED, FAILED = 0, 2, 3
#: A run is killed at most so often before it may finish.
TIMES = 3
# Contain the time or how long something took; whether they are whole is checked by other means.
_WITH_TIMES = (".json", ".html", ".nc")


def embedding(which: int, words: int = 3_000, dim: int = 50) -> bb.Embedding:
    """Return the demo embedding, or another one of the same words, and words that nobody knows."""
    demo = bb.load_embedding("demo")
    rng = np.random.default_rng(which)
    vectors = demo.vectors + np.float32(0.01 * which) * rng.standard_normal(
        demo.vectors.shape, dtype=np.float32
    )
    more = rng.standard_normal((words, dim), dtype=np.float32)
    return bb.Embedding(
        [*demo.words, *(f"word-{i}" for i in range(words))],
        np.concatenate([vectors, more]),
        f"embedding-{which}",
    )


def audit(place: Path, which: int) -> None:
    """Audit an embedding with few models and draws."""
    bb.audit(
        embedding(which),
        "religion",
        out=place / "audit",
        models=["connection", "hierarchical"],
        metrics="mac",
        draws=100,
        confirm=False,
        silhouettes=False,
        progress=False,
    )


def debias_npy(place: Path, which: int) -> None:
    """Debias an embedding that has several blocks of rows, to the file that can be resumed."""
    large = embedding(which, words=150_000)
    fitted = bb.debias.HardDebias().fit(large)
    fitted.transform(large, out=place / "after.npy", progress=False)


def debias_text(place: Path, which: int) -> None:
    """Debias by the command line, to a format that is not resumed row by row."""
    from bayesbias.cli import main

    source = place.parent / f"before-{which}.npy"
    # A run that was killed after its last step has left the whole file.
    main(["debias", str(source), str(place / "after.txt"), "--force", "--quiet"])


def silhouettes(place: Path, which: int) -> None:
    """Measure runs that are kept in a folder."""
    bb.silhouettes(
        "weat_es",
        "weat_7",
        embedding(which),
        runs=40,
        seed=0,
        progress=False,
        resume=place / "runs",
    )


def calibrate(place: Path, which: int) -> None:
    """Simulate and fit tables that are kept in a folder."""
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    bb.calibrate(
        "connection",
        table,
        simulations=20 + which,
        draws=99,
        seed=which,
        out=place / "calibration",
        progress=False,
    )


JOBS: dict[str, Job] = {
    "audit": audit,
    "debias .npy": debias_npy,
    "debias .txt": debias_text,
    "silhouettes": silhouettes,
    "calibrate": calibrate,
}
#: Two of them that do different things must not write to one place; runs of silhouettes may.
EXCLUSIVE = ("audit", "debias .npy", "debias .txt", "calibrate")


@dataclass
class Row:
    """What happened to the runs of a job."""

    job: str
    kills: int = 0
    finished: int = 0
    refused: int = 0
    problems: list[str] = field(default_factory=list)


def begin(job: Callable[[], None]) -> int:
    """Do a job in a process of its own and return the number of the process."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    code = FAILED
    try:
        warnings.simplefilter("ignore")
        job()
        code = DONE
    except BayesBiasError as err:
        print(f"  refused: {err}", file=sys.stderr)
        code = REFUSED
    except SystemExit as stop:
        code = int(stop.code or 0)
    except BaseException as err:
        print(f"  {type(err).__name__}: {err}", file=sys.stderr)
    finally:
        sys.stderr.flush()
        os._exit(code)


def end(process: int) -> int:
    """Wait for a process and return its exit code, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def results(place: Path) -> dict[str, str]:
    """Return the hash of each file whose content does not depend on the time."""
    return {
        str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.suffix not in _WITH_TIMES
    }


def left_behind(place: Path) -> list[str]:
    """Return what looks like a temporary file."""
    return [path.name for path in place.rglob(".*")]


def check(place: Path, expected: dict[str, str], row: Row) -> None:
    """Compare a finished run with one that was not killed."""
    found = results(place)
    for name in sorted(set(found) | set(expected)):
        if found.get(name) != expected.get(name):
            row.problems.append(f"{name} differs")
    row.problems += [f"left: {name}" for name in left_behind(place)]
    if (place / "audit").is_dir():
        check_unchanged(place / "audit")


def kill_job(name: str, kills: int, where: Path, rng: random.Random) -> Row:
    """Kill runs of a job, let each finish after some kills, and compare it."""
    row, job = Row(name), JOBS[name]
    whole = fresh(where / "whole")
    begun = time.monotonic()
    if end(begin(partial(job, whole, 0))) != DONE:
        row.problems.append("the run that was not killed failed")
        return row
    seconds = time.monotonic() - begun
    expected = results(whole)
    while row.kills < kills:
        place = fresh(where / "killed")
        for _ in range(rng.randint(1, TIMES)):
            if row.kills >= kills:
                break
            process = begin(partial(job, place, 0))
            time.sleep(rng.uniform(0, seconds))
            os.kill(process, signal.SIGKILL)
            end(process)
            row.kills += 1
        code = end(begin(partial(job, place, 0)))
        row.finished += code == DONE
        if code == DONE:
            check(place, expected, row)
        else:
            row.problems.append(f"exit code {code} after being killed")
    return row


def two_at_once(name: str, rounds: int, where: Path, rng: random.Random) -> Row:
    """Begin two different runs to one place; one must be done as if alone, one be refused."""
    row, job = Row(f"two at once: {name}"), JOBS[name]
    expected = []
    for which in (0, 1):
        place = fresh(where / f"alone-{which}")
        end(begin(partial(job, place, which)))
        expected.append(results(place))
    for _ in range(rounds):
        place = fresh(where / "shared")
        first = begin(partial(job, place, 0))
        time.sleep(rng.uniform(0, 0.1))
        second = begin(partial(job, place, 1))
        codes = [end(first), end(second)]
        row.finished += codes.count(DONE)
        row.refused += codes.count(REFUSED)
        # Debiasing may begin when the other one is done, and replaces its file.
        if sorted(codes) != [DONE, REFUSED] and not (codes == [DONE] * 2 and "debias" in name):
            row.problems.append(f"exit codes {codes}")
        elif results(place) not in expected:
            row.problems.append("the results are those of neither")
        row.problems += [f"left: {name}" for name in left_behind(place)]
    return row


def full_disk(rounds: int, where: Path, rng: random.Random) -> Row:
    """Write fits where there is less room than they need."""
    row, place = Row("full disk: fit"), fresh(where / "full")
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    fit = bb.fit(table, "hierarchical", draws=200, seed=0, progress=False)
    out = place / "fit.nc"
    fit.save(out)
    old = out.read_bytes()

    def save(room: int) -> None:
        # A limit on the size of files stands for a disk that is full.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        fit.save(out)

    for _ in range(rounds):
        code = end(begin(partial(save, rng.randint(0, len(old) - 1))))
        row.refused += code == REFUSED
        if code != REFUSED:
            row.problems.append(f"exit code {code}")
        if out.read_bytes() != old:
            row.problems.append("the old file is gone")
        row.problems += [f"left: {name}" for name in left_behind(place)]
    return row


def fresh(place: Path) -> Path:
    """Return an empty folder of that name."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    return place


def show(rows: list[Row]) -> None:
    """Print the table, and each problem once."""
    print(f"{'':28}{'kills':>8}{'finished':>10}{'refused':>9}{'problems':>10}")
    for row in rows:
        print(f"{row.job:28}{row.kills:8}{row.finished:10}{row.refused:9}{len(row.problems):10}")
    for row in rows:
        for problem in dict.fromkeys(row.problems):
            print(f"{row.job}: {problem} ({row.problems.count(problem)} times)")


def run(kills: int, rounds: int, seed: int, jobs: list[str]) -> list[Row]:
    """Do everything and return the rows of the table."""
    rng = random.Random(seed)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        # Threads do not survive a fork.
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            for which in (0, 1):
                embedding(which, words=20_000).save(where / f"before-{which}.npy")
            share, rest = divmod(kills, len(jobs))
            for place, name in enumerate(jobs):
                rows.append(kill_job(name, share + (place < rest), where, rng))
            for name in jobs:
                if rounds and name in EXCLUSIVE:
                    rows.append(two_at_once(name, rounds, where, rng))
            if rounds:
                rows.append(full_disk(rounds, where, rng))
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--kills", type=int, default=200, help="of all jobs together")
    parser.add_argument("--rounds", type=int, default=10, help="of two at once, and of full disks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--job", action="append", choices=list(JOBS), help="by default all")
    given: Any = parser.parse_args(arguments)
    rows = run(given.kills, given.rounds, given.seed, given.job or list(JOBS))
    show(rows)
    return int(any(row.problems for row in rows))


if __name__ == "__main__":
    sys.exit(main())
