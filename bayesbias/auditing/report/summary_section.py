"""The first sections of a report: the summary, and embeddings beside each other."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from bayesbias._core.plugins import title_of
from bayesbias._core.wording import capitalized
from bayesbias.auditing.audit_result import Audit, AuditPart
from bayesbias.auditing.report.difference_text import OTHERS
from bayesbias.auditing.report.section_blocks import (
    SectionBlocks,
    difference_columns,
    figure,
)
from bayesbias.auditing.report.summary_text import across
from bayesbias.html import Column, Notice, Table, literal
from bayesbias.metrics import METRICS


def summary(part: AuditPart) -> SectionBlocks:
    """Write what was found of a part, in three points, and one for each method of debiasing."""
    if part.confirmation is not None and not part.confirmation["agrees"]:
        yield Notice(
            "The exact draws of the lead model fail their checks; see [diagnostics](#diagnostics).",
            "warning",
        )
    yield _points(part.paragraphs())


def _points(paragraphs: Mapping[str, str]) -> str:
    """Return paragraphs as a list whose items begin with the titles."""
    return "\n".join(
        f"- **{literal(title)}.** {literal(text)}" for title, text in paragraphs.items()
    )


def in_short(audit: Audit) -> SectionBlocks:
    """Say what was found of all parts, a row each."""
    if audit.between:
        yield _points(across(audit))
    rows = []
    against = ""
    for (embedding, _), part in audit.parts.items():
        against = str(part.contrasts["contrast"].iloc[0])
        first = part.contrasts[part.contrasts["contrast"] == against]
        words = first.loc[first["level"] == "word", "verdict"]
        rows.append(
            first[first["level"] == "data set"].assign(
                embedding=embedding,
                study=part.study.label,
                closer=f"{(words == 'closer').sum()} of {(words != '').sum()}",
                lead=part.lead,
                warned=len(part.list_warnings),
            )
        )
    shown = pd.concat(rows)
    difference, at_equal = difference_columns(shown)
    yield Table(
        shown,
        f"Own stereotypes compared with {OTHERS[against]}, over all words; negative: closer.",
        {
            "embedding": "Embedding",
            "study": "Study",
            "mean": difference,
            "closer": "Words closer",
            **at_equal,
            "lead": "Model",
            "warned": Column(title="List warnings", places=0),
        },
    )


def embeddings_compared(audit: Audit) -> SectionBlocks:
    """Write how the embeddings compare, study by study."""
    labels = {part.study.name: part.study.label for part in audit.parts.values()}
    texts = across(audit).values()
    for (study, table), text in zip(audit.between.items(), texts, strict=True):
        if len(audit.between) > 1:
            yield f"# {literal(labels[study])}"
        yield literal(text)
        yield figure(
            audit.between_figures[study],
            "Own stereotypes compared with other attributes in each embedding, and the differences "
            "between embeddings. Left of 0, own stereotypes are closer; a difference left of 0 "
            "means that they are closer in the first embedding.",
            "One interval per embedding and per pair of embeddings, for each comparison.",
        )
        shown = table.assign(
            what=[
                f"{one} minus {other}" if other else one
                for one, other in zip(table["embedding"], table["second"], strict=True)
            ],
            against=table["contrast"].map(OTHERS),
        )
        difference, at_equal = difference_columns(shown)
        yield Table(
            shown,
            "The same numbers. Differences between embeddings are computed for the same pairs of "
            "words.",
            {
                "what": "Embedding",
                "against": Column(title="Compared with", choose=True),
                "mean": difference,
                "prob_negative": Column(title="P(below 0)", probability=True),
                **at_equal,
            },
        )
        ranking = audit.ranking[study]
        titles = [capitalized(title_of(name, METRICS)) for name in ranking["metric"]]
        yield Table(
            ranking.assign(score=_intervals(ranking, "score"), metric=titles),
            "The embeddings ranked by each metric; rank 1 is nearest to no bias.",
            {
                "embedding": "Embedding",
                "metric": Column(title="Metric", choose=True),
                "score": "Distance from no bias",
                "expected_rank": Column(title="Expected rank", places=1),
                "prob_best": Column(title="P(rank 1)", probability=True),
            },
        )


def _intervals(frame: pd.DataFrame, column: str) -> list[str]:
    """Return values with their intervals as text, where no common scale could show them."""
    rows = zip(frame[column], frame["lower"], frame["upper"], strict=True)
    return [f"{value:.2f} [{lower:.2f}, {upper:.2f}]" for value, lower, upper in rows]
