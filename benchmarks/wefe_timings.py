"""Time WEFE on queries from standard input; run by metrics.py with an interpreter that has WEFE.

Standard input: a JSON object with the path of the model and the cases; standard output: seconds.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

import numpy as np


def main() -> None:
    """Print the seconds of each case as JSON."""
    from gensim.models import KeyedVectors
    from wefe import metrics
    from wefe.query import Query
    from wefe.word_embedding_model import WordEmbeddingModel

    logging.disable(logging.CRITICAL)
    asked = json.load(sys.stdin)
    with np.load(asked["model"]) as file:
        words, vectors = file["words"], file["vectors"]
    keyed = KeyedVectors(vectors.shape[1])
    keyed.add_vectors([str(word) for word in words], vectors)
    model = WordEmbeddingModel(keyed, "model")

    def seconds(case: dict[str, Any]) -> float:
        metric = getattr(metrics, case["metric"])()
        query = Query(case["targets"], case["attributes"])
        durations = []
        for _ in range(case["repeats"]):
            start = time.perf_counter()
            metric.run_query(query, model, **case["options"])
            durations.append(time.perf_counter() - start)
        return min(durations)

    print(json.dumps({case["name"]: seconds(case) for case in asked["cases"]}))


if __name__ == "__main__":
    main()
