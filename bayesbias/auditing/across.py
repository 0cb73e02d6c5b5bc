"""Several embeddings beside each other: one model of all, and rankings by the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from bayesbias._intervals import describe
from bayesbias.auditing.folder import Folder
from bayesbias.auditing.steps import CHAINS, Part, stop_if_interrupted, write_csv
from bayesbias.constants import CONNECTIONS
from bayesbias.errors import DataError, warn
from bayesbias.evaluation import rank_posterior
from bayesbias.evaluation.study_queries import study_queries
from bayesbias.inference import Fit, fit
from bayesbias.inference.estimates import flat

_RANKING = ["metric", "embedding", "score", "lower", "upper", "expected_rank", "p_best"]


def compare_embeddings(folder: Folder, name: str, parts: Sequence[Part]) -> None:
    """Compare the embeddings of one study; `name` is what its files begin with."""
    options, study = parts[0].options, parts[0].study
    embeddings = [part.embedding for part in parts]

    def make(contrasts: Path, ranking: Path) -> None:
        # The same words in the same order, for all embeddings.
        table = pd.concat([part.table.astype({"embedding": "str"}) for part in parts])
        made = fit(
            table,
            "embeddings",
            draws=options.draws,
            chains=CHAINS,
            seed=options.seed,
            progress=options.progress,
        )
        stop_if_interrupted(made)
        write_csv(_contrasts(made, options.prob), contrasts)
        found = []
        for metric, queries in study_queries(options.metrics, study)[0]:
            try:
                posterior = rank_posterior(
                    metric,
                    list(queries.values()),
                    embeddings,
                    draws=CHAINS * options.draws,
                    prob=options.prob,
                    lost_vocabulary_threshold=options.lost_vocabulary_threshold,
                    fallbacks=options.fallbacks,
                    seed=options.seed,
                    n_jobs=options.n_jobs,
                    progress=options.progress,
                )
            except DataError as err:  # no query has a value in all of them
                warn(f"not ranked by {metric.name}: {err}")
            else:
                found.append(posterior.table.assign(metric=metric.name))
        write_csv(pd.concat(found) if found else pd.DataFrame(columns=_RANKING), ranking)

    inputs = {
        "tables": [part.keys["table"] for part in parts],
        "scores": [part.keys["scores"] for part in parts],
        "prob": options.prob,
        "draws": options.draws,
        "seed": options.seed,
    }
    files = (f"{name}-contrasts.csv", f"{name}-ranking.csv")
    folder.step(f"embeddings {study.name}", inputs, files, make)


def _contrasts(made: Fit, prob: float) -> pd.DataFrame:
    """Return the contrasts of each embedding, and of each two their differences."""
    there = made.data.levels["connection"]
    rows = []
    for other in [name for name in reversed(CONNECTIONS) if name in there[1:]]:
        contrast = f"associated - {other}"
        array = made.contrast_draws(contrast, by="embedding")
        names = [str(name) for name in array["embedding"].to_numpy()]
        draws = flat(array.transpose("chain", "draw", "embedding"))
        pairs = list(combinations(range(len(names)), 2))
        columns = [draws, *(draws[:, [i]] - draws[:, [j]] for i, j in pairs)]
        values = np.concatenate(columns, axis=1)
        numbers = describe(values, prob)
        numbers["P(<0)"] = (values < 0).mean(axis=0)
        numbers.insert(0, "contrast", contrast)
        numbers.insert(1, "embedding", [*names, *(names[i] for i, _ in pairs)])
        numbers.insert(2, "second", [*([""] * len(names)), *(names[j] for _, j in pairs)])
        rows.append(numbers)
    return pd.concat(rows, ignore_index=True)
