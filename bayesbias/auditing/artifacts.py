"""The artefacts of an audit: every file that it writes, and how each is written and read.

This is the only place that names a file of an audit, or a column of its tables. A step makes one
artefact or several at once; results and report read them back as they were written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import pandas as pd

from bayesbias._core.files import read_utf8
from bayesbias._core.toml_json import read_json
from bayesbias.auditing import audit_figures
from bayesbias.distances import read_table, write_table
from bayesbias.errors import BayesBiasError, DataError
from bayesbias.html import write_page
from bayesbias.models import Comparison, Fit, load_fit

Content = TypeVar("Content")

#: The file that says what was done; a folder with it is an audit.
RECORD = "audit.json"
#: Where other processes record the steps that they did, until the audit takes them over.
PARTS = ".parts"
PART_RECORD = "{of}.json"


@dataclass(frozen=True, eq=False)
class Artifact(Generic[Content]):
    """Something that an audit leaves: its name, its files, and how they are written and read.

    Parameters
    ----------
    name : str
        What it is called.
    files : tuple of str
        Its files within the folder of a part. ``{of}`` stands for what it is of: a model, a method
        of debiasing, a figure or a study.
    write : callable
        Gets the content and the path of each file.
    read : callable
        Gets the path of each file and returns the content.
    """

    name: str
    files: tuple[str, ...]
    write: Callable[..., object]
    read: Callable[..., Content]

    def paths(self, of: str = "") -> list[str]:
        """Return the files of one of them, relative to the folder."""
        return [file.format(of=of) for file in self.files]

    def load(self, folder: Path, of: str = "") -> Content:
        """Read the content from the files in a folder."""
        paths = [folder / file for file in self.paths(of)]
        for path in paths:
            if not path.is_file():
                raise DataError(f"{path} is not there any more; run the audit again to make it.")
        try:
            return self.read(*paths)
        except BayesBiasError:
            raise
        except Exception as err:  # a folder may come from strangers
            raise DataError(
                f"{paths[0]}: damaged ({type(err).__name__}: {err}); run the audit again to make "
                "it."
            ) from err


@dataclass(frozen=True)
class Step:
    """What is made at once, under a name in the record."""

    name: str
    artifacts: tuple[Artifact[Any], ...]
    #: The progress message; ``{of}`` as in the files.
    doing: str

    def label(self, of: str = "") -> str:
        """Return what the record calls it, for one model, method, figure or study."""
        return f"{self.name} {of}" if of else self.name

    def described(self, of: str = "", part: str = "") -> str:
        """Return what is done, for one model, method, figure or study, in one part of several."""
        text = self.doing.format(of=of)
        return f"{text} ({part})" if part else text

    def paths(self, of: str = "") -> list[str]:
        """Return the files of all artefacts, relative to the folder."""
        return [file for artifact in self.artifacts for file in artifact.paths(of)]

    def write(self, contents: Mapping[Artifact[Any], Any], *paths: Path) -> None:
        """Write what was made of each artefact to the files, in the order of `paths`."""
        rest = iter(paths)
        for artifact in self.artifacts:
            artifact.write(contents[artifact], *(next(rest) for _ in artifact.files))


class FigureFiles(NamedTuple):
    """The files of a figure: two for any use, and one for narrow screens."""

    svg: Path
    png: Path
    narrow: Path


# Tables as CSV: all digits, no index, lists of words with semicolons between them.


@dataclass(frozen=True)
class Columns:
    """The columns of a table and their types, so that it is read as it was written.

    A type is ``str``, ``float``, ``int``, ``bool``, ``list`` (of words), or ``object`` for numbers
    and texts in one column. Without them a word such as *nan* or *007* would become a gap or a
    number.
    """

    types: Mapping[str, type]
    #: The column that is the index of the table in memory.
    index: str | None = None

    def write(self, frame: pd.DataFrame, path: Path) -> None:
        """Write a table that has these columns; an empty one may have none."""
        table = frame if self.index is None else frame.rename_axis(self.index).reset_index()
        if table.empty:
            table = table.reindex(columns=list(self.types))
        unlike = set(table.columns) ^ set(self.types)
        if unlike:
            raise TypeError(
                f"{path.name}: declared columns and those of the table differ: {unlike}"
            )
        joined = {name: table[name].map("; ".join) for name in self._of(list)}
        table.assign(**joined).to_csv(path, index=False, lineterminator="\n")

    def read(self, path: Path) -> pd.DataFrame:
        """Read the table; an empty cell is a gap in columns of numbers only."""
        frame: pd.DataFrame = pd.read_csv(path, dtype="str", na_filter=False)
        for name, kind in self.types.items():
            if kind is not str:
                dtype = object if kind is list else kind
                cells = [_FROM_TEXT[kind](text) for text in frame[name]]
                frame[name] = pd.Series(cells, frame.index, dtype)
        return frame if self.index is None else frame.set_index(self.index).rename_axis(None)

    def _of(self, kind: type) -> list[str]:
        return [name for name, other in self.types.items() if other is kind]


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


_FROM_TEXT: dict[type, Callable[[str], Any]] = {
    float: lambda text: float(text or "nan"),
    int: int,
    bool: "True".__eq__,
    list: lambda text: text.split("; ") if text else [],
    object: _number_or_text,
}


def _typed(kind: type, *names: str) -> dict[str, type]:
    return dict.fromkeys(names, kind)


def _table(
    name: str, file: str, columns: Columns, kind: type[pd.DataFrame] = pd.DataFrame
) -> Artifact[pd.DataFrame]:
    return Artifact(name, (file,), columns.write, lambda path: kind(columns.read(path)))


# Plain data and texts.


def _write_json(content: object, path: Path) -> None:
    text = json.dumps(content, ensure_ascii=False, indent=1)
    path.write_text(f"{text}\n", "utf-8", newline="\n")


def _json(name: str, file: str) -> Artifact[dict[str, Any]]:
    return Artifact(name, (file,), _write_json, read_json)


# The types of what a gate says of each condition.
_GATE: dict[str, Any] = {
    **dict.fromkeys(("condition", "embedding", "study", "level", "doubt"), str),
    **dict.fromkeys(("probability", "threshold"), float | int),
    "failed": bool,
}


def _read_results(path: Path) -> dict[str, Any]:
    """Read the main numbers; a gate that says nothing must not be taken for one that passed."""
    content: dict[str, Any] = read_json(path)
    gate = content["gate"]
    if gate is not None:
        rows = gate["conditions"]
        wrong = [name for row in rows for name in _GATE if not isinstance(row[name], _GATE[name])]
        if wrong or not rows:
            raise ValueError("the gate is not as an audit writes it")
    return content


def _write_lines(lines: list[str], path: Path) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")


def _lines(name: str, file: str) -> Artifact[list[str]]:
    return Artifact(name, (file,), _write_lines, lambda path: read_utf8(path).splitlines())


# Things with files of their own.


def _write_distances(table: pd.DataFrame, text: Path, columns: Path) -> None:
    write_table(table, text)
    write_table(table, columns)


def _draw(draw: audit_figures.Draw, svg: Path, png: Path, narrow: Path) -> None:
    audit_figures.save(draw, svg, png, narrow)


def _figure_files(stem: str) -> tuple[str, str, str]:
    return f"{stem}.svg", f"{stem}.png", f"{stem}-narrow.svg"


def _figure(name: str, stem: str) -> Artifact[FigureFiles]:
    return Artifact(name, _figure_files(f"figures/{stem}"), _draw, FigureFiles)


_INTERVAL = ("mean", "sd", "lower", "upper")
_EQUAL = ("equal_mean", "equal_lower", "equal_upper")


def _criterion(name: str) -> Columns:
    numbers = (name, "SE", f"d{name}", "dSE", f"p{name}", "weight")
    return Columns(_typed(str, "model") | _typed(float, *numbers), index="model")


TABLE: Artifact[pd.DataFrame] = Artifact(
    "table",
    ("table.csv", "table.parquet"),
    _write_distances,
    lambda text, columns: read_table(columns),
)
LISTS = _table(
    "lists",
    "lists.csv",
    Columns(
        _typed(str, "word_set", "embedding", "fits_least")
        | _typed(int, "n_words", "n_found")
        | _typed(list, "missing", "shared", "same_vector", "duplicates")
        | _typed(float, "coverage", "median_rank", "cohesion", "cohesion_random")
        | _typed(float, "cohesion_percentile", "fits_least_cosine")
    ),
)
LIST_PAIRS = _table(
    "list_pairs",
    "list_pairs.csv",
    Columns(
        _typed(str, "side", "first", "second", "embedding")
        | _typed(int, "n_first", "n_second", "n_pairs")
        | _typed(list, "shared")
        | _typed(float, "frequency_ratio", "similarity")
        | _typed(float, "coherence", "coherence_shuffled", "coherence_percentile")
        | _typed(float, "pca", "pca_shuffled", "pca_percentile")
    ),
)
LIST_WARNINGS = _lines("list_warnings", "list_warnings.txt")
FIT: Artifact[Fit] = Artifact("fit", ("fits/{of}.nc",), Fit.save, load_fit)
EQUAL_FREQUENCY_FIT: Artifact[Fit] = Artifact(
    "fit_at_equal_frequency", ("fit-at-equal-frequency.nc",), Fit.save, load_fit
)
COMPARISON = _table("comparison", "comparison.csv", _criterion("WAIC"), Comparison)
COMPARISON_LOO = _table("comparison_loo", "comparison_loo.csv", _criterion("LOO"), Comparison)
DIAGNOSTICS = _table(
    "diagnostics",
    "diagnostics.csv",
    Columns(
        _typed(str, "model", "engine", "scale_sampler", "found", "problems", "notes")
        | _typed(int, "draws")
        | _typed(bool, "ok")
    ),
)
CONFIRMATION_DRAWS = _table(
    "confirmation_draws",
    "confirmation.csv",
    Columns(
        _typed(str, "quantity", "statistic")
        | _typed(float, "exact", "second", "posterior_sd", "difference", "error", "beyond")
        | _typed(float, "r_hat", "ess_bulk", "ess_tail")
    ),
)
CONFIRMATION_DENSITY = _table(
    "confirmation_density",
    "confirmation_density.csv",
    Columns(_typed(str, "point") | _typed(float, "model", "engine", "difference", "relative")),
)
CONFIRMATION = _json("confirmation", "confirmation.json")
CONTRASTS = _table(
    "contrasts",
    "contrasts.csv",
    Columns(
        _typed(str, "model", "contrast", "level", "group", "word", "verdict")
        | _typed(float, *_INTERVAL, "prob_negative", "prob_in_rope", "t_lower", "t_upper")
        | _typed(float, *_EQUAL)
        | _typed(int, "rows")
    ),
)
MEANS = _table(
    "means",
    "means.csv",
    Columns(
        _typed(str, "protected_word", "connection", "protected_group", "model")
        | _typed(float, *_INTERVAL)
        | _typed(int, "rows")
    ),
)
COEFFICIENTS = _table(
    "coefficients",
    "coefficients.csv",
    Columns(_typed(str, "model", "parameter", "level") | _typed(float, *_INTERVAL)),
)
OVERVIEW = _table(
    "overview",
    "overview.csv",
    Columns(
        _typed(str, "question", "meaning")
        | _typed(object, "answer")
        | _typed(float, "probability"),
        index="question",
    ),
)
SCORES = _table(
    "scores",
    "scores.csv",
    Columns(
        _typed(str, "metric", "query", "embedding", "reason")
        | _typed(float, "value", "sd", "lower", "upper", "prob_above", "p_value", "neutral")
        | _typed(int, "n_words", "n_lost")
    ),
)
SKIPPED = _json("skipped", "scores_skipped.json")
SILHOUETTES = _table(
    "silhouettes",
    "silhouettes.csv",
    Columns(
        _typed(str, "embedding", "query", "side")
        | _typed(int, "k")
        | _typed(float, "min", "max", "mean", "lower", "upper")
    ),
)
ROBUSTNESS = _table(
    "robustness",
    "robustness.csv",
    Columns(
        _typed(str, "embedding", "query", "side")
        | _typed(float, "robustness", "robustness_lower", "robustness_upper")
        | _typed(float, "band_robustness", "band_robustness_lower", "band_robustness_upper")
        | _typed(float, "length_adjusted", "length_adjusted_lower", "length_adjusted_upper")
        | _typed(float, "chance", "chance_lower", "chance_upper", "percentile")
    ),
)
VERDICTS = _json("verdicts", "silhouettes.json")
SILHOUETTES_FIGURE = _figure("silhouettes_figure", "silhouettes")
BEFORE_AFTER = _table(
    "before_after",
    "debiasing/{of}.csv",
    Columns(
        _typed(str, "what", "measure", "covariates", "group", "word", "event", "verdict", "note")
        | _typed(float, "before", "after", "change", "lower", "upper", "probability")
        | _typed(float, "closed", "closed_lower", "closed_upper")
    ),
)
DEBIASING_TEXT = _lines("debiasing_text", "debiasing/{of}.txt")
DEBIASING_FIGURE = _figure("debiasing_figure", "debiasing-{of}")
FIGURE = _figure("figure", "{of}")
BETWEEN = _table(
    "between",
    "{of}-contrasts.csv",
    Columns(
        _typed(str, "contrast", "embedding", "second")
        | _typed(float, *_INTERVAL, "prob_negative", *_EQUAL)
    ),
)
RANKING = _table(
    "ranking",
    "{of}-ranking.csv",
    Columns(
        _typed(str, "metric", "embedding")
        | _typed(float, "score", "lower", "upper", "expected_rank", "prob_best", "prob_worst")
        | _typed(int, "rank_lower", "rank_upper")
    ),
)
PAPER_TABLES = ("contrasts", "same-attributes", "words", "models", "metrics")
# Texts for a paper, by the names of their files.
_PAPER = (
    *(f"{name}.{suffix}" for name in (*PAPER_TABLES, "methods") for suffix in ("tex", "md")),
    "references.bib",
)


def _write_paper(texts: Mapping[str, str], *paths: Path) -> None:
    for name, path in zip(_PAPER, paths, strict=True):
        path.write_text(texts[name], "utf-8", newline="\n")


def _read_paper(*paths: Path) -> dict[str, str]:
    return {path.name: read_utf8(path) for path in paths}


PAPER: Artifact[dict[str, str]] = Artifact(
    "paper", tuple(f"paper/{name}" for name in _PAPER), _write_paper, _read_paper
)
BETWEEN_FIGURE = Artifact("between_figure", _figure_files("{of}-contrasts"), _draw, FigureFiles)
# The main numbers; a JSON schema beside this module describes them.
RESULTS: Artifact[dict[str, Any]] = Artifact(
    "results", ("results.json",), _write_json, _read_results
)
REPORT: Artifact[Path] = Artifact("report", ("report.html",), write_page, Path)

# The steps, in their order. Those of a model, a method, a figure or a study are named after it.
TABLE_STEP = Step("table", (TABLE,), "writing the distances")
LISTS_STEP = Step("lists", (LISTS, LIST_PAIRS, LIST_WARNINGS), "checking the word lists")
FIT_STEP = Step("fit", (FIT,), "fitting the model {of}")
COMPARISON_STEP = Step(
    "comparison", (COMPARISON, COMPARISON_LOO, DIAGNOSTICS), "comparing the models"
)
CONFIRMATION_STEP = Step(
    "confirmation",
    (CONFIRMATION_DRAWS, CONFIRMATION_DENSITY, CONFIRMATION),
    "checking the draws of the lead model",
)
EQUAL_FREQUENCY_STEP = Step(
    "equal frequency",
    (EQUAL_FREQUENCY_FIT,),
    "fitting the lead model with a slope on log frequency",
)
EFFECTS_STEP = Step(
    "effects", (CONTRASTS, MEANS, COEFFICIENTS, OVERVIEW), "estimating means and contrasts"
)
SCORES_STEP = Step("scores", (SCORES, SKIPPED), "measuring the classical metrics")
SILHOUETTES_STEP = Step(
    "silhouettes",
    (SILHOUETTES, ROBUSTNESS, VERDICTS, SILHOUETTES_FIGURE),
    "measuring random subsets of the word lists",
)
DEBIASING_STEP = Step(
    "debias",
    (BEFORE_AFTER, DEBIASING_TEXT, DEBIASING_FIGURE),
    "debiasing with {of} and measuring again",
)
FIGURE_STEP = Step("figure", (FIGURE,), "drawing the figure {of}")
PAPER_STEP = Step("paper", (PAPER,), "writing tables and methods for a paper")
EMBEDDINGS_STEP = Step(
    "embeddings", (BETWEEN, RANKING, BETWEEN_FIGURE), "comparing the embeddings on {of}"
)
RESULTS_STEP = Step("results", (RESULTS,), "collecting the main numbers")
REPORT_STEP = Step("report", (REPORT,), "writing the report")

# The figures of the table and of the fits, which `FIGURE` is of.
DISTANCES_FIGURE = "distances"
COMPARISON_FIGURE = "comparison"
MEANS_FIGURE = "means"
GROUPS_FIGURE = "groups"
PREDICTIVE_FIGURE = "predictive"
COEFFICIENTS_FIGURE = "coefficients"
FIGURES = (
    DISTANCES_FIGURE,
    COMPARISON_FIGURE,
    MEANS_FIGURE,
    GROUPS_FIGURE,
    PREDICTIVE_FIGURE,
    COEFFICIENTS_FIGURE,
)
