"""The report of an audit, put together from the files of its folder alone."""

from __future__ import annotations

from collections.abc import Callable

from bayesbias._core.wording import counted, plural
from bayesbias.auditing.audit_result import Audit, AuditPart
from bayesbias.auditing.report.debiasing_section import debiasing
from bayesbias.auditing.report.effects_section import effects
from bayesbias.auditing.report.lists_section import lists
from bayesbias.auditing.report.methods_section import methods
from bayesbias.auditing.report.metrics_section import metrics
from bayesbias.auditing.report.models_section import diagnostics, models
from bayesbias.auditing.report.provenance_section import hashes, provenance
from bayesbias.auditing.report.references_section import references
from bayesbias.auditing.report.section_blocks import SectionBlocks
from bayesbias.auditing.report.summary_section import embeddings_compared, in_short, summary
from bayesbias.auditing.report.summary_text import heading, protected_words
from bayesbias.auditing.report.words_section import distances, words
from bayesbias.html import Choice, Page, Section


def report_page(audit: Audit) -> Page:
    """Return the page of an audit."""
    embeddings = list(dict.fromkeys(embedding for embedding, _ in audit.parts))
    studies = list(dict.fromkeys(part.study.label for part in audit.parts.values()))
    parts: list[tuple[str, Callable[[AuditPart], SectionBlocks]]] = [
        ("Summary", summary),
        ("Words", words),
        ("Groups and data set", effects),
        ("Distances", distances),
        ("Models", models),
        ("Classical metrics", metrics),
        ("Word lists", lists),
        ("Debiasing", debiasing),
        ("Diagnostics", diagnostics),
    ]
    sections = [_section(name, audit, write) for name, write in parts]
    if audit.between:
        sections.insert(1, Section("Embeddings compared", [*embeddings_compared(audit)]))
    record = audit.record
    leads = dict.fromkeys(part.lead for part in audit.parts.values())
    vocabulary = [about["words"] for about in record["embeddings"].values()]
    facts = {
        plural(len(embeddings), "Embedding"): ", ".join(embeddings),
        **({"Vocabulary": counted(vocabulary[0], "word")} if len(vocabulary) == 1 else {}),
        plural(len(studies), "Study", "Studies"): ", ".join(studies),
        "Protected words": str(protected_words(list(audit.parts.values()))),
        plural(len(leads), "Model"): ", ".join(leads),
        "Intervals": f"{record['options']['prob']:.0%}",
        "Made": f"{max(step['made'] for step in audit.steps.values())[:10]}, "
        f"bayesbias {record['bayesbias']}",
    }
    return Page(
        heading(list(audit.parts.values())),
        [*(section for section in sections if section is not None), *_last_sections(audit)],
        subtitle="How close protected words are to the stereotypes of their own group, compared "
        "with neutral words, human words and the stereotypes of other groups.",
        facts=facts,
        footer="Written by bayesbias from the files beside this page.",
    )


def _section(
    name: str, audit: Audit, write: Callable[[AuditPart], SectionBlocks]
) -> Section | None:
    """Return a section, with a choice of parts if there are several; None if all are empty."""
    blocks = {
        f"{embedding}, {part.study.label}": [*write(part)]
        for (embedding, _), part in audit.parts.items()
    }
    written = {label: content for label, content in blocks.items() if content}
    if not written:
        return None
    if len(audit.parts) == 1:
        return Section(name, next(iter(written.values())))
    choice = Choice("Embedding and study", written)
    return Section(name, [*in_short(audit), choice] if write is summary else choice)


def _last_sections(audit: Audit) -> list[Section]:
    """Return the sections on methods, provenance and citation, and the appendix."""
    return [
        Section("Methods", [*methods(audit)]),
        Section("How this was made", [*provenance(audit)], id="provenance"),
        Section("References and citation", [*references()], id="references"),
        Section("Appendix: files and hashes", [*hashes(audit)], id="appendix"),
    ]
