"""The command `bayesbias pmi-bias`."""

from __future__ import annotations

from typing import Any

import click

from bayesbias.cli.common import (
    SUFFIXES,
    check_new,
    corpus_options,
    corpus_source,
    force_option,
    format_option,
    frame_format,
    min_count_option,
    print_frame,
    prob_option,
    quiet_option,
    say,
    say_written,
    write_frame,
)
from bayesbias.cli.completion import complete_queries


@click.command(
    "pmi-bias",
    short_help="Measure bias in a text, without vectors.",
    epilog="Example: bayesbias pmi-bias weat_8 texts/ --window 10 --out bias.csv",
)
@click.argument("query", shell_complete=complete_queries)
@click.argument("corpus", nargs=-1, metavar="[CORPUS]...")
@click.option(
    "--window",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Number of words before and after that count as near.",
)
@min_count_option
@click.option(
    "--smoothing",
    type=click.FloatRange(min=0),
    default=0.5,
    show_default=True,
    help="Added to the count of each pair of words.",
)
@click.option(
    "--independent",
    type=click.Choice(["documents", "pairs"], case_sensitive=False),
    default="documents",
    show_default=True,
    help="What the intervals take to be independent; pairs, as published, makes them too narrow.",
)
@click.option("--lists", is_flag=True, help="One row per list of words, instead of one per word.")
@corpus_options
@prob_option
@click.option("-o", "--out", metavar="FILE", help=f"Write the table: {SUFFIXES}.")
@force_option
@format_option
@quiet_option
def pmi_bias(
    query: str,
    corpus: tuple[str, ...],
    window: int,
    min_count: int,
    smoothing: float,
    independent: Any,
    lists: bool,
    unit: Any,
    field: str | None,
    encoding: str,
    prob: float,
    out: str | None,
    force: bool,
    output: str,
    quiet: bool,
) -> None:
    """Measure with which of two groups words occur more often in a text, without vectors.

    QUERY has two target sets, the groups, and attribute sets, the words: a name (weat_8) or a file.
    CORPUS is a text file, a folder or a pattern, by default demo.
    """
    from bayesbias.corpus import read_corpus
    from bayesbias.metrics import pmi_bias as measure
    from bayesbias.wordlists import load_query

    if out is not None:
        frame_format(out)
        check_new(force, out)
    asked = load_query(query)
    source = corpus_source(corpus or ("demo",))
    text = read_corpus(source, unit=unit, field=field, encoding=encoding)
    found = measure(
        text,
        asked,
        window=window,
        min_count=min_count,
        smoothing=smoothing,
        independent=independent,
        prob=prob,
        progress=not quiet,
    )
    say(found.summary(), quiet)
    first, second = found.groups
    caption = f"PMI bias, {first} (above 0) and {second} (below 0), with {prob:.0%} intervals."
    table = found.lists if lists else found.table
    if out is not None:
        write_frame(table, out, caption=caption)
        say_written(len(table), out, quiet)
        return
    print_frame(table, output, caption=caption, decimals={"p_value": 4})
