"""Word vectors: the embedding, its files, looking words up."""

from bayesbias.embeddings.embedding import (
    Embedding,
    as_embeddings,
    check_embedding,
    describe,
    unit_rows,
    unit_vectors,
)
from bayesbias.embeddings.files import FORMATS, guess_format, load_embedding
from bayesbias.embeddings.lookup import Lookup
from bayesbias.embeddings.named import DOWNLOADS, NAMED, demo_ranks
from bayesbias.embeddings.neighbours import nearest

__all__ = [
    "DOWNLOADS",
    "FORMATS",
    "NAMED",
    "Embedding",
    "Lookup",
    "as_embeddings",
    "check_embedding",
    "demo_ranks",
    "describe",
    "guess_format",
    "load_embedding",
    "nearest",
    "unit_rows",
    "unit_vectors",
]
