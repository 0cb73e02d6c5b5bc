"""Several embeddings beside each other: contrasts, their differences, rankings by metrics."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pandas as pd

from bayesbias._core.constants import CONNECTIONS
from bayesbias.auditing.audit_folder import Folder
from bayesbias.auditing.audit_steps import CHAINS, Part, stop_if_interrupted, write_csv
from bayesbias.embeddings import Matching
from bayesbias.errors import DataError, warn
from bayesbias.models.paired import fit_difference
from bayesbias.rankings import rank_posterior
from bayesbias.rankings.study_queries import study_queries

_RANKING = ["metric", "embedding", "score", "lower", "upper", "expected_rank", "p_best"]


def compare_embeddings(folder: Folder, name: str, parts: Sequence[Part]) -> None:
    """Compare the embeddings of one study; `name` is what its files begin with."""
    options, study = parts[0].options, parts[0].study
    embeddings = [part.embedding for part in parts]

    def make(contrasts: Path, ranking: Path) -> None:
        write_csv(_contrasts(parts), contrasts)
        found = []
        for metric, queries in study_queries(options.metrics, study)[0]:
            try:
                posterior = rank_posterior(
                    metric,
                    list(queries.values()),
                    embeddings,
                    draws=CHAINS * options.draws,
                    prob=options.prob,
                    matching=Matching(options.fallbacks, options.lost_vocabulary_threshold),
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
        "fits": [part.keys[f"fit {part.lead}"] for part in parts],
        "scores": [part.keys["scores"] for part in parts],
        "prob": options.prob,
        "draws": options.draws,
        "seed": options.seed,
    }
    files = (f"{name}-contrasts.csv", f"{name}-ranking.csv")
    folder.step(f"embeddings {study.name}", inputs, files, make)


def _contrasts(parts: Sequence[Part]) -> pd.DataFrame:
    """Return the contrasts of each embedding, and of each two their differences.

    Each embedding's own are those of its leading model. A difference is that of the same pairs of
    words, so what a word is like in both cancels.
    """
    options = parts[0].options
    own = {part.embedding.name: part.fitted(part.lead) for part in parts}
    differences = {
        (first.embedding.name, second.embedding.name): fit_difference(
            second.table,
            first.table,
            draws=options.draws,
            chains=CHAINS,
            seed=options.seed,
            progress=options.progress,
        )
        for first, second in combinations(parts, 2)
    }
    for made in differences.values():
        stop_if_interrupted(made)
    there = set.intersection(*(set(fit.data.levels["connection"]) for fit in own.values()))
    rows = []
    for other in [name for name in reversed(CONNECTIONS[1:]) if name in there]:
        contrast = f"associated - {other}"
        fits = [((name, ""), fit) for name, fit in own.items()]
        for (name, second), fit in [*fits, *differences.items()]:
            found = fit.contrasts(contrast, prob=options.prob)
            found.insert(1, "embedding", name)
            found.insert(2, "second", second)
            rows.append(found)
    return pd.concat(rows, ignore_index=True)
