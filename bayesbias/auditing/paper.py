"""What a paper needs of an audit: tables, a paragraph on methods, and what to cite."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from bayesbias import __version__
from bayesbias._core.latex import escape, frame_to_latex
from bayesbias._core.plugins import title_of
from bayesbias._core.rounded_table import rounded_table, to_markdown
from bayesbias._core.wording import capitalized, counted, enumerated
from bayesbias.auditing import bibliography as works
from bayesbias.auditing.audit_result import AuditPart
from bayesbias.auditing.audit_steps import CHAINS
from bayesbias.debias import DEBIASERS
from bayesbias.metrics import METRICS
from bayesbias.rankings import StudyLabels, contrast_title

#: Citations in a text: ``[@key]``, or several with semicolons between them.
_CITED = re.compile(r"\[((?:@\w+(?:; )?)+)\]")
#: The heading of contrasts at equal frequency.
AT_EQUAL_FREQUENCY: Mapping[str, str] = {"equal": "at equal frequency"}


@dataclass(frozen=True)
class PaperTable:
    """A table, its caption and the headings of its columns."""

    frame: pd.DataFrame
    caption: str
    titles: Mapping[str, str] = field(default_factory=dict)
    by_row: bool = False

    def as_latex(self, label: str) -> str:
        """Return a ``table`` environment."""
        return frame_to_latex(
            self.frame, self.caption, label=label, titles=self.titles, by_row=self.by_row
        )

    def as_markdown(self) -> str:
        """Return the table, and its caption above."""
        table = rounded_table(self.frame, titles=self.titles, by_row=self.by_row)
        return f"{self.caption}\n\n{to_markdown(table)}"


def paper_texts(part: AuditPart) -> dict[str, str]:
    """Return the text of each file, by its name."""
    texts: dict[str, str] = {}
    for name, table in _tables(part).items():
        texts[f"{name}.tex"] = table.as_latex(table_label(part, name))
        texts[f"{name}.md"] = table.as_markdown()
    methods = methods_text(part)
    texts["methods.tex"] = _in_latex(methods)
    texts["methods.md"] = f"{_CITED.sub(_in_parentheses, methods)}\n"
    texts["references.bib"] = works.bibliography(_keys(methods))
    return texts


def table_label(part: AuditPart, name: str) -> str:
    """Return the LaTeX label of a table; with several parts each table has a label of its own."""
    if len(part.record["parts"]) == 1:
        return f"tab:{name}"
    whose = re.sub(r"[^A-Za-z0-9]+", "-", f"{part.embedding}-{part.study.name}").strip("-")
    return f"tab:{whose}-{name}"


def without_words(contrasts: pd.DataFrame) -> pd.DataFrame:
    """Return the contrasts of the whole data set, of a group called *all*, and of each group."""
    rows = contrasts[contrasts["level"].isin(["data set", "group"])]
    return rows.assign(group=rows["group"].where(rows["level"] == "group", "all"))


def equal_columns(contrasts: pd.DataFrame) -> list[str]:
    """Return the columns of contrasts at equal frequency; none without frequencies."""
    known = contrasts["equal"].notna().any()
    return ["equal", "equal_lower", "equal_upper"] if known else []


def labelled_contrasts(part: AuditPart) -> pd.DataFrame:
    """Return the contrasts of an audit with the names that people read."""
    rows = part.contrasts.rename(columns={"equal_mean": "equal"})
    return rows.assign(
        contrast=rows["contrast"].map(contrast_title),
        group=rows["group"].map(lambda name: part.study.group_label(name) if name else name),
        word=rows["word"].map(lambda name: part.study.word_label(name) if name else name),
    )


def _tables(part: AuditPart) -> dict[str, PaperTable]:
    about = (
        f"{part.embedding}, study {part.study.label}, "
        f"{counted(len(part.table['protected_word'].unique()), 'protected word')}, "
        f"{counted(len(part.table), 'distance')}"
    )
    model = f"model {part.lead}, with {part.prob:.0%} intervals"
    contrasts = labelled_contrasts(part)
    shown = {"prob_negative": "P(closer)", "prob_in_rope": "P(negligible)", "rows": "n"}
    shown |= {"mean": "difference", **AT_EQUAL_FREQUENCY}
    wide = without_words(contrasts)
    same = contrasts[contrasts["level"] == "same attributes"]
    equal = equal_columns(contrasts)
    numbers = ["mean", "lower", "upper", "prob_negative", "prob_in_rope", *equal, "rows"]
    cells = list(map(StudyLabels(part.study).query_cells, part.scores["query"]))
    scores = part.scores.assign(
        metric=[capitalized(title_of(name, METRICS)) for name in part.scores["metric"]],
        groups=[groups for groups, _ in cells],
        stereotypes=[stereotypes for _, stereotypes in cells],
    )
    return {
        "contrasts": PaperTable(
            wide[["contrast", "group", *numbers]],
            f"Contrasts of expected cosine distances ({about}; {model}). Below 0: closer to the "
            "first list. n: distances from own stereotypes (associated).",
            shown,
        ),
        "same-attributes": PaperTable(
            same[["contrast", "group", *numbers]].rename(columns={"group": "stereotypes of"}),
            f"The same attributes, seen from their own group and from the others ({about}; "
            f"{model}). Below 0: closer to their own group.",
            shown,
        ),
        "words": PaperTable(
            _by_word(contrasts),
            f"Contrasts by protected word ({about}; {model}). Below 0: closer to the stereotypes "
            "of the word's own group (associated). n: distances from these."
            + (" Second rows: at equal frequency of the attributes." if equal else ""),
            {"rows": "n"},
        ),
        "models": PaperTable(
            part.comparison.rename_axis("model").reset_index(),
            f"Models compared by WAIC ({about}); the best first.",
        ),
        "metrics": PaperTable(
            scores[["metric", "groups", "stereotypes", "value", "lower", "upper", "n_words"]],
            f"Classical metrics ({part.embedding}, study {part.study.label}), with "
            f"{part.prob:.0%} intervals from a Bayesian bootstrap over words. n: words found.",
            {"stereotypes": "stereotypes of", "n_words": "n"},
            by_row=True,
        ),
    }


def _by_word(contrasts: pd.DataFrame) -> pd.DataFrame:
    """Return a row per word with all its contrasts, and below it one at equal frequency."""
    rows = contrasts[contrasts["level"] == "word"]
    raw = _in_columns(rows, ["mean", "lower", "upper"])
    equal = equal_columns(rows)
    if not equal:
        return raw
    raw.insert(2, "frequency", "as observed")
    adjusted = _in_columns(rows, equal)
    adjusted.insert(2, "frequency", "equal")
    return pd.concat([raw, adjusted]).sort_index(kind="stable", ignore_index=True)


def _in_columns(rows: pd.DataFrame, numbers: list[str]) -> pd.DataFrame:
    """Return one row per word, with a number and its interval of each contrast in columns."""
    columns = []
    for name in rows["contrast"].unique():
        own = rows[rows["contrast"] == name].set_index("word")[numbers]
        columns.append(own.set_axis([name, f"{name}_lower", f"{name}_upper"], axis=1))
    words = rows.drop_duplicates("word").set_index("word")
    table: pd.DataFrame = pd.concat([words[["group"]], *columns, words[["rows"]]], axis=1)
    return table.reset_index()


def methods_text(part: AuditPart) -> str:
    """Return a paragraph on methods; ``[@key]`` cites an entry of the bibliography."""
    return " ".join(sentence for write in _SENTENCES for sentence in write(part))


def _data(part: AuditPart) -> list[str]:
    about = part.record["embeddings"][part.embedding]
    table = part.table
    groups = enumerated([part.study.group_label(g) for g in table["protected_group"].unique()])
    return [
        f"We computed cosine distances in the embedding {part.embedding} "
        f"({about['words']:,} words, {about['dimensions']} dimensions) between "
        f"{counted(len(table['protected_word'].unique()), 'protected word')} ({groups}) and "
        f"{counted(len(table['word_to_compare'].unique()), 'attribute')} of the study "
        f"{part.study.label}, {counted(len(table), 'distance')} in all.",
        *([f"The words are from {part.study.source.rstrip('.')}."] if part.study.source else []),
    ]


def _model(part: AuditPart) -> list[str]:
    draws, seed = part.record["options"]["draws"], part.record["seed"]
    diagnostics = part.diagnostics.set_index("model").loc[part.lead]
    if diagnostics["engine"] != "exact":
        how = f"{CHAINS} chains of {draws:,} draws with the No-U-Turn sampler [@hoffman2014nuts]"
    elif diagnostics["scale_sampler"] == "hmc":
        how = (
            f"{CHAINS * draws:,} draws from its posterior, with standard deviations from chains of "
            "Hamiltonian Monte Carlo [@neal2011mcmc] and all other parameters drawn independently "
            "given these"
        )
    else:
        how = f"{CHAINS * draws:,} independent draws from its posterior"
    title = part.record["models"][part.lead]["title"]
    return [
        f"With bayesbias {__version__} [@bayesbias; @dobrzeniecka2024bayesian] we fitted the "
        f"hierarchical Bayesian model {part.lead}: {title}.",
        f"We made {how} (seed {seed}).",
        f"We report posterior means with {part.prob:.0%} highest-density intervals, and the "
        f"probability that a difference is smaller than {part.record['options']['rope']:g} in "
        "absolute value.",
    ]


def _comparison(part: AuditPart) -> list[str]:
    if len(part.comparison) < 2:
        return []
    names = enumerated(part.record["options"]["models"])
    return [
        f"The models {names} were compared by WAIC [@watanabe2010asymptotic] and by leave-one-out "
        "cross-validation over attributes [@vehtari2017practical]."
    ]


def _frequency(part: AuditPart) -> list[str]:
    if part.contrasts["equal_mean"].isna().all():
        return []
    return [
        "As bias metrics may depend on the frequency of words [@valentini2022undesirable], the "
        "model was fitted again with a slope on the log frequency of attributes (from "
        f"{part.record['options']['frequencies']}), and contrasts at equal frequency are reported "
        "beside the raw ones."
    ]


def _baseline(part: AuditPart) -> list[str]:
    if part.contrasts["t_lower"].isna().all():
        return []
    return [
        "As a baseline without a model we computed two-sample t-intervals over attributes, with "
        "the variance pooled over lists."
    ]


def _classical(part: AuditPart) -> list[str]:
    if part.scores.empty:
        return []
    cited = [_named(name, METRICS) for name in part.scores["metric"].unique()]
    return [
        f"As classical metrics [@badilla2020wefe] we computed {enumerated(cited)}, with intervals "
        "from a Bayesian bootstrap over words [@rubin1981bayesian]."
    ]


def _debiasing(part: AuditPart) -> list[str]:
    cited = [_named(name, DEBIASERS) for name in part.record["options"]["debias"]]
    if not cited:
        return []
    return [
        f"The embedding was debiased with {enumerated(cited)}; changes are from one model of the "
        "same pairs of words before and after."
    ]


def _lists(part: AuditPart) -> list[str]:
    if part.silhouettes is None:
        return []
    return [
        "Word lists were checked with bias silhouettes [@spliethover2021bias] and against random "
        "words of the same frequency [@antoniak2021bad]."
    ]


def _versions(part: AuditPart) -> list[str]:
    versions = part.record["versions"]
    cited = {"pymc": "[@abril2023pymc]", "arviz": "[@kumar2019arviz]"}
    shown = [
        " ".join(filter(None, [label, versions[name], cited.get(name, "")]))
        for name, label in {"pymc": "PyMC", "arviz": "ArviZ", "numpy": "NumPy"}.items()
        if name in versions
    ]
    return [f"Software: Python {part.record['python']}, {enumerated(shown)}."]


_SENTENCES: Sequence[Callable[[AuditPart], list[str]]] = (
    _data,
    _model,
    _comparison,
    _frequency,
    _baseline,
    _classical,
    _debiasing,
    _lists,
    _versions,
)


def _named(name: str, registry: Mapping[str, type]) -> str:
    """Return a metric or a method, and what it cites."""
    keys = works.keys_of(str(getattr(registry.get(name), "reference", "")))
    plain = title_of(name, registry)
    return f"{plain} [{'; '.join(f'@{key}' for key in keys)}]" if keys else plain


def _keys(text: str) -> list[str]:
    return [key for group in _CITED.findall(text) for key in re.findall(r"@(\w+)", group)]


def _in_parentheses(found: re.Match[str]) -> str:
    return f"({'; '.join(map(works.in_words, _keys(found[0])))})"


def _in_latex(text: str) -> str:
    pieces, last = [], 0
    for found in _CITED.finditer(text):
        cited = f"\\citep{{{','.join(_keys(found[0]))}}}"
        pieces += [escape(text[last : found.start()]), cited]
        last = found.end()
    return "".join([*pieces, escape(text[last:])]) + "\n"
