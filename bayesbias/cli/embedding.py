"""The commands `bayesbias embedding info` and `convert`."""

from __future__ import annotations

import click

from bayesbias.cli.common import (
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
    """Tell what a file of word vectors, or a named embedding, holds."""
    from pathlib import Path

    import numpy as np
    import pandas as pd

    from bayesbias.embeddings import NAMED, guess_format

    loaded = load_embeddings([source], limit=limit, trust=trust, quiet=quiet)[0]
    # In blocks, so that a mapped matrix is never in memory as a whole.
    blocks = range(0, len(loaded), 65_536)
    norms = np.concatenate([np.linalg.norm(loaded.vectors[i : i + 65_536], axis=1) for i in blocks])
    path = Path(source)
    kind = guess_format(path) if source not in NAMED and path.is_file() else "named"
    facts: dict[str, object] = {
        "name": loaded.name,
        "format": kind,
        "words": len(loaded),
        "dimensions": loaded.dim,
        "first words": list(loaded.words[:6]),
        "smallest norm": float(norms.min()),
        "median norm": float(np.median(norms)),
        "largest norm": float(norms.max()),
        "zero vectors": int((norms == 0).sum()),
        "share with capitals": sum(w != w.lower() for w in loaded.words) / len(loaded),
        "notes": list(loaded.notes),
    }
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
@loading_options
@quiet_option
def convert(
    source: str,
    target: str,
    kind: str | None,
    words: str | None,
    limit: int | None,
    trust: bool,
    quiet: bool,
) -> None:
    """Write an embedding in another format, chosen by the suffix of TARGET.

    Suffixes: .npz, .safetensors, .npy (memory-mapped), .bin, .txt, .vec; the last three also with
    .gz.
    """
    from pathlib import Path

    from bayesbias.embeddings.files import writable_format
    from bayesbias.words import builtin

    writable_format(Path(target), kind)
    wanted = None
    if words is not None:
        lists = builtin.load_lists(words)
        wanted = [word for word_set in lists.word_sets().values() for word in word_set]
    loaded = load_embeddings([source], words=wanted, limit=limit, trust=trust, quiet=quiet)[0]
    loaded.save(target, format=kind)
    say(f"{len(loaded):,} words × {loaded.dim} dimensions written to {target}", quiet)
