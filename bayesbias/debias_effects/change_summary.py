"""What changed, in plain sentences that claim no more than the intervals allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesbias._core.wording import counted

if TYPE_CHECKING:
    from bayesbias.debias_effects.before_after import BeforeAfter

_MOVED = {
    "General H moved closer to A": "human words",
    "General N moved closer": "neutral words",
}


def paragraphs(result: BeforeAfter) -> dict[str, str]:
    """Return one paragraph each on the effect, residual bias, side effects, and what is missing."""
    texts = {
        "Effect of debiasing": _effect(result),
        "Residual bias": _residual(result.residual),
        "Side effects": _side_effects(result),
        "Not measured": _skipped(result.skipped.items()),
    }
    return {title: " ".join(sentences) for title, text in texts.items() if (sentences := [*text])}


def _effect(result: BeforeAfter) -> Iterator[str]:
    table = result.table
    measured, every = len(set(table["word"]) - {""}), len(result.study.protected_words)
    number = f"{measured} of the {every}" if 0 < measured < every else f"the {every}"
    yield (
        f"{result.embedding} became {result.debiased.name}; changes are given with "
        f"{result.prob:.0%} intervals, for {number} protected words of the study "
        f"{result.study.name!r}."
    )
    if result.paired is None:
        yield "No distance of the study moved."
    distances = table[(table["what"] == "distance") & (table["measure"] == "associated")]
    for row in _rows(distances[distances["group"] == ""]):
        if row["verdict"] == "unchanged" and result.paired is not None:
            yield "No distance from stereotypes of the own group moved."
        elif row["verdict"] != "unchanged":
            yield (
                f"The expected distance from stereotypes of the own group {_went(row)}; with "
                f"probability {row['p']:.2f} the words are less related to them."
            )
    words = distances.loc[distances["word"] != "", "verdict"]
    if len(words):
        yield f"Word by word: {_counts(words)}."
    gaps = table[(table["measure"] == "associated - none") & (table["group"] == "")]
    for row in _rows(gaps):
        yield (
            f"The gap between these stereotypes and neutral words, {row['before']:.3f} before and "
            f"{row['after']:.3f} after, changed by {_change(row)}: {row['note']}; with probability "
            f"{row['p']:.2f} it is narrower."
        )
    for row in _rows(table[table["what"] == "overview"]) if result.paired is not None else ():
        yield (
            f"{row['measure']}, {row['note']}; with probability {row['p']:.2f} "
            f"{_MOVED[row['measure']]} are closer to the protected words than before."
        )
    yield from _metrics(result.metrics)


def _metrics(frame: pd.DataFrame) -> Iterator[str]:
    first = frame[frame["metric"] == "mac"].head(1)  # that of the study
    first = first[first["verdict"] != ""]
    for row in _rows(first):
        yield (
            f"MAC {_went(row)}; it is between {row['before_lower']:.3f} and "
            f"{row['before_upper']:.3f} before, {row['after_lower']:.3f} and "
            f"{row['after_upper']:.3f} after."
        )
    others = frame.drop(index=first.index)
    judged = others.loc[others["verdict"] != "", "verdict"]
    if len(judged):
        yield f"Values of other metrics, compared with the value without bias: {_counts(judged)}."
    unmeasured = int(others["change"].isna().sum())
    if unmeasured:
        yield f"{counted(unmeasured, 'value')} could not be measured; the notes give the reasons."
    without_interval = len(others) - len(judged) - unmeasured
    if without_interval:
        yield (
            f"For {counted(without_interval, 'value')} no interval of the change can be given; the "
            "notes give the reasons."
        )


def _residual(frame: pd.DataFrame) -> Iterator[str]:
    if len(frame):
        yield (
            "The tests take words that leaned to either of two groups before; they measure "
            "residual bias only if these are the groups of the bias (else give 'residual_groups')."
        )
    for name in pd.unique(frame["metric"]) if len(frame) else []:
        rows = _rows(frame[(frame["metric"] == name) & frame["change"].notna()])
        if not rows:
            yield f"{name} could not be measured: {frame['note'].iloc[0]}."
            continue
        values = "; ".join(
            f"{row['before']:.2f} before and {row['after']:.2f} "
            f"({_interval_after(row)}) after for {row['query']}"
            for row in rows
        )
        neutral = rows[0]["neutral"]
        chance = " (and chance gives slightly more)" if name == "cluster_test" else ""
        given = [row for row in rows if not pd.isna(row["after_lower"])]
        above = sum(row["after_lower"] > neutral for row in given)
        conclusion = f"the interval lies above {neutral:g} in {above} of {len(given)}"
        if not given:
            reason = next(note for row in rows for note in row["note"].split("; ") if note)
            conclusion = reason[0].lower() + reason[1:]
        yield (f"{name}, where {neutral:g} means no residual bias{chance}: {values}; {conclusion}.")


def _interval_after(row: dict[str, Any]) -> str:
    if pd.isna(row["after_lower"]):
        return "no interval"
    return f"{row['after_lower']:.2f} to {row['after_upper']:.2f}"


def _side_effects(result: BeforeAfter) -> Iterator[str]:
    table = result.table
    for row in _rows(table[table["what"] == "similarity"]):
        yield f"Spearman's correlation with {row['measure']} {_went(row)}, from {row['note']}."
    analogies = table[table["what"] == "analogies"]
    for name in pd.unique(analogies["measure"]):
        rows = analogies[analogies["measure"] == name]
        for row in _rows(rows.tail(1)):  # over all sections, if there are several
            yield f"The share of right answers to {name} {_went(row)}, from {row['note']}."
        fell = rows.loc[(rows["verdict"] == "fell") & (rows["group"] != rows["group"].iloc[-1])]
        if len(fell):
            yield f"It fell in {', '.join(fell['group'])}."
    for row in _rows(table[table["what"] == "neighbours"]):
        low, high = (1 + row[end] for end in ("lower", "upper"))
        yield (
            f"Of the nearest neighbours of {row['note'].removesuffix(' words')} {row['group']}, "
            f"{row['after']:.0%} ({low:.0%} to {high:.0%}) are the same."
        )


def _skipped(reasons: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, reason in reasons:
        yield f"{name}: {reason.rstrip('.')}."


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def _went(row: dict[str, Any]) -> str:
    """Return how a value changed, claiming no more than the interval of the change allows."""
    if row["lower"] == row["upper"] == 0:
        return f"stayed at {row['before']:.3f}"
    values = f"from {row['before']:.3f} to {row['after']:.3f}, by {_change(row)}"
    if row["verdict"] != "inconclusive" and row["lower"] > 0:
        return f"rose {values}"
    if row["verdict"] != "inconclusive" and row["upper"] < 0:
        return f"fell {values}"
    doubt = ", which may be no change" if row["lower"] <= 0 <= row["upper"] else ""
    return f"went {values}{doubt}"


def _change(row: dict[str, Any]) -> str:
    return f"{row['change']:.3f} ({row['lower']:.3f} to {row['upper']:.3f})"


def _counts(verdicts: pd.Series[Any]) -> str:
    """Return how often there is each verdict."""
    counts = verdicts.value_counts()
    kinds = ("less related", "more related", "nearer", "farther", "unchanged", "inconclusive")
    parts = [f"{counts[kind]} {kind}" for kind in kinds if kind in counts]
    return f"{', '.join(parts)} (of {len(verdicts)})"
