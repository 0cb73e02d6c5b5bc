"""What contrasts and means say of bias, in sentences that say no more than the intervals allow."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from bayesbias._core.interval_text import ends_text
from bayesbias._core.wording import counted, enumerated, plural, shortened
from bayesbias.auditing.report.difference_text import (
    NAMED,
    OTHERS,
    difference,
    estimate,
    records,
    span,
)
from bayesbias.models import (
    association_sentences,
    equal_frequency_text,
    equal_frequency_verdict,
    has_equal_frequency,
)

_VERDICTS = ("closer", "farther", "inconclusive")


def association(contrasts: pd.DataFrame, prob: float, rope: float) -> Iterator[str]:
    """Say what own stereotypes are closer than, over the whole data set, and if that is bias."""
    rows = records(contrasts[contrasts["level"] == "data set"])
    yield from association_sentences(rows, prob)
    first = rows[0]
    if -rope < first["lower"] and first["upper"] < rope:
        yield (
            f"Compared with {OTHERS[first['contrast']]}, the difference is probably smaller than "
            f"{rope:g}, whatever its sign."
        )


def for_whom(contrasts: pd.DataFrame, prob: float) -> Iterator[str]:
    """Say which groups, and then which words, are closer to their stereotypes."""
    yield from _groups(contrasts)
    every = contrasts[contrasts["level"] == "word"]
    if len(every):
        first = every["contrast"].iloc[0]
        judged = every[(every["contrast"] == first) & (every["verdict"] != "")]
        yield from _words(judged, prob)
        unknown = int((every.drop_duplicates("word")["verdict"] == "").sum())
        if unknown:
            yield (
                f"{counted(unknown, 'word')} cannot be judged: the embedding has no stereotype of "
                f"{plural(unknown, 'its', 'their')} group."
            )


def _groups(contrasts: pd.DataFrame) -> Iterator[str]:
    chosen = contrasts[(contrasts["level"] == "group") & (contrasts["verdict"] != "")]
    if chosen.empty:
        return
    first = chosen["contrast"].iloc[0]
    rows = records(chosen[chosen["contrast"] == first].sort_values("mean", kind="stable"))
    parts = []
    for verdict in _VERDICTS:
        named = [
            f"{row['group']} ({estimate(row)}{equal_frequency_text(row)})"
            for row in rows
            if row["verdict"] == verdict
        ]
        if named:
            parts.append(f"{verdict} for {enumerated(named)}")
    yield f"By group, compared with {OTHERS[first]}: {'; '.join(parts)}."
    yield from _groups_changed(rows)
    if set(chosen["contrast"]) == set(OTHERS):
        yield _bias_of_groups(chosen)


def _groups_changed(rows: Sequence[Mapping[Hashable, Any]]) -> Iterator[str]:
    """Say for which groups the verdict is another at equal frequency."""
    known = [(row, equal_frequency_verdict(row)) for row in rows if has_equal_frequency(row)]
    parts = []
    for verdict in _VERDICTS:
        named = [str(row["group"]) for row, at in known if verdict == at != row["verdict"]]
        if named:
            parts.append(f"{verdict} for {enumerated(named)}")
    if parts:
        yield f"At equal frequency, the verdict is {'; '.join(parts)}."


def _bias_of_groups(chosen: pd.DataFrame) -> str:
    """Say for which groups all three comparisons support a bias, and for which if equal."""

    def supported(verdicts: Mapping[Hashable, Sequence[str]]) -> list[str]:
        full = ["closer"] * len(OTHERS)
        return [str(group) for group, own in verdicts.items() if own == full]

    rows = records(chosen)
    biased = supported(_by_group(rows, [row["verdict"] for row in rows]))
    text = (
        f"All three comparisons support a bias for {enumerated(biased)}"
        if biased
        else "For no group do all three comparisons support a bias"
    )
    if not all(map(has_equal_frequency, rows)):
        return f"{text}."
    then = supported(_by_group(rows, [equal_frequency_verdict(row) for row in rows]))
    if then == biased:
        return f"{text}; the same at equal frequency."
    return f"{text}; at equal frequency they do for {enumerated(then) if then else 'none'}."


def _by_group(
    rows: Sequence[Mapping[Hashable, Any]], verdicts: Sequence[str]
) -> dict[Hashable, list[str]]:
    """Return the verdicts of each group."""
    found: dict[Hashable, list[str]] = {}
    for row, verdict in zip(rows, verdicts, strict=True):
        found.setdefault(row["group"], []).append(verdict)
    return found


def _words(rows: pd.DataFrame, prob: float) -> Iterator[str]:
    if rows.empty:
        return
    n = len(rows)
    parts: list[str] = []
    for verdict in ("closer", "farther"):
        chosen = _extreme(rows, verdict)
        if len(chosen):
            named = [str(word) for word in chosen["word"].head(NAMED)]
            more = len(chosen) - len(named)
            named += [f"{more} more"] if more else []
            of = f"{len(chosen)} of {counted(n, 'word')} {plural(len(chosen), 'is', 'are')}"
            when = "" if parts else f" ({prob:.0%} interval excludes 0)"
            parts.append(f"{of} {verdict}{when}: {enumerated(named)}")
    if not parts:
        yield (
            f"None of {counted(n, 'word')} shows a difference ({prob:.0%} intervals include 0): "
            "the data do not decide."
        )
    else:
        left = int((rows["verdict"] == "inconclusive").sum())
        parts += [f"for {left} the data do not decide"] if left else []
        yield f"{'; '.join(parts)}."
    at_equal = _counts_at_equal_frequency(rows)
    if at_equal:
        yield f"{at_equal}."


def _counts_at_equal_frequency(rows: pd.DataFrame) -> str:
    """Count the words of each verdict at equal frequency; nothing without a fit with frequency."""
    known = [row for row in records(rows) if has_equal_frequency(row)]
    if not known:
        return ""
    found = [equal_frequency_verdict(row) for row in known]
    if found == [row["verdict"] for row in known]:
        return "At equal frequency, the verdicts are the same"
    counts = [f"{found.count(verdict)} {verdict}" for verdict in _VERDICTS if verdict in found]
    return f"At equal frequency: {enumerated(counts)}"


def _extreme(rows: pd.DataFrame, verdict: str) -> pd.DataFrame:
    """Return the words of a verdict, those with the largest difference first."""
    chosen = rows[rows["verdict"] == verdict]
    return chosen.sort_values("mean", ascending=verdict == "closer", kind="stable")


def false_claims(contrasts: pd.DataFrame) -> Iterator[str]:
    """Say how many of the words that show a difference can be expected to show none."""
    every = contrasts[contrasts["level"] == "word"]
    rows = every[every["contrast"] == every["contrast"].iloc[0]] if len(every) else every
    closer, farther = rows[rows["verdict"] == "closer"], rows[rows["verdict"] == "farther"]
    claims = len(closer) + len(farther)
    if claims:
        wrong = float((1 - closer["prob_negative"]).sum() + farther["prob_negative"].sum())
        of = "this word" if claims == 1 else f"these {claims} words"
        few = "< 0.1" if wrong < 0.1 else f"{wrong:.1f}"
        yield f"Expected false claims among {of}: {few}."


def sensitivity(contrasts: pd.DataFrame) -> Iterator[str]:
    """Say what an interval without a model says of the first contrast."""
    row = records(contrasts[contrasts["level"] == "data set"])[0]
    undecided = row["verdict"] == "inconclusive"
    if not pd.isna(row.get("t_lower")):
        lower, upper = float(row["t_lower"]), float(row["t_upper"])
        includes = lower <= 0 <= upper
        yield (
            f"A t-interval without a model {'includes' if includes else 'excludes'} 0"
            f"{' as well' if includes == undecided else ''} ({ends_text(lower, upper)})."
        )


def what_would_change_it(means: pd.DataFrame) -> Iterator[str]:
    """Say how few attributes the intervals rest on."""
    own = means[(means["connection"] == "associated") & (means["rows"] > 0)]
    if len(own):
        yield (
            f"More stereotypes (now {span(own['rows'])} per word) would narrow the intervals; "
            "other lists may give other results."
        )


def same_attributes(contrasts: pd.DataFrame, prob: float) -> Iterator[str]:
    """Describe whether stereotypes are closer to their own group than to the other groups."""
    rows = records(contrasts[contrasts["level"] == "same attributes"])
    if not rows:
        return
    parts = [
        f"{row['group']} {difference(row)}"
        for row in sorted(rows, key=lambda row: float(row["mean"]))
    ]
    yield (
        "If the same stereotypes are compared between their own group and the other groups, "
        "properties of the attributes, such as their frequency, cancel. Own group minus other "
        f"groups, with {prob:.0%} intervals (negative: closer): {'; '.join(parts)}."
    )


def other_contrasts(contrasts: pd.DataFrame) -> Iterator[str]:
    """Count the words that differ by the second and third contrast."""
    every = contrasts[contrasts["level"] == "word"]
    judged = every[every["verdict"] != ""]
    for contrast in [*dict.fromkeys(every["contrast"])][1:]:
        rows = judged[judged["contrast"] == contrast]
        if len(rows):
            parts = [
                f"{len(judged_so)} {verdict} ({shortened(judged_so['word'], NAMED)})"
                for verdict in ("closer", "farther")
                if len(judged_so := _extreme(rows, verdict))
            ]
            left = int((rows["verdict"] == "inconclusive").sum())
            parts += [f"{left} inconclusive"] if left else []
            yield f"Compared with {OTHERS[contrast]}: {', '.join(parts)}."
            at_equal = _counts_at_equal_frequency(rows)
            if at_equal:
                yield f"{at_equal}."


def hidden(means: pd.DataFrame, scores: pd.DataFrame) -> Iterator[str]:
    """Describe what a mean of means hides."""
    associated = means[(means["connection"] == "associated") & (means["rows"] > 0)]
    if associated.empty:
        return
    mac = scores[(scores["metric"] == "mac") & scores["lower"].notna()].head(1)
    controls = means[means["connection"] == "none"]
    for row in records(mac):
        text = (
            f"The mean average cosine distance from all stereotypes (MAC) is {row['value']:.2f} "
            f"({row['lower']:.2f} to {row['upper']:.2f}); 1 means unrelated"
        )
        if len(controls):
            text += f". The mean distance from neutral words is {controls['mean'].mean():.2f}"
        yield f"{text}."
    ordered = records(associated.sort_values("mean", kind="stable"))
    least, most = ordered[0], ordered[-1]
    width = (associated["upper"] - associated["lower"]).median()
    yield (
        f"Such a mean hides that words differ: their expected distances from own stereotypes range "
        f"from {least['mean']:.2f} ({least['protected_word']}) to {most['mean']:.2f} "
        f"({most['protected_word']}), each with an interval of about ±{width / 2:.2f}."
    )
