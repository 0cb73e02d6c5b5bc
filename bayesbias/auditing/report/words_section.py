"""The sections on single words: their contrasts, closest attributes and distances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd

from bayesbias._core.constants import CONNECTIONS
from bayesbias._core.wording import counted, plural
from bayesbias.auditing import artifacts
from bayesbias.auditing.audit_result import AuditPart
from bayesbias.auditing.effect_tables import shown_words
from bayesbias.auditing.report.bias_text import hidden, other_contrasts
from bayesbias.auditing.report.difference_text import (
    OTHERS,
    at_equal_frequency,
    difference,
    labelled,
)
from bayesbias.auditing.report.section_blocks import SectionBlocks, figure, with_data
from bayesbias.debias_effects import probability_text
from bayesbias.html import Column, Figure, Table, literal
from bayesbias.plots import CONNECTION_STYLES, MOST_DOTS

# Attributes of each kind that the detail of a word shows, the closest first.
_CLOSEST = 6

# The page stays small: without dots for single words if there are more distances than this.
_MOST_DOTS = 30_000

_OTHERS_IN_SHORT = OTHERS | {"associated - different": "other stereotypes"}
_CONTRAST_NOTE = (
    "Expected distance from own stereotypes minus that from neutral words; negative: closer to "
    "the stereotypes. The other columns compare with other words in the same way; point at an "
    "interval to see its numbers."
)
_EQUAL_NOTE = (
    " The second line is the difference if all attributes were equally frequent; the verdict is on "
    "the first line."
)

_KINDS = {
    "associated": "own stereotype",
    "different": "other stereotype",
    "human": "human",
    "none": "neutral",
}


def words(part: AuditPart) -> SectionBlocks:
    """Write the contrasts of each protected word, with its closest attributes."""
    contrasts = with_data(part.contrasts[part.contrasts["level"] == "word"])
    chosen = shown_words(part.contrasts)
    yield figure(
        part.figure(artifacts.MEANS_FIGURE),
        f"Expected cosine distance of each protected word from each kind of attribute, with "
        f"{part.prob:.0%} intervals, by the model {literal(part.lead)}. Own stereotypes "
        "that lie to the left of the controls show an association; the table below has the "
        f"intervals of these differences.{_which(contrasts, chosen)}",
        "Intervals of the expected distances, one row per protected word, four marks each.",
        "Point at an interval to see its numbers; click it to open its word in the table.",
    )
    text = " ".join(other_contrasts(labelled(contrasts, part.study)))
    if text:
        yield literal(text)
    distances = part.table
    which = "All protected words"
    if chosen is not None:
        which = f"The {len(chosen)} protected words with the largest differences"
        contrasts = contrasts[contrasts["word"].isin(chosen)]
        distances = distances[distances["protected_word"].isin(chosen)]
    frame, columns = _contrasts_table(contrasts, part.prob)
    second = "" if contrasts["equal_mean"].isna().all() else "; second lines: at equal frequency"
    distances_of = _by_word(distances, "protected_word")
    contrasts_of = _by_word(contrasts, "word")
    scale = _scale(part.table)
    yield Table(
        _labelled(frame, part),
        f"{which} by the three comparisons, those closest to their own stereotypes "
        f"first (negative: closer{second}).",
        columns,
        filterable=True,
        hint="Click a heading to sort, a word to see its distances.",
        details=[
            [
                _differences(contrasts_of[word]),
                *_strip(part, word, distances_of[word], scale),
                _closest(part.study.word_label(word), distances_of[word]),
            ]
            for word in frame["word"]
        ],
        keys=[f"word:{word}" for word in frame["word"]],
    )


def _which(contrasts: pd.DataFrame, chosen: Sequence[str] | None) -> str:
    """Say which words are shown, if these are not all."""
    if chosen is None:
        return ""
    return (
        f" Figure and table show the {len(chosen)} words with the largest differences of "
        f"{contrasts['word'].nunique():,}; all are in `{artifacts.CONTRASTS.files[0]}`."
    )


def _labelled(frame: pd.DataFrame, part: AuditPart) -> pd.DataFrame:
    """Return the table of words with labels, the columns to choose by as they were."""
    shown = labelled(frame, part.study)
    shown["verdict"] = frame["verdict"]
    shown["group"] = pd.Categorical(shown["group"], list(dict.fromkeys(shown["group"])))
    return shown


def _contrasts_table(
    contrasts: pd.DataFrame, prob: float
) -> tuple[pd.DataFrame, dict[str, Column | str]]:
    """Return one row per word with all its contrasts, and what the columns are."""
    order = [str(name) for name in contrasts["contrast"].unique()]
    first = contrasts[contrasts["contrast"] == order[0]].sort_values("mean", ignore_index=True)
    frame = first[["word", "verdict"]].copy()
    frame["group"] = pd.Categorical(first["group"], list(dict.fromkeys(first["group"])))
    frame["verdict"] = pd.Categorical(
        first["verdict"].replace("", "no stereotypes"),
        ["closer", "inconclusive", "farther", "no stereotypes"],
    ).remove_unused_categories()
    columns: dict[str, Column | str] = {
        "word": "Word",
        "group": "Group",
    }
    ends = contrasts[["lower", "upper", "equal_lower", "equal_upper"]].to_numpy(dtype=np.float64)
    scale = min(0.0, float(np.nanmin(ends))), max(0.0, float(np.nanmax(ends)))
    adjusted = contrasts["equal_mean"].notna().any()
    for number, contrast in enumerate(order):
        rows = contrasts[contrasts["contrast"] == contrast].set_index("word").loc[first["word"]]
        below = (f"equal_mean {number}", f"equal_lower {number}", f"equal_upper {number}")
        for column in ("mean", "lower", "upper", "equal_mean", "equal_lower", "equal_upper"):
            frame[f"{column} {number}"] = rows[column].to_numpy()
        columns[f"mean {number}"] = Column(
            title=f"Own minus {_OTHERS_IN_SHORT[contrast]}",
            interval=(f"lower {number}", f"upper {number}"),
            reference=0.0,
            below=below if adjusted else None,
            below_title="At equal frequency",
            scale=scale,
            places=2,
            brief=number > 0,
            note="" if number else _CONTRAST_NOTE + (_EQUAL_NOTE if adjusted else ""),
        )
        if not number:
            # Behind the difference that it judges, which a phone then shows without scrolling.
            columns["verdict"] = Column(
                title="Verdict",
                note=f"*Closer* or *farther* if the {prob:.0%} interval against {OTHERS[contrast]} "
                "excludes 0, else *inconclusive*.",
            )
    return frame, columns


def _by_word(frame: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    return {str(word): rows for word, rows in frame.groupby(column, observed=True, sort=False)}


def _differences(rows: pd.DataFrame) -> str:
    """Say how much closer the own stereotypes of a word are than all else."""
    parts = [
        f"{OTHERS[row['contrast']]} {literal(difference(row))}, P(closer) "
        f"{literal(probability_text(row['prob_negative']) + at_equal_frequency(row))}"
        for row in rows[rows["verdict"] != ""].to_dict("records")
    ]
    if not parts:
        return "The embedding has no stereotype of its group, so it cannot be judged."
    return f"Own stereotypes compared with {'; '.join(parts)}. Negative: closer."


def _closest(word: str, rows: pd.DataFrame) -> Table:
    """Return the closest attributes of a word, of each kind some."""
    near = rows.sort_values("cosine_distance", kind="stable")
    near = near.groupby("connection", observed=True, sort=False).head(_CLOSEST)
    means = rows.groupby("connection", observed=True)["cosine_distance"].mean()
    kinds = [name for name in CONNECTIONS if name in means.index]
    frame = pd.DataFrame(
        {
            "attribute": near["word_to_compare"].astype("str"),
            "kind": pd.Categorical(
                [_KINDS[str(name)] for name in near["connection"]], [_KINDS[name] for name in kinds]
            ),
            "distance": near["cosine_distance"],
        }
    )
    averages = ", ".join(f"{_KINDS[name]} {means[name]:.2f}" for name in kinds)
    colors = {_KINDS[name]: CONNECTION_STYLES[name].color for name in kinds}
    return Table(
        frame,
        f"The closest attributes of *{literal(word)}*. Mean distances: {averages}.",
        {
            "attribute": "Attribute",
            "kind": Column(title="Kind", colors=colors),
            "distance": Column(title="Distance", places=2, bar=True, scale=(0.0, 1.5)),
        },
        filterable=False,
    )


def _scale(table: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of the axis that all words share, at tenths."""
    values = table["cosine_distance"]
    return math.floor(10 * values.min()) / 10, math.ceil(10 * values.max()) / 10


def _strip(
    part: AuditPart, word: str, rows: pd.DataFrame, scale: tuple[float, float]
) -> SectionBlocks:
    """Draw every distance of a word as a dot; not in very large audits, to keep the page small."""
    if len(part.table) > _MOST_DOTS:
        return
    kinds = [name for name in CONNECTIONS if (rows["connection"] == name).any()]
    low, high = scale
    left, width, lane = 112.0, 300.0, 26.0
    bottom = 8 + lane * len(kinds)

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * width

    svg = [f'<svg viewBox="0 0 {left + width + 12:.0f} {bottom + 36:.0f}">']
    ticks = [tick / 10 for tick in range(round(10 * low), round(10 * high) + 1) if tick % 2 == 0]
    for tick in ticks:
        color = "#222222" if tick == 1 else "#dddddd"
        svg += [
            f'<path d="M{x(tick):.1f} 4V{bottom:.1f}" style="stroke:{color}"/>',
            f'<text x="{x(tick):.1f}" y="{bottom + 14:.1f}" '
            f'style="font-size:11px;text-anchor:middle">{tick:.1f}</text>',
        ]
    svg.append(
        f'<text x="{left + width / 2:.0f}" y="{bottom + 30:.1f}" '
        'style="font-size:11px;text-anchor:middle">cosine distance (1: unrelated)</text>'
    )
    for number, kind in enumerate(kinds):
        own = rows[rows["connection"] == kind]
        middle = 8 + lane * (number + 0.5)
        svg.append(
            f'<text x="{left - 10:.0f}" y="{middle + 4:.1f}" '
            f'style="font-size:11px;text-anchor:end">{_KINDS[kind]}</text>'
        )
        svg.append(f'<g style="fill:{CONNECTION_STYLES[kind].color};fill-opacity:0.7">')
        pairs = zip(own["word_to_compare"].astype("str"), own["cosine_distance"], strict=True)
        for place, (attribute, value) in enumerate(pairs):
            # Spread over the lane, the same each time.
            y = middle + (place * 7 % 11 - 5) * lane / 15
            tip = quoteattr(f"{part.study.word_label(attribute)} {value:.2f}")
            svg.append(f'<circle cx="{x(value):.1f}" cy="{y:.1f}" r="2.6" data-tip={tip}/>')
        mean = x(own["cosine_distance"].mean())
        svg.append("</g>")
        svg.append(
            f'<path d="M{mean:.1f} {middle - 11:.1f}v22" style="stroke:#222222;stroke-width:2"/>'
        )
    svg.append("</svg>")
    label = literal(part.study.word_label(word))
    yield Figure(
        "".join(svg),
        f"A dot for each distance of {part.study.word_label(word)}, one row per kind of attribute.",
        f"Every distance of *{label}*; the lines are the means.",
    )


def distances(part: AuditPart) -> SectionBlocks:
    """Write how many distances there are, and show them."""
    table = part.table
    lost = int((part.lists["n_words"] - part.lists["n_found"]).sum())
    yield (
        f"{table['protected_word'].nunique()} protected words in "
        f"{table['protected_group'].nunique()} groups and {table['word_to_compare'].nunique()} "
        f"attributes give {len(table):,} distances, the data of all models."
        + (
            f" {counted(lost, 'word')} of the study {plural(lost, 'is', 'are')} not in the "
            "embedding."
            if lost
            else ""
        )
    )
    yield literal(" ".join(hidden(labelled(part.means, part.study), part.scores)))
    yield figure(
        part.figure(artifacts.DISTANCES_FIGURE),
        f"{_dots(table)}; the black lines are the means.",
        "Dots for the distances of each kind of attribute.",
    )


def _dots(table: pd.DataFrame) -> str:
    """Say which distances the figure shows."""
    if table["connection"].value_counts().max() <= MOST_DOTS:
        return "Every distance as a dot"
    return f"Distances as dots, of each kind {MOST_DOTS:,} at most, chosen at random"
