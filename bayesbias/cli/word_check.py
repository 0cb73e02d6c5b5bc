"""What `bayesbias words check` prints and writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bayesbias.cli.common import check_new, print_frame, records, render, say

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.wordlists import WordCheck

_TABLES = ("lists", "pairs", "tags", "stability")
_WIDTH = 100
_BRACKETS = "In brackets: the percentile among random lists, or shuffled ones."


def check_out(out: str, force: bool) -> None:
    """Refuse a folder that cannot be written to, or has such files, before long work."""
    from bayesbias._core.files import check_folder
    from bayesbias.errors import DataError

    folder = Path(out)
    if folder.is_file():
        raise DataError(f"{folder} is a file; give the name of a folder.")
    check_folder(folder / "warnings.txt" if folder.is_dir() else folder)
    check_new(force, folder / "warnings.txt", *(folder / f"{name}.csv" for name in _TABLES))


def write_check(check: WordCheck, out: str) -> None:
    """Write every table that has rows, and the warnings, one per line."""
    from bayesbias._core.files import atomic, make_folder

    folder = Path(out)
    make_folder(folder)
    tables = {name: getattr(check, name) for name in _TABLES}
    texts = {f"{name}.csv": render(table, "csv") for name, table in tables.items() if len(table)}
    texts["warnings.txt"] = "".join(f"{text}\n" for text in check.warnings)
    with atomic(*(folder / name for name in texts)) as temporary:
        for path, text in zip(temporary, texts.values(), strict=True):
            path.write_text(text, "utf-8")


def print_check(check: WordCheck, output: str, quiet: bool) -> None:
    """Print the tables and the warnings: for programs in full, for reading what matters most."""
    if output == "json":
        parts = {name: records(getattr(check, name)) for name in _TABLES}
        whole = {**parts, "warnings": check.warnings}
        click.echo(json.dumps(whole, ensure_ascii=False, indent=2))
        return
    if output == "csv":
        print_frame(check.lists, output)
        for text in check.warnings:
            say(f"Warning: {text}", quiet)
        return
    between = "\n/ " if output == "text" else " / "
    tables = {
        f"Word lists. {_BRACKETS}": _lists(check),
        f"Pairs of word lists. {_BRACKETS}": _pairs(check, between),
        "Shares of parts of speech.": _tags(check),
        "Spread of the measures over the embeddings.": _stability(check, between),
    }
    for caption, table in tables.items():
        if len(table):
            print_frame(table, output, caption=caption)
            click.echo()
    if output in ("latex", "html"):
        for text in check.warnings:
            say(f"Warning: {text}", quiet)
        return
    if output == "text":
        click.echo(f"{_BRACKETS}\n")
    for text in check.summary().splitlines():
        click.echo(click.wrap_text(f"- {text}", _WIDTH, subsequent_indent="  "))


def _lists(check: WordCheck) -> pd.DataFrame:
    lists = check.lists
    shown = lists[_keys(check, "word_set")].assign(words=lists["n_words"], found=lists["n_found"])
    column = "median_count" if "median_count" in lists else "median_rank"
    shown[column] = lists[column].map("{:,.0f}".format).replace("nan", "–")
    shown["cohesion"] = _with_percentile(lists, "cohesion")
    shown["fits_least"] = lists["fits_least"]
    return shown


def _pairs(check: WordCheck, between: str) -> pd.DataFrame:
    pairs = check.pairs
    shown = pairs.assign(pair=_names(pairs, between))[_keys(check, "pair")]
    shown["shared"] = pairs["shared"].map(len)
    shown["frequency"] = pairs["frequency_ratio"].map("× {:.2g}".format).replace("× nan", "–")
    if "tag_distance" in pairs:
        shown["tags"] = pairs["tag_distance"].map("{:.2f}".format).replace("nan", "–")
    shown["coherence"] = _with_percentile(pairs, "coherence")
    shown["similarity"] = pairs["similarity"].map("{:.2f}".format).replace("nan", "–")
    shown["pca"] = _with_percentile(pairs, "pca")
    return shown


def _tags(check: WordCheck) -> pd.DataFrame:
    """Return lists × parts of speech."""
    if not len(check.tags):
        return check.tags
    keys = _keys(check, "word_set")
    wide = check.tags.pivot_table("share", keys, "tag", fill_value=0.0, sort=False)
    return wide[wide.sum().sort_values(ascending=False).index].reset_index()


def _stability(check: WordCheck, between: str) -> pd.DataFrame:
    spread = check.stability
    shown = spread[["measure", "mean", "sd", "min", "max"]]
    shown.insert(0, "over_embeddings", _names(spread, between))
    return shown


def _names(frame: pd.DataFrame, between: str) -> list[str]:
    """Return the names of two lists, the second without what both begin with."""
    return [
        f"{first}{between}{second.removeprefix(first.partition(': ')[0] + ': ')}"
        if second
        else first
        for first, second in zip(frame["first"], frame["second"], strict=True)
    ]


def _keys(check: WordCheck, what: str) -> list[str]:
    """Return what a row is about; one embedding need not be named in each."""
    return [what, "embedding"] if len(set(check.lists["embedding"])) > 1 else [what]


def _with_percentile(frame: pd.DataFrame, measure: str) -> list[str]:
    values = zip(frame[measure], frame[f"{measure}_percentile"], strict=True)
    return [
        "–" if value != value else f"{value:.2f}" + (f" ({place:.0f})" if place == place else "")
        for value, place in values
    ]
