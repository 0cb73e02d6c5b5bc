"""Changes as rows of one table: what was measured, before and after, and how certain that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias._core.constants import AS_OBSERVED
from bayesbias.metrics import MAC, Score
from bayesbias.models import By, Overview, PairedFit
from bayesbias.numerics.intervals import centred, interval_around

#: The columns of the one table; with covariates also what rows are at, behind the measure.
COLUMNS = (
    "what",
    "measure",
    "group",
    "word",
    "before",
    "after",
    "change",
    "lower",
    "upper",
    "closed",
    "closed_lower",
    "closed_upper",
    "probability",
    "event",
    "verdict",
    "note",
)
_NUMBERS = ("before", "after", "change", "lower", "upper", "probability")
_VALUES = (*_NUMBERS, "event", "verdict")
# The share of a gap that closed, which only gaps have.
_CLOSED = ("closed", "closed_lower", "closed_upper")
#: The columns of a table with covariates.
COLUMNS_WITH_COVARIATES = (*COLUMNS[:2], "covariates", *COLUMNS[2:])
# Rows of the thesis's overview that are about what moved, and which connection that is.
_MOVED = {"General H moved closer to A": "human", "General N moved closer": "none"}
# Of fewer pairs than this a bootstrap gives intervals of a correlation that are too narrow.
_FEW_PAIRS = 30
#: The verdict on a correlation of fewer pairs.
TOO_FEW = "too few pairs"
# What MAC, a mean distance, may be after debiasing: its value without bias is 1, unrelated.
_OF_DISTANCES = ("less related", "more related")


def scores_frame(scores: Sequence[Score], prob: float) -> pd.DataFrame:
    """Return a row for each two scores, before and after."""
    rows = [
        _compared(first, second, prob)
        for first, second in zip(scores[::2], scores[1::2], strict=True)
    ]
    return pd.DataFrame(rows)


def _compared(before: Score, after: Score, prob: float) -> dict[str, Any]:
    neutral = before.neutral_value
    change = after.value - before.value
    lower = upper = nearer = np.nan
    verdict = ""
    is_distance = before.metric == MAC.name
    if before.draws is not None and after.draws is not None:
        drawn = np.column_stack([before.draws, after.draws])
        drawn = drawn[np.isfinite(drawn).all(axis=1)]
        if len(drawn):
            lower, upper = interval_around(change, centred(drawn[:, 1] - drawn[:, 0], change), prob)
            away = np.abs(drawn - neutral)
            nearer = float((away[:, 1] < away[:, 0]).mean())
            farther = float((away[:, 1] > away[:, 0]).mean())
            names = _OF_DISTANCES if is_distance else ("nearer", "farther")
            verdict = _verdict(nearer, farther, prob, names, (lower, upper))
    notes = dict.fromkeys(
        [
            before.reason,
            after.reason,
            *_no_intervals(before.no_interval, after.no_interval),
            *before.notes,
            *after.notes,
        ]
    )
    return {
        "metric": before.metric,
        "query": before.query_name,
        "before": before.value,
        "before_lower": before.lower,
        "before_upper": before.upper,
        "after": after.value,
        "after_lower": after.lower,
        "after_upper": after.upper,
        "change": change,
        "lower": lower,
        "upper": upper,
        "probability": nearer,
        "event": _OF_DISTANCES[0] if is_distance else f"nearer to {neutral:g}",
        "verdict": verdict,
        "neutral": neutral,
        "n_words": sum(map(len, after.words.values())),
        "n_lost": sum(map(len, after.lost.values())),
        "note": "; ".join(note for note in notes if note),
    }


def _no_intervals(before: str | None, after: str | None) -> Iterator[str]:
    """Yield why there is no interval, once if it is the same reason."""
    if before is not None and before == after:
        yield f"no interval: {before}"
        return
    for when, reason in (("before", before), ("after", after)):
        if reason is not None:
            yield f"no interval {when}: {reason}"


def verdict_rule(prob: float) -> str:
    """Return in words how the column `verdict` is made.

    >>> print(verdict_rule(0.89))
    The verdict names the event, or its opposite, if its probability is 0.945 or more. Otherwise, \
    only the change is named if its 89% interval excludes 0 (rose or fell), and the verdict is \
    inconclusive if the interval includes 0. Similarity and analogies are judged by the \
    interval, and a correlation of fewer than 30 pairs is not judged (too few pairs).
    """
    return (
        "The verdict names the event, or its opposite, if its probability is "
        f"{_enough(prob):.3g} or more. Otherwise, only the change is named if its {prob:.0%} "
        "interval excludes 0 (rose or fell), and the verdict is inconclusive if the interval "
        "includes 0. Similarity and analogies are judged by the interval, and a correlation of "
        f"fewer than {_FEW_PAIRS} pairs is not judged ({TOO_FEW})."
    )


def _enough(prob: float) -> float:
    """Return the probability of an interval and one of its sides."""
    return round((1 + prob) / 2, 12)  # (1 + 0.89) / 2 is a little more than 0.945


def _verdict(
    p: float, p_against: float, prob: float, names: tuple[str, str], ends: tuple[float, float]
) -> str:
    """Return what happened as far as it is clear: the event, the change, or neither.

    A change may be clear where the event is not: a gap of uncertain sign that rose may be narrower
    or wider.
    """
    if not p and not p_against:
        return "unchanged"
    if p >= _enough(prob):
        return names[0]
    return names[1] if p_against >= _enough(prob) else _direction(*ends)


def _direction(lower: float, upper: float) -> str:
    """Return where a value went, if the interval of its change excludes 0."""
    if upper < 0:
        return "fell"
    return "rose" if lower > 0 else "inconclusive"


def of_distances(paired: PairedFit, prob: float) -> Iterator[dict[str, Any]]:
    """Yield how far distances moved, for all words, by group and by word; then the gaps."""
    groups = paired.joint.groups()
    group_of = dict(zip(groups["protected_word"].to_numpy(), groups.to_numpy(), strict=True))
    levels: tuple[By | None, ...] = (None, "protected_group", "protected_word")
    for by in levels:
        for row in paired.effects(by=by, prob=prob).to_dict("records"):
            word = str(row.get("protected_word", ""))
            nearer = row["prob_towards_1"]
            yield _row(
                "distance",
                row["connection"],
                group=str(row.get("protected_group", group_of.get(word, ""))),
                word=word,
                before=row["before"],
                after=row["after"],
                change=row["mean"],
                lower=row["lower"],
                upper=row["upper"],
                probability=nearer,
                event="less related",
                verdict=_verdict(
                    nearer, 1 - nearer, prob, _OF_DISTANCES, (row["lower"], row["upper"])
                ),
                covariates=row.get("covariates", ""),
            )
    names = _connections(paired)
    if "associated" not in names:
        return
    for other in reversed(names):
        for by in levels[:2] if other != "associated" else ():
            gaps = paired.gap_closed(f"associated - {other}", by=by, prob=prob)
            for row in gaps.to_dict("records"):
                narrower = row["prob_narrower"]
                ends = row["change_lower"], row["change_upper"]
                yield _row(
                    "gap",
                    row["contrast"],
                    group=str(row.get("protected_group", "")),
                    before=row["before"],
                    after=row["after"],
                    change=row["change"],
                    lower=ends[0],
                    upper=ends[1],
                    closed=row["closed"],
                    closed_lower=row["closed_lower"],
                    closed_upper=row["closed_upper"],
                    probability=narrower,
                    event="narrower",
                    verdict=_verdict(narrower, 1 - narrower, prob, ("narrower", "wider"), ends),
                    covariates=row.get("covariates", ""),
                )


def _connections(paired: PairedFit) -> tuple[str, ...]:
    return paired.joint.data.levels["connection"]


def of_unmoved(
    table: pd.DataFrame, connections: Sequence[str], covariates: str
) -> Iterator[dict[str, Any]]:
    """Yield the connections none of whose distances moved; there is nothing to model."""
    for name in connections:
        mean = float(table.loc[table["connection"] == name, "cosine_distance"].mean())
        yield _row(
            "distance",
            name,
            before=mean,
            after=mean,
            change=0.0,
            lower=0.0,
            upper=0.0,
            probability=0.0,
            event="less related",
            verdict="unchanged",
            note="no distance moved; the mean of all",
            covariates=covariates,
        )


def of_overview(answers: Overview, paired: PairedFit | None) -> Iterator[dict[str, Any]]:
    """Yield what moved closer, with the probability of it that the joint model gives.

    That of the thesis's own model takes the attributes as given, and is too extreme.
    """
    effects: dict[str, float] = {}
    if paired is not None:
        table = paired.effects(by=None)
        if paired.kinds():
            table = table[table["covariates"] == AS_OBSERVED]
        effects = dict(zip(table["connection"].astype(str), table["prob_positive"], strict=True))
    for name, other in _MOVED.items():
        if name not in answers.table.index:
            continue
        answer, probability, _ = answers.table.loc[name]
        note = f"by the thesis's rule: {answer}"
        if other in effects:
            probability = 1 - effects[other]
        yield _row("overview", name, probability=probability, event="closer than before", note=note)


def of_scores(what: str, frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the values of metrics or tests, with the query as the group."""
    for row in frame.to_dict("records"):
        values = {name: row[name] for name in (*_VALUES, "note")}
        yield _row(what, row["metric"], group=row["query"], **values)


def quality_frame(what: str, values: pd.DataFrame) -> pd.DataFrame:
    """Return the values of a benchmark before and after, side by side."""
    score = "spearman" if what == "similarity" else "accuracy"
    number = "n_pairs" if what == "similarity" else "n_questions"
    first, second = (part.reset_index(drop=True) for _, part in values.groupby(
        "embedding", sort=False))  # fmt: skip
    frame = pd.DataFrame(
        {
            "what": what,
            "benchmark": first["benchmark"],
            "section": first.get("section", ""),
            "n": first[number],
            "n_lost": first["n_lost"],
        }
    )
    for name, part in (("before", first), ("after", second)):
        frame[name] = part[score]
        frame[f"{name}_lower"], frame[f"{name}_upper"] = part["lower"], part["upper"]
    frame["change"] = second["change"]
    frame["lower"], frame["upper"] = second["change_lower"], second["change_upper"]
    frame["probability"], frame["event"] = second["prob_change_negative"], "fell"
    frame["verdict"] = [
        "" if np.isnan(low) else "unchanged" if low == high == 0 else _direction(low, high)
        for low, high in zip(frame["lower"], frame["upper"], strict=True)
    ]
    return frame


def of_quality(frames: Sequence[pd.DataFrame]) -> Iterator[dict[str, Any]]:
    """Yield the values of benchmarks, with the section as the group."""
    for row in (row for frame in frames for row in frame.to_dict("records")):
        pairs = row["what"] == "similarity"
        note = f"{row['n']} of {row['n'] + row['n_lost']} {'pairs' if pairs else 'questions'}"
        if pairs and row["n"] < _FEW_PAIRS and row["verdict"] != "unchanged":
            note += ", too few to rely on"
            row["verdict"] = TOO_FEW
        yield _row(
            row["what"],
            row["benchmark"],
            group=row["section"],
            note=note,
            **{name: row[name] for name in _VALUES},
        )


def of_drift(
    drift: pd.DataFrame, k: int, draws: int, prob: float, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the mean share of neighbours kept, its interval by a Bayesian bootstrap over words."""
    if drift.empty:
        return
    rng = np.random.default_rng(seed)
    for label, rows in drift.groupby("words", sort=False):
        kept = rows["kept"].to_numpy()
        weights: Array = rng.standard_exponential((draws, len(kept)))
        lost = (weights @ (kept - 1)) / weights.sum(axis=1)
        change = float(kept.mean() - 1)
        lower, upper = interval_around(change, lost, prob)
        yield _row(
            "neighbours",
            f"share of {k} kept",
            group=str(label),
            before=1.0,
            after=float(kept.mean()),
            change=change,
            lower=lower,
            upper=upper,
            note=f"{len(kept)} words",
        )


def _row(what: str, measure: str, **values: Any) -> dict[str, Any]:
    texts = dict.fromkeys(("group", "word", "covariates", "event", "verdict", "note"), "")
    numbers = dict.fromkeys((*_NUMBERS, *_CLOSED), np.nan)
    return {"what": what, "measure": str(measure), **texts, **numbers, **values}
