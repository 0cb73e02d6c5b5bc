"""The report of an audit, put together from the files of its folder alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pandas as pd

from bayesbias._core.constants import CONNECTIONS
from bayesbias._core.files import read_utf8
from bayesbias.auditing.audit_result import Audit, AuditPart
from bayesbias.auditing.model_check import STATISTICS
from bayesbias.auditing.report.methods_section import method_sections
from bayesbias.auditing.report.summary_text import OTHERS, across, difference, excludes
from bayesbias.html import (
    Block,
    Choice,
    Column,
    Definitions,
    Figure,
    Fold,
    Notice,
    Page,
    Section,
    Table,
    literal,
)
from bayesbias.metrics import METRICS
from bayesbias.plots.style import CONNECTION_STYLES
from bayesbias.wordlists.query import enumerated

_Blocks: TypeAlias = Iterator[str | Block]
# Attributes of each kind that the detail of a word shows, the closest first.
_CLOSEST = 6
# Contrasts that the table of words has room for; the others are in the details.
_SHOWN = 2
_DIFFERENCE = Column(title="Difference", interval=("lower", "upper"), reference=0.0, places=2)
_KINDS = {
    "associated": "own stereotype",
    "different": "other stereotype",
    "human": "human",
    "none": "neutral",
}
# A figure of more bytes, such as one with a dot for each of many thousand distances, is shown as
# PNG.
_LARGE = 1_000_000


def report_page(audit: Audit) -> Page:
    """Return the page of an audit."""
    embeddings, studies = (list(dict.fromkeys(names)) for names in zip(*audit.parts, strict=True))
    title = f"Bias of {enumerated(embeddings)} on {enumerated(studies)}"
    parts: list[tuple[str, Callable[[AuditPart], _Blocks]]] = [
        ("Summary", _summary),
        ("Words", _words),
        ("Groups and data set", _effects),
        ("Distances", _distances),
        ("Models", _models),
        ("Classical metrics", _metrics),
        ("Word lists", _lists),
        ("Debiasing", _debiasing),
        ("Diagnostics", _diagnostics),
    ]
    sections = [_section(name, audit, write) for name, write in parts]
    if audit.between:
        sections.insert(1, Section("Embeddings compared", [*_compared(audit)]))
    record = audit.record
    facts = {
        "Embedding" if len(embeddings) == 1 else "Embeddings": ", ".join(embeddings),
        "Study" if len(studies) == 1 else "Studies": ", ".join(studies),
        "Intervals": f"{record['options']['prob']:.0%}",
        "Made": max(step["made"] for step in audit.steps.values())[:10],
        "By": f"bayesbias {record['bayesbias']}",
    }
    return Page(
        title,
        [*(section for section in sections if section is not None), *method_sections(audit)],
        subtitle="How close protected words are to the stereotypes of their own group, and how "
        "sure that is.",
        facts=facts,
        footer="Written by bayesbias from the files beside this page.",
    )


def _section(name: str, audit: Audit, write: Callable[[AuditPart], _Blocks]) -> Section | None:
    """Return a section, with a choice of parts if there are several; None if all are empty."""
    blocks = {
        f"{embedding} on {study}": [*write(part)]
        for (embedding, study), part in audit.parts.items()
    }
    there = {label: found for label, found in blocks.items() if found}
    if not there:
        return None
    if len(audit.parts) == 1:
        return Section(name, next(iter(there.values())))
    choice = Choice("Embedding and study", there)
    return Section(name, [*_in_short(audit), choice] if write is _summary else choice)


def _summary(part: AuditPart) -> _Blocks:
    if part.confirmation is not None and not part.confirmation["agrees"]:
        yield Notice(
            "The exact draws of the leading model fail their checks; see "
            "[diagnostics](#diagnostics).",
            "warning",
        )
    for title, text in part.told().items():
        yield f"**{literal(title)}.** {literal(text)}"


def _in_short(audit: Audit) -> _Blocks:
    """Say what was found of all parts, a row each."""
    for title, text in across(audit).items():
        yield f"**{literal(title)}.** {literal(text)}"
    rows = []
    for (embedding, study), part in audit.parts.items():
        first = part.contrasts[part.contrasts["contrast"] == part.contrasts["contrast"].iloc[0]]
        words = first.loc[first["level"] == "word", "verdict"]
        rows.append(
            first[first["level"] == "data set"].assign(
                embedding=embedding,
                study=study,
                closer=f"{(words == 'closer').sum()} of {(words != '').sum()}",
                lead=part.lead,
                warned=len(part.list_warnings),
            )
        )
    yield Table(
        pd.concat(rows),
        "Own stereotypes against neutral words, over all words; below 0 is closer.",
        {
            "embedding": "Embedding",
            "study": "Study",
            "mean": _DIFFERENCE,
            "closer": "Words closer",
            "lead": "Model",
            "warned": Column(title="Warnings of lists", places=0),
        },
    )


def _words(part: AuditPart) -> _Blocks:
    yield _figure(
        part,
        "means",
        f"Expected cosine distance of each protected word from each kind of attribute, with "
        f"{part.prob:.0%} intervals, by the model {literal(part.lead)}. Bias is where own "
        "stereotypes lie to the left of the controls; the table below has the intervals of these "
        "differences.",
        "Intervals of the expected distances, one row a protected word, four marks each.",
    )
    contrasts = _known(part.contrasts[part.contrasts["level"] == "word"])
    order = [str(name) for name in contrasts["contrast"].unique()]
    first = contrasts[contrasts["contrast"] == order[0]].sort_values("mean", ignore_index=True)
    frame = first[["word", "verdict", "prob_negative"]].copy()
    frame["group"] = pd.Categorical(first["group"], list(dict.fromkeys(first["group"])))
    frame["verdict"] = pd.Categorical(
        first["verdict"].replace("", "no stereotypes"),
        ["closer", "open", "farther", "no stereotypes"],
    ).remove_unused_categories()
    columns: dict[str, Column | str] = {
        "word": "Word",
        "group": "Group",
        "verdict": Column(
            title="Verdict",
            note=f"*Closer* or *farther* if the {part.prob:.0%} interval against "
            f"{OTHERS[order[0]]} excludes 0, else *open*.",
        ),
    }
    for number, contrast in enumerate(order[:_SHOWN]):
        own = contrasts[contrasts["contrast"] == contrast].set_index("word").loc[first["word"]]
        for column in ("mean", "lower", "upper"):
            frame[f"{column} {number}"] = own[column].to_numpy()
        columns[f"mean {number}"] = Column(
            title=f"Against {OTHERS[contrast]}",
            interval=(f"lower {number}", f"upper {number}"),
            reference=0.0,
            places=2,
            brief=number > 0,
            note=""
            if number
            else "Distance from own stereotypes less distance from the others: "
            "below 0 is closer to stereotypes.",
        )
        if not number:
            columns["prob_negative"] = Column(title="P(closer)", probability=True)
    distances = _by_word(part.table, "protected_word")
    differences = _by_word(contrasts, "word")
    yield Table(
        frame,
        "All protected words, those closest to their own stereotypes first. Click a heading to "
        "sort, a word to see its closest attributes.",
        columns,
        filterable=True,
        details=[
            [_differences(differences[word]), _closest(word, distances[word])]
            for word in frame["word"]
        ],
    )


def _known(contrasts: pd.DataFrame) -> pd.DataFrame:
    """Return contrasts without the numbers that rest on no distance, but on other words alone."""
    numbers = ["mean", "lower", "upper", "prob_negative", "prob_in_rope"]
    known = contrasts.copy()
    known.loc[known["verdict"] == "", numbers] = float("nan")
    return known


def _by_word(frame: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    return {str(word): rows for word, rows in frame.groupby(column, observed=True, sort=False)}


def _differences(rows: pd.DataFrame) -> str:
    """Say how much closer the own stereotypes of a word are than all else."""
    told = [
        f"{literal(difference(row))} than {OTHERS[row['contrast']]}"
        for row in rows[rows["verdict"] != ""].to_dict("records")
    ]
    if not told:
        return "There is no stereotype of its own group to tell its distance from."
    return f"Own stereotypes are {', '.join(told)}."


def _closest(word: str, rows: pd.DataFrame) -> Table:
    """Return the closest attributes of a word, of each kind some."""
    near = rows.sort_values("cosine_distance", kind="stable")
    near = near.groupby("connection", observed=True, sort=False).head(_CLOSEST)
    means = rows.groupby("connection", observed=True)["cosine_distance"].mean()
    there = [name for name in CONNECTIONS if name in means.index]
    frame = pd.DataFrame(
        {
            "attribute": near["word_to_compare"].astype("str"),
            "kind": pd.Categorical(
                [_KINDS[str(name)] for name in near["connection"]], [_KINDS[name] for name in there]
            ),
            "distance": near["cosine_distance"],
        }
    )
    told = ", ".join(f"{_KINDS[name]} {means[name]:.2f}" for name in there)
    colors = {_KINDS[name]: CONNECTION_STYLES[name].color for name in there}
    return Table(
        frame,
        f"The closest attributes of *{literal(word)}*. Mean distances: {told}.",
        {
            "attribute": "Attribute",
            "kind": Column(title="Kind", colors=colors),
            "distance": Column(title="Distance", places=2, bar=True, scale=(0.0, 1.5)),
        },
        filterable=False,
    )


def _effects(part: AuditPart) -> _Blocks:
    yield _figure(
        part,
        "groups",
        "The same for groups: the averages of their words.",
        "Intervals of the expected distances, one row a group.",
    )
    rows = _known(part.contrasts[part.contrasts["level"] != "word"])
    same = rows["level"] == "same attributes"
    rows["of"] = rows["group"].where(rows["level"] != "data set", "all")
    rows["against"] = rows["contrast"].map(OTHERS).mask(same, "the same, from other groups")
    rows["t"] = _interval_texts(rows, "t_lower", "t_upper")
    beside: dict[str, Column | str] = {}
    if rows["equal_mean"].notna().any():
        beside["equal_mean"] = Column(
            title="At equal frequency",
            interval=("equal_lower", "equal_upper"),
            reference=0.0,
            places=2,
            brief=True,
            note="The difference if all attributes were equally frequent, by the same model with a "
            "slope for the log of their frequency.",
        )
    if (rows["t"] != "").any():
        beside["t"] = Column(
            title="t-interval",
            note="A two-sample t-interval over attributes, the variance pooled over lists: the "
            "baseline that needs no model.",
        )
    yield Table(
        rows,
        "How much closer own stereotypes are than other attributes, over all and by group. The "
        "last rows compare groups on the same stereotypes.",
        {
            "of": "Words",
            "against": "Own stereotypes against",
            "mean": _DIFFERENCE,
            **beside,
            "prob_negative": Column(title="P(closer)", probability=True),
        },
    )
    yield "# Coefficients of the connections"
    for name in ("coefficients", "coefficients-connection"):
        if name not in part.figures:
            continue
        of_thesis = name != "coefficients" or part.lead == "connection"
        model = "connection" if of_thesis else part.lead
        yield _figure(
            part,
            name,
            f"Coefficients of the model {literal(model)} for the whole data set, "
            f"{part.prob:.0%} intervals.",
            "One interval for each kind of attribute.",
        )
        if of_thesis:
            yield Notice(
                "The data do not fix these coefficients: adding a constant to all of them and "
                "taking it from all words changes no distance, so their intervals mostly show the "
                "prior. Whether they include 0 says nothing about bias; the differences in the "
                "table above are well determined."
            )
    yield Fold("All parameters of the whole data set", [_coefficients(part)])
    frame = part.overview.formatted().rename_axis("question").reset_index()
    yield Fold(
        "The overview of Dobrzeniecka (2021)",
        [
            Table(
                frame,
                "Its questions, answered by its rules, with the posterior probability of yes or "
                "the expected share of words. The last column defines both. "
                "A: associated, D: different, H: human, N: neutral.",
                {
                    "question": "Question",
                    "answer": "Answer",
                    "probability": "Probability",
                    "meaning": "Answer and probability",
                },
            )
        ],
    )


def _interval_texts(frame: pd.DataFrame, lower: str, upper: str) -> list[str]:
    """Return intervals as text; nothing where there is none."""
    pairs = zip(frame[lower], frame[upper], strict=True)
    return [
        "" if pd.isna(low) else f"{low:.2f}\u00a0to\u00a0{high:.2f}".replace("-", "−")
        for low, high in pairs
    ]


def _coefficients(part: AuditPart) -> Table:
    return Table(
        part.coefficients,
        "Parameters that belong to no single word.",
        {
            "parameter": "Parameter",
            "level": "Of",
            "model": "Model",
            "mean": Column(title="Mean", interval=("lower", "upper"), places=2),
            "sd": Column(title="SD", places=3),
        },
    )


def _distances(part: AuditPart) -> _Blocks:
    table = part.table
    lost = int((part.lists["n_words"] - part.lists["n_found"]).sum())
    yield (
        f"{table['protected_word'].nunique()} protected words in "
        f"{table['protected_group'].nunique()} groups and {table['word_to_compare'].nunique()} "
        f"attributes make {len(table):,} distances, all that the models see"
        + (f"; {lost} of the study's words could not be found." if lost else ".")
    )
    yield _figure(
        part,
        "distances",
        "Every distance as a dot; the black marks are the means, which is all that a mean of means "
        "keeps.",
        "Dots for the distances of each kind of attribute.",
    )


def _models(part: AuditPart) -> _Blocks:
    if len(part.comparison) > 1:
        yield _figure(
            part,
            "comparison",
            "How much worse than the best each model predicts, by WAIC.",
            "One row a model, the difference with its standard error.",
        )
    for frame, name, text in (
        (part.comparison, "WAIC", "By WAIC: new distances of the same words."),
        (part.comparison_loo, "LOO", "By leave-one-out: attributes that the model has not seen."),
    ):
        yield Table(
            frame.rename_axis("model").reset_index(),
            text,
            {
                "model": "Model",
                name: Column(title=name, places=0),
                "SE": Column(title="SE", places=0),
                f"d{name}": Column(title="Behind the best", places=0),
                "dSE": Column(title="SE of that", places=0),
                f"p{name}": Column(title="Effective parameters", places=0),
            },
        )
    yield _figure(
        part,
        "predictive",
        f"The distances as observed (lines) and as the model {literal(part.lead)} would give them "
        f"(bands). Where a line leaves its band, the model misses something.",
        "Densities of observed distances over bands of replicated ones, one row a kind.",
    )


def _metrics(part: AuditPart) -> _Blocks:
    scores = part.scores
    rows = []
    for name in scores["metric"].unique():
        own = scores[scores["metric"] == name]
        sided = own["p_above"].notna().any()
        rows.append(
            {
                "metric": name,
                "meaning": str(getattr(METRICS.get(name), "orientation", "")),
                "values": len(own),
                "apart": int(excludes(own).sum()) if sided else pd.NA,
            }
        )
    frame = pd.DataFrame(rows).astype({"apart": "Int64"})
    yield Table(
        frame,
        "The classical metrics.",
        {
            "metric": "Metric",
            "meaning": "What it says",
            "values": Column(title="Values", places=0),
            "apart": Column(
                title="Exclude no bias",
                places=0,
                note=f"Values whose {part.prob:.0%} interval excludes the value without bias; none "
                "given for metrics that cannot lie beyond it: chance alone moves them away.",
            ),
        },
    )
    options: dict[str, list[str | Block]] = {}
    for name in scores["metric"].unique():
        own = scores[scores["metric"] == name]
        neutral = float(own["neutral"].iloc[0])
        options[name] = [
            Table(
                own,
                "",
                {
                    "query": "Query",
                    "value": Column(
                        title=f"Value ({neutral:g}: no bias)",
                        interval=("lower", "upper"),
                        reference=neutral,
                        places=2,
                    ),
                    **(
                        {"p_above": Column(title=f"P(above {neutral:g})", probability=True)}
                        if own["p_above"].notna().any()
                        else {}
                    ),
                    "n_words": Column(title="Words", places=0),
                    **(
                        {"reason": "Not measured, or no interval"}
                        if (own["reason"] != "").any()
                        else {}
                    ),
                },
            )
        ]
    yield Choice("Metric", options)
    if part.skipped:
        yield Definitions({name: literal(why) for name, why in part.skipped.items()})


def _lists(part: AuditPart) -> _Blocks:
    warned = part.list_warnings
    if warned:
        text = "\n".join(f"- {literal(warning)}" for warning in warned)
        yield Notice(text, "warning", f"{len(warned)} warnings" if len(warned) > 1 else "Warning")
    else:
        yield "The check of the lists found nothing to warn of."
    yield Table(
        part.lists,
        "The word lists in this embedding.",
        {
            "word_set": "List",
            "n_words": Column(title="Words", places=0),
            "n_found": Column(title="Found", places=0),
            "missing": "Missing",
            "cohesion": Column(
                title="Cohesion", places=2, note="The mean cosine of pairs of its words."
            ),
            "cohesion_percentile": Column(
                title="Percentile", places=0, note="Among random words of about the same frequency."
            ),
            "fits_least": "Fits least",
        },
    )
    if len(part.list_pairs):
        pairs = part.list_pairs.assign(
            pair=[
                f"{a} / {b}"
                for a, b in zip(part.list_pairs["first"], part.list_pairs["second"], strict=True)
            ]
        )
        yield Table(
            pairs,
            "Pairs of lists.",
            {
                "pair": "Pair",
                "coherence": Column(
                    title="Coherence",
                    places=2,
                    note="How far apart the two are along their difference, from 0 to 1.",
                ),
                "coherence_percentile": Column(
                    title="Percentile", places=0, note="Among the same words dealt out at random."
                ),
                "similarity": Column(title="Similarity", places=2, note="The cosine of the means."),
                "frequency_ratio": Column(title="Frequency ratio", places=2),
            },
        )
    if part.robustness is None:
        return
    yield "# Robustness"
    yield (
        "Random parts of the lists, growing to the whole, measured by WEAT's effect size. A "
        "robustness of 1 says that every part tells the same; longer lists are more robust by "
        "their length alone, the adjusted value is not."
    )
    if len(part.robustness):
        yield _figure(
            part,
            "silhouettes",
            "Bands of the values of random parts of the lists, which end where the lists are "
            "complete. Narrow bands are robust lists.",
            "A band for each pair of groups and each side, narrowing to the right.",
        )
        yield Table(
            part.robustness,
            "How little the value depends on which of the words are used.",
            {
                "query": "Query",
                "side": "Lists that grow",
                "robustness": Column(
                    title="Robustness",
                    interval=("robustness_lower", "robustness_upper"),
                    places=2,
                    scale=(0.0, 1.0),
                ),
                "length_adjusted": Column(
                    title="Adjusted for length",
                    interval=("length_adjusted_lower", "length_adjusted_upper"),
                    places=2,
                    brief=True,
                ),
            },
        )
    yield Fold(
        "In words",
        [Definitions({name: literal(text) for name, text in part.verdicts.items()})],
    )


def _debiasing(part: AuditPart) -> _Blocks:
    for name, paragraphs in part.debiasing.items():
        yield f"# {literal(name)}"
        for paragraph in paragraphs:
            title, _, text = paragraph.partition(": ")
            yield f"**{literal(title)}.** {literal(text)}"
        yield _figure(
            part,
            f"debiasing-{name}",
            "Expected distances before (open marks) and after debiasing (filled).",
            "Intervals of each protected word before and after.",
        )
        frame = part.before_after[name]
        shown = frame[frame["word"] == ""]
        yield Fold(
            "All measures",
            [
                Table(
                    shown,
                    "What changed, with the interval of the change.",
                    {
                        "measure": "Measure",
                        "what": Column(title="Kind", choose=True),
                        "group": "Of",
                        "before": Column(title="Before", places=2),
                        "after": Column(title="After", places=2),
                        "change": Column(
                            title="Change", interval=("lower", "upper"), reference=0.0, places=2
                        ),
                        "verdict": Column(
                            title="Verdict",
                            note="Whether it is nearer to the value without bias, a gap narrower, "
                            f"with a probability of {(1 + part.prob) / 2:.3g} or more; else "
                            "*open*. A change can be clear where that is open.",
                        ),
                    },
                )
            ],
        )


def _diagnostics(part: AuditPart) -> _Blocks:
    found = part.confirmation
    if found is not None:
        kind = "note" if found["agrees"] and found["sampler_ok"] else "warning"
        largest, limits = found["largest"], found["noticeable"]
        rows = [
            f"- {literal(name)}: {largest[key]:.2f} ({limits[key]:.2f})"
            for key, name in STATISTICS.items()
        ]
        density, noise = found["density"], found["coefficients"]
        text = (
            f"The log density of {literal(found['model'])}, computed row by row, and that which "
            f"the exact engine draws from were compared at {density['points']} points, "
            f"{density['far']} of them far from the draws: apart from a constant they differ by "
            f"at most {density['relative']:.0e} of the log density. Given the "
            f"scales, the standardised draws of the coefficients have means of at most "
            f"{noise['mean']:.3f} and standard deviations of 1 up to "
            f"{abs(noise['sd'] - 1):.3f}.\n\n"
            f"Hamiltonian Monte Carlo drew the scales again in {found['chains']} chains of "
            f"{found['draws']:,} draws (largest R-hat {found['r_hat']:.3f}, smallest effective "
            f"sample size {found['ess']:,.0f}). Compared were {found['quantities']} quantities: "
            "contrasts of the data set and of groups, and all parameters that belong to no single "
            "word. Largest difference from the exact draws in posterior standard deviations, and "
            "in parentheses the difference that would have counted as a disagreement:\n\n"
            + "\n".join(rows)
        )
        title = (
            "The exact draws passed their checks"
            if found["agrees"]
            else f"The exact draws fail checks of: {', '.join(found['disagree'])}"
        )
        yield Notice(text, kind, title)  # type: ignore[arg-type]
        for problem in found["problems"]:
            yield Notice(literal(problem), "warning", "Problems of the second sampler")
    frame = part.diagnostics
    columns: dict[str, Column | str] = {
        "model": "Model",
        "engine": "Engine",
        "draws": Column(title="Draws", places=0),
        "found": "What was found",
    }
    for name in ("problems", "notes"):
        if (frame[name] != "").any():
            columns[name] = name.capitalize()
    yield Table(frame, "The fits.", columns)
    if part.warnings:
        yield Notice(
            "\n".join(f"- {literal(text)}" for text in part.warnings), "note", "Steps that warned"
        )


def _compared(audit: Audit) -> _Blocks:
    for study, table in audit.between.items():
        if len(audit.between) > 1:
            yield f"# {literal(study)}"
        yield literal(across(audit)[f"Embeddings on {study}"])
        shown = table.assign(
            what=[
                f"{one} minus {other}" if other else one
                for one, other in zip(table["embedding"], table["second"], strict=True)
            ],
            against=table["contrast"].map(OTHERS),
        )
        yield Table(
            shown,
            "How much closer own stereotypes are than other attributes in each embedding, and the "
            "differences between embeddings, from the same pairs of words.",
            {
                "what": "Embedding",
                "against": Column(title="Own stereotypes against", choose=True),
                "mean": _DIFFERENCE,
                "prob_negative": Column(title="P(below 0)", probability=True),
            },
        )
        yield Table(
            audit.ranking[study].assign(score=_intervals(audit.ranking[study], "score")),
            "The embeddings ranked by each metric; 1 is the least biased.",
            {
                "embedding": "Embedding",
                "metric": Column(title="Metric", choose=True),
                "score": "Distance from no bias",
                "expected_rank": Column(title="Expected rank", places=1),
                "p_best": Column(title="P(least biased)", probability=True),
            },
        )


def _intervals(frame: pd.DataFrame, column: str) -> list[str]:
    """Return values with their intervals as text, where no common scale could show them."""
    rows = zip(frame[column], frame["lower"], frame["upper"], strict=True)
    return [f"{value:.3g} [{lower:.3g}, {upper:.3g}]" for value, lower, upper in rows]


def _figure(part: AuditPart, name: str, caption: str, alt: str) -> Figure:
    path = part.figures[name]
    if path.stat().st_size > _LARGE:
        return Figure(path.with_suffix(".png").read_bytes(), alt, caption)
    return Figure(read_utf8(path), alt, caption)
