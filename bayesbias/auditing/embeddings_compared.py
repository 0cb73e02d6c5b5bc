"""Several embeddings beside each other: contrasts, their differences, rankings by metrics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias._core.constants import CONNECTIONS
from bayesbias.auditing import artifacts
from bayesbias.auditing.audit_folder import Folder
from bayesbias.auditing.audit_steps import CHAINS, Part, joined, stop_if_interrupted
from bayesbias.auditing.report.difference_text import OTHERS
from bayesbias.errors import DataError, warn
from bayesbias.models import fit_difference
from bayesbias.plots import plot_embeddings
from bayesbias.rankings import rank_posterior, study_queries


def compare_embeddings(folder: Folder, file: str, parts: Sequence[Part]) -> None:
    """Compare the embeddings of one study; `file` is what its files begin with."""
    options = parts[0].options

    def make(*paths: Path) -> None:
        contrasts = _contrasts(parts)
        contents: dict[artifacts.Artifact[Any], Any] = {
            artifacts.BETWEEN: contrasts,
            artifacts.RANKING: _ranking(parts),
            artifacts.BETWEEN_FIGURE: partial(
                plot_embeddings, contrasts, OTHERS, prob=options.prob
            ),
        }
        artifacts.EMBEDDINGS_STEP.write(contents, *paths)

    inputs = {
        "fits": [part.fit_key(part.lead) for part in parts],
        "scores": [part.key(artifacts.SCORES_STEP) for part in parts],
        "prob": options.prob,
        "draws": options.draws,
        "seed": options.seed,
    }
    step = artifacts.EMBEDDINGS_STEP
    folder.step(step.label(parts[0].study.name), inputs, step.paths(file), make)


def _ranking(parts: Sequence[Part]) -> pd.DataFrame:
    """Return the embeddings ranked by each metric."""
    options = parts[0].options
    tables = []
    for metric, queries in study_queries(options.metrics, parts[0].study)[0]:
        try:
            posterior = rank_posterior(
                metric,
                list(queries.values()),
                [part.embedding for part in parts],
                draws=CHAINS * options.draws,
                prob=options.prob,
                seed=options.seed,
                n_jobs=options.n_jobs,
                progress=options.progress,
            )
        except DataError as err:  # no query has a value in all of them
            warn(f"not ranked by {metric.name}: {err}")
        else:
            tables.append(posterior.table.assign(metric=metric.name))
    return joined(tables)


def _contrasts(parts: Sequence[Part]) -> pd.DataFrame:
    """Return the contrasts of each embedding, and of each two their differences.

    Each embedding's own are those of its leading model. A difference is that of the same pairs of
    words, so what a word is like in both cancels.
    """
    options = parts[0].options
    leading = {part.embedding.name: part.fitted(part.lead) for part in parts}
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
    for fitted in differences.values():
        stop_if_interrupted(fitted)
    common = set.intersection(*(set(fit.data.levels["connection"]) for fit in leading.values()))
    tables = []
    for other in [name for name in reversed(CONNECTIONS[1:]) if name in common]:
        contrast = f"associated - {other}"
        fits = [((name, ""), fit) for name, fit in leading.items()]
        for (name, second), fit in [*fits, *differences.items()]:
            table = fit.contrasts(contrast, prob=options.prob)
            table.insert(1, "embedding", name)
            table.insert(2, "second", second)
            tables.append(table)
    return joined(tables)
