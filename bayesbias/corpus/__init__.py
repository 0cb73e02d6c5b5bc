"""Text: corpora of any size, their words, tags and embeddings."""

from bayesbias.corpus.corpus import Corpus, check_corpus, read_corpus
from bayesbias.corpus.tagging import tag_words
from bayesbias.corpus.training import train_embedding, train_replicates

__all__ = [
    "Corpus",
    "check_corpus",
    "read_corpus",
    "tag_words",
    "train_embedding",
    "train_replicates",
]
