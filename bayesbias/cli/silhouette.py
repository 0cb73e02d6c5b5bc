"""The command `bayesbias silhouette`."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from bayesbias.cli.common import (
    METRIC_HELP,
    SUFFIXES,
    check_figure,
    check_new,
    cluster_option,
    fallback_option,
    force_option,
    format_option,
    frame_format,
    is_for_programs,
    jobs_option,
    load_embeddings,
    loading_options,
    matching_option_values,
    metric_option,
    parse_options,
    print_frame,
    quiet_option,
    save_figure,
    say,
    say_written,
    seed_option,
    subwords_option,
    write_frame,
)
from bayesbias.cli.completion import complete_embeddings, complete_queries

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.embeddings import Embedding
    from bayesbias.metrics import Metric
    from bayesbias.silhouette_analysis import Normalisation, Silhouettes
    from bayesbias.wordlists import Query

# Random lists are drawn from so many first words of a file, which are the most frequent in most.
_FIRST_WORDS = 50_000
_SIDES = ("targets", "attributes")
_INTERVALS = ("robustness", "band_robustness", "length_adjusted", "chance", "accuracy")
_CHANCE = ["chance", "chance_lower", "chance_upper", "percentile"]


@click.command(
    short_help="Measure how robust word lists are.",
    epilog="Example: bayesbias silhouette weat_7 demo demo-100d --side both --planted 0.2 "
    "--figure weat_7.png",
)
@click.argument("source", shell_complete=complete_queries, metavar="QUERY")
@click.argument(
    "embeddings", shell_complete=complete_embeddings, nargs=-1, metavar="[EMBEDDING]..."
)
@metric_option(METRIC_HELP)
@click.option(
    "--side",
    type=click.Choice([*_SIDES, "both"], case_sensitive=False),
    default="targets",
    show_default=True,
    help="Which lists grow: the groups or the concepts.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Random orders of the words.",
)
@click.option(
    "--growth",
    type=click.Choice(["proportional", "prefix"], case_sensitive=False),
    default="proportional",
    show_default=True,
    help="Whether lists of different lengths grow in proportion, or by the same number of words, "
    "as in the paper.",
)
@click.option(
    "--step",
    type=click.IntRange(min=1),
    help="Words that each list gets at a time; by default 1 for targets, 3 for attributes.",
)
@click.option(
    "--start",
    type=click.IntRange(min=1),
    help="Words of each list at first; by default one more than the metric needs, 2 for most.",
)
@click.option(
    "--value-range",
    type=float,
    nargs=2,
    metavar="LOW HIGH",
    help="The smallest and the largest value possible, for metrics without bounds.",
)
@click.option(
    "--chance",
    type=click.IntRange(min=0),
    metavar="NUMBER",
    help="Random lists to compare with, 19 or more, or 0 for none; by default 39 where that costs "
    "little. They are drawn from the first 50,000 words of a file.",
)
@click.option(
    "--planted",
    type=float,
    metavar="STRENGTH",
    help="Also measure two embeddings made for the purpose, one with a bias of this strength (at "
    "most 0.3), one with none, and report how accurate the metric is.",
)
@click.option(
    "--biased",
    metavar="NAME",
    help="Measure the accuracy of the metric with this EMBEDDING, known to be biased, and with "
    "--unbiased.",
)
@click.option("--unbiased", metavar="NAME", help="An EMBEDDING known not to be, or less so.")
@click.option(
    "--normalisation",
    type=click.Choice(["paper", "as-published"], case_sensitive=False),
    default="paper",
    show_default=True,
    help="Accuracy relative to the largest distance from no bias, or, as in the numbers that the "
    "paper gives, to the whole range.",
)
@click.option("--influence", is_flag=True, help="Print how much each word matters, instead.")
@click.option(
    "--prob",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.89,
    show_default=True,
    help="Probability of quantile bands and intervals.",
)
@click.option("--normalize", is_flag=True, help="Scale vectors to length one first.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Option of a metric, such as distance=cos; may be given several times.",
)
@click.option("-o", "--out", metavar="FILE", help=f"Write the bands: {SUFFIXES}.")
@click.option("--figure", metavar="FILE", help="Draw the silhouettes: .png, .svg or .pdf.")
@force_option
@click.option(
    "--resume",
    metavar="FOLDER",
    help="Keep finished runs there, and go on from those that are there already.",
)
@jobs_option
@cluster_option
@seed_option
@fallback_option
@subwords_option
@loading_options
@format_option
@quiet_option
def silhouette(
    source: str,
    embeddings: tuple[str, ...],
    metrics: tuple[str, ...],
    side: str,
    runs: int,
    growth: str,
    step: int | None,
    start: int | None,
    value_range: tuple[float, float] | None,
    chance: int | None,
    planted: float | None,
    biased: str | None,
    unbiased: str | None,
    normalisation: Normalisation,
    influence: bool,
    prob: float,
    normalize: bool,
    options: tuple[str, ...],
    out: str | None,
    figure: str | None,
    force: bool,
    resume: str | None,
    jobs: int,
    seed: int,
    fallbacks: tuple[str, ...],
    subwords: bool,
    limit: int | None,
    trust: bool,
    output: str,
    quiet: bool,
) -> None:
    """Measure how robust the word lists of a query are, and how accurate a metric is with them.

    Random parts of the lists grow until they are complete. The table has the robustness of the
    value: 1 if it does not depend on which words are in. Random lists of the same lengths are shown
    for comparison. QUERY is a name (weat_7, gender_1) or a file; with more sets than a metric takes
    it is split. EMBEDDING is a file of word vectors or a name, by default demo; NAME=EMBEDDING
    gives it another name.
    """
    from bayesbias.embeddings import as_embeddings
    from bayesbias.metrics import as_metrics
    from bayesbias.silhouette_analysis import asked_silhouettes, silhouettes, stacked, try_all
    from bayesbias.wordlists import load_query

    _check_references(planted, biased, unbiased)
    _check_asked(value_range, metrics, out, figure, force)
    chosen = as_metrics(metrics or ("weat_es",), parse_options(options))
    query = load_query(source.removeprefix("query:"))
    asked = asked_silhouettes(chosen, query, side)
    references: list[Embedding] = []
    if planted is not None:
        references = _planted(query, chosen, planted, seed)
        biased, unbiased = (reference.name for reference in references)
        # Where words have a prefix, these do not.
        fallbacks = tuple(dict.fromkeys([*fallbacks, "exact"]))
    loaded = load_embeddings(
        embeddings or ("demo",),
        None if any(metric.whole_embedding for metric in chosen) else query,
        first=0 if chance == 0 else _FIRST_WORDS,
        matching=matching_option_values(fallbacks),
        limit=limit,
        subwords=subwords,
        trust=trust,
        quiet=quiet,
    )
    several = as_embeddings([*loaded, *references])
    _check_loaded(several, biased, unbiased)
    settings: dict[str, Any] = {
        "growth": growth,
        "start": start,
        "value_range": value_range,
        "chance": chance,
        "prob": prob,
        "normalize": normalize,
        "matching": matching_option_values(fallbacks),
        "seed": seed,
        "n_jobs": jobs,
        "progress": not quiet,
    }
    if len(asked) > 1:
        try_all(asked, several, settings)
    results = []
    with _announced(quiet):
        for metric, part, which in asked:
            result = silhouettes(
                metric, part, several, side=which, runs=runs, step=step, resume=resume, **settings
            )
            results.append(result)
            verdict = result.verdict(biased, unbiased, normalisation=normalisation)
            say(f"{result.metric}, {result.side} of {result.query.name}:\n{verdict}", quiet)
    # Printed first: it is not lost if a file cannot be written.
    if influence:
        frame = stacked(results, [each.influence() for each in results])
        print_frame(frame, output, caption="Influence of single words.")
    else:
        tables = [_robustness(each, biased, unbiased, normalisation) for each in results]
        text = f"Robustness of word lists, with {prob:.0%} intervals, from {runs} runs."
        _print(stacked(results, tables), output, text)
    _write(results, out, f"Bands of {runs} runs, with {prob:.0%} in brackets.", figure, quiet)


def _check_asked(
    value_range: tuple[float, float] | None,
    names: Sequence[str],
    out: str | None,
    figure: str | None,
    force: bool,
) -> None:
    """Refuse a range for several metrics, and files that cannot be written, before the work."""
    if len(names) > 1 and value_range is not None:
        raise click.UsageError("--value-range is of one metric, and there are several --metric.")
    if out is not None:
        frame_format(out)
    if figure is not None:
        check_figure(figure)
    check_new(force, out, figure)


def _check_loaded(
    embeddings: Iterable[Embedding], biased: str | None, unbiased: str | None
) -> None:
    """Refuse names of embeddings that are not loaded."""
    from bayesbias._core.validation import one_of

    names = [embedding.name for embedding in embeddings]
    for option, given in (("--biased", biased), ("--unbiased", unbiased)):
        if given is not None:
            one_of(option, given, names)


def _planted(
    query: Query, metrics: Iterable[Metric], strength: float, seed: int
) -> list[Embedding]:
    """Return an embedding with a planted bias and one without."""
    from bayesbias.silhouette_analysis import planted_embedding

    for metric in metrics:
        if metric.whole_embedding:
            raise click.UsageError(
                f"--planted makes embeddings of the words of the query alone, and {metric.name} "
                "needs more; give --biased and --unbiased."
            )
    return [planted_embedding(query, each, seed=seed) for each in (strength, 0)]


def _print(table: pd.DataFrame, output: str, caption: str) -> None:
    if not is_for_programs(output):
        table = _readable(table)
    print_frame(_bracketed(table) if output == "text" else table, output, caption=caption)


def _write(
    results: list[Silhouettes], out: str | None, caption: str, figure: str | None, quiet: bool
) -> None:
    """Write the bands and the figure, where they are asked for."""
    from bayesbias.silhouette_analysis import stacked

    if out is not None:
        bands = stacked(results, [each.table for each in results])
        write_frame(bands, out, caption=caption)
        say_written(len(bands), out, quiet)
    if figure is not None:
        from bayesbias.plots import plot_silhouette_grid, plot_silhouettes

        one = len(results) == 1
        axes = plot_silhouettes(results[0]) if one else plot_silhouette_grid(results)[0, 0]
        save_figure(axes, figure)
        say(f"drawn in {figure}", quiet)


def _check_references(planted: float | None, biased: str | None, unbiased: str | None) -> None:
    """Refuse references that do not make a pair."""
    if planted is not None and (biased is not None or unbiased is not None):
        raise click.UsageError("--planted makes references; leave out --biased and --unbiased.")
    if planted == 0:
        raise click.UsageError("--planted 0 is no bias; give a strength up to 0.3.")
    if (biased is None) != (unbiased is None):
        raise click.UsageError("give both --biased and --unbiased, or neither.")
    if biased is not None and biased == unbiased:
        raise click.UsageError("--biased and --unbiased are the same; name two of the embeddings.")


@contextmanager
def _announced(quiet: bool) -> Iterator[None]:
    """Show what the library logs about the runs: how long they take, and how many are kept."""
    logger = logging.getLogger("bayesbias.silhouette_analysis.silhouette_runs")
    handler = _Saying()
    level, propagate = logger.level, logger.propagate
    if not quiet:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False  # or --verbose would say it again
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


class _Saying(logging.Handler):
    """What is logged, for a person."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage(), quiet=False)


def _robustness(
    result: Silhouettes, biased: str | None, unbiased: str | None, normalisation: Normalisation
) -> pd.DataFrame:
    """Return the table of robustness, with the accuracy in the row of the biased embedding."""
    table = result.robustness_table.copy()
    table.insert(1, "words", int(result.sizes[-1]))
    table.insert(2, "value", result.complete.to_numpy())
    if biased is not None and unbiased is not None:
        value = result.accuracy(biased, unbiased, normalisation=normalisation)
        of_biased = table["embedding"] == biased
        for name, number in (("", value), ("_lower", value.lower), ("_upper", value.upper)):
            table.loc[of_biased, f"accuracy{name}"] = float(number)
    return table


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the query only where there are several, and chance where known."""
    if table["chance"].isna().all():
        table = table.drop(columns=_CHANCE)
    return table.drop(columns="query") if len(set(table["query"])) == 1 else table


def _bracketed(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with intervals in brackets."""
    from bayesbias.silhouette_analysis import bracketed

    shown = table.copy()
    for name in _INTERVALS:
        if name in table:
            columns = [name, f"{name}_lower", f"{name}_upper"]
            ends = table[columns].itertuples(index=False)
            shown[name] = [
                "" if value != value else bracketed(value, lower, upper)
                for value, lower, upper in ends
            ]
            shown = shown.drop(columns=columns[1:])
    if "percentile" in table:
        shown["percentile"] = ["" if x != x else f"{x:.0f}" for x in table["percentile"]]
    return shown
