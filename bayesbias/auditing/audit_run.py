"""The main job: from embeddings and studies to tables, fits, figures and a report."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias._core.constants import DEFAULT_AUDIT_FOLDER
from bayesbias._core.files import make_folder
from bayesbias._core.locks import locked
from bayesbias._core.plugins import title_of
from bayesbias._core.random import Seed
from bayesbias.auditing.artifacts import (
    COMPARISON_STEP,
    DEBIASING_STEP,
    EFFECTS_STEP,
    EMBEDDINGS_STEP,
    PAPER,
    PAPER_STEP,
    REPORT,
    REPORT_STEP,
    RESULTS,
    RESULTS_STEP,
    SCORES_STEP,
)
from bayesbias.auditing.audit_folder import (
    Folder,
    check_out,
    check_parts,
    check_unchanged,
    fingerprint,
    read_record,
)
from bayesbias.auditing.audit_inputs import (
    Given,
    Lists,
    Loading,
    Source,
    as_given,
    as_studies,
    embedding_hash,
    load_all,
    slugs,
)
from bayesbias.auditing.audit_memory import check_memory
from bayesbias.auditing.audit_options import FREQUENCY, AskedFrequencies, Model, Options
from bayesbias.auditing.audit_result import Audit
from bayesbias.auditing.audit_steps import CHAINS, Part, part_table
from bayesbias.auditing.conditions import Condition, Names, as_conditions, check_names
from bayesbias.auditing.embeddings_compared import compare_embeddings
from bayesbias.auditing.paper import paper_texts
from bayesbias.auditing.part_tasks import in_other_processes, run_parts
from bayesbias.auditing.report.report_page import report_page
from bayesbias.auditing.results_content import RESULTS_VERSION, results_content
from bayesbias.debias import DEBIASERS, Method, method_for
from bayesbias.debias_effects import CLASSICAL
from bayesbias.embeddings import Embedding, Matching, check_matching, described
from bayesbias.errors import BayesBiasError, DataError, SpecError
from bayesbias.metrics import MetricLike
from bayesbias.wordlists import Frequencies, Study, Unknown

_PACKAGES = (
    "bayesbias",
    "numpy",
    "scipy",
    "pandas",
    "xarray",
    "pymc",
    "pytensor",
    "arviz",
    "nutpie",
    "scikit-learn",
    "matplotlib",
)


def audit(
    embedding: Source | Iterable[Source | Given] | Mapping[str, Source] = "demo",
    study: Lists | Iterable[Lists] = "religion",
    *,
    models: Model | Iterable[Model] | None = None,
    out: str | PathLike[str] = DEFAULT_AUDIT_FOLDER,
    metrics: MetricLike | Iterable[MetricLike] = CLASSICAL,
    debias: str | Iterable[str] = (),
    confirm: bool = True,
    silhouettes: bool = True,
    frequencies: Frequencies = "rank",
    unknown_frequency: Unknown = "error",
    force: bool = False,
    draws: int = 1000,
    seed: Seed = 0,
    prob: float = 0.89,
    rope: float = 0.05,
    fail_if: str | Iterable[str] = (),
    matching: Matching | None = None,
    limit: int | None = None,
    trust: bool = False,
    n_jobs: int = 1,
    progress: bool = True,
) -> Audit:
    """Audit embeddings: distances, models, contrasts, metrics, word lists, figures, a report.

    All models are fitted and compared. Means and contrasts are from the model ``interaction``,
    whose intervals contain the true value as often as stated; it is not chosen by how well it
    predicts this table. Its exact draws are checked against its density and a second sampler.
    Everything is written to a folder of open files. A second call does only what is not done: a
    step is done again if what it depends on has changed, or if one of its files has; an interrupted
    audit goes on where it was.

    Parameters
    ----------
    embedding : Embedding, str, path-like, a list of them, or a mapping, default "demo"
        What to audit: embeddings, files, or names of known ones; with other names as a dict,
        ``{"small": "a.txt"}``. Of a file only the words of the studies and the first 50,000 are
        read, unless a metric or a method of debiasing needs all of them.
    study : Study, str, path-like or a list of them, default "religion"
        Protected words, stereotypes and controls: studies, files, or names of built-in ones.
    models : str, path-like, ModelSpec or a list of them, optional
        The models; by default all of the catalogue that are for one embedding.
    out : path-like, default "bayesbias-audit"
        The folder, by default that of the command line, in the working directory. It is made if it
        is not there, and stays. Each audit of other embeddings or studies needs its own.
    metrics : str, Metric class, Metric, or list of them
        The classical metrics; by default those of `before_after`.
    debias : str or list of str, default ()
        Debiasing methods (`DEBIASERS`) whose effects are measured. They learn from the pairs or
        sets published for a built-in study, else from the words in the same places of the groups.
    confirm : bool, default True
        Whether the exact draws of the lead model are checked.
    silhouettes : bool, default True
        Whether random subsets of the lists are measured, to see how robust they are.
    frequencies : str, path-like, corpus, DataFrame or mapping, default "rank"
        Where the frequencies of attributes are from, for contrasts at equal frequency, as in
        `distance_table`: ``"rank"`` (the order of each vocabulary), a corpus, a table or file of
        counts, ``"wordfreq"`` or ``"wordfreq:LANGUAGE"``. If the order of a vocabulary says nothing
        about frequency, there are no contrasts at equal frequency, and a warning says so.
    unknown_frequency : {"error", "lowest"}, default "error"
        What to do about an attribute without a frequency: refuse it, or count it as half the
        smallest frequency that the source knows.
    force : bool, default False
        Whether to do all again, and to replace the audit of something else in the same folder.
    draws : int, default 1000
        Draws of each of four chains of a fit; metrics have as many in all.
    seed : int or Generator, default 0
        Same seed, same result. Metrics use it instead of their own. The record has the number
        that a generator drew.
    prob : float, default 0.89
        Probability of the intervals.
    rope : float, default 0.05
        Differences of distances that are smaller do not matter.
    fail_if : str or list of str, default ()
        Conditions of a gate, as `check` has them: ``audit(...).gate`` says whether they hold.
    matching : Matching, optional
        How words are matched with each vocabulary, and how many of a list it may lack; by default
        as each embedding has it.
    limit : int, optional
        Read only the first rows of a file.
    trust : bool, default False
        Open gensim's pickles, which can run any code.
    n_jobs : int, default 1
        The number of processes, -1 for one per core: with several embeddings or studies, each
        process audits one of them at a time; with one, they measure metrics. Within `cluster`, the
        workers do this.
    progress : bool, default True
        Whether to show bars for long work, where they can be seen.

    Returns
    -------
    Audit
        The results, read from the folder when they are accessed.

    Raises
    ------
    SpecError
        If an argument is not what it should be, or the folder holds the audit of something else.
    NotFoundError
        If there is no such embedding, study or file of frequencies.
    MissingDependencyError
        If frequencies are to be those of wordfreq, and it is not installed.
    VocabularyError
        If an embedding lacks too many words of a study.
    DataError
        If the given frequencies lack attributes; if the folder is a file, holds other files, cannot
        be written to, or another audit is writing to it; if the machine does not have enough memory
        for a study of this size.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     result = bb.audit("demo", "religion", out=Path(folder) / "audit", models="hierarchical",
    ...                       metrics="weat_es", draws=100, confirm=False, silhouettes=False)
    ...     print(result)
    ...     print(result.summary().splitlines()[0])
    ...     print(result.report.name, result.report.is_file())
    <Audit of demo on religion, in ...audit>
    Religion in GloVe 6B 50d (demo): 12,187 words; 15 protected words; model hierarchical
    report.html True
    """
    options = Options.of(
        models=models,
        metrics=metrics,
        debias=debias,
        confirm=confirm,
        silhouettes=silhouettes,
        frequencies=AskedFrequencies.of(frequencies, unknown_frequency),
        draws=draws,
        seed=seed,
        prob=prob,
        rope=rope,
        n_jobs=n_jobs,
        progress=progress,
    )
    studies = as_studies(study)
    conditions = as_conditions(fail_if)
    check_names(conditions, [Names.of_study(lists) for lists in studies])
    methods = _methods(studies, options)
    given = as_given(embedding)
    path = _folder_path(out)
    bound = None if matching is None else check_matching(matching)
    how = Loading(options.whole, bound, limit, trust, progress)
    loaded = load_all(given, studies, how)
    pairs = [(emb, lists) for emb in loaded for lists in studies]
    names = [(emb.name, lists.name) for emb, lists in pairs]
    if not force:
        check_parts(path, names)
    tables = _tables(pairs, conditions, options)
    places = _places(names)
    hashes = {emb.name: embedding_hash(emb) for emb in loaded}
    record = {
        **_about_options(options, places, methods),
        "embeddings": _about_embeddings(given, loaded, hashes),
        "studies": _about_studies(studies),
    }
    make_folder(path)
    with locked(path):
        if not force:  # another audit may have come first
            check_parts(path, names)
        folder = Folder(path, record, force=force)
        parts = [
            Part(
                folder=folder,
                place=places[emb.name, lists.name],
                embedding=emb,
                embedding_hash=hashes[emb.name],
                study=lists,
                table=table,
                options=options,
                methods=methods[lists.name],
                warned=warned,
            )
            for (emb, lists), (table, warned) in zip(pairs, tables, strict=True)
        ]
        folder.announce(_doing(parts, studies))
        if in_other_processes(options, parts):
            run_parts(folder, parts, given, studies, how, force=force)
        _run(folder, parts, studies, conditions)
    return Audit(path)


def _tables(
    pairs: Sequence[tuple[Embedding, Study]], conditions: Sequence[Condition], options: Options
) -> list[tuple[pd.DataFrame, list[str]]]:
    """Return all tables, before the first model: an embedding may lack too many words.

    Conditions about words that an embedding lacks are refused, and tables beyond the memory.
    """
    tables = [part_table(emb, lists, options) for emb, lists in pairs]
    names = [
        Names.of_table(
            table,
            f"{embedding.name} on {study.name}",
            study,
            has_frequency=FREQUENCY in table,
        )
        for (embedding, study), (table, _) in zip(pairs, tables, strict=True)
    ]
    check_names(conditions, names)
    check_memory([table for table, _ in tables], options.models, CHAINS * options.draws)
    return tables


def _methods(studies: Sequence[Study], options: Options) -> dict[str, dict[str, Method]]:
    """Return the methods of debiasing as they are used for each study."""
    return {
        study.name: {name: method_for(name, study, options.seed) for name in options.debias}
        for study in studies
    }


def _folder_path(out: str | PathLike[str]) -> Path:
    if not isinstance(out, str | PathLike):
        raise SpecError(f"'out' is {out!r}; expected the name of a folder.")
    path = Path(out)
    check_out(path)
    return path


def _doing(parts: Sequence[Part], studies: Sequence[Study]) -> dict[str, str]:
    """Return what is done in each step, by its name in the record and in the order of `_run`."""
    several = len(parts) > 1
    titles = [f"{part.embedding.name} on {part.study.name}" if several else "" for part in parts]
    doing = {
        f"{part.place}{step.label(of)}": step.described(
            title_of(of, DEBIASERS) if step is DEBIASING_STEP else of, title
        )
        for part, title in zip(parts, titles, strict=True)
        for step, of in part.planned()
    }
    if len(parts) > len(studies):
        names = [study.name for study in studies]
        doing |= {EMBEDDINGS_STEP.label(name): EMBEDDINGS_STEP.described(name) for name in names}
    for part, title in zip(parts, titles, strict=True):
        doing[f"{part.place}{PAPER_STEP.label()}"] = PAPER_STEP.described(part=title)
    return doing | {step.label(): step.described() for step in (RESULTS_STEP, REPORT_STEP)}


def _run(
    folder: Folder,
    parts: Sequence[Part],
    studies: Sequence[Study],
    conditions: Sequence[Condition],
) -> None:
    for part in parts:
        part.run()
        part.loaded_fits.clear()  # the next ones need room
    if len(parts) > len(studies):
        files = slugs([study.name for study in studies])
        for study in studies:
            of_study = [part for part in parts if part.study is study]
            compare_embeddings(folder, files[study.name], of_study)
    _write_paper(folder, parts)
    _write_results(folder, parts, conditions)
    folder.report(lambda path: _write_report(folder.path, path))


def _write_paper(folder: Folder, parts: Sequence[Part]) -> None:
    """Write the tables and texts for a paper, of each part."""
    written = Audit(folder.path).parts
    for part in parts:
        inputs = {
            "embedding": [part.embedding.name, len(part.embedding), part.embedding.dim],
            "steps": [part.key(step) for step in (COMPARISON_STEP, EFFECTS_STEP, SCORES_STEP)],
            "options": part.options.to_dict(),
            "python": platform.python_version(),
            "versions": _versions(),
        }

        def make(*paths: Path, part: Part = part) -> None:
            of = written[part.embedding.name, part.study.name]
            PAPER_STEP.write({PAPER: paper_texts(of)}, *paths)

        paths = [f"{part.place}{path}" for path in PAPER_STEP.paths()]
        folder.step(f"{part.place}{PAPER_STEP.label()}", inputs, paths, make)


def _write_results(folder: Folder, parts: Sequence[Part], conditions: Sequence[Condition]) -> None:
    """Write the main numbers, and what the gate says."""
    used = (COMPARISON_STEP, EFFECTS_STEP, SCORES_STEP)
    inputs = {
        "schema": RESULTS_VERSION,
        "parts": [
            [
                *(part.embedding.name, part.embedding_hash, part.study.name),
                *(part.key(step) for step in used),
            ]
            for part in parts
        ],
        "python": platform.python_version(),
        "versions": _versions(),
        "conditions": [condition.text for condition in conditions],
    }

    def make(*paths: Path) -> None:
        RESULTS_STEP.write({RESULTS: results_content(Audit(folder.path), conditions)}, *paths)

    folder.step(RESULTS_STEP.label(), inputs, RESULTS_STEP.paths(), make)


def write_report(folder: str | PathLike[str], out: str | PathLike[str] | None = None) -> Path:
    """Write the report of an audit again, from the files of its folder alone.

    Parameters
    ----------
    folder : path-like
        The folder of the audit.
    out : path-like, optional
        Where to; by default ``report.html`` in the folder.
    """
    path = Path(folder)
    if out is not None:
        check_unchanged(path)
        _write_report(path, Path(out))
        return Path(out)
    read_record(path)  # before a file is made there
    with locked(path):
        Folder.reopen(path).report(lambda target: _write_report(path, target))
    return Audit(path).report


def _write_report(folder: Path, target: Path) -> None:
    try:
        page = report_page(Audit(folder))
    except BayesBiasError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as err:
        # Each file can be read, but they are not those of one audit.
        raise DataError(
            f"{folder}: no report can be made of these files ({type(err).__name__}: {err}); run "
            "the audit again."
        ) from err
    REPORT.write(page, target)


def _places(names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return where in the folder the files of each part are; of a single one, right there."""
    if len(names) == 1:
        return {names[0]: ""}
    embeddings = slugs(list(dict.fromkeys(embedding for embedding, _ in names)))
    studies = slugs(list(dict.fromkeys(study for _, study in names)))
    return {(one, other): f"{embeddings[one]}/{studies[other]}/" for one, other in names}


def _about_options(
    options: Options,
    places: Mapping[tuple[str, str], str],
    methods: Mapping[str, Mapping[str, Method]],
) -> dict[str, Any]:
    """Return what the record says of the software, the options and the parts."""
    return {
        "python": platform.python_version(),
        "versions": _versions(),
        "seed": options.seed,
        "options": options.to_dict(),
        "models": {spec.name: spec.to_dict() for spec in options.models},
        "parts": [
            {"embedding": embedding, "study": study, "folder": place}
            for (embedding, study), place in places.items()
        ],
        "debias": {
            study: {name: method.described for name, method in of_study.items()}
            for study, of_study in methods.items()
        },
    }


def _about_embeddings(
    given: Sequence[Given], loaded: Sequence[Embedding], hashes: Mapping[str, str]
) -> dict[str, Any]:
    return {
        embedding.name: {
            "source": one.label,
            "words": len(embedding),
            "dimensions": embedding.dim,
            "matching": described(embedding.matching),
            "sha256": hashes[embedding.name],
        }
        for one, embedding in zip(given, loaded, strict=True)
    }


def _about_studies(studies: Sequence[Study]) -> dict[str, Any]:
    return {
        study.name: {"sha256": fingerprint(study.to_dict()), "lists": study.to_dict()}
        for study in studies
    }


def _versions() -> dict[str, str]:
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return versions
