"""Archives for tests of downloads."""

from __future__ import annotations

import zipfile
from pathlib import Path


def zipped(path: Path, files: dict[str, str]) -> None:
    """Write texts into an archive."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
