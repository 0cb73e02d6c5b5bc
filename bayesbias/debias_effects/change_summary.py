"""What changed, in plain sentences that claim no more than the intervals allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesbias._core.constants import AS_OBSERVED, EQUAL
from bayesbias._core.interval_text import decimals, estimate_text, signed
from bayesbias._core.plugins import title_of
from bayesbias._core.wording import capitalized, counted, enumerated, plural
from bayesbias.debias_effects.change_tables import TOO_FEW
from bayesbias.metrics import METRICS

if TYPE_CHECKING:
    from bayesbias.debias_effects.before_after import BeforeAfter

# The gaps that are said, and what own stereotypes are compared with.
_GAPS = {
    "associated - none": "neutral words",
    "associated - human": "human words",
    "associated - different": "stereotypes of other groups",
}
# Verdicts on a clear change whose meaning is not clear.
_DIRECTIONS = ("rose", "fell")
_MOVED = {
    "General H moved closer to A": "human words",
    "General N moved closer": "neutral words",
}


def paragraphs(result: BeforeAfter) -> dict[str, str]:
    """Return one paragraph each on the effect, residual bias, side effects, and what is missing."""
    kinds = {} if result.paired is None else result.paired.kinds()
    table = result.table
    at_equal = {
        capitalized(name): _distances(table[table["covariates"] == kind])
        for kind, name in kinds.items()
        if kind == EQUAL
    }
    texts = {
        "Effect of debiasing": _effect(result),
        **at_equal,
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
        f"Measured on {number} protected words of the study {result.study.label}, before "
        f"({result.embedding}) and after ({result.debiased.name}), with {result.prob:.0%} "
        "intervals."
    )
    if result.paired is None:
        yield "No distance of the study changed."
    else:
        kinds = result.paired.kinds()
        yield from _distances(table[table["covariates"] == AS_OBSERVED] if kinds else table)
        moved = [_moved(row) for row in _rows(table[table["what"] == "overview"])]
        if moved:
            yield f"{'; '.join(moved)}."
    yield from _metrics(result.metrics)


def _distances(table: pd.DataFrame) -> Iterator[str]:
    """Yield how distances from own stereotypes changed, of how many words, and the gaps."""
    distances = table[(table["what"] == "distance") & (table["measure"] == "associated")]
    for row in _rows(distances[distances["group"] == ""]):
        yield related_sentence(row)
    words = distances.loc[distances["word"] != "", "verdict"]
    if len(words):
        yield words_sentence(words)
    yield from _gaps(table)


def _gaps(table: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence for the gap to neutral words, and for other gaps that changed clearly."""
    chosen = table[(table["what"] == "gap") & (table["group"] == "")]
    rows = {row["measure"]: row for row in _rows(chosen)}
    unclear = []
    for number, (measure, other) in enumerate(_GAPS.items()):
        row = rows.get(measure)
        if row is not None and number and row["verdict"] == "inconclusive":
            unclear.append(f"{other} (from {_from_to(row)}; change {_change(row)})")
        elif row is not None:
            yield gap_sentence(row, other)
    if unclear:
        yield f"Inconclusive: the gap to {' and to '.join(unclear)}."


def related_sentence(row: Mapping[Any, Any]) -> str:
    """Return whether protected words are less or more related to their stereotypes than before.

    >>> print(related_sentence({"verdict": "less related", "before": 0.84, "after": 0.91,
    ...                         "change": 0.07, "lower": 0.04, "upper": 0.1, "probability": 0.99}))
    After debiasing, protected words are less related to the stereotypes of their own group: their \
    expected distance rose from 0.84 to 0.91 (change 0.07, 0.04 to 0.10; 1 means unrelated).
    """
    own = "the stereotypes of their own group"
    if row["verdict"] == "unchanged":
        return f"Debiasing did not change how related protected words are to {own}."
    values = f"from {_from_to(row)}"
    if row["verdict"] == "inconclusive":
        return (
            f"It is inconclusive whether protected words are less or more related to {own} after "
            f"debiasing: their expected distance went {values} (change {_change(row)}; 1 means "
            f"unrelated; P(less related) {probability_text(row['probability'])})."
        )
    if row["verdict"] in _DIRECTIONS:
        return (
            f"The expected distance of protected words from {own} {row['verdict']} {values} "
            f"(change {_change(row)}; 1 means unrelated); it is inconclusive whether they are less "
            f"or more related (P(less related) {probability_text(row['probability'])})."
        )
    went = "rose" if row["change"] > 0 else "fell"
    return (
        f"After debiasing, protected words are {row['verdict']} to {own}: their expected distance "
        f"{went} {values} (change {_change(row)}; 1 means unrelated)."
    )


def gap_sentence(row: Mapping[Any, Any], other: str) -> str:
    """Return by how much the gap between own stereotypes and other words closed.

    >>> row = {"verdict": "narrower", "before": -0.10, "after": -0.062, "probability": 0.99,
    ...        "change": 0.038, "lower": 0.01, "upper": 0.07,
    ...        "closed": 0.38, "closed_lower": 0.11, "closed_upper": 0.66}
    >>> print(gap_sentence(row, "neutral words"))
    The gap to neutral words closed by 38%, 11% to 66% (from −0.10 to −0.06).
    """
    values = f"from {_from_to(row)}"
    closed = float(row["closed"])
    if row["verdict"] == "unchanged":
        return f"The gap to {other} did not change."
    if row["verdict"] in _DIRECTIONS:
        # A clear change may narrow or widen a gap of uncertain sign.
        return (
            f"The difference from {other} {row['verdict']} {values} (change {_change(row)}), but "
            "it is inconclusive whether the gap is narrower or wider "
            f"(P(narrower) {probability_text(row['probability'])})."
        )
    if row["verdict"] == "inconclusive":
        return (
            f"It is inconclusive whether the gap to {other} closed or widened: it went {values} "
            f"(change {_change(row)}; P(narrower) {probability_text(row['probability'])})."
        )
    # A share of 1 is a gap that closed; beyond it the sign changed, and beyond 2 the gap is wider.
    if closed > 1:
        size = "smaller" if row["verdict"] == "narrower" else "larger"
        return f"The gap to {other} changed its sign and is {size} in size ({values})."
    if closed > 0:
        ends = (float(row["closed_lower"]), float(row["closed_upper"]))
        return f"The gap to {other} closed by {_share(closed, *ends)} ({values})."
    ends = (-float(row["closed_upper"]), -float(row["closed_lower"]))
    return f"The gap to {other} widened by {_share(-closed, *ends)} ({values})."


def words_sentence(verdicts: pd.Series[Any]) -> str:
    """Return how many words are less or more related to their stereotypes than before.

    >>> import pandas as pd
    >>> words_sentence(pd.Series(["less related", "inconclusive", "inconclusive"]))
    'Of 3 words, 1 is less related to its stereotypes; for 2 the data do not decide.'
    """
    counts = verdicts.value_counts()
    parts = []
    for kind in ("less related", "more related"):
        n = int(counts.get(kind, 0))
        if n:
            whose = plural(n, "its", "their")
            parts.append(f"{n} {plural(n, 'is', 'are')} {kind} to {whose} stereotypes")
    same = int(counts.get("unchanged", 0))
    left = int(counts.reindex(["inconclusive", *_DIRECTIONS]).fillna(0).sum())
    parts += [f"{same} {plural(same, 'is', 'are')} unchanged"] if same else []
    text = f"Of {counted(len(verdicts), 'word')}, {', '.join(parts) or 'none changed clearly'}"
    return f"{text}; for {left} the data do not decide." if left else f"{text}."


def probability_text(value: float) -> str:
    """Return what a probability is, estimated from draws, so never 0 or 1.

    >>> probability_text(0.894), probability_text(1.0)
    ('= 0.89', '> 0.99')
    """
    return "> 0.99" if value > 0.995 else "< 0.01" if value < 0.005 else f"= {value:.2f}"


def _share(value: float, lower: float, upper: float) -> str:
    percents = [f"{number:.0%}".replace("-", "−") for number in (value, lower, upper)]
    return f"{percents[0]}, {percents[1]} to {percents[2]}"


def _moved(row: Mapping[Any, Any]) -> str:
    """Return how probable it is that human or neutral words came closer."""
    return (
        f"P({_MOVED[row['measure']]} are closer to protected words than before) "
        f"{probability_text(row['probability'])}"
    )


def _metrics(frame: pd.DataFrame) -> Iterator[str]:
    first = frame[frame["metric"] == "mac"].head(1)  # that of the study
    first = first[first["verdict"] != ""]
    for row in _rows(first):
        yield f"MAC, the mean distance from all stereotypes, {_went(row)}; 1 means unrelated."
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
    """Yield a sentence for each test, over all pairs of groups; the table has each pair."""
    if len(frame):
        yield (
            "Words that leaned to one of two groups before debiasing may still be distinguishable "
            "after it."
        )
    without_interval = []
    for name in pd.unique(frame["metric"]) if len(frame) else []:
        title = title_of(name, METRICS)
        of_test = frame[frame["metric"] == name]
        rows = of_test[of_test["change"].notna()]
        if rows.empty:
            yield f"The {title} could not be measured: {of_test['note'].iloc[0]}."
            continue
        neutral = float(rows["neutral"].iloc[0])
        text = f"{_span(rows['before'])} before, {_span(rows['after'])} after"
        given = rows[rows["after_lower"].notna()]
        if len(given):
            above = int((given["after_lower"] > neutral).sum())
            pairs = counted(len(given), "pair")
            text += f"; the interval lies above {neutral:g} for {above} of {pairs} of groups"
        else:
            without_interval.append(title)
        yield f"{capitalized(title)} ({neutral:g}: no residual bias): {text}."
    if without_interval:
        yield f"No interval can be given for the {enumerated(without_interval)}."


def _span(values: pd.Series[Any]) -> str:
    low, high = f"{values.min():.2f}", f"{values.max():.2f}"
    return low if low == high else f"{low} to {high}"


def _side_effects(result: BeforeAfter) -> Iterator[str]:
    table = result.table
    for row in _rows(table[table["what"] == "similarity"]):
        yield (
            f"The rank correlation with the word similarities {row['measure']} {_went(row)}, from "
            f"{row['note']}."
        )
    analogies = table[table["what"] == "analogies"]
    for name in pd.unique(analogies["measure"]):
        rows = analogies[analogies["measure"] == name]
        for row in _rows(rows.tail(1)):  # over all sections, if there are several
            yield (
                f"The share of right answers to the analogies {name} {_went(row)}, from "
                f"{row['note']}."
            )
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
        yield f"{capitalized(title_of(name, METRICS))}: {reason.rstrip('.')}."


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def _went(row: Mapping[Any, Any]) -> str:
    """Return how a value changed, claiming no more than the interval of the change allows."""
    if row["lower"] == row["upper"] == 0:
        return f"stayed at {row['before']:.2f}"
    values = f"from {_from_to(row)} (change {_change(row)}"
    if row["verdict"] != TOO_FEW and row["lower"] > 0:
        return f"rose {values})"
    if row["verdict"] != TOO_FEW and row["upper"] < 0:
        return f"fell {values})"
    # Of too few pairs, the note says why an interval that excludes 0 does not decide.
    return f"went {values}{'; inconclusive' if row['lower'] <= 0 <= row['upper'] else ''})"


def _from_to(row: Mapping[Any, Any]) -> str:
    places = decimals(float(row["lower"]), float(row["upper"]))
    return f"{signed(float(row['before']), places)} to {signed(float(row['after']), places)}"


def _change(row: Mapping[Any, Any]) -> str:
    return estimate_text(float(row["change"]), float(row["lower"]), float(row["upper"]))


def _counts(verdicts: pd.Series[Any]) -> str:
    """Return how often there is each verdict."""
    # MAC is a distance: less related is nearer to its value without bias.
    same = {"less related": "nearer", "more related": "farther"}
    counts = verdicts.replace(same | dict.fromkeys(_DIRECTIONS, "changed")).value_counts()
    kinds = {
        "nearer": "nearer to it",
        "farther": "farther from it",
        "changed": "changed without being clearly nearer or farther",
        "unchanged": "unchanged",
        "inconclusive": "inconclusive",
    }
    parts = [f"{counts[kind]} {text}" for kind, text in kinds.items() if kind in counts]
    return f"{', '.join(parts)} (of {len(verdicts)})"
