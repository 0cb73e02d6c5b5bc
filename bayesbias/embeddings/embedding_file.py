"""Embeddings in other processes: read from their files there, not sent."""

from __future__ import annotations

import hashlib
import socket
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bayesbias.embeddings.matching import Matching
from bayesbias.errors import BayesBiasWarning, ClusterError, NotFoundError, warn
from bayesbias.parallel import current_cluster

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding

# Bytes: what is larger and has no file takes long to send.
_LARGE = 100_000_000
# The rows by which a worker knows that it reads the same file.
_ROWS = 1000
# The embeddings that a worker keeps, as the next task may need the same.
_KEPT = 4


@dataclass(frozen=True)
class EmbeddingFile:
    """Where an embedding was read from, and how."""

    source: str
    format: str | None
    limit: int | None
    trust: bool


@dataclass(frozen=True)
class SentEmbedding:
    """An embedding as another process gets it: by its file."""

    file: EmbeddingFile
    name: str
    matching: Matching
    digest: str


#: An embedding, or how another process reads it.
Sent: TypeAlias = "Embedding | SentEmbedding"


def to_send(embedding: Embedding) -> Sent:
    """Return an embedding as the workers of a cluster are to get it, by its file if it has one."""
    if current_cluster() is None:
        return embedding
    if embedding._file is None:
        if embedding.vectors.nbytes > _LARGE:
            warn(
                f"{embedding.name} ({embedding.vectors.nbytes / 1e6:,.0f} MB) was not read from a "
                "file as it is, so that all of it is sent to the workers; save it as .npy and load "
                "it from there."
            )
        return embedding
    return SentEmbedding(embedding._file, embedding.name, embedding.matching, _digest(embedding))


def received(sent: Sent) -> Embedding:
    """Return an embedding that was sent; one with a file is read from it, and mapped if it can be.

    Raises
    ------
    ClusterError
        If the file is not there on this computer, or holds something else.
    """
    return _read(sent) if isinstance(sent, SentEmbedding) else sent


@lru_cache(maxsize=_KEPT)
def _read(sent: SentEmbedding) -> Embedding:
    from bayesbias.embeddings.loading import load_embedding

    file = sent.file
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesBiasWarning)  # the client has seen them
        try:
            embedding = load_embedding(
                file.source,
                sent.name,
                format=file.format,
                limit=file.limit,
                trust=file.trust,
                matching=sent.matching,
                progress=False,
            )
        except NotFoundError as err:
            raise ClusterError(
                f"the worker on {socket.gethostname()} does not find {file.source}; put it where "
                "all machines of the cluster see it by the same name."
            ) from err
    if _digest(embedding) != sent.digest:
        raise ClusterError(
            f"{file.source} is not the same on the worker {socket.gethostname()}; copy it there, "
            "or load it again if it has changed."
        )
    return embedding


def _digest(embedding: Embedding) -> str:
    """Return a hash of the size of an embedding and of some rows, spread over all of it."""
    rows = np.unique(np.linspace(0, len(embedding) - 1, _ROWS).astype(np.intp))
    digest = hashlib.sha256(f"{len(embedding)} {embedding.dim}".encode())
    words = "\0".join(embedding.words[row] for row in rows.tolist())
    digest.update(words.encode("utf-8", "surrogatepass"))
    digest.update(np.ascontiguousarray(embedding.vectors[rows], dtype="<f4").tobytes())
    return digest.hexdigest()
