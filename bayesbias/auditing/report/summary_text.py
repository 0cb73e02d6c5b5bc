"""What an audit found, in plain sentences that say no more than the intervals allow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesbias._core.plugins import title_of
from bayesbias._core.wording import counted, enumerated, plural, shortened
from bayesbias.auditing.report import bias_text
from bayesbias.auditing.report.checks_text import debiased
from bayesbias.auditing.report.difference_text import (
    NAMED,
    OTHERS,
    at_equal_frequency,
    difference,
    estimate,
    labelled,
    records,
)
from bayesbias.debias import DEBIASERS
from bayesbias.embeddings import source_title
from bayesbias.metrics import METRICS
from bayesbias.models import equal_frequency_text

if TYPE_CHECKING:
    from bayesbias.auditing.audit_result import Audit, AuditPart


def heading(parts: Sequence[AuditPart]) -> str:
    """Return what was measured: the studies and the embeddings."""
    studies = list(dict.fromkeys(part.study.label for part in parts))
    embeddings = list(dict.fromkeys(part.embedding for part in parts))
    about = parts[0].record["embeddings"]
    # A name of one's own is a better title than that of the source.
    named = [
        (source_title(name) if about[name]["source"] == name else "") or name for name in embeddings
    ]
    return f"{enumerated(studies)} in {enumerated(named)}"


def title(parts: Sequence[AuditPart]) -> str:
    """Return the heading with the numbers of words and the model."""
    about = parts[0].record["embeddings"]
    embeddings = list(dict.fromkeys(part.embedding for part in parts))
    counts = [counted(protected_words(parts), "protected word")]
    if len(embeddings) == 1:
        counts.insert(0, counted(int(about[embeddings[0]]["words"]), "word"))
    leads = list(dict.fromkeys(part.lead for part in parts))
    counts.append(f"{plural(len(leads), 'model')} {enumerated(leads)}")
    return f"{heading(parts)}: {'; '.join(counts)}"


def protected_words(parts: Sequence[AuditPart]) -> int:
    """Return how many protected words the studies have."""
    return sum({part.study.name: len(part.study.protected_words) for part in parts}.values())


def paragraphs(part: AuditPart) -> dict[str, str]:
    """Return three paragraphs on what was found, and one for each method of debiasing."""
    prob, rope = part.prob, float(part.record["options"]["rope"])
    contrasts = labelled(part.contrasts, part.study)
    texts: dict[str, Iterable[str]] = {
        "Association": bias_text.association(contrasts, prob, rope),
        "For whom": bias_text.for_whom(contrasts, prob),
        "How sure": how_sure(part, contrasts),
        **{
            f"Debiasing with {title_of(name, DEBIASERS)}": debiased(table)
            for name, table in part.before_after.items()
        },
    }
    return {title: " ".join(sentences) for title, text in texts.items() if (sentences := [*text])}


def how_sure(part: AuditPart, contrasts: pd.DataFrame) -> Iterator[str]:
    """Say how sure the findings are, and what would change them."""
    if part.confirmation is not None and not part.confirmation["agrees"]:
        yield "The exact draws fail their checks: do not rely on these results."
    yield from bias_text.false_claims(contrasts)
    yield from bias_text.sensitivity(contrasts)
    yield from bias_text.what_would_change_it(part.means)


def across(audit: Audit) -> dict[str, str]:
    """Return one paragraph for each study on how the embeddings compare."""
    labels = {part.study.name: part.study.label for part in audit.parts.values()}
    return {
        f"Embeddings, {labels[study]}": " ".join(_compared(table, audit.ranking[study]))
        for study, table in audit.between.items()
    }


def _compared(table: pd.DataFrame, ranking: pd.DataFrame) -> Iterator[str]:
    first = table["contrast"].iloc[0]
    rows = table[table["contrast"] == first]
    own = records(rows[rows["second"] == ""])
    parts = [f"{row['embedding']} {difference(row)}{at_equal_frequency(row)}" for row in own]
    yield f"Own stereotypes compared with {OTHERS[first]} (negative: closer): {'; '.join(parts)}."
    pairs = rows[rows["second"] != ""]
    clear = pairs[(pairs["upper"] < 0) | (pairs["lower"] > 0)]
    for row in records(clear):
        more, less = row["embedding"], row["second"]
        if row["lower"] > 0:
            more, less = less, more
            row |= _opposite(row, "") | _opposite(row, "equal_")
        yield f"They are closer in {more} than in {less} (difference {_estimates(row)})."
    unclear = pairs.drop(index=clear.index)
    if len(unclear):
        named = [
            f"{row['embedding']} or {row['second']} (difference {_estimates(row)})"
            for row in records(unclear)
        ]
        yield f"Inconclusive: whether they are closer in {shortened(named, NAMED)}."
    yield from _ranked(ranking)


def _opposite(row: Mapping[Hashable, Any], of: str) -> dict[Hashable, Any]:
    """Return a difference the other way round."""
    mean, lower, upper = (row[f"{of}{name}"] for name in ("mean", "lower", "upper"))
    return {f"{of}mean": -mean, f"{of}lower": -upper, f"{of}upper": -lower}


def _estimates(row: Mapping[Hashable, Any]) -> str:
    return estimate(row) + equal_frequency_text(row)


def _ranked(ranking: pd.DataFrame) -> Iterator[str]:
    if ranking.empty:
        return
    best = ranking[
        ranking["prob_best"] > ranking.groupby("metric")["prob_best"].transform("max") - 1e-12
    ]
    sure = best[best["prob_best"] >= 0.95]
    by = sure.groupby("embedding", sort=False)["metric"].agg(list)
    metrics = counted(ranking["metric"].nunique(), "classical metric")
    if by.empty:
        yield f"None of {metrics} ranks one embedding best with a probability of 0.95 or more."
        return
    n = sure["metric"].nunique()
    parts = [
        f"{embedding} ({enumerated([title_of(name, METRICS) for name in names])})"
        for embedding, names in by.items()
    ]
    yield (
        f"{n} of {metrics} {plural(n, 'ranks', 'rank')} one embedding as nearest to no bias with a "
        f"probability of 0.95 or more: {'; '.join(parts)}."
    )
