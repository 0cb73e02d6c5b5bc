"""The commands `bayesbias embedding info` and `convert`."""

from __future__ import annotations

import click

from bayesbias.cli.common import (
    check_new,
    force_option,
    format_option,
    load_embeddings,
    loading_options,
    print_frame,
    quiet_option,
    say,
)


@click.group()
def embedding() -> None:
    """Look at embedding files, and convert them."""


@embedding.command(epilog="Example: bayesbias embedding info vectors.bin")
@click.argument("source", default="demo")
@loading_options
@format_option
@quiet_option
def info(source: str, limit: int | None, trust: bool, output: str, quiet: bool) -> None:
    """Describe a file of word vectors, or a named embedding."""
    from pathlib import Path

    import pandas as pd

    from bayesbias.embeddings import NAMED, describe, guess_format

    loaded = load_embeddings([source], limit=limit, trust=trust, quiet=quiet)[0]
    path = Path(source)
    kind = guess_format(path) if source not in NAMED and path.exists() else "named"
    facts = {"format": kind, **describe(loaded)}
    print_frame(pd.DataFrame(facts.items(), columns=["what", "value"]), output)


@embedding.command(epilog="Example: bayesbias embedding convert glove.6B.300d.txt glove.npy")
@click.argument("source")
@click.argument("target")
@click.option("--to", "kind", metavar="FORMAT", help="Format, where the suffix does not tell it.")
@click.option(
    "--words",
    metavar="LISTS",
    help="Keep only the words of this study or query (name or file).",
)
@force_option
@loading_options
@quiet_option
def convert(
    source: str,
    target: str,
    kind: str | None,
    words: str | None,
    force: bool,
    limit: int | None,
    trust: bool,
    quiet: bool,
) -> None:
    """Write an embedding in another format, chosen by the suffix of TARGET.

    Suffixes: .npz, .safetensors, .npy (memory-mapped), .parquet, .bin, .txt, .vec, .csv, .tsv,
    .jsonl; the last six also with .gz.
    """
    from pathlib import Path

    from bayesbias.embeddings import vocabulary_path, writable_format
    from bayesbias.wordlists import load_lists

    target_format = writable_format(Path(target), kind)
    words_file = vocabulary_path(Path(target)) if target_format == "npy" else None
    check_new(force, target, words_file)
    lists = None if words is None else load_lists(words)
    loaded = load_embeddings([source], lists, limit=limit, trust=trust, quiet=quiet)[0]
    loaded.save(target, format=kind)
    say(f"{len(loaded):,} words × {loaded.dim} dimensions written to {target}", quiet)
