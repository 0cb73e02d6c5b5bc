"""Files that only gensim can read: its own pickles, and fastText models with subwords."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.embeddings.formats.common import Rows, Wanted
from bayesbias.errors import DataError


def read_pickled(path: Path, wanted: Wanted, *, trust: bool) -> Rows:
    """Read KeyedVectors or a model that gensim saved, if the caller trusts the file."""
    if not trust:
        raise DataError(
            f"{path}: this is a pickle, as gensim's save() writes it, and opening a pickle runs "
            "whatever code its author put in. If you made the file or trust its source, pass "
            "trust=True (on the command line: --trust)."
        )
    from gensim.utils import SaveLoad

    try:
        model = SaveLoad.load(str(path))
    except Exception as err:  # a pickle may raise anything
        raise DataError(f"{path}: gensim cannot load the file ({err}).") from err
    keyed = getattr(model, "wv", model)
    if not hasattr(keyed, "index_to_key"):
        raise DataError(f"{path}: a {type(model).__name__}, which holds no word vectors.")
    return _from_keyed(keyed, wanted)


def read_fasttext(path: Path, wanted: Wanted, *, subwords: tuple[str, ...] = ()) -> Rows:
    """Read a fastText model; `subwords` are words to compose from their n-grams if need be."""
    from gensim.models.fasttext import load_facebook_vectors

    try:
        keyed = load_facebook_vectors(str(path))
    except (EOFError, struct.error, ValueError, AssertionError, NotImplementedError) as err:
        raise DataError(
            f"{path}: gensim cannot read this fastText model ({err}); it may be truncated, or "
            "quantised (.ftz), which is not supported."
        ) from err
    if not subwords:
        return _from_keyed(keyed, wanted)
    composed = [word for word in subwords if word not in keyed.key_to_index]
    notes = [f"{len(composed)} of {len(subwords)} words composed from subwords"]
    vectors = np.array([keyed.get_vector(word) for word in subwords], dtype=np.float32)
    return Rows(list(subwords), vectors, notes)


def _from_keyed(keyed: Any, wanted: Wanted) -> Rows:
    words = list(keyed.index_to_key)
    if wanted.words is None and wanted.limit is None:
        return Rows(words, keyed.vectors)
    rows = wanted.pick(words)
    return Rows([words[i] for i in rows], np.asarray(keyed.vectors)[rows])
