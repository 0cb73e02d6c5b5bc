"""The section on groups and the whole data set: contrasts, coefficients, overview."""

from __future__ import annotations

import pandas as pd

from bayesbias.auditing import artifacts
from bayesbias.auditing.audit_result import AuditPart
from bayesbias.auditing.report.difference_text import OTHERS
from bayesbias.auditing.report.section_blocks import DIFFERENCE, SectionBlocks, figure, with_data
from bayesbias.html import Column, Fold, Notice, Table, literal


def effects(part: AuditPart) -> SectionBlocks:
    """Write how much closer own stereotypes are, on average and by group."""
    yield figure(
        part.figure(artifacts.GROUPS_FIGURE),
        "The same for groups: the averages of their words.",
        "Intervals of the expected distances, one row per group.",
    )
    yield _contrasts(part)
    yield "# Coefficients of the connections"
    yield from _coefficient_figures(part)
    yield Fold("All parameters of the whole data set", [_coefficients(part)])
    yield Fold("The overview of Dobrzeniecka (2021)", [_overview(part)])


def _contrasts(part: AuditPart) -> Table:
    rows = with_data(part.contrasts[part.contrasts["level"] != "word"])
    same = rows["level"] == "same attributes"
    rows["of"] = rows["group"].where(rows["level"] != "data set", "all")
    rows["against"] = rows["contrast"].map(OTHERS).mask(same, "the same, from other groups")
    rows["t"] = _interval_texts(rows, "t_lower", "t_upper")
    beside: dict[str, Column | str] = {}
    if rows["equal_mean"].notna().any():
        beside["equal_mean"] = Column(
            title="At equal frequency",
            interval=("equal_lower", "equal_upper"),
            reference=0.0,
            places=2,
            brief=True,
            note="The difference if all attributes were equally frequent, by the same model with a "
            "slope for the log of their frequency.",
        )
    if (rows["t"] != "").any():
        beside["t"] = Column(
            title="t-interval",
            note="A two-sample t-interval over attributes, the variance pooled over lists: the "
            "baseline that needs no model.",
        )
    return Table(
        rows,
        "How much closer own stereotypes are than other attributes, over all and by group. The "
        "last rows compare groups on the same stereotypes.",
        {
            "of": "Words",
            "against": "Own stereotypes against",
            "mean": DIFFERENCE,
            **beside,
            "prob_negative": Column(title="P(closer)", probability=True),
        },
    )


def _coefficient_figures(part: AuditPart) -> SectionBlocks:
    for model in dict.fromkeys([part.lead, "connection"]):
        name = artifacts.coefficients_figure(model, part.lead)
        if not part.has_figure(name):
            continue
        yield figure(
            part.figure(name),
            f"Coefficients of the model {literal(model)} for the whole data set, "
            f"{part.prob:.0%} intervals.",
            "One interval for each kind of attribute.",
        )
        if model == "connection":
            yield Notice(
                "The data do not fix these coefficients: adding a constant to all of them and "
                "taking it from all words changes no distance, so their intervals mostly show the "
                "prior. Whether they include 0 says nothing about bias; the differences in the "
                "table above are well determined."
            )


def _overview(part: AuditPart) -> Table:
    frame = part.overview.formatted().rename_axis("question").reset_index()
    return Table(
        frame,
        "Its questions, answered by its rules, with the posterior probability of yes or "
        "the expected share of words. The last column defines both. "
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
        "Parameters that belong to no single word.",
        {
            "parameter": "Parameter",
            "level": "Of",
            "model": "Model",
            "mean": Column(title="Mean", interval=("lower", "upper"), places=2),
            "sd": Column(title="SD", places=3),
        },
    )
