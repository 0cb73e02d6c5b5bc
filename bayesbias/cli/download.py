"""The command `bayesbias download`."""

from __future__ import annotations

import click

from bayesbias.cli.common import format_option, print_frame, quiet_option, say
from bayesbias.cli.completion import complete_downloads


@click.command(
    short_help="Download data by name.", epilog="Example: bayesbias download glove-6b-300d"
)
@click.argument("name", required=False, shell_complete=complete_downloads)
@click.option("--sha256", metavar="HASH", help="The hash that the file must have; then accepted.")
@format_option
@quiet_option
def download(name: str | None, sha256: str | None, output: str, quiet: bool) -> None:
    """Download an embedding, a benchmark or a table by NAME; without NAME, list them.

    Prints the path of the file. Files are kept in the folder BAYESBIAS_CACHE; folders of
    BAYESBIAS_MIRROR are tried first.
    """
    from bayesbias.embeddings import download as fetch
    from bayesbias.embeddings import downloads
    from bayesbias.errors import SpecError

    if name is None:
        if sha256 is not None:
            raise SpecError("--sha256 is the hash of one file; name it.")
        shown = downloads()
        shown["cached"] = shown["cached"].map({True: "yes", False: "no"})
        if output == "text":
            shown = shown[["name", "kind", "hash", "cached", "licence"]]
        print_frame(shown, output, caption="Files that can be downloaded.")
        return
    path = fetch(name, sha256=sha256, progress=not quiet)
    say(f"{name} is in", quiet)
    click.echo(path)
