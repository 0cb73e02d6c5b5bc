"""The commands `bayesbias metrics` and `bayesbias rank`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bayesbias.cli.common import (
    METRIC_HELP,
    SUFFIXES,
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
    prob_option,
    quiet_option,
    say,
    say_written,
    seed_option,
    threshold_option,
    write_frame,
)
from bayesbias.cli.completion import complete_embeddings, complete_queries

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.embeddings import Embedding
    from bayesbias.metrics import Metric, Test
    from bayesbias.wordlists import Query

F = TypeVar("F", bound=Callable[..., Any])


_RANKS = "Embeddings ranked by bias; 1 is the least biased."


def measuring_options(command: F) -> F:
    """Add the options of measuring queries."""
    for option in (
        seed_option,
        jobs_option,
        cluster_option,
        threshold_option,
        click.option("--normalize", is_flag=True, help="Scale vectors to length one first."),
        click.option(
            "--option",
            "options",
            multiple=True,
            metavar="NAME=VALUE",
            help="Option of a metric, such as distance=cos; may be given several times.",
        ),
        prob_option,
        click.option(
            "--draws",
            type=click.IntRange(min=0),
            default=4000,
            show_default=True,
            help="Draws of the words' weights; 0 for values without intervals.",
        ),
        force_option,
        click.option("-o", "--out", metavar="FILE", help=f"Write the table: {SUFFIXES}."),
    ):
        command = option(command)
    return command


@click.command(
    short_help="Measure queries by classical metrics.",
    epilog="Example: bayesbias metrics weat_7 demo demo-100d --metric weat_es --metric ect",
)
@click.argument("queries", shell_complete=complete_queries, metavar="[QUERY]", required=False)
@click.argument(
    "embeddings", shell_complete=complete_embeddings, nargs=-1, metavar="[EMBEDDING]..."
)
@metric_option(METRIC_HELP)
@click.option("--list", "listing", is_flag=True, help="List the metrics, and stop.")
@click.option("--p-values", is_flag=True, help="Test by permutation, where there are two targets.")
@click.option(
    "--test",
    type=click.Choice(["two-sided", "right-sided", "left-sided"], case_sensitive=False),
    default="two-sided",
    show_default=True,
    help="Which values count against chance.",
)
@click.option(
    "--permutations",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Permutations to draw where not all are enumerated.",
)
@click.option("--influence", is_flag=True, help="Print how much each word changes the value.")
@measuring_options
@fallback_option
@loading_options
@format_option
@quiet_option
def metrics(
    queries: str | None,
    embeddings: tuple[str, ...],
    metrics: tuple[str, ...],
    listing: bool,
    p_values: bool,
    test: Test,
    permutations: int,
    influence: bool,
    out: str | None,
    force: bool,
    draws: int,
    prob: float,
    options: tuple[str, ...],
    normalize: bool,
    threshold: float,
    jobs: int,
    seed: int,
    fallbacks: tuple[str, ...],
    limit: int | None,
    trust: bool,
    output: str,
    quiet: bool,
) -> None:
    """Measure a query, or a set of queries, by one metric or several, with intervals.

    QUERY is a query (weat_7, gender_1, a file), or a set of queries (weat, gender, ethnicity,
    religion). Queries with more sets than a metric takes are split. EMBEDDING is a file of word
    vectors or a name, by default demo; NAME=EMBEDDING gives it another name.
    """
    if listing:
        print_frame(_list_metrics(), output)
        return
    if queries is None:
        raise click.UsageError("Missing argument 'QUERY', such as weat_7; or use --list.")
    from bayesbias.metrics import as_metrics
    from bayesbias.rankings import query_scores

    if out is not None:
        frame_format(out)
        check_new(force, out)
    chosen = as_metrics(metrics or ("weat_es",), parse_options(options))
    asked = _load_queries(queries)
    loaded = _load(chosen, asked, embeddings, fallbacks, limit, trust, quiet)
    if influence:
        result = _influence(
            chosen,
            asked,
            loaded,
            normalize=normalize,
            matching=matching_option_values(fallbacks, threshold),
            seed=seed,
        )
    else:
        result = query_scores(
            chosen,
            asked,
            loaded,
            subqueries=True,
            draws=draws,
            prob=prob,
            p_values=p_values,
            p_value_iterations=permutations,
            p_value_test_type=test,
            normalize=normalize,
            matching=matching_option_values(fallbacks, threshold),
            seed=seed,
            n_jobs=jobs,
            progress=not quiet,
        )
    text = f"Scores, with {prob:.0%} intervals." if draws else "Scores."
    _show(result, out, output, quiet, "Influence of single words." if influence else text)


@click.command(
    short_help="Rank embeddings by bias.",
    epilog="Example: bayesbias rank gender demo demo-100d --metric weat_es --metric rnd",
)
@click.argument("queries", shell_complete=complete_queries, metavar="QUERY")
@click.argument(
    "embeddings",
    shell_complete=complete_embeddings,
    nargs=-1,
    metavar="EMBEDDING EMBEDDING...",
    required=True,
)
@metric_option(METRIC_HELP)
@click.option(
    "--aggregate",
    type=click.Choice(["abs_avg", "avg", "abs_sum", "sum"], case_sensitive=False),
    default="abs_avg",
    show_default=True,
    help="How the values of the queries are combined.",
)
@click.option(
    "--correlations", is_flag=True, help="Print how much the metrics agree on the order, instead."
)
@measuring_options
@fallback_option
@loading_options
@format_option
@quiet_option
def rank(
    queries: str,
    embeddings: tuple[str, ...],
    metrics: tuple[str, ...],
    aggregate: str,
    correlations: bool,
    out: str | None,
    force: bool,
    draws: int,
    prob: float,
    options: tuple[str, ...],
    normalize: bool,
    threshold: float,
    jobs: int,
    seed: int,
    fallbacks: tuple[str, ...],
    limit: int | None,
    trust: bool,
    output: str,
    quiet: bool,
) -> None:
    """Rank embeddings by bias, with the probability of each place; 1 is the least biased.

    QUERY is a query (weat_7, gender_1, a file), or a set of queries (weat, gender, ethnicity,
    religion). EMBEDDING is a file of word vectors or a name; NAME=EMBEDDING gives it another name.
    """
    from bayesbias import rankings
    from bayesbias.metrics import as_metrics

    if out is not None:
        frame_format(out)
        check_new(force, out)
    chosen = as_metrics(metrics or ("weat_es",), parse_options(options))
    asked = _load_queries(queries)
    loaded = _load(chosen, asked, embeddings, fallbacks, limit, trust, quiet)
    settings: dict[str, Any] = {
        "aggregate": aggregate,
        "subqueries": True,
        "normalize": normalize,
        "matching": matching_option_values(fallbacks, threshold),
        "seed": seed,
        "n_jobs": jobs,
        "progress": not quiet,
    }
    if correlations or not draws:
        frames = {
            metric.name: rankings.run_queries(metric, asked, loaded, **settings)
            for metric in chosen
        }
        ranking = rankings.rank(frames)
        result = rankings.rank_correlations(ranking) if correlations else ranking
        result = result.rename_axis("metric" if correlations else "embedding").reset_index()
        text = "Rank correlations of the metrics." if correlations else _RANKS
        _show(result, out, output, quiet, text)
        return
    import pandas as pd

    parts = []
    for metric in chosen:
        posterior = rankings.rank_posterior(
            metric, asked, loaded, draws=draws, prob=prob, **settings
        )
        parts.append(posterior.table.assign(metric=metric.name))
        say(posterior.summary(), quiet)
    table = pd.concat(parts, ignore_index=True)
    table = table[["metric", *table.columns.drop("metric")]]
    text = f"{_RANKS} Scores with {prob:.0%} intervals."
    _show(table, out, output, quiet, text)


def _list_metrics() -> pd.DataFrame:
    import pandas as pd

    from bayesbias.metrics import METRICS

    rows = [
        {
            "metric": name,
            "targets": str(metric.template[0]),
            "attributes": str(metric.template[1]),
            "neutral": metric.neutral_value,
            "meaning": metric.orientation,
        }
        for name, metric in METRICS.items()
    ]
    return pd.DataFrame(rows)


def _load_queries(source: str) -> list[Query]:
    from bayesbias.rankings import as_queries

    return as_queries(source.removeprefix("query:"))


def _load(
    metrics: list[Metric],
    queries: list[Query],
    sources: tuple[str, ...],
    fallbacks: tuple[str, ...],
    limit: int | None,
    trust: bool,
    quiet: bool,
) -> list[Embedding]:
    """Load embeddings: the words of the queries, or all of it if a metric needs that."""
    whole = any(metric.whole_embedding for metric in metrics)
    return load_embeddings(
        sources or ("demo",),
        None if whole else queries,
        matching=matching_option_values(fallbacks),
        limit=limit,
        trust=trust,
        quiet=quiet,
    )


def _influence(
    metrics: list[Metric],
    queries: list[Query],
    embeddings: list[Embedding],
    **settings: Any,
) -> pd.DataFrame:
    import pandas as pd

    parts = []
    for metric in metrics:
        for query in queries:
            for part in query.subqueries(metric.template):
                for embedding in embeddings:
                    table = metric.influence(part, embedding, **settings)
                    labels = {
                        "metric": metric.name,
                        "query": part.name,
                        "embedding": embedding.name,
                    }
                    parts.append(table.assign(**labels)[[*labels, *table.columns]])
    return pd.concat(parts, ignore_index=True)


def _show(result: pd.DataFrame, out: str | None, output: str, quiet: bool, caption: str) -> None:
    """Write the table, and print it without the columns that say nothing."""
    if out is not None:
        write_frame(result, out, caption=caption, by_row=True)
        say_written(len(result), out, quiet)
    empty = result.isna() | (result == "")
    shown = result if is_for_programs(output) else result.loc[:, ~empty.all()]
    print_frame(shown, output, caption=caption, by_row=True)
