"""The commands `bayesbias fit` and `bayesbias compare`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
from click.core import ParameterSource

from bayesbias._core.wording import enumerated, plural
from bayesbias.cli.common import (
    check_new,
    force_option,
    format_option,
    print_frame,
    prob_option,
    quiet_option,
    say,
    seed_option,
)
from bayesbias.cli.completion import complete_models

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.models import Fit, ModelSpec

# The parameters of the commands that only matter when a model is fitted.
_FITTING = (
    "model",
    "models",
    "likelihood",
    "residual",
    "priors",
    "covariates",
    "engine",
    "sampler",
    "where",
    "duplicates",
    "draws",
    "chains",
    "seed",
)

F = TypeVar("F", bound=Callable[..., Any])


def fitting_options(command: F) -> F:
    """Add the options of fitting a model."""
    for option in (
        seed_option,
        click.option(
            "--chains",
            type=click.IntRange(min=1),
            default=4,
            show_default=True,
            help="Number of chains.",
        ),
        click.option(
            "--draws",
            type=click.IntRange(min=1),
            default=2000,
            show_default=True,
            help="Draws of each chain.",
        ),
        click.option(
            "--duplicates",
            type=click.Choice(["drop", "keep"], case_sensitive=False),
            help="Leave duplicated rows out, or count each of them; by default as recorded in a "
            ".parquet file, else drop.",
        ),
        click.option(
            "--where",
            metavar="QUERY",
            help="Fit only these rows, such as \"protected_group == 'muslim'\".",
        ),
        click.option(
            "--sampler",
            type=click.Choice(["nutpie", "pymc", "numpyro", "blackjax"], case_sensitive=False),
            default="nutpie",
            show_default=True,
            help="Which implementation of NUTS.",
        ),
        click.option(
            "-e",
            "--engine",
            type=click.Choice(["auto", "exact", "nuts"], case_sensitive=False),
            default="auto",
            show_default=True,
            help="Draw exactly (normal likelihoods), sample with NUTS, or exactly where possible.",
        ),
    ):
        command = option(command)
    return command


def covariate_option(command: F) -> F:
    """Add --covariate, the columns to add slopes for."""
    return click.option(
        "--covariate",
        "covariates",
        multiple=True,
        metavar="COLUMN",
        help="A column of numbers to add a slope for, such as log_frequency; may be given several "
        "times.",
    )(command)


@click.command(
    short_help="Fit a model, and print contrasts.",
    epilog="Example: bayesbias fit table.csv --by protected_group --out religion.nc",
)
@click.argument("table", metavar="TABLE")
@click.option(
    "--model",
    shell_complete=complete_models,
    default="interaction",
    show_default=True,
    help="baseline, connection, separate, hierarchical, crossed, interaction, embeddings, or a "
    "TOML file.",
)
@click.option(
    "--likelihood",
    type=click.Choice(["normal", "student_t"], case_sensitive=False),
    help="Instead of the model's own.",
)
@click.option(
    "--residual",
    type=click.Choice(["one", "connection"], case_sensitive=False),
    help="One residual scale, or one for each connection.",
)
@click.option(
    "--prior",
    "priors",
    multiple=True,
    metavar="NAME=PRIOR",
    help='Another prior, such as "co=Normal(0, 1)"; may be given several times.',
)
@click.option(
    "--show",
    type=click.Choice(
        ["contrasts", "means", "coefficients", "overview", "parameters"], case_sensitive=False
    ),
    default="contrasts",
    show_default=True,
    help="What to print.",
)
@click.option(
    "--contrast",
    default="associated - none",
    show_default=True,
    help="The contrast to print; below 0 is closer. neutral is another name for none.",
)
@click.option(
    "--by",
    type=click.Choice(
        ["protected_word", "protected_group", "attribute_group", "embedding"], case_sensitive=False
    ),
    help="One contrast for each; attribute_group compares groups on the same attributes.",
)
@covariate_option
@click.option(
    "--rope",
    type=click.FloatRange(min=0),
    help="Differences of distances smaller than this do not matter.",
)
@prob_option
@click.option(
    "--kind",
    type=click.Choice(["hdi", "eti"], case_sensitive=False),
    default="hdi",
    show_default=True,
    help="Highest-density or equal-tailed intervals; eti for the overviews of the thesis.",
)
@click.option("-o", "--out", metavar="FILE", help="Write the fit: a .nc file.")
@force_option
@fitting_options
@format_option
@quiet_option
def fit(
    table: str,
    model: str,
    likelihood: str | None,
    residual: str | None,
    priors: tuple[str, ...],
    show: str,
    contrast: str,
    by: str | None,
    covariates: tuple[str, ...],
    rope: float | None,
    prob: float,
    kind: Literal["hdi", "eti"],
    out: str | None,
    force: bool,
    output: str,
    quiet: bool,
    **options: Any,
) -> None:
    """Fit a model to a table of distances, and print its contrasts.

    TABLE is a file written by `bayesbias table`, or a fit (.nc) to look at again.
    """
    from bayesbias.models import load_fit, writable_fit

    if out is not None:
        writable_fit(out)
        check_new(force, out)
    if table.lower().endswith(".nc"):
        _refuse_fitting_options([table])
        result = load_fit(table)
    else:
        rows = _rows(table, options)
        if show == "contrasts":
            _check_contrast(rows, contrast)
        result = _fit_table(
            rows,
            model,
            options,
            quiet,
            likelihood=likelihood,
            residual=residual,
            priors=_priors(priors),
            covariates=covariates,
        )
    if out is not None:
        result.save(out)
        say(f"written to {out}", quiet)
    frame: pd.DataFrame
    if show == "contrasts":
        frame = result.contrasts(contrast, by=by, rope=rope, prob=prob, kind=kind)
    elif show == "means":
        frame = result.means(prob=prob, kind=kind)
    elif show == "coefficients":
        frame = result.coefficients(prob=prob, kind=kind)
    elif show == "overview":
        frame = _overview(result, rope, prob, kind)
    else:
        frame = result.parameters(prob=prob, kind=kind).rename_axis("parameter").reset_index()
    caption = f"Model {result.spec.name}: {show}, with {prob:.0%} intervals."
    print_frame(frame, output, caption=caption)
    say(str(result.diagnostics()), quiet)


@click.command(
    short_help="Compare models by their accuracy.",
    epilog="Example: bayesbias compare table.csv --model crossed --model interaction",
)
@click.argument("sources", nargs=-1, required=True, metavar="TABLE | FIT...")
@click.option(
    "--model",
    "models",
    shell_complete=complete_models,
    multiple=True,
    default=("baseline", "connection", "separate", "hierarchical", "crossed", "interaction"),
    show_default=True,
    help="Model to fit to the table; may be given several times.",
)
@click.option(
    "--criterion",
    type=click.Choice(["waic", "loo"], case_sensitive=False),
    default="waic",
    show_default=True,
    help="Criterion of the comparison.",
)
@click.option("--by", help="Leave out whole levels of this column (loo): word_to_compare.")
@covariate_option
@fitting_options
@format_option
@quiet_option
def compare(
    sources: tuple[str, ...],
    models: tuple[str, ...],
    criterion: str,
    by: str | None,
    covariates: tuple[str, ...],
    output: str,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare models of one table, or fits of it, by their accuracy on new data.

    Give one TABLE, to which the models are fitted, or several FIT files (.nc) of the same table.
    """
    from pathlib import Path

    from bayesbias.models import check_levels, load_fit, load_model
    from bayesbias.models import compare as compare_fits

    if by is not None and criterion == "waic":
        raise click.UsageError("--by is for --criterion loo; WAIC is of rows.")
    if all(source.lower().endswith(".nc") for source in sources):
        _refuse_fitting_options(sources)
        fits = {Path(source).stem: load_fit(source) for source in sources}
        if len(fits) < len(sources):
            raise click.UsageError("two of the fits have the same file name.")
    elif len(sources) == 1:
        rows = _rows(sources[0], options)
        if by is not None:
            check_levels(rows, by)
        specs = [load_model(model).vary(covariates=covariates) for model in models]
        fits = _fit_models(rows, specs, options, quiet)
    else:
        raise click.UsageError("give one table, or fits (.nc) only.")
    frame = compare_fits(fits, criterion, by=by)  # type: ignore[arg-type]
    print_frame(
        frame.table,
        output,
        digits=1,
        caption=f"Models compared by {criterion.upper()} (deviance scale: lower is better).",
        decimals={**dict.fromkeys(map(str, frame.columns), 1), "weight": 2},
    )


def _fit_models(
    rows: pd.DataFrame, specs: Sequence[ModelSpec], options: dict[str, Any], quiet: bool
) -> dict[str, Fit]:
    """Fit several models, and say which of them is being fitted."""
    from bayesbias._core.wording import waiting_time
    from bayesbias.models import seconds_to_fit

    fits = {}
    for number, spec in enumerate(specs, 1):
        seconds = None
        if options["engine"] != "nuts":
            seconds = seconds_to_fit(rows, spec, options["draws"] * options["chains"])
        time = f", about {waiting_time(seconds)}" if seconds is not None and seconds >= 1 else ""
        say(f"step {number} of {len(specs)}: fitting the model {spec.name}{time}", quiet)
        fits[spec.name] = _fit_table(rows, spec, options, quiet)
    return fits


def _refuse_fitting_options(fits: Sequence[str]) -> None:
    """Refuse options of fitting a model that are given together with fits."""
    context = click.get_current_context()
    given = [
        max(option.opts, key=len)
        for option in context.command.params
        if option.name in _FITTING
        and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        what = f"{fits[0]} is a fit" if len(fits) == 1 else "these are fits"
        raise click.UsageError(
            f"{enumerated(given)} {'needs' if len(given) == 1 else 'need'} a table to fit a model "
            f"to, and {what} already; give the table, or leave {plural(len(given), 'the option')} "
            "out."
        )


def _rows(path: str, options: dict[str, Any]) -> pd.DataFrame:
    from bayesbias.distances import read_table
    from bayesbias.errors import SpecError

    where = options["where"]
    table = read_table(path, duplicates=options["duplicates"])
    if where is None:
        return table
    try:
        rows = table.query(_with_none(where))
    except Exception as err:  # pandas raises whatever the expression ran into
        assigned = re.search(r"(?<![=<>!])=(?!=)", _without_values(where))
        reason = "a comparison is written with ==" if assigned else err
        raise SpecError(
            f"--where {where!r} cannot be read: {reason}.{_values(table, where)}"
        ) from err
    if rows.empty:
        raise SpecError(f"--where {where!r} leaves no rows.{_values(table, where)}")
    return rows


def _with_none(where: str) -> str:
    """Return an expression with ``none`` in place of ``neutral`` where connections are compared."""
    import ast

    try:
        tree = ast.parse(where.strip(), mode="eval")
    except (SyntaxError, ValueError):  # pandas allows more, such as names in backticks
        return where
    is_changed = False
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        parts = list(ast.walk(node))
        if not any(isinstance(part, ast.Name) and part.id == "connection" for part in parts):
            continue
        for part in parts:
            if isinstance(part, ast.Constant) and part.value == "neutral":
                part.value, is_changed = "none", True
    return ast.unparse(tree) if is_changed else where


def _without_values(where: str) -> str:
    """Return an expression without what is between quotation marks."""
    return re.sub(r"'[^']*'|\"[^\"]*\"", "", where)


def _values(table: pd.DataFrame, where: str) -> str:
    """Return what the columns that an expression names hold, or which columns there are."""
    from bayesbias._core.wording import did_you_mean, quoted, shortened

    named = set(re.findall(r"[^\W\d]\w*", _without_values(where)))
    columns = [str(name) for name in table.columns if name in named]
    if not columns:
        names = [str(name) for name in table.columns]
        suggestions = (did_you_mean(name, names) for name in sorted(named))
        return f" The columns are {shortened(names, 20)}.{next(filter(None, suggestions), '')}"
    texts = []
    for name in columns:
        column = table[name]
        if column.dtype.kind in "fiu":
            texts.append(f" {name} is from {column.min():g} to {column.max():g}.")
        else:
            texts.append(f" {name} has the values {quoted(map(str, column.unique()), 30)}.")
    return "".join(texts)


def _fit_table(
    rows: pd.DataFrame, model: object, options: dict[str, Any], quiet: bool, **more: Any
) -> Fit:
    from bayesbias.models import fit as fit_model

    names = ("engine", "sampler", "draws", "chains", "seed")
    chosen = {name: options[name] for name in names}
    return fit_model(rows, model, progress=not quiet, **chosen, **more)  # type: ignore[arg-type]


def _check_contrast(rows: pd.DataFrame, contrast: str) -> None:
    """Refuse a contrast of connections that the rows do not have, before anything is fitted."""
    from bayesbias._core.constants import CONNECTIONS
    from bayesbias.models import contrast_weights

    contrast_weights(contrast, tuple(c for c in CONNECTIONS if (rows["connection"] == c).any()))


def _priors(texts: tuple[str, ...]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for text, (_, equals, _) in zip(texts, pairs, strict=True):
        if not equals:
            raise click.BadParameter(
                f"{text!r} is not of the form NAME=PRIOR.", param_hint="--prior"
            )
    return {name.strip(): prior.strip() for name, _, prior in pairs}


def _overview(
    result: Fit, rope: float | None, prob: float, kind: Literal["hdi", "eti"]
) -> pd.DataFrame:
    from bayesbias.models import overview

    answers = overview(result, prob=prob, kind=kind, rope=0.05 if rope is None else rope)
    return answers.formatted().rename_axis("question").reset_index()
