"""Time WEFE's debiasing methods; run by debias.py with an interpreter that has WEFE.

Standard input: a JSON object with the size of the matrix and the lists; standard output: seconds,
and by how many GB the memory grew, for each method.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def main() -> None:
    """Print seconds and GB of each method as JSON."""
    from gensim.models import KeyedVectors
    from wefe.debias.double_hard_debias import DoubleHardDebias
    from wefe.debias.half_sibling_regression import HalfSiblingRegression
    from wefe.debias.hard_debias import HardDebias
    from wefe.debias.multiclass_hard_debias import MulticlassHardDebias
    from wefe.word_embedding_model import WordEmbeddingModel

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    asked = json.load(sys.stdin)
    rng = np.random.default_rng(0)
    words, dim = asked["words"], asked["dim"]

    def model() -> Any:
        keyed = KeyedVectors(dim)
        vectors = rng.standard_normal((len(words), dim), dtype=np.float32)
        keyed.key_to_index = {word: i for i, word in enumerate(words)}
        keyed.index_to_key, keyed.vectors = words, vectors
        return WordEmbeddingModel(keyed, "model")

    def hard(m: Any, copy: bool) -> None:
        HardDebias().fit(m, definitional_pairs=asked["pairs"]).transform(m, copy=copy)

    cases: dict[str, Callable[[Any], object]] = {
        "hard_debias": lambda m: hard(m, True),
        "hard_debias, in place": lambda m: hard(m, False),
        "multiclass_hard_debias": lambda m: (
            MulticlassHardDebias(pca_args={"n_components": 2})
            .fit(m, definitional_sets=asked["pairs"], equalize_sets=asked["pairs"])
            .transform(m)
        ),
        "double_hard_debias": lambda m: (
            DoubleHardDebias(n_words=500)
            .fit(m, definitional_pairs=asked["pairs"], bias_representation=["he", "she"])
            .transform(m, ignore=[])
        ),
        "half_sibling_regression": lambda m: (
            HalfSiblingRegression()
            .fit(m, definitional_words=asked["specific"], alpha=60)
            .transform(m)
        ),
    }
    result = {}
    for name, run in cases.items():
        m = model()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        # It prints, and shows bars that cannot be turned off.
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            run(m)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
        result[name] = (time.perf_counter() - start, grown / 1e6)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
