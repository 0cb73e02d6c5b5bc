"""What an audit found, read from its folder when it is asked for."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias._core.latex import frame_to_latex
from bayesbias._core.wording import counted
from bayesbias.auditing import artifacts
from bayesbias.auditing.artifacts import Artifact, Content, FigureFiles, Step
from bayesbias.auditing.audit_folder import check_content, read_record
from bayesbias.auditing.audit_inputs import slugs
from bayesbias.auditing.check_result import Check
from bayesbias.auditing.report import summary_text
from bayesbias.errors import BayesBiasError, DataError, SpecError
from bayesbias.models import Fit, Overview
from bayesbias.wordlists import Study


class _Fits(Mapping[str, Fit]):
    """The fits of a part by the name of their models, each loaded when it is used."""

    def __init__(self, load: Mapping[str, Callable[[], Fit]]) -> None:
        self._load = dict(load)
        self._loaded: dict[str, Fit] = {}

    def __getitem__(self, name: str) -> Fit:
        if name not in self._loaded:
            self._loaded[name] = self._load[name]()
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._load)

    def __len__(self) -> int:
        return len(self._load)

    def __repr__(self) -> str:
        return f"<fits of {', '.join(self._load)}>"


class AuditPart:
    """The results of an audit for one embedding and one study; see `Audit`.

    Parameters
    ----------
    folder : Path
        The folder of the audit.
    record : mapping
        What the record of the audit says.
    part : mapping
        The embedding, the study and their place in the folder.
    """

    def __init__(self, folder: Path, record: Mapping[str, Any], part: Mapping[str, str]) -> None:
        self._place = part["folder"]
        self.record = record
        self.folder = folder / self._place
        self.embedding = part["embedding"]
        try:
            self.study = Study.from_dict(record["studies"][part["study"]]["lists"])
        except BayesBiasError as err:
            raise DataError(f"{folder / artifacts.RECORD}: damaged: {err}") from err
        self.prob = float(record["options"]["prob"])

    @cached_property
    def steps(self) -> dict[str, Mapping[str, Any]]:
        """The steps of this part, as the record has them."""
        return {
            name.removeprefix(self._place): step
            for name, step in self.record["steps"].items()
            if name.startswith(self._place) and "/" not in name.removeprefix(self._place)
        }

    def _is_done(self, step: Step, of: str = "") -> bool:
        return step.label(of) in self.steps

    def _read(self, artifact: Artifact[Content], of: str = "") -> Content:
        return artifact.load(self.folder, of)

    def _debiased(self, artifact: Artifact[Content]) -> dict[str, Content]:
        """Return an artefact of each method of debiasing."""
        return {
            name: self._read(artifact, name)
            for name in self.record["options"]["debias"]
            if self._is_done(artifacts.DEBIASING_STEP, name)
        }

    @cached_property
    def table(self) -> pd.DataFrame:
        """All distances."""
        return self._read(artifacts.TABLE)

    @cached_property
    def fits(self) -> Mapping[str, Fit]:
        """The fit of each model, loaded when it is used."""
        files = slugs(self.record["options"]["models"])
        return _Fits(
            {
                name: partial(self._read, artifacts.FIT, file)
                for name, file in files.items()
                if self._is_done(artifacts.FIT_STEP, name)
            }
        )

    @cached_property
    def fit_at_equal_frequency(self) -> Fit | None:
        """The fit of the lead model with a slope on log frequency; None without frequencies."""
        if not self._is_done(artifacts.EQUAL_FREQUENCY_STEP):
            return None
        return self._read(artifacts.EQUAL_FREQUENCY_FIT)

    @cached_property
    def comparison(self) -> pd.DataFrame:
        """The models compared by WAIC, the best first."""
        return self._read(artifacts.COMPARISON)

    @cached_property
    def comparison_loo(self) -> pd.DataFrame:
        """The models compared by how well they predict attributes that are left out."""
        return self._read(artifacts.COMPARISON_LOO)

    @property
    def comparison_warnings(self) -> list[str]:
        """What the comparison warned of."""
        return list(self.steps[artifacts.COMPARISON_STEP.label()]["warnings"])

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
        return self._read(artifacts.CONTRASTS)

    @cached_property
    def means(self) -> pd.DataFrame:
        """The expected distance of each protected word and connection."""
        return self._read(artifacts.MEANS)

    @cached_property
    def coefficients(self) -> pd.DataFrame:
        """The parameters of the whole data set."""
        return self._read(artifacts.COEFFICIENTS)

    @cached_property
    def overview(self) -> Overview:
        """The thesis's overview."""
        rows = self.contrasts[self.contrasts["level"] == "data set"]
        kept = ["contrast", "mean", "sd", "lower", "upper", "prob_negative", "prob_in_rope"]
        return Overview(rows[kept].reset_index(drop=True), self._read(artifacts.OVERVIEW))

    @cached_property
    def diagnostics(self) -> pd.DataFrame:
        """What speaks for and against each fit."""
        return self._read(artifacts.DIAGNOSTICS)

    @cached_property
    def confirmation(self) -> Mapping[str, Any] | None:
        """Whether the exact draws of the lead model passed all checks; None if not checked."""
        if not self._is_done(artifacts.CONFIRMATION_STEP):
            return None
        return self._read(artifacts.CONFIRMATION)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The classical metrics with their intervals."""
        return self._read(artifacts.SCORES)

    @cached_property
    def skipped(self) -> Mapping[str, str]:
        """The metrics that were not measured, and why."""
        return self._read(artifacts.SKIPPED)

    @cached_property
    def lists(self) -> pd.DataFrame:
        """The word lists: what is missing, how similar their words are."""
        return self._read(artifacts.LISTS)

    @cached_property
    def list_pairs(self) -> pd.DataFrame:
        """The pairs of word lists."""
        return self._read(artifacts.LIST_PAIRS)

    @cached_property
    def list_warnings(self) -> list[str]:
        """What is wrong with the word lists."""
        return self._read(artifacts.LIST_WARNINGS)

    @cached_property
    def silhouettes(self) -> pd.DataFrame | None:
        """The bands of parts of the lists, by query, side and size; None if not asked for."""
        if not self._is_done(artifacts.SILHOUETTES_STEP):
            return None
        return self._read(artifacts.SILHOUETTES)

    @cached_property
    def robustness(self) -> pd.DataFrame | None:
        """How little the values depend on which of the words are used; None if not asked for."""
        if not self._is_done(artifacts.SILHOUETTES_STEP):
            return None
        return self._read(artifacts.ROBUSTNESS)

    @cached_property
    def verdicts(self) -> Mapping[str, str]:
        """What the silhouettes say, in words."""
        if not self._is_done(artifacts.SILHOUETTES_STEP):
            return {}
        return self._read(artifacts.VERDICTS)

    @cached_property
    def before_after(self) -> dict[str, pd.DataFrame]:
        """What each method of debiasing changed, the residual bias and the side effects."""
        return self._debiased(artifacts.BEFORE_AFTER)

    @cached_property
    def debiasing(self) -> dict[str, list[str]]:
        """The same in words, paragraph by paragraph."""
        texts = self._debiased(artifacts.DEBIASING_TEXT)
        return {name: [line for line in lines if line] for name, lines in texts.items()}

    def has_figure(self, name: str) -> bool:
        """Return whether a figure of the table or of the fits was drawn."""
        return self._is_done(artifacts.FIGURE_STEP, name)

    def figure(self, name: str) -> FigureFiles:
        """Return the files of a figure of the table or of the fits."""
        return self._read(artifacts.FIGURE, name)

    @property
    def silhouettes_figure(self) -> FigureFiles:
        """The files of the figure of silhouettes."""
        return self._read(artifacts.SILHOUETTES_FIGURE)

    def debiasing_figure(self, method: str) -> FigureFiles:
        """Return the files of the figure of a method of debiasing."""
        return self._read(artifacts.DEBIASING_FIGURE, method)

    @cached_property
    def warnings(self) -> list[str]:
        """What the steps warned of."""
        return list(
            dict.fromkeys(text for step in self.steps.values() for text in step["warnings"])
        )

    def paragraphs(self) -> dict[str, str]:
        """Return the summary, paragraph by paragraph.

        Returns
        -------
        dict of str to str
            The text under each title.
        """
        return summary_text.paragraphs(self)

    def summary(self) -> str:
        """Say in plain sentences what was found of this embedding and study.

        Returns
        -------
        str
            What was measured; three paragraphs, on the association, on groups and words, and on how
            sure that is; then one for each method of debiasing.
        """
        return _as_text(summary_text.title([self]), self.paragraphs())

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the contrasts as a LaTeX table, rounded by their intervals.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names the embedding, the study, the model and the
            intervals.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        rows = self.contrasts[self.contrasts["level"] != "word"]
        kept = ["contrast", "level", "group", "mean", "lower", "upper"]
        kept += ["prob_negative", "prob_in_rope", "rows", "verdict"]
        if rows["equal_mean"].notna().any():
            rows = rows.rename(columns={"equal_mean": "equal"})
            kept += ["equal", "equal_lower", "equal_upper"]
        text = (
            f"{self.embedding} on the study {self.study.name} "
            f"({counted(len(self.study.protected_words), 'protected word')}): contrasts by the "
            f"model {self.lead}, with {self.prob:.0%} intervals; below 0 is closer."
        )
        return frame_to_latex(
            rows[kept],
            text if caption is None else caption,
            titles={
                "prob_negative": "P(< 0)",
                "prob_in_rope": "P(in ROPE)",
                "rows": "n",
                "equal": "at equal frequency",
            },
        )

    def __repr__(self) -> str:
        return f"<AuditPart {self.embedding} on {self.study.name}, in {self.folder}>"

    def _repr_html_(self) -> str:
        return _as_html(summary_text.title([self]), self.paragraphs())


class Audit:
    """The results of an audit, read from its folder; returned by `audit`.

    Everything is read from the folder when it is accessed. For an audit of several embeddings or
    studies, `parts` holds the results of each pair of them; attributes such as `table` are for
    audits of one embedding and one study.

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
    bayesbias.errors.DataError: there is no folder 'nowhere'.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self.record = read_record(self.folder)
        check_content(self.folder, self.record)

    @cached_property
    def parts(self) -> dict[tuple[str, str], AuditPart]:
        """The results by embedding and study."""
        return {
            (part["embedding"], part["study"]): AuditPart(self.folder, self.record, part)
            for part in self.record["parts"]
        }

    @property
    def steps(self) -> dict[str, Mapping[str, Any]]:
        """What was done, as the record has it; without the report."""
        report = artifacts.REPORT_STEP.label()
        return {name: step for name, step in self.record["steps"].items() if name != report}

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
        """Whether the exact draws of the lead model passed all checks; None if not checked."""
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
        """The bands of random subsets of the lists; None if not requested."""
        return self._only.silhouettes

    @property
    def before_after(self) -> dict[str, pd.DataFrame]:
        """What each method of debiasing did, left and broke."""
        return self._only.before_after

    @cached_property
    def ranking(self) -> dict[str, pd.DataFrame]:
        """The embeddings ranked by each metric, by study; empty with one embedding."""
        return self._of_studies(artifacts.RANKING)

    @cached_property
    def between(self) -> dict[str, pd.DataFrame]:
        """The contrasts of several embeddings by one model, by study; empty with one embedding."""
        return self._of_studies(artifacts.BETWEEN)

    @cached_property
    def between_figures(self) -> dict[str, FigureFiles]:
        """The files of the figure of these contrasts, by study; empty with one embedding."""
        return self._of_studies(artifacts.BETWEEN_FIGURE)

    def _of_studies(self, artifact: Artifact[Content]) -> dict[str, Content]:
        """Return an artefact of each study, where the embeddings were compared."""
        files = slugs(list(self.record["studies"]))
        return {
            study: artifact.load(self.folder, file)
            for study, file in files.items()
            if artifacts.EMBEDDINGS_STEP.label(study) in self.steps
        }

    @cached_property
    def results(self) -> dict[str, Any]:
        """The main numbers as plain data, as other programs read them from the folder."""
        return artifacts.RESULTS.load(self.folder)

    @property
    def gate(self) -> Check | None:
        """The check of the conditions that the audit was given as `fail_if`; None without any."""
        gate = self.results["gate"]
        return None if gate is None else Check(pd.DataFrame(gate["conditions"]))

    @property
    def report(self) -> Path:
        """The report, an HTML file."""
        [file] = artifacts.REPORT.paths()
        return self.folder / file

    def summary(self) -> str:
        """Return the main results in plain sentences, limited to what the intervals support.

        Returns
        -------
        str
            What was measured; three paragraphs, on the association, on groups and words, and on how
            sure that is; then one for each method of debiasing. Of several embeddings or studies,
            one paragraph each, after those that compare the embeddings.
        """
        return _as_text(self._title(), self._paragraphs())

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the contrasts of each embedding and study as LaTeX tables.

        Parameters
        ----------
        caption : str, optional
            The caption of every table, instead of those that name the embedding, the study, the
            model and the intervals.

        Returns
        -------
        str
            A ``table`` environment per embedding and study, for the packages booktabs, graphicx
            and longtable.
        """
        return "".join(part.to_latex(caption=caption) for part in self.parts.values())

    def _title(self) -> str:
        return summary_text.title(list(self.parts.values()))

    def _paragraphs(self) -> dict[str, str]:
        if len(self.parts) == 1:
            return self._only.paragraphs()
        texts = summary_text.across(self)
        for (embedding, study), part in self.parts.items():
            # The first two paragraphs; all of them are in the report.
            texts[f"{embedding} on {study}"] = " ".join([*part.paragraphs().values()][:2])
        return texts

    def __repr__(self) -> str:
        embeddings, studies = (
            list(dict.fromkeys(names)) for names in zip(*self.parts, strict=True)
        )
        return f"<Audit of {', '.join(embeddings)} on {', '.join(studies)}, in {self.folder}>"

    def _repr_html_(self) -> str:
        link = html.escape(self.report.resolve().as_uri())
        text = _as_html(self._title(), self._paragraphs())
        return f'{text}<p><a href="{link}">{html.escape(str(self.report))}</a></p>'


def _as_text(title: str, paragraphs: Mapping[str, str]) -> str:
    return "\n\n".join([title, *(f"{name}: {text}" for name, text in paragraphs.items())])


def _as_html(title: str, paragraphs: Mapping[str, str]) -> str:
    points = "".join(
        f"<li><b>{html.escape(name)}</b>: {html.escape(text)}</li>"
        for name, text in paragraphs.items()
    )
    return f"<p><b>{html.escape(title)}</b></p><ul>{points}</ul>"
