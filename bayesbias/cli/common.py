"""Options and output that several commands share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbias.constants import DEFAULT_FALLBACKS

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.embeddings import Embedding
    from bayesbias.words import Query, Study

F = TypeVar("F", bound=Callable[..., Any])


def quiet_option(command: F) -> F:
    """Add --quiet, which turns progress bars and warnings off."""
    return click.option(
        "-q", "--quiet", is_flag=True, callback=_hush, help="No progress bar, no warnings."
    )(command)


def format_option(command: F) -> F:
    """Add --format for what is printed."""
    return click.option(
        "--format",
        "output",
        type=click.Choice(["table", "csv", "json"]),
        default="table",
        show_default=True,
        help="How to print the result.",
    )(command)


def loading_options(command: F) -> F:
    """Add the options of reading embedding files."""
    for option in (
        click.option(
            "--trust",
            is_flag=True,
            help="Open gensim pickles, which can run any code: only files whose source you trust.",
        ),
        click.option("--limit", type=int, metavar="N", help="Read only the first N rows."),
    ):
        command = option(command)
    return command


def subwords_option(command: F) -> F:
    """Add --subwords, for commands that know which words they need."""
    return click.option(
        "--subwords",
        is_flag=True,
        help="Compose words that a fastText .bin file lacks from their parts.",
    )(command)


def fallback_option(command: F) -> F:
    """Add --fallback, which can be given several times."""
    return click.option(
        "--fallback",
        "fallbacks",
        multiple=True,
        metavar="WAY",
        default=DEFAULT_FALLBACKS,
        show_default=True,
        help="Spelling to try for a word: exact, lower, title, upper, strip_accents, prefix:/c/en/ "
        "(any prefix); may be given several times, in order.",
    )(command)


def _hush(context: click.Context, option: click.Parameter, value: bool) -> bool:
    if value:
        import warnings

        warnings.simplefilter("ignore")
    return value


def load_embeddings(
    sources: Iterable[str],
    lists: Study | Query | None = None,
    *,
    fallbacks: tuple[str, ...] = DEFAULT_FALLBACKS,
    limit: int | None = None,
    subwords: bool = False,
    trust: bool = False,
    quiet: bool = False,
) -> list[Embedding]:
    """Load each embedding, given as SOURCE or NAME=SOURCE; only the words of the lists, if any."""
    from pathlib import Path

    from bayesbias.embeddings import load_embedding

    wanted = None
    if lists is not None:
        wanted = [word for words in lists.word_sets().values() for word in words]
    loaded = []
    for source in sources:
        name, equals, path = source.partition("=")
        named = bool(equals) and not Path(source).exists()
        loaded.append(
            load_embedding(
                path if named else source,
                name if named else None,
                words=wanted,
                fallbacks=fallbacks,
                limit=limit,
                subwords=subwords,
                trust=trust,
                progress=not quiet,
            )
        )
    return loaded


def say(message: str, quiet: bool) -> None:
    """Tell a person what was done, on standard error."""
    if not quiet:
        click.echo(message, err=True)


def print_frame(frame: pd.DataFrame, output: str, digits: int = 3) -> None:
    """Print a frame to standard output: for reading, rounded, or for programs, in full."""
    if output == "csv":
        # Only columns of objects can hold lists; the others are left as they are.
        flat = frame.copy()
        for name in frame.columns:
            if frame[name].dtype == object:
                flat[name] = frame[name].map(_flat)
        click.echo(flat.to_csv(index=False), nl=False)
    elif output == "json":
        records = [
            {key: None if value != value else value for key, value in record.items()}
            for record in frame.to_dict("records")
        ]
        click.echo(json.dumps(records, ensure_ascii=False, indent=2))
    else:
        _print_rich(frame, digits)


def _flat(value: object) -> object:
    return "; ".join(map(str, value)) if isinstance(value, list) else value


def _print_rich(frame: pd.DataFrame, digits: int) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    # In a pipe lines are not broken to the width of a screen that is not there.
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 200)
    printed = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, dtype in frame.dtypes.items():
        right = dtype.kind in "fiu"
        printed.add_column(str(name).replace("_", " "), justify="right" if right else "left")
    for row in frame.itertuples(index=False):
        printed.add_row(*(_cell(value, digits) for value in row))
    console.print(printed, highlight=False)


def _cell(value: object, digits: int) -> str:
    from rich.markup import escape

    if isinstance(value, float):
        if value != value:
            return "–"
        return f"{value:.{digits}f}"
    if isinstance(value, list):
        return escape(", ".join(map(str, value[:6])) + (f" (+{len(value) - 6})" * (len(value) > 6)))
    return escape(f"{value:,}" if isinstance(value, int) else str(value))
