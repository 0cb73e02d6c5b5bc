"""The main job: one call from embeddings and word lists to a report, resumable."""

from bayesbias.auditing.result import Audit, AuditPart
from bayesbias.auditing.run import audit

__all__ = ["Audit", "AuditPart", "audit"]
