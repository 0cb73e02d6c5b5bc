"""What an audit found, in plain sentences that say no more than the intervals allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pandas as pd

from bayesbias._core.wording import counted, plural, shortened
from bayesbias.auditing.report.bias_text import beside, bias, groups, hidden, same_attributes, words
from bayesbias.auditing.report.checks_text import (
    confirmed,
    debiased,
    lists,
    metrics,
    models,
)
from bayesbias.auditing.report.difference_text import (
    NAMED,
    OTHERS,
    directed,
    interval_ends,
    records,
    size,
)

if TYPE_CHECKING:
    from bayesbias.auditing.audit_result import Audit, AuditPart


def paragraphs(part: AuditPart) -> dict[str, str]:
    """Return one paragraph each on what was found, without those that have nothing to say."""
    prob, rope = part.prob, float(part.record["options"]["rope"])
    texts: dict[str, Iterable[str]] = {
        "Bias": bias(part.contrasts, prob, rope),
        "Other comparisons": beside(part.contrasts),
        "The same attributes": same_attributes(part.contrasts, prob),
        "Word by word": words(part.contrasts, prob),
        "By group": groups(part.contrasts, prob),
        "What one number hides": hidden(part.means, part.scores),
        "Models": models(part.comparison, part.comparison_loo, part.lead, part.comparison_warnings),
        "Check of the draws": confirmed(part.confirmation),
        "Classical metrics": metrics(part.scores, part.skipped, prob),
        "Word lists": lists(part.lists, part.list_warnings, part.robustness),
        **{f"Debiasing, {name}": debiased(table) for name, table in part.before_after.items()},
        "Limits": limits(part),
    }
    return {title: " ".join(sentences) for title, text in texts.items() if (sentences := [*text])}


def limits(part: AuditPart) -> Iterator[str]:
    """Say what all of this is conditional on."""
    yield (
        f"All of this is about the words of the study {part.study.name!r} in {part.embedding!r}; "
        f"the vectors are taken as they are, and {part.prob:.0%} intervals miss the truth now and "
        "then even if the model is right."
    )


def across(audit: Audit) -> dict[str, str]:
    """Return one paragraph for each study on how the embeddings compare."""
    return {
        f"Embeddings on {study}": " ".join(_compared(table, audit.ranking[study]))
        for study, table in audit.between.items()
    }


def _compared(table: pd.DataFrame, ranking: pd.DataFrame) -> Iterator[str]:
    first = table["contrast"].iloc[0]
    rows = table[table["contrast"] == first]
    parts = [
        f"{row['embedding']} {directed(row['mean'])} ({interval_ends(row)})"
        for row in records(rows[rows["second"] == ""])
    ]
    yield f"Own stereotypes compared with {OTHERS[first]}: {'; '.join(parts)}."
    pairs = rows[rows["second"] != ""]
    clear = pairs[(pairs["upper"] < 0) | (pairs["lower"] > 0)]
    for row in records(clear):
        more, less = row["embedding"], row["second"]
        if row["lower"] > 0:
            more, less = less, more
        gap = f"{size(row['mean'])} ({interval_ends(row)})"
        yield f"In {more} they are closer than in {less}, by {gap}."
    unclear = pairs.drop(index=clear.index)
    if len(unclear):
        pairs_named = [
            f"{first} and {second}"
            for first, second in zip(unclear["embedding"], unclear["second"], strict=True)
        ]
        yield f"It is inconclusive which is more biased: {shortened(pairs_named, NAMED)}."
    best = ranking[ranking["p_best"] > ranking.groupby("metric")["p_best"].transform("max") - 1e-12]
    sure = best[best["p_best"] >= 0.95]
    n = sure["metric"].nunique()
    yield (
        f"Of {counted(ranking['metric'].nunique(), 'classical metric')}, "
        f"{n} {plural(n, 'tells', 'tell')} with a probability of 0.95 or more which embedding "
        f"is least biased{_who(sure)}."
    )


def _who(sure: pd.DataFrame) -> str:
    if sure.empty:
        return ""
    by = sure.groupby("embedding", sort=False)["metric"].agg(", ".join)
    return f" ({'; '.join(f'{embedding}: {names}' for embedding, names in by.items())})"
