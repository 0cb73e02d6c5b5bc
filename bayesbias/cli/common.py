"""Options and output that several commands share."""

from __future__ import annotations

import csv
import json
import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from bayesbias._core.constants import COVARIATES, DEFAULT_FALLBACKS, LOST_VOCABULARY_THRESHOLD
from bayesbias._core.wording import counted
from bayesbias.cli.completion import complete_metrics, complete_studies

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from bayesbias.embeddings import Embedding, Matching
    from bayesbias.wordlists import Query, Study

F = TypeVar("F", bound=Callable[..., Any])


def quiet_option(command: F) -> F:
    """Add --quiet, which turns progress bars and warnings off."""
    return click.option(
        "-q", "--quiet", is_flag=True, callback=_hush, help="No steps, progress bars or warnings."
    )(command)


#: How results are printed: for reading in a terminal, for programs in full, or for documents.
FORMATS = ("text", "csv", "json", "markdown", "latex", "html")


class _Format(click.Choice):  # type: ignore[type-arg]  # no generic class before click 8.2
    """A format by its name; ``table`` is another name of ``text``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(super().convert("text" if str(value).lower() == "table" else value, param, ctx))


def jobs_option(command: F) -> F:
    """Add --jobs, the number of processes."""
    return click.option(
        "-j",
        "--jobs",
        type=int,
        default=1,
        show_default=True,
        callback=_check_jobs,
        help="Processes; -1 for all cores.",
    )(command)


def cluster_option(command: F) -> F:
    """Add --cluster, the Dask cluster that the command computes on."""

    @wraps(command)
    def on_cluster(*arguments: Any, cluster: str | None, quiet: bool, **options: Any) -> Any:
        if cluster is None:
            return command(*arguments, quiet=quiet, **options)
        from bayesbias.parallel import cluster as connect

        if not logging.getLogger("bayesbias").isEnabledFor(logging.INFO):
            # What goes wrong is said once, as an error of this package.
            logging.getLogger("distributed").setLevel(logging.CRITICAL)
        with connect(cluster) as connected:
            say(f"{counted(connected.n_workers, 'worker')}: {connected.dashboard}", quiet)
            return command(*arguments, quiet=quiet, **options)

    return click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Compute on the Dask cluster with this scheduler, such as tcp://host:8786, or the "
        "file of the scheduler; instead of --jobs.",
    )(on_cluster)  # type: ignore[return-value]


def _check_jobs(context: click.Context, option: click.Parameter, value: int) -> int:
    if value == 0:
        raise click.BadParameter(
            "0 is not a number of processes; give 1 or more, or -1 for all cores.", context, option
        )
    return value


def seed_option(command: F) -> F:
    """Add --seed."""
    return click.option(
        "--seed",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Same seed, same result.",
    )(command)


def prob_option(command: F) -> F:
    """Add --prob, the probability of intervals."""
    return click.option(
        "--prob",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        default=0.89,
        show_default=True,
        help="Probability of intervals.",
    )(command)


def frequency_options(what: str) -> Callable[[F], F]:
    """Add where frequencies are from: --frequencies and --unknown-frequency; `what` is from it."""

    def added(command: F) -> F:
        command = click.option(
            "--unknown-frequency",
            type=click.Choice(["error", "lowest"], case_sensitive=False),
            default="error",
            show_default=True,
            help="Refuse words without a frequency (error), or count them as half the smallest "
            "one (lowest).",
        )(command)
        return click.option(
            "--frequencies",
            default="rank",
            show_default=True,
            metavar="SOURCE",
            help=f"Where {what}: rank (the order of the vocabulary, most frequent first), "
            "wordfreq, wordfreq:LANGUAGE, or a .csv or .tsv file with the columns word and count.",
        )(command)

    return added


def covariate_options(command: F) -> F:
    """Add the covariates of words: --covariate, --frequencies and --unknown-frequency."""
    return click.option(
        "--covariate",
        "covariates",
        multiple=True,
        type=click.Choice(COVARIATES, case_sensitive=False),
        help="A property of the attribute or the protected word to add as a covariate; may be "
        "given several times.",
    )(frequency_options("log_frequency is from")(command))


def corpus_options(command: F) -> F:
    """Add the options of reading a corpus: --unit, --field and --encoding."""
    for option in (
        click.option(
            "--encoding",
            default="utf-8",
            show_default=True,
            help="How the files of the corpus are encoded, such as latin-1.",
        ),
        click.option(
            "--field",
            metavar="NAME",
            help="Read JSON lines, and take the text of the corpus from this field.",
        ),
        click.option(
            "--unit",
            type=click.Choice(["line", "paragraph"], case_sensitive=False),
            default="line",
            show_default=True,
            help="What a document of the corpus is; paragraphs have blank lines between them.",
        ),
    ):
        command = option(command)
    return command


def min_count_option(command: F) -> F:
    """Add --min-count, for commands that count the words of a corpus."""
    return click.option(
        "--min-count",
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        help="Leave out words that occur less often.",
    )(command)


def corpus_source(paths: tuple[str, ...]) -> str | tuple[str, ...]:
    """Return what was given as a corpus; one alone may also be a name."""
    return paths[0] if len(paths) == 1 else paths


def threshold_option(command: F) -> F:
    """Add --threshold, the share of words that may be missing."""
    return click.option(
        "--threshold",
        type=click.FloatRange(0, 1),
        default=LOST_VOCABULARY_THRESHOLD,
        show_default=True,
        help="Share of any word set that an embedding may lack.",
    )(command)


def force_option(command: F) -> F:
    """Add --force, for commands that write files."""
    return click.option(
        "--force", is_flag=True, help="Replace files that exist already; by default an error."
    )(command)


def check_new(force: bool, *paths: str | PathLike[str] | None) -> None:
    """Refuse to replace files that exist already, unless that is asked for."""
    from bayesbias.errors import DataError

    for path in paths:
        # A link is replaced as well, also one that leads nowhere.
        if path is not None and not force and os.path.lexists(path):
            raise DataError(f"{path} exists already; give another name, or --force to replace it.")


def study_option(command: F) -> F:
    """Add --study, for commands that take one."""
    return click.option(
        "-s",
        "--study",
        shell_complete=complete_studies,
        default="religion",
        show_default=True,
        help="Study: a name (bayesbias words list shows them) or a file.",
    )(command)


def metric_option(help_text: str) -> Callable[[F], F]:
    """Return what adds --metric, which can be given several times."""
    return click.option(
        "-m", "--metric", "metrics", multiple=True, help=help_text, shell_complete=complete_metrics
    )


#: The help of commands that measure by one metric if none is named.
METRIC_HELP = (
    "Name of a metric (bayesbias metrics --list shows them); may be given several times. By "
    "default weat_es."
)


def format_option(command: F) -> F:
    """Add --format for what is printed."""
    return click.option(
        "--format",
        "output",
        type=_Format(FORMATS, case_sensitive=False),
        default="text",
        show_default=True,
        help="How to print the result; csv and json are not rounded, latex is for the package "
        "booktabs.",
    )(command)


def loading_options(command: F) -> F:
    """Add the options of reading embedding files."""
    for option in (
        click.option(
            "--trust",
            is_flag=True,
            help="Open gensim pickles, which can run any code: only files whose source you trust.",
        ),
        click.option(
            "--limit", type=click.IntRange(min=1), metavar="N", help="Read only the first N rows."
        ),
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
        metavar="FORM",
        default=DEFAULT_FALLBACKS,
        show_default=True,
        help="Form of a word to try: exact, lower, title, upper, strip_accents, prefix:/c/en/ "
        "(any prefix); may be given several times, in order.",
    )(command)


def matching_option_values(
    fallbacks: tuple[str, ...], threshold: float | None = None
) -> Matching | None:
    """Return the matching that the options ask for; None if they have their defaults."""
    if fallbacks in ((), DEFAULT_FALLBACKS) and threshold in (None, LOST_VOCABULARY_THRESHOLD):
        return None
    from bayesbias.embeddings import Matching

    return Matching(
        fallbacks or DEFAULT_FALLBACKS,
        LOST_VOCABULARY_THRESHOLD if threshold is None else threshold,
    )


def _hush(context: click.Context, option: click.Parameter, value: bool) -> bool:
    if value:
        import warnings

        warnings.simplefilter("ignore")
    return value


def load_embeddings(
    sources: Iterable[str],
    lists: Study | Query | Iterable[Query] | None = None,
    *,
    first: int = 0,
    matching: Matching | None = None,
    limit: int | None = None,
    subwords: bool = False,
    trust: bool = False,
    quiet: bool = False,
) -> list[Embedding]:
    """Load each embedding, given as SOURCE or NAME=SOURCE.

    With lists, only their words, and the `first` words of a file beside them.
    """
    from pathlib import Path

    from bayesbias.embeddings import load_embedding, with_first_words

    wanted = None
    if lists is not None:
        several = lists if isinstance(lists, Iterable) else [lists]
        wanted = [word for item in several for words in item.word_sets().values() for word in words]
    loaded = []
    for source in sources:
        name, equals, path = source.partition("=")
        named = bool(equals) and not Path(source).exists()
        where = path if named else source
        options: dict[str, Any] = {"matching": matching, "trust": trust, "progress": not quiet}
        embedding = load_embedding(
            where,
            name if named else None,
            words=wanted,
            limit=limit,
            subwords=subwords,
            **options,
        )
        if wanted is not None and first:
            number = first if limit is None else min(first, limit)
            head = load_embedding(where, limit=number, **options)
            embedding = with_first_words(embedding, head)
        loaded.append(embedding)
    return loaded


def parse_options(options: tuple[str, ...]) -> dict[str, object]:
    """Read NAME=VALUE; a value is a number, true or false, or text."""
    parsed: dict[str, object] = {}
    for text in options:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--option {text}: expected NAME=VALUE, such as distance=cos.")
        # True and False too, or they would be text, and any text counts as true.
        spelling = value.lower() if value.lower() in ("true", "false") else value
        try:
            parsed[name] = json.loads(spelling)
        except json.JSONDecodeError:
            parsed[name] = value
    return parsed


def say(message: str, quiet: bool) -> None:
    """Tell a person what was done, on standard error."""
    if not quiet:
        click.echo(message, err=True)


def say_written(rows: int, out: object, quiet: bool) -> None:
    """Tell a person how many rows were written, and where to."""
    from bayesbias._core.wording import counted

    say(f"{counted(rows, 'row')} written to {out}", quiet)


def is_for_programs(output: str) -> bool:
    """Tell whether a format holds everything in full, and not what a person wants to read."""
    return output in ("csv", "json")


def print_frame(
    frame: pd.DataFrame,
    output: str,
    digits: int = 3,
    *,
    caption: str = "",
    decimals: Mapping[str, int] | None = None,
    by_row: bool = False,
) -> None:
    """Print a frame to standard output.

    Parameters
    ----------
    frame : DataFrame
        The table; its index is not printed.
    output : str
        One of `FORMATS`.
    digits : int, default 3
        Digits after the point of the format text.
    caption, decimals, by_row
        Of documents, as in `render`.
    """
    if output == "text":
        _print_rich(_header(frame), frame.itertuples(index=False), digits)
    else:
        text = render(frame, output, caption=caption, decimals=decimals, by_row=by_row)
        click.echo(text, nl=False)


def print_rounded(frame: pd.DataFrame) -> None:
    """Print a frame for reading, each row rounded by its own interval, which stands beside it."""
    from bayesbias._core.rounded_table import rounded_table

    rounded = rounded_table(frame, by_row=True)
    header = dict(zip(rounded.headings, rounded.is_number, strict=True))
    _print_rich(header, rounded.rows, 0, unbroken=True)


def print_rows(rows: Sequence[Mapping[str, str | int]], output: str, *, caption: str = "") -> None:
    """Print rows of the same columns; pandas takes long to import, and only documents need it."""
    header = {name: isinstance(value, int) for name, value in rows[0].items()}
    cells = [tuple(row.values()) for row in rows]
    if output == "text":
        _print_rich(header, cells, 0)
    elif output == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([tuple(header), *cells])
    elif output == "json":
        click.echo(json.dumps(list(rows), ensure_ascii=False, indent=2))
    else:
        import pandas as pd

        print_frame(pd.DataFrame(rows), output, caption=caption)


def render(
    frame: pd.DataFrame,
    output: str,
    *,
    caption: str = "",
    decimals: Mapping[str, int] | None = None,
    by_row: bool = False,
) -> str:
    """Return a frame in a format other than text.

    Parameters
    ----------
    frame : DataFrame
        The table; its index is left out.
    output : {"csv", "json", "markdown", "latex", "html"}
        CSV and JSON have all digits. In the others numbers are rounded by their intervals, which
        stand beside them.
    caption : str, default ""
        The caption; in Markdown a line below the table.
    decimals : mapping of str to int, optional
        Digits after the point of columns without an interval.
    by_row : bool, default False
        Whether each row is rounded by its own interval, as rows are of different measures.

    Returns
    -------
    str
        The text, with a line break at its end.
    """
    if output == "csv":
        # Only columns of objects can hold lists; the others are left as they are.
        flat = frame.copy()
        for name in frame.columns:
            if frame[name].dtype == object:
                flat[name] = frame[name].map(_flat)
        return str(flat.to_csv(index=False))
    if output == "json":
        return json.dumps(records(frame), ensure_ascii=False, indent=2) + "\n"
    if output == "latex":
        from bayesbias._core.latex import frame_to_latex

        return frame_to_latex(frame, caption, decimals=decimals, by_row=by_row)
    from bayesbias._core.rounded_table import rounded_table, to_html, to_markdown

    rounded = rounded_table(frame, decimals=decimals, by_row=by_row)
    if output == "html":
        return to_html(rounded, caption)
    below = f"\n{caption}\n" if caption else ""
    return to_markdown(rounded) + below


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame for JSON, which has no NaN."""
    return [
        {str(key): None if value != value else value for key, value in record.items()}
        for record in frame.to_dict("records")
    ]


#: What the suffix of a file says about its format.
_SUFFIXES = {
    ".csv": "csv",
    ".json": "json",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
}
#: The same for the help of commands.
SUFFIXES = ".csv, .json, .md, .tex or .html"


def frame_format(path: str) -> str:
    """Return the format of a file to be written, and refuse it before long work if it cannot be."""
    from pathlib import Path

    from bayesbias._core.files import check_folder
    from bayesbias._core.wording import quoted
    from bayesbias.errors import SpecError

    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise SpecError(f"{path}: the suffix is {suffix!r}; expected one of {quoted(_SUFFIXES)}.")
    check_folder(Path(path))
    return _SUFFIXES[suffix]


def write_frame(frame: pd.DataFrame, path: str, *, caption: str = "", by_row: bool = False) -> None:
    """Write a frame to a file, in the format of its suffix."""
    from pathlib import Path

    from bayesbias._core.files import atomic

    text = render(frame, frame_format(path), caption=caption, by_row=by_row)
    with atomic(Path(path)) as (temporary,):
        temporary.write_text(text, "utf-8")


# Numbers below this are printed as 0.
_ROUNDING = 1e-6
#: Formats of figures.
_FIGURES = (".png", ".svg", ".pdf")


def check_figure(path: str) -> None:
    """Refuse a figure that cannot be written, before long work."""
    from pathlib import Path

    from bayesbias._core.files import check_folder
    from bayesbias._core.wording import quoted
    from bayesbias.errors import SpecError

    suffix = Path(path).suffix.lower()
    if suffix not in _FIGURES:
        raise SpecError(f"{path}: the suffix is {suffix!r}; expected one of {quoted(_FIGURES)}.")
    check_folder(Path(path))


def save_figure(axes: Axes, path: str) -> None:
    """Write the figure of the axes to a file."""
    from pathlib import Path

    from bayesbias._core.files import atomic

    with atomic(Path(path)) as (temporary,):
        axes.figure.savefig(temporary, dpi=200)  # type: ignore[union-attr]


def _flat(value: object) -> object:
    return "; ".join(map(str, value)) if isinstance(value, list) else value


def _header(frame: pd.DataFrame) -> dict[str, bool]:
    """Return the names of the columns, and whether they hold numbers."""
    return {str(name): dtype.kind in "fiu" for name, dtype in frame.dtypes.items()}


def _print_rich(
    header: Mapping[str, bool],
    rows: Iterable[Iterable[object]],
    digits: int,
    *,
    unbroken: bool = False,
) -> None:
    """Print a table; `unbroken` numbers, which stand beside their intervals, are on one line."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    # In a pipe lines are not broken to the width of a screen that is not there.
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 200)
    printed = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, right in header.items():
        side: Literal["left", "right"] = "right" if right else "left"
        printed.add_column(name.replace("_", " "), justify=side, no_wrap=right and unbroken)
    for row in rows:
        printed.add_row(*(_cell(value, digits) for value in row))
    console.print(printed, highlight=False)


def _cell(value: object, digits: int) -> str:
    from rich.markup import escape

    return escape(_text(value, digits))


def _text(value: object, digits: int) -> str:
    if isinstance(value, float):
        if value != value:
            return "–"
        # A p-value of 0.00008 is not 0; what is smaller still is rounding.
        if _ROUNDING <= abs(value) < 0.5 * 10**-digits:
            return f"{value:.1g}"
        return f"{0.0 if abs(value) < _ROUNDING else value:.{digits}f}"
    if isinstance(value, list):
        return ", ".join(map(str, value[:6])) + (f" (+{len(value) - 6})" * (len(value) > 6))
    return f"{value:,}" if isinstance(value, int) else str(value)
