"""A gate for continuous integration: conditions on the contrasts of an audit or a fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import pandas as pd

from bayesbias._core.wording import enumerated, kind_of
from bayesbias.auditing.audit_options import FREQUENCY
from bayesbias.auditing.audit_result import Audit, AuditPart
from bayesbias.auditing.check_result import Check
from bayesbias.auditing.conditions import Condition, Names, as_conditions, check_names
from bayesbias.errors import DataError, SpecError
from bayesbias.models import Fit


def check(result: Audit | AuditPart | Fit | str | PathLike[str], *conditions: str) -> Check:
    """Check conditions on contrasts, such as a gate of continuous integration needs.

    A condition is ``<contrast> < <number> with P > <probability>``, with ``>`` and ``>=`` as well
    (``>=`` for the probability only). It is about the whole data set; ``for any group``, ``for any
    word``, ``for group <name>``, ``for word <name>``, or the name alone, at its end make it about
    groups or words; for an audit, the labels of the study, such as *Islam*, may stand for the names
    in tables, such as *muslim*. The check fails if a condition holds. The probability is the share
    of the posterior draws of the contrast that are beyond the number; an audit's draws are those of
    its lead model. If these draws cannot be relied on, because of their diagnostics (R-hat,
    effective sample size, divergences) or because the exact draws failed the checks of the audit,
    the check cannot decide, and has not passed, whatever the probabilities are.

    With ``at equal frequency`` after the number, a condition is about the contrast at equal
    frequency of the attributes: ``associated - none < -0.05 at equal frequency with P > 0.95``. For
    an audit, the draws are then those of the lead model with a slope on log frequency; a fit needs
    the covariate ``log_frequency``. Without these words, the contrast of an audit is the raw one,
    and that of a fit with covariates is at equal covariates, as in `Fit.contrast_draws`.

    Parameters
    ----------
    result : Audit, Fit, or path-like
        An audit, its results for one embedding and study, a fit, or the folder of an audit. Each
        embedding and study of an audit is checked; a group or word is searched for in all of them.
    *conditions : str
        The conditions under which the check fails.

    Returns
    -------
    Check
        With ``passed``, a ``table`` of probabilities, and the ``doubts`` about the draws.

    Raises
    ------
    SpecError
        If a condition cannot be read, with the position, or is about something that is not there.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("demo", "weat_7")
    >>> fit = bb.fit(table, draws=250, progress=False)
    >>> result = bb.check(fit, "associated - different > 0.5 with P > 0.05 for any group")
    >>> result.table[["level", "probability", "failed"]]
             level  probability  failed
    0   group ...          0.0   False
    1   group ...          0.0   False
    """
    parsed = as_conditions(conditions, "conditions")
    if not parsed:
        raise SpecError(
            "no condition is given; write one like 'associated - different < -0.05 with P > 0.95'."
        )
    if isinstance(result, Fit):
        names = Names.of_table(
            result.table, "this fit", has_frequency=FREQUENCY in result.spec.covariates
        )
        check_names(parsed, [names])
        doubt = _problems(result)
        judged = [(condition, result, doubt) for condition in parsed]
        return Check(pd.DataFrame(_rows("", names, judged)))
    if isinstance(result, str | PathLike):
        result = Audit(result)
    if isinstance(result, Audit):
        return check_parts_of(list(result.parts.values()), parsed)
    if isinstance(result, AuditPart):
        return check_parts_of([result], parsed)
    raise SpecError(
        f"'result' is {kind_of(result)}; expected an Audit, a Fit, or the folder of an audit."
    )


def check_parts_of(parts: Sequence[AuditPart], conditions: Sequence[Condition]) -> Check:
    """Check the lead model of each part of an audit."""
    names = [
        Names.of_table(
            part.table,
            f"{part.embedding} on {part.study.name}",
            part.study,
            has_frequency=FREQUENCY in part.table,
        )
        for part in parts
    ]
    check_names(conditions, names)
    rows: list[dict[str, Any]] = []
    for part, known in zip(parts, names, strict=True):
        # Each fit is judged once.
        draws = {
            at_equal: _draws_of(part, at_equal_frequency=at_equal)
            for at_equal in {condition.at_equal_frequency for condition in conditions}
        }
        judged = [(condition, *draws[condition.at_equal_frequency]) for condition in conditions]
        rows += _rows(part.study.name, known, judged)
    return Check(pd.DataFrame(rows))


def _draws_of(part: AuditPart, *, at_equal_frequency: bool) -> tuple[Fit, str]:
    """Return the fit that conditions are about, and why its draws cannot be relied on."""
    if not at_equal_frequency:
        problems = str(part.diagnostics.set_index("model").loc[part.lead, "problems"])
        return part.fits[part.lead], _doubt(part, problems)
    fit = part.fit_at_equal_frequency
    if fit is None:
        raise DataError(f"{part.folder} has no fit at equal frequency; run the audit again.")
    return fit, _doubt(part, _problems(fit))


def _problems(fit: Fit) -> str:
    """Say why the draws of a fit cannot be relied on; nothing if they can."""
    return "; ".join(fit.diagnostics().problems)


def _doubt(part: AuditPart, problems: str) -> str:
    """Add to the problems of a fit of an audit that the exact draws failed their checks."""
    if part.confirmation is None or part.confirmation["agrees"]:
        return problems
    failed = enumerated(part.confirmation["disagree"])
    failure = f"the exact draws failed their checks ({failed})"
    return "; ".join(filter(None, [problems, failure]))


def _rows(
    study: str, names: Names, judged: Iterable[tuple[Condition, Fit, str]]
) -> list[dict[str, Any]]:
    """Return the rows of the table of a check, of conditions with their fits and their doubts."""
    return [
        {
            "condition": condition.text,
            "embedding": embedding,
            "study": study,
            "level": str(level),
            "probability": probability,
            "threshold": condition.threshold,
            "failed": condition.holds(probability),
            "doubt": doubt,
        }
        for condition, fit, doubt in judged
        for embedding, level, probability in condition.probabilities(fit, condition.levels(names))
    ]
