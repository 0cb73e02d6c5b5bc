"""The section on provenance: inputs, software, files and their hashes."""

from __future__ import annotations

from bayesbias.auditing.artifacts import RECORD
from bayesbias.auditing.audit_result import Audit
from bayesbias.auditing.report.section_blocks import SectionBlocks
from bayesbias.html import Code, Definitions, Fold, literal


def provenance(audit: Audit) -> SectionBlocks:
    """Write what the audit was made from, and with what."""
    record = audit.record
    for name, about in record["embeddings"].items():
        yield f"# Embedding {literal(name)}"
        yield Definitions(
            {
                "source": f"`{_code(about['source'])}`",
                "read": f"{about['words']:,} words × {about['dimensions']} dimensions",
            }
        )
    for name, about in record["studies"].items():
        yield f"# Study {literal(name)}"
        lists = about["lists"]
        yield Definitions({"source": literal(lists["source"] or "not given")})
        if lists["notes"]:
            yield "\n".join(f"- {literal(note)}" for note in lists["notes"])
    yield "# Software"
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    steps = audit.steps.values()
    yield Definitions(
        {
            "seed": f"`{record['seed']}`",
            "versions": literal(f"Python {record['python']}, {versions}"),
            "made": max((step["made"] for step in steps), default="–"),
            "time": f"{sum(step['seconds'] for step in steps):.0f} s in total",
        }
    )
    yield (
        f"All results on this page are also in open files beside it. `{RECORD}` records the hash "
        "of each file and of its inputs. The same command repeats only the steps whose inputs "
        "have changed."
    )


def hashes(audit: Audit) -> SectionBlocks:
    """Write the SHA-256 hashes of the inputs and of all files."""
    record = audit.record
    lines = [
        f"{kind} {name}  {about['sha256']}"
        for kind, part in (("embedding", "embeddings"), ("study", "studies"))
        for name, about in record[part].items()
    ]
    yield "SHA-256 hashes of the inputs:"
    yield Code("\n".join(lines))
    files = [
        f"{file}  {digest}"
        for step in audit.steps.values()
        for file, digest in step["files"].items()
    ]
    yield Fold(f"{len(files)} files and their SHA-256 hashes", Code("\n".join(files)))


def _code(text: str) -> str:
    return text.replace("\\", "\\\\").replace("`", "\\`")
