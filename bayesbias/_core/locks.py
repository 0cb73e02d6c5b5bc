"""Locks: one run at a time writes to a folder or a file."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from bayesbias._core.files import is_running
from bayesbias.errors import BayesBiasError, DataError

#: The name of the file that says who writes to a folder, and the ending of those for files.
LOCK = ".lock"


class _Lock:
    """A file that says which process holds a path."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def holder(self, *, wait_for_text: bool = True) -> dict[str, object] | None:
        """Return who holds it; None if nobody does, or if that is a process that was killed."""
        # The file is there a moment before its text is.
        for wait in (0.05, 0.2, 0.5, 0.0) if wait_for_text else (0.0,):
            try:
                text = self.path.read_text("utf-8", errors="replace")
            except FileNotFoundError:
                return None
            with suppress(ValueError, RecursionError):
                holder = json.loads(text)
                if isinstance(holder, dict) and isinstance(holder.get("process"), int):
                    return None if self._is_dead(holder) else holder
            time.sleep(wait)
        return None

    @staticmethod
    def _is_dead(holder: dict[str, object]) -> bool:
        process = holder["process"]
        assert isinstance(process, int)
        if holder.get("host") != socket.gethostname() or not 0 < process < 2**31:
            return False
        if not is_running(process):
            return True
        # Numbers of processes are used again; the later process began at another time.
        return holder.get("began") not in (None, _began(process))

    def take(self) -> dict[str, object] | None:
        """Take it, and return None; or who holds it."""
        for _ in range(100):
            try:
                handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            except FileExistsError:
                if (holder := self.holder()) is not None:
                    return holder
                if self._take_over():
                    return None
                time.sleep(0.01)
                continue
            with os.fdopen(handle, "r+b") as stream:
                _lock_while_open(stream.fileno())
                if stream.read(1):  # another one took it for one that a killed process left
                    continue
                try:
                    self._sign(stream.fileno())
                except OSError:
                    self.path.unlink(missing_ok=True)
                    raise
            return None
        raise DataError(f"{self.path}: cannot be replaced; remove it.")

    def _take_over(self) -> bool:
        """Sign the file of a process that is dead; of several that try, one does."""
        try:
            # Whoever made the folder could have made a link to a file elsewhere.
            handle = os.open(self.path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            return False
        with os.fdopen(handle, "r+b") as stream:
            _lock_while_open(stream.fileno())
            same = self.path.exists() and os.path.samestat(
                os.fstat(stream.fileno()), self.path.stat()
            )
            # Another one may have signed it while this one waited.
            if not same or self.holder(wait_for_text=False) is not None:
                return False
            self._sign(stream.fileno())
        return True

    @staticmethod
    def _sign(handle: int) -> None:
        text = {
            "process": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
            "began": _began(os.getpid()),
        }
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, json.dumps(text).encode() + b"\n")


def _began(process: int) -> str | None:
    """Return when a process of this computer began, in the words of its system; None if unknown."""
    try:
        # The name of the program, in brackets, may hold spaces and brackets.
        fields = Path(f"/proc/{process}/stat").read_text("utf-8", errors="replace")
        return fields.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def _lock_while_open(handle: int) -> None:
    """Let one process at a time go on, until the file is closed; where the system can."""
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)


def _refuse_held(path: Path, lock: Path, holder: dict[str, object]) -> DataError:
    since = str(holder.get("since", ""))[:16].replace("T", " ")
    return DataError(
        f"{path} is being written by process {holder['process']} on {holder.get('host')}"
        f"{f', since {since} UTC' if since else ''}; wait for it, or give another place. If it "
        f"does not run any more, remove {lock}."
    )


def lock_path(path: Path) -> Path:
    """Return the file that says who writes to a path: in a folder, or beside a file."""
    return path / LOCK if path.is_dir() else path.with_name(f".{path.name}{LOCK}")


def check_free(path: Path) -> None:
    """Refuse a path that another process writes to, before long work."""
    lock = lock_path(path)
    with suppress(OSError):  # `locked` says it
        holder = _Lock(lock).holder()
        if holder is not None:
            raise _refuse_held(path, lock, holder)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let no other run write to a folder, or to a file, for as long as this one does.

    A file says which process on which computer it is. One that was killed on this computer does not
    hold anything any more.

    Raises
    ------
    DataError
        If another run writes to it; its process and computer are named.
    """
    lock = lock_path(path)
    try:
        holder = _Lock(lock).take()
    except OSError as err:
        if isinstance(err, BayesBiasError):
            raise
        raise DataError(f"{path}: cannot be written ({err.strerror or err}).") from err
    if holder is not None:
        raise _refuse_held(path, lock, holder)
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
