"""The section on groups and the whole data set: contrasts, coefficients, overview."""

from __future__ import annotations

import pandas as pd

from bayesbias.auditing import artifacts
from bayesbias.auditing.audit_result import AuditPart
from bayesbias.auditing.report.bias_text import same_attributes
from bayesbias.auditing.report.difference_text import OTHERS, labelled
from bayesbias.auditing.report.section_blocks import (
    SectionBlocks,
    difference_columns,
    figure,
    with_data,
)
from bayesbias.html import Column, Fold, Notice, Table, literal


def effects(part: AuditPart) -> SectionBlocks:
    """Write how much closer own stereotypes are, on average and by group."""
    yield figure(
        part.figure(artifacts.GROUPS_FIGURE),
        f"Expected cosine distance of each group, the average of its words, with {part.prob:.0%} "
        "intervals.",
        "Intervals of the expected distances, one row per group.",
        "Point at an interval to see its numbers.",
    )
    yield from map(literal, same_attributes(labelled(part.contrasts, part.study), part.prob))
    yield _contrasts(part)
    yield from _coefficient_figure(part)
    yield Fold("All parameters of the whole data set", [_coefficients(part)], on_paper=False)
    yield Fold("The overview of Dobrzeniecka (2021)", [_overview(part)], on_paper=False)


def _contrasts(part: AuditPart) -> Table:
    rows = with_data(part.contrasts[part.contrasts["level"] != "word"])
    keys = [f"group:{group}" if group else "" for group in rows["group"]]
    rows = labelled(rows, part.study)
    same = rows["level"] == "same attributes"
    rows["of"] = rows["group"].where(rows["level"] != "data set", "all groups")
    rows["against"] = rows["contrast"].map(OTHERS).mask(same, "the same, in other groups")
    rows["t"] = _interval_texts(rows, "t_lower", "t_upper")
    difference, beside = difference_columns(rows)
    if (rows["t"] != "").any():
        beside["t"] = Column(
            title="t-interval",
            note="A two-sample t-interval over attributes, with the variance pooled over lists: "
            "a baseline without a model.",
        )
    return Table(
        rows,
        "Distance from own stereotypes minus distance from other attributes, over all words and by "
        "group (negative: closer). In the last rows, the same stereotypes are compared between "
        "their own group and the other groups.",
        {
            "of": "Group",
            "against": "Compared with",
            "mean": difference,
            "prob_negative": Column(title="P(closer)", probability=True),
            **beside,
        },
        keys=keys,
    )


def _coefficient_figure(part: AuditPart) -> SectionBlocks:
    if not part.has_figure(artifacts.COEFFICIENTS_FIGURE):
        return
    yield figure(
        part.figure(artifacts.COEFFICIENTS_FIGURE),
        f"Distances of the whole data set by kind of attribute, by the model {literal(part.lead)}, "
        f"with {part.prob:.0%} intervals.",
        "One interval for each kind of attribute.",
    )
    if part.lead == "connection":
        yield Notice(
            "The data do not determine these coefficients: adding a constant to all of them and "
            "subtracting it from all words changes no distance, so their intervals mostly show the "
            "prior. Whether they include 0 says nothing about bias; the differences in the "
            "table above are well determined."
        )


def _overview(part: AuditPart) -> Table:
    frame = part.overview.formatted().rename_axis("question").reset_index()
    return Table(
        frame,
        "The questions of the thesis, answered by its rules, with the posterior probability of "
        "yes or the expected share of words. The last column defines both. "
        "A: associated, D: different, H: human, N: neutral.",
        {
            "question": "Question",
            "answer": "Answer",
            "probability": "Probability",
            "meaning": "Answer and probability",
        },
    )


def _interval_texts(frame: pd.DataFrame, lower: str, upper: str) -> list[str]:
    """Return intervals as text; nothing where there is none."""
    pairs = zip(frame[lower], frame[upper], strict=True)
    return [
        "" if pd.isna(low) else f"{low:.2f}\u00a0to\u00a0{high:.2f}".replace("-", "−")
        for low, high in pairs
    ]


def _coefficients(part: AuditPart) -> Table:
    return Table(
        part.coefficients,
        "Parameters that do not belong to a single word.",
        {
            "parameter": "Parameter",
            "level": "Level",
            "model": "Model",
            "mean": Column(title="Mean", interval=("lower", "upper"), places=2),
            "sd": Column(title="SD", places=3),
        },
    )
