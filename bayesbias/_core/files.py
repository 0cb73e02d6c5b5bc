"""Reading text, and writing files so that nothing half-written is ever left behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bayesbias.errors import BayesBiasError, DataError


def read_utf8(path: Path) -> str:
    """Return the text of a file, without a byte order mark."""
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as err:
        raise DataError(f"{path}, byte {err.start:,}: not UTF-8; save it as UTF-8.") from err


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


@contextmanager
def atomic(*paths: Path) -> Iterator[tuple[Path, ...]]:
    """Yield temporary names beside the paths; rename them all at the end, remove them on failure.

    The temporary files stand in the folder of their targets, so the renaming never copies.
    """
    umask = os.umask(0)
    os.umask(umask)
    temporary: list[Path] = []
    try:
        for path in paths:
            check_folder(path)
            handle, name = tempfile.mkstemp(
                dir=path.parent, prefix=f".{path.name}.", suffix="".join(path.suffixes[-2:])
            )
            os.close(handle)
            os.chmod(name, 0o666 & ~umask)
            temporary.append(Path(name))
        yield tuple(temporary)
        for source, target in zip(temporary, paths, strict=True):
            os.replace(source, target)
    except OSError as err:
        if isinstance(err, BayesBiasError):
            raise
        raise DataError(f"{paths[0]}: cannot be written ({err.strerror or err}).") from err
    finally:
        for path in temporary:
            path.unlink(missing_ok=True)
