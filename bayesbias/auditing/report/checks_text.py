"""What models, metrics, word lists and debiasing say, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from bayesbias._core.constants import EQUAL
from bayesbias._core.plugins import title_of
from bayesbias._core.wording import counted, enumerated, plural, shortened, with_article
from bayesbias.auditing.audit_options import LEAD
from bayesbias.auditing.report.difference_text import (
    NAMED,
    records,
    span,
)
from bayesbias.debias_effects import gap_sentence, related_sentence, words_sentence
from bayesbias.metrics import METRICS

# A difference of criteria of 2 standard errors is clear, if it is not small: below 4 units of
# log density, 8 of deviance, standard errors cannot be trusted (Sivula et al. 2020).
_CLEAR, _SMALL = 2.0, 8.0


def models(
    waic: pd.DataFrame, loo: pd.DataFrame, lead: str, doubts: Sequence[str] = ()
) -> Iterator[str]:
    """Describe which model the data prefer, and how clearly."""
    if len(waic) == 1:
        yield f"Only the model {waic.index[0]} was fitted."
        return
    for table, name, how in (
        (waic, "WAIC", "By WAIC"),
        (loo, "LOO", "With whole attributes left out"),
    ):
        best, second = table.index[:2]
        gap, error = (float(table.loc[second, column]) for column in (f"d{name}", "dSE"))
        text = (
            f"{how}, the model {best} predicts best; {second} is second (difference {gap:,.0f}, "
            f"standard error {error:,.0f})"
        )
        clear = gap > max(_CLEAR * error, _SMALL)
        yield f"{text}: {'a clear' if clear else 'not a clear'} difference."
    if doubts:
        yield "By their own checks, some of these criteria are unreliable; see the diagnostics."
    if lead == LEAD:
        yield (
            f"Means and contrasts are from {lead}, whichever model predicts best. It was chosen "
            "by the coverage of its intervals; a model that predicts well can still have intervals "
            "that are too narrow."
        )
    elif lead != waic.index[0]:
        yield (
            f"Means and contrasts are from {lead}, the best of the models that have a mean for "
            "each word and kind of attribute."
        )


def metrics(scores: pd.DataFrame, skipped: Mapping[str, str], prob: float) -> Iterator[str]:
    """Count the values whose intervals exclude the value without bias."""
    if scores.empty:
        return
    with_interval = scores[scores["lower"].notna()]
    sided = with_interval[with_interval["prob_above"].notna()]
    clear = int(excludes(sided).sum())
    if len(sided):
        yield (
            f"Of {counted(len(sided), 'value')} of {counted(sided['metric'].nunique(), 'metric')} "
            f"that can lie on either side of the value without bias, {clear} "
            f"{plural(clear, 'has', 'have')} {with_article(f'{prob:.0%} interval')} that excludes "
            f"it; {len(sided) - clear} {plural(len(sided) - clear, 'is', 'are')} inconclusive."
        )
    rest = len(with_interval) - len(sided)
    if rest:
        names = dict.fromkeys(with_interval.loc[with_interval["prob_above"].isna(), "metric"])
        yield (
            f"{counted(rest, 'value')} of {_titles(names)} can lie on one side of it only. Chance "
            "alone moves such values away from no bias, so an interval that excludes it is not "
            "evidence of bias."
        )
    lost = int(scores["value"].isna().sum())
    if lost:
        yield f"{counted(lost, 'value')} could not be measured."
    unsure = len(scores) - len(with_interval) - lost
    if unsure:
        yield f"For {counted(unsure, 'value')} there is no interval; the table gives the reason."
    if skipped:
        yield f"Not measured: {_titles(skipped)}."


def _titles(names: Iterable[str]) -> str:
    return enumerated([title_of(str(name), METRICS) for name in names])


def excludes(scores: pd.DataFrame) -> pd.Series[bool]:
    """Describe for each score whether its interval excludes the value without bias."""
    return (scores["lower"] > scores["neutral"]) | (scores["upper"] < scores["neutral"])


def lists(
    table: pd.DataFrame, warned: Sequence[str], robustness: pd.DataFrame | None
) -> Iterator[str]:
    """Describe how many things are wrong with the word lists."""
    lost = int((table["n_words"] - table["n_found"]).sum())
    if lost:
        words = [word for missing in table["missing"] for word in missing]
        yield (
            f"{counted(lost, 'word')} of the study {plural(lost, 'is', 'are')} not in the "
            f"embedding ({shortened(words, NAMED)})."
        )
    if warned:
        yield f"The check of the lists gave {counted(len(warned), 'warning')}."
    else:
        yield "The check of the lists found no problem."
    if robustness is not None and len(robustness):
        low = records(robustness.sort_values("robustness", kind="stable"))[0]
        values = span(robustness["robustness"], 2)
        yield (
            "The robustness, measured with WEAT's effect size on random subsets of the lists, is "
            f"{values} (1: all parts give the same value)"
            + (f", lowest for the {low['side']} of {low['query']}." if " to " in values else ".")
        )
        places = robustness["percentile"].dropna()
        if len(places):
            yield (
                f"Among random lists of the same lengths, this is at percentile {span(places, 0)}; "
                "lists below percentile 95 are not clearly more robust than random words."
            )


def debiased(table: pd.DataFrame) -> Iterator[str]:
    """Describe the effect of a debiasing method in a sentence per question."""
    at_equal = table[table["covariates"] == EQUAL]
    table = table.drop(index=at_equal.index)
    over_all = table[(table["group"] == "") & (table["word"] == "")]
    own = over_all[(over_all["what"] == "distance") & (over_all["measure"] == "associated")]
    for row in records(own[own["change"].notna()]):
        yield related_sentence(row)
    yield from _neutral_gap(table)
    for text in _neutral_gap(at_equal):
        yield f"At equal frequency: {text[0].lower()}{text[1:]}"
    words = table[(table["what"] == "distance") & (table["measure"] == "associated")]
    verdicts = words.loc[words["word"] != "", "verdict"]
    if len(verdicts):
        yield words_sentence(verdicts)
    left = table[(table["what"] == "residual") & table["after"].notna()]
    if len(left):
        tests = ", ".join(
            f"{title_of(str(name), METRICS)} {span(rows['after'], 2)} "
            f"({rows['event'].iloc[0].removeprefix('nearer to ')}: none)"
            for name, rows in left.groupby("measure", sort=False)
        )
        yield f"Residual bias, over all pairs of groups: {tests}."


def _neutral_gap(table: pd.DataFrame) -> Iterator[str]:
    """Describe how the gap to neutral words changed, over the whole data set."""
    rows = table[(table["what"] == "gap") & (table["measure"] == "associated - none")]
    for row in records(rows[(rows["group"] == "") & rows["change"].notna()]):
        yield gap_sentence(row, "neutral words")
