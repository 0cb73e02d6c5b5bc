"""What contrasts and means say of bias, in sentences that say no more than the intervals allow."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from bayesbias._core.wording import counted, plural, shortened, with_article
from bayesbias.auditing.report.difference_text import (
    NAMED,
    OTHERS,
    difference,
    directed,
    interval_ends,
    records,
    size,
    span,
)


def bias(contrasts: pd.DataFrame, prob: float, rope: float) -> Iterator[str]:
    """Describe whether own stereotypes are closer than neutral words, over the whole data set."""
    first = records(contrasts[contrasts["level"] == "data set"])[0]
    other = OTHERS[first["contrast"]]
    if first["verdict"] == "inconclusive":
        yield (
            "Whether protected words are closer to the stereotypes of their own group than to "
            f"{other} is inconclusive: the estimate is {directed(first['mean'])}, and the "
            f"{prob:.0%} interval goes from {interval_ends(first)}."
        )
    else:
        how, than = {"closer": ("closer to", "to"), "farther": ("farther from", "from")}[
            first["verdict"]
        ]
        yield (
            f"Protected words are {how} the stereotypes of their own group than {than} {other}: by "
            f"{size(first['mean'])}, with {with_article(f'{prob:.0%} interval')} from "
            f"{interval_ends(first)}."
        )
    if -rope < first["lower"] and first["upper"] < rope:
        yield f"Whatever its sign, the difference is probably smaller than {rope:g}."
    yield from _at_equal_frequency(first, prob)


def _at_equal_frequency(row: Mapping[Hashable, Any], prob: float) -> Iterator[str]:
    """Describe what is left of a contrast if all attributes were equally frequent."""
    if pd.isna(row.get("equal_mean")):
        return
    equal: dict[Hashable, Any] = {n: row[f"equal_{n}"] for n in ("mean", "lower", "upper")}
    numbers = f"{directed(equal['mean'])} ({prob:.0%} interval {interval_ends(equal)})"
    if equal["upper"] < 0 or equal["lower"] > 0:
        yield f"At equal frequency of the attributes it is {numbers}."
    else:
        yield (
            f"At equal frequency of the attributes it is {numbers}, which is inconclusive: "
            "frequency may explain the difference."
            if row["verdict"] != "inconclusive"
            else f"At equal frequency of the attributes it is {numbers}, which is inconclusive too."
        )


def beside(contrasts: pd.DataFrame) -> Iterator[str]:
    """Describe whether they are closer than human words and stereotypes of other groups."""
    first, *others = records(contrasts[contrasts["level"] == "data set"])
    for row in others:
        if row["verdict"] == "inconclusive":
            answer = f"it is inconclusive ({directed(row['mean'])}, interval {interval_ends(row)})"
            if row["contrast"] == "associated - human" and first["verdict"] == "closer":
                answer += ": stereotypes may be closer only because they are words about people"
        else:
            answer = f"they are {directed(row['mean'])} ({interval_ends(row)})"
        yield f"Compared with {OTHERS[row['contrast']]} {answer}."


def same_attributes(contrasts: pd.DataFrame, prob: float) -> Iterator[str]:
    """Describe whether stereotypes are closer to their own group than to the other groups."""
    rows = records(contrasts[contrasts["level"] == "same attributes"])
    if not rows:
        return
    parts = [
        f"those of {row['group']} {difference(row)}"
        for row in sorted(rows, key=lambda row: float(row["mean"]))
    ]
    yield (
        "The same stereotypes, seen from their own group and from the other groups, so that what "
        "an attribute is like in itself (its frequency, for instance) cancels. Compared with the "
        f"other groups, {prob:.0%} intervals: {'; '.join(parts)}."
    )


def words(contrasts: pd.DataFrame, prob: float) -> Iterator[str]:
    """Count the words whose intervals exclude 0, and name the clearest."""
    every = contrasts[contrasts["level"] == "word"]
    judged = every[every["verdict"] != ""]
    first, *others = dict.fromkeys(every["contrast"])
    yield from _counted(judged[judged["contrast"] == first], OTHERS[first], prob)
    for contrast in others:
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
    unknown = int((every.drop_duplicates("word")["verdict"] == "").sum())
    if unknown:
        yield f"{counted(unknown, 'word')} cannot be judged: no stereotype of their group is there."


def _counted(rows: pd.DataFrame, other: str, prob: float) -> Iterator[str]:
    if rows.empty:
        return
    closer, farther = _extreme(rows, "closer"), _extreme(rows, "farther")
    claims, n = len(closer) + len(farther), len(rows)
    are = partial(plural, noun="is", nouns="are")
    if not claims:
        yield (
            f"For none of {counted(n, 'word')} does the {prob:.0%} interval tell whether it is "
            f"closer to the stereotypes of its own group than to {other}: nothing is established "
            "word by word."
        )
        return
    than = f"the stereotypes of their own group than to {other}"
    if len(closer):
        most = "most of all " if len(closer) > NAMED else ""
        named = ", ".join(
            f"{row['word']} {interval_ends(row)}" for row in records(closer.head(NAMED))
        )
        yield (
            f"{len(closer)} of {counted(n, 'word')} {are(len(closer))} closer to {than}, by "
            f"intervals that exclude 0: {most}{named}."
        )
    else:
        yield f"None of {counted(n, 'word')} is closer to {than} by an interval that excludes 0."
    if len(farther):
        names = shortened(farther["word"], NAMED)
        yield f"{len(farther)} {are(len(farther))} farther: {names}."
    if n > claims:
        yield f"{n - claims} {are(n - claims)} inconclusive."
    wrong = float((1 - closer["prob_negative"]).sum() + farther["prob_negative"].sum())
    of = "this claim" if claims == 1 else f"these {claims} claims"
    few = "fewer than 0.1" if wrong < 0.1 else f"{wrong:.1f}"
    yield f"By the probabilities of the model, {few} of {of} can be expected to be wrong."


def _extreme(rows: pd.DataFrame, verdict: str) -> pd.DataFrame:
    """Return the words of a verdict, those with the largest difference first."""
    chosen = rows[rows["verdict"] == verdict]
    return chosen.sort_values("mean", ascending=verdict == "closer", kind="stable")


def groups(contrasts: pd.DataFrame, prob: float) -> Iterator[str]:
    """Describe how much closer the words of each group are to their stereotypes, on average."""
    chosen = contrasts[(contrasts["level"] == "group") & (contrasts["verdict"] != "")]
    if chosen.empty:
        return
    first = chosen["contrast"].iloc[0]
    parts = [
        f"{row['group']} {difference(row)}"
        for row in records(chosen[chosen["contrast"] == first].sort_values("mean", kind="stable"))
    ]
    yield (
        f"Own stereotypes compared with {OTHERS[first]}, on average over the words of a group, "
        f"{prob:.0%} intervals: {'; '.join(parts)}."
    )


def hidden(means: pd.DataFrame, scores: pd.DataFrame) -> Iterator[str]:
    """Describe what a mean of means hides."""
    associated = means[(means["connection"] == "associated") & (means["rows"] > 0)]
    if associated.empty:
        return
    mac = scores[(scores["metric"] == "mac") & scores["lower"].notna()].head(1)
    controls = means[means["connection"] == "none"]
    for row in records(mac):
        text = (
            f"The mean average cosine distance from all stereotypes (MAC) is {row['value']:.2f}, "
            f"{row['lower']:.2f} to {row['upper']:.2f}; 1 would be unrelated"
        )
        if len(controls):
            text += f", and the mean distance from neutral words is {controls['mean'].mean():.2f}"
        yield f"{text}."
    ordered = records(associated.sort_values("mean", kind="stable"))
    least, most = ordered[0], ordered[-1]
    width = (associated["upper"] - associated["lower"]).median()
    yield (
        f"Single words differ: their expected distances from own stereotypes go from "
        f"{least['mean']:.2f} ({least['protected_word']}) to {most['mean']:.2f} "
        f"({most['protected_word']}), and are known to about ±{width / 2:.2f}; each rests on "
        f"{span(associated['rows'])} distances."
    )
