"""Text: corpora of any size, their words, tags and embeddings."""

# Names that are not in __all__ are for other rooms.
from bayesbias.corpus.cooccurrences import GroupPairs as GroupPairs
from bayesbias.corpus.cooccurrences import count_group_pairs as count_group_pairs
from bayesbias.corpus.corpus import Corpus, read_corpus
from bayesbias.corpus.corpus import check_corpus as check_corpus
from bayesbias.corpus.tagging import load_pipeline as load_pipeline
from bayesbias.corpus.tagging import tag_words
from bayesbias.corpus.training import train_embedding, train_replicates
from bayesbias.corpus.training_methods import PMI, GloVe

__all__ = [
    "PMI",
    "Corpus",
    "GloVe",
    "read_corpus",
    "tag_words",
    "train_embedding",
    "train_replicates",
]
