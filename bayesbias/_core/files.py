"""Reading text, and writing files so that nothing half-written is ever left behind."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bayesbias._core.wording import did_you_mean
from bayesbias.errors import BayesBiasError, DataError

_SPREADSHEETS = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers")


def read_utf8(path: Path) -> str:
    """Return the text of a file, without a byte order mark."""
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as err:
        table = path.suffix.lower() in (".csv", ".tsv")
        how = " (in Excel: CSV UTF-8)" if table else ""
        raise DataError(f"{path}, byte {err.start:,}: not UTF-8; save it as UTF-8{how}.") from err


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_file(path: Path) -> bool:
    """Return whether there is such a file; what cannot be a name is not one."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a null character
        return False


def refuse_spreadsheet(path: Path) -> None:
    """Refuse the file of a spreadsheet program by its suffix."""
    if path.suffix.lower() in _SPREADSHEETS:
        raise DataError(
            f"{path}: files of spreadsheet programs cannot be read; save it as CSV (in Excel: CSV "
            "UTF-8)."
        )


def column_separator(first_line: str) -> str:
    """Return what separates the columns of a CSV file: in many languages it is a semicolon.

    >>> column_separator("word;group"), column_separator("word,group")
    (';', ',')
    """
    return ";" if ";" in first_line and "," not in first_line else ","


def missing_file_hint(path: Path) -> str:
    """Return what may be wrong with a path that leads nowhere, for a message; for a name nothing.

    >>> missing_file_hint(Path("demo"))
    ''
    >>> missing_file_hint(Path("no-such-folder/vectors.txt"))
    " There is no folder 'no-such-folder'."
    """
    if not path.suffix and path.name == str(path):
        return _file_called(path.name)
    try:
        if not path.parent.is_dir():
            return f" There is no folder {str(path.parent)!r}."
        similar = did_you_mean(path.name, os.listdir(path.parent))
    except (OSError, ValueError):
        return ""
    if similar or path.is_absolute():
        return similar
    return f" Relative paths begin at {os.getcwd()!r}."


def _file_called(name: str) -> str:
    """Return the file of this folder that has a name and a suffix, for a message."""
    files = [f"{name}{suffix}" for suffix in (".toml", ".json") if is_file(Path(name + suffix))]
    return f" Did you mean {files[0]!r}?" if files else ""


def check_folder(path: Path) -> None:
    """Refuse a path that cannot be written to, before the work whose result goes there."""
    if not path.parent.is_dir():
        raise DataError(f"{path}: the folder {path.parent} does not exist; make it first.")
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the name of a file.")
    if not os.access(path.parent, os.W_OK):
        raise DataError(f"{path}: the folder {path.parent} cannot be written to; give another.")


def make_folder(path: Path) -> None:
    """Make a folder to write to, and those above it; one that is there already will do."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        reason = "it is a file" if path.is_file() else err.strerror or err
        raise DataError(f"{path}: the folder cannot be made ({reason}); give another.") from err
    check_folder(path / "file")


def _temporary_prefix(path: Path) -> str:
    """Return how the temporary names for a path begin: with the computer and the process."""
    host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())
    return f".{path.name}.{host}~{os.getpid()}~"


def is_running(process: int) -> bool:
    """Return whether a process of this computer runs; where that cannot be asked, it does."""
    if sys.platform == "win32":  # there, asking would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _sweep(path: Path) -> None:
    """Remove the temporary files for a path that killed processes of this computer left."""
    start, _, _ = _temporary_prefix(path).partition("~")
    _remove_left(path.parent, re.escape(start))


def sweep_folder(folder: Path) -> None:
    """Remove all temporary files in a folder that killed processes of this computer left."""
    host, _, _ = _temporary_prefix(Path()).removeprefix("..").partition("~")
    _remove_left(folder, rf"\..+\.{re.escape(host)}")


def _remove_left(folder: Path, start: str) -> None:
    pattern = re.compile(rf"{start}~(\d{{1,10}})~", re.ASCII)
    for name in os.listdir(folder):
        if (match := pattern.match(name)) and not is_running(int(match[1])):
            left = folder / name
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield a folder for temporary files; those of killed processes are removed first."""
    place = Path(tempfile.gettempdir()) / "bayesbias"
    _sweep(place)
    with tempfile.TemporaryDirectory(prefix=_temporary_prefix(place)) as folder:
        yield Path(folder)


def to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk and not only in memory."""
    try:
        handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    except (PermissionError, IsADirectoryError):
        return  # Windows opens no folders
    try:
        os.fsync(handle)
    except OSError as err:
        # Some file systems cannot do this; others say only now that the disk is full.
        if err.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(handle)


@contextmanager
def atomic(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Yield temporary names beside the paths; rename them all at the end, remove them on failure.

    The temporary files stand in the folder of their targets, so the renaming never copies. Those
    that a killed process left there for the same targets are removed first. What is renamed is on
    the disk, not only on its way there: a power failure leaves the old file or the new one.
    """
    umask = os.umask(0)
    os.umask(umask)
    temporary: list[Path] = []
    try:
        for path in paths:
            check_folder(path)
            _sweep(path)
            handle, name = tempfile.mkstemp(
                dir=path.parent,
                prefix=_temporary_prefix(path),
                suffix="".join(path.suffixes[-2:]),
            )
            os.close(handle)
            os.chmod(name, 0o666 & ~umask)
            temporary.append(Path(name))
        yield tuple(temporary)
        for source in temporary:
            to_disk(source)
        for source, target in zip(temporary, paths, strict=True):
            os.replace(source, target)
        for folder in {path.parent for path in paths}:
            to_disk(folder)
    except OSError as err:
        if isinstance(err, BayesBiasError):
            raise
        raise DataError(f"{paths[0]}: cannot be written ({err.strerror or err}).") from err
    finally:
        for path in temporary:
            path.unlink(missing_ok=True)
