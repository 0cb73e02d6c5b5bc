"""The commands `bayesbias audit` and `bayesbias report`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias._core.constants import DEFAULT_AUDIT_FOLDER
from bayesbias.cli.common import (
    check_new,
    cluster_option,
    fallback_option,
    force_option,
    frequency_options,
    jobs_option,
    loading_options,
    matching_option_values,
    metric_option,
    prob_option,
    quiet_option,
    say,
    seed_option,
    threshold_option,
)
from bayesbias.cli.completion import (
    complete_embeddings,
    complete_methods,
    complete_models,
    complete_studies,
)

if TYPE_CHECKING:
    from bayesbias.auditing import Check, Given

_WIDTH = 100


@click.command(
    short_help="Audit embeddings, and write a report.",
    epilog="Example: bayesbias audit glove.txt word2vec.bin --study religion --study gender "
    "--debias leace --out audit",
)
@click.argument(
    "embeddings", nargs=-1, metavar="[EMBEDDING]...", shell_complete=complete_embeddings
)
@click.option(
    "-s",
    "--study",
    "studies",
    shell_complete=complete_studies,
    multiple=True,
    default=("religion",),
    show_default=True,
    help="Study, name or file; may be given several times.",
)
@click.option(
    "-o",
    "--out",
    default=DEFAULT_AUDIT_FOLDER,
    show_default=True,
    metavar="FOLDER",
    help="Where everything is written to.",
)
@click.option(
    "--model",
    "models",
    shell_complete=complete_models,
    multiple=True,
    help="Model, name or TOML file; may be given several times. By default all for one embedding.",
)
@metric_option("Metric; may be given several times. By default all that fit a study.")
@click.option(
    "--debias",
    shell_complete=complete_methods,
    multiple=True,
    metavar="METHOD",
    help="Measure the effects of a debiasing method (bayesbias debias --list names them); may be "
    "given several times.",
)
@click.option(
    "--confirm/--no-confirm",
    default=True,
    show_default=True,
    help="Check the draws of the lead model: compare the density that the exact engine draws from "
    "with the model's, and draw the scales from it again with HMC.",
)
@click.option(
    "--silhouettes/--no-silhouettes",
    default=True,
    show_default=True,
    help="Measure random subsets of the word lists, to see how robust they are.",
)
@frequency_options("frequencies are from, for contrasts at equal frequency of attributes")
@click.option(
    "--force",
    is_flag=True,
    help="Repeat all steps, and replace what is in the folder and the file of --junit.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Draws of each of four chains.",
)
@seed_option
@prob_option
@click.option(
    "--rope",
    type=click.FloatRange(min=0),
    default=0.05,
    show_default=True,
    help="Differences of distances smaller than this do not matter.",
)
@click.option(
    "--fail-if",
    "fail_if",
    multiple=True,
    metavar="CONDITION",
    help="Exit with code 1 if this holds, such as 'associated - different < -0.05 with P > 0.95', "
    "or if the draws are too poor to decide; neutral is another name for none. 'at equal "
    "frequency' may stand before 'with'; 'for any group', 'for any word', 'for group NAME' or 'for "
    "word NAME' may follow. May be given several times.",
)
@click.option(
    "--junit",
    metavar="FILE",
    help="Where to write the result of --fail-if as JUnit XML.",
)
@click.option(
    "--model-card",
    "card",
    metavar="FILE",
    help="Model card (README.md) to write a section on bias to; the rest of it stays.",
)
@threshold_option
@jobs_option
@cluster_option
@fallback_option
@loading_options
@quiet_option
def audit(
    embeddings: tuple[str, ...],
    studies: tuple[str, ...],
    out: str,
    models: tuple[str, ...],
    metrics: tuple[str, ...],
    junit: str | None,
    card: str | None,
    fallbacks: tuple[str, ...],
    threshold: float,
    jobs: int,
    quiet: bool,
    **options: Any,
) -> None:
    """Audit embeddings: distances, models, contrasts, metrics, word lists, figures, a report.

    EMBEDDING is a file of word vectors or a name, by default demo; NAME=EMBEDDING gives it another
    name. If you repeat the command, it runs only the steps that are not finished, so that an
    interrupted audit resumes.
    """
    from bayesbias._core.files import check_folder
    from bayesbias.auditing import audit as run
    from bayesbias.auditing import model_card

    _check_junit(junit, options["fail_if"], options["force"])
    if card is not None:
        check_folder(Path(card))
    if metrics:
        options["metrics"] = metrics
    try:
        with _steps_told(quiet):
            result = run(
                [_given(text) for text in embeddings or ("demo",)],
                studies,
                out=out,
                models=models or None,
                matching=matching_option_values(fallbacks, threshold),
                n_jobs=jobs,
                progress=not quiet,
                **options,
            )
    except KeyboardInterrupt:
        say("Finished steps are kept; run the same command again to resume.", quiet)
        raise
    for paragraph in result.summary().split("\n\n"):
        click.echo(click.wrap_text(paragraph, _WIDTH) + "\n")
    click.echo(f"Report: {result.report}")
    if card is not None:
        model_card(result, card)
        say(f"Model card: {card}", quiet)
    if result.gate is not None:
        _close_gate(result.gate, junit)


def _check_junit(path: str | None, conditions: tuple[str, ...], force: bool) -> None:
    """Refuse a file that would say nothing, or cannot be written, before long work."""
    from bayesbias._core.files import check_folder

    if path is None:
        return
    if not conditions:
        raise click.UsageError("--junit needs a condition to write about; add --fail-if.")
    check_folder(Path(path))
    # The same command again goes on with its folder, and writes its conditions anew.
    check_new(force or _is_own_junit(Path(path)), path)


def _is_own_junit(path: Path) -> bool:
    """Return whether a file was written by --junit."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ValueError, ElementTree.ParseError):
        return False
    return root.tag == "testsuites" and root.get("name") == "bayesbias"


def _close_gate(gate: Check, junit: str | None) -> None:
    """Write and print what the conditions gave, and exit with code 1 unless all is well."""
    from bayesbias._core.files import atomic

    if junit is not None:
        with atomic(Path(junit)) as (temporary,):
            temporary.write_text(gate.to_junit(), "utf-8", newline="\n")
    for line in gate.failures():
        click.echo(f"Failed: {line}", err=True)
    for line in gate.doubts:
        click.echo(f"Cannot tell: {line}", err=True)
    if not gate.passed:
        click.get_current_context().exit(1)


@click.command(
    short_help="Write the report of an audit again.",
    epilog="Example: bayesbias report bayesbias-audit --out religion.html",
)
@click.argument("folder", metavar="FOLDER")
@click.option("-o", "--out", metavar="FILE", help="Where to; by default report.html in the folder.")
@force_option
@quiet_option
def report(folder: str, out: str | None, force: bool, quiet: bool) -> None:
    """Write the report of an audit again, from the files in FOLDER alone."""
    from bayesbias.auditing import write_report

    # The report in the folder of the audit is what this command writes again.
    own = Path(folder, "report.html")
    if out is not None and Path(out).resolve() != own.resolve():
        check_new(force, out)
    path = write_report(folder, out)
    say(f"written to {path}", quiet)


class _Echo(logging.Handler):
    """Prints what is logged, as all that a command says to people."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        click.echo(self.format(record), err=True)


@contextmanager
def _steps_told(quiet: bool) -> Iterator[None]:
    """Print each step that is done, with its time."""
    logger = logging.getLogger("bayesbias.auditing")
    handler, level = _Echo(), logger.level
    if quiet:
        yield
        return
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False  # or -v would print them twice
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = True


def _given(text: str) -> Given:
    """Read EMBEDDING or NAME=EMBEDDING."""
    from bayesbias.auditing import Given

    name, equals, source = text.partition("=")
    if equals and not Path(text).exists():
        return Given(name, source)
    return Given(None, text)
