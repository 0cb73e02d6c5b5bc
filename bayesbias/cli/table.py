"""The command `bayesbias table`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from bayesbias.cli.common import (
    check_new,
    covariate_options,
    fallback_option,
    force_option,
    format_option,
    is_for_programs,
    load_embeddings,
    loading_options,
    matching_option_values,
    print_frame,
    quiet_option,
    say_written,
    study_option,
    subwords_option,
    threshold_option,
)
from bayesbias.cli.completion import complete_embeddings


@click.command(
    short_help="Build a table of cosine distances.",
    epilog="Example: bayesbias table demo demo-100d --study gender --out table.parquet",
)
@click.argument(
    "embeddings", nargs=-1, metavar="[EMBEDDING]...", shell_complete=complete_embeddings
)
@study_option
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    help="Write the table: .csv, .csv.gz, .parquet, or - for standard output.",
)
@threshold_option
@covariate_options
@force_option
@fallback_option
@subwords_option
@loading_options
@format_option
@quiet_option
def table(
    embeddings: tuple[str, ...],
    study: str,
    out: str | None,
    force: bool,
    threshold: float,
    covariates: tuple[str, ...],
    frequencies: str,
    unknown_frequency: Literal["error", "lowest"],
    fallbacks: tuple[str, ...],
    subwords: bool,
    limit: int | None,
    trust: bool,
    output: str,
    quiet: bool,
) -> None:
    """Build the table of cosine distances, and summarise it by group and connection.

    EMBEDDING is a file of word vectors or a name such as demo, demo-100d or glove-6b-50d; by
    default demo. NAME=EMBEDDING gives it another name. Only the
    words of the study are read from a file.
    """
    import pandas as pd

    from bayesbias.distances import CovariatePlan, distance_table, writable_table, write_table
    from bayesbias.wordlists import load_study

    if out not in (None, "-"):
        writable_table(Path(str(out)))
        check_new(force, out)
    lists = load_study(study)
    matching = matching_option_values(fallbacks, threshold)
    # What is wrong with these is reported before a large file is read.
    plan = CovariatePlan(covariates, frequencies, unknown_frequency, matching)
    loaded = load_embeddings(
        embeddings or ("demo",),
        lists,
        matching=matching,
        limit=limit,
        subwords=subwords,
        trust=trust,
        quiet=quiet,
    )
    result = distance_table(
        loaded,
        lists,
        matching=matching,
        covariates=covariates,
        frequencies=plan.source or frequencies,  # a file of them is read once
        unknown_frequency=unknown_frequency,
    )
    if out == "-":
        print_frame(result, output if is_for_programs(output) else "csv")
        return
    if out is not None:
        write_table(result, out)
        say_written(len(result), out, quiet)
    by = ["embedding", "protected_group", "connection"]
    grouped = result.groupby(by, observed=True)
    columns = {
        "mean": grouped["cosine_distance"].mean(),
        "sd": grouped["cosine_distance"].std(),
        "rows": grouped.size(),
        **{f"mean_{name}": grouped[name].mean() for name in covariates},
    }
    caption = f"Cosine distances of the study {lists.name}, by group and connection."
    print_frame(pd.DataFrame(columns).reset_index(), output, caption=caption)
