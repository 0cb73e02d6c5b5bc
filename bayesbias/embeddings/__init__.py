"""Word vectors: the embedding, its files, looking words up."""

# Names that are not in __all__ are for other rooms.
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.embedding import check_embedding as check_embedding
from bayesbias.embeddings.embedding import describe as describe
from bayesbias.embeddings.embedding import unit_rows as unit_rows
from bayesbias.embeddings.embedding import unit_vectors as unit_vectors
from bayesbias.embeddings.embedding_file import Sent as Sent
from bayesbias.embeddings.embedding_file import received as received
from bayesbias.embeddings.embedding_file import to_send as to_send
from bayesbias.embeddings.formats.added_formats import FileFormat
from bayesbias.embeddings.formats.array_files import vocabulary_path as vocabulary_path
from bayesbias.embeddings.formats.streams import check_separable as check_separable
from bayesbias.embeddings.loading import FORMATS as FORMATS
from bayesbias.embeddings.loading import EmbeddingLike as EmbeddingLike
from bayesbias.embeddings.loading import as_embedding as as_embedding
from bayesbias.embeddings.loading import as_embeddings as as_embeddings
from bayesbias.embeddings.loading import guess_format as guess_format
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.loading import warn_of_lost_ranks as warn_of_lost_ranks
from bayesbias.embeddings.loading import with_first_words as with_first_words
from bayesbias.embeddings.loading import writable_format as writable_format
from bayesbias.embeddings.matching import CASES as CASES
from bayesbias.embeddings.matching import Fallback as Fallback
from bayesbias.embeddings.matching import Matched, MatchedWords, Matching, Overlap, match
from bayesbias.embeddings.matching import as_matching as as_matching
from bayesbias.embeddings.matching import candidates as candidates
from bayesbias.embeddings.matching import check_matching as check_matching
from bayesbias.embeddings.matching import described as described
from bayesbias.embeddings.matching import one_vector_matching as one_vector_matching
from bayesbias.embeddings.named_sources import DOWNLOADS as DOWNLOADS
from bayesbias.embeddings.named_sources import NAMED as NAMED
from bayesbias.embeddings.named_sources import demo_ranks as demo_ranks
from bayesbias.embeddings.named_sources import download, downloads
from bayesbias.embeddings.named_sources import source_title as source_title
from bayesbias.embeddings.neighbours import nearest as nearest
from bayesbias.embeddings.similarity_spread import RANDOM_POINTS as RANDOM_POINTS
from bayesbias.embeddings.similarity_spread import similarity_spread

__all__ = [
    "Embedding",
    "FileFormat",
    "Matched",
    "MatchedWords",
    "Matching",
    "Overlap",
    "download",
    "downloads",
    "load_embedding",
    "match",
    "similarity_spread",
]
