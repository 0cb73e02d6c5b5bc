"""The commands `bayesbias embedding info`, `similarity`, `convert` and `train`."""

from __future__ import annotations

from typing import Any

import click

from bayesbias.cli.common import (
    check_new,
    corpus_options,
    corpus_source,
    force_option,
    format_option,
    load_embeddings,
    loading_options,
    min_count_option,
    print_frame,
    prob_option,
    quiet_option,
    say,
    seed_option,
)


@click.group(short_help="Describe, convert and train embeddings.")
def embedding() -> None:
    """Look at embedding files, convert them, and train embeddings on a text."""


@embedding.command(
    short_help="Describe a file of word vectors.",
    epilog="Example: bayesbias embedding info vectors.bin",
)
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


@embedding.command(
    short_help="Compare similarities with those that people judged.",
    epilog="Example: bayesbias embedding similarity demo -b rg_65 -b simlex_999",
)
@click.argument("embeddings", nargs=-1, metavar="[EMBEDDING]...")
@click.option(
    "-b",
    "--benchmark",
    "benchmarks",
    multiple=True,
    default=("rg_65", "wordsim_353", "simlex_999"),
    show_default=True,
    metavar="NAME",
    help="A name of `bayesbias download`, or a file; may be given several times.",
)
@prob_option
@seed_option
@loading_options
@format_option
@quiet_option
def similarity(
    embeddings: tuple[str, ...],
    benchmarks: tuple[str, ...],
    prob: float,
    seed: int,
    limit: int | None,
    trust: bool,
    output: str,
    quiet: bool,
) -> None:
    """Compare the cosines of pairs of words with how similar people find them.

    Printed are Spearman's correlation with its interval, and the share of the pairs that all
    EMBEDDINGs have; of several, also the change from the first.
    """
    from bayesbias.debias_effects import word_similarity

    loaded = load_embeddings(embeddings or ("demo",), limit=limit, trust=trust, quiet=quiet)
    table = word_similarity(loaded, benchmarks, prob=prob, seed=seed)
    if len(loaded) == 1:
        table = table.loc[:, :"upper"]
    caption = f"Spearman's correlation of cosines with judged similarity, {prob:.0%} intervals."
    print_frame(table, output, caption=caption)


@embedding.command(
    short_help="Convert a file of word vectors.",
    epilog="Example: bayesbias embedding convert glove.6B.300d.txt glove.npy",
)
@click.argument("source")
@click.argument("target")
@click.option(
    "--to", "kind", metavar="FORMAT", help="Format, if it does not follow from the suffix."
)
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


@embedding.command(
    short_help="Train word vectors on a text.",
    epilog="Example: bayesbias embedding train demo.npz demo --method glove",
)
@click.argument("target")
@click.argument("corpus", nargs=-1, required=True, metavar="CORPUS...")
@click.option(
    "--method",
    type=click.Choice(["word2vec", "fasttext", "glove", "pmi"], case_sensitive=False),
    default="word2vec",
    show_default=True,
    help="How to train.",
)
@click.option(
    "--dim", type=click.IntRange(min=1), default=300, show_default=True, help="Dimensions."
)
@click.option(
    "--window",
    type=click.IntRange(min=1),
    help="Number of words before and after that are the context; 5 by default, 10 for glove.",
)
@min_count_option
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    help="Passes through the text; 5 by default, 15 for glove, none for pmi.",
)
@click.option("--skip-gram", is_flag=True, help="Skip-gram, not CBOW; for word2vec and fasttext.")
@click.option(
    "--x-max",
    type=click.FloatRange(min=0, min_open=True),
    help="For glove: the count from which on a pair has full weight; 100 by default.",
)
@corpus_options
@seed_option
@force_option
@quiet_option
def train(
    target: str,
    corpus: tuple[str, ...],
    method: Any,
    dim: int,
    window: int | None,
    min_count: int,
    epochs: int | None,
    skip_gram: bool,
    x_max: float | None,
    unit: Any,
    field: str | None,
    encoding: str,
    seed: int,
    force: bool,
    quiet: bool,
) -> None:
    """Train word vectors on a text, and write them to TARGET, in the format of its suffix.

    CORPUS is a text file, a folder, a pattern, or demo.
    """
    from pathlib import Path

    from bayesbias.corpus import GloVe, read_corpus, train_embedding
    from bayesbias.embeddings import vocabulary_path, writable_format

    if x_max is not None and method != "glove":
        raise click.UsageError(f"--x-max is an option of glove, not of {method}.")
    path = Path(target)
    check_new(force, path, vocabulary_path(path) if writable_format(path, None) == "npy" else None)
    text = read_corpus(corpus_source(corpus), unit=unit, field=field, encoding=encoding)
    trained = train_embedding(
        text,
        method if x_max is None else GloVe(x_max=x_max),
        dim=dim,
        window=window,
        min_count=min_count,
        epochs=epochs,
        skip_gram=skip_gram,
        seed=seed,
        name=path.stem,
        progress=not quiet,
    )
    trained.save(path)
    say(f"{trained!r} written to {target}", quiet)
