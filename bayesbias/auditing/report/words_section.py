"""The sections on single words: their contrasts, closest attributes and distances."""

from __future__ import annotations

import pandas as pd

from bayesbias._core.constants import CONNECTIONS
from bayesbias.auditing import artifacts
from bayesbias.auditing.audit_result import AuditPart
from bayesbias.auditing.report.difference_text import OTHERS, difference
from bayesbias.auditing.report.section_blocks import SectionBlocks, figure, with_data
from bayesbias.html import Column, Table, literal
from bayesbias.plots import CONNECTION_STYLES

# Attributes of each kind that the detail of a word shows, the closest first.
_CLOSEST = 6

# Contrasts that the table of words has room for; the others are in the details.
_SHOWN = 2
_CONTRAST_NOTE = (
    "Distance from own stereotypes less distance from the others: below 0 is closer to stereotypes."
)

_KINDS = {
    "associated": "own stereotype",
    "different": "other stereotype",
    "human": "human",
    "none": "neutral",
}


def words(part: AuditPart) -> SectionBlocks:
    """Write the contrasts of each protected word, with its closest attributes."""
    yield figure(
        part.figure(artifacts.MEANS_FIGURE),
        f"Expected cosine distance of each protected word from each kind of attribute, with "
        f"{part.prob:.0%} intervals, by the model {literal(part.lead)}. Bias is where own "
        "stereotypes lie to the left of the controls; the table below has the intervals of these "
        "differences.",
        "Intervals of the expected distances, one row per protected word, four marks each.",
    )
    contrasts = with_data(part.contrasts[part.contrasts["level"] == "word"])
    frame, columns = _contrasts_table(contrasts, part.prob)
    distances_of = _by_word(part.table, "protected_word")
    contrasts_of = _by_word(contrasts, "word")
    yield Table(
        frame,
        "All protected words, those closest to their own stereotypes first. Click a heading to "
        "sort, a word to see its closest attributes.",
        columns,
        filterable=True,
        details=[
            [_differences(contrasts_of[word]), _closest(word, distances_of[word])]
            for word in frame["word"]
        ],
    )


def _contrasts_table(
    contrasts: pd.DataFrame, prob: float
) -> tuple[pd.DataFrame, dict[str, Column | str]]:
    """Return one row per word with its first contrasts, and what the columns are."""
    order = [str(name) for name in contrasts["contrast"].unique()]
    first = contrasts[contrasts["contrast"] == order[0]].sort_values("mean", ignore_index=True)
    frame = first[["word", "verdict", "prob_negative"]].copy()
    frame["group"] = pd.Categorical(first["group"], list(dict.fromkeys(first["group"])))
    frame["verdict"] = pd.Categorical(
        first["verdict"].replace("", "no stereotypes"),
        ["closer", "inconclusive", "farther", "no stereotypes"],
    ).remove_unused_categories()
    columns: dict[str, Column | str] = {
        "word": "Word",
        "group": "Group",
        "verdict": Column(
            title="Verdict",
            note=f"*Closer* or *farther* if the {prob:.0%} interval against "
            f"{OTHERS[order[0]]} excludes 0, else *inconclusive*.",
        ),
    }
    for number, contrast in enumerate(order[:_SHOWN]):
        rows = contrasts[contrasts["contrast"] == contrast].set_index("word").loc[first["word"]]
        for column in ("mean", "lower", "upper"):
            frame[f"{column} {number}"] = rows[column].to_numpy()
        columns[f"mean {number}"] = Column(
            title=f"Against {OTHERS[contrast]}",
            interval=(f"lower {number}", f"upper {number}"),
            reference=0.0,
            places=2,
            brief=number > 0,
            note="" if number else _CONTRAST_NOTE,
        )
        if not number:
            columns["prob_negative"] = Column(title="P(closer)", probability=True)
    return frame, columns


def _by_word(frame: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    return {str(word): rows for word, rows in frame.groupby(column, observed=True, sort=False)}


def _differences(rows: pd.DataFrame) -> str:
    """Say how much closer the own stereotypes of a word are than all else."""
    parts = [
        f"{literal(difference(row))} than {OTHERS[row['contrast']]}"
        for row in rows[rows["verdict"] != ""].to_dict("records")
    ]
    if not parts:
        return "There is no stereotype of its own group to tell its distance from."
    return f"Own stereotypes are {', '.join(parts)}."


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


def distances(part: AuditPart) -> SectionBlocks:
    """Write how many distances there are, and show them."""
    table = part.table
    lost = int((part.lists["n_words"] - part.lists["n_found"]).sum())
    yield (
        f"{table['protected_word'].nunique()} protected words in "
        f"{table['protected_group'].nunique()} groups and {table['word_to_compare'].nunique()} "
        f"attributes make {len(table):,} distances, all that the models see"
        + (f"; {lost} of the study's words could not be found." if lost else ".")
    )
    yield figure(
        part.figure(artifacts.DISTANCES_FIGURE),
        "Every distance as a dot; the black marks are the means, which is all that a mean of means "
        "keeps.",
        "Dots for the distances of each kind of attribute.",
    )
