"""The main job: one call from embeddings and word lists to a report, resumable."""

# Names that are not in __all__ are for other rooms.
from bayesbias.auditing.audit_inputs import Given as Given
from bayesbias.auditing.audit_result import Audit
from bayesbias.auditing.audit_run import audit
from bayesbias.auditing.audit_run import write_report as write_report
from bayesbias.auditing.card_section import model_card
from bayesbias.auditing.check_result import Check
from bayesbias.auditing.gate import check
from bayesbias.auditing.word_report import WordReport, word_report

__all__ = ["Audit", "Check", "WordReport", "audit", "check", "model_card", "word_report"]
