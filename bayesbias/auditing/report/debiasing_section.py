"""The section on debiasing."""

from __future__ import annotations

import pandas as pd

from bayesbias._core.constants import EQUAL
from bayesbias._core.plugins import title_of
from bayesbias._core.wording import capitalized
from bayesbias.auditing.audit_result import AuditPart
from bayesbias.auditing.report.section_blocks import SectionBlocks, figure
from bayesbias.debias import DEBIASERS
from bayesbias.debias_effects import verdict_rule
from bayesbias.html import Column, Fold, Table, literal
from bayesbias.metrics import METRICS
from bayesbias.rankings import StudyLabels, contrast_title
from bayesbias.wordlists import Study


def debiasing(part: AuditPart) -> SectionBlocks:
    """Write what each method of debiasing changed."""
    for name, paragraphs in part.debiasing.items():
        yield f"# {literal(capitalized(title_of(name, DEBIASERS)))}"
        for paragraph in paragraphs:
            title, _, text = paragraph.partition(": ")
            yield f"**{literal(title)}.** {literal(text)}"
        yield figure(
            part.debiasing_figure(name),
            "Expected distances before debiasing (open marks) and after (filled marks). Marks that "
            "move towards 1 are less related.",
            "Intervals of each protected word before and after.",
        )
        frame = part.before_after[name]
        shown = _labelled(frame[frame["word"] == ""], part.study)
        yield Fold(
            "All measures",
            [
                Table(
                    shown,
                    "Changes (after minus before), with their intervals.",
                    {
                        "measure": "Measure",
                        "what": Column(title="Kind", choose=True),
                        "group": "Of",
                        "before": Column(title="Before", places=2),
                        "after": Column(title="After", places=2),
                        "change": Column(
                            title="Change",
                            interval=("lower", "upper"),
                            reference=0.0,
                            places=2,
                        ),
                        "verdict": Column(
                            title="Verdict",
                            note=verdict_rule(part.prob),
                        ),
                    },
                )
            ],
        )


def _labelled(frame: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the measures with the names that people read, those at equal frequency last."""
    labels = StudyLabels(study)
    at_equal = frame["covariates"] == EQUAL
    frame = pd.concat([frame[~at_equal], frame[at_equal]])
    return frame.assign(
        measure=[title_of(contrast_title(name), METRICS) for name in frame["measure"]],
        what=frame["what"].where(~at_equal, frame["what"] + " at equal frequency"),
        group=[
            study.group_label(name) if name in study.groups else labels.query(name)
            for name in frame["group"]
        ],
    )
