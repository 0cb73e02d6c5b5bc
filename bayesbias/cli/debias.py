"""The commands `bayesbias debias` and `bayesbias before-after`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbias.cli.common import (
    check_figure,
    format_option,
    frame_format,
    load_embeddings,
    loading_options,
    parse_options,
    print_frame,
    quiet_option,
    save_figure,
    say,
    write_frame,
)

if TYPE_CHECKING:
    from bayesbias.debias import Debiaser
    from bayesbias.embeddings import Embedding

F = TypeVar("F", bound=Callable[..., Any])

_LISTS = "built-in list such as {}, or a text file"


def debiasing_options(command: F) -> F:
    """Add the options of fitting a debiaser and choosing words."""
    for option in (
        click.option("--seed", default=0, show_default=True, help="Same seed, same result."),
        click.option(
            "--target",
            metavar="LIST",
            help=f"Words to change: {_LISTS.format('bolukbasi:professions')}; by default all.",
        ),
        click.option(
            "--ignore",
            metavar="LIST",
            help=f"Words to leave: {_LISTS.format('bolukbasi:gender_specific')}.",
        ),
        click.option(
            "--equalize",
            metavar="LIST",
            help=f"Pairs or sets to equalise: {_LISTS.format('bolukbasi:equalize_pairs')}.",
        ),
        click.option(
            "--definition",
            metavar="LIST",
            help="What the method learns from: pairs, sets or words, a "
            f"{_LISTS.format('manzini:religion_definitional_sets')} with a pair or set a line.",
        ),
        click.option(
            "--group",
            "groups",
            multiple=True,
            metavar="LIST",
            help="Words of one group, for methods that learn from groups; give two or more.",
        ),
        click.option(
            "--option",
            "options",
            multiple=True,
            metavar="NAME=VALUE",
            help="Option of the method, such as n_components=2; may be given several times.",
        ),
        click.option(
            "-m",
            "--method",
            default="hard_debias",
            show_default=True,
            help="The method; bayesbias debias --list names them.",
        ),
    ):
        command = option(command)
    return command


@click.command(
    epilog="Example: bayesbias debias glove.txt debiased.npy --ignore bolukbasi:gender_specific"
)
@click.argument("source", metavar="EMBEDDING", required=False)
@click.argument("out", metavar="OUT", required=False)
@click.option("--list", "listing", is_flag=True, help="List the methods, and stop.")
@click.option("--to", "kind", metavar="FORMAT", help="Format, where the suffix does not tell it.")
@debiasing_options
@loading_options
@quiet_option
def debias(
    source: str | None,
    out: str | None,
    listing: bool,
    kind: str | None,
    limit: int | None,
    trust: bool,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Debias an embedding and write it to OUT, in the format of its suffix.

    To a .npy file it is written block by block, so that neither needs to fit into memory, and an
    interrupted run goes on where it was. Other suffixes: .npz, .safetensors, .bin, .txt, .vec.
    """
    from bayesbias.debias import DEBIASERS
    from bayesbias.debias.base import writable
    from bayesbias.embeddings.loading import writable_format

    if listing:
        for name, method in DEBIASERS.items():
            click.echo(f"{name:38}{(method.__doc__ or '').splitlines()[0]}")
        return
    if source is None or out is None:
        raise click.UsageError("Missing arguments 'EMBEDDING' and 'OUT'; or use --list.")
    target_format = writable_format(Path(out), kind)
    make = debiaser_maker(**chosen)
    [embedding] = load_embeddings([source], limit=limit, trust=trust, quiet=quiet)
    debiaser = make(embedding)
    words = transform_words(chosen)
    if target_format == "npy":
        debiaser.transform(embedding, out=out, progress=not quiet, **words)
    else:
        # Nothing else uses the loaded vectors, so no second matrix is needed.
        copy = writable(embedding) is None
        after = debiaser.transform(embedding, copy=copy, progress=not quiet, **words)
        after.save(out, format=kind)
    say(f"{len(embedding):,} words debiased by {debiaser!r}, written to {out}", quiet)


def debiaser_maker(
    method: str,
    options: tuple[str, ...],
    definition: str | None,
    groups: tuple[str, ...],
    equalize: str | None,
    seed: int,
    **_: object,
) -> Callable[[Embedding], Debiaser]:
    """Return a function that fits the method on an embedding; all that can be is checked first."""
    from bayesbias._core.validation import one_of
    from bayesbias.debias import DEBIASERS
    from bayesbias.errors import SpecError

    kind = DEBIASERS[one_of("method", method, DEBIASERS)]
    given = parse_options(options)
    made: Any = kind().set_params(**given)
    if "seed" in made.get_params() and "seed" not in given:
        made.set_params(seed=seed)
    takes = list(inspect.signature(made.fit).parameters)
    arguments: dict[str, Any] = {}
    for what, value, names in (
        ("--definition", definition, [n for n in takes if n.startswith("definitional_")]),
        ("--equalize", equalize, [n for n in takes if n.startswith("equalize_")]),
        ("--group", groups or None, [n for n in takes if n == "groups"]),
    ):
        if value is None:
            continue
        if not names:
            raise SpecError(
                f"the method {method!r} takes no {what}; see help(bayesbias.{kind.__name__})."
            )
        if isinstance(value, tuple):
            arguments[names[0]] = [read_words(item) for item in value]
        else:
            arguments[names[0]] = (read_words if names[0].endswith("words") else read_tuples)(value)
    needed = [
        n
        for n, p in inspect.signature(made.fit).parameters.items()
        if p.default is p.empty and n not in ("embedding", *arguments)
    ]
    if needed:
        raise SpecError(
            f"the method {method!r} needs {needed[0]!r}: give --definition, a built-in list such "
            "as manzini:religion_definitional_sets or a text file with a set a line."
        )
    return lambda embedding: made.fit(embedding, **arguments)


def transform_words(chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the words to change and to leave."""
    return {
        name: None if chosen[name] is None else read_words(chosen[name])
        for name in ("target", "ignore")
    }


def _check_unused(chosen: dict[str, Any]) -> None:
    """Refuse options of debiasing for an embedding that is debiased already."""
    flags = {"options": "option", "groups": "group"}
    for name in ("options", "groups", "definition", "equalize", "target", "ignore"):
        if chosen[name]:
            raise click.UsageError(
                f"--{flags.get(name, name)} is for debiasing, and AFTER is debiased already."
            )


def read_words(source: str) -> str | list[str]:
    """Return the words of a text file, one a line, or the name of a built-in list as it is."""
    if not Path(source).is_file():
        if ":" not in source:
            from bayesbias.errors import NotFoundError

            raise NotFoundError(
                f"{source!r} is no file and no built-in list; these have names such as "
                "bolukbasi:gender_specific, see bayesbias words list."
            )
        return source
    from bayesbias._core.files import read_utf8

    return [line.strip() for line in read_utf8(Path(source)).splitlines() if line.strip()]


def read_tuples(source: str) -> str | list[list[str]]:
    """Return the pairs or sets of a text file, one a line, with commas or spaces between words."""
    lines = read_words(source)
    if isinstance(lines, str):
        return lines
    return [line.replace(",", " ").split() for line in lines]


@click.command(
    "before-after",
    epilog="Example: bayesbias before-after demo --study gender --ignore bolukbasi:gender_specific",
)
@click.argument("source", metavar="EMBEDDING")
@click.argument("after", metavar="[AFTER]", required=False)
@click.option("-s", "--study", default="religion", show_default=True, help="Study, name or file.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Metric to compare; may be given several times. By default all that fit a study.",
)
@click.option("--draws", default=1000, show_default=True, help="Draws of each chain and metric.")
@click.option(
    "--residual/--no-residual",
    default=True,
    show_default=True,
    help="Test what is left: clusters, a classifier, neighbours.",
)
@click.option("--similarity", multiple=True, metavar="FILE", help="Benchmarks of similarity.")
@click.option("--analogies", multiple=True, metavar="FILE", help="Benchmarks of analogies.")
@click.option(
    "--prob", type=float, default=0.89, show_default=True, help="Probability of intervals."
)
@click.option("-j", "--jobs", default=1, show_default=True, help="Processes; -1 for all cores.")
@click.option("-o", "--out", metavar="FILE", help="Write the table: .csv, .json or .md.")
@click.option("--figure", metavar="FILE", help="Draw the distances: .png, .svg or .pdf.")
@debiasing_options
@loading_options
@format_option
@quiet_option
def before_after(
    source: str,
    after: str | None,
    study: str,
    metrics: tuple[str, ...],
    draws: int,
    residual: bool,
    similarity: tuple[str, ...],
    analogies: tuple[str, ...],
    prob: float,
    jobs: int,
    out: str | None,
    figure: str | None,
    limit: int | None,
    trust: bool,
    output: str,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Tell what debiasing did to the words of a study, what it left, and what it broke.

    AFTER is the embedding after debiasing; without it EMBEDDING is debiased by --method.
    """
    from bayesbias import debias_effects
    from bayesbias.wordlists import load_study

    if out is not None:
        frame_format(out)
    if figure is not None:
        check_figure(figure)
    lists = load_study(study)
    if after is not None:
        _check_unused(chosen)
    make = None if after is not None else debiaser_maker(**chosen)
    sources = [source] if after is None else [source, after]
    loaded = load_embeddings(sources, limit=limit, trust=trust, quiet=quiet)
    arguments: dict[str, Any] = {} if residual else {"residual": ()}
    for name, given in (("metrics", metrics), ("similarity", similarity), ("analogies", analogies)):
        if given:
            arguments[name] = given
    if make is not None:
        arguments |= transform_words(chosen)
    found = debias_effects.before_after(
        loaded[0],
        loaded[1] if make is None else make(loaded[0]),
        lists,
        draws=draws,
        seed=chosen["seed"],
        prob=prob,
        n_jobs=jobs,
        progress=not quiet,
        **arguments,
    )
    if out is not None:
        write_frame(found.table, out)
        say(f"{len(found.table):,} rows written to {out}", quiet)
    if figure is not None:
        from bayesbias.plots import plot_before_after

        save_figure(plot_before_after(found, prob=prob), figure)
        say(f"drawn in {figure}", quiet)
    say(found.summary(), quiet)
    # For reading, without the rows of single words; files and programs get all of it.
    shown = found.table[found.table["word"] == ""].drop(columns="word")
    print_frame(found.table if output in ("csv", "json") else shown, output)
