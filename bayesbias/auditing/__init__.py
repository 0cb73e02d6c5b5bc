"""The main job: one call from embeddings and word lists to a report, resumable."""

from bayesbias.auditing.audit_result import Audit
from bayesbias.auditing.audit_run import audit

__all__ = ["Audit", "audit"]
