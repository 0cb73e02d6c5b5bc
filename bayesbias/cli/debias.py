"""The commands `bayesbias debias` and `bayesbias before-after`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbias.cli.common import load_embeddings, loading_options, parse_options, quiet_option, say

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
    from bayesbias.debias.base import can_be_changed
    from bayesbias.embeddings.files import writable_format

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
        copy = not can_be_changed(embedding)
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
    from bayesbias._validate import one_of
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


def read_words(source: str) -> str | list[str]:
    """Return the words of a text file, one a line, or the name of a built-in list as it is."""
    if not Path(source).is_file():
        return source
    from bayesbias._files import read_utf8

    return [line.strip() for line in read_utf8(Path(source)).splitlines() if line.strip()]


def read_tuples(source: str) -> str | list[list[str]]:
    """Return the pairs or sets of a text file, one a line, with commas or spaces between words."""
    lines = read_words(source)
    if isinstance(lines, str):
        return lines
    return [line.replace(",", " ").split() for line in lines]
