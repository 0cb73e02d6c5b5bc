"""The section on bias of a model card, in the format of the Hugging Face Hub."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from bayesbias import __version__
from bayesbias._core.files import atomic, check_folder, read_utf8
from bayesbias._core.rounded_table import rounded_table, to_markdown
from bayesbias.auditing.audit_result import Audit, AuditPart
from bayesbias.auditing.paper import (
    AT_EQUAL_FREQUENCY,
    equal_columns,
    labelled_contrasts,
    without_words,
)
from bayesbias.errors import SpecError

#: The heading that the Hub's template of model cards has for this.
HEADING = "## Bias, Risks, and Limitations"
_START = "<!-- bayesbias: start -->"
_END = "<!-- bayesbias: end -->"
_LIMITS = (
    "Distances describe associations in the vectors. They do not show harm in an application, and "
    "no difference here does not mean that there is none for other words."
)


def model_card(
    audit: Audit | str | PathLike[str],
    path: str | PathLike[str] | None = None,
) -> str:
    """Return a section for a model card with the results of an audit.

    The section follows the template of the Hugging Face Hub: a heading *Bias, Risks, and
    Limitations*, the summary, the contrasts with their intervals, and how they were computed. Marks
    around it allow a later call to replace it.

    Parameters
    ----------
    audit : Audit, str or path-like
        The audit, or its folder.
    path : path-like, optional
        A model card (``README.md``) to write the section to. An earlier section of bayesbias in it
        is replaced; otherwise the section is added under its heading, or at the end. The rest of
        the file stays as it is. A file that is not there is made, with metadata.

    Returns
    -------
    str
        The section.

    Raises
    ------
    DataError
        If it is not the folder of an audit.
    SpecError
        If the file has the start of an earlier section without its end.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.model_card("nowhere")
    Traceback (most recent call last):
    ...
    bayesbias.errors.DataError: there is no folder 'nowhere'.
    """
    found = audit if isinstance(audit, Audit) else Audit(audit)
    section = "\n".join([_START, *_lines(found), _END]) + "\n"
    if path is not None:
        _write(Path(path), section, found)
    return section


def _lines(audit: Audit) -> Iterator[str]:
    for (embedding, _), part in audit.parts.items():
        if len(audit.parts) > 1:
            yield f"### {embedding}, {part.study.label}\n"
        yield f"{part.summary()}\n"
        yield _contrasts(part)
    yield (
        f"{_LIMITS}\n\nComputed with bayesbias {__version__} (seed {audit.record['seed']}); "
        "the tables, fits and figures are in the folder of the audit."
    )


def _contrasts(part: AuditPart) -> str:
    rows = without_words(labelled_contrasts(part))
    columns = ["contrast", "group", "mean", "lower", "upper", "prob_negative", "verdict"]
    columns += equal_columns(rows)
    titles = {"mean": f"difference, {part.prob:.0%} interval", "prob_negative": "P(closer)"}
    return to_markdown(rounded_table(rows[columns], titles={**titles, **AT_EQUAL_FREQUENCY}))


def _write(path: Path, section: str, audit: Audit) -> None:
    check_folder(path)
    old = read_utf8(path) if path.is_file() else _new_card(audit)
    with atomic(path) as (temporary,):
        temporary.write_text(_inserted(old, section, path), "utf-8", newline="\n")


def _inserted(card: str, section: str, path: Path) -> str:
    """Return a card with the section in it, in the place of an earlier one."""
    before, start, rest = card.partition(_START)
    if start:
        _, end, after = rest.partition(_END)
        if not end:
            raise SpecError(
                f"{path}: found {_START!r} without {_END!r} after it; remove that line."
            )
        return before + section + after.removeprefix("\n")
    before, heading, after = card.partition(f"{HEADING}\n")
    if heading:
        return f"{before}{heading}\n{section}{after}"
    return f"{card.rstrip()}\n\n{HEADING}\n\n{section}".lstrip()


def _new_card(audit: Audit) -> str:
    """Return a card with metadata and a title, for an embedding that has none."""
    names = dict.fromkeys(embedding for embedding, _ in audit.parts)
    return f"---\ntags:\n- word-embeddings\n---\n\n# {', '.join(names)}\n"
