"""Text: corpora of any size, their words, tags and embeddings."""

# Names that are not in __all__ are for other rooms.
from bayesbias.corpus.corpus import Corpus, read_corpus
from bayesbias.corpus.corpus import check_corpus as check_corpus
from bayesbias.corpus.tagging import load_pipeline as load_pipeline
from bayesbias.corpus.tagging import tag_words
from bayesbias.corpus.training import train_embedding, train_replicates

__all__ = [
    "Corpus",
    "read_corpus",
    "tag_words",
    "train_embedding",
    "train_replicates",
]
