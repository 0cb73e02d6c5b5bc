"""What the contrasts of a data set together say about association and bias, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from bayesbias._core.constants import EQUAL
from bayesbias._core.interval_text import estimate_text
from bayesbias._core.wording import capitalized, enumerated
from bayesbias.distances import at_equal
from bayesbias.models.spec import ModelSpec

#: What own stereotypes are compared with, in words.
OTHERS = {
    "associated - none": "neutral words",
    "associated - human": "human words",
    "associated - different": "stereotypes of other groups",
}
_NEUTRAL = "associated - none"
_OWN = "the stereotypes of their own group"


def association_sentences(rows: Sequence[Mapping[Any, Any]], prob: float) -> Iterator[str]:
    """Yield what own stereotypes are closer than, and whether that is bias.

    Parameters
    ----------
    rows : sequence of mappings
        Contrasts in `OTHERS`, each with ``contrast``, ``mean``, ``lower``, ``upper`` and
        ``verdict``: closer, farther or inconclusive. With ``equal_mean``, ``equal_lower`` and
        ``equal_upper``, the contrast at equal frequency is written beside it, and a last sentence
        says whether frequency changes a verdict.
    prob : float
        Probability of the intervals.

    Examples
    --------
    >>> row = {"contrast": "associated - none", "mean": -0.1, "lower": -0.18, "upper": -0.02}
    >>> for sentence in association_sentences([row | {"verdict": "closer"}], 0.89):
    ...     print(sentence)
    Protected words are closer to the stereotypes of their own group than to neutral words (−0.10, \
    89% interval −0.18 to −0.02; negative: closer).
    Without human words and stereotypes of other groups to compare with, this cannot show a bias.

    At equal frequency, nothing is left of this difference:

    >>> equal = {"equal_mean": 0.01, "equal_lower": -0.04, "equal_upper": 0.05}
    >>> for sentence in association_sentences([row | equal | {"verdict": "closer"}], 0.89):
    ...     print(sentence)
    Protected words are closer to the stereotypes of their own group than to neutral words (−0.10, \
    89% interval −0.18 to −0.02; at equal frequency 0.01, −0.04 to 0.05; negative: closer).
    Without human words and stereotypes of other groups to compare with, this cannot show a bias.
    At equal frequency, the verdict is inconclusive compared with neutral words (frequency may \
    explain the difference): no association is shown, and no bias.
    """
    compared: dict[str, list[str]] = {"closer": [], "farther": [], "inconclusive": []}
    # Those that are shown first name the interval.
    order = sorted(rows, key=lambda row: list(compared).index(row["verdict"]))
    for number, row in enumerate(order):
        name, note = ("", "") if number else (f"{prob:.0%} interval", "; negative: closer")
        ends = float(row["lower"]), float(row["upper"])
        estimate = estimate_text(float(row["mean"]), *ends, name) + equal_frequency_text(row)
        compared[row["verdict"]].append(f"{OTHERS[row['contrast']]} ({estimate}{note})")
    yield f"{_compared(**compared)}."
    conclusion = _conclusion({row["contrast"]: row["verdict"] for row in rows})
    yield conclusion
    if all(has_equal_frequency(row) for row in rows):
        yield _at_equal_frequency(rows, conclusion)


def interval_verdict(lower: float, upper: float) -> str:
    """Return closer or farther if the interval of a difference excludes 0, else inconclusive."""
    if upper < 0:
        return "closer"
    return "farther" if lower > 0 else "inconclusive"


def has_equal_frequency(row: Mapping[Any, Any]) -> bool:
    """Return whether a contrast is there at equal frequency."""
    mean = row.get("equal_mean")
    return mean is not None and not math.isnan(mean)


def equal_frequency_verdict(row: Mapping[Any, Any]) -> str:
    """Return the verdict on a contrast at equal frequency."""
    return interval_verdict(float(row["equal_lower"]), float(row["equal_upper"]))


def equal_frequency_text(row: Mapping[Any, Any]) -> str:
    """Return a contrast at equal frequency, as it follows the raw one; nothing without it."""
    if not has_equal_frequency(row):
        return ""
    mean, lower, upper = (float(row[f"equal_{name}"]) for name in ("mean", "lower", "upper"))
    return f"; at equal frequency {estimate_text(mean, lower, upper)}"


def _at_equal_frequency(rows: Sequence[Mapping[Any, Any]], conclusion: str) -> str:
    """Say whether verdicts, and what they support together, are others at equal frequency."""
    verdicts = {row["contrast"]: equal_frequency_verdict(row) for row in rows}
    changed = []
    for row in rows:
        verdict, against = verdicts[row["contrast"]], OTHERS[row["contrast"]]
        if verdict == row["verdict"]:
            continue
        doubt = " (frequency may explain the difference)" if verdict == "inconclusive" else ""
        changed.append(f"{verdict} compared with {against}{doubt}")
    if not changed:
        same = "verdict is" if len(rows) == 1 else "verdicts are"
        return f"At equal frequency, the {same} the same."
    other = _conclusion(verdicts)
    then = "" if other == conclusion else f": {other[0].lower()}{other[1:-1]}"
    return f"At equal frequency, the verdict is {enumerated(changed)}{then}."


def _compared(closer: list[str], farther: list[str], inconclusive: list[str]) -> str:
    if closer:
        text = f"Protected words are closer to {_OWN} than {_each('to', closer)}"
        if inconclusive:
            text += f", but not clearly closer than {_each('to', inconclusive, 'or')}"
        if farther and inconclusive:
            text += f", and farther from them than {_each('from', farther)}"
        elif farther:
            text += f", but farther from them than {_each('from', farther)}"
        return text
    if farther:
        text = f"Protected words are farther from {_OWN} than {_each('from', farther)}"
        if inconclusive:
            text += f"; compared with {enumerated(inconclusive)} it is inconclusive"
        return text
    return (
        f"It is inconclusive whether protected words are closer to {_OWN} than "
        f"{_each('to', inconclusive, 'or')}"
    )


def _each(preposition: str, names: Sequence[str], last: str = "and") -> str:
    """Enumerate names, each with its preposition: without it, a list reads as its first item."""
    return enumerated([f"{preposition} {name}" for name in names], last)


def _conclusion(verdicts: Mapping[str, str]) -> str:
    """Return what the contrasts of one group, or of all, support together."""
    closer = {contrast for contrast, verdict in verdicts.items() if verdict == "closer"}
    missing = [name for contrast, name in OTHERS.items() if contrast not in verdicts]
    if not closer:
        return "No association is shown, and no bias."
    if missing:
        return f"Without {enumerated(missing)} to compare with, this cannot show a bias."
    if closer == set(OTHERS):
        return "The three comparisons together support a bias."
    if _NEUTRAL in closer:
        return "This is an association; no bias specific to the groups is shown."
    return "Compared with neutral words no association is shown, so no bias is shown either."


def contrasts_in_words(spec: ModelSpec, contrasts: pd.DataFrame, prob: float) -> list[str]:
    """Return a paragraph on the contrasts of a fit; one at equal covariates and one as observed."""
    ends = zip(contrasts["lower"], contrasts["upper"], strict=True)
    rows = contrasts.assign(verdict=[interval_verdict(lower, upper) for lower, upper in ends])
    kinds = [name for name in ("embedding", "covariates") if name in rows]
    if not kinds:
        return [" ".join(association_sentences(rows.to_dict("records"), prob))]
    return [
        f"{_kind_in_words(spec, dict(zip(kinds, values, strict=True)))}: "
        + " ".join(association_sentences(part.to_dict("records"), prob))
        for values, part in rows.groupby(kinds, sort=False, observed=True)
    ]


def _kind_in_words(spec: ModelSpec, kind: Mapping[str, Any]) -> str:
    """Return which embedding contrasts are of, and at which values of the covariates."""
    values = kind.get("covariates")
    at = at_equal(spec.covariates) if values == EQUAL else values
    if "embedding" not in kind:
        return capitalized(str(at))
    return f"{kind['embedding']}, {at}" if at else str(kind["embedding"])
