"""Metrics computed from a distance table, which has the cosines of words and not their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias._core.validation import word_list
from bayesbias._core.wording import did_you_mean, enumerated, quoted
from bayesbias.distances import check_table
from bayesbias.errors import DataError, SpecError
from bayesbias.metrics.score import Score

if TYPE_CHECKING:
    from bayesbias.metrics.base import Metric

# Attributes with these connections are stereotypes.
_STEREOTYPES = ("associated", "different")


@dataclass(frozen=True)
class TableSets:
    """The target and attribute sets of a table, with all cosines between their words."""

    #: The words of each group, and of each list.
    targets: dict[str, tuple[str, ...]]
    attributes: dict[str, tuple[str, ...]]
    #: For each group and each list, target words × attribute words.
    cosines: list[list[Array]]
    embedding: str


def table_sets(
    table: pd.DataFrame,
    targets: Sequence[str] | None,
    attributes: Sequence[str] | None,
) -> TableSets:
    """Return the sets of a table that were named, or its groups and stereotypes."""
    checked = check_table(table)
    embeddings = list(checked["embedding"].cat.categories)
    if len(embeddings) > 1:
        raise SpecError(
            f"the table has the distances of {len(embeddings)} embeddings ({quoted(embeddings)}), "
            "and a metric measures one; choose the rows of one: "
            f"table[table['embedding'] == {embeddings[0]!r}]."
        )
    groups = _named("targets", targets, checked, "protected_group")
    lists = (
        _stereotypes(checked, groups)
        if attributes is None
        else _named("attributes", attributes, checked, "word_class")
    )
    chosen = checked[checked["protected_group"].isin(groups) & checked["word_class"].isin(lists)]
    wide = chosen.pivot_table(
        index="protected_word", columns="word_to_compare", values="cosine_distance", observed=True
    )
    rows = _words_of(chosen, "protected_group", "protected_word", groups)
    columns = _words_of(chosen, "word_class", "word_to_compare", lists)
    cosines = [
        [1 - wide.loc[list(words), list(listed)].to_numpy() for listed in columns.values()]
        for words in rows.values()
    ]
    for words, of_group in zip(rows.values(), cosines, strict=True):
        for listed, block in zip(columns.values(), of_group, strict=True):
            gaps = np.argwhere(np.isnan(block))
            if len(gaps):
                raise DataError(
                    f"the table has no distance between {words[gaps[0][0]]!r} and "
                    f"{listed[gaps[0][1]]!r} ({len(gaps)} such pairs); a metric needs every pair "
                    "of its words: add it, or leave out one of the words."
                )
    return TableSets(rows, columns, cosines, embeddings[0])


def score_of_table(
    metric: Metric,
    table: pd.DataFrame,
    targets: Sequence[str] | None,
    attributes: Sequence[str] | None,
) -> Score:
    """Return the score of the words of a table; the method of `Metric` documents it."""
    if not metric.takes_cosines:
        raise SpecError(
            f"the metric {metric.name!r} needs the vectors of the words, and a table has only "
            "their distances; use run_query() with the embedding. 'mac', 'weat' and 'weat_es' can "
            "be computed from a table."
        )
    sets = table_sets(table, targets, attributes)
    for side, taken, given, noun in (
        ("targets", metric.template[0], sets.targets, "groups"),
        ("attributes", metric.template[1], sets.attributes, "lists"),
    ):
        if taken == "n" or taken == len(given):
            continue
        if len(given) < taken:
            raise DataError(
                f"the metric {metric.name!r} takes {taken} {noun}, and the table has only "
                f"{quoted(given)}; use a table with more of them, or 'mac', which takes any "
                "number."
            )
        raise SpecError(
            f"the metric {metric.name!r} takes {taken} {noun}, and there are {len(given)} "
            f"({quoted(given)}); name those to compare: {side}={list(given)[:taken]!r}."
        )
    value = float(metric.from_cosines(sets.cosines))
    names = [enumerated(list(side)) for side in (sets.targets, sets.attributes)]
    return Score(
        value=value,
        metric=metric.name,
        query_name=" wrt ".join(names),
        embedding=sets.embedding,
        details={metric.name: value, **metric.details_of_cosines(sets.cosines)},
        words={
            **{f"target: {name}": words for name, words in sets.targets.items()},
            **{f"attribute: {name}": words for name, words in sets.attributes.items()},
        },
        lost={},
        reason=None if np.isfinite(value) else metric.undefined,
        neutral_value=metric.neutral_value,
        value_range=metric.value_range,
    )


def _named(
    argument: str, names: Sequence[str] | None, table: pd.DataFrame, column: str
) -> list[str]:
    """Return the names that were given, all of them in the table, or all of the table."""
    known = [str(name) for name in table[column].cat.categories]
    if names is None:
        return known
    given = list(dict.fromkeys(word_list(argument, names)))
    for name in given:
        if name not in known:
            raise DataError(
                f"{argument!r} names {name!r}, which is not a {column!r} of the table; it has "
                f"{quoted(known)}.{did_you_mean(name, known)}"
            )
    if not given:
        raise SpecError(f"{argument!r} is empty; name some of {quoted(known)}.")
    return given


def _stereotypes(table: pd.DataFrame, groups: Sequence[str]) -> list[str]:
    """Return the lists of stereotypes: those of the groups in their order, then any others."""
    of_groups = table[table["protected_group"].isin(groups)]
    own = of_groups[of_groups["connection"] == "associated"]
    lists = [
        str(name)
        for group in groups
        for name in own.loc[own["protected_group"] == group, "word_class"].unique()
    ]
    if len(groups) == table["protected_group"].nunique():
        others = of_groups.loc[of_groups["connection"].isin(_STEREOTYPES), "word_class"]
        lists += [str(name) for name in others.unique()]
    if not lists:
        known = [str(name) for name in table["word_class"].cat.categories]
        raise DataError(
            "the table has no stereotypes (no row with the connection 'associated' or "
            f"'different' of {quoted(groups)}); name the lists to measure: attributes={known!r}."
        )
    return list(dict.fromkeys(lists))


def _words_of(
    table: pd.DataFrame, set_column: str, word_column: str, names: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    pairs = table[[set_column, word_column]].drop_duplicates()
    return {
        name: tuple(map(str, pairs.loc[pairs[set_column] == name, word_column])) for name in names
    }
