"""Compressed files from strangers: none is unpacked that was made to fill the memory."""

from __future__ import annotations

import gzip
from typing import IO

from bayesbias.errors import DataError

#: Bytes that a file may unpack to however small it is.
UNPACKED_ANYWAY = 1 << 28
#: Beyond that, how many times its own size: numbers hardly get smaller when they are compressed.
LARGEST_RATIO = 100


def check_unpacked(what: str, packed: int, unpacked: int) -> None:
    """Refuse a file that unpacks to far more than files of numbers do.

    >>> check_unpacked("a.npz", packed=1_000, unpacked=100_000)
    >>> check_unpacked("a.npz", packed=1_000, unpacked=10**10)
    Traceback (most recent call last):
      ...
    bayesbias.errors.DataError: a.npz: 1,000 bytes unpack to 10,000,000,000 or more, which files of
    numbers never do; the file is damaged or malicious.
    """
    if unpacked > max(UNPACKED_ANYWAY, LARGEST_RATIO * packed):
        raise DataError(
            f"{what}: {packed:,} bytes unpack to {unpacked:,} or more, which files of numbers "
            "never do; the file is damaged or malicious."
        )


class CheckedGzip(gzip.GzipFile):
    """A gzip file that is checked while it is unpacked."""

    def __init__(self, raw: IO[bytes], what: str) -> None:
        super().__init__(fileobj=raw, mode="rb")
        self._raw = raw
        self._what = what

    def read(self, size: int | None = -1) -> bytes:
        """Return the next bytes, if what was unpacked so far is plausible."""
        data = super().read(size)
        check_unpacked(self._what, self._raw.tell(), self.tell())
        return data
