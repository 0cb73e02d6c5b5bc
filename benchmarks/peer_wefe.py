"""Time WEFE; run by metrics.py and debias.py with an interpreter that has WEFE.

Each line of standard input is a question in JSON: {"model": path, "words": ...} loads vectors,
{"metric": ...} times a query on them, {"debias": ...} times a method on random vectors. The answer
is one line.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from measuring import peak


def load(path: str, words: list[str]) -> Any:
    """Return a model of words with the vectors of a file."""
    from gensim.models import KeyedVectors
    from wefe.word_embedding_model import WordEmbeddingModel

    with np.load(path) as file:
        vectors = file["vectors"]
    keyed = KeyedVectors(vectors.shape[1])
    keyed.add_vectors(words, vectors)
    return WordEmbeddingModel(keyed, "model")


def measured(asked: dict[str, Any], model: Any) -> float:
    """Return the seconds of one query."""
    from wefe import metrics
    from wefe.query import Query

    metric, query = (
        getattr(metrics, asked["metric"])(),
        Query(asked["targets"], asked["attributes"]),
    )
    start = time.perf_counter()
    metric.run_query(query, model, **asked["options"])
    return time.perf_counter() - start


def debiased(asked: dict[str, Any]) -> tuple[float, float]:
    """Return the seconds of a method, and by how many MB the memory grew."""
    from gensim.models import KeyedVectors
    from wefe.debias.double_hard_debias import DoubleHardDebias
    from wefe.debias.half_sibling_regression import HalfSiblingRegression
    from wefe.debias.hard_debias import HardDebias
    from wefe.debias.multiclass_hard_debias import MulticlassHardDebias
    from wefe.word_embedding_model import WordEmbeddingModel

    words, pairs = asked["words"], asked["pairs"]
    keyed = KeyedVectors(asked["dim"])
    rng = np.random.default_rng(0)
    keyed.vectors = rng.standard_normal((len(words), asked["dim"]), dtype=np.float32)
    keyed.key_to_index, keyed.index_to_key = {word: i for i, word in enumerate(words)}, words
    m = WordEmbeddingModel(keyed, "model")
    methods: dict[str, Callable[[], object]] = {
        "hard_debias": lambda: HardDebias().fit(m, definitional_pairs=pairs).transform(m),
        "multiclass_hard_debias": lambda: (
            MulticlassHardDebias(pca_args={"n_components": 2})
            .fit(m, definitional_sets=pairs, equalize_sets=pairs)
            .transform(m)
        ),
        "double_hard_debias": lambda: (
            DoubleHardDebias(n_words=500)
            .fit(m, definitional_pairs=pairs, bias_representation=["he", "she"])
            .transform(m, ignore=[])
        ),
        "half_sibling_regression": lambda: (
            HalfSiblingRegression()
            .fit(m, definitional_words=asked["specific"], alpha=60)
            .transform(m)
        ),
    }
    before = peak()
    start = time.perf_counter()
    # It prints, and shows bars that cannot be turned off.
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        methods[asked["debias"]]()
    seconds = time.perf_counter() - start
    return seconds, peak() - before


def main() -> None:
    """Answer until there are no more questions."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    model = None
    for line in sys.stdin:
        asked = json.loads(line)
        answer: object = None
        if "model" in asked:
            model = load(asked["model"], asked["words"])
        elif "metric" in asked:
            answer = measured(asked, model)
        else:
            answer = debiased(asked)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
