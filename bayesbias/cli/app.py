"""The group of all commands, and what happens when one fails."""

from __future__ import annotations

import io
import logging
import os
import sys
import warnings

import click
from click.shell_completion import shell_complete

from bayesbias import __version__
from bayesbias.cli.audit import audit, report
from bayesbias.cli.debias import before_after, debias
from bayesbias.cli.doctor import doctor
from bayesbias.cli.download import download
from bayesbias.cli.embedding import embedding
from bayesbias.cli.fit import compare, fit
from bayesbias.cli.messages import in_options
from bayesbias.cli.metrics import metrics, rank
from bayesbias.cli.pmi_bias import pmi_bias
from bayesbias.cli.silhouette import silhouette
from bayesbias.cli.table import table
from bayesbias.cli.words import words
from bayesbias.errors import BayesBiasError, BayesBiasWarning

#: The variable by which a shell asks for completions.
_COMPLETE = "_BAYESBIAS_COMPLETE"


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: bayesbias table demo --study religion --out table.csv",
)
@click.version_option(__version__, prog_name="bayesbias")
@click.option("-v", "--verbose", count=True, help="Show what is done; -vv also shows tracebacks.")
def app(verbose: int) -> None:
    """Measure social bias in word embeddings, with its uncertainty."""
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logger = logging.getLogger("bayesbias")
    logger.setLevel(level)
    if not logger.handlers:
        logger.addHandler(logging.StreamHandler())


for _command in (
    audit,
    report,
    table,
    fit,
    compare,
    metrics,
    rank,
    pmi_bias,
    silhouette,
    debias,
    before_after,
    words,
    embedding,
    download,
    doctor,
):
    app.add_command(_command)


def _complete_in_shell() -> None:
    """Answer the shell, if it is the shell that asks for completions."""
    instruction = os.environ.get(_COMPLETE)
    if instruction:
        sys.exit(shell_complete(app, {}, "bayesbias", _COMPLETE, instruction))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit 0 on success, 2 on bad input, 130 when interrupted.

    `audit` exits 1 if a condition of ``--fail-if`` holds, or if nothing can be told of it.

    Parameters
    ----------
    arguments : list of str, optional
        The arguments; those of the process by default.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a console without Unicode is no reason to fail
            stream.reconfigure(errors="replace")
    _complete_in_shell()
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        with warnings.catch_warnings(), app.make_context("bayesbias", given) as context:
            warnings.simplefilter("always", BayesBiasWarning)
            # A warning is one line for a person, without the place in the code.
            warnings.showwarning = lambda message, *_: click.echo(
                f"Warning: {in_options(str(message), app, given)}", err=True
            )
            app.invoke(context)
            sys.stdout.flush()
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as err:
        err.show()
        sys.exit(err.exit_code)
    except BayesBiasError as err:
        if logging.getLogger("bayesbias").isEnabledFor(logging.DEBUG):
            raise
        click.echo(f"Error: {in_options(str(err), app, given)}", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough; what is left in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as err:
        click.echo(f"Error: {err}", err=True)
        sys.exit(2)
