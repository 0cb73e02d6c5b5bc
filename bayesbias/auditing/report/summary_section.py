"""The first sections of a report: the summary, and embeddings beside each other."""

from __future__ import annotations

import pandas as pd

from bayesbias.auditing.audit_result import Audit, AuditPart
from bayesbias.auditing.report.difference_text import OTHERS
from bayesbias.auditing.report.section_blocks import DIFFERENCE, SectionBlocks
from bayesbias.auditing.report.summary_text import across
from bayesbias.html import Column, Notice, Table, literal


def summary(part: AuditPart) -> SectionBlocks:
    """Write what was found of a part, paragraph by paragraph."""
    if part.confirmation is not None and not part.confirmation["agrees"]:
        yield Notice(
            "The exact draws of the leading model fail their checks; see "
            "[diagnostics](#diagnostics).",
            "warning",
        )
    for title, text in part.paragraphs().items():
        yield f"**{literal(title)}.** {literal(text)}"


def in_short(audit: Audit) -> SectionBlocks:
    """Say what was found of all parts, a row each."""
    for title, text in across(audit).items():
        yield f"**{literal(title)}.** {literal(text)}"
    rows = []
    for (embedding, study), part in audit.parts.items():
        first = part.contrasts[part.contrasts["contrast"] == part.contrasts["contrast"].iloc[0]]
        words = first.loc[first["level"] == "word", "verdict"]
        rows.append(
            first[first["level"] == "data set"].assign(
                embedding=embedding,
                study=study,
                closer=f"{(words == 'closer').sum()} of {(words != '').sum()}",
                lead=part.lead,
                warned=len(part.list_warnings),
            )
        )
    yield Table(
        pd.concat(rows),
        "Own stereotypes against neutral words, over all words; below 0 is closer.",
        {
            "embedding": "Embedding",
            "study": "Study",
            "mean": DIFFERENCE,
            "closer": "Words closer",
            "lead": "Model",
            "warned": Column(title="Warnings of lists", places=0),
        },
    )


def embeddings_compared(audit: Audit) -> SectionBlocks:
    """Write how the embeddings compare, study by study."""
    for study, table in audit.between.items():
        if len(audit.between) > 1:
            yield f"# {literal(study)}"
        yield literal(across(audit)[f"Embeddings on {study}"])
        shown = table.assign(
            what=[
                f"{one} minus {other}" if other else one
                for one, other in zip(table["embedding"], table["second"], strict=True)
            ],
            against=table["contrast"].map(OTHERS),
        )
        yield Table(
            shown,
            "How much closer own stereotypes are than other attributes in each embedding, and the "
            "differences between embeddings, from the same pairs of words.",
            {
                "what": "Embedding",
                "against": Column(title="Own stereotypes against", choose=True),
                "mean": DIFFERENCE,
                "prob_negative": Column(title="P(below 0)", probability=True),
            },
        )
        yield Table(
            audit.ranking[study].assign(score=_intervals(audit.ranking[study], "score")),
            "The embeddings ranked by each metric; 1 is the least biased.",
            {
                "embedding": "Embedding",
                "metric": Column(title="Metric", choose=True),
                "score": "Distance from no bias",
                "expected_rank": Column(title="Expected rank", places=1),
                "p_best": Column(title="P(least biased)", probability=True),
            },
        )


def _intervals(frame: pd.DataFrame, column: str) -> list[str]:
    """Return values with their intervals as text, where no common scale could show them."""
    rows = zip(frame[column], frame["lower"], frame["upper"], strict=True)
    return [f"{value:.3g} [{lower:.3g}, {upper:.3g}]" for value, lower, upper in rows]
