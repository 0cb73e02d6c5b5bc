"""The section on the word lists: their check, and how robust they are."""

from __future__ import annotations

import pandas as pd

from bayesbias._core.wording import capitalized, counted
from bayesbias.auditing.audit_result import AuditPart
from bayesbias.auditing.report.checks_text import lists as summary_of_lists
from bayesbias.auditing.report.section_blocks import SectionBlocks, figure
from bayesbias.html import Column, Definitions, Fold, Notice, Table, literal
from bayesbias.rankings import StudyLabels


def lists(part: AuditPart) -> SectionBlocks:
    """Write what the check of the lists found."""
    labels = StudyLabels(part.study)
    warned = [labels.text(warning) for warning in part.list_warnings]
    robustness = part.robustness
    if robustness is not None:
        robustness = robustness.assign(query=robustness["query"].map(labels.query))
    yield literal(" ".join(summary_of_lists(part.lists, warned, robustness)))
    if warned:
        text = "\n".join(f"- {literal(warning)}" for warning in warned)
        title = "Warning" if len(warned) == 1 else counted(len(warned), "warning")
        yield Notice(text, "warning", title)
    yield _lists_table(part, labels)
    if len(part.list_pairs):
        yield _pairs_table(part, labels)
    if robustness is not None:
        yield from _robustness(part, robustness, labels)


def _lists_table(part: AuditPart, labels: StudyLabels) -> Table:
    return Table(
        part.lists.assign(
            word_set=part.lists["word_set"].map(labels.word_set),
            missing=part.lists["missing"].map("; ".join),
        ),
        "The word lists in this embedding.",
        {
            "word_set": "List",
            "n_words": Column(title="Words", places=0),
            "n_found": Column(title="Found", places=0),
            "missing": "Missing",
            "cohesion": Column(
                title="Cohesion",
                places=2,
                note="The mean cosine of all pairs of words in the list.",
            ),
            "cohesion_percentile": Column(
                title="Percentile", places=0, note="Among random words of about the same frequency."
            ),
            "fits_least": "Fits least",
        },
    )


def _pairs_table(part: AuditPart, labels: StudyLabels) -> Table:
    names = zip(part.list_pairs["first"], part.list_pairs["second"], strict=True)
    pairs = part.list_pairs.assign(pair=[labels.pair(a, b) for a, b in names])
    return Table(
        pairs,
        "Pairs of lists.",
        {
            "pair": "Pair",
            "coherence": Column(
                title="Coherence",
                places=2,
                note="How far apart the words of the two lists rank along the direction between "
                "the lists, from 0 to 1.",
            ),
            "coherence_percentile": Column(
                title="Percentile", places=0, note="Among random reassignments of the same words."
            ),
            "similarity": Column(title="Similarity", places=2, note="The cosine of the two means."),
            "frequency_ratio": Column(title="Frequency ratio", places=2),
        },
    )


def _robustness(part: AuditPart, table: pd.DataFrame, labels: StudyLabels) -> SectionBlocks:
    yield "# Robustness"
    yield (
        "WEAT's effect size is measured on random subsets of the lists, which grow to the complete "
        "lists. A robustness of 1 means that all parts give the same value. Longer lists are more "
        "robust by their length alone; the adjusted value corrects for this. A list is called "
        "robust only if it is more robust than 95% of random lists of the same length and similar "
        "frequency."
    )
    if len(table):
        yield figure(
            part.silhouettes_figure,
            "Values of random subsets of the lists, up to the complete lists. A narrow band means "
            "a robust list; the grey band is the average band of random lists.",
            "A band for each pair of groups and each side, narrowing to the right.",
        )
        yield Table(
            table,
            "Robustness: how little the value depends on which words are used.",
            {
                "query": "Groups and attributes",
                "side": "Side",
                "robustness": Column(
                    title="Robustness",
                    interval=("robustness_lower", "robustness_upper"),
                    places=2,
                    scale=(0.0, 1.0),
                ),
                "length_adjusted": Column(
                    title="Adjusted for length",
                    interval=("length_adjusted_lower", "length_adjusted_upper"),
                    places=2,
                    scale=(0.0, 1.0),
                    brief=True,
                ),
                "percentile": Column(
                    title="Percentile", places=0, note="Among random lists of the same lengths."
                ),
            },
        )
    yield Fold(
        "In words",
        [Definitions({_labelled(name, labels): literal(t) for name, t in part.verdicts.items()})],
        on_paper=False,
    )


def _labelled(verdict: str, labels: StudyLabels) -> str:
    """Return what a verdict is of, the lists that grow and the query, with labels."""
    side, of, query = verdict.partition(" of ")
    return capitalized(f"{side}{of}{labels.query(query)}")
