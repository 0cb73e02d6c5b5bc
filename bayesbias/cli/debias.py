"""The commands `bayesbias debias` and `bayesbias before-after`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from bayesbias.cli.common import (
    SUFFIXES,
    check_figure,
    check_new,
    cluster_option,
    covariate_options,
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
    print_rounded,
    print_rows,
    prob_option,
    quiet_option,
    save_figure,
    say,
    say_written,
    seed_option,
    study_option,
    write_frame,
)
from bayesbias.cli.completion import complete_embeddings, complete_methods

if TYPE_CHECKING:
    from bayesbias.debias import Debiaser
    from bayesbias.debias_effects import BeforeAfter
    from bayesbias.embeddings import Embedding
    from bayesbias.errors import SpecError

F = TypeVar("F", bound=Callable[..., Any])

_LISTS = "built-in list such as {}, or a text file"


def debiasing_options(command: F) -> F:
    """Add the options of fitting a debiaser and choosing words."""
    for option in (
        seed_option,
        click.option(
            "--target",
            metavar="LIST",
            help=f"Words to change: {_LISTS.format('bolukbasi:professions')}; by default all.",
        ),
        click.option(
            "--ignore",
            metavar="LIST",
            help=f"Words to leave unchanged: {_LISTS.format('bolukbasi:gender_specific')}.",
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
            f"{_LISTS.format('manzini:religion_definitional_sets')} with one pair or set per "
            "line. For methods that learn from groups: pairs to find their words by.",
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
            "--method",
            shell_complete=complete_methods,
            default="hard_debias",
            show_default=True,
            help="The method; bayesbias debias --list names them.",
        ),
        fallback_option,
    ):
        command = option(command)
    return command


@click.command(
    short_help="Debias an embedding.",
    epilog="Example: bayesbias debias glove.txt debiased.npy --ignore bolukbasi:gender_specific",
)
@click.argument("source", shell_complete=complete_embeddings, metavar="EMBEDDING", required=False)
@click.argument("out", metavar="OUT", required=False)
@click.option("--list", "listing", is_flag=True, help="List the methods, and stop.")
@click.option("--to", "kind", metavar="FORMAT", help="Format, if not that of the suffix.")
@force_option
@debiasing_options
@loading_options
@format_option
@quiet_option
def debias(
    source: str | None,
    out: str | None,
    listing: bool,
    kind: str | None,
    force: bool,
    limit: int | None,
    trust: bool,
    output: str,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Debias an embedding and write it to OUT, in the format of its suffix.

    It is written block by block, so that neither embedding needs to fit into memory, and an
    interrupted run is resumed. Suffixes: .npy, .npz, .safetensors, .bin, .txt, .vec. --format is
    the format of --list.
    """
    from bayesbias._core.locks import check_free, locked
    from bayesbias.debias import DEBIASERS
    from bayesbias.embeddings import vocabulary_path, writable_format

    if listing:
        about = {name: (m.__doc__ or "").splitlines()[0] for name, m in DEBIASERS.items()}
        if output == "text":
            click.echo("\n".join(f"{name:38}{text}" for name, text in about.items()))
        else:
            print_rows([{"method": name, "about": text} for name, text in about.items()], output)
        return
    if source is None or out is None:
        missing = "argument 'OUT'" if source else "arguments 'EMBEDDING' and 'OUT'"
        raise click.UsageError(f"Missing {missing}; or use --list.")
    target_format = writable_format(Path(out), kind)
    check_free(Path(out))
    # What an interrupted run has left has other names, so it is resumed without --force.
    check_new(force, out)
    fit = debiaser_fitter(quiet=quiet, **chosen)
    [embedding] = load_embeddings([source], limit=limit, trust=trust, quiet=quiet)
    debiaser = fit(embedding)
    words = transform_words(chosen)
    if target_format == "npy":
        debiaser.transform(embedding, out=out, progress=not quiet, **words)
    else:
        # By way of a file, so that no second matrix has to fit into memory. It always has the same
        # name: the next run goes on with it, or replaces it, if this one is killed.
        mapped = Path(out).with_name(f".{Path(out).name}.npy")
        with locked(Path(out)):
            try:
                with warnings.catch_warnings():
                    # The ranks of the words go from the embedding to OUT, not by way of this file.
                    warnings.filterwarnings("ignore", f"{re.escape(str(mapped))}: npy files")
                    after = debiaser.transform(embedding, out=mapped, progress=not quiet, **words)
                after.save(out, format=kind)
                del after  # some systems do not delete a file that is mapped
            finally:
                for left in (mapped, vocabulary_path(mapped)):
                    left.unlink(missing_ok=True)
    say(f"{len(embedding):,} words debiased by {debiaser!r}, written to {out}", quiet)


def debiaser_fitter(
    method: str,
    options: tuple[str, ...],
    definition: str | None,
    groups: tuple[str, ...],
    equalize: str | None,
    seed: int,
    fallbacks: tuple[str, ...],
    quiet: bool,
    **_: object,
) -> Callable[[Embedding], Debiaser]:
    """Return a function that fits the method on an embedding; all that can be is checked first."""
    from bayesbias._core.validation import named
    from bayesbias.debias import DEBIASERS, learnt_from

    debiaser = DEBIASERS[named("method", method, DEBIASERS)]()
    parameters = parse_options(options)
    debiaser.set_params(**parameters)
    if "seed" in debiaser.get_params() and "seed" not in parameters:
        debiaser.set_params(seed=seed)
    if equalize is not None:
        if "equalize" not in debiaser.get_params():
            raise _not_taken(debiaser, "--equalize")
        debiaser.set_params(equalize=read_tuples(equalize))
    words = _definition(debiaser, definition, groups)
    matching = matching_option_values(fallbacks)

    def fit(embedding: Embedding) -> Debiaser:
        fitted = debiaser.fit(embedding, definition=words, matching=matching)
        say(f"learned from {learnt_from(fitted, words, embedding)}", quiet)
        return fitted

    return fit


def _definition(debiaser: Debiaser, definition: str | None, groups: tuple[str, ...]) -> Any:
    """Return what a method learns from; None for what it learns from by default."""
    from bayesbias.errors import SpecError

    if groups and debiaser.learns_from != "groups":
        raise _not_taken(debiaser, "--group")
    if definition is not None and debiaser.learns_from == "groups":
        debiaser.set_params(pairs=read_tuples(definition))
    if groups:
        return [read_words(group) for group in groups]
    if debiaser.learns_from == "groups":
        return None
    if definition is not None:
        return (read_words if debiaser.learns_from == "words" else read_tuples)(definition)
    if debiaser.default_definition is None:
        raise SpecError(
            f"the method {debiaser.name!r} learns from {debiaser.learns_from}: give --definition, "
            "a built-in list such as manzini:religion_definitional_sets or a text file with one "
            "set per line."
        )
    return None


def _not_taken(debiaser: Debiaser, option: str) -> SpecError:
    from bayesbias.errors import SpecError

    return SpecError(
        f"the method {debiaser.name!r} takes no {option}; see "
        f"help(bayesbias.debias.{type(debiaser).__name__})."
    )


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
    """Return the words of a text file, one per line, or the name of a built-in list as it is."""
    if not Path(source).is_file():
        if ":" not in source:
            from bayesbias.errors import NotFoundError

            raise NotFoundError(
                f"{source!r} is neither a file nor a built-in list; these have names such as "
                "bolukbasi:gender_specific, see bayesbias words list."
            )
        return source
    from bayesbias._core.files import read_utf8

    return [line.strip() for line in read_utf8(Path(source)).splitlines() if line.strip()]


def read_tuples(source: str) -> str | list[list[str]]:
    """Return the pairs or sets of a text file, one per line, with commas or spaces."""
    lines = read_words(source)
    if isinstance(lines, str):
        return lines
    return [line.replace(",", " ").split() for line in lines]


@click.command(
    "before-after",
    short_help="Measure the effects of debiasing.",
    epilog="Example: bayesbias before-after demo --study gender --ignore bolukbasi:gender_specific",
)
@click.argument("source", shell_complete=complete_embeddings, metavar="EMBEDDING")
@click.argument("after", metavar="[AFTER]", required=False)
@study_option
@metric_option("Metric to compare; may be given several times. By default all that fit a study.")
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Draws of each chain and metric.",
)
@click.option(
    "--residual/--no-residual",
    default=True,
    show_default=True,
    help="Test residual bias: clusters, a classifier, neighbours.",
)
@click.option(
    "--similarity",
    multiple=True,
    metavar="FILE",
    help="Benchmark of similarity, a name or a file; may be given several times.",
)
@click.option(
    "--analogies",
    multiple=True,
    metavar="FILE",
    help="Benchmark of analogies, a name or a file; may be given several times.",
)
@covariate_options
@prob_option
@jobs_option
@cluster_option
@click.option("-o", "--out", metavar="FILE", help=f"Write the table: {SUFFIXES}.")
@click.option("--figure", metavar="FILE", help="Draw the distances: .png, .svg or .pdf.")
@force_option
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
    covariates: tuple[str, ...],
    frequencies: str,
    unknown_frequency: Literal["error", "lowest"],
    prob: float,
    jobs: int,
    out: str | None,
    figure: str | None,
    force: bool,
    limit: int | None,
    trust: bool,
    output: str,
    quiet: bool,
    **chosen: Any,
) -> None:
    """Report the effect of debiasing on a study: changes, residual bias, side effects.

    AFTER is the embedding after debiasing; without it EMBEDDING is debiased by --method. With
    --covariate, distances and gaps are given at equal covariates for all words, and as observed.
    """
    from bayesbias import debias_effects
    from bayesbias.distances import CovariatePlan
    from bayesbias.wordlists import load_study

    if out is not None:
        frame_format(out)
    if figure is not None:
        check_figure(figure)
    check_new(force, out, figure)
    asked_study = load_study(study)
    matching = matching_option_values(chosen["fallbacks"])
    # What is wrong with these is reported before a large file is read.
    plan = CovariatePlan(covariates, frequencies, unknown_frequency, matching)
    if after is not None:
        _check_unused(chosen)
    fit = None if after is not None else debiaser_fitter(quiet=quiet, **chosen)
    sources = [source] if after is None else [source, after]
    loaded = load_embeddings(sources, limit=limit, trust=trust, quiet=quiet)
    arguments: dict[str, Any] = {} if residual else {"residual": ()}
    for name, given in (("metrics", metrics), ("similarity", similarity), ("analogies", analogies)):
        if given:
            arguments[name] = given
    if fit is not None:
        arguments |= transform_words(chosen)
    result = debias_effects.before_after(
        loaded[0],
        loaded[1] if fit is None else fit(loaded[0]),
        asked_study,
        draws=draws,
        covariates=covariates,
        frequencies=plan.source or frequencies,  # a file of them is read once
        unknown_frequency=unknown_frequency,
        seed=chosen["seed"],
        prob=prob,
        matching=matching,
        n_jobs=jobs,
        progress=not quiet,
        **arguments,
    )
    if figure is not None:
        from bayesbias.plots import plot_before_after

        save_figure(plot_before_after(result, prob=prob), figure)
        say(f"drawn in {figure}", quiet)
    _show(result, out, output, quiet)


def _show(result: BeforeAfter, out: str | None, output: str, quiet: bool) -> None:
    """Write the table, say the summary, and print what is for reading, or all for programs."""
    caption = (
        f"{result.embedding} before and after debiasing on the study {result.study.label}: changes "
        f"with {result.prob:.0%} intervals, and the probability of the event. "
        f"{result.verdict_rule()}"
    )
    if out is not None:
        write_frame(result.table, out, caption=caption, by_row=True)
        say_written(len(result.table), out, quiet)
    say(result.summary(), quiet)
    # For reading, without the rows of single words; files and programs get all of it.
    shown = result.table[result.table["word"] == ""].drop(columns="word")
    if output == "text":
        print_rounded(shown)
        click.echo(result.verdict_rule())
        return
    if output == "latex":
        shown = shown.drop(columns="note")
    table = result.table if is_for_programs(output) else shown
    print_frame(table, output, caption=caption, by_row=True)
