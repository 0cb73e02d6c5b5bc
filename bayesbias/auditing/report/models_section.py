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
    """Write how well the models predict, and how well the lead model fits."""
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
            "How much worse each model predicts than the best model, by WAIC.",
            "One row per model, the difference with its standard error.",
        )
    for frame, name, text in (
        (
            part.comparison,
            "WAIC",
            "WAIC: prediction of new distances between the same words (lower is better).",
        ),
        (
            part.comparison_loo,
            "LOO",
            "Leave-one-out: prediction of attributes that the model has not seen.",
        ),
    ):
        yield Table(
            frame.rename_axis("model").reset_index(),
            text,
            {
                "model": "Model",
                name: Column(title=name, places=0),
                "SE": Column(title="SE", places=0),
                f"d{name}": Column(title="Difference from best", places=0),
                "dSE": Column(title="SE of difference", places=0),
                f"p{name}": Column(title="Effective parameters", places=0),
            },
        )
    yield figure(
        part.figure(artifacts.PREDICTIVE_FIGURE),
        f"Observed distances (lines) and distances simulated from the model {literal(part.lead)} "
        "(bands). Where a line leaves its band, the model does not describe the data. Right: the "
        "shares of distances within their own predictive intervals.",
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
        "found": "Diagnostics",
    }
    for name in ("problems", "notes"):
        if (frame[name] != "").any():
            columns[name] = name.capitalize()
    yield Table(frame, "The fits and their diagnostics.", columns)
    if part.warnings:
        yield Notice("\n".join(f"- {literal(text)}" for text in part.warnings), "note", "Warnings")


def confirmation(check: Mapping[str, Any]) -> Iterator[Notice]:
    """Write what the checks of the lead model's exact draws found."""
    density, noise = check["density"], check["coefficients"]
    largest, limits = check["largest"], check["noticeable"]
    rows = [
        f"- {literal(name)}: {largest[key]:.2f} ({limits[key]:.2f})"
        for key, name in STATISTICS.items()
    ]
    text = (
        f"The log density of the model {literal(check['model'])}, computed row by row, was "
        "compared with the log density that the exact engine draws from, at "
        f"{density['points']} points, {density['far']} of them far from the draws. Apart from a "
        f"constant, they differ by at most {density['relative']:.0e} of the log density. Given the "
        f"scales, the standardised draws of the coefficients have means within "
        f"{noise['mean']:.3f} of 0 and standard deviations within "
        f"{abs(noise['sd'] - 1):.3f} of 1.\n\n"
        f"Hamiltonian Monte Carlo drew the scales again in {check['chains']} chains of "
        f"{check['draws']:,} draws (largest R-hat {check['r_hat']:.3f}, smallest effective "
        f"sample size {check['ess']:,.0f}). {check['quantities']} quantities were compared: "
        "contrasts of the data set and of groups, and all parameters that do not belong to a "
        "single word. Largest differences from the exact draws, in posterior standard deviations; "
        "in parentheses, the difference that would have counted as a disagreement:\n\n"
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
