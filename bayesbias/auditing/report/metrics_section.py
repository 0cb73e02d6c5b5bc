"""The section on the classical metrics."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from bayesbias._core.plugins import title_of
from bayesbias._core.wording import capitalized
from bayesbias.auditing.audit_result import AuditPart
from bayesbias.auditing.report.checks_text import excludes
from bayesbias.auditing.report.checks_text import metrics as summary_of_metrics
from bayesbias.auditing.report.section_blocks import SectionBlocks
from bayesbias.html import Choice, Column, Definitions, Table, literal
from bayesbias.metrics import METRICS
from bayesbias.rankings import StudyLabels


def metrics(part: AuditPart) -> SectionBlocks:
    """Write the values of the classical metrics, all together and one by one."""
    yield literal(" ".join(summary_of_metrics(part.scores, part.skipped, part.prob)))
    scores = part.scores.assign(query=part.scores["query"].map(StudyLabels(part.study).query))
    by_metric = {str(name): rows for name, rows in scores.groupby("metric", sort=False)}
    yield _overview(by_metric, part.prob)
    values = {_title(name): [_values(rows)] for name, rows in by_metric.items()}
    yield Choice("Metric", values, on_paper=False)
    if part.skipped:
        yield Definitions({_title(name): literal(why) for name, why in part.skipped.items()})


def _title(name: str) -> str:
    return capitalized(title_of(name, METRICS))


def _overview(by_metric: Mapping[str, pd.DataFrame], prob: float) -> Table:
    """Return one row per metric."""
    frame = pd.DataFrame(
        [
            {
                "metric": _title(name),
                "meaning": str(getattr(METRICS.get(name), "orientation", "")),
                "values": len(rows),
                "apart": int(excludes(rows).sum()) if rows["prob_above"].notna().any() else pd.NA,
            }
            for name, rows in by_metric.items()
        ]
    )
    return Table(
        frame.astype({"apart": "Int64"}),
        "The classical metrics. The file `scores.csv` has all values.",
        {
            "metric": "Metric",
            "meaning": "Interpretation",
            "values": Column(title="Values", places=0),
            "apart": Column(
                title="Exclude no bias",
                places=0,
                note=f"Values whose {prob:.0%} interval excludes the value without bias. Not "
                "counted for metrics that can lie on one side of it only: chance alone moves them "
                "away from it.",
            ),
        },
    )


def _values(rows: pd.DataFrame) -> Table:
    """Return the values of one metric."""
    neutral = float(rows["neutral"].iloc[0])
    columns: dict[str, Column | str] = {
        "query": "Groups and attributes",
        "value": Column(
            title=f"Value ({neutral:g}: no bias)",
            interval=("lower", "upper"),
            reference=neutral,
            places=2,
        ),
    }
    if rows["prob_above"].notna().any():
        columns["prob_above"] = Column(title=f"P(above {neutral:g})", probability=True)
    columns["n_words"] = Column(title="Words", places=0)
    if (rows["reason"] != "").any():
        columns["reason"] = "Not measured, or no interval"
    return Table(rows, "", columns)
