"""The sections on models: their comparison, and what was checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bayesbias.auditing import artifacts
from bayesbias.auditing.audit_result import AuditPart
from bayesbias.auditing.draws_compared import STATISTICS
from bayesbias.auditing.report.checks_text import models as compared_models
from bayesbias.auditing.report.section_blocks import SectionBlocks, figure
from bayesbias.html import Column, Notice, Table, literal


def models(part: AuditPart) -> SectionBlocks:
    """Write how well the models predict, and how well the leading one fits."""
    yield literal(
        " ".join(
            compared_models(
                part.comparison, part.comparison_loo, part.lead, part.comparison_warnings
            )
        )
    )
    if len(part.comparison) > 1:
        yield figure(
            part.figure(artifacts.COMPARISON_FIGURE),
            "How much worse than the best each model predicts, by WAIC.",
            "One row per model, the difference with its standard error.",
        )
    for frame, name, text in (
        (part.comparison, "WAIC", "By WAIC: new distances of the same words."),
        (part.comparison_loo, "LOO", "By leave-one-out: attributes that the model has not seen."),
    ):
        yield Table(
            frame.rename_axis("model").reset_index(),
            text,
            {
                "model": "Model",
                name: Column(title=name, places=0),
                "SE": Column(title="SE", places=0),
                f"d{name}": Column(title="Behind the best", places=0),
                "dSE": Column(title="SE of that", places=0),
                f"p{name}": Column(title="Effective parameters", places=0),
            },
        )
    yield figure(
        part.figure(artifacts.PREDICTIVE_FIGURE),
        f"The distances as observed (lines) and as the model {literal(part.lead)} would give them "
        f"(bands). Where a line leaves its band, the model misses something.",
        "Densities of observed distances over bands of replicated ones, one row per kind.",
    )


def diagnostics(part: AuditPart) -> SectionBlocks:
    """Write whether the draws can be relied on, and what the steps warned of."""
    if part.confirmation is not None:
        yield from confirmation(part.confirmation)
    frame = part.diagnostics
    columns: dict[str, Column | str] = {
        "model": "Model",
        "engine": "Engine",
        "draws": Column(title="Draws", places=0),
        "found": "What was found",
    }
    for name in ("problems", "notes"):
        if (frame[name] != "").any():
            columns[name] = name.capitalize()
    yield Table(frame, "The fits.", columns)
    if part.warnings:
        yield Notice(
            "\n".join(f"- {literal(text)}" for text in part.warnings), "note", "Steps that warned"
        )


def confirmation(check: Mapping[str, Any]) -> Iterator[Notice]:
    """Write what the checks of the leading model's exact draws found."""
    density, noise = check["density"], check["coefficients"]
    largest, limits = check["largest"], check["noticeable"]
    rows = [
        f"- {literal(name)}: {largest[key]:.2f} ({limits[key]:.2f})"
        for key, name in STATISTICS.items()
    ]
    text = (
        f"The log density of {literal(check['model'])}, computed row by row, and that which "
        f"the exact engine draws from were compared at {density['points']} points, "
        f"{density['far']} of them far from the draws: apart from a constant they differ by "
        f"at most {density['relative']:.0e} of the log density. Given the "
        f"scales, the standardised draws of the coefficients have means of at most "
        f"{noise['mean']:.3f} and standard deviations of 1 up to "
        f"{abs(noise['sd'] - 1):.3f}.\n\n"
        f"Hamiltonian Monte Carlo drew the scales again in {check['chains']} chains of "
        f"{check['draws']:,} draws (largest R-hat {check['r_hat']:.3f}, smallest effective "
        f"sample size {check['ess']:,.0f}). Compared were {check['quantities']} quantities: "
        "contrasts of the data set and of groups, and all parameters that belong to no single "
        "word. Largest difference from the exact draws in posterior standard deviations, and "
        "in parentheses the difference that would have counted as a disagreement:\n\n"
        + "\n".join(rows)
    )
    title = (
        "The exact draws passed their checks"
        if check["agrees"]
        else f"The exact draws fail checks of: {', '.join(check['disagree'])}"
    )
    yield Notice(text, "note" if check["agrees"] and check["sampler_ok"] else "warning", title)
    for problem in check["problems"]:
        yield Notice(literal(problem), "warning", "Problems of the second sampler")
