"""What an audit found, read from its folder when it is asked for."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.auditing.audit_folder import REPORT, read_record
from bayesbias.auditing.audit_tables import (
    read_comparison,
    read_csv,
    read_json,
    read_lines,
    read_overview,
)
from bayesbias.auditing.report import summary_text
from bayesbias.distances.table import read_table
from bayesbias.errors import SpecError
from bayesbias.models import Fit, Overview, load_fit
from bayesbias.wordlists import Study

if TYPE_CHECKING:
    import pandas as pd


class _Fits(Mapping[str, Fit]):
    """The fits of a part by the name of their models, each loaded when it is used."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = dict(files)
        self._loaded: dict[str, Fit] = {}

    def __getitem__(self, name: str) -> Fit:
        if name not in self._loaded:
            self._loaded[name] = load_fit(self._files[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return f"<fits of {', '.join(self._files)}>"


class AuditPart:
    """What an audit found of one embedding and one study; see `Audit`.

    Parameters
    ----------
    folder : Path
        The folder of the audit.
    record : mapping
        What ``audit.json`` says.
    part : mapping
        The embedding, the study and their place in the folder.
    """

    def __init__(self, folder: Path, record: Mapping[str, Any], part: Mapping[str, str]) -> None:
        self._top = folder
        self._place = part["folder"]
        self.record = record
        self.folder = folder / self._place
        self.embedding = part["embedding"]
        self.study = Study.from_dict(record["studies"][part["study"]]["lists"])
        self.prob = float(record["options"]["prob"])

    @cached_property
    def steps(self) -> dict[str, Mapping[str, Any]]:
        """The steps of this part, as the record has them."""
        return {
            name.removeprefix(self._place): step
            for name, step in self.record["steps"].items()
            if name.startswith(self._place) and "/" not in name.removeprefix(self._place)
        }

    def _files(self, step: str) -> list[Path]:
        return [self._top / file for file in self.steps[step]["files"]]

    def _named(self, kind: str) -> dict[str, list[Path]]:
        """Return the files of all steps of a kind, by what follows it in their names."""
        return {
            name.removeprefix(f"{kind} "): self._files(name)
            for name in self.steps
            if name.startswith(f"{kind} ")
        }

    @cached_property
    def table(self) -> pd.DataFrame:
        """All distances."""
        return read_table(self.folder / "table.parquet")

    @cached_property
    def fits(self) -> Mapping[str, Fit]:
        """The fit of each model, loaded when it is used."""
        return _Fits({name: paths[0] for name, paths in self._named("fit").items()})

    @cached_property
    def comparison(self) -> pd.DataFrame:
        """The models compared by WAIC, the best first."""
        return read_comparison(self.folder / "comparison.csv")

    @cached_property
    def comparison_loo(self) -> pd.DataFrame:
        """The models compared by how well they predict attributes that are left out."""
        return read_comparison(self.folder / "comparison_loo.csv")

    @property
    def best(self) -> str:
        """The model that predicts best, by WAIC."""
        return str(self.comparison.index[0])

    @property
    def lead(self) -> str:
        """The model that means and contrasts are from."""
        return str(self.contrasts["model"].iloc[0])

    @cached_property
    def contrasts(self) -> pd.DataFrame:
        """How much closer own stereotypes are than all else: over all, by group, by word."""
        return read_csv(self.folder / "contrasts.csv")

    @cached_property
    def means(self) -> pd.DataFrame:
        """The expected distance of each protected word and connection."""
        return read_csv(self.folder / "means.csv")

    @cached_property
    def coefficients(self) -> pd.DataFrame:
        """The parameters of the whole data set."""
        return read_csv(self.folder / "coefficients.csv")

    @cached_property
    def overview(self) -> Overview:
        """The thesis's overview."""
        rows = self.contrasts[self.contrasts["level"] == "data set"]
        kept = ["contrast", "mean", "sd", "lower", "upper", "prob_negative", "prob_in_rope"]
        table = read_overview(self.folder / "overview.csv")
        return Overview(rows[kept].reset_index(drop=True), table)

    @cached_property
    def diagnostics(self) -> pd.DataFrame:
        """What speaks for and against each fit."""
        return read_csv(self.folder / "diagnostics.csv")

    @cached_property
    def confirmation(self) -> Mapping[str, Any] | None:
        """Whether the exact draws of the leading model stood all checks; None if not checked."""
        if "confirmation" not in self.steps:
            return None
        return dict(read_json(self.folder / "confirmation.json"))

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The classical metrics with their intervals."""
        return read_csv(self.folder / "scores.csv")

    @cached_property
    def skipped(self) -> Mapping[str, str]:
        """The metrics that were not measured, and why."""
        return dict(read_json(self.folder / "scores_skipped.json"))

    @cached_property
    def lists(self) -> pd.DataFrame:
        """The word lists: what is missing, how alike their words are."""
        return read_csv(self.folder / "lists.csv")

    @cached_property
    def list_pairs(self) -> pd.DataFrame:
        """The pairs of word lists."""
        return read_csv(self.folder / "list_pairs.csv")

    @cached_property
    def list_warnings(self) -> list[str]:
        """What is wrong with the word lists."""
        return read_lines(self.folder / "list_warnings.txt")

    @cached_property
    def silhouettes(self) -> pd.DataFrame | None:
        """The bands of parts of the lists, by query, side and size; None if not asked for."""
        if "silhouettes" not in self.steps:
            return None
        return read_csv(self.folder / "silhouettes.csv")

    @cached_property
    def robustness(self) -> pd.DataFrame | None:
        """How little the values depend on which of the words are used; None if not asked for."""
        if "silhouettes" not in self.steps:
            return None
        return read_csv(self.folder / "robustness.csv")

    @cached_property
    def verdicts(self) -> Mapping[str, str]:
        """What the silhouettes say, in words."""
        if "silhouettes" not in self.steps:
            return {}
        return dict(read_json(self.folder / "silhouettes.json"))

    @cached_property
    def before_after(self) -> dict[str, pd.DataFrame]:
        """What each method of debiasing did, left and broke."""
        return {name: read_csv(paths[0]) for name, paths in self._named("debias").items()}

    @cached_property
    def debiasing(self) -> dict[str, list[str]]:
        """The same in words, paragraph by paragraph."""
        found = {name: read_lines(paths[1]) for name, paths in self._named("debias").items()}
        return {name: [line for line in lines if line] for name, lines in found.items()}

    @cached_property
    def figures(self) -> dict[str, Path]:
        """The figures by name, as SVG."""
        named = {name: paths[0] for name, paths in self._named("figure").items()}
        moved = {f"debiasing-{name}": paths[2] for name, paths in self._named("debias").items()}
        grown = {"silhouettes": self._files("silhouettes")[3]} if self.verdicts else {}
        return named | moved | grown

    @cached_property
    def warnings(self) -> list[str]:
        """What the steps warned of."""
        return list(
            dict.fromkeys(text for step in self.steps.values() for text in step["warnings"])
        )

    def told(self) -> dict[str, str]:
        """Return the summary, paragraph by paragraph.

        Returns
        -------
        dict of str to str
            The text under each title.
        """
        return summary_text.tell(self)


class Audit:
    """What an audit found: a thin object over its folder, made by `audit`.

    Everything is read from the folder when it is asked for. Of an audit of several embeddings or
    studies, `parts` has each of them; an attribute such as `table` is for audits of one.

    Parameters
    ----------
    folder : path-like
        The folder of an audit.

    Raises
    ------
    DataError
        If it is not the folder of an audit.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.Audit("nowhere")
    Traceback (most recent call last):
    ...
    bayesbias.errors.DataError: nowhere is not the folder of an audit: it has no audit.json.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self.record = read_record(self.folder)

    @cached_property
    def parts(self) -> dict[tuple[str, str], AuditPart]:
        """The part of each embedding and study."""
        return {
            (part["embedding"], part["study"]): AuditPart(self.folder, self.record, part)
            for part in self.record["parts"]
        }

    @property
    def steps(self) -> dict[str, Mapping[str, Any]]:
        """What was done, as the record has it; without the report."""
        return {name: step for name, step in self.record["steps"].items() if name != REPORT}

    @property
    def _only(self) -> AuditPart:
        if len(self.parts) > 1:
            raise SpecError(
                f"this audit has {len(self.parts)} parts; take one of them: "
                f"audit.parts[{next(iter(self.parts))!r}], …."
            )
        return next(iter(self.parts.values()))

    @property
    def table(self) -> pd.DataFrame:
        """All distances."""
        return self._only.table

    @property
    def fits(self) -> Mapping[str, Fit]:
        """The fit of each model, loaded when it is used."""
        return self._only.fits

    @property
    def comparison(self) -> pd.DataFrame:
        """The models compared by WAIC, the best first."""
        return self._only.comparison

    @property
    def best(self) -> str:
        """The model that predicts best, by WAIC."""
        return self._only.best

    @property
    def confirmation(self) -> Mapping[str, Any] | None:
        """Whether the exact draws of the leading model stood all checks; None if not checked."""
        return self._only.confirmation

    @property
    def contrasts(self) -> pd.DataFrame:
        """How much closer own stereotypes are than all else: over all, by group, by word."""
        return self._only.contrasts

    @property
    def means(self) -> pd.DataFrame:
        """The expected distance of each protected word and connection."""
        return self._only.means

    @property
    def overview(self) -> Overview:
        """The thesis's overview."""
        return self._only.overview

    @property
    def scores(self) -> pd.DataFrame:
        """The classical metrics with their intervals."""
        return self._only.scores

    @property
    def silhouettes(self) -> pd.DataFrame | None:
        """The bands of parts of the lists; None if they were not asked for."""
        return self._only.silhouettes

    @property
    def before_after(self) -> dict[str, pd.DataFrame]:
        """What each method of debiasing did, left and broke."""
        return self._only.before_after

    @cached_property
    def ranking(self) -> dict[str, pd.DataFrame]:
        """The embeddings ranked by each metric, by study; empty with one embedding."""
        return self._across("ranking")

    @cached_property
    def between(self) -> dict[str, pd.DataFrame]:
        """The contrasts of several embeddings by one model, by study; empty with one embedding."""
        return self._across("contrasts")

    def _across(self, what: str) -> dict[str, pd.DataFrame]:
        start = "embeddings "
        return {
            name.removeprefix(start): read_csv(self.folder / file)
            for name, step in self.steps.items()
            if name.startswith(start)
            for file in step["files"]
            if file.endswith(f"-{what}.csv")
        }

    @property
    def report(self) -> Path:
        """The report, an HTML file."""
        return self.folder / "report.html"

    def summary(self) -> str:
        """Say in plain sentences what was found, and no more than the intervals allow.

        Returns
        -------
        str
            A paragraph each on bias, words, groups, models, metrics and lists.
        """
        return "\n\n".join(f"{title}: {text}" for title, text in self._told().items())

    def _told(self) -> dict[str, str]:
        if len(self.parts) == 1:
            return self._only.told()
        told = summary_text.across(self)
        for (embedding, study), part in self.parts.items():
            # The first paragraphs; all of them are in the report.
            told[f"{embedding} on {study}"] = " ".join([*part.told().values()][:3])
        return told

    def __repr__(self) -> str:
        embeddings, studies = (
            list(dict.fromkeys(names)) for names in zip(*self.parts, strict=True)
        )
        return f"<Audit of {', '.join(embeddings)} on {', '.join(studies)}, in {self.folder}>"

    def _repr_html_(self) -> str:
        paragraphs = "".join(
            f"<p><b>{html.escape(title)}</b>: {html.escape(text)}</p>"
            for title, text in self._told().items()
        )
        link = html.escape(self.report.resolve().as_uri())
        return f'{paragraphs}<p><a href="{link}">{html.escape(str(self.report))}</a></p>'
