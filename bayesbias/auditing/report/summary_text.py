"""What an audit found, in plain sentences that say no more than the intervals allow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesbias.auditing.audit_options import LEAD
from bayesbias.html.number_format import probability

if TYPE_CHECKING:
    from bayesbias.auditing.audit_result import Audit, AuditPart

#: What own stereotypes are compared with, in words.
OTHERS = {
    "associated - none": "neutral words",
    "associated - human": "human words",
    "associated - different": "stereotypes of other groups",
}
# So many words are named at most.
_NAMED = 6
# A difference of criteria of so many standard errors is clear, if it is not small: below 4 units of
# log density, 8 of deviance, standard errors cannot be trusted (Sivula et al. 2020).
_CLEAR, _SMALL = 2.0, 8.0


def tell(part: AuditPart) -> dict[str, str]:
    """Return one paragraph each on what was found, without those that have nothing to say."""
    prob, rope = part.prob, float(part.record["options"]["rope"])
    told: dict[str, Iterable[str]] = {
        "Bias": bias(part.contrasts, prob, rope),
        "Other comparisons": beside(part.contrasts),
        "The same attributes": same_attributes(part.contrasts, prob),
        "Word by word": words(part.contrasts, prob),
        "By group": groups(part.contrasts, prob),
        "What one number hides": hidden(part.means, part.scores),
        "Models": models(
            part.comparison, part.comparison_loo, part.lead, part.steps["comparison"]["warnings"]
        ),
        "Check of the draws": confirmed(part.confirmation),
        "Classical metrics": metrics(part.scores, part.skipped, prob),
        "Word lists": lists(part.lists, part.list_warnings, part.robustness),
        **{f"Debiasing, {name}": debiased(table) for name, table in part.before_after.items()},
        "Limits": limits(part),
    }
    return {title: " ".join(sentences) for title, text in told.items() if (sentences := [*text])}


def bias(contrasts: pd.DataFrame, prob: float, rope: float) -> Iterator[str]:
    """Tell whether own stereotypes are closer than neutral words, over the whole data set."""
    first = _rows(contrasts[contrasts["level"] == "data set"])[0]
    other = OTHERS[first["contrast"]]
    if first["verdict"] == "open":
        yield (
            "Whether protected words are closer to the stereotypes of their own group than to "
            f"{other} is open: the estimate is {_directed(first['mean'])}, and the {prob:.0%} "
            f"interval goes from {_ends(first)}."
        )
    else:
        how, than = {"closer": ("closer to", "to"), "farther": ("farther from", "from")}[
            first["verdict"]
        ]
        yield (
            f"Protected words are {how} the stereotypes of their own group than {than} {other}: by "
            f"{_size(first['mean'])}, with {_an(prob)} interval from {_ends(first)}."
        )
    if -rope < first["lower"] and first["upper"] < rope:
        yield f"Whatever its sign, the difference is probably smaller than {rope:g}."
    yield from _at_equal_frequency(first, prob)


def _at_equal_frequency(row: Mapping[Hashable, Any], prob: float) -> Iterator[str]:
    """Tell what is left of a contrast if all attributes were equally frequent."""
    if pd.isna(row.get("equal_mean")):
        return
    equal: dict[Hashable, Any] = {n: row[f"equal_{n}"] for n in ("mean", "lower", "upper")}
    numbers = f"{_directed(equal['mean'])} ({prob:.0%} interval {_ends(equal)})"
    if equal["upper"] < 0 or equal["lower"] > 0:
        yield f"At equal frequency of the attributes it is {numbers}."
    else:
        yield (
            f"At equal frequency of the attributes it is {numbers}, which is inconclusive: "
            "frequency may explain the difference."
            if row["verdict"] != "open"
            else f"At equal frequency of the attributes it is {numbers}, which is inconclusive too."
        )


def beside(contrasts: pd.DataFrame) -> Iterator[str]:
    """Tell whether they are closer than human words and stereotypes of other groups."""
    first, *others = _rows(contrasts[contrasts["level"] == "data set"])
    for row in others:
        if row["verdict"] == "open":
            told = f"it is open ({_directed(row['mean'])}, interval {_ends(row)})"
            if row["contrast"] == "associated - human" and first["verdict"] == "closer":
                told += ": stereotypes may be closer only because they are words about people"
        else:
            told = f"they are {_directed(row['mean'])} ({_ends(row)})"
        yield f"Compared with {OTHERS[row['contrast']]} {told}."


def same_attributes(contrasts: pd.DataFrame, prob: float) -> Iterator[str]:
    """Tell whether stereotypes are closer to their own group than to the other groups."""
    rows = _rows(contrasts[contrasts["level"] == "same attributes"])
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
                f"{len(own)} {verdict} ({_some(own['word'])})"
                for verdict in ("closer", "farther")
                if len(own := _extreme(rows, verdict))
            ]
            left = int((rows["verdict"] == "open").sum())
            parts += [f"{left} open"] if left else []
            yield f"Compared with {OTHERS[contrast]}: {', '.join(parts)}."
    unknown = int((every.drop_duplicates("word")["verdict"] == "").sum())
    if unknown:
        yield f"{_number(unknown, 'word')} cannot be judged: no stereotype of their group is there."


def _counted(rows: pd.DataFrame, other: str, prob: float) -> Iterator[str]:
    if rows.empty:
        return
    closer, farther = _extreme(rows, "closer"), _extreme(rows, "farther")
    claims, n = len(closer) + len(farther), len(rows)
    if not claims:
        yield (
            f"For none of {n} words does the {prob:.0%} interval tell whether it is closer to the "
            f"stereotypes of its own group than to {other}: nothing is established word by word."
        )
        return
    than = f"the stereotypes of their own group than to {other}"
    if len(closer):
        most = "most of all " if len(closer) > _NAMED else ""
        named = ", ".join(f"{row['word']} {_ends(row)}" for row in _rows(closer.head(_NAMED)))
        yield (
            f"{len(closer)} of {_number(n, 'word')} {_is(len(closer))} closer to {than}, by "
            f"intervals that exclude 0: {most}{named}."
        )
    else:
        yield f"None of {_number(n, 'word')} is closer to {than} by an interval that excludes 0."
    if len(farther):
        yield f"{len(farther)} {_is(len(farther))} farther: {_some(farther['word'])}."
    if n > claims:
        yield f"{n - claims} {_is(n - claims)} open."
    wrong = float((1 - closer["prob_negative"]).sum() + farther["prob_negative"].sum())
    of = "this claim" if claims == 1 else f"these {claims} claims"
    yield (f"By the probabilities of the model, {_few(wrong)} of {of} can be expected to be wrong.")


def _extreme(rows: pd.DataFrame, verdict: str) -> pd.DataFrame:
    """Return the words of a verdict, those with the largest difference first."""
    own = rows[rows["verdict"] == verdict]
    return own.sort_values("mean", ascending=verdict == "closer", kind="stable")


def groups(contrasts: pd.DataFrame, prob: float) -> Iterator[str]:
    """Tell how much closer the words of each group are to their stereotypes, on average."""
    chosen = contrasts[(contrasts["level"] == "group") & (contrasts["verdict"] != "")]
    if chosen.empty:
        return
    first = chosen["contrast"].iloc[0]
    parts = [
        f"{row['group']} {difference(row)}"
        for row in _rows(chosen[chosen["contrast"] == first].sort_values("mean", kind="stable"))
    ]
    yield (
        f"Own stereotypes compared with {OTHERS[first]}, on average over the words of a group, "
        f"{prob:.0%} intervals: {'; '.join(parts)}."
    )


def hidden(means: pd.DataFrame, scores: pd.DataFrame) -> Iterator[str]:
    """Tell what a mean of means does not."""
    own = means[(means["connection"] == "associated") & (means["rows"] > 0)]
    if own.empty:
        return
    mac = scores[(scores["metric"] == "mac") & scores["lower"].notna()].head(1)
    controls = means[means["connection"] == "none"]
    for row in _rows(mac):
        text = (
            f"The mean average cosine distance from all stereotypes (MAC) is {row['value']:.2f}, "
            f"{row['lower']:.2f} to {row['upper']:.2f}; 1 would be unrelated"
        )
        if len(controls):
            text += f", and the mean distance from neutral words is {controls['mean'].mean():.2f}"
        yield f"{text}."
    ordered = _rows(own.sort_values("mean", kind="stable"))
    least, most = ordered[0], ordered[-1]
    width = (own["upper"] - own["lower"]).median()
    yield (
        f"Single words differ: their expected distances from own stereotypes go from "
        f"{least['mean']:.2f} ({least['protected_word']}) to {most['mean']:.2f} "
        f"({most['protected_word']}), and are known to about ±{width / 2:.2f}; each rests on "
        f"{_between(own['rows'])} distances."
    )


def models(
    waic: pd.DataFrame, loo: pd.DataFrame, lead: str, doubts: Sequence[str] = ()
) -> Iterator[str]:
    """Tell which model the data prefer, and how clearly."""
    if len(waic) == 1:
        yield f"Only the model {waic.index[0]} was fitted."
        return
    for table, name, how in ((waic, "WAIC", "By WAIC"), (loo, "LOO", "Leaving out attributes")):
        best, second = table.index[:2]
        gap, error = (float(table.loc[second, column]) for column in (f"d{name}", "dSE"))
        text = (
            f"{how}, the model {best} predicts best; {second} comes next, {gap:,.0f} behind with a "
            f"standard error of {error:,.0f}"
        )
        yield (
            f"{text}, a clear difference."
            if gap > max(_CLEAR * error, _SMALL)
            else (f"{text}, which is no clear difference.")
        )
    if doubts:
        yield "By their own checks some of these criteria are rough; see the diagnostics."
    if lead == LEAD:
        yield (
            f"Means and contrasts are from {lead}, whichever model predicts best: it was chosen "
            "because its intervals hold the truth about as often as they say, which those of "
            "models that predict well may not."
        )
    elif lead != waic.index[0]:
        yield (
            f"Means and contrasts are from {lead}, the best of the models that have a mean for "
            "each word and kind of attribute."
        )


def confirmed(found: Mapping[str, Any] | None) -> Iterator[str]:
    """Tell whether the exact draws of the leading model stood all checks."""
    if found is None:
        return
    density = found["density"]
    if "density" in found["disagree"]:
        yield (
            f"The density that the exact engine draws from is not that of {found['model']}: at "
            f"{density['points']} points the difference of their logarithms is not constant (by a "
            f"part of {density['relative']:.1g} of the log density)."
        )
    else:
        yield (
            f"The density that the exact engine draws from is that of {found['model']}, computed "
            f"row by row: at {density['points']} points the difference of their logarithms is "
            f"constant (to a part of {density['relative']:.0e} of the log density)."
        )
    if "coefficients" in found["disagree"]:
        yield "Given the scales, the draws of the coefficients do not follow this density."
    yield (
        "A second sampler (Hamiltonian Monte Carlo) drew the scales again. Of "
        f"{found['quantities']} quantities (contrasts of the data set and of groups, and all "
        "parameters that belong to no single word) the means differ by at most "
        f"{found['largest']['mean']:.2f} posterior standard deviations and the ends of the 89% "
        "intervals by at most "
        f"{max(found['largest'][end] for end in ('lower', 'upper')):.2f}"
        + (
            ", more than Monte Carlo error explains."
            if "draws" in found["disagree"]
            else ", no more than Monte Carlo error explains."
        )
    )
    if not found["agrees"]:
        yield "The exact draws fail these checks, so do not rely on these results."
    if not found["sampler_ok"]:
        yield f"The second sampler has problems of its own: {'; '.join(found['problems'])}."


def metrics(scores: pd.DataFrame, skipped: Mapping[str, str], prob: float) -> Iterator[str]:
    """Count the values whose intervals exclude the value without bias."""
    if scores.empty:
        return
    known = scores[scores["lower"].notna()]
    sided = known[known["p_above"].notna()]
    clear = int(excludes(sided).sum())
    if len(sided):
        yield (
            f"Of {_number(len(sided), 'value')} of {_number(sided['metric'].nunique(), 'metric')} "
            f"that can lie on both sides of no bias, {clear} {'has' if clear == 1 else 'have'} "
            f"{_an(prob)} interval that excludes it; for {len(sided) - clear} it is open."
        )
    rest = len(known) - len(sided)
    if rest:
        names = dict.fromkeys(known.loc[known["p_above"].isna(), "metric"])
        yield (
            f"{_number(rest, 'value')} of {', '.join(names)} cannot lie beyond no bias, and chance "
            "alone moves such values away from it; an interval proves nothing by excluding it."
        )
    lost = int(scores["value"].isna().sum())
    if lost:
        yield f"{_number(lost, 'value')} could not be measured."
    unsure = len(scores) - len(known) - lost
    if unsure:
        yield f"For {_number(unsure, 'value')} no interval can be given; the table says why."
    if skipped:
        yield f"Not measured: {', '.join(skipped)}."


def excludes(scores: pd.DataFrame) -> pd.Series[bool]:
    """Tell for each score whether its interval excludes the value without bias."""
    return (scores["lower"] > scores["neutral"]) | (scores["upper"] < scores["neutral"])


def lists(
    table: pd.DataFrame, warned: Sequence[str], robustness: pd.DataFrame | None
) -> Iterator[str]:
    """Tell how many things are wrong with the word lists."""
    lost = int((table["n_words"] - table["n_found"]).sum())
    if lost:
        words = [word for text in table["missing"] if text for word in text.split("; ")]
        yield (
            f"{_number(lost, 'word')} of the study {_is(lost)} not in the embedding "
            f"({_some(words)})."
        )
    if warned:
        yield f"The check of the lists has {_number(len(warned), 'warning')}."
    else:
        yield "The check of the lists found nothing."
    if robustness is not None and len(robustness):
        low = _rows(robustness.sort_values("robustness", kind="stable"))[0]
        span = _between(robustness["robustness"], 2)
        yield (
            f"Random parts of the lists were measured by WEAT's effect size: the robustness is "
            f"{span} (1: parts tell the same as the whole)"
            + (f", least for the {low['side']} of {low['query']}." if " to " in span else ".")
        )


def debiased(table: pd.DataFrame) -> Iterator[str]:
    """Tell what a method of debiasing did to the distances, in short."""
    over_all = table[(table["group"] == "") & (table["word"] == "")]
    gaps = over_all[(over_all["what"] == "gap") & (over_all["measure"] == "associated - none")]
    for row in _rows(gaps[gaps["change"].notna()]):
        yield (
            f"Compared with neutral words, own stereotypes were {_directed(row['before'])} before "
            f"and are {_directed(row['after'])} after; the change is {_size(row['change'])} "
            f"({_ends(row)}), and with probability {probability(row['p'], 2)} the difference is "
            "smaller."
        )
    own = table[(table["what"] == "distance") & (table["measure"] == "associated")]
    counts = own.loc[own["word"] != "", "verdict"].value_counts()
    kinds = {
        "nearer": "nearer to unrelated",
        "farther": "farther from it",
        "unchanged": "",
        "open": "",
    }
    parts = [f"{counts[kind]} {text or kind}" for kind, text in kinds.items() if kind in counts]
    if parts:
        yield f"Distances of single words from own stereotypes: {', '.join(parts)}."
    left = table[(table["what"] == "residual") & table["after"].notna()]
    if len(left):
        tests = ", ".join(
            f"{name} {_between(own['after'], 2)} "
            f"({own['event'].iloc[0].removeprefix('nearer to ')}: nothing left)"
            for name, own in left.groupby("measure", sort=False)
        )
        yield f"Tests of what is left, the values of all pairs of groups: {tests}."


def limits(part: AuditPart) -> Iterator[str]:
    """Say what all of this is conditional on."""
    yield (
        f"All of this is about the words of the study {part.study.name!r} in {part.embedding!r}; "
        f"the vectors are taken as they are, and {part.prob:.0%} intervals miss the truth now and "
        "then even if the model is right."
    )


def across(audit: Audit) -> dict[str, str]:
    """Return one paragraph for each study on how the embeddings compare."""
    told = {}
    for study, table in audit.between.items():
        told[f"Embeddings on {study}"] = " ".join(_compared(table, audit.ranking[study]))
    return told


def _compared(table: pd.DataFrame, ranking: pd.DataFrame) -> Iterator[str]:
    own = table[table["contrast"] == table["contrast"].iloc[0]]
    other = OTHERS[own["contrast"].iloc[0]]
    parts = [
        f"{row['embedding']} {_directed(row['mean'])} ({_ends(row)})"
        for row in _rows(own[own["second"] == ""])
    ]
    yield f"Own stereotypes compared with {other}: {'; '.join(parts)}."
    pairs = own[own["second"] != ""]
    clear = pairs[(pairs["upper"] < 0) | (pairs["lower"] > 0)]
    for row in _rows(clear):
        more, less = row["embedding"], row["second"]
        if row["lower"] > 0:
            more, less = less, more
        yield f"In {more} they are closer than in {less}, by {_size(row['mean'])} ({_ends(row)})."
    unclear = pairs.drop(index=clear.index)
    if len(unclear):
        some = _some(
            f"{one} and {other}"
            for one, other in zip(unclear["embedding"], unclear["second"], strict=True)
        )
        yield f"Which is more biased is open between {some}."
    best = ranking[ranking["p_best"] > ranking.groupby("metric")["p_best"].transform("max") - 1e-12]
    sure = best[best["p_best"] >= 0.95]
    n = sure["metric"].nunique()
    yield (
        f"Of {_number(ranking['metric'].nunique(), 'classical metric')}, "
        f"{n} {'tells' if n == 1 else 'tell'} with a probability of 0.95 or more which embedding "
        f"is least biased{_who(sure)}."
    )


def _who(sure: pd.DataFrame) -> str:
    if sure.empty:
        return ""
    by = sure.groupby("embedding", sort=False)["metric"].agg(", ".join)
    return f" ({'; '.join(f'{embedding}: {names}' for embedding, names in by.items())})"


def _rows(frame: pd.DataFrame) -> list[dict[Hashable, Any]]:
    return frame.to_dict("records")


def _size(value: float) -> str:
    """Return the size of a difference; one that is not 0 does not look like it."""
    size = abs(value)
    return f"{size:.2f}" if size >= 0.005 or size == 0 else f"{size:.1g}"


def _directed(value: float) -> str:
    """Return a difference of distances in words: below 0 is closer."""
    return f"{_size(value)} {'closer' if value < 0 else 'farther'}"


def difference(row: Mapping[Hashable, Any]) -> str:
    """Return a difference of distances with its interval, in words."""
    doubt = "" if row["lower"] > 0 or row["upper"] < 0 else ", open"
    return f"{_directed(row['mean'])} ({_ends(row)}{doubt})"


def _ends(row: Mapping[Hashable, Any]) -> str:
    """Return an interval in words; the direction is said where it is not the same throughout."""
    low, high = float(row["lower"]), float(row["upper"])
    if low < 0 < high:
        return f"{_directed(low)} to {_directed(high)}"
    return " to ".join(map(_size, sorted((low, high), key=abs)))


def _an(prob: float) -> str:
    text = f"{prob:.0%}"
    return f"an {text}" if text.startswith(("8", "11", "18")) else f"a {text}"


def _number(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _is(n: int) -> str:
    return "is" if n == 1 else "are"


def _few(value: float) -> str:
    return "fewer than 0.1" if value < 0.1 else f"{value:.1f}"


def _some(names: Iterable[str]) -> str:
    every = list(names)
    rest = len(every) - _NAMED
    return ", ".join(every[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _between(values: pd.Series[Any], places: int = 0) -> str:
    low, high = f"{values.min():.{places}f}", f"{values.max():.{places}f}"
    return low if low == high else f"{low} to {high}"
