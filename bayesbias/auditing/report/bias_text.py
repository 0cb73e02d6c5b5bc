"""What contrasts and means say of bias, in sentences that say no more than the intervals allow."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from bayesbias._core.interval_text import ends_text, estimate_text
from bayesbias._core.wording import counted, enumerated, plural, shortened
from bayesbias.auditing.report.difference_text import (
    NAMED,
    OTHERS,
    difference,
    estimate,
    records,
    span,
)
from bayesbias.models import association_sentences


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
    for verdict in ("closer", "farther", "inconclusive"):
        named = [f"{row['group']} ({estimate(row)})" for row in rows if row["verdict"] == verdict]
        if named:
            parts.append(f"{verdict} for {enumerated(named)}")
    yield f"By group, compared with {OTHERS[first]}: {'; '.join(parts)}."
    if set(chosen["contrast"]) == set(OTHERS):
        biased = [
            str(group)
            for group, own in chosen.groupby("group", sort=False)
            if len(own) == len(OTHERS) and (own["verdict"] == "closer").all()
        ]
        yield (
            f"All three comparisons support a bias for {enumerated(biased)}."
            if biased
            else "For no group do all three comparisons support a bias."
        )


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
        return
    left = int((rows["verdict"] == "inconclusive").sum())
    parts += [f"for {left} the data do not decide"] if left else []
    yield f"{'; '.join(parts)}."


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
    """Say what the first contrast is at equal frequency, and by an interval without a model."""
    row = records(contrasts[contrasts["level"] == "data set"])[0]
    undecided = row["verdict"] == "inconclusive"
    against = OTHERS[row["contrast"]]
    if not pd.isna(row.get("equal_mean")):
        mean, lower, upper = (float(row[f"equal_{n}"]) for n in ("mean", "lower", "upper"))
        number, _, ends = estimate_text(mean, lower, upper).partition(", ")
        text = f"At equal frequency of the attributes, the difference from {against} is {number} "
        text += f"({ends})"
        if not lower <= 0 <= upper:
            reverses = not undecided and mean * float(row["mean"]) < 0
            yield f"{text}{', with the opposite sign' if reverses else ''}."
        else:
            doubt = "also inconclusive" if undecided else "inconclusive: frequency may explain it"
            yield f"{text}, {doubt}."
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
