"""The main numbers of an audit as plain data, for other programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.auditing.audit_result import Audit, AuditPart
from bayesbias.auditing.conditions import Condition
from bayesbias.auditing.gate import check_parts_of

if TYPE_CHECKING:
    import pandas as pd

#: Raised when programs that read the file would no longer understand it.
RESULTS_VERSION = 1

_CONTRASTS = ["contrast", "level", "group", "word", "mean", "sd", "lower", "upper"]
_CONTRASTS += ["prob_negative", "prob_in_rope", "equal_mean", "equal_lower", "equal_upper"]
_CONTRASTS += ["rows", "verdict"]
_METRICS = ["metric", "query", "value", "sd", "lower", "upper", "prob_above", "p_value", "neutral"]
_METRICS += ["n_words", "n_lost", "reason"]


def results_content(audit: Audit, conditions: Sequence[Condition]) -> dict[str, Any]:
    """Return what `RESULTS` holds: versions, options, numbers of each part, and the gate."""
    record = audit.record
    parts = list(audit.parts.values())
    gate = None
    if conditions:
        found = check_parts_of(parts, conditions)
        gate = {"passed": bool(found.passed), "conditions": _records(found.table)}
    return {
        "schema": RESULTS_VERSION,
        "python": record["python"],
        "versions": record["versions"],
        "seed": record["seed"],
        "draws": record["options"]["draws"],
        "prob": record["options"]["prob"],
        "rope": record["options"]["rope"],
        "parts": [_part(part) for part in parts],
        "gate": gate,
    }


def _part(part: AuditPart) -> dict[str, Any]:
    diagnostics = part.diagnostics.set_index("model").loc[part.lead]
    return {
        "embedding": part.embedding,
        "embedding_sha256": part.record["embeddings"][part.embedding]["sha256"],
        "study": part.study.name,
        "study_sha256": part.record["studies"][part.study.name]["sha256"],
        "model": part.lead,
        "engine": str(diagnostics["engine"]),
        "diagnostics_ok": bool(diagnostics["ok"]),
        "contrasts": _records(part.contrasts[_CONTRASTS]),
        "metrics": _records(part.scores[_METRICS]),
    }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows, with null for what is not a finite number, which JSON cannot have."""
    return [
        {str(name): _plain(value) for name, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


def _plain(value: Any) -> Any:
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain
