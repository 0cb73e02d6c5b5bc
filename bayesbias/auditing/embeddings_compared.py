"""Several embeddings beside each other: contrasts, their differences, rankings by metrics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias._core.constants import CONNECTIONS
from bayesbias.auditing import artifacts
from bayesbias.auditing.audit_folder import Folder
from bayesbias.auditing.audit_options import FREQUENCY, Options
from bayesbias.auditing.audit_steps import (
    CHAINS,
    Part,
    joined,
    stop_if_interrupted,
)
from bayesbias.auditing.effect_tables import put_at_equal_frequency
from bayesbias.auditing.report.difference_text import OTHERS
from bayesbias.errors import BayesBiasWarning, DataError, warn
from bayesbias.models import fit_paired
from bayesbias.parallel import in_parallel
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
    words, so what a word is like in both cancels. Beside each stands the one at equal frequency.
    """
    options = parts[0].options
    contrasts = _common_contrasts(parts)
    labels = [(part.embedding.name, "") for part in parts]
    of_each = [_own(part, contrasts) for part in parts]
    pairs = list(combinations(parts, 2))
    labels += [(first.embedding.name, second.embedding.name) for first, second in pairs]
    tasks = ((second.table, first.table, options, contrasts) for first, second in pairs)
    shared = [part.table for part in parts]
    for tables, warned in in_parallel(_difference, tasks, n_jobs=options.n_jobs, shared=shared):
        of_each.append(tables)
        for text in warned:
            warn(text)
    for (name, second), tables in zip(labels, of_each, strict=True):
        for table in tables:
            table.insert(1, "embedding", name)
            table.insert(2, "second", second)
    return joined([table for of_contrast in zip(*of_each, strict=True) for table in of_contrast])


def _own(part: Part, contrasts: Sequence[str]) -> list[pd.DataFrame]:
    """Return the contrasts of one embedding; of its two fits, one is in memory at a time."""
    prob = part.options.prob
    own = [part.fitted(part.lead).contrasts(contrast, prob=prob) for contrast in contrasts]
    part.loaded_fits.clear()
    equal = part.read_fit_at_equal_frequency()
    for raw, contrast in zip(own, contrasts, strict=True):
        same = None if equal is None else equal.contrasts(contrast, prob=prob)
        put_at_equal_frequency(raw, same)
    return own


def _common_contrasts(parts: Sequence[Part]) -> list[str]:
    """Return the contrasts that the tables of all embeddings have."""
    common = set.intersection(*(set(part.table["connection"].unique()) for part in parts))
    return [f"associated - {name}" for name in reversed(CONNECTIONS[1:]) if name in common]


def _difference(
    second: pd.DataFrame, first: pd.DataFrame, options: Options, contrasts: Sequence[str]
) -> tuple[list[pd.DataFrame], list[str]]:
    """Return contrasts of the difference of two embeddings, and what there is to be warned of."""

    def changes(covariates: Sequence[str]) -> list[pd.DataFrame]:
        fitted = fit_paired(
            second,
            first,
            draws=options.draws,
            chains=CHAINS,
            seed=options.seed,
            covariates=covariates,
            progress=options.progress,
        )
        stop_if_interrupted(fitted.joint)
        return [fitted.changes(contrast, prob=options.prob) for contrast in contrasts]

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BayesBiasWarning)
        tables = changes([])
        has_frequency = FREQUENCY in first and FREQUENCY in second
        adjusted = changes([FREQUENCY]) if has_frequency else [None] * len(tables)
    for raw, same in zip(tables, adjusted, strict=True):
        put_at_equal_frequency(raw, same)
    texts = []
    for one in caught:
        if issubclass(one.category, BayesBiasWarning):
            texts.append(str(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return tables, list(dict.fromkeys(texts))  # those of both models once
